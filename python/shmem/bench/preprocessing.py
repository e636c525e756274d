# SPDX-License-Identifier: Apache-2.0
"""Batches of images, prepared by worker processes: shmem.torch.DataLoader beside torch's."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import torch

import shmem.torch as st

from . import digits

LOADERS = {'torch': torch.utils.data.DataLoader, 'shmem': st.DataLoader}


class Digits(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """The digits, enlarged to 64 by 64, moved and brightened at random."""

    def __init__(self, times: int = 1) -> None:
        images, labels = digits.load()
        self.images, self.labels, self.times = torch.from_numpy(images), labels, times

    def __len__(self) -> int:
        return len(self.labels) * self.times

    def __getitem__(self, index: int) -> Any:
        index %= len(self.labels)
        large = self.images[index].repeat_interleave(8, 0).repeat_interleave(8, 1)
        dy, dx = torch.randint(-8, 9, (2,)).tolist()
        return torch.roll(large, (dy, dx), (0, 1)).mul_(0.5 + torch.rand(())).unsqueeze(0), int(self.labels[index])


class Photos(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Photographs: decoded, a random part of 224 by 224, perhaps mirrored, as floats."""

    def __init__(self, length: int) -> None:
        self.paths, self.length = digits.photos(), length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        from PIL import Image
        with Image.open(self.paths[index % len(self.paths)]) as image:
            pixels = np.asarray(image.convert('RGB'))
        y, x = (int(torch.randint(0, side - 223, ())) for side in pixels.shape[:2])
        part = torch.from_numpy(pixels[y:y + 224, x:x + 224].copy())
        if torch.rand(()) < 0.5:
            part = part.flip(1)
        return part.permute(2, 0, 1).float().div_(255), index % len(self.paths)


class Ready(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Images that need no work: what remains is what the loader itself costs."""

    def __init__(self, length: int) -> None:
        self.image, self.length = torch.rand(3, 224, 224), length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.image, index


def rate(kind: str, dataset: Any, workers: int, batch: int) -> float:
    """Batches a second, in the second epoch."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of more workers than cores
        loader = LOADERS[kind](dataset, batch_size=batch, shuffle=True, num_workers=workers, persistent_workers=True,
                               drop_last=True, generator=torch.Generator().manual_seed(0))
        for _ in loader:
            pass
        count, checked = 0, 0.0
        began = time.perf_counter()
        for images, _ in loader:
            checked += float(images.view(-1)[-1])
            count += 1
        return count / (time.perf_counter() - began)


def _table(title: str, dataset: Any, batch: int, rounds: int, note: str) -> dict[str, Any]:
    rows = []
    for workers in (1, 2, 4):
        found: dict[str, list[float]] = {kind: [] for kind in LOADERS}
        for _ in range(rounds):
            for kind in LOADERS:  # alternating
                found[kind].append(rate(kind, dataset, workers, batch))
        theirs, ours = (float(np.median(found[kind])) for kind in LOADERS)
        rows.append([workers, round(theirs, 1), round(ours, 1), round(ours / theirs, 2)])
    return {'title': title, 'columns': ['workers', 'torch, batches/s', 'shmem, batches/s', 'shmem / torch'], 'rows': rows,
            'note': note, 'plot': {'x': 'workers', 'y': ['torch, batches/s', 'shmem, batches/s'], 'log': False}}


def tables(quick: bool) -> list[dict[str, Any]]:
    rounds = 1 if quick else 3
    made = [_table('Digits, enlarged and moved, 64 a batch', Digits(1 if quick else 2), 64, rounds,
                   'Batches of 1 MiB; about 40 µs of work an image.')]
    try:
        import PIL  # noqa: F401
        made.append(_table('Photographs decoded by Pillow, 32 a batch', Photos(128 if quick else 768), 32, rounds,
                           'Batches of 18 MiB; decoding is nearly all of the work, so the loaders differ little.'))
    except ImportError:
        made.append({'title': 'Photographs decoded by Pillow', 'columns': [''], 'rows': [],
                     'note': 'Pillow is not installed: apt-get install python3-pil, or pip install pillow.'})
    made.append(_table('Images that need no work, 32 a batch', Ready(640 if quick else 3200), 32, rounds,
                       'Batches of 18 MiB: what the loaders themselves cost.'))
    return made
