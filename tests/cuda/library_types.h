/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_CUDA_LIBRARY_TYPES_H
#define SMTUNE_TESTS_CUDA_LIBRARY_TYPES_H

enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16BF = 14 };

#endif
