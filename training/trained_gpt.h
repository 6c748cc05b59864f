/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_TRAINED_GPT_H
#define SMTUNE_TRAINING_TRAINED_GPT_H

#include "base/err.h"
#include "training/data/bpe.h"
#include "training/models/gpt.h"

/* A gpt that was trained, with its tokens, for one sample at a time. */
struct trained_gpt {
    struct model *model;
    struct bpe *bpe;
    struct gpt_options options;
};

/* From the newest checkpoint of a folder. ERR_NOT_FOUND where there is none,
 * ERR_FAILED where it is of another model. */
int trained_gpt_restore(struct trained_gpt *gpt, const char *checkpoint_dir,
                        struct err *err);
/* From a folder in the format of Hugging Face's GPT-2. */
int trained_gpt_load(struct trained_gpt *gpt, const char *folder,
                     struct err *err);
void trained_gpt_clear(struct trained_gpt *gpt);

#endif
