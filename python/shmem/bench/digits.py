# SPDX-License-Identifier: Apache-2.0
"""The handwritten digits and the photographs that scikit-learn comes with, without importing it."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np


def _folder() -> str:
    found = importlib.util.find_spec('sklearn')  # which does not import it
    if found is None or not found.submodule_search_locations:
        raise ImportError('the digits come with scikit-learn, which is not installed: apt-get install python3-sklearn, or '
                          'pip install scikit-learn')
    return os.path.join(next(iter(found.submodule_search_locations)), 'datasets')


def load() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """1797 images, float32 of shape (1797, 8, 8) from 0 to 1, and their labels, int64."""
    import gzip
    with gzip.open(os.path.join(_folder(), 'data', 'digits.csv.gz'), 'rt') as file:
        numbers = file.read().replace('\n', ',').rstrip(',').split(',')
    rows = np.array(numbers, np.float32).reshape(-1, 65)
    return rows[:, :64].reshape(-1, 8, 8) / 16, rows[:, 64].astype(np.int64)


def photos() -> list[str]:
    """Paths of photographs, JPEG of 640 by 427 pixels."""
    folder = os.path.join(_folder(), 'images')
    found = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.jpg'))
    if not found:
        raise FileNotFoundError(f'there are no photographs in {folder}')
    return found
