# SPDX-License-Identifier: Apache-2.0
"""The Python examples: each checks its own result and ends with a status other than 0 when it is wrong."""

import os

import pytest
from jobs import HERE, environment, pes

EXAMPLES = os.path.join(HERE, '..', '..', 'examples', 'python')
NAMES = sorted(name for name in os.listdir(EXAMPLES) if name.endswith('.py'))


def test_all_are_here():
    assert {'put_to_waiting.py', 'get_from_waiting.py', 'counter.py', 'all_reduce_by_hand.py', 'pool.py', 'training_queue.py'} <= set(NAMES)


@pytest.mark.parametrize('name', NAMES)
def test_example(name):
    """With torch, where that is installed."""
    result = pes(2, os.path.join(EXAMPLES, name)).ok()
    assert result.out.strip() and 'WRONG' not in result.out, result.text


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('n', [1, 2, 4])
def test_example_without_torch(name, n, tmp_path):
    (tmp_path / 'torch.py').write_text("raise ImportError('no torch here')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get('PYTHONPATH', '')])
    result = pes(n, os.path.join(EXAMPLES, name), env=environment(PYTHONPATH=path)).ok()
    assert result.out.strip() and 'WRONG' not in result.out, result.text
