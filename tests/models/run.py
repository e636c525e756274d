#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py CC: checks the models of locks, the queue and the pool with spin, exhaustively within the bounds given here; each line says what
holds, and how many states that took."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# model, what is shown, definitions, whether it is about liveness
CHECKS = [
    ('mutex', 'exclusion, no lost wake-up (3 processes, no deaths, no naps)', ['-DN=3', '-DDEATHS=0'], False),
    ('mutex', 'exclusion, a dead holder is told, nobody hangs (3 processes, 2 deaths)', ['-DN=3', '-DDEATHS=2', '-DROUNDS=1'], False),
    ('rwlock', 'exclusion, no lost wake-up (1 reader, 2 writers, no deaths, no naps)', ['-DDEATHS=0', '-DREADERS=1'], False),
    ('rwlock', 'exclusion, no lost wake-up (2 readers, 1 writer, no deaths, no naps)', ['-DDEATHS=0', '-DWRITERS=1'], False),
    ('rwlock', 'exclusion, the dead are told of and counted out (2 readers, 1 writer, 1 death)', ['-DDEATHS=1', '-DWRITERS=1'], False),
    ('rwlock', 'a writer does not starve (2 readers that never stop)', ['-DLIVE=1', '-DDEATHS=0', '-DWRITERS=1'], True),
    ('queue', 'committed items arrive once and in order, whoever dies stops nobody', [], False),
    ('pool', 'in memory: no unit is in two runs, the table is whole, nothing is lost or leaks (2 members and a sweeper, each may die)',
     ['-DFILE=0'], False),
    ('pool', 'the same in a file, where what was handed out outlives its owner', ['-DFILE=1'], False),
    ('slab', 'small blocks and caches in memory: no block is handed out twice, nothing kept is lost, nothing leaks (2 members, each may die)',
     ['-DFILE=0', '-DBLOCKS=3'], False),
    ('slab', 'the same in a file', ['-DFILE=1', '-DBLOCKS=3'], False),
]
# Models with one step turned about, which spin must refute.
REFUTED = [
    ('pool', 'a head before the free run behind it', ['-DFILE=0', '-DBREAK=1'], False),
    ('pool', 'a sweeper that does not look at the intent', ['-DFILE=1', '-DBREAK=2'], False),
    ('pool', 'an intent that comes after the head', ['-DFILE=1', '-DBREAK=3'], False),
    ('pool', 'a lock that is never taken from the dead', ['-DFILE=0', '-DBREAK=4'], False),
    ('slab', 'a block that is handed out without an intent', ['-DFILE=0', '-DBREAK=1'], False),
    ('slab', 'a sweeper that does not look at the intent', ['-DFILE=1', '-DBREAK=2'], False),
    ('slab', 'a sweeper that stores where others may free', ['-DFILE=0', '-DBREAK=3'], False),
    ('slab', "a block of another's slab in a cache", ['-DFILE=0', '-DBREAK=4'], False),
]
# Too long for every day: with SHMEM_TEST_FULL only.
LONG_CHECKS = [
    ('rwlock', 'a waiting reader is let in by the next writer that leaves (2 writers, twice)',
     ['-DLIVE=2', '-DDEATHS=0', '-DREADERS=1'], False),
    ('pool', 'in memory, a member twice', ['-DFILE=0', '-DTURNS=2'], False),
    ('pool', 'in a file, a member twice', ['-DFILE=1', '-DTURNS=2'], False),
]


def check(cc, model, definitions, live, folder, refuted=False):
    source = pathlib.Path(__file__).resolve().parent / f'{model}.pml'
    subprocess.run(['spin', *definitions, '-a', source], cwd=folder, check=True, stdout=subprocess.PIPE)
    options = ['-DNFAIR=4'] if live else ['-DSAFETY']
    subprocess.run([cc, '-O0' if refuted else '-O1', '-w', '-DMEMLIM=3072', *options, '-o', 'pan', 'pan.c'], cwd=folder, check=True)
    arguments = ['-m100000' if model in ('pool', 'slab') else '-m3000000'] + (['-a', '-f'] if live else [])
    if model in ('queue', 'pool', 'slab'):  # whose processes die wherever they are, which is no end that the model names
        arguments.append('-E')
    done = subprocess.run(['./pan', *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=300)
    errors = re.search(r'errors: (\d+)', done.stdout)
    states = re.search(r'([\d.e+]+) states, stored', done.stdout)
    whole = 'Search not completed' not in done.stdout and 'max search depth too small' not in done.stdout
    good = errors and (int(errors.group(1)) > 0 if refuted else errors.group(1) == '0' and whole)
    return bool(good), states.group(1) if states else '?', done.stdout


def main():
    if shutil.which('spin') is None:
        print('spin is not installed (Debian: spin)')
        return 77
    bad = 0
    for model, what, definitions, live in CHECKS + (LONG_CHECKS if os.environ.get('SHMEM_TEST_FULL') else []):
        with tempfile.TemporaryDirectory(prefix='shmem-models-') as folder:
            good, states, output = check(sys.argv[1], model, definitions, live, folder)
        print(f'{"holds" if good else "FAILS"}: {model}: {what}: {states} states', flush=True)
        if not good:
            bad += 1
            print(output)
    for model, what, definitions, live in REFUTED:
        with tempfile.TemporaryDirectory(prefix='shmem-models-') as folder:
            good, states, output = check(sys.argv[1], model, definitions, live, folder, refuted=True)
        print(f'{"refuted" if good else "NOT REFUTED"}: {model}: {what}: {states} states', flush=True)
        if not good:
            bad += 1
            print(output)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
