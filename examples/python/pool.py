#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An inference server and its clients, which share weights and request buffers by keys.

    python pool.py            (no shmemrun: the processes need no job, and are not even related)

The server owns a pool. It gives each client three keys on the command line: the weights, for reading only; a buffer of
its own for requests and answers; and counters, which clients may only add to. Arrays never travel: the pipes carry a line
when a request or an answer is there.
"""

import subprocess
import sys

import numpy as np
import shmem

INPUTS, OUTPUTS, BATCH, CLIENTS, TURNS = 64, 10, 16, 3, 5
REQUEST = np.dtype([('x', 'f4', (BATCH, INPUTS)), ('y', 'f4', (BATCH, OUTPUTS))])


def client(number, weights_key, request_key, counters_key):
    weights = shmem.import_(weights_key, 'r')
    request = shmem.import_(request_key)[()]  # one record, with fields x and y
    counters = shmem.import_(counters_key, 'atomic')  # not even mapped here
    random = np.random.default_rng(number)
    for _ in range(TURNS):
        request['x'][:] = random.random((BATCH, INPUTS))  # straight into the server's memory
        print('request', flush=True)
        sys.stdin.readline()
        if not np.allclose(request['y'], np.tanh(request['x'] @ weights), atol=1e-5):
            sys.exit('WRONG answer')
        counters.add(number, BATCH)
    try:
        weights[0, 0] = 1
    except ValueError:
        return  # for reading only
    sys.exit('WRONG: the weights could be written')


def server():
    pool = shmem.create_pool('16M')
    weights = pool.alloc((INPUTS, OUTPUTS), np.float32, own=True)  # a segment of its own can be frozen
    weights[:] = np.random.default_rng(0).standard_normal(weights.shape)
    weights_key = pool.export(weights, frozen=True)  # nobody can map it for writing any more: the kernel sees to that
    counters = pool.alloc(CLIENTS, np.int64, zero=True)
    counters_key = pool.export(counters, mode='add')
    requests = [pool.alloc((), REQUEST) for _ in range(CLIENTS)]

    clients = [subprocess.Popen([sys.executable, __file__, str(n), weights_key, pool.export(requests[n]), counters_key],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for n in range(CLIENTS)]
    for _ in range(TURNS):
        for request, process in zip(requests, clients):
            if process.stdout.readline() != 'request\n':
                break
            request['y'][...] = np.tanh(request['x'] @ weights)
            process.stdin.write('answer\n')
            process.stdin.flush()
    for process in clients:
        process.communicate()
    ok = all(process.returncode == 0 for process in clients) and (counters == TURNS * BATCH).all()
    stats = pool.stats()
    print(f'{counters.sum()} samples of {CLIENTS} clients, {stats.in_use} bytes shared in {stats.buffers} buffers'
          f'{"" if ok else ": WRONG"}')
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(client(int(sys.argv[1]), *sys.argv[2:]) if len(sys.argv) > 1 else server())
