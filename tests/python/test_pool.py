# SPDX-License-Identifier: Apache-2.0
"""Pools: arrays on memory that processes share which were not started together. Nothing here calls shmem.init()."""

import copy
import gc
import os
import pickle
import signal
import weakref

import numpy as np
import pytest
import shmem
from jobs import PYTHON, environment, program, raises, run, start

try:
    import torch
except ImportError:
    torch = None

DTYPES = ['?', 'i1', 'u2', 'i4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16', '>i4', 'S5', 'U3', 'V7', 'M8[ns]', 'm8[s]', 'g',
          [('a', 'i4'), ('b', 'f8', (2, 3))],
          np.dtype({'names': ['y', 'x'], 'formats': ['i2', [('in', 'u1'), ('ner', '>f4')]], 'offsets': [12, 0],
                    'itemsize': 32})]


@pytest.fixture
def pool():
    with shmem.create_pool('16M') as made:
        yield made


def in_use(pool):
    gc.collect()
    return pool.stats().in_use


# --- arrays -------------------------------------------------------------------------------------------------------------------


def test_an_array_is_an_array(pool):
    a = pool.alloc((3, 4), np.float32)
    assert isinstance(a, np.ndarray) and isinstance(a, shmem.Buffer)
    assert a.shape == (3, 4) and a.dtype == np.float32 and a.flags.c_contiguous and a.flags.writeable
    a[:] = np.arange(12).reshape(3, 4)
    assert (a.T @ np.ones(3) == np.arange(12).reshape(3, 4).T.sum(axis=1)).all()
    assert a.sum() == 66 and a[1:, ::2].sum() == 28 and a.max(axis=0).tolist() == [8, 9, 10, 11]
    a += 1
    np.copyto(a[0], 7)
    np.multiply(a, 2, out=a)
    assert a[0].tolist() == [14] * 4 and a[2, 3] == 24
    assert np.shares_memory(a, a.reshape(-1)) and np.shares_memory(np.asarray(a), a)
    assert pool.alloc(5).dtype == np.float64 and pool.alloc(5).shape == (5,)


def test_what_arithmetic_returns_is_plain(pool):
    a = pool.alloc(6, 'i4', fill=3)
    for made in (a + 1, -a, a * a, a == 3, np.sqrt(a), a.sum(keepdims=True), np.add(a, 1), a.mean(axis=0, keepdims=True),
                 a.copy(), a.astype('f8'), a.flatten(), a.take([1, 2]), a.repeat(2), copy.copy(a), copy.deepcopy(a),
                 np.cumsum(a), np.array(a)):
        assert type(made) is np.ndarray, type(made)
        assert not np.shares_memory(made, a)
    for made in (a.sum(), a[0], a.max(), np.dot(a, a), a.mean()):
        assert isinstance(made, np.generic), type(made)
    for made in (a[1:], a.reshape(2, 3), a.T, a.view('u1'), a[None], a[...], a.ravel(), a.astype('i4', copy=False)):
        assert type(made) is shmem.Buffer and np.shares_memory(made, a)
    before = a
    a += 1
    assert a is before and type(a) is shmem.Buffer
    assert np.add(a, 1, out=a) is a
    other = np.zeros(6, 'i4')
    assert np.add(a, 1, out=other) is other and type(other) is np.ndarray
    assert [type(x) for x in np.divmod(a, 2)] == [np.ndarray, np.ndarray]


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
def test_every_dtype(pool, dtype):
    kind = np.dtype(dtype)
    a = pool.alloc((2, 3), dtype, zero=True)
    assert a.dtype == kind and a.nbytes == 6 * kind.itemsize and not a.tobytes().strip(b'\0')
    key = pool.export(a[:, ::2])
    b = shmem.import_(key)
    assert b.dtype == kind and b.shape == (2, 2) and b.strides == a[:, ::2].strides and np.shares_memory(a, b)
    again = pickle.loads(pickle.dumps(a[1]))
    assert again.dtype == kind and np.shares_memory(again, a) and again.shape == (3,)


def test_empty_arrays(pool):
    for shape in (0, (0,), (3, 0), (0, 5, 2)):
        a = pool.alloc(shape, 'f4')
        assert a.size == 0 and a.shape == (shape if isinstance(shape, tuple) else (shape,))
        assert shmem.import_(pool.export(a)).shape == a.shape
        assert pickle.loads(pickle.dumps(a)).shape == a.shape
        pool.free(a)
    assert pool.alloc((), 'i8', fill=4)[()] == 4
    assert in_use(pool) == 0


def test_contents(pool):
    assert (pool.alloc(1000, 'u1', zero=True) == 0).all() and (pool.alloc((3, 2), 'i4', fill=7) == 7).all()
    assert pool.alloc((2, 3), 'f8', fill=[1, 2, 3]).tolist() == [[1, 2, 3]] * 2
    assert pool.alloc((2, 3), 'f8', fill=np.eye(2, 3), name='eye').tolist() == np.eye(2, 3).tolist()
    assert pool.alloc(300, 'i4', fill=-5, name='many').tolist() == [-5] * 300
    assert pool.alloc(5 << 20, 'u1', zero=True, own=True).max() == 0
    assert pool.alloc(4, 'u1', zero=True, name='zeros').tolist() == [0] * 4


@pytest.mark.parametrize('align', [1, 8, 64, 4096, 65536, 2 << 20])
def test_alignment(pool, align):
    for _ in range(3):
        a = pool.alloc(100, 'u1', align=align)
        assert a.ctypes.data % align == 0


def test_bad_arguments(pool):
    with raises(TypeError, 'Pool.alloc', 'pointers'):
        pool.alloc(3, object)
    with raises(TypeError, 'pointers'):
        pool.alloc(3, [('a', 'i4'), ('b', 'O')])
    with raises(TypeError, 'dtype'):
        pool.alloc(3, 'no such thing')
    with raises(ValueError, 'not negative'):
        pool.alloc(-1)
    with raises(ValueError, 'not negative'):
        pool.alloc((-1, -1))
    with raises(TypeError, 'shape'):
        pool.alloc((2, 1.5))
    with raises(ValueError, 'power of two'):
        pool.alloc(3, align=48)
    with raises(ValueError, 'fill'):
        pool.alloc((2, 3), fill=[1, 2])
    with raises(ValueError, 'fill'):
        pool.alloc(5 << 20, 'u1', fill=[1, 2])
    with raises(MemoryError):
        pool.alloc((1 << 40, 1 << 40))
    with raises(ValueError, 'own', 'name'):
        pool.alloc(3, own=True, name='x')
    with raises(ValueError, 'outlive'):
        pool.alloc(3, own=True, keep=True)
    for function in (pool.free, pool.keep):
        with raises(TypeError):
            function([1])
        with raises(ValueError):
            function(np.zeros(3))
    with raises(TypeError):
        shmem.Pool()
    for size in ('12Q', '', 'M', '-3', '1..2'):
        with raises(ValueError, 'create_pool', 'size'):
            shmem.create_pool(size)
    with raises(TypeError, 'size'):
        shmem.create_pool(1.5)
    with raises(shmem.Error, 'size'):
        shmem.create_pool(0)
    with raises(ValueError, 'cache'):
        shmem.create_pool('1M', cache='soon')
    with raises(TypeError, 'name'):
        shmem.create_pool('1M', name=3)
    with raises(TypeError, 'shmem.create_pool'):
        shmem.create_pool('1M', type=3)


def test_sizes_as_text():
    for text, size in (('64k', 64 << 10), ('1M', 1 << 20), ('1.5m', 3 << 19), ('2MiB', 2 << 20), ('1048576', 1 << 20)):
        with shmem.create_pool(text) as pool:
            assert pool.stats().size == size, text
    with shmem.create_pool(np.int64(1 << 20), max_size='4M') as pool:
        assert pool.stats().max_size == 4 << 20


def test_a_full_pool():
    with shmem.create_pool('1M', max_size='2M') as pool:
        held = pool.alloc(900 << 10, 'u1')
        with raises(shmem.PoolFull, 'Pool.alloc', 'in use', 'largest free'):
            pool.alloc(200 << 10, 'u1')
        assert 'no room' in pool.stats().failure
        held[:] = 5
        pool.grow('2M')
        assert pool.stats().size == 2 << 20 and (held == 5).all()
        more = pool.alloc(1 << 20, 'u1')
        more[:] = 6
        assert (held == 5).all()
        with raises(shmem.errors.OutOfRange, 'max_size'):
            pool.grow('3M')
    with shmem.create_pool('1M', grow=True) as pool:
        arrays = [pool.alloc(100 << 10, 'u1', fill=i) for i in range(50)]
        assert all((a == i).all() for i, a in enumerate(arrays)) and pool.stats().size >= 5 << 20


# --- whose memory it is ---------------------------------------------------------------------------------------------------------


def test_the_last_array_gives_it_back(pool):
    a = pool.alloc(1000)
    view = a[10:20].reshape(2, 5)
    plain = np.asarray(a)
    assert in_use(pool) > 0
    del a
    assert in_use(pool) > 0
    del view
    assert in_use(pool) > 0
    del plain
    assert in_use(pool) == 0


def test_exported_kept_and_named_stay(pool):
    for hold in (pool.export, pool.keep, lambda a: pool.name(a, 'n'), pickle.dumps, lambda a: pool.export(a[3:])):
        a = pool.alloc(1000)
        hold(a)
        before = in_use(pool)
        del a
        assert in_use(pool) == before > 0
        pool.close()
        pool = shmem.create_pool('1M')
    kept = pool.alloc(1000, keep=True)
    address = kept.ctypes.data
    del kept
    assert in_use(pool) > 0
    assert all(pool.alloc(1000).ctypes.data != address for _ in range(1000))


def test_exporting_what_numpy_lost_track_of(pool):
    if torch is None:
        pytest.skip('torch is not installed')
    a = pool.alloc(1000, 'f4', fill=2)
    key = shmem.export(torch.from_numpy(a))
    del a
    assert in_use(pool) > 0 and (shmem.import_(key) == 2).all()
    pool.free(shmem.import_(key))
    assert in_use(pool) == 0
    b = pool.alloc(1000, 'f4')  # perhaps at the same place, and not exported
    del b
    assert in_use(pool) == 0


@pytest.mark.parametrize('own', [False, True])
def test_free(pool, own):
    a = pool.alloc((10, 10), own=own)
    view, whole = a[2:], a.reshape(100)
    with raises(ValueError, 'view', '(10, 10)', 'buf.base'):
        pool.free(view)
    key = pool.export(a)
    pool.free(a)
    assert not a.flags.writeable
    with pytest.raises(ValueError):
        a[0] = 1
    with raises(shmem.errors.Stale, 'freed already'):
        pool.free(a)
    with raises(shmem.errors.Stale, 'freed'):
        pool.free(whole)
    with raises(shmem.errors.Stale):
        pool.keep(a)
    with raises(shmem.errors.Stale):
        pool.export(a)
    with raises(shmem.errors.Stale):
        pickle.dumps(a)
    with raises(shmem.KeyRevoked):
        shmem.import_(key)
    assert whole[5] is not None  # looks at memory that may be another's, and does not crash
    del a, view, whole
    assert in_use(pool) == 0
    b = pool.alloc(7)
    pool.free(b.reshape(7))
    with shmem.create_pool('1M') as other:
        c = other.alloc(3)
        with raises(ValueError, 'another pool'):
            pool.free(c)
        del c


def test_own_segments(pool):
    large = pool.alloc(4 << 20, 'u1')
    assert pool.stats().owned == 1
    small = pool.alloc((4 << 20) - 1, 'u1')
    no = pool.alloc(4 << 20, 'u1', own=False)
    assert pool.stats().owned == 1
    yes = pool.alloc(10, own=True)
    assert pool.stats().owned == 2
    kept = pool.alloc(4 << 20, 'u1', keep=True)
    assert pool.stats().owned == 2
    for a in (large, small, no, yes, kept):
        a[:] = 1
    pool.free(kept)
    del large, small, no, yes, kept, a
    assert in_use(pool) == 0 and pool.stats().owned == 0


def test_without_descriptors(tmp_path):
    """Falls back to the main segment only where nobody asked for a segment of its own."""
    text = program(tmp_path, '''
        import resource, shmem
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        pool = shmem.create_pool('64M')
        arrays = [pool.alloc(4 << 20, 'u1') for _ in range(10)]
        assert 0 < pool.stats().owned < 10, pool.stats()
        for a in arrays: a[:] = 1
        try:
            held = [pool.alloc(10, own=True) for _ in range(10)]
        except shmem.errors.OutOfMemory as error:
            assert 'descriptor' in str(error) or 'open files' in str(error), error
        else:
            raise AssertionError('all had segments of their own')
        ''')
    run([PYTHON, text], env=environment()).ok()


def test_many_small_arrays(tmp_path):
    text = program(tmp_path, '''
        import resource, shmem, numpy as np
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        pool = shmem.create_pool('64M')
        arrays = [pool.alloc(16, 'i4', fill=i) for i in range(100_000)]
        assert pool.stats().buffers == 100_000
        for i, a in enumerate(arrays):
            assert a[0] == i == a[15]
        del arrays, a
        assert pool.stats().buffers == 0
        ''')
    run([PYTHON, text], env=environment()).ok()


def test_a_buffer_outlives_its_pool():
    def make():
        pool = shmem.create_pool('1M')
        return pool.alloc(1000, fill=3), weakref.ref(pool)

    a, pool = make()
    gc.collect()
    assert pool() is None and (a == 3).all()
    a[:] = 4
    key = shmem.export(a)
    assert (shmem.import_(key) == 4).all()
    import_alone = shmem.import_(key)
    del a
    gc.collect()
    assert (import_alone == 4).all()


def test_closing():
    pool = shmem.create_pool('1M')
    a = pool.alloc(10, fill=1)
    pool.close()
    pool.close()
    assert not pool.is_open and repr(pool) == '<shmem.Pool, closed>'
    a[:] = 2
    assert a.sum() == 20
    for call in (lambda: pool.alloc(3), lambda: pool.free(a), pool.stats, pool.info, lambda: pool.grow(1), pool.names,
                 lambda: pool.export(), lambda: pickle.dumps(pool), lambda: pool.find('x')):
        with raises(shmem.errors.Stale, 'closed'):
            call()
    with shmem.create_pool('1M') as other:
        assert other.is_open
    assert not other.is_open


def test_information(pool):
    info = pool.info()
    assert info.type == 'host' and info.name == info.path == info.fallback == '' and info.writable and info.page_size >= 4096
    assert isinstance(info, shmem.PoolInfo) and isinstance(pool.stats(), shmem.PoolStats)
    held = [pool.alloc(100) for _ in range(5)]
    stats = pool.stats()
    assert stats.buffers == 5 and stats.in_use >= 4000 and stats.members == 1 and stats.died == 0 and stats.failure == ''
    assert stats.size == 16 << 20 and stats.free <= stats.size - stats.in_use and 'bytes in 5 buffers' in repr(pool)
    del held


# --- names --------------------------------------------------------------------------------------------------------------------


def test_names(pool):
    a = pool.alloc((2, 3), 'i2', name='weights', fill=5)
    assert pool.names() == ['weights'] == list(pool) and 'weights' in pool and 'other' not in pool
    b = pool['weights']
    assert b.shape == (2, 3) and b.dtype == 'i2' and np.shares_memory(a, b) and (b == 5).all()
    with raises(FileExistsError, 'weights'):
        pool.alloc(3, name='weights')
    with raises(KeyError, "'none'"):
        pool['none']
    assert isinstance(pytest.raises(shmem.NameUnknown, pool.unname, 'none').value, shmem.Error)
    c = pool.alloc((4, 4))
    pool.name(c[1:3, ::2].T, 'part')
    part = pool.find('part')
    assert part.shape == (2, 2) and part.strides == c[1:3, ::2].T.strides and np.shares_memory(part, c)
    part[:] = 7
    assert c[1, 0] == c[2, 2] == 7
    pool.free(c)  # the name of a part goes too, and whoever found it sees that it is stale
    assert pool.names() == ['weights']
    with raises(shmem.errors.Stale, 'freed'):
        pool.free(part)
    pool.unname('weights')
    assert pool.names() == []
    pool.free(b)
    with raises(shmem.errors.Stale, 'freed'):
        pool.free(a)
    del a, b, c, part
    assert in_use(pool) == 0
    with raises(ValueError, 'own'):
        pool.name(pool.alloc(3, own=True), 'x')
    with raises(TypeError, 'name'):
        pool.name(pool.alloc(3), None)
    with raises(ValueError):
        pool.name(pool.alloc(3), '')
    with raises(ValueError, '96'):
        pool.alloc(3, name='x' * 96)
    with raises(ValueError, 'zero character'):
        pool.alloc(3, name='a\0b')


def test_a_dtype_that_is_too_long_to_describe(pool):
    kind = np.dtype([(f'a_rather_long_name_of_a_field_{i}', 'f8') for i in range(40)])
    a = pool.alloc(3, kind)
    with raises(ValueError, '544'):
        pool.export(a)
    with raises(ValueError, '544'):
        pool.alloc(3, kind, name='x')
    assert pickle.loads(pickle.dumps(a)).dtype == kind  # which pickle describes
    assert shmem.import_(pool.export(a.view('u1'))).nbytes == a.nbytes


# --- other processes -----------------------------------------------------------------------------------------------------------


def test_pools_by_name_and_key(tmp_path):
    name = f'test-{os.getpid()}'
    with shmem.create_pool('4M', name=name) as pool:
        assert pool.info().name == name
        a = pool.alloc(1000, 'i4', name='numbers', fill=1)
        with raises(FileExistsError, name):
            shmem.create_pool('1M', name=name)
        text = program(tmp_path, '''
            import shmem, sys
            pool = shmem.open_pool(sys.argv[1])
            pool['numbers'][:] += 1
            mine = pool.alloc(100, 'i4', fill=9)
            kept = pool.alloc(100, 'i4', name='kept', fill=8)
            assert pool.stats().members == 2
            pool.grow('8M')
            print(pool.export(mine))
            ''')
        result = run([PYTHON, text, name], env=environment()).ok()
        assert (a == 2).all() and (pool['kept'] == 8).all() and pool.stats().members == 1 and pool.stats().size == 8 << 20
        mine = shmem.import_(result.out.strip())
        assert (mine == 9).all()  # exported, so it outlives the process
        pool.free(mine)
        pool.unname('kept')
        result = run([PYTHON, text, pool.export()], env=environment()).ok()
        assert (a == 3).all()
        del a, mine
    with raises(shmem.NameUnknown, name):
        shmem.open_pool(name)
    for bad in ('shm1-abc', 'shm1-' + 'A' * 51):
        with raises(shmem.KeyMalformed):
            shmem.open_pool(bad)
    with raises(TypeError):
        shmem.open_pool(None)


def test_a_pool_can_be_pickled(tmp_path):
    with shmem.create_pool('1M') as pool:
        pool.alloc(4, 'i4', name='x', fill=3)
        assert pickle.loads(pickle.dumps(pool)) is pool
        text = program(tmp_path, '''
            import pickle, sys
            pools = [pickle.loads(bytes.fromhex(sys.argv[1])) for _ in range(3)]
            assert pools[0] is pools[2]
            pools[0]['x'][0] += 1
            ''')
        run([PYTHON, text, pickle.dumps(pool).hex()], env=environment()).ok()
        assert pool['x'].tolist() == [4, 3, 3, 3]


def test_a_killed_process_leaves_nothing():
    with shmem.create_pool('8M') as pool:
        child = start([PYTHON, '-c', f'''
import shmem, time
pool = shmem.open_pool({pool.export()!r})
held = [pool.alloc(1000) for _ in range(100)]
kept = pool.alloc(10, 'i4', keep=True)
print('ready', flush=True)
time.sleep(60)'''], env=environment())
        child.wait_for('ready')
        assert pool.stats().buffers == 101 and pool.stats().members == 2
        os.kill(child.pid, signal.SIGKILL)
        child.finish()
        blocks = [pool.alloc(100 << 10, 'u1') for _ in range(70)]  # more than there was room for
        assert pool.stats().buffers == 71 and pool.stats().died == 1
        del blocks


def test_the_end_of_the_interpreter(tmp_path):
    """Whatever is alive then, nothing crashes, and files are in order."""
    text = program(tmp_path, '''
        import atexit, os, sys, threading, shmem, numpy as np
        def late():
            array[:] = 1; own[:] = 2; imported[:] = 3; assert array.sum() >= 0
        pool = shmem.create_pool('8M')
        file = shmem.create_file(sys.argv[1], '1M')
        array = pool.alloc(1000)
        own = pool.alloc(1000, own=True)
        imported = shmem.import_(pool.export(own))
        named = file.alloc(10, 'i4', name='x', fill=7)
        class Late:
            def __del__(self, late=late): late()
        keep = Late(); keep.me = keep
        sys.modules['late'] = Late()
        cycle = [pool, array, file]; cycle.append(cycle)
        def work():
            while True:
                array[:] += 1
                try: pool.alloc(10); pool.alloc(1 << 20, 'u1')
                except shmem.errors.Stale: pass
        for _ in range(2): threading.Thread(target=work, daemon=True).start()
        atexit.register(late)
        if len(sys.argv) > 2: sys.exit(int(sys.argv[2]))
        ''')
    for turn in range(8):
        path = tmp_path / f'f{turn}'
        result = run([PYTHON, text, path, *(['3'] if turn % 2 else [])], env=environment())
        assert result.code == (3 if turn % 2 else 0) and result.err == '', result.text
        with shmem.open_file(path, 'r') as file:
            assert file['x'].tolist() == [7] * 10


def test_device_types(tmp_path):
    with raises(shmem.DeviceMissing, 'npu', 'SHMEM_DEVICE_FALLBACK'):
        shmem.create_pool('1M', type='npu')
    with raises(ValueError, 'abc'):
        shmem.create_pool('1M', type='abc')
    with shmem.create_pool('1M', type='auto') as pool:
        assert pool.alloc(3, fill=1).sum() == 3
    text = '''
import shmem
pool = shmem.create_pool('1M', type='npu')
assert pool.alloc(3, fill=1).sum() == 3 and 'npu' in pool.info().fallback'''
    result = run([PYTHON, '-c', text], env=environment(SHMEM_DEVICE_FALLBACK='host')).ok()
    assert result.err.count('npu') == 1


def test_wishes():
    for wish in ({'pages': 'transparent'}, {'pages': '2M'}, {'pages': 1 << 30}, {'numa_node': 0}, {'lock': True},
                 {'cache': 'write-back'}):
        try:
            with shmem.create_pool('2M', **wish) as pool:
                assert pool.alloc(10, fill=1).sum() == 10
                assert not wish.get('lock') or pool.info().locked
        except shmem.Error as error:  # with the reason
            assert isinstance(error, (shmem.NotSupported, MemoryError, PermissionError)) and len(str(error)) > 40, error
    with raises(shmem.Error, 'numa_node'):
        shmem.create_pool('1M', numa_node='x')


def test_threads(pool):
    import threading
    wrong = []

    def work(number):
        for i in range(300):
            a = pool.alloc(np.random.randint(1, 5000), 'i4', fill=number)
            b = shmem.import_(pool.export(a)) if i % 10 == 0 else a
            if not (b == number).all():
                wrong.append(number)
            if i % 10 == 0:
                pool.free(a)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and in_use(pool) == 0


@pytest.mark.skipif(torch is None, reason='torch is not installed')
def test_torch(pool):
    a = pool.alloc((4, 4), 'f4', fill=1)
    t = torch.from_numpy(a)
    t += 1
    assert (a == 2).all()
    del a
    junk = [pool.alloc((4, 4), 'f4', fill=9) for _ in range(100)]
    assert bool((t == 2).all())  # the tensor keeps the buffer
    del t, junk
    assert in_use(pool) == 0

