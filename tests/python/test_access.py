# SPDX-License-Identifier: Apache-2.0
"""Put, get, views, atomics, waiting: every form of every call, and what bad input gets."""

import threading
import time

import numpy as np
import shmem
from jobs import on_pes, raises, until_asleep
from shmem.errors import Busy, Deadlock, InvalidArgument, OutOfRange, TooSmall, WrongType

DTYPES = ('int32', 'int64', 'uint32', 'uint64', 'float32', 'float64')


@on_pes(1, 2, 4)
def test_put_in_all_forms():
    me, n = shmem.my_pe(), shmem.n_pes()
    right, left = (me + 1) % n, (me - 1) % n
    a = np.zeros((n, 4))
    r = shmem.register(a, name='a')
    mine = np.full(4, me + 1.0)
    a[me] = mine
    shmem.barrier()
    row = 32 * me
    shmem.put(r, right, row, 32)
    shmem.put(r, pe=right, offset=row, size=8)
    shmem.put(region=r, pe=right, offset=row + 8, size=8)
    shmem.put(mr=r, dst=right, offset=row + 16, size=8)
    shmem.put(mem_region=r, dst=right, offset=row + 24, size=8)
    shmem.put_nbi(r, right, row, 32)
    shmem.barrier()
    assert (a[left] == left + 1).all() and (a[me] == me + 1).all()
    shmem.barrier()
    a[:] = 0
    shmem.barrier()
    there = shmem.region(right, name='a')
    shmem.put(dst=right, dst_mr=r, dst_offset=row, src_mr=mine, size=8)
    shmem.put(dst_mr=there, dst_offset=row + 8, src_mr=mine, src_offset=8, size=8)
    shmem.put(dst=right, dst_mr=there, dst_offset=row + 16, src_mr=memoryview(mine), src_offset=16)
    shmem.barrier()
    assert a[left].tolist() == [left + 1] * 4
    if n > 1:
        assert not a[me].any()
    shmem.barrier()
    # With the source's region only, it goes to what corresponds to that.
    source = shmem.register(mine, name='source')
    shmem.put(pe=right, src_mr=source, src_offset=0, size=8, dst_offset=24)
    shmem.barrier()
    assert mine[3] == left + 1
    # Positional, as in put(region, dst=1): whole.
    shmem.barrier()
    mine[:] = me + 20
    shmem.barrier()
    shmem.put(source, dst=me)
    assert (mine == me + 20).all()
    shmem.barrier()


@on_pes(1, 2, 4)
def test_get_in_all_forms():
    me, n = shmem.my_pe(), shmem.n_pes()
    right = (me + 1) % n
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4) + 100 * me
    r = shmem.register(a, name='a')
    shmem.barrier()
    want = np.arange(24).reshape(2, 3, 4) + 100 * right
    for got in (shmem.get(r, right), shmem.get(mem_region=r, src=right), shmem.get(mr=r, src=right, offset=0, size=96),
                shmem.get(r, pe=right), shmem.get(r, dst=right), shmem.get_nbi(r, right)):
        assert got.shape == (2, 3, 4) and got.dtype == np.int32 and (got == want).all() and got.flags.writeable
    part = shmem.get(r, right, 16, 12)
    assert part.shape == (3,) and part.tolist() == want.ravel()[4:7].tolist()
    assert shmem.get(r, right, 80).tolist() == want.ravel()[20:].tolist()
    assert shmem.get(r, right, 2, 8).dtype == np.int32  # an offset need not be aligned
    single = shmem.get(mr=r, src=right, size=4)
    assert single.item() == 100 * right
    out = np.zeros(4, np.int32)
    assert shmem.get(r, right, 4, out=out) is out and out.tolist() == want.ravel()[1:5].tolist()
    shmem.get(r, right, 0, 8, out)
    assert out.tolist() == want.ravel()[[0, 1, 3, 4]].tolist()
    byte = bytearray(4)
    assert shmem.get(r, right, out=byte) == int(want.ravel()[0]).to_bytes(4, 'little')
    local = shmem.register(np.zeros((2, 3, 4), np.int32))
    assert shmem.get(r, right, out=local) is local and (local.array == want).all()
    local.array[:] = 0
    there = shmem.region(right, name='a')
    shmem.get(dst=right, dst_mr=r, dst_offset=8, src_mr=local, src_offset=4, size=8)
    assert local.array.ravel()[:4].tolist() == [0, *want.ravel()[2:4].tolist(), 0]
    shmem.get(dst_mr=there, src_mr=local)
    assert (local.array == want).all()
    here = np.zeros(2, np.int32)
    assert shmem.get(dst=right, dst_mr=there, dst_offset=4, src_mr=here) is None
    assert here.tolist() == want.ravel()[1:3].tolist()
    flat = shmem.get(there)
    assert flat.shape == (24,) and (flat == want.ravel()).all()
    shmem.barrier()
    here = np.zeros(24, np.int32)
    shmem.get(pe=right, dst_mr=r, src_mr=here)
    assert (here == want.ravel()).all()
    shmem.barrier()
    if me == 0:
        shmem.get(pe=right, src_mr=r)  # from what corresponds
        assert (a == want).all()
    shmem.barrier()


@on_pes(2)
def test_bad_transfers():
    me = shmem.my_pe()
    other = 1 - me
    a = np.arange(4, dtype=np.int32)
    r = shmem.register(a, name='a')
    shmem.barrier()
    for fn, call in (('put', shmem.put), ('get', shmem.get)):
        with raises(IndexError, fn, 'offset 12 + size 8', '16 bytes', "region 'a'"):
            call(r, other, 12, 8)
        with raises(ValueError, fn, 'offset 17'):
            call(r, other, 17)
        with raises(OutOfRange, fn, 'past the end'):
            call(r, other, 2**64 - 8, 16)
        with raises(OutOfRange, fn, 'offset 8 + size 18446744073709551608'):
            call(r, other, 8, 2**64 - 8)
        with raises(OutOfRange, fn, 'offset is 18446744073709551616'):
            call(r, other, 2**64, 8)
        with raises(OutOfRange, fn, 'size is -1'):
            call(r, other, 0, -1)
        with raises(OutOfRange, fn, 'offset is -4'):
            call(r, other, -4)
        with raises(OutOfRange, 'size is a huge number'):
            call(r, other, 0, 10**6000)
        for pe in (2, -1, 10**20):
            with raises(IndexError, fn, f'pe is {pe}', '0 to 1', '2 PEs'):
                call(r, pe)
        with raises(TypeError, fn, 'pe is a float'):
            call(r, 1.0)
        with raises(TypeError, fn, 'offset is a str'):
            call(r, other, '0')
        with raises(TypeError, fn, 'size is a float'):
            call(r, other, 0, 4.0)
        with raises(ValueError, fn, 'size is 0'):
            call(r, other, 0, 0)
        with raises(WrongType, fn, 'pe is missing'):
            call(r)
        with raises(WrongType, fn, 'region is missing'):
            call(pe=other)
        with raises(ValueError, fn, 'region is an array', 'register'):
            call(a, other)
        with raises(TypeError, fn, 'region is a list'):
            call([1], other)
        with raises(TypeError, fn, "no argument 'nonsense'"):
            call(r, other, nonsense=1)
        with raises(TypeError, fn, 'region is given twice'):
            call(r, other, mr=r)
        with raises(TypeError, fn, 'pe is given twice'):
            call(r, other, dst=other)
        with raises(TypeError, fn, 'region does not go with'):
            call(r, other, src_mr=r)
        with raises(TypeError, fn, 'offset does not go with'):
            call(pe=other, offset=4, dst_mr=r, src_mr=r)
        with raises(TypeError, fn, 'src_mr is missing'):
            call(pe=other, dst_mr=None)
        with raises(ValueError, 'belongs to PE %d' % other, 'names PE %d' % me):
            call(dst=me, dst_mr=shmem.region(other, name='a'), src_mr=r)
        with raises(OutOfRange, fn, 'src_offset 12 + size 8', 'local memory', '16 bytes'):
            call(dst=other, dst_mr=r, src_mr=np.zeros(4, np.int32), src_offset=12, size=8)
        with raises(OutOfRange, fn, 'src_offset 16'):
            call(dst=other, dst_mr=r, src_mr=np.zeros(4, np.int32), src_offset=16)
        with raises(BufferError, fn, 'not contiguous'):
            call(dst=other, dst_mr=r, src_mr=np.zeros(8, np.int32)[::2])
        with raises(ValueError, fn, 'memory of this PE'):
            call(dst=me, dst_mr=r, src_mr=shmem.region(other, name='a'))
        with raises(TypeError, fn, 'timeout is a str'):
            call(r, other, timeout='1')
        with raises(ValueError, fn, 'timeout is nan'):
            call(r, other, timeout=float('nan'))
    with raises(OutOfRange, 'put', 'offset 0 + size 32', '16 bytes'):
        shmem.put(dst=other, dst_mr=r, src_mr=np.zeros(8, np.int32))
    with raises(BufferError, 'get', 'read-only'):
        shmem.get(r, other, out=b'0123')
    with raises(ValueError, 'get', 'size is 3', 'int32'):
        shmem.get(r, other, 0, 3)
    with raises(OutOfRange, 'get', 'size 20'):
        shmem.get(r, other, out=np.zeros(5, np.int32))
    with raises(ValueError, 'get', 'dst_mr is None'):
        shmem.get(dst=other, dst_mr=None, src_mr=r)
    with raises(TypeError, 'get', 'out does not go with'):
        shmem.get(dst=other, dst_mr=r, src_mr=r, out=a)
    with raises(TypeError, 'put', 'dst is missing'):
        shmem.put(dst_mr=None, src_mr=r)
    assert a.tolist() == [0, 1, 2, 3]
    shmem.barrier()


@on_pes(2)
def test_put_with_signal():
    me = shmem.my_pe()
    data, flags = np.zeros(1000), np.zeros(4, np.uint64)
    d, s = shmem.register(data), shmem.register(flags)
    shmem.barrier()
    for turn in range(1, 200):
        if me == 0:
            data[:] = turn
            shmem.put_signal(d, 1, signal=s, value=turn)
            shmem.wait_until(s, '==', turn, offset=8)
        else:
            shmem.wait_until(s, '>=', turn)
            assert (data == turn).all()
            shmem.put_signal_nbi(dst=0, dst_mr=s, dst_offset=16, src_mr=flags, size=8, signal=s, value=1, sig_offset=8,
                                 op='add')
            shmem.quiet()
    shmem.barrier()
    if me == 0:
        assert flags.tolist() == [0, 199, 199, 0]
    with raises(InvalidArgument, 'put_signal', 'op is'):
        shmem.put_signal(d, 1 - me, signal=s, value=1, op='xor')
    with raises(OutOfRange, 'put_signal', 'value is -1'):
        shmem.put_signal(d, 1 - me, signal=s, value=-1)
    with raises(OutOfRange, 'put_signal', 'sig_offset 32'):
        shmem.put_signal(d, 1 - me, signal=s, value=1, sig_offset=32)
    with raises(InvalidArgument, 'put_signal', 'align'):
        shmem.put_signal(d, 1 - me, signal=s, value=1, sig_offset=4)
    with raises(InvalidArgument, 'put_signal', 'dst_mr is None'):
        shmem.put_signal(dst=1 - me, dst_mr=None, src_mr=d, signal=s, value=1)
    with raises(WrongType, 'put_signal', 'signal is missing'):
        shmem.put_signal(d, 1 - me, signal=None, value=1)
    shmem.barrier()


@on_pes(2)
def test_signals_are_words():
    """They are no elements of 32 bits, whose neighbours they would change, and no floating-point numbers."""
    me = shmem.my_pe()
    data = shmem.register(np.zeros(8))
    for dtype, fits in (('uint64', True), ('int64', True), ('uint8', True), ('int8', True), ('int32', False), ('uint32', False),
                        ('float64', False), ('float32', False), ('int16', False), ('complex64', False)):
        array, symmetric = np.zeros(32, dtype), shmem.zeros(32, dtype)
        region = shmem.register(array)
        shmem.barrier()
        for there, here in ((region, array), (symmetric, symmetric)):
            for signal in (shmem.put_signal, shmem.put_signal_nbi):
                if fits:
                    signal(data, 1 - me, signal=there, value=3, op='add')
                else:
                    with raises(WrongType, 'put_signal', f'elements of type {dtype}, but signals are words of uint64 or int64'):
                        signal(data, 1 - me, signal=there, value=3)
            shmem.barrier()
            assert here.view(np.uint8).tolist() == [6 * fits] + [0] * (here.nbytes - 1), dtype
    shmem.barrier()


@on_pes(2, 4)
def test_put_to_whoever_waits():
    me, n = shmem.my_pe(), shmem.n_pes()
    inbox = np.zeros((n, 8))
    r = shmem.register(inbox)
    shmem.barrier()
    if me == 0:
        time.sleep(0.05)  # they stand in line
        for k in range(n - 1):
            shmem.wait(r, timeout=20)
        assert all((inbox[pe] == pe).all() for pe in range(1, n))
    else:
        shmem.put(dst=0, dst_mr=None, dst_offset=64 * me, src_mr=np.full(8, float(me)), timeout=20)
    shmem.barrier()
    if me == 0:  # that waits for a read only is no target
        with raises(TimeoutError, 'wait'):
            shmem.wait(r, timeout=0.2, for_='read')
    elif me == 1:
        with raises(shmem.Timeout, 'put', 'PE 0'):
            shmem.put(dst=0, dst_mr=None, src_mr=r, timeout=0.05)
    shmem.barrier()
    small = shmem.register(np.zeros(2))
    if me == 0:
        with raises(TooSmall, 'wait', '16 bytes'):
            shmem.wait(small, timeout=10, for_='write')
    elif me == 1:
        with raises(ValueError, 'put', '16 bytes', 'PE 0'):
            shmem.put(dst=0, dst_mr=None, src_mr=np.zeros(4), timeout=10)
    shmem.barrier()
    with raises(ValueError, 'put', 'itself'):
        shmem.put(dst=me, dst_mr=None, src_mr=r)
    if n == 2:  # both put, nobody waits
        began = time.monotonic()
        try:
            shmem.put(dst=1 - me, dst_mr=None, src_mr=r, timeout=5)
        except Deadlock as error:
            assert f'PE {1 - me}' in str(error)
        except shmem.Timeout:
            raise AssertionError('the deadlock was not noticed') from None
        assert time.monotonic() - began < 2
    shmem.barrier()


@on_pes(2)
def test_events_are_counted():
    me = shmem.my_pe()
    r = shmem.register(np.zeros(4))
    shmem.barrier()
    if me == 0:
        for _ in range(3):
            shmem.put(r, 1)
        shmem.get(r, 1)
        shmem.barrier()
        shmem.wait(r, for_='read')
        with raises(shmem.Timeout, 'wait'):
            shmem.wait(r, timeout=0)
    else:
        shmem.barrier()  # the events came before the waits
        shmem.wait(r, for_='read')
        with raises(TimeoutError, 'wait'):
            shmem.wait(r, timeout=0.01, for_='read')
        for _ in range(3):
            shmem.wait(r, for_='write')
        with raises(TimeoutError, 'wait'):
            shmem.wait(mr=r, timeout=0.01)
        shmem.get(r, 0)
    shmem.barrier()
    with raises(InvalidArgument, 'wait', "for_ is 'both'"):
        shmem.wait(r, for_='both')
    with raises(ValueError, 'wait', 'PE %d' % (1 - me)):
        shmem.wait(shmem.region(1 - me, index=0), timeout=1)
    with raises(WrongType, 'wait', 'region is missing'):
        shmem.wait(None)
    shmem.barrier()


@on_pes(2)
def test_wait_until():
    me = shmem.my_pe()
    other = 1 - me
    for name in DTYPES:
        a = np.full(4, 5, name)
        r = shmem.register(a, name=name)
        size = a.itemsize
        shmem.barrier()
        for cmp, value in (('==', 5), ('eq', 5), ('!=', 4), ('ne', 4), ('<', 6), ('lt', 6), ('<=', 5), ('le', 5),
                           ('>', 4), ('gt', 4), ('>=', 5), ('ge', 5)):
            shmem.wait_until(r, cmp, value, size, timeout=0)
        for cmp, value in (('==', 4), ('!=', 5), ('<', 5), ('<=', 4), ('>', 5), ('>=', 6)):
            with raises(TimeoutError, 'wait_until'):
                shmem.wait_until(r, cmp, value, timeout=0)
        shmem.barrier()
        if me == 0:
            time.sleep(0.02)
            shmem.atomic_add(r, 1, 1, offset=3 * size)
            shmem.wait_until(mr=r, cmp='==', value=7, timeout=20)
        else:
            shmem.wait_until(r, '>', 5, 3 * size)
            shmem.peer(r, 0)[0] = 7  # a plain store
        shmem.barrier()
    r = shmem.register(np.zeros(4, np.int32))
    with raises(InvalidArgument, 'wait_until', "cmp is '='", '=='):
        shmem.wait_until(r, '=', 1)
    with raises(WrongType, 'wait_until', 'value is a float', 'int32'):
        shmem.wait_until(r, '==', 1.5)
    with raises(OutOfRange, 'wait_until', 'value is 2147483648', 'int32'):
        shmem.wait_until(r, '==', 2**31)
    with raises(OutOfRange, 'wait_until', 'offset 16'):
        shmem.wait_until(r, '==', 0, 16)
    with raises(InvalidArgument, 'wait_until', 'align'):
        shmem.wait_until(r, '==', 0, 2)
    with raises(TypeError, 'wait_until', 'int16'):
        shmem.wait_until(shmem.register(np.zeros(4, np.int16)), '==', 0)
    shmem.barrier()


@on_pes(1, 2, 4)
def test_atomics():
    me, n = shmem.my_pe(), shmem.n_pes()
    for name in DTYPES:
        a = np.zeros(3, name)
        r = shmem.register(a, name=name)
        size = a.itemsize
        shmem.barrier()
        for k in range(100):
            shmem.atomic_add(r, 1, 0, size)
        seen = [shmem.atomic_fetch_add(mr=r, value=2, dst=n - 1, offset=2 * size) for k in range(100)]
        assert all(x < y for x, y in zip(seen, seen[1:])) and type(seen[0]) is (float if name[0] == 'f' else int)
        shmem.barrier()
        assert shmem.atomic_fetch(r, 0, size) == 100 * n and shmem.atomic_fetch(mr=r, dst=n - 1, offset=2 * size) == 200 * n
        shmem.barrier()
        if me == 0:
            far = shmem.region(n - 1, name=name)
            assert shmem.atomic_cas(far, 0, 7) == 0 and shmem.atomic_cas(mr=r, expected=0, desired=9, dst=n - 1) == 7
            assert shmem.atomic_fetch(far) == 7
            assert shmem.atomic_swap(r, 12, n - 1) == 7
            shmem.atomic_set(r, 6, n - 1)
            if name[0] != 'f':
                shmem.atomic_and(r, 3, n - 1)
                assert shmem.atomic_fetch_or(r, 8, n - 1) == 2
                shmem.atomic_xor(r, 1, n - 1)
                assert shmem.atomic_fetch_and(r, 9, n - 1) == 11 and shmem.atomic_fetch_xor(r, 15, n - 1) == 9
                shmem.atomic_or(r, 16, n - 1)
                assert shmem.atomic_fetch(r, n - 1) == 22
            assert shmem.atomic_add(r, 1, n - 1) is None and shmem.atomic_set(r, 1, n - 1) is None
        shmem.barrier()
        shmem.deregister(r)


@on_pes(1)
def test_atomic_values():
    limits = {'int32': (-2**31, 2**31 - 1), 'uint32': (0, 2**32 - 1), 'int64': (-2**63, 2**63 - 1), 'uint64': (0, 2**64 - 1)}
    for name, (low, high) in limits.items():
        r = shmem.register(np.zeros(1, name))
        for value in (low, high, np.dtype(name).type(high), True):
            shmem.atomic_set(r, value, 0)
            assert shmem.atomic_fetch(r, 0) == value and r.array[0] == value
        for value in (low - 1, high + 1, 10**30, -10**30):
            with raises(OutOfRange, 'atomic_set', f'value is {value}', name):
                shmem.atomic_set(r, value, 0)
        for value in (1.0, '1', None.__class__, np.float32(1)):
            with raises(WrongType, 'atomic_add', 'value is a', name):
                shmem.atomic_add(r, value, 0)
        shmem.atomic_set(r, high, 0)
        shmem.atomic_add(r, 1, 0)
        assert shmem.atomic_fetch(r, 0) == low  # around
    f32, f64 = shmem.register(np.zeros(1, np.float32)), shmem.register(np.zeros(1))
    assert shmem.atomic_swap(f32, 0.1, 0) == 0 and shmem.atomic_fetch(f32, 0) == float(np.float32(0.1))
    assert shmem.atomic_swap(f64, np.float64(0.1), 0) == 0 and shmem.atomic_fetch(f64, 0) == 0.1
    shmem.atomic_set(f32, float('inf'), 0)
    shmem.atomic_set(f64, 1, 0)
    with raises(OutOfRange, 'value is 1e+39', 'float32'):
        shmem.atomic_set(f32, 1e39, 0)
    for r in (f32, f64):
        with raises(ValueError, 'atomic_and', 'integers'):
            shmem.atomic_and(r, 1, 0)
    with raises(WrongType, 'float32', 'value is a str'):
        shmem.atomic_set(f32, 'x', 0)


@on_pes(1)
def test_bad_atomics():
    for name in ('int8', 'int16', 'uint8', 'float16', 'complex64', 'bool', 'M8[s]', '>i4', [('a', 'i4')], 'longdouble'):
        with raises(TypeError, 'atomic_add', 'int32, int64'):
            shmem.atomic_add(shmem.register(np.zeros(4, name)), 1, 0)
    r = shmem.register(np.zeros(4, np.int64))
    with raises(ValueError, 'offset is 4', 'multiple of the 8 bytes'):
        shmem.atomic_add(r, 1, 0, 4)
    with raises(IndexError, 'offset 32 + size 8', '32 bytes'):
        shmem.atomic_add(r, 1, 0, 32)
    with raises(OutOfRange, 'offset is -8'):
        shmem.atomic_add(r, 1, 0, -8)
    with raises(WrongType, 'value is missing'):
        shmem.atomic_add(r, pe=0)
    with raises(WrongType, 'expected is missing'):
        shmem.atomic_cas(r, desired=1, pe=0)
    with raises(WrongType, 'desired is missing'):
        shmem.atomic_cas(r, 1, pe=0)
    with raises(WrongType, 'pe is missing'):
        shmem.atomic_add(r, 1)
    with raises(IndexError, 'pe is 1', '1 PE'):
        shmem.atomic_add(r, 1, 1)
    with raises(WrongType, 'no argument'):
        shmem.atomic_add(r, 1, 0, nonsense=1)
    odd = shmem.register(np.zeros(33, np.uint8)[1:].view(np.int64))
    with raises(ValueError, 'align'):
        shmem.atomic_add(odd, 1, 0)


@on_pes(2)
def test_without_moving():
    """Regions that stay where they are: reached through the kernel, or an error that names the cure."""
    me = shmem.my_pe()
    r = shmem.register(np.full(100000, me, np.int64), move=False)
    assert r.kind == 'copied'
    shmem.barrier()
    try:
        got = shmem.get(r, 1 - me)
    except shmem.Error as error:
        assert 'shmem.empty' in str(error)
    else:
        assert (got == 1 - me).all()
        shmem.barrier()
        shmem.put(dst=1 - me, dst_mr=r, src_mr=np.full(100000, me + 5))
        shmem.barrier()
        assert (r.array == 1 - me + 5).all()
        with raises(ValueError, 'peer', "'copied'", 'shmem.empty'):
            shmem.peer(r, 1 - me)
        with raises(shmem.NotSupported, 'atomic_add', 'without moving'):
            shmem.atomic_add(r, 1, 1 - me)
    shmem.barrier()


@on_pes(2, 4)
def test_peer_arrays():
    me, n = shmem.my_pe(), shmem.n_pes()
    a = np.arange(10000, dtype=np.float32).reshape(100, 100) + me
    r = shmem.register(a, name='a')
    shmem.barrier()

    def only_the_array():
        return shmem.peer(shmem.region((me + 1) % n, name='a'))

    views = [shmem.peer(r, pe) for pe in range(n)]
    assert views[me] is a
    for pe in range(n):
        assert views[pe].shape == (100, 100) and views[pe].dtype == np.float32 and (views[pe][0, :3] == np.arange(3) + pe).all()
    flat = only_the_array()
    assert flat.shape == (10000,) and flat[1] == 1 + (me + 1) % n
    shmem.barrier()
    views[(me + 1) % n][50, me] = -1 - me
    shmem.barrier()
    assert a[50, (me - 1) % n] == -1 - (me - 1) % n
    shmem.barrier()
    # The owner's end and ours leave the views readable.
    handle = shmem.region((me + 1) % n, name='a')
    view = shmem.peer(handle)
    handle.close()
    shmem.barrier()
    shmem.deregister(r)
    shmem.barrier()
    total = sum(float(v.sum()) for v in views) + float(flat.sum()) + float(view.sum())
    assert np.isfinite(total)
    globals()['views_that_outlive_the_job'] = views, flat, view


@on_pes(2, bare=True)
def test_views_after_the_job():
    for function, call in (('put', lambda: shmem.put(np.zeros(3), 0)), ('wait_until', lambda: shmem.wait_until(np.zeros(3, 'i8'), '==', 1)),
                           ('free', lambda: shmem.free(np.zeros(3)))):
        with raises(shmem.NotInitialized, f'shmem.{function}: called before'):
            call()
    shmem.init()
    me = shmem.my_pe()
    r, s = shmem.register(np.full(10000, 1.0 + me)), shmem.full(10000, 5.0 + me)
    shmem.barrier()
    there, symmetric = shmem.peer(r, 1 - me), shmem.peer(s, 1 - me)
    assert there[0] == 2 - me and symmetric[0] == 6 - me
    shmem.finalize()
    assert np.isfinite(there.sum()) and np.isfinite(symmetric.sum()) and s[1] == 5 + me
    there[0] = symmetric[0] = s[0] = 1
    for call in (lambda: shmem.peer(r, 1 - me), lambda: shmem.peer(s, 1 - me)):
        with raises(shmem.NotInitialized, 'finalize'):
            call()


@on_pes(2)
def test_the_gil_is_free_while_waiting_and_copying():
    me = shmem.my_pe()
    r = shmem.register(np.zeros(4))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()

    def progress(call):
        before = counted[0]
        call()
        return counted[0] - before

    def timed_out():
        try:
            shmem.wait(r, timeout=0.2)
        except shmem.Timeout:
            pass

    assert progress(timed_out) > 100
    shmem.barrier()
    if me == 0:
        time.sleep(0.2)
        shmem.barrier()
    else:
        assert progress(shmem.barrier) > 100
    big = shmem.register(np.zeros(1 << 23))
    shmem.barrier()
    assert progress(lambda: shmem.put(big, 1 - me)) > 0
    stop.set()
    thread.join()
    shmem.barrier()


@on_pes(2)
def test_many_threads():
    me = shmem.my_pe()
    counter, data = np.zeros(1, np.int64), np.zeros((8, 5000))
    c, d = shmem.register(counter), shmem.register(data)
    shmem.barrier()

    def work(k):
        mine = np.full(5000, float(k + 1))
        for _ in range(50):
            shmem.put(dst=1 - me, dst_mr=d, dst_offset=40000 * k, src_mr=mine)
            shmem.get(d, 1 - me, 40000 * k, 40000)
            shmem.atomic_add(c, 1, 0)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    shmem.barrier()
    assert all((data[k] == k + 1).all() for k in range(8)) and shmem.atomic_fetch(c, 0) == 800
    shmem.barrier()


@on_pes(1)
def test_finalize_does_not_pull_the_ground_away():
    r = shmem.register(np.zeros(4))
    caught = []

    def waiter():
        try:
            shmem.wait(r)
        except shmem.Error as error:
            caught.append(error)

    thread = threading.Thread(target=waiter)
    thread.start()
    until_asleep(thread)
    with raises(Busy, 'finalize', '1 other thread'):
        shmem.finalize()
    shmem.deregister(r)
    thread.join(5)
    assert not thread.is_alive() and len(caught) == 1


@on_pes(2)
def test_sizes_beyond_32_bits():
    """Offsets past 4 GiB, in memory that is not all there."""
    import os
    free = os.sysconf('SC_AVPHYS_PAGES') * os.sysconf('SC_PAGESIZE')
    if free < 12 << 30:
        from jobs import skip
        skip('less than 12 GiB of memory are free')
    a = shmem.empty((1 << 32) + 4096, np.uint8)
    me = shmem.my_pe()
    mark = np.arange(16, dtype=np.uint8) + me
    shmem.put(dst=1 - me, dst_mr=a, dst_offset=1 << 32, src_mr=mark)
    shmem.barrier()
    assert (a[1 << 32:][:16] == np.arange(16) + 1 - me).all()
    assert (shmem.get(a, 1 - me, 1 << 32, 16) == np.arange(16) + me).all()
    shmem.barrier()


@on_pes(1, 2)
def test_elements_of_both_ends_must_be_the_same():
    x = np.zeros(10, np.float32)
    region = shmem.register(x)
    shmem.barrier()
    with raises(TypeError, 'put', 'src_mr has elements of float64', 'float32'):
        shmem.put(dst=shmem.my_pe(), dst_mr=region, src_mr=np.ones(5))
    with raises(TypeError, 'get', 'out has elements of float64', 'float32'):
        shmem.get(region, shmem.my_pe(), out=np.zeros(5))
    assert not x.any()
    shmem.put(dst=shmem.my_pe(), dst_mr=region, src_mr=np.ones(1, np.float32).view(np.uint8))  # bytes go with all
    assert x[0] == 1 and not x[1:].any()
    shmem.barrier()


@on_pes(1, 2)
def test_the_owner_may_do_everything_with_its_region():
    x, y = np.zeros(4, np.int64), np.zeros(4, np.int64)
    kept = [shmem.register(x, access=shmem.REMOTE_READ, name='read'), shmem.register(y, access=shmem.LOCAL_ONLY, name='local')]
    for name, array in (('read', x), ('local', y)):
        found = shmem.region(shmem.my_pe(), name)
        shmem.put(dst=shmem.my_pe(), dst_mr=found, src_mr=np.full(4, 7, np.int64))
        shmem.atomic_add(found, 1)
        assert array.tolist() == [8, 7, 7, 7]
    shmem.barrier()
    if shmem.n_pes() > 1:
        there = shmem.region(1 - shmem.my_pe(), 'local')
        with raises(PermissionError, 'LOCAL_ONLY', 'named local'):
            shmem.put(dst_mr=there, src_mr=np.zeros(1, np.int64))
    shmem.barrier()
    del kept
