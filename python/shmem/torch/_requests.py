# SPDX-License-Identifier: Apache-2.0
"""Requests of many clients, answered by many workers in the memory where they lie."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import time
from typing import Any, Callable, Iterator

import numpy as np
import torch

from .. import _key, _pool
from .._argument import seconds, sides, whole
from .._queue import Queue
from .._sync import Atomic, Mutex
from ..errors import Error, OwnerDied, QueueClosed, QueueEmpty, QueueFull, make, said_by, shown
from ._tensors import bytes_of, check_dtype, check_pool, dtype_named, name_of, size_of, tensor_on

# A slot's word is (number of the request << 20 | workers that died with it << 16 | phase). SENT is set by the client before
# it puts the slot into the queue. A worker that gets the slot from there makes SENT its own phase, WORKER + its seat, by
# compare-and-swap, so a slot that is in the queue twice is still answered once. The client waits for DONE or FAILED. When a
# worker has died, its requests are SENT again by whoever takes its seat, or by the client, which looks every _LOOK seconds.
_FREE, _SENT, _DONE, _FAILED, _WORKER = 0, 1, 2, 3, 16
_PHASE, _DEATH, _REQUEST = (1 << 16) - 1, 1 << 16, 1 << 20
_MOST_DEATHS = 3
_LOOK = 0.05
_MOST = 4096  # slots, and workers
_TEXT = 512  # bytes of what a worker says of a request that failed


class RequestFailed(Error):
    """The worker's function raised, or workers died with the request; the text says what."""


class _Layout:
    """Tensors of one shape, one for each slot."""

    def __init__(self, function: str, argument: str, shape: Any, dtype: Any) -> None:
        self.shape = sides(function, shape, argument)
        self.dtype = check_dtype(function, dtype, argument)
        self.size = size_of(dtype) * math.prod(self.shape)

    def note(self) -> Any:
        return [list(self.shape), name_of(self.dtype)]

    def over(self, function: str, memory: Any, slots: int) -> torch.Tensor:
        if not isinstance(memory, np.ndarray) or memory.nbytes < self.size * slots:
            raise make(function, 'value', 'key is of something else')
        return tensor_on(bytes_of(memory), self.dtype, (slots, *self.shape))


class Requests:
    """Clients call, workers answer. Any number of processes of both kinds; ``key`` (or a pickle) is what they need.

    request, answer: the shape of each, as ``(64,)``, or ``((64,), torch.int64)``; otherwise elements are float32. slots: how
    many clients (threads) can have one at a time. workers: how many can serve at a time. pool: None: a new one.

    Clients::

        with requests.slot() as slot:            # one for a thread, for many calls
            y = slot.call(x)                     # on the slot's memory, until the next call

    Workers::

        requests.serve(model, batch=32)          # answers what is there, up to 32 at once, until requests.close()

    A worker that is killed, at any instant, loses no request: another one answers it. A client that is killed leaves its
    slot to others. Whoever is alone waits: for clients there is a timeout.
    """

    def __init__(self, request: Any, answer: Any, slots: int = 64, workers: int = 64, pool: Any = None) -> None:
        function = 'torch.Requests'
        self._in, self._out = (_Layout(function, argument, *self._shape_of(x)) for argument, x in (('request', request), ('answer', answer)))
        slots, workers = whole(function, 'slots', slots, 1, _MOST), whole(function, 'workers', workers, 1, _MOST)
        size = slots * (self._in.size + self._out.size + _TEXT)
        if size >= 1 << 62:
            raise make(function, errno.ENOMEM, f'{shown(size)} bytes are more than an address space')
        check_pool(function, pool)
        with said_by(function):
            self._make(function, size, slots, workers, pool)

    def _make(self, function: str, size: int, slots: int, workers: int, pool: Any) -> None:
        pool = _pool.create_pool(size + (1 << 20) + 1024 * (slots + workers), grow=True) if pool is None else pool
        names = {'inputs': pool.alloc(max(1, slots * self._in.size), np.uint8, own=False, zero=True),
                 'outputs': pool.alloc(max(1, slots * self._out.size), np.uint8, own=False, zero=True),
                 'texts': pool.alloc((slots, _TEXT), np.uint8, own=False, zero=True),
                 'queue': pool.create_queue('i8', 4 * slots)}
        keys: dict[str, Any] = {name: pool.export(x) if isinstance(x, np.ndarray) else x.export() for name, x in names.items()}
        keys['states'] = [pool.create_atomic('int64').export() for _ in range(slots)]
        keys['owners'] = [pool.create_mutex().export() for _ in range(slots)]
        keys['seats'] = [pool.create_mutex().export() for _ in range(workers)]
        text = json.dumps({**keys, 'request': self._in.note(), 'answer': self._out.note()}).encode()
        note = pool.alloc(len(text), np.uint8, own=False)
        note[:] = np.frombuffer(text, np.uint8)
        self._open(function, pool.export(note), keys)

    @staticmethod
    def _shape_of(x: Any) -> tuple[Any, Any]:
        if isinstance(x, (tuple, list)) and len(x) == 2 and isinstance(x[1], torch.dtype):
            return x[0], x[1]
        return x, torch.float32

    @classmethod
    def attach(cls, key: str) -> 'Requests':
        """Those of another process, by their key. Raises: KeyMalformed, KeyUnknown, KeyOrphaned, InvalidArgument."""
        function = 'torch.Requests.attach'
        with said_by(function):
            note = _key.import_(key)
        made = object.__new__(cls)
        try:
            read = json.loads(note.tobytes())
            made._in, made._out = (_Layout(function, name, read[name][0], dtype_named(function, read[name][1]))
                                   for name in ('request', 'answer'))
            if not len(read['states']) == len(read['owners']) <= _MOST or len(read['seats']) > _MOST:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            raise make(function, 'value', 'key is not of requests, but of something else') from None
        with said_by(function):
            made._open(function, key, read)
        return made

    def _open(self, function: str, key: str, keys: Any) -> None:
        self.key = key
        slots = len(keys['states'])
        self._queue = _key.import_(keys['queue'])
        self._states: list[Atomic] = [_key.import_(one) for one in keys['states']]
        self._owners: list[Mutex] = [_key.import_(one) for one in keys['owners']]
        self._seats: list[Mutex] = [_key.import_(one) for one in keys['seats']]
        self._texts = _key.import_(keys['texts'])
        words = [*self._states, *self._owners, *self._seats, self._queue]
        kinds = [Atomic] * slots + [Mutex] * (slots + len(self._seats)) + [Queue]
        if not all(map(isinstance, words, kinds)) or getattr(self._texts, 'shape', None) != (slots, _TEXT):
            raise make(function, 'value', 'key is not of requests, but of something else')
        self._inputs = self._in.over(function, _key.import_(keys['inputs']), slots)
        self._outputs = self._out.over(function, _key.import_(keys['outputs']), slots)

    def __reduce__(self) -> Any:
        return Requests.attach, (self.key,)

    def close(self) -> None:
        """No more requests: workers return from ``serve()``, and clients that call get QueueClosed."""
        with said_by('torch.Requests.close'):
            self._queue.close()

    def waiting(self) -> int:
        """How many requests no worker has taken yet."""
        return self._queue.qsize()  # type: ignore[no-any-return]

    def serving(self) -> int:
        """How many workers there are."""
        return sum(seat.locked() for seat in self._seats)

    def __repr__(self) -> str:
        return (f'<shmem.torch.Requests of {self._in.shape} {self._in.dtype}, answers {self._out.shape} {self._out.dtype}: '
                f'{self.waiting()} waiting, {self.serving()} workers>')

    # clients

    @contextlib.contextmanager
    def slot(self, timeout: float | None = None) -> Iterator['Slot']:
        """For a with statement: a Slot, for this thread. Waits while all are in use. Raises: Timeout."""
        number = _take('torch.Requests.slot', self._owners, timeout, self._usable, 'slots')
        try:
            yield Slot(self, number)
        finally:
            self._owners[number].release()

    def _usable(self, number: int) -> bool:
        """False while a worker still has what somebody who is gone has asked for."""
        phase = self._states[number].load() & _PHASE
        if phase == _SENT or (phase >= _WORKER and self._living(phase - _WORKER)):
            return False
        return True

    def _living(self, worker: int) -> bool:
        return worker < len(self._seats) and self._seats[worker].locked()

    # workers

    def serve(self, function: Callable[[torch.Tensor], torch.Tensor], batch: int = 1, timeout: float | None = None) -> int:
        """Answers requests until ``close()``, or until none has come for `timeout` seconds. Returns how many.

        function: is called with a tensor of the shape (n, *request), n from 1 to `batch`, without gradients, and returns (n, *answer).
           With one request the tensor lies where the client wrote it. If it raises, the clients of these requests get
           RequestFailed. batch: how many requests at once, of those that are there; it never waits for more.

        Raises: Timeout (all seats of workers are taken), KeyboardInterrupt.
        """
        if not callable(function):
            raise make('torch.Requests.serve', 'type', f'function is a {type(function).__name__}, but must be callable')
        batch = whole('torch.Requests.serve', 'batch', batch, 1, 1 << 30)
        timeout = seconds('torch.Requests.serve', timeout)
        seat = _take('torch.Requests.serve', self._seats, 0, lambda number: True, 'seats of workers')
        done = 0
        try:
            self._inherit(seat)
            with torch.no_grad():
                while True:
                    try:
                        numbers = self._queue.get_many(batch, True, timeout)
                    except (QueueClosed, QueueEmpty):
                        return done
                    done += self._answer(function, self._claim(numbers, seat))
        finally:
            self._seats[seat].release()

    def _inherit(self, seat: int) -> None:
        """What the last one on this seat had when it died."""
        for number, state in enumerate(self._states):
            seen = state.load()
            if seen & _PHASE == _WORKER + seat:
                self._send_again(number, seen)

    def _send_again(self, number: int, seen: int) -> None:
        """A worker died with this request: another one is to have it, unless it seems to be the request that kills them."""
        state, deaths = self._states[number], (seen >> 16 & 15) + 1
        if deaths >= _MOST_DEATHS:
            self._say([number], f'{deaths} workers died while they had this request')
            if state.compare_exchange(seen, seen & ~_PHASE | _FAILED):
                state.wake()
        elif state.compare_exchange(seen, (seen & ~_PHASE | _SENT) + _DEATH):
            self._put_again(number)

    def _put_again(self, number: int) -> None:
        with contextlib.suppress(QueueClosed, QueueFull):  # full of others: the client looks again later
            self._queue.put(number, False)

    def _say(self, numbers: list[int], text: str) -> None:
        self._texts[numbers] = np.frombuffer(text.encode()[:_TEXT].ljust(_TEXT, b'\0'), np.uint8)

    def _claim(self, numbers: Any, seat: int) -> list[tuple[int, int]]:
        claimed = []
        for number in numbers.tolist():
            if not 0 <= number < len(self._states):
                continue
            state = self._states[number]
            seen = state.load()
            mine = seen & ~_PHASE | (_WORKER + seat)
            if seen & _PHASE == _SENT and state.compare_exchange(seen, mine):
                claimed.append((number, mine))
        return claimed

    def _answer(self, function: Any, claimed: list[tuple[int, int]]) -> int:
        if not claimed:
            return 0
        first = claimed[0][0]
        numbers = [number for number, _ in claimed]
        alone = len(numbers) == 1
        phase = _DONE
        try:
            answer = function(self._inputs[first:first + 1] if alone else self._inputs[numbers])
            if not isinstance(answer, torch.Tensor) or not torch.can_cast(answer.dtype, self._out.dtype):
                found = f'elements of {answer.dtype}' if isinstance(answer, torch.Tensor) else f'a {type(answer).__name__}'
                raise TypeError(f'the worker\'s function returned {found}, and answers are tensors of {self._out.dtype}')
            if tuple(answer.shape) != (len(numbers), *self._out.shape):
                raise ValueError(f'the worker\'s function returned a tensor of shape {tuple(answer.shape)} for '
                                 f'{len(numbers)} requests, whose answers have the shape {self._out.shape}')
            if alone:
                self._outputs[first] = answer[0]
            else:
                self._outputs[numbers] = answer.to(self._out.dtype)
        except Exception as error:
            phase = _FAILED
            self._say(numbers, f'the worker\'s function raised {type(error).__name__}: {error}')
        for number, mine in claimed:
            state = self._states[number]
            state.compare_exchange(mine, mine & ~_PHASE | phase)
            state.wake()
        return len(claimed)


class Slot:
    """Where a client writes its request and finds the answer. From ``Requests.slot()``; for one thread.

    request: a tensor to write into, if ``call()`` is to have no argument. answer: the tensor with the last answer.
    """

    __slots__ = ('_requests', '_number', '_state', 'request', 'answer')

    def __init__(self, requests: Requests, number: int) -> None:
        self._requests, self._number, self._state = requests, number, requests._states[number]
        self.request = requests._inputs[number]
        self.answer = requests._outputs[number]

    def call(self, x: Any = None, timeout: float | None = None) -> torch.Tensor:
        """Sends x, and returns the answer, which lies in the slot: it is overwritten by the next call.

        Raises: Timeout (the text says how many workers there are; the request may still be answered, so the next call
        waits for that), RequestFailed (the worker's function raised, or the third worker died with this request), QueueClosed,
        InvalidArgument (its shape). The GIL is released.
        """
        timeout = seconds('torch.Slot.call', timeout)
        end = None if timeout is None else time.monotonic() + timeout
        given = None if x is None else self._tensor(x)
        seen = self._state.load()
        if seen & _PHASE not in (_FREE, _DONE, _FAILED):  # of a call that had no time
            self._wait(seen, end)
        if given is not None:
            try:
                with torch.no_grad():
                    self.request.copy_(given)
            except RuntimeError as error:  # of tensors without memory, or of a layout that cannot be copied
                raise make('torch.Slot.call', 'value', f'x cannot be copied: {str(error).splitlines()[0]}') from None
        sent = ((self._state.load() // _REQUEST + 1) % (1 << 40)) * _REQUEST | _SENT
        self._state.store(sent)
        try:
            with said_by('torch.Slot.call'):
                self._requests._queue.put(self._number)
        except QueueClosed:
            self._state.compare_exchange(sent, sent & ~_PHASE | _FREE)
            raise
        if self._wait(sent, end) == _FAILED:
            text = self._requests._texts[self._number].tobytes().rstrip(b'\0').decode(errors='replace')
            raise RequestFailed(f'shmem.torch.Slot.call: {text}')
        return self.answer

    def _tensor(self, x: Any) -> torch.Tensor:
        """x, which must be a request, whose values would not become others."""
        function, like = 'torch.Slot.call', self.request
        try:
            given = torch.as_tensor(x)
        except Exception as error:  # of what has an __array__ of its own, too
            raise make(function, 'type', f'x is {shown(x)}, of which torch makes no tensor: {str(error).partition(chr(10))[0]}') from None
        if given.shape != like.shape:
            raise make(function, 'value', f'x has the shape {tuple(given.shape)}, and requests have {tuple(like.shape)}')
        if given.dtype is not like.dtype and given.numel() and not torch.can_cast(given.dtype, like.dtype):
            raise make(function, 'type', f'x has elements of {given.dtype}, and requests of {like.dtype}: convert it first')
        return given

    def _wait(self, seen: int, end: float | None) -> int:
        """Until it is answered. Returns the phase."""
        lost = False
        while True:
            if seen & _PHASE in (_DONE, _FAILED):
                return seen & _PHASE
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0:
                raise self._late(seen)
            if not self._state.wait(seen, left):
                lost = self._look(seen, lost)
            seen = self._state.load()

    def _look(self, seen: int, lost: bool) -> bool:
        """What has become of it: nothing has been heard for a while. Returns whether it may be lost."""
        phase, requests = seen & _PHASE, self._requests
        if phase >= _WORKER and not requests._living(phase - _WORKER):
            requests._send_again(self._number, seen)
        elif phase == _SENT and requests._queue.qsize() == 0:
            # Taken out by somebody who has not said so: about to, or dead. (Twice in the queue does no harm.)
            if lost:
                requests._put_again(self._number)
            return not lost
        return False

    def _late(self, seen: int) -> Exception:
        requests, phase = self._requests, seen & _PHASE
        where = f'{requests.waiting()} requests wait' if phase == _SENT else f'worker {phase - _WORKER} has it'
        return make('torch.Slot.call', errno.ETIMEDOUT, f'no answer in time; {where}, and there are {requests.serving()} workers')


def _take(function: str, mutexes: list[Mutex], timeout: float | None, usable: Callable[[int], bool], what: str) -> int:
    """The number of a mutex that this thread then has. Those of dead threads are free."""
    timeout = seconds(function, timeout)
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        for number, mutex in enumerate(mutexes):
            try:
                got = mutex.acquire(0)
            except OwnerDied:
                mutex.consistent()
                got = True
            except Error:  # this thread has it already
                continue
            if got and usable(number):
                return number
            if got:
                mutex.release()
        if end is not None and time.monotonic() >= end:
            raise make(function, errno.ETIMEDOUT, f'all {len(mutexes)} {what} are in use')
        time.sleep(0.002)
