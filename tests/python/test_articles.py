# SPDX-License-Identifier: Apache-2.0
"""The listings of the articles that asked for this library, each with the smallest repair that makes it run.

In those of torch `.npu()` is left out: the tensors are in host memory. What else was changed is listed at each, and marked
"repaired" in its lines. Lines that check the result are marked "check".
"""

import os

import pytest
import shmem
from jobs import IN_PE, PYTHON, double, environment, on_pes, skip, start
from test_job import free_port

try:
    import torch
except ImportError:
    torch = None


def need_torch():
    if torch is None:
        skip('torch is not installed')


def values(seed):
    return torch.randn(1024, 1024, generator=torch.Generator().manual_seed(seed))


@on_pes(2, bare=True)
def test_put_and_get():
    """The first listing. Repairs: rank 1 must have been written to before it is asked, and the put must not meet the
    other's own: only rank 0 puts; both wait for each other in between."""
    need_torch()
    shmem.init()
    send_tensor = values(shmem.get_rank())
    mr = shmem.register(send_tensor)
    shmem.barrier()  # repaired
    if shmem.get_rank() == 0:  # repaired
        shmem.put(mem_region=mr, dst=1, offset=0, size=send_tensor.nbytes)
    shmem.barrier()  # repaired
    recv_tensor = shmem.get(mem_region=mr, src=0, offset=0, size=1024*1024*4)
    assert torch.equal(recv_tensor, values(0)) and torch.equal(send_tensor, values(0))  # check
    shmem.barrier()  # repaired
    shmem.finalize()


@on_pes(1, bare=True)
def test_memory_regions():
    """The listing of core concept 1. Repairs: shmem.init() first."""
    need_torch()
    shmem.init()  # repaired
    tensor = torch.randn(1024, 1024)
    mr = shmem.register(tensor)

    print(f"Memory region ID: {mr.id}")
    print(f"Address: {mr.addr}")
    print(f"Size: {mr.size} bytes")
    print(f"Access: {mr.access}")  # LOCAL_ONLY / REMOTE_READ / REMOTE_WRITE

    assert (mr.id, mr.addr, mr.size) == (0, tensor.data_ptr(), 4 << 20)  # check
    assert f'{mr.access}' == 'REMOTE_READ|REMOTE_WRITE|REMOTE_ATOMIC'  # check
    shmem.deregister(mr)


@on_pes(2, bare=True)
def test_one_sided_operations():
    """The listing of core concept 2. Repairs: the tensors are made first; barriers, because rank 1's tensors must be
    there, and must have been written, before they are used; only rank 0 does it."""
    need_torch()
    send_tensor, recv_tensor = values(5), torch.zeros(1024, 1024)  # repaired
    shmem.init()

    send_mr = shmem.register(send_tensor)
    recv_mr = shmem.register(recv_tensor)

    if shmem.get_rank() == 0:  # repaired
        shmem.put(
            dst=1,
            dst_mr=recv_mr,
            dst_offset=0,
            src_mr=send_mr,
            src_offset=0,
            size=send_tensor.nbytes
        )
        shmem.quiet()  # repaired

        shmem.get(
            dst=1,
            dst_mr=send_mr,
            dst_offset=0,
            src_mr=recv_mr,
            src_offset=0,
            size=1024*1024*4
        )
    shmem.barrier()  # repaired
    assert torch.equal(recv_tensor, values(5))  # check
    shmem.finalize()


@on_pes(2, bare=True)
def test_atomic_operations():
    """The listing of core concept 3. Repairs: a barrier before the counter is read."""
    need_torch()
    shmem.init()

    counter = torch.zeros(1, dtype=torch.int32)
    counter_mr = shmem.register(counter)

    shmem.atomic_add(
        mr=counter_mr,
        value=1,
        dst=0
    )

    shmem.atomic_cas(
        mr=counter_mr,
        expected=0,
        desired=1,
        dst=0
    )

    shmem.barrier()  # repaired
    result = shmem.get(mr=counter_mr, src=0, size=4)
    print(f"Counter: {result.item()}")
    assert result.item() == shmem.get_world_size()  # check
    shmem.barrier()  # repaired
    shmem.finalize()


@on_pes(2, bare=True)
def test_example_1_put():
    """Example 1. Repairs: none. (The data are known, to check them.)"""
    need_torch()
    shmem.init()

    data = values(1)
    data_mr = shmem.register(data)

    if shmem.get_rank() == 0:
        shmem.put(
            dst=1,
            dst_mr=None,
            dst_offset=0,
            src_mr=data_mr,
            src_offset=0,
            size=data.nbytes
        )
        print("Rank 0: sent data")

    if shmem.get_rank() == 1:
        recv_buf = torch.empty(1024, 1024)
        recv_mr = shmem.register(recv_buf)

        shmem.wait(recv_mr)

        print(f"Rank 1: received data, shape={recv_buf.shape}")
        assert torch.equal(recv_buf, values(1))  # check

    shmem.deregister(data_mr)
    if shmem.get_rank() == 1:
        shmem.deregister(recv_mr)

    shmem.finalize()


@on_pes(2, bare=True)
def test_example_2_get():
    """Example 2. Repairs: rank 1 finds rank 0's region, whose variable it does not have."""
    need_torch()
    shmem.init()

    if shmem.get_rank() == 0:
        data = values(2)
        data_mr = shmem.register(data)

        shmem.wait(data_mr)

        print("Rank 0: data ready for reading")

    if shmem.get_rank() == 1:
        local_buf = torch.empty(1024, 1024)
        local_mr = shmem.register(local_buf)
        data_mr = shmem.region(0, index=0)  # repaired

        shmem.get(
            dst=0,
            dst_mr=data_mr,
            dst_offset=0,
            src_mr=local_mr,
            src_offset=0,
            size=1024*1024*4
        )

        print(f"Rank 1: read data, shape={local_buf.shape}")
        assert torch.equal(local_buf, values(2))  # check

    shmem.finalize()


@on_pes(1, 3, bare=True)
def test_example_3_counter():
    """Example 3. Repairs: the get reads the counter's region, and puts it into `result`."""
    need_torch()
    shmem.init()

    counter = torch.zeros(1, dtype=torch.int32)
    counter_mr = shmem.register(counter)

    for rank in range(shmem.get_world_size()):
        if shmem.get_rank() == rank:
            shmem.atomic_add(mr=counter_mr, value=1, dst=0)
            print(f"Rank {rank}: incremented counter")

    shmem.barrier()

    if shmem.get_rank() == 0:
        result = torch.empty(1, dtype=torch.int32)
        result_mr = shmem.register(result)

        shmem.get(mr=counter_mr, src=0, size=4, out=result_mr)  # repaired

        print(f"Final counter value: {result.item()}")
        assert result.item() == shmem.get_world_size()  # check

    shmem.finalize()


def example_4():
    """Example 4. Repairs: the back end is gloo; barriers, so that all tensors are there before they are read, and are
    read before they go; the get reads `mr` and puts it into the new tensor; the sum is a new tensor, because the others
    still read `tensor`."""
    import torch.distributed as dist

    shmem.init()
    dist.init_process_group(backend="gloo")  # repaired

    tensor = values(shmem.get_rank())
    tensor_mr = shmem.register(tensor)
    original = tensor.clone()  # check

    dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    gloo, tensor[:] = tensor.clone(), original  # check

    def shmem_all_reduce(tensor):
        world_size = shmem.get_world_size()
        rank = shmem.get_rank()

        mr = shmem.register(tensor)
        total = tensor.clone()  # repaired
        shmem.barrier()  # repaired

        for r in range(world_size):
            if r != rank:
                remote_tensor = torch.empty_like(tensor)
                remote_mr = shmem.register(remote_tensor)

                shmem.get(mr=mr, src=r, size=tensor.nbytes, out=remote_mr)  # repaired

                total += remote_tensor  # repaired

                shmem.deregister(remote_mr)

        shmem.barrier()  # repaired
        shmem.deregister(mr)
        return total  # repaired

    optimized_tensor = shmem_all_reduce(tensor)
    assert torch.allclose(optimized_tensor, gloo, atol=1e-5)  # check
    assert torch.allclose(shmem.all_reduce(tensor), gloo, atol=1e-5)  # check
    assert tensor_mr.is_open
    shmem.barrier()
    dist.destroy_process_group()
    shmem.finalize()


if not IN_PE:
    def test_example_4_all_reduce():
        """Under torchrun's variables, which torch.distributed needs too."""
        if torch is None:
            pytest.skip('torch is not installed')
        common = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': free_port(), 'WORLD_SIZE': '2', 'SHMEM_TEST_BODY': '1'}
        program = 'import sys; sys.path.insert(0, sys.argv[1]); import test_articles as t; t.example_4()'
        here = os.path.dirname(os.path.abspath(__file__))
        started = [start([PYTHON, '-c', program, here], env=environment(RANK=str(rank), **common)) for rank in range(2)]
        for result in [s.finish(60) for s in started]:
            result.ok()


def test_sizes_loop():
    """The listing that measures: sizes in bytes, one tensor each. Repairs: the hccl half is left out."""
    if torch is None:
        pytest.skip('torch is not installed')
    result = start(['shmemrun', '-n', '2', PYTHON, '-c', '''
import shmem
import torch
import time

shmem.init()  # repaired
sizes = [1024, 1024*1024, 16*1024*1024, 256*1024*1024]  # 1KB, 1MB, 16MB, 256MB

for size in sizes:
    tensor = torch.randn(size//4, dtype=torch.float32)
    mr = shmem.register(tensor)
    start = time.time()
    if shmem.get_rank() == 0:  # repaired
        shmem.put(mr, dst=1)
    shmem_time = time.time() - start
    print(f"Size: {size//1024}KB, shmem: {shmem_time*1000:.1f}ms")
    shmem.barrier()  # repaired
shmem.finalize()
''']).finish(60).ok()
    assert result.out.count('Size: 262144KB') == 2


# --- the second article: pools, files and keys -----------------------------------------------------------------------------------
# Its type='npu' is host memory, by SHMEM_DEVICE_FALLBACK=host, or memory of a double of an NPU, and nothing else is changed
# for that, but in lines that check. Line breaks and indentation, which the article lost, are put back.

on_both = pytest.mark.parametrize('memory', ['host', 'npu'])


def plainly(text, *args, memory='host'):
    """Runs a program without a job. It has HOST, and host(x), the contents as NumPy has them."""
    place = {'SHMEM_DEVICE_FALLBACK': 'host'} if memory == 'host' else {'SHMEM_ASCEND_LIBRARY': double('npu'),
                                                                        'DOUBLE_ROOM': '4096'}
    begin = f'HOST = {memory == "host"}\nhost = lambda x: x if HOST else x.to_numpy()\n'
    result = start([PYTHON, '-c', begin + text, *args], env=environment(**place)).finish(60)
    if result.code and 'OutOfMemory' in result.err:
        pytest.skip(f'this machine has no room for pools of 1 GiB: {result.err.splitlines()[-1]}')
    return result.ok()


@on_both
def test_creating(memory):
    """The listing of chapter 2. Repairs: none, but for the file's name, so that no other run meets it."""
    path = f'/tmp/my_shared_mem.{os.getpid()}'
    try:
        plainly('''
import sys  # repaired
import shmem
import numpy as np

shared_file = shmem.create_file(sys.argv[1], size=1024*1024*1024)  # 1GB; repaired: the name

memory_pool = shmem.create_pool(size=1024*1024*1024, type='npu')  # 1GB

buffer = memory_pool.alloc(shape=(1024, 1024), dtype=np.float32)

assert buffer.shape == (1024, 1024) and buffer.dtype == np.float32  # check
assert isinstance(buffer, np.ndarray) == HOST  # check
shared_file.alloc((2, 2), np.float32, name='kept')[:] = 5  # check
''', path, memory=memory)
        plainly("import shmem, sys; assert (shmem.open_file(sys.argv[1])['kept'] == 5).all()", path)  # check: it persists
    finally:
        if os.path.exists(path):
            os.unlink(path)


@on_both
def test_mapping(memory):
    """The listing of chapter 3, as two processes. Repairs: the key gets to process B as an argument; `import` is a
    reserved word, so it is getattr(pool_b, 'import')."""
    plainly('''
import shmem
import numpy as np
import subprocess, sys  # repaired

pool = shmem.create_pool(size=1024*1024*1024, type='npu')

buffer_a = pool.alloc(shape=(1024, 1024), dtype=np.float32)
np.copyto(buffer_a, np.random.randn(1024, 1024).astype(np.float32))

shared_key = pool.export(buffer_a)

process_b = """
import shmem, sys
shared_key = sys.argv[1]  # repaired
pool_b = shmem.create_pool(size=1024*1024*1024, type='npu')
buffer_b = getattr(pool_b, 'import')(shared_key)  # repaired

print(f"Data from process A: {buffer_b[0,0]}")
buffer_b[0, 1] = 7  # check
"""
said = subprocess.run([sys.executable, '-c', process_b, shared_key], check=True, capture_output=True, text=True).stdout
assert said == f"Data from process A: {buffer_a[0,0]}\\n" and buffer_a[0, 1] == 7  # check
''', memory=memory)


@on_both
def test_large_transfers(memory):
    """The listing of chapter 5. Repairs: none. (The slow loop has fewer turns.)"""
    plainly('''
import shmem
import numpy as np

pool = shmem.create_pool(size=1024*1024*1024, type='npu')
large_buffer = pool.alloc(shape=(1024*1024,), dtype=np.float32)

for i in range(1024):
    large_buffer[i] = i * 1.0
assert host(large_buffer[:1024]).sum() == 1023 * 512  # check

data = np.arange(1024*1024, dtype=np.float32)
np.copyto(large_buffer, data)
assert (host(large_buffer) == data).all()  # check

aligned_buffer = pool.alloc(shape=(1024, 1024), dtype=np.float32, align=64)
assert (aligned_buffer.ctypes.data if HOST else aligned_buffer.address) % 64 == 0  # check
''', memory=memory)


@on_both
def test_with_torch(memory):
    """The listing of chapter 6. Repairs: `.npu()` is left out, and torch_npu.npu_mm is torch.mm; without torch_npu a tensor
    of the host has a copy of what is on an NPU."""
    if torch is None:
        pytest.skip('torch is not installed')
    plainly('''
import shmem
import torch  # repaired
import numpy as np

pool = shmem.create_pool(size=1024*1024*1024, type='npu')

shared_buffer = pool.alloc(shape=(1024, 1024), dtype=np.float32)
shared_buffer[:] = np.eye(1024) * 2  # check

shared_tensor = torch.from_numpy(host(shared_buffer))  # repaired

output = torch.mm(shared_tensor, shared_tensor.T)  # repaired
assert torch.equal(output, torch.eye(1024) * 4)  # check
shared_tensor += 1  # check
assert shared_buffer[0, 1] == HOST and shared_buffer[0, 0] == 2 + HOST  # check
if not HOST:  # check: tensors of the host go in
    shared_buffer.copy_from(output)
    shared_buffer[1] = torch.arange(1024.)
    assert shared_buffer[0, 0] == 4 and shared_buffer[1, 1023] == 1023
''', memory=memory)
