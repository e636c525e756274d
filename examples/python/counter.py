#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All PEs count on one counter, and compete for one flag.

    shmemrun -n 4 python counter.py               (any number of PEs)
"""

import sys

import numpy as np
import shmem

try:
    import torch
except ImportError:  # arrays do as well
    torch = None

TURNS = 1000


def zeros(n):
    return torch.zeros(n, dtype=torch.int32) if torch else np.zeros(n, np.int32)


def main():
    shmem.init()
    me, n = shmem.my_pe(), shmem.n_pes()

    # The counters of all PEs correspond; the one of PE 0 is used.
    counter_mr = shmem.register(zeros(1), name='counter')
    for _ in range(TURNS):
        shmem.atomic_add(mr=counter_mr, value=1, dst=0)
    shmem.barrier()
    total = shmem.get(mr=counter_mr, src=0, size=4).item()
    ok = total == TURNS * n

    # Compare and swap: whoever finds 0 has won. Offsets are in bytes.
    winner_mr = shmem.register(zeros(2), name='winner')
    shmem.barrier()
    before = shmem.atomic_cas(mr=winner_mr, expected=0, desired=me + 1, dst=0, offset=4)
    shmem.barrier()
    winner = shmem.atomic_fetch(winner_mr, 0, offset=4) - 1
    wins = int(shmem.all_reduce(np.array([before == 0], np.int64))[0])
    ok = ok and wins == 1 and (before == 0) == (winner == me)

    if me == 0:
        print(f'Final counter value: {total} (expected {TURNS * n}); PE {winner} won')
    shmem.finalize()
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
