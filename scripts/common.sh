# Sourced by the other scripts: where things are, and how we speak to the person in front.
# shellcheck shell=bash
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$top" || exit 1
mkdir -p build/log

# The system's own Python, whatever "python3" on PATH is: Debian's packages are for that one.
: "${PYTHON:=/usr/bin/python3}"

# The system's build tools too, if they are there: another Meson on PATH may belong to another Python.
for tool in meson ninja; do
    if [ -x /usr/bin/$tool ]; then declare "$tool=/usr/bin/$tool"; else declare "$tool=$tool"; fi
done
# shellcheck disable=SC2154
export NINJA=$ninja

say() { printf '==> %s\n' "$*"; }
die() {
    printf 'shmem: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '    %s\n' "$@" >&2
    exit 1
}

# The Python that runs the tests: with torch where it had to come from outside Debian.
test_python() {
    if [ -x build/venv/bin/python ]; then echo "$top/build/venv/bin/python"; else echo "$PYTHON"; fi
}
