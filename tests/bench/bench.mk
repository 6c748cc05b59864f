# SPDX-License-Identifier: GPL-3.0-or-later
# Benchmarks; the files of this folder describe them.
BENCH   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/bench_*.c))
REGRET  := $(wildcard tests/bench/regret/*.c)
CLUSTER := $(wildcard tests/bench/cluster/*.c)

$(BENCH): %: %.o $(BUILD)/libsmtune.a
	$(link)
$(BUILD)/spawn $(BUILD)/nap: $(BUILD)/%: $(BUILD)/tests/bench/%.o
	$(link)
$(BUILD)/fill_many: $(BUILD)/tests/bench/fill_many.o $(BUILD)/libsmtune.a
	$(link)
$(BUILD)/regret: $(REGRET:%.c=$(BUILD)/%.o) $(BUILD)/libsmtune.a
	$(link)
$(SANITIZED)/regret: $(REGRET:%.c=$(SANITIZED)/%.o) $(SANITIZED)/libsmtune.a
	$(link)
$(BUILD)/cluster: $(CLUSTER:%.c=$(BUILD)/%.o) $(BUILD)/libsmtune.a
	$(link)
$(SANITIZED)/cluster: $(CLUSTER:%.c=$(SANITIZED)/%.o) $(SANITIZED)/libsmtune.a
	$(link)
$(BUILD)/tests/bench/regret/tables.o $(SANITIZED)/tests/bench/regret/tables.o: \
 $(wildcard tests/bench/regret/tables/*.txt)

bench: all $(BENCH) $(BUILD)/spawn $(BUILD)/nap ## speed and memory against peers, as ratios
	@$(PYTHON) tests/bench/run.py $(BENCH)

bench-dist: all dist-bin ## the archive that runs anywhere beside the ordinary build
	@$(PYTHON) tests/bench/archive.py $(DIST_FILE)

bench-train: all ## the trainer's steps against PyTorch's, input, checkpoints, then bench-ranks
	@$(PYTHON) -c 'import torch' 2>/dev/null || \
	 { echo 'bench-train: there is no PyTorch here: apt install python3-torch'; exit 0; }; \
	for peer in $(sort $(wildcard tests/bench/train/torch_*.py)); do \
	 $(PYTHON) $$peer $(BUILD) || exit; done
	@$(PYTHON) tests/bench/train/input.py $(BUILD)
	@$(PYTHON) tests/bench/train/checkpoint.py $(BUILD)
	@$(MAKE) --no-print-directory bench-ranks

bench-cuda: all ## GPT-2 124M in bf16, mlp and cnn on a GPU against PyTorch's (BATCH, PYTHON: one with CUDA)
	@NVCC='$(NVCC)' $(PYTHON) tests/bench/train/gpt2.py $(BUILD) $(if $(BATCH),--batch $(BATCH)); \
	 status=$$?; $(PYTHON) tests/bench/train/small_cuda.py $(BUILD) && exit $$status

# Collectives against Open MPI's, where that is installed (openmpi-bin,
# libopenmpi-dev); root and more ranks than cores are fine for this.
MPIRUN := mpirun --allow-run-as-root --oversubscribe
bench-ranks: all $(if $(filter %-mpi.so,$(PLUGINS)),$(BUILD)/all_reduce) ## two ranks against two processes that train apart, collectives against Open MPI's
	@$(PYTHON) tests/bench/train/ranks.py $(BUILD)
ifeq ($(filter %-mpi.so,$(PLUGINS)),)
	@echo 'bench-ranks: there is no MPI here: apt install openmpi-bin libopenmpi-dev'
else
	@for n in 2 4; do $(MPIRUN) -n $$n $(BUILD)/all_reduce; done
$(BUILD)/all_reduce: tests/bench/train/all_reduce.c $(BUILD)/libsmtune.a
	$(call show,LD)
	$(quiet)$(MPICC) $(BASE_FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
endif

bench-dashboard: all $(BUILD)/fill_many ## the dashboard's server and page at 100,000 trials (TRIALS CLIENTS)
	@$(PYTHON) tests/bench/dashboard.py $(if $(TRIALS),--trials $(TRIALS)) \
	 $(if $(CLIENTS),--clients $(CLIENTS)) $(BUILD)
	@$(PYTHON) tests/bench/dashboard_page.py $(if $(TRIALS),--trials $(TRIALS)) $(BUILD)

bench-slurm: all ## pilots, jobs and failing nodes against Slurm itself
	@$(PYTHON) tests/bench/slurm.py

SET     ?= report
METHODS ?= all
SEEDS   ?= 3
PEERS   ?=
PICTURE ?=
bench-regret: $(BUILD)/regret ## how good search methods are (SET METHODS SEEDS PEERS PICTURE)
	$(BUILD)/regret --set $(SET) --methods $(METHODS) --seeds $(SEEDS) \
	 --jobs $$(nproc) --out $(BUILD)/regret.jsonl
	$(if $(PEERS),$(PYTHON) tests/bench/regret/optuna_peer.py --set $(SET) \
	 --samplers $(PEERS) --seeds $(SEEDS) --out $(BUILD)/regret-peers.jsonl)
	@$(PYTHON) tests/bench/regret/score.py --problems $(BUILD)/regret.jsonl \
	 $(if $(PEERS),$(BUILD)/regret-peers.jsonl) \
	 $(if $(PICTURE),--picture $(PICTURE))

bench-schedulers: $(BUILD)/cluster ## schedules on a simulated cluster (SEEDS)
	@$(call play,,--workers 1$(comma)5$(comma)25$(comma)100$(comma)500)
	@$(call play,-calm,--stragglers 0 --failures 0)
	@$(call play,-halves,--rows 50 --most 60000)
	@$(call play,-near,--rows 50 --most 60000 --within 2)
	@$(call play,-models,--within 5 --most 30000,tpe$(comma)bohb$(comma)asha+tpe)
	@tests/bench/cluster/report.py --picture docs/schedules.svg \
	 $(BUILD)/schedules.jsonl \
	 $(patsubst %,$(BUILD)/schedules-%.jsonl,calm halves near models)
play = $(BUILD)/cluster $2 --seeds $(if $(filter file,$(origin SEEDS)),100,$(SEEDS)) \
 --contenders random,median,median-vizier,hyperband,asha,asha-stopping$(if $3,$(comma)$3) \
 --jobs $$(nproc) --out $(BUILD)/schedules$1.jsonl tests/bench/cluster/curves.csv
bench-curves: $(BUILD)/smtrain ## the table of bench-schedulers, in half an hour
	tests/bench/cluster/curves.py --smtrain $(BUILD)/smtrain \
	 tests/bench/cluster/curves.csv

.PHONY: bench bench-dist bench-train bench-cuda bench-ranks bench-dashboard bench-slurm \
        bench-regret bench-schedulers bench-curves
