# SPDX-License-Identifier: Apache-2.0
"""Synchronisation in pools, as users see it: several processes, deaths, timeouts, Ctrl-C, pickles, forks, mistakes."""

import copy
import gc
import math
import os
import pickle
import random
import signal
import threading
import time

import pytest
import shmem
from jobs import PYTHON, program, raises, run, start, until_asleep


@pytest.fixture
def pool():
    with shmem.create_pool('16M') as made:
        yield made


def in_child(call, *args):
    """Runs it in a forked child; its answer, which is None or can be written as text."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.write(write, repr(call(*args)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    assert os.waitpid(pid, 0)[1] == 0, text
    return eval(text)


def eventually(check, seconds=20.0):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end
        time.sleep(0.005)


def in_thread(call, *args):
    """Runs it in a thread, which then ends: what it answered or raised."""
    result = []

    def body():
        try:
            result.append(call(*args))
        except BaseException as error:
            result.append(error.with_traceback(None))  # which would hold this frame

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    return result[0]


HOLD = '''
    import os, sys, time, shmem
    thing = shmem.import_(sys.argv[1])
    getattr(thing, sys.argv[2])()
    print('held', flush=True)
    time.sleep(100)
'''


def kill_holder(tmp_path, thing, method='acquire'):
    """A process that acquires it, and is killed."""
    holder = start([PYTHON, program(tmp_path, HOLD, f'hold{time.monotonic_ns()}.py'), thing.export(), method])
    holder.wait_for('held')
    os.kill(holder.pid, signal.SIGKILL)
    holder.finish()


# --- mutexes -------------------------------------------------------------------------------------------------------------------


def test_a_mutex_is_a_lock(pool):
    m = pool.create_mutex()
    assert not m.locked() and m.acquire() is True and m.locked()
    assert in_thread(m.acquire, 0.01) is False and in_thread(m.acquire, False) is False
    assert in_thread(lambda: m.acquire(blocking=False)) is False and in_thread(m.acquire, True, 0.01) is False
    assert in_thread(lambda: m.acquire(timeout=0)) is False
    with raises(shmem.errors.Deadlock, 'Mutex.acquire', 'already'):
        m.acquire()
    m.release()
    assert in_thread(m.acquire, True, -1) is True  # and its thread ended
    with raises(shmem.OwnerDied, 'Mutex.acquire'):
        m.acquire()
    m.consistent()
    m.release()
    with m as same:
        assert same is m and m.locked()
    assert not m.locked()
    with raises(shmem.NotOwner, 'Mutex.release', 'nobody'):
        m.release()
    with m:
        assert isinstance(in_thread(m.release), shmem.NotOwner)
    with pytest.raises(ZeroDivisionError):
        with m:
            1 / 0
    assert not m.locked()


def test_a_mutex_excludes(pool, tmp_path):
    m, count = pool.create_mutex('m'), pool.alloc(1, 'i8', zero=True, name='count')
    text = program(tmp_path, '''
        import sys, shmem
        pool = shmem.open_pool(sys.argv[1])
        mutex, count = pool.find('m'), pool['count']
        for i in range(4000):
            with mutex:
                before = count[0]
                if i % 50 == 0:
                    import time; time.sleep(0.0001)
                count[0] = before + 1
    ''')
    others = [start([PYTHON, text, pool.export()]) for _ in range(3)]
    for _ in range(4000):
        with m:
            count[0] += 1
    for other in others:
        other.finish().ok()
    assert count[0] == 16000


def test_the_gil_is_free_while_waiting(pool):
    m = pool.create_mutex()
    m.acquire()
    waits = threading.Thread(target=lambda: m.acquire(timeout=20) and m.release())
    waits.start()
    end = time.monotonic() + 0.3
    turns = 0
    while time.monotonic() < end:
        turns += 1
    assert turns > 1000 and waits.is_alive()
    m.release()
    waits.join(20)
    assert not waits.is_alive()


def test_a_killed_holder(pool, tmp_path):
    m = pool.create_mutex()
    kill_holder(tmp_path, m)
    with raises(shmem.OwnerDied, 'Mutex.acquire', 'died'):
        m.acquire()
    assert m.locked()
    m.consistent()
    m.release()
    with m:
        pass
    kill_holder(tmp_path, m)
    repaired = []
    with m.repairing(lambda: repaired.append(1)):
        assert m.locked() and repaired == [1]
    with m.repairing(lambda: repaired.append(2)):
        assert repaired == [1]
    kill_holder(tmp_path, m)
    try:
        m.acquire()
    except shmem.OwnerDied as error:
        assert error.held is True
        m.release()
    for _ in range(2):
        with raises(shmem.NotRecoverable, 'Mutex.acquire', 'poisoned'):
            m.acquire()


def test_a_repair_that_fails(pool, tmp_path):
    m = pool.create_mutex()
    kill_holder(tmp_path, m)
    with pytest.raises(ZeroDivisionError):
        with m.repairing(lambda: 1 / 0):
            raise AssertionError('it was entered')
    with raises(shmem.NotRecoverable):
        m.acquire(timeout=1)


def test_a_waiter_takes_over_from_a_killed_holder(pool, tmp_path):
    m = pool.create_mutex()
    holder = start([PYTHON, program(tmp_path, HOLD), m.export(), 'acquire'])
    holder.wait_for('held')
    timer = threading.Timer(0.2, os.kill, (holder.pid, signal.SIGKILL))
    timer.start()
    with raises(shmem.OwnerDied):
        m.acquire(timeout=20)
    timer.join()
    holder.finish()


def test_ctrl_c_ends_every_wait(tmp_path):
    """Without a job, in each kind of wait."""
    text = program(tmp_path, '''
        import shmem, signal, threading, time, os
        pool = shmem.create_pool('4M')
        m, rw = pool.create_mutex(), pool.create_rwlock()
        full = pool.create_queue('i8', 1)
        while True:
            try:
                full.put_nowait(1)
            except shmem.QueueFull:
                break
        c = pool.create_condition()
        held = threading.Event()
        def hold():
            m.acquire(); rw.acquire_write(); held.set(); time.sleep(100)
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
        def condition():
            with c:
                c.wait()
        waits = dict(mutex=m.acquire, enter=m.__enter__, read=rw.acquire_read, write=rw.acquire_write,
                     semaphore=pool.create_semaphore(0).acquire, barrier=pool.create_barrier(2).wait,
                     event=pool.create_event().wait, atomic=lambda a=pool.create_atomic(): a.wait(0),
                     condition=condition, get=pool.create_queue('i8', 9).get, put=lambda: full.put(1),
                     iterate=lambda q=pool.create_queue(object, '1M'): next(q))
        for name, wait in waits.items():
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            began = time.monotonic()
            try:
                print(name, wait())
            except KeyboardInterrupt:
                print(name, 'interrupted', time.monotonic() - began < 5)
            timer.join()
        assert not c.mutex.locked()
        signal.signal(signal.SIGUSR1, lambda *_: None)   # a handler that raises nothing ends no wait
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        print('goes on', pool.create_event().wait(0.3), flush=True)
        os._exit(0)
    ''')
    out = run([PYTHON, text]).ok().out.split('\n')
    assert out[:12] == [f'{name} interrupted True' for name in ('mutex', 'enter', 'read', 'write', 'semaphore', 'barrier', 'event',
                                                               'atomic', 'condition', 'get', 'put', 'iterate')]
    assert out[12] == 'goes on False'


# --- the others -----------------------------------------------------------------------------------------------------------------


def test_readers_and_writers(pool, tmp_path):
    rw = pool.create_rwlock()
    with rw.read():
        assert rw.readers() == 1 and rw.locked()
        assert in_thread(rw.acquire_read, 0) is True
        assert in_thread(rw.acquire_write, 0.01) is False
        with raises(shmem.errors.Deadlock):
            rw.acquire_read()
    assert not rw.locked()
    with rw.write():
        assert in_thread(rw.acquire_read, False) is False and in_thread(rw.acquire_write, False) is False
    with raises(shmem.NotOwner, 'RWLock.release'):
        rw.release()
    kill_holder(tmp_path, rw, 'acquire_read')
    with rw.write():
        pass
    kill_holder(tmp_path, rw, 'acquire_write')
    try:
        rw.acquire_read()
        raise AssertionError('it was taken')
    except shmem.OwnerDied as error:
        assert not error.held
    with raises(shmem.NotOwner):
        rw.release()
    repaired = []
    with rw.write(lambda: repaired.append(1)):
        assert repaired == [1]
    with rw.read():
        pass
    kill_holder(tmp_path, rw, 'acquire_write')
    with raises(shmem.OwnerDied):
        with rw.write():
            raise AssertionError('it was entered')
    rw.consistent()
    rw.release_write()
    assert rw.acquire_write() is True
    rw.release()


def test_semaphores(pool, tmp_path):
    s = pool.create_semaphore(2, max=3)
    assert s.acquire() and s.acquire(timeout=1) and s.acquire(timeout=0) is False and s.acquire(blocking=False) is False
    s.release(n=3)
    assert s.value() == 3
    with raises(ValueError, 'Semaphore.release', '3'):
        s.release()
    with s:
        assert s.value() == 2
    for bad in (0, -1):
        with raises(ValueError, 'n is'):
            s.release(bad)
    with raises(TypeError, 'Semaphore.release'):
        s.release(m=1)
    owned = pool.create_semaphore(2, owned=True)
    kill_holder(tmp_path, owned)
    kill_holder(tmp_path, owned)
    kill_holder(tmp_path, owned)
    assert owned.acquire(timeout=5) and owned.acquire(timeout=5) and owned.acquire(timeout=0) is False
    assert isinstance(in_thread(owned.release), shmem.NotOwner)
    owned.release(2)


def test_conditions(pool):
    c = pool.create_condition()
    ready = []

    def notify():
        with c:
            ready.append(1)
            c.notify()

    with c:
        assert c.wait(0.01) is False
        thread = threading.Thread(target=notify)
        thread.start()
        assert c.wait_for(lambda: ready, timeout=20) == [1]
        assert c.wait_for(lambda: 0, timeout=0.02) == 0
        assert c.wait_for(lambda: 5) == 5
    thread.join()
    with raises(shmem.NotOwner, 'Condition.wait'):
        c.wait(0)
    mutex = pool.create_mutex()
    c1, c2 = pool.create_condition(mutex), pool.create_condition(mutex=mutex)
    assert c1.mutex is mutex and c2.mutex is mutex
    done = []

    def waits():
        with c1:
            c1.wait(20)
            done.append(1)

    threads = [threading.Thread(target=waits) for _ in range(3)]
    for one in threads:
        one.start()
    eventually(lambda: in_thread(lambda: mutex.acquire(0.1) and (mutex.release(), True)[1]))
    time.sleep(0.1)
    with c2:
        c2.notify_all()
    time.sleep(0.1)
    assert not done
    eventually(lambda: c1.notify_all() or len(done) == 3)
    for one in threads:
        one.join()


def test_a_condition_between_processes(pool, tmp_path):
    c, value = pool.create_condition(name='c'), pool.alloc(1, 'i8', zero=True, name='v')
    text = program(tmp_path, '''
        import sys, shmem
        pool = shmem.open_pool(sys.argv[1])
        c, value = pool['c'], pool['v']
        print('ready', flush=True)
        with c:
            assert c.wait_for(lambda: value[0], timeout=20)
            value[0] += 1
            c.notify_all()
    ''')
    other = start([PYTHON, text, pool.export()])
    other.wait_for('ready')
    with c:
        value[0] = 1
        c.notify_all()
        assert c.wait_for(lambda: value[0] == 2, timeout=20)
    other.finish().ok()
    for again in (pickle.loads(pickle.dumps(c)), shmem.import_(c.export()), copy.copy(c), pool.find('c')):
        assert isinstance(again, shmem.Condition)
        with c:
            with raises(shmem.errors.Deadlock):
                again.acquire()


def test_barriers(pool, tmp_path):
    b = pool.create_barrier(3)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(b.wait(20))) for _ in range(2)]
    for one in threads:
        one.start()
    eventually(lambda: b.n_waiting == 2)
    answers.append(b.wait())
    for one in threads:
        one.join()
    assert sorted(answers) == [0, 1, 1] and b.parties == 3
    with raises(TimeoutError, 'Barrier.wait'):  # two threads have ended, but after their round
        pool.create_barrier(2).wait(0.02)
    broken = pool.create_barrier(2)
    holder = start([PYTHON, program(tmp_path, '''
        import os, sys, time, shmem
        b = shmem.import_(sys.argv[1])
        b.wait()
        print('held', flush=True)
        time.sleep(100)
    '''), broken.export()])
    broken.wait(20)
    holder.wait_for('held')
    os.kill(holder.pid, signal.SIGKILL)
    holder.finish()
    with raises(shmem.BarrierBroken, 'Barrier.wait'):
        broken.wait(20)
    assert issubclass(shmem.BarrierBroken, threading.BrokenBarrierError) and issubclass(shmem.BarrierBroken, shmem.OwnerDied)
    assert broken.parties == 1 and broken.wait(20) == 0


def test_text_is_a_name(pool):
    """And is never taken for something else."""
    made = [pool.create_mutex('m'), pool.create_rwlock('r'), pool.create_event('e'), pool.create_semaphore(2, 's'), pool.create_barrier(2, 'b')]
    assert [pool.find(name).name for name in 'mresb'] == [one.name for one in made] == list('mresb')
    assert not pool.find('e').is_set() and made[2].set() is None and made[2].wait(0) and made[2].wait(0)  # nobody reset it
    for call in (lambda: pool.create_semaphore('x'), lambda: pool.create_barrier('x'), lambda: pool.create_condition('x'),
                 lambda: pool.create_atomic('x'), lambda: pool.create_atomic('int32', 'x'), lambda: pool.create_queue('x', 4),
                 lambda: pool.create_semaphore(1, max='x'), lambda: pool.create_rwlock(readers='x'), lambda: pool.create_event(True),
                 lambda: pool.create_rwlock(5), lambda: pool.create_semaphore(1, 5), lambda: pool.create_barrier(2, 5),
                 lambda: pool.create_queue('i4', 4, 'x'), lambda: pool.create_queue('i4', 4, producers='x')):
        with raises(TypeError, 'create_'):
            call()


def test_events(pool):
    e = pool.create_event()
    assert not e.is_set() and e.wait(0.01) is False and e.wait(timeout=0) is False
    threading.Timer(0.05, e.set).start()
    assert e.wait(20) is True and e.is_set() and e.wait() is True
    e.clear()
    assert not e.is_set()
    assert pool.create_event(set=True).wait(0) is True
    auto = pool.create_event(auto_reset=True)
    auto.set()
    assert auto.wait(0) is True and auto.wait(0) is False


def test_atomics(pool):
    for dtype in ('int64', 'uint64', 'int32', 'uint32'):
        signed, bits = dtype[0] == 'i', int(dtype[-2:])
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        a = pool.create_atomic(dtype, high, name=dtype)
        assert a.load() == high and a.dtype == dtype
        a.add(1)
        assert a.load() == low
        a.sub(1)
        assert a.load() == high
        assert a.fetch_sub(high) == high and a.fetch_add(12) == 0 and a.and_(10) == 12 and a.or_(1) == 8 and a.xor(3) == 9
        assert a.swap(7) == 10 and a.cas(6, 1) == 7 and a.load() == 7 and a.cas(7, 1) == 7 and a.load() == 1
        assert a.compare_exchange(0, 5) is False and a.compare_exchange(1, low) is True and a.load() == low
        for again in (pool.find(dtype), shmem.import_(a.export()), pickle.loads(pickle.dumps(a))):
            assert again.load() == low and again.dtype == dtype
        for bad in (low - 1, high + 1):
            with raises(ValueError, 'Atomic.store'):
                a.store(bad)
        with raises(TypeError, 'Atomic.add'):
            a.add(1.5)
    a = pool.create_atomic()
    assert a.wait(1, timeout=20) is True and a.wait(0, timeout=0.01) is False
    thread = threading.Thread(target=lambda: (time.sleep(0.05), a.store(3), a.wake()))
    thread.start()
    assert a.wait(0, 20) is True
    thread.join()
    for bad in ('float64', 'int16', 'nothing', '>i8'):
        with raises(TypeError, 'Pool.create_atomic', 'dtype'):
            pool.create_atomic(bad)


def test_atomics_between_processes(pool, tmp_path):
    a = pool.create_atomic('uint64')
    text = program(tmp_path, '''
        import sys, shmem
        a = shmem.import_(sys.argv[1])
        for _ in range(5000):
            a.add(1)
    ''')
    others = [start([PYTHON, text, a.export()]) for _ in range(2)]
    for _ in range(5000):
        a.add(1)
    for other in others:
        other.finish().ok()
    assert a.load() == 15000


# --- names, keys, pickles, forks --------------------------------------------------------------------------------------------------


def all_objects(pool, named):
    name = (lambda text: {'name': text}) if named else (lambda text: {})
    return [pool.create_mutex(**name('m')), pool.create_rwlock(**name('r')), pool.create_semaphore(1, **name('s')),
            pool.create_condition(**name('c')), pool.create_barrier(2, **name('b')), pool.create_event(**name('e')),
            pool.create_atomic(**name('a')), pool.create_queue('i8', 4, **name('q'))]


def test_names_and_keys(pool):
    for thing in all_objects(pool, True):
        kind = type(thing)
        for again in (pool.find(thing.name), pool[thing.name], shmem.import_(thing.export()), pool.import_(thing.export()),
                      pickle.loads(pickle.dumps(thing))):
            assert type(again) is kind
        assert thing.name in pool and thing.name in repr(thing) and pool.find(thing.name).name == thing.name
        assert copy.deepcopy(thing) is thing
        assert thing.pool.stats().size == pool.stats().size
    with raises(shmem.errors.AlreadyExists, 'Pool.create_mutex', "'a'"):
        pool.create_mutex('a')
    with raises(shmem.errors.AlreadyExists):
        pool.alloc(3, name='m')
    array = pool.alloc(3, name='array')
    assert type(pool.find('array')) is shmem.Buffer and (pool['array'] == array).all()
    with raises(KeyError, 'Pool.find', "'x'"):
        pool.find('x')
    with raises(ValueError, 'mode'):
        shmem.import_(pool['m'].export(), mode='r')
    with raises(ValueError, 'whole pool'):
        shmem.import_(pool.export())
    with raises(ValueError):
        shmem.import_('no key')
    for name in pool.names():
        if not isinstance(pool[name], shmem.Buffer):
            thing = pool[name]
            for key in thing.export().split('+'):
                shmem.revoke(key)
            assert type(pickle.loads(pickle.dumps(thing))) is type(thing) and type(shmem.import_(thing.export())) is type(thing)
    names = set(pool.names())
    pool['m'].destroy()
    assert names - set(pool.names()) == {'m'}


def test_another_process_imports_them_all(pool, tmp_path):
    keys = [thing.export() for thing in all_objects(pool, False)]
    text = program(tmp_path, '''
        import sys, shmem
        things = [shmem.import_(key) for key in sys.argv[1:]]
        m, r, s, c, b, e, a, q = things
        with m, r.read(), s, c:
            assert c.wait(0.01) is False
        e.set(); a.store(5); q.put(7)
        assert all(thing.pool.stats().members == 2 for thing in things)
        print(*(type(thing).__name__ for thing in things))
    ''')
    out = run([PYTHON, text, *keys]).ok().out
    assert out.split() == ['Mutex', 'RWLock', 'Semaphore', 'Condition', 'Barrier', 'Event', 'Atomic', 'Queue']
    assert pool.stats().members == 1 and pool.stats().died == 0


@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
def test_multiprocessing(tmp_path, method):
    """As arguments of a process."""
    text = program(tmp_path, '''
        import multiprocessing, sys, shmem

        def use_all(m, r, s, c, b, e, a, q):
            b.wait(30)
            with m, r.write(), s, c:
                a.store(5)
                q.put(7)
                e.set()

        if __name__ == '__main__':
            pool = shmem.create_pool('4M')
            things = [pool.create_mutex(), pool.create_rwlock(), pool.create_semaphore(1), pool.create_condition(),
                      pool.create_barrier(2), pool.create_event(), pool.create_atomic(), pool.create_queue('i8', 4)]
            process = multiprocessing.get_context(sys.argv[1]).Process(target=use_all, args=things)
            process.start()
            m, r, s, c, b, e, a, q = things
            assert b.wait(30) in (0, 1) and e.wait(20)
            process.join()
            assert process.exitcode == 0 and a.load() == 5 and q.get() == 7 and not m.locked() and s.value() == 1
            print('done')
    ''')
    result = run([PYTHON, text, method]).ok()
    assert result.out == 'done\n' and result.err == '', result.text


def test_a_forked_child_is_another_holder(pool):
    m = pool.create_mutex()
    with m:
        assert in_child(lambda: m.acquire(timeout=0.05)) is False
    assert in_child(lambda: (m.acquire(), m.release(), 3)[2]) == 3
    assert in_child(m.acquire) is True  # and ended with it
    with raises(shmem.OwnerDied):
        m.acquire()
    m.consistent()
    m.release()


def test_what_a_child_may_have_stays(pool):
    e = pool.create_event()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)  # until the parent has dropped it
        os._exit(0 if e.wait(0) is False and e.set() is None and e.is_set() else 1)
    del e
    gc.collect()
    os.close(write)
    os.close(read)
    assert os.waitpid(pid, 0)[1] == 0


# --- lifetimes -----------------------------------------------------------------------------------------------------------------------


def test_what_nobody_knows_goes(pool):
    before = pool.stats().in_use
    things = all_objects(pool, False)
    assert pool.stats().in_use > before
    del things
    gc.collect()
    assert pool.stats().in_use == before
    things = all_objects(pool, True)
    used = pool.stats().in_use
    del things
    gc.collect()
    assert pool.stats().in_use == used
    key = pool.create_mutex().export()
    with shmem.import_(key):
        pass
    for name in 'mrsbeaq':
        pool[name].destroy()
    condition = pool['c']
    condition.mutex.destroy()
    condition.destroy()
    shmem.import_(key).destroy()
    assert pool.stats().in_use == before


def test_objects_keep_their_pool():
    pool = shmem.create_pool('4M')
    m, q = pool.create_mutex(), pool.create_queue('i8', 4)
    pool.close()
    with m:
        q.put(1)
    del pool
    gc.collect()
    assert q.get() == 1 and m.acquire()
    m.release()


def test_destroyed_objects(pool):
    for thing in all_objects(pool, False):
        other = pickle.loads(pickle.dumps(thing))
        thing.destroy()
        for gone in (thing, other):
            with raises(LookupError, 'destroyed'):
                gone.destroy()
        assert 'destroyed' in repr(thing)
        with raises(LookupError):
            thing.export()
    m = pool.create_mutex()
    with m:
        with raises(shmem.errors.Busy, 'destroy'):
            m.destroy()
    e = pool.create_event()
    waits = threading.Thread(target=e.wait, args=(20,))
    waits.start()
    until_asleep(waits)
    with raises(shmem.errors.Busy, 'destroy'):
        e.destroy()
    e.set()
    waits.join()
    e.destroy()
    with raises(shmem.errors.Stale, 'Event.set'):
        e.set()


def test_files(tmp_path):
    path = tmp_path / 'file'
    with shmem.create_file(path, '4M') as file:
        file.create_mutex('m')
        file.create_atomic('uint32', 7, name='a')
        file.create_condition(name='c')
        again = pickle.loads(pickle.dumps(file['m']))
        assert type(again) is shmem.Mutex
        del again
    gc.collect()
    with shmem.open_file(path) as file:
        with file['m']:
            assert file['a'].load() == 7 and file['a'].dtype == 'uint32'
        with file['c'] as c:
            assert c.wait(0.01) is False
        del c
    gc.collect()
    with shmem.open_file(path, 'r') as file:
        with raises(PermissionError):
            file.find('m')
        with raises(PermissionError):
            file.create_mutex()


def test_the_interpreter_ends_with_locks_held(tmp_path):
    text = program(tmp_path, '''
        import shmem, threading
        pool = shmem.create_pool('4M')
        m, q = pool.create_mutex(), pool.create_queue(object, '1M', batch=4)
        m.acquire()
        q.put(5)
        threading.Thread(target=q.get, daemon=True).start()
        threading.Thread(target=m.acquire, daemon=True).start()
        print('done')
    ''')
    result = run([PYTHON, text]).ok()
    assert result.out == 'done\n' and result.err == '', result.text


# --- mistakes ------------------------------------------------------------------------------------------------------------------------


def test_mistakes(pool):
    m = pool.create_mutex()
    with raises(TypeError, 'Mutex.acquire', 'timeout'):
        m.acquire('soon')
    with raises(ValueError, 'Mutex.acquire', 'timeout'):
        m.acquire(timeout=-2)
    with raises(ValueError, 'timeout'):
        m.acquire(timeout=float('nan'))
    with raises(TypeError, "no argument 'wait'"):
        m.acquire(wait=3)
    with raises(TypeError, 'twice'):
        m.acquire(1, timeout=2)
    with raises(TypeError, '3 arguments'):
        m.acquire(1, 2, 3)
    assert not m.locked()
    with raises(ValueError, 'Mutex.consistent'):
        with m:
            m.consistent()
    for cls in (shmem.Mutex, shmem.RWLock, shmem.Semaphore, shmem.Condition, shmem.Barrier, shmem.Event, shmem.Atomic, shmem.Queue):
        with pytest.raises(TypeError):
            cls()
        assert cls.__doc__ and len(cls.__doc__) > 100
    with raises(ValueError, 'Pool.create_barrier'):
        pool.create_barrier(0)
    with raises(ValueError, 'Pool.create_semaphore', 'owned'):
        pool.create_semaphore(0, owned=True)
    with raises(ValueError, 'max'):
        pool.create_semaphore(4, max=3)
    with raises(ValueError, 'n is -1'):
        pool.create_semaphore(-1)
    with raises(TypeError, 'mutex'):
        pool.create_condition(threading.Lock())
    with raises(ValueError, 'name'):
        pool.create_condition(m, name='x')
    with raises(TypeError, 'name'):
        pool.create_mutex(3)
    with raises(ValueError, 'Pool.create_mutex'):
        pool.create_mutex('n' * 96)
    closed = shmem.create_pool('1M')
    closed.close()
    with raises(LookupError, 'closed'):
        closed.create_mutex()


def test_mistakes_with_conditions(pool):
    c = pool.create_condition()
    with raises(TypeError, 'Condition.notify', 'n is a str'):
        c.notify('x')
    with raises(ValueError, 'Condition.notify', 'n is -1'):
        c.notify(-1)
    c.notify(1 << 70)  # all there are
    with c:
        with raises(TypeError, 'Condition.wait_for', 'predicate'):
            c.wait_for(3)
        with raises(TypeError, 'Condition.wait_for', 'timeout'):
            c.wait_for(lambda: True, 'x')


def test_a_name_that_is_taken_leaves_nothing(pool):
    pool.create_mutex('taken')
    with raises(shmem.errors.AlreadyExists, 'Pool.create_condition', "'taken' already"):
        pool.create_condition(name='taken')
    assert pool.names() == ['taken']


def test_a_pool_without_room():
    with shmem.create_pool('64k', max_size='64k') as pool:
        held = pool.alloc(50 << 10, 'u1')
        with raises(MemoryError, 'Pool.create_queue'):
            pool.create_queue('i8', 100000)
        with pool.create_mutex():
            assert held is not None


class Late(Exception):
    pass


def test_odd_arguments_are_told(pool):
    """Whatever is called with whatever: an exception of ours, or Python's own for their number; a wait that has begun ends by
    a signal."""
    odd = [None, 0, 1, -1, -2, 0.0, 1e-320, math.nan, math.inf, -math.inf, True, False, 'x', b'x', [], {}, (), 3.7, object(), '\0',
           '\ud800', 'a' * 1000, 1 << 31, 1 << 63, 1 << 64, -(1 << 63), 1 << 200]
    choose = random.Random(7)

    def make():
        return [pool.create_mutex(), pool.create_rwlock(), pool.create_semaphore(2), pool.create_semaphore(2, owned=True),
                pool.create_condition(), pool.create_barrier(2), pool.create_event(), pool.create_event(auto_reset=True),
                pool.create_atomic(), pool.create_atomic('uint32'), pool.create_queue('i8', 4), pool.create_queue(bytes, 4096, batch=4),
                pool.create_queue(object, 4096), pool.create_queue(('f4', (2,)), 4)]

    def late(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    try:
        for turn in range(1500):
            if turn % 150 == 0:
                objects = make()
            thing = choose.choice(objects)
            methods = [m for m in dir(type(thing)) if m[0] != '_' and callable(getattr(type(thing), m))]
            method, arguments = choose.choice(methods), [choose.choice(odd) for _ in range(choose.randrange(4))]
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.03)
                result = getattr(thing, method)(*arguments)
                if hasattr(result, '__enter__') and not hasattr(result, 'acquire'):
                    with result:
                        pass
            except (Late, shmem.Error):
                pass
            except TypeError as error:
                assert 'argument' in str(error), (method, arguments, error)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except Late:
        pass  # it was late for its own call
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
