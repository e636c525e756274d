# SPDX-License-Identifier: Apache-2.0
"""Gradients on their way from workers to whoever has the parameters."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import numbers
from typing import Any, Iterator, NamedTuple

import numpy as np
import torch

from .. import _key, _pool
from .._argument import whole
from ..errors import make, said_by, shown
from ._share import need_module
from ._tensors import bytes_of, check_pool, is_lazy, name_of, plain_reason, tensor_on

# An item of the queue: the worker, the version, for each parameter whether it has a gradient, and from multiples of 64 bytes
# on the gradients. What the parameters are lies as JSON in a buffer of the pool, whose key is the second word of the key.
_ALIGN = 64
_CAPACITY_MOST = 1 << 20
_WORD = (-(1 << 63), (1 << 63) - 1)


class _Place(NamedTuple):
    """A parameter, and where its gradient is in an item."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    at: int


def _places(function: str, module: Any) -> tuple[list[_Place], int]:
    """Those of a module, and the bytes of an item."""
    need_module(function, module)
    parameters = list(module.named_parameters())
    at = -(-8 * (2 + len(parameters)) // _ALIGN) * _ALIGN
    places = []
    for name, parameter in parameters:
        if is_lazy(parameter) or parameter.device.type not in ('cpu', 'meta') or parameter.is_quantized:
            raise make(function, 'unsupported', f"parameter '{name}' {plain_reason(parameter)}")
        places.append(_Place(name, parameter.dtype, tuple(parameter.shape), at))
        at += -(-math.prod(parameter.shape) * parameter.element_size() // _ALIGN) * _ALIGN
    return places, at


def _texts(places: list[_Place]) -> list[list[Any]]:
    return [[place.name, name_of(place.dtype), list(place.shape)] for place in places]


def _compare(function: str, here: list[list[Any]], there: list[list[Any]], what: str) -> None:
    """Raises for the first parameter of a module that is not that of the gradients. Both as ``_texts()`` has it."""
    for mine, theirs in itertools.zip_longest(here, there):
        if mine == theirs:
            continue
        if mine is None:
            raise make(function, 'value', f"{what} are of a module with the parameter '{theirs[0]}', and the module here ends before it")
        if theirs is None:
            raise make(function, 'value', f"parameter '{mine[0]}' of the module is not among those that {what} are of")
        if mine[0] != theirs[0]:
            raise make(function, 'value', f"the module has the parameter '{mine[0]}' where that of {what} has '{theirs[0]}'")
        raise make(function, 'value', f"parameter '{mine[0]}' has the shape {tuple(mine[2])} and elements of {mine[1]}, and {what} "
                                      f'are of {tuple(theirs[2])} and {theirs[1]}')


def _parameters(function: str, module: Any, places: list[_Place]) -> list[torch.nn.Parameter]:
    """Those of a module, which must be of the architecture that the places are of."""
    need_module(function, module)
    parameters = list(module.named_parameters())
    if len(parameters) != len(places) or any(
            name != place.name or is_lazy(parameter) or parameter.dtype is not place.dtype or parameter.shape != place.shape
            for (name, parameter), place in zip(parameters, places)):
        _compare(function, _texts(_places(function, module)[0]), _texts(places), 'the gradients')
    return [parameter for _, parameter in parameters]


class Gradient:
    """A gradient that somebody pushed. worker, version: as they were given to ``push()``; tensors: by the names of the
    parameters, None for those that had none. Only in the with block."""

    __slots__ = ('worker', 'version', 'tensors', '_places')

    def __init__(self, worker: int, version: int, tensors: dict[str, Any], places: list[_Place]) -> None:
        self.worker, self.version, self.tensors, self._places = worker, version, tensors, places

    def add_to(self, module: torch.nn.Module, scale: float = 1.0) -> None:
        """Adds it, times scale, to the gradients of a module's parameters. Raises InvalidArgument (another architecture: the first
        parameter that differs is named); nothing was added then."""
        function = 'torch.Gradient.add_to'
        try:
            factor = float(scale) if isinstance(scale, numbers.Real) else None
        except OverflowError:
            factor = None
        if factor is None:
            raise make(function, 'type', f'scale is {shown(scale)}, but must be a number that a float holds')
        with torch.no_grad():
            for parameter, place in zip(_parameters(function, module, self._places), self._places):
                tensor = self.tensors[place.name]
                if tensor is None:
                    continue
                if parameter.grad is None:
                    parameter.grad = tensor * factor
                elif parameter.grad.is_sparse:
                    parameter.grad = tensor * factor + parameter.grad
                else:
                    parameter.grad.add_(tensor, alpha=factor)


class Gradients:
    """Gradients on their way from workers to whoever has the parameters, through a queue in a pool. Can be pickled; ``key`` is
    text for ``Gradients.attach(key, module)``.

    module: whose parameters they are of. capacity: how many may be waiting; who pushes more waits. pool: a Pool; None: a new
    one.

    A gradient arrives whole or not at all, whoever is killed; those of a worker arrive in its order.

    Raises: PoolFull, NotSupported (parameters on another device), WrongType, InvalidArgument.
    """

    def __init__(self, module: torch.nn.Module, capacity: int = 8, pool: Any = None) -> None:
        function = 'torch.Gradients'
        self._places, size = _places(function, module)
        capacity = whole(function, 'capacity', capacity, 1, _CAPACITY_MOST)
        text = json.dumps(_texts(self._places), separators=(',', ':')).encode()
        if check_pool(function, pool) is None:
            pool = _pool.create_pool((capacity + 2) * (size + 256) + len(text) + (1 << 20), grow=True)
        with said_by(function):
            self._queue = pool.create_queue((np.float64, size // 8), capacity)
            note = pool.alloc(len(text), np.uint8, own=False)
            note[:] = np.frombuffer(text, np.uint8)
            self.key = f'{self._queue.export()} {pool.export(note)}'

    @classmethod
    def attach(cls, key: str, module: torch.nn.Module) -> 'Gradients':
        """Those of another process. module: of the same architecture. Raises: InvalidArgument (another one: the first parameter
        that differs is named), and as ``import_()``."""
        function = 'torch.Gradients.attach'
        made = object.__new__(cls)
        made._places, size = _places(function, module)
        if not isinstance(key, str) or key.count(' ') != 1:
            raise make(function, 'value', f'key is {shown(key)}, which is no key of gradients')
        with said_by(function):
            queue, note = map(_key.import_, key.split(' '))
        _compare(function, _texts(made._places), _read(function, note), 'the gradients')
        made._queue, made.key = queue, key
        if getattr(queue, 'item', None) != (np.dtype(np.float64), (size // 8,)):
            raise make(function, 'value', 'key is of something else, and not of gradients')
        return made

    def push(self, module: torch.nn.Module, worker: int = 0, version: int = 0, timeout: float | None = None) -> None:
        """Sends the gradients that the parameters of the module have. worker, version: integers for the receiver. Raises:
        QueueFull (timeout), QueueClosed, InvalidArgument (another architecture: the first parameter that differs is named)."""
        function = 'torch.Gradients.push'
        gradients = [parameter.grad for parameter in _parameters(function, module, self._places)]
        head = [whole(function, 'worker', worker, *_WORD), whole(function, 'version', version, *_WORD)]
        for gradient, (name, dtype, shape, _) in zip(gradients, self._places):
            if gradient is not None and (gradient.dtype != dtype or tuple(gradient.shape) != shape):
                raise make(function, 'value', f"the gradient of '{name}' has the shape {tuple(gradient.shape)} and elements of "
                                              f'{gradient.dtype}, and must have {shape} and {dtype}')
        head += [gradient is not None for gradient in gradients]
        with contextlib.ExitStack() as stack:
            with said_by(function):
                slot = stack.enter_context(self._queue.reserve(None, True, timeout))
            raw = bytes_of(slot)
            np.ndarray((len(head),), np.int64, raw)[:] = head
            for gradient, (_, dtype, shape, at) in zip(gradients, self._places):
                if gradient is not None and gradient.numel():
                    tensor_on(raw, dtype, shape, at).copy_(gradient.to_dense() if gradient.is_sparse else gradient)

    @contextlib.contextmanager
    def pop(self, timeout: float | None = None) -> Iterator[Gradient]:
        """For a with statement: the oldest Gradient, where it lies. It is taken at the end of the block; if the block raises
        or this process dies, it is the next one again. Raises: QueueEmpty (timeout), QueueClosed."""
        with contextlib.ExitStack() as stack:
            with said_by('torch.Gradients.pop'):
                item = stack.enter_context(self._queue.peek(True, timeout))
            raw = bytes_of(item)
            head: Any = np.ndarray((2 + len(self._places),), np.int64, raw)
            tensors = {name: tensor_on(raw, dtype, shape, at) if head[2 + number] else None
                       for number, (name, dtype, shape, at) in enumerate(self._places)}
            yield Gradient(int(head[0]), int(head[1]), tensors, self._places)

    def close(self) -> None:
        """No more gradients: ``push()`` raises QueueClosed, ``pop()`` too once all are taken."""
        with said_by('torch.Gradients.close'):
            self._queue.close()

    def waiting(self) -> int:
        """How many have been pushed and not popped."""
        with said_by('torch.Gradients.waiting'):
            return self._queue.qsize()  # type: ignore[no-any-return]


def _read(function: str, note: Any) -> list[list[Any]]:
    """What lies in the pool of the parameters. It may be anybody's."""
    try:
        read = json.loads(note.tobytes())
        for name, dtype, shape in read:
            if not isinstance(name, str) or not isinstance(dtype, str) or not all(isinstance(side, int) for side in shape):
                raise ValueError
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise make(function, 'value', 'key is of something else, and not of gradients') from None
    return read  # type: ignore[no-any-return]
