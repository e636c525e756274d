# SPDX-License-Identifier: Apache-2.0
"""Filling a buffer of a pool from Python: numpy.copyto beside a loop over the elements, and beside copyto between arrays
that are not shared. Prints results as the other measuring programs do."""

import os
import statistics
import time

import numpy as np
import shmem

COUNT = 1_000_000
QUICK = bool(os.environ.get('SHMEM_BENCH_QUICK'))


def elapsed(work, repeat=1):
    begin = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - begin) / repeat


def loop(to, source):
    for i in range(len(source)):
        to[i] = source[i]


def main():
    count = COUNT // 100 if QUICK else COUNT
    pool = shmem.create_pool(16 << 20)
    shared = pool.alloc((count,), np.float32)
    source = np.random.default_rng(1).random(count, dtype=np.float32)
    plain = np.zeros(count, np.float32)
    np.copyto(shared, source)
    times = {'copy_pool': [], 'copy_plain': [], 'copy_loop': []}
    for turn in range(9):
        times['copy_pool'].append(elapsed(lambda: np.copyto(shared, source), 20))
        times['copy_plain'].append(elapsed(lambda: np.copyto(plain, source), 20))
        if turn % 3 == 0:
            times['copy_loop'].append(elapsed(lambda: loop(shared, source)))
    for name, values in times.items():
        print(f'result {name} {statistics.median(values):.9g}')


main()
