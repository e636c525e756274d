# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of work of a device, what stands in for them on the host, and those of other libraries."""

from __future__ import annotations

import operator
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _argument, _ext, _stand_in, _strided
from ._fixed import Fixed, set_once
from ._foreign import TYPES, place
from .errors import make, shown

if TYPE_CHECKING:
    from ._device import DeviceBuffer


class Stream(Fixed):
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
    device: str

    def __init__(self, device: str, native: int | None = None) -> None:
        kind, number = place('Stream', device)
        set_once(self, 'device', f'{kind}:{number}')
        self._held: list[Any] = []
        self._wraps = False
        if native is not None:
            native = _argument.whole('Stream', 'native', native, 0, (1 << 64) - 1, 'the address of a stream, an integer')
        if native is None and _stand_in.allowed(kind, 'Stream'):
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
        handle = self._need('Stream.native')
        _ext.device_count('Stream.native', handle.type)  # raises in a forked child
        return handle.address  # type: ignore[no-any-return]

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
        self._value('Stream.wait_value', buf, index, value, int(_argument.flag('Stream.wait_value', 'equal', equal)))

    def _value(self, function: str, buf: Any, index: Any, value: Any, until: int) -> None:
        from ._device import DeviceBuffer  # which needs this module
        handle = self._need(function)
        if not isinstance(buf, DeviceBuffer) or buf.dtype not in _WORDS:
            raise make(function, 'type', 'buf must be a device buffer of uint64 or int64')
        buf._need(function)
        element = buf._view(function, index)
        if element.shape:
            raise make(function, 'range', f'index is {shown(index)}, which is no single element of shape {buf.shape}')
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
        raise make(function, 'type', f'value is {shown(value)}, but must be an integer') from None
    if not -(1 << 63) <= number < 1 << 64:
        raise make(function, 'range', f'value is {shown(number)}, which does not fit into 64 bits')
    return number & (1 << 64) - 1


_WORDS = (np.dtype(np.uint64), np.dtype(np.int64))


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
        if not isinstance(buf, np.ndarray) or buf.dtype not in _WORDS:
            raise make(function, 'type', 'buf must be a buffer of uint64 or int64')
        _, _, _, single = _strided.place(function, index, buf.shape, buf.strides)
        if not single:
            raise make(function, 'range', f'index is {shown(index)}, which is no single element of shape {buf.shape}')
        wanted = np.array(_word(function, value), np.uint64).view(buf.dtype)[()]
        if until < 0:
            if not buf.flags.writeable:
                raise make(function, 'access', 'buf was imported for reading only')
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
    try:
        key = (f'{kind}:{operator.index(number or 0)}', operator.index(native))
    except TypeError:
        raise make(function, 'type', f'stream is a {type(stream).__name__} whose {kind}_stream is {shown(native)} and the number of '
                                     f'whose device is {shown(number)}, but both must be integers') from None
    if key not in _streams:
        _streams[key] = Stream(*key)
        _streams[key]._wraps = True
    return _streams[key]
