# SPDX-License-Identifier: Apache-2.0
"""Joining and leaving: alone, under the launcher, under torchrun's variables, by uid; and every way to get it wrong."""

import os
import re
import resource
import signal
import socket
import time

import pytest
import shmem
from jobs import PYTHON, environment, on_pes, pes, program, raises, run, start
from shmem.errors import InvalidArgument, OutOfRange, WrongType

HELLO = '''
    import sys, shmem
    shmem.init()
    print(f'PE {shmem.get_rank()} of {shmem.get_world_size()}', flush=True)
    assert shmem.my_pe() == shmem.get_rank() and shmem.n_pes() == shmem.get_world_size()
    shmem.barrier()
    shmem.finalize()
'''


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return str(s.getsockname()[1])


def by_hand(program, ranks, size, **env):
    """Starts processes as torchrun would, one for each of `ranks`, and returns how each ended."""
    common = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': free_port(), 'WORLD_SIZE': str(size), **env}
    started = [start([PYTHON, program], env=environment(RANK=str(rank), **common)) for rank in ranks]
    return [s.finish(30) for s in started]


def test_alone(tmp_path):
    assert run([PYTHON, program(tmp_path, HELLO)]).ok().out == 'PE 0 of 1\n'


@pytest.mark.parametrize('n', [1, 2, 4, 8])
def test_under_the_launcher(tmp_path, n):
    said = re.findall(r'PE \d+ of \d+', pes(n, program(tmp_path, HELLO)).ok().out)
    assert sorted(said) == [f'PE {pe} of {n}' for pe in range(n)]


def test_under_torchruns_variables(tmp_path):
    results = by_hand(program(tmp_path, HELLO), (2, 0, 1), 3)
    assert [r.ok().out for r in results] == ['PE 2 of 3\n', 'PE 0 of 3\n', 'PE 1 of 3\n']


def test_by_uid(tmp_path):
    path = program(tmp_path, '''
        import sys, shmem
        uid, rank = sys.argv[1], int(sys.argv[2])
        shmem.init(rank=rank, world_size=2, uid=uid.encode() if rank else uid, device='cpu')
        r = shmem.register(bytearray([rank]))
        assert shmem.get(r, 1 - rank).tolist() == [1 - rank]
        shmem.finalize()
    ''')
    uid = shmem.get_unique_id()
    assert re.fullmatch('[0-9a-f]{32}', uid) and uid != shmem.get_unique_id()
    for result in [s.finish(30) for s in [start([PYTHON, path, uid, rank]) for rank in (0, 1)]]:
        result.ok()


@on_pes(1, 2, bare=True)
def test_life():
    import numpy as np
    calls = [shmem.my_pe, shmem.n_pes, shmem.barrier, shmem.quiet, shmem.fence, shmem.finalize, shmem.heap_info,
             lambda: shmem.register(np.zeros(3)), lambda: shmem.region(0, index=0), lambda: shmem.zeros(3),
             lambda: shmem.all_reduce(np.zeros(3)), lambda: shmem.all_reduce(np.zeros(3), 'avg'),
             lambda: shmem.broadcast(np.zeros(3)), lambda: shmem.all_gather(np.zeros(3)), lambda: shmem.free(np.zeros(3)),
             lambda: shmem.put(np.zeros(3), 0), lambda: shmem.get(np.zeros(3), 0),
             lambda: shmem.put(dst=0, dst_mr=None, src_mr=np.zeros(3)), lambda: shmem.atomic_add(np.zeros(3), 1, 0),
             lambda: shmem.wait(np.zeros(3)), lambda: shmem.peer(np.zeros(3), 0)]
    assert not shmem.is_initialized()
    for call in calls:
        with raises(shmem.NotInitialized, 'init'):
            call()
    assert len(shmem.get_unique_id()) == 32
    shmem.init()
    shmem.init(device='cpu')  # only as many finalize end it
    assert shmem.is_initialized()
    shmem.finalize()
    shmem.barrier()
    shmem.finalize()
    assert not shmem.is_initialized()
    for call in calls:
        with raises(shmem.NotInitialized, 'finalize'):
            call()


@on_pes(1, bare=True)
def test_bad_arguments_of_init():
    os.environ['SHMEM_ASCEND_LIBRARY'] = os.environ['SHMEM_CUDA_LIBRARY'] = '/none'
    for device, name in (('npu', 'Ascend'), ('npu:3', 'Ascend'), ('cuda', 'CUDA')):
        with raises(NotImplementedError, 'init', f'no {name} driver', device.partition(':')[0]):
            shmem.init(device=device)
        with raises(shmem.DeviceMissing, 'init', 'cannot be opened'):
            shmem.init(device)
    for device in ('tpu', 3, ''):
        with raises(ValueError, 'init', 'device is'):
            shmem.init(device=device)
    uid = shmem.get_unique_id()
    for rank, size, words in ((2, 2, ['rank is 2']), (-1, 2, ['rank is -1']), (0, 0, ['world_size is 0']),
                              (0, 100000, ['world_size is 100000']), (0, -1, ['world_size is -1']),
                              (10**30, 2, [f'rank is {10**30}'])):
        with raises(ValueError, 'init', *words):
            shmem.init(rank=rank, world_size=size, uid=uid)
    with raises(TypeError, 'init', 'rank is a str'):
        shmem.init(rank='0', world_size=1, uid=uid)
    with raises(InvalidArgument, 'init', 'uid'):
        shmem.init(rank=0, world_size=2)
    with raises(InvalidArgument, 'init', 'rank is given'):
        shmem.init(rank=0)
    with raises(InvalidArgument, 'init', 'uid is given'):
        shmem.init(uid=uid)
    with raises(WrongType, 'init', 'uid is a int'):
        shmem.init(rank=0, world_size=1, uid=3)
    with raises(InvalidArgument, 'init', 'zero'):
        shmem.init(rank=0, world_size=1, uid='a\0b')
    assert not shmem.is_initialized()
    shmem.init(rank=0, world_size=1, uid=uid, device='host')
    with raises(OutOfRange, '1 PE'):
        shmem.get(shmem.zeros(1), 1)
    shmem.finalize()


BROKEN = '''
    import shmem, time
    began = time.monotonic()
    try:
        shmem.init()
    except shmem.Error as error:
        print(type(error).__name__, error)
        raise SystemExit(0 if time.monotonic() - began < 4 else 1)
    try:
        shmem.barrier()
    except shmem.OwnerDied as error:
        print('OwnerDied', error)
'''


def test_a_rank_that_never_comes(tmp_path):
    for result in by_hand(program(tmp_path, BROKEN), (0, 2), 3, SHMEM_TIMEOUT='1'):
        result.ok()
        assert result.out.startswith('Timeout shmem.init: ') and '1' in result.out, result.text
    # The text names who did not come.
    assert re.search(r'\b(PE|rank)s? 1\b', result.out), result.text


def test_a_duplicate_rank(tmp_path):
    results = by_hand(program(tmp_path, BROKEN), (0, 0), 2, SHMEM_TIMEOUT='1.5')
    texts = ''.join(r.ok().out for r in results)
    assert re.search(r'(?i)two processes.*both say.*PE 0', texts), [r.text for r in results]


def test_a_wrong_world_size(tmp_path):
    port = free_port()
    path = program(tmp_path, BROKEN)
    common = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': port, 'SHMEM_TIMEOUT': '1.5'}
    started = [start([PYTHON, path], env=environment(RANK=str(rank), WORLD_SIZE=str(rank + 2), **common)) for rank in (0, 1)]
    texts = ''.join(s.finish(20).ok().out for s in started)
    assert 'WORLD_SIZE' in texts or 'PEs' in texts, texts


@pytest.mark.parametrize('env, words', [
    ({'RANK': '0'}, ['WORLD_SIZE']),
    ({'WORLD_SIZE': '2'}, ['RANK']),
    ({'RANK': '2', 'WORLD_SIZE': '2', 'MASTER_ADDR': 'a', 'MASTER_PORT': '1'}, ['RANK is 2', '2']),
    ({'RANK': 'x', 'WORLD_SIZE': '2', 'MASTER_ADDR': 'a', 'MASTER_PORT': '1'}, ['RANK', 'x']),
    ({'RANK': '0', 'WORLD_SIZE': '2', 'MASTER_PORT': '1'}, ['MASTER_ADDR']),
    ({'RANK': '0', 'WORLD_SIZE': '4', 'LOCAL_WORLD_SIZE': '2', 'MASTER_ADDR': 'a', 'MASTER_PORT': '1'}, ['hosts']),
    ({'SHMEM_TIMEOUT': 'soon'}, ['SHMEM_TIMEOUT', 'soon']),
])
def test_a_broken_environment(tmp_path, env, words):
    result = run([PYTHON, program(tmp_path, HELLO)], env=environment(**env))
    assert result.code == 1 and result.seconds < 5, result.text
    for word in ('shmem.init: ', *words):
        assert word in result.err, result.text


def test_too_little_address_space(tmp_path):
    path = program(tmp_path, '''
        import numpy, shmem
        try:
            shmem.init(heap_size=8 << 30)
        except shmem.Error as error:
            print(type(error).__name__, error)
        shmem.init()
        print('joined', shmem.heap_info().total < 2 << 30)
    ''')

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    result = run([PYTHON, path], preexec_fn=limit).ok()
    assert result.out.startswith('OutOfMemory shmem.init: ') and 'RLIMIT_AS' in result.out, result.text
    assert 'joined True' in result.out


def test_the_interpreter_ends_with_everything_alive(tmp_path):
    """No finalize, arrays, regions, views and threads alive, in every order of ending."""
    path = program(tmp_path, '''
        import gc, sys, threading, time
        import numpy as np, shmem
        shmem.init()
        me, n = shmem.my_pe(), shmem.n_pes()
        r = shmem.register(np.full(100000, me))
        s = shmem.full(100000, me)
        shmem.barrier()
        views = [shmem.peer(r, (me + 1) % n), shmem.peer(s, (me + 1) % n), shmem.region(me, index=0) if n > 1 else None]
        shmem.barrier()
        class Late:
            def __init__(self, *things): self.things = things
            def __del__(self): self.things[0].array[:] = 1
        late = Late(r, s, views)
        cycle = [late]; cycle.append(cycle)
        how = sys.argv[1]
        if how == 'thread':
            threading.Thread(target=lambda: shmem.wait(r), daemon=True).start()
            time.sleep(0.05)
        if how == 'finalized':
            shmem.finalize()
        if how == 'module':
            sys.modules['kept'] = late
            del late, cycle, r, s, views
        if how == 'raise' and me == 0:
            raise KeyError('on purpose')
    ''')
    for how in ('plain', 'thread', 'finalized', 'module'):
        for n in (1, 2):
            result = pes(n, path, how).ok()
            assert not result.err, (how, n, result.text)
    result = pes(2, path, 'raise')
    assert result.code == 1 and 'on purpose' in result.err and 'Fatal' not in result.err, result.text


def test_who_leaves_without_finalize_is_noticed(tmp_path):
    path = program(tmp_path, '''
        import shmem, sys, time
        shmem.init()
        if shmem.my_pe() == 1:
            sys.exit(0)
        began = time.monotonic()
        try:
            shmem.barrier()
        except shmem.PeerDied as error:
            print(error, isinstance(error, shmem.OwnerDied), error.errno)
        assert time.monotonic() - began < 2
    ''')
    out = pes(2, path).ok().out
    assert out.startswith('shmem.barrier: ') and 'PE 1' in out and 'left' in out and 'True 130' in out


def test_repeated_jobs_in_one_process(tmp_path):
    path = program(tmp_path, '''
        import os, numpy as np, shmem
        def fds(): return len(os.listdir('/proc/self/fd'))
        def maps(): return len(open('/proc/self/maps').readlines())
        counts = []
        for turn in range(20):
            shmem.init()
            a = np.arange(50000.0)
            r = shmem.register(a)
            assert (shmem.get(r, 0) == a).all()
            x = shmem.all_reduce(np.ones(3))
            del r
            shmem.finalize()
            counts.append((fds(), maps()))
        assert counts[-1][0] <= counts[2][0], counts
        assert counts[-1][1] <= counts[2][1] + 3, counts
    ''')
    run([PYTHON, path]).ok()


@pytest.mark.parametrize('where', ['barrier', 'wait', 'wait_until', 'all_reduce', 'put_to_waiting', 'region'])
def test_ctrl_c_ends_a_wait(tmp_path, where):
    path = program(tmp_path, '''
        import sys, time, numpy as np, shmem
        shmem.init()
        me = shmem.my_pe()
        r = shmem.register(np.zeros(4, np.int32))
        shmem.barrier()
        if me == 0:
            print('ready', flush=True)
            began = time.monotonic()
            try:
                {'barrier': shmem.barrier, 'wait': lambda: shmem.wait(r), 'wait_until': lambda: shmem.wait_until(r, '==', 1),
                 'all_reduce': lambda: shmem.all_reduce(np.zeros(9)), 'region': lambda: shmem.region(1, index=7),
                 'put_to_waiting': lambda: shmem.put(dst=1, dst_mr=None, src_mr=r)}[sys.argv[1]]()
            except KeyboardInterrupt:
                print('interrupted', flush=True)
        else:
            time.sleep(30)
    ''')
    port = free_port()
    env = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': port, 'WORLD_SIZE': '2'}
    zero, one = (start([PYTHON, path, where], env=environment(RANK=str(rank), **env)) for rank in (0, 1))
    try:
        zero.wait_for('ready')
        time.sleep(0.3)
        began = time.monotonic()
        os.kill(zero.pid, signal.SIGINT)
        result = zero.finish(10)
        assert 'interrupted' in result.out and result.code == 0, result.text
        assert time.monotonic() - began < 2
    finally:
        os.kill(one.pid, signal.SIGKILL)
        one.finish()


def test_ctrl_c_of_the_launcher(tmp_path):
    path = program(tmp_path, '''
        import shmem, time
        shmem.init()
        print('ready', flush=True)
        shmem.barrier()
        if shmem.my_pe():
            shmem.barrier()
        else:
            time.sleep(30)
    ''')
    job = start(['shmemrun', '-n', 3, PYTHON, path])
    job.wait_for('ready', 3)
    time.sleep(0.2)
    os.kill(job.pid, signal.SIGINT)
    result = job.finish(5)
    assert result.code == 128 + signal.SIGINT and 'Fatal' not in result.err, result.text


def test_a_signal_handler_that_raises_comes_through(tmp_path):
    path = program(tmp_path, '''
        import signal, numpy as np, shmem
        class Alarm(Exception): pass
        def ring(*_): raise Alarm
        signal.signal(signal.SIGALRM, ring)
        shmem.init()
        r = shmem.register(np.zeros(3))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            shmem.wait(r)
        except Alarm:
            print('alarm')
        # One that does not raise does not end a wait.
        calls = []
        signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        try:
            shmem.wait(r, timeout=0.5)
        except shmem.Timeout:
            assert len(calls) > 3, calls
        signal.setitimer(signal.ITIMER_REAL, 0)  # at its end Python gives signals their default action
        shmem.finalize()
    ''')
    assert run([PYTHON, path]).ok().out == 'alarm\n'
