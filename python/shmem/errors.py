# SPDX-License-Identifier: Apache-2.0
"""What shmem raises.

Every exception is a :class:`shmem.Error`, with the errno of the C library in ``.errno`` and one sentence that names
the function, the argument and what was found. Where Python has a class for that kind of mistake, it is one of those
as well: ``except IndexError`` and ``except shmem.Error`` both catch an offset past the end of a region.
"""

from __future__ import annotations

import contextlib as _contextlib
import errno as _errno
import queue as _queue
import threading as _threading
from typing import Any, Iterator

__all__ = [
    'Error', 'OwnerDied', 'PeerDied', 'Timeout', 'NotInitialized', 'NotSupported', 'InvalidArgument', 'WrongType',
    'OutOfRange', 'BadBuffer', 'AccessDenied', 'OutOfMemory', 'Stale', 'Busy', 'Deadlock', 'TooSmall',
    'AlreadyExists', 'DeviceMissing', 'PoolFull', 'NameUnknown', 'KeyMalformed', 'KeyUnknown', 'KeyRevoked', 'KeyRefused',
    'KeyOrphaned', 'FileMissing', 'NotAShmemFile', 'FileDamaged', 'FileVersion', 'NotRecoverable', 'NotOwner',
    'BarrierBroken', 'QueueFull', 'QueueEmpty', 'QueueClosed', 'ReadOnly',
]


class Error(RuntimeError):
    """Any failure of shmem. ``errno`` is the C library's error number, or None."""

    errno: int | None = None

    def __init__(self, text: str = '', errno: int | None = None) -> None:
        super().__init__(text)
        self.errno = errno


class OwnerDied(Error):
    """Who was needed died: a PE, or the holder of a lock. The text names it. Also called PeerDied.

    ``held``: True when the lock was taken all the same, and is this thread's: what it guards may be half changed. Repair
    that, say ``consistent()``, and release it.
    """

    held: bool = False


PeerDied = OwnerDied


class Timeout(Error, TimeoutError):
    """The timeout passed before what was waited for."""


class NotInitialized(Error):
    """There is no job: before init, after finalize, or in a forked child. Or devices cannot be used, because this process was
    forked by one that had."""


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


class AlreadyExists(InvalidArgument, FileExistsError):
    """The name, or the file, is there already."""


class DeviceMissing(NotSupported):
    """The type of memory is not to be had here; the text says which library, driver or device is missing."""


class PoolFull(OutOfMemory):
    """No room in the pool; the text tells how much is free, and what the largest free block is."""


class NameUnknown(Error, KeyError):
    """There is no buffer, or no pool, of this name."""

    __str__ = Exception.__str__  # KeyError's puts quotation marks around the text


class KeyMalformed(InvalidArgument):
    """The text is no key, or was mistyped or cut off."""


class KeyUnknown(Error, LookupError):
    """There is no such key: it was never made, or was revoked long ago."""


class KeyRevoked(Error, LookupError):
    """The key was revoked, or its buffer was freed."""


class KeyRefused(AccessDenied):
    """The key does not grant this to this process; the text says what was asked for and what is granted."""


class KeyOrphaned(Error, LookupError):
    """No living process holds the memory that the key opens."""


class FileMissing(Error, FileNotFoundError):
    """There is no such file or folder."""


class NotAShmemFile(InvalidArgument):
    """The file is something else."""


class FileDamaged(Error, ValueError):
    """The file was truncated or is damaged; the text says where."""


class FileVersion(NotSupported):
    """The file was written by a newer version, or by a build with another layout."""


class NotRecoverable(Error):
    """A holder of the lock died, and the next one gave it back without saying ``consistent()``: nobody gets it any more."""


class NotOwner(Error):
    """This thread does not have what it wants to give back; the text says who has it."""


class BarrierBroken(OwnerDied, _threading.BrokenBarrierError):
    """One who took part in the barrier died. The next rounds run without it."""


class QueueFull(Error, _queue.Full):
    """There is no room in the queue, now or within the timeout."""


class QueueEmpty(Error, _queue.Empty):
    """There is nothing in the queue, now or within the timeout."""


_Closed: Any = getattr(_queue, 'ShutDown', EOFError)  # of Python 3.13


class QueueClosed(Error, _Closed):
    """Somebody closed the queue: nothing more goes in, and (for who gets) all that was in it is out."""


class ReadOnly(Error, AttributeError):
    """An attribute that cannot be set, because it says which memory is used."""


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
    _errno.EEXIST: AlreadyExists,
    _errno.EFAULT: InvalidArgument,
    _errno.EACCES: AccessDenied,
    _errno.ENOMEM: OutOfMemory,
    _errno.ENOSPC: OutOfMemory,
    _errno.ENOENT: Stale,
    _errno.EBUSY: Busy,
    _errno.EDEADLK: Deadlock,
    _errno.EMSGSIZE: TooSmall,
    _errno.ENOTRECOVERABLE: NotRecoverable,
    _errno.EPIPE: QueueClosed,
    _errno.ERANGE: OutOfRange,
    _errno.EOVERFLOW: OutOfRange,
    _errno.EUSERS: Busy,
    _errno.E2BIG: InvalidArgument,
    _errno.ENAMETOOLONG: InvalidArgument,
    _errno.EFBIG: OutOfRange,
    _errno.EMFILE: OutOfMemory,
    _errno.ENFILE: OutOfMemory,
    _errno.ENODEV: DeviceMissing,
    _errno.EROFS: AccessDenied,
    _errno.EBADF: Stale,
    _errno.EILSEQ: FileDamaged,
    _errno.ENOKEY: KeyUnknown,
    _errno.EKEYREVOKED: KeyRevoked,
    _errno.EKEYEXPIRED: KeyOrphaned,
    _errno.ESTALE: OwnerDied,
    _errno.EMEDIUMTYPE: WrongType,
    _errno.EBADFD: Stale,
}

# Where an errno means something else.
_POOL: dict[int, type[Error]] = {_errno.EPERM: AccessDenied}
_KEY: dict[int, type[Error]] = {_errno.EPERM: KeyRefused, _errno.EACCES: KeyRefused, _errno.EINVAL: KeyMalformed}
_FILE: dict[int, type[Error]] = {_errno.EPERM: AccessDenied, _errno.ENOENT: FileMissing, _errno.ENOTDIR: FileMissing}
_NAME: dict[int, type[Error]] = {_errno.ENOENT: NameUnknown}
_BY_FUNCTION: dict[str, dict[int, type[Error]]] = {
    'create_pool': _POOL,
    'open_pool': {**_KEY, **_NAME},
    'create_file': _FILE,
    'open_file': {**_FILE, _errno.EINVAL: NotAShmemFile, _errno.EPROTO: FileVersion},
    'import_': _KEY,
    'revoke': _KEY,
    'Pool.revoke': _KEY,
    'DevicePool.revoke': _KEY,
    'DevicePool.alloc': {_errno.ENOMEM: PoolFull, _errno.EFBIG: PoolFull},
    'Pool.alloc': {_errno.ENOMEM: PoolFull, _errno.EFBIG: PoolFull},
    'Pool.find': _NAME,
    'Pool.unname': _NAME,
    'heap.find': _NAME,
    **{f'{name}.on': {} for name in ('Mutex', 'RWLock', 'Semaphore', 'Condition')},  # whose _LOCK does not count
}
# The same for all methods of a class.
_LOCK: dict[int, type[Error]] = {_errno.EPERM: NotOwner}
_BY_CLASS: dict[str, dict[int, type[Error]]] = {
    'Mutex': _LOCK, 'RWLock': _LOCK, 'Semaphore': _LOCK, 'Condition': _LOCK,
    'Barrier': {_errno.EOWNERDEAD: BarrierBroken},
    'Stream': {_errno.EPIPE: Error, _errno.ECANCELED: Stale, _errno.EAGAIN: Busy},
    'Queue': {_errno.EIO: FileDamaged, _errno.EPROTO: FileDamaged},
}
# Where OwnerDied says that the lock was taken.
_HELD = ('Mutex.acquire', 'RWLock.acquire_write', 'Condition.wait', 'Condition.acquire')
# What else can be wrong with a call that takes a key.
_NOT_THE_KEY = ('the token ', 'this key opens ', 'memory of a device ', 'only a buffer ', 'the key is revoked', 'the name ')

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
    'full': (QueueFull, _errno.EAGAIN),
    'empty': (QueueEmpty, _errno.EAGAIN),
    'closed': (QueueClosed, _errno.EPIPE),
    'timeout': (Timeout, _errno.ETIMEDOUT),
    'fixed': (ReadOnly, _errno.EPERM),
}


def shown(x: Any) -> str:
    """What somebody gave, for a message: short, and whatever it is."""
    try:
        text = f'{x:#x}' if type(x) is int and x.bit_length() > 128 else repr(x)
    except Exception:  # of a class of its own, or with an integer of thousands of digits in it
        return f'a {type(x).__name__}'
    return text if len(text) <= 80 else f'{text[:60]}... (a {type(x).__name__})'


_LONGEST = 1000  # characters of a message


def make(function: str, code: int | str, text: str) -> Error:
    """The exception for an errno, or for one of the kinds above, raised by shmem.<function>."""
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + '...'
    if isinstance(code, str):
        kind, number = _BY_KIND[code]
    else:
        kind, number = _BY_ERRNO.get(code, Error), code
        table = _BY_FUNCTION.get('import_' if function.startswith('AtomicBuffer') else function)
        if table is None:
            table = _BY_CLASS.get(function.partition('.')[0], {})
        kind = table.get(code, kind)
        if kind is KeyMalformed and text.startswith(_NOT_THE_KEY):
            kind = InvalidArgument
    error = kind(f'shmem.{function}: {text}', number)
    if number == _errno.EPERM and 'drivers do not survive' in text:  # in whatever call
        error = NotInitialized(f'shmem.{function}: {text}', number)
    if number == _errno.ESTALE and ' was freed by its owner' in text:  # not the process that owns it
        error = Stale(f'shmem.{function}: {text}', number)
    if number == _errno.EOWNERDEAD and function in _HELD:
        error.held = True  # type: ignore[attr-defined]
    return error


@_contextlib.contextmanager
def said_by(function: str) -> Iterator[None]:
    """For a with statement: what goes wrong in it is said by shmem.<function>, which the program called, and not by what that
    calls itself."""
    try:
        yield
    except Error as error:
        text = error.args[0] if error.args else ''
        if isinstance(text, str) and text.startswith('shmem.') and ': ' in text:
            error.args = (f'shmem.{function}: {text.partition(": ")[2]}', *error.args[1:])
        raise
