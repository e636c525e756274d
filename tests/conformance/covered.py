#!/usr/bin/env python3
"""covered.py TOP PROGRAM...: the conformance programs together call every function that shmem.h declares."""
import pathlib
import re
import subprocess
import sys

# It ends the job: tested where jobs are ended.
ELSEWHERE = {'shmem_global_exit'}


def main():
    header = (pathlib.Path(sys.argv[1]) / 'include/shmem.h').read_text()
    declared = set(re.findall(r'^\w.*?\b(\w+)\(.*\);$', header, flags=re.M)) - ELSEWHERE
    called = set()
    for program in sys.argv[2:]:
        listing = subprocess.run(['nm', '-D', '--undefined-only', program], check=True, capture_output=True, text=True).stdout
        called |= {line.split()[-1].split('@')[0] for line in listing.splitlines()}
    missing = sorted(declared - called)
    for name in missing:
        print(f'{name} is called by no conformance program')
    print(f'{len(declared)} functions, {len(missing)} not called')
    return 1 if missing or not declared else 0


if __name__ == '__main__':
    sys.exit(main())
