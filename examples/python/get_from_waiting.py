#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PE 0 holds a tensor and waits until all others have read it.

    shmemrun -n 2 python get_from_waiting.py      (any number of PEs)
"""

import sys

import numpy as np
import shmem

try:
    import torch
except ImportError:  # arrays do as well
    torch = None


def empty(*shape):
    return torch.empty(*shape) if torch else np.empty(shape, np.float32)


def numbers(shape, seed):
    values = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return torch.from_numpy(values) if torch else values


def main():
    shmem.init()
    me, n = shmem.my_pe(), shmem.n_pes()
    ok = True

    if me == 0:
        data = numbers((1024, 1024), seed=2)
        data_mr = shmem.register(data, name='data', access=shmem.REMOTE_READ)
        for _ in range(1, n):
            shmem.wait(data_mr, for_='read')  # one event for each get that has finished
        print(f'PE 0: {n - 1} PEs have read the data')
        shmem.deregister(data_mr)
    else:
        data_mr = shmem.region(0, name='data')  # waits until PE 0 has registered it
        local = empty(1024, 1024)
        with shmem.register(local) as local_mr:
            shmem.get(
                dst=0,  # the PE to read from
                dst_mr=data_mr,
                dst_offset=0,
                src_mr=local_mr,  # what receives
                src_offset=0,
                size=1024 * 1024 * 4,
            )
        ok = bool((local == numbers((1024, 1024), seed=2)).all())
        print(f'PE {me}: read data, shape={tuple(local.shape)}')

    shmem.finalize()
    print(f"PE {me}: {'as expected' if ok else 'WRONG DATA'}")
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
