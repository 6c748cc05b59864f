/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_GPT_INIT_FROM_H
#define SMTUNE_TRAINING_MODELS_GPT_INIT_FROM_H

#include "base/err.h"

struct model;

/* The flag --init-from of gpt. `options` is a struct gpt_options. */

/* `complete` of model_gpt: the sizes and the vocabulary of the weights' folder
 * become the defaults. */
int gpt_init_from_complete(void *options, int argc, char **argv,
                           struct err *err);
/* `load` of model_gpt: the weights. */
int gpt_init_from_load(struct model *model, const void *options,
                       struct err *err);

#endif
