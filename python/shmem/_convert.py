# SPDX-License-Identifier: Apache-2.0
"""What somebody gives, as an array of another dtype: where a value would become a different one, that is an error."""

from __future__ import annotations

import operator
from typing import Any, Iterator

import numpy as np

from .errors import Error, make, shown

_KINDS = {'i': 'integers', 'u': 'integers', 'f': 'numbers', 'c': 'numbers', 'b': 'true or false', 'S': 'bytes', 'U': 'text'}
# From which kinds of elements a kind can be had; what is not here NumPy decides.
_FROM = {'i': 'biuO', 'u': 'biuO', 'f': 'biufO', 'c': 'biufcO', 'b': 'biuO', 'S': 'SUO', 'U': 'SUO'}


def converted(function: str, argument: str, given: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A C-contiguous array with the elements of `given`, as this dtype. What is only rounded, as a double that becomes a float,
    is no other value. Raises InvalidArgument where NumPy makes no array of it, and WrongType or OutOfRange for a value that
    does not fit, with its position."""
    try:
        if hasattr(given, '__array__'):
            given = np.asarray(given)
            if np.can_cast(given.dtype, kind):
                return np.asarray(given, kind, 'C')
        if kind.names is not None:
            return _checked_records(function, argument, given, kind)
        return _checked(function, argument, given, kind)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, Error):
            raise
        raise make(function, 'value', f'{argument} {"do" if argument[-1:] == "s" else "does"} not fit: {error}') from None


def _checked(function: str, argument: str, given: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    natural = given if isinstance(given, np.ndarray) else _natural(given, kind)
    if natural.dtype == kind or (natural.dtype.kind != 'O' and np.can_cast(natural.dtype, kind)):
        return np.asarray(natural, kind, 'C')
    if natural.dtype.kind not in _FROM.get(kind.kind, natural.dtype.kind):
        _refuse_kind(function, argument, given, natural, kind)
        natural = np.array(given, object)  # integers that no integer of NumPy holds all
    if natural.dtype.kind == 'O':
        _check_objects(function, argument, natural, kind)
        return np.asarray(natural, kind, 'C')
    if kind.kind in 'iu':  # before they are made: what does not fit is cut off
        low, high = _bounds(kind)
        flat = natural.reshape(-1)  # NumPy 1 compares single numbers of 64 bits as floats
        outside = ((flat < low) | (flat > high)).reshape(natural.shape)
        _refuse_any(function, argument, outside, natural, f'items are from {low} to {high}')
        return np.asarray(natural, kind, 'C')
    if kind.kind == 'f' and (np.abs(natural) <= _largest(kind)).all():
        return np.asarray(natural, kind, 'C')
    with np.errstate(over='ignore', invalid='ignore'):
        made = np.asarray(natural, kind, 'C')
        _refuse_any(function, argument, _changed(natural, made), natural, f'does not fit into {kind}')
    return made


def _natural(given: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of it with the dtype that NumPy chooses."""
    if kind.kind not in 'mM':
        return np.asarray(given)
    try:
        return np.asarray(given, kind.kind + '8')  # with the unit that it has
    except (TypeError, ValueError):
        return np.asarray(given, kind)  # numbers of no unit


_limits: dict[Any, Any] = {}


def _largest(kind: np.dtype[Any]) -> Any:
    """The largest number of a kind of floats."""
    if kind not in _limits:
        _limits[kind] = float(np.finfo(kind).max)
    return _limits[kind]


def _bounds(kind: np.dtype[Any]) -> tuple[int, int]:
    info = np.iinfo(kind)
    return int(info.min), int(info.max)


def _changed(given: np.ndarray[Any, Any], made: np.ndarray[Any, Any]) -> Any:
    """Which elements are different ones now."""
    kind = made.dtype.kind
    if kind in 'fc':
        return np.isinf(made) & ~np.isinf(given)
    if kind == 'V':
        return np.full(given.shape, given.dtype.itemsize > made.dtype.itemsize)
    if kind in 'mM' and given.dtype.kind != kind:
        return np.zeros(given.shape, bool)
    back = made.astype(given.dtype)
    return (back != given) & (back == back) if kind in 'mM' else back != given


def _at(argument: str, position: Any) -> str:
    return argument + ''.join(f'[{at}]' for at in position)


def _refuse_any(function: str, argument: str, wrong: Any, given: np.ndarray[Any, Any], text: str) -> None:
    if not np.any(wrong):
        return
    position = tuple(int(side[0]) for side in np.nonzero(np.atleast_1d(wrong))) if given.ndim else ()
    raise make(function, 'range', f'{_at(argument, position)} is {shown(given[position].item())}, '
                                  f'{"but " if text.startswith("items") else "which "}{text}')


def _refuse_kind(function: str, argument: str, given: Any, natural: np.ndarray[Any, Any], kind: np.dtype[Any]) -> None:
    """Raises for the first element that is of another kind than items; of a list each is looked at by itself."""
    if isinstance(given, np.ndarray):
        if given.size == 0:
            return
        position: tuple[int, ...] = (0,) * given.ndim
        if given.dtype.kind in 'fc' and kind.kind in 'iub':  # rather one that shows why
            odd = np.nonzero(np.atleast_1d(given != np.trunc(given.real)))
            position = tuple(int(side[0]) for side in odd) if given.ndim and odd[0].size else position
        value = given[position]
        raise make(function, 'type', f'{_at(argument, position)} is {shown(value.item())}, a {value.dtype}, but items are {kind}')
    _check_objects(function, argument, np.array(given, object), kind)


def _check_objects(function: str, argument: str, given: np.ndarray[Any, Any], kind: np.dtype[Any]) -> None:
    """One by one."""
    for position, value in np.ndenumerate(given):
        where = _at(argument, position)
        try:
            if kind.kind in 'iub':
                _check_integer(function, where, operator.index(value), kind)
            elif kind.kind in 'fcSU':
                one = _single(value, kind)
                with np.errstate(over='ignore', invalid='ignore'):
                    _refuse_any(function, where, _changed(one, one.astype(kind)), one, f'does not fit into {kind}')
        except OverflowError:
            raise make(function, 'range', f'{where} is {shown(value)}, which does not fit into {kind}') from None
        except TypeError as error:
            if isinstance(error, Error):
                raise
            raise make(function, 'type', f'{where} is {shown(value)}, but items are {_KINDS[kind.kind]} ({kind})') from None


def _check_integer(function: str, where: str, number: int, kind: np.dtype[Any]) -> None:
    low, high = (0, 1) if kind.kind == 'b' else _bounds(kind)
    if not low <= number <= high:
        raise make(function, 'range', f'{where} is {shown(number)}, but items are from {low} to {high}')


def _single(value: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An element as NumPy has it; TypeError where it is nothing of this kind."""
    if value is None or isinstance(value, (bytes, str)) != (kind.kind in 'SU'):
        raise TypeError
    one = np.asarray(value)
    if one.dtype.kind == 'O':  # huge integers, and what else says that it is a number
        one = np.asarray(complex(value) if kind.kind == 'c' else float(value))
    if one.dtype.kind not in _FROM[kind.kind]:
        raise TypeError
    return one


def _records(given: Any) -> Iterator[tuple[Any, ...]]:
    """Tuples are records, and whatever else has parts has them in it."""
    if isinstance(given, tuple):
        yield given
    elif isinstance(given, (np.void, np.ndarray)):
        yield from _records(given.tolist())
    else:
        for part in given:
            yield from _records(part)


def _checked_records(function: str, argument: str, given: Any, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    names: Any = kind.names
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        for theirs, ours in zip(given.dtype.names, names):  # by their order, as NumPy does it
            _check_field(function, f"{argument}['{ours}']", given[theirs], kind, ours)
        return np.asarray(given, kind, 'C')
    try:
        made = np.asarray(given, kind, 'C')
        if made.tolist() == given:
            return made
        many = made.ndim > 0
    except (OverflowError, Warning):  # Warning: where somebody makes errors of NumPy's
        made, many = None, isinstance(given, list)
    except ValueError:  # fields that are arrays are not simply compared
        made = np.asarray(given, kind, 'C')
        many = made.ndim > 0
    for number, record in enumerate(_records(given)):
        for name, value in zip(names, record):
            _check_field(function, f"{argument}[{number}]['{name}']" if many else f"{argument}['{name}']", value, kind, name)
    return np.asarray(given, kind, 'C') if made is None else made


def _check_field(function: str, argument: str, value: Any, kind: np.dtype[Any], name: str) -> None:
    field = kind.fields[name][0].base  # type: ignore[index]
    if not isinstance(value, np.ndarray) or not np.can_cast(value.dtype, field):
        (_checked if field.names is None else _checked_records)(function, argument, value, field)
