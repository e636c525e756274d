# SPDX-License-Identifier: Apache-2.0
"""Tensors on shared memory: what makes them, and what keeps their memory."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable

import numpy as np
import torch

from .. import _key, _symmetric
from .._buffer import extent
from ..errors import make


class Held:
    """Bytes that arrays and tensors lie on. Keeps `owner`, and calls `gone` when the last of them has gone, in whatever
    thread. (An array made of it has it as its base, and a tensor has the array.)"""

    __slots__ = ('__array_interface__', '_owner', '_gone', '__weakref__')

    def __init__(self, owner: Any, gone: Callable[[], Any] | None = None) -> None:
        low, size = extent(owner)
        # Said to be writable: torch has no tensors that are not, and warns of arrays that are not.
        self.__array_interface__ = {'version': 3, 'typestr': '|u1', 'shape': (size,), 'data': (low, False)}
        self._owner, self._gone = owner, gone

    def __del__(self) -> None:
        if self._gone is not None:
            self._gone()


def bytes_of(owner: Any, gone: Callable[[], Any] | None = None) -> np.ndarray[Any, Any]:
    """The bytes of a buffer as a plain array, of which `tensor_on()` makes tensors."""
    return np.asarray(Held(owner, gone))


def size_of(dtype: torch.dtype) -> int:
    """Bytes of an element."""
    try:
        return dtype.itemsize
    except AttributeError:  # torch before 2.1
        return torch.empty((), dtype=dtype).element_size()


def tensor_on(raw: np.ndarray[Any, Any], dtype: torch.dtype, shape: Any, offset: int = 0) -> torch.Tensor:
    """A contiguous tensor on these bytes, which it keeps, from `offset` on. Its storage is as large as it is."""
    count = math.prod(shape)
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(raw, dtype=dtype, count=count, offset=offset).view(shape)


def dtype_named(function: str, name: Any) -> torch.dtype:
    """The dtype of torch that is written so by somebody else."""
    found = getattr(torch, name, None) if isinstance(name, str) else None
    if not isinstance(found, torch.dtype):
        raise make(function, 'value', f'elements are said to be of type {name!r}, which this torch ({torch.__version__}) does '
                                      'not have')
    return found


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).rpartition('.')[2]


def is_lazy(x: torch.Tensor) -> bool:
    """Whether it is a parameter or buffer of a module that has seen no batch yet."""
    return hasattr(x, 'materialize')


def plain_reason(x: torch.Tensor) -> str | None:
    """Why the elements of this tensor cannot simply be copied to shared memory, or None: they can."""
    if is_lazy(x):
        return 'has no shape yet: pass a batch through the module first'
    if x.device.type != 'cpu':
        return f"is on device '{x.device}', and this memory is the host's: use x.cpu()"
    if x.layout is not torch.strided:
        return f'has the layout {x.layout}, and must be dense: use x.to_dense()'
    if x.is_quantized:
        return f'is quantized ({x.dtype}): use x.int_repr(), with its scale'
    return None


# --- making them ------------------------------------------------------------------------------------------------------------------------------


def _sides(function: str, shape: Any) -> tuple[int, ...]:
    if len(shape) == 1 and not hasattr(shape[0], '__index__'):
        shape = shape[0]
    try:
        sides = tuple(map(operator.index, shape))
    except TypeError:
        raise make(function, 'type', f'shape is {shape!r}, but must be integers') from None
    if any(side < 0 for side in sides):
        raise make(function, 'value', f'shape is {sides}, but sides are not negative')
    return sides


def _make(function: str, shape: Any, dtype: Any, pool: Any, requires_grad: bool, options: dict[str, Any]) -> torch.Tensor:
    sides = _sides(function, shape)
    kind = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(kind, torch.dtype):
        raise make(function, 'type', f'dtype is {dtype!r}, but must be one of torch, such as torch.float32')
    size = size_of(kind) * math.prod(sides)
    if pool is not None:
        if not hasattr(pool, 'alloc'):
            raise make(function, 'type', f'pool is a {type(pool).__name__}, but must be a Pool, or None: the symmetric heap')
        memory = pool.alloc(size, np.uint8, **options)
    elif options:
        raise make(function, 'value', f'{next(iter(options))} is for tensors in a pool, and pool is None')
    else:
        memory = _symmetric.empty(size, np.uint8, 'host')
    return tensor_on(bytes_of(memory), kind, sides).requires_grad_(requires_grad)


def empty(*shape: Any, dtype: torch.dtype | None = None, pool: Any = None, requires_grad: bool = False,
          **options: Any) -> torch.Tensor:
    """A tensor in a pool, or on the symmetric heap. Not cleared.

    shape: integers, or a tuple of them. dtype: any of torch; None: torch's default. pool: a Pool; None: the symmetric heap,
    where all PEs call it together, with the same shape, and ``shmem.free()`` frees it.
    options: own, keep, align of ``Pool.alloc()``.

    The tensor and its views keep the memory; in a pool, the last one gives it back. ``shmem.export()`` makes a key of it,
    and ``shmem.torch.import_(key)`` the tensor of another process. On the heap it stands for the tensors of the other PEs wherever a Region does.

    Raises: PoolFull, OutOfMemory, InvalidArgument, WrongType, NotInitialized (no pool and no job).
    """
    return _make('torch.empty', shape, dtype, pool, requires_grad, options)


def zeros(*shape: Any, dtype: torch.dtype | None = None, pool: Any = None, requires_grad: bool = False,
          **options: Any) -> torch.Tensor:
    """As ``empty()``, filled with zeros; on the symmetric heap on every PE when it returns."""
    return _filled('torch.zeros', shape, 0, dtype, pool, requires_grad, options)


def full(shape: Any, fill_value: Any, *, dtype: torch.dtype | None = None, pool: Any = None, requires_grad: bool = False,
         **options: Any) -> torch.Tensor:
    """As ``empty()``, filled with a number; on the symmetric heap on every PE when it returns. dtype None: the one that
    ``torch.full()`` would choose."""
    kind = torch.full((), fill_value).dtype if dtype is None else dtype
    return _filled('torch.full', (shape,), fill_value, kind, pool, requires_grad, options)


def _filled(function: str, shape: Any, value: Any, dtype: Any, pool: Any, requires_grad: bool,
            options: dict[str, Any]) -> torch.Tensor:
    made = _make(function, shape, dtype, pool, False, options)
    made.fill_(value)
    if pool is None:
        from .. import _ext
        _ext.barrier()
    return made.requires_grad_(requires_grad)


def import_(key: str, mode: str = 'rw', dtype: torch.dtype | None = None) -> torch.Tensor:
    """The tensor of a key of ``shmem.export()``, on the same memory: as ``torch.from_numpy(shmem.import_(key))``.

    mode: 'rw'; 'cow': what is written stays private. ('r' is not there: torch knows no read-only tensors.)
    dtype: of the elements, where it is one that NumPy lacks, such as torch.bfloat16; of the same size. A key of such a tensor
    says only how large they are.

    Raises: as ``shmem.import_()``, InvalidArgument, WrongType (elements that torch lacks, or no array).
    """
    if mode not in ('rw', 'cow'):
        raise make('torch.import_', 'value', f"mode is {mode!r}, but must be 'rw' or 'cow'")
    array = _key.import_(key, mode)
    if not isinstance(array, np.ndarray):
        raise make('torch.import_', 'type', f'key is of a {type(array).__name__}, which is no array')
    if dtype is not None:
        if not isinstance(dtype, torch.dtype) or size_of(dtype) != array.itemsize:
            raise make('torch.import_', 'type', f'dtype is {dtype!r}, but elements have {array.itemsize} bytes')
        if array.dtype.kind == 'u':  # torch 1 has none of more than 8 bits
            array = array.view(f'i{array.itemsize}')
    try:
        torch.from_numpy(np.empty(0, array.dtype))  # torch 1 keeps what it refuses for ever
        made = torch.from_numpy(array)
    except (TypeError, ValueError) as error:
        raise make('torch.import_', 'type', f'torch cannot have this array (shape {array.shape}, {array.dtype}): '
                                            f'{str(error).splitlines()[0]}') from None
    return made if dtype is None else made.view(dtype)
