# SPDX-License-Identifier: Apache-2.0
"""Tensors and modules in shared memory, requests, versions and gradients between processes."""

import faulthandler
import gc
import multiprocessing
import os
import pickle
import signal
import time
import warnings

import numpy as np
import pytest
import shmem
from jobs import PYTHON, environment, program, raises, run

torch = pytest.importorskip('torch')
import shmem.torch as st  # noqa: E402
from torch import nn  # noqa: E402

torch.set_num_threads(1)  # threads of OpenMP do not survive a fork
gc.collect()
gc.freeze()  # torch brings so many objects that each collection would take long


@pytest.fixture(autouse=True)
def no_cycles():
    yield
    gc.collect()


class Net(nn.Module):
    """Tied weights, buffers that are not saved, views, odd types, a parameter without elements."""

    def __init__(self, width=32):
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.out = nn.Linear(width, 100, bias=False)
        self.out.weight = self.embedding.weight
        self.norm = nn.BatchNorm1d(width)
        self.turned = nn.Parameter(torch.randn(3, 4).bfloat16().t(), requires_grad=False)
        self.register_buffer('steps', torch.arange(5), persistent=False)
        self.none = nn.Parameter(torch.zeros(0, 3))
        self.scalar = nn.Parameter(torch.tensor(3.0))
        self.parts = nn.ParameterList(torch.randn(4, 6).unbind(0))  # views of one storage
        self.register_parameter('missing', None)

    def forward(self, x):
        return self.out(self.norm(self.embedding(x))) * self.scalar


def forked(body):
    process = multiprocessing.get_context('fork').Process(target=body, daemon=True)  # so that a test that fails leaves none
    process.start()
    return process


def ended(process, code=0):
    process.join(30)
    assert process.exitcode == code, process.exitcode


# --- tensors ------------------------------------------------------------------------------------------------------------------


def test_tensors_in_a_pool():
    pool = shmem.create_pool('1M')
    for name in ('float32', 'float64', 'float16', 'bfloat16', 'int8', 'uint8', 'int16', 'int32', 'int64', 'bool', 'complex64'):
        dtype = getattr(torch, name)
        x = st.zeros(3, 4, dtype=dtype, pool=pool)
        assert x.shape == (3, 4) and x.dtype is dtype and not x.any()
        key = shmem.export(x)
        y, z = st.import_(key, dtype=dtype), st.import_(key, 'cow', dtype)
        z[1, 1] = 1
        x[1, 2] = 1
        assert y.dtype is dtype and y[1, 2] == 1 and y[1, 1] == 0
    with raises(ValueError, 'torch.import_', 'mode'):
        st.import_(key, 'r')
    with raises(TypeError, '8 bytes'):
        st.import_(key, dtype=torch.bfloat16)
    with raises(TypeError, 'torch cannot have'):
        st.import_(shmem.export(pool.alloc(3, 'S5')))
    with raises(TypeError, 'Mutex'):
        st.import_(pool.create_mutex().export())
    del x, y, z
    x = st.full((5,), 2.5, pool=pool, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [5.0] * 5 and st.empty(2, pool=pool).dtype is torch.get_default_dtype()
    assert st.empty((0, 3), pool=pool).shape == (0, 3) and st.zeros(pool=pool).shape == () and st.full(3, 7, pool=pool)[2] == 7
    assert pool.stats().buffers >= 1
    view = x.detach()[1:3]
    del x
    pool.close()
    assert view.tolist() == [2.5, 2.5]  # the tensor has the memory
    # DLPack and NumPy, both ways.
    pool = shmem.create_pool('1M')
    a = pool.alloc(4, 'f4', fill=1)
    t = torch.from_dlpack(a)
    t += 1
    torch.from_numpy(a).mul_(3)
    b = np.from_dlpack(t)
    assert a.tolist() == [6.0] * 4 == b.tolist() and b.ctypes.data == a.ctypes.data
    key = shmem.export(t[1:3])

    def body():
        st.import_(key)[:] = 9
        os._exit(0)

    ended(forked(body))
    assert a.tolist() == [6, 9, 9, 6]


def test_tensors_that_cannot_be():
    pool = shmem.create_pool('64k')
    with raises(ValueError, 'torch.zeros', '(3, -1)'):
        st.zeros(3, -1, pool=pool)
    with raises(TypeError, 'dtype', 'torch.float32'):
        st.empty(3, dtype=np.float32, pool=pool)
    with raises(TypeError, 'shape'):
        st.empty('x', pool=pool)
    with raises(shmem.PoolFull):
        st.empty(1 << 40, pool=pool)
    with raises(TypeError, 'pool'):
        st.empty(3, pool='64k')
    with raises(shmem.NotInitialized):
        st.empty(3)


# --- modules ------------------------------------------------------------------------------------------------------------------


def pss():
    with open('/proc/self/smaps_rollup') as file:
        return sum(int(line.split()[1]) for line in file if line.startswith('Pss:')) << 10


def test_a_module_is_shared_in_place():
    torch.manual_seed(0)
    net = Net()
    net(torch.arange(10)).sum().backward()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    before = {name: x.clone() for name, x in [*net.state_dict().items(), *net.named_buffers()]}
    objects = dict(net.named_parameters())
    shared = st.share(net)
    assert pickle.loads(pickle.dumps(shared)).key == str(shared) == shared.key and shared.nbytes > 12000
    assert dict(net.named_parameters()).keys() == objects.keys()
    for name, parameter in net.named_parameters():
        assert parameter is objects[name]
    for name, x in [*net.state_dict().items(), *net.named_buffers()]:
        assert torch.equal(x, before[name]), name
    assert net.turned.stride() == (1, 4) and not net.turned.requires_grad
    assert net.parts[1].data_ptr() == net.parts[0].data_ptr() + 24
    optimizer.step()
    net.norm(torch.randn(4, 32))
    changed = net.state_dict()

    def body():
        warnings.simplefilter('error')
        for make in (Net, Net()):
            other = st.attach(make, shared.key)
            assert all(torch.equal(x, changed[name]) for name, x in other.state_dict().items())
            assert other.out.weight is other.embedding.weight and other.turned.stride() == (1, 4) and other.training
            assert other.steps.tolist() == [0, 1, 2, 3, 4] and not other.turned.requires_grad and other.scalar.requires_grad
            assert other.none.shape == (0, 3) and other.missing is None
            assert other.parts[1].data_ptr() == other.parts[0].data_ptr() + 24
            try:
                other(torch.arange(10)).sum().backward()
            except RuntimeError as error:  # some builds of torch cannot in a forked child of a process that could
                assert 'fork-based multiprocessing' in str(error), error
                other.scalar.grad = torch.ones_like(other.scalar)
            torch.optim.SGD(other.parameters(), 0.1).step()  # private
            assert not torch.equal(other.scalar, net.scalar)
        reader = st.attach(Net, shared, mode='r')
        assert not reader.training and not any(p.requires_grad for p in reader.parameters())
        with torch.no_grad():
            net.scalar.fill_(5)
        assert reader.scalar == 5 and other.scalar != 5
        writer = st.attach(Net, shared, mode='rw')
        with torch.no_grad():
            writer.scalar.fill_(6)
        os._exit(0)

    ended(forked(body))
    assert net.scalar == 6


def test_weights_exist_once_also_for_strangers(tmp_path):
    net = nn.Linear(4096, 4096)  # 64 MiB
    want = float(net.weight.detach().double().sum())
    shared = st.share(net)
    path = program(tmp_path, '''
        import sys, torch, shmem.torch as st
        sys.path.insert(0, sys.argv[2])
        from test_torch_jobs import pss
        x = torch.zeros(1, 4096)
        small = st.share(torch.nn.Linear(4, 4))  # what torch loads when it is first used, and keeps
        st.attach(lambda: torch.nn.Linear(4, 4), small.key)(torch.zeros(1, 4))
        before = pss()
        for mode in ('r', 'cow'):
            net = st.attach(lambda: torch.nn.Linear(4096, 4096), sys.argv[1], mode)
            assert float(net.weight.detach().double().sum()) == float(sys.argv[3])
            del net
        net = st.attach(lambda: torch.nn.Linear(4096, 4096), sys.argv[1])
        net.weight.max(), net(x)
        print((pss() - before) >> 20)
    ''')
    result = run([PYTHON, path, shared.key, os.path.dirname(os.path.abspath(__file__)), str(want)], env=environment()).ok()
    assert int(result.out) < 48, result.text  # half of the weights, and what a forward pass takes; a copy has 64 and more


def test_modules_in_named_memory(tmp_path):
    net = Net()
    with shmem.create_file(str(tmp_path / 'model'), '1M') as file:
        st.share(net, file, name='model')
        file.flush()
    want = net.state_dict()
    with shmem.open_file(str(tmp_path / 'model'), 'r') as file:
        again = st.attach(Net, file['model'], 'r')
        assert all(torch.equal(x, want[name]) for name, x in again.state_dict().items())
    pool = shmem.create_pool('1M')
    shared = st.share(Net(), pool, frozen=True)
    with raises(PermissionError):
        st.attach(Net, shared, 'rw')
    st.attach(Net, shared, 'cow')
    used = pool.stats().buffers
    shared = st.share(Net(), pool)
    shared.free()
    assert pool.stats().buffers == used
    with raises(shmem.Error):
        st.attach(Net, shared)
    with raises(PermissionError, 'share()'):
        pickle.loads(pickle.dumps(shared)).free()


def test_modules_that_cannot_be():
    pool = shmem.create_pool('1M')
    net = Net()
    before = net.embedding.weight.data_ptr()
    net.norm.register_buffer('far', torch.zeros(2, device='meta'))
    with raises(NotImplementedError, 'torch.share', "'norm.far'", 'meta'):
        st.share(net, pool)
    net.norm.far = torch.eye(3).to_sparse()
    with raises(NotImplementedError, 'sparse'):
        st.share(net, pool)
    assert net.embedding.weight.data_ptr() == before
    with raises(NotImplementedError, "'weight'", 'no shape yet'):
        st.share(nn.LazyLinear(3), pool)
    with raises(TypeError, 'dict'):
        st.share({}, pool)
    with raises(shmem.PoolFull):
        st.share(nn.Linear(2000, 2000), shmem.create_pool('64k', max_size='64k'))
    shared = st.share(nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3)), pool)
    for other, words in ((nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(3)), ("'0.weight'", '(4, 5)', '(3, 5)')),
                         (nn.Sequential(nn.Linear(5, 3)), ("'1.weight'", 'ends before')),
                         (nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)), ("'2.weight'", 'not among')),
                         (nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 3)), ("'1.weight'", '(3, 3)')),
                         (nn.Sequential(nn.Linear(5, 3).double(), nn.BatchNorm1d(3)), ('float64', 'float32')),
                         (nn.ModuleDict({'0': nn.Linear(5, 3), 'x': nn.BatchNorm1d(3)}), ("'x.weight'", "'1.weight'"))):
        address = next(other.parameters()).data_ptr()
        with raises(ValueError, 'torch.attach', *words):
            st.attach(other, shared)
        assert next(other.parameters()).data_ptr() == address
    with raises(ValueError, 'mode'):
        st.attach(nn.Linear(1, 1), shared, 'w')
    with raises(TypeError, 'source'):
        st.attach(nn.Linear(1, 1), 5)
    with raises(ValueError):
        st.attach(nn.Linear(1, 1), 'shm1-no')
    with raises(ValueError, 'no shared module'):
        st.attach(nn.Linear(1, 1), shmem.export(pool.alloc(100, 'u1', fill=7)))
    with raises(TypeError, 'returned a int'):
        st.attach(lambda: 5, shared)

    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.zeros(3)

    if hasattr(torch.device, '__enter__'):
        with raises(NotImplementedError, 'table', 'neither parameter nor buffer'):
            st.attach(Hidden, st.share(Hidden(), pool))
    # A factory that looks at values, for which there must be memory.
    if hasattr(torch.device, '__enter__'):
        def orthogonal():
            return nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))

        source = orthogonal()
        shared = st.share(source, pool)
        assert torch.equal(st.attach(orthogonal, shared).weight, source.weight)
    tied = nn.ModuleList([nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)])
    shared = st.share(tied, pool)
    other = nn.ModuleList([nn.Linear(3, 3, bias=False)] * 2)
    with raises(ValueError, "'0.weight' and '1.weight'"):
        st.attach(other, shared)


@pytest.mark.filterwarnings('ignore')  # of torch, about what it will replace
def test_weights_beside_parameters_and_buffers():
    """What would silently not be shared is refused, and named."""
    pool = shmem.create_pool('1M')
    scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))).eval()
    other = torch.jit.script(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))).eval()
    st.attach(other, st.share(scripted, pool), 'rw')
    with torch.no_grad():
        next(scripted.parameters()).fill_(2)
    x = torch.ones(1, 4)
    assert torch.equal(scripted(x), other(x))  # a scripted module's own are shared as any
    st.share(torch.jit.script(nn.ReLU()), pool)
    cases = [(torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Linear(4, 3)).eval())), ("''", 'frozen ScriptModule'))]
    if torch.backends.quantized.engine != 'none':
        quantized = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.ReLU(), nn.Linear(4, 3)), {nn.Linear}, dtype=torch.qint8)
        cases += [(quantized, ("'1._packed_params'", 'packed')), (nn.Sequential(nn.Linear(2, 2), torch.jit.script(quantized)), ("'1'", 'packed'))]
    for module, words in cases:
        for call in (lambda: st.share(module, pool), lambda: st.Publisher(module), lambda: st.attach(module, st.share(nn.ReLU())),
                     lambda: st.Publisher(nn.ReLU()).publish(module)):
            with raises(NotImplementedError, *words):
                call()
    odd = nn.Module()
    odd.register_buffer('turned', torch.ones(3, dtype=torch.complex64).mul(1j).conj())
    with raises(NotImplementedError, "'turned'", 'conjugated'):
        st.share(odd, pool)
    odd.turned = torch.nested.nested_tensor([torch.ones(3), torch.ones(2)])
    with raises(NotImplementedError, "'turned'", 'nested'):
        st.share(odd, pool)


def test_damaged_weights_are_refused():
    """What lies in the memory may be anybody's: it is wrong, or it is taken, and never is there a crash."""
    pool = shmem.create_pool('1M')
    net = nn.Linear(4, 4)
    shared = st.share(net, pool, name='model')
    good = pool['model'].copy()
    random = np.random.default_rng(0)
    size = 200
    for _ in range(300):
        raw = good.copy()
        for at in random.integers(0, size, 3):
            raw[at] = random.choice(np.frombuffer(b'0123456789[]",-ebx', np.uint8))
        pool['model'][:] = raw
        try:
            st.attach(nn.Linear(4, 4), shared)
        except shmem.Error:
            pass


# --- requests -----------------------------------------------------------------------------------------------------------------


def test_no_request_is_lost():
    """Workers are killed again and again, whatever they are doing."""
    torch.manual_seed(1)
    net = nn.Linear(16, 4)
    requests = st.Requests((16,), (4,), slots=8)
    again = pickle.loads(pickle.dumps(requests))
    assert again.key == requests.key and '(16,)' in repr(requests)
    stop = shmem.create_pool('64k').create_atomic()

    def client():
        torch.manual_seed(os.getpid())
        with again.slot() as slot:
            while not stop.load():
                x = torch.randn(16)
                y = slot.call(x, timeout=30)
                assert torch.allclose(y, net(x), atol=1e-5)
        os._exit(0)

    def work():
        torch.set_num_threads(1)
        requests.serve(net, batch=4)
        os._exit(0)

    clients, workers = [forked(client) for _ in range(2)], [forked(work) for _ in range(2)]
    for number in range(12):
        time.sleep(0.02)
        os.kill(workers[number % 2].pid, signal.SIGKILL)
        ended(workers[number % 2], -9)
        workers[number % 2] = forked(work)
    stop.store(1)
    for process in clients:
        ended(process)
    requests.close()
    for process in workers:
        ended(process)


def test_requests_that_fail():
    requests = st.Requests(((2, 2), torch.int64), ((), torch.float64), slots=2, workers=3)

    def answer(x):
        if x[0, 0, 0] == 1:
            raise KeyError('one')
        if x[0, 0, 0] == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if x[0, 0, 0] == 3:
            return torch.zeros(7)
        return x.sum((1, 2)).double()

    def work():
        requests.serve(answer)
        os._exit(0)

    ones = torch.ones(2, 2, dtype=torch.int64)
    with requests.slot() as slot:
        with raises(TimeoutError, 'no answer', '1 requests wait', '0 workers'):
            slot.call(ones * 5, timeout=0.1)
        workers = [forked(work)]
        assert slot.call(ones * 4, timeout=10) == 16.0
        with raises(st.RequestFailed, 'KeyError', 'one'):
            slot.call(ones, timeout=10)
        with raises(st.RequestFailed, 'shape (7,)'):
            slot.call(ones * 3, timeout=10)
        with raises(ValueError, '(3,)', '(2, 2)'):
            slot.call(torch.zeros(3))
        slot.request[:] = 6
        assert slot.call(timeout=10) == 24.0
        with requests.slot() as second, raises(TimeoutError, 'all 2 slots are in use'), requests.slot(timeout=0.01):
            assert second
        workers += [forked(work), forked(work)]
        with raises(st.RequestFailed, '3 workers died'):
            slot.call(ones * 2, timeout=20)
        with pytest.raises(TimeoutError):
            slot.call(ones, timeout=0)
        workers += [forked(work)]
        assert slot.call(ones * 5, timeout=20) == 20.0  # after the one that had no time
        requests.close()
        with raises(shmem.QueueClosed):
            slot.call(ones, timeout=10)
    for worker in workers:
        worker.join(20)
    assert [worker.exitcode for worker in workers] == [-9, -9, -9, 0]
    for wrong in ('shm1-no', shmem.export(shmem.create_pool('64k').alloc(9, 'u1', fill=1, keep=True))):
        with pytest.raises(shmem.Error):
            st.Requests.attach(wrong)
    with raises(ValueError, 'slots'):
        st.Requests((2,), (2,), slots=0)


# --- versions -----------------------------------------------------------------------------------------------------------------


def stamped(version):
    """A module whose every element is the number of the version: a mix shows."""
    net = nn.Sequential(nn.Linear(200, 200), nn.BatchNorm1d(200))
    with torch.no_grad():
        for x in [*net.parameters(), *net.buffers()]:
            x.fill_(version)
    return net


def same_everywhere(tensors, version):
    return all(float(x.min()) == version == float(x.max()) for x in tensors)


def test_readers_see_whole_versions():
    publisher = st.Publisher(stamped(1))
    stop = shmem.create_pool('64k').create_atomic()

    def reader():
        subscriber = st.Subscriber(publisher.key)
        mine, last, count = stamped(0), 0, 0
        while not stop.load():
            with subscriber.read() as weights:
                assert weights.version >= last and same_everywhere(weights.values(), weights.version)
                last = weights.version
            version = subscriber.copy_to(mine)
            assert version >= last and same_everywhere([x.detach() for x in mine.state_dict().values()], version)
            count += 1
        os._exit(0 if count > 3 and last > 3 else 1)

    readers = [forked(reader) for _ in range(3)]
    net = stamped(1)
    end = time.monotonic() + 1.0
    while time.monotonic() < end or publisher.version < 50:
        with torch.no_grad():
            for x in [*net.parameters(), *net.buffers()]:
                x.fill_(publisher.version + 1)
        assert publisher.publish(net) == publisher.version
        if publisher.version == 30:
            os.kill(readers[0].pid, signal.SIGKILL)  # perhaps while it reads
    stop.store(1)
    ended(readers[0], -9)
    for process in readers[1:]:
        ended(process)
    assert len(publisher._buffers) <= 5  # those of three readers, the current one, and the next


def test_a_reader_that_stays_holds_nobody_up():
    pool = shmem.create_pool('8M')
    publisher = st.Publisher(stamped(1), pool, 'weights')
    subscriber = st.Subscriber(publisher.key)
    assert not subscriber.wait(1, timeout=0.01) and subscriber.wait(0)
    with subscriber.read() as weights:
        for version in range(2, 20):
            publisher.publish(stamped(version))
        assert weights.version == 1 and same_everywhere(weights.values(), 1)
        if hasattr(torch, 'func'):
            assert torch.func.functional_call(stamped(0).eval(), weights, torch.zeros(3, 200)).shape == (3, 200)
    with subscriber.read() as weights:
        assert weights.version == 19 and same_everywhere(weights.values(), 19)
    assert len(publisher._buffers) == 3 and subscriber.version == 19
    # A writer that is killed while it writes; another one goes on.

    def body():
        other = st.Publisher(stamped(20), pool, 'weights')
        other._buffer(0)
        with other._mutex:
            number, lock = other._unused(other._word.load() & 0xffff, st._versions._Plan('x', list(st._share.entries_of(
                other._module))))
            other._buffers[number][-5000:] = 77
            os.kill(os.getpid(), signal.SIGKILL)

    ended(forked(body), -9)
    for version in range(21, 25):
        assert publisher.publish(stamped(version)) == version
    assert same_everywhere([x.detach() for x in (lambda m: (subscriber.copy_to(m), m)[1])(stamped(0)).parameters()], 24)
    with raises(ValueError, "'weight'", "'0.weight'"):
        publisher.publish(nn.Linear(3, 3))
    # What readers share they cannot change: neither with torch nor by the way.

    def stray(write):
        faulthandler.disable()
        with subscriber.read() as weights, torch.no_grad():
            write(weights['0.weight'])
        os._exit(0)

    for write in (lambda x: x.add_(1), lambda x: x[3:].zero_(), lambda x: x.numpy().fill(0)):
        ended(forked(lambda write=write: stray(write)), -11)
    with subscriber.read() as weights:
        again = weights['0.weight'].data_ptr()
        assert same_everywhere(weights.values(), 24)
    with subscriber.read() as weights:
        assert weights['0.weight'].data_ptr() == again  # mapped once
    frozen = stamped(25)
    frozen[0].requires_grad_(False)
    assert publisher.publish(frozen) == 25
    frozen[0].weight.data = frozen[0].weight.data.t()
    with raises(ValueError, 'strides'):
        publisher.publish(frozen)
    with raises(ValueError, "'0.weight'", '(200, 100)'):
        subscriber.copy_to(nn.Sequential(nn.Linear(100, 200), nn.BatchNorm1d(200)))
    with raises(ValueError, 'key'):
        st.Subscriber('nothing')
    with raises(TypeError, 'Module'):
        st.Publisher({})
    spaced = st.Publisher(stamped(1), pool, 'two words')
    assert st.Subscriber(spaced.key).version == 1


def test_keys_of_processes_that_have_ended(tmp_path):
    net = nn.Linear(2, 2)

    def body():
        pool = shmem.create_pool('1M')
        things = st.Publisher(net), st.Gradients(net), st.Requests((2,), (2,), slots=2, workers=2), st.share(net)
        (tmp_path / 'keys').write_text('\n'.join([*(thing.key for thing in things), pool.export(), pool.create_condition().export()]))
        os._exit(0)

    ended(forked(body))
    for call, key in zip((st.Subscriber, lambda key: st.Gradients.attach(key, net), st.Requests.attach, lambda key: st.attach(net, key),
                          shmem.open_pool, shmem.import_), (tmp_path / 'keys').read_text().splitlines()):
        with raises(shmem.KeyOrphaned, 'nobody living'):
            call(key)


def test_gradients_through_a_queue():
    net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    net[1].bias.requires_grad_(False)
    gradients = st.Gradients(net, capacity=2)
    net(torch.ones(1, 3)).sum().backward()  # here: some builds of torch cannot in a forked child
    ones = [parameter.grad for parameter in net.parameters()]

    def worker(number):
        mine = st.Gradients.attach(gradients.key, net)
        for step in range(20):
            for parameter, gradient in zip(net.parameters(), ones):
                parameter.grad = None if gradient is None else gradient * (step + 1)
            mine.push(net, number, step)
        os._exit(0)

    workers = [forked(lambda number=number: worker(number)) for number in range(2)]
    seen, total = {0: [], 1: []}, nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    for _ in range(40):
        with gradients.pop(timeout=20) as gradient:
            seen[gradient.worker].append(gradient.version)
            assert gradient.tensors['1.bias'] is None
            gradient.add_to(total, 0.5)
    for process in workers:
        ended(process)
    assert seen == {0: list(range(20)), 1: list(range(20))}
    assert torch.allclose(total[0].weight.grad, ones[0] * sum(range(1, 21)), rtol=1e-4)
    assert total[1].bias.grad is None
    with raises(shmem.QueueEmpty):
        with gradients.pop(timeout=0):
            pass
    with raises(shmem.QueueFull, 'torch.Gradients.push'):
        for _ in range(3):
            gradients.push(net, timeout=0)
    gradients.close()
    with raises(shmem.QueueClosed):
        gradients.push(net)


def test_sparse_gradients():
    """They travel as dense ones, and are added to either."""
    net = nn.Embedding(5, 2, sparse=True)
    gradients = st.Gradients(net)
    net(torch.tensor([1, 1, 3])).sum().backward()
    gradients.push(net)
    gradients.push(net)
    for sparse in (True, False):
        before = net.weight.grad if sparse else torch.ones(5, 2)
        net.weight.grad = before.clone()
        with gradients.pop(timeout=5) as gradient:
            gradient.add_to(net)
            assert torch.equal(net.weight.grad, before.to_dense() + gradient.tensors['weight']), sparse


def test_gradients_of_another_module():
    """Of as many bytes, too: nothing is taken for what it is not."""
    gradients = st.Gradients(nn.Linear(4, 3))
    again = pickle.loads(pickle.dumps(gradients))
    assert again.key == gradients.key
    mine = nn.Linear(4, 3)
    mine(torch.ones(1, 4)).sum().backward()
    again.push(mine, 1, 2)
    for other, words in ((nn.Linear(2, 6), ("'weight'", '(6, 2)', '(3, 4)')), (nn.Linear(4, 3).double(), ("'weight'", 'float64', 'float32')),
                         (nn.Linear(4, 3, bias=False), ("'bias'", 'ends before')),
                         (nn.Sequential(nn.Linear(4, 3)), ("'0.weight'", "'weight'")),
                         (nn.ModuleDict({'weight': nn.Linear(4, 3)}), ("'weight.weight'", "'weight'")),
                         (nn.Bilinear(4, 1, 3), ('(3, 4, 1)',))):
        with raises(ValueError, 'torch.Gradients.attach', *words):
            st.Gradients.attach(gradients.key, other)
        with raises(ValueError, 'torch.Gradients.push', *words):
            gradients.push(other)
        with gradients.pop(0) as gradient, raises(ValueError, 'torch.Gradient.add_to', *words):
            gradient.add_to(other)
        assert all(parameter.grad is None for parameter in other.parameters())
        again.push(mine, 1, 2)
    longer = nn.Linear(4, 3)
    longer.register_parameter('more', nn.Parameter(torch.zeros(1)))
    with raises(ValueError, "'more'", 'not among'):
        st.Gradients.attach(gradients.key, longer)
    pool = shmem.create_pool('1M')
    queue, note, text = (x.export() for x in (pool.create_queue('f8', 2), pool.create_mutex(), pool.create_queue(bytes, '64k')))
    for key in ('nothing', 'a b', f'{queue} {note}', f'{queue} {text}', gradients.key.partition(' ')[0],
                f'{queue} {gradients.key.partition(" ")[2]}', f'{queue} {pool.export(pool.alloc(9, "u1", fill=57))}'):
        with raises(ValueError, 'torch.Gradients.attach'):
            st.Gradients.attach(key, mine)
