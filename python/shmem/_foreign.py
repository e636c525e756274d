# SPDX-License-Identifier: Apache-2.0
"""Memory of devices that other libraries allocated: tensors, ``__cuda_array_interface__``, ``__dlpack__``. What they say is
checked here, as far as it can be, and then by asking the driver."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _ext, _memory
from ._argument import flag
from ._buffer import write_note
from ._strided import contiguous
from .errors import Error, make, shown

TYPES = ('npu', 'cuda')
DIGITS = 4  # of the number of a device


def place(function: str, device: Any, argument: str = 'device') -> tuple[str, int]:
    """('npu', 1) for 'npu:1' and 'npu' for the first."""
    name, colon, number = device.partition(':') if isinstance(device, str) else ('', '', '')
    if name not in TYPES or (colon and not (number.isascii() and number.isdecimal() and len(number) <= DIGITS)):
        raise make(function, 'value', f"{argument} is {shown(device)}, but must be such as 'npu' or 'cuda:1'")
    return name, int(number) if colon else 0


class Foreign:
    """Contiguous memory of a device that another library has. number: of the device; -1: the driver is to say. around: the
    storage of a tensor, which overlaps no other one. streams: of CUDA, which may still be writing it. keep: what it lives by.
    type: the library's number of the elements' type."""

    __slots__ = ('kind', 'number', 'address', 'nbytes', 'dtype', 'shape', 'readonly', 'around', 'streams', 'keep', 'type')

    def __init__(self, kind: str, number: int, address: int, nbytes: int, dtype: Any, shape: tuple[int, ...], readonly: bool,
                 keep: Any, around: tuple[int, int] | None = None, streams: tuple[int, ...] = ()):
        self.kind, self.number, self.address, self.nbytes = kind, number, address, nbytes
        self.dtype, self.shape, self.readonly, self.keep = dtype, shape, readonly, keep
        self.around = around or (0, 0)
        self.streams = streams
        self.type = _memory.type_of(dtype)

    def hold(self, function: str) -> Any:
        """The library knows the memory as long as what is returned lives, which holds its owner. What writes it on streams
        that are known has been waited for. Raises, unless the driver agrees that it is there."""
        held = _ext.device_hold(function, self.kind, self.number, self.address, self.nbytes, *self.around)
        held.extra = self.keep
        for native in self.streams:
            handle = _ext.stream_create(function, self.kind, held.number, native)
            _ext.stream_finish(function, handle)
            _ext.stream_close(function, handle)
        return held


def _settle(x: Any) -> None:
    """Waits for what torch has queued for the tensor's device."""
    module = getattr(_memory.torch_module(), x.device.type, None)
    if hasattr(module, 'current_stream'):
        module.current_stream(x.device).synchronize()


def _of_tensor(function: str, argument: str, x: Any) -> Foreign | None:
    kind, number = x.device.type, x.device.index
    if kind not in TYPES:
        return None
    try:
        if not x.is_contiguous():
            raise make(function, 'buffer', f'{argument} is not contiguous (a tensor of shape {tuple(x.shape)}, strides '
                                           f'{tuple(x.stride())}): make it so first, by x = x.contiguous()')
        if any(getattr(x, what, bool)() for what in ('is_conj', 'is_neg')):
            raise make(function, 'buffer', f'{argument} is a tensor that is conjugated or negated when it is read: use '
                                           'x.resolve_conj().resolve_neg()')
        address, nbytes, around = x.data_ptr(), x.numel() * x.element_size(), None
        if hasattr(x, 'untyped_storage'):
            storage = x.untyped_storage()
            around = storage.data_ptr(), storage.nbytes()
            if nbytes and not (around[0] <= address and address + nbytes <= sum(around)):
                raise make(function, 'buffer', f'{argument} is a tensor of {nbytes} bytes, but its storage was resized and '
                                               f'holds {around[1]}')
        _settle(x)
    except (RuntimeError, NotImplementedError) as error:
        if isinstance(error, Error):
            raise
        raise make(function, 'type', f'{argument} is a tensor without memory of its own: '
                                     f'{(str(error).splitlines() or [""])[0]}') from None
    return Foreign(kind, -1 if number is None else number, address, nbytes, x.dtype, tuple(x.shape), False, x, around)


def _check_strides(function: str, argument: str, shape: tuple[int, ...], strides: Any, itemsize: int) -> None:
    """strides: in bytes, or None."""
    if strides is None or 0 in shape:
        return
    if len(strides) != len(shape) or any(side != 1 and stride != usual for side, stride, usual in
                                         zip(shape, strides, contiguous(shape, itemsize))):
        raise make(function, 'buffer', f'{argument} is not contiguous (an array of shape {shape}, strides {tuple(strides)}): '
                                       'make it so first, by x.contiguous(), or ascontiguousarray(x) of its library')


def _of_interface(function: str, argument: str, x: Any, said: Any) -> Foreign:
    """``__cuda_array_interface__``, whose word is not taken for it."""
    try:
        shape = tuple(operator.index(side) for side in said['shape'])
        dtype, (address, readonly) = np.dtype(said['typestr']), said['data']
        address, stream, strides = operator.index(address), said.get('stream'), said.get('strides')
        strides = None if strides is None else tuple(operator.index(stride) for stride in strides)
        streams = () if stream is None else (operator.index(stream),)
    except (TypeError, KeyError, IndexError, ValueError) as error:
        raise make(function, 'type', f'{argument} has a __cuda_array_interface__ that makes no sense: '
                                     f'{type(error).__name__}: {error}') from None
    if said.get('mask') is not None:
        raise make(function, 'type', f'{argument} is masked, which memory alone cannot say')
    nbytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.hasobject or any(side < 0 for side in shape) or address < 0 or address + nbytes >= 1 << 64 or 0 in streams:
        raise make(function, 'type', f'{argument} has a __cuda_array_interface__ that makes no sense: {said!r:.200}')
    _check_strides(function, argument, shape, strides, dtype.itemsize)
    number = getattr(getattr(x, 'device', None), 'id', None)
    return Foreign('cuda', number if isinstance(number, int) else -1, address, nbytes, dtype, shape, bool(readonly), x, None,
                   streams)


_DLPACK_TYPES = {2: 'cuda', 13: 'cuda', 12: 'npu'}  # 13: managed memory
_DLPACK_KINDS = {0: 'i', 1: 'u', 2: 'f', 5: 'c', 6: 'b'}
_DLPACK_BFLOAT = 4


def _dlpack_dtype(function: str, argument: str, code: int, bits: int) -> np.dtype[Any]:
    try:
        if code == _DLPACK_BFLOAT:
            return np.dtype(f'u{bits // 8}')
        return np.dtype(f'{_DLPACK_KINDS[code]}{bits // 8}')
    except (KeyError, TypeError):
        raise make(function, 'type', f'{argument} has elements of {bits} bits of a type that DLPack numbers {code}, which this '
                                     'package does not know') from None


def _capsule(function: str, argument: str, x: Any, kind: str) -> Any:
    """CUDA: what was queued for it is then seen on the usual stream, which hold() waits for."""
    stream = {'stream': 1} if kind == 'cuda' else {}
    for keywords in ({**stream, 'max_version': (1, 0)}, stream, {}):
        try:
            return x.__dlpack__(**keywords)
        except TypeError as error:  # of an older form
            last: Exception = error
        except Exception as error:
            raise make(function, 'buffer', f'{argument} does not give its memory away: {error}') from error
    raise make(function, 'buffer', f'{argument} does not give its memory away: {last}') from last


def _of_dlpack(function: str, argument: str, x: Any) -> Foreign | None:
    try:
        where, number = x.__dlpack_device__()
        kind = _DLPACK_TYPES.get(int(where))
    except Exception as error:
        raise make(function, 'type', f'{argument} has a __dlpack_device__() that makes no sense: {error}') from error
    if kind is None:
        return None
    is_on, on, address, nbytes, code, bits, shape, steps, readonly, taken = _ext.dlpack_take(
        function, _capsule(function, argument, x, kind))
    if (_DLPACK_TYPES.get(is_on), on) != (kind, number):
        raise make(function, 'buffer', f'{argument} says that it is on device {number} of kind {int(where)}, and its capsule '
                                       f'on device {on} of kind {is_on}')
    dtype = _dlpack_dtype(function, argument, code, bits)
    _check_strides(function, argument, shape, None if steps is None else tuple(step * dtype.itemsize for step in steps),
                   dtype.itemsize)
    found = Foreign(kind, number, address, nbytes, dtype, shape, readonly, (x, taken), None, (1,) if kind == 'cuda' else ())
    if code == _DLPACK_BFLOAT and bits == 16:
        found.type = _ext.TYPES['bfloat16']  # which NumPy lacks
    return found


def foreign_memory(function: str, x: Any, argument: str = 'x') -> Foreign | None:
    """Somebody else's contiguous memory of a device; None: it is none. Raises for what cannot be used, and says why."""
    if _memory.is_tensor(x):
        return _of_tensor(function, argument, x)
    if isinstance(x, (np.ndarray, np.generic)):
        return None
    said = _memory.cuda_interface(x)
    if said is not None:
        return _of_interface(function, argument, x, said)
    if hasattr(x, '__dlpack__') and hasattr(x, '__dlpack_device__'):
        return _of_dlpack(function, argument, x)
    return None


# --- keys -------------------------------------------------------------------------------------------------------------------------------------


_exported: dict[str, Any] = {}  # by key: the holds on memory of other libraries


def export_foreign(function: str, foreign: Foreign, mode: Any, allow: Any, frozen: bool) -> str:
    from ._key import _allow_list, _rights
    if not foreign.nbytes:
        raise make(function, 'buffer', f'x is empty (shape {foreign.shape})')
    held = foreign.hold(function)
    entries, frozen = _allow_list(function, allow), flag(function, 'frozen', frozen)
    usual = 'r' if foreign.readonly else 'rw'
    rights = 0 if mode is None and entries else _rights(function, usual if mode is None else mode)
    note = write_note(function, foreign.shape, _memory.numpy_dtype(foreign.dtype), 0, None)
    key: str = _ext.key_export(function, None, foreign.address, foreign.nbytes, rights, entries, bool(frozen), note)
    _exported[key] = held
    return key


def forget_key(key: str) -> None:
    """It was revoked."""
    _exported.pop(key, None)
