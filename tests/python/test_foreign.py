# SPDX-License-Identifier: Apache-2.0
"""Memory of devices that other libraries allocated, in Python, on doubles of the drivers. The other library is this file:
it allocates by the doubles' own calls, and shows the memory in the forms that PyTorch, CuPy and others have."""

import os

import pytest
from jobs import PYTHON, RAISES, double, doubles, run, start
from jobs import program as program_of

FULL = bool(os.environ.get('SHMEM_TEST_FULL'))  # with drivers and faults that tests in C have, too

OTHER = RAISES + '''
import atexit, ctypes, gc, os, subprocess, sys, types, weakref
import numpy as np
blocks = weakref.WeakSet()
atexit.register(lambda: [block.free() for block in list(blocks)])  # after what shmem does at the end
import shmem
type = sys.argv[1]
LIBRARY = ctypes.CDLL(os.environ['SHMEM_ASCEND_LIBRARY' if type == 'npu' else 'SHMEM_CUDA_LIBRARY'])
api = ctypes.pythonapi
deleted = waited = 0


def enter(number):
    shmem.devices(type)  # opens the driver
    if type == 'npu':
        assert LIBRARY.aclrtSetDevice(number) == 0
    else:
        context = ctypes.c_void_p()
        while LIBRARY.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0:
            pass
        assert LIBRARY.cuDevicePrimaryCtxRetain(ctypes.byref(context), number) == 0
        assert LIBRARY.cuCtxPushCurrent_v2(context) == 0

class Block:
    """Memory as another library has it. It goes with the last reference."""
    def __init__(self, nbytes, number=0):
        enter(number)
        at = ctypes.c_void_p()
        code = (LIBRARY.aclrtMalloc(ctypes.byref(at), ctypes.c_size_t(nbytes), 0) if type == 'npu' else
                LIBRARY.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(nbytes)))
        assert code == 0, code
        self.at, self.nbytes, self.number = at.value, nbytes, number
        blocks.add(self)
    def free(self):
        if self.at:
            enter(self.number)
            at, self.at = self.at, None
            code = LIBRARY.aclrtFree(ctypes.c_void_p(at)) if type == 'npu' else LIBRARY.cuMemFree_v2(ctypes.c_uint64(at))
            assert code == 0, code
    def __del__(self):
        self.free()

class Form:
    """An array in a block; its subclasses show it to others."""
    def __init__(self, block, shape, dtype=np.float32, offset=0, strides=None, readonly=False):
        self.block, self.shape, self.dtype, self.offset = block, shape, np.dtype(dtype), offset
        self.strides_in_bytes, self.readonly = strides, readonly
        self.number = block.number
    @property
    def address(self):
        return (self.block.at or 0) + self.offset

class Interface(Form):
    stream = None
    @property
    def __cuda_array_interface__(self):
        return {'shape': self.shape, 'typestr': self.dtype.str, 'data': (self.address, self.readonly), 'version': 3,
                'strides': self.strides_in_bytes, 'stream': self.stream}

class DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.c_void_p), ('strides', ctypes.c_void_p), ('byte_offset', ctypes.c_uint64)]
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
class Managed(ctypes.Structure):
    _fields_ = [('tensor', DLTensor), ('context', ctypes.c_void_p), ('deleter', DELETER)]
class Versioned(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p), ('deleter', DELETER),
                ('flags', ctypes.c_uint64), ('tensor', DLTensor)]
living = {}
@DELETER
def delete(at):
    global deleted
    deleted += 1
    del living[at]
NEW, NAMES = api.PyCapsule_New, {}
NEW.restype, NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

class Pack(Form):
    """change: what is wrong with the capsule."""
    change, old = {}, False
    @property
    def kind(self):
        return 12 if type == 'npu' else 2
    def __dlpack_device__(self):
        return self.kind, self.number
    def __dlpack__(self, **keywords):
        assert keywords.get('stream', 1) == 1
        if self.old and 'max_version' in keywords:
            raise TypeError('max_version')
        versioned = 'max_version' in keywords
        sides = (ctypes.c_int64 * 64)(*self.shape)
        strides = self.strides_in_bytes
        steps = None if strides is None else (ctypes.c_int64 * 64)(*(side // self.dtype.itemsize for side in strides))
        holder = Versioned() if versioned else Managed()
        t = holder.tensor
        t.data, t.device_type, t.device_id, t.ndim = self.address - 64, self.kind, self.number, len(self.shape)
        t.code, t.bits, t.lanes = {'i': 0, 'u': 1, 'f': 2, 'c': 5, 'b': 6}[self.dtype.kind], 8 * self.dtype.itemsize, 1
        t.shape, t.byte_offset = ctypes.addressof(sides), 64
        t.strides = None if steps is None else ctypes.addressof(steps)
        holder.deleter = delete
        if versioned:
            holder.major, holder.flags = 1, int(self.readonly)
        for name, value in self.change.items():
            setattr(t if hasattr(t, name) else holder, name, value)
        at = ctypes.addressof(holder)
        living[at] = holder, sides, steps, self.block
        return NEW(at, b'dltensor_versioned' if versioned else b'dltensor', None)

class OldPack(Pack):
    old = True

class Device:
    def __init__(self, index):
        self.type, self.index = type, index
    def __str__(self):
        return f'{self.type}:{self.index}'
class Dtype:
    """As torch's: not NumPy's, and known by its text."""
    def __init__(self, name):
        self.name, self.itemsize = name, np.dtype(name).itemsize
    def __str__(self):
        return 'torch.' + self.name
DTYPES = {name: Dtype(name) for name in ('float32', 'float64', 'int64', 'int32')}
class Tensor(Form):
    @property
    def device(self):
        return Device(self.number)
    @property
    def dtype(self):
        return DTYPES[self._dtype.name]
    @dtype.setter
    def dtype(self, value):
        self._dtype = value
    def is_contiguous(self):
        return self.strides_in_bytes is None
    def stride(self):
        return tuple(side // self._dtype.itemsize for side in self.strides_in_bytes)
    def data_ptr(self):
        return self.address
    def numel(self):
        return int(np.prod(self.shape))
    def element_size(self):
        return self._dtype.itemsize
    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.block.at, nbytes=lambda: self.block.nbytes)
    def detach(self):
        return self
    def div_(self, n):
        here = contents(self)
        fill(self, here / n)
torch = types.ModuleType('torch')
torch.Tensor = Tensor
class Current:
    def synchronize(self):
        global waited
        waited += 1
setattr(torch, type, types.SimpleNamespace(current_stream=lambda device: Current()))
sys.modules['torch'] = torch

FORMS = [Tensor, Pack, OldPack] + ([Interface] if type == 'cuda' else [])

def contents(x):
    """By the driver's own copy."""
    pool = shmem.create_pool('2M', type=f'{type}:{x.number}')
    buf = pool.alloc(x.shape, getattr(x, '_dtype', x.dtype))
    return buf.copy_from(x).to_numpy()
def fill(x, values):
    """As kernels would."""
    values = np.ascontiguousarray(np.broadcast_to(values, x.shape), getattr(x, '_dtype', x.dtype))
    enter(x.number)
    stream = ctypes.c_void_p()
    if type == 'npu':
        assert LIBRARY.aclrtCreateStream(ctypes.byref(stream)) == 0
        n = ctypes.c_size_t(values.nbytes)
        assert LIBRARY.aclrtMemcpyAsync(ctypes.c_void_p(x.address), n, ctypes.c_void_p(values.ctypes.data), n, 1, stream) == 0
        assert LIBRARY.aclrtSynchronizeStream(stream) == 0 and LIBRARY.aclrtDestroyStream(stream) == 0
    else:
        assert LIBRARY.cuStreamCreate(ctypes.byref(stream), 0) == 0
        assert LIBRARY.cuMemcpyAsync(ctypes.c_uint64(x.address), ctypes.c_uint64(values.ctypes.data),
                                     ctypes.c_size_t(values.nbytes), stream) == 0
        assert LIBRARY.cuStreamSynchronize(stream) == 0 and LIBRARY.cuStreamDestroy_v2(stream) == 0
'''


def program(text, *args, **more):
    return start([PYTHON, '-c', OTHER + text, *args], env=doubles(**more)).finish(60).ok()


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_forms(kind):
    """Each form that memory is shown in, in each call that takes it, in a job of one PE."""
    program('''
shmem.init()
block = Block(1 << 20, 1)
for form in FORMS:
    x = form(block, (10, 30), offset=70000)
    fill(x, np.arange(300).reshape(10, 30))
    before = waited
    # a copy
    assert (contents(x).ravel() == np.arange(300)).all()
    assert form is not Tensor or waited > before
    # a region
    region = shmem.register(x, name=form.__name__)
    assert region.kind == 'device' and region.size == 1200 and region.shape == (10, 30) and region.array is x
    assert region.addr == x.address and str(region.dtype).endswith('float32')
    y = form(block, (10, 30), offset=200000)
    fill(y, 5)
    shmem.put(dst=0, dst_mr=region, src_mr=y)
    assert (contents(x) == 5).all()
    fill(y, 0)
    assert shmem.get(region, 0, out=y) is y
    assert (contents(y) == 5).all()
    host = np.full((10, 30), 8, np.float32)
    shmem.put(dst=0, dst_mr=region, src_mr=host)
    host[:] = 0
    shmem.get(region, 0, out=host)
    assert (host == 8).all()
    shmem.all_reduce(y, 'sum')
    shmem.broadcast(y, 0)
    assert shmem.all_gather(x, out=y) is y
    assert (contents(y) == 8).all()
    z = form(block, (7,), np.float64, offset=8)
    fill(z, 3)
    assert shmem.all_reduce(z, 'avg') is z and (contents(z) == 3).all()
    raises(TypeError, 'elements of', lambda: shmem.put(dst=0, dst_mr=region, src_mr=z))
    # overlapping ones are no trouble, nor are several at once
    second = shmem.register(form(block, (20,), offset=70004))
    second.close()
    shmem.register(form(block, (20,), offset=70004), access=shmem.LOCAL_ONLY).close()
    # a key
    key = shmem.export(x)
    same = shmem.import_(key)
    assert isinstance(same, shmem.DeviceBuffer) and same.address == x.address and same.shape == (10, 30)
    assert same.device == f'{type}:1' and same.dtype == np.float32
    same[3, 4] = 99
    assert contents(x)[3, 4] == 99
    narrow = shmem.export(x, mode='r')
    raises(PermissionError, 'reading and writing', shmem.import_, narrow)
    assert shmem.import_(narrow, 'r').readonly
    shmem.revoke(narrow)
    raises(shmem.KeyRevoked, 'revoked', shmem.import_, narrow, 'r')
    shmem.revoke(key)
    shmem.deregister(region)

    # what cannot be is said
    for wrong in (shmem.register, shmem.export):
        for strides in ((1, 2), (8 * 4, 4), (4, 40), (-120, 4)):
            raises(ValueError, '.contiguous()', wrong, form(block, (10, 30), strides=strides))
        raises(ValueError, 'is empty', wrong, form(block, (0, 3)))
        other = form(block, (4,))
        other.number = 0
        if form is not Interface:
            raises(ValueError, 'but is of another one', wrong, other)
        raises(ValueError, 'not memory of a device' if form is not Tensor else 'storage was resized', wrong,
               form(block, (4,), offset=1 << 40))
    assert contents(form(block, (1, 30), strides=(4, 4) if form is not Tensor else None)).shape == (1, 30)
    assert contents(form(block, (0, 30))).size == 0
    if form not in (Tensor, OldPack):
        raises(ValueError, 'is read-only', shmem.register, form(block, (4,), readonly=True))
        frozen = form(block, (4,), readonly=True)
        raises(ValueError, 'is read-only', lambda: shmem.get(shmem.register(x), 0, size=16, out=frozen))
        raises(PermissionError, 'reading and writing', shmem.import_, shmem.export(frozen))
raises(NotImplementedError, 'cannot be frozen', shmem.export, x, frozen=True)
raises(PermissionError, 'processes of this user only', shmem.export, x, allow='user:0=r')
raises(NotImplementedError, 'keep counters and signals in host memory', shmem.atomic_add, shmem.register(Tensor(block, (3,), np.int64)), 1, 0)

# memory of a pool that went through another library is the pool's
pool = shmem.create_pool('2M', type=type)
buf = pool.alloc(8, np.int32, fill=4)
class Shown:
    def __dlpack_device__(self): return buf.__dlpack_device__()
    def __dlpack__(self, **keywords): return buf.__dlpack__(max_version=keywords.get('max_version'))
region = shmem.register(Shown())
assert region.addr == buf.address and (shmem.get(region, 0) == 4).all()
key = shmem.export(Shown())
assert (shmem.import_(key).to_numpy() == 4).all()
region.close()
shmem.finalize()
''', kind)


@pytest.mark.parametrize('kind', ['npu', 'cuda'])
def test_lifetimes(kind):
    """What is registered or exported lives, and is known; and goes afterwards, back to its owner."""
    program('''
shmem.init()
def gone(reference):
    gc.collect()
    return reference() is None
for form in FORMS:
    # by a region
    block = Block(5 << 20)
    kept = weakref.ref(block)
    region = shmem.register(form(block, (100,)))
    del block
    assert not gone(kept)
    shmem.get(region, 0, out=np.zeros(100, np.float32))
    shmem.deregister(region)
    assert not gone(kept)  # region.array
    del region
    assert gone(kept)
    # in a circle with what it is of (where a __del__ may free it first)
    if type == 'cuda':
        block = Block(5 << 20)
        kept = weakref.ref(block)
        x = form(block, (100,))
        x.region = shmem.register(x)
        del block, x
        assert gone(kept)
    # by a key, and an import of it in this process
    block = Block(5 << 20)
    kept = weakref.ref(block)
    key = shmem.export(form(block, (100,)))
    del block
    assert not gone(kept)
    same = shmem.import_(key)
    same.copy_from(7)
    shmem.revoke(key)
    assert not gone(kept) and same[99] == 7
    del same
    assert gone(kept)
    # by a stream
    block = Block(5 << 20)
    kept = weakref.ref(block)
    buf = shmem.create_pool('2M', type=type).alloc(100, np.float32)
    with shmem.Stream(type) as stream:
        buf.copy_from(form(block, (100,)), stream)
        del block
        assert not gone(kept)
    assert gone(kept)
    # a transfer
    block = Block(5 << 20)
    kept = weakref.ref(block)
    region = shmem.register(np.zeros(100, np.float32))
    shmem.put(dst=0, dst_mr=region, src_mr=form(block, (100,)))
    shmem.get(region, 0, out=form(block, (100,)))
    del block
    assert gone(kept)
assert not living and deleted >= 10
''', kind)


@pytest.mark.parametrize('kind', ['npu'] + FULL * ['cuda'])
def test_threads(kind):
    """Threads that use the same memory, and parts of it, at once; and a forked child, which is told."""
    program('''
import random, threading
shmem.init()
block = Block(1 << 20)
host = shmem.register(np.zeros(1000, np.float32))
wrong = []
def work(seed):
    choose = random.Random(seed)
    try:
        for turn in range(60):
            x = choose.choice(FORMS)(block, (1000,), offset=choose.randrange(9) * 4000)
            what = choose.randrange(4)
            if what == 0:
                shmem.put(dst=0, dst_mr=host, src_mr=x)
            elif what == 1:
                with shmem.register(x):
                    shmem.get(host, 0, out=x)
            elif what == 2:
                key = shmem.export(x)
                shmem.import_(key)[0] = 1
                shmem.revoke(key)
            else:
                shmem.export(x)
    except BaseException as error:
        wrong.append(error)
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
x = Pack(block, (100,))
region = shmem.register(x)
pid = os.fork()
if pid == 0:
    try:
        shmem.export(x)
    except shmem.Error as error:
        del region
        os._exit('do not survive' not in str(error))
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
shmem.get(host, 0, out=x, size=400)
''', kind)


@pytest.mark.parametrize('kind', ['cuda'] + FULL * ['npu'])
def test_bad_capsules(kind):
    """What others say of their memory is not believed."""
    program('''
block = Block(1 << 20)
count = 0
def bad(kind, words, **change):
    global count
    count += 1
    x = Pack(block, (4, 5))
    x.change = change
    raises(kind, words, shmem.export, x)
for words, change in (('number of sides', {'ndim': -1}), ('number of sides', {'ndim': 65}), ('no shape', {'shape': None}),
                      ('whole bytes', {'bits': 0}), ('whole bytes', {'bits': 7}), ('whole bytes', {'lanes': 2}),
                      ('address space', {'byte_offset': 2**64 - 1}), ('negative number', {'device_id': -1}),
                      ('no address', {'data': None, 'byte_offset': 0}), ('version is not 1', {'major': 2})):
    bad(ValueError, words, **change)
bad(TypeError, 'numbers 9', code=9)
bad(ValueError, 'and its capsule on device', device_type=1)
bad(ValueError, 'and its capsule on device', device_id=1)
wide = (ctypes.c_int64 * 2)(1 << 40, 1 << 40)
bad(ValueError, 'larger than an address space', shape=ctypes.addressof(wide))
wide = (ctypes.c_int64 * 2)(-1, 4)
bad(ValueError, 'its shape is none', shape=ctypes.addressof(wide))
assert deleted == count and not living

class Strange(Pack):
    def __dlpack__(self, **keywords):
        return self.answer
for answer in (None, 5, 'capsule', NEW(1, b'used_dltensor', None), NEW(1, b'other', None), NEW(1, None, None)):
    x = Strange(block, (4,))
    x.answer = answer
    raises(ValueError, 'a fresh capsule', shmem.export, x)
x.answer = capsule = Pack(block, (4,)).__dlpack__()
shmem.export(x)
raises(ValueError, 'a capsule named used_dltensor', shmem.export, x)  # a second time
class Refuses(Pack):
    def __dlpack__(self, **keywords):
        raise BufferError('it requires gradients')
raises(ValueError, 'it requires gradients', shmem.export, Refuses(block, (4,)))
class Nowhere(Pack):
    def __dlpack_device__(self):
        return 'here'
raises(TypeError, '__dlpack_device__() that makes no sense', shmem.register, Nowhere(block, (4,)))
class Elsewhere(Pack):
    def __dlpack_device__(self):
        return 4, 0
raises(NotImplementedError, 'no back end', shmem.register, Elsewhere(block, (4,)))
raises(TypeError, 'must be a Buffer', shmem.export, Elsewhere(block, (4,)))

if type == 'cuda':
    for said in ({}, {'shape': (4,)}, {'shape': (-4,), 'typestr': '<f4', 'data': (block.at, False)},
                 {'shape': (4,), 'typestr': '?!', 'data': (block.at, False)}, {'shape': (4,), 'typestr': '<f4', 'data': None},
                 {'shape': (4,), 'typestr': '|O', 'data': (block.at, False)}, 5,
                 {'shape': (4,), 'typestr': '<f4', 'data': (block.at, False), 'stream': 0},
                 {'shape': (2**62,), 'typestr': '<f4', 'data': (block.at, False)},
                 {'shape': (4,), 'typestr': '<f4', 'data': (block.at, False), 'strides': 'ab'}):
        raises(TypeError, 'makes no sense', shmem.export, types.SimpleNamespace(__cuda_array_interface__=said))
    raises(ValueError, 'is not memory of a device', shmem.export, types.SimpleNamespace(__cuda_array_interface__={
        'shape': (4,), 'typestr': '<f4', 'data': (np.zeros(4, 'f4').ctypes.data, False), 'version': 2}))
    class Moody:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError('not now')
    raises(TypeError, 'must be a Buffer', shmem.export, Moody())
    # the stream that it is written on is waited for
    pool = shmem.create_pool('2M', type='cuda')
    first, x = pool.alloc(100, np.float32, fill=1), Interface(block, (100,))
    buf = pool.alloc(100, np.float32, fill=0)
    stream = shmem.Stream('cuda')
    first.copy_from(5, stream)
    first.copy_from(6, stream)
    x.stream = stream.native
    shmem.export(x)
    assert stream.is_done() and first[0] == 6
    x.stream = 1
    shmem.export(x)
''', kind)


@pytest.mark.parametrize('kind', ['npu', 'cuda'] + FULL * ['old npu'])
def test_keys_between_processes(kind):
    """The other process sees another number of the device, several keys of one piece of memory, and what is there."""
    program('''
block = Block(3 << 20, 1)
for i in range(2):
    fill(Tensor(block, (1000,), offset=i << 20), np.arange(1000) + i)
keys = [shmem.export(form(block, (50, 20), offset=i << 20)) for i, form in ((0, Tensor), (1, Pack))]
program = """
import os, sys, numpy as np, shmem
a, b = shmem.import_(sys.argv[1]), shmem.import_(sys.argv[2])
assert a.shape == (50, 20) and a.dtype == np.float32 and a.device.endswith(':0')
assert (a.to_numpy().ravel() == np.arange(1000)).all() and (b.to_numpy().ravel() == np.arange(1000) + 1).all()
c = shmem.import_(sys.argv[1], 'r')
assert c.address == a.address and b.address - a.address == 1 << 20
b[:] = 44
del a
assert c[49, 19] == 999
if len(sys.argv) > 3:
    import ctypes
    ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[3]), 'double_gone').value = int(sys.argv[4])  # before anything is given back
"""
library = os.environ['SHMEM_ASCEND_LIBRARY' if type == 'npu' else 'SHMEM_CUDA_LIBRARY']
there = {**os.environ, 'DOUBLE_FIRST': '1', 'DOUBLE_DEVICES': '1'}
subprocess.run([sys.executable, '-c', program, *keys], check=True, env=there)
assert (contents(Pack(block, (1000,), offset=1 << 20)) == 44).all()
fill(Tensor(block, (1000,), offset=1 << 20), np.arange(1000) + 1)
if type == 'cuda' or os.environ.get('SHMEM_TEST_FULL'):
    subprocess.run([sys.executable, '-c', program, *keys, library, '100037' if type == 'npu' else '4'], check=True, env=there)
if os.environ.get('SHMEM_TEST_FULL'):
    blind = subprocess.run([sys.executable, '-c', program, *keys], env={**os.environ, 'DOUBLE_DEVICES': '1'},
                           capture_output=True, text=True)
    assert blind.returncode == 1 and 'DeviceMissing' in blind.stderr and 'is not among the 1' in blind.stderr
if type == 'cuda':
    block.free()  # with keys of it in the world
    late = subprocess.run([sys.executable, '-c', program, *keys], env=there, capture_output=True, text=True)
    assert late.returncode == 1 and 'Stale' in late.stderr and 'was freed by its owner' in late.stderr, late.stderr
    raises(LookupError, 'was freed by its owner', shmem.import_, keys[0])
for key in keys:
    shmem.revoke(key)
''', kind.split()[-1], **({'SHMEM_ASCEND_LIBRARY': double('old npu')} if kind == 'old npu' else {}))


def test_freed():
    """Freed while it is registered, and at the end of a process whose driver is gone already."""
    program('''
shmem.init()
block = Block(3 << 20)
x = Tensor(block, (1000,))
region = shmem.register(x)
key = shmem.export(x)
here = np.zeros(1000, np.float32)
block.free()
raises(LookupError, 'was freed by its owner', shmem.get, region, 0, out=here)
raises(LookupError, 'was freed by its owner', shmem.put, dst=0, dst_mr=region, src_mr=here)
raises(LookupError, 'was freed by its owner', shmem.import_, key)
raises(ValueError, 'not memory of a device', shmem.export, Tensor(types.SimpleNamespace(at=0x7f0000000000, number=0, nbytes=64), (4,)))
region.close()
shmem.revoke(key)
''', 'cuda')
    for kind in ('npu', 'cuda'):
        program('''
shmem.init()
block = Block(3 << 20)
region, key = shmem.register(Tensor(block, (1000,))), shmem.export(Pack(block, (10,)))
same = shmem.import_(key)
block.at = None
ctypes.c_int.in_dll(LIBRARY, 'double_gone').value = 100037 if type == 'npu' else 4
''', kind)


def test_cannot_be_shared():
    """Memory of virtual memory calls, a driver without keys, and no driver."""
    program('''
pool = shmem.create_pool('2M', type='npu')
block = Block(1 << 20)
raises(NotImplementedError, 'which came with', shmem.export, Tensor(block, (4,)))
fill(Tensor(block, (4,)), 5)
''', 'npu', SHMEM_ASCEND_LIBRARY=double('no handles'))
    program('''
# As PyTorch's expandable_segments has it; here the memory is of the library itself, which is not told so.
handle, at = ctypes.c_uint64(), ctypes.c_uint64()
enter(0)
class Properties(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('handles', ctypes.c_int), ('where', ctypes.c_int), ('device', ctypes.c_int),
                ('rest', ctypes.c_uint64 * 2)]
class Access(ctypes.Structure):
    _fields_ = [('where', ctypes.c_int), ('device', ctypes.c_int), ('flags', ctypes.c_int)]
size = ctypes.c_size_t(2 << 20)
assert LIBRARY.cuMemCreate(ctypes.byref(handle), size, ctypes.byref(Properties(1, 1, 1, 0)), ctypes.c_uint64(0)) == 0
assert LIBRARY.cuMemAddressReserve(ctypes.byref(at), size, ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0)) == 0
assert LIBRARY.cuMemMap(at, size, ctypes.c_size_t(0), handle, ctypes.c_uint64(0)) == 0
assert LIBRARY.cuMemSetAccess(at, size, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1)) == 0
block = types.SimpleNamespace(at=at.value, number=0, nbytes=2 << 20)
raises(NotImplementedError, 'expandable_segments', shmem.export, Tensor(block, (4,)))
buf = shmem.create_pool('2M', type='cuda').alloc(4, np.float32, fill=3)
shmem.init()
raises(NotImplementedError, 'expandable_segments', shmem.register, Tensor(block, (4,)))
region = shmem.register(Tensor(block, (4,)), access=shmem.LOCAL_ONLY)
fill(Tensor(block, (4,)), 9)
assert (buf.copy_from(Tensor(block, (4,))).to_numpy() == 9).all()  # the remedy
shmem.register(buf)
region.close()
shmem.finalize()
assert LIBRARY.cuMemUnmap(at, size) == 0 and LIBRARY.cuMemAddressFree(at, size) == 0 and LIBRARY.cuMemRelease(handle) == 0
''', 'cuda')

@pytest.mark.parametrize('kind', ['cuda'] + FULL * ['npu', 'old npu'])
def test_regions(kind, tmp_path):
    """A job whose regions are tensors of another library."""
    text = program_of(tmp_path, OTHER + '''
shmem.init()
me, n = shmem.my_pe(), shmem.n_pes()
right, left = (me + 1) % n, (me - 1) % n
block = Block(1 << 20, me % 2)
x, y = Tensor(block, (1000, 3), offset=4096), Pack(block, (1000, 3), offset=300000)
fill(x, me)
fill(y, 50 + me)
mr, there = shmem.register(x), shmem.register(y, name='y')
words = shmem.register(np.zeros(4, np.int64))
shmem.barrier()
shmem.put(mr, right)
shmem.barrier()
shmem.put(dst=right, dst_mr=mr, src_mr=y, size=1200)
shmem.barrier()
assert (contents(x)[:100] == 50 + left).all()
got = shmem.get(shmem.region(left, name='y'))
assert (got == 50 + left).all()
shmem.get(there, right, out=x)
assert (contents(x) == 50 + right).all()
shmem.barrier()
shmem.put_signal(dst=right, dst_mr=mr, src_mr=y, signal=words, value=me + 1)
shmem.wait_until(words, '==', left + 1, timeout=20)
assert (contents(x) == 50 + left).all()
shmem.barrier()
fill(x, me + 1)
shmem.all_reduce(x, 'sum')
assert (contents(x) == n * (n + 1) / 2).all()
fill(x, me)
shmem.all_reduce(mr, 'avg')
assert (contents(x) == (n - 1) / 2).all()
assert shmem.all_gather(y).shape == (n, 1000, 3)
shmem.barrier()
shmem.deregister(mr)
shmem.barrier()
there.close()
shmem.finalize()
''')
    more = {'SHMEM_ASCEND_LIBRARY': double('old npu')} if kind == 'old npu' else {}
    run(['shmemrun', '-n', '3', '--tag-output', PYTHON, str(text), kind.split()[-1]], env=doubles(**more)).ok()
