#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asynchronous training: workers read the newest parameters and push gradients, a server writes new versions.

    python parameters.py

Workers never see a mix of two versions, the server never waits for them, and a worker that is killed is not missed. A
third process evaluates versions meanwhile, where they lie.
"""

import multiprocessing
import os
import signal
import sys

import shmem.torch
import torch
from shmem.bench import digits

WORKERS, STEPS = 3, 300


def make_model():
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def worker(number, versions_key, gradients_key, data):
    torch.set_num_threads(1)
    images, labels = data
    model = make_model()
    versions, gradients = shmem.torch.Subscriber(versions_key), shmem.torch.Gradients.attach(gradients_key, model)
    random = torch.Generator().manual_seed(number)
    while True:
        version = versions.copy_to(model)
        batch = torch.randint(len(labels), (64,), generator=random)
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
        try:
            gradients.push(model, number, version)
        except shmem.QueueClosed:
            return


def evaluate(versions_key, data, results):
    """Looks at versions until the last one, without copying them."""
    torch.set_num_threads(1)
    images, labels = data
    versions, looked = shmem.torch.Subscriber(versions_key), 0
    while True:
        with versions.read() as weights, torch.no_grad():
            output = forward(weights, images)
            last, right = weights.version, float((output.argmax(1) == labels).float().mean())
        looked += 1
        if last > STEPS:
            results.put((looked, last, right))
            return
        versions.wait(last, timeout=30)


def forward(weights, images):
    """The network with these weights. (With torch 2: torch.func.functional_call(model, weights, images).)"""
    hidden = torch.nn.functional.linear(images, weights['0.weight'], weights['0.bias']).relu()
    return torch.nn.functional.linear(hidden, weights['2.weight'], weights['2.bias'])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = (torch.from_numpy(array) for array in digits.load())
    data = images.reshape(-1, 64), labels
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), 0.005)
    versions, gradients = shmem.torch.Publisher(model), shmem.torch.Gradients(model, capacity=2)  # few, so that they are young

    context = multiprocessing.get_context('fork')
    results = context.SimpleQueue()
    workers = [context.Process(target=worker, args=(number, versions.key, gradients.key, data)) for number in range(WORKERS)]
    evaluator = context.Process(target=evaluate, args=(versions.key, data, results))
    for process in [*workers, evaluator]:
        process.start()

    ages = 0
    for step in range(STEPS):
        with gradients.pop(timeout=30) as gradient:
            optimizer.zero_grad()
            gradient.add_to(model)
            ages += versions.version - gradient.version
        optimizer.step()
        versions.publish()
        if step == STEPS // 2:
            os.kill(workers[0].pid, signal.SIGKILL)
    gradients.close()
    for process in [*workers, evaluator]:
        process.join()

    looked, last, right = results.get()
    print(f'{last} versions, {looked} evaluated meanwhile; gradients were {ages / STEPS:.1f} versions old; '
          f'{100 * right:.0f} % right; a worker was killed')
    if right < 0.5 or [process.exitcode for process in workers] != [-9, 0, 0]:
        sys.exit('WRONG: nothing was learnt, or somebody failed')


if __name__ == '__main__':
    main()
