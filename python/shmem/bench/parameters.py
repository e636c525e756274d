# SPDX-License-Identifier: Apache-2.0
"""Parameters that one process changes and others read; gradients on their way back."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
import torch.multiprocessing

import shmem.torch as st

from ._measure import finish, fork, start

READERS = 2


def make_model(mib: int) -> torch.nn.Module:
    side = int((mib << 18) ** 0.5 / 2)
    return torch.nn.Sequential(*(torch.nn.Linear(side, side) for _ in range(4)))


class _Shmem:
    name = 'shmem'

    def __init__(self, model: torch.nn.Module) -> None:
        self.publisher = st.Publisher(model)
        self.first = self.publisher.version

    def send(self, model: torch.nn.Module) -> None:
        self.publisher.publish(model)

    def reader(self, number: int) -> Any:
        subscriber, version = st.Subscriber(self.publisher.key), self.first

        def receive(model: torch.nn.Module) -> None:
            nonlocal version
            subscriber.wait(version)
            version = subscriber.copy_to(model)

        return receive


class _Queues:
    def __init__(self, model: torch.nn.Module) -> None:
        self.queues = [self.make() for _ in range(READERS)]

    def make(self) -> Any:
        raise NotImplementedError

    def out(self, state: Any) -> Any:
        return state

    def back(self, state: Any) -> Any:
        return state

    def send(self, model: torch.nn.Module) -> None:
        state = self.out(model.state_dict())
        for queue in self.queues:
            queue.put(state)

    def reader(self, number: int) -> Any:
        def receive(model: torch.nn.Module) -> None:
            model.load_state_dict(self.back(self.queues[number].get()))

        return receive


class _Torch(_Queues):
    name = 'state_dict, torch.multiprocessing'

    def make(self) -> Any:
        return torch.multiprocessing.get_context('fork').Queue()

    def out(self, state: Any) -> Any:
        return {name: tensor.clone() for name, tensor in state.items()}  # a version that the writer does not change


class _Pickle(_Queues):
    name = 'state_dict, multiprocessing.Queue'

    def make(self) -> Any:
        return fork.Queue()

    def out(self, state: Any) -> Any:
        return {name: tensor.numpy().copy() for name, tensor in state.items()}

    def back(self, state: Any) -> Any:
        return {name: torch.from_numpy(array) for name, array in state.items()}


def _versions(kind: Any, mib: int, count: int) -> tuple[float, float]:
    """Seconds that the writer is kept, and until all readers have the version in their modules."""
    model = make_model(mib)
    service, read = kind(model), fork.Barrier(READERS + 1)

    def reader(number: int) -> None:
        mine: Any = make_model(mib)
        receive = service.reader(number)
        for step in range(count + 2):
            receive(mine)
            assert mine[0].weight[0, 0].item() == step == mine[-1].bias[-1].item()
            read.wait()

    readers = [start(reader, number) for number in range(READERS)]
    kept, whole = [], []
    for step in range(count + 2):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(step)
        began = time.perf_counter()
        service.send(model)
        kept.append(time.perf_counter() - began)
        read.wait()
        whole.append(time.perf_counter() - began)
    finish(readers)
    return float(np.median(kept[2:])), float(np.median(whole[2:]))


def _updates(quick: bool) -> dict[str, Any]:
    rows = []
    for mib in (1, 16) if quick else (1, 16, 64):
        found: dict[str, list[Any]] = {kind.name: [] for kind in (_Shmem, _Torch, _Pickle)}
        for _ in range(1 if quick else 3):
            for kind in (_Shmem, _Torch, _Pickle):
                found[kind.name].append(_versions(kind, mib, 5 if quick else 20))
        for name, results in found.items():
            kept, whole = (float(np.median([one[at] for one in results])) * 1e3 for at in (0, 1))
            rows.append([name, mib, round(kept, 2), round(whole, 2)])
    return {'title': f'New versions of all parameters, {READERS} readers',
            'columns': ['', 'parameters, MiB', 'the writer is kept, ms', 'all readers have it, ms'], 'rows': rows,
            'note': 'Each reader copies every version into a module of its own. Queues return before the data are sent; shmem\'s '
                    'readers could also use a version where it lies, without the copy.'}


def _pushed(kind: str, mib: int, count: int) -> float:
    """Gradients a second from two workers, added up by the receiver."""
    model = make_model(mib)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    mine: Any = [parameter.grad for parameter in model.parameters()]
    gradients = st.Gradients(model, capacity=4) if kind == 'shmem' else None
    queue = torch.multiprocessing.get_context('fork').Queue(4) if kind.startswith('torch') else fork.Queue(4)
    together = fork.Barrier(READERS + 1)

    def worker(number: int) -> None:
        together.wait()
        for step in range(count):
            if gradients is not None:
                gradients.push(model, number, step)
            elif kind.startswith('torch'):
                queue.put([gradient.clone() for gradient in mine])
            else:
                queue.put([gradient.numpy() for gradient in mine])
        together.wait()

    workers = [start(worker, number) for number in range(READERS)]
    total = [torch.zeros_like(parameter) for parameter in model.parameters()]
    together.wait()
    began = time.perf_counter()
    for _ in range(count * READERS):
        if gradients is not None:
            with gradients.pop(60) as gradient:
                for one, theirs in zip(total, gradient.tensors.values()):
                    one += theirs
        else:
            for one, theirs in zip(total, queue.get()):
                one += torch.as_tensor(theirs)
    seconds = time.perf_counter() - began
    together.wait()
    finish(workers)
    assert total[0][0, 0].item() == count * READERS
    return count * READERS / seconds


def _gradients(quick: bool) -> dict[str, Any]:
    kinds = ('shmem', 'torch.multiprocessing', 'multiprocessing.Queue')
    rows = []
    for mib in (1, 16):
        found: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(1 if quick else 3):
            for kind in kinds:
                found[kind].append(_pushed(kind, mib, 5 if quick else 40))
        base = float(np.median(found['shmem']))
        for kind in kinds:
            value = float(np.median(found[kind]))
            rows.append([kind, mib, round(value, 1), round(value / base, 2)])
    return {'title': 'Gradients pushed by 2 workers', 'columns': ['', 'gradient, MiB', 'gradients/s', 'rate / shmem'], 'rows': rows,
            'note': 'The receiver adds each to a sum.'}


def tables(quick: bool) -> list[dict[str, Any]]:
    return [_updates(quick), _gradients(quick)]
