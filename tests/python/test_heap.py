# SPDX-License-Identifier: Apache-2.0
"""Synchronisation and queues on the symmetric heap: every PE uses every PE's instance."""

import copy
import gc
import os
import pickle
import signal
import threading
import time
import uuid

import numpy as np
import shmem
from jobs import IN_PE, PYTHON, environment, on_pes, program, raises, start

if not IN_PE:
    import pytest


def in_thread(call, *args):
    """Runs it in a thread, which then ends: what it answered or raised."""
    result = []

    def body():
        try:
            result.append(call(*args))
        except BaseException as error:
            result.append(error.with_traceback(None))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(30)
    return result[0]


@on_pes(1, 2, 4)
def test_every_kind_between_pes():
    me, n = shmem.my_pe(), shmem.n_pes()
    after = (me + 1) % n
    counts = shmem.zeros(4, np.int64)
    region = shmem.peer(counts, 0)

    mutex = shmem.heap.create_mutex('m')
    lock = mutex.on(0)
    assert (mutex.pe, lock.pe, lock.name) == (me, 0, 'm') and lock.pool is shmem.heap and type(lock) is shmem.Mutex
    for _ in range(50):
        with lock:
            region[0] += 1
    rwlock = shmem.heap.create_rwlock(readers=2)
    there = rwlock.on(0)
    for _ in range(20):
        with there.write():
            region[1] += 1
            region[2] += 1
        with there.read():
            assert region[1] == region[2]
    shmem.barrier()
    assert region[0] == 50 * n and region[1] == 20 * n

    baton = shmem.heap.create_semaphore(0, max=1, name='baton')
    onward = baton.on(after)
    if me == 0:
        baton.release()
    for _ in range(5):
        assert baton.acquire(20)
        onward.release()

    condition = shmem.heap.create_condition(name='turn')
    turn = condition.on(0)
    assert turn.mutex.pe == 0 and condition.mutex.pe == me and condition.mutex.name == 'turn:mutex'
    for _ in range(5):
        with turn:
            assert turn.wait_for(lambda: region[3] % n == me, 20)
            region[3] += 1
            turn.notify_all()

    barrier = shmem.heap.create_barrier(n)
    assert sum_of(barrier.on(n - 1).wait(20)) == n - 1

    event = shmem.heap.create_event(name='go')
    if me == 0:
        event.on(after).set()
    assert event.wait(20)
    event.on(after).set()

    word = shmem.heap.create_atomic('uint32', 5, name='w')
    assert word.on(0).dtype == np.uint32
    shmem.barrier()
    word.on(after).add(me)
    shmem.barrier()
    assert word.load() == 5 + (me - 1) % n

    numbers = shmem.heap.create_queue('i8', 1000, batch=4, name='numbers')
    for pe in range(n):
        to = numbers.on(pe)
        for i in range(10):
            to.put(100 * me + i)
        to.flush()
    got = sorted(numbers.get(timeout=20) for _ in range(10 * n))
    assert got == [100 * pe + i for pe in range(n) for i in range(10)]

    things = shmem.heap.create_queue(object, '64k')
    things.on(after).put({'from': me, 'array': np.arange(3)})
    thing = things.get(timeout=20)
    assert thing['from'] == (me - 1) % n and (thing['array'] == np.arange(3)).all()

    records = shmem.heap.create_queue(('f4', (2, 2)), 16)
    with records.on(after).reserve(timeout=20) as slot:
        slot[...] = me
    with records.peek(timeout=20) as item:
        assert (item == (me - 1) % n).all()
    assert records.on(after).capacity >= 16 and records.on(after).item == (np.dtype('f4'), (2, 2))

    shmem.barrier()
    for each in (mutex, rwlock, baton, condition, barrier, event, word, numbers, things, records):
        text = repr(each)
        assert f'on PE {me}' in text, text
        assert copy.copy(each) is each
        each.destroy()
        assert 'destroyed' in repr(each)
    with raises(shmem.errors.Stale, 'Mutex.acquire', 'destroyed'):
        lock.acquire()
    with raises(shmem.errors.Stale, 'Queue.put', 'destroyed'):
        to.put(1)


def sum_of(value):
    return int(shmem.all_reduce(np.array([value], np.int64))[0])


@on_pes(1, 2)
def test_names():
    me, n = shmem.my_pe(), shmem.n_pes()
    before = shmem.heap_info().in_use
    made = [shmem.heap.create_mutex('a'), shmem.heap.create_atomic('int32', 7, name='b'),
            shmem.heap.create_condition(name='c'), shmem.heap.create_queue(bytes, '4k', name='d')]
    assert [type(shmem.heap[name]) for name in 'abcd'] == [type(each) for each in made]
    assert shmem.heap.find('b').load() == 7 and shmem.heap['c'].mutex.name == 'c:mutex' and shmem.heap['a'].pe == me
    assert 'a' in shmem.heap and 'x' not in shmem.heap and 3 not in shmem.heap and repr(shmem.heap) == '<shmem.heap>'
    assert pickle.loads(pickle.dumps(shmem.heap)) is shmem.heap and shmem.heap_info().in_use > before
    with raises(shmem.NameUnknown, "heap.find", "'x'"):
        shmem.heap['x']
    with raises(KeyError, 'heap.find'):
        shmem.heap.find('')
    with raises(TypeError, 'heap.find', 'name'):
        shmem.heap.find(3)
    with raises(shmem.errors.AlreadyExists, 'heap.create_event', "'a' is taken"):
        shmem.heap.create_event(name='a')
    with raises(shmem.errors.AlreadyExists, 'heap.create_condition', "'a' is taken"):
        shmem.heap.create_condition(name='a')
    assert 'a:mutex' not in shmem.heap
    for each in made:
        each.destroy()
    shmem.heap['c:mutex'].destroy()
    assert 'a' not in shmem.heap and shmem.heap_info().in_use == before
    # What nobody refers to stays, because its end is collective.
    m = shmem.heap.create_mutex('m')
    del m
    gc.collect()
    shmem.heap['m'].destroy()


@on_pes(1, 2)
def test_mistakes_on_the_heap():
    me, n = shmem.my_pe(), shmem.n_pes()
    m, q = shmem.heap.create_mutex(), shmem.heap.create_queue('i4', 4)
    for pe in (n, -1, 1 << 70):
        with raises(IndexError, 'Mutex.on', 'pe', 'from 0 to'):
            m.on(pe)
    with raises(TypeError, 'Queue.on', 'pe'):
        q.on('0')
    with raises(shmem.NotSupported, 'export', 'symmetric heap', 'pool'):
        m.export()
    with raises(shmem.NotSupported, 'symmetric heap'):
        pickle.dumps(q)
    with raises(shmem.errors.Deadlock, 'Mutex.acquire', 'already'):
        with m:
            m.on(me).acquire()
    with raises(shmem.NotOwner, 'Mutex.release', 'nobody'):
        m.release()
    for wrong in (dict(n=0), dict(n=2000)):
        with raises(ValueError, 'heap.create_barrier', 'n is'):
            shmem.heap.create_barrier(**wrong)
    with raises(ValueError, 'heap.create_queue', 'batch'):
        shmem.heap.create_queue('i4', 4, batch=0)
    with raises(shmem.errors.OutOfMemory, 'heap.create_queue', 'no room'):
        shmem.heap.create_queue(bytes, '100g')
    with shmem.create_pool('1M') as pool:
        p = pool.create_mutex()
        assert p.pe is None and p.pool.is_open
        with raises(ValueError, 'Mutex.on', 'not on the symmetric heap'):
            p.on(0)
        with raises(TypeError, 'create_mutex', 'name'):
            shmem.heap.create_mutex(5)
        c = shmem.heap.create_condition(mutex=p)  # of each PE's own pool
        with c:
            assert c.wait(0.001) is False
        assert c.on(0).mutex is p
        c.destroy()
    if n > 1:
        with raises(ValueError, 'heap.create_mutex', 'all PEs must ask for the same'):
            shmem.heap.create_mutex(f'of {me}')
        with raises(ValueError, 'destroy', 'instance of PE'):
            m.on(1 - me).destroy()
        m.on(0).acquire(timeout=20) if me == 1 else None
        shmem.barrier()
        with raises(shmem.errors.Busy, 'destroy'):
            m.destroy()
        m.on(0).release() if me == 1 else None
        shmem.barrier()
    m.destroy()
    q.destroy()


@on_pes(2)
def test_pes_that_ask_for_different_things():
    """Are told what both asked for."""
    me, heap = shmem.my_pe(), shmem.heap
    for call, words in ((lambda: heap.create_atomic(('int32', 'uint32')[me]), ('an atomic word (int32, 0)', 'an atomic word (uint32, 0)')),
                        (lambda: heap.create_atomic('int32', -me), ('an atomic word (int32, 0)', 'an atomic word (int32, -1)')),
                        (lambda: heap.create_queue((bytes, object)[me], '64k'), ('a queue (messages {"item":"bytes"}', '{"item":"object"}')),
                        (lambda: heap.create_queue(('i8', 'f8')[me], 8), ('a queue (items of 8 bytes', '<i8', '<f8')),
                        (lambda: heap.create_queue('i8', 8, batch=1 + me), ('batch 1', 'batch 2', '...)')),
                        (lambda: heap.create_queue('i8', 8, producers=1 + me), ('of another kind',)),
                        (lambda: heap.create_semaphore(me), ('a semaphore (0 units)', 'a semaphore (1 units)')),
                        (lambda: heap.create_semaphore(1, max=1 + me), ('1 of at most 1 units', '1 of at most 2 units')),
                        (lambda: heap.create_event(set=bool(me)), ('an event (not set)', 'an event (set)')),
                        (lambda: heap.create_event(auto_reset=bool(me)), ('an event (not set)', 'an event (not set, resets itself)')),
                        (lambda: heap.create_barrier(1 + me), ('a barrier (of 1 threads)', 'a barrier (of 2 threads)')),
                        (lambda: heap.create_rwlock(readers=1 + 7 * me), ('a reader-writer lock (1 seats)', '(8 seats)')),
                        (lambda: heap.create_mutex('xy'[me]), ('a mutex', 'with another name')),
                        (lambda: heap.create_mutex() if me else heap.create_event(), ('a mutex', 'an event'))):
        with raises(ValueError, 'heap.create_', f'PE {me} makes', f'PE {1 - me}', 'all PEs must ask for the same', *words):
            call()
    a, b = heap.create_mutex(), heap.create_mutex()
    with raises(ValueError, 'destroy', 'destroys a mutex', ', another one'):
        (a, b)[me].destroy()
    a.destroy()
    b.destroy()


@on_pes(2)
def test_a_thread_of_another_pe_ends_with_it():
    me = shmem.my_pe()
    m = shmem.heap.create_mutex()
    there = m.on(0)
    if me == 1:
        assert in_thread(there.acquire, 20) is True
    shmem.barrier()
    if me == 0:
        with raises(shmem.OwnerDied, 'Mutex.acquire'):
            m.acquire(20)
        m.consistent()
        m.release()
    shmem.barrier()


@on_pes(1, bare=True)
def test_after_the_job_and_in_children():
    with raises(shmem.NotInitialized, 'heap.create_mutex'):
        shmem.heap.create_mutex()
    with raises(shmem.NotInitialized, 'heap.find'):
        shmem.heap.find('m')
    shmem.init()
    m, q, s = shmem.heap.create_mutex('m'), shmem.heap.create_queue('i8', 8, batch=4), shmem.heap.create_semaphore(0)
    q.put(1)
    with m:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                with raises(shmem.errors.Stale, 'no longer in'):
                    m.acquire(0)
                with raises(shmem.errors.Stale, 'no longer in'):
                    q.put(2)
                with raises(shmem.NotInitialized, 'heap.create_mutex'):
                    shmem.heap.create_mutex()
                with raises(shmem.NotInitialized, 'Mutex.on'):
                    m.on(0)
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
    # While a thread waits for one, the heap stays.
    result = []
    waits = threading.Thread(target=lambda: result.append(s.acquire(timeout=20)))
    waits.start()
    while True:
        try:
            with raises(shmem.errors.Busy, 'destroy', 'waiting'):
                s.destroy()
            break
        except AssertionError:  # it does not wait yet, and now never will
            waits.join()
            assert isinstance(s, shmem.Semaphore) and not result
            return
    with raises(shmem.errors.Busy, 'finalize', 'other thread'):
        shmem.finalize()
    s.release()
    waits.join()
    assert result == [True]
    shmem.finalize()
    for call in (m.acquire, m.locked, lambda: q.put(1), q.get, s.release):
        with raises(shmem.errors.Stale, 'no longer in'):
            call()
    with raises(shmem.NotInitialized, 'Mutex.on'):
        m.on(0)
    assert 'destroyed' in repr(m)
    shmem.init()
    again = shmem.heap.create_mutex('m')
    with again, raises(shmem.errors.Stale, 'no longer in'):
        m.acquire(0)
    del m, q, s
    gc.collect()
    shmem.finalize()


@on_pes(1, 2, bare=True)
def test_the_job_ends_inside_a_peek():
    shmem.init()
    q = shmem.heap.create_queue('i8', 8)
    q.put(5)
    with raises(shmem.errors.Stale, 'Queue.peek', 'no longer in'):
        with q.peek() as item:
            shmem.finalize()
            assert item == 5
    assert item == 5  # not to be looked at any more, and there all the same


def test_a_killed_pe(tmp_path):
    """What it had is told to who waits for it, on another PE."""
    text = program(tmp_path, '''
        import os, signal, sys, time, shmem
        shmem.init()
        me = shmem.my_pe()
        m, lock, units = shmem.heap.create_mutex(), shmem.heap.create_rwlock(), shmem.heap.create_semaphore(1, owned=True)
        meet = shmem.heap.create_barrier(2)
        if me == 1:
            m.on(0).acquire(); lock.on(0).acquire_write(); units.on(0).acquire(); meet.on(0).wait()
            print('has', flush=True)
            time.sleep(100)
        meet.wait()
        for call in (m.acquire, lock.acquire_write):
            try:
                call(20)
                print('got', flush=True)
            except shmem.OwnerDied as error:
                print('died', error.held, flush=True)
        assert units.acquire(20)
        try:
            meet.wait(20)
        except shmem.BarrierBroken:
            print('broken', meet.parties, flush=True)
        m.consistent(); m.release(); lock.consistent(); lock.release()
        print('done', flush=True)
        os._exit(0)
    ''')
    name = uuid.uuid4().hex
    pes = [start([PYTHON, text], env=environment(SHMEM_JOB=name, SHMEM_RANK=str(k), SHMEM_SIZE='2')) for k in (0, 1)]
    pes[1].wait_for('has')
    time.sleep(0.1)
    os.kill(pes[1].pid, signal.SIGKILL)
    assert pes[1].finish().code == -signal.SIGKILL
    found = pes[0].finish().ok()
    assert found.out.split('\n')[:4] == ['died True', 'died True', 'broken 1', 'done'], found.text


def test_ctrl_c_ends_a_wait_on_the_heap(tmp_path):
    text = program(tmp_path, '''
        import shmem
        shmem.init()
        s, q = shmem.heap.create_semaphore(0), shmem.heap.create_queue('i8', 4)
        for call in (s.acquire, q.get):
            try:
                print('waits', flush=True)
                call()
            except KeyboardInterrupt:
                print('interrupted', flush=True)
        shmem.finalize()
    ''')
    pe = start([PYTHON, text])
    for k in (1, 2):
        pe.wait_for('waits', k)
        time.sleep(0.1)
        os.kill(pe.pid, signal.SIGINT)
        pe.wait_for('interrupted', k)
    pe.finish().ok()
