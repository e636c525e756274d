#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aarch64_run.py BUILD ROOT MESON NINJA [NAME...]: the second half of scripts/aarch64. Builds the tests, puts them with a
kernel, a C library and a shell into an initramfs, boots that in the emulator, and counts what it says."""
import json
import os
import re
import shlex
import stat
import subprocess
import sys

BUILD, ROOT, MESON, NINJA, *NAMES = sys.argv[1:]
TRIPLE = 'aarch64-linux-gnu'
LIBRARIES = ('ld-linux-aarch64.so.1', 'libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'librt.so.1', 'libgcc_s.so.1')
SUITES = ('unit', 'multi', 'conformance', 'examples', 'chaos')
SECONDS = 400  # for a test; the emulator takes its time

# What is not run, and why.
LEFT_OUT = {
    'map/inplace_threads': 'its page faults against running writers take seven minutes in an emulator: run it by its name',
}

INIT = '''#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin CMOCKA_MESSAGE_OUTPUT=TAP SHMEM_TEST_SECONDS=2 SHMEM_TEST_CYCLES=100
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
mount -t tmpfs none /tmp
ifconfig lo up
echo "@@ $(uname -srm)"
while IFS='|' read -r name command; do
    eval "timeout -s KILL SECONDS $command" >/tmp/out 2>&1 </dev/null
    status=$?
    echo "@@ $status $name"
    [ $status = 0 ] || [ $status = 77 ] || grep -v '^ok' /tmp/out | tail -n 40
done </tests/list
echo '@@ end'
poweroff -f
'''.replace('SECONDS', str(SECONDS))


def wanted(name):
    return not NAMES or any(name.startswith(begin) for begin in NAMES)


def built(word):
    """A program in the build folder is named from there, or in full."""
    path = os.path.join(os.path.abspath(BUILD), word)
    return path if '/' in word and '=' not in word and not word.endswith('.py') else word


def moved(word):
    """Where the machine has what is at an absolute path here, as the value of a variable, too."""
    name, equals, value = word.rpartition('=')
    return name + equals + '/tests/' + os.path.basename(value) if value.startswith('/') else word


def variables_of(test, command):
    """What a test has in its environment: from meson, what is for the library; from the harness, all."""
    given = [f'{name}={value}' for name, value in test['env'].items() if name.startswith('SHMEM_')]
    return given + [command[i + 1] for i, word in enumerate(command) if word == '--env']


def find_tests():
    """[(name, command as the machine runs it)], and the programs that the commands need."""
    listed = json.loads(subprocess.check_output([MESON, 'introspect', '--tests', BUILD]))
    tests, programs = [], set()
    for test in listed:
        suite, name = test['suite'][0].rpartition(':')[2], test['name']
        command = [built(word) for word in test['cmd']]
        variables = variables_of(test, command)
        if suite not in SUITES:
            continue
        name = name if suite == 'unit' else f'{suite}-{name}'
        runner = next((i for i, word in enumerate(command) if word.endswith('/tools/shmemrun')), None)
        scripts = [os.path.basename(word) for word in command if word.endswith('.py')]
        if scripts and (runner is None or scripts != ['harness.py']):
            continue  # driven by Python, which is not there
        command = command[runner or 0:]
        if not wanted(name):
            continue
        if name in LEFT_OUT and name not in NAMES:
            print(f'ok - {name} # SKIP {LEFT_OUT[name]}')
            continue
        words = (['env', *variables] if variables else []) + command
        values = (word.rpartition('=')[2] for word in words)
        programs.update(value for value in values if value.startswith(os.path.abspath(BUILD) + '/'))
        tests.append((name, shlex.join(map(moved, words))))  # an argument may be empty
    return tests, programs


def entry(number, name, mode, content=b'', device=(0, 0)):
    """Of the archive that the kernel reads: cpio's new format."""
    encoded = name.encode() + b'\0'
    fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(encoded), 0]
    head = b'070701' + b''.join(b'%08x' % field for field in fields) + encoded
    return head + b'\0' * (-len(head) % 4) + content + b'\0' * (-len(content) % 4)


def write_initramfs(path, files):
    """files: [(place, content)]"""
    folders = {'dev', 'proc', 'sys', 'tmp'} | {os.path.dirname(place) for place, _ in files if '/' in place}
    entries = [(folder, stat.S_IFDIR | 0o755) for folder in sorted(folders)]
    entries.append(('dev/console', stat.S_IFCHR | 0o600, b'', (5, 1)))
    entries += [(place, stat.S_IFREG | 0o755, content) for place, content in files] + [('TRAILER!!!', 0)]
    with open(path, 'wb') as file:
        for number, one in enumerate(entries, 1):
            file.write(entry(number, *one))


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def stripped(program):
    out = os.path.join(ROOT, 'stripped')
    subprocess.run([TRIPLE + '-strip', '-o', out, program], check=True)
    return read(out)


def collect(tests, programs):
    files = [('init', INIT.encode()), ('bin/busybox', read(f'{ROOT}/bin/busybox')),
             ('tests/list', ''.join(f'{name}|{command}\n' for name, command in tests).encode()),
             ('lib/libcmocka.so.0', read(f'{ROOT}/usr/lib/{TRIPLE}/libcmocka.so.0')),
             ('lib/libshmem.so.0', stripped(f'{BUILD}/src/libshmem.so.0'))]
    files += [('lib/' + name, read(f'/usr/{TRIPLE}/lib/{name}')) for name in LIBRARIES if os.path.exists(f'/usr/{TRIPLE}/lib/{name}')]
    return files + [('tests/' + os.path.basename(program), stripped(program)) for program in sorted(programs)]


def boot(image):
    command = ['qemu-system-aarch64', '-M', 'virt', '-cpu', 'cortex-a76', '-smp', '2', '-m', '3G', '-nographic', '-no-reboot',
               '-nic', 'none', '-kernel', f'{ROOT}/kernel', '-initrd', image, '-append', 'console=ttyAMA0 panic=-1 quiet']
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors='replace')


def follow(machine):
    """Prints what comes; how many tests passed and failed, and whether the machine came to its end."""
    passed = failed = 0
    for line in machine.stdout:
        found = re.match(r'@@ (\d+) (.*)', line.rstrip())
        if found and found[1] in ('0', '77'):
            passed += 1
            print(f'ok - {found[2]}' + (' # SKIP' if found[1] == '77' else ''), flush=True)
        elif found:
            failed += 1
            print(f'not ok - {found[2]} (exit status {found[1]}; the end of what it said:)', flush=True)
        elif line.startswith('@@ end'):
            return passed, failed, True
        else:
            print('    ' + line.rstrip().removeprefix('@@ '), flush=True)
    return passed, failed, False


def main():
    tests, programs = find_tests()
    if not tests:
        sys.exit(f'no test has a name that begins with {" or ".join(NAMES)}')
    targets = [os.path.relpath(program, os.path.abspath(BUILD)) for program in programs]
    made = subprocess.run([NINJA, '-C', BUILD, 'src/libshmem.so.0', *targets], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        print(made.stdout[-4000:])
        sys.exit('the tests could not be built')
    image = os.path.join(ROOT, 'initramfs')
    write_initramfs(image, collect(tests, programs))
    machine = boot(image)
    passed, failed, whole = follow(machine)
    machine.wait()
    missing = len(tests) - passed - failed
    print(f'{passed} passed, {failed + missing} failed' + ('' if whole else ': the emulated machine stopped'))
    sys.exit(failed + missing > 0)


main()
