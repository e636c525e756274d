#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queues and locks of shmem beside those of Python: multiprocessing.Queue, threading.Lock, multiprocessing.Lock.

    python3 queue_python.py [seconds for each figure, default 0.5]

Prints one line for each figure, with the ratio (how many times faster shmem's is). "put + get" is in one process;
"stream" is items one after the other to another process; "there" is half of a round trip to another process, which is
mostly the kernel's waking of a process that sleeps. The median of several turns, for other programs run meanwhile.
"""

import multiprocessing
import statistics
import sys
import threading
import time

import numpy as np
import shmem

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 and __name__ == '__main__' else 0.5
TURNS = 5


def each(body, seconds=SECONDS):
    """Seconds for each time that body(n) does what it does n times."""
    body(1)  # the other process is there then
    n = 1
    while True:
        began = time.perf_counter()
        body(n)
        took = time.perf_counter() - began
        if took > seconds / TURNS or n >= 1 << 24:
            break
        n = max(2 * n, int(n * seconds / TURNS / max(took, 1e-6) / 2))
    turns = []
    for _ in range(TURNS):
        began = time.perf_counter()
        body(n)
        turns.append((time.perf_counter() - began) / n)
    return statistics.median(turns)


def line(name, ours, theirs, of):
    print(f'{name:<34}{text(ours):>12}   {of:<24}{text(theirs):>12}   {theirs / ours:10.1f} times', flush=True)


def text(seconds):
    for unit, scale in (('s', 1), ('ms', 1e-3), ('us', 1e-6)):
        if seconds >= scale:
            return f'{seconds / scale:.3g} {unit}'
    return f'{seconds / 1e-9:.3g} ns'


# --- in the other process ----------------------------------------------------------------------------------------------------------


def echo(there, back):
    while True:
        item = there.get()
        if item is None or (isinstance(item, np.generic) and item == -1):
            return
        back.put(item)


def sink(there, back):
    """Counts items until one says that this was the last of so many."""
    while True:
        item = there.get()
        if item == -1:
            return
        if item == -2:
            back.put(0)


def drain(there, back):
    """The same, with get_many()."""
    while True:
        items = there.get_many(1024)
        if items[-1] == -1:
            return
        if items[-1] == -2:
            back.put(0)


def with_other(target, there, back, measure, last=None):
    process = multiprocessing.get_context('spawn').Process(target=target, args=(there, back))
    process.start()
    try:
        return measure()
    finally:
        there.put(last)
        getattr(there, 'flush', lambda: None)()
        process.join()


# --- figures ---------------------------------------------------------------------------------------------------------------------------


def round_trip(there, back, item, last=None):
    def body(n):
        for _ in range(n):
            there.put(item)
            back.get()

    return with_other(echo, there, back, lambda: each(body) / 2, last)


def stream(there, back, target=sink, many=False):
    flush = getattr(there, 'flush', lambda: None)

    def body(n):
        if many:
            items = np.arange(1, 1025)
            for _ in range(n):
                there.put_many(items)
        else:
            for i in range(n):
                there.put(i)
        there.put(-2)
        flush()
        back.get()

    return with_other(target, there, back, lambda: each(body) / (1024 if many else 1), -1)


def put_get(queue, item):
    def body(n):
        for _ in range(n):
            queue.put(item)
            queue.get()

    return each(body)


def queues(pool):
    theirs = multiprocessing.get_context('spawn')
    make = pool.create_queue
    other = 'multiprocessing.Queue'
    message = {'step': 5, 'loss': 0.25, 'names': ['a', 'b']}
    for name, item, ours in (('int, as int64', 5, make('i8', 1000)), ('int, as an object', 5, make(object, '1M')),
                             ('3 bytes', b'abc', make(bytes, '1M')), ('a small dict', message, make(object, '1M'))):
        line('put + get ' + name, put_get(ours, item), put_get(theirs.Queue(), item), other)
    both = theirs.Queue(), theirs.Queue()
    small = round_trip(*both, 5)
    line('one int there, as int64', round_trip(make('i8', 1000), make('i8', 1000), 5, -1), small, other)
    line('one int there, as an object', round_trip(make(object, '1M'), make(object, '1M'), 5), small, other)
    small = stream(theirs.Queue(10000), theirs.Queue())
    line('stream of ints, int64', stream(make('i8', 10000), make('i8', 10)), small, other)
    line('stream of ints, int64, batch 64', stream(make('i8', 10000, 64), make('i8', 10)), small, other)
    line('stream of ints, objects', stream(make(object, '1M'), make(object, '64k')), small, other)
    line('stream of ints, put_many/get_many', stream(make('i8', 10000), make('i8', 10), drain, True), small, other)
    array = pool.alloc(2 << 20, 'f8', own=False, fill=1)
    line('put + get 16 MB array', put_get(make(object, '1M'), array), put_get(theirs.Queue(), np.ones(2 << 20)), other)
    line('16 MB array there, handed over', round_trip(make(object, '1M'), make(object, '1M'), array),
         round_trip(*both, np.ones(2 << 20)), other)


def locks(pool):
    def body(lock):
        acquire, release = lock.acquire, lock.release

        def run(n):
            for _ in range(n):
                acquire()
                release()

        return run

    ours = each(body(pool.create_mutex()))
    line('mutex acquire + release', ours, each(body(threading.Lock())), 'threading.Lock')
    line('mutex acquire + release', ours, each(body(multiprocessing.Lock())), 'multiprocessing.Lock')


def main():
    with shmem.create_pool('64M') as pool:
        locks(pool)
        queues(pool)


if __name__ == '__main__':
    main()
