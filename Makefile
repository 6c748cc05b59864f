# SPDX-License-Identifier: GPL-3.0-or-later
# smtune: `make help` lists what there is to do. All that is built goes to
# build/; build/san/ has the same with sanitizers, for the tests.

VERSION    := 0.1.0
PREFIX     ?= /usr/local
bindir     ?= $(PREFIX)/bin
datadir    ?= $(PREFIX)/share
mandir     ?= $(datadir)/man
PKG_CONFIG ?= pkg-config
PYTHON     ?= /usr/bin/python3
ifeq ($(origin CC),default)
CC := gcc
endif

# What apt installs: to build and run; and to test besides.
DEPS := gcc libc6-dev pkg-config libuv1-dev libyaml-dev libsqlite3-dev \
        libgsl-dev libjansson-dev libpcre2-dev libopenblas-dev zlib1g-dev \
        libcurl4-openssl-dev nettle-dev libmicrohttpd-dev dataset-fashion-mnist
TEST_DEPS := g++ clang libclang-rt-dev clang-format clang-tidy cppcheck \
        universal-ctags gcovr mandoc shellcheck sqlite3 \
        git zsh fish libcmocka-dev python3 python3-pytest python3-pytest-timeout \
        python3-pytest-xdist python3-pytest-rerunfailures python3-yaml \
        python3-jsonschema python3-selenium chromium chromium-driver
# For a cluster below a directory (tests/slurm/lab); the tests do without.
SLURM_DEPS := slurmctld slurmd slurm-client munge slurmdbd slurmrestd \
        slurm-wlm-mysql-plugin slurm-wlm-jwt-plugin mariadb-server-core \
        mariadb-client-core curl

PKGS  := libuv yaml-0.1 sqlite3 gsl jansson libpcre2-8 zlib nettle libmicrohttpd
WARN  := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wformat=2 \
         -Wwrite-strings -Wcast-qual -Wpointer-arith -Wstrict-prototypes \
         -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough \
         -Wswitch-enum -Wnull-dereference -Wdouble-promotion \
         $(if $(WERROR),-Werror) \
         $(if $(findstring clang,$(CC)),-Wno-double-promotion \
         -Wno-format-nonliteral -Wno-string-concatenation \
         -Wno-missing-field-initializers)
CFLAGS ?= -O2 -g -D_FORTIFY_SOURCE=2
SAN   := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
         -fno-sanitize-recover=undefined
BASE_FLAGS := -std=gnu17 -D_GNU_SOURCE -DSMTUNE_VERSION='"$(VERSION)"' -I. \
         $(WARN) -fno-common -fstack-protector-strong \
         $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
# OpenBLAS comes first: only a program that calls it itself is linked with it,
# because its threads spin for a while at every start.
LIBS  := -Wl,--as-needed -lopenblas \
         $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lm -lpthread

# Everything but the files with a main() is one library; a program is its
# main file and what it needs of the library.
, := ,
B     := build
S     := build/san
DIRS  := base store strategies workflows executors orchestrator dashboard \
         cli training
# Files that rules below name.
SHIM    := executors/shim/shim
SCHEMA  := store/schema/schema
OPENAPI := dashboard/api/api_openapi
MAINS := $(wildcard cli/main.c $(SHIM).c training/main.c)
SRC   := $(filter-out $(MAINS) training/mpi/%, \
         $(wildcard $(DIRS:%=%/*.c) $(DIRS:%=%/*/*.c) $(DIRS:%=%/*/*/*.c)))
PROGS := $(if $(filter cli/%,$(MAINS)),smtune) \
         $(if $(filter executors/%,$(MAINS)),smtune-shim) \
         $(if $(filter training/%,$(MAINS)),smtrain)
# What smtrain loads when asked to: CUDA for these devices and later ones, and
# MPI. training/probe compiles and links a few lines, and keeps in build/probe
# what came out. CUDA=yes and MPI=yes insist, CUDA=no and MPI=no skip.
CUDA  ?= auto
MPI   ?= auto
NVCC  ?= $(firstword $(shell command -v nvcc) \
         $(wildcard /usr/local/cuda/bin/nvcc))
MPICC ?= $(shell command -v mpicc)
CUDA_ARCHES ?= 75 80 90
ARCHES  = $(CUDA_ARCHES)
NVFLAGS = -std=c++20 -O3 -lineinfo -Xcompiler -fPIC,-Wall,-Wextra -I. -Itraining/cuda \
         -D_GNU_SOURCE \
         $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror) \
         $(foreach a,$(ARCHES),-gencode arch=compute_$a$(,)code=sm_$a) \
         -gencode arch=compute_$(lastword $(ARCHES)),code=compute_$(lastword $(ARCHES))
MPIFLAGS = $(filter-out $(WARN),$(BASE_FLAGS)) $(CFLAGS) $(LDFLAGS) -fPIC
probe_cuda = training/probe cuda $B/probe/cuda '$(CUDA)' '$(NVCC)' $(NVFLAGS)
probe_mpi  = training/probe mpi $B/probe/mpi '$(MPI)' '$(MPICC)' $(MPIFLAGS)
# Goals that build nothing, or nothing optional.
PLAIN   := help quickstart deps deps-test check check-quick check-all clean dist format lint \
         compile-flags web web-test uninstall
PARTS   := $(if $(filter-out $(PLAIN),$(or $(MAKECMDGOALS),all)), \
         $(if $(filter no,$(CUDA)),,cuda) $(if $(filter no,$(MPI)),,mpi))
PLUGINS := $(foreach p,$(PARTS),$(if $(filter yes,$(shell $(probe_$p))),smtrain-$p.so))
MAN   := $(addprefix $B/man/,$(notdir $(basename $(wildcard man/*.in)) \
         $(wildcard man/*.[0-9])))
UNIT  := $(patsubst %.c,$S/%,$(wildcard tests/unit/test_*.c))
UNIT_RUN := $(if $T,$S/tests/unit/test_$T,$(UNIT))
# Tests of whole programs run those of build/, with ON=san those of build/san.
ON    ?= plain
TESTED := $(if $(filter san,$(ON)),$S,$B)
FILL  := $(patsubst %.c,$(TESTED)/%,$(wildcard tests/e2e/*.c))
# Programs with fault points: to be killed, and to be denied things.
KILLED := $B/fault/smtune $B/fault/smtune-shim
DENIED := $S/fault/smtune $S/fault/smtune-shim
FUZZ  := $(patsubst %.c,$S/%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAY := $(FUZZ:$S/tests/fuzz/fuzz_%=$S/tests/fuzz/replay_%)
BENCH := $(patsubst %.c,$B/%,$(wildcard tests/bench/bench_*.c))
REGRET := $(wildcard tests/bench/regret/*.c)
CLUSTER := $(wildcard tests/bench/cluster/*.c)
SIM   := $(wildcard tests/fault/sim/*.c)
SHELLS := bash zsh fish
COMPLETIONS := $(if $(filter smtune,$(PROGS)),$(SHELLS:%=$B/completions/%))

# `  CC base/err.o`, or the command itself with V=1.
Q   := $(if $(V),,@)
say  = $(if $(V),@:,@printf '  %-4s %s\n' $1 $(@:build/%=%))

all: $B/probe/shown $B/libsmtune.a $(PROGS:%=$B/%) $(PLUGINS:%=$B/%) $(MAN) $(COMPLETIONS) ## build programs and manual pages

help: ## say what each target does
	@sed -n 's/^\([a-z0-9-]*\):.* ## /\1\t/p' Makefile | \
	 awk -F '\t' '{ printf "  make %-16s %s\n", $$1, $$2 }'
	@echo
	@echo 'Variables: V=1 (show commands) CC=clang WERROR=1 CFLAGS LDFLAGS'
	@echo '  PREFIX DESTDIR; T=name (one file of tests)'
	@echo '  CUDA=yes|no MPI=yes|no (insist, skip) NVCC MPICC CUDA_ARCHES'
	@echo '  FUZZ_SECONDS=n FUZZ_INPUTS=n (for each fuzz target) PYTHON PKG_CONFIG'
	@echo '  SET=tune|report METHODS=a,b SEEDS=n PEERS=tpe,gp PICTURE=f.svg (bench-regret)'

quickstart: deps ## install what is missing, build, tune a real model
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) \
	 CUDA=no MPI=no $(PROGS:%=$B/%)
	$B/smtune run examples/quickstart.yaml
	@echo; echo 'The best model on the test set, which nothing saw until now:'
	$B/smtrain mlp --test \
	 --checkpoint-dir "$$($B/smtune best last --checkpoints)"

# Programs ----------------------------------------------------------------

$B/%: FLAGS = $(CFLAGS)
$B/training/%: FLAGS = $(CFLAGS) -O3 -fno-math-errno
$B/strategies/%: FLAGS = $(CFLAGS) -O3 -fno-math-errno -fno-trapping-math
$S/%: FLAGS = $(SAN)
# Sanitizers describe each global in a table of pointers: megabytes that a
# program would have to relocate at each start.
$S/%: PLACED = -no-pie
$S/double/%: FLAGS = $(SAN) -DSMTRAIN_DOUBLE

define compile
$(call say,CC)
@mkdir -p $(@D)
$Q$(CC) $(BASE_FLAGS) $(FLAGS) -MMD -MP -c -o $@ $<
endef
$B/%.o: %.c $B/flags
	$(compile)
$S/%.o: %.c $S/flags
	$(compile)
$S/double/%.o: %.c $S/flags
	$(compile)

# Changes when the compiler or its flags do, so that objects are made anew.
$B/flags $S/flags: FORCE
	@$(PKG_CONFIG) --print-errors --exists $(PKGS) || \
	 { echo "libraries are missing: 'make deps' installs them"; exit 1; }
	@mkdir -p $(@D)
	@f='$(subst ','\'',$(CC) $(BASE_FLAGS) $(FLAGS))'; \
	 echo "$$f" | cmp -s - $@ || echo "$$f" >$@

# The tables' SQL becomes a part of the program.
$B/$(SCHEMA).o $S/$(SCHEMA).o: $(wildcard $(SCHEMA)*.sql)

$B/$(OPENAPI).o $S/$(OPENAPI).o: dashboard/schemas.json

# And the page's files, compressed.
PAGE := $(basename $(wildcard dashboard/web/dist/*.gz))
$B/dashboard/page_files.c $S/dashboard/page_files.c: dashboard/embed \
 dashboard/web/dist $(PAGE) $(PAGE:=.gz)
	@mkdir -p $(@D)
	$Qdashboard/embed $(PAGE) >$@.part && mv $@.part $@
$B/dashboard/page_files.o: $B/dashboard/page_files.c $B/flags
	$(compile)
$S/dashboard/page_files.o: $S/dashboard/page_files.c $S/flags
	$(compile)

%/libsmtune.a:
	$(call say,AR)
	$Qrm -f $@ && $(AR) qcs $@ $^
$B/libsmtune.a: $(SRC:%.c=$B/%.o) $B/dashboard/page_files.o
$S/libsmtune.a: $(SRC:%.c=$S/%.o) $S/dashboard/page_files.o

$B/smtune $S/smtune: %/smtune: %/cli/main.o %/libsmtune.a
$B/smtune-shim $S/smtune-shim: %/smtune-shim: %/$(SHIM).o %/libsmtune.a
$B/smtrain $S/smtrain: %/smtrain: %/training/main.o %/libsmtune.a
ifneq ($(findstring address,$(SAN)),)
$(filter-out %/smtrain,$(PROGS:%=$S/%)) $(DENIED): $S/tests/leaks.o
endif
$(BENCH): %: %.o $B/libsmtune.a
$(UNIT) $(FUZZ): %: %.o $S/libsmtune.a
$(FILL): %: %.o $(TESTED)/libsmtune.a
$(UNIT): MORE = -lcmocka
ARITHMETIC := $(wildcard training/ops/op_*.c) $(addprefix training/ops/,ops_cpu.c \
 backend_cpu.c matrix.c arena.c) $(addprefix training/models/,params.c \
 model_memory.c model_pass.c mlp.c cnn.c gpt.c)
# Gradients are checked with the trainer's arithmetic in double precision.
GRADIENTS := $(filter $S/tests/unit/test_gradients%,$(UNIT))
$(GRADIENTS): \
 $(patsubst training/%.c,$S/double/training/%.o,$(ARITHMETIC))
$S/tests/unit/test_store_network: MORE += -Wl,--wrap=statfs
$S/tests/unit/test_attempt_denied: MORE += \
 $(patsubst %,-Wl$(,)--wrap=%,flock pread fstat gethostname statvfs)
$S/tests/unit/test_matrix_denied: MORE += -Wl,--wrap=glob -Wl,--wrap=globfree
$S/tests/unit/test_order_denied: MORE += -Wl,--wrap=close -Wl,--wrap=write
$S/tests/unit/test_pilot_spool_denied: MORE += \
 $(patsubst %,-Wl$(,)--wrap=%,dup fstat pread pwrite)
$S/tests/unit/test_slurm_names: MORE += \
 $(patsubst %,-Wl$(,)--wrap=%,getrandom pread pwrite)
$S/tests/unit/test_shim_spawn_group: MORE += \
 $(patsubst %,-Wl$(,)--wrap=%,cgroup_write clone_into)
$S/tests/unit/test_process_files: MORE += -Wl,--wrap=open -Wl,--wrap=opendir
$S/tests/unit/test_reopen_denied: MORE += \
 $(patsubst %,-Wl$(,)--wrap=sqlite3_%,prepare_v2 step)
$S/tests/unit/test_salvage_denied: MORE += $(patsubst %,-Wl$(,)--wrap=%, \
 flock fs_read rename \
 $(patsubst %,sqlite3_%,exec open_v2 prepare_v2 step wal_checkpoint_v2))
$S/tests/unit/test_warm_start_read: MORE += \
 $(patsubst %,-Wl$(,)--wrap=sqlite3_%,exec prepare_v2 step)
$S/tests/unit/test_expr_wall: MORE += -Wl,--wrap=expr_sql_translate \
 -Wl,--wrap=sqlite3_open_v2
$S/tests/unit/test_parsers_denied: MORE += $(patsubst %,-Wl$(,)--wrap=%, \
 yaml_parser_initialize yaml_parser_parse \
 $(patsubst %,sqlite3_%,column_text db_config open_v2 set_authorizer) \
 $(patsubst %,pcre2_%_8,compile_context_create jit_compile jit_stack_create \
 match_context_create match_data_create_from_pattern))
$S/tests/unit/test_http $S/tests/unit/test_http_ends: MORE += -Wl,--wrap=uv_now
$S/tests/unit/test_http: MORE += -Wl,--wrap=MHD_lookup_connection_value
$S/tests/unit/test_log_file: MORE += -Wl,--wrap=fstat -Wl,--wrap=pread
$S/tests/unit/test_run_list: MORE += -Wl,--wrap=clock_monotonic_ms \
 $(patsubst %,-Wl$(,)--wrap=sqlite3_%,prepare_v2 prepare_v3 step)
$(FUZZ): MORE = -fsanitize=fuzzer
$(REPLAY): $S/tests/fuzz/replay_%: $S/tests/fuzz/fuzz_%.o \
 $S/tests/fuzz/replay.o $S/libsmtune.a
# The same programs with fault points (tests/fault/points.h).
$B/fault/smtune $S/fault/smtune: %/fault/smtune: \
 %/cli/main.o %/tests/fault/store_points.o
$B/fault/smtune-shim $S/fault/smtune-shim: %/fault/smtune-shim: %/$(SHIM).o
$(KILLED) $(DENIED): MORE = $(WRAPPED)
$(KILLED): $B/tests/fault/points.o $B/tests/fault/calls.o $B/libsmtune.a
$(DENIED): $S/tests/fault/points.o $S/tests/fault/calls.o $S/libsmtune.a
$B/fault/smtune $S/fault/smtune: MORE += -Wl,--wrap=store_commit
WRAPPED := $(patsubst %,-Wl$(,)--wrap=%,malloc calloc realloc clock_gettime \
           fork clone clone_into posix_spawn)
$S/tests/fault/points.o $S/tests/fault/calls.o: FLAGS = -O1 -g
$B/regret: $(REGRET:%.c=$B/%.o) $B/libsmtune.a
$S/regret: $(REGRET:%.c=$S/%.o) $S/libsmtune.a
$B/fill_many: $B/tests/bench/fill_many.o $B/libsmtune.a
$B/spawn: $B/tests/bench/spawn.o
$B/nap: $B/tests/bench/nap.o
$B/cluster: $(CLUSTER:%.c=$B/%.o) $B/libsmtune.a
$S/cluster: $(CLUSTER:%.c=$S/%.o) $S/libsmtune.a
# What stands in for the clock, libuv and the executors comes before the
# library, and libuv itself is left out, so that nothing is taken from there.
$B/sim: $(SIM:%.c=$B/%.o) $B/libsmtune.a
$S/sim: $(SIM:%.c=$S/%.o) $S/libsmtune.a
$B/sim $S/sim: LIBS := $(filter-out -luv,$(LIBS))
$B/sim $S/sim: MORE = -Wl,--wrap=sqlite3_exec -Wl,--wrap=sqlite3_step
$B/tests/bench/regret/tables.o $S/tests/bench/regret/tables.o: \
 $(wildcard tests/bench/regret/tables/*.txt)

$(PROGS:%=$B/%) $(PROGS:%=$S/%) $(KILLED) $(DENIED) $(BENCH) $(UNIT) $(FILL) $(FUZZ) $(REPLAY) \
$B/regret $S/regret $B/cluster $S/cluster $B/sim $S/sim $B/fill_many $B/spawn $B/nap:
	$(call say,LD)
	@mkdir -p $(@D)
	$Q$(CC) $(FLAGS) $(PLACED) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(MORE)

# found PART: ends the recipe where it was not found.
found = @awk 'FNR == 2 && $$0 == "no" { bad = 1 } FNR == 4 && bad { print; exit 1 }' \
 $B/probe/$1 >&2

# A note for each optional part that was probed anew.
$B/probe/shown: $(PARTS:%=$B/probe/%)
	@mkdir -p $(@D)
	$(if $(filter yes,$(CUDA)),$(call found,cuda))
	$(if $(filter yes,$(MPI)),$(call found,mpi))
	@awk 'FNR == 3 { print "  NOTE " $$0 }' /dev/null $?
	@touch $@
$B/probe/%:
	@$(probe_$*) >/dev/null

$B/smtrain-mpi.so $S/smtrain-mpi.so: training/mpi/mpi_calls.c training/mpi/mpi_calls.h | $B/probe/mpi
	$(call found,mpi)
	$(call say,MPI)
	@mkdir -p $(@D)
	$Q$(MPICC) $(MPIFLAGS) -shared -o $@ $<

KERNELS := $(wildcard training/cuda/*.cu)
$B/training/cuda/%.o: training/cuda/%.cu | $B/probe/cuda
	$(call found,cuda)
	$(call say,NVCC)
	@mkdir -p $(@D)
	$Q$(NVCC) $(NVFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
# Devices before 80 have no tensor cores for bf16.
$B/training/cuda/attention_bf16.o $B/training/cuda/attention_bf16_grad.o: \
 ARCHES = $(or $(filter-out 5% 6% 7%,$(CUDA_ARCHES)),80)
$B/training/cuda/err.o: base/err.c
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(CC) $(BASE_FLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<
$B/smtrain-cuda.so: $(KERNELS:%.cu=$B/%.o) $B/training/cuda/err.o
	$(call say,LD)
	$Q$(NVCC) -shared -o $@ $^ -lcublasLt -Xlinker -rpath=$(realpath $(dir $(NVCC))../lib64)
$S/smtrain-cuda.so: $B/smtrain-cuda.so
	@mkdir -p $(@D)
	@cp $< $@

# The same kernels for the processor, for their tests (tests/cuda), as smtrain
# loads them, and a libnccl.so.2 between such devices.
EMULATED := $(KERNELS:%.cu=%.o) $(patsubst %.cc,%.o,$(wildcard tests/cuda/emulated*.cc))
EMULATION := $(TESTED)/emulation/smtrain-cuda.so $(TESTED)/emulation/libnccl.so.2
EMULATE = $(CC) -x c++ -std=c++20 -Itests/cuda -I. -D_GNU_SOURCE -Wall -Wextra \
         -Wno-unknown-pragmas $(if $(WERROR),-Werror) $(FLAGS) -fPIC -MMD -MP -c
$S/emulation/%: FLAGS = $(SAN) -fno-sanitize=vptr
define emulation
$1/emulation/%.o: %.cu $1/flags
	$$(call say,C++)
	@mkdir -p $$(@D)
	$$Q$$(EMULATE) -o $$@ $$<
$1/emulation/%.o: %.cc $1/flags
	$$(call say,C++)
	@mkdir -p $$(@D)
	$$Q$$(EMULATE) -o $$@ $$<
$1/emulation/base/err.o: base/err.c $1/flags
	$$(call say,CC)
	@mkdir -p $$(@D)
	$$Q$$(CC) $$(BASE_FLAGS) $$(FLAGS) -fPIC -MMD -MP -c -o $$@ $$<
$1/emulation/smtrain-cuda.so: $(EMULATED:%=$1/emulation/%) $1/emulation/base/err.o
	$$(call say,LD)
	$$Q$$(CC) $$(FLAGS) -shared -Wl,-soname,$$(@F) -o $$@ $$^ -lstdc++
$1/emulation/libnccl.so.2: $1/emulation/tests/cuda/nccl.o $1/emulation/smtrain-cuda.so
	$$(call say,LD)
	$$Q$$(CC) $$(FLAGS) -shared -o $$@ $$^ -lstdc++
endef
$(foreach folder,$B $S,$(eval $(call emulation,$(folder))))
$S/tests/unit/test_cuda_ops: $(EMULATED:%=$S/emulation/%)
$S/tests/unit/test_cuda_ops: MORE += -lstdc++ \
 $(if $(findstring clang,$(CC)),-fsanitize-link-c++-runtime)

# Manual pages and completions come from the program's own tables.
$B/man/%: man/%
	@mkdir -p $(@D)
	$Qcp $< $@
$B/man/smtune.1: man/smtune.1.in $B/smtune
	$(call fill,@COMMANDS@,help --man)
$B/man/smtune-experiment.5: man/smtune-experiment.5.in $B/smtune
	$(call fill,@KEYS@,schema --man)
$B/man/smtune-workflow.5: man/smtune-workflow.5.in $B/smtune
	$(call fill,@KEYS@,schema workflow --man)
define fill
$(call say,MAN)
@mkdir -p $(@D)
$Q$B/smtune $2 >$@.part
$Qsed -e '/^$1$$/{r $@.part' -e 'd}' -e 's/@VERSION@/$(VERSION)/' $< >$@.tmp
$Qrm $@.part && mv $@.tmp $@
endef
$B/completions/%: $B/smtune
	@mkdir -p $(@D)
	$Q$B/smtune completion $* >$@.tmp && mv $@.tmp $@

# The page of the dashboard; what is built is committed (tests/lint/web).
W := dashboard/web
web: $W/node_modules/.package-lock.json ## build the dashboard's page anew, with npm
	@cd $W && node_modules/.bin/tsc --noEmit && node build.mjs
web-test: $W/node_modules/.package-lock.json ## test the page's parts that need no browser
	@cd $W && node test.mjs
$W/node_modules/.package-lock.json: $W/package-lock.json
	@cd $W && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

# Packages ----------------------------------------------------------------

deps: ## install through apt what building needs
	$(call apt,$(DEPS))
deps-test: ## install through apt what building and testing need
	$(call apt,$(DEPS) $(TEST_DEPS))
	-$(call apt,$(SLURM_DEPS))

# Says what is missing and lets apt install it; quiet where all is there.
define apt
@have=$$(dpkg-query -W -f '$${db:Status-Status} $${Package}\n' $1 \
 2>/dev/null | sed -n 's/^installed //p'); \
missing=$$(printf '%s\n' $1 | grep -vxF "$$have"); \
[ "$$missing" ] || exit 0; \
echo "These Debian packages are missing and will be installed:" $$missing; \
command -v apt-get >/dev/null || \
 { echo "There is no apt-get here: please install their like."; exit 0; }; \
sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
$$sudo apt-get -q update; \
$$sudo env DEBIAN_FRONTEND=noninteractive tests/without-daemons \
 apt-get -q -y --no-install-recommends install $$missing
endef

# Tests -------------------------------------------------------------------

check: deps-test ## what a change has to pass: lint and tests, in 20 minutes on two cores
	@MAKE='$(MAKE)' tests/contain tests/check
check-quick: ## units, a few tests of each suite, lint of what changed: 3 minutes once all is built
	@MAKE='$(MAKE)' tests/contain tests/check quick
check-all: deps-test ## every test, with sanitizers, and fuzzing with new inputs; see tests/README.md
	@MAKE='$(MAKE)' tests/contain tests/check all

# What hangs on clocks, terminals, a cluster or a browser is tried once more
# where it fails, and pytest says RERUN: a fault to look for, of the test or not.
RERUN := --reruns 1

# Nothing that a test starts outlives the run (tests/contain).
PYTEST = SMTUNE_BUILD=$(abspath $(TESTED)) SMTUNE_SAN=$(abspath $S) \
         PYTHONPYCACHEPREFIX=build/pycache tests/contain $(PYTHON) -m pytest -q
WIDE   = -n $$((2 * $$(nproc)))
# What of a suite: T=name (one file), MARK=marker, SAMPLE=1 (sample.txt).
CHOICE = $(if $(MARK),-m $(MARK)) $(if $(SAMPLE),--sample) \
         $(if $T,tests/$1/test_$T.py,tests/$1)

# All that tests run, so that they can be run side by side.
TEST_PROGS = $(PROGS:%=$(TESTED)/%) $(PLUGINS:%=$(TESTED)/%) $(EMULATION) $(FILL) \
         $(TESTED)/regret $(TESTED)/cluster $(BENCH)
check-build: all $(TEST_PROGS) \
 $(if $(filter san,$(ON)),$(UNIT) $(DENIED) $(REPLAY),$(KILLED) $B/sim) ## build what tests run (ON=san)

check-unit: $B/probe/shown $(UNIT_RUN) $(PROGS:%=$S/%) $(PLUGINS:%=$S/%) ## unit tests with sanitizers (T=name: one)
	@tests/contain tests/unit/run $(UNIT_RUN)

check-e2e: all $(TEST_PROGS) ## tests of whole programs (T=name: one; ON=san: with sanitizers)
	@$(PYTEST) $(WIDE) --dist loadgroup $(RERUN) $(call CHOICE,e2e)

check-cuda: ## tests of the CUDA backend on a GPU, also under compute-sanitizer
	@NVCC='$(NVCC)' MAKE='$(MAKE)' tests/cuda/run build/gpu

check-slurm: $(PROGS:%=$(TESTED)/%) $(KILLED) ## tests on a real cluster of Slurm (T=name: one)
	@$(PYTEST) -n $$(($(if $(filter san,$(ON)),2,3) * $$(nproc))) $(RERUN) $(call CHOICE,slurm)

check-browser: $(PROGS:%=$(TESTED)/%) $(FILL) ## tests of the dashboard in Chromium (T=name: one)
	@$(PYTEST) -n 2 $(RERUN) $(call CHOICE,browser)

pictures: ## make the pictures of docs/dashboard.md anew (with pngquant)
	@$(MAKE) --no-print-directory check-browser T=docs
	cd build/pictures && for picture in docs-*.png; do \
	 pngquant --force --output $(CURDIR)/docs/dashboard/$${picture#docs-} $$picture; done

fault: $(KILLED) $(DENIED) ## drills: killed, denied and unplugged at every point (T=name: one)
	@$(PYTEST) $(WIDE) $(call CHOICE,fault)

sim: $B/sim ## play SEEDS histories of an engine that crashes (FROM: the first)
	@$B/sim --self-test
	@$B/sim --from $(or $(FROM),1) --jobs $$(nproc) \
	 --seeds $(if $(filter file,$(origin SEEDS)),500,$(SEEDS))

# What `make check` has no time for, or as much as fits into SOAK_MINUTES.
SOAK_KILLS     ?= 10000
SOAK_CUTS      ?= 500
SOAK_HISTORIES ?= 100000
soak: $(KILLED) $B/sim ## kills, power cuts, histories for hours (SOAK_MINUTES=n)
	@rm -rf build/soak && mkdir -p build/soak
	@SMTUNE_BUILD=$(abspath $S) PYTHONPYCACHEPREFIX=build/pycache \
	 SOAK_FOLDER=$(abspath build/soak) SOAK_KILLS=$(SOAK_KILLS) SOAK_CUTS=$(SOAK_CUTS) \
	 SOAK_HISTORIES=$(SOAK_HISTORIES) SOAK_MINUTES=$(SOAK_MINUTES) \
	 $(PYTHON) tests/fault/soak.py $B/sim

FUZZ_SECONDS ?= 300
fuzz: fuzz-build ## feed the parsers nonsense, FUZZ_SECONDS each
	@tests/fuzz/run open $(FUZZ_SECONDS) $(FUZZ:$S/%=build/fuzz/%)
FUZZ_INPUTS ?= 20000
check-fuzz: $(REPLAY) ## feed the parsers the seeds, and FUZZ_INPUTS mutations that are always the same
	@tests/fuzz/run replay $(FUZZ_INPUTS) $(REPLAY)
fuzz-fixed: fuzz-build ## the same with libFuzzer, which learns from the code that inputs reach
	@tests/fuzz/run fixed $(FUZZ_INPUTS) $(FUZZ:$S/%=build/fuzz/%)
fuzz-build:
	@$(MAKE) --no-print-directory S=build/fuzz CC=clang fuzz-programs \
	 DIRS='$(filter-out cli training,$(DIRS))' \
	 SAN='$(SAN) -fsanitize=fuzzer-no-link'
fuzz-programs: $(FUZZ)

# For clang-tidy, with CC=clang.
compile-flags:
	@echo $(BASE_FLAGS)
lint: $B/libsmtune.a $(MAINS:%.c=$B/%.o) ## format, layers, sizes, static analysis
	@LINT_SINCE=$(SINCE) tests/lint/run
check-lint: ## tests of what lint finds, after it
	@$(PYTEST) -n auto --timeout 900 $(call CHOICE,lint)
format: ## format every C and CUDA file
	clang-format -i $$(git ls-files '*.[ch]' '*.cu' '*.cuh' '*.cc')

# gcovr cannot merge what is compiled twice (the trainer's arithmetic, also in
# double precision).
GCOVR := --root . --exclude tests --exclude-directories '.*/double'
# What takes up runs as its users have them: by the whole program.
RECOVERY := control criteria damaged_record enqueue more_time more_trials \
 notify queue take_up workflow_links workflow_retry
coverage: ## which lines the tests reach: build/cov/index.html
	@rm -rf build/cov/report
	-@$(MAKE) -k --no-print-directory S=build/cov SAN='-O0 -g --coverage' \
	 ON=san check-unit check-e2e
	@mkdir -p build/cov/report
	gcovr $(GCOVR) --html-details build/cov/report/index.html \
	 --print-summary build/cov

branches: ## which branches of states, recovery and parsers are reached, and fail for fewer
	@$(MAKE) --no-print-directory S=build/branches \
	 SAN='-O0 -g --coverage -DNDEBUG -Wno-unused' branches-run
branches-run: $(UNIT) $(PROGS:%=$S/%) $S/sim $(DENIED)
	@find $S -name '*.gcda' -delete
	@UNIT_SECONDS=300 tests/unit/run $(UNIT)
	@$S/sim --seeds 5000 --jobs $$(nproc)
	@SMTUNE_BUILD=$(abspath $S) SMTUNE_SAN=$(abspath $S) PYTHONPYCACHEPREFIX=build/pycache \
	 $(PYTHON) -m pytest -q -n auto $(RECOVERY:%=tests/e2e/test_%.py) \
	 tests/fault/test_request_errors.py
	@gcovr $(GCOVR) --branches --gcov-ignore-parse-errors --json $S/branches.json $S
	@tests/branches $S/branches.json

bench: all $(BENCH) $B/spawn $B/nap ## speed and memory against peers, as ratios
	@$(PYTHON) tests/bench/run.py $(BENCH)

bench-train: all ## the trainer's steps against PyTorch's, input, checkpoints, then bench-ranks
	@$(PYTHON) -c 'import torch' 2>/dev/null || \
	 { echo 'bench-train: there is no PyTorch here: apt install python3-torch'; exit 0; }; \
	for peer in $(sort $(wildcard tests/bench/train/torch_*.py)); do \
	 $(PYTHON) $$peer $B || exit; done
	@$(PYTHON) tests/bench/train/input.py $B
	@$(PYTHON) tests/bench/train/checkpoint.py $B
	@$(MAKE) --no-print-directory bench-ranks

bench-cuda: all ## GPT-2 124M in bf16, mlp and cnn on a GPU against PyTorch's (BATCH, PYTHON: one with CUDA)
	@NVCC='$(NVCC)' $(PYTHON) tests/bench/train/gpt2.py $B $(if $(BATCH),--batch $(BATCH)); \
	 status=$$?; $(PYTHON) tests/bench/train/small_cuda.py $B && exit $$status

# Collectives against Open MPI's, where that is installed (openmpi-bin,
# libopenmpi-dev); root and more ranks than cores are fine for this.
MPIRUN := mpirun --allow-run-as-root --oversubscribe
bench-ranks: all $(if $(filter %-mpi.so,$(PLUGINS)),$B/all_reduce) ## two ranks against two processes that train apart, collectives against Open MPI's
	@$(PYTHON) tests/bench/train/ranks.py $B
ifeq ($(filter %-mpi.so,$(PLUGINS)),)
	@echo 'bench-ranks: there is no MPI here: apt install openmpi-bin libopenmpi-dev'
else
	@for n in 2 4; do $(MPIRUN) -n $$n $B/all_reduce; done
$B/all_reduce: tests/bench/train/all_reduce.c $B/libsmtune.a
	$(call say,LD)
	$Q$(MPICC) $(BASE_FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
endif

bench-dashboard: all $B/fill_many ## the dashboard's server and page at 100,000 trials (TRIALS CLIENTS)
	@$(PYTHON) tests/bench/dashboard.py $(if $(TRIALS),--trials $(TRIALS)) \
	 $(if $(CLIENTS),--clients $(CLIENTS)) $B
	@$(PYTHON) tests/bench/dashboard_page.py $(if $(TRIALS),--trials $(TRIALS)) $B

bench-slurm: all ## pilots, jobs and failing nodes against Slurm itself
	@$(PYTHON) tests/bench/slurm.py

SET     ?= report
METHODS ?= all
SEEDS   ?= 3
PEERS   ?=
PICTURE ?=
bench-regret: $B/regret ## how good search methods are (SET METHODS SEEDS PEERS PICTURE)
	$B/regret --set $(SET) --methods $(METHODS) --seeds $(SEEDS) \
	 --jobs $$(nproc) --out $B/regret.jsonl
	$(if $(PEERS),$(PYTHON) tests/bench/regret/optuna_peer.py --set $(SET) \
	 --samplers $(PEERS) --seeds $(SEEDS) --out $B/regret-peers.jsonl)
	@$(PYTHON) tests/bench/regret/score.py --problems $B/regret.jsonl \
	 $(if $(PEERS),$B/regret-peers.jsonl) \
	 $(if $(PICTURE),--picture $(PICTURE))

bench-schedulers: $B/cluster ## schedules on a simulated cluster (SEEDS)
	@$(call play,,--workers 1$(,)5$(,)25$(,)100$(,)500)
	@$(call play,-calm,--stragglers 0 --failures 0)
	@$(call play,-halves,--rows 50 --most 60000)
	@$(call play,-near,--rows 50 --most 60000 --within 2)
	@$(call play,-models,--within 5 --most 30000,tpe$(,)bohb$(,)asha+tpe)
	@tests/bench/cluster/report.py --picture docs/schedules.svg \
	 $B/schedules.jsonl \
	 $(patsubst %,$B/schedules-%.jsonl,calm halves near models)
play = $B/cluster $2 --seeds $(if $(filter file,$(origin SEEDS)),100,$(SEEDS)) \
 --contenders random,median,median-vizier,hyperband,asha,asha-stopping$(if $3,$(,)$3) \
 --jobs $$(nproc) --out $B/schedules$1.jsonl tests/bench/cluster/curves.csv
bench-curves: $B/smtrain ## the table of bench-schedulers, in half an hour
	tests/bench/cluster/curves.py --smtrain $B/smtrain \
	 tests/bench/cluster/curves.csv

# Installation ------------------------------------------------------------

D       := $(DESTDIR)
docdir  ?= $(datadir)/doc/smtune
man_at   = $(D)$(mandir)/man$(subst .,,$(suffix $1))/$(notdir $1)
bash_at := bash-completion/completions/smtune
zsh_at  := zsh/site-functions/_smtune
fish_at := fish/vendor_completions.d/smtune.fish

install: all ## to PREFIX (DESTDIR for packagers)
	install -d $(D)$(bindir) $(D)$(docdir)/examples $(D)$(docdir)/dashboard \
	 $(D)$(docdir)/decisions
	install $(PROGS:%=$B/%) $(PLUGINS:%=$B/%) $(D)$(bindir)
	install -m 644 README.md CHANGES.md LICENSE $W/LICENSES $(wildcard docs/*.md docs/*.svg) \
	 $(D)$(docdir)
	install -m 644 $(wildcard docs/dashboard/*) $(D)$(docdir)/dashboard
	install -m 644 $(wildcard docs/decisions/*) $(D)$(docdir)/decisions
	$(if $(wildcard examples/*),cp -r examples/. $(D)$(docdir)/examples)
	$(foreach page,$(MAN),install -D -m 644 $(page) $(call man_at,$(page));)
	$(foreach shell,$(COMPLETIONS),install -D -m 644 $(shell) \
	 $(D)$(datadir)/$($(notdir $(shell))_at);)
uninstall: ## remove what install put there
	rm -f $(PROGS:%=$(D)$(bindir)/%) $(D)$(bindir)/smtrain-mpi.so $(D)$(bindir)/smtrain-cuda.so \
	 $(foreach page,$(MAN),$(call man_at,$(page))) \
	 $(foreach shell,$(SHELLS),$(D)$(datadir)/$($(shell)_at))
	rm -rf $(D)$(docdir)

dist: ## build/smtune-VERSION.tar.gz from git
	@mkdir -p $B
	git archive --prefix=smtune-$(VERSION)/ -o $B/smtune-$(VERSION).tar.gz HEAD
clean: ## remove build/
	rm -rf build

FORCE:
-include $(shell find $B -name '*.d' 2>/dev/null)
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help quickstart web web-test deps deps-test check check-quick check-all check-build check-unit check-fuzz fuzz-fixed \
        check-e2e check-lint check-cuda check-slurm check-browser pictures fault sim soak fuzz fuzz-build fuzz-programs \
        lint compile-flags format coverage branches branches-run bench bench-regret \
        bench-schedulers bench-curves bench-slurm bench-dashboard bench-train bench-cuda bench-ranks \
        install uninstall dist clean FORCE
