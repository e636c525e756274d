#!/usr/bin/env python3
"""symbols.py LIBRARY: the shared library shows only names that the standard or the extension gives it."""
import re
import subprocess
import sys

# The standard's names, their profiling forms, the extension's, and those of the oldest interface.
PUBLIC = re.compile(r'p?shmem_\w+|shmemx_\w+|p?start_pes|p?_my_pe|p?_num_pes|p?(shmalloc|shfree|shrealloc|shmemalign)')


def main():
    listing = subprocess.run(['nm', '-D', '--defined-only', sys.argv[1]], check=True, capture_output=True, text=True).stdout
    names = sorted({line.split()[-1].split('@')[0] for line in listing.splitlines() if line.strip()})
    # The linker's own: version nodes.
    foreign = [n for n in names if not PUBLIC.fullmatch(n) and not re.fullmatch(r'SHMEM_\d[\d.]*', n)]
    for name in foreign:
        print(f'exported, but not public: {name}')
    public = {n for n in names if PUBLIC.fullmatch(n)}
    for name in sorted(public):
        if name.startswith('pshmem_') and name[1:] not in public:
            print(f'profiling name without its plain form: {name}')
            foreign.append(name)
    print(f'{len(names)} names, {len(foreign)} wrong')
    return 1 if foreign or not names else 0


if __name__ == '__main__':
    sys.exit(main())
