#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manual.py SOURCE-FOLDER: every public function has its page, with all that a page must have; pages are free of faults."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

top = pathlib.Path(sys.argv[1])
wrong = []
PARTS = ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'RETURN VALUE', 'ERRORS', 'THREADS', 'STANDARD')


def prototypes():
    """(name, names of arguments), as the headers declare them."""
    for header in (top / 'include').glob('shmem*.h'):
        text = re.sub(r'/\*.*?\*/|//[^\n]*', '', header.read_text(), flags=re.DOTALL)
        text = re.sub(r'#[^\n]*(\\\n[^\n]*)*', '', text)
        for name, arguments in re.findall(r'\b(shmemx?_\w+|start_pes|_my_pe|_num_pes|sh(?:malloc|free|realloc|memalign))\(((?:[^()]|\([^()]*\))*)\);', text):
            found = [] if arguments.strip() in ('', 'void') else [re.search(r'(\w+)(\)\(.*\))?(\[\w*\])?$', a.strip())
                                                                 for a in re.split(r',(?![^()]*\))', arguments)]
            yield name, [a[1] for a in found if a]


def plain(page):
    return page.replace('\\-', '-').replace('\\&', '').replace('\\e', '\\')


with tempfile.TemporaryDirectory() as folder:
    pages = pathlib.Path(folder) / 'man3'
    reference = pathlib.Path(folder) / 'reference.md'
    subprocess.run([sys.executable, top / 'spec/manual.py', '--functions', pages, '--reference', reference], check=True)
    count, listed = 0, reference.read_text()
    for name, arguments in prototypes():
        count += 1
        file = pages / f'{name}.3'
        if not file.exists():
            wrong.append(f'{name} has no page')
            continue
        text = file.read_text()
        if text.startswith('.so '):
            text = (pages.parent / text[4:].strip()).read_text()
        text = plain(text)
        wrong += [f'{name}: no {part}' for part in PARTS if not re.search(rf'^\.SH {part}\n\S', text, re.MULTILINE)]
        synopsis = text[text.index('.SH SYNOPSIS'):text.index('.SH DESCRIPTION')]
        if not re.search(rf'\b{name}\(', synopsis):
            wrong.append(f'{name} is not in its own synopsis')
        wrong += [f'{name}: argument {a} is not explained' for a in arguments if f'.I {a}\n' not in text]
        if f'{name}(' not in listed:
            wrong.append(f'{name} is not in the reference')
    if count < 1000:
        wrong.append(f'the headers have only {count} functions: the pattern here is out of date')
    if shutil.which('groff'):
        main = [file for file in sorted(pages.glob('*.3')) if not file.read_text().startswith('.so ')]
        done = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-z', *main], text=True, capture_output=True)
        wrong += [line for line in done.stderr.splitlines() if 'break' not in line and 'adjust' not in line][:10]

for line in wrong[:40]:
    print(line)
print(f'{count} functions, {len(wrong)} faults')
sys.exit(bool(wrong))
