/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The argument vectors of sbatch and scancel, and the environment they run in.
 * executors/slurm/talk/rest_job.c builds the same job for slurmrestd: a
 * change here needs its counterpart there.
 *
 * No shell is involved, and every option is one word with `=`, so that no text
 * of a user becomes an option. Variables
 * of the Slurm job that smtune itself runs in are removed, else sbatch would
 * take them as options; those that locate the cluster stay.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/slurm/talk/commands_impl.h"

void slurm_words_add(struct slurm_words *words, const char *format, ...)
{
    va_list args;
    char *word;

    va_start(args, format);
    word = mem_vprintf(format, args);
    va_end(args);
    words->words = mem_grow(words->words, words->count + 1, &words->capacity,
                            sizeof(*words->words));
    words->words[words->count++] = word;
    words->words[words->count] = NULL;
}

void slurm_words_clear(struct slurm_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->words[i]);
    free(words->words);
    memset(words, 0, sizeof(*words));
}

/* -- sbatch ---------------------------------------------------------------*/

static void add_size(struct slurm_words *words,
                     const struct slurm_submission *submission)
{
    const struct slurm_size size = slurm_size_of(submission);
    char *gres = slurm_gres_of(submission);

    slurm_words_add(words, "--nodes=%d", size.nodes);
    slurm_words_add(words, "--ntasks=%d", size.tasks);
    /* Slurm would put as many tasks on the first node as it has CPUs. */
    if (size.tasks_per_node > 0)
        slurm_words_add(words, "--ntasks-per-node=%d", size.tasks_per_node);
    if (size.cpus_per_task > 0)
        slurm_words_add(words, "--cpus-per-task=%" PRId64, size.cpus_per_task);
    if (gres != NULL)
        slurm_words_add(words, "--gres=%s", gres);
    free(gres);
    if (size.memory_mib > 0)
        slurm_words_add(words, "--mem=%" PRId64 "M", size.memory_mib);
    if (size.time_min > 0)
        slurm_words_add(words, "--time=%" PRId64, size.time_min);
    if (submission->array > 0)
        slurm_words_add(words, "--array=0-%d", submission->array - 1);
}

static void add_avoided(struct slurm_words *words, const char *const *avoid)
{
    struct buf list = BUF_INIT;

    for (; avoid != NULL && *avoid != NULL; avoid++)
        buf_printf(&list, "%s%s", list.length > 0 ? "," : "", *avoid);
    if (list.length > 0)
        slurm_words_add(words, "--exclude=%s", list.data);
    buf_clear(&list);
}

static void add_asked(struct slurm_words *words,
                      const struct slurm_submission *submission)
{
    const struct slurm_ask ask = slurm_asked(submission);
    const struct {
        const char *option, *value;
    } places[] = {
        {"partition", ask.partition},
        {"account", ask.account},
        {"qos", ask.qos},
        {"constraint", ask.constraint},
        {"reservation", ask.reservation},
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (places[i].value != NULL)
            slurm_words_add(words, "--%s=%s", places[i].option,
                            places[i].value);
    }
    for (size_t i = 0; i < ask.extra_count; i++)
        slurm_words_add(words, "%s", ask.extra[i]);
}

void slurm_submit_words(const struct slurm_submission *submission,
                        struct slurm_words *words)
{
    char *log = slurm_escaped_path(submission->log);
    char *name = slurm_full_name(submission);

    slurm_words_add(words, "sbatch");
    slurm_words_add(words, "--parsable");
    slurm_words_add(words, "--open-mode=append");
    slurm_words_add(words, "--no-requeue");
    slurm_words_add(words, "--export=%s",
                    submission->without_environment ? "NIL" : "ALL");
    slurm_words_add(words, "--job-name=%s", name);
    if (submission->comment != NULL && submission->comment[0] != '\0')
        slurm_words_add(words, "--comment=%s", submission->comment);
    slurm_words_add(words, "--chdir=%s", submission->directory);
    slurm_words_add(words, "--output=%s", log);
    add_size(words, submission);
    add_avoided(words, submission->avoid);
    if (submission->after > 0) {
        slurm_words_add(words, "--dependency=afternotok:%" PRId64,
                        submission->after);
        slurm_words_add(words, "--kill-on-invalid-dep=yes");
    }
    add_asked(words, submission);
    free(name);
    free(log);
}

int64_t slurm_submit_id(const char *output)
{
    enum { DIGITS_MAX = 18 };
    const char *line = output, *end = strchr(output, '\n');
    size_t digits;

    for (; end != NULL && end[1] != '\0'; end = strchr(line, '\n'))
        line = end + 1;
    digits = strspn(line, "0123456789");
    if (end == NULL || digits == 0 || digits > DIGITS_MAX ||
        strchr(";\n", line[digits]) == NULL)
        return 0;
    return strtoll(line, NULL, 10);
}

/* -- scancel --------------------------------------------------------------*/

void slurm_cancel_words(const struct slurm_target *targets, size_t count,
                        int signal, struct slurm_words *words)
{
    slurm_words_add(words, "scancel");
    if (signal != 0) {
        slurm_words_add(words, "--batch");
        slurm_words_add(words, "--signal=%d", signal);
    }
    for (size_t i = 0; i < count; i++) {
        if (targets[i].task < 0)
            slurm_words_add(words, "%" PRId64, targets[i].id);
        else
            slurm_words_add(words, "%" PRId64 "_%d", targets[i].id,
                            targets[i].task);
    }
}

/* -- The environment ------------------------------------------------------*/

/* Of those variables kept is where the cluster is, and where a user wants to
 * run unless something else is said. */
static const char *const kept[] = {
    "SLURM_CONF=",        "SLURM_CONF_SERVER=", "SLURM_JWT=",
    "SBATCH_ACCOUNT=",    "SBATCH_PARTITION=",  "SBATCH_QOS=",
    "SBATCH_CONSTRAINT=", "SBATCH_RESERVATION="};

static bool is_kept(const char *variable)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
            return true;
    }
    return false;
}

char **slurm_environment(void)
{
    struct slurm_words variables = {0};

    slurm_words_add(&variables, "SLURM_TIME_FORMAT=%%s");
    for (char **variable = environ; *variable != NULL; variable++) {
        if (is_kept(*variable) || !slurm_variable_is_own(*variable))
            slurm_words_add(&variables, "%s", *variable);
    }
    return variables.words;
}

char *slurm_program(const char *name)
{
    const char *path = getenv("PATH");

    for (path = path != NULL ? path : "/usr/bin:/bin"; *path != '\0';) {
        size_t length = strcspn(path, ":");
        char *folder = mem_copy_bytes(path, length);
        char *file = fs_join(length > 0 ? folder : ".", name);

        free(folder);
        if (access(file, X_OK) == 0)
            return file;
        free(file);
        path += length + (path[length] == ':');
    }
    return NULL;
}
