# SPDX-License-Identifier: Apache-2.0
"""Processes use each other's memory directly.

::

    import numpy as np, shmem

    shmem.init()                                  # shmemrun -n 4 python program.py
    me, n = shmem.my_pe(), shmem.n_pes()
    inbox = np.zeros(n)
    region = shmem.register(inbox)                # in place: reachable for all from here on
    for pe in range(n):
        shmem.put(dst=pe, dst_mr=region, dst_offset=8 * me, src_mr=np.array([me + 0.5]))
    shmem.barrier()
    assert (inbox == np.arange(n) + 0.5).all()
    shmem.all_reduce(inbox)                       # any array or tensor, in place
    shmem.finalize()

Processes that were not started together share memory by pools, files and keys, which need no job::

    pool = shmem.create_pool('64M')
    weights = pool.alloc((1024, 1024), 'float32', fill=0)
    key = pool.export(weights)                    # text, for any other process of this user
    weights = shmem.import_(key)                  # there: the same memory, as a NumPy array

Mutexes, queues and the like are made in pools and files, and on the symmetric heap: see ``Pool.create_mutex()`` and ``heap``.

A *PE* is a process of the job, numbered from 0. Offsets and sizes are in bytes, timeouts in seconds. Every failure is a
``shmem.Error``; see ``shmem.errors``. Functions that wait can be interrupted by signals (Ctrl-C), and functions that copy
or wait release the GIL. In a forked child there is no job, and registered memory stays as it is.
"""

from __future__ import annotations

from . import _aliases, errors
from ._access import (atomic_add, atomic_and, atomic_cas, atomic_fetch, atomic_fetch_add, atomic_fetch_and,
                      atomic_fetch_or, atomic_fetch_xor, atomic_or, atomic_set, atomic_swap, atomic_xor, get, get_nbi,
                      peer, put, put_nbi, put_signal, put_signal_nbi, wait, wait_until)
from ._buffer import Buffer
from ._collective import all_gather, all_reduce, broadcast
from ._device import DeviceBuffer, DeviceInfo, DevicePool, DevicePoolStats, devices
from ._ext import barrier, fence, quiet
from ._job import finalize, get_unique_id, init, is_initialized, my_pe, n_pes
from ._home import Heap, heap
from ._key import Allow, AtomicBuffer, export, import_, revoke, token
from ._pool import Pool, PoolInfo, PoolStats, create_file, create_pool, open_file, open_pool
from ._queue import Queue, QueueStats
from ._region import (LOCAL_ONLY, REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE, Access, Region, deregister, region,
                      register)
from ._stream import Stream
from ._symmetric import HeapInfo, empty, free, full, heap_info, zeros
from ._sync import Atomic, Barrier, Condition, Event, Mutex, RWLock, Semaphore
from .errors import (BarrierBroken, DeviceMissing, Error, FileDamaged, FileMissing, FileVersion, KeyMalformed, KeyOrphaned, KeyRefused,
                     KeyRevoked, KeyUnknown, NameUnknown, NotAShmemFile, NotInitialized, NotOwner, NotRecoverable, NotSupported, OwnerDied,
                     PeerDied, PoolFull, QueueClosed, QueueEmpty, QueueFull, Timeout)

__version__ = '0.1.0'

__all__ = [
    'init', 'finalize', 'my_pe', 'n_pes', 'get_unique_id', 'is_initialized',
    'register', 'deregister', 'region', 'Region', 'Access', 'LOCAL_ONLY', 'REMOTE_READ', 'REMOTE_WRITE',
    'REMOTE_ATOMIC',
    'put', 'get', 'put_nbi', 'get_nbi', 'put_signal', 'put_signal_nbi', 'peer', 'fence', 'quiet',
    'atomic_add', 'atomic_fetch_add', 'atomic_cas', 'atomic_swap', 'atomic_fetch', 'atomic_set', 'atomic_and',
    'atomic_or', 'atomic_xor', 'atomic_fetch_and', 'atomic_fetch_or', 'atomic_fetch_xor',
    'wait', 'wait_until', 'barrier',
    'all_reduce', 'broadcast', 'all_gather',
    'zeros', 'empty', 'full', 'free', 'heap_info', 'HeapInfo',
    'create_pool', 'open_pool', 'create_file', 'open_file', 'Pool', 'PoolStats', 'PoolInfo', 'Buffer',
    'DevicePool', 'DevicePoolStats', 'DeviceBuffer', 'DeviceInfo', 'Stream', 'devices',
    'export', 'import_', 'revoke', 'token', 'Allow', 'AtomicBuffer',
    'Mutex', 'RWLock', 'Semaphore', 'Condition', 'Barrier', 'Event', 'Atomic', 'Queue', 'QueueStats', 'Heap', 'heap',
    'NotRecoverable', 'NotOwner', 'BarrierBroken', 'QueueFull', 'QueueEmpty', 'QueueClosed',
    'Error', 'OwnerDied', 'PeerDied', 'Timeout', 'NotInitialized', 'NotSupported', 'DeviceMissing', 'PoolFull', 'NameUnknown',
    'KeyMalformed', 'KeyUnknown', 'KeyRevoked', 'KeyRefused', 'KeyOrphaned', 'FileMissing', 'NotAShmemFile', 'FileDamaged',
    'FileVersion', 'errors',
]
__all__ += _aliases.install(globals())
