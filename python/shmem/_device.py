# SPDX-License-Identifier: Apache-2.0
"""Memory of devices: pools of it, buffers that are arrays but not in CPU memory, and streams."""

from __future__ import annotations

import atexit
import errno
import operator
import time
from types import TracebackType
from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _ext, _memory, _stand_in
from ._buffer import kind_of, layout_of, write_note
from ._foreign import TYPES, contiguous, foreign_memory, forget_key
from .errors import make

_DLPACK_DEVICES = {'cuda': 2, 'npu': 12}  # as DLPack numbers them; 12: an extension's, as torch_npu has it
_DLPACK_CODES = {'i': 0, 'u': 1, 'f': 2, 'c': 5, 'b': 6}
_READ, _WRITE = _ext.IMPORT_MODES['r'], _ext.IMPORT_MODES['rw']
_new = object.__new__

atexit.register(_ext.close_devices)


# --- devices ----------------------------------------------------------------------------------------------------------------------------------


def _place(function: str, device: Any) -> tuple[str, int]:
    """('npu', 1) for 'npu:1' and 'npu' for the first."""
    name, colon, number = device.partition(':') if isinstance(device, str) else ('', '', '')
    if name not in TYPES or (colon and not number.isdecimal()):
        raise make(function, 'value', f"device is {device!r}, but must be such as 'npu' or 'cuda:1'")
    return name, int(number) if colon else 0


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

    Needs no job. Opens the drivers that are there. Raises, with a type: DeviceMissing (the text says what is missing).
    Any thread may call it; the GIL is released.
    """
    found = []
    if type is not None:
        _place('devices', type)
    for one in TYPES if type is None else (type,):
        try:
            count = _ext.device_count('devices', one)
        except Exception:
            if type is not None:
                raise
            continue
        found += [DeviceInfo(f'{one}:{number}', *_ext.device_info('devices', one, number)) for number in range(count)]
    return found


# --- streams ----------------------------------------------------------------------------------------------------------------------------------


class Stream:
    """A queue of work of a device: what is given to it happens in the order in which it was given, while the program goes on.
    ``copy_from()`` and ``copy_to()`` of device buffers, ``put()``, ``get()`` and ``put_signal()`` take one as stream=; in a job
    it also sends signals, waits for words, and takes part in barriers.

    device: 'npu', 'cuda:1' and the like. native: a stream that there is already, as an integer: a ``cudaStream_t``
    (``torch.cuda.current_stream().cuda_stream``) or an ``aclrtStream``; it stays its maker's. Streams of torch and torch_npu,
    or what else has a ``cuda_stream`` or ``npu_stream``, are taken as stream= as they are; ``Stream.of()`` is the Stream that
    stands for one.

    What was given to it is kept alive until ``finish()``, an ``is_done()`` that is true, or the end of a with block; with a
    stream of torch also until a later use finds it done. One thread at a time.

    When something cannot be done, because a PE died, a region was deregistered, or the job is over, the stream *fails*: it
    waits for nothing any more, sends no signals and counts no events; copies that were queued are made with what there is.
    ``finish()``, ``is_done()`` and all further uses raise the reason: OwnerDied, Stale, Deadlock.

    With SHMEM_DEVICE_FALLBACK=host, where there is no such device, it does everything at once, and waits where it stands.
    Raises: DeviceMissing, InvalidArgument.
    """

    __slots__ = ('_handle', '_held', '_wraps', 'device')

    def __init__(self, device: str, native: int | None = None) -> None:
        kind, number = _place('Stream', device)
        self.device = f'{kind}:{number}'
        self._held: list[Any] = []
        self._wraps = False
        if native is None and _stand_in.allowed(kind):
            self.__class__ = _HostStream
            self._handle: Any = self
        else:
            self._handle = _ext.stream_create('Stream', kind, number, native)

    @staticmethod
    def of(stream: Any) -> 'Stream':
        """The Stream that stands for one of torch or torch_npu: always the same, as long as the program runs."""
        return as_stream('Stream.of', stream)

    @property
    def native(self) -> int:
        """The driver's own handle, as an integer: for launching kernels."""
        return self._need('Stream.native').address  # type: ignore[no-any-return]

    def _need(self, function: str) -> Any:
        if self._handle is None:
            raise make(function, 'stale', 'the stream was closed')
        return self._handle

    def _use(self, function: str) -> Any:
        """The handle, to queue something."""
        handle = self._need(function)
        if self._wraps and len(self._held) >= _HELD_MOST and _ext.stream_query(function, handle):
            self._held.clear()
        return handle

    def _keep(self, *objects: Any) -> None:
        self._held += objects

    def finish(self) -> None:
        """Returns when all that was queued is done, here and where it was sent to. Releases the GIL; what a signal handler
        raises, such as KeyboardInterrupt, ends it while the stream waits for others. Raises: what the stream failed with."""
        _ext.stream_finish('Stream.finish', self._need('Stream.finish'))
        self._held.clear()

    def is_done(self) -> bool:
        """Whether all that was queued is done. Raises: what the stream failed with."""
        done: bool = _ext.stream_query('Stream.is_done', self._need('Stream.is_done'))
        if done:
            self._held.clear()
        return done

    # in a job

    def signal(self, region: Any, value: int, pe: int | None = None, offset: int = 0, *, op: str = 'set',
               timeout: float | None = None) -> None:
        """Queues an update of a 64-bit word of PE `pe`: who sees it sees all that the stream did before.

        region, pe: as of ``put()``, of uint64 or int64, or of bytes; the word is at byte `offset`, a multiple of 8. op: 'set' or
        'add'. In host memory it ends what waits for the word: ``wait_until()``, ``wait()`` of other streams. In memory of a
        device only 'set' works, and ``wait_value()`` waits. timeout: seconds to look for the peer's region.
        Raises: WrongType, OutOfRange, AccessDenied, Stale, NotSupported (what the device or its driver lacks), NotInitialized.
        """
        from ._access import _need_pe, as_region, signal_operation
        handle, there = self._use('Stream.signal'), as_region('Stream.signal', 'region', region)
        add = signal_operation('Stream.signal', op)
        _ext.signal_on('Stream.signal', there, _need_pe('Stream.signal', there, pe), offset, value, add, timeout, handle)
        self._keep(there)

    def wait(self, region: Any, cmp: str, value: int, offset: int = 0) -> None:
        """Lets what is queued later wait until the unsigned 64-bit word at byte `offset` of this PE's region, which is as of
        ``signal()``, compares so.

        cmp: as of ``wait_until()``. Who changes the word may be anybody: a stream's ``signal()`` or ``put_signal()``, atomics,
        this program. What was put before is seen after it. In memory of a device '>=' and '==' work, and the one who
        writes the word must not need the same device. Raises: as ``signal()``; InvalidArgument (a peer's region).
        """
        from ._access import as_region, comparison
        handle, own = self._use('Stream.wait'), as_region('Stream.wait', 'region', region)
        _ext.wait_on('Stream.wait', own, offset, comparison('Stream.wait', cmp), value, handle)
        self._keep(own)

    def barrier(self) -> None:
        """Collective: every PE queues it, on one of its streams. What is queued later waits until a stream of every PE has
        come here, and finds done what those did before. It holds neither threads nor other streams, and has nothing to
        do with ``barrier()`` of the module. Raises: NotSupported, NotInitialized, Error (an earlier one failed)."""
        _ext.barrier_on('Stream.barrier', self._use('Stream.barrier'))

    def quiet(self) -> None:
        """Lets what is queued later wait until all that was queued before *on this stream* is done and visible to all PEs:
        copies, and the signals and events that this process sends for it. Raises: NotSupported, NotInitialized."""
        _ext.quiet_on('Stream.quiet', self._use('Stream.quiet'))

    # words of devices

    def write_value(self, buf: 'DeviceBuffer', index: int, value: int) -> None:
        """Queues the writing of an element of 64 bits, which is seen after all that was queued before. Raises: NotSupported
        (the driver or the device cannot), WrongType, OutOfRange."""
        self._value('Stream.write_value', buf, index, value, -1)

    def wait_value(self, buf: 'DeviceBuffer', index: int, value: int, equal: bool = False) -> None:
        """Lets what is queued later wait until the element of 64 bits is at least (equal: exactly) the value. Who writes it must not be
        queued behind this, nor be another process on the same device: such waits are for the host. Raises as
        ``write_value()``."""
        self._value('Stream.wait_value', buf, index, value, 1 if equal else 0)

    def _value(self, function: str, buf: Any, index: Any, value: Any, until: int) -> None:
        handle = self._need(function)
        if not isinstance(buf, DeviceBuffer) or buf.dtype not in (np.dtype(np.uint64), np.dtype(np.int64)):
            raise make(function, 'type', 'buf must be a device buffer of uint64 or int64')
        buf._need(function)
        element = buf._view(function, index)
        if element.shape:
            raise make(function, 'range', f'index is {index!r}, which is no single element of shape {buf.shape}')
        if until < 0 and buf.readonly:
            raise make(function, 'access', 'buf was imported for reading only')
        number = _word(function, value)
        self._held.append(buf)
        _ext.stream_value(function, handle, element.address, number, until)

    def close(self) -> None:
        """Waits for what is queued, and ends the stream. May be called again. What a signal handler raises ends the wait for
        others, and the stream all the same."""
        if self._handle is not None:
            try:
                _ext.stream_close('Stream.close', self._handle)
            finally:
                self._handle = None
                self._held.clear()

    def __enter__(self) -> 'Stream':
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'<shmem.Stream on {self.device}{"" if self._handle is not None else ", closed"}>'


def _word(function: str, value: Any) -> int:
    """The 64 bits of a word, signed or not."""
    try:
        number = operator.index(value)
    except TypeError:
        raise make(function, 'type', f'value is {value!r}, but must be an integer') from None
    if not -(1 << 63) <= number < 1 << 64:
        raise make(function, 'range', f'value is {number}, which does not fit into 64 bits')
    return number & (1 << 64) - 1


class _HostStream(Stream):
    """Stands in for a device's: what is given to it is done when the call returns."""

    __slots__ = ()

    @property
    def native(self) -> int:
        raise make('Stream.native', 'unsupported', 'the stream stands in for a device\'s, and no driver knows it')

    def _use(self, function: str) -> Any:
        self._need(function)
        return None  # a device buffer, which a program in C has made of host memory, copies without a stream then

    def finish(self) -> None:
        self._need('Stream.finish')

    def is_done(self) -> bool:
        self._need('Stream.is_done')
        return True

    def signal(self, region: Any, value: int, pe: int | None = None, offset: int = 0, *, op: str = 'set',
               timeout: float | None = None) -> None:
        from ._access import _need_pe, as_region, signal_operation
        self._need('Stream.signal')
        there, add = as_region('Stream.signal', 'region', region), signal_operation('Stream.signal', op)
        _ext.signal_on('Stream.signal', there, _need_pe('Stream.signal', there, pe), offset, value, add, timeout, None)

    def wait(self, region: Any, cmp: str, value: int, offset: int = 0) -> None:
        from ._access import as_region, comparison
        self._need('Stream.wait')
        own = as_region('Stream.wait', 'region', region)
        _ext.wait_on('Stream.wait', own, offset, comparison('Stream.wait', cmp), value, None)

    def barrier(self) -> None:
        self._need('Stream.barrier')
        _ext.barrier()

    def quiet(self) -> None:
        self._need('Stream.quiet')

    def _value(self, function: str, buf: Any, index: Any, value: Any, until: int) -> None:
        self._need(function)
        if not isinstance(buf, np.ndarray) or buf.dtype not in (np.dtype(np.uint64), np.dtype(np.int64)):
            raise make(function, 'type', 'buf must be a buffer of uint64 or int64')
        if np.ndim(buf[index]):
            raise make(function, 'range', f'index is {index!r}, which is no single element of shape {buf.shape}')
        wanted = np.array(_word(function, value), np.uint64).view(buf.dtype)[()]
        if until < 0:
            buf[index] = wanted
            return
        pause = 1e-5
        while not (buf[index] == wanted if until else buf[index] >= wanted):
            time.sleep(pause)
            pause = min(2 * pause, 1e-3)

    def close(self) -> None:
        self._handle = None
        self._held.clear()


_HELD_MOST = 16  # objects for a stream of torch before it is asked whether it is done with them
_streams: dict[tuple[str, int], Stream] = {}  # those that stand for streams of other libraries, by device and handle


def as_stream(function: str, stream: Any) -> Stream:
    """A Stream, or one that stands for a stream of torch or torch_npu."""
    if isinstance(stream, Stream):
        return stream
    for kind in TYPES:
        native = getattr(stream, f'{kind}_stream', None)
        if native is not None:
            break
    else:
        raise make(function, 'type', f'stream is a {type(stream).__name__}, but must be a Stream, or have a cuda_stream or '
                                     'npu_stream')
    number = getattr(getattr(stream, 'device', None), 'index', None)
    if number is None:
        number = getattr(stream, 'device_index', None)
    key = (f'{kind}:{operator.index(number or 0)}', operator.index(native))
    if key not in _streams:
        _streams[key] = Stream(*key)
        _streams[key]._wraps = True
    return _streams[key]


# --- where bytes are --------------------------------------------------------------------------------------------------------------------------


def _runs(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[list[int], int]:
    """Offsets of the pieces that lie in one, in the order of their elements, and how many bytes each has."""
    run, axis = itemsize, len(shape)
    while axis and (strides[axis - 1] == run or shape[axis - 1] == 1):
        run *= shape[axis - 1]
        axis -= 1
    offsets = [0]
    for side, stride in zip(shape[:axis], strides[:axis]):
        offsets = [begin + i * stride for begin in offsets for i in range(side)]
    return offsets, run


# --- buffers ----------------------------------------------------------------------------------------------------------------------------------


class DeviceBuffer:
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
    _base: Any  # the buffer that this one is a view of

    def __init__(self) -> None:
        raise make('DeviceBuffer', 'type', 'a device buffer is made by DevicePool.alloc(), import_() or empty(device=)')

    @classmethod
    def _of(cls, owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: Any, readonly: bool,
            base: Any = None) -> 'DeviceBuffer':
        buf = _new(cls)
        buf._owner, buf.address, buf.shape, buf.strides, buf.dtype = owner, address, shape, strides, kind
        buf.readonly, buf._base, buf._keys = readonly, base, {} if base is None else base._keys
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
        return int(np.prod(self.shape, dtype=object))

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
        return self.size == 0 or all(side == 1 or stride == usual for side, stride, usual in
                                     zip(self.shape, self.strides, contiguous(self.shape, self.itemsize)))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('len() of an array without sides')
        return self.shape[0]

    # views

    def _view(self, function: str, index: Any) -> 'DeviceBuffer':
        where = index if isinstance(index, tuple) else (index,)
        for one in where:
            if one is not Ellipsis and one is not None and not isinstance(one, slice):
                try:
                    if isinstance(one, (bool, np.bool_)):
                        raise TypeError
                    operator.index(one)
                except TypeError:
                    raise make(function, 'type', f'the index {one!r} is of a kind that device buffers do not take: '
                                                 'integers and slices they do; or use to_numpy()') from None
        if not any(one is Ellipsis for one in where):
            where += (...,)
        # NumPy finds the place; nothing is read, for the last index makes it a view.
        model = np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        try:
            view = model[where]
        except IndexError as error:
            raise make(function, 'range', f'{error} (shape {self.shape})') from None
        offset = view.__array_interface__['data'][0] - model.__array_interface__['data'][0]
        return DeviceBuffer._of(self._owner, self.address + (offset if view.size else 0), view.shape, view.strides, self.dtype,
                                self.readonly, self)

    def reshape(self, *shape: Any) -> 'DeviceBuffer':
        """A view of another shape; one side may be -1. Raises: InvalidArgument (it does not fit), BadBuffer (it is not
        contiguous)."""
        if not self.is_contiguous:
            raise make('DeviceBuffer.reshape', 'buffer', 'the buffer is a view that is not contiguous')
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        try:
            new = self._sides(wanted)
        except (TypeError, ValueError) as error:
            raise make('DeviceBuffer.reshape', 'value', f'shape is {wanted!r}: {error}') from None
        return DeviceBuffer._of(self._owner, self.address, new, contiguous(new, self.itemsize), self.dtype, self.readonly, self)

    def _sides(self, wanted: Any) -> tuple[int, ...]:
        sides = [operator.index(side) for side in wanted]
        if sides.count(-1) == 1:
            known = -int(np.prod(sides, dtype=object))
            sides[sides.index(-1)] = self.size // known if known > 0 else -1
        if any(side < 0 for side in sides) or int(np.prod(sides, dtype=object)) != self.size:
            raise ValueError(f'an array of {self.size} elements does not fit')
        return tuple(sides)

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

    def _to_host(self, function: str, out: Any, stream: Any = None) -> None:
        """Into a contiguous array of as many bytes."""
        self._need(function)
        at = out.__array_interface__['data'][0]
        offsets, run = _runs(self.shape, self.strides, self.itemsize)
        for offset in offsets if self.size else ():
            if stream is None:
                _ext.device_copy(function, at, self.address + offset, run)
            else:
                _ext.stream_copy(function, stream, at, self.address + offset, run)
            at += run

    def _from(self, function: str, address: int, stream: Any = None) -> None:
        """From contiguous memory of as many bytes, of host or device."""
        offsets, run = _runs(self.shape, self.strides, self.itemsize)
        for offset in offsets if self.size else ():
            if stream is None:
                _ext.device_copy(function, self.address + offset, address, run)
            else:
                _ext.stream_copy(function, stream, self.address + offset, address, run)
            address += run

    def to_numpy(self, out: Any = None) -> np.ndarray[Any, Any]:
        """A new NumPy array with the contents; or out, filled with them: a contiguous, writable array of this shape and
        dtype."""
        if out is None:
            out = np.empty(self.shape, self.dtype)
        else:
            self._check_out('DeviceBuffer.to_numpy', out)
        self._to_host('DeviceBuffer.to_numpy', out)
        return out  # type: ignore[no-any-return]

    def copy_to(self, out: Any, stream: Any = None) -> None:
        """Copies the contents into a contiguous, writable NumPy array of this shape and dtype. With a stream it returns at
        once, and out is filled when the stream is done."""
        self._check_out('DeviceBuffer.copy_to', out)
        on = None if stream is None else as_stream('DeviceBuffer.copy_to', stream)
        self._to_host('DeviceBuffer.copy_to', out, None if on is None else on._use('DeviceBuffer.copy_to'))
        if on is not None:
            on._keep(self, out)

    def _check_out(self, function: str, out: Any) -> None:
        if not isinstance(out, np.ndarray) or out.shape != self.shape or out.dtype != self.dtype:
            raise make(function, 'value', f'out must be a NumPy array of shape {self.shape}, {self.dtype}')
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise make(function, 'buffer', 'out must be contiguous and writable')

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
        self._need(function)
        if self.readonly:
            raise make(function, 'access', 'the buffer was imported for reading only')
        on = None if stream is None else as_stream(function, stream)
        handle = None if on is None else on._use(function)
        if isinstance(x, DeviceBuffer):
            self._put_device(function, x, handle)
        else:
            foreign = foreign_memory(function, x)
            if foreign is not None:
                self._check_same(function, _memory.numpy_dtype(foreign.dtype), foreign.shape)
                if foreign.nbytes:
                    x = foreign.hold(function)
                    self._from(function, foreign.address, handle)
            else:
                x = self._host_array(function, x)
                self._from(function, x.__array_interface__['data'][0], handle)
        if on is not None:
            on._keep(self, x)

    def _span(self) -> tuple[int, int]:
        """The addresses of the first byte, and behind the last one."""
        low = high = self.address
        for side, stride in zip(self.shape, self.strides):
            low, high = low + min(0, (side - 1) * stride), high + max(0, (side - 1) * stride)
        return low, high + self.itemsize

    def _overlaps(self, other: 'DeviceBuffer') -> bool:
        (low, high), (begin, end) = self._span(), other._span()
        return bool(self.size and other.size) and low < end and begin < high

    def _check_same(self, function: str, dtype: Any, shape: tuple[int, ...]) -> None:
        if dtype != self.dtype or int(np.prod(shape, dtype=object)) != self.size:
            raise make(function, 'value', f'x has shape {shape}, {dtype}, and the buffer {self.shape}, {self.dtype}: between '
                                          'devices nothing is converted')

    def _put_device(self, function: str, x: 'DeviceBuffer', stream: Any) -> None:
        x._need(function)
        self._check_same(function, x.dtype, x.shape)
        if x._overlaps(self) and not (x.is_contiguous and self.is_contiguous):
            if stream is not None:
                raise make(function, 'buffer', 'x overlaps the buffer: copy without a stream')
            self._from(function, x.to_numpy().__array_interface__['data'][0])
        elif x.is_contiguous:
            self._from(function, x.address, stream)
        elif self.is_contiguous:
            at = self.address
            offsets, run = _runs(x.shape, x.strides, x.itemsize)
            for offset in offsets if x.size else ():
                if stream is None:
                    _ext.device_copy(function, at, x.address + offset, run)
                else:
                    _ext.stream_copy(function, stream, at, x.address + offset, run)
                at += run
        elif stream is not None:
            raise make(function, 'buffer', 'neither buffer is contiguous: copy without a stream')
        else:
            self._from(function, x.to_numpy().__array_interface__['data'][0])

    def _host_array(self, function: str, x: Any) -> np.ndarray[Any, Any]:
        if _memory.is_tensor(x):
            x = _memory.array_over_tensor(x)
        try:
            if isinstance(x, np.ndarray) and x.shape == self.shape and x.dtype == self.dtype and x.flags.c_contiguous:
                return x
            whole = np.empty(self.shape, self.dtype)
            whole[...] = x
            return whole
        except (TypeError, ValueError) as error:
            raise make(function, 'value', f'x does not fit a buffer of shape {self.shape}, {self.dtype}: {error}') from None

    def __setitem__(self, index: Any, x: Any) -> None:
        self._view('DeviceBuffer[]', index)._put('DeviceBuffer[]', x)

    def __getitem__(self, index: Any) -> Any:
        view = self._view('DeviceBuffer[]', index)
        where = index if isinstance(index, tuple) else (index,)
        whole = len(where) == self.ndim and all(not isinstance(one, slice) and one is not Ellipsis and one is not None
                                                for one in where)
        return view.to_numpy()[()] if whole else view

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
        versioned = max_version is not None and max_version[0] >= 1
        code = _DLPACK_CODES.get(self.dtype.kind)
        if code is None or not self.dtype.isnative or self.dtype.itemsize not in (1, 2, 4, 8, 16):
            raise make('DeviceBuffer.__dlpack__', 'buffer', f'elements of {self.dtype} are nothing that DLPack knows')
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
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
        return {'shape': self.shape, 'typestr': self.dtype.str, 'data': (self.address, self.readonly), 'version': 3,
                'strides': None if self.is_contiguous else self.strides, 'stream': None}

    def __reduce__(self) -> Any:
        self._need('DeviceBuffer')  # else a key of its that is known would be given out, which opens nothing any more
        place = self.address, self.shape, self.strides, self.dtype.str
        if place not in self._keys:
            self._keys[place] = export_buffer('DeviceBuffer', self, None, None, False)
        from ._key import import_
        return import_, (self._keys[place], 'r' if self.readonly else 'rw')

    def __copy__(self) -> np.ndarray[Any, Any]:
        return self.to_numpy()

    def __deepcopy__(self, memo: Any) -> np.ndarray[Any, Any]:
        return self.to_numpy()

    def __repr__(self) -> str:
        return f'<shmem.DeviceBuffer on {self.device}: {self.dtype} {self.shape}>'


_ABOUT: dict[Any, Any] = {np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
                          np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis]}


def _copyto(dst: Any, src: Any, casting: str = 'same_kind', where: Any = True) -> None:
    """``numpy.copyto()`` where one side at least is a device buffer."""
    if where is not True:
        raise make('copyto', 'unsupported', 'where= is not there for device buffers')
    given = src.dtype if hasattr(src, 'dtype') else np.asarray(src).dtype
    if isinstance(given, np.dtype) and not np.can_cast(src if np.ndim(src) == 0 and not isinstance(src, DeviceBuffer) else given,
                                                       dst.dtype, casting):
        raise TypeError(f'Cannot cast array data from {given!r} to {dst.dtype!r} according to the rule {casting!r}')
    if not isinstance(dst, DeviceBuffer):
        np.copyto(dst, src.to_numpy(), casting)
    elif isinstance(src, DeviceBuffer) and (src.shape != dst.shape or src.dtype != dst.dtype):
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


class DevicePool:
    """Memory of a device, from which this process allocates and which others use by keys. From ``create_pool()`` with type
    'npu' or 'cuda'.

    ``alloc()`` returns DeviceBuffers. ``close()``, the end of a with block or the last reference ends the use of this
    object; the memory goes with the last buffer on it. Keys work as long as this process lives and the memory is there.
    Any thread may use it. In a forked child nothing of it works: drivers do not survive that (start method 'spawn').
    """

    __slots__ = ('_handle', 'device', '__weakref__')

    def __init__(self) -> None:
        raise make('DevicePool', 'type', "a pool of device memory is made by create_pool(size, type='npu') or 'cuda'")

    @classmethod
    def _of(cls, handle: Any) -> 'DevicePool':
        pool = _new(cls)
        pool._handle, pool.device = handle, f'{handle.type}:{handle.number}'
        return pool

    def alloc(self, shape: Any, dtype: Any = float, align: int = 512, zero: bool = False, fill: Any = None) -> DeviceBuffer:
        """A new array in the pool. It holds what was there before, unless zero or fill says otherwise.

        shape: an integer or a tuple of them; sides may be 0. dtype: anything that ``numpy.dtype`` takes, without Python
        objects. align: bytes; a power of two up to 2 MiB. fill: a number, or an array that is broadcast to the shape.

        When the last reference to the buffer and its views goes, it returns to the pool, unless it was exported. Raises:
        PoolFull (the text tells how much is free), WrongType, InvalidArgument, Stale.
        """
        kind = kind_of('DevicePool.alloc', dtype)
        try:
            sides = (operator.index(shape),)
        except TypeError:
            try:
                sides = tuple(map(operator.index, shape))
            except TypeError:
                raise make('DevicePool.alloc', 'type', f'shape is {shape!r}, but must be an integer or a tuple of '
                                                       'integers') from None
        if any(side < 0 for side in sides):
            raise make('DevicePool.alloc', 'value', f'shape is {shape!r}, but sides are not negative')
        size = int(np.prod(sides, dtype=object)) * kind.itemsize
        if size >= 1 << 62:
            raise make('DevicePool.alloc', errno.ENOMEM, f'{size} bytes are more than an address space')
        block = _ext.device_alloc('DevicePool.alloc', self._handle, size, align)
        buf = DeviceBuffer._of(block, block.address, sides, contiguous(sides, kind.itemsize), kind, False)
        if zero or fill is not None:
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


def is_there(kind: str) -> bool:
    """Whether there is a device of that type."""
    try:
        return _ext.device_count('create_pool', kind) > 0  # type: ignore[no-any-return]
    except Exception:
        return False


def create(size: int, device: str) -> DevicePool:
    return DevicePool._of(_ext.device_pool_create('create_pool', *_place('create_pool', device), size))


# --- keys -------------------------------------------------------------------------------------------------------------------------------------


def export_buffer(function: str, buf: Any, mode: Any, allow: Any, frozen: bool) -> str:
    from ._key import _allow_list, _rights
    if not isinstance(buf, DeviceBuffer):
        raise make(function, 'type', f'buf is a {type(buf).__name__}, but must be a DeviceBuffer')
    buf._need(function)
    owner = buf._owner
    entries = _allow_list(function, allow)
    if isinstance(owner, _ext.DeviceImport):
        if mode is None and not entries and not frozen and buf._base is None:
            return owner.key  # type: ignore[no-any-return]
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
    key = _ext.key_export(function, None, low, nbytes, rights, entries, bool(frozen), note)
    owner.kept = 1
    return key  # type: ignore[no-any-return]


def import_buffer(key: str, mode: str, snapshot: bool, token: str | None) -> Any:
    if snapshot or mode not in ('r', 'rw'):
        raise make('import_', 'unsupported', "memory of a device is imported with mode 'r' or 'rw'; to_numpy() is a snapshot")
    handle = _ext.device_import('import_', key, _READ if mode == 'r' else _WRITE, token, -1)
    shape, kind, offset, strides = layout_of('import_', handle.note, handle.size)
    strides = contiguous(shape, kind.itemsize) if strides is None else strides
    low = offset + sum((side - 1) * stride for side, stride in zip(shape, strides) if stride < 0)
    high = offset + sum((side - 1) * stride for side, stride in zip(shape, strides) if stride > 0) + kind.itemsize
    if len(shape) != len(strides) or any(side < 0 for side in shape) or (0 not in shape and (low < 0 or high > handle.size)):
        raise make('import_', 'value', f'the description of the array (shape {shape}, {kind}) does not fit its {handle.size} '
                                       'bytes')
    return DeviceBuffer._of(handle, handle.address + offset, tuple(shape), tuple(strides), kind, mode == 'r')
