# SPDX-License-Identifier: Apache-2.0
"""What shmem raises.

Every exception is a :class:`shmem.Error`, with the errno of the C library in ``.errno`` and one sentence that names
the function, the argument and what was found. Where Python has a class for that kind of mistake, it is one of those
as well: ``except IndexError`` and ``except shmem.Error`` both catch an offset past the end of a region.
"""

from __future__ import annotations

import errno as _errno

__all__ = [
    'Error', 'OwnerDied', 'PeerDied', 'Timeout', 'NotInitialized', 'NotSupported', 'InvalidArgument', 'WrongType',
    'OutOfRange', 'BadBuffer', 'AccessDenied', 'OutOfMemory', 'Stale', 'Busy', 'Deadlock', 'TooSmall',
]


class Error(RuntimeError):
    """Any failure of shmem. ``errno`` is the C library's error number, or None."""

    errno: int | None = None

    def __init__(self, text: str = '', errno: int | None = None) -> None:
        super().__init__(text)
        self.errno = errno


class OwnerDied(Error):
    """A PE that was needed died or left the job. The text names it. Also called PeerDied."""


PeerDied = OwnerDied


class Timeout(Error, TimeoutError):
    """The timeout passed before what was waited for."""


class NotInitialized(Error):
    """There is no job: before init, after finalize, or in a forked child."""


class NotSupported(Error, NotImplementedError):
    """This build or this machine cannot do it; the text says what is missing."""


class InvalidArgument(Error, ValueError):
    """An argument has a value that cannot be."""


class WrongType(Error, TypeError):
    """An argument has a type that cannot be, or elements of a type that the operation does not take."""


class OutOfRange(Error, IndexError, ValueError):
    """A PE that the job does not have, bytes outside a region, a value that does not fit into the element."""


class BadBuffer(Error, BufferError, ValueError):
    """Memory that cannot be used: not contiguous, read-only or empty."""


class AccessDenied(Error, PermissionError):
    """The region's owner does not allow this."""


class OutOfMemory(Error, MemoryError):
    """Memory, or what the system allows of it, does not suffice."""


class Stale(Error, LookupError):
    """A region or an array that is no more: deregistered, freed, closed, or of a job that is over."""


class Busy(Error):
    """Another thread, or the system, is using it."""


class Deadlock(Error):
    """PEs wait for each other in a circle."""


class TooSmall(Error, ValueError):
    """The target of a put without a named region has fewer bytes than the put."""


_BY_ERRNO: dict[int, type[Error]] = {
    _errno.EOWNERDEAD: OwnerDied,
    _errno.ETIMEDOUT: Timeout,
    _errno.EPERM: NotInitialized,
    _errno.ENOTSUP: NotSupported,
    _errno.ENOSYS: NotSupported,
    _errno.EINVAL: InvalidArgument,
    _errno.EEXIST: InvalidArgument,
    _errno.EFAULT: InvalidArgument,
    _errno.EACCES: AccessDenied,
    _errno.ENOMEM: OutOfMemory,
    _errno.ENOSPC: OutOfMemory,
    _errno.ENOENT: Stale,
    _errno.EBUSY: Busy,
    _errno.EDEADLK: Deadlock,
    _errno.EMSGSIZE: TooSmall,
}

_BY_KIND: dict[str, tuple[type[Error], int]] = {
    'type': (WrongType, _errno.EINVAL),
    'value': (InvalidArgument, _errno.EINVAL),
    'range': (OutOfRange, _errno.EINVAL),
    'stale': (Stale, _errno.ENOENT),
    'access': (AccessDenied, _errno.EACCES),
    'busy': (Busy, _errno.EBUSY),
    'buffer': (BadBuffer, _errno.EINVAL),
    'memory': (OutOfMemory, _errno.ENOMEM),
    'unsupported': (NotSupported, _errno.ENOTSUP),
}


def make(function: str, code: int | str, text: str) -> Error:
    """The exception for an errno, or for one of the kinds above, raised by shmem.<function>."""
    if isinstance(code, str):
        kind, number = _BY_KIND[code]
    else:
        kind, number = _BY_ERRNO.get(code, Error), code
    return kind(f'shmem.{function}: {text}', number)
