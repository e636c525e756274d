# SPDX-License-Identifier: Apache-2.0
"""Work: what asynchronous operations return, and the thread that runs them in the order of calls."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Callable

import torch
import torch.distributed as dist

from ..errors import make

_from_future = torch._C._distributed_c10d._create_work_from_future


def finished_work(result: Any) -> Any:
    """Of an operation that is done: torch's own kind, which its C++ parts understand."""
    future: Any = torch.futures.Future()
    future.set_result(result)
    return _from_future(future)


_done: Any = None


def done_work() -> Any:
    """The same for callers that do not look at the result."""
    global _done
    if _done is None:
        _done = finished_work([])
    return _done


class Work(dist.Work):  # type: ignore[misc]
    """An operation that a thread of the group runs. ``wait()`` raises what it raised."""

    def __init__(self, function: str, call: Callable[[], None], result: Any) -> None:
        super().__init__()
        self._function, self._call, self._result = function, call, result
        self._event = threading.Event()
        self._error: BaseException | None = None
        self._future: Any = torch.futures.Future()

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:  # it is the waiter's
            self._error = error
        del self._call
        self._event.set()
        if self._error is None:
            self._future.set_result(self._result)
        else:
            self._future.set_exception(self._error)

    def wait(self, timeout: Any = None) -> bool:
        seconds = timeout.total_seconds() if timeout is not None else 0
        if not self._event.wait(seconds if seconds > 0 else None):
            raise make(f'torch.{self._function}', 'timeout', f'it was not done within {seconds:g} s, and goes on')
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        return self._event.is_set()

    def is_success(self) -> bool:
        return self._event.is_set() and self._error is None

    def exception(self) -> Any:
        return self._error

    def result(self) -> Any:
        self.wait()
        return self._result

    def synchronize(self) -> None:
        self.wait()

    def get_future(self) -> Any:
        return self._future


class Worker:
    """A thread that runs operations one after the other."""

    def __init__(self) -> None:
        self.pending = 0  # submitted and not done
        self._queue: 'deque[Work]' = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name='shmem', daemon=True)
        self._thread.start()

    def submit(self, function: str, call: Callable[[], None], result: Any) -> Work:
        work = Work(function, call, result)
        with self._changed:
            self.pending += 1
            self._queue.append(work)
            self._changed.notify()
        return work

    def _loop(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._stopping:
                    self._changed.wait()
                if not self._queue:
                    return
                work = self._queue.popleft()
            work._run()
            with self._changed:
                self.pending -= 1
            del work

    def stop(self, finish: bool) -> bool:
        """No more operations; finish: those that were submitted are done first. Whether the thread has ended."""
        with self._changed:
            if not finish:
                self._queue.clear()
            self._stopping = True
            self._changed.notify()
        if threading.current_thread() is self._thread:
            return False
        self._thread.join(None if finish else 0.5)
        return not self._thread.is_alive()
