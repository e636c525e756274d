# SPDX-License-Identifier: Apache-2.0
"""Objects that say which memory is used: a program that could change what they say would write anywhere."""

from __future__ import annotations

from typing import Any

from .errors import make

set_once = object.__setattr__


class Fixed:
    """Its public attributes cannot be assigned or deleted; reading them costs nothing more than with others."""

    __slots__ = ()
    _instead: dict[str, str] = {}  # what to do, by attribute

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] != '_':
            raise _refusal(type(self), name)
        set_once(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise _refusal(type(self), name)


def _refusal(kind: type, name: str) -> Exception:
    kind = next(base for base in kind.__mro__ if base.__name__[:1] != '_')
    if not hasattr(kind, name):
        return make(f'{kind.__name__}.{name}', 'fixed', f'a {kind.__name__} has no such attribute, and takes no further ones')
    instead = kind._instead.get(name)  # type: ignore[attr-defined]
    return make(f'{kind.__name__}.{name}', 'fixed', 'it cannot be set, because it says which memory is used' +
                (f': {instead}' if instead else ''))
