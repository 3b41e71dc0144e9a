# make help lists the targets. Variables:
#   O=DIR         where everything is built (build)
#   V=1           show the commands
#   CC=clang      the compiler: gcc 12 or clang 14, or newer
#   SAN=LIST      build with sanitizers: address,undefined or thread; in a directory of its own
#   PROBES=0      build without the USDT probes
#   WERROR=1      warnings are errors
#   RUN=COMMAND   runs what was built for another machine: 'qemu-aarch64 -L SYSROOT'
#   DESTDIR= PREFIX=/usr/local LIBDIR= AUTOLOAD= GDBINITDIR=   for make install

VERSION = 0.1.0
SOVERSION = 0

ifeq ($(origin CC),default)
CC = gcc
endif
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
# gdb searches the auto-load directory of its own prefix only.
AUTOLOAD ?= $(PREFIX)/share/gdb/auto-load
# What gdb reads at its start for everybody: there where a prefix is everybody's, and gdb has such a folder.
GDBINITDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(shell gdb --configuration 2>/dev/null | \
	sed -n 's/.*--with-system-gdbinit-dir=\([^ ]*\).*/\1/p'))

empty :=
comma := ,
space := $(empty) $(empty)
O ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
out := $(O)
obj := $(out)/obj

ifneq ($(V),1)
Q := @
say = @printf '  %-7s %s\n' '$1' '$2'
endif

# ---- what this machine has -------------------------------------------------------

hash := \#
# $(call have,HEADER…,LIBRARIES): 1 if a program with these compiles and links.
have = $(shell printf '$(hash)include <%s>\n' $1 'stdio.h' | sed '$$a int main(void) { return 0; }' | \
	$(CC) -x c - -o /dev/null $2 >/dev/null 2>&1 && echo 1)
have_unwind := $(call have,libunwind.h,-lunwind)
have_sdt := $(call have,sys/sdt.h)
have_dwfl := $(call have,elfutils/libdwfl.h,-ldw -lelf)
have_jansson := $(call have,jansson.h,-ljansson)
have_jit_reader := $(call have,gdb/jit-reader.h)
have_zlib := $(call have,zlib.h,-lz)
have_zstd := $(call have,zstd.h,-lzstd)
have_png := $(call have,png.h,-lpng)
have_ncurses := $(call have,curses.h,-lncursesw)
have_microhttpd := $(call have,microhttpd.h,-lmicrohttpd)
have_iberty := $(call have,libiberty/demangle.h,-liberty)
have_cmocka := $(call have,stdarg.h stddef.h setjmp.h stdint.h cmocka.h,-lcmocka)
have_numpy := $(if $(wildcard /usr/lib*/python3*/*-packages/numpy/__init__.py),1)
is_x86_64 := $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | grep -q __x86_64__ && echo 1)
is_clang := $(shell $(CC) --version 2>/dev/null | grep -q clang && echo 1)
PROBES ?= $(if $(have_sdt),1,0)

# ---- flags -----------------------------------------------------------------------

CFLAGS ?= -O2 -g
base_flags := -std=gnu17 -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -fPIC \
	-fvisibility=hidden -fno-omit-frame-pointer -ffp-contract=off -MMD -MP -Iruntime -Iprobes -Igdbext \
	-DLB_PROBES=$(PROBES) -DLB_HAVE_LIBUNWIND=$(or $(have_unwind),0) \
	-DLB_HAVE_ZLIB=$(or $(have_zlib),0) -DLB_HAVE_PNG=$(or $(have_png),0) \
	-DLB_HAVE_IBERTY=$(or $(have_iberty),0) \
	-DLB_HAVE_MICROHTTPD=$(or $(have_microhttpd),0) \
	-DLB_HAVE_ZSTD=$(or $(have_zstd),0) -DLB_HAVE_NCURSES=$(or $(have_ncurses),0) \
	$(if $(is_clang),,-Wno-format-truncation -Wno-stringop-truncation \
		$(if $(findstring thread,$(SAN)),-Wno-tsan)) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all) \
	$(if $(LIBFUZZER),-fsanitize=fuzzer-no-link)
# Without contraction arithmetic and sums have the same bits with every instruction set, here and in tests; what
# libmvec computes (exp, tanh, erf, sin, log) has not: its versions round differently. Functions that take or give vectors
# are inlined: no call depends on how they are passed. Without any optimisation some would not compile.
kernel_flags := -Wno-psabi $(if $(filter -O0,$(CFLAGS)),-O1,-O3) -fno-math-errno -fno-trapping-math -fopenmp-simd
link_flags := $(if $(SAN),-fsanitize=$(SAN)) -Wl,--as-needed
shared_flags := -shared $(if $(SAN),,-Wl$(comma)-z$(comma)defs)

runtime_libs := $(if $(have_unwind),-lunwind) $(if $(have_zlib),-lz) $(if $(is_x86_64),-lmvec) -lm -lpthread -ldl
gdbext_libs := -ljansson -ldw -lelf $(if $(have_png),-lpng) \
	$(if $(have_zstd),-lzstd) $(if $(have_iberty),-liberty) $(if $(have_ncurses),-lncursesw -ltinfo) -lm
# unwinding of other programs
stack_libs := $(if $(have_unwind),-lunwind-generic)
cli_libs := $(if $(have_microhttpd),-lmicrohttpd)

compile = $(CC) $(base_flags) $(CFLAGS) $(more_flags) -c -o $@ $<
link = $(CC) $(CFLAGS) $(LDFLAGS) $(link_flags)

# ---- sources ---------------------------------------------------------------------

isa_levels := base $(if $(is_x86_64),v3 v4)
simd_src := $(wildcard runtime/kernels/simd/*.c)
runtime_src := $(filter-out $(simd_src),$(wildcard runtime/*/*.c runtime/*/*/*.c))
reader_src := $(wildcard gdbext/base/*.c gdbext/target/*.c gdbext/tensors/*.c gdbext/table/*.c gdbext/ggml/*.c gdbext/ggml/*/*.c gdbext/python/*.c gdbext/torch/*.c gdbext/mlx/*.c gdbext/mlx/*/*.c gdbext/record/*.c gdbext/inspect/*.c gdbext/inspect/*/*.c gdbext/inspect/*/*/*.c)
plugin_src := $(wildcard gdbext/plugin/*.c gdbext/plugin/*/*.c)
cli_src := $(wildcard gdbext/cli/*.c)
serve_src := $(wildcard gdbext/serve/*.c)
replay_src := $(wildcard gdbext/replay/*.c)
unit_src := $(wildcard tests/unit/test_*.c)
unit_helper_src := $(filter-out $(unit_src),$(wildcard tests/unit/*.c))
onnx_src := $(wildcard tests/onnx/*.c)
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)
bench_src := $(wildcard tests/bench/*.c)
common_src := $(wildcard examples/common/*.c)
examples := $(filter-out common,$(sort $(patsubst examples/%/,%,$(dir $(wildcard examples/*/*.c)))))

objects = $(patsubst %.c,$(obj)/%.o,$1)
runtime_obj := $(call objects,$(runtime_src)) \
	$(foreach isa,$(isa_levels),$(simd_src:%.c=$(obj)/%.$(isa).o))

# ---- products --------------------------------------------------------------------

real_name := liblazybones.so.$(VERSION)
soname := liblazybones.so.$(SOVERSION)
shared := $(out)/lib/liblazybones.so
static := $(out)/lib/liblazybones.a
reader_lib := $(obj)/libgdbext.a
serve_lib := $(obj)/libserve.a
helpers := $(obj)/libhelpers.a
# gdb itself has no sanitizer's runtime in it, so such a build has no plugin.
plugin := $(if $(SAN),,$(if $(plugin_src),$(if $(have_jit_reader),$(out)/lib/lazybones-gdb.so)))
loader := $(if $(plugin),$(out)/lazybones.gdb)
cli := $(if $(cli_src),$(out)/bin/lazybones)
manuals := $(if $(cli),$(out)/man/lazybones.1)
replay := $(if $(replay_src),$(out)/bin/lazybones-replay)
examples_out := $(addprefix $(out)/examples/,$(filter-out $(if $(have_png),,photo),$(examples)))
numpy_tests := test_ops test_files test_explain
units := $(if $(have_cmocka),$(filter-out $(if $(have_numpy),,$(addprefix $(out)/tests/,$(numpy_tests))), \
	$(unit_src:tests/unit/%.c=$(out)/tests/%)) $(out)/tests/test_onnx)
tables := $(if $(plugin),$(out)/tests/tables)
fuzzers := $(fuzz_src:tests/fuzz/%.c=$(out)/fuzz/%)
benches := $(bench_src:tests/bench/%.c=$(out)/bench/%)

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: messages all check check-built demo bench bench-peers peers docs install uninstall clean deps help missing units units-missing valgrind \
	fuzz fuzzers FORCE

all: missing $(shared) $(static) $(plugin) $(loader) $(cli) $(manuals) $(replay) $(examples_out) ## build everything (default)

missing:
	$(if $(shell command -v $(firstword $(CC))),,$(error no compiler $(CC): run make deps, or set CC))
	$(if $(runtime_src),,$(error the sources are incomplete: no runtime/*/*.c))
	$(if $(have_jansson),,$(error jansson.h is missing: install libjansson-dev, or run make deps))
	$(if $(have_dwfl),,$(error elfutils/libdwfl.h is missing: install libdw-dev, or run make deps))
	$(if $(have_unwind),,@echo 'note: no libunwind.h (libunwind-dev): without creation stacks')
	$(if $(have_zlib),,@echo 'note: no zlib.h (zlib1g-dev): compressed .npz members cannot be read')
	$(if $(have_sdt),,@echo 'note: no sys/sdt.h (systemtap-sdt-dev): without probes')
	$(if $(have_jit_reader),,@echo 'note: no gdb/jit-reader.h (gdb): the gdb plugin is not built')
	$(if $(have_zstd),,@echo 'note: no zstd.h (libzstd-dev): compressed cores must be unpacked first')
	$(if $(have_png),,@echo 'note: no png.h (libpng-dev): no PNG files, examples/photo is not built')
	$(if $(have_ncurses),,@echo 'note: no curses.h (libncurses-dev): lazybones top has no screen, only --once; browse has none')
	$(if $(have_microhttpd),,@echo 'note: no microhttpd.h (libmicrohttpd-dev): no lazybones serve')
	$(if $(have_iberty),,@echo 'note: no libiberty/demangle.h (libiberty-dev): names of C++ functions stay mangled')

# A changed flag or compiler rebuilds what it concerns.
flags_now := $(CC) $(filter-out -Werror,$(base_flags)) $(CFLAGS) $(LDFLAGS) $(kernel_flags) $(runtime_libs)
$(obj)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(flags_now)' | cmp -s - $@ || echo '$(flags_now)' >$@

# So does a source file that came or went: make alone sees neither a file that is older than its library, nor one less.
sources_now := $(runtime_src) $(simd_src) $(reader_src) $(plugin_src) $(cli_src) $(serve_src) $(replay_src) \
	$(unit_helper_src)
$(obj)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(sources_now)' | cmp -s - $@ || echo '$(sources_now)' >$@

$(obj)/runtime/kernels/%: more_flags = $(kernel_flags)
# clang optimises the sanitizers' checks of these for minutes
$(obj)/runtime/kernels/simd/digits.% $(obj)/runtime/kernels/simd/panels.%: more_flags = $(kernel_flags) $(if $(SAN),-O0)
$(obj)/examples/% $(obj)/tests/bench/big.o: more_flags = -O0 -Iexamples
# gdb may throw through the plugin: its clean-ups must run then
$(obj)/gdbext/plugin/% $(obj)/gdbext/inspect/browse/%: more_flags = -fexceptions

$(obj)/%.o: %.c $(obj)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(compile)

# One source, several instruction sets (runtime/base/isa.h). -march appears nowhere else.
define isa_rule
$(obj)/runtime/kernels/simd/%.$1.o: runtime/kernels/simd/%.c $(obj)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$< [$1])
	$$(Q)$$(compile) -DLB_ISA=$1 $(if $(filter v%,$1),-march=x86-64-$1)
endef
$(foreach isa,$(isa_levels),$(eval $(call isa_rule,$(isa))))

$(out)/lib/$(real_name): $(runtime_obj) runtime/lazybones.map $(obj)/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) $(shared_flags) -Wl,-soname,$(soname) -Wl,-z,nodelete \
		-Wl,--version-script=runtime/lazybones.map -o $@ $(runtime_obj) $(runtime_libs)

$(shared): $(out)/lib/$(real_name)
	$(Q)ln -sf $(real_name) $(@D)/$(soname)
	$(Q)ln -sf $(soname) $@

$(static): $(runtime_obj) $(obj)/sources
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(runtime_obj)

$(reader_lib): $(call objects,$(reader_src)) $(obj)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(call objects,$(reader_src))

$(serve_lib): $(call objects,$(serve_src)) $(obj)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(call objects,$(serve_src))

# The plugin shares gdb's address space: it exports the reader's two symbols and what printer.py calls. No
# libunwind: it has unwinding functions of its own, and gdb's exceptions need libgcc's.
$(out)/lib/lazybones-gdb.so: $(call objects,$(plugin_src)) $(reader_lib) $(static) $(obj)/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) $(shared_flags) -Wl,--exclude-libs,ALL -o $@ $(filter-out %/sources,$^) $(gdbext_libs) -lm

$(out)/lazybones.gdb: gdbext/plugin/lazybones.gdb.in $(plugin)
	$(call say,GEN,$@)
	$(Q)sed 's|@PLUGIN@|$(abspath $(plugin))|g' $< >$@

# the page is part of the program
$(obj)/gdbext/serve/page.o: $(wildcard gdbext/serve/page/*)

$(out)/bin/lazybones: $(call objects,$(cli_src)) $(serve_lib) $(reader_lib) $(static) $(obj)/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $(filter-out %/sources,$^) $(gdbext_libs) $(stack_libs) $(cli_libs) $(runtime_libs)

# A page a command, from the rows that make its --help; the others stand beside this one.
$(out)/man/lazybones.1: $(cli)
	$(call say,GEN,$@)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)for page in $$($(RUN) $(cli) --manual); do \
		$(RUN) $(cli) --manual $$page >$(@D)/$$page.1 || exit 1; done

$(out)/bin/lazybones-replay: $(call objects,$(replay_src)) $(reader_lib) $(static) $(obj)/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $(filter-out %/sources,$^) $(runtime_libs)

# examples/NAME/*.c make build/examples/NAME, built as a user would: against the shared
# library, without optimisation, so that the debugger shows every variable. Of what they share
# (examples/common) the linker takes what each needs.
libs_photo := -lpng
libs_llama := -ljansson
libs_minilm := -ljansson
common := $(obj)/examples/common.a
$(common): $(call objects,$(common_src))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

define example_rule
$(out)/examples/$1: $(call objects,$(wildcard examples/$1/*.c)) $(common) | $(shared)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(link) -o $$@ $$^ -L$(out)/lib -llazybones -Wl,-rpath,'$$$$ORIGIN/../lib' $(libs_$1) -lm
endef
$(foreach name,$(examples),$(eval $(call example_rule,$(name))))

# ---- tests -----------------------------------------------------------------------

fixtures := $(out)/tests/fixtures/manifest
files := $(out)/tests/files/good
explain_cases := $(out)/tests/explain/cases
units: $(units) $(replay) $(if $(have_numpy),$(fixtures) $(files) $(explain_cases)) units-missing

units-missing:
	$(if $(have_cmocka),,@echo 'note: no cmocka.h (libcmocka-dev): no unit tests')
	$(if $(have_numpy),,@echo 'note: no NumPy (python3-numpy): without $(numpy_tests)')

# What NumPy computes, for test_ops.
$(out)/tests/fixtures/manifest: tests/unit/fixtures.py $(wildcard tests/unit/cases/*.py)
	$(call say,NUMPY,$(@D))
	$(Q)/usr/bin/python3 tests/unit/fixtures.py $(@D) >/dev/null

# Files of every format, good and bad, for test_files.
$(out)/tests/files/good: tests/unit/files.py tests/real/ggml/golden.inc
	$(call say,NUMPY,$(@D))
	$(Q)/usr/bin/python3 $< $(@D)

# Arrays that differ in ways that have a name, for test_explain.
$(explain_cases): tests/unit/explain.py
	$(call say,NUMPY,$(@D))
	$(Q)/usr/bin/python3 $< $(@D)

# What tests do themselves need not be fast, and half of what is compiled is theirs.
$(obj)/tests/unit/%: more_flags = -O0
# it tells its functions apart by how long they are
$(obj)/tests/unit/test_grad_functions.o: more_flags = -O1
$(obj)/tests/onnx/%: more_flags = -O0 -Itests/unit

# What unit tests share: each takes what it needs.
$(helpers): $(call objects,$(unit_helper_src)) $(obj)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(call objects,$(unit_helper_src))

# Unit tests see internal functions: they link the archives.
$(out)/tests/test_%: $(obj)/tests/unit/test_%.o $(helpers) $(serve_lib) $(reader_lib) $(static)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ -lcmocka $(gdbext_libs) $(stack_libs) $(runtime_libs)

$(out)/tests/test_onnx: $(call objects,$(onnx_src)) $(helpers) $(reader_lib) $(static)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ -lcmocka $(gdbext_libs) $(stack_libs) $(runtime_libs)

$(obj)/tests/fuzz/%: more_flags = -Itests/unit $(if $(LIBFUZZER),-DLBX_LIBFUZZER)

$(out)/fuzz/%: $(obj)/tests/fuzz/%.o $(helpers) $(serve_lib) $(reader_lib) $(static)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) $(if $(LIBFUZZER),-fsanitize=fuzzer) -o $@ $^ -lcmocka $(gdbext_libs) $(stack_libs) $(runtime_libs)

$(out)/fuzz/fuzz_containers: | $(out)/fuzz/containers
$(out)/fuzz/containers: tests/fuzz/containers.cc tests/fuzz/containers.sh
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)tests/fuzz/containers.sh $(@D) && touch $@

fuzzers: $(fuzzers)

# It measures the readers' own functions.
$(out)/bench/search: $(obj)/tests/bench/search.o $(reader_lib) $(static)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ $(gdbext_libs) $(stack_libs) $(runtime_libs)

$(out)/bench/%: $(obj)/tests/bench/%.o | $(shared)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ -L$(out)/lib -llazybones -Wl,-rpath,'$$ORIGIN/../lib' -lm -ldl -lpthread

# Prints the pages' tables from their sources.
$(tables): $(obj)/tests/docs/tables.o $(call objects,$(filter-out gdbext/cli/main.c,$(cli_src)) $(plugin_src)) \
		$(serve_lib) $(reader_lib) $(static) $(obj)/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $(filter-out %/sources,$^) $(gdbext_libs) $(stack_libs) $(cli_libs) $(runtime_libs)

deps: ## install the Debian packages that building and testing need
	$(Q)tests/deps

# Two steps, so that what `deps` installed is seen.
check: deps ## install what is missing, build, run all tests
	$(Q)$(MAKE) --no-print-directory check-built

check-built: all units $(tables)
	+$(Q)O='$(out)' SAN='$(SAN)' CC='$(CC)' PROBES='$(PROBES)' RUN='$(RUN)' tests/run

valgrind: ## run the unit tests under valgrind
	$(Q)tests/deps build part check valgrind
	$(Q)$(MAKE) --no-print-directory all units
	+$(Q)O='$(out)' VALGRIND=1 tests/run unit

# libFuzzer where clang has it, else FUZZ_RUNS random changes; either way under sanitizers.
# Inputs that were worth keeping are found again in $(out)/fuzz/corpus.
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= 20000
seeds_fuzz_files = $(dir $(files))
have_fuzzer = $(shell echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	clang -x c - -fsanitize=fuzzer -o /dev/null 2>/dev/null && echo 1)
fuzz: $(files) ## feed damaged input to every reader, for FUZZ_SECONDS (60) each
ifeq ($(LIBFUZZER)$(SAN),)
	$(Q)$(MAKE) --no-print-directory fuzz files='$(abspath $(files))' O='$(out)/fuzz' SAN=address,undefined \
		$(if $(have_fuzzer),CC=clang LIBFUZZER=1)
else
	$(Q)$(MAKE) --no-print-directory fuzzers
	$(Q)$(MAKE) --no-print-directory $(addprefix fuzz-,$(notdir $(fuzzers)))
endif

# As many at a time as make has jobs, each in a folder of its own; what it says comes when it ends.
fuzz-%: FORCE
	$(Q)mkdir -p $(out)/scratch/$* $(out)/corpus/$*
	$(Q)cd $(out)/scratch/$* && { $(if $(LIBFUZZER),$(abspath $(out)/fuzz/$*) -max_total_time=$(FUZZ_SECONDS) \
		-print_final_stats=1 -verbosity=0 -artifact_prefix=$(abspath $(out))/$*- \
		$(abspath $(out)/corpus/$* $(seeds_$*)),\
		$(abspath $(out)/fuzz/$*) -n $(FUZZ_RUNS) $(addsuffix /*.*,$(abspath $(seeds_$*)))) >../$*.said 2>&1; \
		status=$$?; echo '== $*'; cat ../$*.said; exit $$status; }

demo: deps ## play a gdb session on a real program
	$(Q)$(MAKE) --no-print-directory all
	$(Q)O='$(out)' examples/demo

bench: deps ## measure, and print a table
	$(Q)$(MAKE) --no-print-directory all $(benches)
	$(Q)O='$(out)' CC='$(CC)' tests/bench/run

# Nothing else fetches or builds the peers, and either may be absent.
bench-peers: deps ## measure beside libtorch, ggml (fetches it, 47 MB), MLX and NumPy
	$(Q)O='$(out)' tests/bench/peers/get
	$(Q)$(MAKE) --no-print-directory peers
	$(Q)O='$(out)' tests/bench/peers/run $(PEERS_ARGS)

peers := $(out)/bench/peers
peers_src := tests/bench/peers
peer_objects = $(call objects,$(addprefix $(peers_src)/,main.c $1))
torch_include := $(firstword $(wildcard /usr/include/torch/csrc/api/include))
ggml := $(peers)/libggml

# those of tests/deps real
wheel = $(firstword $(wildcard $(out)/real/$1/lib/python3*/site-packages/$2))
torch2 := $(call wheel,torch-2.13,torch)
mlx := $(call wheel,mlx-0.32.4,mlx)

peers: $(peers)/ours $(peers)/limits $(if $(torch_include),$(peers)/torch) $(if $(torch2),$(peers)/torch-2) \
	$(if $(wildcard $(ggml)/version),$(peers)/ggml) $(if $(mlx),$(peers)/mlx)

$(peers)/ours: $(call peer_objects,ours.c ours_llama.c) | $(shared)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ -L$(out)/lib -llazybones -Wl,-rpath,'$$ORIGIN/../../lib' -lm

$(peers)/torch: $(peers_src)/torch.cc $(peers_src)/torch_llama.cc $(call peer_objects) \
		$(wildcard $(peers_src)/*.h)
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)g++ -std=c++17 -O2 -Wall -Wextra -isystem $(torch_include) -o $@ $(filter-out %.h,$^) \
		-ltorch -ltorch_cpu -lc10

$(peers)/torch-2: $(peers_src)/torch.cc $(peers_src)/torch_llama.cc $(call peer_objects) $(wildcard $(peers_src)/*.h)
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)g++ -std=c++20 -O2 -Wall -Wextra -isystem $(torch2)/include -isystem $(torch2)/include/torch/csrc/api/include \
		-o $@ $(filter-out %.h,$^) -L$(torch2)/lib -Wl,-rpath,$(abspath $(torch2)/lib) -ltorch -ltorch_cpu -lc10

$(peers)/mlx: $(peers_src)/mlx.cc $(peers_src)/mlx_llama.cc $(call peer_objects) $(wildcard $(peers_src)/*.h)
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)g++ -std=c++20 -O2 -Wall -Wextra -isystem $(mlx)/include -o $@ $(filter-out %.h,$^) -L$(mlx)/lib \
		-Wl,-rpath,$(abspath $(mlx)/lib) -lmlx

$(peers)/limits: $(call peer_objects,limits.c)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ -lm

$(obj)/$(peers_src)/ggml.o $(obj)/$(peers_src)/ggml_llama.o: more_flags = \
	-isystem $(ggml)/include -DGGML_DIR='"$(abspath $(ggml)/lib)"'
$(peers)/ggml: $(call peer_objects,ggml.c ggml_llama.c)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $^ $(wildcard $(ggml)/lib/libggml.*.so) $(ggml)/lib/libggml-base.so \
		-Wl,-rpath,'$$ORIGIN/libggml/lib' -lm

docs: $(tables) ## write the generated parts of the README files
	$(Q)O='$(out)' tests/docs/run --write

messages: ## print every text that a person may read, to be read as a stranger would
	$(Q)tests/docs/messages

# ---- install ---------------------------------------------------------------------

# gdb looks for the auto-load script under the library's real path.
share := $(PREFIX)/share/lazybones
autoload_dir = $(AUTOLOAD)$(shell realpath -m '$(LIBDIR)')
stage = install -m $1 $2 '$(DESTDIR)$3'
instantiate = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
	-e 's|@VERSION@|$(VERSION)|g' -e 's|@PRIVATE@|$(runtime_libs) $(if $(have_unwind),-llzma -lz)|g' \
	-e 's|@PLUGIN@|$(LIBDIR)/gdb/lazybones-gdb.so|g' -e 's|@SHARE@|$(share)|g' -e 's|@AUTOLOAD@|$(AUTOLOAD)|g'

pages := $(wildcard README.md */*.md tests/*/README.md tests/docs/objects.cc examples/pictures/*.svg examples/pictures/*.png)

install: all ## install into $(DESTDIR)$(PREFIX)
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -d '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(PREFIX)/include/lazybones' \
		'$(DESTDIR)$(PREFIX)/share/doc/lazybones'
	$(Q)$(call stage,755,$(out)/lib/$(real_name),$(LIBDIR))
	$(Q)$(call stage,644,$(static),$(LIBDIR))
	$(Q)ln -sf $(real_name) '$(DESTDIR)$(LIBDIR)/$(soname)'
	$(Q)ln -sf $(soname) '$(DESTDIR)$(LIBDIR)/liblazybones.so'
	$(Q)$(call stage,644,runtime/lazybones.h runtime/symtab.h,$(PREFIX)/include/lazybones)
	$(Q)$(instantiate) runtime/lazybones.pc.in >'$(DESTDIR)$(LIBDIR)/pkgconfig/lazybones.pc'
	$(Q)$(call stage,644,LICENSE,$(PREFIX)/share/doc/lazybones)
	$(Q)for page in $(pages); do \
		install -D -m 644 $$page '$(DESTDIR)$(PREFIX)/share/doc/lazybones/'$$page || exit 1; done
	$(Q)install -d '$(DESTDIR)$(share)/bpftrace' '$(DESTDIR)$(PREFIX)/share/man/man8' '$(DESTDIR)$(PREFIX)/bin'
	$(Q)$(call stage,755,$(wildcard probes/bpftrace/*.bt),$(share)/bpftrace)
	$(Q)$(call stage,644,$(wildcard probes/bpftrace/*.txt),$(share)/bpftrace)
	$(Q)$(call stage,644,$(wildcard probes/man/man8/*.8),$(PREFIX)/share/man/man8)
	$(Q)$(call stage,644,probes/strace/lazybones-strace.awk,$(share))
	$(Q)$(call stage,755,probes/perf/lazybones-perf,$(PREFIX)/bin)
ifneq ($(plugin),)
	$(Q)install -d '$(DESTDIR)$(LIBDIR)/gdb' '$(DESTDIR)$(share)' '$(DESTDIR)$(autoload_dir)'
	$(Q)$(call stage,755,$(plugin),$(LIBDIR)/gdb)
	$(Q)$(instantiate) gdbext/plugin/lazybones.gdb.in >'$(DESTDIR)$(share)/lazybones.gdb'
	$(Q)$(call stage,644,gdbext/plugin/printer.py,$(share))
	$(Q)echo 'source $(share)/lazybones.gdb' >'$(DESTDIR)$(autoload_dir)/$(real_name)-gdb.gdb'
	$(Q)$(instantiate) gdbext/plugin/start.gdb.in >'$(DESTDIR)$(share)/start.gdb'
ifneq ($(GDBINITDIR),)
	$(Q)install -d '$(DESTDIR)$(GDBINITDIR)'
	$(Q)$(call stage,644,'$(DESTDIR)$(share)/start.gdb',$(GDBINITDIR)/lazybones.gdb)
else
	@echo "gdb reads nothing of $(PREFIX) at its start. To have its commands there: echo 'source $(share)/start.gdb' >>~/.gdbinit"
endif
endif
ifneq ($(cli),)
	$(Q)install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/man/man1'
	$(Q)$(call stage,755,$(cli),$(PREFIX)/bin)
	$(Q)$(call stage,644,$(out)/man/*.1,$(PREFIX)/share/man/man1)
endif
ifneq ($(replay),)
	$(Q)install -d '$(DESTDIR)$(PREFIX)/libexec/lazybones'
	$(Q)$(call stage,755,$(replay),$(PREFIX)/libexec/lazybones)
endif

# What install writes; folders stay.
uninstall: ## remove what install has written to $(DESTDIR)$(PREFIX)
	$(call say,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)rm -rf $(foreach path,$(LIBDIR)/$(real_name) $(LIBDIR)/$(soname) $(LIBDIR)/liblazybones.so \
		$(LIBDIR)/liblazybones.a $(LIBDIR)/pkgconfig/lazybones.pc $(LIBDIR)/gdb/lazybones-gdb.so \
		$(PREFIX)/include/lazybones $(PREFIX)/share/doc/lazybones $(share) $(PREFIX)/libexec/lazybones \
		$(PREFIX)/bin/lazybones $(PREFIX)/bin/lazybones-perf $(autoload_dir)/$(real_name)-gdb.gdb \
		$(if $(GDBINITDIR),$(GDBINITDIR)/lazybones.gdb) \
		$(addprefix $(PREFIX)/share/man/man8/,$(notdir $(wildcard probes/man/man8/*.8))),'$(DESTDIR)$(path)') \
		'$(DESTDIR)$(PREFIX)'/share/man/man1/lazybones.1 '$(DESTDIR)$(PREFIX)'/share/man/man1/lazybones-*.1

clean: ## remove what was built
	$(Q)rm -rf $(out)

help: ## this list
	@sed -n '1,/^$$/s/^# \?//p' Makefile
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

-include $(shell find $(obj) -name '*.d' 2>/dev/null)
