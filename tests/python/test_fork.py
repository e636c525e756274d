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


# --- pools, which need no job ---------------------------------------------------------------------------------------------------


@on_pes(1, bare=True)
def test_pools_in_a_child():
    """The child attaches by itself; what its parent allocated is the parent's; what it allocates is its own."""
    pool = shmem.create_pool('16M')
    held = [pool.alloc(100, 'i4', fill=k) for k in range(50)]
    own = pool.alloc(1000, 'i4', own=True, fill=1)
    named = pool.alloc(10, 'i4', name='named', fill=2)
    gone, key = pool.alloc(10, 'i4', fill=3), pool.export(own)
    freed = pool.alloc(10, 'i4', fill=4)

    def work():
        nonlocal held, own
        before = pool.stats()
        held[0][:] = 77  # the same memory
        own[0] = 78
        pool['named'][1] = 79
        held = held[:1]
        gc.collect()  # drops inherited ones, which frees nothing
        mine = pool.alloc(100, 'i4', fill=9)
        assert pool.stats().members == 2 and pool.stats().buffers == before.buffers + 1
        large = pool.alloc(1000, own=True, fill=9)
        assert (shmem.import_(pool.export(large)) == 9).all() and (shmem.import_(key)[1:] == 1).all()
        pool.free(freed)  # said, it is done
        with raises(shmem.errors.Stale):
            pool.free(freed)
        with raises(shmem.errors.AccessDenied, 'forked'):
            pool.export(own)
        del own, mine
        gc.collect()
        assert pool.stats().buffers == before.buffers  # large came, and freed went
        pool.export(gone)
        pool.alloc(3, 'i4', name='of the child', fill=5)

    child_of(work)
    assert (held[0] == 77).all() and all((a == k).all() for k, a in enumerate(held) if k) and len(held) == 50
    assert own[0] == 78 and (own[1:] == 1).all() and named[1] == 79 and (pool['of the child'] == 5).all()
    gc.collect()
    more = [pool.alloc(100, 'i4', fill=-1) for _ in range(200)]
    assert all((a == k).all() for k, a in enumerate(held) if k)
    with raises(ValueError):
        pool.free(freed)
    assert (shmem.import_(key)[1:] == 1).all()
    pool.free(own)
    with raises(shmem.KeyRevoked):
        shmem.import_(key)
    del more


@on_pes(1, bare=True)
def test_the_end_of_a_child_with_pools():
    """However it ends: the parent's pool is as it was."""
    pool = shmem.create_pool('4M')
    a = pool.alloc(1000, 'i4', fill=1)
    b = pool.alloc(1000, 'i4', own=True, fill=2)
    for use in (False, True):
        for end in (lambda: os._exit(0), lambda: sys.exit(0), lambda: os.kill(os.getpid(), 9), pool.close):
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                if use:
                    c = pool.alloc(1000, 'i4', fill=3)
                    assert (shmem.import_(pool.export(a)) == 1).all() and c[0] == 3
                end()
                sys.exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (0, -9)
            assert (a == 1).all() and (b == 2).all() and pool.is_open
            d = pool.alloc(1000, 'i4', fill=4)
            assert (d == 4).all()
            del d
    grown = [pool.alloc(1000, 'i4', fill=k) for k in range(400)]
    assert all((x == k).all() for k, x in enumerate(grown)) and (a == 1).all() and pool.stats().members == 1


@on_pes(1, bare=True)
def test_imports_in_a_child():
    maker = subprocess.Popen([sys.executable, '-c', """
import shmem, sys
pool = shmem.create_pool('1M')
a = pool.alloc(1000, 'i4', fill=1)
print(pool.export(a), flush=True)
sys.stdin.read()"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    key = maker.stdout.readline().strip()
    a, r = shmem.import_(key), shmem.import_(key, 'r')

    def work():
        nonlocal a
        a[0] = 5
        del a
        gc.collect()
        assert r[0] == 5
        b = shmem.import_(key)
        b[1] = 6
        child_of(lambda: shmem.import_(key).__setitem__(2, 7))

    child_of(work)
    assert a[:4].tolist() == [5, 6, 7, 1] == r[:4].tolist()
    maker.communicate()
    child_of(lambda: a.__setitem__(3, 8))
    assert r[3] == 8 and maker.returncode == 0


@on_pes(1, bare=True)
def test_files_in_a_child():
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        file = shmem.create_file(folder + '/f', '1M')
        a = file.alloc(100, 'i4', name='a', fill=1)

        def work():
            file['a'][0] = 2
            file.alloc(10, 'i4', name='b', fill=3)
            file.flush()

        child_of(work)
        assert a[0] == 2 and (file['b'] == 3).all()
        file.close()
        del a
        with shmem.open_file(folder + '/f', 'r') as again:
            assert again['a'][0] == 2 and (again['b'] == 3).all()


@on_pes(1, bare=True)
def test_threads_while_forking():
    import threading
    pool = shmem.create_pool('16M')
    stop = False

    def allocate():
        while not stop:
            a = pool.alloc(1000, 'i4', fill=1)
            b = shmem.import_(pool.export(a))
            assert (b == 1).all()
            pool.free(a)

    threads = [threading.Thread(target=allocate) for _ in range(3)]
    for t in threads:
        t.start()
    for _ in range(30):
        child_of(lambda: pool.alloc(100, 'i4', fill=2))
    stop = True
    for t in threads:
        t.join()
    assert pool.stats().members == 1
