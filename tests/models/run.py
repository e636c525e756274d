#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py MODEL.pml: has spin look at every state of a model. 77 and the reason when spin is missing."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    model = pathlib.Path(sys.argv[1]).resolve()
    compiler = shutil.which(os.environ.get('CC', 'cc').split()[0])
    if not shutil.which('spin') or not compiler:
        print('# skip: spin is missing (Debian: spin)' if compiler else '# skip: there is no C compiler')
        return 77
    with tempfile.TemporaryDirectory(prefix='shmem-model-') as folder:
        for command in (['spin', '-a', model], [compiler, '-O2', '-w', '-DSAFETY', '-DCOLLAPSE', '-DMEMLIM=2000', '-o', 'pan', 'pan.c']):
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(['./pan', '-E', '-m100000'], cwd=folder, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    complete = 'errors: 0' in done.stdout and 'Search not completed' not in done.stdout
    print(f'{"ok" if complete else "not ok"} - {model.stem}')
    return 0 if complete and done.returncode == 0 else 1


if __name__ == '__main__':
    sys.exit(main())
