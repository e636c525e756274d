# SPDX-License-Identifier: Apache-2.0
"""The other spellings that people use. The core has one spelling of each thing; all others are in the tables here."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar

from .errors import make

# other name -> name in the core
FUNCTIONS = {
    'get_rank': 'my_pe',
    'get_world_size': 'n_pes',
    'get_pe': 'my_pe',
    'unregister': 'deregister',
}

# (class, other name) -> name in the core; the first is a reserved word, for getattr()
METHODS = {
    ('Pool', 'import'): 'import_',
    ('DevicePool', 'import'): 'import_',
    ('Mutex', 'lock'): 'acquire',
    ('Mutex', 'unlock'): 'release',
    ('RWLock', 'release_read'): 'release',
    ('RWLock', 'release_write'): 'release',
    ('Semaphore', 'post'): 'release',
    ('Condition', 'signal'): 'notify',
    ('Condition', 'broadcast'): 'notify_all',
    ('Queue', 'push'): 'put',
    ('Queue', 'pop'): 'get',
    ('Queue', 'put_batch'): 'put_many',
    ('Queue', 'get_batch'): 'get_many',
}

_REGION = {'mem_region': 'region', 'mr': 'region'}
_TO = {**_REGION, 'dst': 'pe'}
_FROM = {**_REGION, 'src': 'pe', 'dst': 'pe'}

# function -> {other keyword: keyword in the core}
ARGUMENTS: dict[str, dict[str, str]] = {
    'deregister': _REGION,
    'put': _TO,
    'put_nbi': _TO,
    'put_signal': _TO,
    'put_signal_nbi': _TO,
    'get': _FROM,
    'get_nbi': _FROM,
    'peer': _FROM,
    'wait': _REGION,
    'wait_until': _REGION,
    'register': {'tensor': 'x', 'array': 'x', 'tensor_or_array': 'x'},
    'all_reduce': {'tensor': 'x'},
    'broadcast': {'tensor': 'x', 'src': 'root'},
    'all_gather': {'tensor': 'x'},
}  # functions whose names begin with atomic_: as put

# Names of reductions.
OPERATIONS = {
    'add': 'sum',
    'product': 'prod',
    'mul': 'prod',
    'minimum': 'min',
    'maximum': 'max',
    'band': 'and',
    'bor': 'or',
    'bxor': 'xor',
    'mean': 'avg',
    'average': 'avg',
}

# Names of comparisons.
COMPARISONS = {
    'eq': '==',
    'ne': '!=',
    'lt': '<',
    'le': '<=',
    'gt': '>',
    'ge': '>=',
}


def resolve(function: str, given: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """`given` (core keywords; None stands for "not given"), completed by `other`, which uses any spelling."""
    table = ARGUMENTS.get(function, _TO if function.startswith('atomic_') else {})
    for name, value in other.items():
        core = table.get(name)
        if core is None:
            raise make(function, 'type', f"there is no argument '{name}'")
        if given.get(core) is not None:
            raise make(function, 'type', f"{core} is given twice, also as '{name}'")
        given[core] = value
    return given


F = TypeVar('F', bound=Callable[..., Any])


def accepts(function: F) -> F:
    """For functions that are not called often: also takes the other spellings of its keywords."""
    name = function.__name__
    table = ARGUMENTS[name]

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        for other in table.keys() & keywords.keys():
            core = table[other]
            if core in keywords:
                raise make(name, 'type', f"{core} is given twice, also as '{other}'")
            keywords[core] = keywords.pop(other)
        return function(*args, **keywords)

    return call  # type: ignore[return-value]


def install(namespace: dict[str, Any]) -> list[str]:
    """Puts the other names of functions into the package; returns them."""
    for other, core in FUNCTIONS.items():
        namespace[other] = namespace[core]
    for (kind, other), core in METHODS.items():
        setattr(namespace[kind], other, getattr(namespace[kind], core))
    return list(FUNCTIONS)
