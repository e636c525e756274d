# SPDX-License-Identifier: Apache-2.0
"""Memory of devices in Python, on doubles of the drivers. Each program is a process of its own, because a double looks for
what is left when the process ends (exit status 97)."""

import json
import re
import runpy
import shutil

import pytest
from jobs import PYTHON, RAISES, double, doubles, run, start
from jobs import program as program_of

BEGIN = '''
import copy, ctypes, os, pickle, subprocess, sys
import numpy as np, shmem
type = sys.argv[1]
''' + RAISES


def program(text, *args, **more):
    return start([PYTHON, '-c', BEGIN + text, *args], env=doubles(**more)).finish(60).ok()


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_buffers(kind):
    program('''
pool = shmem.create_pool('4M', type=type)
assert pool.device == type + ':0' and pool.is_open and isinstance(pool, shmem.DevicePool)
buf = pool.alloc((3, 4), np.float32, fill=2)
assert (buf.shape, buf.dtype, buf.ndim, buf.size, buf.nbytes, buf.strides, len(buf)) == ((3, 4), np.float32, 2, 12, 48, (16, 4), 3)
assert buf.device == type + ':0' and buf.is_contiguous and buf.address % 512 == 0
assert (buf.to_numpy() == 2).all() and buf.to_numpy().shape == (3, 4)

model = np.arange(12, dtype=np.float32).reshape(3, 4)
np.copyto(buf, model)
assert (buf.to_numpy() == model).all()
for index in [0, -1, (slice(None), 1), (1, slice(1, 3)), (slice(None, None, -1), slice(None, None, 2)), Ellipsis, (Ellipsis, 0),
              (None, 1), (slice(3, 3),), (slice(None), slice(None))]:
    assert np.array_equal(buf[index].to_numpy(), model[index]), index
    buf[index] = model[index] + 1
    model[index] = model[index] + 1
    assert (buf.to_numpy() == model).all(), index
assert buf[0, 0] == model[0, 0] and isinstance(buf[0, 0], np.float32) and f'{buf[0, 0]}' == f'{model[0, 0]}'
buf[2, 3] = 77
model[2, 3] = 77
assert buf[-1, -1] == 77 and buf[2, 3].dtype == np.float32
assert (buf.T.to_numpy() == model.T).all() and (buf.reshape(4, 3).to_numpy() == model.reshape(4, 3)).all()
assert (buf.reshape(-1).to_numpy() == model.ravel()).all() and [row.to_numpy().sum() for row in buf] == list(model.sum(1))
back = np.zeros((3, 4), np.float32)
np.copyto(back, buf)
assert (back == model).all() and np.shape(buf) == (3, 4) and buf.copy().flags.owndata and (copy.copy(buf) == model).all()
assert buf.npu() is buf if type == 'npu' else buf.cuda() is buf

other = pool.alloc((3, 4), np.float32)
np.copyto(other, buf)
other.copy_from(buf)
assert (other.to_numpy() == model).all()
other[:, 1:3] = buf[:, 0:2]
assert (other[:, 1:3].to_numpy() == model[:, 0:2]).all()
wide = pool.alloc((3, 4), np.float64)
np.copyto(wide, buf)
assert (wide.to_numpy() == model).all()
empty = pool.alloc((0, 5), 'i4')
assert empty.to_numpy().shape == (0, 5) and empty.nbytes == 0
record = pool.alloc(2, [('a', 'i4'), ('b', 'f8')], zero=True)
record[1] = (3, 4.5)
assert record[1]['b'] == 4.5 and record[0]['a'] == 0
assert pool.alloc((), 'i8', fill=9).item() == 9

raises(TypeError, 'which the CPU cannot touch', np.asarray, buf)
raises(TypeError, 'use to_numpy()', np.add, buf, 1)
raises(TypeError, 'use to_numpy()', np.sum, buf)
raises(TypeError, 'use to_numpy()', buf.__getitem__, [0, 1])
raises(TypeError, 'use to_numpy()', buf.__getitem__, True)
raises(IndexError, 'out of bounds', buf.__getitem__, 3)
raises(IndexError, 'too many indices', buf.__setitem__, (0, 0, 0), 1)
raises(ValueError, 'does not fit', buf.copy_from, np.zeros(5))
raises(ValueError, 'does not fit', buf.reshape, 5, -1)
raises(NotImplementedError, 'allocate one from a pool of type', buf.cuda if type == 'npu' else buf.npu)
try:
    np.copyto(buf, np.zeros((3, 4)) + 1j)
except TypeError as error:
    assert 'Cannot cast' in str(error)
else:
    raise AssertionError
raises(MemoryError, 'the largest free block has', pool.alloc, (4 << 20,), np.float64)
raises(ValueError, 'sides are not negative', pool.alloc, -1)
raises(TypeError, 'pointers', pool.alloc, 1, object)
raises(ValueError, 'is a view', pool.free, buf[0])
raises(TypeError, 'must be a DeviceBuffer', pool.free, model)
in_use = pool.stats().in_use
pool.free(wide)
raises(LookupError, 'was freed', wide.to_numpy)
raises(LookupError, 'was freed', wide.__setitem__, 0, 1)
raises(LookupError, 'freed', pool.free, wide)
del other
assert pool.stats().in_use < in_use and pool.stats().size == 4 << 20
view = buf[1]
del buf
assert (view.to_numpy() == model[1]).all()
pool.close()
pool.close()
raises(LookupError, 'closed', pool.alloc, 1)
assert (view.to_numpy() == model[1]).all() and 'closed' in repr(pool) and type in repr(view)
''', kind)


@pytest.mark.parametrize('kind', ['npu', 'cuda', 'old npu'])
def test_keys(kind):
    program('''
pool = shmem.create_pool('4M', type=type)
buf = pool.alloc((64, 32), np.int32, fill=np.arange(32))
key, column = pool.export(buf), shmem.export(buf[::-2, 3])
narrow = pool.export(buf, mode='r')
program = """
import pickle, sys, numpy as np, shmem
key, column, narrow, pickled = sys.argv[1:]
a, c, r = shmem.import_(key), shmem.import_(column), shmem.import_(narrow, 'r')
b = pickle.loads(bytes.fromhex(pickled))
assert a.shape == (64, 32) and a.dtype == np.int32 and (a.to_numpy() == np.arange(32)).all()
assert c.shape == (32,) and (c.to_numpy() == 3).all() and (b.to_numpy() == 31).all()
a[0, 0] = 1234
c[0] = 99
assert r[63, 3] == 99 and r.readonly
for wrong in (lambda: r.__setitem__(0, 1), lambda: shmem.import_(narrow)):
    try:
        wrong()
    except PermissionError as error:
        assert isinstance(error, shmem.Error)
    else:
        raise AssertionError
assert shmem.export(a) == key
try:
    shmem.export(a[0])
except ValueError as error:
    assert 'only who owns memory' in str(error)
"""
pickled = pickle.dumps(buf[:, 31]).hex()
assert pickle.dumps(buf[:, 31]).hex() == pickled
subprocess.run([sys.executable, '-c', program, key, column, narrow, pickled], check=True)
assert buf[0, 0] == 1234 and buf[63, 3] == 99
same = shmem.import_(key)
same[5, 5] = -1
assert buf[5, 5] == -1 and same.address == buf.address
raises(NotImplementedError, "mode 'r' or 'rw'", shmem.import_, key, 'cow')
raises(PermissionError, 'processes of this user only', pool.export, buf, allow='user:0=r')
raises(NotImplementedError, 'cannot be frozen', pool.export, buf, frozen=True)
shmem.revoke(key)
raises(shmem.KeyRevoked, 'revoked', shmem.import_, key)
pool.free(buf)
raises(shmem.KeyRevoked, 'revoked', shmem.import_, column)
del same
''', kind.split()[-1], **({'SHMEM_ASCEND_LIBRARY': double('old npu')} if kind == 'old npu' else {}))


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_streams_and_other_libraries(kind):
    program('''
pool = shmem.create_pool('4M', type=type)
a, b = pool.alloc(1000, np.float32), pool.alloc(1000, np.float32)
out = np.zeros(1000, np.float32)
driver = ctypes.CDLL(os.environ['SHMEM_ASCEND_LIBRARY' if type == 'npu' else 'SHMEM_CUDA_LIBRARY'])
with shmem.Stream(type) as stream:
    driver.double_hold(1)  # streams do nothing meanwhile
    a.copy_from(np.arange(1000, dtype=np.float32), stream)
    b.copy_from(a, stream=stream)
    b.copy_to(out, stream=stream)
    assert not stream.is_done() and not out.any()
    driver.double_hold(0)
    stream.finish()
    assert stream.is_done() and (out == np.arange(1000)).all()
    words = pool.alloc(2, np.uint64, zero=True)
    stream.write_value(words, 1, 1 << 63)
    stream.wait_value(words, 1, 5)
    stream.finish()
    assert list(words.to_numpy()) == [0, 1 << 63]
    raises(TypeError, 'uint64 or int64', stream.write_value, a, 0, 1)
    raises(IndexError, 'out of bounds', stream.write_value, words, 2, 1)
    again = shmem.Stream(type + ':0', native=stream.native)
    a.copy_from(7, again)
    again.finish()
    assert a[999] == 7
    again.close()
raises(LookupError, 'closed', stream.finish)
raises(ValueError, 'such as', shmem.Stream, 'gpu')
raises(shmem.DeviceMissing, 'there is no', shmem.Stream, type + ':9')

# one device to the other, and to the other kind
second = shmem.create_pool('2M', type=type + ':1').alloc(1000, np.float32)
second.copy_from(a)
assert (second.to_numpy() == 7).all() and second.device == type + ':1'
foreign = shmem.create_pool('2M', type='cuda' if type == 'npu' else 'npu').alloc(1000, np.float32)
foreign.copy_from(second[:])
assert (foreign.to_numpy() == 7).all()

# DLPack: what a library of the device would see
number = a.__dlpack_device__()
assert number == (12 if type == 'npu' else 2, 0)
api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
grid = pool.alloc((6, 4), np.int16)
counted = sys.getrefcount(grid[::2, 1])
view = grid[::2, 1]
capsule = view.__dlpack__()
assert api.PyCapsule_GetName(capsule) == b'dltensor' and sys.getrefcount(view) == counted + 2
at = api.PyCapsule_GetPointer(capsule, b'dltensor')
read = lambda kind, offset: kind.from_address(at + offset).value
assert read(ctypes.c_uint64, 0) == view.address and read(ctypes.c_int32, 8) == number[0] and read(ctypes.c_int32, 16) == 1
assert [read(ctypes.c_uint8, 20), read(ctypes.c_uint8, 21), read(ctypes.c_uint16, 22)] == [0, 16, 1]
assert ctypes.c_int64.from_address(read(ctypes.c_uint64, 24)).value == 3
assert ctypes.c_int64.from_address(read(ctypes.c_uint64, 32)).value == 8
del capsule
assert sys.getrefcount(view) == counted + 1
assert api.PyCapsule_GetName(view.__dlpack__(max_version=(1, 0))) == b'dltensor_versioned'
raises(BufferError, 'neither copied nor moved', a.__dlpack__, dl_device=(1, 0))
raises(BufferError, 'neither copied', a.__dlpack__, copy=True)
if type == 'cuda':
    said = a.__cuda_array_interface__
    assert said == {'shape': (1000,), 'typestr': '<f4', 'data': (a.address, False), 'version': 3, 'strides': None, 'stream': None}
    class Foreign:
        __cuda_array_interface__ = said
    b.copy_from(Foreign())
    assert b[3] == 7
else:
    assert not hasattr(a, '__cuda_array_interface__')
''', kind)


def test_pickling():
    """A pickle opens the memory, or is not made: whatever key is known of it may have been revoked."""
    program('''
pool = shmem.create_pool('4M', type=type)
buf = pool.alloc((8, 6), np.int32, fill=np.arange(6))
at = {'all': buf, 'T': buf.T, 'part': buf[1:, ::-2], 'row': buf[3], 'none': buf[3:3]}
def check(views):
    for name, view in views.items():
        again = pickle.loads(pickle.dumps(view))
        assert (again.shape, again.dtype) == (view.shape, view.dtype) and (again.to_numpy() == view.to_numpy()).all(), name
        assert pickle.dumps(view) == pickle.dumps(view)
check(at)
for revoke in (pool.revoke, shmem.revoke, shmem.create_pool('1M').revoke):
    pickled = pickle.dumps(buf)
    revoke(buf.__reduce__()[1][0])
    raises(shmem.KeyRevoked, 'revoked', pickle.loads, pickled)
    check(at)
key = pool.export(buf, mode='r')
came = shmem.import_(key, 'r')
check({name: eval(text, {'b': came}) for name, text in {'all': 'b', 'T': 'b.T', 'part': 'b[2:, 1]'}.items()})
assert pickle.loads(pickle.dumps(came[0])).readonly and shmem.export(came) == key
pool.revoke(key)
for function in (pickle.dumps, shmem.export):
    raises(shmem.KeyRevoked, 'ask its owner for another one', function, came)
raises(shmem.KeyRevoked, 'ask its owner', pickle.dumps, came[0])
del came
pool.free(buf)
for view in at.values():
    raises(shmem.errors.Stale, 'freed', pickle.dumps, view)
''', 'cuda')


def test_devices_and_pools():
    program('''
all_of_them = shmem.devices()
assert [d.device for d in all_of_them] == ['npu:0', 'npu:1', 'cuda:0', 'cuda:1'] and len({d.id for d in all_of_them}) == 4
assert shmem.devices('cuda')[1].can_share and shmem.devices('cuda')[0].way == 'file descriptors'
assert all(d.driver and d.name and d.total >= d.free > 0 for d in all_of_them)
auto = shmem.create_pool('2M', type='auto')
assert auto.device == 'npu:0'
for argument in ({'name': 'x'}, {'grow': True}, {'lock': True}, {'pages': '2M'}, {'max_size': '4M'}):
    raises(NotImplementedError, 'is for host memory', shmem.create_pool, '2M', type='npu', **argument)
raises(shmem.DeviceMissing, 'there is no', shmem.create_pool, '2M', type='cuda:7')
raises(ValueError, 'such as', shmem.create_pool, '2M', type='cuda:x')
raises(MemoryError, "device's memory is taken", shmem.create_pool, '1T', type='cuda')
raises(ValueError, 'size is 0', shmem.create_pool, 0, type='cuda')
raises(TypeError, 'create_pool', shmem.DevicePool)
raises(TypeError, 'DevicePool.alloc', shmem.DeviceBuffer)

''', '')


@pytest.mark.parametrize('fallback', [None, 'host'])
def test_forked_children(fallback):
    """Whatever they call, they are told why it cannot be, and what to do; the parent goes on."""
    said = program('''
import traceback
def in_child(function):
    pid = os.fork()
    if pid == 0:
        try:
            function()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
# before a device is first used it may fork
def use():
    assert shmem.create_pool('2M', type='cuda').alloc(3, fill=2)[1] == 2
in_child(use)

pool, stream = shmem.create_pool('2M', type='cuda'), shmem.Stream('cuda')
buf = pool.alloc((4, 4), np.uint64, fill=1)
key, host, ones = pool.export(buf), shmem.create_pool('1M').alloc(4), np.ones((4, 4), np.uint64)
def all_of_them():
    calls = {'create_pool': [lambda: shmem.create_pool('2M', type=kind) for kind in ('npu', 'cuda', 'cuda:1', 'auto')],
             'Stream': [lambda: shmem.Stream('npu'), lambda: shmem.Stream('cuda'), lambda: shmem.Stream('cuda', native=1)],
             'devices': [lambda: shmem.devices(), lambda: shmem.devices('cuda')], 'Stream.native': [lambda: stream.native],
             'import_': [lambda: shmem.import_(key)], 'DeviceBuffer': [lambda: pickle.dumps(buf)], 'DevicePool.export': [lambda: pool.export(buf)],
             'DevicePool.alloc': [lambda: pool.alloc(1), lambda: pool.alloc(1, fill=1)], 'DevicePool.free': [lambda: pool.free(buf)],
             'DevicePool.revoke': [lambda: pool.revoke(key)], 'DeviceBuffer.to_numpy': [buf.to_numpy, buf.T.to_numpy, buf[0].copy],
             'DeviceBuffer.copy_from': [lambda: buf.copy_from(1), lambda: buf.copy_from(ones, stream), lambda: buf.T.copy_from(buf)],
             'DeviceBuffer.copy_to': [lambda: buf.copy_to(ones), lambda: buf.copy_to(ones, stream)], 'register': [lambda: shmem.register(buf)],
             'DeviceBuffer[]': [lambda: buf[0, 0], lambda: buf.__setitem__((0, 0), 1), lambda: buf.__setitem__((slice(None), 0), 5)],
             'DeviceBuffer.__dlpack__': [buf.__dlpack__], 'DeviceBuffer.__cuda_array_interface__': [lambda: buf.__cuda_array_interface__],
             'Stream.finish': [stream.finish], 'Stream.is_done': [stream.is_done], 'Stream.write_value': [lambda: stream.write_value(buf, (0, 0), 1)],
             'Stream.wait_value': [lambda: stream.wait_value(buf, (0, 0), 1)], 'zeros': [lambda: shmem.zeros(3, device='cuda')]}
    shmem.init()
    for name, functions in calls.items():
        for n, function in enumerate(functions):
            raises(shmem.NotInitialized, f'shmem.{name}: ', function)
            raises(shmem.NotInitialized, "drivers do not survive fork: start such processes anew, by exec (in Python with the start method 'spawn'), "
                                         "or fork before a device is first used", function)
    shmem.finalize()
    raises(shmem.NotInitialized, 'drivers do not survive fork', shmem.init, device='cuda')
    assert repr(buf) and buf.shape == (4, 4) and pool.stats().size and buf.cuda() is buf
    stream.close()
    pool.close()
in_child(all_of_them)
assert (buf.to_numpy() == 1).all() and stream.is_done() and shmem.import_(key)[0, 0] == 1
''', '', SHMEM_DEVICE_FALLBACK=fallback)
    assert 'in place' not in said.err


def test_without_devices():
    """No driver: an error that says so, or host memory if that is asked for, as before."""
    missing = {'SHMEM_ASCEND_LIBRARY': '/nonexistent/libacl_rt.so', 'SHMEM_CUDA_LIBRARY': '/nonexistent/libcuda.so.1'}
    program('''
assert shmem.devices() == [] and isinstance(shmem.create_pool('1M', type='auto'), shmem.Pool)
for kind in ('npu', 'cuda', 'npu:1'):
    raises(shmem.DeviceMissing, 'cannot be opened', shmem.create_pool, '1M', type=kind)
raises(shmem.DeviceMissing, 'no CUDA driver', shmem.devices, 'cuda')
raises(shmem.DeviceMissing, 'no Ascend driver', shmem.Stream, 'npu')
''', '', **missing)
    result = program('''
pool = shmem.create_pool('1M', type='npu')
buf = pool.alloc((2, 2), fill=3)
assert isinstance(buf, np.ndarray) and isinstance(shmem.create_pool('1M', type='npu'), shmem.Pool)
''', '', SHMEM_DEVICE_FALLBACK='host', **missing)
    assert result.err.count('host memory in place of') == 1


def test_what_stands_in_for_c():
    """Host memory that stands in for a device in a program in C: its keys open here, and nothing else changes."""
    missing = {'SHMEM_ASCEND_LIBRARY': '/nonexistent/libacl_rt.so', 'SHMEM_CUDA_LIBRARY': '/nonexistent/libcuda.so.1'}
    result = program('''
c = ctypes.CDLL('libshmem.so.0')  # that this process has loaded
pool, at, key = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(512)
assert c.shmemx_device_pool_create(b'npu', 0, ctypes.c_size_t(1 << 20), ctypes.byref(pool)) == 0
assert c.shmemx_device_alloc(pool, ctypes.c_size_t(4096), ctypes.c_size_t(0), ctypes.byref(at)) == 0
ctypes.memset(at, 7, 4096)
assert c.shmemx_export(at, ctypes.c_size_t(4096), None, key) == 0
subprocess.run([sys.executable, '-c', """
import numpy as np, shmem, sys
buf = shmem.import_(sys.argv[1])
assert isinstance(buf, shmem.DeviceBuffer) and buf.device == 'npu:0' and (buf.to_numpy() == 7).all()
with shmem.Stream('npu') as s:
    buf[:10].copy_from(np.arange(10, dtype=np.uint8), stream=s)
    out = np.zeros(4096, np.uint8)
    buf.copy_to(out, stream=s)
assert out.tolist() == list(range(10)) + 4086 * [7] and shmem.devices() == []
assert isinstance(shmem.create_pool('1M', type='npu'), shmem.Pool)
""", key.value.decode()], check=True)
assert ctypes.string_at(at, 11) == bytes(range(10)) + bytes([7])
assert c.shmemx_device_pool_close(pool) == 0
''', '', SHMEM_DEVICE_FALLBACK='host', **missing)
    assert result.err.count('host memory in place of') == 2  # of two processes


ANYWHERE = '''
pool = shmem.create_pool('4M', type='npu')
a, w = pool.alloc((8, 4), np.float32, fill=0), pool.alloc(2, np.uint64, fill=0)
x = np.arange(32, dtype=np.float32).reshape(8, 4)
with shmem.Stream('npu') as s:
    assert a.copy_from(x, stream=s) is a
    s.write_value(w, 1, 2**63 + 7)
    s.wait_value(w, 1, 2**63 + 7, equal=True)
    s.finish()
    assert s.is_done() and a.npu() is a and a.is_contiguous and not a.readonly and a.address % 4 == 0
    print(a.to_numpy().tolist(), float(a[2, 1]), w.to_numpy()[1])
    a[3] = 5
    out = np.zeros((8, 4), np.float32)
    a.copy_to(out, stream=s)
    s.finish()
    print(out.sum())
    shmem.init()
    z, signal = shmem.zeros((4,), np.float32, device='npu'), shmem.zeros(1, np.uint64, device='host')
    shmem.put_signal(dst=0, dst_mr=z, src_mr=x[1], signal=signal, value=1, stream=s)
    s.wait(signal, '>=', 1)
    s.signal(signal, 4, pe=0, op='add')
    s.barrier()
    s.quiet()
    s.finish()
    print(z.to_numpy().tolist(), signal[0])
    shmem.free(z)
    raises(ValueError, 'op', s.signal, signal, 1, pe=0, op='mul')
raises(shmem.errors.Stale, 'closed', s.finish)
key = pool.export(a)
print(shmem.import_(key).to_numpy().sum(), isinstance(s, shmem.Stream))
'''


OVERLAPS = '''
pool = shmem.create_pool('4M', type='npu')
a, m, big = pool.alloc(5, np.int64), pool.alloc((3, 3), np.int64), pool.alloc(100000, np.int64)
def anew():
    a.copy_from(np.arange(5))
    m.copy_from(np.arange(9).reshape(3, 3))
    big.copy_from(np.arange(100000))
for change in ('a[...] = a[::-1]', 'a[::-1] = a', 'a[1:] = a[:-1]', 'a[:-1] = a[1:]', 'm[...] = m.T', 'big[3:] = big[:-3]',
               'big[:-7] = big[7:]', 'a[...] = a'):
    anew()
    exec(change)
    print(change, a.to_numpy().tolist(), m.to_numpy().tolist(), int((big.to_numpy() * np.arange(1, 100001)).sum()))
with shmem.Stream('npu') as s:
    for wrong, kind, value in ((1 << 64, ValueError, 'fit into 64'), ('x', TypeError, 'must be an integer')):
        raises((kind, IndexError), value, s.write_value, a, 0, wrong)
'''


def test_overlaps():
    """What NumPy does with views of one array."""
    missing = {'SHMEM_ASCEND_LIBRARY': '/nonexistent/libacl_rt.so', 'SHMEM_CUDA_LIBRARY': '/nonexistent/libcuda.so.1'}
    on_host = program(OVERLAPS, '', SHMEM_DEVICE_FALLBACK='host', **missing).out
    assert program(OVERLAPS, '').out == on_host and len(on_host.splitlines()) == 8


def test_streams_and_what_is_gone():
    program('''
import threading, time
pool = shmem.create_pool('4M', type=type)
s = shmem.Stream(type)
freed = pool.alloc(64, np.uint64, fill=0)
pickle.dumps(freed)
pool.free(freed)
raises(shmem.errors.Stale, 'freed', pickle.dumps, freed)
raises(shmem.errors.Stale, 'freed', s.write_value, freed, 0, 1)
a = pool.alloc(4, np.uint64, fill=0)
s.wait_value(a, 0, 5)
closing = threading.Thread(target=s.close)
closing.start()
time.sleep(0.2)
with shmem.Stream(type) as other:  # which the first one needs
    other.write_value(a, 0, 5)
    closing.join(20)
    assert not closing.is_alive()
x = a[1:3]
raises(ValueError, 'overlap', x.copy_from, a[2:4], stream=shmem.Stream(type))
''', 'npu')


def test_the_same_program_with_and_without_a_device():
    on_device = program(ANYWHERE, '')
    missing = {'SHMEM_ASCEND_LIBRARY': '/nonexistent/libacl_rt.so', 'SHMEM_CUDA_LIBRARY': '/nonexistent/libcuda.so.1'}
    on_host = program(ANYWHERE, '', SHMEM_DEVICE_FALLBACK='host', **missing)
    assert on_host.out == on_device.out and len(on_device.out.splitlines()) == 4
    assert on_host.err.count('host memory in place of') == 1 and on_device.err == ''
    program('''
buf = shmem.create_pool('1M').alloc(4)
raises(shmem.NotSupported, 'in host memory', buf.npu)
raises(ValueError, 'shape', buf.copy_to, np.zeros(5))
''', '')


def test_stubs_and_old_drivers():
    program('''
raises(shmem.DeviceMissing, 'too old: it has no', shmem.create_pool, '1M', type='cuda')
''', '', SHMEM_CUDA_LIBRARY='libc.so.6')
    program('''
raises(shmem.DeviceMissing, "the toolkit's stub", shmem.create_pool, '1M', type='cuda')
''', '', DOUBLE_INIT='34')
    broken = {'DOUBLE_INIT': '999', 'SHMEM_ASCEND_LIBRARY': '/none'}
    program('''
raises(shmem.Error, 'cuInit', shmem.create_pool, '1M', type='cuda')
raises(shmem.Error, 'cuInit', shmem.Stream, 'cuda')
assert isinstance(shmem.create_pool('1M', type='auto'), shmem.Pool)
''', '', **broken)
    assert 'cuInit' in program('''
a = shmem.create_pool('1M', type='cuda').alloc(3)
assert a.cuda() is a and shmem.Stream('cuda').is_done()
''', '', SHMEM_DEVICE_FALLBACK='host', **broken).err


def tool(*command, **env):
    return start(list(command), env=doubles(**env)).finish(60)


def test_self_test():
    """The one command for the person with hardware, here on all doubles at once, and where there is nothing."""
    said = tool('shmem-bench', 'device', '--self-test').ok().out
    assert ' 0 failed' in said and 'FAILED' not in said
    for device in ('npu:0', 'npu:1', 'cuda:0', 'cuda:1'):
        assert re.search(f'^device {device} .*; shares by: ', said, re.M)
        assert re.search(f'^ok +{device} +memory shared by two processes$', said, re.M)
        assert re.search(f'^ok +{device} +signals, waits and barriers on streams of two PEs$', said, re.M)
        assert re.search(f'^ok +{device} +the symmetric heap of two PEs$', said, re.M)
        assert re.search(f'^ok +{device} +memory that another library allocated, used by a second process$', said, re.M)
        for way in ('host to device', 'device to host', 'device to device'):
            assert re.search(rf"^share +{device} +{way}: [0-9]+ % of the copy bandwidth: [0-9.]+ GB/s, the driver's own copy [0-9.]+ GB/s", said, re.M)
    assert 'a copy to cuda:0 (by way of the host)' in said and 'a copy to npu:1 (they reach each other)' in said
    old = tool('shmem-bench', 'device', '--self-test', SHMEM_ASCEND_LIBRARY=double('no handles'), SHMEM_CUDA_LIBRARY='/none').ok().out
    assert 'skip   npu:0    memory shared by two processes: ' in old and ' 0 failed' in old
    assert 'skip   npu:0    memory that another library allocated, used by a second process: shmemx_export: ' in old
    none = tool('shmem-bench', 'device', '--self-test', SHMEM_ASCEND_LIBRARY='/none', SHMEM_CUDA_LIBRARY='/none')
    assert none.code == 77 and none.out.count('cannot be opened') == 2 and none.out.endswith('; there is no device\n')
    useless = tool('shmem-bench', 'device', '--self-test', SHMEM_ASCEND_LIBRARY='/none', SHMEM_CUDA_LIBRARY=double('old cuda'))
    assert useless.code == 1 and '0 passed, 2 failed; of the 2 devices that the driver shows none could be tested' in useless.out
    assert useless.out.count('the CUDA driver here is too old: it has no ') == 2 and 'no device' not in useless.out
    assert tool('shmem-bench', 'pool', '--self-test').code == 2


CALLS = {  # of the driver, warm: a copy is one, and what a stream tells this process or waits for is another
    'copy on a stream, host to device': 1, 'copy on a stream, device to host': 1, 'copy on a stream, device to device': 1,
    'copy that is waited for, host to device': 3, 'copy that is waited for, device to host': 3, 'copy that is waited for, device to device': 3,
    'put, region without events': 1, 'put, region with events': 2, 'get, region without events': 1, 'get, region with events': 2,
    'signal to a word of the host': 1, 'signal to a word of the device': 1, 'put with signal, without events': 2, 'put with signal, with events': 2,
    'wait for a word of the host': 2, 'barrier on a stream': 2, 'quiet on a stream': 2,
}


def test_measuring():
    said = tool('shmem-bench', 'device', '--quick', '--json', '-').ok().out
    report = json.loads(said)['device']
    figures = report['figures']
    assert len(figures) == 4 * 3 * 10 and all(figure > 0 for figure in figures.values())
    assert report['counts'] == {'npu:0': CALLS, 'cuda:0': CALLS}
    text = tool('shmem-bench', 'device', '--quick', SHMEM_ASCEND_LIBRARY=double('no handles')).ok().out
    assert re.search(r'npu:0.to_device +[0-9.]+ GB/s', text)
    assert all(float(share) <= 100 for share in re.findall(r'([0-9.]+)%', text)) and text.count('%') == 4 * 3 * 3 * 3
    for operation, calls in CALLS.items():
        cannot = '-' if 'region' in operation or 'signal' in operation or 'stream' == operation[-6:] or 'wait for' in operation else calls
        assert re.search(f'^  {operation} +{cannot} +{calls}$', text, re.M), operation


def test_a_driver_that_does_not_count(capsys):
    """As the makers' own do."""
    bench = runpy.run_path(shutil.which('shmem-bench'))
    bench['print_counts']({'cuda:0': {'quiet on a stream': None}})
    assert re.search(r'^  quiet on a stream +not counted \(only a driver double counts\)$', capsys.readouterr().out, re.M)


def test_info():
    report = json.loads(tool('shmem-info', '--devices', '--json').ok().out)
    assert list(report) == ['npu:0', 'npu:1', 'cuda:0', 'cuda:1'] and report['cuda:1']['reaches'] == '0'
    assert report['npu:0']['shares_by'].startswith('shareable handles') and report['cuda:0']['driver'] == 'CUDA 13.0'
    text = tool('shmem-info', '--devices', DOUBLE_PEERS='0').ok().out
    assert text.count('reaches devices          none') == 4
    none = tool('shmem-info', '--devices', SHMEM_ASCEND_LIBRARY='/none', SHMEM_CUDA_LIBRARY='libc.so.6')
    assert none.code == 1 and 'no Ascend driver: /none cannot be opened' in none.out and 'too old' in none.out
    assert json.loads(tool('shmem-info', '--json').ok().out)['backends']['npu'] == 'usable'


@pytest.mark.parametrize('kind', ['npu', 'cuda', 'old npu'])
def test_regions(kind, tmp_path):
    """Regions in memory of devices: put and get between any two of host and device memory, events, signals, collectives."""
    text = program_of(tmp_path, BEGIN + '''
shmem.init()
me, n = shmem.my_pe(), shmem.n_pes()
pool = shmem.create_pool('8M', type=f'{type}:{me % 2}')
x = pool.alloc((1000, 3), np.float32, fill=me)
mr = shmem.register(x)
assert mr.kind == 'device' and mr.size == x.nbytes and mr.dtype == np.float32 and mr.shape == (1000, 3) and mr.array is x
small = pool.alloc(4, np.int64, fill=[me, 0, 0, 0])
named = shmem.register(small, name='small')
host = np.zeros(4, np.int64)
words = shmem.register(host)
shmem.barrier()
right, left = (me + 1) % n, (me - 1) % n

# device to device, host to device, device to host, in both directions
if me == 0:
    x.copy_from(np.arange(3000, dtype=np.float32).reshape(1000, 3))
    for pe in range(1, n):
        shmem.put(mr, pe)
else:
    shmem.wait(mr, timeout=20)
    assert (x.to_numpy().ravel() == np.arange(3000)).all()
shmem.barrier()
got = shmem.get(mr, left)
assert isinstance(got, np.ndarray) and (got.ravel() == np.arange(3000)).all()
mine = pool.alloc((1000, 3), np.float32)
shmem.get(mr, right, out=mine)
assert (mine.to_numpy().ravel() == np.arange(3000)).all()
there = shmem.region(right, name='small', timeout=20)
shmem.put(dst=right, dst_mr=named, dst_offset=8, src_mr=np.array([me + 40]), src_offset=0, size=8)
shmem.barrier()
assert small[1] == left + 40 and shmem.get(there)[0] == right

# a signal in host memory comes after the data in the device's
shmem.put_signal(dst=right, dst_mr=mr, src_mr=pool.alloc((1000, 3), np.float32, fill=9 + me), signal=words, value=me + 7,
                 sig_offset=24)
shmem.wait_until(words, '==', left + 7, offset=24, timeout=20)
assert (x.to_numpy() == 9 + left).all()
shmem.barrier()

# device memory into a host region
source = pool.alloc(2, np.int64, fill=[me, me + 100])
shmem.put(dst=right, dst_mr=words, src_mr=source)
shmem.barrier()
assert list(host[:2]) == [left, left + 100]

# collectives
total = pool.alloc(100, np.float64, fill=me + 1)
shmem.all_reduce(total, 'sum')
assert (total.to_numpy() == n * (n + 1) / 2).all()
one = pool.alloc(5, np.int32, fill=me)
shmem.broadcast(one, n - 1)
assert (one.to_numpy() == n - 1).all()
assert (shmem.all_gather(pool.alloc(2, np.int32, fill=me)) == np.repeat(np.arange(n), 2).reshape(n, 2)).all()

# what cannot be is said
raises(NotImplementedError, 'keep counters and signals in host memory', shmem.atomic_add, named, 1, right)
raises(NotImplementedError, 'keep counters and signals', shmem.wait_until, named, '==', 1, timeout=1)
raises(ValueError, 'which the CPU cannot touch', shmem.peer, named, right)
raises(BufferError, 'not contiguous', shmem.register, x[:, 1])
class Foreign:
    device = 'cuda:0'
    __cuda_array_interface__ = {'shape': (4,), 'typestr': '<f4', 'data': (0x7f0000000000, False), 'version': 3}
raises(ValueError, 'is not memory of a device', shmem.register, Foreign())
raises(shmem.Error, 'registered as a region: deregister it first', pool.free, x)
shmem.barrier()
shmem.deregister(named)
shmem.barrier()
raises(LookupError, 'deregistered', shmem.get, there)
shmem.barrier()
shmem.finalize()
pool.free(x)
''')
    more = {'SHMEM_ASCEND_LIBRARY': double('old npu')} if kind == 'old npu' else {}
    result = run(['shmemrun', '-n', '3', '--tag-output', PYTHON, str(text), kind.split()[-1]], env=doubles(**more))
    result.ok()


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_streams_in_a_job(kind, tmp_path):
    """Puts, gets, signals, waits and barriers in the order of streams; a stream of torch; one that fails."""
    text = program_of(tmp_path, BEGIN + '''
import gc, threading, weakref
shmem.init()
me, n = shmem.my_pe(), shmem.n_pes()
right, left = (me + 1) % n, (me - 1) % n
pool = shmem.create_pool('8M', type=f'{type}:{me % 2}')
x = pool.alloc(5000, np.int64, fill=-1)
mr = shmem.register(x)
host = np.zeros(16, np.uint64)
words = shmem.register(host)
stream = shmem.Stream(f'{type}:{me % 2}')
shmem.barrier()

# a token goes round, with other data each time; nothing is waited for before all is queued
results = []
for turn in range(1, 11):
    if me == 0:
        shmem.put_signal(dst=right, dst_mr=mr, src_mr=pool.alloc(5000, np.int64, fill=turn), signal=words, value=turn,
                         stream=stream)
    stream.wait(words, '>=', turn)
    if me == 0:
        results.append(shmem.get(mr, me, stream=stream))
    else:
        shmem.put(mr, right, stream=stream)
        stream.signal(words, 1, right, op='add')
stream.finish()
assert stream.is_done() and not stream._held
for turn, result in enumerate(results, 1):
    assert (result == turn).all(), (turn, result)
shmem.barrier()
host[0] = 0

# barriers on streams, while threads meet
for turn in range(5):
    x.copy_from(np.full(5000, 100 * me + turn), stream)
    stream.barrier()
    result = shmem.get(mr, right, out=np.zeros(5000, np.int64), stream=stream)
    stream.barrier()
    shmem.barrier()
    stream.finish()
    assert (result == 100 * right + turn).all()

# what is in flight lives
source = pool.alloc(5000, np.int64, fill=5)
gone = weakref.ref(source)
stream.wait(words, '==', 1, 8)
shmem.put(dst=right, dst_mr=mr, src_mr=source, stream=stream)
stream.quiet()
del source
gc.collect()
assert gone() is not None and not stream.is_done()
host[1] = 1
stream.finish()
assert gone() is None
shmem.barrier()
assert (x.to_numpy() == 5).all()

# a stream of torch stands for itself
class Torch:
    device = type_device = shmem.devices(type)[me % 2].device
    class device:
        index = me % 2
setattr(Torch, f'{type}_stream', stream.native)
with_torch = shmem.Stream.of(Torch())
assert with_torch is shmem.Stream.of(Torch()) and with_torch is not stream and with_torch.native == stream.native
got = shmem.get(mr, right, stream=Torch())
x.copy_to(np.zeros(5000, np.int64), Torch())
with_torch.finish()
assert (got == 5).all()

# mistakes
raises(TypeError, 'must be a Stream', shmem.put, mr, right, stream=7)
raises(ValueError, 'must name the region', shmem.put, dst=right, dst_mr=None, src_mr=x, stream=stream)
raises(ValueError, "cmp is '=>'", stream.wait, words, '=>', 1)
raises(ValueError, "op is 'or'", stream.signal, words, 1, right, op='or')
raises(TypeError, 'pe is missing', stream.signal, words, 1)
raises(IndexError, 'offset', stream.wait, words, '==', 1, 128)
raises(NotImplementedError, 'keep counters in host memory', stream.signal, mr, 1, right, op='add')
shmem.barrier()

# the end of a wait that nobody ends: by a signal handler, and by the region's end
import signal, os
brief = shmem.register(np.zeros(1, np.uint64))
waiting = shmem.Stream(f'{type}:{me % 2}')
waiting.wait(brief, '!=', 0)
def stop(*ignored): raise ZeroDivisionError
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    waiting.finish()
except ZeroDivisionError:
    pass
else:
    raise AssertionError('it was not ended')
shmem.deregister(brief)
raises(LookupError, 'the stream failed', waiting.finish)
raises(LookupError, 'the stream failed', waiting.signal, words, 1, right)
raises(LookupError, 'the stream failed', shmem.put, mr, right, stream=waiting)
waiting.close()

# closing waits for what another thread does
last = shmem.Stream(f'{type}:{me % 2}')
last.wait(words, '==', 7, 16)
threading.Timer(0.05, lambda: host.__setitem__(2, 7)).start()
last.close()
stream.signal(words, 9, right, 24)
shmem.finalize()
assert host[3] == 9
raises(shmem.NotInitialized, 'finalize', stream.barrier)
stream.close()
''')
    run(['shmemrun', '-n', '3', '--tag-output', PYTHON, str(text), kind], env=doubles()).ok()


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_the_end_with_a_stream_that_waits_for_ever(kind):
    """Nothing can be taken away from under it; the program ends all the same, and says why it leaves things."""
    started = start([PYTHON, '-c', BEGIN + '''
pool, s = shmem.create_pool('4M', type=type), shmem.Stream(type)
word = pool.alloc(1, np.uint64, fill=0)
s.wait_value(word, 0, 1)
print('ends')
''', kind], env=doubles()).finish(30)
    assert started.code == 97 and started.out == 'ends\n' and started.seconds < 20, started.text
    assert re.search(rf'shmem: at the end of the program a stream on {kind}:0 waits for a word', started.err), started.text
    program('''
import threading, time
pool, s = shmem.create_pool('4M', type=type), shmem.Stream(type)
word = pool.alloc(1, np.uint64, fill=0)
s.wait_value(word, 0, 1)
other = shmem.Stream(type)
threading.Thread(target=lambda: (time.sleep(0.3), other.write_value(word, 0, 1)), daemon=True).start()
''', kind)
