# SPDX-License-Identifier: Apache-2.0
"""The demonstration: four processes learn handwritten digits together, and then hand data to each other in four ways.

Run it with `make demo`. It starts itself again as the processes of a job (`shmemrun -n 4 python demo.py train`).
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

# Matrix products in one thread: four processes share the cores, and each result has the same bits in every run.
for name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ[name] = '1'

import numpy as np  # noqa: E402

WORKERS, EPOCHS, BATCH, HIDDEN, RATE = 4, 12, 128, 96, 0.4

# --- the classifier: one hidden layer, softmax, plain gradient descent ---------------------------------------------------


def load_digits():
    """1797 pictures of 8 x 8 pixels: those to learn from and those to test with, in an order that is always the same."""
    from sklearn.datasets import load_digits as load

    digits = load()
    order = np.random.default_rng(1).permutation(len(digits.target))
    pictures, labels = (digits.data / 16.0)[order], digits.target[order]
    return pictures[:1440], labels[:1440], pictures[1440:], labels[1440:]


def split(flat):
    """The layers' weights as views of one flat array, so that all gradients are summed by one call."""
    shapes = [(64, HIDDEN), (HIDDEN,), (HIDDEN, 10), (10,)]
    views, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        views.append(flat[at:at + size].reshape(shape))
        at += size
    return views


def weights_wanted():
    return 64 * HIDDEN + HIDDEN + HIDDEN * 10 + 10


def start_weights(flat):
    random = np.random.default_rng(2)
    w1, b1, w2, b2 = split(flat)
    w1[:], w2[:] = random.normal(0, 0.15, w1.shape), random.normal(0, 0.15, w2.shape)
    b1[:], b2[:] = 0, 0


def gradient(weights, pictures, labels, out):
    """Writes the gradient of the summed loss over these pictures to `out`; returns that loss."""
    w1, b1, w2, b2 = split(weights)
    g1, gb1, g2, gb2 = split(out)
    hidden = np.maximum(pictures @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)
    probability = np.exp(scores)
    probability /= probability.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(probability[rows, labels] + 1e-12).sum()
    probability[rows, labels] -= 1
    g2[:], gb2[:] = hidden.T @ probability, probability.sum(axis=0)
    back = (probability @ w2.T) * (hidden > 0)
    g1[:], gb1[:] = pictures.T @ back, back.sum(axis=0)
    return loss


def accuracy(weights, pictures, labels):
    w1, b1, w2, b2 = split(weights)
    scores = np.maximum(pictures @ w1 + b1, 0) @ w2 + b2
    return (scores.argmax(axis=1) == labels).mean()


def batches(count, epoch):
    order = np.random.default_rng(100 + epoch).permutation(count)
    return [order[at:at + BATCH] for at in range(0, count - BATCH + 1, BATCH)]


def train_alone(workers):
    """The same training in one process: each batch in the same parts, whose gradients are added in the same order."""
    pictures, labels, _, _ = load_digits()
    weights, total, part = (np.zeros(weights_wanted()) for _ in range(3))
    start_weights(weights)
    for epoch in range(EPOCHS):
        for batch in batches(len(labels), epoch):
            for worker in range(workers):
                mine = batch[worker::workers]
                gradient(weights, pictures[mine], labels[mine], part)
                if worker:
                    total += part
                else:
                    total[:] = part
            weights -= RATE / BATCH * total
    return weights


def train_together():
    """One worker of the job. The gradient lies on the symmetric heap and is summed over all workers in place."""
    import shmem

    shmem.init()
    me, n = shmem.my_pe(), shmem.n_pes()
    pictures, labels, test_pictures, test_labels = load_digits()
    weights, total = np.zeros(weights_wanted()), shmem.zeros(weights_wanted())
    start_weights(weights)
    summed = 0.0
    for epoch in range(EPOCHS):
        begin, loss = time.perf_counter(), np.zeros(1)
        for batch in batches(len(labels), epoch):
            mine = batch[me::n]
            loss += gradient(weights, pictures[mine], labels[mine], total)
            before = time.perf_counter()
            shmem.all_reduce(total)
            summed += time.perf_counter() - before
            weights -= RATE / BATCH * total
        shmem.all_reduce(loss)
        if me == 0:
            print(f'  epoch {epoch + 1:2}   loss {loss[0] / (len(labels) // BATCH * BATCH):.4f}   accuracy '
                  f'{100 * accuracy(weights, test_pictures, test_labels):5.1f} %   {1e3 * (time.perf_counter() - begin):6.1f} ms', flush=True)
    everybodys = shmem.all_gather(weights)
    if me == 0:
        steps = EPOCHS * len(batches(len(labels), 0))
        same = all((one == weights).all() for one in everybodys)
        print(f'  {steps} sums of {total.nbytes // 1024} KiB took {1e6 * summed / steps:.0f} us each, waiting for the others included')
        print(f'  all {n} workers hold the same weights: {"yes, bit for bit" if same else "NO"}')
        alone = train_alone(n)
        difference = np.abs(alone - weights).max()
        equal = (alone == weights).all()
        print(f'  the same training in one process gives the same weights: '
              f'{"yes, bit for bit" if equal else f"the largest difference is {difference:.1e}"}')
        if not same or difference > 1e-9:
            sys.exit('the workers did not compute what one process computes')
    shmem.finalize()


# --- handing over -------------------------------------------------------------------------------------------------------

SIZES = [1 << 10, 1 << 20, 16 << 20, 256 << 20]


def repeats(size):
    return 50 if size <= 1 << 20 else 12 if size <= 16 << 20 else 4


def median(times):
    return sorted(times)[len(times) // 2]


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)  # the same clock in all processes


def mark(data, turn):
    """What the receiver looks for: the first and the last byte change with every turn."""
    data[0] = data[-1] = turn % 251


def check(data, turn):
    if data[0] != turn % 251 or data[-1] != turn % 251:
        sys.exit('the data did not arrive')


def take_from_queue(queue, times):
    while True:
        item = queue.get()
        arrived = now()
        if item is None:
            return
        sent, turn, data = item
        check(data, turn)
        times.send(arrived - sent)


def take_from_pipe(pipe, times):
    buffers = {size: bytearray(size) for size in SIZES}
    while True:
        size, sent, turn = pipe.recv()
        if size == 0:
            return
        pipe.recv_bytes_into(buffers[size])
        times.send(now() - sent)
        check(buffers[size], turn)


def measure_queue(queue, times):
    result = {}
    for size in SIZES:
        data, all_times = np.ones(size, np.uint8), []
        for turn in range(repeats(size)):
            mark(data, turn)
            queue.put((now(), turn, data))
            all_times.append(times.recv())
        result[size] = median(all_times)
    queue.put(None)
    return result


def measure_pipe(pipe, times):
    result = {}
    for size in SIZES:
        data, all_times = np.ones(size, np.uint8), []
        for turn in range(repeats(size)):
            mark(data, turn)
            pipe.send((size, now(), turn))
            pipe.send_bytes(data)
            all_times.append(times.recv())
        result[size] = median(all_times)
    pipe.send((0, 0, 0))
    return result


def measure_usual_ways():
    context = multiprocessing.get_context('fork')
    queue, (receive, send) = context.Queue(), context.Pipe(duplex=False)
    times, report = context.Pipe(duplex=False)
    taker = context.Process(target=take_from_queue, args=(queue, report), daemon=True)
    taker.start()
    by_queue = measure_queue(queue, times)
    taker.join()
    taker = context.Process(target=take_from_pipe, args=(receive, report), daemon=True)
    taker.start()
    by_pipe = measure_pipe(send, times)
    taker.join()
    return by_queue, by_pipe


def hand_over(path):
    """One of two PEs: PE 0 hands over by shmem.put, and then by leaving the data where they are. Times go to a file."""
    import shmem

    shmem.init()
    me = shmem.my_pe()
    stamps = shmem.zeros(1)               # when PE 1 could read: PE 0 fetches it
    turns = shmem.register(np.zeros(2, np.int64))  # turn of the put, turn of the reading in place
    back = shmem.register(np.zeros(1, np.int64))
    lines, number = [], 0
    for size in SIZES:
        data = np.ones(size, np.uint8)
        region = shmem.register(data)
        shmem.barrier()
        theirs = shmem.peer(region, 0)
        for way in (0, 1):
            all_times = []
            for turn in range(-1, repeats(size)):
                number += 1
                if me == 0:
                    mark(data, number)
                    begin = now()
                    if way == 0:
                        shmem.put(region, 1)
                    shmem.quiet()
                    shmem.atomic_set(turns, number, 1, offset=8 * way)
                    shmem.wait_until(back, '>=', number)
                    if turn >= 0:
                        all_times.append(shmem.get(stamps, 1)[0] - begin)
                else:
                    shmem.wait_until(turns, '>=', number, offset=8 * way)
                    stamps[0] = now()
                    check(data if way == 0 else theirs, number)
                    shmem.atomic_set(back, number, 0)
            if me == 0:
                lines.append(f'{size} {way} {float(median(all_times))!r}\n')
        del theirs
        shmem.barrier()
        shmem.deregister(region)
    shmem.barrier()
    if me == 0:
        with open(path, 'w', encoding='ascii') as file:
            file.writelines(lines)
    shmem.finalize()


def name_size(size):
    return f'{size >> 10} KB' if size < 1 << 20 else f'{size >> 20} MB'


def name_time(seconds):
    return f'{seconds * 1e6:8.1f} us' if seconds < 1e-3 else f'{seconds * 1e3:8.2f} ms'


def print_table(by_queue, by_pipe, path):
    ways = {0: {}, 1: {}}
    with open(path, encoding='ascii') as file:
        for line in file:
            size, way, seconds = line.split()
            ways[int(way)][int(size)] = float(seconds)
    table = [('multiprocessing.Queue (pickle)', by_queue), ('pipe', by_pipe), ('shmem.put', ways[0]), ('zero-copy, read in place', ways[1])]
    print(f'  {"":8}{"way":32}{"time":>11}{"GB/s":>11}{"speed-up":>10}')
    for size in SIZES:
        for label, times in table:
            seconds = times[size]
            print(f'  {name_size(size) if times is by_queue else "":8}{label:32}{name_time(seconds)}{size / seconds / 1e9:11.2f}'
                  f'{by_queue[size] / seconds:9.1f}x')
    print('  Time: from the call until the other process can read the data. Reading in place moves no bytes, so its time does not')
    print('  grow with the size and its GB/s only say how long a copy would have had to take.')


# --- starting itself -----------------------------------------------------------------------------------------------------


def run_job(pes, *arguments):
    done = subprocess.run(['shmemrun', '-n', str(pes), sys.executable, os.path.abspath(__file__), *arguments], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main():
    print(f'{WORKERS} processes learn to read handwritten digits (1440 to learn from, 357 to test with); their gradients are summed by shmem:', flush=True)
    run_job(WORKERS, 'train')
    print('\nHanding data to another process, measured now:', flush=True)
    by_queue, by_pipe = measure_usual_ways()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'times')
        run_job(2, 'hand-over', path)
        print_table(by_queue, by_pipe, path)


if __name__ == '__main__':
    if sys.argv[1:2] == ['train']:
        train_together()
    elif sys.argv[1:2] == ['hand-over']:
        hand_over(sys.argv[2])
    else:
        main()
