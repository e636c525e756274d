# SPDX-License-Identifier: Apache-2.0
"""The parameters and buffers of a module in memory that other processes map: they exist once."""

from __future__ import annotations

import contextlib
import itertools
import json
import operator
import struct
from typing import Any, Iterator, NamedTuple

import numpy as np
import torch

from .. import _key, _pool
from .._argument import choice, flag
from .._buffer import Buffer, owner_of
from ..errors import Error, make, said_by
from ._tensors import bytes_of, check_pool, dtype_named, is_lazy, name_of, plain_reason, size_of, tensor_on

# What lies in the buffer: this head, JSON that says where each tensor is, and from the next multiple of 64 bytes on the
# elements. Offsets are from there.
_HEAD = struct.Struct('<8sQ')
_MAGIC = b'shmemnn1'
_ALIGN = 64


class Entry(NamedTuple):
    """A parameter or buffer, and where the module has it."""

    name: str
    what: str  # 'parameter' or 'buffer'
    module: torch.nn.Module
    attribute: str
    tensor: torch.Tensor


def need_module(function: str, module: Any) -> None:
    if not isinstance(module, torch.nn.Module):
        raise make(function, 'type', f'module is a {type(module).__name__}, but must be a torch.nn.Module')


def check_weights(function: str, module: torch.nn.Module) -> None:
    """Raises for weights that are neither parameters nor buffers, and so would silently stay behind: those that torch has
    packed, as in quantized layers, and those that are constants in the code of a frozen ScriptModule."""
    for prefix, inner in module.named_modules():
        if isinstance(inner, torch.jit.ScriptModule):
            _check_script(function, prefix, inner)
            continue
        for attribute, value in vars(inner).items():
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else (value,)
            if any(isinstance(part, torch.ScriptObject) for part in parts):
                raise make(function, 'unsupported',
                           f"submodule '{prefix}' ({type(inner).__name__}) has its weights packed in '{attribute}', and they are neither "
                           'parameters nor buffers: share the module before it is quantized, and quantize it where it is used')


def _check_script(function: str, prefix: str, module: Any) -> None:
    try:
        graph = module.inlined_graph
    except (RuntimeError, AttributeError):  # it has no forward()
        return
    if '__torch__.torch.classes.' in str(graph):
        raise make(function, 'unsupported', f"submodule '{prefix}' is a ScriptModule with weights that torch has packed, which are neither "
                                            'parameters nor buffers: share the module before it is quantized')
    if next(entries_of(module), None) is None and any(
            node.output().type().kind() == 'TensorType' for node in graph.findAllNodes('prim::Constant')):
        raise make(function, 'unsupported', f"submodule '{prefix}' is a frozen ScriptModule, whose weights are constants of its code: "
                                            'share the module before it is frozen')


def entries_of(module: torch.nn.Module) -> Iterator[Entry]:
    """All of them, those that are there under several names under each."""
    for prefix, inner in module.named_modules(remove_duplicate=False):
        for what, table in (('parameter', inner._parameters), ('buffer', inner._buffers)):
            for attribute, tensor in table.items():
                if tensor is not None:
                    yield Entry(f'{prefix}.{attribute}' if prefix else attribute, what, inner, attribute, tensor)


def _round_up(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


class _Group:
    """Tensors on one storage: the part of it that they use is copied once, so that what was tied stays tied."""

    def __init__(self) -> None:
        self.low, self.high, self.offset = 1 << 62, 0, 0
        self.source: Any = None

    def add(self, tensor: torch.Tensor) -> None:
        first, last = _span(tensor)
        self.low, self.high = min(self.low, first), max(self.high, last)
        self.source = tensor


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """The bytes of its storage that it uses: from, up to."""
    size = tensor.element_size()
    first = int(tensor.storage_offset()) * size
    if tensor.numel() == 0:
        return first, first
    return first, first + size + sum((int(side) - 1) * int(step) for side, step in zip(tensor.shape, tensor.stride())) * size


def _storage_of(tensor: Any) -> Any:
    return tensor.untyped_storage() if hasattr(tensor, 'untyped_storage') else tensor.storage().untyped()  # torch 1


def _bytes_in(group: _Group) -> torch.Tensor:
    storage = _storage_of(group.source)
    flat = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))
    return flat[group.low:group.high]


class _Plan:
    """Where everything goes."""

    def __init__(self, function: str, entries: list[Entry]) -> None:
        groups: dict[int, _Group] = {}
        for entry in entries:
            wrong = plain_reason(entry.tensor)
            if not wrong and (entry.tensor.is_conj() or entry.tensor.is_neg()):
                wrong = 'is conjugated or negated only when it is read: use x.resolve_conj().resolve_neg()'
            if wrong:
                raise make(function, 'unsupported', f"{entry.what} '{entry.name}' {wrong}")
            groups.setdefault(_storage_of(entry.tensor).data_ptr() if entry.tensor.numel() else id(entry.tensor),
                              _Group()).add(entry.tensor)
        at = 0
        for group in groups.values():
            group.low -= group.low % 8  # elements stay aligned
            group.offset = at
            at += _round_up(group.high - group.low)
        self.groups, self.entries, self.data_size = list(groups.values()), entries, at
        number = {key: index for index, key in enumerate(groups)}
        self.rows: list[list[Any]] = []
        for entry in entries:
            tensor = entry.tensor
            index = number[_storage_of(tensor).data_ptr() if tensor.numel() else id(tensor)]
            self.rows.append([entry.name, entry.what, name_of(tensor.dtype), list(tensor.shape), list(tensor.stride()), index,
                         _span(tensor)[0] - self.groups[index].low if tensor.numel() else 0, int(tensor.requires_grad)])
        text = json.dumps({'groups': [[g.offset, g.high - g.low] for g in self.groups], 'tensors': self.rows},
                          separators=(',', ':')).encode()
        self.head = _HEAD.pack(_MAGIC, len(text)) + text
        self.start = _round_up(len(self.head))
        self.size = self.start + at

    def write(self, memory: Buffer) -> None:
        raw = np.asarray(memory)
        raw[:len(self.head)] = np.frombuffer(self.head, np.uint8)
        for group in self.groups:
            size = group.high - group.low
            if size:
                where = self.start + group.offset
                tensor_on(raw, torch.uint8, (size,), where).copy_(_bytes_in(group))


class _Row(NamedTuple):
    """What the buffer says of a tensor."""

    name: str
    what: str
    dtype: str
    shape: list[int]
    stride: list[int]
    group: int
    offset: int
    requires_grad: int  # 0 or 1, so that the text is as long either way


def _rows(function: str, raw: np.ndarray[Any, Any]) -> tuple[list[_Row], list[tuple[int, int]]]:
    """Reads the head. It may be anybody's, so every number is looked at; the tensors' are when they are made."""
    try:
        magic, length = _HEAD.unpack(raw[:_HEAD.size].tobytes())
        if magic != _MAGIC or length > raw.size - _HEAD.size:
            raise ValueError('it does not begin as one')
        read = json.loads(raw[_HEAD.size:_HEAD.size + length].tobytes())
        start = _round_up(_HEAD.size + length)
        groups = [(start + operator.index(at), operator.index(size)) for at, size in read['groups']]
        if any(at < start or size < 0 or at + size > raw.size for at, size in groups):
            raise ValueError('it is cut off')
        rows = [_Row(*row) for row in read['tensors']]
        for row in rows:
            if not (isinstance(row.name, str) and 0 <= operator.index(row.group) < len(groups)):
                raise ValueError(f'its tensor {row.name!r} is nowhere')
    except (ValueError, TypeError, KeyError, RecursionError, struct.error) as error:
        raise make(function, 'value', f'source is no shared module: {error}') from None
    return rows, groups


class Tensors:
    """The tensors of a shared module, on the memory of this process's mapping."""

    def __init__(self, function: str, memory: Any) -> None:
        if not isinstance(memory, np.ndarray) or memory.dtype != np.uint8 or memory.ndim != 1:
            raise make(function, 'value', 'source is no shared module, but other memory')
        raw = bytes_of(memory)
        self.rows, groups = _rows(function, raw)
        self._groups = [tensor_on(raw, torch.uint8, (size,), at) for at, size in groups]
        self._function = function

    def tensor(self, row: _Row) -> torch.Tensor:
        kind = dtype_named(self._function, row.dtype)
        whole = self._groups[row.group]
        try:
            size, sides = size_of(kind), tuple(map(operator.index, row.shape))
            if 0 in sides:
                return torch.empty(sides, dtype=kind)
            if row.offset % size or row.offset < 0:
                raise ValueError('it does not begin at an element')
            elements = whole[:whole.numel() // size * size].view(kind)
            return elements.as_strided(sides, tuple(map(operator.index, row.stride)), row.offset // size)
        except (RuntimeError, ValueError, TypeError, OverflowError) as error:
            raise make(self._function, 'value', f'source is damaged: its tensor {row.name!r} does not fit: '
                                                f'{str(error).splitlines()[0]}') from None


class Shared:
    """What ``share()`` returns: it can be pickled, and ``key`` can be sent as text. nbytes: of the memory.

    The weights stay while any process has them, and after that until ``free()`` or, without a pool of yours, until the last
    process that has them ends.
    """

    __slots__ = ('key', 'nbytes', '_memory', '_pool')

    def __init__(self, key: str, nbytes: int, memory: Any = None, pool: Any = None) -> None:
        self.key, self.nbytes, self._memory, self._pool = key, nbytes, memory, pool

    def free(self) -> None:
        """Gives the memory back to its pool; nobody can attach any more. Modules on it must not be used afterwards. Only
        in the process that called ``share()``."""
        if self._pool is None:
            raise make('torch.Shared.free', 'access', 'only the process that called share() frees the weights')
        self._pool.free(self._memory)

    def __reduce__(self) -> Any:
        return Shared, (self.key, self.nbytes)

    def __str__(self) -> str:
        return self.key

    def __repr__(self) -> str:
        return f'<shmem.torch.Shared: {self.nbytes} bytes, key {self.key}>'


def share(module: torch.nn.Module, pool: Any = None, name: str | None = None, frozen: bool = False) -> Shared:
    """Moves the parameters and buffers of a module into shared memory, in place, and returns what other processes
    ``attach()``.

    The module goes on as it was: its parameters are the same objects (so optimizers are not disturbed), with the same
    strides, and what shared a storage still does. From then on whatever is written to them is seen by all who attached.

    module: on the CPU. pool: a Pool or file; None: a new pool, just large enough. name: the memory gets this name in the
    pool, so that ``attach(module, pool['name'])`` finds it, in a file also after a restart.
    frozen: nobody else can map them for writing; the kernel sees to it.

    What is neither parameter nor buffer, a plain attribute that is a tensor, stays this process's own.

    Raises: NotSupported (a tensor on another device, sparse, quantized, or lazily made; a layer whose weights torch has packed,
    as those of ``quantize_dynamic()``, or a frozen ScriptModule: they are named), PoolFull, WrongType.
    Nothing has changed then.
    """
    function = 'torch.share'
    need_module(function, module)
    check_weights(function, module)
    check_pool(function, pool)
    frozen = flag(function, 'frozen', frozen)
    if name is not None and (pool is None or frozen):
        raise make(function, 'value', 'name needs a pool in which it is found, and memory that is not frozen')
    plan = _Plan(function, list(entries_of(module)))
    where = _pool.create_pool('64k') if pool is None else pool
    with said_by(function):
        if name is not None:
            memory = where.alloc(plan.size, np.uint8, name=name)
        else:
            memory = where.alloc(plan.size, np.uint8, own=True if pool is None or frozen else None)
        plan.write(memory)
        try:
            key = where.export(memory, 'r' if frozen else None, frozen=frozen)
        except Error:
            if name is not None:
                where.free(memory)
            raise
    _place(Tensors(function, memory), plan.entries)
    return Shared(key, plan.size, memory, where)


def _place(source: Tensors, entries: list[Entry]) -> None:
    with torch.no_grad():
        for entry, row in zip(entries, source.rows):
            if entry.tensor.numel():
                entry.tensor.data = source.tensor(row)


# --- the other side ---------------------------------------------------------------------------------------------------------------------------


def _memory_of(function: str, source: Any, mode: str) -> Any:
    choice(function, 'mode', mode, dict.fromkeys(('cow', 'r', 'rw')))
    if isinstance(source, Shared):
        source = source.key
    if isinstance(source, str):
        with said_by(function):
            return _key.import_(source, mode)
    if isinstance(source, np.ndarray) and owner_of(source) is not None:
        if mode == 'rw' and not source.flags.writeable:
            raise make(function, 'access', "source is read-only memory, and mode is 'rw'")
        if mode == 'rw' or (mode == 'r' and not source.flags.writeable):
            return source
        with said_by(function):
            return _key.import_(_key.export(source), mode)
    raise make(function, 'type', f'source is a {type(source).__name__}, but must be what share() returned, its key, or the memory '
                                 'that a name of a pool stands for')


def _built(function: str, module: Any) -> torch.nn.Module:
    """The module, or what the factory makes: without memory for its weights, where torch can do that."""
    if isinstance(module, torch.nn.Module):
        return module
    if not callable(module):
        raise make(function, 'type', f'module is a {type(module).__name__}, but must be a torch.nn.Module, or a function that '
                                     'makes one')
    try:
        # The context manager came with torch 2.0.
        with torch.device('meta') if hasattr(torch.device, '__enter__') else contextlib.nullcontext():
            made = module()
    except (RuntimeError, NotImplementedError):  # it looks at values, as orthogonal parametrizations do
        made = module()
    if not isinstance(made, torch.nn.Module):
        raise make(function, 'type', f'module() returned a {type(made).__name__}, but must make a torch.nn.Module')
    for prefix, inner in made.named_modules():
        for attribute, value in vars(inner).items():
            if isinstance(value, torch.Tensor) and value.device.type == 'meta':
                raise make(function, 'unsupported',
                           f"'{prefix}.{attribute}' is a tensor that is neither parameter nor buffer, so it is not shared, and "
                           'was made without memory: make it a buffer, or pass a module that is made already')
    return made


def _differs(function: str, entry: Entry | None, row: _Row | None) -> None:
    """Raises when this place of the module is not this one of what was shared."""
    if entry is None and row is not None:
        raise make(function, 'value', f"the shared module has a {row.what} '{row.name}', and the module here ends before it")
    if row is None and entry is not None:
        raise make(function, 'value', f"{entry.what} '{entry.name}' of the module is not among what was shared")
    assert entry is not None and row is not None
    if entry.name != row.name or entry.what != row.what:
        raise make(function, 'value', f"the module has the {entry.what} '{entry.name}' where the shared one has the {row.what} "
                                      f"'{row.name}'")
    if is_lazy(entry.tensor):
        raise make(function, 'unsupported', f"{entry.what} '{entry.name}' {plain_reason(entry.tensor)}")
    if list(entry.tensor.shape) != list(row.shape) or name_of(entry.tensor.dtype) != row.dtype:
        raise make(function, 'value', f"{entry.what} '{entry.name}' has the shape {tuple(entry.tensor.shape)} and elements of "
                                      f"{name_of(entry.tensor.dtype)}, and the shared one {tuple(row.shape)} and {row.dtype}")
    if entry.tensor.device.type not in ('cpu', 'meta'):
        raise make(function, 'unsupported', f"{entry.what} '{entry.name}' {plain_reason(entry.tensor)}")


def _check_ties(function: str, entries: list[Entry], rows: list[_Row]) -> None:
    seen: dict[int, tuple[str, tuple[Any, ...]]] = {}
    for entry, row in zip(entries, rows):
        place = (row.group, row.offset, tuple(row.stride))
        name, before = seen.setdefault(id(entry.tensor), (entry.name, place))
        if before != place and entry.tensor.numel():
            raise make(function, 'value', f"the module has one tensor as '{name}' and '{entry.name}', and the shared one has two")


def attach(module: Any, source: Any, mode: str = 'cow') -> torch.nn.Module:
    """Puts a module onto weights that another process has shared: they are mapped, not copied. Returns the module.

    module: a torch.nn.Module of the same architecture, or a function without arguments that makes one. The latter needs
       no memory for weights at any time (from torch 2.0 on it is called with the device 'meta').
    source: what ``share()`` returned, its key, or ``pool['name']``.
    mode: 'cow': what is written here, to a parameter or to the statistics of a batch norm, stays private, and only the pages
       that are written take memory; pages that are not show what others write. 'r': mapped for reading only; the module
       is put into eval mode and no parameter asks for gradients, and a write into a weight ends this process (torch knows no
       read-only tensors), so use it where nothing writes. 'rw': everybody writes into the same weights.

    Raises: InvalidArgument (the architectures differ: the first parameter or buffer that does is named; nothing has
    changed then), KeyUnknown, KeyRevoked, KeyOrphaned, KeyRefused, WrongType, NotSupported (another device).
    """
    function = 'torch.attach'
    memory = _memory_of(function, source, mode)
    made = _built(function, module)
    check_weights(function, made)
    shared = Tensors(function, memory)
    entries = list(entries_of(made))
    for entry, row in itertools.zip_longest(entries, shared.rows):
        _differs(function, entry, row)
    _check_ties(function, entries, shared.rows)
    _put(entries, shared, mode)
    return made.eval() if mode == 'r' else made


def _put(entries: list[Entry], shared: Tensors, mode: str) -> None:
    placed: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        for entry, row in zip(entries, shared.rows):
            grad = mode != 'r' and bool(row.requires_grad)
            if id(entry.tensor) in placed:
                target = placed[id(entry.tensor)]
            elif entry.tensor.device.type == 'meta':
                target = shared.tensor(row)
                if entry.what == 'parameter':
                    target = torch.nn.Parameter(target, requires_grad=grad)
            else:
                target = entry.tensor
                target.data = shared.tensor(row)
                if entry.what == 'parameter':
                    target.requires_grad_(grad)
            placed[id(entry.tensor)] = target
            table: Any = entry.module._parameters if entry.what == 'parameter' else entry.module._buffers
            table[entry.attribute] = target
