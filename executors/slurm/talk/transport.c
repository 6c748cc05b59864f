/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/transport.h"

#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

static const struct slurm_transport_type *const types[] = {
    &slurm_commands,
    &slurm_rest,
};

static const char *const names[ARRAY_LEN(types)] = {"commands", "rest"};

struct slurm_transport *slurm_transport_create(
    uv_loop_t *loop, const struct slurm_options *options, struct err *err)
{
    const char *name =
        options->transport != NULL ? options->transport : names[0];

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i]->name, name) == 0)
            return types[i]->create(loop, options, err);
    }
    text_unknown("transport", name, names, ARRAY_LEN(types), ERR_FILE, err);
    return NULL;
}
