/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cnn.h"
#include "training/gpt.h"
#include "training/mlp.h"

const struct model_kind *const models[] = {&model_mlp, &model_cnn, &model_gpt,
                                           NULL};
