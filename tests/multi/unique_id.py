#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unique_id.py PROGRAM: processes that nobody started together find each other by an id."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
from harness import Job, expect, main, run  # noqa: E402

PROGRAM = sys.argv[1]


def ends(*places, timeout=None, id=None):
    """Starts a process for each (rank, n); their outcomes in that order."""
    id = id or expect(run([PROGRAM, 'new']), 0).out.strip()
    timeouts = timeout if isinstance(timeout, tuple) else (timeout,) * len(places)
    jobs = [Job([PROGRAM, id, rank, n], env={'SHMEM_TIMEOUT': seconds}) for (rank, n), seconds in zip(places, timeouts)]
    return [job.finish() for job in jobs]


def joins(n, **how):
    outcomes = ends(*((pe, n) for pe in range(n)), **how)
    assert sorted(expect(o, 0).out for o in outcomes) == sorted(f'{pe} of {n} was visited by {(pe - 1) % n}\n' for pe in range(n))


def arguments():
    expect(run([PROGRAM, 'checks']), 0)


def one_job():
    joins(1)
    joins(2)
    joins(5)


def the_same_id_again():
    id = expect(run([PROGRAM, 'new']), 0).out.strip()
    joins(3, id=id)
    joins(3, id=id)


def one_rank_twice():
    for o in ends((0, 3), (1, 3), (1, 3), timeout=20):
        expect(o, 3, says=r'(two processes \(pid \d+ and pid \d+\) both say that they are PE 1|another process already is PE 1)', within=15)


def rank_0_twice():
    texts = [o.err for o in ends((0, 2), (0, 2), timeout=1)]
    assert any('PE 0' in text and ('both say' in text or 'already is' in text) for text in texts), texts


def different_sizes():
    for o in ends((0, 3), (1, 3), (2, 4), timeout=20):
        expect(o, 3, says=r'PE 2 \(pid \d+\) was told that the job has 4 PEs, but PE 0 \(pid \d+\) that it has 3', within=15)


def one_that_does_not_come():
    outcomes = ends((0, 3), (1, 3), timeout=(0.5, 20))  # PE 0 finds out, and tells PE 1
    expect(outcomes[0], 3, says='PE 2 of 3 did not come in time')
    expect(outcomes[1], 3, says='did not come in time')


def another_id():
    expect(ends((1, 2), timeout=0.3)[0], 3, says='PE 0 of 2 did not come in time')


sys.exit(main([arguments, one_job, the_same_id_again, one_rank_twice, rank_0_twice, different_sizes, one_that_does_not_come, another_id]))
