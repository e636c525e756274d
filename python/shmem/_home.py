# SPDX-License-Identifier: Apache-2.0
"""Where objects of synchronisation and queues are made: pools, and the symmetric heap."""

from __future__ import annotations

import contextlib
import operator
import re
from typing import Any

from . import _ext, _queue, _sync
from ._argument import flag, whole
from .errors import Busy, Error, NameUnknown, make, shown

_index = operator.index
_COUNT_MOST = (1 << 31) - 1  # of an unsigned int, and of an int

# --- arguments --------------------------------------------------------------------------------------------------------------------------------

_SIZE = re.compile(r'\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(?:i?b)?\s*\Z', re.IGNORECASE)
_UNITS = {'': 1, 'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40}


def _bytes(function: str, argument: str, size: Any) -> int:
    """A number of bytes, or text such as '64M' or '1.5G'."""
    if isinstance(size, str):
        found = _SIZE.match(size)
        if not found:
            raise make(function, 'value', f"{argument} is {shown(size)}, which is no size: write a number of bytes, perhaps with "
                                          "k, m, g or t, such as '512M'")
        return -int(-float(found[1]) * _UNITS[found[2].lower()] // 1)
    try:
        return _index(size)
    except TypeError:
        raise make(function, 'type', f"{argument} is a {type(size).__name__}, but must be a number of bytes or text such as "
                                     "'512M'") from None


def _text(function: str, argument: str, text: Any) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise make(function, 'type', f'{argument} is a {type(text).__name__}, but must be text')
    if '\0' in text:
        raise make(function, 'value', f'{argument} has a zero character in it')
    if any('\ud800' <= letter <= '\udfff' for letter in text):
        raise make(function, 'value', f'{argument} has half a character (a surrogate) in it, which UTF-8 has not')
    return text


def _name(function: str, name: Any) -> str:
    checked = _text(function, 'name', name)
    if checked is None:
        raise make(function, 'type', 'name is None, but must be text')
    return checked


def _object_name(function: str, name: Any) -> str | None:
    return None if name is None else _name(function, name)


# --- what pools and the symmetric heap have in common -----------------------------------------------------------------------------------------


class Home:
    """Makes objects of synchronisation and queues."""

    __slots__ = ()
    _word: str  # what messages call it
    _handle: Any

    def _called(self, method: str) -> str:
        return f'{self._word}.{method}'

    def create_mutex(self, name: str | None = None) -> _sync.Mutex:
        """A Mutex, which one thread of all processes has at a time.

        name: by which ``find()`` returns it to other processes; 1 to 95 bytes. An object with a name, or one that was
        exported or pickled, stays until ``destroy()``. Another one goes with its last reference in the process that made it
        (but for one that forked meanwhile: the child may have it).

        Raises: AlreadyExists, PoolFull, AccessDenied (a file that is not open 'rw'), Stale. Any thread may call it.
        """
        function = self._called('create_mutex')
        return _sync.create(function, self._handle, _sync.Mutex, _object_name(function, name))

    def create_rwlock(self, name: str | None = None, *, readers: int = 32) -> _sync.RWLock:
        """An RWLock: many readers or one writer. readers: how many can read at once without meeting each other; more can
        take turns. Otherwise as ``create_mutex()``."""
        function = self._called('create_rwlock')
        return _sync.create(function, self._handle, _sync.RWLock, _object_name(function, name),
                            readers)

    def create_semaphore(self, n: int, name: str | None = None, *, max: int | None = None,
                         owned: bool = False) -> _sync.Semaphore:
        """A Semaphore of n units, and never more than max. owned: n units in all, each with a holder, whose death frees
        it. Otherwise as ``create_mutex()``."""
        function = self._called('create_semaphore')
        return _sync.create(function, self._handle, _sync.Semaphore,
                            _object_name(function, name), n, 0 if max is None else max, flag(function, 'owned', owned))

    def create_condition(self, mutex: _sync.Mutex | None = None, name: str | None = None) -> _sync.Condition:
        """A Condition. mutex: that goes with it; None: a new one. With a name it has a new one, whose name is the same with
        ':mutex' behind it. Otherwise as ``create_mutex()``."""
        function = self._called('create_condition')
        name = _object_name(function, name)
        if mutex is not None and not isinstance(mutex, _sync.Mutex):
            raise make(function, 'type', f'mutex is a {type(mutex).__name__}, but must be a Mutex' +
                       (': say name= for a name' if isinstance(mutex, str) else ''))
        if mutex is not None and name is not None:
            raise make(function, 'value', 'mutex and name do not go together: who finds the name would not know '
                                          'the mutex. Hand over its key, or let it make a mutex')
        made_mutex = None
        if mutex is None:
            made_mutex = _sync.create(function, self._handle, _sync.Mutex, None if name is None else _sync.mutex_name(name))
        try:
            made = _sync.create(function, self._handle, _sync.Condition, name)
        except Error:
            if made_mutex is not None:
                with contextlib.suppress(Busy):  # somebody found it by its name just now
                    made_mutex.destroy()
            raise
        made._extra = mutex or made_mutex
        return made

    def create_barrier(self, n: int, name: str | None = None) -> _sync.Barrier:
        """A Barrier for n threads, 1 to 1022. Otherwise as ``create_mutex()``."""
        function = self._called('create_barrier')
        return _sync.create(function, self._handle, _sync.Barrier, _object_name(function, name), n)

    def create_event(self, name: str | None = None, *, auto_reset: bool = False, set: bool = False) -> _sync.Event:
        """An Event. auto_reset: each ``set()`` lets one waiter pass. set: it is set from the start. Otherwise as
        ``create_mutex()``."""
        function = self._called('create_event')
        return _sync.create(function, self._handle, _sync.Event, _object_name(function, name),
                            flag(function, 'auto_reset', auto_reset), flag(function, 'set', set))

    def create_atomic(self, dtype: Any = 'int64', value: int = 0, *, name: str | None = None) -> _sync.Atomic:
        """An Atomic. dtype: int64, uint64, int32 or uint32. Otherwise as ``create_mutex()``."""
        function = self._called('create_atomic')
        return _sync.create(function, self._handle, _sync.Atomic, _object_name(function, name),
                            _sync.word_type(function, dtype), value)

    def create_queue(self, item: Any, capacity: int | str, batch: int = 1, *, consumers: str = 'many',
                     flush: float | None = None, max_message: int | str | None = None, producers: int = 256,
                     name: str | None = None) -> _queue.Queue:
        """A Queue.

        item: what its items are. A dtype: they come out as NumPy scalars or records; (dtype, shape): as arrays of this shape.
           bytes: messages of any length up to max_message. object: whatever can be pickled; Buffers in it travel as
           keys, so that they are handed over and not copied.
        capacity: items. For bytes and object bytes, or text such as '4M': each takes 8 more than it has, rounded up to 64.
        batch: items that a producer gathers before they are moved in together, which is faster. Nobody sees them until then:
           when so many are together, after `flush` seconds, by ``Queue.flush()``, or when the object, the thread or the
           process ends.
        consumers: 'one': a second thread that gets at the same time is told Busy. 'many'.
        flush: seconds; None: not by time. max_message: bytes; None: a quarter of the capacity, at most 64 KiB.
        producers: threads that can put at a time.

        name, and the rest, as ``create_mutex()``. Raises also: InvalidArgument, WrongType.
        """
        function = self._called('create_queue')
        counts = [whole(function, argument, value, 1, _COUNT_MOST) for argument, value in (('batch', batch), ('producers', producers))]
        room = _bytes(function, 'capacity', capacity)
        if not 1 <= room < 1 << 63:
            raise make(function, 'value', f'capacity is {shown(capacity)}, but must be from 1 to 2**63 - 1')
        return _queue.create(function, self._handle, item, room, counts[0],
                             _queue.seconds_from(function, flush), _queue.many_from(function, consumers),
                             0 if max_message is None else _bytes(function, 'max_message', max_message), counts[1],
                             _object_name(function, name))


# --- the symmetric heap -----------------------------------------------------------------------------------------------------------------------


class Heap(Home):
    """The symmetric heap of this process's job where objects are made: ``shmem.heap``, the only one.

    Its ``create_`` methods are those of a Pool, and collective: all PEs call them in the same order, for the same kind of
    object, size and name. Each PE gets an instance of its own, which is what they return; ``on(pe)`` of any of them returns
    another PE's. ``destroy()`` is collective too, on each PE's own instance, and ends all instances or none. Objects that
    nobody refers to any more stay: they go with ``destroy()``, or with the job. There are no keys of them, and they cannot be
    pickled. ::

        mutex = shmem.heap.create_mutex('table')      # on all PEs
        with mutex.on(0):                             # PE 0's
            ...

    They live in the heap whose arrays ``shmem.empty()`` makes, and count in ``shmem.heap_info()``. After ``finalize()``, and in
    forked children, using one raises Stale. While threads wait for one, ``finalize()`` raises Busy. Raises, beyond what those
    of Pool raise: NotInitialized (no job), InvalidArgument (PEs ask for different things), OutOfMemory (the heap is full).
    """

    __slots__ = ()
    _word = 'heap'
    _handle = _ext.HEAP

    def find(self, name: str) -> Any:
        """This PE's instance of what was made with that name. Not collective. Raises NameUnknown (a KeyError)."""
        name = _name('heap.find', name)
        return _sync.find_object('heap.find', self._handle, _ext.pool_what('heap.find', self._handle, name), name)

    __getitem__ = find

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and _ext.pool_what('heap.find', self._handle, name) > 0
        except NameUnknown:
            return False

    def __reduce__(self) -> str:
        return 'heap'

    def __repr__(self) -> str:
        return '<shmem.heap>'


heap = Heap()
