# SPDX-License-Identifier: Apache-2.0
"""Ranks of torch.distributed with the back end shmem: the program that test_torch_group.py runs.

    torch_ranks.py FOLDER NAME...      runs these bodies, each in as many forked processes as it says

torch is imported once, and then the ranks are forked.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import shmem
import shmem.torch  # noqa: F401
import torch
import torch.distributed as dist

T = torch
bodies = {}


def ranks(n, codes=None):
    """A body for n ranks, which end with these codes (None: 0, all of them)."""

    def decorate(body):
        bodies[body.__name__] = (n, codes or [0] * n, body)
        return body

    return decorate


class raises:
    """The block raises that kind of exception, and its text has the fragments."""

    def __init__(self, kind, *fragments):
        self.kind, self.fragments = kind, fragments

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert kind is not None, f'no {self.kind.__name__} was raised'
        if not isinstance(error, self.kind):
            return False
        for fragment in self.fragments:
            assert fragment in str(error), f'{fragment!r} is missing in: {error}'
        return True


# --- what works ---------------------------------------------------------------------------------------------------------


def reductions(me, n):
    op = dist.ReduceOp
    for dtype in (T.float32, T.float64, T.float16, T.bfloat16, T.int8, T.uint8, T.int16, T.int32, T.int64, T.complex64):
        for size in (1, 1000, 200_001):
            x = (T.arange(size) % 7 + me).to(dtype)
            dist.all_reduce(x)
            assert T.equal(x, (T.arange(size) % 7 * n + n * (n - 1) // 2).to(dtype)), (dtype, size)
    for kind, want in ((op.SUM, 10), (op.PRODUCT, 24), (op.MIN, 1), (op.MAX, 4), (op.AVG, 2.5)):
        for dtype in (T.float32, T.bfloat16, T.float16, T.int32):
            x = T.full((3000, 3), me + 1, dtype=dtype)
            dist.all_reduce(x, kind)
            assert (x == (want if dtype.is_floating_point else int(want))).all(), (kind, dtype, x)
    x = T.full((2, 3), -me - 1)[:, ::2]  # averages of integers go towards zero
    dist.all_reduce(x, op.AVG)
    assert (x == -2).all()
    x = T.full((3,), me + 1, dtype=T.uint8)
    dist.reduce(x, 1, op.AVG)
    assert (x == (2 if me == 1 else me + 1)).all()
    x = T.zeros(3, dtype=T.int16)
    dist.reduce_scatter(x, [T.full((3,), me + i, dtype=T.int16) for i in range(n)], op.AVG)
    assert (x == (6 + 4 * me) // 4).all()
    for kind, want in ((op.BAND, 0), (op.BOR, 7), (op.BXOR, 1 ^ 2 ^ 3 ^ 4)):
        x = T.tensor(me + 1)
        dist.all_reduce(x, kind)
        assert x.item() == want
    for kind, want in ((op.SUM, [True, True, False]), (op.MIN, [False, True, False]), (op.MAX, [True, True, False])):
        x = T.tensor([me == 0, True, False])
        dist.all_reduce(x, kind)
        assert x.tolist() == want
    # The same bits everywhere, and one rounding.
    x = T.randn(50_000, generator=T.Generator().manual_seed(me)).to(T.bfloat16)
    dist.all_reduce(x)
    every = [T.empty_like(x) for _ in range(n)]
    dist.all_gather(every, x)
    assert all(T.equal(every[0], other) for other in every)
    # Views, nothing, and one number.
    wide = T.zeros(40, 60)
    wide[:, ::2] = me
    dist.all_reduce(wide.t()[::2])
    assert (wide[:, ::2] == 6).all() and (wide[:, 1::2] == 0).all()
    dist.all_reduce(T.zeros(0, 3))
    dist.barrier()
    for size in (100, 100_000):
        x = T.full((size,), me + 1.0)
        dist.reduce(x, 2)
        assert (x == (10 if me == 2 else me + 1)).all()
    x = T.zeros(5)
    dist.reduce_scatter(x, [T.full((5,), float(i + me)) for i in range(n)])
    assert (x == 4 * me + 6).all()
    x = T.zeros(100_000, 2)
    dist.reduce_scatter_tensor(x, T.ones(100_000 * n, 2), op.AVG) if hasattr(dist, 'reduce_scatter_tensor') else x.fill_(1)
    assert (x == 1).all()
    several = [T.ones(3), T.ones(100_000) * me]
    dist.all_reduce_coalesced(several)
    assert (several[0] == n).all() and (several[1] == 6).all()


def moves(me, n):
    for size in (1, 300_000):
        x = T.arange(size) * (me + 1)
        dist.broadcast(x, 1)
        assert T.equal(x, T.arange(size) * 2)
        outs = [T.zeros(size, 2, dtype=T.float16) for _ in range(n)]
        dist.all_gather(outs, T.full((size, 2), me, dtype=T.float16))
        assert all((outs[i] == i).all() for i in range(n))
        outs = T.zeros(n * size, 2)
        dist.all_gather_into_tensor(outs, T.full((size, 2), float(me)))
        assert (outs.reshape(n, -1) == T.arange(n)[:, None]).all()
        x = T.zeros(size)
        dist.scatter(x, [T.full((size,), float(i)) for i in range(n)] if me == 3 else None, src=3)
        assert (x == me).all()
        got = [T.zeros(size) for _ in range(n)] if me == 1 else None
        dist.gather(x, got, dst=1)
        assert me != 1 or all((got[i] == i).all() for i in range(n))
    x = T.zeros(n * 2)
    dist.all_to_all_single(x, T.arange(n * 2.0) + 100 * me)
    assert x.tolist() == [100 * i + 2 * me + j for i in range(n) for j in (0, 1)]
    x = T.zeros(sum(range(n)), 3)
    dist.all_to_all_single(x, T.full((me * n, 3), float(me)), list(range(n)), [me] * n)
    assert x[:, 0].tolist() == [float(i) for i in range(n) for _ in range(i)]
    ins = [T.full((50_000 * (me + j),), me * 10.0 + j) for j in range(n)]
    outs = [T.zeros(50_000 * (i + me)) for i in range(n)]
    dist.all_to_all(outs, ins)
    assert all((outs[i] == i * 10 + me).all() for i in range(n))
    everybody = [None] * n
    dist.all_gather_object(everybody, {'rank': me})
    assert everybody == [{'rank': i} for i in range(n)]
    one = ['from 2' if me == 2 else None]
    dist.broadcast_object_list(one, 2)
    assert one == ['from 2']


def messages(me, n):
    to, of = (me + 1) % n, (me - 1) % n
    a, b = T.zeros(300_000), T.zeros(7)
    sends = [dist.isend(T.full((300_000,), float(me)), to, tag=3), dist.isend(T.full((7,), float(me)), to, tag=4)]
    small, large = dist.irecv(b, of, tag=4), dist.irecv(a, of, tag=3)
    dist.barrier()  # they go on meanwhile
    for work in (small, large, *sends):
        work.wait()
    assert large.is_completed() and (a == of).all() and (b == of).all()
    if me == 0:
        found = set()
        for _ in range(n - 1):
            x = T.zeros(3)
            source = dist.recv(x)
            assert x[0] == source
            found.add(source)
        assert found == set(range(1, n))
    else:
        dist.send(T.full((3,), float(me)), 0)
    view = T.zeros(6, 4)
    if me == 0:
        dist.send(T.arange(6.0), 1)
    elif me == 1:
        dist.recv(view[:, 1], 0)
        assert view[:, 1].tolist() == list(range(6)) and view.sum() == 15
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, T.ones(5) * me, to, tag=8), dist.P2POp(dist.irecv, b[:5], of, tag=8)])
    for work in works:
        work.wait()
    assert b[0] == of


def in_the_background(me, n):
    x, y = T.full((500_000,), float(me)), T.ones(3)
    first, second = dist.all_reduce(x, async_op=True), dist.all_reduce(y, async_op=True)
    third = dist.barrier(async_op=True)
    dist.all_reduce(y)  # after them
    assert third.wait() and first.is_completed() and second.is_completed()
    assert (x == 6).all() and (y == n * n).all()
    future = dist.all_reduce(x, async_op=True).get_future().then(lambda done: done.value()[0][0].item())
    assert future.wait() == 6 * n
    # One half sends while the other reduces.
    work = dist.all_reduce(x, async_op=True)
    dist.send(y, 1) if me == 0 else dist.recv(y, 0) if me == 1 else None
    work.wait()
    parts = dist.new_group([0, 2])
    if me in (0, 2):
        z = T.ones(2)
        dist.all_reduce(z, group=parts)
        assert (z == 2).all() and dist.get_rank(parts) == me // 2
        dist.broadcast(z, 2, group=parts)
        dist.destroy_process_group(parts)
    gloo = dist.new_group(backend='gloo')
    dist.all_reduce(y, group=gloo)


@ranks(4)
def everything(me, n):
    reductions(me, n)
    moves(me, n)
    messages(me, n)
    in_the_background(me, n)
    # The end comes with groups and a thread that are there.


# --- training -------------------------------------------------------------------------------------------------------------


class Accident(torch.autograd.Function):
    """Happens in the backward pass of rank 1."""

    happens = None

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if Accident.happens:
            Accident.happens()
        return gradient


def wrapped(**options):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(400, 400), torch.nn.Linear(400, 400), torch.nn.Linear(400, 1))
    return torch.nn.parallel.DistributedDataParallel(layers, bucket_cap_mb=1, **options)


def step(model):
    model(Accident.apply(T.ones(4, 400, requires_grad=True))).sum().backward()


@ranks(3, [0, -signal.SIGKILL, 0])
def a_death_in_backward(me, n):
    model = wrapped()
    step(model)
    if me == 1:
        Accident.happens = lambda: (time.sleep(0.1), os.kill(os.getpid(), signal.SIGKILL))
        handle = model.module[2].weight.register_hook(lambda gradient: Accident.happens())  # before any bucket is ready
        assert handle
    began = time.monotonic()
    with raises(RuntimeError, 'rank 1', 'died'):  # an OwnerDied, which torch 1.13 tells in words only
        step(model)
    assert time.monotonic() - began < 2.1
    with raises(shmem.OwnerDied, 'cannot be used any more', 'rank 1'):
        dist.all_reduce(T.zeros(3))


@ranks(2)
def ways_to_train(me, n):
    for options in ({'gradient_as_bucket_view': True}, {'static_graph': True}):
        step(wrapped(**options))

    class Partly(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = torch.nn.Linear(400, 1), torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.used(x)

    step(torch.nn.parallel.DistributedDataParallel(Partly(), find_unused_parameters=True))
    model = wrapped()
    with model.no_sync():
        step(model)
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
    model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    step(model)
    gradient = model.module[0].weight.grad.clone()
    dist.all_reduce(gradient)
    assert T.allclose(gradient, 2 * model.module[0].weight.grad)
    with model.join():  # ranks with fewer inputs take part until the last one is done
        for _ in range(2 + me):
            model(T.ones(4, 400)).sum().backward()


@ranks(2)
def training_of_other_kinds(me, n):
    # Embeddings with sparse gradients, and sums of sparse tensors themselves.
    torch.manual_seed(0)
    table = torch.nn.Embedding(9, 3, sparse=True)
    model = torch.nn.parallel.DistributedDataParallel(table)
    model(T.tensor([me, me, 5])).sum().backward()
    assert table.weight.grad.is_sparse and table.weight.grad.to_dense()[:, 0].tolist() == [1, 1, 0, 0, 0, 1, 0, 0, 0]
    for dtype in (T.float32, T.bfloat16, T.int64):
        x = T.zeros(4, 3, dtype=dtype)
        x[me::2] = me + 1
        x = x.to_sparse(1)
        dist.all_reduce(x)
        assert x.layout is T.sparse_coo and x.to_dense()[:, 0].tolist() == [1, 2, 1, 2], dtype
    x = T.eye(3).to_sparse() if me else T.zeros(3, 3).to_sparse()
    work = dist.all_reduce(x, dist.ReduceOp.AVG, async_op=True)
    work.wait()
    assert T.equal(x.to_dense(), T.eye(3) / 2)
    with raises(ValueError, 'rank 0 called all_reduce of a sparse float32 tensor of the shape (3, 3)', 'rank 1', '(4, 4)'):
        dist.all_reduce(T.eye(3 + me).to_sparse())
    with raises(TypeError, 'MAX', 'sparse'):
        dist.all_reduce(x, dist.ReduceOp.MAX)
    with raises(TypeError, 'sparse_csr'):
        dist.all_reduce(T.eye(3).to_sparse_csr())
    # What a future calls may call collectives, and wait for them, as that of PowerSGD does.
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
    model = wrapped()
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    for _ in range(4):
        step(model)
    alone = [dist.new_group([rank]) for rank in range(n)][me]  # where the order of operations is this rank's affair
    gate, passed = threading.Event(), []

    def more(done):
        dist.all_reduce(T.ones(2), group=alone)
        dist.all_reduce(T.ones(2), group=alone, async_op=True).get_future().wait()
        later.wait()  # submitted by the other thread, and not begun yet
        passed.append(me)

    threading.Timer(0.05, gate.set).start()
    held = dist.all_reduce(T.ones(3), group=alone, async_op=True).get_future().then(lambda done: gate.wait())
    later = dist.all_reduce(T.ones(3), group=alone, async_op=True)
    held.then(more).wait()
    assert passed == [me]
    # Compression in C++, which looks at the future itself.
    model = wrapped()
    model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS)
    step(model)
    assert (model.module[2].bias.grad == 4).all()


@ranks(2)
def what_torch_asks_of_a_group(me, n):
    if torch.__version__.startswith('1.'):
        return
    group = dist.group.WORLD
    c10d = dist.distributed_c10d
    assert c10d._device_capability(group) == ['cpu'] and c10d._get_pg_default_device(group) == T.device('cpu')
    assert group._get_backend(T.device('cpu')).name() == 'shmem'
    with raises(NotImplementedError, "device 'cuda:0'"):
        group._get_backend(T.device('cuda:0'))
    # The profiler shows operations, those that go on in the background to their end.
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as trace:
        dist.all_reduce(T.ones(3))
        dist.broadcast(T.ones(3), 0, async_op=True).wait()
        dist.send(T.ones(3), 1) if me == 0 else dist.recv(T.ones(3), 0)
    shown = {event.key for event in trace.key_averages()}
    assert {'shmem:all_reduce', 'shmem:broadcast', ('shmem:send', 'shmem:recv')[me]} <= shown, shown
    # Compiled models call the group's functions as they are.
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            self.register_buffer('steps', T.zeros(3))

        def forward(self, x):
            self.steps.add_(1)
            return self.layer(x)

    model = torch.nn.parallel.DistributedDataParallel(Counting())
    if hasattr(torch._C._dynamo.eval_frame, 'set_code_exec_strategy'):  # since 2.7; some builds of older ones cannot compile
        model = torch.compile(model, backend='eager')
    for _ in range(2):
        model(T.ones(2, 4)).sum().backward()
    if os.environ.get('SHMEM_TEST_FULL'):
        sharded(me, n)
    # Another back end beside this one would be left out: it is refused.
    dist.destroy_process_group()
    with raises(NotImplementedError, "'nccl' for cuda", "dist.new_group(backend='shmem')"):
        dist.init_process_group('cpu:shmem,cuda:nccl', store=dist.HashStore(), rank=0, world_size=1)


def sharded(me, n):
    """FSDP of both kinds, and their checkpoints."""
    from torch.distributed import checkpoint
    from torch.distributed.checkpoint import state_dict
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardedStateDictConfig, StateDictType, fully_shard

    def layers():
        return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))

    old = FullyShardedDataParallel(layers(), device_id=T.device('cpu'))
    optimizer = torch.optim.Adam(old.parameters())
    old(T.ones(2, 4)).sum().backward()
    optimizer.step()
    with FullyShardedDataParallel.state_dict_type(old, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig()):
        assert set(old.state_dict()) == {'0.weight', '0.bias', '1.weight', '1.bias'}
    assert FullyShardedDataParallel.optim_state_dict(old, optimizer)
    new = fully_shard(layers())
    new(T.ones(2, 4)).sum().backward()
    whole = state_dict.StateDictOptions(full_state_dict=True)
    full = state_dict.get_model_state_dict(new, options=whole)
    other = fully_shard(layers())
    whole = state_dict.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    state_dict.set_model_state_dict(other, full if me == 0 else {}, options=whole)
    assert all(T.equal(a.full_tensor(), b.full_tensor()) for a, b in zip(new.parameters(), other.parameters()))
    path = f'{sys.argv[1]}/checkpoint'
    checkpoint.async_save({'model': new.state_dict()}, checkpoint_id=path, process_group=dist.new_group()).result()
    with T.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    loaded = {'model': other.state_dict()}
    checkpoint.load(loaded, checkpoint_id=path)
    assert all(T.equal(a.full_tensor(), b.full_tensor()) for a, b in zip(new.parameters(), other.parameters()))


# --- what does not --------------------------------------------------------------------------------------------------------


@ranks(2)
def mistakes(me, n):
    for _ in range(3):  # the group goes on after each
        with raises(ValueError, 'rank 0 called all_reduce of 3 float32 (sum)', 'rank 1 called all_reduce of 4 float32 (sum)'):
            dist.all_reduce(T.zeros(3 + me))
        with raises(ValueError, 'all_reduce of 3 float32', 'all_reduce of 3 float64'):
            dist.all_reduce(T.zeros(3, dtype=(T.float32, T.float64)[me]))
        with raises(ValueError, 'rank 0 called barrier', 'rank 1 called broadcast'):
            dist.barrier() if me == 0 else dist.broadcast(T.zeros(3), 0)
        with raises(ValueError, 'from rank 0', 'from rank 1'):
            dist.broadcast(T.zeros(100_000), me)
    with raises(ValueError, 'rank 1 called all_reduce of 4'):
        dist.all_reduce(T.zeros(3 + me), async_op=True).wait()
    with raises(ValueError, 'rank 0 sends 2 elements to rank 1, but that expects 1'):
        dist.all_to_all([T.zeros(1), T.zeros(1)], [T.zeros(1), T.zeros(2 - me)])
    if me == 0:
        dist.send(T.zeros(5), 1)
    else:
        with raises(ValueError, 'recv of 4 float32 from rank 0', 'send of 5 float32 to rank 1'):
            dist.recv(T.zeros(4), 0)
    with raises(NotImplementedError, "device 'meta'"):
        dist.all_reduce(T.zeros(3, device='meta'))
    with raises(TypeError, 'sparse'):
        dist.broadcast(T.eye(3).to_sparse(), 0)
    with raises(TypeError, 'BAND', 'float32'):
        dist.all_reduce(T.zeros(3), dist.ReduceOp.BAND)
    with raises(TypeError, 'AVG', 'bool'):
        dist.all_reduce(T.zeros(3, dtype=T.bool), dist.ReduceOp.AVG)
    with raises(ValueError, 'output_tensor_list has 1 tensors'):
        dist.all_to_all([T.zeros(1)], [T.zeros(1), T.zeros(1)])
    with raises(ValueError, '3 rows'):
        dist.all_to_all_single(T.zeros(3), T.zeros(3))
    # Who saved a tensor for a backward pass that a collective then overwrites is told so.
    if hasattr(torch.autograd.graph, 'increment_version'):
        w = T.ones(3, requires_grad=True)
        y = w * 2
        z = (y * y).sum()
        dist.all_reduce(y)
        with raises(RuntimeError, 'modified by an inplace operation'):
            z.backward()
    # In a forked child the group is not its own.
    child = os.fork()
    if child == 0:
        try:
            with raises(shmem.Error, 'forked'):
                dist.all_reduce(T.zeros(3))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    dist.barrier()
    # Who does not come is named, and after that the group is of no use.
    late = dist.new_group(timeout=timedelta(seconds=0.3))
    if me == 0:
        with raises(TimeoutError, 'timed out after 0.3 s in all_reduce of 1 float32 (sum)', 'rank 1 did not come'):
            dist.all_reduce(T.zeros(1), group=late)
        with raises(TimeoutError, 'rank 1 did not come'):
            dist.barrier(group=late)
    dist.barrier()
    dist.destroy_process_group()
    with raises((ValueError, RuntimeError), 'rocess group'):
        dist.all_reduce(T.zeros(1))


@ranks(2)
def again(me, n):
    """The same store, and the same names in it."""
    dist.destroy_process_group()
    for i in range(3):  # torch 1.13 counts in a store who has come, and cannot use it twice
        start(f'{sys.argv[1]}/again{i if torch.__version__.startswith("1.") else ""}', me, n)
        x = T.ones(2)
        dist.all_reduce(x)
        assert (x == n).all()
        dist.destroy_process_group()


# --- running --------------------------------------------------------------------------------------------------------------


def start(path, rank, n):
    dist.init_process_group('shmem', store=dist.FileStore(path, n), rank=rank, world_size=n)


def fork(name):
    n, codes, body = bodies[name]
    sys.stdout.flush()
    children = []
    for rank in range(n):
        pid = os.fork()
        if pid == 0:
            signal.alarm(50)
            start(f'{sys.argv[1]}/{name}', rank, n)
            body(rank, n)
            sys.exit(0)
        children.append(pid)
    found = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    print(f'{name}: {"ok" if found == codes else found}', flush=True)


if __name__ == '__main__':
    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        import torch._dynamo  # noqa: F401  # DistributedDataParallel wants it, which would cost each rank a second
    for name in sys.argv[2:]:
        fork(name)
