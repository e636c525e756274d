# SPDX-License-Identifier: Apache-2.0
"""Arguments of all kinds, as people give them."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .errors import make, shown

_index = operator.index
MOST_SIDES = 64 if int(np.__version__.split('.')[0]) >= 2 else 32
_MOST = 1 << 62  # elements of a side


def flag(function: str, argument: str, value: Any) -> bool:
    """Whatever is true or false."""
    try:
        return bool(value)
    except Exception:
        raise make(function, 'type', f'{argument} is a {type(value).__name__}, which is neither true nor false') from None


def choice(function: str, argument: str, value: Any, table: dict[str, Any]) -> Any:
    """What stands in the table for a word."""
    if isinstance(value, str) and value in table:
        return table[value]
    raise make(function, 'value', f'{argument} is {shown(value)}, but must be {"one of " if len(table) > 2 else ""}' +
               (', ' if len(table) > 2 else ' or ').join(map(repr, table)))


def whole(function: str, argument: str, value: Any, low: int, high: int, instead: str = 'an integer') -> int:
    """An integer in these bounds. instead: what else it may be."""
    try:
        number = _index(value)
    except TypeError:
        raise make(function, 'type', f'{argument} is a {type(value).__name__}, but must be {instead}') from None
    if not low <= number <= high:
        raise make(function, 'range', f'{argument} is {shown(number)}, but must be {instead} from {low} to {high}')
    return number


def seconds(function: str, timeout: Any, argument: str = 'timeout') -> float | None:
    """How long somebody waits; None: for ever."""
    if timeout is None:
        return None
    try:
        if isinstance(timeout, (str, bytes)):
            raise TypeError
        number = float(timeout)
    except OverflowError:
        return None
    except Exception:  # of a class of its own
        raise make(function, 'type', f'{argument} is {shown(timeout)}, but must be a number of seconds, or None') from None
    if not number >= 0:
        raise make(function, 'value', f'{argument} is {shown(timeout)}, but must not be negative')
    return None if math.isinf(number) else number


def sides(function: str, shape: Any, argument: str = 'shape') -> tuple[int, ...]:
    """The sides of an array."""
    try:
        made = tuple(map(_index, shape)) if isinstance(shape, (tuple, list)) or not hasattr(shape, '__index__') else (_index(shape),)
    except (TypeError, ValueError):
        try:
            made = tuple(map(_index, shape))  # an array of several
        except (TypeError, ValueError):
            raise make(function, 'type', f'{argument} is {shown(shape)}, but must be an integer or a tuple of integers') from None
    if made and min(made) < 0:
        raise make(function, 'value', f'{argument} is {shown(shape)}, but sides are not negative')
    if len(made) > MOST_SIDES or (0 in made and max(made) >= _MOST):
        raise make(function, 'value', f'{argument} is {shown(shape)}, but an array has at most {MOST_SIDES} sides, and none of more '
                                      f'than {_MOST - 1} elements')
    return made
