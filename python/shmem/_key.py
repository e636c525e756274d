# SPDX-License-Identifier: Apache-2.0
"""Keys: text by which another process maps an array, and nothing else has to be known."""

from __future__ import annotations

import errno
import operator
from typing import Any, NamedTuple

import numpy as np

from . import _aliases, _device, _ext, _foreign, _memory, _sync
from ._argument import flag
from ._buffer import Buffer, address_of, array_over, extent, known_block, layout_of, note_of, owner_of, write_note
from ._fixed import Fixed, set_once
from ._stand_in import holder_of
from ._symmetric import keys_of
from .errors import Error, InvalidArgument, make, shown

_new = np.ndarray.__new__
_MODES = {name: number for name, number in _ext.IMPORT_MODES.items() if name != 'snapshot'}
_SNAPSHOT, _READ, _WRITE = (_ext.IMPORT_MODES[name] for name in ('snapshot', 'r', 'rw'))
_ATOMIC = _ext.IMPORT_MODES['atomic']
_PRIVATE = {_ext.IMPORT_MODES['cow'], _SNAPSHOT}
_OPERATIONS = _ext.KEY_ATOMICS

# --- rights -----------------------------------------------------------------------------------------------------------------------------------

_READ_RIGHT, _ATOMIC_RIGHTS = 1, 4 + 8 + 16 + 32
# Whoever may write may do atomics: they are writes.
_RIGHTS = {'read': 1, 'write': 2 | _ATOMIC_RIGHTS, 'add': 4, 'bits': 8, 'swap': 16, 'cas': 32, 'atomic': _ATOMIC_RIGHTS,
           'all': _ext.RIGHTS_ALL}
_LETTERS = {'r': 1, 'w': 2 | _ATOMIC_RIGHTS}
_KINDS = {'user': 1, 'group': 2, 'pe': 3, 'token': 4}


class Allow(NamedTuple):
    """Who may use a key, and how: an entry of the allow list of ``export()``.

    kind: 'user', 'group', 'pe' or 'token'. id: a name or number; the text of ``token()``. rights: as in ``export()``.
    """

    kind: str
    id: int | str
    rights: str = 'rw'


def _rights(function: str, text: Any) -> int:
    bits = 0
    if not isinstance(text, str):
        raise make(function, 'type', f"rights are {shown(text)}, but must be text such as 'r', 'rw' or 'read,add'")
    for word in text.replace('|', ',').replace('+', ',').split(','):
        word = word.strip().lower()
        if word in _RIGHTS:
            bits |= _RIGHTS[word]
        elif word and set(word) <= set(_LETTERS):
            for letter in word:
                bits |= _LETTERS[letter]
        else:
            raise make(function, 'value', f"'{word}' is no right: there are r and w, and the words "
                                          f'{", ".join(_RIGHTS)}')
    return bits


def _number(function: str, kind: str, who: Any) -> int:
    """Of a user or group that may be given by its name."""
    if isinstance(who, str) and not who.isdecimal():
        try:
            if kind == 'user':
                import pwd
                return pwd.getpwnam(who).pw_uid
            if kind == 'group':
                import grp
                return grp.getgrnam(who).gr_gid
        except KeyError:
            raise make(function, 'value', f"there is no {kind} '{who}' on this machine") from None
    try:
        number = int(who[:20]) if isinstance(who, str) else operator.index(who)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < 2**63:
        raise make(function, 'value', f'{shown(who)} is no {kind}')
    return number


def _allow(function: str, entry: Any) -> tuple[int, int, int, str | None]:
    if isinstance(entry, str):
        kind, colon, rest = entry.partition(':')
        who, equals, rights = rest.partition('=')
        if not colon or not equals:
            raise make(function, 'value', f"allow has {shown(entry)}, but its entries are as 'user:bob=rw', 'group:dev=r', "
                                          "'pe:3=rw' or 'token:<32 digits>=add,cas'")
        entry = Allow(kind.strip(), who.strip(), rights.strip())
    try:
        kind, who, rights = entry
    except (TypeError, ValueError):
        raise make(function, 'type', f'allow has {shown(entry)}, which is neither text nor an Allow') from None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise make(function, 'value', f'{shown(kind)} is none of {", ".join(_KINDS)}')
    bits = _rights(function, rights)
    if kind == 'token':
        return _KINDS[kind], bits, 0, str(who)
    return _KINDS[kind], bits, _number(function, kind, who), None


def _allow_list(function: str, allow: Any) -> list[tuple[int, int, int, str | None]]:
    if allow is None:
        return []
    if isinstance(allow, (str, Allow)):
        allow = [allow]
    try:
        listed = list(allow)
    except TypeError:
        raise make(function, 'type', f'allow is {shown(allow)}, but must be a list of entries such as \'user:bob=rw\'') from None
    entries = [_allow(function, entry) for entry in listed]
    if len(entries) > 16:
        raise make(function, 'value', f'allow has {len(entries)} entries, and 16 fit')
    return entries


def token() -> str:
    """128 random bits as 32 hexadecimal digits: whoever shows them may use the keys whose allow list names them. Any
    thread may call it."""
    return _ext.key_token()


# --- making and revoking ----------------------------------------------------------------------------------------------------------------------


def _array_of(function: str, x: Any) -> np.ndarray[Any, Any]:
    if _memory.is_tensor(x):
        if x.device.type != 'cpu':
            _memory.describe(function, 'x', x)
        x = _memory.array_over_tensor(x)
    if not isinstance(x, np.ndarray):
        raise make(function, 'type', f'x is a {type(x).__name__}, but must be a Buffer, a symmetric or registered array, '
                                     'or a tensor on one')
    if x.dtype.hasobject:
        raise make(function, 'type', f'x has elements of type {x.dtype}, which hold pointers into this process')
    return x


def _export_import(function: str, array: Any, owner: Any, mode: Any, given: bool) -> str:
    """Of imported memory there is the key that it came by."""
    if (mode is None and not given and owner.mode in (_READ, _WRITE) and address_of(array) == owner.address and
            note_of(function, array) == owner.note):
        return _came_by(function, owner)
    raise make(function, 'value', 'x was imported, and only who owns memory makes keys of it: pass on the key that it was '
                                  'imported with, or export a whole imported array without mode and allow, which is that')


def export_array(function: str, x: Any, mode: str | None, allow: Any, frozen: bool) -> str:
    if isinstance(x, _device.DeviceBuffer):
        return _device.export_buffer(function, x, mode, allow, frozen)
    foreign = None if isinstance(x, np.ndarray) else _foreign.foreign_memory(function, x)
    if foreign is not None:
        return _foreign.export_foreign(function, foreign, mode, allow, frozen)
    array = _array_of(function, x)
    owner = owner_of(array)
    entries, frozen = _allow_list(function, allow), flag(function, 'frozen', frozen)
    if isinstance(owner, _ext.ImportHandle):
        if isinstance(owner.owner, _ext.PoolBlock):
            owner = owner.owner
        elif owner.owner is not None:
            owner = None  # found by its address
        else:
            return _export_import(function, array, owner, mode, bool(entries) or frozen)
    if mode is None:
        mode = 'r' if frozen or not array.flags.writeable else 'rw'
        rights = 0 if entries else _rights(function, mode)
    else:
        rights = _rights(function, mode)
    low, size = extent(array)
    if size == 0:  # nothing to see, but the shape
        low, size = owner.address if owner is not None else low, 1
    note = note_of(function, array, address_of(array) - low if array.size else 0)
    key = _ext.key_export(function, owner, low, size, rights, entries, bool(frozen), note)
    if owner is not None and not owner.own:
        known_block(owner.pool, owner, mine=True)
    return key


def export(x: Any, mode: str | None = None, allow: Any = None, frozen: bool = False) -> str:
    """Makes a key of an array: text of about 70 letters and digits, by which ``import_()`` in another process maps it.

    x: a Buffer or DeviceBuffer, a view of one with any strides, an array on the symmetric heap or a part of it, whole pages of a
       registered array, or a tensor on any of these; or contiguous memory of a device that another library allocated (a
       torch tensor on 'cuda' or 'npu', anything with ``__cuda_array_interface__`` or ``__dlpack__`` there), which the key
       keeps alive until it is revoked. Shape, dtype and strides travel along (544 bytes at most).
    mode: what processes of this user may do who are not named in allow: 'rw' (all, also atomics), 'r', or words from
       read, write, add, bits, swap, cas, atomic with commas between them. None: 'rw' ('r' for a read-only array, or with
       frozen); with an allow list, nothing: then only those named may use it, whoever's processes they are.
    allow: at most 16 entries as 'user:bob=rw', 'user:1000=r', 'group:dev=r', 'pe:3=rw' or 'token:<text of token()>=add,cas',
       or Allow objects. Entries for users, groups and tokens need a buffer with a segment of its own
       (``Pool.alloc(own=True)``), because what is mapped is a whole segment.
    frozen: nobody can map it for writing any more, and the kernel sees to it (what is mapped so stays). Needs a segment
       of its own.

    The kernel enforces the rights of other users, and ``frozen``. Between processes of one user, who could look into
    each other anyway, this library does. Nothing stops root.

    The key works while anybody who holds the memory lives, until ``revoke()`` or until the buffer is freed. A buffer that
    was exported is not freed with its last array, but by ``Pool.free()``.

    Raises: AccessDenied (a segment of its own is needed), InvalidArgument, WrongType, NotInitialized ('pe:' without a
    job), OutOfMemory (all keys of the pool are in use), NotSupported (device memory that cannot be shared). Any thread may call it.
    """
    return export_array('export', x, mode, allow, frozen)


def revoke(key: str, move: bool = False) -> None:
    """Ends a key: nobody can import with it any more. Who has imported keeps the memory.

    move: the buffer, which must have a segment of its own, gets new memory at the same address with the same contents;
       importers are left with the abandoned copy. All keys of the buffer are revoked then.

    Raises: KeyMalformed, KeyUnknown (this process shares no memory with who made it), KeyRevoked (it was already).
    Any thread may call it.
    """
    _ext.key_revoke('revoke', key, flag('revoke', 'move', move))
    _foreign.forget_key(key)


# --- importing --------------------------------------------------------------------------------------------------------------------------------


def import_(key: str, mode: str = 'rw', snapshot: bool = False, token: str | None = None) -> Any:
    """Maps what a key opens. Needs no pool and no job. Of the key of a Mutex, Queue or the like, returns that.

    mode: 'rw'; 'r': the array is read-only, and the pages are mapped so (a write by other means faults);
       'cow': what is written stays private; 'atomic': maps nothing, and returns an AtomicBuffer, whose operations the
       owner's process does for this one.
    snapshot: a private copy of this moment instead. It is not atomic against those who write meanwhile.
    token: text of ``token()``, where the key's allow list asks for it.

    Returns a Buffer with the shape and dtype that were exported; of memory of a device a DeviceBuffer (mode 'rw' or 'r',
    which is kept by this package: drivers map for both). Importing again costs no second mapping. The memory
    stays as long as an array on it does, whatever becomes of the exporter.

    Raises: KeyMalformed, KeyUnknown, KeyRevoked, KeyRefused (the text says what was asked for and what is granted),
    KeyOrphaned (no living process holds the memory). Any thread may call it; the GIL is released where it can wait.
    """
    try:
        snapshot = flag('import_', 'snapshot', snapshot)
        number = _SNAPSHOT if snapshot else _MODES[mode]
    except (KeyError, TypeError):
        raise make('import_', 'value', f"mode is {shown(mode)}, but must be 'r', 'rw', 'cow' or 'atomic'") from None
    try:
        handle = _ext.key_import('import_', key, number, token)
    except InvalidArgument as error:
        if isinstance(key, str) and ('+' in key or 'whole pool' in str(error)):
            return _import_object(key, mode, snapshot, token)
        raise
    except Error as error:
        if error.errno == errno.EMEDIUMTYPE:
            return _device.import_buffer(key, mode, snapshot, token)
        raise
    layout = layout_of('import_', handle.note, handle.size)
    if number == _ATOMIC:
        if not handle.note:  # exported by a program that says nothing of elements
            width = 8 if handle.size % 8 == 0 else 4
            layout = (handle.size // width,), np.dtype(f'i{width}'), 0, None
        return AtomicBuffer(handle, layout)
    try:
        return _new(Buffer, *layout[:2], handle, *layout[2:])
    except (ValueError, TypeError, OverflowError):
        return array_over('import_', handle, layout)  # raises, and says what does not fit


def _import_object(key: str, mode: str, snapshot: bool, token: str | None) -> Any:
    if mode != 'rw' or snapshot or token is not None:
        raise make('import_', 'value', 'the key is of an object of synchronisation or a queue: mode, snapshot and token are for '
                                       'buffers')
    return _sync.import_object(key)


class AtomicBuffer(Fixed):
    """An array of 32- or 64-bit integers that this process does not map: each operation is done by a process that has
    it. From ``import_(key, mode='atomic')``; the key's rights say which operations are allowed.

    index: an integer, or a tuple of them. Operations return what was there before, where they begin with ``fetch_``, and
    for swap and cas. Raises: OutOfRange, KeyRefused, KeyRevoked, KeyOrphaned. Any thread may use it; the GIL is released.
    """

    __slots__ = ('_handle', '_layout', 'shape', 'dtype')
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __init__(self, handle: Any, layout: Any) -> None:
        self._handle, self._layout = handle, layout
        set_once(self, 'shape', layout[0])
        set_once(self, 'dtype', layout[1])
        if self.dtype.kind not in 'iu' or self.dtype.itemsize not in (4, 8) or not self.dtype.isnative:
            raise make('import_', 'type', f'the array has elements of {self.dtype}, but atomics work on integers of 32 and '
                                          '64 bits')

    def _offset(self, name: str, index: Any) -> int:
        where = index if isinstance(index, tuple) else (index,)
        _, _, offset, strides = self._layout
        try:
            where = tuple(map(operator.index, where))
        except TypeError:
            raise make(f'AtomicBuffer.{name}', 'type', f'index is {shown(index)}, but must be an integer or a tuple '
                                                         'of them') from None
        if len(where) != len(self.shape):
            raise make(f'AtomicBuffer.{name}', 'range', f'index is {shown(index)}, but the array has shape {self.shape}')
        if strides is None:
            strides = _strides(self.shape, self.dtype.itemsize)
        for at, side, stride in zip(where, self.shape, strides):
            if not -side <= at < side:
                raise make(f'AtomicBuffer.{name}', 'range', f'index is {shown(index)}, but the array has shape {self.shape}')
            offset += (at + side if at < 0 else at) * stride
        return offset  # type: ignore[no-any-return]

    def _value(self, name: str, argument: str, value: Any) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise make(f'AtomicBuffer.{name}', 'type', f'{argument} is {shown(value)}, but must be an integer') from None
        bounds = np.iinfo(self.dtype)
        if not bounds.min <= number <= bounds.max:
            raise make(f'AtomicBuffer.{name}', 'range', f'{argument} is {number}, which does not fit into {self.dtype}')
        return number & ((1 << 8 * self.dtype.itemsize) - 1)

    def _do(self, name: str, operation: str, index: Any, operand: Any = 0, compare: Any = 0) -> int:
        before = _ext.key_atomic(f'AtomicBuffer.{name}', self._handle, _OPERATIONS[operation], self.dtype.itemsize,
                                 self._offset(name, index), self._value(name, 'value', operand),
                                 self._value(name, 'expected', compare))
        bits = 8 * self.dtype.itemsize
        return before - (1 << bits) if self.dtype.kind == 'i' and before >> (bits - 1) else before

    def fetch(self, index: Any) -> int:
        """The element. Needs the right to read."""
        return self._do('fetch', 'fetch', index)

    def set(self, index: Any, value: int) -> None:
        """Replaces it. Needs 'swap'."""
        self._do('set', 'set', index, value)

    def add(self, index: Any, value: int) -> None:
        """Adds to it; wraps around. Needs 'add'."""
        self._do('add', 'add', index, value)

    def fetch_add(self, index: Any, value: int) -> int:
        """Adds to it, and returns what was there. Needs 'add'."""
        return self._do('fetch_add', 'add', index, value)

    def and_(self, index: Any, value: int) -> int:
        """Bitwise and; returns what was there. Needs 'bits', as do the next two."""
        return self._do('and_', 'and', index, value)

    def or_(self, index: Any, value: int) -> int:
        """Bitwise or; returns what was there."""
        return self._do('or_', 'or', index, value)

    def xor(self, index: Any, value: int) -> int:
        """Bitwise exclusive or; returns what was there."""
        return self._do('xor', 'xor', index, value)

    def swap(self, index: Any, value: int) -> int:
        """Replaces it, and returns what was there. Needs 'swap'."""
        return self._do('swap', 'swap', index, value)

    def cas(self, index: Any, expected: int, desired: int) -> int:
        """Replaces it if it is `expected`; returns what was there. Needs 'cas'."""
        return self._do('cas', 'cas', index, desired, expected)

    def __reduce__(self) -> Any:
        return import_, (_came_by('AtomicBuffer', self._handle), 'atomic', False, self._handle.token)

    def __repr__(self) -> str:
        return f'<shmem.AtomicBuffer: {self.dtype} {self.shape}>'


def _strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = []
    for side in reversed(shape):
        strides.append(itemsize)
        itemsize *= side
    return tuple(reversed(strides))


# --- pickling ---------------------------------------------------------------------------------------------------------------------------------


def _restore(key: str, mode: str, token: str | None, shape: Any, kind: Any, offset: int, strides: Any) -> Any:
    handle = _ext.key_import('import_', key, _MODES[mode], token)
    return array_over('import_', handle, (shape, kind, offset, strides))


def _restore_from_file(path: str, at: int, size: int, shape: Any, kind: Any, offset: int, strides: Any) -> Any:
    from ._pool import open_file_again
    handle = open_file_again(path, 'r')._handle
    return array_over('open_file', _ext.pool_block('open_file', handle, at, size), (shape, kind, offset, strides))


def _restore_on_device(key: str, mode: str, token: str | None, shape: Any, kind: Any, offset: int, strides: Any) -> Any:
    return _device.buffer_over(_device.open_key(key, mode, token), (shape, kind, offset, strides), mode)


def _key_still_works(key: str) -> bool:
    try:
        _ext.key_import('import_', key, _READ, None)
        return True
    except Error:
        return False


def opens_here(function: str, key: str) -> bool:
    """Whether a key of this process's, of a pool or an object in one, was not revoked."""
    try:
        return _ext.key_what(function, key) is not None
    except Error:
        return False


def _came_by(function: str, owner: Any) -> str:
    """The key by which memory was imported, for somebody else: nobody here could make another one. Raises when it opens
    nothing any more."""
    try:
        if isinstance(owner, _ext.DeviceImport):
            _ext.device_import('import_', owner.key, _READ, owner.token, -1)
        else:
            _ext.key_import('import_', owner.key, owner.mode, owner.token)
    except Error as error:
        why = str(error).partition(': ')[2]
        raise type(error)(f'shmem.{function}: the key by which this was imported opens nothing any more ({why}): ask its owner '
                          'for another one', error.errno) from None
    return owner.key  # type: ignore[no-any-return]


def _key_of(block: Any, keys: dict[str, str], mode: str) -> str:
    """One for each block and mode, again and again."""
    key = keys.get(mode)
    if key is None or not _key_still_works(key):
        whole = np.ndarray((block.size,), np.uint8, block)
        key = keys[mode] = export_array('export', whole, mode, None, False)
    return key


def reduce_host(array: Any) -> Any:
    """What pickle needs for a Buffer, or what stands in for a DeviceBuffer: the key of the whole buffer, and which part of it
    this is. None: it is a copy."""
    owner = holder_of(array)
    if not isinstance(owner, (_ext.PoolBlock, _ext.ImportHandle, _ext.Block)) or array.dtype.hasobject:
        return None
    mode = 'rw' if array.flags.writeable else 'r'
    layout = (array.shape, array.dtype, address_of(array) - owner.address if array.size else 0,
              None if array.flags.c_contiguous else array.strides)
    if isinstance(owner, _ext.ImportHandle):
        if owner.mode in _PRIVATE:
            return None
        return _restore, (_came_by('Buffer', owner), 'r' if owner.mode == _READ else mode, owner.token, *layout)
    if not owner.is_open:
        raise make('Buffer', 'stale', 'the buffer was freed, or its job is over, so it cannot be pickled')
    if isinstance(owner, _ext.Block):
        return _restore, (_key_of(owner, keys_of(owner), mode), mode, None, *layout)
    pool = owner.pool
    if not pool.writable:  # a file
        if not pool.read_only:
            return None  # changes are this process's own
        at = _ext.pool_offset('Buffer', pool, owner.address)
        return _restore_from_file, (pool.path, at, owner.size, *layout)
    if owner.cache is None:
        owner.cache = {}
    return _restore, (_key_of(owner, owner.cache, mode), mode, None, *layout)


def _key_on_device(buf: Any) -> str:
    """Of all memory that a block of a device has: one, again and again."""
    key: str | None = buf._keys.get('rw')
    try:
        if key is not None:
            _ext.device_import('import_', key, _READ, None, -1)
    except Error:  # revoked, by this process or in C
        key = None
    if key is None:
        note = write_note('DeviceBuffer', (buf._owner.size,), np.dtype(np.uint8))
        key = buf._keys['rw'] = _device.export_bytes('DeviceBuffer', buf._owner, buf._owner.address, buf._owner.size, note)
    return key


def reduce_device(buf: Any) -> Any:
    """The same for a DeviceBuffer."""
    owner = buf._owner
    layout = (buf.shape, buf.dtype, buf.address - owner.address if buf.size else 0, None if buf.is_contiguous else buf.strides)
    if isinstance(owner, _ext.DeviceImport):
        return _restore_on_device, (_came_by('DeviceBuffer', owner), 'r' if buf.readonly else 'rw', owner.token, *layout)
    return _restore_on_device, (_key_on_device(buf), 'rw', None, *layout)
