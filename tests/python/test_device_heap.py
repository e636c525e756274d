# SPDX-License-Identifier: Apache-2.0
"""Symmetric arrays in memory of devices, on doubles of the drivers."""

import pytest
from jobs import PYTHON, RAISES, environment, program, run, start
from jobs import doubles as jobs_doubles

BEGIN = '''
import os, pickle, sys
import numpy as np, shmem
type = sys.argv[1]
''' + RAISES


def doubles(**more):
    return jobs_doubles(SHMEM_DEVICE_HEAP_SIZE='4m', **more)


ARRAYS = BEGIN + '''
shmem.init(device=None if 'SHMEM_HEAP_KIND' in os.environ else type)
me, n = shmem.my_pe(), shmem.n_pes()
right, left = (me + 1) % n, (me - 1) % n
x = shmem.zeros((1000, 3), np.float32)                  # of the usual kind
assert isinstance(x, shmem.DeviceBuffer) and x.device == f'{type}:{me % 2}' and (x.to_numpy() == 0).all()
words = shmem.zeros(4, np.int64, device='host')
assert isinstance(words, np.ndarray) and (words == 0).all()
y = shmem.full((2, 5), [1, 2, 3, 4, 5], np.int64, device=type)
assert (y.to_numpy() == np.arange(1, 6)).all() and y[1, 4] == 5
z = shmem.empty(10, np.float64, device=f'{type}:{me % 2}')
assert z.shape == (10,) and shmem.heap_info(type).blocks == 4 and shmem.heap_info().total == 4 << 20  # and an anchor
assert shmem.heap_info('host').total != 4 << 20

# put and get: whole arrays and parts of them, from and to host and device memory
x[...] = me + 1
shmem.barrier()
got = shmem.get(x, left)
assert isinstance(got, np.ndarray) and got.shape == (1000, 3) and (got == left + 1).all()
shmem.barrier()
mine = shmem.full((1000, 3), me + 1, np.float32, device=type)
shmem.put(dst=right, dst_mr=x, src_mr=mine)
shmem.barrier()
assert (x.to_numpy() == left + 1).all()
shmem.free(mine)
if me == 0:
    z[...] = 6.5
    for pe in range(1, n):
        shmem.put(z, pe)
shmem.barrier()
assert (z.to_numpy() == 6.5).all()
shmem.put(dst=right, dst_mr=x[10:12], src_mr=np.full((2, 3), 70 + me, np.float32))
shmem.put(dst=right, dst_mr=x[20], src_mr=x[0])
shmem.quiet()
shmem.barrier()
assert (x[10:12].to_numpy() == 70 + left).all() and (x[12].to_numpy() == left + 1).all() and x[20, 0] == (left - 1) % n + 1
shmem.get(y, right, out=y)
local = np.zeros((2, 5), np.int64)
assert shmem.get(y, right, out=local) is local and local[0, 4] == 5
shmem.put_signal(z, right, signal=words, value=me + 5)
shmem.wait_until(words, '==', left + 5, timeout=20)
shmem.barrier()

# collectives, by way of the host
y[...] = me
shmem.all_reduce(y)
assert (y.to_numpy() == n * (n - 1) // 2).all()
z[...] = me
shmem.broadcast(z, n - 1)
assert (z.to_numpy() == n - 1).all()
assert (shmem.all_gather(z[:2]) == n - 1).all()

# a key of one, for somebody outside; and pickled
copy = pickle.loads(pickle.dumps(y))
assert (copy.to_numpy() == y.to_numpy()).all()
del copy

# mistakes
raises(NotImplementedError, 'keep counters and signals in host memory', shmem.atomic_add, y, 1, right)
raises(NotImplementedError, 'keep counters and signals', shmem.wait_until, y, '==', 1, timeout=1)
raises(ValueError, 'which the CPU cannot touch', shmem.peer, y, right)
raises(TypeError, 'which the CPU cannot touch', np.asarray, y)
raises(BufferError, 'not contiguous', shmem.put, x[:, 1], right)
raises(ValueError, 'only a part of a symmetric array', shmem.free, x[0])
raises(ValueError, 'this process alone', shmem.put, shmem.create_pool('2M', type=type).alloc(4), right)
raises(MemoryError, 'set SHMEM_DEVICE_HEAP_SIZE higher', shmem.empty, 64 << 20, np.uint8, device=type)
for bad in ('gpu', 'npu:', 'npu:x', 3, ''):
    raises(ValueError, 'device is', shmem.zeros, 1, device=bad)
if n > 1:
    raises(ValueError, 'all PEs must make the same calls', shmem.zeros, 1, device='host' if me == 1 else type)
region = shmem.register(x)
raises(shmem.Error, 'registered as a region', shmem.free, x)
shmem.put(region, right)
shmem.barrier()
shmem.deregister(region)
shmem.free(x)
raises(LookupError, 'was freed', x.to_numpy)
raises(LookupError, 'shmem.free: the buffer was freed', shmem.free, x)
shmem.barrier()
shmem.finalize()
raises(LookupError, 'its job is over', y.to_numpy)
raises(LookupError, 'its job is over', z.__setitem__, 0, 1)
raises(shmem.Error, '', shmem.put, z, right)
'''


@pytest.mark.parametrize('kind, pes', [('npu', 3), ('cuda', 2)])
def test_arrays(kind, pes, tmp_path):
    more = {'SHMEM_HEAP_KIND': 'cuda'} if kind == 'cuda' else {}
    run(['shmemrun', '-n', str(pes), '--tag-output', PYTHON, str(program(tmp_path, ARRAYS)), kind], env=doubles(**more)).ok()


def test_no_finalize(tmp_path):
    """The double looks for what is left when the process ends."""
    text = program(tmp_path, BEGIN + '''
shmem.init()
x = shmem.zeros(5, device='npu')
shmem.barrier()
''')
    run(['shmemrun', '-n', '2', PYTHON, str(text), 'npu'], env=doubles()).ok()


def test_fallback(tmp_path):
    text = program(tmp_path, BEGIN + '''
shmem.init(device='npu:1')
x = shmem.zeros(5, np.int64)
assert isinstance(x, np.ndarray) and isinstance(shmem.full(3, 1, device='npu'), np.ndarray)
shmem.put(dst=(shmem.my_pe() + 1) % 3, dst_mr=x, src_mr=np.arange(5))
shmem.barrier()
assert (x == np.arange(5)).all() and shmem.heap_info().in_use
shmem.finalize()
''')
    result = run(['shmemrun', '-n', '3', PYTHON, str(text), 'npu'],
                 env=doubles(SHMEM_ASCEND_LIBRARY='/none', SHMEM_DEVICE_FALLBACK='host')).ok()
    assert result.err.count('SHMEM_DEVICE_FALLBACK=host: host memory in place') == 1


@pytest.mark.parametrize('what', ['s.barrier()', "s.wait(words, '>=', 1)"])
def test_the_end_with_one_stream_that_waits(what):
    """Finalize finds out that nothing of it can come any more, whoever comes first."""
    text = BEGIN + f'''
import time
shmem.init(device='npu')
words, s = shmem.zeros(4, np.uint64, device='host'), shmem.Stream('npu')
me = shmem.my_pe()
time.sleep(0.2 * (me == int(sys.argv[2])))
if me:
    {what}
shmem.finalize()
if me:
    raises(shmem.Error, 'finalize', s.finish)
print('over')
'''
    for late in '01':
        assert start(['shmemrun', '-n', '2', PYTHON, '-c', text, 'npu', late], env=doubles()).finish(30).ok().out == 'over\n' * 2


def test_nothing_there():
    start([PYTHON, '-c', BEGIN + '''
raises(shmem.DeviceMissing, 'no Ascend driver', shmem.init, device='npu')
assert not shmem.is_initialized()
shmem.init()
raises(shmem.DeviceMissing, "no symmetric heap in memory of kind 'cuda': PE 0: no CUDA driver", shmem.zeros, 1, device='cuda')
assert shmem.zeros(3).sum() == 0
shmem.finalize()
''', ''], env=environment(SHMEM_ASCEND_LIBRARY='/none', SHMEM_CUDA_LIBRARY='/none')).finish(60).ok()
