# SPDX-License-Identifier: Apache-2.0
"""What a worker of the DataLoader does: takes lists of indices, and fills slots with batches."""

from __future__ import annotations

import os
import pickle
import random
import signal
import traceback
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import _utils

from .. import _key
from ..errors import QueueClosed, QueueEmpty, QueueFull
from . import _mail
from ._pack import Packer, stack_later
from ._tensors import bytes_of

# What the loader sends: (TASK, epoch, number, index, slot), (RESUME, epoch). What a worker sends:
# (kind, epoch, number, worker, slot, payload); a slot is (key, bytes) or None.
TASK, RESUME = range(2)
BATCH, END, FAILED, RESUMED = range(4)
# What a worker does, in the first field of its line of the progress array; the second is the number of the batch, the third
# the position of the sample in it.
IDLE, FETCHING, COLLATING, STARTING = range(4)
_LOOK = 0.25  # seconds between looks whether the trainer lives


class Setup(NamedTuple):
    """What all workers of an iterator have in common."""

    pool: Any
    results: Any
    stop: Any  # an Atomic: not 0, the loader is done
    progress: Any
    iterable: bool
    auto_collation: bool
    drop_last: bool
    base_seed: int
    workers: int


class Failure(NamedTuple):
    """An exception of a worker, for the trainer."""

    kind: bytes | None  # its class, pickled
    text: str
    trace: str
    position: int  # of the sample in the batch; -1: not known, or none
    doing: int


class _Stopped(Exception):
    """The loader is done, or dead."""


def batch_collate(collate_fn: Any) -> Any:
    """The function that makes a batch of samples: torch's own default stacks where the batch is going to lie."""
    if collate_fn is _utils.collate.default_collate:
        table = {**_utils.collate.default_collate_fn_map, torch.Tensor: stack_later}
        return partial(_utils.collate.collate, collate_fn_map=table)
    return collate_fn


class Fetcher:
    """Samples by their indices, or the next ones; notes which one it is at."""

    def __init__(self, setup: Setup, dataset: Any, collate_fn: Any, line: Any) -> None:
        self._setup, self._dataset, self._collate, self._line = setup, dataset, batch_collate(collate_fn), line
        self._iterator: Any = iter(dataset) if setup.iterable else None
        self._many = getattr(dataset, '__getitems__', None)
        self._ended = False

    def fetch(self, index: Any) -> Any:
        if self._setup.iterable:
            samples = self._next(index)
        elif not self._setup.auto_collation:
            samples = self._dataset[index]
        elif self._many:
            self._line[2] = -1
            samples = self._many(index)
        else:
            samples = self._each(index)
        self._line[0] = COLLATING
        return self._collate(samples)

    def _each(self, indices: Any) -> list[Any]:
        samples, line, dataset, stopped = [], self._line, self._dataset, self._setup.stop.load
        for position, index in enumerate(indices):
            line[2] = position
            samples.append(dataset[index])
            if stopped():
                raise _Stopped
        return samples

    def _next(self, indices: Any) -> Any:
        if self._ended:
            raise StopIteration
        if not self._setup.auto_collation:
            return next(self._iterator)
        samples = []
        for position, _ in enumerate(indices):
            self._line[2] = position
            try:
                samples.append(next(self._iterator))
            except StopIteration:
                self._ended = True
                break
            if self._setup.stop.load():
                raise _Stopped
        if not samples or (self._setup.drop_last and len(samples) < len(indices)):
            raise StopIteration
        return samples


class _Slots:
    """The memory of slots that this worker has seen, and larger ones where they do not suffice."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._known: dict[str, Any] = {}

    def fill(self, packer: Packer, slot: Any) -> Any:
        """Writes the batch into the slot, or a new one, and returns that."""
        if slot is None or slot[1] < packer.size:
            # Some more than is needed, so that batches of varying size soon have slots that fit.
            size = -(-(packer.size + packer.size // 8 + 1) // 4096) * 4096
            memory = self._pool.alloc(size, np.uint8, own=False)
            slot = self._pool.export(memory), size
            self._keep(slot[0], memory)
        raw = self._known.get(slot[0])
        if raw is None:
            raw = self._keep(slot[0], _key.import_(slot[0]))
        packer.write(raw)
        return slot

    def _keep(self, key: str, memory: Any) -> Any:
        if len(self._known) >= 256:  # most of them were replaced by larger ones
            self._known.clear()
        raw = self._known[key] = bytes_of(memory)
        return raw


def _seed(setup: Setup, worker: int, dataset: Any) -> None:
    """As torch's workers do it, so that random augmentation comes out the same."""
    seed = setup.base_seed + worker
    torch.set_num_threads(1)
    random.seed(seed)
    torch.manual_seed(seed)
    np.random.seed(_utils.worker._generate_state(setup.base_seed, worker))  # type: ignore[no-untyped-call]
    _utils.worker._worker_info = _utils.worker.WorkerInfo(id=worker, num_workers=setup.workers, seed=seed, dataset=dataset)


class _Worker:
    def __init__(self, setup: Setup, worker: int, tasks: Any, dataset: Any, collate_fn: Any) -> None:
        self.setup, self.worker, self.tasks, self.dataset, self.collate_fn = setup, worker, tasks, dataset, collate_fn
        self.line = setup.progress[worker]
        self.slots = _Slots(setup.pool)
        self.parent = os.getppid()
        self.failure: Failure | None = None
        self.fetcher: Any = None
        self.ended = False

    def check(self) -> None:
        if self.setup.stop.load() or os.getppid() != self.parent:
            raise _Stopped

    def next_task(self) -> Any:
        while True:
            self.check()
            try:
                return _mail.unseal(self.setup.pool, self.tasks.get(True, _LOOK))
            except QueueEmpty:
                continue

    def send(self, *message: Any) -> None:
        data = _mail.seal(self.setup.pool, message)
        while True:
            self.check()
            try:
                return self.setup.results.put(data, True, _LOOK)  # type: ignore[no-any-return]
            except QueueFull:
                continue

    def begin(self, init: Any = None) -> None:
        self.ended, self.failure = False, None
        try:
            if init is not None:
                init(self.worker)
            self.fetcher = Fetcher(self.setup, self.dataset, self.collate_fn, self.line)
        except Exception as error:
            self.failure = _failure(error, STARTING, -1)

    def do(self, epoch: int, number: int, index: Any, slot: Any) -> None:
        self.line[1] = number
        self.line[2] = 0
        self.line[0] = FETCHING
        if self.failure is not None:
            return self.send(FAILED, epoch, number, self.worker, slot, self.failure)
        try:
            packer = Packer()
            data = packer.pack(self.fetcher.fetch(index))
            slot = self.slots.fill(packer, slot)
        except StopIteration as error:
            if self.setup.iterable:
                self.ended = True
                return self.send(END, epoch, number, self.worker, slot, None)
            return self.send(FAILED, epoch, number, self.worker, slot, _failure(error, int(self.line[0]), int(self.line[2])))
        except _Stopped:
            raise
        except Exception as error:
            return self.send(FAILED, epoch, number, self.worker, slot, _failure(error, int(self.line[0]), int(self.line[2])))
        self.send(BATCH, epoch, number, self.worker, slot, data)

    def run(self, init: Any) -> None:
        self.begin(init)
        while True:
            self.line[0] = IDLE
            task = self.next_task()
            if task[0] == RESUME:
                self.begin()
                self.send(RESUMED, task[1], -1, self.worker, None, None)
            elif self.ended:
                self.send(END, task[1], task[2], self.worker, task[4], None)
            else:
                self.do(*task[1:])


def _failure(error: Exception, doing: int, position: int) -> Failure:
    try:
        kind = pickle.dumps(type(error))
    except Exception:
        kind = None
    trace = ''.join(traceback.format_exception(type(error), error, error.__traceback__))
    return Failure(kind, str(error), trace, position if doing == FETCHING else -1, doing)


def main(setup: Setup, worker: int, tasks: Any, given: Any) -> None:
    """The process. given: dataset, collate_fn, worker_init_fn."""
    dataset, collate_fn, init = given
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trainer has it, too, and ends this one
    setup.progress[worker, 0] = STARTING
    _seed(setup, worker, dataset)
    try:
        _Worker(setup, worker, tasks, dataset, collate_fn).run(init)
    except (_Stopped, QueueClosed):
        pass
