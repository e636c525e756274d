# SPDX-License-Identifier: Apache-2.0
"""Odd values for every argument of what devices have in Python: an error of this package that says what is wrong, or it is
done; never another exception, a crash, a hang, or something that is left. On doubles of the drivers."""

import pytest
from jobs import PYTHON, doubles, environment, start

PROGRAM = r'''
import gc, inspect, operator, re, sys, time, warnings
import numpy as np, shmem
warnings.simplefilter('ignore')
on_device = sys.argv[1] == 'device'
kind = 'cuda'

class Strange:
    """Has what is asked for, with nonsense in it."""
    device, shape, dtype, __array_interface__, __cuda_array_interface__ = 7, 'x', None, 5, {'shape': -1}
    cuda_stream, __len__ = 'x', lambda self: -1
class NoText:
    def __repr__(self): raise ZeroDivisionError
    __str__ = __repr__
many = np.arange(6.0)
ODD = [None, True, False, 0, 1, -1, 2, 7, 1 << 44, -(1 << 31) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, -(1 << 63) - 1, 1 << 70, -(1 << 70), 10 ** 5000,
       0.5, float('nan'), float('inf'), -1e400, 1j, '', 'x', 'npu', 'cuda', 'cuda:', 'cuda:9', 'cuda:-1', 'cuda:99999999999', 'cuda:' + '9' * 5000,
       'cuda:\u0661', '\0', 'r\0', 'rw', '\ud800', 'x' * 100000, b'', b'x', [], [1, [2, 3]], [[]], [None], ['x', 1], (), (1,), (-1,), (1,) * 100,
       (None,) * 100, (0, 1 << 70), (1 << 40, 1 << 40), (0.5,), ('x',), {}, {'x': 1}, set(), object(), object, Strange(), NoText(), [NoText()],
       range(3), Ellipsis, (Ellipsis, Ellipsis), slice(None), slice(None, None, 0), slice('a', None), slice(10 ** 5000, None, None),
       slice(None, None, 1 << 70), slice(10 ** 5000, None, 0), slice(0, 0), (slice(None), slice(None, None, -1)), np.int64(1), np.uint8(200), np.float32(2),
       np.bool_(True), np.str_('x'), np.datetime64('2020'), np.arange(3), np.array(1), np.array(1.5), np.array('x'), np.zeros(0), np.zeros((2, 3)) + 1j,
       np.array([None]), np.zeros(3, bool), np.zeros(6)[::-2], np.ma.masked_array([1, 2], [0, 1]), np.zeros(2, [('a', 'i4')]), memoryview(b'abc'),
       bytearray(3), lambda: 1, print, shmem, shmem.Stream, NotImplemented, 'i4', '>f8', 'O', 'S', 'V', 'M8', ('i4', 3), [('a', 'i4')], np.dtype('f4')]

pool = shmem.create_pool('1M', type=kind)
shmem.init()
region_memory = np.zeros(8, np.uint64)
region = shmem.register(region_memory)
around, buf, behind = pool.alloc(600, 'u1', fill=77), pool.alloc((3, 4), np.int64, fill=1), pool.alloc(600, 'u1', fill=77)
words, freed, other = pool.alloc(4, np.uint64, fill=0), pool.alloc(4, fill=0), pool.alloc((3, 4), np.int64, fill=1)
pool.free(freed)
out, stream = np.zeros((3, 4), np.int64), shmem.Stream(kind)
ODD += [freed, buf, buf[:, 1], pool, stream, region]
key, one = pool.export(buf), buf[0, 0]
keys = []

def satisfied(call):
    """What a stream then waits for comes."""
    def waits(*args, **keywords):
        call(*args, **keywords)
        for value in (*args, *keywords.values(), 0):
            try:
                value = operator.index(value) & (1 << 64) - 1
            except TypeError:
                continue
            region_memory[:] = value
            words.copy_from(np.full(4, value, np.uint64))
            time.sleep(0.001)
            if stream.is_done():
                break
        stream.finish()
    return waits if on_device else lambda *args, **keywords: None  # there it waits where it stands

CALLS = [(f, a, k) for f, a, k in [
    (shmem.Stream, (kind,), {'native': stream.native if on_device else None}),
    (shmem.Stream, (kind,), {}),
    (shmem.Stream.of, (stream,), {}),
    (shmem.devices, (kind if on_device else None,), {}),
    (shmem.create_pool, ('100k', kind), {}),
    (shmem.zeros, ((2, 3), 'f4', 'host'), {}), (shmem.full, (3, 1, 'f4', 'host'), {}), (shmem.heap_info, ('host',), {}),
    (shmem.put, (region, 0), {'stream': stream, 'timeout': 1}), (shmem.get, (region, 0), {'stream': stream, 'timeout': 1}),
    (shmem.register, (np.zeros(3),), {}), (shmem.export, (buf,), {}), (shmem.revoke, ('x', False), {}),
    (shmem.import_, (key, 'rw', False, None), {}),
    (stream.signal, (region, 1, 0, 0), {'op': 'set', 'timeout': 1}),
    (satisfied(stream.wait), (region, '>=', 1, 0), {}),
    (stream.write_value, (words, 1, 5), {}),
    (satisfied(stream.wait_value), (words, 1, 0, False), {}),
    (stream.finish, (), {}), (stream.is_done, (), {}), (stream.barrier, (), {}), (stream.quiet, (), {}),
    (pool.alloc, ((2, 3), 'f4', 512), {'zero': True, 'fill': None}),
    (pool.alloc, ((2, 3),), {'fill': 1}),
    (pool.free, (None,), {}),
    (pool.export, (buf, None, None, False), {}),
    (pool.import_, (key, 'rw', False, None), {}),
    (pool.revoke, (None,), {}),
    (pool.stats, (), {}),
    (buf.reshape, (12,), {}), (buf.reshape, (3, -1), {}), (buf.reshape, ((2, 6),), {}),
    (buf.npu, (), {}), (buf.cuda, (), {}), (buf.copy, (), {}), (words[1:2].item, (), {}),
    (buf.to_numpy, (), {'out': out}),
    (buf.copy_to, (out,), {'stream': stream}),
    (buf.copy_to, (out,), {'stream': None}),
    (buf.copy_from, (out,), {'stream': stream}),
    (buf.copy_from, (out,), {'stream': None}),
    (buf[:, 1].copy_from, (1,), {'stream': stream}),
    (buf.__getitem__, (0,), {}), (buf.__setitem__, (0, 1), {}), (buf.__setitem__, ((0, slice(None)), [1, 2, 3, 4]), {}),
    (buf.__len__, (), {}), (buf.__iter__, (), {}), (buf.__dlpack_device__, (), {}), (buf.__reduce__, (), {}), (buf.__deepcopy__, ({},), {}),
    (buf.__dlpack__, (), {'stream': None, 'max_version': (1, 0), 'dl_device': (2, 0), 'copy': None}),
    (np.copyto, (buf, 1), {}), (np.copyto, (out, buf), {}),
]]
NUMPY = {'reshape', '__getitem__', '__setitem__', '__len__', '__iter__', '__dlpack__', '__dlpack_device__', '__deepcopy__', 'copy', 'item', 'copyto',
         '__reduce__', '__array__'}  # on the host NumPy's own, with NumPy's exceptions
wrong = []
def shown(x):
    try: return repr(x)[:60]
    except Exception: return f'a {x.__class__.__name__}'
def shown_call(args, keywords): return ', '.join([*map(shown, args), *(f'{k}={shown(v)}' for k, v in keywords.items())])
def attempt(function, args, keywords, counted=False):
    name = getattr(function, '__qualname__', str(function))
    if (not on_device and function.__name__ in NUMPY or
            function is np.copyto and not any(isinstance(x, shmem.DeviceBuffer) for x in args)):
        return
    try:
        made = function(*args, **keywords)
        if function in (pool.export, shmem.export): keys.append(made)
        if function in (shmem.zeros, shmem.full): shmem.free(made)
        if isinstance(made, (shmem.Stream, type(pool))) and made not in (stream, pool): made.close()
    except shmem.Error as error:
        text = str(error)
        if not re.match(r'shmem\.[A-Za-z_.\[\]]+: .{5}', text, re.S) or len(text) > 2000: wrong.append((name, shown_call(args, keywords), text[:300]))
    except BaseException as error:
        if not (counted and isinstance(error, TypeError) and str(error)): wrong.append((name, shown_call(args, keywords), repr(error)[:300]))
in_use = pool.stats().in_use
for function, args, keywords in CALLS:
    attempt(function, args, keywords)
    for odd in ODD:
        if odd is buf and function == pool.free: continue
        for n in range(len(args)):
            attempt(function, (*args[:n], odd, *args[n + 1:]), keywords)
        for word in keywords:
            attempt(function, args, {**keywords, word: odd})
    if function.__name__ not in ('waits', '<lambda>'):
        attempt(function, args + (1,) * 9, keywords, True)
        attempt(function, args, {**keywords, 'no_such': 1}, True)
        if args: attempt(function, (), {}, True)
stream.finish()
assert not wrong, '\n'.join(map(' | '.join, wrong))
seen = {getattr(f, '__name__', '') for f, _, _ in CALLS} | {'waits', 'wait', 'wait_value'}
if on_device:
    for cls in (shmem.DeviceBuffer, shmem.DevicePool, shmem.Stream):
        public = {name for name, member in vars(cls).items() if inspect.isroutine(member) and not name.startswith('_')}
        assert public - seen <= {'close', 'import'}, public - seen
    assert (around.to_numpy() == 77).all() and (behind.to_numpy() == 77).all()
assert (region_memory.dtype, buf.shape) == (np.uint64, (3, 4)) and buf.device
for made in keys:
    try: pool.revoke(made)
    except shmem.Error: pass
gc.collect()
print('leaks', pool.stats().in_use - in_use)
shmem.deregister(region)
shmem.finalize()
stream.close()
'''


@pytest.mark.parametrize('where', ['device', 'host'])
def test_odd_values(where):
    env = doubles() if where == 'device' else environment(SHMEM_CUDA_LIBRARY='/none', SHMEM_ASCEND_LIBRARY='/none', SHMEM_DEVICE_FALLBACK='host')
    assert start([PYTHON, '-c', PROGRAM, where], env=env).finish(60).ok().out == 'leaks 0\n'
