# SPDX-License-Identifier: Apache-2.0
"""Collectives: every PE calls them, in the same order, by one thread at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _aliases, _ext, _memory
from ._region import Region
from .errors import make, shown

_FLOATS = {_ext.TYPES[name] for name in ('float16', 'bfloat16', 'float32', 'float64', 'longdouble')}
_INTEGERS = {code for name, code in _ext.TYPES.items() if name.startswith(('int', 'uint'))}
_BITWISE = ('and', 'or', 'xor')


def _memory_of(function: str, argument: str, x: Any, writable: bool) -> _memory.Memory:
    if isinstance(x, Region):
        x = x.tensor if x._extra and x._extra[3] else x.array
    elif isinstance(x, (int, float, complex, np.generic)):
        raise make(function, 'type', f'{argument} is a {type(x).__name__}, which cannot change in place: use a NumPy '
                                     'array or a torch tensor')
    return _memory.describe(function, argument, x, writable, empty=True)


def _element_type(memory: _memory.Memory, op: str) -> int:
    """The library's number for the elements, if they can be folded so."""
    code = memory.type
    if code == _memory.BYTES:
        if str(memory.dtype) not in ('bool', 'torch.bool'):
            raise make('all_reduce', 'type', f'x has elements of type {memory.dtype}, which cannot be reduced')
        if op not in _BITWISE and op not in ('min', 'max'):
            raise make('all_reduce', 'type', f"x has elements of type bool, but op is {shown(op)}: use 'or', 'and' or 'xor'")
        return _ext.TYPES['uint8']
    if op == 'avg' and code not in _FLOATS:
        raise make('all_reduce', 'type', f"op is 'avg', which needs floats, but x has elements of type {memory.dtype}")
    if op in _BITWISE and code not in _INTEGERS:
        raise make('all_reduce', 'type', f'op is {shown(op)}, which needs integers, but x has elements of type {memory.dtype}')
    return code


def _divide(memory: _memory.Memory, n: int) -> None:
    x = memory.x
    if memory.is_tensor or _memory.is_tensor(x):
        x.detach().div_(n)
    elif not isinstance(x, np.ndarray):
        _divide_there(memory, n)
    elif memory.type == _ext.TYPES['bfloat16']:
        x[...] = x.astype(np.float32) / n
    else:
        np.divide(x, x.dtype.type(n), out=x)


def _divide_there(memory: _memory.Memory, n: int) -> None:
    """Memory of a device, by way of the host, which has bfloat16 as the upper half of a float32."""
    there = memory.raw[0] if isinstance(memory.raw, tuple) else memory.raw.address
    here = np.empty(memory.shape, _memory.numpy_dtype(memory.dtype))
    _ext.device_copy('all_reduce', here.__array_interface__['data'][0], there, memory.nbytes)
    if memory.type == _ext.TYPES['bfloat16']:
        quotient = (here.astype(np.uint32) << 16).view(np.float32) / np.float32(n)
        bits = quotient.view(np.uint32)
        here[...] = np.where(np.isnan(quotient), 0x7fc0, (bits + 0x7fff + (bits >> 16 & 1)) >> 16)
    else:
        np.divide(here, here.dtype.type(n), out=here)
    _ext.device_copy('all_reduce', there, here.__array_interface__['data'][0], memory.nbytes)


@_aliases.accepts
def all_reduce(x: Any, op: str = 'sum') -> Any:
    """Replaces each element of x by the fold of that element over all PEs, in PE order, so that all get the same bits.

    x: a contiguous, writable NumPy array, torch tensor, Region, buffer or memory of a device; the same number of elements of
       the same type on every PE. Works in place, on any memory, and returns x. An empty one stays empty.
    op: 'sum', 'prod', 'min', 'max'; 'and', 'or', 'xor' for integers and bool; 'avg' for floats: the sum, divided by the
       number of PEs. float16 and bfloat16 are folded in float and rounded once.

    Raises: InvalidArgument (PEs differ, the text names who), WrongType, BadBuffer, NotSupported (such a device),
    OwnerDied, NotInitialized; what a signal handler raises, after which collectives do not work any more. Collective;
    one thread at a time; the GIL is released.
    """
    kind = _aliases.OPERATIONS.get(op, op) if isinstance(op, str) else None
    if kind not in _ext.OPERATIONS and kind != 'avg':
        raise make('all_reduce', 'value', f'op is {shown(op)}, but must be one of {", ".join(_ext.OPERATIONS)}, avg')
    memory = _memory_of('all_reduce', 'x', x, True)
    code = _element_type(memory, kind)
    count = 1
    for side in memory.shape:
        count *= side
    _ext.all_reduce('all_reduce', memory.raw, count, code, _ext.OPERATIONS['sum' if kind == 'avg' else kind])
    if kind == 'avg' and count:
        _divide(memory, _ext.n_pes())
    return x


@_aliases.accepts
def broadcast(x: Any, root: int = 0) -> Any:
    """Replaces x by the x of PE `root`, in place, and returns it.

    x: as for ``all_reduce()``, of any element type without Python objects; as many bytes on every PE.
    Raises: as ``all_reduce()``; OutOfRange (root). Collective.
    """
    memory = _memory_of('broadcast', 'x', x, True)
    _ext.broadcast('broadcast', memory.raw, root)
    return x


@_aliases.accepts
def all_gather(x: Any, out: Any = None) -> Any:
    """Returns the x of all PEs, in PE order: an array (for a tensor, a tensor) of shape (n_pes, *x.shape).

    x: as for ``broadcast()``, and may be read-only; as many bytes on every PE.
    out: a contiguous, writable array or tensor of n_pes times as many bytes, which is filled and returned.
    Raises: as ``all_reduce()``. Collective.
    """
    memory = _memory_of('all_gather', 'x', x, False)
    if out is not None:
        _ext.all_gather('all_gather', _memory_of('all_gather', 'out', out, True).raw, memory.raw)
        return out
    made, raw, _ = _memory.new_like(memory.dtype, (_ext.n_pes(), *memory.shape))
    _ext.all_gather('all_gather', raw, memory.raw)
    return made
