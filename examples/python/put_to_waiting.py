#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PE 0 puts data into the memory of PEs that wait for it.

    shmemrun -n 2 python put_to_waiting.py        (any number of PEs)

First without naming the target's memory: the data land in the region that the other is waiting on. Then by naming it.
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


def same(a, b):
    return bool((a == b).all())


def main():
    shmem.init()
    me, n = shmem.my_pe(), shmem.n_pes()
    data = numbers((1024, 1024), seed=1)  # the same everywhere, so that who receives can check
    ok = True

    # 1. dst_mr=None: whatever region PE pe waits on. The put blocks until it waits.
    if me == 0:
        for pe in range(1, n):
            shmem.put(dst=pe, dst_mr=None, src_mr=data)
        print(f'PE 0: sent {data.nbytes} bytes to each of {n - 1} PEs that wait')
    else:
        received = empty(1024, 1024)
        with shmem.register(received) as region:
            shmem.wait(region, for_='write')
        ok = ok and same(received, data)
        print(f'PE {me}: received data, shape={tuple(received.shape)}')

    # 2. By name: the put does not block, and the target waits when it likes.
    inbox = empty(1024, 1024)
    region = shmem.register(inbox, name='inbox')
    if me == 0:
        for pe in range(n):  # also to PE 0 itself
            shmem.put(dst=pe, dst_mr=shmem.region(pe, name='inbox') if pe else region, src_mr=data)
    shmem.wait(region)  # the put may have come long ago: events are counted
    ok = ok and same(inbox, data)

    shmem.barrier()
    shmem.deregister(region)
    shmem.finalize()
    print(f"PE {me}: {'as expected' if ok else 'WRONG DATA'}")
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
