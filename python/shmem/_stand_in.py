# SPDX-License-Identifier: Apache-2.0
"""Host memory with the interface of device buffers, so that a program written for a device runs on it unchanged."""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np

from . import _ext, _memory
from .errors import make

ANY = 'any'  # whatever type of device somebody asks for


def is_asked_for() -> bool:
    return os.environ.get('SHMEM_DEVICE_FALLBACK') == 'host'


def allowed(kind: str, function: str) -> bool:
    """Whether host memory may stand in for that type of device, and has to, because there is none."""
    from . import _device
    return is_asked_for() and not _device.is_there(kind, function)


class Known(weakref.WeakValueDictionary[int, Any]):
    """What is known of a pool: blocks by their addresses, and the type of device that it stands in for, or None."""

    stands_for: str | None = None


def holder_of(x: Any) -> Any:
    """What has the memory that an array is on, at the bottom of all views."""
    while isinstance(x, (np.ndarray, memoryview)):
        x = x.obj if isinstance(x, memoryview) else x.base
    return x


def _is_shared(x: Any) -> bool:
    return isinstance(holder_of(x), (_ext.PoolBlock, _ext.ImportHandle, _ext.Block))


def _stands_for(x: Any) -> str | None:
    """The type of device that the array's memory stands in for: that was asked for where it was allocated. What another process
    allocated may stand in for any."""
    holder = holder_of(x)
    if isinstance(holder, _ext.Block):
        from ._symmetric import block_stands_for
        return block_stands_for(holder)
    if isinstance(holder, _ext.ImportHandle):
        holder = holder.owner
        if holder is None or isinstance(holder, list):
            return ANY
    pool = getattr(holder, 'pool', holder)  # a block's; or the pool itself
    return getattr(getattr(pool, 'extra', None), 'stands_for', None)


class HostSide(np.ndarray):  # type: ignore[type-arg]
    """What arrays in host memory have in common with DeviceBuffers, beside what every array has."""

    __slots__ = ()

    device = 'cpu'

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array is self:  # an operation in place
            return array
        plain = array.view(np.ndarray) if isinstance(array, HostSide) and not _is_shared(array) else array
        return plain[()] if return_scalar or (plain.ndim == 0 and context is None and not _RETURN_SCALAR) else plain

    def copy(self, order: Any = 'C') -> np.ndarray[Any, Any]:
        """A plain array in private memory."""
        return np.array(self, order=order, copy=True, subok=False)

    def __copy__(self) -> np.ndarray[Any, Any]:
        return np.array(self, copy=True, subok=False)

    def __deepcopy__(self, memo: Any) -> np.ndarray[Any, Any]:
        return np.array(self, copy=True, subok=False)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from . import _key  # which needs this module
        return _key.reduce_host(self) or self.view(np.ndarray).__reduce_ex__(protocol)

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)

    @property
    def address(self) -> int:
        """Of the first element."""
        return self.__array_interface__['data'][0]  # type: ignore[no-any-return]

    @property
    def readonly(self) -> bool:
        """Whether it cannot be written to."""
        return not self.flags.writeable

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie one behind the other, in C order."""
        return self.flags.c_contiguous  # type: ignore[no-any-return]

    def to_numpy(self, out: Any = None) -> np.ndarray[Any, Any]:
        """A plain NumPy array with the contents; or out, filled with them."""
        self._need('Buffer.to_numpy')
        if out is None:
            return np.array(self, copy=True, subok=False)
        self._into('Buffer.to_numpy', out)
        return out  # type: ignore[no-any-return]

    def copy_to(self, out: Any, stream: Any = None) -> None:
        """Copies the contents into an array or device buffer of this shape and dtype. stream: a device's; between arrays in
        host memory what was queued on it is waited for, and the copy is done at once."""
        from ._device import DeviceBuffer
        if isinstance(out, DeviceBuffer):
            self._need('Buffer.copy_to')
            out.copy_from(self, stream)
            return
        self._into('Buffer.copy_to', out, stream)

    def _need(self, function: str) -> None:
        holder = holder_of(self)
        if isinstance(holder, (_ext.PoolBlock, _ext.Block)) and not holder.is_open:
            raise make(function, 'stale', 'the buffer was freed, or its job is over')

    def _into(self, function: str, out: Any, stream: Any = None) -> None:
        self._need(function)
        if not isinstance(out, np.ndarray) or out.shape != self.shape or out.dtype != self.dtype:
            found = f'of shape {out.shape}, {out.dtype}' if isinstance(out, np.ndarray) else f'a {type(out).__name__}'
            raise make(function, 'value', f'out is {found}, but must be an array of shape {self.shape}, {self.dtype}')
        if not out.flags.writeable:
            raise make(function, 'buffer', 'out is read-only')
        _finish(function, stream)
        np.copyto(out, self)

    def copy_from(self, x: Any, stream: Any = None) -> Any:
        """Fills it with x, and returns it. x: an array, anything that NumPy makes one of, a number (broadcast and converted), or
        a device buffer, a tensor or array of a device, or another buffer of this dtype and as many elements. stream: as of
        ``copy_to()``. Raises: InvalidArgument (it does not fit), AccessDenied (it cannot be written to), Stale (it was freed)."""
        from ._device import DeviceBuffer
        function = 'Buffer.copy_from'
        self._need(function)
        if isinstance(x, HostSide):
            x._need(function)
        if not self.flags.writeable:
            raise make(function, 'access', 'the buffer can only be read')
        if isinstance(x, DeviceBuffer) and x.shape == self.shape and x.dtype == self.dtype:
            x.copy_to(self, stream)
            return self
        _finish(function, stream)
        if not isinstance(x, (np.ndarray, np.generic, int, float, complex)):
            x = self._on_host(function, x)
        try:
            if isinstance(x, HostSide) and x.shape != self.shape and x.size == self.size and x.dtype == self.dtype:
                x = x.reshape(self.shape)
            self[...] = x
        except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            raise make(function, 'value', f'x does not fit a buffer of shape {self.shape}, {self.dtype}: {error}') from None
        return self

    def _on_host(self, function: str, x: Any) -> Any:
        """What is on a device, and a tensor, as an array of the host; anything else as it is."""
        from ._device import host_copy
        found = host_copy(function, x)
        if found is None:
            return _memory.array_over_tensor(x) if _memory.is_tensor(x) else x
        if found.size != self.size or found.dtype != self.dtype:
            raise make(function, 'value', f'x has shape {found.shape}, {found.dtype}, and the buffer {self.shape}, {self.dtype}: from '
                                          'devices nothing is converted')
        return found.reshape(self.shape)

    def npu(self) -> Any:
        """Itself, where host memory stands in for an NPU's."""
        return self._stand_in('npu')

    def cuda(self) -> Any:
        """Itself, where host memory stands in for a GPU's."""
        return self._stand_in('cuda')

    def _stand_in(self, kind: str) -> Any:
        asked = _stands_for(self)
        if asked == kind or (asked == ANY and allowed(kind, f'Buffer.{kind}')):
            return self
        where = 'it is in host memory' if asked in (None, ANY) else f"it stands in for memory of type '{asked}'"
        raise make(f'Buffer.{kind}', 'unsupported', f"{where}: create_pool(size, type='{kind}') and copy_from() put its contents on a "
                                                    'device')


def _plain(name: str) -> Any:
    """Methods whose results are copies."""
    original = getattr(np.ndarray, name)

    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        return original(self.view(np.ndarray), *args, **keywords)

    method.__name__, method.__doc__ = name, original.__doc__
    return method


for _name in ('flatten', 'take', 'repeat', 'compress', 'choose', 'argsort', 'argmax', 'argmin', 'nonzero', 'searchsorted',
              'tolist', 'tobytes'):
    setattr(HostSide, _name, _plain(_name))


def _astype(self: Any, dtype: Any, order: Any = 'K', casting: Any = 'unsafe', subok: bool = True, copy: bool = True) -> Any:
    made = np.ndarray.astype(self, dtype, order, casting, subok, copy)
    return made if made is self else made.view(np.ndarray)


_astype.__name__, _astype.__doc__ = 'astype', np.ndarray.astype.__doc__
HostSide.astype = _astype  # type: ignore[method-assign]


_RETURN_SCALAR = int(np.__version__.split('.')[0]) >= 2  # NumPy says itself when a scalar is wanted


def _finish(function: str, stream: Any) -> None:
    if stream is not None:
        from ._stream import as_stream
        as_stream(function, stream).finish()


class StandIn(HostSide):
    """An array on the symmetric heap in host memory that was asked for on a device. As a Buffer, and as the DeviceBuffer that it
    stands in for: pickling sends a key; what is computed from it, and copies, are plain arrays."""

    __slots__ = ()
