# gotrace: `make help` lists the targets.
#
# Sources are found by wildcard: all .c files in lib and its folders are libgotrace, those in formats
# and cmd and their folders are the program, tests/unit/test_*.c one test program each,
# tests/examples/*.c programs of a user of the library, fuzz/fuzz_*.c one fuzz target each.
# All output is under $(BUILD), objects in folders like those of their sources. V=1 prints the
# commands.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/gotrace
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
DESTDIR ?=

CFLAGS ?= -O2 -g
SANITIZE ?=
FUZZ_SECONDS ?= 30
BUILD ?= build
B := $(BUILD)

ifdef V
Q :=
say = @:
else
Q := @
say = @$(if $(filter -%s,$(firstword -$(MAKEFLAGS))),:,printf '  %-7s %s\n')
MAKEFLAGS += --no-print-directory
endif

# One job for each processor, unless -j is given. Several goals (make deps check) run one after the
# other, because one may need what another installs.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS))$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

# The version is defined in the header only.
version_part = $(shell sed -n 's/^.define GOTRACE_VERSION_$(1) //p' lib/gotrace_base.h)
MAJOR := $(call version_part,MAJOR)
VERSION := $(MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)
SONAME := libgotrace.so.$(MAJOR)

# ---- flags -------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Werror=switch
LANGUAGE := -std=c11 -D_GNU_SOURCE -ffp-contract=off
HARDENING := -fstack-protector-strong
LINKING := -Wl,-z,relro,-z,now
ifdef SANITIZE
# No fortified libc, which hides accesses from the sanitizers. Their runtime is linked to programs
# only, so a library may have undefined symbols.
HARDENING += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LINKING += -fsanitize=$(SANITIZE)
else
# A fortified libc requires optimization.
HARDENING += $(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
LINKING_SO := -Wl,-z,defs
endif

override ALL_CFLAGS = $(LANGUAGE) $(CPPFLAGS) $(WARNINGS) $(HARDENING) $(CFLAGS)
LIB_CFLAGS := -fPIC -fvisibility=hidden -fno-semantic-interposition
# An #include line has the path from lib/ (the public headers and, in lib and its tests, all others)
# or from the top of the tree (formats/..., cmd/...).
LIB_CFLAGS += -Ilib
PROGRAM_CFLAGS := -fPIE -Ilib -I.
# The names of functions in recorded programs: elfutils, if it is installed. Found out when it is
# first needed, because `make deps check` installs it.
LIBDW = $(eval LIBDW := $(shell pkg-config --exists libdw 2>/dev/null && echo libdw))$(LIBDW)
# As they are in the source, also those of C++ and Rust: libiberty, likewise.
LIBIBERTY = $(eval LIBIBERTY := $(if $(LIBDW),$(shell echo '\#include <libiberty/demangle.h>' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo -liberty)))$(LIBIBERTY)
LIB_LIBS = -lzstd -lz $(if $(LIBDW),-ldw $(LIBIBERTY))
PROGRAM_LIBS = -ljansson -lcbor -lpcre2-8 -lnettle $(LIB_LIBS) -lm
CHECK_LIBS := -lcheck_pic -lsubunit -lrt -lm -lpthread

# ---- sources and targets -----------------------------------------------------------------------

object = $(patsubst %.c,$(B)/obj/%.o,$(1))
# $(call sources,FOLDER): the .c files in the folder and its subfolders.
sources = $(wildcard $(1)/*.c) $(foreach folder,$(wildcard $(1)/*/),$(call sources,$(folder:/=)))
LIB_SRC := $(call sources,lib)
FORMATS_SRC := $(call sources,formats)
# cmd/preload is the library that `gotrace record` loads into a program.
PRELOAD_SRC := $(wildcard cmd/preload/*.c)
CMD_SRC := $(filter-out $(PRELOAD_SRC),$(call sources,cmd))
UNIT_SRC := $(wildcard tests/unit/*.c)
FUZZ_SRC := $(wildcard fuzz/*.c)
EXAMPLE_SRC := $(wildcard tests/examples/*.c)
MAN := $(wildcard man/*.[1-8])
HEADERS := lib/gotrace.h lib/gotrace_base.h lib/gotrace_events.h lib/gotrace_rules.h \
	lib/gotrace_experimental.h lib/gotrace_record.h lib/gotrace_symbols.h
RECORD_PICTURE := man/record.png
# The examples in the manual pages; the others generate parts of the documentation.
INSTALLED_EXAMPLES := $(patsubst %,tests/examples/%.c,running folded hello fibers scheduler sampling) \
	$(wildcard tests/examples/*.script tests/examples/*.py tests/examples/*.rs)

LIB_OBJ := $(call object,$(LIB_SRC))
FORMATS_OBJ := $(call object,$(FORMATS_SRC))
CMD_OBJ := $(call object,$(CMD_SRC))
PRELOAD_OBJ := $(call object,$(PRELOAD_SRC))
UNIT_OBJ := $(call object,$(UNIT_SRC))
FUZZ_OBJ := $(call object,$(FUZZ_SRC))
EXAMPLE_OBJ := $(call object,$(EXAMPLE_SRC))

UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
EXAMPLES := $(patsubst tests/examples/%.c,$(B)/examples/%,$(EXAMPLE_SRC))
UNIT_HELPERS := $(call object,$(filter-out tests/unit/test_%,$(UNIT_SRC)))
# Every fuzz target is also a plain program that replays files: it is linked with the driver.
FUZZ_TARGETS := $(patsubst fuzz/%.c,%,$(wildcard fuzz/fuzz_*.c))
FUZZ_HELPERS := $(call object,$(filter-out fuzz/fuzz_% fuzz/driver.c fuzz/mutator%,$(FUZZ_SRC)))
# Targets whose input is not a trace are fuzzed without the mutator for traces.
FUZZ_BYTES := script source recover expression ring view_api
FUZZ_MUTATOR = $(call object,fuzz/mutator.c fuzz/mutator_libfuzzer.c)
FUZZ_REPLAYS := $(addprefix $(B)/fuzz/replay_,$(FUZZ_TARGETS:fuzz_%=%))

.PHONY: all
all: $(B)/gotrace $(B)/libgotrace.so $(B)/libgotrace.a $(B)/libgotrace-preload.so ## build the program and the library (the default)

.SUFFIXES:
.DELETE_ON_ERROR:

# ---- compiling ---------------------------------------------------------------------------------

# Changed flags or another compiler: everything is rebuilt.
FLAGS_NOW := $(CC) $(ALL_CFLAGS) $(LINKING) $(LDFLAGS)
$(shell mkdir -p $(B); echo '$(FLAGS_NOW)' | cmp -s - $(B)/.flags || echo '$(FLAGS_NOW)' >$(B)/.flags)

# Changes if elfutils or libiberty is installed or removed.
$(B)/.libdw: FORCE
	@echo '$(LIBDW) $(LIBIBERTY)' | cmp -s - $@ || echo '$(LIBDW) $(LIBIBERTY)' >$@

# Prints what to do, once, if a required library is not installed.
$(B)/.needs: $(B)/.flags
	@printf '#include <zstd.h>\n#include <zlib.h>\n#include <jansson.h>\n#include <cbor.h>\n#include <nettle/hmac.h>\n#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>\n#include <microhttpd.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 || \
	{ echo 'gotrace needs the headers of libzstd, zlib, jansson, libcbor, libpcre2, nettle and libmicrohttpd: run "make deps" (Debian)' >&2; exit 1; }
	@touch $@

$(LIB_OBJ): KIND_CFLAGS := $(LIB_CFLAGS)
$(call object,lib/record/dwarf.c): KIND_CFLAGS = $(LIB_CFLAGS) $(if $(LIBDW),-DGT_HAVE_LIBDW) $(if $(LIBIBERTY),-DGT_HAVE_LIBIBERTY)
$(call object,lib/record/dwarf.c): $(B)/.libdw
$(FORMATS_OBJ) $(CMD_OBJ): KIND_CFLAGS := $(PROGRAM_CFLAGS)
$(UNIT_OBJ) $(FUZZ_OBJ): KIND_CFLAGS := $(PROGRAM_CFLAGS)
$(EXAMPLE_OBJ): KIND_CFLAGS := -fPIE -Ilib
$(call object,tests/examples/sampling.c): KIND_CFLAGS += -g -fno-omit-frame-pointer

# Files in the program, which an assets.c in their folder includes: their bytes, and their hashes for
# the report's Content-Security-Policy.
PAGE := formats/view/page
BUNDLES := bundle/report.js bundle/timeline.js bundle/timeline.html
ASSETS := formats/html/report.css $(foreach type,html css js,$(wildcard $(PAGE)/*.$(type))) $(BUNDLES)
ASSETS_OBJ := $(foreach folder,$(sort $(dir $(ASSETS))),$(B)/obj/$(folder)assets.o $(B)/pic/$(folder)assets.o)
$(ASSETS_OBJ): $(ASSETS:%=$(B)/assets/%.inc) $(ASSETS:%=$(B)/assets/%.hash)
$(ASSETS_OBJ): override ALL_CFLAGS += -I$(B)/assets

# A report has no files to import: its scripts are all their modules, in the order in which they need
# one another, without import and export.
$(B)/bundle/report.js: $(PAGE)/format.js formats/html/report.js
$(B)/bundle/timeline.js: $(filter-out %/panes.js %/view.js,$(foreach name,format stretches *,$(wildcard $(PAGE)/$(name).js))) $(PAGE)/view.js
$(B)/bundle/%.js: Makefile
	@mkdir -p $(@D)
	$(Q)sed -e '/^import .*;$$/d' -e '/^import /,/;$$/d' -e 's/^export //' $(filter %.js,$^) >$@

$(B)/bundle/timeline.html: $(PAGE)/index.html
	@mkdir -p $(@D)
	$(Q)sed -e '1,/<body>/d' -e '/<\/body>/,$$d' $< >$@

define write_bytes
	@mkdir -p $(@D)
	$(Q)od -An -v -tu1 $< | sed 's/\([0-9]\)\( \|$$\)/\1,/g' >$@
endef
define write_hash
	@mkdir -p $(@D)
	$(Q)printf '"sha256-%s"\n' \
		"$$(sha256sum <$< | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64)" >$@
endef
$(B)/assets/%.inc: % ; $(write_bytes)
$(B)/assets/%.hash: % ; $(write_hash)
$(B)/assets/bundle/%.inc: $(B)/bundle/% ; $(write_bytes)
$(B)/assets/bundle/%.hash: $(B)/bundle/% ; $(write_hash)

# It finds its callers by their frames, and runs in programs without a sanitizer.
PRELOAD_FLAGS := $(LANGUAGE) $(CPPFLAGS) $(WARNINGS) -I. -fPIC -fvisibility=hidden \
	-fno-omit-frame-pointer -fno-optimize-sibling-calls -fexceptions $(CFLAGS)
$(PRELOAD_OBJ): $(B)/obj/%.o: %.c $(B)/.flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(PRELOAD_FLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/%.o: %.c $(B)/.flags | $(B)/.needs
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(KIND_CFLAGS) -MMD -MP -c -o $@ $<

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(FORMATS_OBJ) $(CMD_OBJ) $(PRELOAD_OBJ) $(UNIT_OBJ) $(FUZZ_OBJ) $(EXAMPLE_OBJ))

# ---- linking -----------------------------------------------------------------------------------

$(B)/$(SONAME): $(LIB_OBJ) lib/gotrace.map
	$(say) LINK $@
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,lib/gotrace.map \
		-Wl,-Bsymbolic-functions $(LINKING) $(LINKING_SO) $(CFLAGS) $(LDFLAGS) \
		-o $@ $(LIB_OBJ) $(LIB_LIBS)

$(B)/libgotrace.so: $(B)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

$(B)/libgotrace-preload.so: $(PRELOAD_OBJ)
	$(say) LINK $@
	$(Q)$(CC) -shared -Wl,-z,relro,-z,now,-z,defs -static-libgcc $(CFLAGS) $(LDFLAGS) -o $@ $^

# A member is named after the path of its source (read_v1_order.o), so that no two are equal.
$(B)/libgotrace.a: $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -rf $@ $(B)/members && mkdir $(B)/members
	$(Q)$(foreach o,$^,ln $(o) $(B)/members/$(subst /,_,$(o:$(B)/obj/lib/%=%)) &&) \
		$(AR) rcs $@ $(B)/members/*.o && rm -r $(B)/members

# $(call link_program,RUNPATH): link the program, which searches the library there.
link_program = $(CC) -pie $(LINKING) $(CFLAGS) $(LDFLAGS) -o $@ $(CMD_OBJ) $(FORMATS_OBJ) \
	-L$(B) -lgotrace $(PROGRAM_LIBS) $(1)

$(B)/gotrace: $(CMD_OBJ) $(FORMATS_OBJ) $(B)/libgotrace.so
	$(say) LINK $@
	$(Q)$(call link_program,-Wl$(comma)-rpath$(comma)'$$ORIGIN')
comma := ,

# Tests see private headers, so they are linked with the static library, and with all of the
# program but its main.
$(B)/libprogram.a: $(FORMATS_OBJ) $(filter-out $(call object,cmd/main.c),$(CMD_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(UNIT_HELPERS) $(B)/libprogram.a $(B)/libgotrace.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(LINKING) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PROGRAM_LIBS) $(CHECK_LIBS)

# It looks for the names of its own inlined functions.
$(call object,tests/unit/test_symbols.c): KIND_CFLAGS += -g

# The library that makes allocations fail; built without sanitizers.
$(B)/tests/refuse.so: tests/faults/refuse.c
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) $(WARNINGS) -O2 -shared -fPIC -o $@ $<

# The program with allocations that fail, also with ThreadSanitizer.
REFUSED := malloc calloc realloc
$(B)/tests/gotrace-refusing: tests/threads/refuse.c $(CMD_OBJ) $(FORMATS_OBJ) $(B)/libgotrace.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) $(WARNINGS) -pie $(LINKING) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PROGRAM_LIBS) \
		$(foreach function,$(REFUSED),-Wl$(comma)--wrap=$(function))

# The program that measures cost.
$(B)/tests/count: tests/scale/count.c
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LANGUAGE) $(WARNINGS) -O2 -o $@ $<

# Examples are built like a user's program: with the public headers and the shared library.
$(B)/examples/%: $(B)/obj/tests/examples/%.o $(B)/libgotrace.so
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(LINKING) $(CFLAGS) $(LDFLAGS) -o $@ $< -L$(B) -lgotrace \
		-Wl,-rpath,'$$ORIGIN/..'

$(B)/fuzz/replay_%: $(B)/obj/fuzz/fuzz_%.o $(B)/obj/fuzz/driver.o $(FUZZ_HELPERS) \
		$(B)/libprogram.a $(B)/libgotrace.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(LINKING) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PROGRAM_LIBS)

# With AFL the compiler provides the driver instead of libFuzzer, and AFL loads the mutator.
$(B)/fuzz/fuzz_%: $(B)/obj/fuzz/fuzz_%.o $(FUZZ_MUTATOR) $(FUZZ_HELPERS) $(B)/libprogram.a \
		$(B)/libgotrace.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pie $(LINKING) -fsanitize=fuzzer $(CFLAGS) $(LDFLAGS) -o $@ $< \
		$(if $(AFL)$(filter $(FUZZ_BYTES),$*),,$(FUZZ_MUTATOR)) $(FUZZ_HELPERS) \
		$(B)/libprogram.a $(B)/libgotrace.a $(PROGRAM_LIBS)

# Loaded by AFL++.
MUTATOR_SRC := $(FORMATS_SRC) $(foreach folder,gen mutate parts repair,$(call sources,cmd/$(folder)))
MUTATOR_OBJ := $(patsubst %.c,$(B)/pic/%.o,$(MUTATOR_SRC) fuzz/mutator.c fuzz/mutator_afl.c)
$(B)/pic/%.o: %.c $(B)/.flags | $(B)/.needs
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -Ilib -I. -MMD -MP -c -o $@ $<
-include $(MUTATOR_OBJ:.o=.d)

$(B)/fuzz/mutator_afl.so: $(MUTATOR_OBJ) $(B)/libgotrace.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(LINKING) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PROGRAM_LIBS)

.SECONDARY: $(UNIT_OBJ) $(FUZZ_OBJ) $(EXAMPLE_OBJ)

# ---- tests -------------------------------------------------------------------------------------

.PHONY: tests check check-all conformance portability levels bench causes pairs fuzz fuzz-afl coverage codes abi lint
tests: all $(UNIT_TESTS) $(FUZZ_REPLAYS) $(EXAMPLES) $(B)/tests/refuse.so $(B)/tests/count \
		$(B)/tests/gotrace-refusing ## build the test programs

check: tests ## run the tests that need no Go toolchain
	@BUILD=$(B) MAKE="$(MAKE)" tests/run.sh

check-all: tests ## the same; sweeps try every place and every sample instead of some
	@ALL=1 BUILD=$(B) MAKE="$(MAKE)" tests/run.sh

conformance: tests ## compare with Go's own readers (GOTRACE_PEERS, GOTRACE_INSTALL=1)
	@BUILD=$(B) tests/conformance/run.sh

portability: all ## build for s390x and arm64, compare under qemu (GOTRACE_INSTALL=1)
	@BUILD=$(B) tests/portability/run.sh

levels: all ## build with -O0 -O1 -Og -Os -O3 of gcc and clang, compare outputs
	@BUILD=$(B) tests/portability/levels.sh

bench: all ## measure, and compare with the peers that are installed
	@BUILD=$(B) bench/run.sh

causes: all ## measure diagnose: recorded programs with a planted cause (GOTRACE_PEERS)
	@BUILD=$(B) bench/causes.sh

pairs: all ## measure diff: recordings of the same programs (GOTRACE_PEERS)
	@BUILD=$(B) bench/pairs.sh

# libFuzzer is part of clang.
FUZZ_MAKE = $(MAKE) BUILD=build/fuzz CC=clang-14 SANITIZE=fuzzer-no-link,address,undefined
fuzz: ## fuzz each target for FUZZ_SECONDS (30)
	+@$(FUZZ_MAKE) fuzz-targets
	@BUILD=build/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz/run.sh

# AFL++ (Debian: afl++) has its own compiler.
FUZZ_AFL_MAKE = $(MAKE) BUILD=build/afl CC=afl-clang-fast SANITIZE=address AFL=1
fuzz-afl: ## build each target for AFL++, and fuzz it for FUZZ_SECONDS (30)
	@command -v afl-clang-fast >/dev/null || { echo 'fuzz-afl needs AFL++ (Debian: afl++)' >&2; exit 1; }
	@$(MAKE) $(B)/fuzz/mutator_afl.so
	+@AFL_QUIET=1 $(FUZZ_AFL_MAKE) fuzz-targets
	@BUILD=build/afl MUTATOR=$(B)/fuzz/mutator_afl.so FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz/run.sh

.PHONY: fuzz-targets
fuzz-targets: $(addprefix $(B)/fuzz/,$(FUZZ_TARGETS))

# $(1): name, $(2): value of -fsanitize
define sanitizer
.PHONY: $(1) check-$(1)
$(1):
	@$$(MAKE) BUILD=build/$(1) SANITIZE=$(2) tests
check-$(1):
	@$$(MAKE) BUILD=build/$(1) SANITIZE=$(2) check
endef
## asan, ubsan, tsan, sanitized (the first two): build everything with the sanitizer, under build/asan ...
$(eval $(call sanitizer,asan,address))
$(eval $(call sanitizer,ubsan,undefined))
$(eval $(call sanitizer,sanitized,address$(comma)undefined))
$(eval $(call sanitizer,tsan,thread))
## check-asan, check-ubsan, check-tsan, check-sanitized: run the tests with that sanitizer

# The tests of recorders need a process for each trace; the others run in one.
THREAD_TESTS := test_ahead test_threads test_blocks test_feed test_print_threads test_ring
RECORD_TESTS := test_record_threads test_record_several test_record_orders
.PHONY: tsan-tests $(addprefix tsan-,$(THREAD_TESTS) $(RECORD_TESTS)) threads
tsan-tests:
	@$(MAKE) BUILD=build/tsan SANITIZE=thread $(addprefix build/tsan/tests/,$(THREAD_TESTS) $(RECORD_TESTS)) \
		build/tsan/gotrace build/tsan/tests/gotrace-refusing
$(addprefix tsan-,$(THREAD_TESTS)): tsan-%: tsan-tests
	@TSAN_OPTIONS=exitcode=99 CK_FORK=no build/tsan/tests/$*
$(addprefix tsan-,$(RECORD_TESTS)): tsan-%: tsan-tests
	@TSAN_OPTIONS=exitcode=99 ALL=1 build/tsan/tests/$*
threads: $(addprefix tsan-,$(THREAD_TESTS) $(RECORD_TESTS)) ## unit tests and program with threads, under ThreadSanitizer
	@BUILD=build/tsan tests/threads/run.sh

coverage: ## run the tests and report the line coverage of each file
	@$(MAKE) BUILD=build/coverage CC=gcc CFLAGS='-Og -g --coverage' check
	@tests/tree/coverage.sh build/coverage

codes: ## write lib/gotrace_events.h, the codes of the events, from their tables
	@CC="$(CC)" lib/event_codes.sh >$(B)/gotrace_events.h && mv $(B)/gotrace_events.h lib/gotrace_events.h

abi: ## record the ABI of the headers in tests/tree/gotrace.abi (lint compares)
	@lib/abi.sh >$(B)/gotrace.abi && mv $(B)/gotrace.abi tests/tree/gotrace.abi

lint: ## shellcheck, mandoc, clang-format, event codes and ABI
	@tests/tree/lint.sh

# ---- installing --------------------------------------------------------------------------------

.PHONY: install uninstall
RUNPATH := $(shell realpath -ms --relative-to=$(BINDIR) $(LIBDIR))
STANDARD_LIBDIR := $(filter /usr/lib /usr/lib/% /lib /lib/%,$(LIBDIR))

$(B)/staged/gotrace: $(CMD_OBJ) $(FORMATS_OBJ) $(B)/libgotrace.so FORCE
	@mkdir -p $(@D)
	$(Q)$(call link_program,$(if $(STANDARD_LIBDIR),,-Wl$(comma)-rpath$(comma)'$$ORIGIN/$(RUNPATH)'))
.PHONY: FORCE

$(B)/staged/gotrace.pc: lib/gotrace.pc.in lib/gotrace_base.h FORCE
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@LIBDW@|$(LIBDW)|' -e 's|@LIBIBERTY@|$(LIBIBERTY)|' $< >$@

D := $(DESTDIR)
install: all $(B)/staged/gotrace $(B)/staged/gotrace.pc ## install to DESTDIR/PREFIX (/usr/local)
	$(say) INSTALL $(D)$(PREFIX)
	$(Q)$(B)/gotrace help --completion bash >$(B)/staged/gotrace.bash
	$(Q)$(B)/gotrace help --completion zsh >$(B)/staged/_gotrace
	$(Q)install -D -m 755 $(B)/staged/gotrace $(D)$(BINDIR)/gotrace
	$(Q)for header in $(HEADERS); do \
		install -D -m 644 $$header $(D)$(INCLUDEDIR)/$${header#lib/} || exit 1; done
	$(Q)install -D -m 644 $(B)/libgotrace.a $(D)$(LIBDIR)/libgotrace.a
	$(Q)install -D -m 755 $(B)/$(SONAME) $(D)$(LIBDIR)/libgotrace.so.$(VERSION)
	$(Q)ln -sf libgotrace.so.$(VERSION) $(D)$(LIBDIR)/$(SONAME)
	$(Q)ln -sf $(SONAME) $(D)$(LIBDIR)/libgotrace.so
	$(Q)install -D -m 755 $(B)/libgotrace-preload.so $(D)$(LIBDIR)/gotrace/libgotrace-preload.so
	$(Q)install -D -m 644 $(B)/staged/gotrace.pc $(D)$(LIBDIR)/pkgconfig/gotrace.pc
	$(Q)for page in $(MAN); do \
		install -D -m 644 $$page $(D)$(MANDIR)/man$${page##*.}/$${page#man/} || exit 1; done
	$(Q)for example in $(INSTALLED_EXAMPLES); do \
		install -D -m 644 $$example $(D)$(DOCDIR)/$${example#tests/} || exit 1; done
	$(Q)install -D -m 644 $(RECORD_PICTURE) $(D)$(DOCDIR)/$(notdir $(RECORD_PICTURE))
	$(Q)install -D -m 644 $(B)/staged/gotrace.bash $(D)$(BASHCOMPDIR)/gotrace
	$(Q)install -D -m 644 $(B)/staged/_gotrace $(D)$(ZSHCOMPDIR)/_gotrace

uninstall: ## remove the installed files
	$(Q)rm -f $(D)$(BINDIR)/gotrace $(D)$(LIBDIR)/libgotrace.a \
		$(D)$(LIBDIR)/libgotrace.so $(D)$(LIBDIR)/$(SONAME) \
		$(D)$(LIBDIR)/libgotrace.so.$(VERSION) $(D)$(LIBDIR)/pkgconfig/gotrace.pc \
		$(D)$(LIBDIR)/gotrace/libgotrace-preload.so \
		$(D)$(BASHCOMPDIR)/gotrace $(D)$(ZSHCOMPDIR)/_gotrace
	$(Q)for header in $(HEADERS); do rm -f $(D)$(INCLUDEDIR)/$${header#lib/}; done
	$(Q)for example in $(INSTALLED_EXAMPLES); do rm -f $(D)$(DOCDIR)/$${example#tests/}; done
	$(Q)rm -f $(D)$(DOCDIR)/$(notdir $(RECORD_PICTURE))
	$(Q)for page in $(MAN); do rm -f $(D)$(MANDIR)/man$${page##*.}/$${page#man/}; done

# ---- other targets -----------------------------------------------------------------------------

.PHONY: demo deps deps-test compile_commands clean dist-clean help
# Input and output of the demo.
DEMO := testdata/traces/go1.19-http.trace
DEMO_OUT := $(B)/demo/$(basename $(notdir $(DEMO))).pftrace
demo: deps ## install missing packages, build, check and convert a sample trace
	@$(MAKE) all
	@mkdir -p $(dir $(DEMO_OUT))
	$(B)/gotrace validate $(DEMO)
	$(B)/gotrace convert -o $(DEMO_OUT) $(DEMO)
	@echo 'Now open $(DEMO_OUT) in a browser: at https://ui.perfetto.dev, "Open trace file".'

deps: ## install the packages for building (Debian; as root or with sudo)
	@tests/tree/deps.sh build

deps-test: ## install the packages for tests, lint and fuzzing
	@tests/tree/deps.sh build test

# One entry for each source, with its flags.
json_entry = {"directory":"$(CURDIR)","file":"$(1)","command":"$(CC) $(ALL_CFLAGS) $(2) -c $(1)"}
json_entries = $(foreach source,$(1),$(call json_entry,$(source),$(2))@)
compile_commands: ## write build/compile_commands.json for editors and clang tools
	$(file >$(B)/compile_commands.json,[$(call json_entries,$(LIB_SRC),$(LIB_CFLAGS))$(call \
		json_entries,$(FORMATS_SRC) $(CMD_SRC),$(PROGRAM_CFLAGS))$(call \
		json_entries,$(UNIT_SRC) $(FUZZ_SRC),$(PROGRAM_CFLAGS))$(call \
		json_entries,$(EXAMPLE_SRC),-Ilib)])
	@sed -i -e 's/@]/\n]/' -e 's/@ */,\n/g' $(B)/compile_commands.json

clean: ## remove BUILD
	$(Q)rm -rf $(B)

dist-clean: ## remove all build folders
	$(Q)rm -rf build

help: ## print this list
	@echo 'make [TARGET] [V=1] [CC=clang-14] [BUILD=build]'
	@sed -n -e 's/^\([a-z_-]*\):.*## \(.*\)/  \1|\2/p' -e 's/^## \(.*\): \(.*\)/  \1|\2/p' Makefile | \
		awk -F'|' '{ if (length($$1) > 20) print $$1 "\n" sprintf("%20s", "") $$2; else printf "%-20s%s\n", $$1, $$2 }'
