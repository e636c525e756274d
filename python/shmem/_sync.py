# SPDX-License-Identifier: Apache-2.0
"""Synchronisation between processes that survives their deaths: objects in pools and files, and on the symmetric heap."""

from __future__ import annotations

import operator
import time
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import _ext
from .errors import make, shown

T = TypeVar('T')
_WAITERS_NOTED = 128  # by a condition: nobody else can be signalled
_classes: dict[int, Any] = {}  # by shmemx_is_t; queues are in _queue.py
_TYPES = {name: _ext.TYPES[name] for name in ('int32', 'int64', 'uint32', 'uint64')}


def _kind(number: int) -> Callable[[T], T]:
    def register(cls: T) -> T:
        cls._is = number  # type: ignore[attr-defined]
        _classes[number] = cls
        return cls

    return register


class _Shared:
    """What all objects in pools and on the symmetric heap have in common."""

    __slots__ = ()
    _is: int
    _pool: Any
    _pe: int
    name: str | None

    @property
    def pool(self) -> Any:
        """The Pool that it is in; or ``shmem.heap``."""
        from ._home import heap
        from ._pool import Pool
        if self._pe >= 0:
            return heap
        return Pool._of(self._pool, self._pool.path is not None)

    @property
    def pe(self) -> int | None:
        """The PE whose instance it is; None: it is in a pool."""
        return None if self._pe < 0 else self._pe

    def on(self, pe: int) -> Any:
        """PE pe's instance of an object on the symmetric heap. Raises: InvalidArgument (it is in a pool), OutOfRange (there is
        no such PE), Stale (destroyed), NotInitialized."""
        function = f'{type(self).__name__}.on'
        made = _ext.sync_on(function, self, pe)
        return made._opened(function) if hasattr(made, '_opened') else made

    def export(self) -> str:
        """Its key: text by which ``shmem.import_()`` in another process of this user returns it. An object that was
        exported stays until ``destroy()``. Raises NotSupported for one on the symmetric heap."""
        return self._export()  # type: ignore[attr-defined, no-any-return]

    def destroy(self) -> None:
        """Ends the object, for all processes: whoever uses it afterwards gets Stale. Raises Busy when somebody has it or
        waits for it. On the symmetric heap it is collective: all instances go, or none."""
        self._destroy()  # type: ignore[attr-defined]

    def __reduce__(self) -> Any:
        return import_object, (self.export(),)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def _state(self) -> str:
        return ''

    def __repr__(self) -> str:
        from .errors import Error
        name = f' {self.name!r}' if self.name is not None else ''
        where = f' on PE {self._pe}' if self._pe >= 0 else ''
        try:
            if not self._gone:  # type: ignore[attr-defined]
                return f'<shmem.{type(self).__name__}{name}{where}{self._state()}>'
        except Error:
            pass
        return f'<shmem.{type(self).__name__}{name}, destroyed>'


@_kind(1)
class Mutex(_ext.MutexBase, _Shared):  # type: ignore[misc]
    """One thread of all processes has it at a time. From ``Pool.create_mutex()``, a name, a key or a pickle.

    ``acquire(timeout=None, blocking=True)``: True; False when time is up (timeout 0 or blocking False: at once). As with
    ``threading.Lock``, ``acquire(False)`` and ``acquire(True, 5)`` work too. Raises: Deadlock (this thread has it already; with
    SHMEM_DEBUG also a circle of waits), OwnerDied, NotRecoverable, Stale (destroyed), and whatever a signal handler
    raises, such as KeyboardInterrupt. The GIL is released while it waits.
    ``release()``: raises NotOwner when this thread does not have it. ``locked()``: whether a living thread has it.
    ``with mutex:`` is acquire and release.

    When a holder dies, or its thread ends, the next ``acquire()`` raises OwnerDied *and has taken it*: what it guards may be
    half changed. ::

        try:
            mutex.acquire()
        except shmem.OwnerDied:
            repair()
            mutex.consistent()
        try:
            ...
        finally:
            mutex.release()

    or, the same, ``with mutex.repairing(repair): ...``. Releasing without ``consistent()`` poisons it: NotRecoverable for
    everybody from then on. (``with mutex:`` itself raises OwnerDied at its beginning, and this thread then has the mutex.)
    """

    __slots__ = ()

    def repairing(self, repair: Callable[[], Any]) -> '_Repairing':
        """For a with statement: acquires it, and when its last holder died, calls ``repair()`` and says ``consistent()``. If
        ``repair()`` raises, the mutex is released, and poisoned by that."""
        return _Repairing(self.acquire, self.release, self.consistent, repair)

    def _state(self) -> str:
        return ', locked' if self.locked() else ', free'


class _Repairing:
    __slots__ = ('_calls',)

    def __init__(self, *calls: Any) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        from .errors import OwnerDied
        acquire, release, consistent, repair = self._calls
        try:
            acquire()
        except OwnerDied as died:
            if not died.held:
                raise
            try:
                repair()
                consistent()
            except BaseException:
                release()
                raise

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._calls[1]()


@_kind(2)
class RWLock(_ext.RWLockBase, _Shared):  # type: ignore[misc]
    """Many readers or one writer. From ``Pool.create_rwlock()``, a name, a key or a pickle.

    ``with lock.read(): ...`` and ``with lock.write(): ...``; or ``acquire_read(timeout=None, blocking=True)`` and
    ``acquire_write(...)``, which answer and raise as ``Mutex.acquire()``, and ``release()`` for either. A writer that waits keeps
    new readers out; one that leaves lets in all readers that wait.

    When a writer dies, ``acquire_write()`` raises OwnerDied and has taken it (``error.held``): repair, and say
    ``consistent()``; or use ``with lock.write(repair):``. ``acquire_read()`` raises OwnerDied too, and has *not* taken it:
    somebody has to write first. Readers that die are not missed.
    """

    __slots__ = ()

    def read(self) -> '_Side':
        """For a with statement: this thread reads in it."""
        return _Side(self.acquire_read, self.release)

    def write(self, repair: Callable[[], Any] | None = None) -> Any:
        """For a with statement: this thread writes in it. repair: called when the last writer died, as
        ``Mutex.repairing()``."""
        if repair is not None:
            return _Repairing(self.acquire_write, self.release, self.consistent, repair)
        return _Side(self.acquire_write, self.release)

    def readers(self) -> int:
        """How many living threads read."""
        return self._look()[0]  # type: ignore[no-any-return]

    def locked(self) -> bool:
        """Whether anybody reads or writes."""
        readers, writer = self._look()
        return readers > 0 or writer

    def _state(self) -> str:
        readers, writer = self._look()
        return ', written' if writer else f', {readers} readers'


class _Side:
    __slots__ = ('_acquire', '_release')

    def __init__(self, acquire: Any, release: Any) -> None:
        self._acquire, self._release = acquire, release

    def __enter__(self) -> None:
        self._acquire()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._release()


@_kind(3)
class Semaphore(_ext.SemaphoreBase, _Shared):  # type: ignore[misc]
    """Units that threads take and give. From ``Pool.create_semaphore()``, a name, a key or a pickle.

    ``acquire(timeout=None, blocking=True)`` takes one, and answers as ``Mutex.acquire()``; ``release(n=1)`` gives n, all or none;
    ``value()``: how many are free; ``with semaphore:``. Raises: OutOfRange (a ValueError: more than max), NotOwner (an owned
    one: this thread does not have so many), Stale.

    Of an owned one, a dead thread's units are free again. What a dead process took of another one is gone.
    """

    __slots__ = ()

    def _state(self) -> str:
        return f', {self.value()} free'


@_kind(4)
class Condition(_ext.ConditionBase, _Shared):  # type: ignore[misc]
    """Threads that have a mutex wait for what it guards to change. From ``Pool.create_condition()``, ``shmem.heap``, a name, a
    key or a pickle. As ``threading.Condition``: ``with condition:`` is its mutex's, ``.mutex``.
    """

    __slots__ = ()

    @property
    def mutex(self) -> Mutex:
        """The mutex that goes with it."""
        return self._extra  # type: ignore[no-any-return]

    def acquire(self, *args: Any, **keywords: Any) -> bool:
        """``mutex.acquire()``."""
        return self._extra.acquire(*args, **keywords)  # type: ignore[no-any-return]

    def release(self) -> None:
        """``mutex.release()``."""
        self._extra.release()

    def __enter__(self) -> 'Condition':
        self._extra.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._extra.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Releases the mutex, waits to be notified, and acquires it again: True; False when time was up. A wait may end
        for no reason, so look at what is waited for, or use ``wait_for()``.

        Raises: NotOwner (this thread does not have the mutex), OwnerDied (a holder of the mutex died meanwhile; this thread
        has it, as after ``Mutex.acquire()``), NotRecoverable, Stale, KeyboardInterrupt (it has the mutex then, too).
        """
        return self._wait(self._extra, timeout)  # type: ignore[no-any-return]

    def wait_for(self, predicate: Callable[[], T], timeout: float | None = None) -> T:
        """Waits until ``predicate()`` is true, and returns its value; the last one when time was up."""
        if not callable(predicate):
            raise make('Condition.wait_for', 'type', f'predicate is a {type(predicate).__name__}, but must be callable')
        try:
            end = None if timeout is None else time.monotonic() + timeout
        except TypeError:
            raise make('Condition.wait_for', 'type', f'timeout is a {type(timeout).__name__}, but must be a number of seconds '
                                                     'or None') from None
        value = predicate()
        while not value:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                break
            self.wait(left)
            value = predicate()
        return value

    def notify(self, n: int = 1) -> None:
        """Wakes n waiters, who have waited longest first. The mutex need not be held, though it mostly is."""
        try:
            count = operator.index(n)
        except TypeError:
            raise make('Condition.notify', 'type', f'n is a {type(n).__name__}, but must be an integer') from None
        if count < 0:
            raise make('Condition.notify', 'value', f'n is {count}, but must not be negative')
        if count >= _WAITERS_NOTED:
            self.notify_all()
            return
        for _ in range(count):
            self._signal()

    notify_all = _ext.ConditionBase.notify_all

    def on(self, pe: int) -> 'Condition':
        """As of other objects, with that PE's instance of the mutex, or with the same mutex where that is in a pool."""
        there: Condition = super().on(pe)
        there._extra = self._extra if self._extra._pe < 0 else self._extra.on(pe)
        return there

    def export(self) -> str:
        """As of other objects. The text is of two keys, the condition's and its mutex's, with a + between them."""
        return f'{self._export()}+{self._extra.export()}'

    def destroy(self) -> None:
        """Ends the condition. Its mutex stays."""
        self._destroy()

    def _state(self) -> str:
        return f' with {self._extra!r}'


@_kind(5)
class Barrier(_ext.BarrierBase, _Shared):  # type: ignore[misc]
    """n threads wait for each other, again and again. From ``Pool.create_barrier()``, a name, a key or a pickle. Who takes
    part registers by waiting for the first time.
    """

    __slots__ = ()

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the others. Returns 0 in one of the threads, and 1 in the others.

        Raises: BarrierBroken (an OwnerDied: one that takes part died or ended; later rounds run without it), Timeout (this
        thread's arrival is taken back, and the others go on waiting for it), Busy (n others take part already), Stale,
        KeyboardInterrupt (as Timeout). The GIL is released.
        """
        return self._wait(timeout)  # type: ignore[no-any-return]

    @property
    def parties(self) -> int:
        """How many are expected: n, less those that died."""
        return self._state_of()[0]

    @property
    def n_waiting(self) -> int:
        """How many of them wait."""
        return self._state_of()[1]

    def _state_of(self) -> tuple[int, int]:
        return _ext.BarrierBase._state(self)  # type: ignore[no-any-return]

    def _state(self) -> str:
        return ', {1} of {0} wait'.format(*self._state_of())


@_kind(6)
class Event(_ext.EventBase, _Shared):  # type: ignore[misc]
    """Something that has happened, or not yet. From ``Pool.create_event()``, a name, a key or a pickle. As
    ``threading.Event``: ``set()``, ``clear()``, ``is_set()``, and ``wait(timeout=None)``: True, or False when time was up. With
    auto_reset each ``set()`` lets one waiter pass, who clears it.
    """

    __slots__ = ()

    def _state(self) -> str:
        return ', set' if self.is_set() else ', not set'


@_kind(7)
class Atomic(_ext.AtomicBase, _Shared):  # type: ignore[misc]
    """An integer of 4 or 8 bytes that all processes change at once. From ``Pool.create_atomic()``, a name, a key or a pickle.

    ``load()``, ``store(value)``; ``add(value)`` and ``sub(value)``, which wrap around and return nothing; ``fetch_add(value)``,
    ``fetch_sub(value)``, ``and_(value)``, ``or_(value)``, ``xor(value)``, ``swap(value)``, which return what was there. All are
    sequentially consistent. Raises: OutOfRange (the value does not fit), WrongType, Stale.
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """Its NumPy dtype."""
        import numpy as np
        return np.dtype(self._dtype)

    def cas(self, expected: int, desired: int) -> int:
        """Becomes `desired` if it is `expected`; returns what was there."""
        return self._cas(expected, desired, True)  # type: ignore[no-any-return]

    def compare_exchange(self, expected: int, desired: int) -> bool:
        """Becomes `desired` if it is `expected`, and says whether it did."""
        return self._cas(expected, desired, False)  # type: ignore[no-any-return]

    def wait(self, value: int, timeout: float | None = None) -> bool:
        """Waits while it is `value`, until woken by ``wake()`` and it is something else: True; False when time was up. Who
        changes it has to say ``wake()``. The GIL is released."""
        return self._wait(value, timeout)  # type: ignore[no-any-return]

    def wake(self, n: int = 1) -> int:
        """Wakes up to n of those who wait, after a change. Returns how many."""
        return self._wake(n)  # type: ignore[no-any-return]

    def _state(self) -> str:
        return f' {self._dtype}: {self.load()}'


# --- making, finding, importing ---------------------------------------------------------------------------------------------------------------


def create(function: str, pool: Any, cls: Any, name: str | None, a: Any = None, b: Any = None, c: Any = None) -> Any:
    return _ext.sync_create(function, cls, pool, cls._is, name, a, b, c)


def word_type(function: str, dtype: Any) -> int:
    import numpy as np
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = None
    if kind is None or kind.name not in _TYPES or not kind.isnative:
        raise make(function, 'type', f'dtype is {shown(dtype)}, but must be one of {", ".join(_TYPES)}')
    return _TYPES[kind.name]


def _open(function: str, what: int, handle: Any, call: Any, text: str) -> Any:
    cls = _classes.get(what)
    if cls is None:
        raise make(function, 'value', f'{text} stands for an object of a type that this version does not know')
    made = call(function, cls, handle, what, text)
    return made._opened(function) if hasattr(cls, '_opened') else made


def find_object(function: str, handle: Any, what: int, name: str) -> Any:
    made = _open(function, what, handle, _ext.sync_find, name)
    if isinstance(made, Condition):
        mutex = mutex_name(name)
        if _ext.pool_what(function, handle, mutex) != Mutex._is:
            raise make(function, 'value', 'the condition was made with a mutex of another name: hand over its key instead')
        made._extra = _ext.sync_find(function, Mutex, handle, Mutex._is, mutex)
    return made


def mutex_name(name: str) -> str:
    """Of the mutex that belongs to a condition with a name."""
    return name + ':mutex'


def import_object(key: str, function: str = 'import_') -> Any:
    """The object of a key, in the pool of this process that it belongs to; this process attaches to it where need be."""
    if '+' in key:
        first, _, second = key.partition('+')
        condition, mutex = import_object(first), import_object(second)
        if not isinstance(condition, Condition) or not isinstance(mutex, Mutex):
            raise make(function, 'value', 'the two keys are not those of a condition and its mutex')
        condition._extra = mutex
        return condition
    found = _ext.key_what(function, key)
    if found is None:
        opened = _ext.pool_open(function, key)  # the object keeps it
        found = _ext.key_what(function, key)
    if found is None or found[0] == 0:
        raise make(function, 'value', 'this key opens a whole pool, and neither a buffer nor an object: open the pool with it')
    what, handle = found
    return _open(function, what, handle, _ext.sync_import, key)
