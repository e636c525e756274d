# SPDX-License-Identifier: Apache-2.0
"""Any picklable object as a few bytes and, apart from them, the memory of the tensors and arrays in it."""

from __future__ import annotations

import io
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import torch

from .. import _key
from ..errors import make
from ._tensors import bytes_of, dtype_named, name_of, plain_reason, tensor_on

_ALIGN = 64
_FUNCTION = 'torch.DataLoader'


class Stack:
    """Tensors of one shape and type that are to be stacked where they are going to lie."""

    __slots__ = ('samples', 'shape', 'dtype')

    def __init__(self, samples: list[torch.Tensor]) -> None:
        first = samples[0]
        self.samples, self.shape, self.dtype = samples, (len(samples), *first.shape), first.dtype


def stack_later(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Stands for the stacking of tensors in torch's collation."""
    first = batch[0]
    shape, dtype = first.shape, first.dtype
    for position, one in enumerate(batch):
        if one.shape != shape:
            raise make(_FUNCTION, 'value', f'the tensors of a batch must have one shape, but sample 0 of it has {tuple(shape)} and '
                                           f'sample {position} has {tuple(one.shape)}: make them equal, or give a collate_fn '
                                           'that pads')
        if type(one) is not torch.Tensor or one.dtype != dtype or one.requires_grad or plain_reason(one):
            return torch.stack(list(batch), 0)  # as torch does it; what cannot be sent is refused then
    return Stack(list(batch))


class _Placing:
    """For a pickler: pickles an object, but for tensors and arrays. `size`: bytes of memory that these need."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, 5)  # type: ignore[call-arg]
        self.size = 0
        self._parts: list[tuple[Any, Any]] = []
        self._seen: dict[int, Any] = {}

    def pack(self, x: Any) -> bytes:
        self.dump(x)  # type: ignore[attr-defined]
        return self._file.getvalue()

    def persistent_id(self, x: Any) -> Any:
        kind = type(x)
        if kind is Stack or kind is torch.Tensor:
            return self._known(x) or self._tensor(x)
        if kind is np.ndarray and not x.dtype.hasobject:
            return self._known(x) or self._note(x, ('a', x.dtype, x.shape, self._room(x.nbytes)))
        return None

    def _known(self, x: Any) -> Any:
        return self._seen.get(id(x))

    def _note(self, x: Any, place: Any) -> Any:
        self._seen[id(x)] = place
        self._parts.append((x, place))  # keeps x, and so its id
        return place

    def _room(self, size: int) -> int:
        at = self.size
        self.size += -(-max(size, 1) // _ALIGN) * _ALIGN  # also empty ones have a place that is theirs alone
        return at

    def _tensor(self, x: Any) -> Any:
        grad = False
        if type(x) is torch.Tensor:
            if x.layout is torch.sparse_coo and x.device.type == 'cpu':
                x = x.detach()  # its parts are tensors themselves, and are pickled as such
                return 's', x._indices(), x._values(), tuple(x.shape), x.is_coalesced()
            wrong = plain_reason(x)
            if wrong:
                raise make(_FUNCTION, 'unsupported', f'a tensor of a batch {wrong}')
            if x.requires_grad and not x.is_leaf:
                raise make(_FUNCTION, 'value', 'a tensor of a batch requires grad, and how it was computed stays in the worker: '
                                               'use x.detach()')
            grad = x.requires_grad
        count = 1
        for side in x.shape:
            count *= side
        size = count * (x.samples[0] if type(x) is Stack else x).element_size()
        return self._note(x, ('t', name_of(x.dtype), tuple(x.shape), self._room(size), grad))

    def write(self, raw: np.ndarray[Any, Any]) -> None:
        """Copies the tensors and arrays to these bytes."""
        for x, place in self._parts:
            if place[0] == 'a':
                np.ndarray(place[2], place[1], raw, place[3])[...] = x
                continue
            target = tensor_on(raw, x.dtype, place[2], place[3])
            if target.numel() == 0:
                continue
            if type(x) is Stack:
                torch.stack(x.samples, 0, out=target)
            else:
                target.copy_(x.detach())


class Packer(_Placing, pickle.Pickler):
    """For batches."""


# --- to processes that are started by spawn or forkserver -----------------------------------------------------------------------------------


class _SendingPacker(_Placing, ForkingPickler):
    """For what such a process is given: its locks and descriptors go as multiprocessing sends them."""

    def _tensor(self, x: Any) -> Any:
        if x.is_shared() or x.requires_grad or plain_reason(x):
            return None  # torch knows how
        return super()._tensor(x)


class Sent:
    """An argument of processes. Its tensors and arrays lie once in the pool, for all of them; each process has them
    copy-on-write, as it would after a fork. (torch's way puts tensors into /dev/shm, which may be small.)"""

    def __init__(self, pool: Any, x: Any) -> None:
        self._pool, self._x = pool, x
        self._memory: Any = None

    def __reduce__(self) -> Any:
        packer = _SendingPacker()
        data = packer.pack(self._x)
        if packer.size == 0:
            return _received, (None, data)
        if self._memory is None or self._memory.nbytes != packer.size:
            self.free()
            self._memory = self._pool.alloc(packer.size, np.uint8, own=False)
            packer.write(bytes_of(self._memory))
        return _received, (self._pool.export(self._memory), data)

    def free(self) -> None:
        """When the processes have ended."""
        if self._memory is not None:
            self._pool.free(self._memory)
            self._memory = None


def _received(key: str | None, data: bytes) -> Any:
    return unpack(data, bytes_of(_key.import_(key, 'cow')) if key is not None else np.empty(0, np.uint8))


# --- and back -------------------------------------------------------------------------------------------------------------------------------


def sparse(indices: Any, values: Any, shape: Any, coalesced: bool) -> Any:
    """A tensor of parts that came from another process."""
    try:
        made = torch.sparse_coo_tensor(indices, values, shape, check_invariants=True)
    except TypeError:  # torch 1, which always checks
        made = torch.sparse_coo_tensor(indices, values, shape)
    return made._coalesced_(coalesced)


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, raw: np.ndarray[Any, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._raw = raw
        self._made: dict[Any, Any] = {}

    def persistent_load(self, place: Any) -> Any:
        if place[0] == 'a':
            _, kind, shape, at = place
            made: Any = np.ndarray(shape, kind, self._raw[at:])
        elif place[0] == 's':
            made = sparse(*place[1:])
        else:
            _, name, shape, at, grad = place
            made = self._made.get(at)  # one object that was there twice
            if made is None:
                made = tensor_on(self._raw, dtype_named(_FUNCTION, name), shape, at)
                self._made[at] = made
                if grad:
                    made.requires_grad_(True)
        return made


def unpack(data: bytes, raw: np.ndarray[Any, Any]) -> Any:
    """The object again, its tensors and arrays on these bytes."""
    return _Unpacker(data, raw).load()
