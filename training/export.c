/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tool `smtrain export`: a trained gpt in the files of Hugging Face's
 * GPT-2, for other programs. Its folder is new, so that files of two models
 * never mix. config.json comes last: without it the folder is no model.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "training/data/tokenizer_files.h"
#include "training/models/gpt2_files.h"
#include "training/tools.h"
#include "training/trained_gpt.h"

struct export_options {
    const char *checkpoint_dir, *output;
    int dtype; /* index into dtype_names */
    double shard_mb;
};

static const char *const dtype_names[] = {"f32", "f16", "bf16", NULL};
static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};

static const struct flag export_flags[] = {
    {.name = "checkpoint-dir",
     .type = FLAG_TEXT,
     .offset = offsetof(struct export_options, checkpoint_dir),
     .argument = "DIR",
     .doc = "checkpoints of the training",
     .environment = "SMTUNE_CHECKPOINT_DIR"},
    {.name = "output",
     .type = FLAG_TEXT,
     .offset = offsetof(struct export_options, output),
     .argument = "DIR",
     .doc = "new folder for the model"},
    {.name = "dtype",
     .type = FLAG_CHOICE,
     .offset = offsetof(struct export_options, dtype),
     .argument = "TYPE",
     .initial = "f32",
     .doc = "type of the weights: f32, f16 or bf16",
     .choices = dtype_names},
    {.name = "shard-mb",
     .type = FLAG_REAL,
     .offset = offsetof(struct export_options, shard_mb),
     .argument = "X",
     .initial = "0",
     .doc = "most MB of a file of weights; 0: one file",
     .min = 0,
     .max = 1e9},
    {.name = NULL},
};

static int check_output(const char *folder, struct err *err)
{
    static const char *const files[] = {"config.json", "model.safetensors",
                                        "model.safetensors.index.json",
                                        "tokenizer.json"};
    int status = 0;

    for (size_t i = 0; i < sizeof(files) / sizeof(*files) && status == 0; i++) {
        char *path = fs_join(folder, files[i]);

        if (fs_exists(path))
            status = err_set(err, ERR_USAGE,
                             "--output: '%s' has a model already; name a new "
                             "folder",
                             folder);
        free(path);
    }
    return status != 0 ? -1 : fs_make_trial_directories(folder, err);
}

static int write_model(const struct export_options *how,
                       const struct trained_gpt *gpt, struct err *err)
{
    enum dtype dtype = dtypes[how->dtype];
    const struct gpt2_config config = {.tokens = (int64_t)bpe_size(gpt->bpe),
                                       .context = gpt->options.text.context,
                                       .width = gpt->options.width,
                                       .layers = gpt->options.layers,
                                       .heads = gpt->options.heads};

    if (gpt2_weights_write(how->output, &gpt->model->params, dtype,
                           (uint64_t)(how->shard_mb * 1e6), err) != 0 ||
        tokenizer_write(gpt->bpe, how->output, (size_t)config.context, err) !=
            0)
        return -1;
    return gpt2_config_write(how->output, &config, tokenizer_end(gpt->bpe),
                             dtype, err);
}

static int export_run(const void *options, struct buf *out, struct err *err)
{
    const struct export_options *how = options;
    struct trained_gpt gpt;
    int status;

    if (how->checkpoint_dir == NULL || how->output == NULL)
        return err_set(err, ERR_USAGE, "missing --%s",
                       how->output == NULL ? "output" : "checkpoint-dir");
    status = trained_gpt_restore(&gpt, how->checkpoint_dir, err);
    if (status == 0)
        status = check_output(how->output, err);
    if (status == 0)
        status = write_model(how, &gpt, err);
    if (status == 0)
        buf_printf(out, "parameters=%zu tokens=%zu context=%" PRId64 "\n",
                   gpt.model->params.learnt, bpe_size(gpt.bpe),
                   gpt.options.text.context);
    trained_gpt_clear(&gpt);
    return status;
}

const struct tool tool_export = {
    .name = "export",
    .summary = "write a trained gpt for other programs",
    .about = "Writes the newest checkpoint of a training of gpt in the format "
             "of\n"
             "Hugging Face's GPT-2: config.json, model.safetensors, "
             "tokenizer.json and its\n"
             "older forms.\n"
             "`smtrain gpt --init-from DIR` reads it, too.\n",
    .examples =
        "  smtrain export --checkpoint-dir run1 --output model\n"
        "  smtrain export --checkpoint-dir run1 --output half --dtype bf16\n",
    .flags = export_flags,
    .options_size = sizeof(struct export_options),
    .run = export_run,
};
