# SPDX-License-Identifier: Apache-2.0
"""Host memory with the interface of device buffers, so that a program written for a device runs on it unchanged."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .errors import make


def allowed(kind: str, function: str) -> bool:
    """Whether host memory may stand in for that type of device, and has to, because there is none."""
    from . import _device
    return os.environ.get('SHMEM_DEVICE_FALLBACK') == 'host' and not _device.is_there(kind, function)


class HostSide(np.ndarray):  # type: ignore[type-arg]
    """What arrays in host memory have in common with DeviceBuffers, beside what every array has."""

    __slots__ = ()

    device = 'cpu'

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
        if out is None:
            return np.array(self, copy=True, subok=False)
        self.copy_to(out)
        return out  # type: ignore[no-any-return]

    def copy_to(self, out: Any, stream: Any = None) -> None:
        """Copies the contents into an array or device buffer of this shape and dtype. stream: a device's; between arrays in
        host memory what was queued on it is waited for, and the copy is done at once."""
        from ._device import DeviceBuffer
        if isinstance(out, DeviceBuffer):
            out.copy_from(self, stream)
            return
        if not isinstance(out, np.ndarray) or out.shape != self.shape or out.dtype != self.dtype or not out.flags.writeable:
            raise make('Buffer.copy_to', 'value', f'out must be a writable array of shape {self.shape} and dtype {self.dtype}')
        _finish('Buffer.copy_to', stream)
        np.copyto(out, self)

    def copy_from(self, x: Any, stream: Any = None) -> Any:
        """Fills it with x, and returns it. x: an array, anything that NumPy makes one of, a number (broadcast and converted),
        or a device buffer of this shape and dtype. stream: as of ``copy_to()``."""
        from ._device import DeviceBuffer
        if isinstance(x, DeviceBuffer):
            x.copy_to(self, stream)
            return self
        _finish('Buffer.copy_from', stream)
        self[...] = x
        return self

    def npu(self) -> Any:
        """Itself, where host memory stands in for an NPU's."""
        return self._stand_in('npu')

    def cuda(self) -> Any:
        """Itself, where host memory stands in for a GPU's."""
        return self._stand_in('cuda')

    def _stand_in(self, kind: str) -> Any:
        if allowed(kind, f'Buffer.{kind}'):
            return self
        raise make(f'Buffer.{kind}', 'unsupported', f"it is in host memory: create_pool(size, type='{kind}') and copy_from() put "
                                                    "its contents on a device")


def _finish(function: str, stream: Any) -> None:
    if stream is not None:
        from ._device import as_stream
        as_stream(function, stream).finish()


class StandIn(HostSide):
    """An array in host memory that was asked for on a device."""

    __slots__ = ()
