# SPDX-License-Identifier: Apache-2.0
"""The back end "shmem" of torch.distributed: ``dist.init_process_group('shmem')`` for the processes of one host.

torch calls the methods of ProcessGroup; what they mean is said in torch's manual. Tensors are on the CPU, dense, of any
shape, contiguous or not. Everything that waits releases the GIL, ends when a rank dies, and can be interrupted.
"""

from __future__ import annotations

import atexit
import contextlib
import inspect
import os
import sys
import weakref
from typing import Any, Callable, Sequence

import torch
import torch.distributed as dist

from .. import _ext
from ..errors import Error, make
from ._compiler import leave_alone
from ._sparse import refused, sum_sparse
from ._work import Message, Worker, begin_record, done_work, finished_work, from_future, profiled

_NAMES = {'bfloat16': 'bfloat16', 'float16': 'float16', 'float32': 'float32', 'float64': 'float64', 'int8': 'int8',
          'int16': 'int16', 'int32': 'int32', 'int64': 'int64', 'uint8': 'uint8', 'uint16': 'uint16',
          'uint32': 'uint32', 'uint64': 'uint64', 'complex64': 'complex64', 'complex128': 'complex128', 'bool': 'uint8'}
_TYPES = {getattr(torch, name): _ext.TYPES[code] for name, code in _NAMES.items() if hasattr(torch, name)}
_BYTES = _ext.TYPES['bytes']
_SIZES = {code: torch.empty(0, dtype=dtype).element_size() for dtype, code in _TYPES.items()}
_SIZES[_BYTES] = 1

# torch's numbers of operations: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR.
_OP_NAMES = ('SUM', 'AVG', 'PRODUCT', 'MIN', 'MAX', 'BAND', 'BOR', 'BXOR')
_SUM, _PROD, _MIN, _MAX, _AND, _OR, _XOR = (_ext.OPERATIONS[name] for name in ('sum', 'prod', 'min', 'max', 'and', 'or', 'xor'))
_MEAN = 7
_OPS = (_SUM, _MEAN, _PROD, _MIN, _MAX, _AND, _OR, _XOR)
_BOOL_OPS = (_OR, None, _AND, _AND, _OR, _AND, _OR, _XOR)  # of 0 and 1: a sum says whether any is, a product whether all are
_INTEGERS = {code for dtype, code in _TYPES.items() if not dtype.is_floating_point and not dtype.is_complex}

_AVERAGED = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)  # towards zero, as torch's NCCL does it

_DIST_FILE = dist.all_reduce.__code__.co_filename  # unless it is wrapped; see _is_async()
_DIST_FILES = {_DIST_FILE, getattr(sys.modules.get('torch.distributed.distributed_c10d'), '__file__', _DIST_FILE)}
_OLD = torch.__version__.startswith('1.')
_increment_version = getattr(getattr(torch.autograd, 'graph', None), 'increment_version', None)


# --- tensors ----------------------------------------------------------------------------------------------------


def _refuse(fn: str, t: Any) -> Error:
    """What is wrong with a tensor that is not dense and on the CPU."""
    if not isinstance(t, torch.Tensor):
        return make(f'torch.{fn}', 'type', f'a torch.Tensor is needed, not a {type(t).__name__}')
    if t.layout is not torch.strided:
        return make(f'torch.{fn}', 'type', f'the tensor is sparse ({t.layout}), but must be dense: use to_dense()')
    return make(f'torch.{fn}', 'unsupported',
                f"the tensor is on device '{t.device}', but the back end shmem moves tensors on the CPU: use .cpu(), or "
                'a back end for that device')


def _dense(fn: str, t: Any) -> Any:
    if not isinstance(t, torch.Tensor) or not t.is_cpu or t.layout is not torch.strided:
        raise _refuse(fn, t)
    return t


def _plain(t: Any) -> Any:
    """The tensor's elements one after the other: itself, or a copy."""
    t = t.detach()
    if t.is_conj() or t.is_neg():
        t = t.resolve_conj().resolve_neg()
    return t.contiguous()


def _is_plain(t: Any) -> bool:
    return t.is_contiguous() and not t.is_conj() and not t.is_neg()


class _Out:
    """A tensor that is written: it, or a contiguous copy of it that is put back when all is done."""

    __slots__ = ('t', 'raw', 'divisor')

    def __init__(self, fn: str, t: Any, read: bool = True) -> None:
        self.t = _dense(fn, t)
        self.divisor = 0  # of a sum of integers that is to be an average
        if _is_plain(t):
            self.raw = t
        else:
            self.raw = _plain(t) if read else torch.empty(t.shape, dtype=t.dtype)

    def put_back(self) -> None:
        if self.divisor:
            self.raw.div_(self.divisor, rounding_mode='trunc')
        if self.raw is not self.t:
            self.t.detach().copy_(self.raw)
        elif self.t.requires_grad and _increment_version is not None:
            _increment_version(self.t)  # whoever saved it for a backward pass is told


def _of(t: Any) -> tuple[int, int]:
    """Count and type of elements."""
    code = _TYPES.get(t.dtype)
    return (t.numel(), code) if code is not None else (t.numel() * t.element_size(), _BYTES)


def _same(fn: str, what: str, tensors: Sequence[Any], like: Any, count: int | None = None) -> None:
    """All have as many elements, of the same type, as `like` (or count)."""
    want = like.numel() if count is None else count
    for i, t in enumerate(tensors):
        _dense(fn, t)
        if t.dtype is not like.dtype:
            raise make(f'torch.{fn}', 'type', f'{what}[{i}] has elements of type {t.dtype}, but {like.dtype} is needed')
        if t.numel() != want:
            raise make(f'torch.{fn}', 'value', f'{what}[{i}] has the shape {tuple(t.shape)}, but {want} elements are needed')


def _single(fn: str, tensors: Sequence[Any]) -> Any:
    if len(tensors) != 1:
        raise make(f'torch.{fn}', 'value', f'{len(tensors)} tensors were given, but one for each rank is needed')
    return tensors[0]


def _operation(fn: str, op: Any, t: Any) -> int:
    """The library's number of a reduction of these elements."""
    number = int(getattr(op, 'op', op))
    if not 0 <= number < len(_OPS):
        raise make(f'torch.{fn}', 'unsupported', f'the operation is {op}, but must be one of {", ".join(_OP_NAMES)}')
    code = _TYPES.get(t.dtype)
    name = _OP_NAMES[number]
    if code is None:
        raise make(f'torch.{fn}', 'type', f'elements of type {t.dtype} cannot be reduced')
    if t.dtype is torch.bool:
        if _BOOL_OPS[number] is None:
            raise make(f'torch.{fn}', 'type', f'the operation is {name}, but the elements are bool')
        return _BOOL_OPS[number]  # type: ignore[return-value]
    if number >= 5 and code not in _INTEGERS or number == 1 and not t.dtype.is_floating_point and t.dtype not in _AVERAGED:
        raise make(f'torch.{fn}', 'type', f'the operation is {name}, which does not exist for elements of type {t.dtype}')
    return _OPS[number]


def _is_async(opts: Any) -> bool:
    """Whether the caller goes on while the operation runs. Only torch's own functions say so: torch 2 in the options, torch
    1.13 in a variable. All others (DistributedDataParallel, who calls from C++) wait for it soon anyway."""
    frame = sys._getframe(2)
    if frame is None or frame.f_code.co_filename not in _DIST_FILES:
        return False
    said = getattr(opts, 'asyncOp', None)
    return bool(frame.f_locals.get('async_op', False) if said is None else said)


def _is_blocking() -> bool:
    """Whether a message was asked for by torch's send() or recv(); those of torch 2.13 call its isend() and irecv()."""
    frame: Any = sys._getframe(3)
    if frame is not None and frame.f_code.co_name in ('isend', 'irecv'):
        frame = frame.f_back
        while frame is not None and frame.f_code.co_name == 'wrapper':
            frame = frame.f_back
    return frame is not None and frame.f_code.co_name in ('send', 'recv') and frame.f_code.co_filename in _DIST_FILES


# --- groups -----------------------------------------------------------------------------------------------------

# Rank 0's store serves the other ranks, who may ask for the next group before rank 0 has made the next store: the last one
# stays, and torch 2 goes on with it where the address is the same. (torch 1.13 counts in it who has come, for ever.)
_last_store: Any = None

_live: 'weakref.WeakSet[ProcessGroup]' = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for group in list(_live):
        group._end()


class ProcessGroup(dist.ProcessGroup):  # type: ignore[misc]
    """A process group of torch.distributed whose tensors go through shared memory. ``dist.init_process_group('shmem')`` and
    ``dist.new_group(backend='shmem')`` make it.

    Every rank compares what all ranks call: where operation, number of elements, type or root differ, all of them raise,
    naming two ranks. A rank that dies or leaves while it is needed raises OwnerDied on the others within two seconds, and a
    timeout raises Timeout with those who did not come; after these two the group cannot be used any more.
    """

    def __init__(self, store: Any, rank: int, size: int, timeout: Any) -> None:
        super().__init__(rank, size)
        self._rank, self._size, self._store = rank, size, store
        self._seconds = timeout.total_seconds() if timeout is not None else 1800.0
        self._pid = os.getpid()
        self._name, self._desc = '', 'undefined'
        self._worker: Worker | None = None
        self._messages: set[Message] = set()
        self._group: Any = None
        if rank == 0:
            self._group = _ext.group_create('torch.init_process_group', size, 0)
            store.set('shmem', self._group.key())
        else:
            key = store.get('shmem')
            self._group = _ext.group_join('torch.init_process_group', key.decode() if isinstance(key, bytes) else key, rank,
                                          size)
        _live.add(self)
        self._group.barrier('torch.init_process_group', self._seconds)
        if rank == 0:  # the next group may use the same store and the same names
            with contextlib.suppress(Exception):  # of a store that deletes nothing
                store.delete_key('shmem')
        self._group.barrier('torch.init_process_group', self._seconds)

    # what torch asks of a group

    def getBackendName(self) -> str:  # noqa: N802
        return 'shmem'

    def name(self) -> str:
        return 'shmem'

    def size(self) -> int:
        return self._size

    def rank(self) -> int:
        return self._rank

    def getRank(self) -> int:  # noqa: N802
        return self._rank

    def getSize(self) -> int:  # noqa: N802
        return self._size

    # torch 2 keeps names in the parts of a group for each kind of device; this one has no parts

    def getGroupName(self) -> str:  # noqa: N802
        return self._name

    def setGroupName(self, name: str) -> None:  # noqa: N802
        self._name = name

    def getGroupDesc(self) -> str:  # noqa: N802
        return self._desc

    def setGroupDesc(self, desc: str) -> None:  # noqa: N802
        self._desc = desc

    @property
    def _device_types(self) -> list[Any]:
        return [torch.device('cpu')]

    def _get_backend(self, device: Any) -> Any:
        """What serves a kind of device: the group itself."""
        if torch.device(device).type != 'cpu':
            raise make('torch.ProcessGroup', 'unsupported', f"there is nothing for device '{device}' in this group: the back end shmem "
                       'moves tensors on the CPU')
        return self

    supports_coalescing = supports_splitting = supports_shrinking = supports_time_estimate = False

    def supports_tensor_alloc(self, device: Any) -> bool:
        return False

    def set_timeout(self, timeout: Any) -> None:
        """For the operations from now on; a datetime.timedelta."""
        self._seconds = timeout.total_seconds()

    def shutdown(self) -> None:
        """Leaves the group; what was begun is finished first."""
        self._end(finish=True)

    def abort(self) -> None:
        """Leaves the group at once."""
        self._end()

    def _end(self, finish: bool = False) -> None:
        group, self._group = self._group, None
        if group is None or self._pid != os.getpid():
            return
        if self._rank == 0 and not _OLD:
            global _last_store
            _last_store = self._store
        for message in self._messages:
            message.give_up()
        self._messages = set()
        if self._worker is not None and not self._worker.stop(finish):
            self._kept = group  # a thread is in it: it goes with the process
            return
        group.close()

    def __del__(self) -> None:
        try:
            self._end()
        except Exception:  # the interpreter may be half gone
            pass

    # how operations run

    def _run(self, fn: str, opts: Any, is_async: bool, tensors: Any, call: Callable[[Any, float], None]) -> Any:
        """Runs call(group, seconds) now, or in the group's thread in the order of calls."""
        group = self._group
        if group is None:
            raise make(f'torch.{fn}', 'stale', 'the process group was destroyed')
        seconds = self._seconds
        limit = getattr(opts, 'timeout', None)
        if limit is not None:
            limit = limit.total_seconds()
            if limit > 0:
                seconds = limit
        worker = self._worker
        record = begin_record(fn) if profiled() else None
        if is_async or worker is not None and worker.pending:
            if worker is None:
                worker = self._worker = Worker()
            work = worker.submit(fn, lambda: call(group, seconds), tensors)
            if record is not None:
                record._call_end_callbacks_on_future(work.get_future())
            if not is_async:
                work.wait()
                return finished_work(tensors)
            if _OLD and sys._getframe(3).f_code.co_filename.endswith('join.py'):
                return from_future(work.get_future())  # for C++, which in torch 1.13 asks more than a class in Python can answer
            return work
        try:
            call(group, seconds)
        finally:
            if record is not None:
                record.__exit__(None, None, None)
        return done_work() if getattr(opts, 'asyncOp', True) is False else finished_work(tensors)

    # reductions

    def _reduced(self, fn: str, t: Any, opts: Any, read: bool = True) -> tuple[_Out, int]:
        """Where a reduction of these elements goes, and the library's number of it."""
        out = _Out(fn, t, read)
        op = _operation(fn, _reduce_op(opts), t)
        if op == _MEAN and t.dtype in _AVERAGED:
            op, out.divisor = _SUM, self._size
        return out, op

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        t = _single('all_reduce', tensors) if len(tensors) != 1 else tensors[0]
        if isinstance(t, torch.Tensor) and t.layout is not torch.strided and t.is_cpu:
            return self._allreduce_sparse(t, tensors, opts, _is_async(opts))
        out, op = self._reduced('all_reduce', t, opts)
        raw = out.raw
        pointer, count, code = raw.data_ptr(), raw.numel(), _TYPES[t.dtype]

        def call(group: Any, seconds: float) -> None:
            group.all_reduce('torch.all_reduce', pointer, count, code, op, seconds)
            out.put_back()

        return self._run('all_reduce', opts, _is_async(opts), tensors, call)

    def _allreduce_sparse(self, t: Any, tensors: Any, opts: Any, is_async: bool) -> Any:
        op = _reduce_op(opts)
        number = int(getattr(op, 'op', op))
        name = _OP_NAMES[number] if number < len(_OP_NAMES) else str(op)
        wrong = refused(t, name)
        if wrong:
            raise make('torch.all_reduce', 'type', wrong)
        return self._run('all_reduce', opts, is_async, tensors,
                         lambda group, seconds: sum_sparse(group, self._size, t, name, seconds))

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        outs = [self._reduced('all_reduce_coalesced', t, opts) for t in tensors]

        def call(group: Any, seconds: float) -> None:
            for out, op in outs:
                group.all_reduce('torch.all_reduce_coalesced', out.raw.data_ptr(), *_of(out.raw), op, seconds)
                out.put_back()

        return self._run('all_reduce_coalesced', opts, _is_async(opts), tensors, call)

    def reduce(self, tensors: Any, opts: Any = None) -> Any:
        t = _single('reduce', tensors)
        (out, op), root = self._reduced('reduce', t, opts), _root(opts)

        def call(group: Any, seconds: float) -> None:
            group.reduce('torch.reduce', out.raw.data_ptr(), *_of(out.raw), op, root, seconds)
            if root == self._rank:
                out.put_back()

        return self._run('reduce', opts, _is_async(opts), tensors, call)

    def _reduce_scatter(self, fn: str, outs: Any, inputs: Any, opts: Any, is_async: bool, result: Any) -> Any:
        """outs[k] becomes this rank's fold of inputs[k], a list with a tensor for each rank or one that has all blocks."""
        steps = []
        for out_tensor, ins in zip(outs, inputs):
            out, op = self._reduced(fn, out_tensor, opts, read=False)
            pointers, kept = self._blocks(fn, 'input', ins, out_tensor)
            steps.append((out, pointers, kept, op))

        def call(group: Any, seconds: float) -> None:
            for out, pointers, _, op in steps:
                group.reduce_scatter(f'torch.{fn}', out.raw.data_ptr(), pointers, *_of(out.raw), op, seconds)
                out.put_back()

        return self._run(fn, opts, is_async, result, call)

    def _blocks(self, fn: str, what: str, ins: Any, like: Any) -> tuple[list[int], Any]:
        """Addresses of the blocks of all ranks, in a list of tensors or one tensor; and what keeps them there."""
        if isinstance(ins, torch.Tensor):
            _same(fn, what, [ins], like, like.numel() * self._size)
            raw = _plain(ins)
            step = like.numel() * like.element_size()
            return [raw.data_ptr() + step * i for i in range(self._size)], raw
        if len(ins) != self._size:
            raise make(f'torch.{fn}', 'value', f'{what} has {len(ins)} tensors, but the group has {self._size} ranks')
        _same(fn, what, ins, like)
        plain = [_plain(t) for t in ins]
        return [t.data_ptr() for t in plain], plain

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return self._reduce_scatter('reduce_scatter', outputs, inputs, opts, _is_async(opts), outputs)

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any = None) -> Any:
        return self._reduce_scatter('reduce_scatter_tensor', [output], [input], opts, _is_async(opts), [output])

    def _reduce_scatter_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        return self._reduce_scatter('reduce_scatter_tensor', [output], [input], opts, _is_async(opts), [output])

    def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return self._reduce_scatter('reduce_scatter_tensor', outputs, inputs, opts, _is_async(opts), outputs)

    def reduce_scatter_tensor_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return self._reduce_scatter('reduce_scatter_tensor', outputs, inputs, opts, _is_async(opts), outputs)

    # one to all, all to one, all to all

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:
        t = _single('broadcast', tensors)
        root = _root(opts)
        out = _Out('broadcast', t)

        def call(group: Any, seconds: float) -> None:
            group.broadcast('torch.broadcast', out.raw.data_ptr(), *_of(out.raw), root, seconds)
            if root != self._rank:
                out.put_back()

        return self._run('broadcast', opts, _is_async(opts), tensors, call)

    def _all_gather(self, fn: str, outs: Any, ins: Any, opts: Any, is_async: bool, result: Any) -> Any:
        """outs[k]: a list of tensors, or one for all blocks."""
        steps = []
        for out, t in zip(outs, ins):
            raw = _plain(_dense(fn, t))
            if isinstance(out, torch.Tensor):
                _same(fn, 'output', [out], t, t.numel() * self._size)
                written = [_Out(fn, out, read=False)]
                step = t.numel() * t.element_size()
                pointers = [written[0].raw.data_ptr() + step * i for i in range(self._size)]
            else:
                if len(out) != self._size:
                    raise make(f'torch.{fn}', 'value', f'output has {len(out)} tensors, but the group has {self._size} ranks')
                _same(fn, 'output', out, t)
                written = [_Out(fn, one, read=False) for one in out]
                pointers = [one.raw.data_ptr() for one in written]
            steps.append((written, pointers, raw))

        def call(group: Any, seconds: float) -> None:
            for written, pointers, raw in steps:
                group.all_gather(f'torch.{fn}', pointers, raw.data_ptr(), *_of(raw), seconds)
                for one in written:
                    one.put_back()

        return self._run(fn, opts, is_async, result, call)

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return self._all_gather('all_gather', outputs, inputs, opts, _is_async(opts), outputs)

    def allgather_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        # the lists are by rank, and in them by tensor, or the reverse: torch documents the first and hands on either
        if len(outputs) == self._size and all(len(row) == len(inputs) for row in outputs):
            outputs = [[row[k] for row in outputs] for k in range(len(inputs))]
        return self._all_gather('all_gather_coalesced', outputs, inputs, opts, _is_async(opts), outputs)

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> Any:
        return self._all_gather('all_gather_into_tensor', [output], [input], opts, _is_async(opts), [output])

    def _allgather_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        return self._all_gather('all_gather_into_tensor', [output], [input], opts, _is_async(opts), [output])

    def all_gather_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return self._all_gather('all_gather_into_tensor', outputs, inputs, opts, _is_async(opts), outputs)

    def allgather_into_tensor_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        return self._all_gather('all_gather_into_tensor', outputs, inputs, opts, _is_async(opts), outputs)

    def gather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        t = _single('gather', inputs)
        root = _root(opts)
        raw = _plain(_dense('gather', t))
        written: list[_Out] = []
        if root == self._rank:
            outs = outputs[0] if len(outputs) == 1 else ()
            if len(outs) != self._size:
                raise make('torch.gather', 'value', f'gather_list has {len(outs)} tensors, but the group has {self._size} ranks')
            _same('gather', 'gather_list', outs, t)
            written = [_Out('gather', one, read=False) for one in outs]
        pointers = [one.raw.data_ptr() for one in written] if root == self._rank else None

        def call(group: Any, seconds: float) -> None:
            group.gather('torch.gather', pointers, raw.data_ptr(), *_of(raw), root, seconds)
            for one in written:
                one.put_back()

        return self._run('gather', opts, _is_async(opts), outputs, call)

    def scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        t = _single('scatter', outputs)
        root = _root(opts)
        out = _Out('scatter', t, read=False)
        pointers, kept = None, None
        if root == self._rank:
            ins = inputs[0] if len(inputs) == 1 else ()
            pointers, kept = self._blocks('scatter', 'scatter_list', list(ins), t)

        def call(group: Any, seconds: float) -> None:
            group.scatter('torch.scatter', out.raw.data_ptr(), pointers, *_of(out.raw), root, seconds)
            out.put_back()

        return self._run('scatter', opts, _is_async(opts), (outputs, kept), call)

    def _all_to_all(self, fn: str, outs: Any, out_counts: Any, out_pointers: Any, in_counts: Any, in_pointers: Any, code: int,
                    opts: Any, is_async: bool, kept: Any, result: Any) -> Any:
        def call(group: Any, seconds: float) -> None:
            group.all_to_all(f'torch.{fn}', out_pointers, out_counts, in_pointers, in_counts, code, seconds)
            for one in outs:
                one.put_back()

        return self._run(fn, opts, is_async, result, call)

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        fn = 'all_to_all'
        for what, list_ in (('output_tensor_list', outputs), ('input_tensor_list', inputs)):
            if len(list_) != self._size:
                raise make(f'torch.{fn}', 'value', f'{what} has {len(list_)} tensors, but the group has {self._size} ranks')
            for i, t in enumerate(list_):
                if _dense(fn, t).dtype is not inputs[0].dtype:
                    raise make(f'torch.{fn}', 'type', f'{what}[{i}] has elements of type {t.dtype}, but {inputs[0].dtype} is needed')
        ins = [_plain(t) for t in inputs]
        outs = [_Out(fn, t, read=False) for t in outputs]
        return self._all_to_all(fn, outs, [_of(o.raw)[0] for o in outs], [o.raw.data_ptr() for o in outs],
                                [_of(t)[0] for t in ins], [t.data_ptr() for t in ins], _of(ins[0])[1], opts,
                                _is_async(opts), ins, outputs)

    def _splits(self, what: str, t: Any, splits: Any) -> list[int]:
        rows = t.shape[0] if t.dim() else 1
        if not len(splits):
            if rows % self._size:
                raise make('torch.all_to_all_single', 'value',
                           f'{what} has {rows} rows, which do not divide by the {self._size} ranks: give the split sizes')
            return [rows // self._size] * self._size
        if len(splits) != self._size or sum(splits) != rows or min(splits) < 0:
            raise make('torch.all_to_all_single', 'value',
                       f'the split sizes of {what} are {list(splits)}, but must be {self._size} numbers whose sum is its {rows} rows')
        return list(splits)

    def all_to_all_single(self, output: Any, input: Any, output_splits: Any = (), input_splits: Any = (), opts: Any = None) -> Any:
        return self._all_to_all_rows(output, input, output_splits, input_splits, opts, _is_async(opts))

    def alltoall_base(self, output: Any, input: Any, output_splits: Any = (), input_splits: Any = (), opts: Any = None) -> Any:
        return self._all_to_all_rows(output, input, output_splits, input_splits, opts, _is_async(opts))

    def _all_to_all_rows(self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any, is_async: bool) -> Any:
        fn = 'all_to_all_single'
        _dense(fn, input)
        out = _Out(fn, output, read=False)
        if output.dtype is not input.dtype:
            raise make(f'torch.{fn}', 'type', f'output has elements of type {output.dtype}, but input of {input.dtype}')
        raw = _plain(input)
        lists = []
        for what, t, at, splits in (('output', output, out.raw, output_splits), ('input', input, raw, input_splits)):
            rows = self._splits(what, t, splits)
            count, code = _of(t)
            row = count // max(1, t.shape[0] if t.dim() else 1)
            counts = [row * n for n in rows]
            pointers, address = [], at.data_ptr()
            for n in counts:
                pointers.append(address)
                address += n * _SIZES[code]
            lists.append((counts, pointers))
        (out_counts, out_pointers), (in_counts, in_pointers) = lists
        return self._all_to_all(fn, [out], out_counts, out_pointers, in_counts, in_pointers, code, opts, is_async, raw, [output])

    def barrier(self, opts: Any = None) -> Any:
        return self._run('barrier', opts, _is_async(opts), [],
                         lambda group, seconds: group.barrier('torch.barrier', seconds))

    # messages

    def _message(self, fn: str, tensors: Any, peer: int, tag: int, is_send: bool) -> Any:
        """A send or receive: done when this returns if torch's send() or recv() asked, else a Work."""
        group = self._group
        if group is None:
            raise make(f'torch.{fn}', 'stale', 'the process group was destroyed')
        t = _single(fn, tensors)
        out = None if is_send else _Out(fn, t, read=False)
        raw = _plain(_dense(fn, t)) if out is None else out.raw
        arguments = (f'torch.{fn}', raw.data_ptr(), *_of(raw), peer, tag, self._seconds)
        if _is_blocking():
            record = begin_record(fn) if profiled() else None
            try:
                source = group.send(*arguments) if is_send else group.recv(*arguments)
            finally:
                if record is not None:
                    record.__exit__(None, None, None)
            if out is not None:
                out.put_back()
            return Message(f'torch.{fn}', None, source, None, tensors, None)
        self._messages = {message for message in self._messages if not message.is_completed()}
        request = group.send_begin(*arguments) if is_send else group.recv_begin(*arguments)
        message = Message(f'torch.{fn}', request, peer, out, tensors, raw)
        self._messages.add(message)  # what a thread reads and writes stays until it is over
        return message

    def send(self, tensors: Any, dst: int, tag: int = 0) -> Any:
        return self._message('send', tensors, dst, tag, True)

    def recv(self, tensors: Any, src: int, tag: int = 0) -> Any:
        return self._message('recv', tensors, src, tag, False)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Any:
        return self._message('recv', tensors, -1, tag, False)

    # several operations at once: they run one after the other, as they come

    def _start_coalescing(self, device: Any = None) -> None:
        pass

    def _end_coalescing(self, device: Any = None) -> Any:
        return finished_work([])

    start_coalescing, end_coalescing = _start_coalescing, _end_coalescing


def _reduce_op(opts: Any) -> Any:
    return opts.reduceOp if opts is not None else 0


def _root(opts: Any) -> int:
    return int(opts.rootRank) if opts is not None else 0


def _missing(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **named: Any) -> Any:
        raise make(f'torch.{name}', 'unsupported', f'the back end shmem has no {name}')

    method.__name__ = name
    return method


# What a group of torch can do besides; the base class would answer in its own, darker words.
for _name in ('monitored_barrier', 'splitGroup', 'split_group', 'mergeRemoteGroup', 'merge_remote_group'):
    setattr(ProcessGroup, _name, _missing(_name))


def _refuse_others(config: Any) -> None:
    """config: torch's, of which back end is for which device. A group in Python takes the place of all of them."""
    devices = getattr(config, 'device_backend_map', {})
    others = [f"'{backend}' for {device}" for device, backend in devices.items() if backend != 'shmem']
    if others:
        raise make('torch.init_process_group', 'unsupported',
                   f'a group of the back end shmem has no other back end beside it, but {" and ".join(others)} is asked for. Begin '
                   "with the other one, and have a second group for tensors on the CPU: dist.new_group(backend='shmem')")


def _register() -> None:
    if hasattr(dist.Backend, 'SHMEM'):
        return

    def create(store: Any, rank: int, size: int, timeout: Any) -> ProcessGroup:
        _refuse_others(sys._getframe(1).f_locals.get('backend_config'))
        return ProcessGroup(store, rank, size, timeout)

    takes = inspect.signature(dist.Backend.register_backend).parameters
    more = {'devices': ['cpu']} if 'devices' in takes else {}
    dist.Backend.register_backend('shmem', create, **more)


_register()
leave_alone(sys.modules[__name__], *(sys.modules[f'{__package__}.{name}'] for name in ('_sparse', '_work')))
