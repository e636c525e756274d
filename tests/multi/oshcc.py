#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oshcc.py SHMEMRUN OSHCC LIBSHMEM STATIC-OBJECT INCLUDE SANITIZER COMPILER [DOUBLE]: programs with symmetric static data, compiled by
the real wrapper from a tree that is laid out as an installation, linked in every way that there is."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'lib'))
from harness import Skip, expect, main, run  # noqa: E402

SHMEMRUN, OSHCC, LIBRARY, STATIC, INCLUDE, SANITIZER, COMPILER = sys.argv[1:8]
DOUBLE = sys.argv[8] if len(sys.argv) > 8 else ''
prefix = pathlib.Path(tempfile.mkdtemp(prefix='shmem-oshcc-'))


def lay_out():
    (prefix / 'bin').mkdir()
    (prefix / 'lib/shmem').mkdir(parents=True)
    shutil.copy(OSHCC, prefix / 'bin/oshcc')
    for name in ('oshc++', 'oshcxx', 'oshCC', 'shmemcc', 'shmemc++', 'shmemcxx', 'shmemCC'):
        shutil.copy(OSHCC, prefix / 'bin' / name)
    (prefix / 'include').symlink_to(pathlib.Path(INCLUDE).resolve())
    library = pathlib.Path(LIBRARY).resolve()
    (prefix / 'lib/libshmem.so').symlink_to(library)
    (prefix / 'lib/libshmem.so.0').symlink_to(library)
    (prefix / 'lib/shmem/static.o').symlink_to(pathlib.Path(STATIC).resolve())
    for archive in library.parent.glob('libshmem.a'):
        (prefix / 'lib/libshmem.a').symlink_to(archive)


def compiled(name, source, *options, wrapper='oshcc', compiler=None):
    program = prefix / name
    sanitize = [] if SANITIZER == 'none' else [f'-fsanitize={SANITIZER}']
    done = subprocess.run([prefix / 'bin' / wrapper, '-g', *sanitize, *options, source, '-o', program, '-pthread'], text=True,
                          env={**os.environ, 'SHMEM_CC': compiler or COMPILER}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f'{wrapper} failed:\n{done.stdout}'
    return program


def works(program, counts=(1, 2, 4), env=None):
    for n in counts:
        o = expect(run([SHMEMRUN, '-n', n, program], env=env), 0)
        assert o.out == f'static data works on {n} PEs\n', o
    expect(run([program], env=env), 0)  # started plainly: a job of one


def position_independent():
    works(compiled('pie', here / 'statics.c', '-O2', '-fPIE', '-pie'), counts=(1, 2, 4, 8))


def position_dependent():
    works(compiled('no-pie', here / 'statics.c', '-O2', '-fno-pie', '-no-pie'))


def unoptimized():
    works(compiled('unoptimized', here / 'statics.c', '-O0'))


def lazily_bound_all_the_same():
    """oshcc links -z now whatever is asked for: lazy binding would write into moved memory later."""
    works(compiled('lazy', here / 'statics.c', '-O2', '-Wl,-z,lazy'), counts=(2,))


def without_relro():
    works(compiled('norelro', here / 'statics.c', '-O2', '-Wl,-z,norelro'), counts=(2,))


def compiled_apart():
    """Objects first, then linked by oshcc."""
    program, part = prefix / 'apart', prefix / 'statics.o'
    sanitize = [] if SANITIZER == 'none' else [f'-fsanitize={SANITIZER}']
    environment = {**os.environ, 'SHMEM_CC': COMPILER}
    subprocess.run([prefix / 'bin/oshcc', *sanitize, '-c', here / 'statics.c', '-o', part], check=True, env=environment)
    subprocess.run([prefix / 'bin/oshcc', *sanitize, part, '-o', program, '-pthread'], check=True, env=environment)
    works(program, counts=(2,))


def entirely_static():
    if SANITIZER != 'none':
        raise Skip('a sanitizer cannot be linked statically')
    if not (prefix / 'lib/libshmem.a').exists():
        raise Skip('no static library is built')
    works(compiled('static', here / 'statics.c', '-O2', '-static'))


def address_sanitizer():
    """A sanitized program with the plain library."""
    if SANITIZER != 'none':
        raise Skip('everything is sanitized here already')
    try:
        program = compiled('asan', here / 'statics.c', '-O1', '-fsanitize=address', compiler='gcc')
    except AssertionError as error:
        raise Skip('gcc cannot link with the address sanitizer here') from error
    works(program, counts=(2,), env={'ASAN_OPTIONS': 'detect_leaks=0'})


def in_cxx():
    """oshc++, oshcxx, and what others call it: a C++ compiler, and its library."""
    if not shutil.which('c++'):
        raise Skip('there is no C++ compiler')
    for wrapper in ('oshc++', 'oshcxx'):
        works(compiled(wrapper, here / 'objects.cpp', '-O2', '-Wall', '-Werror', wrapper=wrapper), counts=(1, 3))
    for wrapper in ('oshCC', 'shmemc++', 'shmemcxx', 'shmemCC', 'shmemcc'):
        shown = subprocess.run([prefix / 'bin' / wrapper, '--showme:command'], text=True, capture_output=True, check=True,
                               env={**os.environ, 'SHMEM_CC': 'the-c', 'SHMEM_CXX': 'the-c++'}).stdout
        assert shown == ('the-c\n' if wrapper == 'shmemcc' else 'the-c++\n'), (wrapper, shown)


def with_clang():
    if not shutil.which('clang') or SANITIZER != 'none':
        raise Skip('clang is not there, or everything is sanitized')
    works(compiled('clang', here / 'statics.c', '-O2', compiler='clang'), counts=(2,))


def other_guards():
    """Before main there is one thread, so no userfaultfd is needed."""
    program = prefix / 'pie'
    for guard in ('none', 'user'):
        works(program, counts=(2,), env={'SHMEM_GUARD': guard})


def not_everything_is_symmetric():
    o = run([SHMEMRUN, '-n', '2', prefix / 'pie', 'stack'])
    expect(o, 1, says=r'shmem_long_p: dest is 0x[0-9a-f]+, no symmetric address: neither in the symmetric heap .* nor in the program', within=5)


def variables_have_ends():
    """What goes past a variable is told by its name and size; of a stripped program, or a strange file, nothing is claimed."""
    if SANITIZER != 'none':
        raise Skip('a sanitizer finds the same, and lays variables out in its own way')
    program = compiled('variables', here / 'variables.c', '-O1', '-fPIE', '-pie')
    debug = {'SHMEM_DEBUG': '1'}
    for how, env, says in (
            ('', debug, None),
            ('beside', debug, r"shmem_int_p: dest: the range of 4 bytes at 0x\w+ goes past the end of the variable 'few', which has 40 "
                              'bytes: it begins at offset 44 from there'),
            ('across', debug, r"shmem_long_put: dest: the range of 24 bytes at 0x\w+ goes past the end of the variable 'more', which has "
                              '64 bytes: it begins at offset 48'),
            ('far', {}, r"shmem_long_get: source: the range of 79999992 bytes at 0x\w+ begins in the program's static data and goes past "
                        'its end'),
            ('signal', {}, r'shmem_long_put_signal: sig_addr is 0x\w+, no symmetric address: neither in'),
            ('both', {}, r'shmem_long_sum_reduce: source is 0x\w+, no symmetric address: neither in')):
        expect(run([SHMEMRUN, '-n', '2', program] + ([how] if how else []), env=env), 1 if says else 0, says=says or [], within=10)
    stripped = prefix / 'stripped'
    subprocess.run(['strip', '-o', stripped, program], check=True)
    expect(run([SHMEMRUN, '-n', '2', stripped, 'beside'], env=debug), 0)
    data = program.read_bytes()
    for at, odd in ((0x28, b'\xff' * 8), (0x28, (len(data) - 100).to_bytes(8, 'little')), (0x3c, b'\xff\xff'), (0x28, (64).to_bytes(8, 'little'))):
        strange = prefix / 'strange'
        strange.write_bytes(data[:at] + odd + data[at + len(odd):])
        strange.chmod(0o755)
        expect(run([SHMEMRUN, '-n', '2', strange], env=debug), 0)


def plainly_linked():
    program = prefix / 'plain'
    sanitize = [] if SANITIZER == 'none' else [f'-fsanitize={SANITIZER}']
    subprocess.run([COMPILER.split()[0], *sanitize, f'-I{INCLUDE}', here / 'plain.c', '-o', program, f'-L{prefix}/lib', f'-Wl,-rpath,{prefix}/lib',
                    '-lshmem'], check=True)
    expect(run([SHMEMRUN, '-n', '2', program]), 1, says='a global variable is symmetric only in a program linked by oshcc', within=5)


def different_programs():
    """PEs whose static data have different sizes are told so."""
    other = compiled('other', here / 'statics.c', '-O2', '-fPIE', '-pie', '-DOTHER', '-include', str(here / 'more_statics.h'))
    script = prefix / 'either'
    script.write_text(f'#!/bin/sh\n[ "$SHMEM_RANK" = 0 ] && exec {prefix}/pie\nexec {other}\n')
    script.chmod(0o755)
    o = run([SHMEMRUN, '-n', '2', script])
    expect(o, 1, says=r'has \d+ bytes of static data, but PE \d has \d+: symmetric static data needs the same program everywhere', within=5)


def devices_older_than_the_job():
    if not DOUBLE:
        raise Skip('the double of a driver was not built')
    options = {'ASAN_OPTIONS': 'detect_leaks=0'}  # clang's search misreads libraries that are loaded later
    expect(run([SHMEMRUN, '-n', '2', compiled('older', here / 'older_devices.c')], env={'SHMEM_CUDA_LIBRARY': DOUBLE, **options}), 0)


def what_it_shows():
    shown = subprocess.run([prefix / 'bin/oshcc', '--showme:link'], text=True, capture_output=True, check=True).stdout
    assert f'-L{prefix}/lib' in shown and 'static.o' in shown and '-z,now' in shown, shown
    shown = subprocess.run([prefix / 'bin/oshcc', '--showme:compile'], text=True, capture_output=True, check=True).stdout
    assert shown == f'-I{prefix}/include\n', shown
    for show in ('--showme', '-showme', '-show'):
        shown = subprocess.run([prefix / 'bin/oshcc', show, '-c', 'a.c'], text=True, capture_output=True, check=True).stdout
        assert 'lshmem' not in shown and '-c a.c' in shown and show not in shown, shown
    for what in ('compile', 'link', 'libs', 'libdirs', 'incdirs', 'version', 'command'):
        two = [subprocess.run([prefix / 'bin/oshcc', f'{dashes}showme:{what}'], text=True, capture_output=True, check=True).stdout
               for dashes in ('-', '--')]
        assert two[0] == two[1] != '', two
    expect(run([prefix / 'bin/oshcc', '--showme:all-of-it']), 1, says='--showme:all-of-it is not known')


if __name__ == '__main__':
    try:
        lay_out()
        sys.exit(main([position_independent, position_dependent, unoptimized, lazily_bound_all_the_same, without_relro, compiled_apart,
                       entirely_static, address_sanitizer, in_cxx, with_clang, other_guards, not_everything_is_symmetric, variables_have_ends,
                       plainly_linked, different_programs, devices_older_than_the_job, what_it_shows]))
    finally:
        shutil.rmtree(prefix)
