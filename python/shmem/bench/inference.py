# SPDX-License-Identifier: Apache-2.0
"""A service that classifies digits: two workers and two clients, which wait for each answer."""

from __future__ import annotations

import pickle
import time
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import torch
import torch.multiprocessing

import shmem
import shmem.torch as st

from . import digits
from ._measure import finish, fork, percentiles, pss, start

WORKERS = CLIENTS = 2


def make_model(width: int = 512) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(),
                               torch.nn.Linear(width, 10)).eval()


class _Shmem:
    """Requests and answers in the memory of a pool, weights there once."""

    name = 'shmem'

    def __init__(self, model: torch.nn.Module, batch: int) -> None:
        self.shared = st.share(model)
        self.requests = st.Requests((batch, 64), (batch, 10), slots=2 * CLIENTS)

    def work(self, number: int) -> None:
        self.requests.serve(st.attach(make_model, self.shared.key, 'r'))

    def client(self, number: int, body: Any) -> None:
        with self.requests.slot() as slot:
            body(slot.call)

    def stop(self) -> None:
        self.requests.close()


class _Queues:
    """Through queues: of torch, which sends tensors through shared memory and their descriptors through sockets; or of
    Python, which pickles arrays."""

    def __init__(self, model: torch.nn.Module, batch: int) -> None:
        self.model = model
        self.ask = self.make()
        self.answers = [self.make() for _ in range(CLIENTS)]

    def make(self) -> Any:
        raise NotImplementedError

    def out(self, x: torch.Tensor) -> Any:
        return x

    def back(self, x: Any) -> torch.Tensor:
        return x  # type: ignore[no-any-return]

    def work(self, number: int) -> None:
        with torch.no_grad():
            while (item := self.ask.get()) is not None:
                client, x = item
                self.answers[client].put(self.out(self.model(self.back(x))))

    def client(self, number: int, body: Any) -> None:
        answers = self.answers[number]

        def call(x: torch.Tensor) -> torch.Tensor:
            self.ask.put((number, self.out(x)))
            return self.back(answers.get())

        body(call)

    def stop(self) -> None:
        for _ in range(WORKERS):
            self.ask.put(None)


class _Torch(_Queues):
    name = 'torch.multiprocessing'

    def make(self) -> Any:
        return torch.multiprocessing.get_context('fork').Queue()

    def __init__(self, model: torch.nn.Module, batch: int) -> None:
        super().__init__(model.share_memory(), batch)


class _Pickle(_Queues):
    name = 'multiprocessing.Queue'

    def make(self) -> Any:
        return fork.Queue()

    def out(self, x: torch.Tensor) -> Any:
        return x.numpy()

    def back(self, x: Any) -> torch.Tensor:
        return torch.from_numpy(x)


SERVICES = (_Shmem, _Torch, _Pickle)


def measure(kind: Any, batch: int, count: int) -> dict[str, Any]:
    """Seconds of each request, requests a second, and MiB of a worker."""
    model = make_model()
    images = torch.from_numpy(digits.load()[0]).reshape(-1, 64)
    service = kind(model, batch)
    times = shmem.create_pool('4M').alloc((CLIENTS, count), np.float64)
    together = fork.Barrier(CLIENTS + 1)

    def client(number: int) -> None:
        def body(call: Any) -> None:
            for step in range(-20, count):
                if step == 0:
                    together.wait()
                first = (step * batch * 7 + number) % (len(images) - batch)
                x = images[first:first + batch]
                began = time.perf_counter()
                y = call(x)
                if step >= 0:
                    times[number, step] = time.perf_counter() - began
                assert y.shape == (batch, 10)
            together.wait()
        service.client(number, body)

    workers = [start(service.work, number) for number in range(WORKERS)]
    clients = [start(client, number) for number in range(CLIENTS)]
    together.wait()
    began = time.perf_counter()
    together.wait()
    seconds = time.perf_counter() - began
    memory = sum(pss(worker.pid) for worker in workers) / WORKERS
    finish(clients)
    service.stop()
    finish(workers)
    return {'rate': CLIENTS * count / seconds, 'times': np.array(times), 'memory': memory}


def _speed(quick: bool) -> dict[str, Any]:
    rows, rounds = [], 2 if quick else 3
    for batch in (1, 32):
        found: dict[str, list[Any]] = {kind.name: [] for kind in SERVICES}
        for _ in range(rounds):
            for kind in SERVICES:  # one after the other, so that whatever else the machine does hits all of them
                found[kind.name].append(measure(kind, batch, 150 if quick else 2000))
        base = np.median([one['rate'] for one in found[_Shmem.name]])
        for name, results in found.items():
            rate = float(np.median([one['rate'] for one in results]))
            middle, late = percentiles(np.concatenate([one['times'].ravel() for one in results]))
            rows.append([name, batch, round(rate), round(middle), round(late), round(rate / base, 2)])
    return {'title': f'Inference service, {WORKERS} workers, {CLIENTS} clients',
            'columns': ['', 'images a request', 'requests/s', 'p50 µs', 'p99 µs', 'rate / shmem'], 'rows': rows,
            'note': 'A perceptron of 64, 512, 512 and 10 on handwritten digits. Each client waits for its answer before it asks '
                    'again. The forward pass is part of the time.'}


def _memory(quick: bool) -> dict[str, Any]:
    """MiB that a worker has, with weights of its own and with shared ones."""
    width = 1024 if quick else 4096
    rows = []
    nbytes = sum(p.numel() * 4 for p in make_model(width).parameters()) / (1 << 20)
    for name in ('shmem.torch.attach', 'module.share_memory()', 'a pickled module'):
        go, done = fork.Barrier(WORKERS + 1), fork.Barrier(WORKERS + 1)
        ways = [fork.Pipe() for _ in range(WORKERS)]

        def work(number: int) -> None:
            given = ways[number][0].recv()
            mine = st.attach(lambda: make_model(width), given, 'r') if isinstance(given, str) else given
            with torch.no_grad():
                mine(torch.zeros(4, 64))
            go.wait()
            done.wait()

        workers = [start(work, number) for number in range(WORKERS)]  # before the module: a fork would share it, too
        model = make_model(width)
        shared = st.share(model) if name.startswith('shmem') else model.share_memory() if name.startswith('module') else None
        for _, here in ways:
            here.send_bytes(pickle.dumps(model) if shared is None else
                            ForkingPickler.dumps(shared.key if isinstance(shared, st.Shared) else shared))
        go.wait()
        rows.append([name, round(sum(pss(worker.pid) for worker in workers) / WORKERS, 1)])
        done.wait()
        finish(workers)
    return {'title': f'Memory of a worker, weights of {nbytes:.0f} MiB', 'columns': ['', 'PSS of each of 2 workers, MiB'],
            'rows': rows, 'note': 'The proportional set size: pages that n processes share count as an nth. Python and torch '
                                  'themselves are in all three.'}


def tables(quick: bool) -> list[dict[str, Any]]:
    return [_speed(quick), _memory(quick)]
