# SPDX-License-Identifier: Apache-2.0
"""Files: pools that persist."""

import gc
import os
import pickle
import signal
import subprocess

import numpy as np
import pytest
import shmem
from jobs import PYTHON, environment, program, raises, run, start

try:
    import torch
except ImportError:
    torch = None

KIND = np.dtype([('x', 'f4'), ('y', 'i8', (2,))], align=True)


@pytest.fixture
def path(tmp_path):
    yield tmp_path / 'file.shm'
    gc.collect()


def make(path):
    with shmem.create_file(path, '2M') as file:
        file.alloc((3, 4), 'f4', name='weights', fill=1)
        file.alloc(5, KIND, name='records', zero=True)['y'] = [[1, 2]] * 5
        a = file.alloc((10, 10), 'i4', fill=7)
        file.name(a[::2, 1:], 'part')


def test_names_are_found_again(path):
    make(path)
    with shmem.open_file(path) as file:
        assert sorted(file.names()) == ['part', 'records', 'weights'] and file.info().path == str(path)
        weights, records, part = (file[name] for name in ('weights', 'records', 'part'))
        assert weights.shape == (3, 4) and weights.dtype == np.float32 and (weights == 1).all()
        assert records.dtype == KIND and records['y'].tolist() == [[1, 2]] * 5
        assert part.shape == (5, 9) and (part == 7).all() and not part.flags.c_contiguous
        weights[:] = 2
        lost = file.alloc(1000)  # neither named nor kept
        lost[:] = 1
        kept = file.alloc(1000, keep=True)
        before = file.stats().buffers
        del lost, kept
        assert file.stats().buffers == before - 1
        file.unname('part')
        del weights, records, part
    said = run([PYTHON, '-c', '''
import shmem, sys
file = shmem.open_file(sys.argv[1])
print(file.names(), file['weights'].sum(), file.stats().buffers)
file['weights'][:] = 3
file.free(file['records'])''', path], env=environment()).ok().out
    assert said.strip() == "['weights', 'records'] 24.0 4" or said.strip() == "['records', 'weights'] 24.0 4", said
    with shmem.open_file(str(path), 'r') as file:
        assert file.names() == ['weights'] and file['weights'].sum() == 36


def test_a_file_is_never_overwritten(path):
    make(path)
    with raises(FileExistsError, str(path), 'create_file'):
        shmem.create_file(path, '1M')
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_reading_writes_nothing(path):
    make(path)
    before = path.read_bytes()
    os.chmod(path, 0o400)
    with shmem.open_file(path, 'r') as file:
        a = file['weights']
        assert not a.flags.writeable and not file.info().writable
        with pytest.raises(ValueError):
            a[0] = 1
        with pytest.raises(ValueError):
            a.flags.writeable = True
        for call in (lambda: file.alloc(3), lambda: file.free(a), file.flush, lambda: file.unname('weights'),
                     lambda: file.keep(a), lambda: file.export(a), lambda: file.grow('4M')):
            with raises(shmem.errors.AccessDenied):
                call()
        assert file['weights'].sum() == 12 and a.sum() == 12
        del a
    assert path.read_bytes() == before
    result = run([PYTHON, '-c', '''
import ctypes, shmem, sys
a = shmem.open_file(sys.argv[1], 'r')['weights']
print('alive', flush=True)
ctypes.memset(a.ctypes.data, 0, 1)
print('written')''', path], env=environment())
    assert result.code in (-signal.SIGSEGV, -signal.SIGBUS) and 'alive' in result.out and 'written' not in result.out


def test_copy_on_write(path):
    make(path)
    with shmem.open_file(path, 'cow') as file, shmem.open_file(path, 'r') as other:
        a = file['weights']
        a[:] = 5
        assert (file['weights'] == 5).all() and (other['weights'] == 1).all()
        same = pickle.loads(pickle.dumps(a))  # by value: it is nobody else's
        assert (same == 5).all() and type(same) is np.ndarray
        del a
    with shmem.open_file(path, 'r') as file:
        assert (file['weights'] == 1).all()


def test_modes(path):
    make(path)
    for mode in ('w', '', None, 3):
        with raises(ValueError, 'open_file', 'mode'):
            shmem.open_file(path, mode)


def test_what_is_no_file_of_shmem(path, tmp_path):
    with raises(FileNotFoundError, 'file.shm'):
        shmem.open_file(path)
    with raises(FileNotFoundError):
        shmem.create_file(tmp_path / 'no' / 'folder', '1M')
    path.write_bytes(b'hello' * 10000)
    for mode in ('r', 'rw', 'cow'):
        with raises(shmem.NotAShmemFile, 'file.shm'):
            shmem.open_file(path, mode)
    path.write_bytes(b'')
    with raises(shmem.Error, 'file.shm'):
        shmem.open_file(path)
    with raises(shmem.Error):
        shmem.open_file(tmp_path)
    for bad in (None, 3, 'a\0b'):
        with raises(shmem.Error, 'path'):
            shmem.open_file(bad)


def test_a_truncated_file(path):
    make(path)
    os.truncate(path, os.path.getsize(path) // 2)
    for mode in ('r', 'rw'):
        with raises(shmem.FileDamaged, 'truncated', 'file.shm'):
            shmem.open_file(path, mode)


def test_a_damaged_file(path):
    make(path)
    content = bytearray(path.read_bytes())
    content[16:48] = bytes(32)
    content[4096 + 16:4096 + 48] = bytes(32)
    path.write_bytes(content)
    with pytest.raises((shmem.FileDamaged, shmem.FileVersion, shmem.NotAShmemFile)):
        shmem.open_file(path)


def test_what_a_file_cannot_be(path):
    with raises(shmem.NotSupported, 'file system'):
        shmem.create_file(path, '1M', pages='2M')
    with raises(shmem.NotSupported, 'kernel'):
        shmem.create_file(path, '1M', numa_node=0)
    with raises(ValueError, 'size'):
        shmem.create_file(path, 'much')
    with raises(MemoryError, 'its file system has'):  # said before the disk is filled to find out
        shmem.create_file(path, 1 << 45)
    assert not path.exists()
    with shmem.create_file(path, '1M', max_size='2M', grow=True) as file:
        with raises(shmem.NotSupported, 'file'):
            file.alloc(10, own=True)
        a = file.alloc(3 << 19, 'u1', fill=3)  # grows
        with raises(shmem.PoolFull, 'largest free'):
            file.alloc(1 << 20, 'u1')
        assert (a == 3).all()
        with raises(ValueError, 'path'):
            file.export()
        large = file.alloc(100, 'u1')
        del a, large
    with shmem.create_pool('1M') as pool:
        with raises(ValueError, 'not a file'):
            pool.flush()


def test_a_killed_process(path):
    make(path)
    child = start([PYTHON, '-c', '''
import shmem, sys, time
file = shmem.open_file(sys.argv[1])
file['weights'][:] = 9
held = [file.alloc(1000) for _ in range(50)]
file.alloc(10, 'i4', name='flushed', fill=4)
file.flush()
file.alloc(10, 'i4', name='after', fill=5)
print('ready', flush=True)
time.sleep(60)''', path], env=environment())
    child.wait_for('ready')
    os.kill(child.pid, signal.SIGKILL)
    child.finish()
    with shmem.open_file(path) as file:
        assert (file['weights'] == 9).all() and (file['flushed'] == 4).all() and (file['after'] == 5).all()
        assert file.stats().buffers >= 5  # in a file every buffer is kept until somebody frees it


def test_processes_share_a_file(path):
    with shmem.create_file(path, '2M') as file:
        a = file.alloc(10, 'i4', name='a', fill=0)
        children = [start([PYTHON, '-c', '''
import shmem, sys
file = shmem.open_file(sys.argv[1])
mine = int(sys.argv[2])
file['a'][mine] = mine
file.alloc(5, 'i4', name=f'b{mine}', fill=mine)
print(file.export(file.alloc(5, 'i4', fill=mine)))''', path, n], env=environment()) for n in range(4)]
        results = [child.finish().ok() for child in children]
        assert a.tolist() == [0, 1, 2, 3] + [0] * 6
        assert [file[f'b{n}'].tolist() for n in range(4)] == [[n] * 5 for n in range(4)]
        imported = [shmem.import_(result.out.strip()) for result in results]
        assert [int(x[0]) for x in imported] == [0, 1, 2, 3]
        for x in imported:
            file.free(x)
        assert file.stats().buffers == 5
        del a, imported, x


def test_pickling_arrays_of_files(path, tmp_path):
    make(path)
    text = program(tmp_path, '''
        import pickle, sys, shmem
        a = pickle.loads(bytes.fromhex(sys.argv[1]))
        print(a.tolist(), a.flags.writeable)
        ''')
    for mode in ('r', 'rw'):
        with shmem.open_file(path, mode) as file:
            part = file['part'][1:3, :2]
            said = run([PYTHON, text, pickle.dumps(part).hex()], env=environment()).ok().out.strip()
            assert said == f'{part.tolist()} {mode == "rw"}'
            again = pickle.loads(pickle.dumps(file))
            assert again.names() == file.names()
            del part, again


def test_odd_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ('relative', b'bytes', os.fsdecode(b'odd-\xff-name'), tmp_path / 'ключ'):
        with shmem.create_file(path, '1M') as file:
            file.alloc(3, 'i4', name='ä', fill=3)
        with shmem.open_file(path, 'r') as file:
            assert file.names() == ['ä'] and file['ä'].tolist() == [3] * 3
            assert os.fsencode(file.info().path) == os.path.abspath(os.fsencode(path))
            assert os.path.basename(os.fsencode(path)).decode(errors='replace')[:3] in repr(file).encode(
                errors='surrogateescape').decode(errors='replace')


def test_outliving_the_file_object(path):
    def make_one():
        return shmem.create_file(path, '1M').alloc(10, 'i4', name='x', fill=3)

    a = make_one()
    gc.collect()
    a += 1
    assert (a == 4).all()
    os.unlink(path)
    a += 1
    assert (a == 5).all()
    if torch is not None:
        t = torch.from_numpy(a)
        del a
        assert int(t[0]) == 5


def test_a_full_disk(tmp_path):
    folder = tmp_path / 'small'
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'none', folder],
                                           capture_output=True).returncode:
        pytest.skip('needs root and mount, for a small file system')
    try:
        with raises(MemoryError):
            shmem.create_file(folder / 'x', '64M')
        assert os.listdir(folder) == []
    finally:
        subprocess.run(['umount', folder], check=True)
