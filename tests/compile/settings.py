#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""settings.py SHMEM-INFO SHMEMRUN SOURCE-FOLDER: one list of variables; who prints or documents them agrees with it."""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

info, shmemrun, top = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
clean = {k: v for k, v in os.environ.items() if not k.startswith(('SHMEM_', 'SMA_'))}
wrong = []


def run(*arguments, **env):
    return subprocess.run([info, *arguments], env={**clean, **env}, text=True, capture_output=True)


def check(condition, text):
    if not condition:
        wrong.append(text)


report = json.loads(run('--json', '-n', '4', SHMEM_TIMEOUT='7', SMA_SYMMETRIC_SIZE='3"m\n').stdout)
settings = report['settings']
listed = set(settings) | {s['old_name'] for s in settings.values() if s['old_name']}

# What the sources name, where they read a variable.
read = set()
for file in [*top.glob('src/**/*.c'), *top.glob('tools/*.c')]:
    read |= set(re.findall(r'(?:getenv|setting\w*|setenv)\(\s*"((?:SHMEM|SMA)_\w+)"', file.read_text()))
check(read <= listed, f'read, but not in src/base/settings.c: {sorted(read - listed)}')
check(set(settings) <= read | {'SHMEM_RANK', 'SHMEM_SIZE'}, f'listed, but read by nobody: {sorted(set(settings) - read)}')

# What the standard names.
for name in ('SHMEM_SYMMETRIC_SIZE', 'SHMEM_VERSION', 'SHMEM_INFO', 'SHMEM_DEBUG'):
    check(settings.get(name, {}).get('old_name') == name.replace('SHMEM', 'SMA'), f'{name} lacks its old name')

check(settings['SHMEM_TIMEOUT']['value'] == '7' and settings['SHMEM_SYMMETRIC_SIZE']['value'] == '3"m\n', 'values are not shown')
check(settings['SHMEM_LOG']['value'] is None, 'a variable that is not set has a value')
check(run('--markdown').stdout in (top / 'docs/settings.md').read_text(), 'docs/settings.md differs from shmem-info --markdown')

# The rest of the report is true.
check(report['host']['open_files'] in (resource.getrlimit(resource.RLIMIT_NOFILE)[0], None), 'open files')
check(report['host']['cpus_allowed'] == len(os.sched_getaffinity(0)), 'CPUs')
check(report['library']['version'].startswith('shmem ') and report['library']['openshmem'] == '1.6', 'version')
check(report['backends']['host'] == 'usable' and 'missing' in report['backends']['npu'] + 'missing', 'back ends')
one = json.loads(run('--json').stdout)['memory']
check(abs(one['heap'] - 4 * report['memory']['heap']) <= 4 * 65536 and one['heap'] <= one['memory'] + 65536, 'heaps')
check(report['memory']['heap_kind'] == 'host' and 'npu:1' in run(SHMEM_HEAP_KIND='npu:1').stdout, 'kind of the heap')
text = run().stdout
for word in ('thread level', 'heap of each, normally', 'SHMEM_CORES = (not set)', 'open files'):
    check(word in text, f"'{word}' is not in the report")

# Mistakes.
check(run('--frobnicate').returncode == 2 and run('x').returncode == 2 and run('-n', '0').returncode == 2, 'bad options')
check('-n' in run('-n', 'x').stderr, 'bad number')
check(run('-n', '5000').returncode == 2 and 'has 1 to 1024 PEs' in run('-n', '5000').stderr, 'too many PEs')

# The standard's variables print at init, once a job.
program = [shmemrun, '-n', '2', *sys.argv[4:]]
shown = subprocess.run(program, env={**clean, 'SMA_INFO': '', 'SHMEM_VERSION': '1'}, text=True, capture_output=True).stderr
check(all(shown.count(f'\n  {name}: ') == 1 for name in settings), f'SHMEM_INFO does not print every variable once: {shown}')
check(shown.count(report['library']['version']) == 1, f'SHMEM_VERSION does not print the version once: {shown}')

for line in wrong:
    print(line)
print(f'{len(settings)} variables, {len(wrong)} wrong')
sys.exit(bool(wrong))
