# SPDX-License-Identifier: Apache-2.0
"""Host memory that stands in for devices: the same program does the same there, and is told the same."""

import inspect

import numpy as np
import pytest
import shmem
from jobs import PYTHON, RAISES, doubles, environment, program, run, start
from shmem._stream import _HostStream
from shmem._stand_in import HostSide, StandIn

NONE = {'SHMEM_ASCEND_LIBRARY': '/none', 'SHMEM_CUDA_LIBRARY': '/none', 'SHMEM_DEVICE_FALLBACK': 'host'}
BEGIN = '''
import copy, gc, os, pickle, subprocess, sys
import numpy as np, shmem
def said(call):
    """What comes of it: the class of the error is what programs go by."""
    try:
        print(call, '->', eval(call))
    except shmem.Error as error:
        print(call, '->', type(error).__name__)
''' + RAISES


def public(cls):
    return {name for kind in cls.__mro__[:-1] if kind.__module__.startswith('shmem') for name in vars(kind)
            if not name.startswith('_') or name in ('__len__', '__iter__', '__getitem__', '__setitem__', '__dlpack__', '__dlpack_device__',
                                                    '__copy__', '__deepcopy__', '__reduce__', '__enter__', '__exit__')}


def fits(device, host):
    """Whether each call of the first is one of the second: its parameters are there, in the same order where that counts, and what
    may be left out means the same."""
    places = [p.name for p in host if p.kind is p.POSITIONAL_OR_KEYWORD]
    for n, p in enumerate(device):
        there = next((q for q in host if q.name == p.name), None)
        assert there is not None, p
        if p.kind is p.POSITIONAL_OR_KEYWORD:
            assert places[n:n + 1] == [p.name], (p, places)
        assert p.default in (there.default, p.empty) or p.name == 'align', (p, there)
    assert all(q.default is not q.empty for q in host if q.name not in {p.name for p in device} and q.kind is not q.VAR_KEYWORD), host


@pytest.mark.parametrize('device, host', [(shmem.DeviceBuffer, shmem.Buffer), (shmem.DeviceBuffer, StandIn), (shmem.DevicePool, shmem.Pool),
                                          (shmem.Stream, _HostStream)])
def test_the_same_members(device, host):
    for name in public(device):
        assert hasattr(host, name) or name == '__cuda_array_interface__', name
        ours = getattr(device, name)
        if not inspect.isroutine(ours):
            continue
        if next(kind for kind in host.__mro__ if name in vars(kind)) is np.ndarray:  # in C, and more general
            assert name in ('reshape', 'item', '__len__', '__iter__', '__getitem__', '__setitem__', '__dlpack__', '__dlpack_device__'), name
        else:
            fits(*(list(inspect.signature(getattr(cls, name)).parameters.values()) for cls in (device, host)))
    if host is not shmem.Pool:  # which is for host memory itself
        extra = {name for name in vars(HostSide if host is not _HostStream else host) if not name.startswith('_') and not hasattr(np.ndarray, name)}
        assert extra <= public(device), extra - public(device)
    assert set(shmem.DevicePoolStats._fields) <= set(shmem.PoolStats._fields)


CALLS = '''
kind, other = 'npu', 'cuda'
pool, second = shmem.create_pool('4M', type=kind), shmem.create_pool('4M', kind)
a = pool.alloc((2, 3), np.int64, fill=3)
b, freed, closed = second.alloc((3, 2), np.int64, fill=[[7, 8]]), pool.alloc(3), shmem.create_pool('1M', kind)
pool.free(freed)
closed.close()
key, readable = pool.export(a), pool.export(a, 'r')
came, narrow, out, s = shmem.import_(key), shmem.import_(readable, 'r'), np.zeros((2, 3), np.int64), shmem.Stream(kind)
# NumPy's own methods and indices
said('a.shape, a.dtype, a.ndim, a.size, a.nbytes, a.itemsize, a.strides, len(a), a.is_contiguous, a.readonly, narrow.readonly')
said('a.T.shape, a[1:, ::2].shape, a[1, 2], a[..., 0].to_numpy().tolist(), a[None].shape, a.reshape(3, 2).shape, a.reshape((6,)).shape, '
     'a.reshape([-1]).shape, [row.to_numpy().tolist() for row in a], a[:1, :1].item(), a.copy().tolist(), copy.copy(a).tolist(), '
     'copy.deepcopy(a).__class__.__name__, np.shape(a), np.ndim(a), np.size(a), np.size(a, 1)')
# what is copied
for x in ('b', 'b.T', '5', 'out', '[[1], [2]]', 'np.float32(2.5)', '[1, 2, 3]', 'came', 'a[::-1]', 'np.arange(6).reshape(2, 3)[::-1]', 'True', 'a'):
    said(f'a.copy_from({x}).to_numpy().tolist()')
for x in ('np.zeros(5)', '[1, [2]]', 'None', '"x"', '1 << 70', 'object()', '[None]', 'b[:1]', 'freed', 'float("nan")'):
    said(f'a.copy_from({x}) is a')
for x in ('out', 'out.T', 'np.zeros(6)', 'np.zeros((2, 3))', '[1]', 'np.broadcast_to(np.int64(1), (2, 3))', 'None', 'out[::-1]', 'b.reshape(2, 3)'):
    said(f'a.copy_to({x})')
    said(f'a.copy_to({x}, stream=s)')
    if x not in ('None', 'b.reshape(2, 3)'): said(f'a.to_numpy(out={x}) is not None')
    s.finish()
said('out.tolist(), b.to_numpy().tolist()')
said('np.copyto(a, b.reshape(2, 3))')
said('np.copyto(out, a), out.tolist()')
said('narrow.copy_from(1)')
said('a.copy_from(1, stream=5)')
# where it is
for name in ('a', 'a[0]', 'a.T', 'came', 'came[0]', 'pickle.loads(pickle.dumps(a))'):
    said(f'{name}.{kind}().shape')
    said(f'{name}.{other}()') if name[:4] == 'a[0]' else None
for text in ("kind + ':'", "kind + ':x'", "kind + ':-1'", "kind + ':99999'", "'gpu'", "kind + ':' + '9' * 5000", 'None', '5'):
    said(f"shmem.create_pool('1M', {text})")
    said(f'shmem.Stream({text})')
# what is gone
for call in ('freed.copy_from(1)', 'freed.to_numpy()', 'pickle.dumps(freed)', 'pool.free(freed)', 'closed.alloc(1)', 'closed.stats()', 'pool.free(a[0])', 'pool.free(b)', 'pool.free(5)',
             'pool.alloc(-1)', 'pool.alloc((0, 1 << 70))', 'pool.alloc(1 << 40)', 'pool.alloc("x")', 'pool.alloc(1, "O")', 'pool.alloc(1, align=3)',
             'pool.alloc(2, "i4", 512, zero=True).to_numpy().tolist()', 'pool.alloc(2, "i4", fill=[1, 2, 3])', 'pool.export(5)', 'pool.export(freed)',
             'pool.is_open, closed.is_open', 'shmem.import_("x")', 'pool.import_(key).shape', 's.write_value(a, (0, 5), 1)', 's.write_value(out.astype("f4"), 0, 1)',
             's.write_value(narrow, (0, 0), 1)', 's.write_value(a, (0, 0), 1 << 64)', 's.write_value(a, 0, 1)', 's.wait_value(a, "x", 1)'):
    said(call)
s.write_value(a, (0, 1), -5)
s.wait_value(a, (0, 1), -5, equal=True)
s.finish()
said('int(a[0, 1])')
# pickling: the same memory
for name in ('a', 'a[1:, ::2]', 'a.T', 'came', 'came[1]'):
    said(f'pickle.loads(pickle.dumps({name})).shape')
pickle.loads(pickle.dumps(a[1]))[0] = 99
said('int(a[1, 0])')
pool.revoke(a.__reduce__()[1][0])
pickle.loads(pickle.dumps(a[1]))[0] = 98
said('int(a[1, 0])')
pool.revoke(key)
del b
gc.collect()
said('pickle.dumps(came)')
said('shmem.import_(key)')
s.close()
said('s.finish()')
'''


def test_the_same_calls():
    device, host = (start([PYTHON, '-c', BEGIN + CALLS], env=env).finish(60).ok().out.splitlines() for env in (doubles(), environment(**NONE)))
    differ = [(d, h) for d, h in zip(device, host) if d != h]
    assert not differ and len(device) == len(host) and len(device) > 100, '\n'.join(f'device {d}\n  host {h}' for d, h in differ)


def test_who_stands_in():
    """npu() of what was asked for on an NPU alone; any number of a device; another kind, and other arrays, are elsewhere."""
    start([PYTHON, '-c', BEGIN + '''
pool, nine, host = shmem.create_pool('1M', 'npu'), shmem.create_pool('1M', 'npu:9'), shmem.create_pool('1M')
for a in (pool.alloc(3), nine.alloc((2, 2)), pool.alloc(4)[::2], shmem.create_pool('1M', 'auto').alloc(2), shmem.import_(pool.export(pool.alloc(2)))):
    assert a.npu() is a
raises(shmem.NotSupported, "stands in for memory of type 'npu': create_pool(size, type='cuda')", pool.alloc(3).cuda)
b = host.alloc(3)
for a in (b, b[1:], shmem.import_(host.export(b))):
    raises(shmem.NotSupported, 'it is in host memory', a.npu)
assert type(pool.alloc(3) + 1) is np.ndarray and shmem.Stream('npu:9').device == 'npu:9'
program = "import pickle, sys; a = pickle.loads(bytes.fromhex(sys.argv[1])); a[0] = 5; assert a.npu() is a"
a = pool.alloc(3)
subprocess.run([sys.executable, '-c', program, pickle.dumps(a).hex()], check=True)
assert a[0] == 5
'''], env=environment(**NONE)).finish(60).ok()


HEAP = '''
shmem.init(device='npu')
me = shmem.my_pe()
x, z = shmem.full((2, 3), me, np.int64), shmem.zeros(4, np.int64, device='npu')
words = shmem.zeros(3, np.int64, device='host')
assert x.npu() is x and x[1:].npu() is not None and (pickle.loads(pickle.dumps(words)) == 0).all()
for y in (x, x[1, ::2], x.T, z):
    again = pickle.loads(pickle.dumps(y))
    assert again.shape == y.shape and pickle.dumps(y) == pickle.dumps(y) and len(pickle.dumps(y)) < 400
    again.copy_from(7 + me)
    assert (y.to_numpy() == 7 + me).all()
program = "import pickle, sys; a = pickle.loads(bytes.fromhex(sys.argv[1])); a[0, 1] = 50; assert a.npu() is a"
subprocess.run([sys.executable, '-c', program, pickle.dumps(x).hex()], check=True)
assert x[0, 1] == 50 and words.__class__ is np.ndarray
shmem.revoke(x.__reduce__()[1][0])
pickle.loads(pickle.dumps(x))[0, 2] = 51
assert x[0, 2] == 51
del again
raises(shmem.NotSupported, "'cuda'", x.cuda)
assert type(copy.copy(x)) is type(copy.deepcopy(x)) is type(x.copy()) is np.ndarray
raises(ValueError, 'does not fit', x.copy_from, np.zeros(5))
shmem.free(z)
raises(LookupError, 'freed', pickle.dumps, z)
shmem.barrier()
shmem.finalize()
raises(LookupError, 'its job is over', pickle.dumps, x)
'''


@pytest.mark.parametrize('where', ['device', 'host'])
def test_symmetric_arrays(where, tmp_path):
    text = program(tmp_path, BEGIN + HEAP)
    env = doubles(SHMEM_DEVICE_HEAP_SIZE='4m') if where == 'device' else environment(**NONE)
    run(['shmemrun', '-n', '2', PYTHON, str(text)], env=env).ok()
