#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""device_heap.py SHMEMRUN PROGRAM ASCEND CUDA: symmetric heaps on devices where something is missing, wrong or fails."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'lib'))
from harness import Job, expect, main, run  # noqa: E402

SHMEMRUN, PROGRAM, ASCEND, CUDA = sys.argv[1:5]
ENV = {'SHMEM_ASCEND_LIBRARY': ASCEND, 'SHMEM_CUDA_LIBRARY': CUDA, 'SHMEM_DEVICE_HEAP_SIZE': '4m',
       'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0'}
UNCHECKED, CHECKED = {}, {'SHMEM_DEBUG': '1', 'SHMEM_LOG': 'error'}
ADVICE = 'keep counters, signals and locks in host memory'
FUNCTION = {'old_swap': 'long_swap', 'old_wait': 'long_wait', 'put_signal': 'putmem_signal', 'psync': 'barrier',
            'atomic_fetch_xor': 'uint64_atomic_fetch_xor'}
REFUSED = ['atomic_add', 'atomic_fetch', 'atomic_set', 'atomic_compare_swap', 'atomic_fetch_xor', 'atomic_fetch_nbi', 'old_swap',
           'wait_until', 'wait_until_any', 'test', 'test_all', 'old_wait', 'put_signal', 'signal_set', 'signal_fetch',
           'signal_wait_until', 'set_lock', 'test_lock', 'psync']


def job(n, *words, **env):
    return run([SHMEMRUN, '-n', str(n), *words], env={**ENV, **env})


def ends(n, name, says, **env):
    def one():
        outcome = expect(job(n, PROGRAM, name, **env), says=says, within=20)
        assert outcome.status not in (0, None), outcome
        return outcome
    return one


def good(outcome, out, says=()):
    expect(outcome, status=0, says=says, within=30)
    assert re.fullmatch(out, outcome.out), f'expected on standard output: {out}\n{outcome}'
    return outcome


def works(n, name, out, says=(), **env):
    return lambda: good(job(n, PROGRAM, name, **env), out, says)


def what_a_cpu_would_have_to_touch_is_refused():
    """One PE is enough for what no PE may do; all at once, because each is mostly the start of a process."""
    jobs = [(name, Job([SHMEMRUN, '-n', '1', PROGRAM, name], env=ENV)) for name in REFUSED]
    for name, started in jobs:
        function = FUNCTION.get(name, name if name.startswith(('signal', 'set_', 'test_lock')) else 'long_' + name)
        outcome = expect(started.finish(), says=f'shmem_{function}: .*0x[0-9a-f]+.* memory of Ascend device 0, and .*{ADVICE}')
        assert outcome.status not in (0, None), outcome


def one_warning():
    outcome = works(3, 'simple', r'(ok - in memory of the host\n){3}', r'SHMEM_DEVICE_FALLBACK=host: host memory in place',
                    SHMEM_HEAP_KIND='npu', SHMEM_DEVICE_FALLBACK='host', SHMEM_ASCEND_LIBRARY='/none')()
    assert (outcome.out + outcome.err).count('SHMEM_DEVICE_FALLBACK') == 1, outcome


def on_one(what, then):
    """A shell that makes PE 1 different."""
    return ['sh', '-c', f'[ $SHMEM_RANK = 1 ] && export {what}; exec "$0" "$@"', PROGRAM, then]


def differs(what, then, says, **env):
    def one():
        outcome = expect(job(3, *on_one(what, then), **env), says=says, within=20)
        assert outcome.status not in (0, None), outcome
    return one


def one_lacks_it_and_all_fall_back():
    outcome = good(job(3, *on_one('SHMEM_ASCEND_LIBRARY=/none', 'simple'), SHMEM_HEAP_KIND='npu', SHMEM_DEVICE_FALLBACK='host'),
                   r'(ok - in memory of the host\n){3}', r'in place of kind .npu.: PE 1: no Ascend driver')
    assert (outcome.out + outcome.err).count('SHMEM_DEVICE_FALLBACK') == 1, outcome


CASES = [
    ('each driver call fails once on one PE, npu', works(3, 'all_calls', r'ok - each of \d+ calls failed\n')),
    ('each driver call fails once on one PE, cuda', lambda: good(job(3, PROGRAM, 'all_calls', 'cuda'),
                                                                 r'ok - each of \d+ calls failed\n')),
    ('a PE dies with its heap mapped', ends(3, 'dies_with_its_heap_mapped', r'PE 1 \(pid \d+\)')),
    ('a PE leaves without finalize', works(3, 'leaves_without_finalize', r'(ok - left\n){3}')),
    ('an import of an own block outlives the job', works(2, 'own_import_outlives_the_job', r'(ok - outlived\n){2}')),
    ('again and again', works(3, 'again_and_again', r'(ok - again and again\n){3}')),
    ('the usual kind', works(3, 'simple', r'(ok - in memory of the device\n){3}', SHMEM_HEAP_KIND='npu')),
    ('a device by its number', works(3, 'simple', r'(ok - in memory of the device\n){3}', SHMEM_HEAP_KIND='npu:1')),
    ('with PEs that see other numbers', works(2, 'simple', r'(ok - in memory of the device\n){2}', SHMEM_HEAP_KIND='npu',
                                              DOUBLE_FIRST='4')),
    ('without a size', works(2, 'simple', r'(ok - in memory of the device\n){2}', SHMEM_HEAP_KIND='npu', SHMEM_DEVICE_HEAP_SIZE='')),
    ('host memory stands in, and it is said once', one_warning),
    ('one lacks it, and all fall back', one_lacks_it_and_all_fall_back),
    ('no driver', ends(3, 'simple', r'shmem_init: no symmetric heap in memory of kind .npu.: PE 0: no Ascend driver: .*; nor can PE 1, PE 2',
                       SHMEM_HEAP_KIND='npu', SHMEM_ASCEND_LIBRARY='/none')),
    ('no such device', ends(2, 'simple', r'shmem_init: .*PE 0: there is no CUDA device 7: this process sees 2', SHMEM_HEAP_KIND='cuda:7')),
    ('one has no driver', differs('SHMEM_ASCEND_LIBRARY=/none', 'simple', [r'shmem_init: .*: PE 1: no Ascend driver'],
                                  SHMEM_HEAP_KIND='npu')),
    ('one has too little memory', differs('DOUBLE_ROOM=2', 'simple', [r'shmem_init: .*: PE 1: .*(set SHMEM_DEVICE_HEAP_SIZE lower)'],
                                          SHMEM_HEAP_KIND='npu')),
    ('more than there is', ends(2, 'simple', r'set SHMEM_DEVICE_HEAP_SIZE lower', SHMEM_HEAP_KIND='npu', SHMEM_DEVICE_HEAP_SIZE='1g')),
    ('one wants another kind', differs('SHMEM_HEAP_KIND=cuda', 'simple', [r"PE \d wants its symmetric heap in memory of kind '(npu|cuda)', but PE"],
                                       SHMEM_HEAP_KIND='npu')),
    ('one wants another size', differs('SHMEM_DEVICE_HEAP_SIZE=6m', 'simple', [r'is 4194304 bytes on PE 0, but 6291456 on PE 1'],
                                       SHMEM_HEAP_KIND='npu')),
    ('a kind that there is none of', ends(1, 'simple', r"SHMEM_HEAP_KIND is 'gpu', but must be host, npu or cuda", SHMEM_HEAP_KIND='gpu')),
    ('a number that is none', ends(1, 'simple', r"SHMEM_HEAP_KIND is 'npu:x', but must be", SHMEM_HEAP_KIND='npu:x')),
    ('a size that is none', ends(1, 'simple', r"SHMEM_DEVICE_HEAP_SIZE is 'much', which is no size", SHMEM_HEAP_KIND='npu',
                                 SHMEM_DEVICE_HEAP_SIZE='much')),
    ('dest at other places', ends(2, 'other_place', r'dest at device heap 0x\w+\), but PE', **CHECKED)),
    ('beyond what is allocated', ends(1, 'beyond', r'shmem_putmem: dest: the range of 4194304 bytes at 0x\w+ goes past what has been '
                                                   r'allocated of the symmetric heap on a device')),
    ('beyond a block', ends(1, 'beyond_a_block', r'goes past the end of the block of 512 bytes', **CHECKED)),
    ('freed', ends(1, 'freed', r'is in no block of the symmetric heap: it was freed', **CHECKED)),
    ('freed twice', ends(1, 'freed_twice', r'shmem_free: 0x\w+ is not the beginning of an allocated block')),
    ('no such PE', ends(1, 'no_pe', r'shmem_long_p: pe is 1, but the job has PEs 0 to 0')),
    ('not symmetric', ends(1, 'not_symmetric', r'shmem_putmem: dest is 0x\w+, no symmetric address, but memory of a device')),
    what_a_cpu_would_have_to_touch_is_refused,
]

if __name__ == '__main__':
    sys.exit(main(CASES))
