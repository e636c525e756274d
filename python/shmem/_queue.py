# SPDX-License-Identifier: Apache-2.0
"""Queues between processes, in the memory of a pool or file."""

from __future__ import annotations

import contextlib
import math
import operator
import pickle
import weakref
from functools import partial
from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _ext
from ._buffer import kind_of, layout_of, write_note
from ._convert import converted
from ._sync import _kind, _Shared
from .errors import Error, make, shown

_NUMBER, _ITEM, _BYTES, _OBJECT = range(4)
_dumps = partial(pickle.dumps, protocol=5)
_loads = pickle.loads
_CODES = {'int8': 'b', 'uint8': 'B', 'int16': 'h', 'uint16': 'H', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q',
          'float32': 'f', 'float64': 'd'}


class QueueStats(NamedTuple):
    """What a queue has had, about.

    length: items in it; pushed, popped: since it was made; skipped: places of producers that died before they filled
    them; gathered: items that this object has gathered and not moved in yet; producers: threads that have put something
    in and are there; closed; bytes: of the pool that it takes.
    """

    length: int
    pushed: int
    popped: int
    skipped: int
    gathered: int
    producers: int
    closed: bool
    bytes: int


def describe(function: str, item: Any) -> tuple[int, bytes]:
    """How many bytes an item has (0: messages), and what is written down of items."""
    if item is bytes or item is object:
        return 0, b'{"item":"%s"}' % item.__name__.encode()
    shape: Any = ()
    if isinstance(item, tuple) and len(item) == 2 and not isinstance(item[1], str):
        item, shape = item
        try:
            shape = (operator.index(shape),) if not hasattr(shape, '__len__') else tuple(map(operator.index, shape))
        except TypeError:
            raise make(function, 'type', f'the shape of item is {shown(shape)}, but must be an integer or a tuple of them') from None
        if any(side < 1 for side in shape):
            raise make(function, 'value', f'the shape of item is {shown(shape)}, but its sides must be 1 or more')
    kind = kind_of(function, item)
    return kind.itemsize * math.prod(shape), write_note(function, shape, kind)


@_kind(8)
class Queue(_ext.QueueBase, _Shared):  # type: ignore[misc]
    """Many processes and threads put, one or many get. From ``Pool.create_queue()``, a name, a key or a pickle.

    ``put(item, block=True, timeout=None)``, ``put_nowait(item)``, ``get(block=True, timeout=None)``, ``get_nowait()`` and
    ``qsize()`` are those of ``queue.Queue``. They raise QueueFull and QueueEmpty, which are ``queue.Full`` and ``queue.Empty`` too,
    and QueueClosed after ``close()``, which for get() means that all that was in it is out. ``for item in queue:`` gets until
    then. They release the GIL while they wait, and only then; Ctrl-C ends a wait. Any thread may use the same object.

    Order is kept for each producer (a thread), and every item arrives once. Who dies, at whatever instant, stops nobody:
    what it had put arrives; what it had only gathered (batch) is lost, and what it was just getting, too.
    """

    __slots__ = ('_shape', '_dtype', '_is_bytes')

    def _opened(self, function: str) -> 'Queue':
        """Reads the note of what its items are."""
        (item_bytes, _, batch, *_rest), _ = self._stats()
        note = self._note()
        self._shape, self._dtype, self._is_bytes = (), None, note != _OBJECT_NOTE
        if item_bytes == 0:
            self._set_items(_BYTES if self._is_bytes else _OBJECT, '-', _dumps, _loads)
        else:
            shape, kind, _, _ = layout_of(function, note, item_bytes)
            if kind.itemsize * math.prod(shape) != item_bytes:
                raise make(function, 'value', f'items of {item_bytes} bytes are said to be of shape {shape}, {kind}')
            self._shape, self._dtype = shape, kind
            code = _CODES.get(kind.name) if not shape and kind.isnative else None
            if code is not None:
                self._set_items(_NUMBER, code, None, np.zeros(1, kind))
            else:
                self._set_items(_ITEM, '-', self._encoder(), self._decoder())
        if batch > 1:
            _flush_at_end(self)
        return self

    def _encoder(self) -> Any:
        shape, kind = self._shape, self._dtype
        plain = kind.kind not in 'mM'  # whose arrays have no buffers

        def encode(item: Any) -> Any:
            try:
                if plain and item.dtype is kind and item.shape == shape and item.flags.c_contiguous:
                    return item
            except AttributeError:
                pass
            made = converted('Queue.put', 'item', item, kind)
            if made.shape != shape:
                raise make('Queue.put', 'value', f'item has the shape {made.shape}; items are {kind} of shape {shape}')
            return made.view(np.uint8) if made.ndim else made.reshape(1).view(np.uint8)

        return encode

    def _decoder(self) -> Any:
        shape, kind, new = self._shape, self._dtype, np.ndarray

        if shape:
            return lambda raw: new(shape, kind, raw)
        return lambda raw: new((1,), kind, raw)[0]

    # many at once

    def put_many(self, items: Any, block: bool = True, timeout: float | None = None) -> int:
        """Puts all of these, moved in together as far as there is room, and returns how many: fewer when time was up or the
        queue was closed meanwhile. items: an array whose first side counts them, or any iterable. Nothing is put when one of
        them is no item: WrongType and OutOfRange say which."""
        if not hasattr(items, '__iter__') and not hasattr(items, '__getitem__'):
            raise make('Queue.put_many', 'type', f'items is a {type(items).__name__}, but must be an array or iterable')
        if self._dtype is None:
            made = [self._message(item) for item in items] if self._is_bytes else [_dumps(item) for item in items]
            return self._put_many(made, block, timeout)  # type: ignore[no-any-return]
        if isinstance(items, np.ndarray) and (items.dtype == self._dtype or np.can_cast(items.dtype, self._dtype)):
            array = np.ascontiguousarray(items, self._dtype)
        else:
            array = converted('Queue.put_many', 'items', items if hasattr(items, '__array__') else list(items), self._dtype)
        if array.shape[1:] != self._shape or array.ndim == 0:
            raise make('Queue.put_many', 'value', f'items have the shape {array.shape}, but must be of (number, '
                                                  f'{", ".join(map(str, self._shape))})')
        if array.size == 0:
            return 0
        return self._put_many(array.view(np.uint8), block, timeout)  # type: ignore[no-any-return]

    @staticmethod
    def _message(item: Any) -> bytes:
        try:
            return item if item.__class__ is bytes else bytes(memoryview(item))
        except TypeError:
            raise make('Queue.put_many', 'type', f'an item is a {type(item).__name__}, but must be bytes, or have a buffer') from None

    def get_many(self, n: int, block: bool = True, timeout: float | None = None) -> Any:
        """Gets up to n, as many as there are, but waits for one. Returns an array, whose first side counts them; of
        messages a list. Raises as ``get()``."""
        raw = self._get_many(n, block, timeout)
        if self._dtype is None:
            return raw if self._is_bytes else [_loads(one) for one in raw]
        return np.frombuffer(raw, self._dtype).reshape(-1, *self._shape)

    # in place

    @contextlib.contextmanager
    def reserve(self, size: int | None = None, block: bool = True, timeout: float | None = None) -> Iterator[Any]:
        """For a with statement: a place in the queue itself, to be filled there: an array of one item, or for bytes a
        memoryview of `size` bytes. It becomes an item at the end of the block, or none if the block raises. Consumers wait for
        it, so be quick; not to be used after the block. Not for queues of objects."""
        if self._dtype is None and not self._is_bytes:
            raise make('Queue.reserve', 'type', 'items are pickled objects: put() them')
        if self._dtype is None and size is None:
            raise make('Queue.reserve', 'type', 'size is needed: how many bytes the message will have')
        bytes_ = self._dtype.itemsize * math.prod(self._shape) if self._dtype is not None else size
        slot = self._reserve(bytes_, block, timeout)
        try:
            yield memoryview(slot) if self._dtype is None else np.ndarray(self._shape, self._dtype, slot)
        except BaseException:
            self._commit(None)
            raise
        self._commit(bytes_)

    @contextlib.contextmanager
    def peek(self, block: bool = True, timeout: float | None = None) -> Iterator[Any]:
        """For a with statement: the oldest item where it lies: a read-only array or memoryview; an object is unpickled. It
        is taken at the end of the block; if the block raises, or this process dies, it is the next item again. Other
        consumers wait meanwhile; not to be used after the block."""
        slot = self._peek(block, timeout)
        try:
            view = memoryview(slot).toreadonly()
            if self._dtype is not None:
                item: Any = np.ndarray(self._shape, self._dtype, view)
            else:
                item = view if self._is_bytes else _loads(view)
            yield item
        except BaseException:
            self._unpeek(False)
            raise
        self._unpeek(True)

    # the queue

    @property
    def item(self) -> Any:
        """What items are: a dtype, (dtype, shape), ``bytes`` or ``object``."""
        if self._dtype is None:
            return bytes if self._is_bytes else object
        return (self._dtype, self._shape) if self._shape else self._dtype

    @property
    def capacity(self) -> int:
        """How many items fit; of messages, bytes."""
        return self._stats()[0][1]  # type: ignore[no-any-return]

    @property
    def batch(self) -> int:
        """How many items a producer gathers before they are moved in together."""
        return self._stats()[0][2]  # type: ignore[no-any-return]

    @property
    def max_message(self) -> int:
        """How many bytes a message has, at most; of objects, pickled."""
        return self._stats()[0][5]  # type: ignore[no-any-return]

    @property
    def closed(self) -> bool:
        """Whether somebody has closed it. There may still be items to get."""
        return self._stats()[1][6]  # type: ignore[no-any-return]

    def empty(self) -> bool:
        """Whether there is nothing in it. Perhaps no longer true when it returns."""
        return self.qsize() == 0

    def full(self) -> bool:
        """Whether there is no room for another item. Perhaps no longer true when it returns. Not for messages, whose
        room depends on how long they are."""
        if self._dtype is None:
            raise make('Queue.full', 'unsupported', 'whether a message has room depends on its length: use put_nowait()')
        config, now = self._stats()
        return now[0] >= config[1]  # type: ignore[no-any-return]

    def flush(self, timeout: float | None = None) -> None:
        """Moves in what the threads of this process have gathered with this object (batch). Raises QueueFull when time
        was up."""
        self._flush(timeout)

    def close(self, timeout: float | None = None) -> None:
        """No more items, from anybody: ``put()`` raises QueueClosed. What is in the queue can be got; then ``get()`` raises
        it too, and iteration ends. What this process has gathered is moved in first, and what others have gathered is
        lost: where several produce, let whoever knows that all are done close it. (Others, with a batch, learn of it when
        their batch is moved in.)"""
        self._end(timeout)

    def stats(self) -> QueueStats:
        """What it has had."""
        return QueueStats(*self._stats()[1])

    def _state(self) -> str:
        now = self.stats()
        return f' of {self.item}: {now.length} items' + (', closed' if now.closed else '')


_OBJECT_NOTE = describe('Queue', object)[1]


def create(function: str, pool: Any, item: Any, capacity: int, batch: int, flush: float | None, many: bool, max_message: int,
           producers: int, name: str | None) -> Queue:
    item_bytes, note = describe(function, item)
    made = _ext.queue_create(function, Queue, pool, name, item_bytes, capacity, batch, flush or 0.0, many, max_message,
                             producers, note)
    return made._opened(function)  # type: ignore[no-any-return]


# --- what was gathered, at the end ------------------------------------------------------------------------------------------------------------
# The library moves it in when the process exits, and multiprocessing's processes end without that.

_gathering: weakref.WeakSet[Queue] = weakref.WeakSet()


def _flush_all() -> None:
    for queue in list(_gathering):
        with contextlib.suppress(Error):
            queue.flush(5.0)


def _at_end(_: Any = None) -> None:
    from multiprocessing import util
    util.Finalize(None, _flush_all, exitpriority=100)


def _flush_at_end(queue: Queue) -> None:
    if not _gathering:
        from multiprocessing import util
        util.register_after_fork(_at_end, _at_end)
        _at_end()
    _gathering.add(queue)


def many_from(function: str, consumers: Any) -> bool:
    if consumers not in ('one', 'many'):
        raise make(function, 'value', f"consumers is {shown(consumers)}, but must be 'one' or 'many'")
    return bool(consumers == 'many')


def seconds_from(function: str, flush: Any) -> float | None:
    if flush is None:
        return None
    try:
        value = float(flush)
    except (TypeError, ValueError):
        raise make(function, 'type', f'flush is {shown(flush)}, but must be a number of seconds, or None') from None
    if not value > 0:
        raise make(function, 'value', f'flush is {shown(flush)}, but must be more than 0 seconds, or None: not by time')
    return value

