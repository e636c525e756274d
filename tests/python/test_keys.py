# SPDX-License-Identifier: Apache-2.0
"""Keys: what unrelated processes do with each other's arrays, and what they are refused."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import time

import numpy as np
import pytest
import shmem
from jobs import PYTHON, environment, on_pes, program, raises, run, start

try:
    import torch
except ImportError:
    torch = None

NOBODY = 65534
HEAD = 'import sys, os, ctypes, pickle, numpy as np, shmem\nkey = sys.argv[1]\n'
# When all is imported, for another user need not be able to read it. The last call gives back what the kernel takes
# from whoever changes users: to look into /proc/self.
BECOME = '''os.setgroups([])
os.setresgid({user}, {user}, {user})
os.setresuid({user}, {user}, {user})
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
'''


def there(text, *args, env=None, user=None):
    """Runs the text as an unrelated process, perhaps of another user."""
    become = '' if user is None else BECOME.format(user=user)
    return start([PYTHON, '-c', HEAD + become + text, *map(str, args)], env=env or environment())


def ran(text, *args, **options):
    return there(text, *args, **options).finish().ok().out.strip()


def needs_two_users():
    if os.geteuid() != 0:
        pytest.skip('needs root, to be two users')


@pytest.fixture
def pool():
    with shmem.create_pool('16M') as made:
        yield made
    gc.collect()  # classes and functions that hold arrays are in cycles


# --- importing ----------------------------------------------------------------------------------------------------------------


def test_another_process_maps_it(pool):
    a = pool.alloc((100, 50), np.float32, fill=1)
    said = ran('''
b = shmem.import_(key)
assert isinstance(b, shmem.Buffer) and b.shape == (100, 50) and b.dtype == np.float32 and (b == 1).all()
b += 1
c = shmem.create_pool('1M').import_(key)
d = getattr(shmem.create_pool('1M'), 'import')(key, mode='rw')
c[0, 0] = 9
print(b[0, 0], d[0, 0])''', pool.export(a))
    assert said == '9.0 9.0' and a[0, 0] == 9 and (a.ravel()[1:] == 2).all()


@pytest.mark.parametrize('own', [False, True])
def test_strides_travel(pool, own):
    a = pool.alloc((6, 8, 10), 'i4', own=own)
    a[:] = np.arange(480).reshape(6, 8, 10)
    views = [a[::2], a[::-1], a[:, ::-2, 3], a.T, a[2, 3, 4, ...], a[..., 5:5], np.broadcast_to(a[0, 0], (3, 10), subok=True),
             a.transpose(1, 0, 2)[::-3, 1:, ::4], a.view('u1')[..., 1::4], a.reshape(-1)[7:]]
    for view in views:
        key = pool.export(view)
        for b in (shmem.import_(key, 'rw' if view.flags.writeable else 'r'), pickle.loads(pickle.dumps(view))):
            assert b.shape == view.shape and b.dtype == view.dtype and np.array_equal(b, view)
            assert b.size == 0 or b.strides == view.strides
            assert b.size == 0 or not view.flags.writeable or b.ctypes.data == view.ctypes.data  # to read, it is mapped anew
        said = ran('b = shmem.import_(key, "r"); print(b.shape, b.dtype.str, b.tolist())', key)
        assert said == f'{view.shape} {view.dtype.str} {view.tolist()}'


def test_modes(pool):
    a = pool.alloc(3000, 'i4', fill=1)
    key = pool.export(a)
    said = there('''
r, cow, snap = shmem.import_(key, 'r'), shmem.import_(key, 'cow'), shmem.import_(key, snapshot=True)
assert not r.flags.writeable and cow.flags.writeable and snap.flags.writeable
try: r[0] = 5
except ValueError: pass
else: raise AssertionError('written')
try: r.flags.writeable = True
except ValueError: pass
else: raise AssertionError('made writable')
cow[0] = 7; snap[0] = 8
print('ready', flush=True)
import time
while r[1] == 1: time.sleep(0.001)
assert r[1] == 2 and snap[1] == 1, (r[1], snap[1])
assert r[0] == 1 and cow[0] == 7 and snap[0] == 8
assert cow[2999] == 2   # of a page that was not written to
''', key)
    said.wait_for('ready')
    assert a[0] == 1
    a[2999] = 2
    a[1] = 2
    said.finish().ok()
    with raises(ValueError, 'mode'):
        shmem.import_(key, 'w')
    with raises(ValueError, 'mode'):
        shmem.import_(key, [])


def test_a_write_through_a_read_only_mapping_faults(pool):
    a = pool.alloc(1000, 'u1', fill=1)
    result = there('''
r = shmem.import_(key, 'r')
print('alive', r[0], flush=True)
ctypes.memset(r.ctypes.data, 0, 1)
print('written')''', pool.export(a)).finish()
    assert result.code in (-signal.SIGSEGV, -signal.SIGBUS) and 'alive 1' in result.out and 'written' not in result.out
    assert a[0] == 1


def test_rights_of_a_key(pool):
    a = pool.alloc(100, 'i4', fill=1)
    key = pool.export(a, mode='r')
    ran('''
r = shmem.import_(key, 'r')
for mode in ('rw', 'atomic'):
    try: x = shmem.import_(key, mode)
    except shmem.KeyRefused as error: assert 'grants' in str(error) and isinstance(error, PermissionError), error
    else:
        assert mode == 'atomic' and x.fetch(3) == 1
        try: x.add(3, 1)
        except shmem.KeyRefused: pass
        else: raise AssertionError('added')
assert shmem.import_(key, 'cow')[0] == 1''', key)
    with raises(shmem.KeyRefused):
        shmem.import_(key, 'rw')
    assert not shmem.import_(key, 'r').flags.writeable
    for bad in ('x', 'rx', 'reed', '', 3):
        with raises(shmem.Error, 'right'):
            pool.export(a, mode=bad)


def test_read_only_arrays_are_exported_so(pool):
    a = pool.alloc(100, 'i4', fill=1)
    view = a[:]
    view.flags.writeable = False
    with raises(shmem.KeyRefused):
        shmem.import_(pool.export(view), 'rw')
    assert not pickle.loads(pickle.dumps(view)).flags.writeable and pickle.loads(pickle.dumps(a)).flags.writeable


def test_atomics(pool):
    a = pool.alloc((4, 4), 'i4', fill=0)
    b = pool.alloc(3, 'u8', fill=2**63)
    ran('''
x, y = (shmem.import_(k, mode='atomic') for k in sys.argv[1:])
assert isinstance(x, shmem.AtomicBuffer) and x.shape == (4, 4) and x.dtype == np.int32
for _ in range(100): x.add((1, 2), 1)
assert x.fetch_add((1, 2), -200) == 100 and x.fetch((1, -2)) == -100
assert x.cas((0, 0), 1, 5) == 0 and x.fetch((0, 0)) == 0 and x.cas((0, 0), 0, 5) == 0 and x.fetch((0, 0)) == 5
assert x.swap((0, 1), -7) == 0 and x.swap((0, 1), 6) == -7
assert x.or_((0, 1), 9) == 6 and x.and_((0, 1), 12) == 15 and x.xor((0, 1), -1) == 12 and x.fetch((0, 1)) == -13
x.set((3, 3), -2**31)
assert y.fetch(0) == 2**63 and y.fetch_add(0, 2**63 + 1) == 2**63 and y.fetch(0) == 1
z = pickle.loads(pickle.dumps(x)); assert z.fetch((3, 3)) == -2**31
for index, value in (((4, 0), 1), (0, 1), ((0, -5), 1), ((0, 0), 2**31)):
    try: x.add(index, value)
    except IndexError: pass
    else: raise AssertionError(index)
try: x.add((0, 1.5), 1)
except TypeError: pass
else: raise AssertionError
''', pool.export(a), pool.export(b[::2]))
    assert a[1, 2] == -100 and a[0, 0] == 5 and a[0, 1] == -13 and a[3, 3] == -2**31 and b[0] == 1
    mine = shmem.import_(pool.export(a[::-1, ::2]), 'atomic')
    mine.add((0, 1), 4)
    assert a[3, 2] == 4
    with raises(TypeError, 'float64'):
        shmem.import_(pool.export(pool.alloc(3)), 'atomic')


def test_wrong_keys(pool):
    key = pool.export(pool.alloc(3))
    for bad in ('', 'abc', key[:-1], key + 'A', key[:-2] + ('B' if key[-2] != 'B' else 'C') + key[-1],
                key.replace('-', '!', 1), key[:9] + ' ' + key[10:]):
        with raises(shmem.KeyMalformed):
            shmem.import_(bad)
        with raises(shmem.KeyMalformed):
            shmem.revoke(bad)
    for bad in (None, 3, key.encode()):
        with raises(TypeError, 'key'):
            shmem.import_(bad)
    with raises(ValueError, 'whole pool'):
        shmem.import_(pool.export())
    with raises(ValueError, 'token'):
        shmem.import_(key, token='xyz')
    with raises(TypeError, 'token'):
        shmem.import_(key, token=3)
    gone = ran("pool = shmem.create_pool('1M'); print(pool.export(pool.alloc(3)))", 'x')
    with raises(shmem.KeyOrphaned):
        shmem.import_(gone)
    assert issubclass(shmem.KeyOrphaned, LookupError)


def test_revoking(pool):
    a = pool.alloc(100, 'i4', fill=1)
    key, other = pool.export(a), pool.export(a)
    child = there('''
b = shmem.import_(key)
print('ready', flush=True)
import time
while b[0] == 1: time.sleep(0.001)
try: shmem.import_(key)
except shmem.KeyRevoked: pass
else: raise AssertionError('imported')
shmem.import_(sys.argv[2])[:] = 3
assert b[5] == 3''', key, other)
    child.wait_for('ready')
    pool.revoke(key)
    with raises(shmem.KeyRevoked):
        pool.revoke(key)
    with raises(shmem.KeyRevoked):
        shmem.import_(key)
    a[0] = 2
    child.finish().ok()
    assert (a == 3).all()
    with raises(ValueError, 'own'):
        pool.revoke(other, move=True)


def test_revoking_by_moving(pool, tmp_path):
    a = pool.alloc(3000, 'i4', own=True, fill=1)
    key, other = pool.export(a), pool.export(a[5:])
    child = there('''
b = shmem.import_(key)
print('ready', flush=True)
import time
while not os.path.exists(sys.argv[2]): time.sleep(0.001)
assert (b == 1).all()   # the abandoned copy
b[:] = 4''', key, gate := tmp_path / 'gate')
    child.wait_for('ready')
    pool.revoke(key, move=True)
    assert (a == 1).all()
    a[:] = 2
    with raises(shmem.KeyRevoked):
        shmem.import_(other)
    gate.touch()
    child.finish().ok()
    assert (a == 2).all()
    assert (shmem.import_(pool.export(a)) == 2).all()


def test_the_same_process(pool):
    a = pool.alloc(100, 'i4', own=True, fill=1)
    b = shmem.import_(pool.export(a))
    assert b.ctypes.data == a.ctypes.data
    key = pool.export(a)
    pool.free(a)
    del a
    b[:] = 5  # stays mapped
    assert (b == 5).all()
    with raises(shmem.KeyRevoked):
        shmem.import_(key)
    with raises(shmem.errors.Stale):
        pool.free(b)
    del b
    gc.collect()  # newer versions of Python keep frames of errors, and those their variables
    assert pool.stats().in_use == 0
    c = pool.alloc(100, 'i4', own=True, fill=6)
    key = pool.export(c)
    del c  # exported: stays
    d = shmem.import_(key)
    assert (d == 6).all() and pool.stats().owned == 1
    pool.free(d)
    assert (d == 6).all()
    with raises(shmem.KeyRevoked):
        shmem.import_(key)
    del d
    assert pool.stats().owned == 0


def test_freeing_by_a_key(pool):
    a = pool.alloc(100, 'i4')
    part, whole = shmem.import_(pool.export(a[:10])), shmem.import_(pool.export(a))
    with raises(ValueError, 'part'):
        pool.free(part)
    pool.free(whole)
    others = [pool.alloc(100, 'i4') for _ in range(100)]  # one of them where it was
    for x in (a, whole):
        with raises(shmem.errors.Stale, 'freed already'):
            pool.free(x)
    assert pool.stats().buffers == 100
    del others


def test_frozen(pool):
    a = pool.alloc(3000, 'i4', own=True, fill=1)
    key = pool.export(a, frozen=True)
    ran('''
assert (shmem.import_(key, 'r') == 1).all()
try: shmem.import_(key, 'rw')
except shmem.KeyRefused: pass
else: raise AssertionError('imported')''', key)
    a[0] = 2  # what is mapped for writing stays so
    with raises(shmem.errors.AccessDenied, 'own'):
        pool.export(pool.alloc(3), frozen=True)


def test_the_exporter_is_killed(pool):
    child = there('''
pool = shmem.create_pool('1M')
a, b = pool.alloc(1000, 'i4', fill=5), pool.alloc(1000, 'i4', fill=6, own=True)
print(pool.export(a), pool.export(b), flush=True)
import time
time.sleep(60)''', 'x')
    child.wait_for('\n')
    keys = child.read()[0].split()
    a, b = map(shmem.import_, keys)
    os.kill(child.pid, signal.SIGKILL)
    child.finish()
    time.sleep(0.05)
    a += 1
    assert (a == 6).all() and (b == 6).all()
    # Who holds it serves it on.
    assert ran('a, b = map(shmem.import_, sys.argv[1:]); a[0] = b[0] = 77; print(a[1])', *keys) == '6'
    assert a[0] == b[0] == 77
    with raises(ValueError, 'imported'):
        pool.export(a[5:])
    assert pool.export(a) == keys[0]  # its own key
    with raises(ValueError, 'attached'):
        pool.free(a)


# --- who may ---------------------------------------------------------------------------------------------------------------------


def test_tokens(pool):
    a = pool.alloc(10, 'i8', own=True, fill=0)
    token = shmem.token()
    assert len(token) == 32 and shmem.token() != token
    key = pool.export(a, allow=[f'token:{token}=add,cas'])
    full = pool.export(a, allow=shmem.Allow('token', token, 'rw'))
    ran('''
key, full, token = sys.argv[1:]
for k, t in ((key, None), (key, shmem.token()), (full, None)):
    try: shmem.import_(k, 'atomic', token=t)
    except shmem.KeyRefused: pass
    else: raise AssertionError((k, t))
x = shmem.import_(key, 'atomic', token=token)
x.add(3, 5); assert x.cas(3, 5, 6) == 5
for call in (lambda: x.swap(3, 1), lambda: x.or_(3, 1), lambda: shmem.import_(key, 'r', token=token)):
    try: call()
    except shmem.KeyRefused: pass
    else: raise AssertionError(call)
b = shmem.import_(full, token=token); b[4] = 8
c = pickle.loads(pickle.dumps(b)); c[5] = 9
''', key, full, token)
    assert a.tolist() == [0, 0, 0, 6, 8, 9, 0, 0, 0, 0]
    with raises(shmem.KeyRefused):  # nor anybody else of this user
        shmem.import_(full)


def test_allow_lists(pool):
    a = pool.alloc(10, own=True)
    me = os.geteuid()
    assert shmem.import_(pool.export(a, allow=f'user:{me}=rw')) is not None
    assert not shmem.import_(pool.export(a, allow=[('group', os.getegid(), 'r')]), 'r').flags.writeable
    for bad in ('user', 'user:bob', 'user:0', 'friend:0=r', 'user:no_such_user_here=r', 'group:no_such_group_here=r',
                'user:-1=r', 'user:0=x', 'pe:a=r', 3, ('user', 0), None):
        with raises(shmem.Error, 'Pool.export'):
            pool.export(a, allow=[bad])
    with raises(ValueError, '17'):
        pool.export(a, allow=['user:0=r'] * 17)
    with raises(ValueError, 'token'):
        pool.export(a, allow='token:abc=r')
    with raises(shmem.errors.AccessDenied, 'own'):
        pool.export(pool.alloc(3), allow='user:0=r')
    with raises(shmem.NotInitialized, 'job'):
        pool.export(a, allow='pe:0=r')
    with raises(TypeError, 'list'):
        pool.export([1, 2])
    with raises(ValueError):
        shmem.export(np.zeros(3))
    with raises(ValueError, 'whole pool'):
        pool.export(mode='r')


def test_another_user(pool):
    needs_two_users()
    a = pool.alloc(3000, 'i4', own=True, fill=1)
    mine = pool.export(a)
    read, write = pool.export(a, allow=f'user:{NOBODY}=r'), pool.export(a, mode='r', allow=[f'user:{NOBODY}=rw'])
    text = '''
mine, read, write, whole = sys.argv[1:]
assert os.geteuid() == 65534
for k, mode in ((mine, 'rw'), (mine, 'r'), (mine, 'cow'), (mine, 'atomic'), (read, 'rw')):
    try: shmem.import_(k, mode)
    except shmem.KeyRefused as error: assert '65534' in str(error), error
    else: raise AssertionError((k, mode))
try: shmem.open_pool(whole)
except PermissionError: pass
else: raise AssertionError('opened')
r = shmem.import_(read, 'r'); assert (r == 1).all()
try: shmem.revoke(read)
except shmem.Error: pass
else: raise AssertionError('revoked')
w = shmem.import_(write); w[0] = 5; assert r[0] == 5
print('alive', flush=True)
ctypes.memset(r.ctypes.data, 0, 1)
print('written')'''
    result = there(text, mine, read, write, pool.export(), user=NOBODY).finish()
    assert result.code in (-signal.SIGSEGV, -signal.SIGBUS), result.text
    assert 'alive' in result.out and 'written' not in result.out
    assert a[0] == 5
    with raises(shmem.KeyRefused):
        shmem.import_(read, 'r')  # with an allow list, this user is not meant
    assert not shmem.import_(write, 'r').flags.writeable
    # The kernel holds it: /proc/self/fd gives no way to more than was granted.
    ran('''
r = shmem.import_(key, 'r')
tried = 0
for fd in os.listdir('/proc/self/fd'):
    try: link = os.readlink(f'/proc/self/fd/{fd}')
    except OSError: continue
    if 'memfd' not in link: continue
    tried += 1
    try: os.open(f'/proc/self/fd/{fd}', os.O_RDWR)
    except PermissionError: pass
    else: raise AssertionError(link)
print(tried)''', read, user=NOBODY)


def test_containers(pool, tmp_path):
    """A process of another network namespace finds it through a directory that both see."""
    if os.geteuid() != 0 or subprocess.run(['unshare', '-n', 'true'], capture_output=True).returncode:
        pytest.skip('needs root and unshare -n')
    folder = tmp_path / 'shm'
    folder.mkdir(mode=0o700)
    env = environment(SHMEM_DIR=str(folder))
    owner = there('''
pool = shmem.create_pool('1M', name='shared')
a = pool.alloc(100, 'i4', fill=3, name='x')
print(pool.export(a), flush=True)
import time
while a[0] == 3: time.sleep(0.001)
assert a[1] == 5''', 'x', env=env)
    owner.wait_for('\n')
    key = owner.read()[0].strip()
    text = HEAD + '''
a = shmem.import_(key); assert (a == 3).all()
shmem.open_pool('shared')['x'][1] = 5
a[0] = 4'''
    run(['unshare', '-n', PYTHON, '-c', text, key], env=env).ok()
    owner.finish().ok()
    run(['unshare', '-n', PYTHON, '-c', HEAD + '''
try: shmem.import_(key)
except shmem.KeyOrphaned: pass
else: raise AssertionError''', pool.export(pool.alloc(3))], env=env).ok()


# --- pickling ---------------------------------------------------------------------------------------------------------------------


def test_pickling(pool):
    a = pool.alloc((10, 10), fill=1)
    text = pickle.dumps(a[2:4])
    assert text == pickle.dumps(a[2:4]) and len(text) < 500
    b = pickle.loads(text)
    assert type(b) is shmem.Buffer and np.shares_memory(a, b)
    b[:] = 5
    assert a.sum() == 80 + 100
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert np.shares_memory(pickle.loads(pickle.dumps(a.T, protocol)), a)
    # Values that are no pool's any more travel by value.
    for x in (a + 1, a[[1, 2]], a.copy(), copy.deepcopy(a), shmem.import_(pool.export(a), 'cow'),
              shmem.import_(pool.export(a), snapshot=True), np.concatenate([a, a])):
        y = pickle.loads(pickle.dumps(x))
        assert type(y) is np.ndarray and np.array_equal(x, y) and not np.shares_memory(x, y)
    # A key that was revoked is replaced.
    key = [word for word in pickle.dumps(a, 0).decode().split() if 'shm1-' in word][0].strip("'V")
    pool.revoke(key[key.index('shm1-'):])
    assert np.shares_memory(pickle.loads(pickle.dumps(a)), a)
    # One that was imported by cannot be.
    key = pool.export(a)
    b, atomic = shmem.import_(key), shmem.import_(pool.export(pool.alloc(4, 'i8')), 'atomic')
    assert np.shares_memory(pickle.loads(pickle.dumps(b[1])), a)
    pool.revoke(key)
    pool.revoke(atomic.__reduce__()[1][0])
    for x in (b, b[1], atomic):
        with raises(shmem.KeyRevoked, 'another one'):
            pickle.dumps(x)
    # Nor is a pool's.
    pickle.dumps(pool)
    shmem.revoke(pool.__reduce__()[1][0])
    shmem.open_pool(pool.__reduce__()[1][0]).close()
    c = copy.copy(a)
    c[:] = 0
    assert a.sum() == 180


MULTIPROCESSING = '''
import concurrent.futures, multiprocessing, sys
import numpy as np, shmem

def double(a):
    a *= 2
    return a

def total(a):
    return type(a).__name__, a.sum(), a.flags.writeable

def fill_in(queue, pool):
    queue.put(pool.alloc((30, 3), 'i4', fill=11))

if __name__ == '__main__':
    context = multiprocessing.get_context(sys.argv[1])
    pool = shmem.create_pool('16M')
    a = pool.alloc((100, 100), fill=1)
    large = pool.alloc(1 << 20, fill=1)  # with a segment of its own
    assert pool.stats().owned == 1
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as workers:
        halves = list(workers.map(double, [a[:50], a[50:]]))
        assert (a == 2).all() and all(np.shares_memory(half, a) for half in halves)
        assert workers.submit(total, large).result() == ('Buffer', 1 << 20, True)
        view = large[::2]
        view.flags.writeable = False
        assert workers.submit(total, view).result() == ('Buffer', 1 << 19, False)
    with context.Pool(2) as workers:
        assert sum(workers.map(np.sum, a, chunksize=10)) == 20000
    queue = context.Queue()
    process = context.Process(target=fill_in, args=(queue, pool))
    process.start()
    made = queue.get(timeout=30)
    assert (made == 11).all() and made.shape == (30, 3)
    process.join()
    assert process.exitcode == 0
    made[:] = 12
    before = pool.stats().in_use
    pool.free(made)
    assert pool.stats().in_use < before
    print('done')
'''


@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
def test_multiprocessing(tmp_path, method):
    result = run([PYTHON, program(tmp_path, MULTIPROCESSING), method], env=environment()).ok()
    assert result.out.strip() == 'done' and result.err == ''


@pytest.mark.skipif(torch is None, reason='torch is not installed')
def test_torch_data_loader(pool):
    """A data set on a pool reaches the workers as a key; what they return goes the way of torch."""
    data = pool.alloc((64, 8), 'f4')
    data[:] = np.arange(512).reshape(64, 8)

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, i):
            return torch.from_numpy(data[i])

    seen = torch.cat(list(torch.utils.data.DataLoader(Rows(), batch_size=8, num_workers=2)))
    assert torch.equal(seen, torch.from_numpy(data))


# --- memory of a job ------------------------------------------------------------------------------------------------------------


@on_pes(2)
def test_memory_of_a_job():
    """Symmetric and registered arrays have keys, too, and PEs can be named in allow lists."""
    import subprocess
    import sys
    me, n = shmem.my_pe(), shmem.n_pes()
    heap = shmem.full((4, 4), me + 1, 'i4')
    key = shmem.export(heap[1:])
    out = subprocess.run([sys.executable, '-c', HEAD + 'a = shmem.import_(key); print(a.shape, a.sum()); a[:] = 9', key],
                         capture_output=True, text=True, check=True).stdout
    assert out.strip() == f'(3, 4) {12 * (me + 1)}' and (heap[1:] == 9).all() and (heap[0] == me + 1).all()
    pages = np.zeros(1 << 20, 'u1')
    region = shmem.register(pages)
    key = shmem.export(region.array[8192:16384])
    assert subprocess.run([sys.executable, '-c', HEAD + 'a = shmem.import_(key); a[5] = 9', key]).returncode == 0
    assert pages[8192 + 5] == 9
    with raises(ValueError, 'page'):
        shmem.export(pages)
    with raises(ValueError):
        shmem.export(np.zeros(3))
    shmem.barrier()

    pool = shmem.create_pool('1M')
    a = pool.alloc(100, 'i4', own=True, fill=me)
    words = shmem.full(100, 0, 'u1')
    text = np.frombuffer(pool.export(a, allow=f'pe:{1 - me}=rw').encode().ljust(100), 'u1')
    words[:] = text
    shmem.barrier()
    other = bytes(shmem.get(words, 1 - me)).decode().strip()
    b = shmem.import_(other)
    assert (b == 1 - me).all()
    shmem.barrier()
    mine = bytes(words).decode().strip()
    with raises(shmem.KeyRefused):
        shmem.import_(mine)
    shmem.barrier()
