# SPDX-License-Identifier: Apache-2.0
"""A PE is killed with -9 while others wait: all end within two seconds, and the exception names the PE."""

import os
import random
import re
import signal
import time

import pytest
from jobs import PYTHON, environment, program, start
from test_job import free_port

VICTIM = '''
    import os, sys, threading, time
    import numpy as np, shmem
    shmem.init()
    me, n, where = shmem.my_pe(), shmem.n_pes(), sys.argv[1]
    r = shmem.register(np.zeros(1 << 16, np.int32), name='r')
    s = shmem.zeros(4, np.int64)
    shmem.barrier()
    if me == n - 1:
        print('pid', os.getpid(), flush=True)
        if where == 'all_reduce in the middle':
            while True:
                shmem.all_reduce(np.zeros(1 << 20))
        time.sleep(60)
    waits = {
        'barrier': shmem.barrier,
        'wait': lambda: shmem.wait(r),
        'wait_until': lambda: shmem.wait_until(s, '>', 0),
        'all_reduce': lambda: shmem.all_reduce(np.zeros(10)),
        'all_reduce in the middle': lambda: [shmem.all_reduce(np.zeros(1 << 20)) for _ in range(10**6)],
        'broadcast': lambda: shmem.broadcast(np.zeros(10), n - 1),
        'all_gather': lambda: shmem.all_gather(np.zeros(10)),
        'zeros': lambda: shmem.zeros(3),
        'region': lambda: shmem.region(n - 1, name='never'),
        'put_to_waiting': lambda: shmem.put(dst=n - 1, dst_mr=None, src_mr=r),
        'finalize': shmem.finalize,
        'get': lambda: [shmem.get(r, n - 1) for _ in range(10**9)],
    }
    try:
        waits[where]()
    except shmem.OwnerDied as error:
        print('caught', time.time(), error, flush=True)
    else:
        raise SystemExit('nothing was raised')
    # What needs nobody else still works.
    if where != 'finalize':
        assert (shmem.get(r, me) == 0).all()
        began = time.monotonic()
        try:
            shmem.put(r, n - 1)
        except shmem.Error as error:
            print('then', error, flush=True)
        assert time.monotonic() - began < 1
'''


def start_by_hand(path, n, *arguments):
    """Nobody ends the others for them, as shmemrun does."""
    common = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': free_port(), 'WORLD_SIZE': str(n)}
    return [start([PYTHON, path, *arguments], env=environment(RANK=str(rank), **common)) for rank in range(n)]


@pytest.mark.parametrize('where', ['barrier', 'wait', 'wait_until', 'all_reduce', 'all_reduce in the middle', 'broadcast',
                                   'all_gather', 'zeros', 'region', 'put_to_waiting', 'finalize', 'get'])
def test_a_killed_pe_ends_every_wait(tmp_path, where):
    path = program(tmp_path, VICTIM)
    started = start_by_hand(path, 3, where)
    started[2].wait_for('pid')
    time.sleep(0.3)
    killed = time.time()
    os.kill(started[2].pid, signal.SIGKILL)
    results = [s.finish(10) for s in started]
    assert results[2].code == -signal.SIGKILL
    for result in results[:2]:
        result.ok()
        caught = re.search(r'^caught (\S+) (shmem\.\w+: .*)$', result.out, re.M)
        assert caught and float(caught[1]) - killed < 2, result.text
        assert re.search(r'\bPE 2\b', caught[2]), result.text


def test_under_the_launcher_one_message_names_the_pe(tmp_path):
    path = program(tmp_path, '''
        import os, signal, time, numpy as np, shmem
        shmem.init()
        if shmem.my_pe() == 1:
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        shmem.barrier()
    ''')
    job = start(['shmemrun', '-n', 4, PYTHON, path])
    result = job.finish(10)
    assert result.code == 128 + signal.SIGKILL and result.seconds < 4, result.text
    assert 'shmemrun: PE 1 (pid' in result.err and 'killed by signal 9' in result.err, result.text


@pytest.mark.parametrize('seed', range(4))
def test_killed_at_random_moments(tmp_path, seed):
    path = program(tmp_path, '''
        import sys, time, numpy as np, shmem
        shmem.init()
        me, n = shmem.my_pe(), shmem.n_pes()
        rng = np.random.default_rng(5)
        print('ready', flush=True)
        try:
            for turn in range(10**6):
                r = shmem.register(np.full(int(rng.integers(1, 20000)), me))
                c = shmem.zeros(2, np.int64)
                shmem.put(dst=(me + 1) % n, dst_mr=r, src_mr=r.array)
                shmem.atomic_add(c, 1, 0)
                shmem.wait(r)
                shmem.all_reduce(r.array, 'max')
                shmem.barrier()
                shmem.free(c)
        except shmem.OwnerDied as error:
            print('caught', error, flush=True)
        except shmem.Error as error:  # the region of one that has just gone
            assert isinstance(error, shmem.errors.Stale), repr(error)
            print('caught', error, flush=True)
    ''')
    rng = random.Random(seed)
    started = start_by_hand(path, 3)
    for s in started:
        s.wait_for('ready')
    time.sleep(rng.uniform(0, 0.3))
    victim = rng.randrange(3)
    os.kill(started[victim].pid, signal.SIGKILL)
    for rank, result in enumerate([s.finish(10) for s in started]):
        assert rank == victim or 'caught' in result.ok().out, result.text


def test_one_that_raises_ends_the_job(tmp_path):
    """An exception in one PE, nobody catches anything: one traceback for it, and the job ends."""
    path = program(tmp_path, '''
        import shmem
        shmem.init()
        if shmem.my_pe() == 2:
            raise ZeroDivisionError('on purpose')
        shmem.barrier()
    ''')
    result = start(['shmemrun', '-n', 3, PYTHON, path]).finish(10)
    assert result.code == 1 and 'on purpose' in result.err and result.seconds < 4, result.text
