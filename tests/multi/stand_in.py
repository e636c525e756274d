#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stand_in.py SHMEMRUN PROGRAM ASCEND CUDA INFO BENCH: programs for devices run unchanged on host memory that stands in."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
from harness import expect, main, run  # noqa: E402

SHMEMRUN, PROGRAM, ASCEND, CUDA, INFO, BENCH = sys.argv[1:7]
SAID = 'SHMEM_DEVICE_FALLBACK=host: host memory in place of'
NONE = {'SHMEM_ASCEND_LIBRARY': '/none/libacl_rt.so', 'SHMEM_CUDA_LIBRARY': '/none/libcuda.so',
        'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0'}
HOST = {**NONE, 'SHMEM_DEVICE_FALLBACK': 'host'}
DOUBLES = {**NONE, 'SHMEM_ASCEND_LIBRARY': ASCEND, 'SHMEM_CUDA_LIBRARY': CUDA}
TYPES = ('npu', 'cuda')


def good(words, env):
    return expect(run(words, env=env), status=0, within=30)


def warnings(outcome):
    return (outcome.out + outcome.err).count(SAID)


def a_program_prints_the_same():
    for kind in TYPES:
        device, host = (good([PROGRAM, 'alone', kind], env) for env in (DOUBLES, HOST))
        assert device.out == host.out and len(host.out.splitlines()) == 7, f"{device}\n{host}"
        assert warnings(device) == 0 and host.err.count(f"{SAID} type '{kind}'") == 2, host  # with the one that imports


def a_job_prints_the_same():
    for kind in TYPES:
        device, host = (good([SHMEMRUN, '-n', '3', PROGRAM, 'job', kind], env) for env in (DOUBLES, HOST))
        assert device.out == host.out and len(host.out.splitlines()) == 3, f"{device}\n{host}"
        assert warnings(device) == 0 and warnings(host) == 1, f"{device}\n{host}"


def it_is_said_once():
    for n in ('1', '3'):
        outcome = good([SHMEMRUN, '-n', n, PROGRAM, 'all_ways', 'npu'], HOST)
        assert warnings(outcome) == 1 and 'no Ascend driver' in outcome.err, outcome
    assert warnings(good([PROGRAM, 'all_ways', 'cuda'], HOST)) == 1
    assert warnings(good([PROGRAM, 'alone', 'cuda'], {**HOST, 'SHMEM_LOG': 'error'})) == 0


def unless_it_is_asked_for_it_is_an_error():
    for kind, says in zip(TYPES, ('no Ascend driver: /none/libacl_rt.so cannot be opened',
                                  'no CUDA driver: /none/libcuda.so cannot be opened')):
        lines = good([PROGRAM, 'refused', kind], NONE).out.splitlines()
        assert lines == ['-19', f'shmemx_device_count: {says}', '-19', '-19',
                         f'shmemx_device_pool_create: cannot make a pool of 1048576 bytes on {kind} device 0: {says}',
                         '-19', '-19'], lines
        lines = good([PROGRAM, 'refused', kind], {**HOST, 'SHMEM_DEVICE_FALLBACK': 'cpu'}).out.splitlines()
        assert lines[0] == '-22' and "SHMEM_DEVICE_FALLBACK is 'cpu', but must be 'host'" in lines[1], lines


def streams_of_others_are_refused():
    good([PROGRAM, 'streams_of_others', 'cuda'], HOST)


def a_driver_that_is_too_old():
    host = good([PROGRAM, 'alone', 'cuda'], {**HOST, 'SHMEM_CUDA_LIBRARY': 'libc.so.6'})
    assert 'too old: it has no cuInit' in host.err and 'stream: done 0, then 1' in host.out, host


def the_self_test():
    outcome = good([BENCH, 'self-test', 'npu'], HOST)
    assert ' 0 failed' in outcome.out and outcome.out.count('\nok ') >= 10, outcome


def what_is_there_is_told():
    outcome = run([INFO, '--devices', '--json'], env=HOST)
    report = json.loads(outcome.out)
    for kind, place in zip(TYPES, ('an NPU', 'a GPU')):
        told = report[f'{kind}:0']
        assert told['name'] == f"host memory in the place of {place}'s" and 'cannot be opened' in told['stands_in'], told
        assert told['driver'] == 'none' and told['shares_by'] == 'file descriptors' and told['signals'] == 'yes', told
    assert outcome.status == 1 and warnings(outcome) == 0, outcome
    assert 'stands_in' not in run([INFO, '--devices', '--json'], env={**DOUBLES, 'SHMEM_DEVICE_FALLBACK': 'host'}).out


CASES = [
    ('a program prints the same', a_program_prints_the_same),
    ('a job prints the same', a_job_prints_the_same),
    ('it is said once', it_is_said_once),
    ('unless it is asked for it is an error', unless_it_is_asked_for_it_is_an_error),
    ('streams of others are refused', streams_of_others_are_refused),
    ('a driver that is too old', a_driver_that_is_too_old),
    ('the self-test', the_self_test),
    ('what is there is told', what_is_there_is_told),
]

if __name__ == '__main__':
    sys.exit(main(CASES))
