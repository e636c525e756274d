# SPDX-License-Identifier: Apache-2.0
"""The parts of the demonstration, with what they compute checked."""

import os
import re

import pytest
from jobs import HERE, pes

DEMO = os.path.join(HERE, '..', '..', 'examples', 'demo.py')


def test_training_together_is_training_alone():
    try:
        import sklearn.datasets  # noqa: F401
    except ImportError as error:
        pytest.skip(f'scikit-learn cannot be imported here: {str(error).splitlines()[0]}')
    text = pes(4, DEMO, 'train').ok().out
    losses = [float(found) for found in re.findall(r'loss ([0-9.]+)', text)]
    accuracies = [float(found) for found in re.findall(r'accuracy +([0-9.]+) %', text)]
    assert len(losses) == 12 and losses[-1] < losses[0] / 5, text
    assert accuracies[-1] > 94, text
    assert text.count('yes, bit for bit') == 2, text


def test_handing_over_measures_every_size_and_way(tmp_path):
    path = tmp_path / 'times'
    pes(2, DEMO, 'hand-over', str(path)).ok()
    lines = [line.split() for line in path.read_text().splitlines()]
    assert [(int(size), int(way)) for size, way, _ in lines] == [
        (size, way) for size in (1 << 10, 1 << 20, 16 << 20, 256 << 20) for way in (0, 1)]
    assert all(float(seconds) > 0 for _, _, seconds in lines)
