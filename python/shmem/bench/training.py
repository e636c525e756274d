# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training of small models on the digits set: the back ends shmem and gloo in the same processes, in turn.

Beside them the least that any back end can take here: steps that wait for each other, but exchange nothing.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from typing import Any

from . import _ranks

MODELS = ('perceptron', 'convolutional')
BACK_ENDS = ('shmem', 'gloo')


def wait_only(group: Any, bucket: Any) -> Any:
    """In place of a reduction: the ranks wait for each other, and every one keeps its own gradients."""
    import torch
    import torch.distributed as dist
    dist.barrier(group)
    done: Any = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def make_model(name: str) -> Any:
    import torch
    from torch import nn
    torch.manual_seed(0)
    if name == 'perceptron':
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    return nn.Sequential(nn.Unflatten(1, (1, 8)), nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 10))


class Trainer:
    """Training of one model with one back end (None: every process for itself), by torch's all-reduce or a hook."""

    def __init__(self, model: str, group: Any, rank: int, ranks: int, batch: int, hook: Any = None) -> None:
        import torch

        from .digits import load
        images, labels = load()
        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels)
        self.model: Any = make_model(model)
        if group is not None:
            self.model = torch.nn.parallel.DistributedDataParallel(self.model, process_group=group)
            if hook is not None:
                self.model.register_comm_hook(group, lambda group, bucket: hook(group, bucket))  # torch reads annotations
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.batch, self.rank, self.ranks, self.at = batch, rank, ranks, 0

    def step(self, communicate: bool = True) -> float:
        import torch
        first = (self.at * self.ranks + self.rank) * self.batch % (len(self.images) - self.batch)
        self.at += 1
        x, y = self.images[first:first + self.batch], self.labels[first:first + self.batch]
        with contextlib.nullcontext() if communicate else self.model.no_sync():
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def worker(model: str, steps: int, turns: int, batch: int = 64) -> dict[str, Any]:
    """Milliseconds a step takes with each back end and without communication, and the first losses."""
    import torch
    import torch.distributed as dist

    import shmem.torch  # noqa: F401
    torch.set_num_threads(1)
    dist.init_process_group('gloo')
    rank, ranks = dist.get_rank(), dist.get_world_size()
    groups = {name: dist.new_group(backend=name) for name in BACK_ENDS}
    trainers = {name: Trainer(model, group, rank, ranks, batch) for name, group in groups.items()}
    losses = {name: [trainer.step() for _ in range(40)] for name, trainer in trainers.items()}
    trainers['waiting'] = Trainer(model, groups['shmem'], rank, ranks, batch, wait_only)
    times: dict[str, list[float]] = {'shmem': [], 'gloo': [], 'waiting': [], 'none': []}
    for _ in range(turns):
        for name in times:
            trainer = trainers['shmem' if name == 'none' else name]
            trainer.step()
            dist.barrier()
            began = time.perf_counter()
            for _ in range(steps):
                trainer.step(name != 'none')
            took = torch.tensor((time.perf_counter() - began) / steps * 1e3)
            dist.all_reduce(took)
            times[name].append(took.item() / ranks)
    dist.destroy_process_group()
    return {'ms': {name: statistics.median(found) for name, found in times.items()}, 'losses': losses}


def tables(quick: bool = False) -> list[dict[str, Any]]:
    rows, curves = [], []
    for model in MODELS:
        for ranks in (2, 4):
            found = _ranks.run(__name__, ranks, model=model, steps=20 if quick else 100, turns=3 if quick else 9)
            ms, losses = found['ms'], found['losses']
            part = {name: max(ms[name] - ms['none'], 0.0) for name in (*BACK_ENDS, 'waiting')}
            apart = max(abs(a - b) for a, b in zip(losses['shmem'], losses['gloo']))
            rows.append([model, ranks, round(ms['shmem'], 2), round(ms['gloo'], 2), round(ms['waiting'], 2), round(ms['none'], 2), *(
                f'{100 * part[name] / ms[name]:.0f} %' for name in BACK_ENDS),
                *(round(part['gloo'] / part[name], 1) if part[name] > 0 else '-' for name in ('shmem', 'waiting')), f'{apart:.1g}'])
            if ranks == 2:
                curves += [[model, i, round(a, 4), round(b, 4)] for i, (a, b) in enumerate(zip(losses['shmem'], losses['gloo'])) if i % 4 == 0]
    return [{
        'title': f'A step of data-parallel training, digits, batch 64 a process, {_ranks.cores()} cores',
        'columns': ['model', 'processes', 'shmem, ms', 'gloo, ms', 'waiting only, ms', 'no communication, ms', 'of it communication: shmem', 'gloo',
                    'communication: gloo / shmem', 'gloo / waiting only', 'losses differ by'],
        'rows': rows,
        'note': 'DistributedDataParallel as it comes; all four in the same processes, in turn, median of turns, mean of the ranks. '
                'Communication is what a step takes longer than one without it (no_sync). '
                'Waiting only: a barrier in place of the reduction, which is as little as any back end can take.',
    }, {
        'title': 'Loss in rank 0, 2 processes',
        'columns': ['model', 'step', 'shmem', 'gloo'],
        'rows': curves,
        'note': 'The same seed and data.',
    }]
