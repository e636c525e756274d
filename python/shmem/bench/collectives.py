# SPDX-License-Identifier: Apache-2.0
"""all_reduce through torch.distributed: the back ends shmem and gloo in the same processes, in turn."""

from __future__ import annotations

import statistics
import time
from typing import Any

from . import _ranks

SIZES = [4, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
BACK_ENDS = ('shmem', 'gloo')


def worker(sizes: list[int], seconds: float) -> dict[str, list[float]]:
    """Microseconds an all_reduce of each size takes: the median over turns of the mean of a turn, by back end."""
    import torch
    import torch.distributed as dist

    import shmem.torch  # noqa: F401
    torch.set_num_threads(1)
    dist.init_process_group('gloo')
    groups = {name: dist.new_group(backend=name) for name in BACK_ENDS}
    found: dict[str, list[float]] = {name: [] for name in BACK_ENDS}
    for size in sizes:
        x = torch.zeros(max(1, size // 4))
        times: dict[str, list[float]] = {name: [] for name in BACK_ENDS}
        for group in groups.values():
            dist.all_reduce(x, group=group)
        counts = {}
        for name, group in groups.items():  # how many fit into a turn, the same everywhere
            began = time.perf_counter()
            for _ in range(3):
                dist.all_reduce(x, group=group)
            once = torch.tensor((time.perf_counter() - began) / 3)
            dist.all_reduce(once, dist.ReduceOp.MAX)
            counts[name] = max(1, min(2000, int(seconds / 10 / once.item())))
        for _ in range(5):
            for name, group in groups.items():
                dist.barrier(group=group)
                began = time.perf_counter()
                for _ in range(counts[name]):
                    dist.all_reduce(x, group=group)
                times[name].append((time.perf_counter() - began) / counts[name] * 1e6)
        for name in BACK_ENDS:
            found[name].append(statistics.median(times[name]))
    dist.destroy_process_group()
    return found


def tables(quick: bool = False) -> list[dict[str, Any]]:
    sizes = SIZES[::2] if quick else SIZES
    made = []
    for ranks in (2, 4):
        found = _ranks.run(__name__, ranks, sizes=sizes, seconds=0.1 if quick else 1.0)
        rows = [[size, round(ours, 1), round(theirs, 1), round(theirs / ours, 1)]
                for size, ours, theirs in zip(sizes, found['shmem'], found['gloo'])]
        made.append({
            'title': f'all_reduce of float32, {ranks} processes on {_ranks.cores()} cores',
            'columns': ['bytes', 'shmem, us', 'gloo, us', 'gloo / shmem'],
            'rows': rows,
            'note': 'Microseconds a call of torch.distributed.all_reduce; both back ends in the same processes, in turn, median '
                    'of five turns.',
            'plot': {'x': 'bytes', 'y': ['shmem, us', 'gloo, us'], 'log': True},
        })
    return made
