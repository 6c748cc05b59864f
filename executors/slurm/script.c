/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/script.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "executors/attempt/shim_path.h"
#include "executors/slurm/slurm_impl.h"

enum { MARGIN_MS = 60000 }; /* of Slurm's time limit, beyond the shim's */

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

/* What comes on top of the attempt's own time is cut where no more is allowed;
 * a time that is too long by itself is left to Slurm to refuse. An attempt
 * without a limit has what the job gets. */
int64_t slurm_job_time_ms(const struct slurm_options *options,
                          const struct attempt_spec *spec,
                          const struct slurm_limit *limit)
{
    int64_t most_ms = limit->time_ms, time_ms = options->time_ms;

    if (spec->time_ms > 0)
        time_ms = spec->time_ms + spec->grace_ms + MARGIN_MS;
    if (time_ms == 0 && limit->is_below_default)
        return most_ms;
    return most_ms > 0 && time_ms > most_ms && spec->time_ms <= most_ms
               ? most_ms
               : time_ms;
}

void slurm_submission_fill(const struct slurm_options *options,
                           const struct slurm_site *site,
                           const struct attempt_spec *spec,
                           struct slurm_submission *submission)
{
    const struct slurm_limit limit = slurm_time_limit(site, options, spec);

    submission->directory = spec->work_directory;
    submission->ask = spec->slurm;
    submission->fallback = &options->ask;
    submission->nodes = spec->nodes;
    submission->tasks = spec->tasks;
    submission->cpus = spec->cpus;
    submission->gpus = spec->gpus;
    submission->memory_bytes = spec->memory_bytes;
    submission->time_ms = slurm_job_time_ms(options, spec, &limit);
    submission->without_environment = options->without_environment;
}
