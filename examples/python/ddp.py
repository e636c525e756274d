#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training with DistributedDataParallel, through any back end of torch.distributed.

    shmemrun -n 2 python3 ddp.py
    torchrun --nproc-per-node 2 ddp.py shmem         (or gloo)

Each process learns from its part of the data, and all of them have the same weights after each step. Nothing here is
special to shmem but the import that makes the back end known, and its name.
"""

import sys

try:
    import shmem.torch  # noqa: F401
    import torch
    import torch.distributed as dist
except ImportError as error:
    print(f'this example needs torch: {error}')
    sys.exit(0)

from torch import nn
from torch.nn.parallel import DistributedDataParallel


def data(n=2048):
    """Points in the plane, of two spirals."""
    random = torch.Generator().manual_seed(1)
    turn = torch.rand(n, generator=random)
    label = torch.arange(n) % 2
    angle = 6 * turn + torch.pi * label
    points = torch.stack([turn * angle.cos(), turn * angle.sin()], 1) + 0.02 * torch.randn(n, 2, generator=random)
    return points, label


def train(steps=60):
    """Returns the loss of each step, averaged over the processes."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    points, label = data()
    points, label = points[rank::ranks], label[rank::ranks]
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(points), label)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(float(mean) / ranks)
    weights = torch.cat([p.detach().ravel() for p in model.parameters()])
    everybodys = [torch.empty_like(weights) for _ in range(ranks)]
    dist.all_gather(everybodys, weights)
    if not all(torch.equal(weights, other) for other in everybodys):
        sys.exit('WRONG: the weights differ between the processes')
    return losses


def main(backend):
    torch.set_num_threads(1)
    dist.init_process_group(backend)
    losses = train()
    if dist.get_rank() == 0:
        print(f'{backend}, {dist.get_world_size()} processes: the loss went from {losses[0]:.3f} to {losses[-1]:.3f}', flush=True)
    dist.destroy_process_group()
    if losses[-1] > losses[0] / 2:
        sys.exit('WRONG: nothing was learnt')
    return losses


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else 'shmem')
