# SPDX-License-Identifier: Apache-2.0
"""Odd arguments of what shmem.torch has: an error of this package that says what is wrong, or it is done; never another
exception, a crash or a hang."""

import importlib.util

import pytest
from jobs import PYTHON, environment, program, run

if importlib.util.find_spec('torch') is None:
    pytest.skip('torch is not installed', allow_module_level=True)

DTYPES = r'''
import warnings
import numpy as np, torch, shmem
import shmem.torch as st
warnings.simplefilter('ignore')  # of types that torch calls experimental
pool = shmem.create_pool('16M')
wrong = []

def attempt(name, call):
    """Whether it can be done."""
    try:
        call()
        return True
    except shmem.errors.WrongType as error:
        if f'dtype is {name}, ' not in str(error) and f'request is {name}, ' not in str(error): wrong.append(f'{name}: {error}')
    except Exception as error:
        wrong.append(f'{name}: {error!r}')
    return False

def imported(dtype):
    size = torch.empty(0, dtype=dtype).element_size()
    st.import_(shmem.export(pool.alloc(8, f'u{size}', fill=0)), dtype=dtype).clone()

def requested(dtype):
    requests = st.Requests(((2,), dtype), (2,), slots=1, workers=1)
    with requests.slot() as slot:
        try:
            slot.call(torch.empty(2, dtype=dtype), timeout=0)
        except shmem.Timeout:
            pass

able = {}
for dtype in {x for x in vars(torch).values() if isinstance(x, torch.dtype)}:
    name = str(dtype)
    able[name.partition('.')[2]] = [attempt(name, call) for call in (
        lambda: (st.zeros(3, dtype=dtype, pool=pool).clone(), repr(st.zeros(0, dtype=dtype, pool=pool))),
        lambda: st.full((2, 3), 1, dtype=dtype, pool=pool).flatten(),
        lambda: (st.empty((2, 3), dtype=dtype, pool=pool).clone(), repr(st.empty((0,), dtype=dtype, pool=pool))),
        lambda: requested(dtype), lambda: imported(dtype) if dtype.itemsize <= 8 else None)]
assert not wrong, '\n'.join(wrong)
for name in ('float32', 'bfloat16', 'bool', 'int64', 'complex64', 'uint8', 'float8_e5m2'):
    assert all(able.get(name, [True])), name
for name in ('quint8', 'qint8', 'qint32', 'quint4x2', 'quint2x4', 'int4', 'uint1'):
    assert not any(able.get(name, [False])), name
print('done')
'''


def test_every_dtype(tmp_path):
    assert run([PYTHON, program(tmp_path, DTYPES)], env=environment()).ok().out == 'done\n'
