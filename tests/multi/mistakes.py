#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mistakes.py SHMEMRUN PROGRAM: a mistake in a collective or with a lock ends the job, with the PEs named; so does a death."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
from harness import expect, main, run  # noqa: E402

SHMEMRUN, PROGRAM = sys.argv[1:3]
CHECKED = {'SHMEM_DEBUG': '1', 'SHMEM_LOG': 'error'}
# name, what is said, variables
MISTAKES = [
    ('dies in team', r'PE 3 \(pid \d+\)', {}),
    ('dies in team', r'PE 3 \(pid \d+\)', {'SHMEM_CORES': '4'}),
    ('dies in active set', r'PE 3 \(pid \d+\)', {}),
    ('other size', r'shmem_long_alltoall: PE \d calls shmem_long_alltoall\(\d+ bytes.* but PE \d calls shmem_long_alltoall\(', CHECKED),
    ('other operation', r'PE \d calls shmem_long_(sum|max)_reduce\(8 bytes.* but PE \d calls shmem_long_(sum|max)_reduce', CHECKED),
    ('other root', r'PE \d calls shmem_long_broadcast\(8 bytes, root \d.* but PE \d calls shmem_long_broadcast\(8 bytes, root \d', CHECKED),
    ('other place', r'PE [123] calls shmem_collectmem\(0 bytes, root 0, dest at heap 0x\d+\), but PE [123] calls', CHECKED),
    ('other stride', r'PE \d calls shmem_alltoalls64\(8 bytes, dst \d, sst 1.* but PE \d calls', CHECKED),
    ('allocates', r'(shmem_sync_all: PE \d calls .* but PE 3 makes another call|shmem_malloc: PE 3 calls .* but PE \d makes another call)', CHECKED),
    ('allocates', r'shmem_malloc: PE 3 calls shmem_malloc\(64 bytes, .* but PE \d makes another call', {}),
    ('other allocation', r'PE \d calls shmem_(malloc|calloc)\(64 bytes.* but PE \d calls shmem_(calloc|malloc)\(64 bytes', {}),
    ('not in the set', r'shmem_sync: PE_start 0, logPE_stride 0 and PE_size 3: this PE is not in that active set', {}),
    ('not initialised', r'shmem_barrier: pSync\[\d+\] is 72340172838076673: every element must be SHMEM_SYNC_VALUE', {}),
    ('too much', r'shmem_collectmem: the elements of all PEs are more bytes than an address space', {}),
    ('too far', r'shmem_collectmem: dest: the range of 4611686018427387904 bytes at 0x\w+ goes past', {}),
    ('no signal', r'shmem_long_put_signal: sig_addr is NULL, but must be a symmetric address', {}),
    ('freed signal', r'shmem_long_put_signal: sig_addr: the range of 8 bytes at 0x\w+ is in no block .* it was freed', CHECKED),
    ('waits for nothing', r'shmem_long_wait_until_any: ivars: the range of 800000000 bytes at 0x\w+ goes past', {}),
    ('adds to nothing', r'shmem_long_atomic_fetch: source is 0x\w+, no symmetric address', {}),
    ('keeps a lock', r'shmem_set_lock: PE 2 \(pid \d+\) has called finalize and releases nothing any more', {}),
]


def case(name, says, env):
    def ends():
        outcome = expect(run([SHMEMRUN, '-n', '4', PROGRAM, name], env=env), says=says, within=20)
        assert outcome.status not in (0, None), outcome
    return (name + ''.join(f' {key}={value}' for key, value in env.items()), ends)


def ends_all():
    """What the others have printed by then is not lost, unless a thread keeps it from being written."""
    outcome = expect(run([SHMEMRUN, '-q', '-n', '4', PROGRAM, 'ends all']), status=3, within=20)
    assert sorted(outcome.out.splitlines()) == [f'PE {pe} has printed this' for pe in (0, 1, 2)], outcome


def no_room():
    """NULL comes with one line of PE 0 that says why and what to set; with SHMEM_DEBUG each time."""
    for more, calls in ({}, ['malloc']), ({'SHMEM_DEBUG': '1'}, ['malloc', 'calloc', 'align', 'realloc']):
        env = {'SHMEM_SYMMETRIC_SIZE': '2m', 'SHMEM_LOG': 'warn', **more}
        outcome = expect(run([SHMEMRUN, '-n', '3', PROGRAM, 'no room'], env=env), status=0, out='1111\n' * 3)
        lines = [re.match(r'shmem: PE 0 \(pid \d+\) warn heap: shmem_(\w+): the symmetric heap has no room for 3145728 bytes: of 2097152 '
                          r'bytes \d+ are in use \(at most \d+ so far\) .* set SHMEM_SYMMETRIC_SIZE .*NULL is returned', line)
                 for line in outcome.err.splitlines()]
        assert [line and line[1] for line in lines] == calls, outcome


def no_job():
    """An init that may fail says on standard error why it did, besides returning."""
    env = {'SHMEM_SYMMETRIC_SIZE': '20b', 'SHMEM_LOG': 'warn'}
    outcome = expect(run([SHMEMRUN, '-n', '2', PROGRAM, 'no job'], env=env), status=0, out='1 1 0\n' * 2)
    said = re.findall(r"error job: shmem_init_thread: SHMEM_SYMMETRIC_SIZE is '20b': 'b' is none of the suffixes", outcome.err)
    assert len(said) == 2, outcome


if __name__ == '__main__':
    sys.exit(main([case(*mistake) for mistake in MISTAKES] + [ends_all, no_room, no_job]))
