/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A gpt that begins with weights of others. Sizes and vocabulary that its flags
 * do not have are those of the weights' folder. Those that the flags have are
 * compared with the shapes of tensors when these are read; no shape shows
 * heads.
 */
#include "training/models/gpt_init_from.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "training/models/gpt2_files.h"
#include "training/models/gpt_options.h"
#include "training/models/model.h"
#include "training/util/flags.h"

static int take_sizes(const struct flag_set *set,
                      const struct gpt2_config *config, int argc, char **argv,
                      struct err *err)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"layers", config->layers},
                 {"heads", config->heads},
                 {"width", config->width},
                 {"context", config->context}};
    const struct gpt_options *how = set->options;
    char value[24];

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        snprintf(value, sizeof(value), "%" PRId64, sizes[i].value);
        if (flags_default(set, sizes[i].name, value, argc, argv, err) != 0)
            return err_prefix(err, "weights in '%s'", how->init_from);
    }
    return flags_default(set, "vocabulary", how->init_from, argc, argv, err);
}

int gpt_init_from_complete(const struct flag_set *set, int argc, char **argv,
                           struct err *err)
{
    struct gpt_options *how = set->options;
    struct gpt2_config config;

    if (how->init_from == NULL)
        return 0;
    if (gpt2_config_read(how->init_from, &config, err) != 0)
        return err_prefix(err, "--init-from");
    if (take_sizes(set, &config, argc, argv, err) != 0)
        return -1;
    /* The shapes of tensors have all sizes but this one. */
    if (how->heads != config.heads)
        return err_set(err, ERR_USAGE,
                       "--heads %" PRId64 ": the weights in '%s' are for "
                       "%" PRId64 " heads",
                       how->heads, how->init_from, config.heads);
    if (strcmp(how->text.vocabulary, how->init_from) == 0)
        how->text.tokens = config.tokens;
    return 0;
}

int gpt_init_from_load(struct model *model, const void *options,
                       struct err *err)
{
    const struct gpt_options *how = options;

    if (how->init_from == NULL)
        return 0;
    return gpt2_weights_read(how->init_from, &model->params, err);
}
