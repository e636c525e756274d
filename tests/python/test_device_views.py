# SPDX-License-Identifier: Apache-2.0
"""Views of device memory: what is copied, in how many calls of the driver, and that nothing else changes. On doubles."""

import pytest
from jobs import PYTHON, RAISES, doubles, start

BEGIN = '''
import ctypes, gc, os, random, sys
import numpy as np, shmem
from shmem import _strided
type, seed = sys.argv[1], int(sys.argv[2])
pool = shmem.create_pool('8M', type=type)
''' + RAISES


def program(text, kind='cuda', seed=1):
    return start([PYTHON, '-c', BEGIN + text, kind, str(seed)], env=doubles()).finish(60).ok()


VIEWS = '''
rng = random.Random(seed)
stream, host_stream = shmem.Stream(type), shmem.Stream(type)
def index(shape):
    where = []
    for side in shape:
        start, stop, step = (rng.choice([None, *range(-side - 1, side + 2)]) for _ in range(3))
        where.append(rng.choice([slice(start, stop, step or None), slice(None), slice(None, None, rng.choice([-1, 2, -3])),
                                 rng.randrange(-side, side) if side else slice(None)]))
    if rng.random() < 0.2: where.insert(rng.randrange(len(where) + 1), None)
    if rng.random() < 0.2: where = where[:rng.randrange(len(where) + 1)] + [Ellipsis]
    return tuple(where)
def view(buf, model, index, turn):
    """The same view of both."""
    index += () if Ellipsis in index else (Ellipsis,)
    return (buf[index].T, model[index].T) if turn else (buf[index], model[index])
for turn in range(ROUNDS):
    _strided._STAGE, _strided._GAP = rng.choice([40, 300, 1 << 20]), rng.choice([0, 6, 100, 1 << 20])
    _strided._WORTH, _strided._PATTERN = rng.choice([0, 10, 1000]), rng.choice([24, 1 << 20])
    shape = tuple(rng.choice([0, 1, 2, 3, 5, 8]) if rng.random() < .1 else rng.randint(1, 8) for _ in range(rng.randint(0, 4)))
    kind = np.dtype(rng.choice(['u1', 'i2', 'f4', 'f8', 'c16', 'S3']))
    model = np.frombuffer(rng.randbytes(kind.itemsize * int(np.prod(shape))), kind).reshape(shape).copy()
    buf = pool.alloc(shape, kind)
    buf.copy_from(model)
    place, turned = index(shape), rng.random() < 0.4
    a, m = view(buf, model, place, turned)
    steps = lambda x: [stride for side, stride in zip(x.shape, x.strides) if side > 1 and x.size]
    assert (a.shape, steps(a), a.is_contiguous) == (m.shape, steps(m), m.flags.c_contiguous or not a.size), (shape, place)
    same = lambda x, y: x.shape == y.shape and x.tobytes() == y.tobytes()
    assert same(a.to_numpy(), m), (shape, place)
    out = np.zeros(m.shape, kind)[(slice(None, None, -1),) * (m.ndim > 0) + (...,)]
    a.copy_to(out, stream)
    stream.finish()
    assert same(out, m)
    x = np.frombuffer(rng.randbytes(kind.itemsize * m.size), kind).reshape(m.shape)
    if rng.random() < 0.5: x = np.asfortranarray(x)
    queue = rng.choice([None, stream])
    a.copy_from(x, queue)
    stream.finish()
    m[...] = x
    assert same(buf.to_numpy(), model), (shape, place, turned)
    if kind.kind in 'iuf':
        _SMALL, shmem._device._SMALL = shmem._device._SMALL, 0
        a.copy_from(7, queue)
        stream.finish()
        shmem._device._SMALL = _SMALL
        m[...] = 7
        assert same(buf.to_numpy(), model)
    # between devices: the same places of another buffer, or in one
    other, b = pool.alloc(shape, kind), np.array(model + 1 if kind.kind in 'iufc' else model, kind)
    other.copy_from(b)
    there, n = view(other, b, place, turned)
    source, k = (there, n) if rng.random() < 0.7 else (pool.alloc(m.shape, kind).copy_from(x), x)
    a.copy_from(source, queue if type == 'cuda' else None)
    stream.finish()
    m[...] = k
    assert same(buf.to_numpy(), model) and same(other.to_numpy(), b)
    # overlapping
    if model.ndim and not a.is_contiguous:
        back = buf[tuple(slice(None, None, -1) for _ in shape)]
        buf.copy_from(back)
        model[...] = model[tuple(slice(None, None, -1) for _ in shape)].copy()
        assert same(buf.to_numpy(), model)
'''


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_all_views(kind):
    """Against NumPy, with all sizes of pieces."""
    program(VIEWS.replace('ROUNDS', '60'), kind)


def test_counts():
    """Calls of the driver: the copies, one to wait, and one that asks for the thread's device; twice that by way of the host."""
    program('''
driver = ctypes.CDLL(os.environ['SHMEM_CUDA_LIBRARY'])
calls = ctypes.c_ulong.in_dll(driver, 'double_calls')
buf, other = pool.alloc((512, 512), np.float32, fill=1), pool.alloc((512, 512), np.float32)
x, column = np.arange(1 << 18, dtype=np.float32).reshape(512, 512), np.zeros(512, np.float32)
def count(statement):
    before = calls.value
    exec(statement)
    return calls.value - before
count('buf[...] = x')
for statement, most in {'buf[...] = x': 1, 'buf.T.to_numpy()': 1, 'buf[::-1, ::-1].to_numpy()': 1, 'buf[:, ::2].to_numpy()': 1,
                        'buf[:, 3].to_numpy()': 1, 'buf[3].to_numpy()': 1, 'buf[0, 0]': 1, 'buf.T[...] = x': 1,
                        'buf.T[::-1] = x': 1, 'buf[:, 3] = column': 512, 'buf[:, :16] = x[:, :16]': 512, 'buf[::2] = x[::2]': 256,
                        'buf[...] = 5': 1, 'buf[5:8, 7] = 1': 3, 'other[...] = buf': 1, 'other[...] = buf.T': 4,
                        'other[:, :256] = buf[:, 256:]': 515, 'other[:, ::2] = 3': 1 << 17, 'other.T[...] = buf.T': 1,
                        'buf[3] = other[3]': 1, 'other.reshape(64, 8, 512)[:, 1] = 4': 64}.items():
    assert count(statement) <= most + 2, (statement, count(statement))
# an extent that is very much larger than the elements is not read as a whole, and not into as much memory
wide = pool.alloc((8, 100000), np.float32, fill=3)
assert count('wide[:, :5].to_numpy()') <= 8 + 2 and (wide[:, :5].to_numpy() == 3).all()
_strided._STAGE = 1 << 16
assert 16 <= count('buf.T.to_numpy()') <= 16 * 3
stream = shmem.Stream(type)
count('buf.copy_from(x, stream)')
for statement, most in {'buf.copy_from(x, stream)': 1, 'buf.T.copy_from(x, stream)': 1, 'buf[:, 2].copy_from(column, stream)': 512,
                        'buf[:, 2].copy_to(column, stream)': 512, 'buf.copy_from(0, stream)': 1}.items():
    assert count(statement) <= most, (statement, count(statement))
stream.finish()
''')


def test_what_is_between_stays():
    """Writing to a view leaves the bytes between its elements alone, also those that somebody else is writing."""
    program('''
import threading
buf = pool.alloc((2000, 2), np.int32, zero=True)
wrong = []
def write(column):
    for turn in range(1, 30):
        buf[:, column] = np.full(2000, turn)
        if not (buf[:, column].to_numpy() == turn).all():
            wrong.append((column, turn))
threads = [threading.Thread(target=write, args=(column,)) for column in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
''')


def test_what_a_stream_reads_stays():
    """Also what was made for it, and when the call fails half way."""
    program('''
driver = ctypes.CDLL(os.environ['SHMEM_CUDA_LIBRARY'])
stream, buf = shmem.Stream(type), pool.alloc((1000, 1000), np.int32, fill=0)
driver.double_hold(1)
buf.T.copy_from(np.arange(1000000).reshape(1000, 1000), stream)  # converted, and turned
gc.collect()
garbage = [np.full(1 << 18, 7, np.int32) for _ in range(20)]
driver.double_hold(0)
stream.finish()
assert (buf.to_numpy() == np.arange(1000000).reshape(1000, 1000).T).all()
''')


def test_what_it_says_cannot_be_set():
    """Else copies would go anywhere."""
    program('''
host = shmem.create_pool('1M')
buf = pool.alloc((4, 6), np.int64, fill=np.arange(6))
at, before = buf.address, buf.to_numpy()
for thing, names in ((buf, 'address shape strides dtype readonly device ndim size itemsize nbytes is_contiguous T'), (pool, 'device is_open'),
                     (shmem.Stream(type), 'device native'), (shmem.import_(host.export(host.alloc(4, np.int64)), 'atomic'), 'shape dtype'),
                     (host, 'device is_open'), (pool.stats(), 'size in_use'), (shmem.devices(type)[0], 'device')):
    for name in names.split():
        value = getattr(thing, name)
        for change in (lambda: setattr(thing, name, value), lambda: setattr(thing, name, 1 << 40), lambda: delattr(thing, name)):
            try:
                change()
            except AttributeError:
                pass
            else:
                raise AssertionError((thing, name))
        assert getattr(thing, name) is value or getattr(thing, name) == value or name == 'T'
raises(AttributeError, 'shmem.DeviceBuffer.shape: it cannot be set, because it says which memory is used: reshape()', setattr, buf, 'shape', (24,))
raises(AttributeError, 'no such attribute', setattr, buf, 'shap', 1)
raises(shmem.errors.ReadOnly, 'shmem.Stream.device: it cannot be set', setattr, shmem.Stream(type), 'device', 'cuda:7')
assert buf.address == at and (buf.to_numpy() == before).all()
''')


def test_what_says_which_memory_cannot_be_set():
    """Of no public class, in a job, too."""
    start(['shmemrun', '-n', '1', PYTHON, '-c', BEGIN + '''
shmem.init()
host = shmem.create_pool('1M')
a = np.zeros(4, np.uint64)
region = shmem.register(a)
things = [region, host, host.create_mutex(), host.create_condition(), host.create_semaphore(1), host.create_barrier(1), host.create_event(),
          host.create_rwlock(), host.create_atomic(), host.create_queue('i8', 16), shmem.heap, shmem.Allow('user', 1), host.stats(), host.info(),
          pool, pool.alloc(3), pool.stats(), shmem.Stream(type), shmem.import_(host.export(host.alloc(4, 'i8')), 'atomic')]
seen = {thing.__class__.__name__ for thing in things}
other = {'Buffer', 'Access', 'HeapInfo', 'QueueStats', 'DeviceInfo'}  # an array, of which NumPy takes care; and tuples
classes = {name for name in shmem.__all__ if isinstance(getattr(shmem, name), __builtins__.type) and not issubclass(getattr(shmem, name), BaseException)}
assert classes == seen | other, classes ^ (seen | other)
for thing in things:
    for name in dir(thing):
        if name.startswith('_') or name == 'tensor' or callable(getattr(thing, name)):
            continue
        if name == 'array' and thing is region:  # so that region.array += 1 works; another array is refused
            try:
                setattr(thing, name, np.zeros(4, np.uint64))
            except TypeError:
                continue
            raise AssertionError(name)
        for value in (getattr(thing, name), 1 << 40):
            try:
                setattr(thing, name, value)
            except AttributeError:
                continue
            raise AssertionError((thing, name))
''', 'npu', '1'], env=doubles()).finish(60).ok()
