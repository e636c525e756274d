# SPDX-License-Identifier: Apache-2.0
"""fork while arrays are registered corrupts nothing, in the parent or in the child."""

import gc
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import shmem
from jobs import on_pes, raises


def child_of(work):
    """Runs work() in a forked child, which ends without the interpreter's own end; asserts that it went well."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: B902 (the child must not run the parent's code)
            import traceback
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def make():
    me = shmem.my_pe()
    small = [shmem.register(np.full(5, 100.0 * k + me)) for k in range(20)]
    large = shmem.register(np.arange(200000.0) + me, name='large')
    symmetric = shmem.full(1000, me)
    shmem.barrier()
    return me, small, large, symmetric


def check(me, small, large, symmetric):
    n = shmem.n_pes()
    shmem.barrier()
    assert all((r.array == 100.0 * k + me).all() for k, r in enumerate(small))
    assert (large.array == np.arange(200000.0) + me).all() and (symmetric == me).all()
    for pe in range(n):
        assert all((shmem.get(r, pe) == 100.0 * k + pe).all() for k, r in enumerate(small))
        assert (shmem.get(large, pe) == np.arange(200000.0) + pe).all() and (shmem.get(symmetric, pe) == pe).all()
    shmem.barrier()


@on_pes(1, 2)
def test_the_child_is_no_pe():
    me, small, large, symmetric = make()
    view = shmem.peer(large, (me + 1) % shmem.n_pes())

    def work():
        assert not shmem.is_initialized() and not large.is_open
        for call in (shmem.barrier, shmem.my_pe, shmem.finalize, lambda: shmem.get(large, 0), lambda: shmem.put(large, 0),
                     lambda: shmem.deregister(large), lambda: shmem.wait(large), lambda: shmem.zeros(3),
                     lambda: shmem.get(symmetric, 0), lambda: shmem.free(symmetric), lambda: large.close(),
                     lambda: shmem.all_reduce(np.zeros(3)), lambda: shmem.register(np.zeros(3))):
            with raises(shmem.NotInitialized, 'fork'):
                call()
        # What was there can still be read.
        assert large.array[1] == 1 + me and small[3].array[0] == 300 + me and symmetric[0] == me
        assert view[1] == 1 + (me + 1) % n

    n = shmem.n_pes()
    child_of(work)
    check(me, small, large, symmetric)


@on_pes(1, 2)
def test_dropping_in_the_child():
    """Memory that was registered is not given back, nor freed, by a child: its parent still uses it."""
    me, small, large, symmetric = make()

    def work():
        nonlocal small, large, symmetric
        small = large = symmetric = None
        gc.collect()
        junk = [np.full(200000, -1.0) for _ in range(20)] + [np.full(5, -1.0) for _ in range(1000)]
        assert junk[0][0] == -1

    for _ in range(3):
        child_of(work)
    check(me, small, large, symmetric)


@on_pes(1, 2)
def test_the_child_ends_like_a_program():
    """With atexit handlers and the interpreter's whole end."""
    me, small, large, symmetric = make()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        del small[:10]
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert shmem.is_initialized()
    check(me, small, large, symmetric)


@on_pes(1, 2)
def test_a_child_that_is_a_job_of_its_own():
    me, small, large, symmetric = make()

    def work():
        shmem.init(rank=0, world_size=1, uid='child')
        with raises(shmem.errors.Stale, 'over'):
            shmem.get(large, 0)
        assert shmem.n_pes() == 1
        fresh = shmem.full(10, 3)
        assert (shmem.get(fresh, 0) == 3).all() and (shmem.all_reduce(fresh) == 3).all()
        shmem.finalize()

    child_of(work)
    check(me, small, large, symmetric)


def _square(x):
    return x * x


@on_pes(1, 2)
def test_multiprocessing_with_fork():
    me, small, large, symmetric = make()
    with multiprocessing.get_context('fork').Pool(2) as pool:
        for turn in range(5):
            large.array[0] = me
            assert pool.map(_square, range(50)) == [x * x for x in range(50)]
    q = multiprocessing.get_context('fork').Queue()
    p = multiprocessing.get_context('fork').Process(target=lambda: q.put(large.array.sum()))
    p.start()
    assert q.get(timeout=20) == large.array.sum()
    p.join()
    assert p.exitcode == 0
    q.close()
    check(me, small, large, symmetric)


@on_pes(1, 2)
def test_subprocess():
    me, small, large, symmetric = make()
    for _ in range(3):
        assert subprocess.run(['echo', 'hello'], capture_output=True).stdout == b'hello\n'
        ran = subprocess.run(['cat'], input=b'x' * 100000, capture_output=True, preexec_fn=lambda: None)  # plain fork
        assert ran.stdout == b'x' * 100000
    assert os.system('true') == 0
    check(me, small, large, symmetric)


@on_pes(2)
def test_writing_on_both_sides():
    """Small objects become the child's own copies. The parent goes on as if nothing had been."""
    me, small, large, symmetric = make()
    ready, go = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.write(ready[1], b'x')
            os.read(go[0], 1)
            code = 0 if all(r.array[0] == 100.0 * k + me for k, r in enumerate(small)) else 3  # as at the fork
            for r in small:
                r.array[:] = -1
        finally:
            os._exit(code)
    os.read(ready[0], 1)
    for r in small:
        r.array += 1000
    os.write(go[1], b'x')
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert all((r.array == 1000 + 100.0 * k + me).all() for k, r in enumerate(small))
    for r in small:
        r.array -= 1000
    for fd in (*ready, *go):
        os.close(fd)
    check(me, small, large, symmetric)


@on_pes(2)
def test_registering_after_a_fork():
    me, small, large, symmetric = make()
    child_of(lambda: None)
    more = shmem.register(np.full(3000, me + 0.5), name='more')
    shmem.barrier()
    assert (shmem.get(more, 1 - me) == 1 - me + 0.5).all()
    shmem.barrier()
    shmem.deregister(more)
    del small[5:]
    child_of(lambda: None)
    check(me, small, large, symmetric)
