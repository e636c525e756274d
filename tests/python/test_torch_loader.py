# SPDX-License-Identifier: Apache-2.0
"""shmem.torch.DataLoader: the same batches as torch's, no copies, and what happens when workers die."""

import collections
import ctypes
import gc
import inspect
import multiprocessing
import os
import random
import re
import signal
import subprocess
import time

import numpy as np
import pytest
import shmem
from jobs import PYTHON, environment, program, raises, run

torch = pytest.importorskip('torch')
import shmem.torch as st  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, get_worker_info  # noqa: E402

torch.set_num_threads(1)  # threads of OpenMP do not survive a fork
gc.collect()
gc.freeze()  # torch brings so many objects that each collection would take long
pytestmark = pytest.mark.filterwarnings('ignore:This DataLoader will create')
Pair = collections.namedtuple('Pair', 'a b')


@pytest.fixture(autouse=True)
def no_cycles():
    """An exception that a test has caught keeps, by its traceback, what the test had."""
    yield
    gc.collect()


class Mixed(Dataset):
    """All that default_collate knows, with random numbers of the three kinds."""

    def __len__(self):
        return 53

    def __getitem__(self, i):
        return {'tensor': torch.arange(12.).reshape(3, 4) + i, 'array': np.full(3, i, np.int16), 'int': i, 'float': i / 2,
                'text': f'k{i}', 'bool': torch.tensor(i % 2 == 0), 'empty': torch.zeros(0, 2),
                'random': (torch.rand(2), np.float32(np.random.rand()), random.random()),
                'pair': Pair(torch.tensor(i), [i, torch.full((1, 2), i, dtype=torch.bfloat16)])}


class Stream(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        return iter(range(worker.id, 20 * (worker.id + 1), 3))


class Rows(Dataset):
    """Rows of a tensor; `then` is called with the index first."""

    def __init__(self, n=40, side=8, then=None):
        self.data, self.then = torch.arange(n * side, dtype=torch.float32).reshape(n, side), then

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        if self.then is not None:
            self.then(i)
        return self.data[i]


def same(a, b):
    assert type(a) is type(b), (type(a), type(b))
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and torch.equal(a, b), (a, b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a == b


def pad(samples):
    width = max(len(sample) for sample in samples)
    return torch.stack([torch.nn.functional.pad(sample, (0, width - len(sample))) for sample in samples])


CASES = [
    (Mixed, dict(batch_size=10, shuffle=True, num_workers=2)),
    (Mixed, dict(batch_size=7, shuffle=True, num_workers=3, drop_last=True, persistent_workers=True, prefetch_factor=1)),
    (Mixed, dict(batch_size=None, num_workers=2)),
    (Mixed, dict(batch_sampler=[[5, 1, 1], [50], list(range(30))], num_workers=2)),
    (Rows, dict(batch_size=8, shuffle=True, num_workers=0)),
    (lambda: Subset(Mixed(), range(9, 40, 2)), dict(batch_size=4, shuffle=True, num_workers=2)),
    (Stream, dict(batch_size=4, num_workers=2, drop_last=True, persistent_workers=True)),
    (Stream, dict(batch_size=None, num_workers=2)),
]


@pytest.mark.parametrize('make, options', CASES, ids=[str(i) for i in range(len(CASES))])
def test_the_same_batches_as_torch(make, options):
    theirs = DataLoader(make(), generator=torch.Generator().manual_seed(3), **options)
    ours = st.DataLoader(make(), seed=3, **options)
    for epoch in range(2):
        a, b = list(theirs), list(ours)
        assert len(a) == len(b) > 0
        for x, y in zip(a, b):
            same(x, y)
    if options['num_workers'] and not isinstance(ours.dataset, Stream):
        assert len(ours) == len(theirs) and isinstance(ours, DataLoader)


def test_early_break_leaves_the_order_of_persistent_workers_alone():
    results = []
    for make in (lambda: DataLoader(Mixed(), 5, True, num_workers=2, persistent_workers=True,
                                    generator=torch.Generator().manual_seed(1)),
                 lambda: st.DataLoader(Mixed(), 5, True, num_workers=2, persistent_workers=True, seed=1)):
        loader, seen = make(), []
        for epoch in range(3):
            for number, batch in enumerate(loader):
                seen.append(batch['random'][0].clone())
                if number == 2:
                    break
        results.append(torch.cat(seen))
    assert torch.equal(*results)


def test_out_of_order():
    if 'in_order' not in inspect.signature(DataLoader).parameters:
        pytest.skip('this torch knows no in_order')
    rows = Rows(40, then=lambda i: time.sleep(0.2 if i == 0 else 0))
    for kept in (True, False):
        loader = st.DataLoader(rows, batch_size=4, num_workers=2, in_order=False, persistent_workers=kept)
        for epoch in range(2):
            firsts = [int(batch[0, 0]) // 32 for batch in loader]
            assert firsts[0] != 0 and sorted(firsts) == list(range(10))


def test_slots_go_round_and_tensors_keep_theirs():
    loader = st.DataLoader(Rows(400), batch_size=4, num_workers=2)
    addresses = collections.Counter(batch.data_ptr() for batch in loader)
    assert sum(addresses.values()) == 100 and len(addresses) <= 8  # 2 workers, 2 ahead for each, and what the trainer has
    kept = [batch[1] for batch in loader]  # views keep the slot
    assert len({view.data_ptr() for view in kept}) == 100
    assert all(torch.equal(view, loader.dataset.data[4 * i + 1]) for i, view in enumerate(kept))
    again = list(loader)
    assert all(torch.equal(view, loader.dataset.data[4 * i + 1]) for i, view in enumerate(kept))
    del loader, again
    gc.collect()
    assert all(torch.equal(view, Rows(400).data[4 * i + 1]) for i, view in enumerate(kept))
    kept[0] += 1  # they are the trainer's
    batch = next(iter(st.DataLoader(Rows(), batch_size=4, num_workers=1))).requires_grad_()
    (batch * batch).sum().backward()
    assert torch.equal(batch.grad, 2 * Rows().data[:4])


def test_sizes_that_vary():
    samples = [torch.arange(1 + (37 * i) % 3000) for i in range(300)]
    loader = st.DataLoader(samples, batch_size=4, num_workers=2, collate_fn=pad)
    for number, batch in enumerate(loader):
        assert torch.equal(batch, pad(samples[4 * number:4 * number + 4]))
    stats = loader._shmem_kept.pool.stats
    assert stats().buffers < 40
    for kept in (True, False):
        loader = st.DataLoader(samples, batch_size=4, num_workers=2, collate_fn=pad, persistent_workers=kept)
        for number in range(8):  # what was on its way when the loop was left is not lost
            for batch in loader:
                time.sleep(0.03)  # the workers are done with what they were asked for
                break
        del batch
        assert loader._shmem_kept.pool.stats().buffers < 20, kept


def test_what_a_collate_fn_may_return():
    shared = torch.ones(3)

    def collate(samples):
        leaf = torch.tensor([1., 2.], requires_grad=True)
        return {'array': np.arange(6).reshape(2, 3).T, 'twice': [shared, shared], 'leaf': leaf, 'slice': torch.arange(20)[::3],
                'sparse': torch.eye(3).to_sparse(), 'parameter': torch.nn.Parameter(torch.zeros(2)), 'none': None,
                'complex': torch.tensor([1j]).conj(), 'long': 'x' * 100000}

    batch, = st.DataLoader(Rows(4), batch_size=4, num_workers=1, collate_fn=collate)
    assert batch['array'].tolist() == [[0, 3], [1, 4], [2, 5]] and batch['array'].flags.writeable
    assert batch['twice'][0] is batch['twice'][1] and batch['leaf'].requires_grad and batch['leaf'].is_leaf
    assert batch['slice'].tolist() == list(range(0, 20, 3)) and torch.equal(batch['sparse'].to_dense(), torch.eye(3))
    assert isinstance(batch['parameter'], torch.nn.Parameter) and batch['none'] is None and batch['complex'][0] == -1j
    assert len(batch['long']) == 100000
    many = st.DataLoader(range(30000), batch_size=20000, num_workers=1)  # indices that do not fit into a short message
    assert [len(batch) for batch in many] == [20000, 10000]


@pytest.mark.parametrize('sample, kind, words', [
    (lambda i: torch.zeros(2, device='meta'), NotImplementedError, ("'meta'", 'cpu()')),
    (lambda i: torch.zeros(2, requires_grad=True) * 2, ValueError, ('requires grad', 'detach()')),
    (lambda i: torch.zeros(i + 1), ValueError, ('sample 0', '(1,)', 'sample 1', '(2,)', 'collate_fn')),
])
def test_samples_that_cannot_be(sample, kind, words):
    class Bad(Rows):
        def __getitem__(self, i):
            return sample(i)

    with pytest.raises(kind) as raised:
        list(st.DataLoader(Bad(), batch_size=4, num_workers=1))
    for word in words:
        assert word in str(raised.value)


def test_pinned_batches(monkeypatch):
    """Without an accelerator a warning and the batch itself; with one what torch's own function makes of each batch."""
    if not torch.cuda.is_available():
        with pytest.warns(UserWarning, match='no accelerator'):
            assert len(list(st.DataLoader(Rows(), batch_size=4, num_workers=1, pin_memory=True))) > 0
    import torch.utils.data._utils.pin_memory as torchs
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: True)
    if hasattr(torch, 'accelerator'):
        monkeypatch.setattr(torch.accelerator, 'is_available', lambda: True)
    monkeypatch.setattr(torchs, 'pin_memory', lambda batch, device=None: ('pinned', device, batch))
    for batch in st.DataLoader(Rows(), batch_size=4, num_workers=1, pin_memory=True):
        assert batch[:2] == ('pinned', None) and isinstance(batch[2], torch.Tensor)


def test_arguments():
    with raises(ValueError, 'seed and generator'):
        st.DataLoader(Rows(), seed=1, generator=torch.Generator())
    with pytest.raises((ValueError, AssertionError)) as raised:  # torch 1 refuses it itself
        st.DataLoader(Rows(), num_workers=1, prefetch_factor=0)
    assert isinstance(raised.value, AssertionError) or 'prefetch_factor' in str(raised.value)
    with pytest.raises(ValueError, match='num_workers'):
        st.DataLoader(Rows(), num_workers=-1)
    loader = st.DataLoader(Rows(4000, 4000), batch_size=1000, num_workers=1, max_bytes='20M')
    with pytest.raises(MemoryError, match='largest free block|free'):
        kept = list(loader)  # noqa: F841


class Odd(Exception):
    def __init__(self, text, more):
        super().__init__(text, more)


@pytest.mark.parametrize('error, kind', [(KeyError('x'), KeyError), (Odd('a', 'b'), RuntimeError),
                                         (StopIteration(), RuntimeError), (shmem.Error('bad'), shmem.Error)])
def test_an_exception_names_the_sample(error, kind):
    def then(i):
        if i == 17:
            raise error

    loader = st.DataLoader(Rows(then=then), batch_size=5, num_workers=2)
    iterator, seen = iter(loader), []
    with pytest.raises(kind) as raised:
        for batch in iterator:
            seen.append(batch)
    text = str(raised.value)
    assert len(seen) == 3 and 'sample 17 of batch 3' in text and 'in then' in text and 'Traceback' in text and '\\n' not in text
    assert len(list(iterator)) == 4  # the others come


@pytest.mark.parametrize('end, words', [
    (lambda: os.kill(os.getpid(), signal.SIGKILL), ('SIGKILL', 'memory runs out')),
    (lambda: os.kill(os.getpid(), signal.SIGSEGV), ('SIGSEGV',)),
    (lambda: os._exit(3), ('exit status 3',)),
])
def test_a_worker_that_dies(end, words):
    def then(i):
        if i == 23:
            time.sleep(0.05)
            resource_limit()
            end()

    def resource_limit():
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    import faulthandler
    was = faulthandler.is_enabled()
    faulthandler.disable()
    loader = st.DataLoader(Rows(then=then), batch_size=4, num_workers=2, persistent_workers=True)
    try:
        began = time.monotonic()
        with pytest.raises(st.WorkerDied) as raised:
            list(loader)
        assert time.monotonic() - began < 5
    finally:
        if was:
            faulthandler.enable()
    error = raised.value
    assert error.worker == 1 and error.index == 23 and error.exitcode not in (0, None)
    for word in (*words, 'sample 23 of batch 5', f'process {error.pid}'):
        assert word in str(error), error
    loader.dataset.then = None
    assert len(list(loader)) == 10  # with new workers


def test_workers_that_are_late_or_broken_from_the_start():
    with pytest.raises(TimeoutError, match='no batch within 0.2 seconds.*worker 0 .*at sample 2 of batch 0'):
        list(st.DataLoader(Rows(then=lambda i: time.sleep(30 if i == 2 else 0)), batch_size=4, num_workers=1, timeout=0.2))

    def init(worker):
        raise OSError('no such disk')

    with pytest.raises(OSError, match='no such disk(?s:.*)when it was started'):
        list(st.DataLoader(Rows(), num_workers=1, worker_init_fn=init))

    def leave(worker):
        raise SystemExit(4)

    with pytest.raises(st.WorkerDied, match='while it was started.*exit status 4'):
        list(st.DataLoader(Rows(), num_workers=1, worker_init_fn=leave))


def children():
    with open(f'/proc/self/task/{os.getpid()}/children') as file:
        return set(file.read().split())


def test_nothing_is_left():
    before = children()
    for batch in st.DataLoader(Rows(1000, then=lambda i: time.sleep(0.001)), batch_size=50, num_workers=2):
        break
    assert children() == before
    first, second = (iter(st.DataLoader(Rows(), batch_size=4, num_workers=1)) for _ in range(2))
    for a, b in zip(list(first), list(second)):
        same(a, b)
    loader = st.DataLoader(Rows(), batch_size=4, num_workers=1)
    for a in loader:  # one loader in two loops
        for b in loader:
            pass
        break
    assert children() == before
    stuck = iter(st.DataLoader(Rows(then=lambda i: time.sleep(60)), num_workers=1))
    del stuck
    assert children() == before


def in_a_child(body):
    """Runs it in a forked process, and returns that."""
    process = multiprocessing.get_context('fork').Process(target=body)
    process.start()
    return process


def test_forked_while_a_loader_runs():
    loader = st.DataLoader(Rows(), batch_size=4, num_workers=1, persistent_workers=True)
    iterator = iter(loader)
    kept = next(iterator)

    def body():
        assert len(list(loader)) == 10 and list(iterator) == []
        os._exit(0 if torch.equal(kept, Rows().data[:4]) else 1)

    child = in_a_child(body)
    child.join(20)
    assert child.exitcode == 0 and len(list(iterator)) == 9 and len(list(loader)) == 10


def alive(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'  # whom nobody has asked after yet
    except OSError:
        return False


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_the_trainer_is_ended(number):
    """By Ctrl-C or kill -9; no worker stays."""
    there = shmem.create_pool('64k').alloc(2, np.int32, zero=True)

    def body():
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def init(worker):
            there[worker] = os.getpid()

        try:
            for batch in st.DataLoader(Rows(10000, then=lambda i: time.sleep(0.005)), num_workers=2, worker_init_fn=init):
                pass
        except KeyboardInterrupt:
            os._exit(5)

    child = in_a_child(body)
    end = time.monotonic() + 20
    while not all(there) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(child.pid, number)
    child.join(20)
    assert child.exitcode == (5 if number == signal.SIGINT else -9)
    while any(map(alive, there)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(alive, there))


def test_a_small_dev_shm():
    """Of 64 MB, where torch's own loader dies when batches are larger."""
    room = os.statvfs('/dev/shm')
    small = room.f_blocks * room.f_frsize <= 64 << 20  # as in a container

    def body():
        libc = ctypes.CDLL(None, use_errno=True)
        if not small and (libc.unshare(0x00020000) or subprocess.run(
                'mount --make-rprivate / && mount -t tmpfs -o size=64m tmpfs /dev/shm', shell=True).returncode):
            os._exit(77)
        loader = st.DataLoader(Rows(24, 4 << 20), batch_size=4, num_workers=2)  # batches of 64 MiB
        total = sum(float(batch[:, 0].sum()) for batch in loader)
        os._exit(0 if total == float(loader.dataset.data[:, 0].sum()) else 1)

    child = in_a_child(body)
    child.join(60)
    if child.exitcode == 77:
        pytest.skip('/dev/shm is large here, and only root can mount a small one')
    assert child.exitcode == 0


def test_spawn_and_the_end_of_the_interpreter(tmp_path):
    """Also with forkserver, with live tensors, iterators and workers at the end: no message."""
    path = program(tmp_path, '''
        import multiprocessing, numpy, os, torch, shmem, shmem.torch as st
        from torch.utils.data import Dataset

        class Squares(Dataset):
            def __init__(self):
                self.x = torch.arange(40.)
                self.zeros, self.shared = numpy.zeros(3), torch.zeros(1).share_memory_()
                self.lock = multiprocessing.get_context('spawn').Lock()
            def __len__(self):
                return 40
            def __getitem__(self, i):
                with self.lock:
                    self.zeros += 1                     # private, as after a fork
                    self.shared += 1
                return self.x[i] ** 2

        if __name__ == '__main__':
            for method in ('spawn', 'forkserver'):
                data = Squares()
                loader = st.DataLoader(data, batch_size=4, num_workers=1, multiprocessing_context=method)
                got = torch.cat([batch.clone() for batch in loader])
                assert torch.equal(got, torch.arange(40.) ** 2) and data.shared == 40 and not data.zeros.any()
            keep = st.DataLoader(Squares(), batch_size=4, num_workers=2, persistent_workers=True)
            iterator = iter(keep)
            batch = next(iterator)
            pool = shmem.create_pool('1M')
            tensor = st.zeros(4, pool=pool)
            model = torch.nn.Linear(2, 2)
            shared = st.share(model)
            print('done', flush=True)
    ''')
    result = run([PYTHON, path], env=environment()).ok()
    assert result.out == 'done\n' and not result.err, result.text


def test_the_readme_of_the_errors():
    """Texts name the function first, as all of shmem's do."""
    error = None
    try:
        list(st.DataLoader(Rows(then=lambda i: os._exit(1)), num_workers=1))
    except st.WorkerDied as caught:
        error = caught
    assert re.match(r'shmem\.torch\.DataLoader: worker 0 \(process \d+\) ended ', str(error))
