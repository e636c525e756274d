# SPDX-License-Identifier: Apache-2.0
"""Regions: what can be registered, what they say of themselves, how they are found, and when they end."""

import array
import ctypes
import gc
import os
import tempfile
import threading
import time

import numpy as np
import shmem
from jobs import on_pes, raises
from shmem.errors import BadBuffer, InvalidArgument, OutOfRange, Stale, WrongType


@on_pes(1, 2)
def test_attributes():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    r = shmem.register(a, name='weights', access=shmem.REMOTE_READ | shmem.REMOTE_WRITE)
    assert r.id == 0 and r.name == 'weights' and r.owner == shmem.my_pe() and r.is_open
    assert r.addr == a.ctypes.data and r.size == 48
    assert r.array is a and r.dtype == np.float32 and r.shape == (3, 4)
    assert r.access == shmem.REMOTE_READ | shmem.REMOTE_WRITE
    assert str(r.access) == 'REMOTE_READ|REMOTE_WRITE'
    assert f'{shmem.LOCAL_ONLY}' == 'LOCAL_ONLY'
    assert r.kind == 'moved' and r.guard in ('full', 'user', 'none')
    assert "'weights'" in repr(r) and '48 bytes' in repr(r) and 'float32' in repr(r)
    assert (a == np.arange(12).reshape(3, 4)).all()
    r.array += 1
    assert a[0, 0] == 1
    with raises(WrongType, 'Region.array', 'in'):
        r.array = np.zeros((3, 4), np.float32)
    again = shmem.register(np.zeros(1))
    assert again.id == 1 and again.name is None
    shmem.deregister(r)
    assert not r.is_open and 'closed' in repr(r) and r.array is a
    shmem.barrier()


@on_pes(1)
def test_everything_with_a_buffer():
    things = [bytearray(b'abcd'), array.array('i', [1, 2, 3]), (ctypes.c_double * 3)(1, 2, 3), memoryview(bytearray(8)),
              np.zeros(3, np.int8), np.zeros((), np.float64), np.zeros(2, np.complex64), np.zeros(2, bool),
              np.zeros(2, 'datetime64[s]'), np.zeros(2, [('a', 'i4'), ('b', 'f8')]), np.zeros(2, '>i4'),
              np.zeros(10)[2:5], np.zeros((4, 4))[1:3], np.zeros(4).view(np.recarray)]
    for x in things:
        r = shmem.register(x)
        assert r.size == memoryview(x).nbytes if not isinstance(x, np.ndarray) else r.size == x.nbytes
        copy = shmem.get(r, 0)
        assert copy.nbytes == r.size and copy.shape == r.shape, x
        shmem.deregister(r)
    kept = bytearray(b'0123')
    with shmem.register(kept) as r:
        try:
            kept.append(1)
        except BufferError:
            pass
        else:
            raise AssertionError('a registered bytearray could be resized')
        assert r.array.tobytes() == b'0123'
    del r
    gc.collect()


@on_pes(1)
def test_what_cannot_be_registered():
    a = np.arange(12.0).reshape(3, 4)
    with raises(BufferError, 'register', 'not contiguous', '(4, 3)'):
        shmem.register(a.T)
    with raises(BadBuffer, 'not contiguous', 'ascontiguousarray'):
        shmem.register(a[:, 1:3])
    with raises(ValueError, 'not contiguous'):
        shmem.register(memoryview(bytearray(8))[::2])
    with raises(BadBuffer, 'empty', '(0,)'):
        shmem.register(np.zeros(0))
    with raises(BadBuffer, 'empty'):
        shmem.register(bytearray())
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    with raises(BadBuffer, 'read-only'):
        shmem.register(read_only)
    with raises(BadBuffer, 'read-only', 'bytes'):
        shmem.register(b'abc')
    with raises(BadBuffer, 'read-only'):
        shmem.register(np.float64(1))
    with raises(TypeError, 'object'):
        shmem.register(np.array([None, 1]))
    with raises(TypeError, 'masked'):
        shmem.register(np.ma.zeros(3))
    for wrong in ([1, 2], 3, 'text', None, object()):
        with raises(WrongType, 'x is a ' + type(wrong).__name__):
            shmem.register(wrong)
    with raises(WrongType, 'Region already'):
        shmem.register(shmem.register(np.zeros(3)))
    for access in (8, -1, 'rw', None, True, 1.0):
        with raises(InvalidArgument, 'access is'):
            shmem.register(a, access=access)
    with raises(WrongType, 'name is a int'):
        shmem.register(a, name=3)
    for name in ('', 'n' * 64, 'a\0b', 'ä' * 40):
        with raises(InvalidArgument, 'name is', '63'):
            shmem.register(a, name=name)
    r = shmem.register(a, name='once')
    with raises(ValueError, 'register', "'once'", 'already'):
        shmem.register(np.zeros(3), name='once')
    shmem.register(a, name='n' * 63)
    with raises(TypeError, 'x', 'twice'):
        shmem.register(x=a, tensor=a)
    assert r.is_open


@on_pes(1)
def test_memory_that_is_not_this_process_alone_or_not_the_heap():
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(65536))
        file.flush()
        with raises(ValueError, 'register'):
            shmem.register(np.memmap(file.name, np.uint8, 'r+'))
        with raises(BadBuffer, 'read-only'):
            shmem.register(np.memmap(file.name, np.uint8, 'r'))
    stack = ctypes.CDLL(None)
    frame = ctypes.c_void_p.in_dll(stack, '__libc_stack_end').value & ~15
    on_stack = (ctypes.c_char * 64).from_address(frame)
    with raises(ValueError, 'stack'):
        shmem.register(on_stack)
    nowhere = (ctypes.c_char * 64).from_address(4096)
    with raises(ValueError, 'register'):
        shmem.register(nowhere)


@on_pes(2)
def test_overlap_and_the_same_array_twice():
    a = np.arange(65536.0)
    whole, again, part, odd = shmem.register(a), shmem.register(a), shmem.register(a[1000:3000]), shmem.register(a[2999:9001])
    other = 1 - shmem.my_pe()
    shmem.barrier()
    assert (shmem.get(part, other) == np.arange(1000.0, 3000)).all()
    shmem.barrier()
    if shmem.my_pe() == 0:
        shmem.put(dst=1, dst_mr=odd, src_mr=np.full(2, -1.0))
    shmem.barrier()
    if shmem.my_pe() == 1:
        assert a[2998] == 2998 and (a[2999:3001] == -1).all() and a[3001] == 3001
    shmem.barrier()
    for r in (whole, odd, again):
        shmem.deregister(r)
    assert a[-1] == 65535
    assert shmem.get(part, other)[-1] == (-1 if other == 1 else 2999)
    shmem.barrier()


@on_pes(2)
def test_found_by_name_and_number():
    me = shmem.my_pe()
    other = 1 - me
    a = np.full(4, me, np.int32)
    early = shmem.register(a)
    if me == 1:
        time.sleep(0.2)  # PE 0 looks before it is there
    named = shmem.register(np.full((2, 2), me + 10, np.float64), name='table', access=shmem.REMOTE_READ)
    found = shmem.region(other, name='table')
    assert found.owner == other and found.id == 1 and found.name == 'table' and found.size == 32
    assert found.dtype == np.float64 and found.shape == (4,) and found.access == shmem.REMOTE_READ
    assert (shmem.get(found) == other + 10).all() and (shmem.get(found, other) == other + 10).all()
    by_number = shmem.region(other, index=0)
    assert (shmem.get(by_number) == other).all() and by_number.dtype == np.int32
    own = shmem.region(me, name='table')
    assert (shmem.get(own) == me + 10).all()
    assert own.owner == me and named.addr == named.array.ctypes.data
    with raises(ValueError, 'PE %d' % other, 'PE %d' % me):
        shmem.get(found, me)
    with raises(ValueError, 'peer'):
        found.array
    with raises(InvalidArgument, 'deregister', 'PE %d' % other):
        shmem.deregister(found)
    with raises(TimeoutError, 'PE %d' % other, "'never'"):
        shmem.region(other, name='never', timeout=0.05)
    with raises(shmem.Timeout, 'region 99'):
        shmem.region(other, index=99, timeout=0)
    with raises(TypeError, 'both'):
        shmem.region(other, name='table', index=1)
    with raises(TypeError, 'missing'):
        shmem.region(other)
    with raises(IndexError, 'pe is 2', '0 to 1'):
        shmem.region(2, index=0)
    with raises(OutOfRange, 'index is -1'):
        shmem.region(other, index=-1)
    with raises(TypeError, 'pe is a str'):
        shmem.region('1', index=0)
    with raises(ValueError, 'timeout is -1'):
        shmem.region(other, index=0, timeout=-1)
    found.close()
    with raises(Stale, 'closed'):
        shmem.get(found)
    shmem.barrier()
    shmem.deregister(early)
    shmem.barrier()
    with raises(LookupError, 'PE %d' % other, 'deregistered'):
        shmem.get(by_number)
    with raises(Stale, 'deregistered'):
        shmem.region(other, index=0)
    shmem.barrier()


@on_pes(2)
def test_names_may_be_used_again():
    me = shmem.my_pe()
    for turn in range(3):
        with shmem.register(np.full(3, 10 * turn + me), name='again') as r:
            shmem.barrier()
            assert shmem.get(r, 1 - me)[0] == 10 * turn + 1 - me
            shmem.barrier()


@on_pes(2)
def test_regions_that_correspond_must_agree():
    me = shmem.my_pe()
    bytes_differ = shmem.register(np.zeros(3 + me))
    types_differ = shmem.register(np.zeros(3, [np.int64, np.float64][me]))
    shmem.barrier()
    with raises(ValueError, 'PE 0', 'PE 1', '24', '32'):
        shmem.put(bytes_differ, 1 - me)
    with raises(InvalidArgument, 'PE 0', 'PE 1'):
        shmem.get(types_differ, 1 - me)
    with raises(InvalidArgument, 'PE 0', 'PE 1'):
        shmem.peer(types_differ, 1 - me)
    if me == 0:
        alone = shmem.register(np.zeros(2))
        began = time.monotonic()
        with raises(TimeoutError, 'PE 1', 'region 2'):
            shmem.put(alone, 1, timeout=0.1)
        assert time.monotonic() - began < 1
    shmem.barrier()


@on_pes(2)
def test_the_last_reference_deregisters():
    me = shmem.my_pe()
    a = np.zeros(1000)
    r = shmem.register(a)
    theirs = shmem.region(1 - me, index=0)
    shmem.barrier()
    del r
    shmem.barrier()
    with raises(Stale, 'deregistered'):
        shmem.get(theirs)
    a[:] = 1
    # In a cycle, too.
    class Holder:
        pass
    h = Holder()
    h.region, h.self = shmem.register(a), h
    shmem.barrier()
    theirs = shmem.region(1 - me, index=1)
    shmem.barrier()
    del h
    gc.collect()
    shmem.barrier()
    with raises(Stale, 'deregistered'):
        shmem.get(theirs)
    # The region holds the array.
    kept = shmem.register(np.full(100000, 5.0))
    shmem.barrier()
    assert (shmem.get(kept, 1 - me) == 5).all()
    shmem.barrier()


@on_pes(1, 2, bare=True)
def test_stale_regions_raise():
    shmem.init()
    a = np.zeros(4, np.int64)
    r = shmem.register(a)
    with r as same:
        assert same is r
    calls = [lambda: shmem.put(r, 0), lambda: shmem.get(r, 0), lambda: shmem.atomic_add(r, 1, 0), lambda: shmem.wait(r),
             lambda: shmem.wait_until(r, '==', 0), lambda: shmem.peer(r, 0), lambda: shmem.deregister(r), lambda: r.close(),
             lambda: shmem.get(shmem.register(np.zeros(4, np.int64)), 0, out=r),
             lambda: shmem.put_signal(r, 0, signal=r, value=1), lambda: shmem.put(dst=0, dst_mr=None, src_mr=r)]
    for call in calls:
        with raises(Stale, 'deregistered'):
            call()
    with r:  # leaving the block of a region that has ended is no error
        pass
    old = shmem.register(a)
    shmem.finalize()
    assert not old.is_open
    for call in (lambda: shmem.get(old, 0), lambda: shmem.deregister(old)):
        with raises(shmem.NotInitialized, 'finalize'):
            call()
    a[:] = 7
    assert old.array is a
    if os.environ['SHMEM_SIZE'] == '1':  # a job may follow a job
        shmem.init()
        with raises(Stale, 'over'):
            shmem.get(old, 0)
        new = shmem.register(a)
        assert (shmem.get(new, 0) == 7).all()
        shmem.finalize()


@on_pes(2)
def test_deregister_while_another_thread_waits():
    r = shmem.register(np.zeros(4))
    caught = []

    def waiter():
        try:
            shmem.wait(r)
        except shmem.Error as error:
            caught.append(error)

    thread = threading.Thread(target=waiter)
    thread.start()
    time.sleep(0.1)
    shmem.deregister(r)
    thread.join(5)
    assert not thread.is_alive() and isinstance(caught[0], Stale) and 'deregistered' in str(caught[0])
    shmem.barrier()


@on_pes(2)
def test_access():
    me = shmem.my_pe()
    other = 1 - me
    kinds = {'local': shmem.LOCAL_ONLY, 'read': shmem.REMOTE_READ, 'write': shmem.REMOTE_WRITE,
             'atomic': shmem.REMOTE_ATOMIC}
    r = {name: shmem.register(np.full(4, me, np.int64), access=access, name=name) for name, access in kinds.items()}
    shmem.barrier()
    for name in ('local', 'write', 'atomic'):
        with raises(PermissionError, 'get', f'PE {other}', 'read'):
            shmem.get(r[name], other)
        with raises(PermissionError, 'peer', f'PE {other}', 'READ'):
            shmem.peer(r[name], other)
    for name in ('local', 'read', 'atomic'):
        with raises(PermissionError, 'put', f'PE {other}', 'write'):
            shmem.put(r[name], other)
    for name in ('local', 'read', 'write'):
        with raises(PermissionError, 'atomic_add', f'PE {other}'):
            shmem.atomic_add(r[name], 1, other)
    assert (shmem.get(r['read'], other) == other).all()
    view = shmem.peer(r['read'], other)
    assert not view.flags.writeable and (view == other).all()
    shmem.atomic_add(r['atomic'], 5, other)
    shmem.barrier()
    shmem.put(dst=other, dst_mr=r['write'], src_mr=np.full(4, me))
    shmem.barrier()
    assert (r['write'].array == other).all() and r['atomic'].array.tolist() == [me + 5, me, me, me]
    # What the owner itself does is not limited.
    for name in kinds:
        shmem.put(r[name], me)
        shmem.get(r[name], me)
    shmem.barrier()


@on_pes(2)
def test_register_in_two_threads():
    parts = [np.zeros(100) for _ in range(64)]
    made = [None] * 64

    def some(first):
        for i in range(first, 64, 2):
            made[i] = shmem.register(parts[i], name=f'part {i}')

    threads = [threading.Thread(target=some, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    me = shmem.my_pe()
    shmem.barrier()
    for i in range(64):
        shmem.put(dst=1 - me, dst_mr=made[i], src_mr=np.full(100, float(i)))
    shmem.barrier()
    assert all((parts[i] == i).all() for i in range(64))
    shmem.barrier()
