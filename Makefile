# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The front door. Modules are built by kbuild (scripts/build-modules.sh), user
# space by CMake; this file only calls them. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Where tests run: stock (Debian's KERNEL), debug, uml or uml-debug.
MACHINE ?= stock
# Which of Debian's kernels: 6.12 or 6.1. KVER=$(uname -r) builds for a kernel of your own.
KERNEL ?= 6.12
KVER ?= $(if $(filter-out stock,$(MACHINE)),$(MACHINE),$(shell scripts/kernel.sh --version $(KERNEL)))

USER_BUILD := build/user
PREFIX ?= /usr/local
INSTALL_MOD_PATH ?=
FUZZ_SECONDS ?= 600
export KERNEL MACHINE ACCEL

# With ccache, where it is installed: the same source in another clone is not compiled again.
export CCACHE_DIR ?= $(or $(KDP_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kdp)/ccache
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
launcher := $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

help: ## this list
	@echo 'kdp: NVMe over RDMA, kernel-direct and userspace-direct. Targets:'
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 33
	@echo 'Variables: MACHINE=stock|debug|uml|uml-debug, KERNEL=6.12|6.1, KVER=<release>, ACCEL=auto|kvm|tcg|icount, FUZZ_SECONDS, PREFIX, DESTDIR, INSTALL_MOD_PATH'

deps: ## install the Debian packages that are missing
	@scripts/deps.sh

all: modules tools ## build everything

modules: ## kernel modules for KERNEL (or KVER=$(uname -r)), into build/modules-KVER
	@scripts/build-modules.sh '$(KVER)'

$(USER_BUILD)/CMakeCache.txt:
	@cmake -S . -B $(USER_BUILD) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX='$(PREFIX)' $(launcher)

lib: $(USER_BUILD)/CMakeCache.txt ## the library libkdp, shared and static, into build/user
	@cmake --build $(USER_BUILD) --target kdp kdp_shared -j$$(nproc)

tools: $(USER_BUILD)/CMakeCache.txt ## library, programs and unit tests, into build/user
	@cmake --build $(USER_BUILD) -j$$(nproc)

selftests: tools ## the selftests' helper programs, into build/selftests
	@$(MAKE) -C tests/selftests

demo: ## in a VM: a filesystem on a remote namespace, and the paths side by side
	@tests/vm/demo.sh

picture: ## make demo, and from its report the picture in README.md (needs Debian's chromium)
	@tests/vm/demo.sh && scripts/screenshot.sh report.html Documentation/images/report.png

check: ## units, and every selftest on both stock kernels; last line "N passed, N failed"
	@tests/check.sh deps build user tree modules vm

check-debug: ## every selftest on the checking kernels (debug and uml-debug)
	@tests/check.sh deps build debug

check-faults: ## the long faults, in two machines and in one: killed targets, cut wires (a quarter of an hour)
	@tests/check.sh deps build faults

check-scale: ## 8 controllers with 4 namespaces each; a thousand connects with flat memory
	@tests/check.sh deps build scale

check-watchers: tools selftests ## plant faults in a copy and see each caught
	@tests/watchers/check.sh

bench-host: ## time per I/O beside the in-tree nvme-rdma driver, and the bound of both (a quarter of an hour)
	@tests/bench/host.sh

bench-char: ## the char device by each way in, with and without a region, beside nvme-rdma's and verbs (twenty minutes)
	@tests/bench/char.sh

bench-copy: ## a file of 512 MB to a namespace by kdp copy and by dd: CPU time per MB (some minutes)
	@tests/bench/copy.sh

bench-modes: ## latency, CPU time and sleeps per I/O of each way of taking completions (some minutes)
	@tests/bench/modes.sh

bench-instruments: ## kdp bench beside fio and perftest: do they say the same? (some minutes)
	@tests/bench/instruments.sh

bench-peers: ## kdp's paths beside nvme-rdma, nvme-tcp and RNBD over RTRS, in one run (some minutes)
	@tests/bench/experiment.sh peers

experiment-registration: ## what registering memory costs: per I/O, from a pool, once (some minutes)
	@tests/bench/experiment.sh registration

experiment-polling: ## latency and CPU time of polling and of events (some minutes)
	@tests/bench/experiment.sh polling

experiment-lossy: ## a link that loses, delays or marks packets, RDMA and TCP (some minutes)
	@tests/bench/experiment.sh lossy

experiment-crash: ## what is left of applications that are killed, and for how long (some minutes)
	@tests/bench/experiment.sh crash

experiment-claims: ## what is said of RDMA beside TCP, measured for each path (some minutes)
	@tests/bench/experiment.sh claims

debug-kernel: deps ## our kernel for QEMU that checks every access and lock (a quarter of an hour)
	@scripts/build-kernel.sh debug

uml: deps ## User-Mode Linux, plain and checking: the fast machine
	@scripts/build-kernel.sh uml
	@scripts/build-kernel.sh uml-debug

lint: tools ## clang-format and clang-tidy over the user side (minutes)
	@scripts/lint.sh $(USER_BUILD)

doc: $(USER_BUILD)/CMakeCache.txt ## the reference of libkdp in HTML, into build/doc/html
	@scripts/doc.sh $(USER_BUILD) build/doc

check-library: tools ## libkdp as others have it: installed, found, linked, run outside the tree (a minute)
	@tests/library/check.sh $(USER_BUILD)

fuzz-wire: ## fuzz the wire format and other parsers for FUZZ_SECONDS (600) with clang
	@tests/fuzz/run.sh build/fuzz '$(FUZZ_SECONDS)'

vm: deps ## a shell in the VM (Ctrl-D leaves, Ctrl-A X kills)
	@tests/vm/run --shell

install: tools modules ## programs under PREFIX, modules for KVER, depmod
	@cmake --install $(USER_BUILD) --prefix '$(PREFIX)'
	@scripts/build-modules.sh '$(KVER)' --install '$(DESTDIR)$(INSTALL_MOD_PATH)'

clean: ## remove build/
	@rm -rf build

.PHONY: help deps all modules lib tools selftests demo picture check check-debug check-faults check-scale \
	check-watchers bench-host bench-char bench-copy bench-modes bench-instruments bench-peers \
	experiment-registration experiment-polling experiment-lossy experiment-crash experiment-claims debug-kernel \
	uml lint doc check-library fuzz-wire vm install clean
