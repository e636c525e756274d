# SPDX-License-Identifier: Apache-2.0
"""Parameters that one process changes while others read them: versions, of which every reader sees a whole one."""

from __future__ import annotations

import contextlib
import itertools
import time
import uuid
from typing import Any, Iterator

import numpy as np
import torch

from .. import _key, _pool
from .._argument import seconds, whole
from .._sync import Atomic, Mutex, RWLock
from ..errors import AlreadyExists, NameUnknown, OwnerDied, make, said_by, shown
from ._share import Entry, Tensors, _differs, _Plan, check_weights, entries_of, need_module
from ._tensors import check_pool

# The versions lie in buffers NAME:0, NAME:1, ..., each with a lock NAME:0:lock. The word NAME is (version << 16 | number of
# the buffer that has it). A writer takes for writing, without waiting, the lock of a buffer that is not current and that
# nobody reads, or makes another buffer; so it waits for nobody, and there is at most one more buffer than readers at a time,
# and one. A reader takes the lock of the current buffer for reading, and looks whether it still is current: then nobody
# changes it until the lock is released. Readers and writers that die lose their locks.
_NUMBER = (1 << 16) - 1


class _Versions:
    def __init__(self, pool: Any, name: str) -> None:
        self._pool, self._name = pool, name
        self._locks: list[RWLock] = []
        self._buffers: list[Any] = []

    @property
    def key(self) -> str:
        """What a Subscriber needs: text."""
        return f'{self._pool.export()} {self._name}'

    @property
    def version(self) -> int:
        """The number of the newest version, from 1."""
        return self._word.load() >> 16

    _word: Atomic

    def _buffer(self, number: int) -> Any:
        while len(self._buffers) <= number:
            name = f'{self._name}:{len(self._buffers)}'
            buffer, lock = self._pool.find(name), self._pool.find(f'{name}:lock')
            self._buffers.append(buffer)
            self._locks.append(lock)
        return self._buffers[number]


class Publisher(_Versions):
    """Puts out versions of the parameters and buffers of a module. ``key`` is what a Subscriber needs.

    module: the first version; its architecture is that of all. pool: where versions lie, each as large as the module; None: a
    new one that grows as needed. name: of the versions in the pool; if it is there already, of a process that has ended or
    not, this one goes on with it.

    A version costs one copy. ``publish()`` never waits for readers: while they hold old versions, further buffers are made, at
    most two more than there are readers at a time. Several processes may publish; they wait for each other.

    Raises: PoolFull, NotSupported (parameters on another device, sparse, or packed: as ``share()``), InvalidArgument.
    """

    def __init__(self, module: torch.nn.Module, pool: Any = None, name: str | None = None) -> None:
        function = 'torch.Publisher'
        need_module(function, module)
        if name is not None and not isinstance(name, str):
            raise make(function, 'type', f'name is a {type(name).__name__}, but must be text')
        check_weights(function, module)
        self._module = module
        plan = _Plan(function, list(entries_of(module)))
        if check_pool(function, pool) is None:
            pool = _pool.create_pool(3 * (plan.size + 4096) + (1 << 20), max_size=64 * plan.size + (1 << 30), grow=True)
        super().__init__(pool, f'versions-{uuid.uuid4().hex}' if name is None else name)
        with said_by(function):
            try:
                self._mutex = pool.create_mutex(f'{self._name}:writers')
                self._word = pool.create_atomic('int64', _NUMBER, name=self._name)
            except AlreadyExists:
                self._mutex, self._word = _found(function, pool, self._name)
            self._put_out(plan)

    def publish(self, module: torch.nn.Module | None = None) -> int:
        """Copies the module's parameters and buffers (None: those of the module it was made with) into a new version, and
        returns its number. Readers have it from then on. Raises: PoolFull, InvalidArgument (another architecture)."""
        function = 'torch.Publisher.publish'
        source = self._module if module is None else module
        need_module(function, source)
        if source is not self._module:  # which was looked at
            check_weights(function, source)
        plan = _Plan(function, list(entries_of(source)))
        with said_by(function):
            return self._put_out(plan)

    def _put_out(self, plan: _Plan) -> int:
        with self._mutex.repairing(lambda: None):  # whatever a dead writer had begun is not current
            word = self._word.load()
            if word >> 16:
                self._check(plan, self._buffer(word & _NUMBER))
            number, lock = self._unused(word & _NUMBER, plan)
            try:
                plan.write(self._buffer(number))
            finally:
                lock.release()
            version = (word >> 16) + 1
            self._word.store(version << 16 | number)
        self._word.wake(1 << 30)
        return version

    def _check(self, plan: _Plan, buffer: Any) -> None:
        """Raises unless the module is of the architecture that the version in this buffer has."""
        if bytes(buffer[:len(plan.head)]) == plan.head:
            return
        function = 'torch.Publisher.publish'
        for entry, row in itertools.zip_longest(plan.entries, Tensors(function, buffer).rows):
            _differs(function, entry, row)
        if [row[:7] for row in plan.rows] != [list(row)[:7] for row in Tensors(function, buffer).rows]:
            raise make(function, 'value', 'the module has strides or ties between weights that the first version had not')

    def _unused(self, current: int, plan: _Plan) -> tuple[int, RWLock]:
        """A buffer that nobody reads, with its lock held for writing."""
        for number in itertools.count():
            if number == current:
                continue
            try:
                buffer = self._buffer(number)
            except NameUnknown:
                self._make(number, plan)
                buffer = self._buffer(number)
            if buffer.nbytes != plan.size:  # of one who died before its first version
                raise make('torch.Publisher.publish', 'value', f'the pool has a buffer {self._name}:{number} of another size')
            lock = self._locks[number]
            try:
                if lock.acquire_write(0):
                    return number, lock
            except OwnerDied:
                lock.consistent()
                return number, lock
        raise AssertionError

    def _make(self, number: int, plan: _Plan) -> None:
        name = f'{self._name}:{number}'
        with contextlib.suppress(AlreadyExists):  # of a writer that died in between
            self._pool.create_rwlock(f'{name}:lock', readers=64)
        self._pool.alloc(plan.size, np.uint8, name=name)

    def __repr__(self) -> str:
        return f'<shmem.torch.Publisher: version {self.version}, {len(self._buffers)} buffers>'


def _found(function: str, pool: Any, name: str) -> tuple[Any, Any]:
    try:
        mutex, word = pool.find(f'{name}:writers'), pool.find(name)
    except NameUnknown:
        word = mutex = pool.create_atomic('int64', _NUMBER, name=name)  # of one that died in between
        mutex = pool.find(f'{name}:writers')
    if not isinstance(word, Atomic) or not isinstance(mutex, Mutex):
        raise make(function, 'value', f"the pool has something else of the name '{name}'")
    return mutex, word


class Version(dict):  # type: ignore[type-arg]
    """The tensors of a version by their names, in the memory that all readers share. version: its number."""

    version: int
    _rows: Any


class Subscriber(_Versions):
    """Reads versions of a Publisher. key: the Publisher's.

    ``with subscriber.read() as weights:`` has a whole version without copying it, and ``subscriber.copy_to(module)`` copies one.
    Neither waits for the writer, and the writer does not wait for them. Any thread may use it.

    Raises: KeyMalformed, KeyUnknown, KeyOrphaned, NameUnknown, InvalidArgument.
    """

    def __init__(self, key: str) -> None:
        function = 'torch.Subscriber'
        if not isinstance(key, str) or not key.startswith('shm1-') or ' ' not in key:
            raise make(function, 'value', f'key is {shown(key)}, which is no key of a Publisher')
        pool_key, _, name = key.partition(' ')
        with said_by(function):
            super().__init__(_pool._open_again(pool_key), name)
            word = self._pool.find(name)
        if not isinstance(word, Atomic):
            raise make(function, 'value', 'key is not of a Publisher, but of something else')
        self._word = word
        self._tensors: dict[int, Tensors] = {}

    @contextlib.contextmanager
    def read(self) -> Iterator[Version]:
        """For a with statement: the newest Version, which does not change during the block. Use it as it is, for instance by
        ``torch.func.functional_call(model, weights, x)``; not after the block. In the thread that entered the block.

        The tensors are mapped for reading only, because all readers have the same: a write into one ends this process (torch
        knows no read-only tensors). So put the model into eval mode, in which batch norms write nothing, and clone() what is
        to be changed, or use ``copy_to()``."""
        word, lock = self._hold()
        try:
            number = word & _NUMBER
            tensors = self._tensors.get(number)
            if tensors is None:
                tensors = self._tensors[number] = Tensors('torch.Subscriber.read', self._mapped(number))
            weights = Version((row.name, tensors.tensor(row)) for row in tensors.rows)
            weights.version, weights._rows = word >> 16, tensors.rows
            yield weights
        finally:
            lock.release()

    def _mapped(self, number: int) -> Any:
        """The memory of a buffer, for reading only."""
        key = self._pool.export(self._buffer(number), 'r')
        try:
            return _key.import_(key, 'r')
        finally:
            self._pool.revoke(key)  # it was for this mapping, which stays

    def _hold(self) -> tuple[int, RWLock]:
        while True:
            word = self._word.load()
            if word >> 16 == 0:
                raise make('torch.Subscriber.read', 'stale', 'there is no version yet: the Publisher died before its first')
            self._buffer(word & _NUMBER)
            lock = self._locks[word & _NUMBER]
            try:
                if not lock.acquire_read(0.001):
                    continue  # it is not current any more, or more read it than there are seats
            except OwnerDied:
                continue  # a writer died in it; so it is not current
            if self._word.load() == word:
                return word, lock
            lock.release()

    def copy_to(self, module: torch.nn.Module) -> int:
        """Copies the newest version into a module of the same architecture, and returns its number. Raises InvalidArgument,
        which names the first parameter that differs; nothing has changed then."""
        need_module('torch.Subscriber.copy_to', module)
        entries: list[Entry] = list(entries_of(module))
        with self.read() as weights:
            for entry, row in itertools.zip_longest(entries, weights._rows):
                _differs('torch.Subscriber.copy_to', entry, row)
            with torch.no_grad():
                for entry in entries:
                    entry.tensor.copy_(weights[entry.name])
            return weights.version

    def wait(self, version: int = 0, timeout: float | None = None) -> bool:
        """Waits until there is a version newer than this one: True; False when time was up. The GIL is released."""
        version = whole('torch.Subscriber.wait', 'version', version, -(1 << 63), (1 << 63) - 1)
        timeout = seconds('torch.Subscriber.wait', timeout)
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            word = self._word.load()
            if word >> 16 > version:
                return True
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return False
            self._word.wait(word, left)

    def __repr__(self) -> str:
        return f'<shmem.torch.Subscriber: version {self.version}>'
