# SPDX-License-Identifier: Apache-2.0
"""Work: what asynchronous operations return, and the thread that runs them in the order of calls."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Callable

import torch
import torch.distributed as dist

from ..errors import make

from_future = torch._C._distributed_c10d._create_work_from_future


def finished_work(result: Any) -> Any:
    """Of an operation that is done: torch's own kind, which its C++ parts understand."""
    if len(result) == 1 and getattr(result[0], 'dtype', None) is torch.float16:
        # DistributedDataParallel's built-in compression asks the future for C++'s kind of list, which takes longer to make.
        return from_future(torch._C.fork(lambda: result))
    future: Any = torch.futures.Future()
    future.set_result(result)
    return from_future(future)


# --- what torch.profiler shows ------------------------------------------------------------------------------------------

profiled: Callable[[], bool] = torch.autograd._profiler_enabled


def begin_record(function: str) -> Any:
    """An operation in a trace, from here on; named as torch's own back ends name theirs."""
    record = torch.profiler.record_function(f'shmem:{function}')
    record.__enter__()
    return record


# --- asynchronous operations --------------------------------------------------------------------------------------------


_done: Any = None


def done_work() -> Any:
    """The same for callers that do not look at the result."""
    global _done
    if _done is None:
        _done = finished_work([])
    return _done


class Work(dist.Work):  # type: ignore[misc]
    """An operation that a thread of the group runs. ``wait()`` raises what it raised."""

    def __init__(self, worker: Worker, function: str, call: Callable[[], None], result: Any) -> None:
        super().__init__()
        self._function, self._call, self._result = function, call, result
        self._event = threading.Event()
        self._error: BaseException | None = None
        self._future: Any = torch.futures.Future()
        self._runner = 0
        self._worker = worker

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:  # it is the waiter's
            self._error = error
        del self._call
        self._runner = threading.get_ident()  # what waits for the future runs here, and may ask this, too
        if self._error is None:
            self._future.set_result(self._result)
        else:
            self._future.set_exception(self._error)
        self._event.set()

    def wait(self, timeout: Any = None) -> bool:
        seconds = timeout.total_seconds() if timeout is not None else 0
        done = self._runner == threading.get_ident()
        if not done and self._worker.is_current():
            self._worker.run_until(self._event)
        if not done and not self._event.wait(seconds if seconds > 0 else None):
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


class Message(dist.Work):  # type: ignore[misc]
    """A send or a receive. The library's own thread goes on with it."""

    def __init__(self, function: str, request: Any, source: Any, out: Any, result: Any, kept: Any) -> None:
        super().__init__()
        self._function, self._request, self._source = function, request, source
        self._out, self._result, self._kept = out, result, kept
        self._error: BaseException | None = None
        self._lock = threading.Lock()

    def _finish(self, block: bool) -> bool:
        with self._lock:
            if self._request is None:
                return True
            try:
                source = self._request.end(self._function, block)
            except BaseException as error:
                self._error, self._request, self._kept = error, None, None
                return True
            if source is None:
                return False
            if self._source is None or self._source < 0:
                self._source = source
            if self._out is not None:
                self._out.put_back()
            self._request = self._out = self._kept = None
            return True

    def give_up(self) -> None:
        """Of a group that ends: what was done is done."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
            if not self._finish(False):
                self._error = make(self._function, 'stale', 'the process group was destroyed before it was over')
                self._request = None

    def wait(self, timeout: Any = None) -> bool:
        seconds = timeout.total_seconds() if timeout is not None else 0
        if seconds > 0:
            end = time.monotonic() + seconds
            while not self._finish(False):
                if time.monotonic() > end:
                    raise make(self._function, 'timeout', f'it was not over within {seconds:g} s, and goes on')
                time.sleep(0.001)
        self._finish(True)
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        return self._finish(False)

    def is_success(self) -> bool:
        return self._finish(False) and self._error is None

    def exception(self) -> Any:
        return self._error

    def result(self) -> Any:
        self.wait()
        return self._result

    def synchronize(self) -> None:
        self.wait()

    def source_rank(self) -> int:
        return self._source  # type: ignore[no-any-return]

    _source_rank = source_rank

    def get_future(self) -> Any:
        """Of torch; a thread completes it, unless it is over."""
        future: Any = torch.futures.Future()

        def complete() -> None:
            try:
                self.wait()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(self._result)

        if self._finish(False):
            complete()
        else:
            threading.Thread(target=complete, name='shmem', daemon=True).start()
        return future


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
        work = Work(self, function, call, result)
        if self.is_current():
            # What a future called, which may wait for it: done at once, right after what that future stands for. The ranks
            # agree: where the future was done already, its function ran in the caller, before anything else was submitted.
            work._run()
            return work
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
            self._do(work)
            del work

    def _do(self, work: Work) -> None:
        work._run()
        with self._changed:
            self.pending -= 1

    def is_current(self) -> bool:
        """Whether this thread is the worker's: what waits for futures runs in it, too."""
        return threading.current_thread() is self._thread

    def run_until(self, event: threading.Event) -> None:
        """In the worker's thread, which nobody else would do the work of meanwhile."""
        while not event.is_set():
            with self._changed:
                if not self._queue:
                    return
                work = self._queue.popleft()
            self._do(work)

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
