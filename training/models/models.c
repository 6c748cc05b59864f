/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/cnn.h"
#include "training/models/gpt.h"
#include "training/models/mlp.h"

const struct model_kind *const models[] = {&model_mlp, &model_cnn, &model_gpt,
                                           NULL};
