# SPDX-License-Identifier: Apache-2.0
"""What users of PyTorch expect: tensors on shared memory, modules whose weights exist once, a DataLoader without copies,
and "shmem" as a back end of ``torch.distributed``, from the import on.

::

    import torch, shmem.torch

    shared = shmem.torch.share(model)                        # parameters and buffers go to shared memory, in place
    model = shmem.torch.attach(Model, shared.key)            # in another process: mapped, not copied

    loader = shmem.torch.DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4)    # as torch's

    torch.distributed.init_process_group('shmem')            # under torchrun or shmemrun
"""

from __future__ import annotations

from torch import distributed as _distributed

from ._gradients import Gradient, Gradients
from ._loader import DataLoader, WorkerDied
from ._requests import RequestFailed, Requests, Slot
from ._share import Shared, attach, share
from ._tensors import empty, full, import_, zeros
from ._versions import Publisher, Subscriber, Version

__all__ = [
    'empty', 'zeros', 'full', 'import_',
    'share', 'attach', 'Shared',
    'DataLoader', 'WorkerDied',
    'Requests', 'Slot', 'RequestFailed',
    'Publisher', 'Subscriber', 'Version', 'Gradients', 'Gradient',
]

if _distributed.is_available():  # some builds of torch come without
    from . import _rendezvous
    from ._group import ProcessGroup

    _rendezvous.install()
    __all__ += ['ProcessGroup']
