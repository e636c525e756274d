# SPDX-License-Identifier: Apache-2.0
"""Memory of devices: pools of it, and buffers that are arrays but not in CPU memory."""

from __future__ import annotations

import atexit
import errno
import math
import operator
from types import TracebackType
from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _argument, _ext, _memory, _stand_in, _strided
from ._buffer import kind_of, layout_of, write_note
from ._fixed import Fixed, set_once
from ._foreign import TYPES, foreign_memory, forget_key, place
from ._stream import Stream, as_stream
from ._strided import contiguous
from .errors import Error, NotInitialized, NotSupported, make, shown

_DLPACK_DEVICES = {'cuda': 2, 'npu': 12}  # as DLPack numbers them; 12: an extension's, as torch_npu has it
_DLPACK_CODES = {'i': 0, 'u': 1, 'f': 2, 'c': 5, 'b': 6}
_READ, _WRITE = _ext.IMPORT_MODES['r'], _ext.IMPORT_MODES['rw']
_new = object.__new__

atexit.register(_ext.close_devices)


# --- devices ----------------------------------------------------------------------------------------------------------------------------------


class DeviceInfo(NamedTuple):
    """What a device is. device: 'npu:0'. name, driver: the maker's name, and the driver's version. id: names it in all
    processes, whatever numbers they see. free, total: bytes. can_share: memory of pools can be exported; way: how.
    can_signal: streams can write and wait for words."""

    device: str
    name: str
    driver: str
    id: str
    free: int
    total: int
    can_share: bool
    can_signal: bool
    way: str


def devices(type: str | None = None) -> list[DeviceInfo]:
    """The devices that this process may use: NPUs, then GPUs; or those of one type, 'npu' or 'cuda'.

    Needs no job. Opens the drivers that are there. Raises, with a type: DeviceMissing (the text says what is missing);
    NotInitialized in a forked child of a process that had used devices, as all that needs one does.
    Any thread may call it; the GIL is released.
    """
    found = []
    if type is not None:
        place('devices', type, 'type')
    for one in TYPES if type is None else (type,):
        try:
            count = _ext.device_count('devices', one)
        except Error as error:
            if type is not None or isinstance(error, NotInitialized):  # in a forked child
                raise
            continue
        found += [DeviceInfo(f'{one}:{number}', *_ext.device_info('devices', one, number)) for number in range(count)]
    return found


# --- buffers ----------------------------------------------------------------------------------------------------------------------------------


class DeviceBuffer(Fixed):
    """An array in the memory of a device: from ``DevicePool.alloc()``, from a key, or on the symmetric heap (``shmem.empty(...,
    device='npu')``).

    shape, dtype, strides (in bytes), ndim, size, nbytes, itemsize as of NumPy's arrays; device: 'npu:0' or 'cuda:1';
    address: of its first element, on the device.

    Everything that reads or writes it is a copy between host and device: ``buf[i] = x``, ``buf[0, 0]`` (one element, as
    NumPy has it), ``numpy.copyto()``, ``to_numpy()``, ``copy_from()``. An index with slices gives a view, without a copy.
    It never claims to be CPU memory: ``numpy.asarray()`` and arithmetic refuse, and say so. Libraries of the device take
    it by ``__dlpack__`` and, on CUDA, ``__cuda_array_interface__``, without a copy.

    Views keep the memory alive. Pickling sends a key. Copies wait for the device, unless they are given a stream; the GIL
    is released. Any thread may use it.
    """

    __slots__ = ('_owner', '_base', '_keys', 'address', 'shape', 'strides', 'dtype', 'readonly', '__weakref__')
    __hash__ = object.__hash__
    _instead = {'shape': 'reshape() gives a view of another shape', 'strides': 'indices and T give views',
                'dtype': 'to_numpy() gives an array, which can be converted', 'readonly': "import it with mode 'r'"}
    _base: Any  # the buffer that this one is a view of
    _keys: dict[str, str]
    _owner: Any
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any
    readonly: bool

    def __init__(self) -> None:
        raise make('DeviceBuffer', 'type', 'a device buffer is made by DevicePool.alloc(), import_() or empty(device=)')

    @classmethod
    def _of(cls, owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: Any, readonly: bool,
            base: Any = None) -> 'DeviceBuffer':
        buf = _new(cls)
        set_once(buf, '_owner', owner)
        set_once(buf, '_base', base)
        set_once(buf, '_keys', {} if base is None else base._keys)
        set_once(buf, 'address', address)
        set_once(buf, 'shape', shape)
        set_once(buf, 'strides', strides)
        set_once(buf, 'dtype', kind)
        set_once(buf, 'readonly', readonly)
        return buf

    @classmethod
    def _of_block(cls, block: Any, shape: tuple[int, ...], kind: Any) -> 'DeviceBuffer':
        return cls._of(block, block.address, shape, contiguous(shape, kind.itemsize), kind, False)

    @property
    def device(self) -> str:
        """'npu:0' and the like: the device, as this process numbers it."""
        return f'{self._owner.type}:{self._owner.number}'

    @property
    def ndim(self) -> int:
        """How many sides it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie one after another, rows first."""
        return _strided.is_contiguous(self.shape, self.strides, self.dtype.itemsize)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('len() of an array without sides')
        return self.shape[0]

    # views

    def _view(self, function: str, index: Any) -> 'DeviceBuffer':
        offset, shape, strides, _ = _strided.place(function, index, self.shape, self.strides)
        return DeviceBuffer._of(self._owner, self.address + offset, shape, strides, self.dtype, self.readonly, self)

    def reshape(self, *shape: Any) -> 'DeviceBuffer':
        """A view of another shape; one side may be -1. Raises: InvalidArgument (it does not fit), BadBuffer (it is not
        contiguous)."""
        if not self.is_contiguous:
            raise make('DeviceBuffer.reshape', 'buffer', 'the buffer is a view that is not contiguous')
        new = self._sides(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        return DeviceBuffer._of(self._owner, self.address, new, contiguous(new, self.itemsize), self.dtype, self.readonly, self)

    def _sides(self, wanted: Any) -> tuple[int, ...]:
        function = 'DeviceBuffer.reshape'
        try:
            sides = [operator.index(side) for side in wanted]
        except TypeError:
            raise make(function, 'type', f'shape is {shown(wanted)}, but must be integers or a tuple of them') from None
        if sides.count(-1) == 1:
            known = -math.prod(sides)
            sides[sides.index(-1)] = self.size // known if known > 0 else -1
        if any(side < 0 for side in sides) or math.prod(sides) != self.size:
            raise make(function, 'value', f'shape is {shown(wanted)}, into which an array of {self.size} elements does not fit')
        return _argument.sides(function, sides)

    @property
    def T(self) -> 'DeviceBuffer':
        """A view with the sides in the reverse order."""
        return DeviceBuffer._of(self._owner, self.address, self.shape[::-1], self.strides[::-1], self.dtype, self.readonly, self)

    def npu(self) -> 'DeviceBuffer':
        """Itself, on an NPU."""
        return self._on('npu')

    def cuda(self) -> 'DeviceBuffer':
        """Itself, on a GPU."""
        return self._on('cuda')

    def _on(self, kind: str) -> 'DeviceBuffer':
        if self._owner.type == kind:
            return self
        raise make(f'DeviceBuffer.{kind}', 'unsupported', f"the buffer is on '{self.device}': allocate one from a pool of type "
                                                          f"'{kind}', and say copy_from(buf)")

    # copies

    def _need(self, function: str) -> None:
        if not self._owner.is_open:
            raise make(function, 'stale', 'the buffer was freed, or its pool was closed, or its job is over')

    def _need_writable(self, function: str) -> None:
        self._need(function)
        if self.readonly:
            raise make(function, 'access', 'the buffer was imported for reading only')

    def to_numpy(self, out: Any = None) -> np.ndarray[Any, Any]:
        """A new NumPy array with the contents; or out, filled with them: a writable array of this shape and dtype. What lies
        close together on the device comes in one copy, also of a view with gaps."""
        function = 'DeviceBuffer.to_numpy'
        if out is None:
            self._need(function)
            out = _strided.new(function, self.shape, self.dtype)
        else:
            self._check_out(function, out)
        _strided.read(function, self.address, self.strides, out)
        return out  # type: ignore[no-any-return]

    def copy_to(self, out: Any, stream: Any = None) -> None:
        """Copies the contents into a writable NumPy array of this shape and dtype, or another device buffer. With a stream it
        returns at once, and out is filled when the stream is done; then each piece that lies in one is a copy of its own."""
        function = 'DeviceBuffer.copy_to'
        if isinstance(out, DeviceBuffer):
            out._put(function, self, stream)
            return
        self._check_out(function, out)
        if stream is None:
            _strided.read(function, self.address, self.strides, out)
            return
        on = as_stream(function, stream)
        handle = on._use(function)
        on._keep(self, out)
        _strided.transfer(function, handle, _address_of(out), out.strides, self.address, self.strides, self.shape, self.itemsize)

    def _check_out(self, function: str, out: Any) -> None:
        self._need(function)
        if not isinstance(out, np.ndarray) or out.shape != self.shape or out.dtype != self.dtype:
            found = f'of shape {out.shape}, {out.dtype}' if isinstance(out, np.ndarray) else f'a {type(out).__name__}'
            raise make(function, 'value', f'out is {found}, but must be a NumPy array of shape {self.shape}, {self.dtype}')
        if not out.flags.writeable:
            raise make(function, 'buffer', 'out is read-only')

    def copy_from(self, x: Any, stream: Any = None) -> 'DeviceBuffer':
        """Fills it with x, and returns it. x: a NumPy array, anything that NumPy makes one of, or a number (all of them
        broadcast to the shape and converted to the dtype); another device buffer, or a tensor or array of a device (by
        ``__dlpack__`` or ``__cuda_array_interface__``), of the same dtype and as many elements.

        stream: a Stream, or one of torch: then it returns at once, and happens after what was queued there before; x stays as it is until the stream
        is done. Raises: InvalidArgument (it does not fit), AccessDenied (imported for reading), Stale.
        """
        self._put('DeviceBuffer.copy_from', x, stream)
        return self

    def _put(self, function: str, x: Any, stream: Any = None) -> None:
        self._need_writable(function)
        on = None
        if stream is not None:
            queue = as_stream(function, stream)
            on = queue._use(function), queue._keep
            queue._keep(self, x)
        if isinstance(x, DeviceBuffer):
            x._need(function)
            self._put_device(function, x.address, x.shape, x.strides, x.dtype, on)
        elif (foreign := foreign_memory(function, x)) is not None:
            dtype = _memory.numpy_dtype(foreign.dtype)
            held = foreign.hold(function) if foreign.nbytes else None
            if on is not None:
                on[1](held)
            self._put_device(function, foreign.address, foreign.shape, contiguous(foreign.shape, dtype.itemsize), dtype, on)
        elif isinstance(x, _NUMBERS) and self.nbytes > _SMALL:
            _strided.fill(function, on, self.address, self.shape, self.strides, _converted(function, x, (), self))
        else:
            _strided.write(function, on, self.address, self.strides, _converted(function, x, self.shape, self))

    def _put_device(self, function: str, at: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, on: Any) -> None:
        """From memory of a device."""
        size, to, there = self.itemsize, self.strides, self.shape
        if dtype != self.dtype or math.prod(shape) != self.size:
            raise make(function, 'value', f'x has shape {shape}, {dtype}, and the buffer {there}, {self.dtype}: between devices '
                                          'nothing is converted')
        straight, own = _strided.is_contiguous(shape, strides, size), self.is_contiguous
        whole = False  # by way of the host, all of it
        if straight and own:
            shape, to, strides = (self.size,), (size,), (size,)
        elif _strided.overlap(self.address, there, to, at, shape, strides, size):
            whole = True
            if on is not None:
                raise make(function, 'buffer', 'x overlaps the buffer: copy without a stream')
        elif straight:
            shape, strides = there, contiguous(there, size)
        elif own:
            to = contiguous(shape, size)
        elif shape != there:
            whole = True
            if on is not None:
                raise make(function, 'buffer', 'neither buffer is contiguous, and their shapes differ: copy without a stream')
        if whole:
            host = _strided.new(function, shape, dtype)
            _strided.read(function, at, strides, host)
            _strided.write(function, None, self.address, to, host.reshape(there))
        elif not _strided.transfer(function, on and on[0], self.address, to, at, strides, shape, size, on is not None):
            self._put_by_host(function, to, at, shape, strides)

    def _put_by_host(self, function: str, to: tuple[int, ...], at: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        """Part by part. to: the buffer's strides where it had that shape."""
        for part in _strided.parts(shape, self.itemsize):
            offset, sides, steps, _ = _strided.place(function, part, shape, strides)
            host = _strided.new(function, sides, self.dtype)
            _strided.read(function, at + offset, steps, host)
            offset, _, steps, _ = _strided.place(function, part, shape, to)
            _strided.write(function, None, self.address + offset, steps, host)

    def __setitem__(self, index: Any, x: Any) -> None:
        self._view('DeviceBuffer[]', index)._put('DeviceBuffer[]', x)

    def __getitem__(self, index: Any) -> Any:
        offset, shape, strides, whole = _strided.place('DeviceBuffer[]', index, self.shape, self.strides)
        if not whole:
            return DeviceBuffer._of(self._owner, self.address + offset, shape, strides, self.dtype, self.readonly, self)
        self._need('DeviceBuffer[]')
        element: Any = np.empty((), self.dtype)
        _ext.device_copy('DeviceBuffer[]', _address_of(element), self.address + offset, self.itemsize)
        return element[()]

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]

    def item(self) -> Any:
        """Its one element, as a Python number."""
        if self.size != 1:
            raise make('DeviceBuffer.item', 'value', f'the buffer has {self.size} elements')
        return self.to_numpy().item()

    def copy(self) -> np.ndarray[Any, Any]:
        """A NumPy array with the contents."""
        return self.to_numpy()

    # other libraries

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise make('DeviceBuffer', 'type', f"the buffer is in the memory of '{self.device}', which the CPU cannot touch: "
                                           'to_numpy() copies it into a NumPy array')

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        raise make('DeviceBuffer', 'type', f"numpy.{ufunc.__name__} works in CPU memory, and the buffer is on '{self.device}': "
                                           'use to_numpy(), or a library of the device by from_dlpack()')

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if function is np.copyto:
            return _copyto(*args, **keywords)
        if function in _ABOUT:
            return _ABOUT[function](*args, **keywords)
        raise make('DeviceBuffer', 'type', f"numpy.{function.__name__} works in CPU memory, and the buffer is on "
                                           f"'{self.device}': use to_numpy(), or a library of the device by from_dlpack()")

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_DEVICES[self._owner.type], self._owner.number

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """The memory itself, for another library. stream: as the array standard has it; nothing is in flight here but what
        was queued on a Stream, which is its user's to finish. Raises BadBuffer where it cannot be had so."""
        self._need('DeviceBuffer.__dlpack__')
        _ext.device_count('DeviceBuffer.__dlpack__', self._owner.type)  # raises in a forked child
        function = 'DeviceBuffer.__dlpack__'
        versioned = max_version is not None and _pair(function, 'max_version', max_version)[0] >= 1
        if stream is not None and not isinstance(stream, Stream) and not hasattr(stream, f'{self._owner.type}_stream'):
            _argument.whole(function, 'stream', stream, -1, (1 << 64) - 1, 'None, a stream, or the address of one, an integer')
        copy = copy is not None and _argument.flag(function, 'copy', copy)
        code = _DLPACK_CODES.get(self.dtype.kind)
        if code is None or not self.dtype.isnative or self.dtype.itemsize not in (1, 2, 4, 8, 16):
            raise make('DeviceBuffer.__dlpack__', 'buffer', f'elements of {self.dtype} are nothing that DLPack knows')
        if copy or (dl_device is not None and _pair(function, 'dl_device', dl_device) != self.__dlpack_device__()):
            raise make('DeviceBuffer.__dlpack__', 'buffer', f"it is on '{self.device}', and is neither copied nor moved")
        if self.readonly and not versioned:
            raise make('DeviceBuffer.__dlpack__', 'buffer', 'it was imported for reading only, which this form cannot say')
        if any(stride % self.itemsize for stride in self.strides):
            raise make('DeviceBuffer.__dlpack__', 'buffer', 'its strides are not multiples of its elements')
        steps = tuple(stride // self.itemsize for stride in self.strides)
        return _ext.dlpack('DeviceBuffer.__dlpack__', self, self.address, *self.__dlpack_device__(), code, 8 * self.itemsize,
                           self.shape, steps, versioned, bool(self.readonly))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._owner.type != 'cuda':
            raise AttributeError(f"the buffer is on '{self.device}', which is no GPU of CUDA")
        _ext.device_count('DeviceBuffer.__cuda_array_interface__', 'cuda')  # raises in a forked child
        return {'shape': self.shape, 'typestr': self.dtype.str, 'data': (self.address, self.readonly), 'version': 3,
                'strides': None if self.is_contiguous else self.strides, 'stream': None}

    def __reduce__(self) -> Any:
        from . import _key  # which needs this module
        self._need('DeviceBuffer')
        return _key.reduce_device(self)

    def __copy__(self) -> np.ndarray[Any, Any]:
        return self.to_numpy()

    def __deepcopy__(self, memo: Any) -> np.ndarray[Any, Any]:
        return self.to_numpy()

    def __repr__(self) -> str:
        return f'<shmem.DeviceBuffer on {self.device}: {self.dtype} {self.shape}>'


def host_copy(function: str, x: Any) -> np.ndarray[Any, Any] | None:
    """An array of the host with the contents of memory of a device; None: it is none."""
    if isinstance(x, DeviceBuffer):
        x._need(function)
        host = _strided.new(function, x.shape, x.dtype)
        _strided.read(function, x.address, x.strides, host)
        return host
    foreign = foreign_memory(function, x)
    if foreign is None:
        return None
    host = _strided.new(function, foreign.shape, _memory.numpy_dtype(foreign.dtype))
    if foreign.nbytes:
        held = foreign.hold(function)
        _ext.device_copy(function, _address_of(host), foreign.address, foreign.nbytes)
        del held
    return host


_NUMBERS = (int, float, complex, np.generic)
_SMALL = 64 << 10  # bytes of an array in which a number is written down as often as there are elements


def _address_of(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__['data'][0]  # type: ignore[no-any-return]


def _converted(function: str, x: Any, shape: tuple[int, ...], buf: DeviceBuffer) -> np.ndarray[Any, Any]:
    """An array of the host of that shape with the buffer's elements."""
    if _memory.is_tensor(x):
        x = _memory.array_over_tensor(x)
    if isinstance(x, np.ndarray) and x.shape == shape and x.dtype == buf.dtype:
        return x
    whole = _strided.new(function, shape, buf.dtype)
    try:
        whole[...] = x
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        if isinstance(error, Error):
            raise
        raise make(function, 'value', f'x does not fit a buffer of shape {buf.shape}, {buf.dtype}: {error}') from None
    return whole


_ABOUT: dict[Any, Any] = {np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
                          np.size: lambda a, axis=None: _size(a, axis)}


def _check_casting(src: Any, dst: DeviceBuffer, casting: Any) -> None:
    """As NumPy has it: numbers of Python are converted if they fit, others by the rule."""
    given = getattr(src, 'dtype', None)
    try:
        if not isinstance(given, np.dtype):
            if given is not None or (type(src) is int and dst.dtype.kind in 'iufc'):
                return  # a tensor; or it is seen whether the number fits
            given = np.asarray(src).dtype
        fits = np.can_cast(given, dst.dtype, casting)
    except (TypeError, ValueError, OverflowError) as error:
        raise make('copyto', 'type', str(error)) from None
    if not fits:
        raise make('copyto', 'type', f'Cannot cast array data from {given!r} to {dst.dtype!r} according to the rule {casting!r}')


def _size(a: Any, axis: Any = None) -> int:
    if axis is None:
        return a.size  # type: ignore[no-any-return]
    return a.shape[_argument.whole('size', 'axis', axis, -a.ndim, a.ndim - 1)]  # type: ignore[no-any-return]


def _pair(function: str, argument: str, pair: Any) -> tuple[int, int]:
    try:
        first, second = map(operator.index, pair)
    except (TypeError, ValueError):
        raise make(function, 'type', f'{argument} is {shown(pair)}, but must be None or a tuple of two integers') from None
    return first, second


def _copyto(dst: Any, src: Any, casting: str = 'same_kind', where: Any = True) -> None:
    """``numpy.copyto()`` where one side at least is a device buffer."""
    if where is not True:
        raise make('copyto', 'unsupported', 'where= is not there for device buffers')
    if not isinstance(dst, (DeviceBuffer, np.ndarray)):
        raise make('copyto', 'type', f'dst is a {type(dst).__name__}, but must be a NumPy array or a device buffer')
    if not isinstance(dst, DeviceBuffer):
        try:
            np.copyto(dst, src.to_numpy(), casting)
        except (TypeError, ValueError) as error:
            raise make('copyto', 'type' if isinstance(error, TypeError) else 'value', str(error)) from None
        return
    _check_casting(src, dst, casting)
    if isinstance(src, DeviceBuffer) and (src.shape != dst.shape or src.dtype != dst.dtype):
        dst._put('copyto', src.to_numpy())
    else:
        dst._put('copyto', src)


# --- pools ------------------------------------------------------------------------------------------------------------------------------------


class DevicePoolStats(NamedTuple):
    """How full a pool is; sizes in bytes. size: of the pool; in_use: in buffers, rounded up; buffers: how many those are;
    largest_free: the largest that would fit now; high_water: the most that was ever in use."""

    size: int
    in_use: int
    buffers: int
    largest_free: int
    high_water: int


class DevicePool(Fixed):
    """Memory of a device, from which this process allocates and which others use by keys. From ``create_pool()`` with type
    'npu' or 'cuda'.

    ``alloc()`` returns DeviceBuffers. ``close()``, the end of a with block or the last reference ends the use of this
    object; the memory goes with the last buffer on it. Keys work as long as this process lives and the memory is there.
    Any thread may use it. In a forked child nothing of it works, because drivers do not survive fork: start processes with
    the start method 'spawn', or fork before a device is first used.
    """

    __slots__ = ('_handle', 'device', '__weakref__')
    device: str

    def __init__(self) -> None:
        raise make('DevicePool', 'type', "a pool of device memory is made by create_pool(size, type='npu') or 'cuda'")

    @classmethod
    def _of(cls, handle: Any) -> 'DevicePool':
        pool = _new(cls)
        pool._handle = handle
        set_once(pool, 'device', f'{handle.type}:{handle.number}')
        return pool

    def alloc(self, shape: Any, dtype: Any = float, align: int = 512, *, zero: bool = False, fill: Any = None) -> DeviceBuffer:
        """A new array in the pool. It holds what was there before, unless zero or fill says otherwise.

        shape: an integer or a tuple of them; sides may be 0. dtype: anything that ``numpy.dtype`` takes, without Python
        objects. align: bytes; a power of two up to 2 MiB. fill: a number, or an array that is broadcast to the shape.

        When the last reference to the buffer and its views goes, it returns to the pool, unless it was exported. Raises:
        PoolFull (the text tells how much is free), WrongType, InvalidArgument, Stale.
        """
        kind = kind_of('DevicePool.alloc', dtype)
        sides, clear = _argument.sides('DevicePool.alloc', shape), _argument.flag('DevicePool.alloc', 'zero', zero)
        size = math.prod(sides) * kind.itemsize
        if size >= 1 << 62:
            raise make('DevicePool.alloc', errno.ENOMEM, f'{shown(size)} bytes are more than an address space')
        block = _ext.device_alloc('DevicePool.alloc', self._handle, size, align)
        buf = DeviceBuffer._of(block, block.address, sides, contiguous(sides, kind.itemsize), kind, False)
        if clear or fill is not None:
            buf._put('DevicePool.alloc', 0 if fill is None else fill)
        return buf

    def free(self, buf: DeviceBuffer) -> None:
        """Frees a buffer; its keys are revoked. It and its views are stale afterwards. What was queued on streams for it has
        to be finished. Raises: Stale (freed already), InvalidArgument (a view, imported, or of another pool)."""
        if not isinstance(buf, DeviceBuffer):
            raise make('DevicePool.free', 'type', f'buf is a {type(buf).__name__}, but must be a DeviceBuffer')
        if isinstance(buf._owner, _ext.DeviceImport):
            raise make('DevicePool.free', 'value', 'buf was imported: who allocated it frees it')
        if isinstance(buf._owner, _ext.Block):
            raise make('DevicePool.free', 'value', 'buf is on the symmetric heap: shmem.free() frees it')
        if buf._owner.pool is not self._handle:
            raise make('DevicePool.free', 'stale' if self._handle is None else 'value', 'buf is of another pool')
        if buf._base is not None:
            raise make('DevicePool.free', 'value', 'buf is a view: free the buffer that alloc() gave')
        _ext.device_free('DevicePool.free', buf._owner)

    def export(self, buf: DeviceBuffer, mode: str | None = None, allow: Any = None, frozen: bool = False) -> str:
        """As ``shmem.export()``, for processes of this user on this machine. The library keeps to the rights; the driver maps
        the whole pool for reading and writing. frozen, and rights for other users and groups, are refused."""
        return export_buffer('DevicePool.export', buf, mode, allow, frozen)

    def import_(self, key: str, mode: str = 'rw', snapshot: bool = False, token: str | None = None) -> Any:
        """As ``shmem.import_()``; the key may be of any pool. (``import`` is a reserved word; ``getattr(pool, 'import')`` is
        this, too.)"""
        from ._key import import_
        return import_(key, mode, snapshot, token)

    def revoke(self, key: str) -> None:
        """As ``shmem.revoke()``."""
        _ext.device_count('DevicePool.revoke', self.device.partition(':')[0])  # raises in a forked child
        _ext.key_revoke('DevicePool.revoke', key, False)
        forget_key(key)

    def stats(self) -> DevicePoolStats:
        """How full it is."""
        return DevicePoolStats(*_ext.device_pool_stats('DevicePool.stats', self._handle))

    @property
    def is_open(self) -> bool:
        """False once it was closed."""
        return self._handle is not None

    def close(self) -> None:
        """Ends the use of this object; may be called again. The memory stays for as long as there are buffers on it."""
        self._handle = None

    def __enter__(self) -> 'DevicePool':
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle is None:
            return '<shmem.DevicePool, closed>'
        stats = self.stats()
        return f'<shmem.DevicePool on {self.device}: {stats.in_use} of {stats.size} bytes in {stats.buffers} buffers>'


def is_there(kind: str, function: str = 'create_pool') -> bool:
    """Whether there is a device of that type. Raises where there is one that cannot be used: in a forked child; and, unless host
    memory may stand in, because the driver fails, or another process has the device for itself."""
    try:
        return _ext.device_count(function, kind) > 0  # type: ignore[no-any-return]
    except NotInitialized:
        raise
    except NotSupported:  # DeviceMissing, too
        return False
    except Error:
        if _stand_in.is_asked_for():
            return False
        raise


def is_usable(kind: str) -> bool:
    """The same for who takes what there is. Raises in a forked child, where there is nothing but might be."""
    try:
        return is_there(kind)
    except NotInitialized:
        raise
    except Error:
        return False


def create(size: int, device: str) -> DevicePool:
    return DevicePool._of(_ext.device_pool_create('create_pool', *place('create_pool', device), size))


# --- keys -------------------------------------------------------------------------------------------------------------------------------------


def export_buffer(function: str, buf: Any, mode: Any, allow: Any, frozen: bool) -> str:
    from ._key import _allow_list, _came_by, _rights
    if not isinstance(buf, DeviceBuffer):
        raise make(function, 'type', f'buf is a {type(buf).__name__}, but must be a DeviceBuffer')
    buf._need(function)
    owner = buf._owner
    entries, frozen = _allow_list(function, allow), _argument.flag(function, 'frozen', frozen)
    if isinstance(owner, _ext.DeviceImport):
        if mode is None and not entries and not frozen and buf._base is None:
            return _came_by(function, owner)
        raise make(function, 'value', 'buf was imported, and only who owns memory makes keys of it: pass on the key that it was '
                                      'imported with')
    rights = 0 if mode is None and entries else _rights(function, 'rw' if mode is None else mode)
    low = high = buf.address
    for side, stride in zip(buf.shape, buf.strides):
        if stride < 0:
            low += (side - 1) * stride
        else:
            high += (side - 1) * stride
    note = write_note(function, buf.shape, buf.dtype, buf.address - low if buf.size else 0,
                      None if buf.is_contiguous else buf.strides)
    low, nbytes = (low, high + buf.itemsize - low) if buf.size else (owner.address, 1)
    return export_bytes(function, owner, low, nbytes, note, rights, entries, frozen)


def export_bytes(function: str, owner: Any, address: int, nbytes: int, note: bytes, rights: int = _ext.RIGHTS_ALL,
                 entries: Any = (), frozen: bool = False) -> str:
    """A key of bytes of a block, which then stays until it is freed."""
    key: str = _ext.key_export(function, None, address, nbytes, rights, list(entries), bool(frozen), note)
    owner.kept = 1
    return key


def import_buffer(key: str, mode: str, snapshot: bool, token: str | None) -> Any:
    if snapshot or mode not in ('r', 'rw'):
        raise make('import_', 'unsupported', "memory of a device is imported with mode 'r' or 'rw'; to_numpy() is a snapshot")
    handle = open_key(key, mode, token)
    return buffer_over(handle, layout_of('import_', handle.note, handle.size), mode)


def open_key(key: str, mode: str, token: str | None) -> Any:
    return _ext.device_import('import_', key, _READ if mode == 'r' else _WRITE, token, -1)


def buffer_over(handle: Any, layout: Any, mode: str) -> DeviceBuffer:
    """The buffer of this layout on imported memory. The layout may be anybody's."""
    shape, kind, offset, strides = layout
    strides = contiguous(shape, kind.itemsize) if strides is None else strides
    low = offset + sum((side - 1) * stride for side, stride in zip(shape, strides) if stride < 0)
    high = offset + sum((side - 1) * stride for side, stride in zip(shape, strides) if stride > 0) + kind.itemsize
    if len(shape) > _argument.MOST_SIDES or len(shape) != len(strides) or any(side < 0 for side in shape) or (0 not in shape and (low < 0 or high > handle.size)):
        raise make('import_', 'value', f'the description of the array (shape {shape}, {kind}) does not fit its {handle.size} '
                                       'bytes')
    return DeviceBuffer._of(handle, handle.address + offset, tuple(shape), tuple(strides), kind, mode == 'r')
