# SPDX-License-Identifier: Apache-2.0
"""Tensors on shared memory: what makes them, and what keeps their memory."""

from __future__ import annotations

import errno
import functools
import math
from typing import Any, Callable

import numpy as np
import torch

from .. import _key, _pool, _symmetric
from .._buffer import extent
from .._argument import choice, flag, sides as sides_of
from ..errors import make, said_by, shown


_OPTIONS = ('own', 'keep', 'align')  # of Pool.alloc()


def check_pool(function: str, pool: Any, otherwise: str = 'a new one') -> Any:
    """A Pool, or None."""
    if pool is not None and not isinstance(pool, _pool.Pool):
        raise make(function, 'type', f'pool is a {type(pool).__name__}, but must be a Pool, or None: {otherwise}')
    return pool


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


_QUANTIZED = {getattr(torch, name, None) for name in ('qint8', 'quint8', 'qint32', 'quint4x2', 'quint2x4')} - {None}


@functools.lru_cache(None)
def _wrong_dtype(dtype: torch.dtype, fill: bool) -> str | None:
    """Why there are no tensors of it on memory, or none that are filled; None: there are. (torch has names for elements of less
    than a byte, for which it has no operations at all.)"""
    if dtype in _QUANTIZED:  # on plain memory torch crashes with them
        return 'whose elements mean nothing without their scale: use torch.int8, torch.uint8 or torch.int32, and keep the scale beside it'
    try:
        probe = torch.empty(1, dtype=dtype)
        probe.copy_(probe.clone())
        if fill:
            probe.fill_(0)
    except (RuntimeError, TypeError):
        return f'which this torch ({torch.__version__}) cannot {"fill" if fill else "copy"}: use torch.uint8, and view it'
    return None


def check_dtype(function: str, dtype: Any, argument: str = 'dtype', fill: bool = False) -> torch.dtype:
    """The same, if it is one of torch of which there can be tensors on memory."""
    if not isinstance(dtype, torch.dtype):
        raise make(function, 'type', f'{argument} is {shown(dtype)}, but must be one of torch, such as torch.float32')
    wrong = _wrong_dtype(dtype, fill)
    if wrong:
        raise make(function, 'type', f'{argument} is {dtype}, {wrong}')
    return dtype


def dtype_named(function: str, name: Any) -> torch.dtype:
    """The dtype of torch that is written so by somebody else."""
    found = getattr(torch, name, None) if isinstance(name, str) else None
    if not isinstance(found, torch.dtype) or _wrong_dtype(found, False):
        raise make(function, 'value', f'elements are said to be of type {name!r}, which this torch ({torch.__version__}) does '
                                      'not have')
    return found


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).rpartition('.')[2]


def is_lazy(x: torch.Tensor) -> bool:
    """Whether it is a parameter or buffer of a module that has seen no batch yet."""
    return hasattr(x, 'materialize')


def is_wrapper(x: torch.Tensor) -> bool:
    """Whether it has no memory of its own, but tensors that have."""
    return type(x) is not torch.Tensor and hasattr(x, '__tensor_flatten__')


def plain_reason(x: torch.Tensor) -> str | None:
    """Why the elements of this tensor cannot simply be copied to shared memory, or None: they can."""
    if is_lazy(x):
        return 'has no shape yet: pass a batch through the module first'
    if x.device.type != 'cpu':
        return f"is on device '{x.device}', and this memory is the host's: use x.cpu()"
    if x.is_nested or is_wrapper(x):
        return f'is a {"nested tensor" if x.is_nested else type(x).__name__}, which is made of other tensors: share those'
    if x.layout is not torch.strided:
        return f'has the layout {x.layout}, and must be dense: use x.to_dense()'
    if x.is_quantized:
        return f'is quantized ({x.dtype}): use x.int_repr(), with its scale'
    return None


# --- making them ------------------------------------------------------------------------------------------------------------------------------


def _make(function: str, shape: Any, kind: torch.dtype, pool: Any, requires_grad: bool, options: dict[str, Any]) -> torch.Tensor:
    sides = sides_of(function, shape[0] if len(shape) == 1 else shape)
    grad = _gradient_wanted(function, kind, requires_grad)
    size = size_of(kind) * math.prod(sides)
    if size >= 1 << 62:
        raise make(function, errno.ENOMEM, f'{shown(size)} bytes are more than an address space')
    with said_by(function):
        if check_pool(function, pool, 'the symmetric heap') is not None:
            for option in options:
                if option not in _OPTIONS:
                    raise make(function, 'type', f"there is no argument '{option}'")
            memory = pool.alloc(size, np.uint8, **options)
        elif options:
            raise make(function, 'value', f'{next(iter(options))} is for tensors in a pool, and pool is None')
        else:
            memory = _symmetric.empty(size, np.uint8, 'host')
    return tensor_on(bytes_of(memory), kind, sides).requires_grad_(grad)


def _gradient_wanted(function: str, kind: torch.dtype, requires_grad: Any) -> bool:
    grad = flag(function, 'requires_grad', requires_grad)
    if grad and not (kind.is_floating_point or kind.is_complex):
        raise make(function, 'value', f'requires_grad is true, but elements of {kind} have no gradients')
    return grad


def _default(dtype: Any) -> Any:
    return torch.get_default_dtype() if dtype is None else dtype


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
    kind = check_dtype('torch.empty', _default(dtype))
    return _make('torch.empty', shape, kind, pool, requires_grad, options)


def zeros(*shape: Any, dtype: torch.dtype | None = None, pool: Any = None, requires_grad: bool = False,
          **options: Any) -> torch.Tensor:
    """As ``empty()``, filled with zeros; on the symmetric heap on every PE when it returns."""
    return _filled('torch.zeros', shape, 0, _default(dtype), pool, requires_grad, options)


def full(shape: Any, fill_value: Any, *, dtype: torch.dtype | None = None, pool: Any = None, requires_grad: bool = False,
         **options: Any) -> torch.Tensor:
    """As ``empty()``, filled with a number; on the symmetric heap on every PE when it returns. dtype None: the one that
    ``torch.full()`` would choose."""
    try:
        kind = torch.full((), fill_value).dtype if dtype is None else dtype
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise _no_value(fill_value, 'torch makes no tensor of it', error) from None
    return _filled('torch.full', (shape,), fill_value, kind, pool, requires_grad, options)


def _filled(function: str, shape: Any, value: Any, dtype: Any, pool: Any, requires_grad: bool,
            options: dict[str, Any]) -> torch.Tensor:
    kind = check_dtype(function, dtype, fill=True)
    try:
        torch.empty((), dtype=kind).fill_(value)  # before memory is taken
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise _no_value(value, f'which is no element of {kind}', error) from None
    grad = _gradient_wanted(function, kind, requires_grad)
    made = _make(function, shape, kind, pool, False, options)
    made.fill_(value)
    if pool is None:
        from .. import _ext
        _ext.barrier()
    return made.requires_grad_(grad)


def _no_value(value: Any, why: str, error: Exception) -> Exception:
    return make('torch.full', 'type' if isinstance(error, TypeError) else 'value',
                f'fill_value is {shown(value)}, {why}: {str(error).splitlines()[0]}')


def import_(key: str, mode: str = 'rw', dtype: torch.dtype | None = None) -> torch.Tensor:
    """The tensor of a key of ``shmem.export()``, on the same memory: as ``torch.from_numpy(shmem.import_(key))``.

    mode: 'rw'; 'cow': what is written stays private. ('r' is not there: torch knows no read-only tensors.)
    dtype: of the elements, where it is one that NumPy lacks, such as torch.bfloat16; of the same size. A key of such a tensor
    says only how large they are.

    Raises: as ``shmem.import_()``, InvalidArgument, WrongType (elements that torch lacks, or no array).
    """
    choice('torch.import_', 'mode', mode, {'rw': 0, 'cow': 0})
    if dtype is not None:
        check_dtype('torch.import_', dtype)
    with said_by('torch.import_'):
        array = _key.import_(key, mode)
    if not isinstance(array, np.ndarray):
        raise make('torch.import_', 'type', f'key is of a {type(array).__name__}, which is no array')
    if dtype is not None:
        if size_of(dtype) != array.itemsize:
            raise make('torch.import_', 'type', f'dtype is {dtype}, but elements have {array.itemsize} bytes')
        if array.dtype.kind == 'u':  # torch 1 has none of more than 8 bits
            array = array.view(f'i{array.itemsize}')
    try:
        torch.from_numpy(np.empty(0, array.dtype))  # torch 1 keeps what it refuses for ever
        made = torch.from_numpy(array)
    except (TypeError, ValueError) as error:
        raise make('torch.import_', 'type', f'torch cannot have this array (shape {array.shape}, {array.dtype}): '
                                            f'{str(error).splitlines()[0]}') from None
    return made if dtype is None else made.view(dtype)
