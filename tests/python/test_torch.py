# SPDX-License-Identifier: Apache-2.0
"""torch tensors: as regions, in transfers and collectives, in forked data loaders. torch is optional at run time."""

import sys

import numpy as np
import shmem
from jobs import IN_PE, PYTHON, on_pes, program, raises, run, skip, torchrun
from shmem.errors import BadBuffer, NotSupported, WrongType

if IN_PE:
    try:
        import torch
    except ImportError:
        torch = None


def need_torch():
    if torch is None:
        skip('torch is not installed')


def test_torch_is_not_imported(tmp_path):
    run([PYTHON, program(tmp_path, '''
        import sys, numpy as np, shmem
        shmem.init()
        r = shmem.register(np.zeros(3))
        shmem.all_reduce(r)
        try:
            r.tensor
        except shmem.NotSupported as error:
            assert 'torch is not imported' in str(error)
        else:
            raise AssertionError
        assert 'torch' not in sys.modules
        shmem.finalize()
    ''')]).ok()


@on_pes(2)
def test_regions_of_tensors():
    need_torch()
    me = shmem.my_pe()
    other = 1 - me
    for name in ('float32', 'float64', 'float16', 'bfloat16', 'int8', 'uint8', 'int16', 'int32', 'int64', 'bool', 'complex64'):
        dtype = getattr(torch, name)
        t = (torch.arange(12).reshape(3, 4) + me).to(dtype)
        r = shmem.register(t, name=name)
        assert r.addr == t.data_ptr() and r.size == t.numel() * t.element_size() and r.tensor is t, name
        assert r.dtype is dtype and r.shape == (3, 4) and r.array.shape == (3, 4)
        shmem.barrier()
        want = (torch.arange(12).reshape(3, 4) + other).to(dtype)
        got = shmem.get(r, other)
        assert got.dtype is dtype and got.shape == (3, 4) and torch.equal(got, want), name
        part = shmem.get(r, other, 2 * t.element_size(), 3 * t.element_size())
        assert part.shape == (3,) and torch.equal(part, want.ravel()[2:5])
        out = torch.zeros(3, 4, dtype=dtype)
        assert shmem.get(r, other, out=out) is out and torch.equal(out, want)
        peer = shmem.peer(r, other, tensor=True)
        assert peer.dtype is dtype and torch.equal(peer, want)
        found = shmem.get(shmem.region(other, name=name))
        if name == 'bfloat16':
            assert found.dtype is torch.bfloat16 and torch.equal(found, want.ravel())
        shmem.barrier()
        shmem.put(dst=other, dst_mr=r, src_mr=torch.full((2,), 5, dtype=dtype))
        shmem.barrier()
        assert t.ravel()[1] == torch.tensor(5, dtype=dtype), (name, t)
        assert r.array.nbytes == r.size, (name, r.array)
        shmem.deregister(r)
    counter = shmem.register(torch.zeros(2, dtype=torch.int64), name='counter')
    shmem.barrier()
    for _ in range(100):
        shmem.atomic_add(counter, torch.tensor(2), 0, 8)
    shmem.barrier()
    assert shmem.atomic_fetch(counter, 0, 8) == 400
    # An array as a tensor, and the reverse.
    a = shmem.register(np.zeros(4, np.float32))
    a.tensor[:] = 3
    assert (a.array == 3).all()
    a.tensor += 1
    assert (a.array == 4).all()
    t = shmem.register(torch.zeros(4))
    t.array[:] = 3
    assert bool((t.tensor == 3).all())
    t.tensor += 1
    t.array += 1
    assert bool((t.tensor == 5).all())
    with raises(WrongType, 'Region.tensor'):
        t.tensor = torch.zeros(4)
    tensors_on_the_heap()
    shmem.barrier()


def tensors_on_the_heap():
    import shmem.torch as st
    me = shmem.my_pe()
    x = st.full((4,), me, dtype=torch.bfloat16)
    assert shmem.get(x, 1 - me).tolist() == [1 - me] * 4
    shmem.all_reduce(x)
    assert x.tolist() == [1] * 4
    y = st.zeros(3, requires_grad=True)
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2] * 3
    shmem.free(y)
    with raises(ValueError, 'own', 'pool'):
        st.empty(3, own=True)


@on_pes(1)
def test_tensors_that_cannot_be():
    need_torch()
    t = torch.arange(12.0).reshape(3, 4)
    with raises(BadBuffer, 'register', 'not contiguous', '(4, 3)', 'contiguous()'):
        shmem.register(t.T)
    with raises(BadBuffer, 'not contiguous'):
        shmem.register(t[:, 1])
    with raises(BadBuffer, 'empty'):
        shmem.register(torch.zeros(0, 3))
    with raises(NotSupported, 'register', "'meta'"):
        shmem.register(torch.zeros(3, device='meta'))
    with raises(TypeError, 'sparse'):
        shmem.register(torch.eye(3).to_sparse())
    with raises(BadBuffer, 'conj'):
        shmem.register(torch.zeros(3, dtype=torch.complex64).conj())

    robbed = torch.zeros(100)
    (robbed.untyped_storage() if hasattr(robbed, 'untyped_storage') else robbed.storage()).resize_(2)
    with raises(BadBuffer, 'its storage was resized'):
        shmem.register(robbed)

    class Elsewhere:  # as CuPy's arrays are, but for what is missing
        __cuda_array_interface__ = {'shape': (3,)}

    with raises(TypeError, 'register', '__cuda_array_interface__ that makes no sense', 'typestr'):
        shmem.register(Elsewhere())
    for fn in (shmem.all_reduce, shmem.broadcast, shmem.all_gather):
        with raises(BadBuffer, 'not contiguous'):
            fn(t.T)
        with raises(NotSupported, "'meta'"):
            fn(torch.zeros(3, device='meta'))
    with raises(TypeError, 'avg'):
        shmem.all_reduce(torch.zeros(3, dtype=torch.int32), 'avg')
    r = shmem.register(t)
    try:
        t.resize_(10, 10)
    except RuntimeError as error:
        assert 'resiz' in str(error)
    else:
        raise AssertionError('memory that is registered was given away')
    t.resize_(2, 2)  # smaller, in the same memory, is allowed
    assert r.size == 48 and (shmem.get(r, 0) == torch.arange(12.0).reshape(3, 4)).all()
    with raises(shmem.Error, 'bool'):
        shmem.all_reduce(torch.zeros(3, dtype=torch.bool))


@on_pes(2)
def test_parameters_and_parts():
    need_torch()
    me = shmem.my_pe()
    layer = torch.nn.Linear(64, 32)
    for p in layer.parameters():
        shmem.broadcast(p)
    weights = shmem.all_gather(layer.weight)
    assert weights.shape == (2, 32, 64) and torch.equal(weights[0], weights[1]) and not weights.requires_grad
    r = shmem.register(layer.weight, name='w')
    layer(torch.randn(5, 64)).sum().backward()
    shmem.all_reduce(layer.weight.grad, 'avg')
    grads = shmem.all_gather(layer.weight.grad)
    assert torch.equal(grads[0], grads[1])
    shmem.barrier()
    assert torch.equal(shmem.get(r, 1 - me), layer.weight.detach())
    big = torch.arange(100.0) + me
    part = shmem.register(big[10:20], name='part')
    shmem.barrier()
    assert torch.equal(shmem.get(part, 1 - me), torch.arange(10.0, 20) + 1 - me)
    s = shmem.zeros(10, np.float32)
    view = torch.from_numpy(s)
    view += me
    shmem.barrier()
    got = shmem.get(view, 1 - me)
    assert isinstance(got, torch.Tensor) and bool((got == 1 - me).all())
    shmem.put(view[2:4], 1 - me) if me == 0 else None
    shmem.barrier()
    assert s[2] == 0
    shmem.barrier()


@on_pes(2)
def test_collectives_of_tensors():
    need_torch()
    me, n = shmem.my_pe(), shmem.n_pes()
    for name in ('float32', 'float64', 'float16', 'bfloat16', 'int8', 'uint8', 'int16', 'int32', 'int64', 'complex64'):
        dtype = getattr(torch, name)
        for size in (1, 1000, 100000):
            x = (torch.arange(size) % 50 + me).to(dtype)
            want = sum(((torch.arange(size) % 50 + pe) for pe in range(n)), torch.zeros(size, dtype=torch.int64)).to(dtype)
            assert shmem.all_reduce(x) is x and torch.equal(x, want), (name, size)
    for name in ('float32', 'float16', 'bfloat16'):
        x = torch.full((10,), me + 0.5, dtype=getattr(torch, name))
        shmem.all_reduce(x, op='mean')
        assert bool((x == n / 2).all())
        x = torch.full((10,), me + 0.5, dtype=getattr(torch, name))
        assert bool((shmem.all_reduce(x, 'max') == n - 0.5).all())
    # Half precision is folded in float and rounded once: 1 + 2**-9 + 2**-9 is more than 1 in bfloat16's next step.
    x = torch.tensor([[1.0], [2**-8]][me], dtype=torch.bfloat16)
    shmem.all_reduce(x)
    assert x.item() == torch.tensor(1 + 2**-8).to(torch.bfloat16).item()
    x = torch.tensor([me == 0, True, False])
    assert shmem.all_reduce(x, 'and').tolist() == [False, True, False]
    every = shmem.all_gather(torch.full((2, 3), me, dtype=torch.bfloat16))
    assert every.dtype is torch.bfloat16 and every.shape == (n, 2, 3) and every[:, 0, 0].tolist() == list(range(n))
    out = torch.zeros(n, 3)
    assert shmem.all_gather(torch.full((3,), float(me)), out) is out and out[:, 0].tolist() == list(range(n))
    y = torch.full((3, 3), me, dtype=torch.bfloat16)
    shmem.broadcast(y, root=1)
    assert bool((y == 1).all())
    r = shmem.register(torch.full((5,), me + 1, dtype=torch.bfloat16))
    shmem.all_reduce(r)
    assert bool((r.tensor == 3).all())
    shmem.barrier()


@on_pes(2, deadline=90)
def test_data_loader_with_fork():
    """Workers are forked while tensors are registered, which they share, and the job goes on."""
    need_torch()
    me = shmem.my_pe()
    data = torch.arange(3000.0).reshape(1000, 3) + me
    r = shmem.register(data, name='data')
    small = shmem.register(torch.full((3,), float(me)), name='small')

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return len(data)

        def __getitem__(self, i):
            return data[i] + small.tensor

    shmem.barrier()
    for epoch in range(2):
        loader = torch.utils.data.DataLoader(Rows(), batch_size=100, num_workers=2, multiprocessing_context='fork')
        total = 0.0
        for batch in loader:
            small.tensor[0] = me  # the parent writes while workers are there
            total += batch.double().sum().item()
        assert total == data.double().sum().item() + 3000 * me
        grads = torch.full((100,), total, dtype=torch.float64)
        shmem.all_reduce(grads)
        assert torch.equal(shmem.get(r, 1 - me), torch.arange(3000.0).reshape(1000, 3) + 1 - me)
        shmem.barrier()
    assert small.tensor.tolist() == [me] * 3 and 'torch' in sys.modules


def test_torchrun(tmp_path):
    """The launcher of torch, whose port belongs to torch's own store."""
    import importlib.util

    import pytest
    if importlib.util.find_spec('torch') is None:
        pytest.skip('torch is not installed')
    path = program(tmp_path, '''
        import torch, torch.distributed as dist, shmem
        dist.init_process_group('gloo')
        shmem.init()
        assert (shmem.my_pe(), shmem.n_pes()) == (dist.get_rank(), dist.get_world_size())
        x = torch.full((1000,), shmem.my_pe() + 1.0)
        y = x.clone()
        assert torch.equal(shmem.all_reduce(x), (dist.all_reduce(y), y)[1]) and x[0] == 3
        shmem.finalize()
        dist.destroy_process_group()
        print('joined', flush=True)
    ''')
    result = torchrun(path)
    assert result.out.count('joined') == 2, result.text
