/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The models that smtrain offers. A new one is one line here; docs/trainer.md
 * has the steps. */
#include "training/models/cnn.h"
#include "training/models/gpt.h"
#include "training/models/mlp.h"

const struct model_kind *const models[] = {&model_mlp, &model_cnn, &model_gpt,
                                           NULL};
