/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/model.h"

#include "training/mlp.h"

const struct model_kind *const models[] = {&model_mlp, NULL};
