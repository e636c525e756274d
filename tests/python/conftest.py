# SPDX-License-Identifier: Apache-2.0
"""After each test: no process, no file in /dev/shm and no descriptor is left."""

import gc
import os
import re
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402

# Other software on the machine has its own files there.
FOREIGN = re.compile(r'^(sem\.|vader_segment|osc_|ucx_|pulse-shm|memfd:|fmem)')


def shared_files():
    return {name for name in os.listdir('/dev/shm') if not FOREIGN.match(name)}


def descriptors():
    found = {}
    for fd in os.listdir('/proc/self/fd'):
        try:
            found[fd] = os.readlink(f'/proc/self/fd/{fd}')
        except OSError:
            continue
    return {fd: what for fd, what in found.items() if '/proc/' not in what}


def eventually(check, seconds=2.0):
    """What check() still finds after a while."""
    end = time.monotonic() + seconds
    while (left := check()) and time.monotonic() < end:
        time.sleep(0.02)
    return left


@pytest.fixture(autouse=True)
def nothing_left():
    files, fds, processes = shared_files(), descriptors(), {pid for pid, _ in jobs.marked()}
    yield
    left = eventually(lambda: [p for p in jobs.marked() if p[0] not in processes])
    for pid, _ in left:
        os.kill(pid, 9)  # ours: it carries the mark of this run
    assert not left, f'processes were left: {left}'
    assert not eventually(lambda: shared_files() - files)

    def new_descriptors():
        return {fd: what for fd, what in descriptors().items() if fd not in fds}

    if new_descriptors():
        gc.collect()  # what hangs in cycles, of frames and exceptions that newer versions of Python keep, say
    assert not new_descriptors(), 'descriptors were left'


@pytest.fixture(scope='session', autouse=True)
def built():
    """Fails once and clearly when the build is not on the paths."""
    found = jobs.run([jobs.PYTHON, '-c', 'import shmem'])
    if found.code:
        pytest.exit(f'cannot import shmem; did you say ". build/env"?\n{found.err}', returncode=3)
