/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_GPT_INIT_FROM_H
#define SMTUNE_TRAINING_MODELS_GPT_INIT_FROM_H

#include "base/err.h"

struct flag_set;
struct model;

/* The flag --init-from of gpt. Options are a struct gpt_options. */

/* The sizes and the vocabulary of the weights' folder become the defaults of
 * the set, which are the flags of gpt. As `complete` of a model_kind else. */
int gpt_init_from_complete(const struct flag_set *set, int argc, char **argv,
                           struct err *err);
/* `load` of model_gpt: the weights. */
int gpt_init_from_load(struct model *model, const void *options,
                       struct err *err);

#endif
