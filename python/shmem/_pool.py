# SPDX-License-Identifier: Apache-2.0
"""Pools, and files, which are pools that persist."""

from __future__ import annotations

import atexit
import errno
import operator
import os
import weakref
from types import TracebackType
from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _device, _ext, _foreign, _key, _sync
from ._argument import flag, sides
from ._buffer import (Buffer, address_of, array_over, extent, kind_of, known_block, layout_of, note_of, owner_of, write_note,
                      _kinds, _new)
from ._stand_in import ANY, Known
from ._home import Home, _bytes, _name, _text
from .errors import Error, make, shown

_OWN, _KEEP, _ZERO = _ext.OWN, _ext.KEEP, _ext.ZERO
_index = operator.index
_alloc = _ext.pool_alloc
_OWN_FROM = 4 << 20  # bytes: from here on a buffer gets a segment of its own, where nothing else is said

atexit.register(_ext.close_pools)


# --- arguments --------------------------------------------------------------------------------------------------------------------------------

def _pages(function: str, pages: Any) -> int:
    if pages is None:
        return 0
    if isinstance(pages, str) and pages.lower() in ('transparent', 'thp'):
        return 1
    return _bytes(function, 'pages', pages)


def _path(function: str, path: Any) -> bytes:
    try:
        found = os.fsencode(os.path.abspath(os.fspath(path)))
    except (TypeError, ValueError):
        raise make(function, 'type', f'path is {shown(path)}, which is no path') from None
    if b'\0' in found:
        raise make(function, 'value', 'path has a zero character in it')
    return found


# --- pools ------------------------------------------------------------------------------------------------------------------------------------


class PoolStats(NamedTuple):
    """How full a pool is. Sizes are in bytes.

    size: for buffers, now; max_size: how far it can grow. in_use: in buffers that are allocated, as rounded up, own
    segments included; buffers: how many those are. free: what could still be had, in pieces; largest_free: the largest
    single buffer that would fit now. high_water: the most that was ever taken at once. members: processes attached;
    died: those that died attached. owned: buffers with segments of their own, of this process. failure: why the last
    allocation of this process failed, or ''.
    """

    size: int
    max_size: int
    in_use: int
    buffers: int
    free: int
    largest_free: int
    high_water: int
    members: int
    died: int
    owned: int
    failure: str


class PoolInfo(NamedTuple):
    """What a pool's memory is.

    type: 'host', or a device's. name, path: '' where there is none. page_size: bytes a page of what was obtained, at most;
    huge_bytes: bytes in huge pages now. numa_node: where the first page lies; -1: not known. fallback: what was asked
    for and is replaced by something else, and why; '': nothing. writable: False for a file opened 'r' or 'cow'.
    """

    type: str
    name: str
    path: str
    page_size: int
    huge_bytes: int
    numa_node: int
    locked: bool
    cache: str
    fallback: str
    writable: bool


class Pool(Home):
    """Memory with an allocator inside, that all attached processes use at once. From ``create_pool()``, ``open_pool()``,
    ``create_file()`` or ``open_file()``.

    ``alloc()`` returns NumPy arrays on it. ``close()``, the end of a with block or the last reference ends the use of this
    object; the memory stays attached until the last array on it has gone, too. A process that ends, in whatever way,
    disturbs nobody: its buffers return to the pool, but for those that were exported, named or kept.

    ``pool['name']``, ``'name' in pool`` and iteration are about named buffers. A Pool can be pickled: the other process
    attaches. In a forked child it works; inherited buffers are the parent's, and are freed there only by ``free()``.
    Any thread may use it.
    """

    __slots__ = ('_handle', '_is_file', '_key', '__weakref__')

    device = 'cpu'
    _word = 'Pool'

    def __init__(self) -> None:
        raise make('Pool', 'type', 'a pool is made by create_pool(), open_pool(), create_file() or open_file()')

    @classmethod
    def _of(cls, handle: Any, is_file: bool) -> 'Pool':
        pool = object.__new__(cls)
        pool._handle, pool._is_file, pool._key = handle, is_file, None
        return pool

    # buffers

    def alloc(self, shape: Any, dtype: Any = float, align: int = 64, own: bool | None = None, zero: bool = False,
              keep: bool = False, name: str | None = None, fill: Any = None) -> Any:
        """A new array in the pool: a Buffer. It holds what was there before, unless zero or fill says otherwise.

        shape: an integer or a tuple of them; sides may be 0. dtype: anything that ``numpy.dtype`` takes, structured types
        too, without Python objects.
        align: bytes; a power of two up to 2 MiB.
        own: True: a segment of its own, which can be exported with rights of its own and be frozen; not in files. False:
           in the pool's main segment. None: of its own from 4 MiB on, where that is possible.
        zero: filled with zeros. fill: filled with this number, or with this array, broadcast to the shape.
        keep: stays allocated until somebody frees it, also when this process ends.
        name: gives it a name in the same step: whoever finds the name finds it filled. It is kept.

        When the last array on the buffer goes, the buffer returns to the pool, unless it was exported, named or kept.

        Raises: PoolFull (the text tells how much is free, and what the largest free block is), WrongType, InvalidArgument,
        AlreadyExists (name), AccessDenied (a file opened for reading), Stale (the pool was closed).
        """
        try:
            kind = _kinds[dtype]
        except (KeyError, TypeError):
            kind = kind_of('Pool.alloc', dtype)
        if shape.__class__ is int:
            size = shape * kind.itemsize
            wrong = shape < 0
        else:
            shape = sides('Pool.alloc', shape)
            size, wrong = kind.itemsize, False
            for side in shape:
                size *= side
                wrong = wrong or side < 0
        if wrong:
            raise make('Pool.alloc', 'value', f'shape is {shown(shape)}, but sides are not negative')
        if zero is not False or keep is not False:
            zero, keep = flag('Pool.alloc', 'zero', zero), flag('Pool.alloc', 'keep', keep)
        if own is not None:
            own = flag('Pool.alloc', 'own', own)
        if name is not None or (own is None and size >= _OWN_FROM):
            return self._alloc_special(shape, kind, size, align, own, zero, keep, name, fill)
        flags = 0
        if own:
            flags = _OWN
        if keep:
            flags |= _KEEP
        if zero:
            flags |= _ZERO
        array = _new(Buffer, shape, kind, _alloc('Pool.alloc', self._handle, size, align, flags))
        if fill is not None:
            _fill(array, fill)
        return array

    def _alloc_special(self, shape: Any, kind: Any, size: int, align: int, own: bool | None, zero: bool, keep: bool,
                       name: str | None, fill: Any) -> Any:
        if size >= 1 << 62:
            raise make('Pool.alloc', errno.ENOMEM, f'{shown(size)} bytes are more than an address space')
        if name is None:
            if not keep and not self._is_file:
                try:
                    array = self.alloc(shape, kind, align, True, zero)
                except Error:
                    pass  # of descriptors, or of memory beside the pool: there is the main segment
                else:
                    if fill is not None:
                        _fill(array, fill)
                    return array
            return self.alloc(shape, kind, align, False, zero, keep, None, fill)
        if own:
            raise make('Pool.alloc', 'value', 'name and own do not go together: a segment of its own lives as long as '
                                              'somebody has it mapped, and named buffers stay')
        shape = sides('Pool.alloc', shape)
        pattern = b'' if zero else None
        if fill is not None:
            pattern = _pattern(fill, shape, kind)
        note = write_note('Pool.alloc', shape, kind)
        block = _ext.pool_alloc_named('Pool.alloc', self._handle, _name('Pool.alloc', name), max(size, 1), align, note,
                                      pattern)
        return _new(Buffer, shape, kind, known_block(self._handle, block, mine=True))

    def free(self, buf: Any) -> None:
        """Frees a buffer, whoever of the attached processes allocated it. Its keys are revoked, and its names go.

        buf: the array that ``alloc()``, a name or a key gave, not a view of it. It is stale afterwards: read-only, and
        not taken by any function. Other arrays on the memory see what becomes of it; a segment of its own stays
        mapped for as long as there are arrays on it.

        Raises: Stale (freed already, or the pool was closed), InvalidArgument (a view, or no buffer of this pool).
        """
        owner = _need_owner('Pool.free', buf)
        if buf.base is not owner and (address_of(buf) != owner.address or buf.nbytes != owner.size):
            base: Any = buf
            while isinstance(base.base, np.ndarray):
                base = base.base
            raise make('Pool.free', 'value', f'buf is a view of shape {buf.shape} of the buffer of shape {base.shape}, '
                                             f'{base.dtype}: free that one (buf.base)')
        block = owner
        if isinstance(owner, _ext.ImportHandle):
            block = owner.owner
            if block is None or isinstance(block, list):
                raise make('Pool.free', 'value', 'buf is imported memory of a pool that this process was not attached to '
                                                 'when it imported it: who allocated it frees it, or a process that opens the '
                                                 'pool and then imports the key')
        if isinstance(block, _ext.PoolHandle):
            if block is not self._handle:
                raise make('Pool.free', 'value', 'buf is of another pool')
            known = None if block.extra is None else block.extra.get(owner.address)
            if known is None:
                _ext.pool_free_at('Pool.free', block, owner.address)
            elif known.size != owner.size and owner.size > 1:
                raise make('Pool.free', 'value', f'buf was imported as a part of a buffer of {known.size} bytes: free '
                                                 'that one')
            else:
                _ext.pool_free('Pool.free', block, known)
        else:
            _ext.pool_free('Pool.free', self._handle, block)
        try:
            buf.flags.writeable = False
        except ValueError:
            pass

    def keep(self, buf: Any) -> None:
        """Keeps a buffer allocated until somebody frees it, also when its last array goes and when this process ends. buf:
        an array on the pool's main segment, or a view of one. In a file, too, a buffer that is neither kept nor named goes
        with its last array. Raises: InvalidArgument, Stale."""
        owner = _need_owner('Pool.keep', buf)
        if isinstance(owner, _ext.ImportHandle):
            raise make('Pool.keep', 'value', 'buf was imported: exported buffers stay until they are freed')
        _ext.pool_keep('Pool.keep', owner)
        known_block(owner.pool, owner, mine=True)

    def export(self, buf: Any = None, mode: str | None = None, allow: Any = None, frozen: bool = False) -> str:
        """As ``shmem.export()``. Without buf: a key that opens the whole pool to other processes of this user, for
        ``open_pool()``."""
        if buf is not None:
            return _key.export_array('Pool.export', buf, mode, allow, frozen)
        if mode is not None or allow is not None or flag('Pool.export', 'frozen', frozen):
            raise make('Pool.export', 'value', 'a key of a whole pool opens it to processes of this user for everything: '
                                               'mode, allow and frozen are for buffers')
        return _ext.key_of_pool('Pool.export', self._handle)

    def import_(self, key: str, mode: str = 'rw', snapshot: bool = False, token: str | None = None) -> Any:
        """As ``shmem.import_()``; the key may be of any pool. (``import`` is a reserved word; ``getattr(pool, 'import')`` is
        this, too.)"""
        return _key.import_(key, mode, snapshot, token)

    def revoke(self, key: str, move: bool = False) -> None:
        """As ``shmem.revoke()``."""
        _ext.key_revoke('Pool.revoke', key, flag('Pool.revoke', 'move', move))
        _foreign.forget_key(key)

    # names

    def name(self, buf: Any, name: str) -> None:
        """Gives a buffer, or a view of one, a name by which every process that opens the pool finds it, with its shape and
        dtype; in a file also after a restart. It is kept. name: 1 to 95 bytes. buf: on the pool's main segment.

        Raises: AlreadyExists, InvalidArgument, Stale, OutOfMemory (the table of names is full)."""
        owner = _need_owner('Pool.name', buf)
        if isinstance(owner, _ext.ImportHandle):
            raise make('Pool.name', 'value', 'buf was imported: name the buffer in a process that has the pool open')
        if owner.own:
            raise make('Pool.name', 'value', 'buf has a segment of its own, which lives as long as somebody has it mapped: '
                                             'allocate it with own=False to name it')
        low, size = extent(buf)
        offset = address_of(buf) - owner.address if size else 0
        _ext.pool_name('Pool.name', owner, _name('Pool.name', name), note_of('Pool.name', buf, offset))
        known_block(owner.pool, owner, mine=True)

    def unname(self, name: str) -> None:
        """The name goes; the buffer stays until it is freed. Raises NameUnknown."""
        _ext.pool_unname('Pool.unname', self._handle, _name('Pool.unname', name))

    def find(self, name: str) -> Any:
        """What has that name: a Buffer, with the shape and dtype that it was named with, or a Mutex, RWLock, Semaphore,
        Condition, Barrier, Event, Atomic or Queue. All have one space of names. Raises NameUnknown (a KeyError)."""
        name = _name('Pool.find', name)
        what = _ext.pool_what('Pool.find', self._handle, name)
        if what:
            return _sync.find_object('Pool.find', self._handle, what, name)
        block, note = _ext.pool_find('Pool.find', self._handle, name)
        block = known_block(self._handle, block)
        return array_over('Pool.find', block, layout_of('Pool.find', note, block.size))

    def names(self) -> list[str]:
        """All names."""
        return _ext.pool_names('Pool.names', self._handle)

    __getitem__ = find

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    # the pool

    def grow(self, size: int | str) -> None:
        """Makes the pool larger, to `size` bytes in all, while others use it. Arrays stay where they are. Raises:
        OutOfMemory, OutOfRange (more than max_size)."""
        _ext.pool_grow('Pool.grow', self._handle, _bytes('Pool.grow', 'size', size))

    def flush(self) -> None:
        """For a file: all that was written before is on disk when it returns, and survives a power loss. Releases the
        GIL. Raises: InvalidArgument (the pool is not a file), AccessDenied (not opened for writing), Error (the disk)."""
        _ext.pool_flush('Pool.flush', self._handle)

    def stats(self) -> PoolStats:
        """How full it is. Goes through the whole pool; not for every allocation."""
        return PoolStats(*_ext.pool_stats('Pool.stats', self._handle))

    def info(self) -> PoolInfo:
        """What its memory is."""
        return PoolInfo(*_ext.pool_info('Pool.info', self._handle))

    @property
    def is_open(self) -> bool:
        """False once it was closed."""
        return self._handle is not None

    def close(self) -> None:
        """Ends the use of this object; may be called again. The process stays attached for as long as there are arrays on
        the pool's memory. Never raises: what goes wrong in writing a file is reported by sys.unraisablehook, so call
        ``flush()`` where it matters."""
        self._handle = None

    def __enter__(self) -> 'Pool':
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> Any:
        handle = self._handle
        if handle is None:
            raise make('Pool', 'stale', 'the pool was closed, so it cannot be pickled')
        if handle.path is not None:
            return open_file_again, (handle.path, 'rw' if handle.writable else 'r' if handle.read_only else 'cow')
        if self._key is None or not _key.opens_here('Pool', self._key):
            self._key = _ext.key_of_pool('Pool', self._handle)
            _opened[self._key] = self
        return _open_again, (self._key,)

    def __repr__(self) -> str:
        if self._handle is None:
            return '<shmem.Pool, closed>'
        info, stats = self.info(), self.stats()
        what = f'file {info.path!r}' if info.path else f'{info.name!r}, {info.type}' if info.name else info.type
        return f'<shmem.Pool {what}: {stats.in_use} of {stats.size} bytes in {stats.buffers} buffers>'


def _need_owner(function: str, buf: Any) -> Any:
    owner = owner_of(buf) if isinstance(buf, np.ndarray) else None
    if owner is None:
        what = 'an array in other memory' if isinstance(buf, np.ndarray) else f'a {type(buf).__name__}'
        raise make(function, 'value' if isinstance(buf, np.ndarray) else 'type',
                   f'buf is {what}, but must be a Buffer of a pool')
    return owner


def _fill(array: Any, value: Any) -> None:
    try:
        array[...] = value
    except (TypeError, ValueError, OverflowError) as error:
        raise make('Pool.alloc', 'value',
                   f'fill does not fit an array of shape {array.shape}, {array.dtype}: {error}') from None


def _pattern(value: Any, shape: tuple[int, ...], kind: Any) -> bytes:
    """The bytes that, again and again, fill the array."""
    try:
        one = np.ndim(value) == 0 and not isinstance(value, (list, tuple))
        return bytes(np.full(() if one else shape, value, kind).tobytes())
    except (TypeError, ValueError, OverflowError) as error:
        raise make('Pool.alloc', 'value', f'fill does not fit an array of shape {shape}, {kind}: {error}') from None


def _create(function: str, path: bytes | None, size: Any, max_size: Any, grow: bool, type: Any, name: Any, pages: Any,
            numa_node: Any, lock: bool, cache: Any) -> Any:
    most = 0 if max_size is None else _bytes(function, 'max_size', max_size)
    try:
        node = -1 if numa_node is None else _index(numa_node)
        if not -1 <= node < 1 << 20:
            raise TypeError
    except TypeError:
        raise make(function, 'value', f'numa_node is {shown(numa_node)}, but must be the number of a node') from None
    return _ext.pool_create(function, path, _bytes(function, 'size', size), most, flag(function, 'grow', grow), _text(function, 'type', type),
                            _text(function, 'name', name), _pages(function, pages), node, flag(function, 'lock', lock),
                            _text(function, 'cache', cache))


def create_pool(size: int | str, type: str = 'host', name: str | None = None, *, max_size: int | str | None = None,
                grow: bool = False, pages: int | str | None = None, numa_node: int | None = None, lock: bool = False,
                cache: str | None = None) -> Any:
    """Makes a pool: a Pool, or of a device's memory a DevicePool. Needs no job.

    size: bytes for buffers, taken now; a number, or text such as '64M'. max_size: how far it can grow (None: 8 times the
    size, at least 1 GiB); address space only until then. grow: an allocation that finds no room makes it grow.
    type: 'host'; 'npu' or 'cuda', perhaps with a number as in 'cuda:1', and then it is a DevicePool, which takes the size
    alone; 'auto': of an NPU or GPU where there is one, else of the host. With SHMEM_DEVICE_FALLBACK=host, host memory
    stands in for a device's that is not to be had.
    name: other processes of this user open it by this name; None: by a key only.
    pages: None; 'transparent': huge pages where the kernel can make them; '2M', '1G' or bytes: huge pages of this size.
    numa_node: memory of this node. lock: never swapped out. cache: 'write-back', 'write-combining' or 'uncached', as far as
    the type of memory has it.

    Raises: OutOfMemory (with what limits it; nothing is taken then), AlreadyExists (the name is in use), DeviceMissing (the
    type is not to be had here), NotSupported and AccessDenied (a wish that cannot be honoured, and why),
    InvalidArgument. Any thread may call it; the GIL is released.
    """
    device = _device_for(type)
    if device is not None:
        return _create_on(device, size, name=name, max_size=max_size, grow=grow, pages=pages, numa_node=numa_node, lock=lock,
                          cache=cache)
    asked = type.partition(':')[0] if isinstance(type, str) else ''
    if asked in _device.TYPES:
        type = asked
    handle = _create('create_pool', None, size, max_size, grow, type, name, pages, numa_node, lock, cache)
    if asked in _device.TYPES or asked == 'auto':  # host memory stands in
        handle.extra = Known()
        handle.extra.stands_for = ANY if asked == 'auto' else asked
    return Pool._of(handle, False)


def _device_for(type: Any) -> str | None:
    """The device that a type means, where there is one; else None, and whoever makes host pools says what is missing."""
    if isinstance(type, str) and type == 'auto':
        return next(filter(_device.is_usable, _device.TYPES), None)
    if isinstance(type, str) and type.partition(':')[0] in _device.TYPES:
        kind, _ = _foreign.place('create_pool', type, 'type')
        return type if _device.is_there(kind) else None
    return None


def _create_on(device: str, size: Any, **wishes: Any) -> _device.DevicePool:
    for argument, value in wishes.items():
        if flag('create_pool', argument, value):
            raise make('create_pool', 'unsupported', f'{argument} is for host memory: a pool of {device} takes the size alone')
    return _device.create(_bytes('create_pool', 'size', size), device)


def open_pool(name_or_key: str) -> Pool:
    """Attaches to a pool of another process of this user: by its name, or by a key of ``Pool.export()`` without an array.

    Raises: NameUnknown (no living process has a pool of that name), KeyMalformed, KeyUnknown, KeyRevoked, KeyOrphaned (nobody
    living has the pool of that key), AccessDenied (another user's). Any thread may call it; the GIL is released.
    """
    if not isinstance(name_or_key, str) or '\0' in name_or_key:
        raise make('open_pool', 'type', f'name_or_key is {shown(name_or_key)}, but must be text')
    return Pool._of(_ext.pool_open('open_pool', name_or_key), False)


def create_file(path: Any, size: int | str, *, max_size: int | str | None = None, grow: bool = False, lock: bool = False,
                pages: int | str | None = None, numa_node: int | None = None) -> Pool:
    """Makes a file that is a pool: named and kept buffers are found again after a restart.

    path: a file that is not there yet; it gets mode 0600. size: bytes for buffers, all reserved on disk at once (the file is
    somewhat larger). Others as for ``create_pool()``.

    Raises: AlreadyExists (a file is never overwritten), OutOfMemory (no space; nothing is written), NotSupported (a file
    system that cannot reserve space or share memory; pages, numa_node), InvalidArgument, FileMissing (no such folder),
    AccessDenied. Any thread may call it; the GIL is released.
    """
    place = _path('create_file', path)
    return Pool._of(_create('create_file', place, size, max_size, grow, 'host', None, pages, numa_node, lock, None), True)


def open_file(path: Any, mode: str = 'rw') -> Pool:
    """Opens a file that is a pool.

    mode: 'rw': as many processes at once as like; 'r': nothing is written, not even by attaching, and arrays are read-only;
    'cow': changes stay private. What a killed process left half done is completed or undone first. After a power loss the
    file is as ``flush()`` left it.

    Raises: FileMissing, NotAShmemFile, FileDamaged (truncated or damaged, and where), FileVersion (written by a newer
    version), AccessDenied, InvalidArgument. Any thread may call it; the GIL is released.
    """
    if mode not in ('r', 'rw', 'cow'):
        raise make('open_file', 'value', f"mode is {shown(mode)}, but must be 'r', 'rw' or 'cow'")
    return Pool._of(_ext.file_open('open_file', _path('open_file', path), mode), True)


# Pools that were unpickled here, so that a further time does not attach again.
_opened: weakref.WeakValueDictionary[Any, Pool] = weakref.WeakValueDictionary()


def _open_again(key: str) -> Pool:
    pool = _opened.get(key)
    if pool is None or pool._handle is None:
        pool = _opened[key] = open_pool(key)
        pool._key = key
    return pool


def open_file_again(path: str, mode: str) -> Pool:
    pool = _opened.get((path, mode))
    if pool is None or pool._handle is None:
        pool = _opened[path, mode] = open_file(path, mode)
    return pool
