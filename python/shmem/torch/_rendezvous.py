# SPDX-License-Identifier: Apache-2.0
"""Under shmemrun torch's ``init_process_group()`` finds its place as under torchrun: without an address, a port or a rank.

shmemrun tells each process its number in SHMEM_RANK, and has no server. Rank 0 makes torch's store at a port that the
system chooses, and tells the others by a pool whose name is that of the job.
"""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any, Iterator
from urllib.parse import parse_qs, urlparse

import numpy as np
import torch.distributed as dist
from torch.distributed import rendezvous

from .._pool import create_pool, open_pool
from ..errors import Error, make

_made = 0
_kept: list[Any] = []  # rank 0: the store and the pool of the last meeting


def _under_shmemrun() -> bool:
    return all(os.environ.get(name) for name in ('SHMEM_JOB', 'SHMEM_RANK', 'SHMEM_SIZE')) and 'MASTER_ADDR' not in os.environ


def _open(name: str, seconds: float) -> int:
    """The port, as soon as rank 0 has told it."""
    end = time.monotonic() + seconds
    while True:
        try:
            return int(open_pool(name)['port'][0])
        except Error:
            if time.monotonic() > end:
                raise make('torch.init_process_group', 'timeout', f'rank 0 of the job did not come within {seconds:g} s') from None
            time.sleep(0.005)


def _store(*arguments: Any) -> Any:
    """Torch's own, which asks for libuv by default; not every build has it, and Debian's has not."""
    try:
        return dist.TCPStore('127.0.0.1', *arguments)
    except RuntimeError as error:
        if 'libuv' not in str(error):
            raise
        return dist.TCPStore('127.0.0.1', *arguments, use_libuv=False)


def _meet(timeout: timedelta) -> Any:
    global _made
    rank, size = int(os.environ['SHMEM_RANK']), int(os.environ['SHMEM_SIZE'])
    name = f'shmem.torch {os.environ["SHMEM_JOB"]} {_made}'
    _made += 1
    if rank:
        return _store(_open(name, timeout.total_seconds()), size, False, timeout), rank, size
    store = _store(0, size, True, timeout, False)
    pool = create_pool('64K', name=name)
    pool.alloc(1, np.int64, name='port', fill=store.port)
    _kept[:] = [store, pool]
    return store, rank, size


def install() -> None:
    """Puts itself before torch's own way, which stays for whoever gives an address or a rank."""
    if not _under_shmemrun():
        return
    for name, of in (('RANK', 'SHMEM_RANK'), ('LOCAL_RANK', 'SHMEM_RANK'), ('WORLD_SIZE', 'SHMEM_SIZE'), ('LOCAL_WORLD_SIZE', 'SHMEM_SIZE')):
        os.environ.setdefault(name, os.environ[of])  # programs for torchrun ask for these
    handlers = rendezvous.__globals__['_rendezvous_handlers'] if callable(rendezvous) else rendezvous._rendezvous_handlers
    own = handlers['env']

    def env(url: str, timeout: timedelta = timedelta(minutes=30), **options: Any) -> Iterator[Any]:
        if not _under_shmemrun() or 'rank' in parse_qs(urlparse(url).query):
            yield from own(url, timeout=timeout, **options)
            return
        yield _meet(timeout)
        raise RuntimeError('Unable to perform rerendezvous using env:// method')

    handlers['env'] = env
