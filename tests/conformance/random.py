#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random.py LAUNCHER PROGRAM PES [SEEDS]: random operations with several seeds, and, where they fail, few of them.

SHMEM_TEST_SEED sets the first seed, SHMEM_TEST_FULL=1 takes many of them. When a seed fails, operations are left out as
long as the rest still fails; the command that repeats the failure is printed.
"""
import os
import subprocess
import sys

OPERATIONS = 2000


def command(seed, operations, only=None):
    launcher, program, pes = sys.argv[1:4]
    which = [','.join(map(str, only))] if only is not None else []
    return [launcher, '-n', pes, program, str(seed), str(operations)] + which


def run(*what):
    """None when all is well, else what the program said."""
    try:
        ended = subprocess.run(command(*what), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return 'it did not end within a minute'
    return None if ended.returncode == 0 else ended.stdout


def shrink(seed):
    """Fewer operations that still fail: a shorter beginning, then without pieces of it, large ones first."""
    low, high = 0, OPERATIONS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if run(seed, middle) else (middle, high)
    only, piece = list(range(high)), high // 2
    while piece >= 1:
        first = 0
        while first < len(only):
            fewer = only[:first] + only[first + piece:]
            if fewer and run(seed, high, fewer):
                only = fewer
            else:
                first += piece
        piece = piece // 2 if len(only) < 200 or piece > 16 else 0
    return high, only


def main():
    first = int(os.environ.get('SHMEM_TEST_SEED', '1'))
    count = 500 if os.environ.get('SHMEM_TEST_FULL') == '1' else int(sys.argv[4]) if len(sys.argv) > 4 else 5
    for seed in range(first, first + count):
        said = run(seed, OPERATIONS)
        if said:
            print(f'seed {seed} fails:\n{said}\nlooking for fewer operations that fail', flush=True)
            fewer = (seed, *shrink(seed))
            print(f'{run(*fewer) or said}\nagain: {" ".join(command(*fewer))}')
            return 1
    print(f'seeds {first} to {first + count - 1}, {OPERATIONS} operations each, on {sys.argv[3]} PEs')
    return 0


if __name__ == '__main__':
    sys.exit(main())
