# SPDX-License-Identifier: Apache-2.0
"""A DataLoader whose workers write batches into shared memory, where the trainer uses them."""

from __future__ import annotations

import collections
import errno
import itertools
import math
import multiprocessing
import os
import pickle
import signal
import time
import warnings
import weakref
from typing import Any, Callable, NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader as _TorchLoader

from .. import _key, _pool
from .._argument import whole
from .._home import _bytes
from ..errors import Error, QueueEmpty, make, shown
from . import _mail, _worker
from ._pack import Sent, unpack
from ._tensors import bytes_of
from ._worker import END, FAILED, FETCHING, RESUME, RESUMED, STARTING, TASK

_FUNCTION = 'torch.DataLoader'
_LOOK = 0.05  # seconds between looks whether all workers live, while there is nothing to get


class WorkerDied(Error):
    """A worker of a DataLoader ended. worker, pid: which one; exitcode: as of multiprocessing, negative for a signal; index:
    what the dataset was asked for when it ended, None where that is not known."""

    worker: int = -1
    pid: int = -1
    exitcode: int | None = None
    index: Any = None


# --- slots ------------------------------------------------------------------------------------------------------------------------------------


class _Slot(NamedTuple):
    key: str
    size: int
    memory: Any


class _Store:
    """The pool of a loader, and the slots in it that nobody uses. A slot is a worker's from the task on, then the trainer's
    for as long as it has tensors on it, and then free again."""

    def __init__(self, max_bytes: int | str) -> None:
        self.pid = os.getpid()
        self.pool = _pool.create_pool('1M', max_size=max_bytes, grow=True)
        self.free: collections.deque[_Slot] = collections.deque()  # from any thread, and any finalizer
        self.used: dict[str, _Slot] = {}

    def take(self) -> Any:
        """A slot for a worker, as it is sent; None: it makes one."""
        try:
            slot = self.free.pop()  # the one used last: it may still be in the caches
        except IndexError:
            return None
        self.used[slot.key] = slot
        return slot.key, slot.size

    def taken_back(self, sent: Any, came: Any) -> _Slot | None:
        """The slot that came with an answer, where `sent` was sent."""
        if came is not None and sent is not None and came[0] == sent[0]:
            return self.used.pop(came[0])
        if sent is not None:  # it was too small
            self._release(self.used.pop(sent[0]))
        if came is None:
            return None
        return _Slot(came[0], came[1], _key.import_(came[0]))

    def give_back(self, sent: Any, came: Any) -> None:
        """As ``taken_back()``, of what nobody wants any more."""
        slot = self.taken_back(sent, came)
        if slot is not None:
            self.free.append(slot)

    def _release(self, slot: _Slot) -> None:
        self.pool.free(slot.memory)

    def lend(self, slot: _Slot) -> np.ndarray[Any, Any]:
        """Its bytes. When the last tensor on them has gone, the slot is free."""
        return bytes_of(slot.memory, _Return(self, slot))


class _Return:
    """Gives a slot back to its store, if that is still there."""

    __slots__ = ('_store', '_slot')

    def __init__(self, store: _Store, slot: _Slot) -> None:
        self._store, self._slot = weakref.ref(store), slot

    def __call__(self) -> None:
        store = self._store()
        if store is not None:
            store.free.append(self._slot)


# --- the processes ----------------------------------------------------------------------------------------------------------------------------


class _Task:
    """A batch that was asked for. `answer`: (kind, slot, payload) once it is there."""

    __slots__ = ('worker', 'index', 'slot', 'answer')

    def __init__(self, worker: int, index: Any, slot: Any) -> None:
        self.worker, self.index, self.slot = worker, index, slot
        self.answer: Any = None


class _Crew:
    """The workers of an iterator, and what they need."""

    def __init__(self, loader: Any, store: _Store, base_seed: int) -> None:
        self.store, self.pid = store, os.getpid()
        pool, workers = store.pool, loader.num_workers
        outstanding = loader.prefetch_factor * workers
        self.tasks = [_mail.make_queue(pool, outstanding + 1) for _ in range(workers)]
        self.results = _mail.make_queue(pool, outstanding + workers)
        self.stop = pool.create_atomic('int64')
        self.progress = pool.alloc((workers, 8), np.int64, own=False, zero=True)
        self.processes: list[Any] = []
        self.asked: dict[int, _Task] = {}  # what no answer was taken of
        kind = _worker.Setup(pool, self.results, self.stop, self.progress, loader._dataset_kind == _ITERABLE,
                             loader._auto_collation, loader.drop_last, base_seed, workers)
        context = loader.multiprocessing_context or multiprocessing
        given: Any = loader.dataset, loader.collate_fn, loader.worker_init_fn
        if context.get_start_method() != 'fork':
            given = Sent(pool, given)
        self.given = given
        try:
            for number, queue in enumerate(self.tasks):
                process = context.Process(target=_worker.main, name=f'shmem.torch.DataLoader worker {number}', daemon=True,
                                          args=(kind, number, queue, given))
                process.start()
                self.processes.append(process)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """All of them end, and nothing is left of them. In a forked child this does nothing: they are its parent's."""
        if self.pid != os.getpid() or not self.tasks:
            return
        self.stop.store(1)
        queues, self.tasks = self.tasks, []
        for queue in queues:
            queue.close(0)
        for patience, how in ((1.0, 'terminate'), (1.0, 'kill'), (5.0, None)):
            end = time.monotonic() + patience
            for process in self.processes:
                process.join(max(0.0, end - time.monotonic()))
            left = [process for process in self.processes if process.exitcode is None]
            if not left or how is None:
                break
            for process in left:
                getattr(process, how)()
        self._reclaim()
        for queue in (*queues, self.results, self.stop):
            try:
                queue.destroy()
            except Error:  # a worker was killed in it; it goes with the pool
                pass
        if isinstance(self.given, Sent):
            self.given.free()

    def _reclaim(self) -> None:
        """All slots that were on their way are free again. (One that a worker made and had not sent when it was killed stays
        taken until the pool goes.)"""
        try:
            while True:
                message = _mail.unseal(self.store.pool, self.results.get(False))
                task = self.asked.pop(message[2], None)
                if task is not None:
                    self.store.give_back(task.slot, message[4])
        except Error:  # empty
            pass
        for task in self.asked.values():
            self.store.give_back(task.slot, task.answer[1] if task.answer is not None else task.slot)
        self.asked.clear()

    def dead(self) -> int | None:
        """A worker that ended by itself."""
        for number, process in enumerate(self.processes):
            if process.exitcode is not None:
                return number
        return None


_ITERABLE = torch.utils.data._DatasetKind.Iterable if hasattr(torch.utils.data, '_DatasetKind') else 1


# --- the iterator -----------------------------------------------------------------------------------------------------------------------------


def _pinning(loader: Any) -> Callable[[Any], Any] | None:
    """What makes a pinned copy of a batch, whatever it is made of; None where nothing is to be pinned."""
    if not loader.pin_memory:
        return None
    accelerator = getattr(torch, 'accelerator', None)  # since torch 2.6; before that, torch pins for CUDA
    if not (torch.cuda.is_available() if accelerator is None else accelerator.is_available()):
        warnings.warn("'pin_memory' argument is set as true but no accelerator is found: nothing is pinned", stacklevel=4)
        return None
    from torch.utils.data._utils.pin_memory import pin_memory
    return lambda batch: pin_memory(batch, loader.pin_memory_device or None)


class _Iterator:
    """One pass over the data, or with persistent workers one after the other. Order, and who does what, are torch's."""

    def __init__(self, loader: Any) -> None:
        self._loader_len = loader._IterableDataset_len_called
        self._sampler = loader._index_sampler
        self._indices = iter(self._sampler)
        # In this order, because both draw from the loader's generator: torch does it so.
        base_seed = int(torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item())
        self._persistent, self._timeout, self._workers = loader.persistent_workers, loader.timeout, loader.num_workers
        self._prefetch, self._in_order = loader.prefetch_factor, getattr(loader, 'in_order', True)
        self._iterable, self._batched = loader._dataset_kind == _ITERABLE, loader._auto_collation
        self._pin = _pinning(loader)
        self._store = loader._shmem_store()
        self._crew = _Crew(loader, self._store, base_seed)
        self._end = weakref.finalize(self, self._crew.end)  # also at the end of the interpreter
        self._epoch = 0
        self._start()

    def _start(self) -> None:
        self._tasks = self._crew.asked
        self._sent = self._next = 0
        self._active = [True] * self._workers
        self._cycle = itertools.cycle(range(self._workers))
        self._counts = [0] * self._workers
        for _ in range(self._prefetch * self._workers):
            self._ask()

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Another epoch with the same workers. What was asked for and not taken is done to its end first, so that random
        numbers of workers do not depend on time."""
        old = self._epoch
        self._epoch += 1
        for queue in self._crew.tasks:
            queue.put(_mail.seal(self._store.pool, (RESUME, self._epoch)))
        missing = self._workers
        while missing:
            kind, epoch, number, worker, slot, payload = self._receive()
            if kind == RESUMED and epoch == self._epoch:
                missing -= 1
            elif epoch == old and number in self._tasks:
                self._give_back(self._tasks.pop(number), slot)
        for task in self._tasks.values():
            if task.answer is not None:
                self._give_back(task, task.answer[1])
        self._tasks.clear()
        self._loader_len = loader._IterableDataset_len_called
        self._indices = iter(self._sampler)
        self._start()

    def _give_back(self, task: _Task, slot: Any) -> None:
        self._store.give_back(task.slot, slot)

    # asking

    def _choose(self) -> int | None:
        most = self._prefetch * self._workers
        for _ in range(self._workers):
            worker = next(self._cycle)
            if self._active[worker] and (self._in_order or self._counts[worker] < most // sum(self._active)):
                return worker
        return None

    def _ask(self) -> None:
        try:
            index = next(self._indices)
        except StopIteration:
            return
        worker = self._choose()
        if worker is None:
            return
        slot = self._store.take()
        self._tasks[self._sent] = _Task(worker, index, slot)
        self._counts[worker] += 1
        self._crew.tasks[worker].put(_mail.seal(self._store.pool, (TASK, self._epoch, self._sent, index, slot)))
        self._sent += 1

    # answers

    def works(self) -> bool:
        """Whether it has workers. Those of a forked child are its parent's."""
        return bool(self._crew.tasks) and self._crew.pid == os.getpid()

    def __iter__(self) -> '_Iterator':
        return self

    def __next__(self) -> Any:
        if not self.works():
            raise StopIteration
        self._look()
        while True:
            number = self._due()
            if number is None:
                if not self._persistent:
                    self._end()
                raise StopIteration
            task = self._tasks[number]
            if task.answer is None:
                number = self._collect()
                if number is None:
                    continue
                if self._in_order and number != self._next:
                    continue
                task = self._tasks[number]
            batch = self._deliver(number, task)
            return batch if self._pin is None else self._pin(batch)

    def _due(self) -> int | None:
        """The number of the batch that is next, or None: that was all."""
        while self._next < self._sent:
            task = self._tasks.get(self._next)
            if task is not None and (task.answer is not None or self._active[task.worker]):
                return self._next
            self._next += 1  # of a worker whose data have ended; its answer gives the slot back
        return None

    def _collect(self) -> int | None:
        """Takes one answer, and returns its number if that is a batch or an exception."""
        kind, epoch, number, worker, slot, payload = self._receive()
        task = self._tasks.get(number)
        if epoch != self._epoch or task is None:
            return None
        if kind == END:
            self._give_back(self._tasks.pop(number), slot)
            if self._active[worker]:
                self._active[worker] = False
                self._ask()
            return None
        task.answer = kind, slot, payload
        return number  # type: ignore[no-any-return]

    def _deliver(self, number: int, task: _Task) -> Any:
        del self._tasks[number]
        if number == self._next:
            self._next += 1
        self._counts[task.worker] -= 1
        self._ask()
        kind, slot, payload = task.answer
        if kind == FAILED:
            self._give_back(task, slot)
            self._raise(number, task, payload)
        found = self._store.taken_back(task.slot, slot)
        assert found is not None
        return unpack(payload, self._store.lend(found))

    def _receive(self) -> Any:
        end = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            try:
                return _mail.unseal(self._store.pool, self._crew.results.get(True, max(left, 0.0)))
            except QueueEmpty:
                self._look()
                if end is not None and time.monotonic() >= end:
                    raise self._late() from None

    # what goes wrong

    def _at(self, worker: int) -> tuple[str, Any]:
        """In words, what a worker is doing, and the index of its sample."""
        doing, number, position = (int(x) for x in self._crew.progress[worker, :3])
        if doing == STARTING:
            return 'while it was started', None
        task = self._tasks.get(number)
        if doing == _worker.IDLE or task is None:
            return 'while it had nothing to do', None
        if doing == FETCHING:
            index = self._index(task, position)
            return f'at {self._sample(task, position)} of batch {number}', index
        return f'while it put batch {number} together', None

    def _index(self, task: _Task, position: int) -> Any:
        if self._iterable or position < 0:
            return None
        if not self._batched:
            return task.index
        return task.index[position] if 0 <= position < len(task.index) else None

    def _sample(self, task: _Task, position: int) -> str:
        if self._iterable:
            return f'sample {position}'
        if not self._batched:
            return f'sample {_short(task.index)}'
        index = self._index(task, position)
        return f'one of the samples {_short(task.index)}' if index is None else f'sample {_short(index)}'

    def _look(self) -> None:
        """Raises when a worker has ended."""
        worker = self._crew.dead()
        if worker is None:
            return
        process = self._crew.processes[worker]
        where, index = self._at(worker)
        error = WorkerDied(f'shmem.{_FUNCTION}: worker {worker} (process {process.pid}) ended {where}: {_cause(process.exitcode)}')
        error.worker, error.pid, error.exitcode, error.index = worker, process.pid, process.exitcode, index
        self._end()
        raise error

    def _late(self) -> Exception:
        task = self._tasks[self._next] if self._next in self._tasks else None
        worker = task.worker if task is not None else 0
        return make(_FUNCTION, errno.ETIMEDOUT, f'no batch within {self._timeout} seconds; worker {worker} was last seen '
                                                f'{self._at(worker)[0]}')

    def _raise(self, number: int, task: _Task, failure: _worker.Failure) -> None:
        where = f'at {self._sample(task, failure.position)} of batch {number}' if failure.doing == FETCHING else \
            'when it was started' if failure.doing == STARTING else f'when it put batch {number} together'
        pid = self._crew.processes[task.worker].pid
        text = _Text(f'{failure.text}\n\nshmem.{_FUNCTION}: worker {task.worker} (process {pid}) raised this {where}:\n'
                     f'{failure.trace}')
        raise _exception(failure.kind, text) from None


class _Text(str):
    """Looks the same where an exception shows the repr of its argument, as KeyError does."""

    def __repr__(self) -> str:
        return str(self)


def _exception(kind: bytes | None, text: str) -> Exception:
    """Of the class that was raised, if it can be made of text."""
    try:
        made = pickle.loads(kind)(text) if kind is not None else None
        if isinstance(made, Exception) and not isinstance(made, StopIteration):
            return made
    except Exception:
        pass
    return RuntimeError(text)


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 80 else f'{text[:60]}...{text[-15:]}'


def _cause(exitcode: int) -> str:
    if exitcode >= 0:
        return f'exit status {exitcode}'
    try:
        name = signal.Signals(-exitcode).name
    except ValueError:
        name = f'signal {-exitcode}'
    hints = {'SIGKILL': ' (which the kernel does when memory runs out)', 'SIGSEGV': ' (a bad access, in some library)',
             'SIGBUS': ' (memory that could not be had; not this loader\'s, which takes it beforehand)'}
    return f'killed by {name}{hints.get(name, "")}'


# --- the loader -------------------------------------------------------------------------------------------------------------------------------


class DataLoader(_TorchLoader):  # type: ignore[type-arg]
    """torch's DataLoader, with workers that put batches into shared memory where the trainer uses them, without a copy.

    Takes the arguments of ``torch.utils.data.DataLoader``, gives the same batches for the same generator or seed, and random
    numbers in workers come out the same, too. With num_workers=0 it is torch's. Differences:

    * A batch lies in a slot of a pool. When the last tensor (or view) of it has gone, the slot is used again, so in a steady
      state nothing is allocated. Whoever keeps batches keeps their memory; ``clone()`` what you want to keep long.
    * /dev/shm is not used: its size does not matter.
    * A worker that dies raises WorkerDied in the trainer within a fraction of a second, naming the sample and the cause. An
      exception of the dataset is raised with its class, the worker's traceback and the index of the sample.
    * seed: a number, instead of generator. max_bytes: how much memory batches may take (None: that of the machine).
    * pin_memory=True makes a pinned copy of each batch in the trainer, when it is asked for; without an accelerator it warns,
      as torch does, and does nothing.

    Workers end with the iterator, at the end of the interpreter, when the trainer is killed, and on Ctrl-C. Tensors of a
    batch can be written to. NumPy arrays in what a collate_fn returns arrive without a copy, too.

    Raises: NotSupported (datapipes; in the trainer: batches with tensors on another device), InvalidArgument,
    WorkerDied, Timeout (timeout), PoolFull (in the worker, passed on).
    """

    def __init__(self, dataset: Any, *args: Any, seed: int | None = None, max_bytes: int | str | None = None,
                 **keywords: Any) -> None:
        if seed is not None:
            if keywords.get('generator') is not None or len(args) > 11:
                raise make(_FUNCTION, 'value', 'seed and generator are both given')
            keywords['generator'] = torch.Generator().manual_seed(
                whole(_FUNCTION, 'seed', seed, -(1 << 63), (1 << 64) - 1))
        # Attributes that torch's class does not know must be there first: later it refuses some.
        self._shmem_max = _most() if max_bytes is None else _bytes(_FUNCTION, 'max_bytes', max_bytes)
        if not 0 < self._shmem_max < 1 << 62:
            raise make(_FUNCTION, 'value', f'max_bytes is {shown(max_bytes)}, but must be more than 0, and less than an address space')
        self._shmem_kept: Any = None
        super().__init__(dataset, *args, **keywords)
        if self.num_workers and not self.prefetch_factor:
            raise make(_FUNCTION, 'value', 'prefetch_factor is 0, so workers would never be asked for a batch')
        pipes = [getattr(torch.utils.data, name) for name in ('IterDataPipe', 'MapDataPipe') if hasattr(torch.utils.data, name)]
        if self.num_workers and isinstance(dataset, tuple(pipes)):
            raise make(_FUNCTION, 'unsupported', 'dataset is a datapipe, whose shuffling and sharding are set up by torch\'s own '
                                                 'loader: use that, or a Dataset')

    def _shmem_store(self) -> _Store:
        store = self._shmem_kept
        if store is None or store.pid != os.getpid():  # of a forked child its own: the slots are the parent's
            store = self._shmem_kept = _Store(self._shmem_max)
        return store  # type: ignore[no-any-return]

    def __iter__(self) -> Any:
        if isinstance(self._iterator, _Iterator) and not self._iterator.works():
            self._iterator = None  # persistent workers of which one died
        return super().__iter__()

    def _get_iterator(self) -> Any:
        if self.num_workers == 0:
            return super()._get_iterator()
        self.check_worker_number_rationality()
        return _Iterator(self)

    def __getstate__(self) -> Any:
        """What goes to another process, or is copied: not the pool and the workers."""
        return {**self.__dict__, '_shmem_kept': None, '_iterator': None}


def _most() -> int:
    return max(1 << 30, math.prod(os.sysconf(name) for name in ('SC_PHYS_PAGES', 'SC_PAGE_SIZE')))
