# SPDX-License-Identifier: Apache-2.0
"""What users of PyTorch expect: tensors on shared memory, modules whose weights exist once, a DataLoader without copies.

::

    import torch, shmem.torch

    shared = shmem.torch.share(model)                        # parameters and buffers go to shared memory, in place
    model = shmem.torch.attach(Model, shared.key)            # in another process: mapped, not copied

    loader = shmem.torch.DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4)    # as torch's
"""

from __future__ import annotations

from ._loader import DataLoader, WorkerDied
from ._requests import RequestFailed, Requests, Slot
from ._share import Shared, attach, share
from ._tensors import empty, full, import_, zeros
from ._versions import Gradient, Gradients, Publisher, Subscriber, Version

__all__ = [
    'empty', 'zeros', 'full', 'import_',
    'share', 'attach', 'Shared',
    'DataLoader', 'WorkerDied',
    'Requests', 'Slot', 'RequestFailed',
    'Publisher', 'Subscriber', 'Version', 'Gradients', 'Gradient',
]
