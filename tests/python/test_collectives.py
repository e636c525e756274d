# SPDX-License-Identifier: Apache-2.0
"""all_reduce, broadcast and all_gather on any memory."""

import array

import numpy as np
import shmem
from jobs import on_pes, raises
from shmem.errors import BadBuffer, InvalidArgument, OutOfRange, WrongType

INTEGERS = ('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64')
FLOATS = ('float16', 'float32', 'float64', 'longdouble')
FOLDS = {'sum': np.add, 'prod': np.multiply, 'min': np.minimum, 'max': np.maximum, 'and': np.bitwise_and,
         'or': np.bitwise_or, 'xor': np.bitwise_xor}


def data_of(pe, n, dtype):
    """What PE pe contributes: n elements, small enough for exact sums and products of four."""
    raw = np.random.default_rng(pe).integers(1, 4, n)
    return raw.astype(dtype) if np.dtype(dtype).kind != 'c' else (raw + 1j * raw[::-1]).astype(dtype)


@on_pes(1, 2, 4)
def test_all_reduce_types_and_operations():
    me, n = shmem.my_pe(), shmem.n_pes()
    for dtype in (*INTEGERS, *FLOATS, 'complex64', 'complex128'):
        operations = ['sum', 'prod']
        operations += ['min', 'max'] if dtype[0] != 'c' else []
        operations += ['and', 'or', 'xor'] if dtype in INTEGERS else []
        for op in operations:
            x = data_of(me, 1000, dtype)
            want = data_of(0, 1000, dtype)
            for pe in range(1, n):
                want = FOLDS[op](want, data_of(pe, 1000, dtype))
            assert shmem.all_reduce(x, op) is x
            assert x.dtype == np.dtype(dtype) and np.array_equal(x, want), (dtype, op)
    for other, name in {'product': 'prod', 'bor': 'or', 'minimum': 'min'}.items():
        x, y = data_of(me, 10, 'int32'), data_of(me, 10, 'int32')
        assert (shmem.all_reduce(x, other) == shmem.all_reduce(y, name)).all()
    for op in ('and', 'or', 'xor', 'min', 'max'):
        x = np.arange(8) % (me + 2) == 0
        want = np.arange(8) % 2 == 0
        for pe in range(1, n):
            mask = np.arange(8) % (pe + 2) == 0
            want = {'and': want & mask, 'or': want | mask, 'xor': want ^ mask, 'min': want & mask, 'max': want | mask}[op]
        assert (shmem.all_reduce(x, op) == want).all() and x.dtype == bool, op


@on_pes(1, 2, 4)
def test_all_reduce_sizes_and_memory():
    me, n = shmem.my_pe(), shmem.n_pes()
    total = n * (n + 1) // 2
    for size in (0, 1, 2, 3, 17, 255, 4096, 65537, 300001):
        x = np.arange(size, dtype=np.float32) % 1000 * (me + 1)
        shmem.all_reduce(x)
        assert np.array_equal(x, np.arange(size, dtype=np.float32) % 1000 * total), size
    for x in (np.full((), me + 1), np.full((2, 3, 4), me + 1), np.full(10, me + 1)[3:7], array.array('q', [me + 1] * 3)):
        assert shmem.all_reduce(x) is x and (np.asarray(x) == total).all()
    raw = bytearray([me + 1] * 8)
    shmem.all_reduce(raw)
    assert raw == bytes([total] * 8)
    r = shmem.register(np.full(1000, me + 1.0))
    assert shmem.all_reduce(r) is r and (r.array == total).all()
    s = shmem.full(1000, me + 1.0)
    shmem.all_reduce(s, op='sum')
    assert (s == total).all()
    for dtype in FLOATS:
        x = np.full(100, me + 0.5, dtype)
        shmem.all_reduce(x, 'avg')
        assert np.allclose(x, n / 2) and x.dtype == np.dtype(dtype)
        y = np.full(100, me + 0.5, dtype)
        assert np.array_equal(shmem.all_reduce(y, 'mean'), x)


@on_pes(4)
def test_the_same_bits_everywhere():
    x = np.random.default_rng(shmem.my_pe()).standard_normal(50000).astype(np.float32)
    y = x.astype(np.float16)
    shmem.all_reduce(x)
    shmem.all_reduce(y)
    for z in (x, y):
        every = shmem.all_gather(z)
        assert all(np.array_equal(every[0], every[pe]) for pe in range(4))


@on_pes(1, 2, 4)
def test_broadcast():
    me, n = shmem.my_pe(), shmem.n_pes()
    for root in range(n):
        for size in (0, 1, 7, 4096, 1 << 20):
            x = np.arange(size, dtype=np.uint8) + me
            assert shmem.broadcast(x, root) is x
            assert np.array_equal(x, np.arange(size, dtype=np.uint8) + root)
    x = np.zeros(3, [('a', 'i4'), ('b', 'S5')])
    x['a'] = me
    shmem.broadcast(x, root=n - 1)
    assert (x['a'] == n - 1).all()
    y = np.full(4, np.datetime64(me, 's'))
    assert (shmem.broadcast(tensor=y, src=0) == np.datetime64(0, 's')).all()
    r = shmem.register(np.full(4, me))
    shmem.broadcast(r)
    assert (r.array == 0).all()


@on_pes(1, 2, 4)
def test_all_gather():
    me, n = shmem.my_pe(), shmem.n_pes()
    x = np.arange(6, dtype=np.int16).reshape(2, 3) + 10 * me
    every = shmem.all_gather(x)
    assert every.shape == (n, 2, 3) and every.dtype == np.int16
    assert all((every[pe] == np.arange(6).reshape(2, 3) + 10 * pe).all() for pe in range(n))
    out = np.zeros((n * 2, 3), np.int16)
    assert shmem.all_gather(x, out=out) is out and np.array_equal(out.reshape(n, 2, 3), every)
    constant = x.copy()
    constant.flags.writeable = False
    assert np.array_equal(shmem.all_gather(constant), every)
    assert shmem.all_gather(bytes([me, 7])).tolist() == [[pe, 7] for pe in range(n)]
    assert shmem.all_gather(np.zeros((0, 3))).shape == (n, 0, 3)
    big = shmem.all_gather(np.full(1 << 18, me, np.int32))
    assert big.shape == (n, 1 << 18) and all((big[pe] == pe).all() for pe in range(n))
    with raises(InvalidArgument, 'all_gather', 'out has'):
        shmem.all_gather(x, out=np.zeros(n * 6 + 1, np.int16))


@on_pes(1, 2)
def test_bad_collectives():
    a = np.arange(12.0).reshape(3, 4)
    for fn in ('all_reduce', 'broadcast', 'all_gather'):
        call = getattr(shmem, fn)
        with raises(BufferError, fn, 'not contiguous', '(4, 3)', 'x.T'):
            call(a.T)
        with raises(BadBuffer, fn, 'not contiguous', 'ascontiguousarray'):
            call(a[:, ::2])
        with raises(TypeError, fn, 'object'):
            call(np.array([None]))
        for wrong in ([1.0], None, 'text'):
            with raises(WrongType, fn, 'x is a ' + type(wrong).__name__):
                call(wrong)
        for wrong in (1, 1.0, 1j, np.float64(1)):
            with raises(WrongType, fn, 'x is a ' + type(wrong).__name__, 'in place'):
                call(wrong)
        with raises(TypeError, fn, 'twice'):
            call(x=a, tensor=a)
    read_only = a.copy()
    read_only.flags.writeable = False
    for fn in ('all_reduce', 'broadcast'):
        with raises(BadBuffer, fn, 'read-only'):
            getattr(shmem, fn)(read_only)
        with raises(BadBuffer, fn, 'read-only'):
            getattr(shmem, fn)(b'abc')
    with raises(ValueError, 'all_reduce', "op is 'max '", 'sum, prod'):
        shmem.all_reduce(a, 'max ')
    with raises(ValueError, 'all_reduce', 'op is None'):
        shmem.all_reduce(a, None)
    with raises(TypeError, 'all_reduce', "op is 'and'", 'float64'):
        shmem.all_reduce(a, 'and')
    with raises(TypeError, 'all_reduce', "op is 'avg'", 'int64'):
        shmem.all_reduce(np.zeros(3, np.int64), 'avg')
    with raises(TypeError, 'all_reduce', 'bool', "'or'"):
        shmem.all_reduce(np.zeros(3, bool))
    for dtype in ('M8[s]', 'S3', '>f8', [('a', 'i4')]):
        with raises(TypeError, 'all_reduce', 'cannot be reduced'):
            shmem.all_reduce(np.zeros(3, dtype))
    with raises(ValueError, 'all_reduce'):
        shmem.all_reduce(np.zeros(3, complex), 'max')
    with raises(OutOfRange, 'broadcast', f'root is {shmem.n_pes()}'):
        shmem.broadcast(a, shmem.n_pes())
    with raises(TypeError, 'broadcast', 'root is a float'):
        shmem.broadcast(a, 0.0)
    assert (a == np.arange(12).reshape(3, 4)).all()
    shmem.all_reduce(a)  # nothing was broken


@on_pes(2, 4)
def test_calls_that_differ():
    """All raise, name who differs, and the job goes on."""
    me = shmem.my_pe()
    last = shmem.n_pes() - 1
    different = me == last
    for call in (lambda: shmem.all_reduce(np.zeros(10 + different)), lambda: shmem.all_reduce(np.zeros(5000 + different)),
                 lambda: shmem.all_reduce(np.zeros(10, [np.float64, np.int64][different])),
                 lambda: shmem.all_reduce(np.zeros(10), ['sum', 'max'][different]),
                 lambda: shmem.broadcast(np.zeros(10 + different)), lambda: shmem.broadcast(np.zeros(10), int(different)),
                 lambda: shmem.all_gather(np.zeros(10 + different)),
                 lambda: shmem.all_reduce(np.zeros(1000)) if different else shmem.broadcast(np.zeros(1000))):
        with raises(InvalidArgument, f'PE {last}' if not different else 'PE 0', f'PE {me}'):
            call()
        x = np.full(3, me)
        shmem.all_reduce(x, 'max')
        assert (x == last).all()
