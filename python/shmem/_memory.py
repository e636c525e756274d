# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays, torch tensors and other buffers, seen as bytes. torch is looked at only if the program imported it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _ext
from .errors import make

BYTES = _ext.TYPES['bytes']
PLAIN = {BYTES, _ext.TYPES['int8'], _ext.TYPES['uint8']}  # go with every other type
_BFLOAT16 = _ext.TYPES['bfloat16']
_NAME_OF = {code: name for name, code in _ext.TYPES.items()}
_types: dict[Any, int] = {}  # what was asked before: dtypes tell their names slowly


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype for elements of this one; for torch's that NumPy lacks, unsigned integers of their size."""
    if isinstance(dtype, np.dtype):
        return dtype
    name = str(dtype).rpartition('.')[2]
    if name in ('bool', 'complex64', 'complex128') or _ext.TYPES.get(name, BYTES) not in (BYTES, _BFLOAT16):
        return np.dtype(name)
    return np.dtype(f'u{torch_module().empty((), dtype=dtype).element_size()}')


class Memory:
    """Contiguous bytes of an array or tensor. `raw` is what the extension module takes for them."""

    __slots__ = ('x', 'raw', 'nbytes', 'dtype', 'shape', 'type', 'is_tensor')

    def __init__(self, x: Any, raw: Any, nbytes: int, dtype: Any, shape: tuple[int, ...], type: int, is_tensor: bool):
        self.x = x  # the array or tensor; for other objects, an array over their buffer
        self.raw = raw
        self.nbytes = nbytes
        self.dtype = dtype
        self.shape = shape
        self.type = type
        self.is_tensor = is_tensor


def torch_module() -> Any:
    """torch, if the program imported it, else None."""
    torch = sys.modules.get('torch')
    return torch if torch is not None and hasattr(torch, 'Tensor') else None


def is_tensor(x: Any) -> bool:
    torch = torch_module()
    return torch is not None and isinstance(x, torch.Tensor)


def type_of(dtype: Any) -> int:
    """The library's number for an element type of NumPy or torch; that of bytes where it has none."""
    code = _types.get(dtype)
    if code is None:
        code = _types[dtype] = _find_type(dtype)
    return code


def _find_type(dtype: Any) -> int:
    if not isinstance(dtype, np.dtype):
        return _ext.TYPES.get(str(dtype).rpartition('.')[2], BYTES)
    if not dtype.isnative:
        return BYTES
    return _ext.TYPES.get('longdouble' if dtype.char == 'g' else dtype.name, BYTES)


def dtype_of(code: int) -> Any:
    """A dtype for the elements of a peer's region: NumPy's, or torch's for bfloat16, which NumPy lacks."""
    if code == BYTES:
        return np.dtype(np.uint8)
    if code == _BFLOAT16:
        torch = torch_module()
        return torch.bfloat16 if torch is not None else np.dtype(np.uint16)
    return np.dtype(_NAME_OF[code])


def _device_error(function: str, argument: str, device: str) -> Exception:
    return make(function, 'unsupported', f"{argument} is on device '{device}', for which there is no back end: use x.cpu()")


def _of_device(function: str, argument: str, x: Any, writable: bool, empty: bool, device: str) -> Memory:
    """Contiguous memory of a device: of this library, or of another one, which is held by `raw`."""
    from . import _device, _foreign
    if isinstance(x, _device.DeviceBuffer):
        x._need(function)
        if not x.is_contiguous:
            raise make(function, 'buffer', f'{argument} is not contiguous (a device buffer of shape {x.shape}, strides '
                                           f'{x.strides})')
        memory = Memory(x, (x.address, x.nbytes), x.nbytes, x.dtype, x.shape, type_of(x.dtype), False)
        readonly = x.readonly
    else:
        found = _foreign.foreign_memory(function, x, argument)
        if found is None:
            raise _device_error(function, argument, device)
        raw = found.hold(function) if found.nbytes else (0, 0)
        memory = Memory(x, raw, found.nbytes, found.dtype, found.shape, found.type, False)
        readonly = found.readonly
    if writable and readonly:
        raise make(function, 'buffer', f'{argument} is read-only')
    if memory.nbytes == 0 and not empty:
        raise make(function, 'buffer', f'{argument} is empty')
    return memory


def cuda_interface(x: Any) -> Any:
    """What the object says by ``__cuda_array_interface__``; None: nothing, or it cannot now."""
    try:
        return getattr(x, '__cuda_array_interface__', None)
    except Exception:  # arrays that are elsewhere just now, or under construction, raise all kinds
        return None


def _is_on_device(x: Any) -> bool:
    """Whether an object that is no tensor says so."""
    if cuda_interface(x) is not None:
        return True
    device = getattr(x, 'device', None)
    if isinstance(device, str):
        return device.partition(':')[0] in ('npu', 'cuda')  # a DeviceBuffer
    if hasattr(x, '__dlpack_device__'):
        try:
            return int(x.__dlpack_device__()[0]) not in (1, 3, 11)  # the CPU, and host memory that devices see
        except Exception:
            return True  # it is said what is wrong with it
    return getattr(device, 'type', 'cpu') != 'cpu'


def _of_tensor(function: str, argument: str, x: Any, empty: bool) -> Memory:
    torch = torch_module()
    if x.device.type != 'cpu':
        return _of_device(function, argument, x, False, empty, str(x.device))
    if x.layout is not torch.strided:
        raise make(function, 'type', f'{argument} is a tensor of layout {x.layout}, but must be dense')
    if x.is_quantized:
        raise make(function, 'type', f'{argument} is quantized ({x.dtype}): use x.int_repr(), with its scale beside it')
    shape = tuple(x.shape)
    if not x.is_contiguous():
        raise make(function, 'buffer',
                   f'{argument} is not contiguous (a tensor of shape {shape}, strides {tuple(x.stride())}): '
                   'make it so first, by x = x.contiguous()')
    if x.is_conj() or x.is_neg():
        raise make(function, 'buffer', f'{argument} is a tensor that is conjugated or negated when it is read: '
                                       'use x.resolve_conj().resolve_neg()')
    nbytes = x.numel() * x.element_size()
    if nbytes == 0 and not empty:
        raise make(function, 'buffer', f'{argument} is empty (a tensor of shape {shape})')
    try:
        storage = x.untyped_storage() if hasattr(x, 'untyped_storage') else x.storage()  # torch 1
        held = storage.nbytes() - x.storage_offset() * x.element_size()
        address = x.data_ptr()
    except RuntimeError as error:  # nested, fake, batched by vmap: no memory of its own
        raise make(function, 'type', f'{argument} is a tensor without memory of its own: '
                                     f'{str(error).splitlines()[0]}') from None
    if nbytes > held:
        raise make(function, 'buffer', f'{argument} is a tensor of {nbytes} bytes, but its storage was resized and holds '
                                       f'{held}')
    return Memory(x, (address, nbytes), nbytes, x.dtype, shape, type_of(x.dtype), True)


def _of_array(function: str, argument: str, x: np.ndarray[Any, Any], writable: bool, empty: bool) -> Memory:
    dtype = x.dtype
    if dtype.hasobject:
        raise make(function, 'type', f'{argument} has elements of type {dtype}, which hold pointers into this process')
    if x.__class__ is not np.ndarray and isinstance(x, np.ma.MaskedArray):
        raise make(function, 'type', f'{argument} is a masked array: use x.data, and x.mask on its own')
    if x.nbytes == 0 and not empty:
        raise make(function, 'buffer', f'{argument} is empty (an array of shape {x.shape})')
    flags = x.flags
    if not flags.c_contiguous:
        cure = 'use x.T, which is' if flags.f_contiguous else 'make it so first, by x = numpy.ascontiguousarray(x)'
        raise make(function, 'buffer',
                   f'{argument} is not contiguous (an array of shape {x.shape}, strides {x.strides}): {cure}')
    if writable and not flags.writeable:
        raise make(function, 'buffer', f'{argument} is read-only (an array of shape {x.shape})')
    return Memory(x, x, x.nbytes, dtype, x.shape, type_of(dtype), False)


def _of_other(function: str, argument: str, x: Any, writable: bool, empty: bool) -> Memory:
    kind = type(x).__name__
    if _is_on_device(x):
        return _of_device(function, argument, x, writable, empty, str(getattr(x, 'device', 'unknown')))
    try:
        view = memoryview(x)
    except TypeError:
        raise make(function, 'type', f'{argument} is a {kind}, but must be a NumPy array, a torch tensor or an object '
                                     'with a buffer') from None
    if not view.c_contiguous:
        raise make(function, 'buffer', f'{argument} is not contiguous (a {kind} of shape {view.shape})')
    if view.nbytes == 0 and not empty:
        raise make(function, 'buffer', f'{argument} is empty (a {kind})')
    if writable and view.readonly:
        raise make(function, 'buffer', f'{argument} is read-only (a {kind})')
    try:
        array = np.asarray(view)
    except (ValueError, TypeError):  # elements that NumPy does not know
        array = np.frombuffer(view.cast('B'), np.uint8)
    return _of_array(function, argument, array, writable, empty)


def describe(function: str, argument: str, x: Any, writable: bool = True, empty: bool = False) -> Memory:
    """The bytes of x; raises, naming what was found, unless they are contiguous, on this host, and writable if that is
    wanted."""
    if isinstance(x, np.ndarray):
        return _of_array(function, argument, x, writable, empty)
    if is_tensor(x):
        return _of_tensor(function, argument, x, empty)
    return _of_other(function, argument, x, writable, empty)


def array_over_tensor(x: Any) -> np.ndarray[Any, Any]:
    """A NumPy array on the tensor's memory; of the same size in bytes where NumPy lacks the element type. From then on
    torch does not let the tensor's storage be resized, which would free that memory."""
    torch = torch_module()
    x = x.detach()
    try:
        return x.numpy()  # type: ignore[no-any-return]
    except TypeError:
        same_size = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
        array = x.view(same_size).numpy()
        return array.view(np.uint16) if array.dtype == np.int16 else array  # type: ignore[no-any-return]


def new_like(dtype: Any, shape: tuple[int, ...]) -> tuple[Any, Any, bool]:
    """A new array or tensor, its bytes for the extension module, and whether it is a tensor."""
    if isinstance(dtype, np.dtype):
        x = np.empty(shape, dtype)
        return x, x, False
    x = torch_module().empty(shape, dtype=dtype)
    return x, (x.data_ptr(), x.numel() * x.element_size()), True
