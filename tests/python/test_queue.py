# SPDX-License-Identifier: Apache-2.0
"""Queues, as users see them: items of all kinds, several processes, deaths, batches, hand-over, mistakes."""

import gc
import os
import pickle
import queue
import signal
import threading
import time

import numpy as np
import pytest
import shmem
from jobs import PYTHON, program, raises, run, start, until_asleep

ITEMS = ['?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16', '>i4', 'S5', 'U3', 'V7', 'M8[ns]', 'g',
         [('a', 'i4'), ('b', 'f8', (2, 3))], ('i2', 3), ('f4', (2, 3)), ('M8[s]', 2), ([('x', 'u1')], (2,))]


@pytest.fixture
def pool():
    with shmem.create_pool('32M') as made:
        yield made


def eventually(check, seconds=20.0):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end
        time.sleep(0.005)


# --- items -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize('item', ITEMS, ids=str)
def test_items(pool, item):
    kind, shape = item if isinstance(item, tuple) else (item, ())
    kind, shape = np.dtype(kind), (shape,) if isinstance(shape, int) else shape
    q = pool.create_queue(item, 20, name='q')
    if kind.char in 'U?g':
        values = np.array(['abc', 'd', 'ef', '', 'g', 'h', 'i'] if kind.char == 'U' else range(-3, 4), kind)
    else:
        raw = np.random.default_rng(5).integers(1, 100, (7, *shape, kind.itemsize), 'u1')
        values = raw.view(kind).reshape(7, *shape)
    q.put(values[0])
    q.put_nowait(values[1])
    assert q.put_many(values[2:]) == 5 and q.qsize() == 7 and not q.empty() and not q.full()
    again = pool.find('q')
    assert again.item == (kind if not shape else (kind, shape)) and again.item == pickle.loads(pickle.dumps(q)).item
    first = again.get()
    assert isinstance(first, np.ndarray if shape else np.generic) and first.dtype == values[0].dtype and first.shape == shape
    assert np.all(first == values[0])
    with again.peek() as second:
        assert np.all(second == values[1]) and second.dtype == kind and q.qsize() == 6 and not second.flags.writeable
    rest = again.get_many(100)
    assert rest.dtype == kind and rest.shape == (5, *shape) and (rest == values[2:]).all()
    with q.reserve() as slot:
        slot[...] = values[3]
    assert np.all(q.get() == values[3]) and q.empty()


def test_numbers(pool):
    for name in ('i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8'):
        q, bounds = pool.create_queue(name, 10), np.iinfo(name)
        for value in (bounds.min, bounds.max, np.dtype(name).type(5), 0):
            q.put(value)
            got = q.get()
            assert got == value and type(got) is np.dtype(name).type
        for bad in (bounds.min - 1, bounds.max + 1):
            with raises(ValueError, 'Queue.put', 'item'):
                q.put(bad)
        for bad in (1.5, 'text', None):
            with raises(TypeError, 'Queue.put', 'item'):
                q.put(bad)
        assert q.empty()
    q = pool.create_queue(float, 10)
    q.put(1)
    q.put(np.float32(0.5))
    assert [q.get(), q.get()] == [1.0, 0.5]


BIG, RECORD = 2**40 + 5, [('a', 'i4'), ('b', 'f4', 2)]
OTHERS = [  # items, what is given, and where which value is in it that would become another one
    ('i4', np.array([1, 1.9, np.nan, 1e20]), TypeError, 'items[1] is 1.9'), ('i4', np.array([7, BIG]), ValueError, f'items[1] is {BIG}'),
    ('i4', [1, 2.5], TypeError, 'items[1] is 2.5'), ('i4', [1, BIG], ValueError, f'items[1] is {BIG}'),
    ('i4', [1.0], TypeError, 'items[0] is 1.0'), ('i4', np.array(['1']), TypeError, "items[0] is '1'"),
    ('i4', [None], TypeError, 'items[0] is None'), ('i4', (x for x in (1, 2**70)), ValueError, f'items[1] is {2**70}'),
    ('i4', np.array([1, 2.5], object), TypeError, 'items[1] is 2.5'), ('u1', np.array([3, -1]), ValueError, 'items[1] is -1'),
    ('u8', [2**63 + 1, -1], ValueError, 'items[1] is -1'), ('>i8', np.array([2**63], 'u8'), ValueError, f'items[0] is {2**63}'),
    ('f4', np.array([1, 1e300]), ValueError, 'items[1] is 1e+300'), ('f4', [2**200], ValueError, 'items[0] is 1.6'),
    ('>f8', [2**2000], ValueError, 'items[0] is '), ('f8', [1j], TypeError, 'items[0] is 1j'), ('f8', [None], TypeError, 'None'),
    ('f2', [70000], ValueError, 'items[0] is 70000'), ('?', [1, 2], ValueError, 'items[1] is 2'),
    ('S3', ['abc', 'abcd'], ValueError, "items[1] is 'abcd'"), ('U2', np.array(['abc']), ValueError, "items[0] is 'abc'"),
    ('S3', [5], TypeError, 'items[0] is 5'), ('V2', [b'abc'], ValueError, 'items[0] is '),
    ('M8[s]', np.array(['2020-01-01T00:00:00.5', 'NaT'], 'M8[ms]'), ValueError, 'items[0] is '),
    (('i4', 2), [[1, 2], [3, 4.5]], TypeError, 'items[1][1] is 4.5'), (('i4', 2), np.array([[1, BIG]]), ValueError, f'items[0][1] is {BIG}'),
    (RECORD, [(1, (2, 3)), (1.5, (2, 3))], TypeError, "items[1]['a'] is 1.5"), (RECORD, [(1, (2, 3e300))], ValueError, "items[0]['b'][1] is 3e+300"),
    (RECORD, np.array([(1.5, (2, 3))], [('x', 'f8'), ('y', 'f8', 2)]), TypeError, "items['a'][0] is 1.5"),
    ([('a', [('c', 'i2')])], [((300000,),)], ValueError, "items[0]['a']['c'] is 300000")]


@pytest.mark.filterwarnings('ignore:NumPy will stop allowing', 'ignore:overflow')
@pytest.mark.parametrize('many', [True, False], ids=['many', 'one'])
def test_no_value_becomes_another(pool, many):
    for item, given, kind, words in OTHERS:
        q = pool.create_queue(item, 20)
        if many:
            with raises(kind, 'Queue.put_many', words):
                q.put_many(given)
        else:
            with raises(kind, 'Queue.put', 'item'):
                for one in list(given) or [2**70]:  # the iterator is used up
                    q.put(one)
        assert not many or q.empty()
    fits = [('i4', np.array([5], 'u8'), [5]), ('i4', [True], [1]), ('i4', range(3), [0, 1, 2]), ('u8', [2**63 + 1, 5], [2**63 + 1, 5]),
            ('i4', np.zeros(0), []), ('f4', [0.5, 2**30, np.inf], [0.5, 2**30, np.inf]), ('?', [1, 0], [True, False]),
            ('S3', ['abc', b'd'], [b'abc', b'd']), ('c8', [1, 1j], [1, 1j]), (('f8', 2), [[1, 2]], [[1, 2]]),
            (RECORD, [(1, (0.5, 3))], [(1, (0.5, 3))]), ('i4', np.array([1, 2], object), [1, 2]),
            ('M8[s]', ['2020-01-01', 'NaT'], np.array(['2020-01-01', 'NaT'], 'M8[s]').tolist())]
    for item, given, want in fits:
        q = pool.create_queue(item, 20)
        if many:
            assert q.put_many(given) == len(want)
        for one in [] if many else given:
            q.put(one)
        got = [(one['a'], tuple(one['b'])) if item is RECORD else one.tolist() for one in (q.get() for _ in want)]
        assert got == want and q.empty(), (item, got)


def test_messages(pool):
    q = pool.create_queue(bytes, '1M', max_message='100k')
    for message in (b'', b'x', bytes(range(256)) * 30, bytearray(b'abc'), memoryview(b'def'), np.arange(3, dtype='u1')):
        q.put(message)
        assert q.get() == bytes(message)
    assert q.put_many([b'a', b'', b'c' * 70000]) == 3 and q.qsize() == 3
    assert q.get_many(10) == [b'a', b'', b'c' * 70000]
    with q.reserve(5) as slot:
        slot[:] = b'hello'
    with q.peek() as view:
        assert bytes(view) == b'hello' and view.readonly
    assert q.empty() and q.max_message >= 100 << 10 and q.item is bytes
    with raises(ValueError, 'Queue.put'):
        q.put(b'x' * (101 << 10))
    for bad in ('text', 5, None):
        with raises(TypeError, 'Queue.put', 'bytes'):
            q.put(bad)
    with raises(NotImplementedError, 'Queue.full'):
        q.full()


class Thing:
    def __init__(self, value):
        self.value = value


def test_objects(pool):
    q = pool.create_queue(object, '1M', name='q')
    for thing in (None, 5, 'text', [1, {'a': (2, 3)}], np.arange(10), b'x' * 3000):
        q.put(thing)
        got = pool['q'].get()
        assert type(got) is type(thing) and np.array_equal(got, thing) if isinstance(thing, np.ndarray) else got == thing
    q.put(Thing(7))
    assert q.get().value == 7 and q.item is object
    assert q.put_many([1, 'b', None]) == 3 and q.get_many(5) == [1, 'b', None]
    q.put([1, 2])
    with q.peek() as thing:
        assert thing == [1, 2]
    with pytest.raises(Exception, match='pickle|local'):
        q.put(lambda: 0)
    with raises(ValueError, 'Queue.put'):
        q.put(np.zeros(1 << 20))
    with raises(TypeError, 'Queue.reserve'):
        with q.reserve(4):
            pass
    assert q.empty()


def test_buffers_are_handed_over(pool, tmp_path):
    q, back = pool.create_queue(object, '1M', name='q'), pool.create_queue(object, '1M', name='back')
    other = start([PYTHON, program(tmp_path, '''
        import sys, shmem
        pool = shmem.open_pool(sys.argv[1])
        for number, array in pool['q']:
            assert isinstance(array, shmem.Buffer) and array.shape == (1000, 100) and (array == number).all()
            array += 1
            pool['back'].put((number, array))
    '''), pool.export()])
    arrays = [pool.alloc((1000, 100), 'f4', own=own, fill=i) for i, own in enumerate((False, True))]
    for i, array in enumerate(arrays):
        q.put((i, array))
        number, again = back.get(timeout=20)
        assert number == i and np.shares_memory(again, array) and (array == i + 1).all()
    q.close()
    other.finish().ok()
    del array, again
    pool.free(arrays[0])
    pool.free(arrays[1])


def test_the_receiver_frees(pool, tmp_path):
    q = pool.create_queue(object, '64k')
    before = pool.stats().in_use
    run([PYTHON, program(tmp_path, '''
        import sys, shmem
        q = shmem.import_(sys.argv[1])
        batch = q.pool.alloc((1000, 1000), 'f4', own=False, fill=3)
        q.put(batch)
    '''), q.export()]).ok()
    assert pool.stats().in_use >= before + 4000000
    batch = q.get()
    assert (batch == 3).all()
    q.pool.free(batch)
    assert pool.stats().in_use == before


# --- waiting, ends --------------------------------------------------------------------------------------------------------------


def test_full_and_empty(pool):
    q = pool.create_queue('i8', 4)
    for kind, call in ((queue.Empty, q.get_nowait), (shmem.QueueEmpty, lambda: q.get(False)), (queue.Empty, lambda: q.get(timeout=0.01)),
                       (queue.Empty, lambda: q.get(block=False)), (queue.Empty, lambda: q.get_many(3, timeout=0.01))):
        with raises(kind, 'Queue.get', 'empty'):
            call()
    with raises(queue.Empty, 'Queue.peek'):
        with q.peek(timeout=0):
            pass
    assert q.put_many(range(9), block=False) == 4 and q.full() and q.put_many([1], timeout=0.01) == 0
    for kind, call in ((queue.Full, lambda: q.put_nowait(1)), (shmem.QueueFull, lambda: q.put(1, False)),
                       (queue.Full, lambda: q.put(1, timeout=0.01)), (queue.Full, lambda: q.put(1, True, 0.01))):
        with raises(kind, 'Queue.put', 'full'):
            call()
    with raises(queue.Full, 'Queue.reserve'):
        with q.reserve(block=False):
            pass
    timer = threading.Timer(0.1, q.get)
    timer.start()
    q.put(100, timeout=20)
    timer.join()
    assert q.get_many(10).tolist() == [1, 2, 3, 100]
    timer = threading.Timer(0.1, q.put, (7,))
    timer.start()
    assert q.get(True, 20) == 7
    timer.join()


def test_close(pool):
    q = pool.create_queue('i8', 100, batch=8)
    q.put_many(range(3))
    q.put(3)
    assert not q.closed
    q.close()
    assert q.closed and 'closed' in repr(q)
    batched = pickle.loads(pickle.dumps(q))
    batched.put(5)  # is only gathered
    with raises(shmem.QueueClosed, 'Queue.flush'):
        batched.flush()
    for call in (lambda: q.put(1), lambda: q.put_nowait(1), lambda: q.put_many([1])):
        with raises(shmem.QueueClosed, 'Queue.put'):
            call()
    assert [int(x) for x in q] == [0, 1, 2, 3] and list(q) == []
    with raises(shmem.QueueClosed, 'Queue.get'):
        q.get()
    with raises(shmem.QueueClosed, 'Queue.get'):
        q.get_many(3)
    other = pool.create_queue(object, '64k')
    got = []
    reader = threading.Thread(target=lambda: got.extend(other))
    reader.start()
    other.put('a')
    other.close()
    reader.join(20)
    assert got == ['a'] and not reader.is_alive()


def test_blocks_that_raise(pool):
    q = pool.create_queue('i8', 10)
    with pytest.raises(ZeroDivisionError):
        with q.reserve() as slot:
            slot[...] = 5
            1 / 0
    q.put(6)
    with pytest.raises(ZeroDivisionError):
        with q.peek() as item:
            assert item == 6
            1 / 0
    assert q.get() == 6 and q.empty()


def test_consumers_one(pool):
    q = pool.create_queue('i8', 10, consumers='one')
    waits = threading.Thread(target=lambda: q.get(timeout=20))
    waits.start()
    until_asleep(waits)
    with raises(shmem.errors.Busy, 'Queue.get', 'one consumer'):
        q.get(timeout=1)
    q.put(1)
    waits.join()
    q.put(2)
    assert q.get() == 2


def test_batches(pool, tmp_path):
    q = pool.create_queue('i8', 100, batch=8)
    for i in range(10):
        q.put(i)
    assert q.qsize() == 8 and q.stats().gathered == 2 and q.batch == 8
    q.flush()
    assert q.qsize() == 10 and q.get_many(100).tolist() == list(range(10))
    timed = pool.create_queue(object, '64k', batch=8, flush=0.05)
    timed.put('soon')
    assert timed.get(timeout=20) == 'soon'
    text = program(tmp_path, '''
        import sys, os, threading, shmem
        q = shmem.import_(sys.argv[1])
        q.put(1)
        if sys.argv[2] == 'thread':
            t = threading.Thread(target=q.put, args=(2,)); t.start(); t.join()
            del q
            import time; time.sleep(0.1)
            os._exit(0)
        elif sys.argv[2] == 'kill':
            os.kill(os.getpid(), 9)
    ''')
    for how, expected in (('exit', [1]), ('thread', [2, 1]), ('kill', [])):
        result = run([PYTHON, text, q.export(), how])
        assert result.code == (-9 if how == 'kill' else 0), result.text
        assert sorted(q.get_many(9).tolist() if expected else []) == sorted(expected) and q.empty()


@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
def test_multiprocessing(tmp_path, method):
    """Producers whose last items are only gathered when they end."""
    text = program(tmp_path, '''
        import multiprocessing, sys, shmem

        def produce(q, n):
            for i in range(50):
                q.put((n, i))

        if __name__ == '__main__':
            pool = shmem.create_pool('8M')
            q = pool.create_queue(object, '1M', batch=16)
            context = multiprocessing.get_context(sys.argv[1])
            q.put((-1, 0))
            processes = [context.Process(target=produce, args=(q, n)) for n in range(3)]
            for one in processes: one.start()
            for one in processes: one.join()
            q.close()
            got = list(q)
            assert [i for who, i in got if who == -1] == [0]
            for n in range(3):
                assert [i for who, i in got if who == n] == list(range(50)), got
            print('done')
    ''')
    result = run([PYTHON, text, method]).ok()
    assert result.out == 'done\n' and result.err == '', result.text


def test_fork(pool):
    q = pool.create_queue('i8', 100, batch=4)
    q.put(1)
    pid = os.fork()
    if pid == 0:
        q.put(2)
        q.flush()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert q.get(timeout=20) == 2 and q.empty()
    q.flush()
    assert q.get() == 1 and q.empty()


# --- several processes, deaths -----------------------------------------------------------------------------------------------------


def test_order_and_once(pool, tmp_path):
    q = pool.create_queue([('who', 'i4'), ('number', 'i4')], 64, batch=4, name='q')
    text = program(tmp_path, '''
        import sys, shmem
        q = shmem.open_pool(sys.argv[1])['q']
        for i in range(2000):
            q.put((int(sys.argv[2]), i))
    ''')
    producers = [start([PYTHON, text, pool.export(), n]) for n in range(3)]
    got, lock = [], threading.Lock()

    def consume():
        mine = list(q)
        assert all((np.diff([x['number'] for x in mine if x['who'] == n]) > 0).all() for n in range(3))
        with lock:
            got.extend((int(x['who']), int(x['number'])) for x in mine)

    consumers = [threading.Thread(target=consume) for _ in range(2)]
    for one in consumers:
        one.start()
    for one in producers:
        one.finish().ok()
    q.close()
    for one in consumers:
        one.join(20)
    assert sorted(got) == [(n, i) for n in range(3) for i in range(2000)]


def test_killed_producers_stop_nobody(pool, tmp_path):
    q = pool.create_queue('i8', 16)
    text = program(tmp_path, '''
        import sys, shmem
        q = shmem.import_(sys.argv[1])
        print('begins', flush=True)
        i = 0
        while True:
            q.put(i)
            i += 1
    ''')
    for turn in range(8):
        producer = start([PYTHON, text, q.export()])
        producer.wait_for('begins')
        seen = [int(q.get(timeout=20)) for _ in range(200 + 37 * turn)]
        assert seen == list(range(seen[0], seen[0] + len(seen)))
        os.kill(producer.pid, signal.SIGKILL)
        producer.finish()
        while True:
            try:
                q.get(timeout=0.05)
            except shmem.QueueEmpty:
                break
    q.put(5)
    assert q.get() == 5


def test_killed_while_reserving_and_peeking(pool, tmp_path):
    q = pool.create_queue('i8', 16)
    q.put(1)
    for block in ('reserve', 'peek'):
        holder = start([PYTHON, program(tmp_path, f'''
            import sys, time, shmem
            q = shmem.import_(sys.argv[1])
            with q.{block}() as slot:
                print('inside', flush=True)
                time.sleep(100)
        ''', block + '.py'), q.export()])
        holder.wait_for('inside')
        if block == 'reserve':
            q.put(2)
            assert q.get() == 1
            with raises(queue.Empty):
                q.get(timeout=0.05)
        os.kill(holder.pid, signal.SIGKILL)
        holder.finish()
        assert q.get(timeout=20) == 2
        q.put(2)
    assert q.stats().skipped == 1


def test_ctrl_c(tmp_path):
    reader = start([PYTHON, program(tmp_path, '''
        import shmem
        q = shmem.create_pool('4M').create_queue('i8', 16)
        print('waits', flush=True)
        try:
            q.get()
        except KeyboardInterrupt:
            q.put(3)
            print('interrupted', q.get())
    ''')])
    reader.wait_for('waits')
    time.sleep(0.1)
    os.kill(reader.pid, signal.SIGINT)
    assert 'interrupted 3' in reader.finish(20).ok().out


# --- lifetimes, figures, mistakes --------------------------------------------------------------------------------------------------


def test_figures(pool):
    q = pool.create_queue('i8', 10, name='q')
    q.put_many(range(5))
    q.get()
    s = q.stats()
    assert (s.length, s.pushed, s.popped, s.skipped, s.producers, s.closed) == (4, 5, 1, 0, 1, False) and s.bytes > 80
    assert q.capacity == 10 and q.item == np.dtype('i8') and "'q'" in repr(q) and '4 items' in repr(q)
    assert q.push == q.put and q.pop == q.get


def test_views_keep_the_memory():
    pool = shmem.create_pool('4M')
    q = pool.create_queue(('u1', 1000), 10)
    q.put(np.full(1000, 7, 'u1'))
    with q.peek() as item:
        kept = item
    del q, pool, item
    gc.collect()
    assert kept.shape == (1000,) and kept.sum() >= 0  # what it shows is no matter; that it can be read is


def test_a_closed_pool_and_files(tmp_path):
    path = tmp_path / 'file'
    with shmem.create_file(path, '4M') as file:
        q = file.create_queue([('a', 'i4')], 10, name='q')
        q.put((5,))
        file.create_queue(object, '64k', name='o').put({'a': 1})
    del q
    gc.collect()
    with shmem.open_file(path) as file:
        assert file['q'].get()['a'] == 5 and file['o'].get() == {'a': 1}
    gc.collect()


def test_mistakes_with_many(pool):
    q, texts = pool.create_queue('i8', 8), pool.create_queue(bytes, 4096)
    for queue in (q, texts):
        with raises(TypeError, 'Queue.put_many', 'items is a int'):
            queue.put_many(3)
    with raises(TypeError, 'Queue.put_many', 'an item is a str'):
        texts.put_many([b'a', 'b'])
    assert q.put_many([1, 2]) == 2 and list(q.get_many(1 << 62)) == [1, 2]
    assert texts.put_many([b'a', bytearray(b'b')]) == 2 and texts.get_many(1 << 62) == [b'a', b'b']


def test_destroying_what_is_in_use(pool):
    q = pool.create_queue('i8', 8)
    with q.reserve() as slot:
        with raises(shmem.errors.Busy, 'destroy', 'reserved'):
            q.destroy()
        slot[...] = 5
    with q.peek() as item:
        with raises(shmem.errors.Busy, 'destroy', 'peeking'):
            q.destroy()
        assert item == 5
    q.destroy()
    with raises(shmem.errors.Stale, 'Queue.put', 'destroyed'):
        q.put(1)


def test_mistakes(pool):
    for item, kind in (('no such thing', TypeError), (object(), TypeError), ('O', TypeError), (('i8', 'x'), TypeError),
                       (('i8', (2, 0)), ValueError), (('i8', -1), ValueError), ('S', TypeError)):
        with raises(kind, 'Pool.create_queue'):
            pool.create_queue(item, 10)
    for wrong in (0, -1):
        with raises(ValueError, f'capacity is {wrong}, but must be from 1'):
            pool.create_queue('i8', wrong)
    with raises(TypeError, 'capacity'):
        pool.create_queue('i8', 1.5)
    for batch in (0, -1, 2**31):
        with raises(ValueError, f'batch is {batch}, but must be', 'from 1 to 2147483647'):
            pool.create_queue('i8', 10, batch)
    with raises(TypeError, 'batch'):
        pool.create_queue('i8', 10, 'many')
    with raises(ValueError, 'consumers'):
        pool.create_queue('i8', 10, consumers=2)
    for flush, kind in ((0, ValueError), (-1, ValueError), ('soon', TypeError), (float('nan'), ValueError)):
        with raises(kind, 'flush'):
            pool.create_queue('i8', 10, flush=flush)
    with raises(MemoryError, 'Pool.create_queue'):
        pool.create_queue('i8', 1 << 30)
    q = pool.create_queue(('f8', 3), 10)
    for bad in ([1, 2], np.zeros((3, 1)), [[1], [2, 3]]):
        with raises(ValueError, 'Queue.put', 'item'):
            q.put(bad)
    for bad in ('abc', None):
        with raises(TypeError, 'Queue.put', 'item is '):
            q.put(bad)
    with raises(ValueError, 'Queue.put_many'):
        q.put_many(np.zeros((2, 4)))
    for wrong in (0, -1):
        with raises(ValueError, 'Queue.get_many', f'n is {wrong}, but must be from 1'):
            q.get_many(wrong)
    with raises(TypeError, 'Queue.get'):
        q.get(1, 2, 3)
    with raises(TypeError, 'Queue.put'):
        q.put()
    with raises(TypeError, "no argument 'wait'"):
        q.get(wait=1)
    with raises(TypeError, 'twice'):
        q.get(True, block=False)
    with raises(ValueError, 'timeout'):
        q.get(timeout=-3)
    with raises(TypeError, 'size'):
        with pool.create_queue(bytes, '64k').reserve():
            pass
    assert q.empty()
