#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of several processes: with a deadline, with everything ended afterwards, with the output shown only when
something is wrong, and with a look at what was left behind: processes, sockets, files in /dev/shm.

    harness.py [--timeout SECONDS] [--env NAME=VALUE]... command [arguments]

The command's lines of results ("ok - name", "not ok - name", "# skip: reason") are passed on. Exit status 77, with the
reason last, when the command skipped. To look at one test in the debugger, run its command without this script.

As a module it has Job and run() for drivers, and main(), which runs their cases.
"""
import argparse
import ctypes
import fcntl
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

SKIP = 77
GRACE = 1.0  # seconds in which processes that were killed may still be on their way out
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
MS_REC, MS_PRIVATE, PR_SET_CHILD_SUBREAPER = 0x4000, 0x40000, 36
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
libc = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """This case cannot run here, for the reason given."""


# --- what is left behind ------------------------------------------------------------------------------------------


isolated = False  # this process has sockets and a /dev/shm of its own


def unshare():
    """An ordinary user may have a namespace of users, and in it the others. There it stays the user that it was."""
    if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) == 0:
        return True
    user, group = os.geteuid(), os.getegid()
    if user == 0 or libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0:
        return False
    for file, text in ('setgroups', 'deny'), ('uid_map', f'{user} {user} 1'), ('gid_map', f'{group} {group} 1'):
        pathlib.Path('/proc/self', file).write_text(text)
    return True


def isolate():
    """Gives this process sockets and a /dev/shm of its own, so that tests at the same time do not see each other's. What
    ran away from its parent becomes this process's child. Without the rights for it these are not compared."""
    global isolated
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    isolated = unshare()
    if not isolated:
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # 127.0.0.1, which launchers need
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack('16sH14x', b'lo', IFF_UP))
    libc.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None)
    libc.mount(b'tmpfs', b'/dev/shm', b'tmpfs', 0, None)


def sockets():
    """Abstract sockets of jobs, by name."""
    text = pathlib.Path('/proc/self/net/unix').read_text(errors='replace') if isolated else ''
    return {line.split()[-1] for line in text.splitlines() if line.split()[-1].startswith('@shmem-')}


def shm_files():
    return set(os.listdir('/dev/shm')) if isolated else set()


def children():
    """Living descendants of this process."""
    found, look = [], [os.getpid()]
    while look:
        pid = look.pop()
        try:
            for thread in os.listdir(f'/proc/{pid}/task'):
                for child in pathlib.Path(f'/proc/{pid}/task/{thread}/children').read_text().split():
                    look.append(int(child))
                    state = pathlib.Path(f'/proc/{child}/stat').read_text().rsplit(')', 1)[1].split()[0]
                    if state not in 'ZX':
                        found.append(int(child))
        except OSError:
            pass  # it has just ended
    return found


def command_of(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace').strip()
    except OSError:
        return '?'


def kill_rest(known=()):
    """Ends all descendants except the known ones."""
    for _ in range(100):
        rest = [pid for pid in children() if pid not in known]
        for pid in rest:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not rest:
            return
        time.sleep(0.01)


def reap():
    """Takes away children that ran to this process and ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Watch:
    """What was there before; leaks() tells what is there now in addition."""

    def __init__(self):
        self.sockets, self.shm = sockets(), shm_files()

    def leaks(self):
        deadline = time.monotonic() + GRACE
        while True:
            reap()
            found = [f'process {pid} ({command_of(pid)}) still runs' for pid in children()]
            found += [f'socket {name} is still there' for name in sorted(sockets() - self.sockets)]
            found += [f'/dev/shm/{name} is still there' for name in sorted(shm_files() - self.shm)]
            if not found or time.monotonic() > deadline:
                kill_rest()
                reap()
                return found
            time.sleep(0.01)


# --- running ------------------------------------------------------------------------------------------------------


class Outcome:
    def __init__(self, status, out, err, seconds, timed_out):
        self.status, self.out, self.err, self.seconds, self.timed_out = status, out, err, seconds, timed_out

    def __str__(self):
        end = 'ran past its deadline' if self.timed_out else f'ended with {self.status}'
        return (f'{end} after {self.seconds:.2f} s\n--- standard output\n{shorten(self.out)}\n'
                f'--- standard error\n{shorten(self.err)}\n---')


def shorten(text):
    return text if len(text) < 20000 else text[:9000] + '\n[...]\n' + text[-9000:]


class Job:
    """One command in a process group of its own. Its output goes to files, so that nobody who keeps it open can hold up
    the test. env: variables to add, or to take away (None)."""

    def __init__(self, command, env=None, stdin='', before=None, interrupt_ignored=False, **more):
        self.out, self.err, self.input = tempfile.TemporaryFile(), tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.input.write(stdin.encode())
        self.input.seek(0)
        variables = {name: value for name, value in os.environ.items()
                     if not re.match(r'SHMEM_|SMA_|RANK$|WORLD_SIZE$|LOCAL_|MASTER_|TORCHELASTIC|PMI_|PMIX_|OMPI_|SLURM_', name)}
        for name, value in (env or {}).items():
            variables.pop(name, None)
            if value is not None:
                variables[name] = str(value)

        def prepare():
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            if not interrupt_ignored:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            if before:
                before()

        self.started = time.monotonic()
        self.process = subprocess.Popen([str(part) for part in command], stdin=self.input, stdout=self.out, stderr=self.err,
                                        env=variables, start_new_session=True, preexec_fn=prepare, **more)
        self.pid = self.process.pid

    def text(self, file):
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors='replace')

    def wait_for(self, text, timeout=10):
        """Until standard output holds the text that often as it has lines: waits for a program to be ready."""
        deadline = time.monotonic() + timeout
        while not re.search(text, self.text(self.out), re.MULTILINE):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"the program did not say '{text}': {self.finish(0)}")
            time.sleep(0.005)

    def finish(self, timeout=30):
        """Waits for the end; a job that does not end is ended."""
        timed_out = False
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            kill_rest()
            self.process.wait()
        seconds = time.monotonic() - self.started
        outcome = Outcome(self.process.returncode, self.text(self.out), self.text(self.err), seconds, timed_out)
        for file in (self.out, self.err, self.input):
            file.close()
        return outcome


def run(command, timeout=30, **how):
    return Job(command, **how).finish(timeout)


# --- checks and cases for drivers ---------------------------------------------------------------------------------


def expect(outcome, status=None, says=(), silent=(), out=None, within=None):
    """Checks an outcome. says, silent: regular expressions that standard error has to have, or not to have."""
    wrong = []
    if outcome.timed_out:
        wrong.append('it did not end')
    if status is not None and outcome.status != status:
        wrong.append(f'expected exit status {status}')
    for pattern in [says] if isinstance(says, str) else says:
        if not re.search(pattern, outcome.err):
            wrong.append(f"expected on standard error: '{pattern}'")
    for pattern in [silent] if isinstance(silent, str) else silent:
        if re.search(pattern, outcome.err):
            wrong.append(f"not expected on standard error: '{pattern}'")
    if out is not None and outcome.out != out:
        wrong.append(f'expected on standard output: {out!r}')
    if within is not None and outcome.seconds > within:
        wrong.append(f'expected the end within {within} s')
    assert not wrong, '; '.join(wrong) + f'\n{outcome}'
    return outcome


def limit(what, value):
    """For Job(before=...): a resource limit of the job."""
    return lambda: resource.setrlimit(what, (value, value))


def main(cases):
    """Runs cases (functions, or pairs of a name and a function); each is followed by the look for leaks. With arguments
    after "--": only those of these names."""
    isolate()
    only = sys.argv[sys.argv.index('--') + 1:] if '--' in sys.argv else []
    failed = skipped = 0
    for case in cases:
        name, function = case if isinstance(case, tuple) else (case.__name__.replace('_', ' '), case)
        if only and name not in only:
            continue
        watch = Watch()
        start, state, told = time.monotonic(), 'ok', ''
        try:
            function()
        except Skip as reason:
            state, told = 'skip', str(reason)
        except Exception:  # noqa: a case that breaks has failed, the others run
            state, told = 'not ok', traceback.format_exc()
        leaks = watch.leaks()
        if leaks:
            state, told = 'not ok', told + '\nleft behind:\n  ' + '\n  '.join(leaks)
        if state == 'skip':
            print(f'# skip: {told}\nok - {name} # SKIP')
        else:
            for line in told.splitlines():
                print('    ' + line)
            print(f'{state} - {name} ({time.monotonic() - start:.2f} s)')
        sys.stdout.flush()
        failed += state == 'not ok'
        skipped += state == 'skip'
    return 1 if failed else SKIP if skipped and skipped == len(cases) else 0


def one_command():
    parser = argparse.ArgumentParser()
    parser.add_argument('--timeout', type=float, default=50)
    parser.add_argument('--env', action='append', default=[])
    parser.add_argument('command', nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    isolate()
    watch = Watch()
    outcome = run(arguments.command, arguments.timeout, env=dict(pair.split('=', 1) for pair in arguments.env))
    leaks = watch.leaks()
    for line in outcome.out.splitlines():
        if re.match(r'(not )?ok\b|# ', line):
            print(line)
    reasons = re.findall(r'^# skip: (.*)$', outcome.out, re.MULTILINE)
    if outcome.status == SKIP and not leaks:
        print(reasons[-1] if reasons else 'no reason given')
        return SKIP
    if outcome.status == 0 and not leaks and not outcome.timed_out:
        return 0
    print(outcome)
    for leak in leaks:
        print('left behind:', leak)
    return 1


if __name__ == '__main__':
    sys.exit(one_command())
