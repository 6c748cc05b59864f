/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_MODELS_GPT_H
#define SMTUNE_TRAINING_MODELS_GPT_H

#include <stdint.h>

#include "training/models/gpt_options.h"
#include "training/models/model.h"

/* GPT-2 (Radford et al., "Language models are unsupervised multitask
 * learners", 2019), at any size. */

extern const struct model_kind model_gpt;

/* Logits [count - known][classes] of the tokens behind the first `known` of
 * one sample that begins with `count` tokens, 1 .. context. The known ones must
 * be as they were in the call before: what attention needs of them, their keys
 * and values, is kept by the model. */
struct matrix gpt_go_on(struct model *model, const uint16_t *tokens,
                        size_t known, size_t count);

#endif
