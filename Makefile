# A thin front: the scripts say what they do, and do nothing when there is nothing to do.
SHELL := /bin/bash
PREFIX ?= /usr/local
export PYTHON WITHOUT PREFIX DESTDIR

.PHONY: build demo check bench install aarch64 clean format help
build:
	@scripts/setup build
	@scripts/build main
	@echo 'built; next: . build/env'
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
aarch64:
	@scripts/aarch64
install:
	@scripts/setup build
	@scripts/build install
help:
	@echo 'make          builds; then ". build/env" puts tools, library and Python package on the paths of a shell'
	@echo 'make demo     builds and trains a small classifier on four processes'
	@echo 'make check    builds every configuration and runs every test'
	@echo 'make bench    measures, beside the limits of the machine, Open MPI and Boost.Interprocess'
	@echo 'make aarch64  builds for aarch64, and runs the tests in C in an emulated machine'
	@echo 'make install  installs under PREFIX=$(PREFIX)'
	@echo 'make format, make clean'
clean:
	rm -rf build
format:
	@command -v clang-format >/dev/null || { echo "clang-format is missing (Debian: apt-get install clang-format)"; exit 1; }
	git ls-files '*.c' '*.h' | xargs clang-format -i
