#!/usr/bin/env python3
"""count.py RESULTS: adds up what the test programs wrote there, and closes with "N passed, N failed, N skipped".

RESULTS holds Meson's logs (*.json, a line a test program), pytest's (*.xml), plain TAP (*.tap), and "broken":
a line for each part that could not be run. Exit status 1 when anything failed or nothing passed.
--has-failures LOG.json: exit status 0 when that log tells of a failed test.
"""
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

TAP = re.compile(r'^(not )?ok\b(?:\s+\d+)?\s*(?:-\s*)?(.*)$')
SKIP = re.compile(r'#\s*skip\S*\s*(.*)', re.IGNORECASE)
Result = collections.namedtuple('Result', 'state name reason')


def tap(text, prefix):
    """Results in TAP. cmocka's skips carry only the name: the reason is a line "# skip: ..." before."""
    reason = 'no reason given'
    for line in text.splitlines():
        if line.startswith('# skip: '):
            reason = line[len('# skip: '):]
        found = TAP.match(line)
        if not found:
            continue
        bad, name = found.groups()
        skip = SKIP.search(name)
        if skip:
            name = name[:skip.start()].strip()
            yield Result('skipped', f'{prefix} {name or skip.group(1)}', skip.group(1) if name and skip.group(1) else reason)
        else:
            yield Result('failed' if bad else 'passed', f'{prefix} {name}', '')


def last_line(entry):
    lines = (entry.get('stderr') or '').splitlines() + (entry.get('stdout') or '').splitlines()
    lines = [line.strip() for line in lines if line.strip()]
    return lines[-1] if lines else 'no reason given'


def meson(path):
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        name, result = f'{path.stem}: {entry["name"].split(" / ")[-1]}', entry['result']
        parts = list(tap(entry.get('stdout') or '', name))
        if result in ('OK', 'EXPECTEDFAIL'):
            yield from parts or [Result('passed', name, '')]
        elif result == 'SKIP':
            yield from parts or [Result('skipped', name, last_line(entry))]
        else:
            yield from parts
            if not any(part.state == 'failed' for part in parts):
                yield Result('failed', name, result.lower())


def junit(path):
    for case in ElementTree.parse(path).iter('testcase'):
        name = f'{path.stem}: {case.get("classname")}.{case.get("name")}'
        skipped = case.find('skipped')
        if case.find('failure') is not None or case.find('error') is not None:
            yield Result('failed', name, '')
        elif skipped is not None and skipped.get('type') != 'pytest.xfail':
            yield Result('skipped', name, skipped.get('message') or '')
        else:
            yield Result('passed', name, '')


def main():
    if sys.argv[1] == '--has-failures':
        path = pathlib.Path(sys.argv[2])
        return 0 if path.exists() and any(r.state == 'failed' for r in meson(path)) else 1
    folder, results = pathlib.Path(sys.argv[1]), []
    for path in sorted(folder.iterdir()):
        if path.suffix == '.json':
            results += meson(path)
        elif path.suffix == '.xml':
            results += junit(path)
        elif path.suffix == '.tap':
            results += tap(path.read_text(), path.stem + ':')
        elif path.name == 'broken':
            results += [Result('failed', line, 'could not be run') for line in path.read_text().splitlines()]
    skipped = collections.defaultdict(list)
    for result in results:
        if result.state == 'skipped':
            skipped[result.reason].append(result.name)
    for reason, names in skipped.items():
        more = f' and {len(names) - 3} more' if len(names) > 3 else ''
        print(f'skipped ({reason}): {", ".join(names[:3])}{more}')
    for result in results:
        if result.state == 'failed':
            print(f'failed: {result.name}' + (f' ({result.reason})' if result.reason else ''))
    count = collections.Counter(result.state for result in results)
    print(f'{count["passed"]} passed, {count["failed"]} failed, {count["skipped"]} skipped')
    return 1 if count['failed'] or not count['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
