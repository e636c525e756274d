#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An inference service: clients and workers share requests, answers and weights, and nothing is sent but slot numbers.

    python inference.py

A small network learns handwritten digits. Its weights go into shared memory, where they exist once, however many workers map
them. Clients write images into their slots and find the answers there. Meanwhile a worker is killed, and another one takes
over: no request is lost, and every answer is checked.
"""

import multiprocessing
import os
import signal
import sys
import time

import shmem.torch
import torch
from shmem.bench import digits

WORKERS, CLIENTS, BATCH = 2, 3, 8


def make_model():
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))


def learn(model, images, labels):
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()


def worker(weights_key, requests_key):
    """Needs two short texts. The processes need not be related."""
    torch.set_num_threads(1)
    model = shmem.torch.attach(make_model, weights_key, mode='r')
    requests = shmem.torch.Requests.attach(requests_key)
    requests.serve(model, batch=4)  # up to four requests in one forward pass, if so many are waiting


def client(requests_key, number, images, results):
    torch.set_num_threads(1)  # a forked process does not have the threads of its parent
    requests, right = shmem.torch.Requests.attach(requests_key), 0
    x, labels = images
    with requests.slot() as slot:
        for first in range(number * BATCH, len(x) - BATCH, CLIENTS * BATCH):
            answer = slot.call(x[first:first + BATCH], timeout=30)
            right += int((answer.argmax(1) == labels[first:first + BATCH]).sum())
    results.put(right)


def main():
    torch.manual_seed(0)
    x, y = (torch.from_numpy(array) for array in digits.load())
    x = x.reshape(-1, 64)
    model = make_model()
    learn(model, x, y)
    weights = shmem.torch.share(model)
    requests = shmem.torch.Requests((BATCH, 64), (BATCH, 10), slots=2 * CLIENTS)

    start = multiprocessing.get_context('fork').Process
    results = multiprocessing.get_context('fork').SimpleQueue()
    workers = [start(target=worker, args=(weights.key, requests.key)) for _ in range(WORKERS)]
    clients = [start(target=client, args=(requests.key, number, (x, y), results)) for number in range(CLIENTS)]
    for process in [*workers, *clients]:
        process.start()
    time.sleep(0.02)
    os.kill(workers[0].pid, signal.SIGKILL)
    replacement = start(target=worker, args=(weights.key, requests.key))
    replacement.start()
    for process in clients:
        process.join()
    requests.close()
    for process in [*workers[1:], replacement]:
        process.join()

    right = sum(results.get() for _ in range(CLIENTS)) if not any(p.exitcode for p in clients) else -1
    asked = sum(len(range(number * BATCH, len(x) - BATCH, CLIENTS * BATCH)) * BATCH for number in range(CLIENTS))
    with torch.no_grad():
        expected = int((model(x[:asked]).argmax(1) == y[:asked]).sum())
    print(f'{asked} images answered, {right} right; a worker was killed meanwhile')
    if right != expected or expected < 0.9 * asked or any(p.exitcode for p in [*workers[1:], replacement]):
        sys.exit(f'WRONG: {expected} were to be right')


if __name__ == '__main__':
    main()
