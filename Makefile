# Tracekit in C. GNU make, not recursive. `make help` lists what there is to type.
#
#   VARIANT=release|asan|fault|fuzz   which build (build/<variant>/)      V=1   show the commands
#   PREFIX DESTDIR                    where `make install` puts things    CI=true   warnings are errors

VERSION := 0.1.0
VARIANT ?= release
B := build/$(VARIANT)
BIN := $(if $(filter release,$(VARIANT)),build/bin,$(B)/bin)

PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config
Q := $(if $(V),,@)
comma := ,
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)';)
MAKEFLAGS += --no-print-directory
export LC_ALL := C
export TZ := UTC

.DEFAULT_GOAL := all
.SECONDEXPANSION:
.DELETE_ON_ERROR:
.SUFFIXES:
.PRECIOUS: $(B)/%.o

# --- flags --------------------------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
  -Wcast-qual -Wcast-align -Wwrite-strings -Wformat=2 -Wvla -Wundef -Wpointer-arith -Wswitch-enum -Wimplicit-fallthrough \
  -Wnull-dereference -Wdouble-promotion -Werror=date-time -Werror=implicit-function-declaration
WARNINGS += $(if $(filter true 1,$(CI)),$(if $(filter fuzz,$(VARIANT)),,-Werror))

# A flag joins only if this compiler takes it.
probe = $(shell echo 'int main(void){return 0;}' | $(CC) -Werror $(1) -x c - -o /dev/null 2>/dev/null && echo '$(1)')
HARDENING := $(call probe,-fstack-protector-strong) $(call probe,-fstack-clash-protection) $(call probe,-fcf-protection) \
  $(call probe,-ftrivial-auto-var-init=zero) $(call probe,-fno-strict-overflow)
LD_HARDENING := $(call probe,-Wl$(comma)-z$(comma)relro) $(call probe,-Wl$(comma)-z$(comma)now) \
  $(call probe,-Wl$(comma)-z$(comma)noexecstack)

OPT_release := -O2 -g -D_FORTIFY_SOURCE=2 -fPIE
OPT_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -fPIE
OPT_fault := -O1 -g -fPIE
OPT_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fPIE

CFLAGS ?=
ALL_CFLAGS := -std=c11 -D_POSIX_C_SOURCE=200809L -I. $(OPT_$(VARIANT)) $(WARNINGS) $(HARDENING) \
  -ffile-prefix-map=$(CURDIR)=. -DTRACEKIT_VERSION='"$(VERSION)"' -MMD -MP $(CFLAGS)
LDFLAGS ?=
ALL_LDFLAGS := $(filter -fsanitize=%,$(OPT_$(VARIANT))) $(LD_HARDENING) $(LDFLAGS)
PIE := -pie
STATIC := $(if $(filter asan fuzz,$(VARIANT)),-pie,-static-pie)

libs = $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))
LIBS_EVIDENCE := $(call libs,libsodium libpcre2-8 zlib,-lsodium -lpcre2-8 -lz) -lm
LIBS_STORE := $(call libs,sqlite3,-lsqlite3)
LIBS_YAML := $(call libs,yaml-0.1,-lyaml)
LIBS_CMOCKA := $(call libs,cmocka,-lcmocka)

# --- sources ------------------------------------------------------------------------------------------------------

sources = $(sort $(wildcard $(1)/*.c))
objects = $(patsubst %.c,$(B)/%.o,$(1))

LIB_DIRS := evidence wire policy harness signer cli hook
lib_sources = $(filter-out $(1)/main.c,$(call sources,$(1)))
LIB = $(foreach d,$(1),$(B)/lib$(d).a)

$(foreach d,$(LIB_DIRS),$(eval $(B)/lib$(d).a: $(call objects,$(call lib_sources,$(d)))))
ALL_LIBS := $(call LIB,cli hook signer harness policy wire evidence)

# The hook links nothing but these two files of wire/ and libc.
HOOK_OBJECTS := $(call objects,$(call sources,hook) wire/frame.c wire/peer.c)
SIGNER_OBJECTS := $(call objects,signer/main.c)
CLI_OBJECTS := $(call objects,cli/main.c $(filter-out verify/main.c,$(call sources,verify)))
VERIFY_OBJECTS := $(call objects,$(call sources,verify))

PROGRAMS := tracekit tracekit-hook tracekit-signer tracekit-verify

all: $(addprefix $(BIN)/,$(PROGRAMS)) ## build the four programs into build/bin
	@:

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c $< -o $@

# The event schema is embedded as it stands (evidence/schema.c).
$(B)/evidence/schema.o: evidence/schema/tracekit.event.v2.json

$(B)/lib%.a:
	$(call say,AR,$@)rm -f $@ && $(AR) rcD $@ $^

$(BIN)/tracekit-hook: $(HOOK_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(STATIC) $(ALL_LDFLAGS) $^ -o $@

$(BIN)/tracekit-signer: $(SIGNER_OBJECTS) $(call LIB,signer harness policy wire evidence)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(PIE) $(ALL_LDFLAGS) $^ $(LIBS_STORE) $(LIBS_YAML) $(LIBS_EVIDENCE) -o $@

$(BIN)/tracekit: $(CLI_OBJECTS) $(call LIB,cli harness policy wire evidence)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(PIE) $(ALL_LDFLAGS) $^ $(LIBS_EVIDENCE) -o $@

$(BIN)/tracekit-verify: $(VERIFY_OBJECTS) $(call LIB,evidence)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(STATIC) $(ALL_LDFLAGS) $^ $(LIBS_EVIDENCE) -o $@

# `make tracekit-verify` and its like build one program.
.PHONY: $(PROGRAMS)
$(PROGRAMS): %: $(BIN)/%

# --- test programs ------------------------------------------------------------------------------------------------

# tests/unit/test_NAME.c and each file of tests/tools with a main is a program, tests/tools/NAME_shim.c a library for
# LD_PRELOAD. What else lies there, they share.
UNIT_NAMES := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
TOOL_NAMES := $(patsubst tests/tools/%.c,%,$(sort $(shell grep -ls '^int main\>' $(wildcard tests/tools/*.c) /dev/null)))
SHIM_NAMES := $(patsubst tests/tools/%.c,%,$(sort $(wildcard tests/tools/*_shim.c)))
SHARED := $(filter-out $(UNIT_NAMES:%=tests/unit/%.c) $(TOOL_NAMES:%=tests/tools/%.c) $(SHIM_NAMES:%=tests/tools/%.c), \
  $(call sources,tests/unit) $(call sources,tests/tools))
TEST_LIBS := $(B)/libtests.a $(ALL_LIBS)
UNIT := $(UNIT_NAMES:%=$(B)/unit/%)
TOOLS := $(TOOL_NAMES:%=$(B)/tools/%)

$(B)/libtests.a: $(call objects,$(SHARED))

$(B)/unit/%: $(B)/tests/unit/%.o $(TEST_LIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(PIE) $(ALL_LDFLAGS) $^ $(LIBS_STORE) $(LIBS_YAML) $(LIBS_EVIDENCE) $(LIBS_CMOCKA) -o $@

$(B)/tools/%: $(B)/tests/tools/%.o $(TEST_LIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(PIE) $(ALL_LDFLAGS) $^ $(LIBS_STORE) $(LIBS_YAML) $(LIBS_EVIDENCE) -o $@

# tests/fuzz/fuzz_NAME.c: with libFuzzer in the variant fuzz, else with a main that replays its corpus.
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ := $(FUZZ_NAMES:%=$(B)/fuzz/%)
FUZZ_MAIN := $(if $(filter fuzz,$(VARIANT)),,$(B)/tests/fuzz/replay.o)
FUZZ_LDFLAGS := $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer)

$(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_MAIN) $(TEST_LIBS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(PIE) $(ALL_LDFLAGS) $(FUZZ_LDFLAGS) $^ $(LIBS_STORE) $(LIBS_YAML) $(LIBS_EVIDENCE) -o $@

$(B)/tools/%.so: tests/tools/%.c
	@mkdir -p $(@D)
	$(call say,SHIM,$@)$(CC) -std=c11 -O2 $(WARNINGS) -shared -fPIC $< -o $@

unit: $(UNIT)
	@:
fuzz-programs: $(FUZZ)
	@:
tools: $(TOOLS) $(SHIM_NAMES:%=$(B)/tools/%.so)
	@:

# --- measuring ----------------------------------------------------------------------------------------------------

# Each file of bench/ with a main is a program; what else lies there, they share. One is as static as the hook.
BENCH_NAMES := $(patsubst bench/%.c,%,$(sort $(shell grep -ls '^int main\>' $(wildcard bench/*.c) /dev/null)))
BENCH_SHARED := $(filter-out $(BENCH_NAMES:%=bench/%.c),$(call sources,bench))
BENCH := $(BENCH_NAMES:%=$(B)/bench/%)

$(B)/libbench.a: $(call objects,$(BENCH_SHARED))

$(B)/bench/noop: $(B)/bench/noop.o
	$(call say,LINK,$@)$(CC) $(STATIC) $(ALL_LDFLAGS) $^ -o $@

$(B)/bench/%: $(B)/bench/%.o $(B)/libbench.a $(ALL_LIBS)
	$(call say,LINK,$@)$(CC) $(PIE) $(ALL_LDFLAGS) $^ $(LIBS_STORE) $(LIBS_YAML) $(LIBS_EVIDENCE) -o $@

bench-programs: $(BENCH)
	@:

# --- checks -------------------------------------------------------------------------------------------------------

# Two jobs, unless the person who typed make said how many.
SUB = $(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j2)
DEPS := packaging/deps.sh
IN_PLACE = TRACEKIT_BIN=$(CURDIR)/build/bin TRACEKIT_TOOLS=$(CURDIR)/build/release/tools
FUZZ_SECONDS ?= 60
FUZZ_CC ?= $(firstword $(shell command -v clang-14 clang))

RUN_UNIT := $(UNIT_NAMES:%=build/release/unit/%)
RUN_ASAN := $(UNIT_NAMES:%=build/asan/unit/%)
RUN_FUZZ := $(FUZZ_NAMES:%=build/asan/fuzz/%)
RUN_INTEGRATION := $(sort $(wildcard tests/integration/[0-9]*.sh))

check: ## all tests: unit, again with sanitizers, fuzz corpora, integration; installs what it needs
	$(Q)$(DEPS) build check
	$(Q)$(SUB) all unit tools
	$(Q)$(SUB) VARIANT=asan unit fuzz-programs
	$(Q)$(IN_PLACE) tests/run.sh 'unit tests:' $(RUN_UNIT) 'unit tests with sanitizers:' $(RUN_ASAN) \
	  'fuzz corpora with sanitizers:' $(RUN_FUZZ) 'integration:' $(RUN_INTEGRATION)

check-unit: ## the unit tests only
	$(Q)$(SUB) unit
	$(Q)tests/run.sh 'unit tests:' $(RUN_UNIT)

check-asan: ## the unit tests and the fuzz corpora, with address and undefined behaviour sanitizers
	$(Q)$(SUB) VARIANT=asan unit fuzz-programs
	$(Q)tests/run.sh 'unit tests with sanitizers:' $(RUN_ASAN) 'fuzz corpora with sanitizers:' $(RUN_FUZZ)

check-integration: ## the integration scripts only
	$(Q)$(SUB) all tools
	$(Q)$(IN_PLACE) tests/run.sh 'integration:' $(RUN_INTEGRATION)

mutants: ## takes listed checks out, one at a time, and expects a test to fail
	$(Q)tests/mutants/run.sh

fuzz: ## runs each fuzz target for FUZZ_SECONDS (60) with libFuzzer; needs clang
	$(if $(FUZZ_CC),,$(error make fuzz needs clang; apt-get install clang-14))
	$(Q)$(SUB) VARIANT=fuzz CC=$(FUZZ_CC) fuzz-programs
	$(Q)tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ_NAMES)

lint: ## layering, fences, forbidden calls, names, formatting, and how the programs are linked
	$(Q)$(SUB) all
	$(Q)tests/run.sh 'rules:' tests/lint/lint.sh 'each rule bites:' tests/lint/bites.sh

format: ## lets clang-format 14 write the layout of all C files
	$(Q)tests/lint/lint.sh --write

demo: ## a held call from hook to verified bundle, on this machine; installs what it needs
	$(Q)$(DEPS) build
	$(Q)$(SUB) all tools
	$(Q)$(IN_PLACE) tests/demo/demo.sh

e2e: ## the real Gemini CLI and the Python peer; downloads both
	$(Q)$(DEPS) build check e2e
	$(Q)$(SUB) all tools
	$(Q)$(IN_PLACE) tests/e2e/run.sh

bench: ## measures the budgets of bench/README.md; never fails a build
	$(Q)$(DEPS) build
	$(Q)$(SUB) all tools bench-programs
	$(Q)$(IN_PLACE) bench/run.sh

# --- putting it somewhere -----------------------------------------------------------------------------------------

BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man
MAN_PAGES := $(sort $(wildcard docs/man/*.[1-8]))
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/tracekit
DOCS := README.md CHANGELOG.md LICENSE $(sort $(wildcard docs/*.md))
COMPLETION = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tracekit
man_path = $(MANDIR)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))

# A program that runs meanwhile (the hook does, with every tool call) sees the old file or the new one, never a part.
define put
	@mkdir -p $(dir $(3))
	$(call say,INSTALL,$(3))install -m $(1) $(2) $(3).new && mv -f $(3).new $(3)

endef

install: all ## puts programs, manual pages, documents and completion under $(DESTDIR)$(PREFIX)
	$(foreach p,$(PROGRAMS),$(call put,755,$(BIN)/$(p),$(BINDIR)/$(p)))
	$(foreach m,$(MAN_PAGES),$(call put,644,$(m),$(call man_path,$(m))))
	$(foreach d,$(DOCS),$(call put,644,$(d),$(DOCDIR)/$(notdir $(d))))
	$(call put,644,packaging/tracekit.bash,$(COMPLETION))

uninstall: ## removes what install put there
	rm -f $(PROGRAMS:%=$(BINDIR)/%) $(foreach m,$(MAN_PAGES),$(call man_path,$(m))) \
	  $(foreach d,$(DOCS),$(DOCDIR)/$(notdir $(d))) $(COMPLETION)
	rmdir $(DOCDIR) 2>/dev/null || :

# The commit decides every byte: its tree, its time, no user's umask.
DIST := tracekit-c-$(VERSION)
dist: ## a source archive of the last commit in build/dist, the same bytes wherever it is made
	@mkdir -p build/dist
	$(Q)git -c tar.umask=0022 archive --format=tar --prefix=$(DIST)/ HEAD > build/dist/$(DIST).tar
	$(Q)gzip -n9f build/dist/$(DIST).tar
	@sha256sum build/dist/$(DIST).tar.gz

clean: ## removes build/
	rm -rf build

help: ## this list
	@sed -n '3,/^$$/s/^#//p' Makefile
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' Makefile

.PHONY: all unit fuzz-programs tools bench-programs check check-unit check-asan check-integration mutants fuzz lint format \
  demo e2e bench install uninstall dist clean help

-include $(shell find $(B) -name '*.d' 2>/dev/null)
