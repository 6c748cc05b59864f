# SPDX-License-Identifier: GPL-3.0-or-later
# What smtrain loads on request: CUDA for these devices and later ones, and MPI.
# training/probe compiles and links a few lines, and keeps the result in
# build/probe. CUDA=yes and MPI=yes insist, CUDA=no and MPI=no skip.
CUDA  ?= auto
MPI   ?= auto
NVCC  ?= $(firstword $(shell command -v nvcc) \
         $(wildcard /usr/local/cuda/bin/nvcc))
MPICC ?= $(shell command -v mpicc)
CUDA_ARCHES ?= 75 80 90
ARCHES  = $(CUDA_ARCHES)
NVFLAGS = -std=c++20 -O3 -lineinfo -Xcompiler -fPIC,-Wall,-Wextra -I. -Itraining/cuda \
         -D_GNU_SOURCE $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror) \
         $(foreach arch,$(ARCHES),-gencode arch=compute_$(arch)$(comma)code=sm_$(arch)) \
         -gencode arch=compute_$(lastword $(ARCHES)),code=compute_$(lastword $(ARCHES))
MPIFLAGS = $(filter-out $(WARN),$(BASE_FLAGS)) $(CFLAGS) $(LDFLAGS) -fPIC
probe_cuda = training/probe cuda $(BUILD)/probe/cuda '$(CUDA)' '$(NVCC)' $(NVFLAGS)
probe_mpi  = training/probe mpi $(BUILD)/probe/mpi '$(MPI)' '$(MPICC)' $(MPIFLAGS)
# Goals that build nothing optional.
PLAIN   := $(IDLE) quickstart check-dist check-packages dist-bin wheel deb rpm lint web
PARTS   := $(if $(filter-out $(PLAIN),$(or $(MAKECMDGOALS),all)), \
         $(if $(filter no,$(CUDA)),,cuda) $(if $(filter no,$(MPI)),,mpi))
PLUGINS := $(foreach part,$(PARTS),$(if $(filter yes,$(shell $(probe_$(part)))),smtrain-$(part).so))

# found PART: ends the recipe if the part was not found.
found = @awk 'FNR == 2 && $$0 == "no" { bad = 1 } FNR == 4 && bad { print; exit 1 }' \
 $(BUILD)/probe/$1 >&2

# A note for each optional part that was probed anew.
$(BUILD)/probe/shown: $(PARTS:%=$(BUILD)/probe/%)
	@mkdir -p $(@D)
	$(if $(filter yes,$(CUDA)),$(call found,cuda))
	$(if $(filter yes,$(MPI)),$(call found,mpi))
	@awk 'FNR == 3 { print "  NOTE " $$0 }' /dev/null $?
	@touch $@
$(BUILD)/probe/%:
	@$(probe_$*) >/dev/null

MPI_CALLS := training/mpi/mpi_calls
$(BUILD)/smtrain-mpi.so $(SANITIZED)/smtrain-mpi.so: $(MPI_CALLS).c $(MPI_CALLS).h | \
 $(BUILD)/probe/mpi
	$(call found,mpi)
	$(call show,MPI)
	@mkdir -p $(@D)
	$(quiet)$(MPICC) $(MPIFLAGS) -shared -o $@ $<

KERNELS := $(wildcard training/cuda/*.cu)
$(BUILD)/training/cuda/%.o: training/cuda/%.cu | $(BUILD)/probe/cuda
	$(call found,cuda)
	$(call show,NVCC)
	@mkdir -p $(@D)
	$(quiet)$(NVCC) $(NVFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
# Devices before 80 have no tensor cores for bf16.
$(BUILD)/training/cuda/attention_bf16.o $(BUILD)/training/cuda/attention_bf16_grad.o: \
 ARCHES = $(or $(filter-out 5% 6% 7%,$(CUDA_ARCHES)),80)
$(BUILD)/training/cuda/err.o: base/err.c
	$(call show,CC)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(BASE_FLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<
$(BUILD)/smtrain-cuda.so: $(KERNELS:%.cu=$(BUILD)/%.o) $(BUILD)/training/cuda/err.o
	$(call show,LD)
	$(quiet)$(NVCC) -shared -o $@ $^ -lcublasLt -Xlinker -rpath=$(realpath $(dir $(NVCC))../lib64)
$(SANITIZED)/smtrain-cuda.so: $(BUILD)/smtrain-cuda.so
	@mkdir -p $(@D)
	@cp $< $@
