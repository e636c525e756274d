# SPDX-License-Identifier: Apache-2.0
"""Odd arguments of what shmem.torch has: an error of this package that says what is wrong, or it is done; never another
exception, a crash or a hang."""

import importlib.util

import pytest
from jobs import PYTHON, environment, program, run

if importlib.util.find_spec('torch') is None:
    pytest.skip('torch is not installed', allow_module_level=True)

DTYPES = r'''
import warnings
import numpy as np, torch, shmem
import shmem.torch as st
warnings.simplefilter('ignore')  # of types that torch calls experimental
pool = shmem.create_pool('16M')
wrong = []

def attempt(name, call):
    """Whether it can be done."""
    try:
        call()
        return True
    except shmem.errors.WrongType as error:
        if f'dtype is {name}, ' not in str(error) and f'request is {name}, ' not in str(error): wrong.append(f'{name}: {error}')
    except Exception as error:
        wrong.append(f'{name}: {error!r}')
    return False

def imported(dtype):
    size = torch.empty(0, dtype=dtype).element_size()
    if size > 8: return
    st.import_(shmem.export(pool.alloc(8, f'u{size}', fill=0)), dtype=dtype).clone()

def requested(dtype):
    requests = st.Requests(((2,), dtype), (2,), slots=1, workers=1)
    with requests.slot() as slot:
        try:
            slot.call(torch.empty(2, dtype=dtype), timeout=0)
        except shmem.Timeout:
            pass

able = {}
for dtype in {x for x in vars(torch).values() if isinstance(x, torch.dtype)}:
    name = str(dtype)
    able[name.partition('.')[2]] = [attempt(name, call) for call in (
        lambda: (st.zeros(3, dtype=dtype, pool=pool).clone(), repr(st.zeros(0, dtype=dtype, pool=pool))),
        lambda: st.full((2, 3), 1, dtype=dtype, pool=pool).flatten(),
        lambda: (st.empty((2, 3), dtype=dtype, pool=pool).clone(), repr(st.empty((0,), dtype=dtype, pool=pool))),
        lambda: requested(dtype), lambda: imported(dtype))]
assert not wrong, '\n'.join(wrong)
for name in ('float32', 'bfloat16', 'bool', 'int64', 'complex64', 'uint8', 'float8_e5m2'):
    assert all(able.get(name, [True])), name
for name in ('quint8', 'qint8', 'qint32', 'quint4x2', 'quint2x4', 'int4', 'uint1'):
    assert not any(able.get(name, [False])), name
print('done')
'''


ODD_VALUES = r'''
import gc, inspect, re, sys, threading, warnings
import numpy as np, torch, shmem
import shmem.torch as st
from torch import nn
warnings.simplefilter('ignore')
torch.set_num_threads(1)

class Strange:
    """Has what is asked for, with nonsense in it."""
    device, shape, dtype, __array_interface__, alloc = 7, 'x', None, 5, 3
    __len__ = lambda self: -1
class NoText:
    def __repr__(self): raise ZeroDivisionError
    __str__ = __repr__
class Raises:
    def __array__(self, *a, **k): raise KeyError('array')
    def __bool__(self): raise KeyError('bool')
pool, other = shmem.create_pool('64M'), shmem.create_pool('1M')
ODD = [None, True, False, 0, 1, -1, 2, 7, 1 << 31, -(1 << 31) - 1, 1 << 63, (1 << 64) - 1, 1 << 70, -(1 << 70), 10 ** 5000, 0.5, float('nan'),
       float('inf'), -1.0, 1j, '', 'x', 'rw', 'r', 'shm1-x', 'shm1-x y', 'a b', '\0', '\ud800', 'x' * 10000, b'', b'x', [], [1, [2, 3]], [[]], [None], ['x', 1],
       (), (1,), (-1,), (1,) * 100, (1, 1 << 70), (1 << 40, 1 << 40), (0.5,), ((2,), torch.int64), ((2,), torch.quint8), ((2,), 'f4'), {}, {'x': 1}, set(),
       object(), object, Strange(), NoText(), [NoText()], Raises(), (Raises(),), range(3), Ellipsis, slice(None), np.int64(1), np.float32(2), np.bool_(True), np.str_('x'),
       np.arange(3), np.array(1.5), np.array('x'), np.zeros(0), np.array([None]), np.zeros(6)[::-2], np.zeros(2, [('a', 'i4')]), memoryview(b'abc'), print, shmem,
       NotImplemented, np.float32, 'float32', *(x for x in vars(torch).values() if isinstance(x, torch.dtype)), torch.zeros(2), torch.zeros(3, device='meta'),
       torch.eye(2).to_sparse(), torch.zeros(2, dtype=torch.complex64), torch.zeros(0), torch.device('cpu'), nn.Linear, nn.Parameter(torch.zeros(2)), nn.ReLU(),
       nn.Linear(2, 6), nn.LazyLinear(3), nn.Linear(4, 3, device='meta'), nn.Sequential(), pool.create_mutex(), pool.alloc(4), pool.alloc(40, 'u1', fill=200),
       other.export(), pool.create_mutex().export(), pool.export(pool.alloc(40, 'u1', fill=200)), pool.export(pool.alloc(4, [('a', 'i4')], fill=0))]

net = nn.Linear(4, 3)
net(torch.ones(1, 4)).sum().backward()
shared = st.share(nn.Linear(4, 3), pool)
publisher = st.Publisher(net, pool)
subscriber = st.Subscriber(publisher.key)
gradients = st.Gradients(net, 4, pool)
requests, closed = st.Requests((2,), (2,), slots=4, workers=2), st.Requests((2,), (2,), slots=2, workers=2)
closed.close()
threading.Thread(target=requests.serve, args=(lambda x: x * 2,), daemon=True).start()
holder = requests.slot()
slot = holder.__enter__()

def with_block(function):
    """One for a with statement, entered and left."""
    def enters(*args, **keywords):
        with function(*args, **keywords): pass
    enters.__name__ = function.__name__
    return enters

def taken(use, *pop):
    """Uses a gradient; one that an error puts back is taken all the same."""
    try:
        with gradients.pop(*pop) as gradient: use(gradient)
    except Exception:
        with gradients.pop(5): pass
        raise

def push(*args, **keywords):
    gradients.push(*args, **keywords)
    taken(lambda gradient: None, 5)

def pop(*args):
    gradients.push(net)
    taken(lambda gradient: gradient.add_to(net), *args)

def add_to(*args, **keywords):
    gradients.push(net)
    taken(lambda gradient: gradient.add_to(*args, **keywords), 5)

CALLS = [
    (st.empty, ((2, 3),), {'dtype': torch.float32, 'pool': pool, 'requires_grad': False, 'own': False, 'keep': False, 'align': 64}),
    (st.empty, (2, 3), {'pool': pool}), (st.zeros, ((2, 3),), {'dtype': torch.float32, 'pool': pool, 'requires_grad': False}),
    (st.full, ((2, 3), 1), {'dtype': torch.float32, 'pool': pool, 'requires_grad': False}), (st.full, ((2, 3), 1), {'dtype': torch.int8, 'pool': pool}),
    (st.full, ((2, 3), 1), {'dtype': None, 'pool': pool}), (st.import_, (shmem.export(st.zeros(3, pool=pool)), 'rw', None), {}),
    (st.share, (nn.Linear(2, 2), pool, None, False), {}), (st.attach, (nn.Linear(4, 3), shared, 'cow'), {}),
    (st.Publisher, (nn.Linear(2, 2), pool, 'name'), {}), (publisher.publish, (net,), {}),
    (st.Subscriber, (publisher.key,), {}), (with_block(subscriber.read), (), {}), (subscriber.copy_to, (net,), {}), (subscriber.wait, (0, 0), {}),
    (st.Gradients, (net, 2, pool), {}), (st.Gradients.attach, (gradients.key, net), {}), (push, (net, 1, 2, 5), {}), (pop, (5,), {}), (add_to, (net, 1.0), {}),
    (st.Requests, ((2,), (2,), 2, 2, pool), {}), (st.Requests.attach, (requests.key,), {}), (with_block(requests.slot), (1,), {}),
    (closed.serve, (print, 1, 0), {}), (slot.call, (torch.ones(2), 5), {}), (requests.waiting, (), {}), (requests.serving, (), {}),
    (st.DataLoader, (range(3),), {'seed': 1, 'max_bytes': '1M'}),
]
wrong = []
def shown(x):
    try: return repr(x)[:60]
    except Exception: return f'a {x.__class__.__name__}'
def attempt(function, args, keywords):
    if function is st.attach and callable(args[0]) and not isinstance(args[0], nn.Module) and args[0] not in (object, print):
        return  # a function that makes the module raises what it raises
    try:
        function(*args, **keywords)
    except shmem.Error as error:
        text = str(error)
        if re.match(r'shmem\.[A-Za-z_.]+: .{5}', text, re.S) and len(text) <= 2000: return
        wrong.append((function, args, keywords, text[:300]))
    except BaseException as error:
        wrong.append((function, args, keywords, repr(error)[:300]))
for function, args, keywords in CALLS:
    attempt(function, args, keywords)
    for odd in ODD:
        for n in range(len(args)):
            attempt(function, (*args[:n], odd, *args[n + 1:]), keywords)
        for word in keywords:
            attempt(function, args, {**keywords, word: odd})
text = '\n'.join(f'{f.__name__}({", ".join([*map(shown, a), *(f"{k}={shown(v)}" for k, v in w.items())])}) | {e}' for f, a, w, e in wrong)
assert not wrong, f'{len(wrong)}:\n{text}'
seen = {function.__name__ for function, _, _ in CALLS}
for cls in (st.Publisher, st.Subscriber, st.Gradients, st.Gradient, st.Requests, st.Slot):
    public = {name for name, member in vars(cls).items() if inspect.isroutine(member) and not name.startswith('_')}
    assert public - seen <= {'close', 'waiting', 'attach'}, public - seen
print('done')
'''


def test_every_dtype_and_odd_values(tmp_path):
    """In one process, because torch takes its time to start."""
    assert run([PYTHON, program(tmp_path, DTYPES + ODD_VALUES)], env=environment()).ok().out.split() == ['done', 'done']
