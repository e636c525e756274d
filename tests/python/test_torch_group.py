# SPDX-License-Identifier: Apache-2.0
"""The back end of torch.distributed: what works, what is refused, and what becomes of the others when a rank dies."""

import importlib.util
import os

import pytest
from jobs import HERE, PYTHON, environment, program, run, torchrun

pytestmark = pytest.mark.skipif(importlib.util.find_spec('torch') is None, reason='torch is not installed')
DDP = os.path.join(HERE, '..', '..', 'examples', 'python', 'ddp.py')


NAMES = ['everything', 'again', 'a_death_in_backward', 'ways_to_train', 'training_of_other_kinds',
         'what_torch_asks_of_a_group', 'mistakes']


def test_ranks(tmp_path):
    """Forked processes, which end while their groups are there; without a word, and without a crash."""
    result = run([PYTHON, os.path.join(HERE, 'torch_ranks.py'), tmp_path, *NAMES],
                 env=environment(PYTHONWARNINGS='ignore', KINETO_LOG_LEVEL='9', GLOG_minloglevel='2'))
    assert result.out.split('\n')[:-1] == [f'{name}: ok' for name in NAMES] and result.code == 0, result.text
    # torch 2.6 leaves a folder of its own to the end of the interpreter, which newer versions of Python tell. The compiler tells
    # of DistributedDataParallel's own records for the profiler.
    said = [line for line in result.err.splitlines() if 'Implicitly cleaning up <TemporaryDirectory' not in line
            and 'Profiler record function' not in line and '_warnings.warn(warn_message, ResourceWarning)' not in line]
    assert not said, result.text


def test_torchrun(tmp_path):
    """A training script, unchanged, with either back end: the same losses."""
    path = program(tmp_path, f'''
        import sys
        sys.path.insert(0, {os.path.dirname(DDP)!r})
        import ddp
        ours, theirs = ddp.main('shmem'), ddp.main('gloo')
        assert all(abs(a - b) < 1e-3 for a, b in zip(ours, theirs)), (ours, theirs)
    ''')
    result = torchrun(path)
    assert 'shmem, 2 processes' in result.out and 'gloo, 2 processes' in result.out, result.text
