#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kills.py SHMEMRUN PE-PROGRAM [SEED]: PEs are killed at random moments. Everybody else ends within two seconds, one message
names the dead PE, and nothing is left."""
import os
import pathlib
import random
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
from harness import Job, expect, main  # noqa: E402

SHMEMRUN, PE = sys.argv[1:3]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3].isdigit() else random.SystemRandom().randrange(1 << 30)
# Seconds; a machine that has much more to do than it has cores gets more.
SOON = 2.0 if os.getloadavg()[0] < 2 * len(os.sched_getaffinity(0)) else 6.0
chance = random.Random(SEED)


def ready(job, n):
    job.wait_for(r'(ready.*\n){%d}' % n)
    return {int(rank): int(pid) for rank, pid in re.findall(r'^ready (\d+) (\d+)$', job.text(job.out), re.MULTILINE)}


def said(*outcomes):
    """Messages of the library and the launcher; not what the program itself says of errors that it was told."""
    return [line for o in outcomes for line in o.err.splitlines() if line.startswith(('shmem:', 'shmemrun:'))]


def check_message(lines, victim, outcomes):
    assert len(lines) == 1, f'{len(lines)} messages instead of one (seed {SEED}): ' + '\n'.join(map(str, [lines, *outcomes]))
    assert re.search(rf'\bPE {victim}\b', lines[0]), f'the message does not name PE {victim} (seed {SEED}): {lines[0]}'


def kill_under_the_launcher(n, what, before):
    job = Job([SHMEMRUN, '-n', n, PE, *what])
    pids = ready(job, n)
    victim = chance.randrange(n)
    time.sleep(before)
    start = time.monotonic()
    os.kill(pids[victim], signal.SIGKILL)
    outcome = job.finish(10)
    took = time.monotonic() - start
    assert took < SOON, f'it took {took:.2f} s (seed {SEED})\n{outcome}'
    expect(outcome, 128 + signal.SIGKILL)
    check_message(said(outcome), victim, [outcome])


def by_hand(n, what, env=None):
    name = f'kills {os.getpid()} {time.monotonic()}'
    return [Job([PE, *what], env={'SHMEM_JOB': name, 'SHMEM_RANK': k, 'SHMEM_SIZE': n, **(env or {})}) for k in range(n)]


def kill_without_launcher(n, what, before, victim=None, status=1):
    jobs = by_hand(n, what)
    for job in jobs:
        job.wait_for('ready')
    victim = chance.randrange(n) if victim is None else victim
    time.sleep(before)
    start = time.monotonic()
    os.kill(jobs[victim].pid, signal.SIGKILL)
    others = [k for k in range(n) if k != victim]
    outcomes = [jobs[k].finish(10) for k in others]
    took = time.monotonic() - start
    expect(jobs[victim].finish(10), -signal.SIGKILL)
    assert took < SOON, f'it took {took:.2f} s (seed {SEED})\n' + '\n'.join(map(str, outcomes))
    for outcome in outcomes:
        assert not outcome.timed_out and outcome.status != 0, f'seed {SEED}\n{outcome}'
    if status is not None:
        check_message(said(*outcomes), victim, outcomes)
    return outcomes, victim


def amid_everything():
    for n in (2, 3, 4, 8, 2, 4):
        kill_under_the_launcher(n, ['mix', chance.randrange(1, 1 << 30)], chance.random() * 0.3)


def amid_everything_without_launcher():
    for n in (2, 4, 3, 8, 2, 4):
        outcomes, victim = kill_without_launcher(n, ['mix', chance.randrange(1, 1 << 30)], chance.random() * 0.3, status=None)
        # The extension tells the program about the death, which then speaks itself; elsewhere the library does, once.
        lines, own = said(*outcomes), [line for o in outcomes for line in o.err.splitlines() if line.startswith('PE ')]
        assert len(lines) <= 1 and lines + own, (SEED, lines, own)
        assert all(re.search(rf'\bPE {victim}\b.*died', line) for line in lines + own), (SEED, victim, lines, own)


def kill_while_others_wait():
    for how in ('barrier', 'wait', 'reduce', 'malloc', 'finalize', 'signal'):
        for n in (2, 4):
            jobs = by_hand(n, ['wait', how])
            for job in jobs:
                job.wait_for('ready')
            time.sleep(0.05 + chance.random() * 0.2)
            start = time.monotonic()
            os.kill(jobs[1].pid, signal.SIGKILL)
            outcomes = [jobs[k].finish(10) for k in range(n) if k != 1]
            took = time.monotonic() - start
            jobs[1].finish(1)
            assert took < SOON, f'{how}, {n} PEs: it took {took:.2f} s\n' + '\n'.join(map(str, outcomes))
            for outcome in outcomes:
                expect(outcome, 1)
            check_message(said(*outcomes), 1, outcomes)


def waits_under_the_launcher():
    # With 'event' the others end by themselves as soon as they notice, long before the memory of the dead one is gone.
    for how in ('barrier', 'wait', 'reduce', 'event'):
        job = Job([SHMEMRUN, '-n', '4', PE, 'wait', how, 400 << 20 if how == 'event' else 0])
        pids = ready(job, 4)
        time.sleep(0.1)
        start = time.monotonic()
        os.kill(pids[1], signal.SIGKILL)
        outcome = job.finish(10)
        assert time.monotonic() - start < SOON, outcome
        expect(outcome, 128 + signal.SIGKILL)
        check_message(said(outcome), 1, [outcome])


def the_extension_tells_its_caller():
    jobs = by_hand(3, ['wait', 'event'])
    for job in jobs:
        job.wait_for('ready')
    time.sleep(0.1)
    os.kill(jobs[1].pid, signal.SIGKILL)
    for k in (0, 2):
        expect(jobs[k].finish(5), 5, says=r'wait_event gave -130: .*PE 1 \(pid \d+\) died', within=10)
    jobs[1].finish(1)


def stopped_is_not_dead():
    """A PE that is stopped for a while holds the others up, and nothing else."""
    job = Job([SHMEMRUN, '-n', '3', PE, 'mix', '77'])
    pids = ready(job, 3)
    os.kill(pids[1], signal.SIGSTOP)
    time.sleep(0.5)
    assert job.process.poll() is None, job.finish(1)
    os.kill(pids[1], signal.SIGCONT)
    time.sleep(0.1)
    assert job.process.poll() is None, job.finish(1)
    os.kill(job.pid, signal.SIGTERM)
    expect(job.finish(5), 128 + signal.SIGTERM)


def kill_during_start():
    """Killed somewhere between its start and the end of init: the others are told, or it had joined before."""
    for round_ in range(8):
        n, victim = chance.choice((2, 3, 4)), None
        job = Job([SHMEMRUN, '-n', n, PE, 'slow-init', chance.randrange(0, 3000)])
        pids = ready(job, n)
        victim = chance.randrange(n)
        time.sleep(chance.random() * 0.006)
        start = time.monotonic()
        os.kill(pids[victim], signal.SIGKILL)
        outcome = job.finish(10)
        assert time.monotonic() - start < SOON, f'seed {SEED}\n{outcome}'
        # Who notices first may be the launcher or a PE; either names the one that ended.
        assert outcome.status in (1, 128 + signal.SIGKILL) and not outcome.timed_out, f'seed {SEED}\n{outcome}'
        assert any(re.search(rf'\bPE {victim}\b', line) for line in said(outcome)), f'seed {SEED}\n{outcome}'


def kill_during_start_without_launcher():
    for round_ in range(5):
        n = chance.choice((2, 3, 4))
        jobs = by_hand(n, ['slow-init', chance.randrange(0, 3000)], env={'SHMEM_TIMEOUT': 1})
        for job in jobs:
            job.wait_for('ready')
        victim = chance.randrange(n)
        time.sleep(chance.random() * 0.006)
        os.kill(jobs[victim].pid, signal.SIGKILL)
        outcomes = [jobs[k].finish(10) for k in range(n) if k != victim]
        jobs[victim].finish(1)
        for outcome in outcomes:
            expect(outcome, 1, within=8)
        assert any(re.search(rf'\bPE {victim}\b', line) for line in said(*outcomes)), (SEED, victim, *map(str, outcomes))


if __name__ == '__main__':
    print(f'# seed {SEED}')
    sys.exit(main([amid_everything, amid_everything_without_launcher, kill_while_others_wait, waits_under_the_launcher,
                   the_extension_tells_its_caller, stopped_is_not_dead, kill_during_start, kill_during_start_without_launcher]))
