# SPDX-License-Identifier: Apache-2.0
"""shmem for torch: ``import shmem.torch`` makes "shmem" a back end of ``torch.distributed``."""

from __future__ import annotations

from torch import distributed as _distributed

__all__: list[str] = []

if _distributed.is_available():  # some builds of torch come without
    from . import _rendezvous
    from ._group import ProcessGroup

    _rendezvous.install()
    __all__ += ['ProcessGroup']
