# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the CUDA code, on a GPU and on a processor.

check-cuda: ## tests of the CUDA backend on a GPU, also under compute-sanitizer
	@NVCC='$(NVCC)' MAKE='$(MAKE)' tests/cuda/run build/gpu

# The same kernels for the processor, for their tests, as smtrain loads them,
# and a libnccl.so.2 between such devices.
EMULATED := $(KERNELS:%.cu=%.o) $(patsubst %.cc,%.o,$(wildcard tests/cuda/emulated*.cc))
EMULATION = $(TESTED)/emulation/smtrain-cuda.so $(TESTED)/emulation/libnccl.so.2
EMULATE = $(CC) -x c++ -std=c++20 -Itests/cuda -I. -D_GNU_SOURCE -Wall -Wextra \
         -Wno-unknown-pragmas $(if $(WERROR),-Werror) $(FLAGS) -fPIC -MMD -MP -c
$(SANITIZED)/emulation/%: FLAGS = $(SANITIZERS) -fno-sanitize=vptr
define emulation
$1/emulation/%.o: %.cu $1/flags
	$$(call show,C++)
	@mkdir -p $$(@D)
	$$(quiet)$$(EMULATE) -o $$@ $$<
$1/emulation/%.o: %.cc $1/flags
	$$(call show,C++)
	@mkdir -p $$(@D)
	$$(quiet)$$(EMULATE) -o $$@ $$<
$1/emulation/base/err.o: base/err.c $1/flags
	$$(call show,CC)
	@mkdir -p $$(@D)
	$$(quiet)$$(CC) $$(BASE_FLAGS) $$(FLAGS) -fPIC -MMD -MP -c -o $$@ $$<
$1/emulation/smtrain-cuda.so: $(EMULATED:%=$1/emulation/%) $1/emulation/base/err.o
	$$(call show,LD)
	$$(quiet)$$(CC) $$(FLAGS) -shared -Wl,-soname,$$(@F) -o $$@ $$^ -lstdc++
$1/emulation/libnccl.so.2: $1/emulation/tests/cuda/nccl.o $1/emulation/smtrain-cuda.so
	$$(call show,LD)
	$$(quiet)$$(CC) $$(FLAGS) -shared -o $$@ $$^ -lstdc++
endef
$(foreach folder,$(BUILD) $(SANITIZED),$(eval $(call emulation,$(folder))))
$(SANITIZED)/tests/unit/training/cuda/test_cuda_ops: $(EMULATED:%=$(SANITIZED)/emulation/%)
$(SANITIZED)/tests/unit/training/cuda/test_cuda_ops: EXTRA_LIBS += -lstdc++ \
 $(if $(findstring clang,$(CC)),-fsanitize-link-c++-runtime)

.PHONY: check-cuda
