# SPDX-License-Identifier: Apache-2.0
"""Sums of sparse tensors, as embeddings have them for gradients: every rank gets all indices and values, and adds them up."""

from __future__ import annotations

import math
from typing import Any

import torch

from .. import _ext
from ..errors import make
from ._pack import sparse

_FUNCTION = 'torch.all_reduce'
_INT64 = _ext.TYPES['int64']
_BYTES = _ext.TYPES['bytes']
_MOST_DIMENSIONS = 28
_HALF = (torch.float16, torch.bfloat16)
_DTYPES = (torch.float32, torch.float64, *_HALF, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.complex64,
           torch.complex128)


def _shape(said: list[int]) -> tuple[int, ...]:
    return tuple(said[4:4 + said[1] + said[2]])


def _called(rank: int, said: list[int]) -> str:
    dtype = str(_DTYPES[said[3]]).replace('torch.', '')
    return f'rank {rank} called all_reduce of a sparse {dtype} tensor of the shape {_shape(said)}, of which {said[1]} dimensions are sparse'


def _agree(group: Any, size: int, t: Any, seconds: float) -> list[int]:
    """How many elements each rank has. Raises on all ranks if they differ in anything else."""
    mine = torch.zeros(4 + _MOST_DIMENSIONS, dtype=torch.int64)
    mine[:4 + t.dim()] = torch.tensor([t._nnz(), t.sparse_dim(), t.dense_dim(), _DTYPES.index(t.dtype), *t.shape])
    every = torch.empty(size, len(mine), dtype=torch.int64)
    group.all_gather(_FUNCTION, [row.data_ptr() for row in every], mine.data_ptr(), len(mine), _INT64, seconds)
    rows = every.tolist()
    for rank, row in enumerate(rows):
        if row[1:] != rows[0][1:]:
            raise make(_FUNCTION, 'value', f'{_called(0, rows[0])}, but {_called(rank, row)}: all ranks have to call the same')
    return [row[0] for row in rows]


def _gather(group: Any, counts: list[int], part: Any, seconds: float) -> Any:
    """The parts of all ranks, one after the other; part: as many rows as this rank has elements."""
    part = part.contiguous()
    row = math.prod(part.shape[1:]) * part.element_size()
    whole = torch.empty((sum(counts), *part.shape[1:]), dtype=part.dtype)
    sizes = [count * row for count in counts]
    places, at = [], whole.data_ptr()
    for size in sizes:
        places.append(at)
        at += size
    group.all_to_all(_FUNCTION, places, sizes, [part.data_ptr()] * len(counts), [len(part) * row] * len(counts), _BYTES, seconds)
    return whole


def refused(t: Any, name: str) -> str:
    """What is wrong with a sparse tensor and an operation, or nothing."""
    if t.layout is not torch.sparse_coo:
        return f'the tensor is sparse ({t.layout}), but must be dense or sparse_coo: use to_dense() or to_sparse_coo()'
    if name not in ('SUM', 'AVG'):
        return f'the operation is {name}, but sparse tensors can be summed or averaged only: use to_dense()'
    if t.dtype not in _DTYPES or name == 'AVG' and not t.dtype.is_floating_point:
        return f'the operation is {name}, which does not exist for sparse tensors of type {t.dtype}'
    if t.dim() > _MOST_DIMENSIONS:
        return f'the tensor is sparse and has {t.dim()} dimensions, but may have {_MOST_DIMENSIONS}'
    return ''


def sum_sparse(group: Any, size: int, t: Any, name: str, seconds: float) -> None:
    """t becomes the sum, or the average, of all ranks' tensors; the same bits on all of them."""
    with torch.no_grad():
        mine = t.detach().coalesce()
        counts = _agree(group, size, mine, seconds)
        indices = _gather(group, counts, mine.indices().t(), seconds).t()
        values = _gather(group, counts, mine.values(), seconds)
        if t.dtype in _HALF:
            values = values.float()  # rounded once
        total = sparse(indices, values, t.shape, False).coalesce()
        if name == 'AVG':
            total = total / size
        t.copy_(total.to(t.dtype))
