# SPDX-License-Identifier: GPL-3.0-or-later
# Tests, checks and coverage. What runs them is in tests/check; CONTRIBUTING.md
# describes each folder.

# `make check-unit T=conf` runs one file of tests, in whichever folder it is.
UNIT  := $(patsubst %.c,$(SANITIZED)/%,$(wildcard $(addsuffix test_*.c, \
         tests/unit/ tests/unit/*/ tests/unit/*/*/ tests/unit/*/*/*/)))
# yes, of a sample, where none of these paths differs from what check-all passed on.
has_passed = $(if $(SAMPLE),$(shell files=$$(tests/differing $1 2>/dev/null) && \
         [ -z "$$files" ] && echo yes))
# The emulated CUDA takes a minute to build, and one and a half with sanitizers.
EMULATED := smtrain_graphs smtrain_nccl smtrain_precision
CUDA_PASSED := $(call has_passed,training tests/cuda tests/unit/training \
         $(EMULATED:%=tests/e2e/test_%.py))
UNIT_RUN := $(if $T,$(or $(filter %/test_$T,$(UNIT)),tests/unit/test_$T), \
         $(filter-out $(if $(CUDA_PASSED),%/test_cuda_ops) $(UNIT_EXCEPT:%=\%/test_%),$(UNIT)))
# Tests of whole programs run the ordinary build; with ON=san the sanitized one.
ON    ?= plain
TESTED := $(if $(filter san,$(ON)),$(SANITIZED),$(BUILD))
E2E_PROGS := $(patsubst %.c,$(TESTED)/%,$(wildcard tests/e2e/*.c))
# The programs with fault points (tests/fault/points.h): the ordinary build to
# be killed, the sanitized build to be denied calls.
FAULT_PROGS := $(BUILD)/fault/smtune $(BUILD)/fault/smtune-shim
FAULT_PROGS_SANITIZED := $(SANITIZED)/fault/smtune $(SANITIZED)/fault/smtune-shim
FUZZERS := $(patsubst %.c,$(SANITIZED)/%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAYERS := $(FUZZERS:$(SANITIZED)/tests/fuzz/fuzz_%=$(SANITIZED)/tests/fuzz/replay_%)
SIM   := $(wildcard tests/fault/sim/*.c)

# Test programs -----------------------------------------------------------

# A test program replaces functions for the rest of the program. Its sources
# list them near their top, in lines `/* wrap: flock pread */`, and
# tests/wraps checks the list.
test_sources = $(filter tests/%,$(patsubst $(BUILD)/%.o,%.c, \
         $(patsubst $(SANITIZED)/%.o,%.c,$(filter %.o,$^))))
wrapped = $(shell sed -sn '1,20s|^/\* wrap: \(.*\) \*/$$|\1|p' $(test_sources))
define link_test
@tests/wraps '$(wrapped)' $^
$(link) $(wrapped:%=-Wl,--wrap=%)
endef

$(UNIT) $(FUZZERS): %: %.o $(SANITIZED)/libsmtune.a
	$(link_test)
$(E2E_PROGS): %: %.o $(TESTED)/libsmtune.a
	$(link_test)
$(REPLAYERS): $(SANITIZED)/tests/fuzz/replay_%: $(SANITIZED)/tests/fuzz/fuzz_%.o \
 $(SANITIZED)/tests/fuzz/replay.o $(SANITIZED)/libsmtune.a
	$(link_test)
$(UNIT): EXTRA_LIBS += -lcmocka
# Each is compiled more often than it is run.
$(SANITIZED)/tests/unit/%.o: private FLAGS = $(SANITIZERS) -O0
$(FUZZERS): EXTRA_LIBS += -fsanitize=fuzzer

# Gradients are checked with the trainer's arithmetic in double precision.
ARITHMETIC := $(addprefix training/ops/,attention.c conv.c embedding.c gelu.c \
 layernorm.c linear.c normalize.c pool.c \
 relu.c softmax.c sum.c update.c ops_cpu.c \
 backend_cpu.c matrix.c arena.c) $(addprefix training/models/,params.c \
 model_memory.c model_pass.c mlp.c cnn.c gpt.c gpt_init_from.c gpt2_weights.c)
$(filter $(SANITIZED)/tests/unit/training/models/test_gradients%,$(UNIT)): \
 $(patsubst training/%.c,$(SANITIZED)/double/training/%.o,$(ARITHMETIC))
$(SANITIZED)/double/%: FLAGS = $(SANITIZERS) -DSMTRAIN_DOUBLE
$(SANITIZED)/double/%.o: %.c $(SANITIZED)/flags
	$(compile)

ifneq ($(findstring address,$(SANITIZERS)),)
$(filter-out %/smtrain,$(PROGS:%=$(SANITIZED)/%)) $(FAULT_PROGS_SANITIZED): \
 $(SANITIZED)/tests/leaks.o
endif

$(BUILD)/fault/smtune $(SANITIZED)/fault/smtune: %/fault/smtune: %/cli/main.o \
 %/cli/source_date.o %/tests/fault/store_points.o
$(BUILD)/fault/smtune-shim $(SANITIZED)/fault/smtune-shim: %/fault/smtune-shim: %/$(SHIM).o
$(FAULT_PROGS): $(BUILD)/tests/fault/points.o $(BUILD)/tests/fault/calls.o \
 $(BUILD)/libsmtune.a
	$(link_test)
$(FAULT_PROGS_SANITIZED): $(SANITIZED)/tests/fault/points.o \
 $(SANITIZED)/tests/fault/calls.o $(SANITIZED)/libsmtune.a
	$(link_test)
$(SANITIZED)/tests/fault/points.o $(SANITIZED)/tests/fault/calls.o: FLAGS = -O1 -g

# The stand-ins for the clock, libuv and the executors precede the library, and
# libuv itself is left out, so that nothing is taken from there.
$(BUILD)/sim: $(SIM:%.c=$(BUILD)/%.o) $(BUILD)/libsmtune.a
	$(link_test)
$(SANITIZED)/sim: $(SIM:%.c=$(SANITIZED)/%.o) $(SANITIZED)/libsmtune.a
	$(link_test)
$(BUILD)/sim $(SANITIZED)/sim: LIBS := $(filter-out -luv,$(LIBS))

# Suites ------------------------------------------------------------------

check: deps-test ## what a change has to pass: lint and tests, in 20 minutes on two cores
	@MAKE='$(MAKE)' tests/contain tests/check
check-quick: ## units, a few tests of each suite, lint of what changed: 3 minutes once all is built
	@MAKE='$(MAKE)' tests/contain tests/check quick
check-all: deps-test ## every test, with sanitizers, and fuzzing with new inputs; see tests/README.md
	@MAKE='$(MAKE)' tests/contain tests/check all

# Tests that depend on clocks, terminals, a cluster or a browser run once more
# after a failure, and pytest prints RERUN: a fault to fix, in the test or not.
RERUN := --reruns 1

# tests/contain: nothing that a test starts outlives the run.
PYTEST = SMTUNE_BUILD=$(abspath $(TESTED)) SMTUNE_SAN=$(abspath $(SANITIZED)) \
         SMTUNE_SHIPPED=$(abspath $(BUILD)) \
         SMTUNE_MAKE='$(MAKEOVERRIDES)' PYTHONPYCACHEPREFIX=build/pycache \
         tests/contain $(PYTHON) -m pytest -q
# Tests wait for programs as much as they compute.
WIDE   = -n $$((3 * $$(nproc)))
# What of a suite: T=name,... (files), MARK=marker, SAMPLE=1 (sample.txt), ONE=1
# (the first case of each test).
CHOICE = $(if $(MARK),-m $(MARK)) $(if $(SAMPLE),--sample) \
         $(if $(ONE),--one-case) \
         $(if $(CUDA_PASSED),$(EMULATED:%=--ignore=tests/e2e/test_%.py)) \
         $(if $T,$(patsubst %,tests/$1/test_%.py,$(subst $(comma), ,$T)),tests/$1)

# All that tests run, built first so that suites can run side by side.
TEST_PROGS = $(PROGS:%=$(TESTED)/%) $(PLUGINS:%=$(TESTED)/%) \
         $(if $(or $(CUDA_PASSED),$(MARK),$(and $(filter san,$(ON)),$(SAMPLE))),,$(EMULATION)) \
         $(E2E_PROGS) $(TESTED)/regret $(TESTED)/cluster $(BENCH)
check-build: ## build what tests run (ON=san)
check-build: all $(TEST_PROGS) $(if $(filter san,$(ON)), \
 $(UNIT_RUN) $(FAULT_PROGS_SANITIZED) $(REPLAYERS),$(FAULT_PROGS) $(BUILD)/sim)

# `make check-slurm DEBIAN=trixie`, or sid: in that release of Debian, with its
# Slurm and libraries (tests/debian). All that is built there for whole programs
# is built once, and soon.
ifneq ($(DEBIAN),)
SLURM_SOURCES := executors tests/slurm tests/debian packages.mk
slurm_passed = $(if $(filter check-slurm,$@),$(call has_passed,$(SLURM_SOURCES)))
check-unit check-e2e check-slurm:
	@$(if $(slurm_passed),echo "nothing that talks to Slurm differs from what check-all passed on"; exit;) \
	tests/debian make $(DEBIAN) $(DEBIAN_DEPS) || { \
	 [ $$? = 77 ] && echo "NOTHING IS TESTED ON DEBIAN $(DEBIAN) HERE"; exit; }; \
	tests/contain tests/debian run $(DEBIAN) $(MAKE) --no-print-directory DEBIAN= \
	 PYTHON=/usr/bin/python3 BUILD=build/$(DEBIAN) SANITIZED=build/$(DEBIAN)/san \
	 CUDA=no MPI=no WERROR= CFLAGS=-O0 $@
else
check-unit: ## unit tests with sanitizers (T=name: one; SAMPLE=1: fewer cases)
check-unit: $(BUILD)/probe/shown $(UNIT_RUN) $(PROGS:%=$(SANITIZED)/%) \
 $(PLUGINS:%=$(SANITIZED)/%)
	@$(if $(SAMPLE),UNIT_SAMPLE=1) tests/contain tests/unit/run $(UNIT_RUN)

check-e2e: all $(TEST_PROGS) ## tests of whole programs (T=name: one; ON=san: with sanitizers)
	@$(PYTEST) $(WIDE) --dist loadgroup $(RERUN) $(call CHOICE,e2e)

check-slurm: $(PROGS:%=$(TESTED)/%) $(FAULT_PROGS) ## tests on a real cluster of Slurm (T=name: one; LAB=auth,cgroup)
	@SMTUNE_LAB=$(LAB) $(PYTEST) -n $$(($(if $(filter san,$(ON)),2,3) * $$(nproc))) $(RERUN) \
	 $(call CHOICE,slurm)
endif

# tests/oldest says what is done there.
OLDEST := bullseye
check-oldest: ## build in older releases of Debian and run commands there (DEBIAN=one)
	@for release in $(or $(DEBIAN),$(OLDEST)); do \
	 tests/contain tests/oldest $$release || { \
	 [ $$? = 77 ] && echo "NOTHING IS TESTED ON DEBIAN $$release HERE"; exit; }; done

check-browser: $(PROGS:%=$(TESTED)/%) $(E2E_PROGS) ## tests of the dashboard in Chromium (T=name: one)
	@$(WEB)/install || true # axe-core; without it the tests print that
	@$(PYTEST) -n 2 $(RERUN) $(call CHOICE,browser)

check-python: $(PROGS:%=$(TESTED)/%) ## tests of the Python package (T=name: one)
	@$(PYTEST) -n 2 $(RERUN) $(call CHOICE,python)

pictures: ## make the pictures of docs/dashboard.md anew (with pngquant)
	@$(MAKE) --no-print-directory check-browser T=docs
	cd build/pictures && for picture in docs-*.png; do \
	 pngquant --force --output $(CURDIR)/docs/dashboard/$${picture#docs-} $$picture; done

fault: $(FAULT_PROGS) $(FAULT_PROGS_SANITIZED) ## drills: killed, denied and unplugged at every point (T=name: one)
	@$(PYTEST) $(WIDE) $(call CHOICE,fault)

sim: $(BUILD)/sim ## play SEEDS histories of an engine that crashes (FROM: the first)
	@$(BUILD)/sim --self-test
	@$(BUILD)/sim --from $(or $(FROM),1) --jobs $$(nproc) \
	 --seeds $(if $(filter file,$(origin SEEDS)),300,$(SEEDS))

# What `make check` has no time for, or as much as fits into SOAK_MINUTES.
SOAK_KILLS     ?= 10000
SOAK_CUTS      ?= 500
SOAK_HISTORIES ?= 100000
soak: $(FAULT_PROGS) $(BUILD)/sim ## kills, power cuts, histories for hours (SOAK_MINUTES=n)
	@rm -rf build/soak && mkdir -p build/soak
	@SMTUNE_BUILD=$(abspath $(SANITIZED)) PYTHONPYCACHEPREFIX=build/pycache \
	 SOAK_FOLDER=$(abspath build/soak) SOAK_KILLS=$(SOAK_KILLS) SOAK_CUTS=$(SOAK_CUTS) \
	 SOAK_HISTORIES=$(SOAK_HISTORIES) SOAK_MINUTES=$(SOAK_MINUTES) \
	 $(PYTHON) tests/fault/soak.py $(BUILD)/sim

FUZZ_SECONDS ?= 300
fuzz: fuzz-build ## feed the parsers nonsense, FUZZ_SECONDS each
	@tests/fuzz/run open $(FUZZ_SECONDS) $(FUZZERS:$(SANITIZED)/%=build/fuzz/%)
FUZZ_INPUTS ?= 20000
check-fuzz: $(REPLAYERS) ## feed the parsers the seeds, and FUZZ_INPUTS mutations that are always the same
	@tests/fuzz/run replay $(FUZZ_INPUTS) $(REPLAYERS)
fuzz-fixed: fuzz-build ## the same with libFuzzer, which learns from the code that inputs reach
	@tests/fuzz/run fixed $(FUZZ_INPUTS) $(FUZZERS:$(SANITIZED)/%=build/fuzz/%)
fuzz-build:
	@$(MAKE) --no-print-directory SANITIZED=build/fuzz CC=clang fuzz-programs \
	 FOLDERS='$(filter-out cli training,$(FOLDERS)) training/weights training/data training/util' \
	 SANITIZERS='$(SANITIZERS) -fsanitize=fuzzer-no-link'
fuzz-programs: $(FUZZERS)

# Checks of the sources ---------------------------------------------------

# For clang-tidy, with CC=clang. They are the same with WERROR and without.
compile-flags:
	@echo $(filter-out -Werror,$(BASE_FLAGS))
lint: $(BUILD)/libsmtune.a $(MAINS:%.c=$(BUILD)/%.o) ## format, layers, sizes, static analysis
	@LINT_SINCE=$(SINCE) tests/lint/run
# With the settings and the page that they read.
LINT_SOURCES := tests/lint tests/conftest.py tests/differing .clang-format .clang-tidy dashboard/web
check-lint: ## tests of what lint finds, after it
	@$(if $(call has_passed,$(LINT_SOURCES)),echo "no script of lint differs from what check-all passed on", \
	 $(PYTEST) -n auto --timeout 900 $(call CHOICE,lint))
format: ## format every C and CUDA file
	clang-format -i $$(git ls-files '*.[ch]' '*.cu' '*.cuh' '*.cc')

# Coverage ----------------------------------------------------------------

# gcovr cannot merge what is compiled twice (the trainer's arithmetic, also in
# double precision).
GCOVR := --root . --exclude tests --exclude-directories '.*/double'
# Tests that resume runs as users do: with the whole program.
RECOVERY := control criteria damaged_record enqueue more_time more_trials \
 notify queue suggest_record take_up workflow_links workflow_retry
coverage: ## which lines the tests reach: build/cov/index.html
	@rm -rf build/cov/report
	-@$(MAKE) -k --no-print-directory SANITIZED=build/cov \
	 SANITIZERS='-O0 -g --coverage' ON=san check-unit check-e2e
	@mkdir -p build/cov/report
	gcovr $(GCOVR) --html-details build/cov/report/index.html \
	 --print-summary build/cov

branches: ## which branches of states, recovery and parsers are reached, and fail for fewer
	@$(MAKE) --no-print-directory SANITIZED=build/branches \
	 SANITIZERS='-O0 -g --coverage -DNDEBUG -Wno-unused' branches-run
branches-run: $(UNIT) $(PROGS:%=$(SANITIZED)/%) $(SANITIZED)/sim $(FAULT_PROGS_SANITIZED)
	@find $(SANITIZED) -name '*.gcda' -delete
	@UNIT_SECONDS=300 tests/unit/run $(UNIT)
	@$(SANITIZED)/sim --seeds 5000 --jobs $$(nproc)
	@SMTUNE_BUILD=$(abspath $(SANITIZED)) SMTUNE_SAN=$(abspath $(SANITIZED)) \
	 PYTHONPYCACHEPREFIX=build/pycache $(PYTHON) -m pytest -q -n auto \
	 $(RECOVERY:%=tests/e2e/test_%.py) tests/fault/test_request_errors.py
	@gcovr $(GCOVR) --branches --gcov-ignore-parse-errors --json $(SANITIZED)/branches.json \
	 $(SANITIZED)
	@tests/branches $(SANITIZED)/branches.json

.PHONY: check check-quick check-all check-build check-unit check-e2e check-slurm \
        check-browser check-oldest check-python pictures fault sim soak fuzz check-fuzz fuzz-fixed fuzz-build \
        fuzz-programs compile-flags lint check-lint format coverage branches \
        branches-run
