/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_NCCL_CUH
#define SMTUNE_TRAINING_CUDA_NCCL_CUH

extern "C" {
#include "training/comm/nccl_calls.h"
}

extern const struct nccl_calls nccl_calls;

#endif
