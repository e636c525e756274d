# SPDX-License-Identifier: Apache-2.0
"""Runs tests as jobs of several PEs.

A test body is a function that every PE runs between init and finalize:

    @on_pes(1, 2, 4)
    def test_something():
        assert shmem.n_pes() > 0

pytest starts it once for each number of PEs, through shmemrun. This file is also the program that the PEs run; they
import neither pytest nor what only the tests of the parent need.
"""

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get('SHMEM_TEST_PYTHON', sys.executable)
IN_PE = os.environ.get('SHMEM_TEST_BODY') is not None
# All processes that tests start carry this, so that one that is left behind is known.
MARK = os.environ.setdefault('SHMEM_TEST_MARK', uuid.uuid4().hex)
DEADLINE = 60.0


# --- in the PEs ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def raises(kind, *fragments):
    """The block raises an exception of that kind, a shmem.Error, whose text has all the fragments (case as given)."""
    import shmem
    try:
        yield
    except kind as error:
        assert isinstance(error, shmem.Error), f'{type(error)} is no shmem.Error'
        text = str(error)
        assert re.match(r'shmem\.[A-Za-z_.]+: .', text), f'no function is named first: {text}'
        for fragment in fragments:
            assert fragment in text, f'{fragment!r} is missing in: {text}'
    else:
        raise AssertionError(f'no {kind.__name__} was raised')


def until_asleep(thread, deadline=10.0):
    """Until the thread sleeps in a call of the library: in a futex, and not for the GIL, which this thread lets go."""
    def look():
        with open(f'/proc/self/task/{thread.native_id}/syscall') as call, \
                open(f'/proc/self/task/{thread.native_id}/status') as status:
            number = call.read().split()[0]
            return number in ('202', '98', '449') and re.findall(r'ctxt_switches:\s*(\d+)', status.read())

    end = time.monotonic() + deadline
    before = None
    while time.monotonic() < end:
        try:
            now = look()
        except OSError:  # a kernel that does not tell
            time.sleep(0.2)
            return
        if now and now == before:
            return
        before = now
        time.sleep(0.01)


def skip(reason):
    """Ends this PE's part; the parent skips the test when all PEs say so."""
    print(f'# skip: {reason}', flush=True)
    raise SystemExit(77)


def _load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _main():
    path, name = sys.argv[1:]
    body = getattr(_load(path), name).body
    import shmem
    if getattr(body, 'bare', False):
        body()
        return
    shmem.init()
    body()
    shmem.finalize()


# --- in the parent -------------------------------------------------------------------------------------------------------


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    @property
    def text(self):
        return f'exit status {self.code} after {self.seconds:.1f} s\n--- stdout\n{self.out}\n--- stderr\n{self.err}'

    def ok(self):
        assert self.code == 0, self.text
        return self


def environment(**changes):
    foreign = {'RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT',
               'PYTHONUNBUFFERED'}  # with it, lines of several PEs mix
    result = {name: value for name, value in os.environ.items()
              if not name.startswith(('SHMEM_', 'SMA_')) and name not in foreign}
    result.update(SHMEM_TEST_MARK=MARK, PYTHONFAULTHANDLER='1', PYTHONDONTWRITEBYTECODE='1', OMP_NUM_THREADS='1',
                  USE_LIBUV='0')  # Debian builds torch without it, and torch's own store wants it by default
    result.update({name: value for name, value in changes.items() if value is not None})
    return result


class Started:
    """A process, and all that it starts, in a session of their own."""

    def __init__(self, command, env=None, preexec_fn=None):
        self.out, self.err = tempfile.TemporaryFile('a+b'), tempfile.TemporaryFile('a+b')
        self.began = time.monotonic()

        def prepare():
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job, as these tests may be, ignores it
            if preexec_fn:
                preexec_fn()

        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                        env=env or environment(), start_new_session=True, preexec_fn=prepare)
        self.pid = self.process.pid

    def read(self):
        texts = []
        for file in (self.out, self.err):  # at an offset: the processes share the file's position with us
            texts.append(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors='replace'))
        return texts

    def wait_for(self, text, times=1, deadline=20.0):
        """Until standard output has the text, so many times."""
        end = time.monotonic() + deadline
        while self.read()[0].count(text) < times:
            assert time.monotonic() < end and self.process.poll() is None, f'{text!r} did not come: {self.read()}'
            time.sleep(0.01)

    def finish(self, deadline=DEADLINE):
        try:
            self.process.wait(deadline)
            late = False
        except subprocess.TimeoutExpired:
            late = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()
        seconds = time.monotonic() - self.began
        out, err = self.read()
        self.out.close()
        self.err.close()
        result = Result(self.process.returncode, out, err, seconds)
        assert not late, f'it did not end within {deadline} seconds: {result.text}'
        return result


def start(command, **options):
    return Started([str(word) for word in command], **options)


def run(command, deadline=DEADLINE, **options):
    return start(command, **options).finish(deadline)


def pes(n, *command, env=None, options=(), deadline=DEADLINE):
    """A Python program as a job of n PEs."""
    return run(['shmemrun', '-n', n, *options, PYTHON, *command], env=env, deadline=deadline)


def torchrun(path):
    """A Python program in two processes of torchrun; skips the test where this torch's cannot start any. Its options have
    been spelt with underscores by all versions."""
    import pytest
    from test_job import free_port
    result = run([PYTHON, '-m', 'torch.distributed.run', '--nproc_per_node', '2', '--master_addr', '127.0.0.1', '--master_port', free_port(),
                  path], env=environment())
    if 'use_libuv was requested' in result.text:
        pytest.skip('this torchrun starts nothing: its own store asks for libuv, which this torch was built without')
    if "'NoneType' object has no attribute 'get'" in result.text:
        pytest.skip('this torchrun starts nothing: it is older than this Python')
    return result.ok()


def program(tmp_path, text, name='program.py'):
    """A file with the text, without the indentation of its first line."""
    import textwrap
    path = tmp_path / name
    path.write_text(textwrap.dedent(text))
    return path


DOUBLES = {'npu': 'ascend-85', 'cuda': 'cuda-130', 'old npu': 'ascend-82', 'no handles': 'ascend-70',
           'old cuda': 'cuda-90'}


def double(kind):
    """A double of that driver, which the tests in C build; built now if it is not there yet."""
    import pytest
    build = os.path.join(os.path.dirname(os.path.dirname(HERE)), 'build', 'main')
    name = os.path.join('tests', 'doubles', f'libdouble-{DOUBLES[kind]}.so')
    if not os.path.exists(os.path.join(build, name)):
        subprocess.run(['ninja', '-C', build, name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if not os.path.exists(os.path.join(build, name)):
        pytest.skip(f'{name} was not built (make check builds it)')
    return os.path.join(build, name)


def doubles(**more):
    """The environment of a process that has both drivers' doubles."""
    return environment(**{'SHMEM_ASCEND_LIBRARY': double('npu'), 'SHMEM_CUDA_LIBRARY': double('cuda'), **more})


# For such a process: a call that has to raise.
RAISES = '''
def raises(kind, words, function, *args, **keywords):
    try:
        function(*args, **keywords)
    except kind as error:
        assert isinstance(error, shmem.Error) and words in str(error), repr(error)
    else:
        raise AssertionError(f'no {kind} was raised')
'''


def run_body(n, path, name, deadline=DEADLINE, env=None):
    result = pes(n, os.path.join(HERE, 'jobs.py'), path, name, env=environment(SHMEM_TEST_BODY='1', **(env or {})),
                 options=['--tag-output'], deadline=deadline)
    if result.code == 77:
        import pytest
        pytest.skip(result.out.partition('# skip: ')[2].partition('\n')[0] or result.text)
    return result.ok()


def on_pes(*counts, deadline=DEADLINE, bare=False, env=None):
    """Makes a body that all PEs run into a test. bare: it calls init and finalize itself."""

    def decorate(body):
        body.bare = bare
        if IN_PE:
            def test():
                raise AssertionError('this runs in the parent')
        else:
            import pytest

            @pytest.mark.parametrize('n', counts)
            def test(n):
                run_body(n, body.__code__.co_filename, body.__name__, deadline, env)
        test.__name__, test.__doc__, test.body = body.__name__, body.__doc__, body
        return test

    return decorate


def marked():
    """Processes with our mark, besides this one: [(pid, command line)]."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/environ', 'rb') as file:
                ours = f'SHMEM_TEST_MARK={MARK}'.encode() in file.read().split(b'\0')
            if ours and int(pid) != os.getpid():
                with open(f'/proc/{pid}/cmdline', 'rb') as file:
                    command = file.read().replace(b'\0', b' ').decode(errors='replace')
                found.append((int(pid), command))
        except OSError:
            continue  # gone, or another user's
    return found


if __name__ == '__main__':
    sys.modules['jobs'] = sys.modules['__main__']
    _main()
