# SPDX-License-Identifier: BSD-3-Clause
#
# make          build/strata, build/libstrata.a, build/libstrata.so
# make test     every test; `make help` lists the other targets
#
# One rule set for every variant: `make sanitize` and `make fuzz` call make again with
# another BUILD folder and other flags. Sources are found, not listed: a new file in
# src/*/, tests/, bench/ or examples/ is built without a change here.

VERSION := $(shell cat VERSION)
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 10

ifeq ($(origin CC),default)
CC := gcc
endif
AR         ?= ar
OBJCOPY    ?= objcopy
PKG_CONFIG ?= pkg-config
CLANG      ?= clang
CROSS_CC   ?= aarch64-linux-gnu-gcc
CROSS_AR   ?= aarch64-linux-gnu-ar
CROSS_RUN  ?= qemu-aarch64-static

PACKAGES := jansson inih hwloc cairo sqlite3 libdw libedit libmicrohttpd ncursesw
WERROR ?= -Werror
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           -Wpointer-arith $(WERROR)
SANITIZE ?=
ifneq ($(SANITIZE),)
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

STRATA_CPPFLAGS = -D_GNU_SOURCE -Iinclude -Isrc
DEFINES = # of single files
LIB_CPPFLAGS = $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
STRATA_CFLAGS = -std=c17 -O2 -g -fPIC -fvisibility=hidden $(WARNINGS) $(SANITIZE_FLAGS)
LIBS = $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lpfm -lm -lpthread
# What the library needs: docs/design/library.md says why no more.
PUBLIC_LIBS = -linih -lm
# Asked once, and only by the targets that need them.
LIB_CPPFLAGS := $(if $(filter clean uninstall help,$(MAKECMDGOALS)),,$(LIB_CPPFLAGS))
LIBS := $(if $(filter clean uninstall help,$(MAKECMDGOALS)),,$(LIBS))

# `make V=1` shows the commands.
ifeq ($(V),)
Q := @
SAY = @echo
else
SAY = @:
endif

COMPILE = $(CC) $(STRATA_CPPFLAGS) $(DEFINES) $(LIB_CPPFLAGS) $(CPPFLAGS) $(STRATA_CFLAGS) $(CFLAGS) \
          -MMD -MP
LINK = $(CC) $(STRATA_CFLAGS) $(CFLAGS) $(LDFLAGS)

lib_src   := $(filter-out src/cli/%,$(wildcard src/*/*.c))
cli_src   := $(wildcard src/cli/*.c)
test_src  := $(wildcard tests/test_*.c)
fuzz_src  := $(wildcard tests/fuzz_*.c)
bench_src := $(wildcard bench/*.c)
example_src := $(wildcard examples/*.c)

lib_obj := $(lib_src:%.c=$(BUILD)/%.o)
cli_obj := $(cli_src:%.c=$(BUILD)/%.o)
tests   := $(test_src:%.c=$(BUILD)/%)
benches := $(bench_src:%.c=$(BUILD)/%)
examples := $(example_src:%.c=$(BUILD)/%)
cli_tests := $(filter-out tests/cli/lib.sh,$(wildcard tests/cli/*.sh))

.PHONY: all test test-full sanitize cross vm fuzz bench table lint golden examples install \
        uninstall clean help completions
.SECONDARY:
.DELETE_ON_ERROR:

all: $(BUILD)/strata $(BUILD)/libstrata.a $(BUILD)/libstrata.so valgrind

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(SAY) "CC    $<"
	$(Q)$(COMPILE) -c $< -o $@

# Only this is compiled anew for another version; once more for the Valgrind tool.
version_obj := $(patsubst %,$(BUILD)/%/core/version.o,src valgrind/obj/src aarch64/src)
$(version_obj): VERSION
$(version_obj): DEFINES = -DSTRATA_VERSION='"$(VERSION)"'

$(BUILD)/src/cli/cmd_version.o: \
    DEFINES = -DINIH_VERSION='"$(shell $(PKG_CONFIG) --modversion inih)"'

# It takes these files in as they are.
$(BUILD)/src/serve/page.o: $(wildcard src/serve/page.html src/serve/page.css src/serve/page.js)

# Which branches the kernels of `strata inspect` are made of is what they are there for:
# nothing is added to them, and what the compiler made of them is counted.
$(BUILD)/src/inspect/kernels.o: SANITIZE_FLAGS :=

$(BUILD)/src/inspect/kernels.checked: $(BUILD)/src/inspect/kernels.o \
                                      metrics/branches.matrix scripts/kernel-branches
	$(Q)scripts/kernel-branches $< metrics/branches.matrix
	@touch $@

# The program that runs them as another compiler makes them: build/kernels/clang-O3, say.
$(BUILD)/kernels/%: src/inspect/kernels.c src/inspect/kernels.h metrics/branches.matrix \
                    $(BUILD)/src/cli/main.o $(BUILD)/libcli.a $(BUILD)/internal.a
	@mkdir -p $(@D)
	$(SAY) "CC    $< ($*)"
	$(Q)$(subst -O, -O,$*) $(STRATA_CPPFLAGS) -std=c17 -fPIC -c $< -o $@.o
	$(Q)scripts/kernel-branches $@.o metrics/branches.matrix
	$(Q)$(LINK) $(BUILD)/src/cli/main.o $@.o $(BUILD)/libcli.a $(BUILD)/internal.a -o $@ \
	    $(LIBS)

# All of src but src/cli, for the program, the tests and the benchmarks. Archives are made
# anew, so that a file that was removed does not linger.
$(BUILD)/internal.a: $(lib_obj) | $(BUILD)/src/inspect/kernels.checked
	@rm -f $@
	$(SAY) "AR    $@"
	$(Q)$(AR) rcs $@ $^

# The library: of all that, what the functions of src/libstrata.exports need, as one object
# in which every other name is local.
exports := $(shell cat src/libstrata.exports)

$(BUILD)/libstrata.o: $(BUILD)/internal.a src/libstrata.exports
	$(SAY) "LINK  $@"
	$(Q)$(CC) -r -nostdlib $(exports:%=-Wl,-u,%) $< -o $@
	$(Q)$(OBJCOPY) --localize-hidden $@

$(BUILD)/libstrata.a: $(BUILD)/libstrata.o
	@rm -f $@
	$(SAY) "AR    $@"
	$(Q)$(AR) rcs $@ $^

$(BUILD)/libstrata.so: $(BUILD)/libstrata.o
	$(SAY) "LINK  $@"
	$(Q)$(LINK) -shared -Wl,-soname,libstrata.so.0 -Wl,-z,defs $^ -o $@ $(PUBLIC_LIBS)
	@ln -sf libstrata.so $(BUILD)/libstrata.so.0

# All of src/cli but main(): tests take from it what they need.
$(BUILD)/libcli.a: $(filter-out $(BUILD)/src/cli/main.o,$(cli_obj))
	@rm -f $@
	$(SAY) "AR    $@"
	$(Q)$(AR) rcs $@ $^

$(BUILD)/strata: $(BUILD)/src/cli/main.o $(BUILD)/libcli.a $(BUILD)/internal.a
	$(SAY) "LINK  $@"
	$(Q)$(LINK) $^ -o $@ $(LIBS)

$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(BUILD)/libcli.a $(BUILD)/internal.a
	$(SAY) "LINK  $@"
	$(Q)$(LINK) $^ -o $@ -lcmocka $(LIBS)

$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libcli.a $(BUILD)/internal.a
	$(SAY) "LINK  $@"
	$(Q)$(LINK) $^ -o $@ $(LIBS)

$(BUILD)/examples/%: $(BUILD)/examples/%.o $(BUILD)/libstrata.a
	$(SAY) "LINK  $@"
	$(Q)$(LINK) $^ -o $@ $(PUBLIC_LIBS)

examples: $(examples)

# The Valgrind tool, out of Valgrind's tree: its headers and static libraries are Debian's,
# as is the preloaded part of its core. It is freestanding: of strata it has what is so too.
# Where Valgrind is not installed or does not know this processor, it is left out, and
# `strata record` says what to install.

VG_HEADERS ?= /usr/include/valgrind
VG_CORE    ?= /usr/libexec/valgrind
VG_CPU     := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(shell uname -m)))
VG_PLATFORM = $(VG_CPU)-linux
VG_LIBS    := $(firstword $(dir $(wildcard \
                  /usr/lib/*/valgrind/libcoregrind-$(VG_CPU)-linux.a)))
VG_CFLAGS  = -std=gnu17 -O2 -g -fno-stack-protector -fno-strict-aliasing -fno-builtin \
             -fomit-frame-pointer -fno-pie -fno-pic -DVGA_$(VG_CPU)=1 -DVGO_linux=1 \
             -DVGP_$(VG_CPU)_linux=1 -DVGPV_$(VG_CPU)_linux_vanilla=1 \
             -isystem $(VG_HEADERS) $(WARNINGS) -Iinclude -Isrc
VG_LDFLAGS = -static -nodefaultlibs -nostartfiles -nostdlib -no-pie -u _start \
             -Wl,-Ttext-segment=0x58000000 -Wl,--build-id=none

vg_src  := $(wildcard collect/valgrind/*.c src/sim/*.c) src/attrib/blocks.c \
           src/core/version.c
vg_obj  := $(vg_src:%.c=$(BUILD)/valgrind/obj/%.o)
vg_tool := $(BUILD)/valgrind/strata-$(VG_PLATFORM)

.PHONY: valgrind
ifneq ($(and $(VG_LIBS),$(wildcard $(VG_HEADERS)/pub_tool_tooliface.h)),)
valgrind: $(vg_tool)
else
valgrind:
	@echo "left out: the Valgrind tool (install Debian's valgrind to have it)"
endif

$(BUILD)/valgrind/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(SAY) "CC    $< (valgrind)"
	$(Q)$(CC) $(DEFINES) $(VG_CFLAGS) -MMD -MP -c $< -o $@

$(vg_tool): $(vg_obj)
	$(SAY) "LINK  $@"
	$(Q)$(CC) $(VG_LDFLAGS) $^ -Wl,--start-group $(VG_LIBS)libcoregrind-$(VG_PLATFORM).a \
	    $(VG_LIBS)libvex-$(VG_PLATFORM).a -Wl,--end-group \
	    $(VG_LIBS)libgcc-sup-$(VG_PLATFORM).a -lgcc -o $@
	@ln -sf $(VG_CORE)/vgpreload_core-$(VG_PLATFORM).so $(VG_CORE)/default.supp $(@D)

# Tests

test: $(BUILD)/strata $(tests) $(examples) valgrind
	@BUILD=$(BUILD) scripts/run-tests $(tests) $(cli_tests)

# Writes the expected output of the command line tests anew; look at the difference.
golden: $(BUILD)/strata $(tests)
	@BUILD=$(BUILD) STRATA_GOLDEN=write scripts/run-tests $(cli_tests)

sanitize:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined test

test-full:
	@STRATA_FULL=1 $(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory vm
	@$(MAKE) --no-print-directory sanitize
	@$(MAKE) --no-print-directory fuzz

lint: $(BUILD)/strata
	@BUILD=$(BUILD) scripts/lint

# AArch64: the library without its reports, linked statically with tests/cross_main.c and
# run by qemu. Debian has no jansson, inih and hwloc for a foreign processor unless one
# changes the system (dpkg --add-architecture), so the files that include them are left
# out; the archive shows at link time that nothing else needs these.

CROSS_DIRS := core sim machine dataset refs run counting analyze probe host pmu inspect
CROSS_NEEDS_LIBS := ^\#include <(jansson|hwloc|ini|perfmon/.*)\.h>
cross_all = $(wildcard $(CROSS_DIRS:%=src/%/*.c))
cross_src := $(if $(filter cross %cross_main,$(MAKECMDGOALS)),$(shell \
                 grep -LE '$(CROSS_NEEDS_LIBS)' $(cross_all)))
cross_obj := $(cross_src:%.c=$(BUILD)/aarch64/%.o)

$(BUILD)/aarch64/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(SAY) "CC    $< (aarch64)"
	$(Q)$(CROSS_CC) $(STRATA_CPPFLAGS) $(DEFINES) $(STRATA_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/aarch64/internal.a: $(cross_obj)
	@rm -f $@
	$(SAY) "AR    $@"
	$(Q)$(CROSS_AR) rcs $@ $^

$(BUILD)/aarch64/cross_main: $(BUILD)/aarch64/tests/cross_main.o $(BUILD)/aarch64/internal.a
	$(SAY) "LINK  $@"
	$(Q)$(CROSS_CC) -static $^ -o $@ -lm -lpthread

cross: $(BUILD)/aarch64/cross_main
	@echo "left out, for want of a library: $(filter-out $(cross_src),$(cross_all))"
	@$(CROSS_RUN) $(BUILD)/aarch64/cross_main

# Hardware counters for real, on an emulated ARM machine with Debian's kernel; skipped where
# qemu-system-arm is not installed or the kernel cannot be fetched.
vm:
	@BUILD=$(BUILD) TEST_JOBS=1 scripts/run-tests tests/vm/run.sh tests/vm/offline.sh

# The same self-test on this processor.
$(BUILD)/tests/cross_main: $(BUILD)/tests/cross_main.o $(BUILD)/internal.a
	$(SAY) "LINK  $@"
	$(Q)$(LINK) $^ -o $@ $(LIBS)

# Fuzzing: FUZZ_SECONDS for each tests/fuzz_*.c, from the machines/ as a corpus. This needs
# clang, whose own warnings differ from version to version and so are not errors.

fuzzers := $(fuzz_src:tests/%.c=$(BUILD)/tests/%)

$(BUILD)/tests/fuzz_%: $(BUILD)/tests/fuzz_%.o $(BUILD)/internal.a
	$(SAY) "LINK  $@"
	$(Q)$(LINK) -fsanitize=fuzzer $^ -o $@ $(LIBS)

.PHONY: fuzz-run
fuzz-run: $(fuzzers)
	@BUILD=$(BUILD) scripts/run-fuzzers $(FUZZ_SECONDS) $(fuzzers)

fuzz:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=$(CLANG) WERROR= \
	    SANITIZE=fuzzer-no-link,address fuzz-run

# Benchmarks, one after the other: two at once would disturb each other.

bench_programs := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/programs/*.c)) \
                  $(patsubst bench/%.f90,$(BUILD)/bench/%,$(wildcard bench/programs/*.f90))

# What the benchmarks record: as a user would build it, without strata.
$(BUILD)/bench/programs/%: bench/programs/%.c
	@mkdir -p $(@D)
	$(SAY) "CC    $<"
	$(Q)$(CC) -std=c17 -O2 -g $< -o $@ -lm

$(BUILD)/bench/programs/%: bench/programs/%.f90
	@mkdir -p $(@D)
	$(SAY) "FC    $<"
	$(Q)gfortran -O2 -g -J$(@D) $< -o $@

bench: $(benches) $(bench_programs) $(BUILD)/strata valgrind
	@for b in $(benches); do echo "== $$b"; $$b || exit 1; done

table: $(BUILD)/bench/table
	@$(BUILD)/bench/table

# Installation

bindir = $(DESTDIR)$(PREFIX)/bin
libdir = $(DESTDIR)$(PREFIX)/lib
libexecdir = $(DESTDIR)$(PREFIX)/libexec/strata/valgrind
incdir = $(DESTDIR)$(PREFIX)/include/strata
mandir = $(DESTDIR)$(PREFIX)/share/man/man1
datadir = $(DESTDIR)$(PREFIX)/share/strata
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

completions: $(BUILD)/strata
	@mkdir -p $(BUILD)/completions
	@for s in bash zsh fish; do \
	    $(BUILD)/strata completion $$s >$(BUILD)/completions/$$s || exit 1; done

$(BUILD)/strata.pc: Makefile VERSION
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' \
	    'includedir=$${prefix}/include' '' 'Name: strata' \
	    'Description: measures memory hierarchies' 'Version: $(VERSION)' \
	    'Libs: -L$${libdir} -lstrata' 'Libs.private: $(PUBLIC_LIBS)' \
	    'Cflags: -I$${includedir}' >$@

install: all completions $(BUILD)/strata.pc
	install -d $(bindir) $(libdir)/pkgconfig $(incdir) $(mandir) $(datadir)/machines \
	    $(datadir)/metrics \
	    $(bashdir) $(zshdir) $(fishdir)
	install -m 755 $(BUILD)/strata $(bindir)/strata
	if [ -x $(vg_tool) ]; then \
	    install -d $(libexecdir) && install -m 755 $(vg_tool) $(libexecdir) && \
	    ln -sf $(VG_CORE)/vgpreload_core-$(VG_PLATFORM).so $(VG_CORE)/default.supp \
	        $(libexecdir); fi
	install -m 644 $(BUILD)/libstrata.a $(libdir)/libstrata.a
	install -m 755 $(BUILD)/libstrata.so $(libdir)/libstrata.so.0
	ln -sf libstrata.so.0 $(libdir)/libstrata.so
	install -m 644 include/strata/*.h $(incdir)
	install -m 644 docs/man/*.1 $(mandir)
	for m in $(wildcard machines/*.machine); do \
	    install -m 644 $$m $(datadir)/machines || exit 1; done
	install -m 644 metrics/*.events metrics/*.metrics metrics/*.table \
	    metrics/*.matrix $(datadir)/metrics
	install -m 644 $(BUILD)/completions/bash $(bashdir)/strata
	install -m 644 $(BUILD)/completions/zsh $(zshdir)/_strata
	install -m 644 $(BUILD)/completions/fish $(fishdir)/strata.fish
	install -m 644 $(BUILD)/strata.pc $(libdir)/pkgconfig/strata.pc

uninstall:
	rm -f $(bindir)/strata $(libdir)/libstrata.a $(libdir)/libstrata.so \
	    $(libdir)/libstrata.so.0 $(libdir)/pkgconfig/strata.pc \
	    $(patsubst docs/man/%,$(mandir)/%,$(wildcard docs/man/*.1)) \
	    $(bashdir)/strata $(zshdir)/_strata $(fishdir)/strata.fish
	rm -rf $(incdir) $(datadir) $(DESTDIR)$(PREFIX)/libexec/strata

clean:
	rm -rf $(BUILD)

help:
	@echo 'all (the default)  build/strata and the library'
	@echo 'test               build and run every test'
	@echo 'test-full          the same with STRATA_FULL=1, then sanitize and fuzz'
	@echo 'sanitize           the tests with ASan and UBSan'
	@echo 'lint               format, includes, man pages, static checks'
	@echo 'cross              compile for AArch64, run under qemu'
	@echo 'vm                 count on an emulated ARM machine with a PMU'
	@echo 'fuzz               FUZZ_SECONDS=$(FUZZ_SECONDS) for each fuzz target'
	@echo 'bench, table       the benchmarks; the table of simulated processors'
	@echo 'golden             write the expected output of tests/cli anew'
	@echo 'install, uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'clean              remove $(BUILD)'
	@echo 'V=1 shows the commands; BUILD=$(BUILD) is where everything goes'

-include $(wildcard $(BUILD)/src/*/*.d $(BUILD)/tests/*.d $(BUILD)/bench/*.d \
                    $(BUILD)/examples/*.d $(BUILD)/valgrind/obj/*/*/*.d \
                    $(BUILD)/aarch64/src/*/*.d \
                    $(BUILD)/aarch64/tests/*.d)
