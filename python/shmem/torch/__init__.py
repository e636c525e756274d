# SPDX-License-Identifier: Apache-2.0
"""shmem for torch: ``import shmem.torch`` makes "shmem" a back end of ``torch.distributed``."""

from __future__ import annotations

from ._group import ProcessGroup

__all__ = ['ProcessGroup']
