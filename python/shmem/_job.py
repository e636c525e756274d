# SPDX-License-Identifier: Apache-2.0
"""Joining and leaving the job."""

from __future__ import annotations

import atexit
import os
from typing import Any

from . import _ext, _symmetric
from ._symmetric import kind_of
from .errors import Error, make

_ext.set_make_error(make)
_registered_at_exit = False
_pid_of_init = 0

is_initialized = _ext.is_initialized


def _leave_at_exit() -> None:
    """The others must not wait for a PE whose interpreter ended without finalize. A forked child is no PE."""
    if os.getpid() != _pid_of_init or not _ext.is_initialized():
        return
    try:
        _ext.leave()
    except Error:
        pass  # a daemon thread is in a wait: the end of the process says the same


def _patience() -> float:
    """Seconds to look for what a peer has yet to do, where no timeout was given. The library complains of bad text."""
    try:
        return max(0.0, float(os.environ.get('SHMEM_TIMEOUT') or 60))
    except ValueError:
        return 60.0


def init(device: Any = None, rank: int | None = None, world_size: int | None = None, uid: str | bytes | None = None,
         heap_size: int | None = None) -> None:
    """Joins the job, and waits until all its PEs have joined.

    Started by ``shmemrun``, ``torchrun`` or with the variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, the
    process is a PE of that job; started plainly, it is a job of one. May be called again: only as many ``finalize()``
    end the job.

    device: where ``empty()``, ``zeros()`` and ``full()`` allocate by default (and shmem_malloc in C): 'cpu' or 'host'; 'npu' or
    'cuda', perhaps with the number of this PE's device ('cuda:1'), else its own number, modulo the devices that it sees; None:
    what SHMEM_HEAP_KIND says, else the host's memory. The same type on all PEs. A heap on devices is made here.
    rank, world_size: this PE's number from 0, and how many there are, instead of what the environment says.
    uid: text that all PEs of the job have in common, such as ``get_unique_id()`` of one of them.
    heap_size: most bytes of this PE's symmetric heap; None: SHMEM_SYMMETRIC_SIZE, or this PE's share of the memory.

    Raises: Timeout (not all PEs came within SHMEM_TIMEOUT seconds, 60 by default; the text names who), DeviceMissing and
    NotSupported (on all PEs; the text names the PE and says what is missing), InvalidArgument, OutOfRange, OutOfMemory. Collective; one thread at a time.
    """
    global _registered_at_exit, _pid_of_init
    kind = kind_of('init', device)
    if isinstance(uid, bytes):
        uid = uid.decode('ascii', 'backslashreplace')
    if uid is not None and not isinstance(uid, str):
        raise make('init', 'type', f'uid is a {type(uid).__name__}, but must be text')
    if uid is not None and '\0' in uid:
        raise make('init', 'value', 'uid has a zero character in it')
    first = not _ext.is_initialized()
    _ext.init(rank, world_size, uid, heap_size, kind, _patience())
    if first:
        _symmetric.usual_kind = kind
    _pid_of_init = os.getpid()
    if not _registered_at_exit:
        atexit.register(_leave_at_exit)
        _registered_at_exit = True


def finalize() -> None:
    """Waits for all PEs, and leaves the job. Regions and symmetric arrays of it are stale from then on: using one in a
    call raises Stale; the memory of arrays that are still held stays readable, but is nobody's any more.

    A process that ends without it leaves the job then: whoever needs this PE afterwards gets OwnerDied.

    Raises: OwnerDied (a PE died or left without finalize; this PE has left all the same), NotInitialized, Busy (other
    threads of this process are in calls of shmem). Collective; one thread at a time.
    """
    _ext.finalize()


def my_pe() -> int:
    """This PE's number, from 0. Also called get_rank. Raises NotInitialized without a job."""
    return _ext.my_pe()


def n_pes() -> int:
    """The number of PEs in the job. Also called get_world_size. Raises NotInitialized without a job."""
    return _ext.n_pes()


def get_unique_id() -> str:
    """32 random hexadecimal digits, for ``init(uid=)``. Needs no job."""
    return _ext.unique_id()
