#!/usr/bin/env python3
"""headers_alone.py TOP: each public header compiles alone, twice in a row, as C89, C11, C17 and C++17 (and, by clang, C++98), without a warning."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile


def main():
    include = pathlib.Path(sys.argv[1]) / 'include'
    headers = sorted(p.relative_to(include) for p in include.rglob('*.h'))
    if not headers:
        print(f'no header in {include}')
        return 1
    c = shlex.split(os.environ.get('CC') or 'cc')
    cxx = shlex.split(os.environ.get('CXX') or 'c++')
    if shutil.which(cxx[0]) is None:
        print(f'no C++ compiler: {cxx[0]}')
        return 1
    modes = [(c, 'c89', '.c'), (c, 'c11', '.c'), (c, 'c17', '.c'), (cxx, 'c++17', '.cc')]
    if shutil.which('clang') and shutil.which('clang++'):
        modes += [(['clang'], 'c11', '.c'), (['clang++'], 'c++98', '.cc')]
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        for header in headers:
            for compiler, standard, suffix in modes:
                source = pathlib.Path(work) / ('alone' + suffix)
                twice = f'#include <{header}>\n' * 2
                if suffix == '.cc' and compiler is cxx:  # some programs do that with every C header
                    twice = 'extern "C" {\n' + twice + '}\n'
                source.write_text(twice + 'int main(void) { return 0; }\n')
                command = compiler + [f'-std={standard}', '-Wall', '-Wextra', '-pedantic', '-Werror',
                                      '-fsyntax-only', f'-I{include}', str(source)]
                ran = subprocess.run(command, capture_output=True, text=True)
                if ran.returncode:
                    bad += 1
                    print(f'{header} does not stand alone in {standard} with {compiler[0]}:\n{ran.stderr}')
    print(f'{len(headers)} headers in {len(modes)} ways each, {bad} bad')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
