# SPDX-License-Identifier: Apache-2.0
"""What several parts need: processes that start together, memory, percentiles."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any, Callable

import numpy as np

fork = multiprocessing.get_context('fork')


def pss(pid: int) -> float:
    """MiB of memory that are this process's: what it shares with n others counts as an nth."""
    with open(f'/proc/{pid}/smaps_rollup') as file:
        return sum(int(line.split()[1]) for line in file if line.startswith('Pss:')) / 1024


def start(body: Callable[..., Any], *args: Any) -> Any:
    """A forked process with one thread of torch. It ends without the parent's finalizers."""
    process = fork.Process(target=_body, args=(body, args), daemon=True)
    process.start()
    return process


def _body(body: Callable[..., Any], args: Any) -> None:
    import torch
    torch.set_num_threads(1)
    body(*args)


def finish(processes: list[Any], seconds: float = 120) -> None:
    for process in processes:
        process.join(seconds)
        if process.exitcode != 0:
            for other in processes:
                if other.exitcode is None:
                    other.kill()
            raise RuntimeError(f'a process of the benchmark ended with {process.exitcode}')


def percentiles(seconds: Any) -> tuple[float, float]:
    """The median and the 99th percentile, in microseconds."""
    return tuple(float(x) * 1e6 for x in np.percentile(np.asarray(seconds), (50, 99)))  # type: ignore[return-value]


def load_average() -> str:
    return ' '.join(f'{x:.1f}' for x in os.getloadavg())
