/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/trained_gpt.h"

#include <string.h>

#include "base/buf.h"
#include "training/checkpoint/checkpoint.h"
#include "training/data/tokenizer_files.h"

static int restore(const struct checkpoint *checkpoint, struct model *model,
                   struct err *err)
{
    const struct checkpoint_piece all = {0, 0, model->params.count,
                                         model->params.values};
    struct position at;
    const struct checkpoint_parts parts = {
        .settings = "",
        .required = "model=gpt\n",
        .params = &model->params,
        .moment_count = (int)checkpoint_number(checkpoint, "moments"),
        .pieces = &all,
        .piece_count = 1,
        .position = &at};

    return checkpoint_restore(checkpoint, &parts, err);
}

/* For as many classes as there are tokens. */
static int make_model(struct trained_gpt *gpt, struct err *err)
{
    struct model_shape shape = {.classes = bpe_size(gpt->bpe),
                                .targets = (size_t)gpt->options.text.context,
                                .max_samples = 1};

    shape.inputs = shape.targets * sizeof(uint16_t);
    gpt->model =
        model_plan(&model_gpt, &backend_cpu, &shape, &gpt->options, err);
    return gpt->model != NULL ? model_allocate(gpt->model, err) : -1;
}

/* The tokens that the model was trained with. */
static struct bpe *saved_vocabulary(const struct checkpoint *checkpoint,
                                    const char *directory, struct err *err)
{
    size_t length = 0;
    const char *text = checkpoint_value(checkpoint, "model", &length);
    struct bpe *bpe = NULL;

    if (length != strlen(model_gpt.name) ||
        memcmp(text, model_gpt.name, length) != 0) {
        err_set(err, ERR_FAILED,
                "'%s' is a checkpoint of model '%.*s', expected one of gpt",
                directory, (int)length, text != NULL ? text : "");
        return NULL;
    }
    text = checkpoint_value(checkpoint, "merges", &length);
    if (text != NULL)
        bpe = bpe_parse(text, text + length, ',');
    if (bpe == NULL)
        err_set(err, ERR_FAILED, "the checkpoint in '%s' has no vocabulary",
                directory);
    return bpe;
}

static int take_checkpoint(struct trained_gpt *gpt,
                           const struct checkpoint *checkpoint,
                           const char *directory, struct err *err)
{
    const struct flag_set set = {model_gpt.flags, &gpt->options, NULL};

    flags_reset(&set, 1);
    gpt->bpe = saved_vocabulary(checkpoint, directory, err);
    if (gpt->bpe == NULL ||
        flags_restore_kept(&set, 1, checkpoint_header(checkpoint), err) != 0 ||
        make_model(gpt, err) != 0)
        return -1;
    return restore(checkpoint, gpt->model, err);
}

int trained_gpt_restore(struct trained_gpt *gpt, const char *checkpoint_dir,
                        struct err *err)
{
    const struct checkpoint_place place = {.directory = checkpoint_dir,
                                           .size = 1};
    struct checkpoint *checkpoint = NULL;
    struct buf notes = BUF_INIT;
    int status = checkpoint_open(&place, &checkpoint, &notes, err);

    *gpt = (struct trained_gpt){NULL, NULL, {.layers = 0}};
    buf_clear(&notes);
    if (status == 0 && checkpoint == NULL)
        status = err_set(err, ERR_NOT_FOUND, "no complete checkpoint in '%s'",
                         checkpoint_dir);
    if (status == 0)
        status = take_checkpoint(gpt, checkpoint, checkpoint_dir, err);
    checkpoint_destroy(checkpoint);
    return status;
}

int trained_gpt_load(struct trained_gpt *gpt, const char *folder,
                     struct err *err)
{
    const struct flag_set set = {model_gpt.flags, &gpt->options, NULL};

    *gpt = (struct trained_gpt){NULL, NULL, {.layers = 0}};
    flags_reset(&set, 1);
    gpt->options.init_from = folder;
    if (model_gpt.complete(&gpt->options, 0, NULL, err) != 0)
        return -1;
    gpt->bpe = tokenizer_read(folder, err);
    if (gpt->bpe == NULL)
        return -1;
    bpe_widen(gpt->bpe, (size_t)gpt->options.text.tokens);
    if (make_model(gpt, err) != 0)
        return -1;
    return model_gpt.load(gpt->model, &gpt->options, err);
}

void trained_gpt_clear(struct trained_gpt *gpt)
{
    model_release(gpt->model);
    bpe_destroy(gpt->bpe);
}
