# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays on the symmetric heap."""

import gc

import numpy as np
import shmem
from jobs import environment, on_pes, pes, program, raises
from shmem.errors import InvalidArgument, OutOfMemory, Stale, WrongType


@on_pes(1, 2, 4)
def test_arrays():
    me, n = shmem.my_pe(), shmem.n_pes()
    z, e, f = shmem.zeros((3, 4)), shmem.empty(5, np.int32), shmem.full((2, 2), 7, np.int16)
    assert z.shape == (3, 4) and z.dtype == float and not z.any() and z.flags.writeable and z.flags.c_contiguous
    assert e.shape == (5,) and e.dtype == np.int32 and f.dtype == np.int16 and (f == 7).all()
    assert type(z) is np.ndarray and z.ctypes.data % 64 == 0
    assert shmem.full(3, 2.5).dtype == float and shmem.full(3, True).dtype == bool
    assert shmem.full((2, 3), np.arange(3)).tolist() == [[0, 1, 2]] * 2
    assert shmem.zeros(()).shape == () and shmem.zeros(np.int64(3)).shape == (3,)
    record = shmem.zeros(2, [('a', 'i4'), ('b', 'M8[s]')])
    assert record['a'].tolist() == [0, 0]
    z[:] = me
    e[:] = me + 10
    shmem.barrier()
    right = (me + 1) % n
    got = shmem.get(z, right)
    assert got.shape == (3, 4) and (got == right).all() and got.ctypes.data != z.ctypes.data
    assert shmem.get(z[1], right, 8, 8).tolist() == [right]
    assert (shmem.peer(e, right) == right + 10).all() and shmem.peer(e, right).shape == (5,)
    shmem.barrier()
    if me == 0:
        shmem.put(e[2:4], right)
    shmem.put(dst=right, dst_mr=z[2], src_mr=np.full(4, -1.0 - me))
    shmem.put(dst=right, dst_mr=f, src_mr=f)
    shmem.barrier()
    left = (me - 1) % n
    assert e.tolist() == [me + 10, me + 10, *[left + 10 if left == 0 else me + 10] * 2, me + 10]
    assert (z[2] == -1 - left).all() and (z[:2] == me).all()
    counter, flag = shmem.zeros(3, np.int64), shmem.zeros(1, np.uint64)
    shmem.atomic_add(counter, me + 1, 0, offset=8)
    shmem.atomic_add(counter[2:], 1, 0)
    shmem.put_signal(z, right, signal=flag, value=5)
    shmem.wait_until(flag, '==', 5)
    shmem.barrier()
    if me == 0:
        assert counter.tolist() == [0, n * (n + 1) // 2, n]
    assert shmem.atomic_fetch(counter, 0, 16) == n
    shmem.barrier()


@on_pes(2)
def test_registered_too():
    """A symmetric array can be registered: then it has events and a name."""
    me = shmem.my_pe()
    a = shmem.full(1000, me)
    r = shmem.register(a, name='a', access=shmem.REMOTE_READ)
    assert r.kind == 'symmetric' and r.guard == 'full' and r.array is a
    shmem.barrier()
    assert (shmem.get(shmem.region(1 - me, name='a')) == 1 - me).all()
    shmem.wait(r, for_='read')
    shmem.barrier()


@on_pes(1, 2)
def test_bad_arrays():
    me = shmem.my_pe()
    for shape in (0, (3, 0), (0,)):
        with raises(ValueError, 'zeros', '0 bytes'):
            shmem.zeros(shape)
    with raises(ValueError, 'empty', 'shape is -1'):
        shmem.empty(-1)
    for shape in ('3', 3.0, (1, 2.5), None):
        with raises(TypeError, 'empty', 'shape is'):
            shmem.empty(shape)
    with raises(TypeError, 'empty', 'dtype is'):
        shmem.empty(3, 'nonsense')
    with raises(TypeError, 'zeros', 'object'):
        shmem.zeros(3, object)
    with raises(ValueError, 'full', 'fill_value'):
        shmem.full(3, 'x', np.int32)
    for shape in ((2**40, 2**40), 2**62):
        with raises(MemoryError, 'empty', 'bytes'):
            shmem.empty(shape)
    total = shmem.heap_info().total
    with raises(OutOfMemory, 'empty', 'no room', str(total)):
        shmem.empty(total + 1, np.uint8)
    a = shmem.zeros(10)
    for fn, call in (('put', shmem.put), ('get', shmem.get)):
        with raises(ValueError, fn, 'not contiguous'):
            call(a[::2], me)
        with raises(IndexError, fn, 'offset 8 + size 16', '16 bytes'):
            call(a[3:5], me, 8, 16)
    with raises(ValueError, 'wait', 'symmetric'):
        shmem.wait(a, timeout=1)
    with raises(InvalidArgument, 'free', 'part'):
        shmem.free(a[:5])
    with raises(InvalidArgument, 'free', 'part'):
        shmem.free(a[5:])
    with raises(InvalidArgument, 'free', 'heap'):
        shmem.free(np.zeros(10))
    with raises(WrongType, 'free', 'list'):
        shmem.free([1])
    r = shmem.register(np.zeros(3))
    with raises(TypeError, 'free', 'Region'):
        shmem.free(r)
    with raises(InvalidArgument, 'put', 'Region', 'register'):
        shmem.put(np.zeros(10), me)
    shmem.free(a)


@on_pes(1, 2)
def test_free_and_reuse():
    before = shmem.heap_info()
    assert before.total > 0 and before.in_use <= before.total and before.blocks >= 0
    a = shmem.zeros(1 << 16)
    inside = shmem.heap_info()
    assert inside.in_use >= before.in_use + (8 << 16) and inside.blocks == before.blocks + 1
    handle_before = shmem.get(a, 0)
    view = a.reshape(256, 256)[:]
    shmem.free(view)  # the same memory
    assert shmem.heap_info().in_use == before.in_use and shmem.heap_info().high_water >= inside.in_use
    for call in (lambda: shmem.get(a, 0), lambda: shmem.put(a, 0), lambda: shmem.peer(a, 0), lambda: shmem.free(a)):
        with raises(ValueError, 'freed'):
            call()
    b = shmem.full(1 << 16, 3.0)
    assert (shmem.get(b, 0) == 3).all() and not handle_before.any()
    # Dropped arrays stay: freeing is collective.
    used = shmem.heap_info().in_use
    del b
    gc.collect()
    assert shmem.heap_info().in_use == used
    for _ in range(200):
        c = shmem.empty(1000)
        shmem.put(c, 0)
        shmem.free(c)
    assert shmem.heap_info().in_use == used


@on_pes(1, 2, bare=True)
def test_arrays_outlive_the_job():
    shmem.init()
    me, n = shmem.my_pe(), shmem.n_pes()
    a = shmem.full(100000, me + 1)
    shmem.finalize()
    assert (a == me + 1).all()
    a[:] = 3
    assert a.sum() == 300000
    with raises(shmem.NotInitialized, 'finalize'):
        shmem.get(a, 0)
    with raises(shmem.NotInitialized):
        shmem.free(a)
    with raises(shmem.NotInitialized):
        shmem.zeros(3)
    with raises(shmem.NotInitialized):
        shmem.heap_info()
    if n == 1:
        shmem.init()
        b = shmem.zeros(10)
        with raises(ValueError, 'freed'):
            shmem.get(a, 0)
        assert a.sum() == 300000 and not b.any()
        shmem.finalize()


def test_heap_sizes(tmp_path):
    ask = program(tmp_path, '''
        import sys, shmem
        shmem.init(heap_size=eval(sys.argv[1]))
        print(shmem.heap_info().total)
    ''')
    def total(size, **env):
        return pes(1, ask, size, env=environment(**env))
    assert int(total('3 << 20').ok().out) == 3 << 20
    assert int(total('None', SHMEM_SYMMETRIC_SIZE='5M').ok().out) == 5 << 20
    assert int(total('1 << 20', SHMEM_SYMMETRIC_SIZE='5M').ok().out) == 1 << 20
    for size, env, words in (('1 << 50', {}, ['OutOfMemory', 'shmem.init', 'heap_size', str(1 << 50)]),
                             ('None', {'SHMEM_SYMMETRIC_SIZE': '900T'}, ['OutOfMemory', 'SHMEM_SYMMETRIC_SIZE']),
                             ('None', {'SHMEM_SYMMETRIC_SIZE': 'many'}, ['shmem.init', 'SHMEM_SYMMETRIC_SIZE', 'many']),
                             ('1 << 64', {}, ['OutOfRange', 'shmem.init', 'heap_size']),
                             ('-1', {}, ['OutOfRange', 'heap_size is -1']),
                             ('1.5', {}, ['WrongType', 'heap_size is a float'])):
        result = total(size, **env)
        assert result.code == 1 and result.seconds < 5, result.text
        for word in words:
            assert word in result.err, result.text
