# SPDX-License-Identifier: Apache-2.0
"""Arrays on the memory of pools, and what is written down of an array for those who map its memory later."""

from __future__ import annotations

import json
import operator
from typing import Any

import numpy as np

from . import _ext
from ._stand_in import HostSide, Known, holder_of
from .errors import make, shown

_new = np.ndarray.__new__
_index = operator.index
_REMEMBERED = 1024  # dtypes and notes


class Buffer(HostSide):
    """A NumPy array on memory that other processes can map: from ``Pool.alloc()``, a name of a pool, or a key.

    It is an array like any other: every operation of NumPy takes it, and ``torch.from_numpy()`` shares its memory. Views
    (slices, ``reshape``, ``T``) are Buffers on the same memory and keep it alive; results of arithmetic and copies are
    plain arrays in private memory. (What indexing with an array or a mask returns is a copy, though of this class.)
    ``copy_from()``, ``copy_to()`` and ``to_numpy()`` are as of a DeviceBuffer.

    Pickling a Buffer or a view sends a key and not the contents: the process that unpickles it maps the same memory, for
    reading only if this array is read-only. What was imported copy-on-write or as a snapshot is sent by value.
    ``copy.copy()``, ``copy.deepcopy()`` and ``.copy()`` make plain arrays in private memory.
    """

    __slots__ = ()


def owner_of(x: Any) -> Any:
    """The block or import that holds the memory of this array, or None: it is other memory."""
    holder = holder_of(x)
    return holder if isinstance(holder, (_ext.PoolBlock, _ext.ImportHandle)) else None


def known_block(pool: Any, block: Any, mine: bool = False) -> Any:
    """The block of this process for the buffer that `block` speaks of: there is one for each buffer that was exported,
    named or kept, so that freeing it once makes all arrays on it stale. mine: this block is to be that one."""
    if pool.extra is None:
        pool.extra = Known()
    known = pool.extra.get(block.address)
    if mine or known is None or not known.is_open or known.size != block.size:
        pool.extra[block.address] = known = block
    return known


def address_of(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__['data'][0]  # type: ignore[no-any-return]


def extent(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The address of its lowest byte, and how many bytes there are up to its highest one."""
    low = high = address_of(array)
    if array.size == 0:
        return low, 0
    for side, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (side - 1) * stride
        else:
            high += (side - 1) * stride
    return low, high + array.itemsize - low


# --- element types ----------------------------------------------------------------------------------------------------------------------------

_kinds: dict[Any, np.dtype[Any]] = {}


def kind_of(function: str, dtype: Any) -> np.dtype[Any]:
    """The dtype that somebody means."""
    try:
        return _kinds[dtype]
    except (KeyError, TypeError):
        pass
    try:
        made: np.dtype[Any] = np.dtype(dtype)
    except Exception:  # also of what has a dtype, or a text, of its own
        raise make(function, 'type', f'dtype is {shown(dtype)}, which NumPy does not know as a dtype') from None
    if made.hasobject:
        raise make(function, 'type', f'dtype is {made}, whose elements are pointers into one process: other processes '
                                     'could not follow them')
    if made.itemsize == 0:
        raise make(function, 'type', f'dtype is {made}, whose elements have no bytes: give their length, as in S16')
    if made.subdtype is not None:
        raise make(function, 'type', f'dtype is {made}, which is an array itself: put its sides into the shape')
    try:
        if len(_kinds) < _REMEMBERED:
            _kinds[dtype] = made
    except TypeError:
        pass
    return made


def _write_dtype(kind: np.dtype[Any]) -> Any:
    if kind.subdtype is not None:
        base, shape = kind.subdtype
        return [_write_dtype(base), list(shape)]
    if kind.names is None:
        return kind.str
    fields = [kind.fields[name] for name in kind.names]  # type: ignore[index]
    return {'names': list(kind.names), 'formats': [_write_dtype(field[0]) for field in fields],
            'offsets': [field[1] for field in fields], 'itemsize': kind.itemsize}


def _read_dtype(text: Any) -> np.dtype[Any]:
    if isinstance(text, list):
        return np.dtype((_read_dtype(text[0]), tuple(text[1])))
    if isinstance(text, dict):
        return np.dtype({**text, 'formats': [_read_dtype(one) for one in text['formats']]})
    return np.dtype(text)


# --- notes ------------------------------------------------------------------------------------------------------------------------------------

_NOTE_MOST = 544
Layout = Any  # (shape, dtype, offset, strides or None)
_layouts: dict[bytes, Layout] = {}


def note_of(function: str, array: Any, offset: int = 0) -> bytes:
    """What stands beside a key or a name: JSON with the shape, the dtype, and where they are needed the strides and how
    many bytes the first element is from the beginning."""
    return write_note(function, array.shape, array.dtype, offset, None if array.flags.c_contiguous else array.strides)


def write_note(function: str, shape: tuple[int, ...], kind: np.dtype[Any], offset: int = 0,
               strides: tuple[int, ...] | None = None) -> bytes:
    note: dict[str, Any] = {'shape': list(shape), 'dtype': _write_dtype(kind)}
    if strides is not None:
        note['strides'] = list(strides)
    if offset:
        note['offset'] = offset
    try:
        same = _read_dtype(note['dtype']) == kind
    except (TypeError, ValueError):
        same = False
    if not same:
        raise make(function, 'type', f'elements of type {kind} cannot be described to other processes: export a view of '
                                     'them as integers')
    text = json.dumps(note, separators=(',', ':')).encode()
    if len(text) > _NOTE_MOST:
        raise make(function, 'value', f'the description of shape and dtype takes {len(text)} bytes, and {_NOTE_MOST} fit: '
                                      'use shorter names of fields, or export a view as uint8')
    return text


def layout_of(function: str, note: bytes, size: int) -> Layout:
    """What a note says. Plain bytes, where there is none, or one of a program that writes something else there."""
    known = _layouts.get(note)
    if known is not None:
        return known
    try:
        read = json.loads(note)
        shape, text = read['shape'], read['dtype']
    except (ValueError, KeyError, TypeError, RecursionError):
        return (size,), np.dtype(np.uint8), 0, None
    try:
        kind = _read_dtype(text)
        strides = read.get('strides')
        layout = (tuple(map(_index, shape)), kind, _index(read.get('offset', 0)),
                  None if strides is None else tuple(map(_index, strides)))
        if kind.hasobject:
            raise ValueError('it has elements that are Python objects')
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, SyntaxError) as error:
        raise make(function, 'value', f'the description of the array makes no sense: {error}') from None
    if len(_layouts) >= _REMEMBERED:
        _layouts.clear()
    _layouts[note] = layout
    return layout


def array_over(function: str, owner: Any, layout: Layout) -> Buffer:
    """The array of this layout on the memory of a block or an import. The layout may be anybody's."""
    shape, kind, offset, strides = layout
    try:
        return _new(Buffer, shape, kind, owner, offset, strides)
    except (ValueError, TypeError, OverflowError) as error:
        raise make(function, 'value', f'the description of the array (shape {shape}, {kind}) does not fit its '
                                      f'{owner.size} bytes: {error}') from None
