#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers prepare batches and feed a trainer through a queue; batches are handed over, not copied.

    python training_queue.py            (no shmemrun: the processes need no job, and are not even related)

Worker processes take numbers of batches from one queue, prepare them in buffers of the pool, and put those into another
queue, as keys of about 70 letters. The trainer frees each batch when it has learnt it. The queue is short, so workers
wait when the trainer is slow.
"""

import subprocess
import sys

import numpy as np
import shmem

FEATURES, BATCH, BATCHES, WORKERS = 32, 256, 60, 2
TRUE = np.random.default_rng(0).standard_normal(FEATURES)


def worker(numbers_key, batches_key):
    numbers, batches = shmem.import_(numbers_key), shmem.import_(batches_key)
    pool = batches.pool  # of the trainer: this process attached to it by the keys
    for number in numbers:  # until the queue is closed, and empty
        random = np.random.default_rng(int(number))
        batch = pool.alloc(BATCH, [('x', 'f4', FEATURES), ('y', 'f4')], own=False)  # not own: whoever has it can free it
        batch['x'] = random.standard_normal((BATCH, FEATURES))
        batch['y'] = batch['x'] @ TRUE > 0
        batches.put((int(number), batch))


def learn(weights, batch):
    """One step of logistic regression. Returns how many it would have got right."""
    x, y = batch['x'], batch['y']
    guess = 1 / (1 + np.exp(-(x @ weights)))
    weights += 0.5 * x.T @ (y - guess) / len(y)
    return int(((guess > 0.5) == y).sum())


def trainer():
    pool = shmem.create_pool('16M')
    numbers = pool.create_queue('i8', BATCHES)
    batches = pool.create_queue(object, '4k')  # a few of them: each takes about 200 bytes, whatever its size
    keys = numbers.export(), batches.export()
    workers = [subprocess.Popen([sys.executable, __file__, *keys]) for _ in range(WORKERS)]
    numbers.put_many(range(BATCHES))
    numbers.close()

    weights, seen, right = np.zeros(FEATURES), set(), 0
    while len(seen) < BATCHES:
        try:
            number, batch = batches.get(timeout=20)
        except shmem.QueueEmpty:
            sys.exit('WRONG: the workers are gone')
        right = learn(weights, batch)
        seen.add(number)
        pool.free(batch)
    failed = any(process.wait() for process in workers)
    print(f'{len(seen)} batches from {WORKERS} workers; {right} of the last {BATCH} were right')
    if failed or right < 0.9 * BATCH:
        sys.exit('WRONG: nothing was learnt')


if __name__ == '__main__':
    worker(*sys.argv[1:]) if len(sys.argv) > 1 else trainer()
