# SPDX-License-Identifier: Apache-2.0
# The public interface, for type checkers and editors. Docstrings are in the modules.
from collections.abc import Iterable, Iterator
from os import PathLike
from types import TracebackType
from typing import Any, Literal, NamedTuple, TypeVar, overload

import enum

import numpy

from numpy.typing import DTypeLike, NDArray

from . import errors as errors
from .errors import (
    DeviceMissing as DeviceMissing,
    Error as Error,
    FileDamaged as FileDamaged,
    FileMissing as FileMissing,
    FileVersion as FileVersion,
    KeyMalformed as KeyMalformed,
    KeyOrphaned as KeyOrphaned,
    KeyRefused as KeyRefused,
    KeyRevoked as KeyRevoked,
    KeyUnknown as KeyUnknown,
    NameUnknown as NameUnknown,
    NotAShmemFile as NotAShmemFile,
    NotInitialized as NotInitialized,
    NotSupported as NotSupported,
    OwnerDied as OwnerDied,
    PeerDied as PeerDied,
    PoolFull as PoolFull,
    Timeout as Timeout,
)

__version__: str
__all__: list[str]

# A NumPy array, a torch tensor, or any object with a contiguous buffer. (torch is not needed to check programs.)
_X = TypeVar('_X')
_Array = Any
# A Region, or an array on the symmetric heap, a part of one, or a tensor on it.
_Reachable = Any
_Cmp = Literal['==', '!=', '<', '<=', '>', '>=', 'eq', 'ne', 'lt', 'le', 'gt', 'ge']
_Number = int | float

# --- job

def init(
    device: Any = None,
    rank: int | None = None,
    world_size: int | None = None,
    uid: str | bytes | None = None,
    heap_size: int | None = None,
) -> None: ...
def finalize() -> None: ...
def is_initialized() -> bool: ...
def my_pe() -> int: ...
def n_pes() -> int: ...
def get_unique_id() -> str: ...

get_rank = my_pe
get_pe = my_pe
get_world_size = n_pes

# --- regions

class Access(enum.IntFlag):
    LOCAL_ONLY = ...
    REMOTE_READ = ...
    REMOTE_WRITE = ...
    REMOTE_ATOMIC = ...

LOCAL_ONLY: Access
REMOTE_READ: Access
REMOTE_WRITE: Access
REMOTE_ATOMIC: Access

class Region:
    @property
    def id(self) -> int: ...
    @property
    def addr(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def owner(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def access(self) -> Access: ...
    @property
    def kind(self) -> Literal['moved', 'symmetric', 'copied']: ...
    @property
    def guard(self) -> Literal['full', 'user', 'none']: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def array(self) -> NDArray[Any]: ...
    @array.setter
    def array(self, value: NDArray[Any]) -> None: ...
    @property
    def tensor(self) -> Any: ...
    @tensor.setter
    def tensor(self, value: Any) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Region: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

@overload
def register(x: _Array, access: int = ..., name: str | None = None, move: bool = True) -> Region: ...
@overload
def register(*, tensor: _Array, access: int = ..., name: str | None = None, move: bool = True) -> Region: ...
@overload
def register(*, array: _Array, access: int = ..., name: str | None = None, move: bool = True) -> Region: ...
@overload
def register(*, tensor_or_array: _Array, access: int = ..., name: str | None = None, move: bool = True) -> Region: ...
@overload
def deregister(region: Region) -> None: ...
@overload
def deregister(*, mr: Region) -> None: ...
@overload
def deregister(*, mem_region: Region) -> None: ...

unregister = deregister

def region(
    pe: int, name: str | None = None, index: int | None = None, timeout: float | None = None
) -> Region: ...

# --- one-sided access

@overload
def put(
    region: _Reachable, pe: int, offset: int = 0, size: int | None = None, *, timeout: float | None = None
) -> None: ...
@overload
def put(
    region: _Reachable, *, dst: int, offset: int = 0, size: int | None = None, timeout: float | None = None
) -> None: ...
@overload
def put(
    *, mr: _Reachable, dst: int, offset: int = 0, size: int | None = None, timeout: float | None = None
) -> None: ...
@overload
def put(
    *, mem_region: _Reachable, dst: int, offset: int = 0, size: int | None = None, timeout: float | None = None
) -> None: ...
@overload
def put(
    *,
    dst: int = ...,
    dst_mr: _Reachable | None = ...,
    dst_offset: int = 0,
    src_mr: _Reachable | _Array = ...,
    src_offset: int = 0,
    size: int | None = None,
    timeout: float | None = None,
) -> None: ...

put_nbi = put

def put_signal(
    region: _Reachable = None,
    pe: int | None = None,
    offset: int = 0,
    size: int | None = None,
    *,
    signal: _Reachable,
    value: int,
    sig_offset: int = 0,
    op: Literal['set', 'add'] = 'set',
    timeout: float | None = None,
    **other: Any,
) -> None: ...

put_signal_nbi = put_signal

@overload
def get(
    region: _Reachable, pe: int | None = None, offset: int = 0, size: int | None = None, out: None = None, *,
    timeout: float | None = None
) -> Any: ...
@overload
def get(
    region: _Reachable, pe: int | None = None, offset: int = 0, size: int | None = None, *, out: _X,
    timeout: float | None = None
) -> _X: ...
@overload
def get(
    region: _Reachable, *, src: int, offset: int = 0, size: int | None = None, out: Any = None,
    timeout: float | None = None
) -> Any: ...
@overload
def get(
    *, mr: _Reachable, src: int, offset: int = 0, size: int | None = None, out: Any = None,
    timeout: float | None = None
) -> Any: ...
@overload
def get(
    *, mem_region: _Reachable, src: int, offset: int = 0, size: int | None = None, out: Any = None,
    timeout: float | None = None
) -> Any: ...
@overload
def get(
    *,
    dst: int = ...,
    dst_mr: _Reachable = ...,
    dst_offset: int = 0,
    src_mr: _Reachable | _Array,
    src_offset: int = 0,
    size: int | None = None,
    timeout: float | None = None,
) -> None: ...

get_nbi = get

@overload
def peer(
    region: _Reachable, pe: int | None = None, timeout: float | None = None, tensor: Literal[False] = False
) -> NDArray[Any]: ...
@overload
def peer(
    region: _Reachable, pe: int | None = None, timeout: float | None = None, *, tensor: Literal[True]
) -> Any: ...

def fence() -> None: ...
def quiet() -> None: ...

# --- atomics; mr= or mem_region= also stand for region=, dst= for pe=

def atomic_add(
    region: _Reachable = None, value: _Number | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> None: ...
def atomic_fetch_add(
    region: _Reachable = None, value: _Number | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> Any: ...
def atomic_cas(
    region: _Reachable = None, expected: _Number | Any = None, desired: _Number | Any = None, pe: int | None = None,
    offset: int = 0, *, timeout: float | None = None, **other: Any
) -> Any: ...
def atomic_swap(
    region: _Reachable = None, value: _Number | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> Any: ...
def atomic_fetch(
    region: _Reachable = None, pe: int | None = None, offset: int = 0, *, timeout: float | None = None, **other: Any
) -> Any: ...
def atomic_set(
    region: _Reachable = None, value: _Number | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> None: ...
def atomic_and(
    region: _Reachable = None, value: int | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> None: ...
def atomic_or(
    region: _Reachable = None, value: int | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> None: ...
def atomic_xor(
    region: _Reachable = None, value: int | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> None: ...
def atomic_fetch_and(
    region: _Reachable = None, value: int | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> int: ...
def atomic_fetch_or(
    region: _Reachable = None, value: int | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> int: ...
def atomic_fetch_xor(
    region: _Reachable = None, value: int | Any = None, pe: int | None = None, offset: int = 0, *,
    timeout: float | None = None, **other: Any
) -> int: ...

# --- waiting

@overload
def wait(region: Region, timeout: float | None = None, for_: Literal['any', 'write', 'read'] = 'any') -> None: ...
@overload
def wait(*, mr: Region, timeout: float | None = None, for_: Literal['any', 'write', 'read'] = 'any') -> None: ...
@overload
def wait(
    *, mem_region: Region, timeout: float | None = None, for_: Literal['any', 'write', 'read'] = 'any'
) -> None: ...
@overload
def wait_until(
    region: _Reachable, cmp: _Cmp, value: _Number | Any, offset: int = 0, timeout: float | None = None
) -> None: ...
@overload
def wait_until(
    *, mr: _Reachable, cmp: _Cmp, value: _Number | Any, offset: int = 0, timeout: float | None = None
) -> None: ...
@overload
def wait_until(
    *, mem_region: _Reachable, cmp: _Cmp, value: _Number | Any, offset: int = 0, timeout: float | None = None
) -> None: ...
def barrier() -> None: ...

# --- collectives

@overload
def all_reduce(x: _X, op: str = 'sum') -> _X: ...
@overload
def all_reduce(*, tensor: _X, op: str = 'sum') -> _X: ...
@overload
def broadcast(x: _X, root: int = 0) -> _X: ...
@overload
def broadcast(x: _X, *, src: int) -> _X: ...
@overload
def broadcast(*, tensor: _X, root: int = 0) -> _X: ...
@overload
def broadcast(*, tensor: _X, src: int) -> _X: ...
@overload
def all_gather(x: _Array, out: None = None) -> Any: ...
@overload
def all_gather(x: _Array, out: _X) -> _X: ...
@overload
def all_gather(*, tensor: _Array, out: Any = None) -> Any: ...

# --- the symmetric heap

def zeros(shape: int | tuple[int, ...], dtype: DTypeLike = ...) -> NDArray[Any]: ...
def empty(shape: int | tuple[int, ...], dtype: DTypeLike = ...) -> NDArray[Any]: ...
def full(shape: int | tuple[int, ...], fill_value: Any, dtype: DTypeLike | None = None) -> NDArray[Any]: ...
def free(array: Any) -> None: ...

class HeapInfo(NamedTuple):
    total: int
    in_use: int
    largest_free: int
    high_water: int
    blocks: int

def heap_info() -> HeapInfo: ...

# --- pools, files and keys

class Buffer(numpy.ndarray[Any, Any]): ...

class PoolStats(NamedTuple):
    size: int
    max_size: int
    in_use: int
    buffers: int
    free: int
    largest_free: int
    high_water: int
    members: int
    died: int
    owned: int
    failure: str

class PoolInfo(NamedTuple):
    type: str
    name: str
    path: str
    page_size: int
    huge_bytes: int
    numa_node: int
    locked: bool
    cache: str
    fallback: str
    writable: bool

class Allow(NamedTuple):
    kind: str
    id: int | str
    rights: str = ...

_AllowList = str | Allow | Iterable[str | Allow] | None
_Shape = int | tuple[int, ...]

class AtomicBuffer:
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    def fetch(self, index: _Shape) -> int: ...
    def set(self, index: _Shape, value: int) -> None: ...
    def add(self, index: _Shape, value: int) -> None: ...
    def fetch_add(self, index: _Shape, value: int) -> int: ...
    def and_(self, index: _Shape, value: int) -> int: ...
    def or_(self, index: _Shape, value: int) -> int: ...
    def xor(self, index: _Shape, value: int) -> int: ...
    def swap(self, index: _Shape, value: int) -> int: ...
    def cas(self, index: _Shape, expected: int, desired: int) -> int: ...

class Pool:
    def alloc(
        self,
        shape: _Shape,
        dtype: DTypeLike = ...,
        align: int = 64,
        own: bool | None = None,
        zero: bool = False,
        keep: bool = False,
        name: str | None = None,
        fill: Any = None,
    ) -> Buffer: ...
    def free(self, buf: Buffer) -> None: ...
    def keep(self, buf: Buffer) -> None: ...
    def export(
        self, buf: Any = None, mode: str | None = None, allow: _AllowList = None, frozen: bool = False
    ) -> str: ...
    @overload
    def import_(
        self, key: str, mode: Literal['rw', 'r', 'cow'] = 'rw', snapshot: bool = False, token: str | None = None
    ) -> Buffer: ...
    @overload
    def import_(
        self, key: str, mode: Literal['atomic'], snapshot: bool = False, token: str | None = None
    ) -> AtomicBuffer: ...
    def revoke(self, key: str, move: bool = False) -> None: ...
    def name(self, buf: Buffer, name: str) -> None: ...
    def unname(self, name: str) -> None: ...
    def find(self, name: str) -> Buffer: ...
    def names(self) -> list[str]: ...
    def __getitem__(self, name: str) -> Buffer: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def grow(self, size: int | str) -> None: ...
    def flush(self) -> None: ...
    def stats(self) -> PoolStats: ...
    def info(self) -> PoolInfo: ...
    @property
    def is_open(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Pool: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

def create_pool(
    size: int | str,
    type: str = 'host',
    name: str | None = None,
    *,
    max_size: int | str | None = None,
    grow: bool = False,
    pages: int | str | None = None,
    numa_node: int | None = None,
    lock: bool = False,
    cache: str | None = None,
) -> Pool: ...
def open_pool(name_or_key: str) -> Pool: ...
def create_file(
    path: str | bytes | PathLike[Any],
    size: int | str,
    *,
    max_size: int | str | None = None,
    grow: bool = False,
    lock: bool = False,
    pages: int | str | None = None,
    numa_node: int | None = None,
) -> Pool: ...
def open_file(path: str | bytes | PathLike[Any], mode: Literal['r', 'rw', 'cow'] = 'rw') -> Pool: ...
def export(x: Any, mode: str | None = None, allow: _AllowList = None, frozen: bool = False) -> str: ...
@overload
def import_(
    key: str, mode: Literal['rw', 'r', 'cow'] = 'rw', snapshot: bool = False, token: str | None = None
) -> Buffer: ...
@overload
def import_(
    key: str, mode: Literal['atomic'], snapshot: bool = False, token: str | None = None
) -> AtomicBuffer: ...
def revoke(key: str, move: bool = False) -> None: ...
def token() -> str: ...
