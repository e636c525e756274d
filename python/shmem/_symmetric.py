# SPDX-License-Identifier: Apache-2.0
"""Arrays on the symmetric heap: NumPy's, or of a device."""

from __future__ import annotations

import bisect
import os
from typing import Any, NamedTuple

import numpy as np

from . import _argument, _ext, _memory
from ._device import DeviceBuffer
from ._foreign import DIGITS, TYPES
from ._stand_in import StandIn
from ._region import Region
from .errors import make, said_by, shown

_ALIGN = 64
_REMEMBERED = 256  # regions of a block
usual_kind: str | None = None  # of the job, as init() was asked for


class _Block:
    """A block of the heap, and the regions that were made for arrays in it."""

    __slots__ = ('block', 'regions', 'stands_for', 'keys')

    def __init__(self, block: Any, stands_for: str | None = None) -> None:
        self.block = block
        self.stands_for = stands_for  # the type of device that it was asked for on, and is not
        self.keys: dict[str, str] = {}  # by mode
        self.regions: dict[tuple[Any, ...], Region] = {}


_blocks: dict[int, _Block] = {}  # by address
_addresses: list[int] = []  # sorted
_epoch = 0


def _forget_old() -> None:
    """Blocks of a job that is over are nobody's."""
    global _epoch
    if _epoch != _ext.epoch():
        _epoch = _ext.epoch()
        _blocks.clear()
        _addresses.clear()


def _find(address: int) -> _Block | None:
    """The block that the address lies in."""
    _forget_old()
    at = bisect.bisect_right(_addresses, address) - 1
    if at < 0:
        return None
    found = _blocks[_addresses[at]]
    return found if address - _addresses[at] < found.block.size else None


def block_stands_for(block: Any) -> str | None:
    found = _find(block.address)
    return found.stands_for if found is not None and found.block is block else None


def keys_of(block: Any) -> dict[str, str]:
    """Of a block that is there: the keys that are known of it."""
    found = _find(block.address)
    return {} if found is None else found.keys


def _address(memory: _memory.Memory) -> int:
    if isinstance(memory.raw, tuple):  # a tensor, or memory of a device
        return memory.raw[0]  # type: ignore[no-any-return]
    if isinstance(memory.x, np.ndarray):
        return memory.x.__array_interface__['data'][0]  # type: ignore[no-any-return]
    return -1  # memory of another library on a device, which is not symmetric


def region_of(function: str, argument: str, x: Any) -> Region:
    """The region that a symmetric array, a part of one, or a tensor on it stands for."""
    if not isinstance(x, (np.ndarray, DeviceBuffer)) and not _memory.is_tensor(x):
        raise make(function, 'type', f'{argument} is a {type(x).__name__}, but must be a Region or a symmetric array')
    memory = _memory.describe(function, argument, x, writable=False)
    address = _address(memory)
    found = _find(address)
    if found is None or address + memory.nbytes > found.block.address + found.block.size:
        kind = 'a tensor' if _memory.is_tensor(x) else 'a device buffer' if isinstance(x, DeviceBuffer) else 'an array'
        if not _ext.is_initialized():
            with said_by(function):
                _ext.my_pe()  # raises, and says why there is no job
        raise make(function, 'value', f'{argument} is {kind} of this process alone, or one that was freed: pass the '
                                      'Region that shmem.register() returned, or an array from shmem.zeros()')
    key = (address, memory.nbytes, memory.type, str(memory.dtype), tuple(memory.shape), memory.is_tensor)
    region = found.regions.get(key)
    if region is None or not region.is_open:
        region = _ext.symmetric(function, Region, address, memory.nbytes, found.block, memory.type)
        kept = memory.x if isinstance(memory.x, DeviceBuffer) else memory.x.detach() if _memory.is_tensor(x) else memory.x.view()
        region._extra = (kept, memory.dtype, memory.shape, memory.is_tensor)
        if len(found.regions) >= _REMEMBERED:
            found.regions.clear()
        found.regions[key] = region
    return region


def _check_dtype(function: str, dtype: Any) -> np.dtype[Any]:
    try:
        made: np.dtype[Any] = np.dtype(dtype)
    except Exception:
        raise make(function, 'type', f'dtype is {shown(dtype)}, which NumPy does not know as a dtype') from None
    if made.hasobject:
        raise make(function, 'type', f'dtype is {made}, whose elements hold pointers into this process')
    return made


def kind_of(function: str, device: Any) -> str | None:
    """The kind of memory as the library names it; None: the job's usual one."""
    if device is None:
        return None
    name = str(device) if isinstance(device, str) or hasattr(device, 'type') else ''  # torch.device, too
    kind, colon, number = name.partition(':')
    if name in ('cpu', 'host'):
        return 'host'
    if kind not in TYPES or (colon and not (number.isascii() and number.isdecimal() and len(number) <= DIGITS)):
        raise make(function, 'value', f"device is {shown(device)}, but must be None, 'cpu', 'host', or such as 'npu' or 'cuda:1'")
    return name


def _new(function: str, shape: Any, dtype: Any, device: Any, zero: bool = False) -> Any:
    """zero: holds zeros if it is on a device."""
    sides = _argument.sides(function, shape)
    element = _check_dtype(function, dtype)
    kind = kind_of(function, device)
    nbytes = element.itemsize
    for side in sides:
        nbytes *= side
    if nbytes == 0:
        raise make(function, 'value', f'an array of shape {sides} and dtype {element} has 0 bytes')
    if nbytes >= 1 << 63:
        raise make(function, 'memory', f'an array of shape {shown(sides)} and dtype {element} has more bytes than there '
                                       'are addresses')
    block: Any = _ext.malloc(function, nbytes, _ALIGN, kind, zero)
    _forget_old()
    usual = kind if kind is not None else usual_kind or os.environ.get('SHMEM_HEAP_KIND', 'host')
    asked = usual.partition(':')[0] if usual != 'host' and block.type is None else None
    _blocks[block.address] = _Block(block, asked)
    bisect.insort(_addresses, block.address)
    if block.type is None:
        return (StandIn if asked else np.ndarray)(sides, element, buffer=block)
    return DeviceBuffer._of_block(block, sides, element)


def empty(shape: int | tuple[int, ...], dtype: Any = float, device: Any = None) -> Any:
    """A NumPy array on the symmetric heap: every PE has one, at the same offset of its heap. Not cleared.

    It is taken wherever a Region is, and stands for the corresponding array of the other PE there; so do parts of it
    (``a[2:5]``) and torch tensors over it (``torch.from_numpy(a)``). Dropping the array does not free it, because
    freeing is collective: ``free(a)`` does, or finalize.

    shape: an integer or a tuple of them, no side 0. dtype: anything that ``numpy.dtype`` takes, without Python objects.
    device: None: the kind of memory that ``init(device=)`` or SHMEM_HEAP_KIND says, else the host's; 'cpu' or 'host'; 'npu' or
    'cuda', perhaps with the number of this PE's device ('cuda:1'), else its own number, modulo the devices that it sees. Of a device it is a
    DeviceBuffer, on which put and get, and as a copy the collectives, work as on arrays; atomics and waits need host memory.

    Raises: OutOfMemory (the text tells which PE had no room, and what to set), DeviceMissing (a PE without it is named on all),
    NotSupported, InvalidArgument, WrongType, OwnerDied.
    Collective: every PE calls it, in the same order, with the same shape, dtype and type of device.
    """
    return _new('empty', shape, dtype, device)


def zeros(shape: int | tuple[int, ...], dtype: Any = float, device: Any = None) -> Any:
    """As ``empty()``, filled with zeros on every PE when it returns. Collective."""
    array = _new('zeros', shape, dtype, device, zero=True)
    if isinstance(array, np.ndarray):
        array.view(np.ndarray)[...] = np.zeros((), array.dtype)
        _ext.barrier()
    return array


def full(shape: int | tuple[int, ...], fill_value: Any, dtype: Any = None, device: Any = None) -> Any:
    """As ``empty()``, filled with fill_value on every PE when it returns; dtype None: that of fill_value. Collective."""
    sides = _argument.sides('full', shape)
    wanted = None if dtype is None else _check_dtype('full', dtype)
    try:
        value = np.asarray(fill_value)
        value = value.astype(value.dtype if wanted is None else wanted)
        np.broadcast_to(value, sides)
    except Exception as error:  # of NumPy, or of a class of its own
        raise make('full', 'value', f'fill_value is {shown(fill_value)}, which does not fill an array of shape {shown(shape)}, '
                                    f'{wanted or "its own dtype"}: {error!s:.200}') from None
    array = _new('full', sides, value.dtype, device)
    try:
        array[...] = value
    finally:
        _ext.barrier()  # the others do not wait for a PE whose device fails
    return array


def free(array: Any) -> None:
    """Gives an array of ``empty()``, ``zeros()`` or ``full()`` back to the heap. Using it in calls raises from then on;
    its memory may become another array's.

    Raises: InvalidArgument (it is no such array, or only a part of one, or was freed), Busy (a part of one on a device is
    registered). Collective: every PE frees the same array.
    """
    if not isinstance(array, (np.ndarray, DeviceBuffer)) and not _memory.is_tensor(array):
        raise make('free', 'type', f'array is a {type(array).__name__}, but must be a symmetric array')
    memory = _memory.describe('free', 'array', array, writable=False)
    address = _address(memory)
    found = _find(address)
    if found is None:
        if not _ext.is_initialized():
            with said_by('free'):
                _ext.my_pe()
        raise make('free', 'value', 'array is not on the symmetric heap, or was freed already')
    if address != found.block.address or memory.nbytes != found.block.size:
        raise make('free', 'value', f'array is only a part of a symmetric array ({memory.nbytes} of its '
                                    f'{found.block.size} bytes)')
    for region in list(found.regions.values()):
        if region.is_open:
            _ext.close('free', region)
    _ext.free('free', found.block)
    del _blocks[address]
    _addresses.remove(address)


class HeapInfo(NamedTuple):
    """This PE's symmetric heap, in bytes; `blocks` is a number."""

    total: int
    in_use: int
    largest_free: int
    high_water: int
    blocks: int


def heap_info(device: Any = None) -> HeapInfo:
    """How full this PE's symmetric heap is; device as of ``empty()``, zeros where no heap of that kind has been made. Raises
    NotInitialized, InvalidArgument. Any thread may call it."""
    return HeapInfo(*_ext.heap_info('heap_info', kind_of('heap_info', device)))
