# SPDX-License-Identifier: Apache-2.0
"""Views of device memory: where their elements are, and in which pieces they are copied.

A driver copies bytes that lie in one, and a call of it takes as long as copying some KiB. So what is read is read with
its gaps, where those are small, and its elements are picked out on the host. What is written must leave the gaps
alone, which may be changing: it is written piece by piece, many pieces with one wait.
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Iterator

import numpy as np

from . import _ext
from ._argument import MOST_SIDES
from .errors import make

_GAP = 8 << 10  # bytes that take less time to be copied than one more call of the driver
_STAGE = 16 << 20  # bytes of host memory that are read into at a time, before elements are picked out
_WORTH = 16 << 10  # bytes of a piece from which on copies between devices are made piece by piece
_PATTERN = 1 << 20  # bytes of a number, again and again, that a buffer is filled from

Sides = tuple[int, ...]


def contiguous(shape: Sides, itemsize: int) -> Sides:
    """The strides, in bytes, of an array whose elements lie one after another, rows first."""
    strides = []
    for side in reversed(shape):
        strides.append(itemsize)
        itemsize *= side or 1
    return tuple(reversed(strides))


def new(function: str, shape: Sides, dtype: Any) -> np.ndarray[Any, Any]:
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):
        raise make(function, 'memory', f'no host memory for a copy of shape {shape}, {dtype}: copy parts of it') from None


def is_contiguous(shape: Sides, strides: Sides, itemsize: int) -> bool:
    for side, stride in zip(reversed(shape), reversed(strides)):
        if side == 0:
            return True
        if side != 1 and stride != itemsize:
            return 0 in shape
        itemsize *= side
    return True


# --- indices ----------------------------------------------------------------------------------------------------------------------------------


def _index(function: str, one: Any) -> int:
    try:
        if isinstance(one, (bool, np.bool_)):
            raise TypeError
        return operator.index(one)
    except TypeError:
        raise make(function, 'type', f'the index has a {type(one).__name__} in it, which device buffers do not take: integers '
                                     'and slices they do; or use to_numpy()') from None


def _slice(function: str, one: slice, side: int) -> tuple[int, int, int]:
    """Where it begins, how many elements it has, and the step."""
    try:
        start, stop, step = one.indices(side)
    except TypeError:
        raise make(function, 'type', 'the index has a slice in it whose limits are no integers') from None
    except ValueError:
        raise make(function, 'value', 'the index has a slice in it whose step is zero') from None
    return start, len(range(start, stop, step)), step


def place(function: str, index: Any, shape: Sides, strides: Sides) -> tuple[int, Sides, Sides, bool]:
    """What an index means: how far the first element is from the array's, shape, strides; and whether it is an element and
    not a view."""
    where = index if isinstance(index, tuple) else (index,)
    dots = sum(1 for one in where if one is Ellipsis)
    named = sum(1 for one in where if one is not None) - dots
    if dots > 1:
        raise make(function, 'range', f'the index has {dots} ellipses (...) in it, but one says all sides between')
    if named > len(shape):
        raise make(function, 'range', f'too many indices: {named}, for a buffer of shape {shape}')
    offset, axis, made, steps, whole = 0, 0, [], [], named == len(shape) and not dots
    for one in where if dots else (*where, Ellipsis):
        if one is None:
            made.append(1)
            steps.append(0)
            whole = False
        elif one is Ellipsis:
            there = axis + len(shape) - named
            made += shape[axis:there]
            steps += strides[axis:there]
            axis = there
        else:
            side, stride = shape[axis], strides[axis]
            if isinstance(one, slice):
                start, count, step = _slice(function, one, side)
                offset += start * stride if count else 0
                made.append(count)
                steps.append(stride * step if count > 1 else stride)
                whole = False
            else:
                at = _index(function, one)
                if not -side <= at < side:
                    raise make(function, 'range', f'index {at} is out of bounds for side {axis}, which has {side} (shape {shape})'
                               if -1 << 63 <= at < 1 << 63 else f'a huge index is out of bounds (shape {shape})')
                offset += (at + side if at < 0 else at) * stride
            axis += 1
    if len(made) > MOST_SIDES:
        raise make(function, 'value', f'the view would have {len(made)} sides, and {MOST_SIDES} there may be')
    return 0 if 0 in made else offset, tuple(made), tuple(steps), whole


# --- copies -----------------------------------------------------------------------------------------------------------------------------------

Dims = list[tuple[int, int, int]]  # side, stride of the target, stride of the source; the outermost first


def _ordered(shape: Sides, strides: Sides, others: Sides) -> tuple[int, int, Dims, list[int]]:
    """The sides that have more than one element, in the order in which `strides` go through memory, all of those
    forwards: how far the first element is then from the array's, and the other's; the sides, and their numbers (-1 - n
    where they were turned round)."""
    low = others_low = 0
    axes = sorted((n for n, side in enumerate(shape) if side != 1), key=lambda n: -abs(strides[n]))
    dims, turned = [], []
    for n in axes:
        side, stride, other = shape[n], strides[n], others[n]
        if stride < 0:
            low, others_low, stride, other = low + (side - 1) * stride, others_low + (side - 1) * other, -stride, -other
            n = -1 - n
        dims.append((side, stride, other))
        turned.append(n)
    return low, others_low, dims, turned


def _turn(array: Any, turned: list[int]) -> Any:
    """The view of an array that has such sides in such an order."""
    rest = set(range(array.ndim)) - {n if n >= 0 else -1 - n for n in turned}
    array = array.transpose(*(n if n >= 0 else -1 - n for n in turned), *rest)
    return array[tuple(slice(None, None, -1 if n < 0 else 1) for n in turned) + (0,) * len(rest) + (...,)]


def _in_one(dims: Dims, size: int) -> tuple[Dims, int]:
    """Without the innermost sides whose elements lie in one at both ends, and how many bytes those have then."""
    at = len(dims)
    while at and dims[at - 1][1] == dims[at - 1][2] == size:
        at -= 1
        size *= dims[at][0]
    return dims[:at], size


def _merged(dims: Dims) -> Dims:
    """As few sides as say the same."""
    made: Dims = []
    for side, stride, other in dims:
        if made and made[-1][1] == side * stride and made[-1][2] == side * other:
            side *= made.pop()[0]
        made.append((side, stride, other))
    return made


def _starts(dims: Dims) -> Iterator[tuple[int, int]]:
    for at in itertools.product(*(range(side) for side, _, _ in dims)):
        yield (sum(i * stride for i, (_, stride, _) in zip(at, dims)), sum(i * other for i, (_, _, other) in zip(at, dims)))


def _move(function: str, stream: Any, to: int, source: int, dims: Dims, size: int) -> None:
    """Pieces of `size` bytes. The longest side is gone through in C; there the device is waited for once."""
    dims = _merged(dims)
    count, step, other = max((dim for dim in dims if dim[1] >= 0 and dim[2] >= 0), default=(1, 0, 0))
    if count > 1:
        dims.remove((count, step, other))
    for at, there in _starts(dims):
        if stream is not None:
            _ext.stream_copy_blocks(function, stream, to + at, step, source + there, other, size, count)
        elif count > 1:
            _ext.device_copy_blocks(function, to + at, step, source + there, other, size, count)
        else:
            _ext.device_copy(function, to + at, source + there, size)


def _address(array: Any) -> int:
    return array.__array_interface__['data'][0]  # type: ignore[no-any-return]


def read(function: str, at: int, strides: Sides, out: Any) -> None:
    """Fills an array of the host from memory of a device with these strides, and waits for it."""
    if out.size == 0:
        return
    if is_contiguous(out.shape, strides, out.itemsize) and out.flags.c_contiguous:
        _ext.device_copy(function, _address(out), at, out.nbytes)
        return
    low, _, dims, turned = _ordered(out.shape, strides, strides)
    _read(function, at + low, [(side, stride) for side, stride, _ in dims], _turn(out, turned))


def _read(function: str, at: int, dims: list[tuple[int, int]], out: Any) -> None:
    inner, size = len(dims), out.itemsize
    while inner and dims[inner - 1][1] - size <= _GAP:
        inner -= 1
        size += (dims[inner][0] - 1) * dims[inner][1]
    outer = out.shape[:inner]
    steps = contiguous(outer, size)
    inside = tuple(stride for _, stride in dims[inner:])
    straight = out.flags.c_contiguous and inside == contiguous(out.shape[inner:], out.itemsize)
    total = size * math.prod(outer)
    if total > _STAGE and dims and not straight:
        side, stride = dims[0]
        many = max(1, side * _STAGE // total)
        for first in range(0, side, many):
            part, below = out[first:first + many], at + first * stride
            if many == 1:
                _read(function, below, dims[1:], part[0, ...])
            else:
                _read(function, below, [(part.shape[0], stride), *dims[1:]], part)
        return
    stage = out if straight else np.empty(total, np.uint8)
    _move(function, None, _address(stage), at, [(side, step, stride) for (side, stride), step in zip(dims[:inner], steps)], size)
    if not straight:
        out[...] = np.ndarray(out.shape, out.dtype, stage, 0, steps + inside)


def write(function: str, on: Any, at: int, strides: Sides, source: Any) -> None:
    """Fills memory of a device with these strides from an array of the host. on: the handle of a stream, and what is to be told
    of memory that has to stay until it is done; None: it is waited for."""
    if source.size == 0:
        return
    low, _, dims, turned = _ordered(source.shape, strides, strides)
    source = np.ascontiguousarray(_turn(source, turned))
    steps = contiguous(tuple(side for side, _, _ in dims), source.itemsize)
    pieces, size = _in_one([(side, stride, step) for (side, stride, _), step in zip(dims, steps)], source.itemsize)
    _move(function, _stream(on, source), at + low, _address(source), pieces, size)


def _stream(on: Any, source: Any) -> Any:
    if on is None:
        return None
    stream, keep = on
    keep(source)
    return stream


def fill(function: str, on: Any, at: int, shape: Sides, strides: Sides, one: Any) -> None:
    """The same with one element everywhere, however large it is."""
    low, _, dims, _ = _ordered(shape, strides, strides)
    steps = contiguous(tuple(side for side, _, _ in dims), one.itemsize)
    pieces, size = _in_one([(side, stride, step) for (side, stride, _), step in zip(dims, steps)], one.itemsize)
    pieces = [(side, stride, 0) for side, stride, _ in pieces]
    pattern = np.empty(max(1, min(size, _PATTERN) // one.itemsize), one.dtype)
    pattern[...] = one
    count, rest = divmod(size, pattern.nbytes)
    stream = _stream(on, pattern)
    source = _address(pattern)
    _move(function, stream, at + low, source, [*pieces, (count, pattern.nbytes, 0)], pattern.nbytes)
    if rest:
        _move(function, stream, at + low + size - rest, source, pieces, rest)


def transfer(function: str, stream: Any, to: int, strides: Sides, source: int, others: Sides, shape: Sides, itemsize: int,
             always: bool = True) -> bool:
    """Copies elements from anywhere to anywhere, between which nothing overlaps. False, unless always: there are so many small
    pieces that it were better to go by way of the host, and nothing was done."""
    if 0 in shape:
        return True
    low, others_low, dims, _ = _ordered(shape, strides, others)
    dims, size = _in_one(dims, itemsize)
    if not always and size < _WORTH and math.prod(side for side, _, _ in dims) > 4:
        return False
    _move(function, stream, to + low, source + others_low, dims, size)
    return True


def overlap(at: int, shape: Sides, strides: Sides, other: int, others_shape: Sides, others: Sides, itemsize: int) -> bool:
    """Whether two arrays may have bytes in common."""
    if 0 in shape or 0 in others_shape:
        return False
    spans = []
    for low, sides, steps in (at, shape, strides), (other, others_shape, others):
        ways = [(side - 1) * stride for side, stride in zip(sides, steps)]
        spans.append((low + sum(way for way in ways if way < 0), low + sum(way for way in ways if way > 0) + itemsize))
    return spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]


def parts(shape: Sides, itemsize: int) -> Iterator[Any]:
    """Indices that go through an array in parts that a copy by way of the host can hold."""
    total = itemsize * math.prod(shape)
    if total <= _STAGE:
        yield ...
        return
    axis = max(range(len(shape)), key=lambda n: shape[n])
    many = max(1, shape[axis] * _STAGE // total)
    for first in range(0, shape[axis], many):
        yield (slice(None),) * axis + (slice(first, first + many),)
