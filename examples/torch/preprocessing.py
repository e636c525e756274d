#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Preprocessing for training: worker processes decode and augment images straight into batches that the trainer uses.

    python preprocessing.py

First a small network learns handwritten digits that workers enlarge, move and brighten. Then photographs are decoded and
cut by workers, if Pillow is installed. Both use shmem.torch.DataLoader as torch's would be used.
"""

import sys
import time

import shmem.torch
import torch
from shmem.bench.preprocessing import Digits, Photos


def learn(loader, epochs):
    """Returns how many of the last epoch's digits were recognised."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.AvgPool2d(4), torch.nn.Conv2d(1, 16, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(3),
                                torch.nn.Flatten(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(epochs):
        right = seen = 0
        for images, labels in loader:  # tensors in shared memory: nothing was copied to get here
            output = model(images)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(output, labels).backward()
            optimizer.step()
            right, seen = right + int((output.argmax(1) == labels).sum()), seen + len(labels)
    return right / seen


def main():
    torch.set_num_threads(1)
    loader = shmem.torch.DataLoader(Digits(), batch_size=64, shuffle=True, num_workers=2, seed=0, persistent_workers=True)
    right = learn(loader, 4)
    print(f'digits: {100 * right:.0f} % of the last epoch were right')
    if right < 0.7:
        sys.exit('WRONG: nothing was learnt')

    try:
        import PIL  # noqa: F401
    except ImportError:
        print('photographs: left out, because Pillow is not installed')
        return
    began, count = time.perf_counter(), 0
    for images, labels in shmem.torch.DataLoader(Photos(48), batch_size=8, num_workers=2, seed=0):
        if images.shape != (8, 3, 224, 224) or not 0.2 < float(images.mean()) < 0.8:
            sys.exit('WRONG: these are no photographs')
        count += len(labels)
    print(f'photographs: {count / (time.perf_counter() - began):.0f} decoded and cut each second')


if __name__ == '__main__':
    main()
