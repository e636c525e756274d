#!/usr/bin/env python3
"""generics.py TOP FILE: writes a C11 program that checks where every generic macro leads, for every type; or, if FILE ends
in .cpp, one in C++ that checks the overloads of the same names.

It takes the functions from spec/functions.tsv, as far as include/shmem.h declares them, and needs no library: each
function is defined by the program and notes its name. Then each is called through its macro, with arguments of the
types in its prototype.
"""
import csv
import pathlib
import re
import sys

# The types that are one type on LP64 Linux: a macro may lead to any of them.
BASIC = {
    'int8': 'schar', 'int16': 'short', 'int32': 'int', 'int64': 'long', 'ptrdiff': 'long',
    'uint8': 'uchar', 'uint16': 'ushort', 'uint32': 'uint', 'uint64': 'ulong', 'size': 'ulong',
}

HEAD = '''// SPDX-License-Identifier: Apache-2.0
// Written by tests/compile/generics.py: where every generic macro leads, for every type.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static const char *reached;
static int wrong, calls;

static void expect(const char *macro, const char *function)
{
    calls++;
    if (strcmp(reached, function) != 0) {
        printf("%s led to %s and not to %s\\n", macro, reached, function);
        wrong++;
    }
}
'''

# What the list does not show: macros named as functions, and arguments that are qualified or arrays.
BY_HAND = '''
static void by_hand(void)
{
    uint64_t signal = 0;
    shmem_signal_add(&signal, 1, 0);
    expect("shmem_signal_add", "shmem_signal_add");
    shmem_signal_set(&signal, 1, 0);
    expect("shmem_signal_set", "shmem_signal_set");

    long word = 0;
    shmem_wait_until(&word, SHMEM_CMP_EQ, 0);
    expect("shmem_wait_until", "shmem_long_wait_until");
    (shmem_wait_until)(&word, SHMEM_CMP_EQ, 0);
    expect("(shmem_wait_until)", "shmem_wait_until");

    short array[4] = {0};
    const double constant = 0;
    shmem_put(array, array, 4, 0);
    expect("shmem_put of an array", "shmem_short_put");
    shmem_put(array + 1, (short[]){1}, 1, 0);
    expect("shmem_put of a literal", "shmem_short_put");
    shmem_put(SHMEM_CTX_DEFAULT, array, array, 4, 0);
    expect("shmem_put with a context", "shmem_ctx_short_put");
    (void)shmem_g(&constant, 0);
    expect("shmem_g of a constant", "shmem_double_g");
    (void)shmem_g(array, 0);
    expect("shmem_g of an array", "shmem_short_g");
    shmem_p(array, (short)(1 + 2), 0);
    expect("shmem_p", "shmem_short_p");
}
'''

# In C++ the function of that name is the better match, and does the same.
BY_HAND_CXX = """
template <typename T> static void shmem_get(T *, const T *, size_t, int) { reached = "the program's own template"; }
static void shmem_put(double *, const double *, size_t, int) { reached = "the program's own function"; }
template <typename T> static T shmem_g(const T *, int) { reached = "the program's own template"; return T(); }
struct own { int member; };

static void by_hand(void)
{
    uint64_t signal = 0;
    shmem_signal_add(&signal, 1, 0);
    expect("shmem_signal_add", "shmem_signal_add");
    shmem_signal_set(&signal, 1, 0);
    expect("shmem_signal_set", "shmem_signal_set");
    long word = 0;
    shmem_wait_until(&word, SHMEM_CMP_EQ, 0);
    expect("shmem_wait_until", "shmem_wait_until");
    short array[4] = {0};
    shmem_put(array, array, 4, 0);
    expect("shmem_put of an array", "shmem_short_put");
    shmem_put(SHMEM_CTX_DEFAULT, array, array, 4, 0);
    expect("shmem_put with a context", "shmem_ctx_short_put");
    shmem_p(array, 1 + 2, 0);
    expect("shmem_p of another type", "shmem_short_p");
    double numbers[2] = {0};
    own objects[2] = {};
    shmem_put(numbers, numbers, 2, 0);
    expect("shmem_put", "the program's own function");
    shmem_get(objects, objects, 2, 0);
    expect("shmem_get", "the program's own template");
    (void)shmem_g(numbers, 0);
    expect("shmem_g", "the program's own template");
    __extension__ double _Complex *z = 0;
    shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, z, z, 0);
    expect("shmem_complexd_sum_reduce of _Complex", "shmem_complexd_sum_reduce");
    volatile long changing = 0;
    volatile int flag = 0;
    shmem_long_wait_until(&changing, SHMEM_CMP_EQ, 0);
    expect("shmem_long_wait_until of a volatile", "shmem_long_wait_until");
    shmem_wait_until(&flag, SHMEM_CMP_EQ, 0);
    expect("shmem_wait_until of a volatile", "shmem_int_wait_until");
    (void)shmem_test(&flag, SHMEM_CMP_EQ, 0);
    expect("shmem_test of a volatile", "shmem_int_test");
    shmem_set_lock(&changing);
    expect("shmem_set_lock of a volatile", "shmem_set_lock");
    long pSync[1] = {0};
    shmem_complexd_prod_to_all(z, z, 0, 0, 0, 1, z, pSync);
    expect("shmem_complexd_prod_to_all of _Complex", "shmem_complexd_prod_to_all");
}
"""


def in_cxx(text):
    return re.sub(r'(float|double) _Complex', r'std::complex<\1>', text)


def split(prototype):
    returns, name, args = re.fullmatch(r'(.*?)(\w+)\((.*)\);', prototype).groups()
    return returns.strip(), name, [] if args == 'void' else args.split(', ')


def arg_name(arg):
    return re.search(r'\w+$', arg)[0]


def basic(name):
    return '_'.join(BASIC.get(part, part) for part in name.split('_'))


def main():
    top, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    header = (top / 'include/shmem.h').read_text()
    declared = set(re.findall(r'^\w.*?\b(\w+)\(.*\);$', header, flags=re.M))
    with open(top / 'spec/functions.tsv', newline='') as file:
        rows = [row for row in csv.DictReader(file, delimiter='\t') if row['name'] in declared]

    cxx = out.suffix == '.cpp'
    own = BY_HAND_CXX if cxx else BY_HAND
    text, calls = [HEAD], []
    by_hand = set(re.findall(r'"(shmem_\w+)"', own))
    for row in rows:
        macro = row['generic_macro']
        if not macro and row['name'] not in by_hand:
            continue
        returns, name, args = split(in_cxx(row['prototype']) if cxx else row['prototype'])
        ignore = ''.join(f'    (void){arg_name(arg)};\n' for arg in args)
        result = '' if returns == 'void' else '    return 0;\n'
        text.append(f"{returns} ({name})({', '.join(args)})\n{{\n{ignore}    reached = \"{basic(name)}\";\n{result}}}\n")
        if macro:
            values = ', '.join(arg_name(arg) for arg in args)
            declarations = ''.join(f'    {arg} = 0;\n' for arg in args)
            use = f'{macro}({values});' if returns == 'void' else f'{returns} result = {macro}({values});\n    (void)result;'
            leads = macro if cxx and basic(name) == 'shmem_long_wait_until' else basic(name)
            text.append(f'static void call_{name}(void)\n{{\n{declarations}    {use}\n    expect("{macro}", "{leads}");\n}}\n')
            calls.append(f'    call_{name}();\n')
    text += [own, '\nint main(void)\n{\n', *calls, '    by_hand();\n']
    text.append('    printf("%d calls, %d wrong\\n", calls, wrong);\n    return wrong != 0 || calls == 0;\n}\n')
    out.write_text('\n'.join(text[:-len(calls) - 3]) + ''.join(text[-len(calls) - 3:]))


if __name__ == '__main__':
    sys.exit(main())
