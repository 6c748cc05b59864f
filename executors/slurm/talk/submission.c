/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both transports make of a submission: what it asks for, its size, the
 * path of its log, and which variables are Slurm's own. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/transport.h"

static const char *first(const char *own, const char *fallback)
{
    return own != NULL ? own : fallback;
}

struct slurm_ask slurm_asked_by(const struct slurm_ask *own,
                                const struct slurm_ask *fallback)
{
    static const struct slurm_ask nothing = {0};
    struct slurm_ask ask = fallback != NULL ? *fallback : nothing;

    if (own == NULL)
        return ask;
    ask.partition = first(own->partition, ask.partition);
    ask.account = first(own->account, ask.account);
    ask.qos = first(own->qos, ask.qos);
    ask.constraint = first(own->constraint, ask.constraint);
    ask.reservation = first(own->reservation, ask.reservation);
    ask.mode = first(own->mode, ask.mode);
    ask.gpu_type = own->gpu_type;
    if (own->extra_count > 0) {
        ask.extra = own->extra;
        ask.extra_count = own->extra_count;
    }
    return ask;
}

struct slurm_ask slurm_asked(const struct slurm_submission *submission)
{
    return slurm_asked_by(submission->ask, submission->fallback);
}

static int64_t round_up(int64_t amount, int64_t unit)
{
    return amount / unit + (amount % unit != 0);
}

struct slurm_size slurm_size_of(const struct slurm_submission *submission)
{
    int nodes = submission->nodes > 0 ? submission->nodes : 1;
    int tasks = submission->tasks > nodes ? submission->tasks : nodes;

    return (struct slurm_size){
        .nodes = nodes,
        .tasks = tasks,
        .tasks_per_node = tasks > 1 ? (int)round_up(tasks, nodes) : 0,
        .cpus_per_task = round_up(submission->cpus, tasks),
        .gpus_per_node = round_up(submission->gpus, nodes),
        .memory_mib = round_up(submission->memory_bytes, 1 << 20),
        .time_min = round_up(submission->time_ms, 60000),
    };
}

char *slurm_gres_of(const struct slurm_submission *submission)
{
    const struct slurm_ask ask = slurm_asked(submission);
    int64_t gpus = slurm_size_of(submission).gpus_per_node;

    if (gpus == 0)
        return NULL;
    return mem_printf("gpu:%s%s%" PRId64,
                      ask.gpu_type != NULL ? ask.gpu_type : "",
                      ask.gpu_type != NULL ? ":" : "", gpus);
}

/* A backslash anywhere in it makes Slurm drop all that are no backslashes
 * themselves, and expand nothing. */
char *slurm_escaped_path(const char *path)
{
    struct buf escaped = BUF_INIT;

    for (; *path != '\0'; path++) {
        if (*path == '%' || *path == '\\')
            buf_add_char(&escaped, '\\');
        buf_add_char(&escaped, *path);
    }
    return buf_take(&escaped);
}

bool slurm_variable_is_own(const char *variable)
{
    static const char *const parts[] = {
        "SLURM_", "SBATCH_", "SQUEUE_", "SACCT_",  "SCANCEL_",
        "SINFO_", "SALLOC_", "SRUN_",   "SLURMD_", "SCONTROL_"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (strncmp(variable, parts[i], strlen(parts[i])) == 0)
            return true;
    }
    return false;
}
