# A thin front: the scripts say what they do, and do nothing when there is nothing to do.
SHELL := /bin/bash
PREFIX ?= /usr/local
export PYTHON WITHOUT PREFIX DESTDIR

.PHONY: build demo check bench install clean format
build:
	@scripts/setup build
	@scripts/build main
demo:
	@scripts/setup demo
	@scripts/build main
	@scripts/demo
check:
	@scripts/check
bench:
	@scripts/setup build
	@scripts/setup bench || echo '==> going on without the implementations to compare with'
	@scripts/build main
	@scripts/bench
install:
	@scripts/setup build
	@scripts/build install
clean:
	rm -rf build
format:
	@command -v clang-format >/dev/null || { echo "clang-format is missing (Debian: apt-get install clang-format)"; exit 1; }
	git ls-files '*.c' '*.h' | xargs clang-format -i
