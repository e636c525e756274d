# SPDX-License-Identifier: Apache-2.0
"""Regions: memory of this PE that others may use, and handles on theirs."""

from __future__ import annotations

import enum
from types import TracebackType
from typing import Any

import numpy as np

from . import _aliases, _ext, _memory
from .errors import make, shown


class Access(enum.IntFlag):
    """What peers may do with a region."""

    LOCAL_ONLY = _ext.LOCAL_ONLY
    REMOTE_READ = _ext.REMOTE_READ
    REMOTE_WRITE = _ext.REMOTE_WRITE
    REMOTE_ATOMIC = _ext.REMOTE_ATOMIC

    def __str__(self) -> str:
        return '|'.join(flag.name or '' for flag in type(self) if flag in self and flag) or 'LOCAL_ONLY'


LOCAL_ONLY = Access.LOCAL_ONLY
REMOTE_READ = Access.REMOTE_READ
REMOTE_WRITE = Access.REMOTE_WRITE
REMOTE_ATOMIC = Access.REMOTE_ATOMIC
_ALL = REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC

_KINDS = {number: name for name, number in _ext.KINDS.items()}
_GUARDS = {number: name for name, number in _ext.GUARDS.items()}
_OWN, _FOUND, _SYMMETRIC = (_ext.SOURCES[name] for name in ('own', 'found', 'symmetric'))


class Region(_ext.RegionBase):
    """A range of memory that PEs can reach: one's own, from ``register()``, or a peer's, from ``region()``.

    id: its number; a PE's regions are numbered from 0 in the order in which they are registered.
    addr, size: where it begins in this process (0 for a peer's that is reached by copying only), and its bytes.
    owner: the PE whose memory it is. name: the name that it was registered with, or None.
    is_open: False once it was deregistered or its job is over.

    The region holds its array or tensor. When the last reference to an own region goes, it is deregistered. As a
    context manager it is deregistered at the end of the block. Any thread may use it.
    """

    __slots__ = ()

    @property
    def access(self) -> Access:
        """What peers may do."""
        return Access(self._access)

    @property
    def kind(self) -> str:
        """How peers reach it: 'moved' (its pages became shared in place) and 'symmetric': by loads and stores;
        'copied': through the kernel, 'device': by the device's driver, both without atomics and views."""
        return _KINDS[self._kind]

    @property
    def guard(self) -> str:
        """How far writes of other threads were safe while register moved pages: 'full'; 'user': a system call of
        another thread that wrote into the range could fail; 'none': nobody may have written."""
        return _GUARDS[self._guard]

    @property
    def dtype(self) -> Any:
        """Its elements: the dtype of what was registered; for a peer's region, NumPy's (torch's for bfloat16)."""
        return self._extra[1] if self._extra else _memory.dtype_of(self._type)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what was registered; for a peer's region, flat: (number of elements,)."""
        if self._extra:
            return self._extra[2]  # type: ignore[no-any-return]
        return (self.size // itemsize(self.dtype),)

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The NumPy array that was registered, or one on the same memory: of a tensor (of uint16 where it is bfloat16),
        of a buffer. Raises for a peer's region: see ``peer()``."""
        if not self._extra:
            raise make('Region.array', 'value', f'region {self.id} is of PE {self.owner}: shmem.peer(region) is an '
                                                'array on it')
        x = self._extra[0]
        return _memory.array_over_tensor(x) if self._extra[3] else x

    @array.setter
    def array(self, value: Any) -> None:
        # region.array += 1 changes the array in place, and then assigns it.
        if not isinstance(value, np.ndarray) or value.__array_interface__['data'][0] != self.addr or value.nbytes != self.size:
            raise make('Region.array', 'type', 'a region keeps its array: write into it, as in region.array[...] = x')

    @property
    def tensor(self) -> Any:
        """The torch tensor that was registered, or one on the same memory. The program must have imported torch."""
        array = self.array
        if self._extra[3] or _memory.is_tensor(array):  # on the CPU, or on a device
            return self._extra[0]
        return tensor_over('Region.tensor', array)

    @tensor.setter
    def tensor(self, value: Any) -> None:
        if not _memory.is_tensor(value) or value.data_ptr() != self.addr:
            raise make('Region.tensor', 'type', 'a region keeps its tensor: write into it, as in region.tensor[...] = x')

    def close(self) -> None:
        """Deregisters an own region; gives up the handle on a peer's."""
        _ext.close('Region.close', self)

    def __enter__(self) -> 'Region':
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if not self.is_open:
            return
        try:
            _ext.close('deregister', self)
        except Exception:
            if kind is None:  # else what ended the block matters more
                raise

    def __reduce__(self) -> Any:
        raise make('Region', 'type', 'a region is a handle of this process: send its id or name, and use shmem.region()')

    def __repr__(self) -> str:
        name = f' {self.name!r}' if self.name else ''
        number = '' if self._source == _SYMMETRIC else f' {self.id}'
        state = '' if self.is_open else ', closed'
        return (f'<shmem.Region{number}{name} of PE {self.owner}: {self.size} bytes, {self.dtype} {self.shape}, '
                f'{self.access}, {self.kind}{state}>')


def itemsize(dtype: Any) -> int:
    size = getattr(dtype, 'itemsize', None)
    if size is None:  # torch before 2.1
        size = _memory.torch_module().empty((), dtype=dtype).element_size()
    return int(size)


def tensor_over(function: str, array: np.ndarray[Any, Any]) -> Any:
    torch = _memory.torch_module()
    if torch is None:
        raise make(function, 'unsupported', 'torch is not imported in this program')
    if not isinstance(array, np.ndarray):
        raise make(function, 'type', 'the region is in memory of a device: use torch.from_dlpack(region.array)')
    return torch.from_numpy(array)


def _check_access(access: Any) -> int:
    try:
        number = int(access)
    except (TypeError, ValueError):
        number = -1
    if isinstance(access, bool) or not isinstance(access, int) or number < 0 or number & ~int(_ALL):
        raise make('register', 'value', f'access is {shown(access)}, but must be LOCAL_ONLY, or a union of REMOTE_READ, '
                                        'REMOTE_WRITE and REMOTE_ATOMIC')
    return number


def check_name(function: str, name: Any) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise make(function, 'type', f'name is a {type(name).__name__}, but must be text')
    if not 1 <= len(name.encode('utf-8', 'surrogatepass')) <= 63 or '\0' in name:
        raise make(function, 'value', f'name is {shown(name)}, but must have 1 to 63 bytes, none of them zero')


@_aliases.accepts
def register(x: Any, access: int = _ALL, name: str | None = None, move: bool = True) -> Region:
    """Makes the memory of an array or tensor reachable for all PEs, in place: it stays where it is.

    x: a contiguous, writable NumPy array, a torch tensor on the CPU (of any element type, bfloat16 too), any object
       with such a buffer, a DeviceBuffer, or memory of a device that another library allocated: a torch tensor on 'cuda'
       or 'npu', anything with ``__cuda_array_interface__`` or ``__dlpack__`` there. Not: an empty one, a memory map,
       elements that are Python objects.
    access: what peers may do; by default everything.
    name: at most 63 bytes, unique among this PE's regions. Regions of different PEs *correspond* when they have the
       same name, or, without names, the same number. They must agree in bytes and element type.
    move: False leaves the pages alone, as pinned memory needs (done so for pinned tensors): kind 'copied'.

    Returns the Region, which holds x. The last reference to it, ``deregister()`` or the end of a with block ends it.
    While it lives, a tensor's storage cannot be resized. Other threads may use x during the call: see Region.guard.

    Raises: BadBuffer (not contiguous, read-only, empty), WrongType, InvalidArgument (a name in use, a stack, memory
    that is shared already, memory of another device than it says), NotSupported (device memory that cannot be
    shared, the text says why), DeviceMissing, Stale (it was freed), OutOfMemory, NotInitialized. Any thread may call it;
    PEs whose regions are to correspond by number register them in the same order.
    """
    number = _check_access(access)
    check_name('register', name)
    if isinstance(x, Region):
        raise make('register', 'type', 'x is a Region already')
    memory = _memory.describe('register', 'x', x)
    kept: Any = (memory.x, memory.raw)
    if memory.is_tensor:
        kept = (memory.x, _memory.array_over_tensor(memory.x))
        if move and memory.x.is_pinned():
            move = False
    region: Region = _ext.register('register', Region, memory.raw, kept, number, name, bool(move), memory.type)
    region._extra = (memory.x, memory.dtype, memory.shape, memory.is_tensor)
    return region


@_aliases.accepts
def deregister(region: Region) -> None:
    """Ends a region that this PE registered. Its memory is private again when no other region shares it; peers that
    use the region later get Stale, and their views see memory that is nobody's any more.

    Waits for transfers of this process's other threads. Raises: Stale (done already, or the job is over), Busy
    (another thread waits on it), InvalidArgument (a peer's region).
    """
    if not isinstance(region, Region):
        raise make('deregister', 'type', f'region is a {type(region).__name__}, but must be a Region')
    if region._source != _OWN:
        whose = 'a symmetric array: use free()' if region._source == _SYMMETRIC else f"PE {region.owner}'s: use close()"
        raise make('deregister', 'value', f'region was not registered by this PE, but is {whose}')
    _ext.close('deregister', region)


def region(pe: int, name: str | None = None, index: int | None = None, timeout: float | None = None) -> Region:
    """A handle on a region of PE `pe`, found by its name or its number, which may be yet to come.

    timeout: seconds; None: SHMEM_TIMEOUT, 60 by default.
    Raises: Timeout, Stale (it was deregistered), OwnerDied, OutOfRange (pe), WrongType. Any thread may call it.
    """
    if (name is None) == (index is None):
        raise make('region', 'type', 'name and index are ' + ('both given' if name is not None else 'missing') +
                   ': a region is found by one of them')
    check_name('region', name)
    return _ext.find('region', Region, pe, name, index, timeout)  # type: ignore[no-any-return]
