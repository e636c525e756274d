#!/usr/bin/env python3
"""spec_table.py TOP: spec/openshmem.toml and the headers written from it agree with the standard.

spec/functions.tsv and spec/constants.tsv list the standard's functions and constants. They were taken from its
text without regard to the table, so that one can catch the other's mistakes.
"""
import csv
import pathlib
import re
import subprocess
import sys


# What programs still use although the text has it no more.
REMOVED = {'shmem_set_cache_inv', 'shmem_clear_cache_inv', 'shmem_udcflush'}
REMOVED |= {'shmem_set_cache_line_inv', 'shmem_clear_cache_line_inv', 'shmem_udcflush_line'}
# What programs look for that were written for another implementation: macros.
OTHERS = re.compile(r'OSHMEM_SPEC_VERSION|_SHMEM_ALLTOALLS?_SYNC_SIZE|shmem_(ctx_)?(int|long|longlong)_atomic_(fetch_)?(and|or|xor)')


def rows(path):
    with open(path, newline='') as file:
        return {row['name']: row for row in csv.DictReader(file, delimiter='\t')}


def same(prototype):
    """A prototype without what does not matter: attributes, line breaks."""
    prototype = re.sub(r'__attribute__\(\(__noreturn__\)\) |SHMEMI_DEPRECATED\("[^"]*"\) ', '', prototype)
    prototype = re.sub(r'SHMEMI_COMPLEX\((\w+)\)', r'\1 _Complex', prototype)
    return ' '.join(prototype.split())


def declared(header, prefix):
    """The functions that a header declares: name without prefix -> prototype."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*', '', header.read_text(), flags=re.S)
    text = re.sub(r'^[ \t]*#(.*\\\n)*.*$', '', text, flags=re.M)
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r'(.*?[ *])' + prefix + r'(\w+)(\(.*\);)', line.strip())
        if match:
            found[match[2]] = same(match[1] + match[2] + match[3])
    return found


def compare(what, ours, theirs):
    """The differences between two dictionaries, as sentences."""
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            yield f'{what} {name}: we have {ours.get(name)!r}, the standard {theirs.get(name)!r}'


def check_functions(table, standard):
    ours = {
        f.name: (same(f.prototype() + ';'), f.section, f.generic, f.family.get('deprecated', ''), f.since)
        for f in table.functions
        if not f.family.get('removed')
    }
    removed = {f.name for f in table.functions if f.family.get('removed')}
    if removed != REMOVED:
        yield f'old names: {sorted(removed ^ REMOVED)}'
    if len(ours) + len(removed) != len(table.functions):
        yield f'the table writes {len(table.functions) - len(ours) - len(removed)} functions twice'
    theirs = {
        name: (same(r['prototype']), r['category'], r['generic_macro'], r['deprecated'], r['since'])
        for name, r in standard.items()
    }
    yield from compare('function', ours, theirs)


def check_constants(table, standard):
    ours = {name: (g['kind'], g['since'], g.get('deprecated', '')) for name, _, _, g in table.constants()}
    for kind in table.raw['handle'] + table.raw['record']:
        ours[kind['name']] = ('type', kind['since'], '')
        for _, member, _ in kind.get('members', []):
            ours[f"{kind['name']}.{member}"] = ('member', kind['since'], '')
    theirs = {
        name: (r['kind'], r['since'], r['deprecated'])
        for name, r in standard.items()
        if r['kind'] not in ('env', 'header')
    }
    yield from compare('constant', ours, theirs)


def check_headers(top, table, functions, constants):
    """What is there is declared, what comes later is not."""
    now = {f.name: same(functions[f.name]['prototype']) for f in table.emitted() if f.name in functions}
    for name, prefix in [('shmem.h', ''), ('pshmem.h', 'p')]:
        found = declared(top / 'include' / name, prefix)
        for gone in sorted(REMOVED - found.keys()):
            yield f'include/{name}: {gone} is missing'
        yield from compare(f'include/{name}', {f: text for f, text in found.items() if f not in REMOVED}, now)

    text = (top / 'include/shmem.h').read_text()
    for family in table.families:
        marked = 'deprecated' in family and not family['name'].endswith('_short')
        for function in (f for f in table.emitted() if f.family is family):
            if bool(re.search(rf'SHMEMI_DEPRECATED\("[^"]*"\) .*\b{function.name}\(', text)) != marked:
                yield f"include/shmem.h: {function.name} is {'not ' if marked else ''}marked as deprecated"

    text = (top / 'include/shmem.h').read_text()
    macros = {m for m in re.findall(r'^#define (\w+)', text, flags=re.M) if not m.startswith('SHMEMI_')} - {'SHMEM_H'}
    wanted = {functions[name]['generic_macro'] for name in now if functions[name]['generic_macro']}
    wanted |= {name for name, _, _, group in table.constants() if group.get('state') != 'later'}
    others = {m for m in macros if OTHERS.fullmatch(m)}
    if len(others) != 3 + 2 * 3 * 2 * 3:
        yield f'names of other implementations: {sorted(others)}'
    for name in sorted((macros - others) ^ wanted):
        yield f"macro {name}: {'not of the standard' if name in macros else 'missing'}"

    for name, row in constants.items():
        if row['kind'] == 'header' and not (top / 'include' / name).is_file():
            yield f'include/{name} is missing'


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(top / 'spec'))
    sys.dont_write_bytecode = True
    import generate

    table = generate.Table(top / 'spec/openshmem.toml')
    functions, constants = rows(top / 'spec/functions.tsv'), rows(top / 'spec/constants.tsv')
    wrong = [
        *check_functions(table, functions),
        *check_constants(table, constants),
        *check_headers(top, table, functions, constants),
    ]
    for sentence in wrong:
        print(sentence)
    stale = subprocess.run([sys.executable, top / 'spec/generate.py', '--check']).returncode
    print(f'{len(table.functions)} functions, {len(table.emitted())} of them now; {len(constants)} constants; {len(wrong)} wrong')
    return 1 if wrong or stale else 0


if __name__ == '__main__':
    sys.exit(main())
