/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_CUDA_RECORDING_CUH
#define SMTUNE_TRAINING_CUDA_RECORDING_CUH

#include "training/cuda/device.cuh"

extern const struct recording_calls recording_calls;

#endif
