# SPDX-License-Identifier: Apache-2.0
"""Put, get, views, atomics and waiting.

put and get with a Region go straight to the extension module; every other way to call them is sorted out here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _aliases, _ext, _memory
from ._argument import choice
from ._region import _FOUND, _SYMMETRIC, Region, itemsize, tensor_over
from ._symmetric import region_of
from .errors import make

_MISSING: Any = type('Missing', (), {'__repr__': lambda self: 'missing'})()
_FULL_FORM = ('dst_mr', 'dst_offset', 'src_mr', 'src_offset')


def as_region(function: str, argument: str, x: Any) -> Region:
    if isinstance(x, Region):
        return x
    if x is None:
        raise make(function, 'type', f'{argument} is missing')
    return region_of(function, argument, x)


def _as_memory(function: str, argument: str, x: Any, writable: bool, other: Any) -> Any:
    """What the extension module takes for local memory: of a region, or of any array, tensor or buffer. The caller keeps
    x for as long as it uses that. other: the region at the other end, whose elements must be the same; one of plain
    bytes (int8, uint8) goes with all."""
    memory = None if isinstance(x, Region) else _memory.describe(function, argument, x, writable)
    here = x._type if memory is None else memory.type
    if isinstance(other, Region) and here != other._type and not {here, other._type} & _memory.PLAIN:
        raise make(function, 'type', f'{argument} has elements of {(memory or x).dtype}, but the region at the other end of '
                                     f'{other.dtype}: convert it, or give both as bytes (view it as uint8)')
    return x if memory is None else memory.raw


def _need_pe(function: str, region: Region, pe: Any) -> Any:
    if pe is None and region._source != _FOUND:
        raise make(function, 'type', "pe is missing: the PE whose region is meant (also spelled 'dst' or 'src')")
    return pe


# --- put and get, in all their forms -------------------------------------------------------------------------------------------------------------


class _Transfer:
    """A put or get in its general form, sorted out: what is there, what is here."""

    __slots__ = ('there', 'pe', 'there_offset', 'here', 'here_offset', 'size', 'to_waiting', 'kept')

    def __init__(self, function: str, region: Any, pe: Any, offset: Any, size: Any, other: dict[str, Any],
                 writable: bool) -> None:
        full = {name: other.pop(name) for name in _FULL_FORM if name in other}
        given = _aliases.resolve(function, {'region': region, 'pe': pe}, other)
        self.pe = given['pe']
        self.size = size
        self.to_waiting = False
        if not full:
            self.there = self.here = self.kept = as_region(function, 'region', given['region'])
            self.there_offset = self.here_offset = offset
        elif given['region'] is not None or offset != 0:
            raise make(function, 'type', f"{'region' if given['region'] is not None else 'offset'} does not go with "
                                         f'{", ".join(full)}')
        else:
            self._take_full(function, full, writable)
        if isinstance(self.there, Region):
            self.pe = _need_pe(function, self.there, self.pe)

    def _take_full(self, function: str, full: dict[str, Any], writable: bool) -> None:
        there, here = full.get('dst_mr', _MISSING), full.get('src_mr')
        self.there_offset, self.here_offset = full.get('dst_offset', 0), full.get('src_offset', 0)
        if here is None and (there is None or there is _MISSING):
            raise make(function, 'type', 'src_mr is missing: this PE\'s region of the transfer')
        self.here = as_region(function, 'dst_mr', there) if here is None else here
        self.to_waiting = there is None
        self.there = there
        if there is not None:
            self.there = as_region(function, 'src_mr' if there is _MISSING else 'dst_mr', here if there is _MISSING else there)
        self.kept = self.here  # may be the only reference to it
        self.here = _as_memory(function, 'src_mr', self.here, writable, self.there)


def _on(function: str, stream: Any) -> Any:
    """The Stream of what was given for stream=; None where there is nothing to queue on: it is to be done at once."""
    if stream is None:
        return None
    from . import _stream
    on = _stream.as_stream(function, stream)
    return on if on._need(function) is not on else None


def _put(function: str, region: Any, pe: Any, offset: Any, size: Any, timeout: Any, stream: Any,
         other: dict[str, Any]) -> None:
    t = _Transfer(function, region, pe, offset, size, other, writable=False)
    if stream is not None and t.to_waiting:
        raise make(function, 'value', 'dst_mr is None: a put on a stream must name the region')
    on = _on(function, stream)
    if on is not None:
        _ext.put_on(function, t.there, t.pe, t.there_offset, t.here, t.here_offset, t.size, timeout, on._use(function))
        on._keep(t.there, t.kept)
    elif t.to_waiting:
        if t.pe is None:
            raise make(function, 'type', 'dst is missing: the PE that waits')
        _ext.put_to_waiting(function, t.pe, t.there_offset, t.here, t.here_offset, t.size, timeout)
    else:
        _ext.put(function, t.there, t.pe, t.there_offset, t.here, t.here_offset, t.size, timeout)


def put(region: Any = None, pe: int | None = None, offset: int = 0, size: int | None = None, *,
        timeout: float | None = None, stream: Any = None, **other: Any) -> None:
    """Copies `size` bytes at byte `offset` of this PE's region to the same place of the corresponding region of PE `pe`.

    ``put(region, pe, offset=0, size=None)``: also spelled ``mem_region=`` or ``mr=``, and ``dst=``. size None: to the end
    of the region. A symmetric array, a part of one, or a tensor on it is taken for a region, too.

    ``put(dst=, dst_mr=, dst_offset=0, src_mr=, src_offset=0, size=None)``, the full form: from src_mr, a region or any
    contiguous array of this PE, to dst_mr: a region of this PE stands for the corresponding one of PE dst, a handle from
    ``region()`` for itself. size None: to the end of the source. ``dst_mr=None``: into the region that PE dst is
    waiting on, or will be, in ``wait(..., for_='any' or 'write')``.

    Returns when the source may be changed again. The data have arrived everywhere after ``quiet()`` or ``barrier()``; the
    target's ``wait()`` counts the put. Offsets and sizes are in bytes, sizes at least 1.

    timeout: seconds to look for the peer's region (None: SHMEM_TIMEOUT, 60 by default), or with dst_mr=None to wait for
    the waiter (None: for ever).

    stream: a ``Stream``, or a stream of torch, of a device that one end is memory of. The call returns at once; the copy
    happens after what was queued there before, and then the target's ``wait()`` counts it. The source stays as it is until
    the stream is done, and is kept alive.

    Raises: OutOfRange (pe; bytes outside a region), AccessDenied (no REMOTE_WRITE), Stale, InvalidArgument (regions
    differ in bytes or elements, the text names both PEs), Timeout, OwnerDied, TooSmall and Deadlock (dst_mr=None).
    Any thread may call it; the GIL is released.
    """
    if other or pe is None or stream is not None or region.__class__ is not Region:
        _put('put', region, pe, offset, size, timeout, stream, other)
    else:
        _ext.put('put', region, pe, offset, region, offset, size, timeout)


def put_nbi(region: Any = None, pe: int | None = None, offset: int = 0, size: int | None = None, *,
            timeout: float | None = None, stream: Any = None, **other: Any) -> None:
    """As ``put()``, but the source must not be changed before ``quiet()`` or ``barrier()``: the copy may happen until
    then. (dst_mr=None still waits for the waiter.)"""
    _put('put_nbi', region, pe, offset, size, timeout, stream, other)


_SIGNAL_OPERATIONS = {'set': 0, 'add': 1}


def signal_operation(function: str, op: Any) -> int:
    return choice(function, 'op', op, _SIGNAL_OPERATIONS)  # type: ignore[no-any-return]


def _put_signal(function: str, region: Any, pe: Any, offset: Any, size: Any, signal: Any, value: Any, sig_offset: Any,
                op: Any, timeout: Any, stream: Any, other: dict[str, Any]) -> None:
    t = _Transfer(function, region, pe, offset, size, other, writable=False)
    if t.to_waiting:
        raise make(function, 'value', 'dst_mr is None: a put with a signal must name the region')
    add, word = signal_operation(function, op), as_region(function, 'signal', signal)
    on = _on(function, stream)
    if on is None:
        _ext.put_signal(function, t.there, t.pe, t.there_offset, t.here, t.here_offset, t.size, timeout, word, sig_offset,
                        value, add)
        return
    _ext.put_signal_on(function, t.there, t.pe, t.there_offset, t.here, t.here_offset, t.size, timeout, word, sig_offset,
                       value, add, on._use(function))
    on._keep(t.there, t.kept, word)


def put_signal(region: Any = None, pe: int | None = None, offset: int = 0, size: int | None = None, *, signal: Any,
               value: int, sig_offset: int = 0, op: str = 'set', timeout: float | None = None, stream: Any = None,
               **other: Any) -> None:
    """As ``put()``, and then sets a 64-bit word of PE `pe` to `value`, or adds it: who sees the signal sees the data.

    signal: the region that the word lies in, at byte sig_offset, a multiple of 8: this PE's region for the
    corresponding one, a handle from ``region()``, or a symmetric array; of uint64 or int64, or of bytes. value: 0 to
    2**64 - 1. op: 'set' or 'add'. The target waits with ``wait_until(signal, '>=', value)``, or on a stream with ``Stream.wait()``. stream: as of
    ``put()``. Raises as ``put()``.
    """
    _put_signal('put_signal', region, pe, offset, size, signal, value, sig_offset, op, timeout, stream, other)


def put_signal_nbi(region: Any = None, pe: int | None = None, offset: int = 0, size: int | None = None, *, signal: Any,
                   value: int, sig_offset: int = 0, op: str = 'set', timeout: float | None = None, stream: Any = None,
                   **other: Any) -> None:
    """As ``put_signal()``, but the source must not be changed before ``quiet()`` or ``barrier()``."""
    _put_signal('put_signal_nbi', region, pe, offset, size, signal, value, sig_offset, op, timeout, stream, other)


# --- get -------------------------------------------------------------------------------------------------------------


def _get_into(function: str, there: Any, pe: Any, offset: Any, here: Any, here_offset: Any, size: Any, timeout: Any,
              stream: Any, kept: Any) -> None:
    on = _on(function, stream)
    if on is None:
        _ext.get(function, there, pe, offset, here, here_offset, size, timeout)
        return
    _ext.get_on(function, there, pe, offset, here, here_offset, size, timeout, on._use(function))
    on._keep(there, kept)


def _get_new(function: str, region: Region, pe: Any, offset: Any, size: Any, timeout: Any, stream: Any = None) -> Any:
    """Into a new array or tensor of the region's elements."""
    size = _ext.inside(function, region, offset, size)
    dtype = region.dtype
    step = itemsize(dtype)
    if size % step:
        raise make(function, 'value', f'size is {size} bytes, no multiple of the {step} bytes of a {dtype}: use out=')
    whole = offset == 0 and size == region.size
    x, raw, _ = _memory.new_like(dtype, region.shape if whole else (size // step,))
    _get_into(function, region, pe, offset, raw, 0, size, timeout, stream, x)
    return x


def _get(function: str, region: Any, pe: Any, offset: Any, size: Any, out: Any, timeout: Any, stream: Any,
         other: dict[str, Any]) -> Any:
    full = not other.keys().isdisjoint(_FULL_FORM)
    t = _Transfer(function, region, pe, offset, size, other, writable=True)
    if t.to_waiting:
        raise make(function, 'value', 'dst_mr is None: a get must name the region that it reads')
    if full:
        if out is not None:
            raise make(function, 'type', 'out does not go with src_mr, which receives')
        _get_into(function, t.there, t.pe, t.there_offset, t.here, t.here_offset, t.size, timeout, stream, t.kept)
        return None
    there = as_region(function, 'region', t.there)
    if out is None:
        return _get_new(function, there, t.pe, t.there_offset, t.size, timeout, stream)
    _get_into(function, there, t.pe, t.there_offset, _as_memory(function, 'out', out, True, there), 0, t.size, timeout,
              stream, out)
    return out


def get(region: Any = None, pe: int | None = None, offset: int = 0, size: int | None = None, out: Any = None, *,
        timeout: float | None = None, stream: Any = None, **other: Any) -> Any:
    """Copies `size` bytes at byte `offset` of the region of PE `pe` that corresponds to `region`, and returns them.

    ``get(region, pe, offset=0, size=None, out=None)``: also spelled ``mem_region=`` or ``mr=``, and ``src=``. size None: to
    the end of the region, or as much as `out` holds. Without `out` the answer is a new array of the region's elements (a
    tensor if a tensor was registered), of its shape if the whole region is read, else flat. With `out`, a contiguous,
    writable array, tensor or region of this PE, the bytes go to its beginning, and it is returned.

    ``get(dst=, dst_mr=, dst_offset=0, src_mr=, src_offset=0, size=None)``, the full form: dst is the PE that is *read*,
    dst_mr its region (or this PE's corresponding one), and src_mr the region or array of this PE that *receives*.
    size None: to the end of src_mr. Returns None.

    stream: as of ``put()``; what is returned is filled when the stream has done it.

    The owner's ``wait(..., for_='read')`` counts the get. Offsets and sizes are in bytes, sizes at least 1. timeout: seconds
    to look for the peer's region (None: SHMEM_TIMEOUT, 60 by default).

    Raises: OutOfRange, AccessDenied (no REMOTE_READ), BadBuffer, Stale, InvalidArgument, Timeout, OwnerDied; see
    ``put()``. Any thread may call it; the GIL is released.
    """
    if out is None and not other and pe is not None and region.__class__ is Region:
        return _get_new('get', region, pe, offset, size, timeout, stream)
    return _get('get', region, pe, offset, size, out, timeout, stream, other)


def get_nbi(region: Any = None, pe: int | None = None, offset: int = 0, size: int | None = None, out: Any = None, *,
            timeout: float | None = None, stream: Any = None, **other: Any) -> Any:
    """As ``get()``, but the bytes may arrive as late as ``quiet()`` or ``barrier()``."""
    return _get('get_nbi', region, pe, offset, size, out, timeout, stream, other)


@_aliases.accepts
def peer(region: Any, pe: int | None = None, timeout: float | None = None, tensor: bool = False) -> Any:
    """A NumPy array on the memory of PE `pe`'s region itself: nothing is copied, and its stores and loads are seen at once.

    region: this PE's region (or symmetric array) that corresponds, whose shape and dtype the array gets; or a handle
    from ``region()``, without `pe`, whose array is flat. bfloat16, which NumPy lacks, comes as uint16. tensor=True: a torch
    tensor instead. The array is read-only if the owner allows only REMOTE_READ. It keeps the mapping alive, also after
    the region was dropped or closed; after the owner's deregister it sees memory that is nobody's.

    Plain stores wake no waiter at once and count no event; order them with ``barrier()`` or ``fence()`` and a signal.

    Raises: AccessDenied (no REMOTE_READ), InvalidArgument (its kind is 'copied'), Stale, Timeout, OwnerDied.
    """
    r = as_region('peer', 'region', region)
    pe = _need_pe('peer', r, pe)
    pe = r.owner if pe is None else pe
    _ext.reach('peer', r, pe, timeout)  # is it there, and does it correspond?
    array = r.array if r._source != _FOUND and pe == r.owner else _peer_array(r, pe, timeout)
    if not tensor:
        return array
    if not array.flags.writeable:
        raise make('peer', 'access', f'region {r.id} of PE {pe} allows only REMOTE_READ, but tensors are always writable')
    if isinstance(r.dtype, np.dtype):
        return tensor_over('peer', array)
    if array.dtype.kind == 'u':  # stands for a type that NumPy lacks; torch 1 has no unsigned ones of more than 8 bits
        array = array.view(f'i{array.itemsize}')
    return tensor_over('peer', array).view(r.dtype)


def _peer_array(r: Region, pe: int, timeout: Any) -> np.ndarray[Any, Any]:
    handle = r
    if r._source not in (_FOUND, _SYMMETRIC):
        handle = _ext.find('peer', Region, pe, r.name, r.id, timeout)  # outlives this PE's own region
    view: Any = _ext.view('peer', handle, pe, timeout)
    return np.ndarray(r.shape, _memory.numpy_dtype(r.dtype), buffer=view)


# --- atomics ---------------------------------------------------------------------------------------------------------

_OPERATION = _ext.ATOMICS


def _atomic(function: str, operation: str, fetch: bool, region: Any, value: Any, pe: Any, offset: Any, timeout: Any,
            other: dict[str, Any], expected: Any = None) -> Any:
    if other:
        given = _aliases.resolve(function, {'region': region, 'pe': pe}, other)
        region, pe = given['region'], given['pe']
    if region.__class__ is not Region:
        region = as_region(function, 'region', region)
    if pe is None:
        pe = _need_pe(function, region, pe)
    if value is None and operation != 'fetch':
        raise make(function, 'type', ('desired' if operation == 'cas' else 'value') + ' is missing')
    return _ext.atomic(function, region, pe, _OPERATION[operation], offset, value, expected, fetch, timeout)


def atomic_add(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
               timeout: float | None = None, **other: Any) -> None:
    """Adds `value` to an element of PE `pe`'s region, in one step that no other atomic operation comes between.

    What is said here holds for all functions named atomic_. region (also ``mr=``): this PE's region for the
    corresponding one of PE `pe` (also ``dst=``), a handle from ``region()`` without `pe`, or a symmetric array. offset: of
    the element, in bytes, a multiple of its size. The element type is the region's: int32, int64, uint32, uint64,
    float32 or float64; and, or, xor take integers only. Integers wrap around. Counts no event for ``wait()``.

    Raises: WrongType (of elements or value), OutOfRange (offset; a value that does not fit), AccessDenied (no
    REMOTE_ATOMIC), InvalidArgument (offset; kind 'copied'), Stale, OwnerDied, Timeout. Any thread may call it.
    """
    _atomic('atomic_add', 'add', False, region, value, pe, offset, timeout, other)


def atomic_fetch_add(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
                     timeout: float | None = None, **other: Any) -> Any:
    """As ``atomic_add()``; returns the element's value before, as an int or float."""
    return _atomic('atomic_fetch_add', 'add', True, region, value, pe, offset, timeout, other)


def atomic_cas(region: Any = None, expected: Any = None, desired: Any = None, pe: int | None = None, offset: int = 0, *,
               timeout: float | None = None, **other: Any) -> Any:
    """Sets the element to `desired` if it is `expected`; returns its value before. See ``atomic_add()``."""
    if expected is None:
        raise make('atomic_cas', 'type', 'expected is missing')
    return _atomic('atomic_cas', 'cas', True, region, desired, pe, offset, timeout, other, expected)


def atomic_swap(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
                timeout: float | None = None, **other: Any) -> Any:
    """Sets the element; returns its value before. See ``atomic_add()``."""
    return _atomic('atomic_swap', 'swap', True, region, value, pe, offset, timeout, other)


def atomic_fetch(region: Any = None, pe: int | None = None, offset: int = 0, *, timeout: float | None = None,
                 **other: Any) -> Any:
    """Returns the element's value. See ``atomic_add()``."""
    return _atomic('atomic_fetch', 'fetch', True, region, None, pe, offset, timeout, other)


def atomic_set(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
               timeout: float | None = None, **other: Any) -> None:
    """Sets the element. See ``atomic_add()``."""
    _atomic('atomic_set', 'set', False, region, value, pe, offset, timeout, other)


def atomic_and(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
               timeout: float | None = None, **other: Any) -> None:
    """Keeps those bits of the element that `value` has. See ``atomic_add()``."""
    _atomic('atomic_and', 'and', False, region, value, pe, offset, timeout, other)


def atomic_or(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
              timeout: float | None = None, **other: Any) -> None:
    """Sets those bits of the element that `value` has. See ``atomic_add()``."""
    _atomic('atomic_or', 'or', False, region, value, pe, offset, timeout, other)


def atomic_xor(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
               timeout: float | None = None, **other: Any) -> None:
    """Turns over those bits of the element that `value` has. See ``atomic_add()``."""
    _atomic('atomic_xor', 'xor', False, region, value, pe, offset, timeout, other)


def atomic_fetch_and(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
                     timeout: float | None = None, **other: Any) -> Any:
    """As ``atomic_and()``; returns the element's value before."""
    return _atomic('atomic_fetch_and', 'and', True, region, value, pe, offset, timeout, other)


def atomic_fetch_or(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
                    timeout: float | None = None, **other: Any) -> Any:
    """As ``atomic_or()``; returns the element's value before."""
    return _atomic('atomic_fetch_or', 'or', True, region, value, pe, offset, timeout, other)


def atomic_fetch_xor(region: Any = None, value: Any = None, pe: int | None = None, offset: int = 0, *,
                     timeout: float | None = None, **other: Any) -> Any:
    """As ``atomic_xor()``; returns the element's value before."""
    return _atomic('atomic_fetch_xor', 'xor', True, region, value, pe, offset, timeout, other)


# --- waiting ---------------------------------------------------------------------------------------------------------

_EVENTS = {'any': _ext.EVENT_ANY, 'write': _ext.EVENT_WRITE, 'read': _ext.EVENT_READ}
_COMPARISONS = {'==': _ext.CMP_EQ, '!=': _ext.CMP_NE, '<': _ext.CMP_LT, '<=': _ext.CMP_LE, '>': _ext.CMP_GT,
                '>=': _ext.CMP_GE}


def comparison(function: str, cmp: Any) -> int:
    return choice(function, 'cmp', _aliases.COMPARISONS.get(cmp, cmp) if isinstance(cmp, str) else cmp,  # type: ignore[no-any-return]
                  _COMPARISONS)


@_aliases.accepts
def wait(region: Any, timeout: float | None = None, for_: str = 'any') -> None:
    """Waits for one event of this PE's region, and consumes it: a put or a signal that arrived ('write'), a get by a
    peer that finished ('read'), or either ('any'). Events are counted, so one that came before is not lost.

    While it waits for 'write' or 'any', a put with dst_mr=None by any PE lands in this region.

    timeout: seconds; None: for ever. Raises: Timeout, OwnerDied (all who could act died or left), TooSmall (a put with
    dst_mr=None did not fit), Stale, InvalidArgument (a peer's region, a symmetric array); what a signal handler raises,
    such as KeyboardInterrupt. Any thread may call it; the GIL is released.
    """
    event = choice('wait', 'for_', for_, _EVENTS)
    _ext.wait_event('wait', as_region('wait', 'region', region), event, timeout)


@_aliases.accepts
def wait_until(region: Any, cmp: str, value: Any, offset: int = 0, timeout: float | None = None) -> None:
    """Waits until the element at byte `offset` of this PE's region or symmetric array compares with `value` as said.

    cmp: '==', '!=', '<', '<=', '>', '>=' (or 'eq', 'ne', 'lt', 'le', 'gt', 'ge'). The element type is the region's, as for
    atomics. Whatever was put before the change that ends the wait can be seen after it.

    timeout: seconds; None: for ever. Raises: Timeout, OwnerDied, WrongType, OutOfRange, InvalidArgument, Stale; what a
    signal handler raises. Any thread may call it; the GIL is released.
    """
    code = comparison('wait_until', cmp)
    r = as_region('wait_until', 'region', region)
    _ext.wait_value('wait_until', r, offset, code, value, timeout)
