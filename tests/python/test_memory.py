# SPDX-License-Identifier: Apache-2.0
"""Too little memory is an error where it is asked for, never a signal later."""

import contextlib
import os
import time

import pytest
from jobs import PYTHON, program, run

LIMIT = 256 << 20


def groups():
    """Directories in which this process may make a memory cgroup: (directory, file with the limit)."""
    own = {}
    with open('/proc/self/cgroup') as file:
        for line in file:
            _, controllers, path = line.rstrip('\n').split(':', 2)
            own['cgroup2' if not controllers else 'cgroup' if 'memory' in controllers.split(',') else ''] = path
    with open('/proc/self/mountinfo') as file:
        for line in file:
            fields, _, rest = line.partition(' - ')
            kind, options = rest.split()[0], rest.split()[2]
            if kind == 'cgroup2' or (kind == 'cgroup' and 'memory' in options.split(',')):
                root, mount = fields.split()[3:5]
                path = own.get(kind, '/')
                path = path[len(root):] if root != '/' and path.startswith(root) else path
                yield mount + path.rstrip('/'), 'memory.max' if kind == 'cgroup2' else 'memory.limit_in_bytes'


@pytest.fixture
def small_group():
    """A cgroup with little memory, or a skip."""
    for directory, limit in groups():
        path = f'{directory}/shmem-test-{os.getpid()}'
        try:
            os.mkdir(path)
        except OSError:
            continue
        try:
            with open(f'{path}/{limit}', 'w') as file:
                file.write(str(LIMIT))
        except OSError:
            os.rmdir(path)
            continue
        yield path
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(path)
                return
            time.sleep(0.02)
        raise AssertionError(f'{path} is still in use')
    pytest.skip('no memory cgroup can be made here (it takes root and a writable cgroup file system)')


def test_in_a_small_cgroup(small_group, tmp_path):
    path = program(tmp_path, '''
        import numpy as np, shmem
        shmem.init()
        me = shmem.my_pe()
        try:
            shmem.zeros(400 << 20, np.uint8)
        except MemoryError as error:
            print(type(error).__name__, error, flush=True)
        a = shmem.zeros(8 << 20, np.uint8)  # what fits works
        r = shmem.register(np.full(8 << 20, me, np.uint8))
        shmem.barrier()
        assert (shmem.get(r, 1 - me, size=4096) == 1 - me).all() and not a.any()
        blocks = []
        try:
            for _ in range(100):
                blocks.append(shmem.zeros(4 << 20, np.uint8))
        except shmem.Error as error:
            print(len(blocks), 'blocks', error, flush=True)
        shmem.barrier()
        shmem.finalize()
        print('done', flush=True)
    ''')

    def enter():
        with open(f'{small_group}/cgroup.procs', 'w') as file:
            file.write(str(os.getpid()))

    result = run(['shmemrun', '-n', '2', PYTHON, path], preexec_fn=enter).ok()
    assert result.out.count('OutOfMemory shmem.zeros: ') == 2 and result.out.count('done') == 2, result.text
    assert result.out.count(' blocks shmem.zeros: ') == 2, result.text
    assert 'limit of the memory cgroup' in result.out, result.text
