#!/usr/bin/env python3
"""include_rule.py [TOP]: each layer includes only those below it. Names every #include line that does not.

A folder under src/ is a layer. A file may include the headers of its own layer and of the layers that the
table gives it, the public headers where the table says so, and the system's headers. A header with
"_internal" in its name stays inside its folder, and the headers of a back end (a folder inside a layer)
stay inside that folder, unless the layer itself includes them.
"""
import pathlib
import re
import sys

LAYERS = {
    'base': set(),
    'sync': {'base'},
    'hal': {'base'},
    'map': {'base', 'sync', 'hal'},
    'pool': {'base', 'sync', 'hal', 'map'},
    'queue': {'base', 'sync', 'hal', 'map'},
    'group': {'base', 'sync', 'hal', 'map', 'pool'},
    'device': {'base', 'sync', 'hal', 'map'},
    'job': {'base', 'sync', 'hal', 'map', 'pool', 'queue', 'device'},
    'comm': {'base', 'sync', 'hal', 'map', 'pool', 'queue', 'device', 'job'},
    'api': {'base', 'sync', 'hal', 'map', 'pool', 'queue', 'group', 'device', 'job', 'comm'},
}
# The public headers are the interface's own; of the layers below it only job may know them, for constants.
MAY_SEE_PUBLIC = {'api', 'job', 'comm'}
# These know the public headers only.
OUTSIDE = ['include', 'tools', 'python/native', 'examples']
SUFFIXES = {'.c', '.h', '.in', '.inc', '.cc', '.cpp'}
INCLUDE = re.compile(r'^\s*#\s*include(?:_next)?\s*([<"])([^>"]+)[>"]')


def sources(folder):
    return sorted(p for p in folder.rglob('*') if p.suffix in SUFFIXES and p.is_file())


def includes(path):
    for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) == '"', found.group(2)


def resolve(path, top, name):
    """The file of ours that an include means, or None when it is the system's (or generated)."""
    for base in (path.parent, top / 'src', top / 'include'):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(top):
            return candidate
    return None


def layer_of(path, top):
    parts = path.relative_to(top).parts
    return parts[1] if parts[0] == 'src' and len(parts) > 2 else None


def check_layer_file(path, top, layer, offences):
    allowed = LAYERS[layer] | {layer}
    for number, _, name in includes(path):
        target = resolve(path, top, name)
        where = f'{path.relative_to(top)}:{number}'
        if target is None:
            if re.match(r'(\.\./)*(shmem|pshmem|shmemx)\b', name) and layer not in MAY_SEE_PUBLIC:
                offences.append(f'{where}: {layer} must not include the public header {name}')
            continue
        if target.is_relative_to(top / 'include'):
            if layer not in MAY_SEE_PUBLIC:
                offences.append(f'{where}: {layer} must not include the public header {name}')
            continue
        other = layer_of(target, top)
        if other is None or other not in allowed:
            offences.append(f'{where}: {layer} must not include {name} ({"of " + other if other else "outside the layers"}); '
                            f'it may include: {" ".join(sorted(LAYERS[layer])) or "the C library only"}')
            continue
        if '_internal' in target.name and other != layer:
            offences.append(f'{where}: {name} is for {other} alone')
        depth = target.relative_to(top / 'src' / other).parts
        if len(depth) > 1 and other != layer:
            offences.append(f'{where}: {name} belongs to the back end {other}/{depth[0]}')


def check_outside_file(path, top, offences):
    folder = path.parent
    for number, quoted, name in includes(path):
        target = resolve(path, top, name)
        if target is None or target.is_relative_to(top / 'include'):
            continue
        # Files may be split over headers of their own folder.
        if quoted and target.is_relative_to(folder) or any(target.is_relative_to(top / o) and path.is_relative_to(top / o) for o in OUTSIDE):
            continue
        offences.append(f'{path.relative_to(top)}:{number}: {name} is not a public header (include/)')


def main():
    top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    offences, files = [], 0
    for folder in sorted(p for p in (top / 'src').iterdir() if p.is_dir()):
        if folder.name not in LAYERS:
            offences.append(f'src/{folder.name}: a layer without a row in {pathlib.Path(__file__).name}')
            continue
        for path in sources(folder):
            files += 1
            check_layer_file(path, top, folder.name, offences)
    for name in OUTSIDE:
        for path in sources(top / name):
            files += 1
            check_outside_file(path, top, offences)
    for line in offences:
        print(line)
    print(f'{files} files, {len(offences)} offences')
    return 1 if offences or not files else 0


if __name__ == '__main__':
    sys.exit(main())
