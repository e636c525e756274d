#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An all-reduce by hand: every PE reads the others' memory where it lies. Next to it, shmem.all_reduce.

    shmemrun -n 4 python all_reduce_by_hand.py    (any number of PEs)
"""

import sys
import time

import numpy as np
import shmem

try:
    import torch
except ImportError:  # arrays do as well
    torch = None


def by_hand(tensor):
    """The sum over all PEs, as a new array, in PE order. Nobody changes its tensor meanwhile."""
    mr = shmem.register(tensor)
    shmem.barrier()  # everybody's data are there
    total = np.zeros(mr.shape, np.float32)
    for pe in range(shmem.n_pes()):
        total += shmem.peer(mr, pe)  # no copy: these are the other's own bytes
    shmem.barrier()  # everybody has read
    shmem.deregister(mr)
    return total


def main():
    shmem.init()
    me, n = shmem.my_pe(), shmem.n_pes()
    values = np.random.default_rng(me).standard_normal((1024, 1024), np.float32)
    tensor = torch.from_numpy(values) if torch else values

    began = time.perf_counter()
    total = by_hand(tensor)
    hand = time.perf_counter() - began
    shmem.barrier()
    began = time.perf_counter()
    shmem.all_reduce(tensor)  # in place, on any memory
    library = time.perf_counter() - began

    ok = np.allclose(total, np.asarray(tensor), rtol=1e-5, atol=1e-5)
    # All PEs have the same bits, so that they stay in step.
    every = shmem.all_gather(np.asarray(tensor)[:4])
    ok = ok and all(np.array_equal(every[0], every[pe]) for pe in range(n))
    if me == 0:
        print(f'{values.nbytes >> 20} MiB, {n} PEs: by hand {hand * 1e3:.2f} ms, shmem.all_reduce {library * 1e3:.2f} ms')
    shmem.finalize()
    if not ok:
        print(f'PE {me}: WRONG SUM')
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
