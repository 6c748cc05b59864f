/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/script.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "executors/attempt/shim_path.h"

/* As one word of a shell, whatever is in it. */
static void add_word(struct buf *script, const char *word)
{
    buf_add_string(script, " '");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            buf_add_string(script, "'\\''");
        else
            buf_add_char(script, *word);
    }
    buf_add_char(script, '\'');
}

static void add_common(struct buf *script, const struct slurm_options *options,
                       const char *folder)
{
    buf_printf(script, " --heartbeat %" PRId64 " --silence %" PRId64,
               options->heartbeat_ms, options->silence_ms);
    buf_add_string(script, " --healthy");
    add_word(script, folder);
    if (options->health == NULL)
        return;
    buf_add_string(script, " --health");
    add_word(script, options->health);
}

char *slurm_script(const struct slurm_options *options, const char *folder,
                   const char *const *arguments, struct err *err)
{
    struct buf script = BUF_INIT;
    char *found = shim_path(err), *shim, *memos;

    if (found == NULL)
        return NULL;
    shim = fs_absolute(found);
    memos = fs_join(folder, "healthy");
    buf_add_string(&script, "#!/bin/sh\n");
    buf_add_string(&script, "exec");
    add_word(&script, shim);
    for (; *arguments != NULL; arguments++)
        add_word(&script, *arguments);
    add_common(&script, options, memos);
    buf_add_char(&script, '\n');
    free(memos);
    free(shim);
    free(found);
    return buf_take(&script);
}
