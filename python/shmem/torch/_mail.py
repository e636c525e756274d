# SPDX-License-Identifier: Apache-2.0
"""Messages between a loader and its workers: short ones in a queue, long ones in buffers whose keys the queue carries."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from .. import _key

SHORT = 4096  # bytes


def make_queue(pool: Any, messages: int) -> Any:
    """Room for so many messages."""
    return pool.create_queue(bytes, (messages + 2) * 2 * SHORT, max_message=SHORT + 64)


def seal(pool: Any, message: Any) -> bytes:
    data = pickle.dumps(message, 5)
    if len(data) <= SHORT:
        return data
    buffer = pool.alloc(len(data), np.uint8, own=False)
    buffer[:] = np.frombuffer(data, np.uint8)
    return pickle.dumps(_Long(pool.export(buffer)), 5)


class _Long:
    __slots__ = ('key',)

    def __init__(self, key: str) -> None:
        self.key = key

    def __reduce__(self) -> Any:
        return _Long, (self.key,)


def unseal(pool: Any, data: bytes) -> Any:
    message = pickle.loads(data)
    if not isinstance(message, _Long):
        return message
    buffer = _key.import_(message.key)
    try:
        return pickle.loads(buffer.tobytes())
    finally:
        pool.free(buffer)
