/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"

enum { COLUMNS_MAX = 12, TASKS_MAX = 1 << 20 };

struct column {
    const char *name;
    bool (*take)(struct slurm_job *job, char *text);
};

struct slurm_row_form {
    size_t count;
    struct column columns[COLUMNS_MAX]; /* the name is the last */
};

/* -- Fields ---------------------------------------------------------------*/

static bool to_number(const char *text, int64_t *number)
{
    enum { DIGITS_MAX = 18 };
    size_t length = strspn(text, "0123456789");

    if (length == 0 || length > DIGITS_MAX || text[length] != '\0')
        return false;
    *number = strtoll(text, NULL, 10);
    return true;
}

static bool to_int(const char *text, int *value)
{
    int64_t number;

    if (!to_number(text, &number) || number > INT32_MAX)
        return false;
    *value = (int)number;
    return true;
}

static bool take_id(struct slurm_job *job, char *text)
{
    return to_number(text, &job->id) && job->id > 0;
}

static bool take_array(struct slurm_job *job, char *text)
{
    return to_number(text, &job->array);
}

static bool take_task(struct slurm_job *job, char *text)
{
    if (!to_int(text, &job->task)) {
        job->task = -1;
        job->array = 0;
    }
    return *text != '\0';
}

static bool take_state(struct slurm_job *job, char *text)
{
    job->word = text;
    job->state = slurm_state_find(text);
    return *text != '\0';
}

static bool take_reason(struct slurm_job *job, char *text)
{
    job->reason = strcmp(text, "None") != 0 ? text : "";
    return true;
}

static bool take_nodes(struct slurm_job *job, char *text)
{
    bool is_none =
        strcmp(text, "None assigned") == 0 || strcmp(text, "(null)") == 0;

    job->nodes = is_none ? "" : text;
    return true;
}

/* As waitpid() has it. */
static bool take_status(struct slurm_job *job, char *text)
{
    int status;

    if (!to_int(text, &status))
        return false;
    job->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    job->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

/* "CODE:SIGNAL". */
static bool take_exit(struct slurm_job *job, char *text)
{
    char *colon = strchr(text, ':');

    if (colon == NULL)
        return false;
    *colon = '\0';
    if (!to_int(text, &job->exit_code) || !to_int(colon + 1, &job->signal))
        return false;
    if (job->signal != 0)
        job->exit_code = -1;
    return true;
}

static bool take_restarts(struct slurm_job *job, char *text)
{
    return to_int(text, &job->restarts);
}

/* In seconds; any word is for one that is not known. */
static int64_t to_ms(const char *text)
{
    int64_t seconds;

    return to_number(text, &seconds) && seconds < INT64_MAX / 1000
               ? seconds * 1000
               : 0;
}

static bool take_start(struct slurm_job *job, char *text)
{
    job->start_ms = to_ms(text);
    return *text != '\0';
}

static bool take_end(struct slurm_job *job, char *text)
{
    job->end_ms = to_ms(text);
    return *text != '\0';
}

/* "ID", "ID_TASK", or "ID_[TASKS]", which is expanded elsewhere. */
static bool take_task_id(struct slurm_job *job, char *text)
{
    char *task = strchr(text, '_');

    if (task == NULL)
        return isdigit((unsigned char)*text);
    *task++ = '\0';
    if (!to_number(text, &job->array))
        return false;
    return to_int(task, &job->task) || *task == '[';
}

static bool take_name(struct slurm_job *job, char *text)
{
    job->name = text;
    return true;
}

const struct slurm_row_form slurm_queue_rows = {
    11,
    {
        {"JobID", take_id},
        {"ArrayJobID", take_array},
        {"ArrayTaskID", take_task},
        {"State", take_state},
        {"Reason", take_reason},
        {"NodeList", take_nodes},
        {"exit_code", take_status},
        {"RestartCnt", take_restarts},
        {"StartTime", take_start},
        {"EndTime", take_end},
        {"Name", take_name},
    },
};

const struct slurm_row_form slurm_account_rows = {
    9,
    {
        {"JobIDRaw", take_id},
        {"JobID", take_task_id},
        {"State", take_state},
        {"Reason", take_reason},
        {"NodeList", take_nodes},
        {"ExitCode", take_exit},
        {"Start", take_start},
        {"End", take_end},
        {"JobName", take_name},
    },
};

/* -- Rows -----------------------------------------------------------------*/

char *slurm_row_columns(const struct slurm_row_form *form, const char *suffix)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < form->count; i++)
        buf_printf(&text, "%s%s%s", i > 0 ? "," : "", form->columns[i].name,
                   suffix);
    return buf_take(&text);
}

bool slurm_row_split(size_t count, char **at, char *fields[])
{
    char *text = *at;

    for (size_t i = 0; i < count; i++) {
        char *end = strchr(text, SLURM_SEPARATOR[0]);

        if (end == NULL)
            return false;
        *end = '\0';
        fields[i] = text;
        text = end + 1;
    }
    *at = text + 1;
    return *text == '\n';
}

static void add(struct slurm_rows *rows, const struct slurm_job *job)
{
    rows->jobs =
        mem_grow(rows->jobs, rows->count, &rows->capacity, sizeof(*rows->jobs));
    rows->jobs[rows->count++] = *job;
}

/* "[0,2-5:1%4]": a row for each. The list may end in "...", cut by Slurm. */
static bool expand(struct slurm_rows *rows, struct slurm_job *job,
                   const char *text)
{
    for (text++; isdigit((unsigned char)*text);) {
        char *end;
        long first = strtol(text, &end, 10), last = first, step = 1;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (*end == ':')
            step = strtol(end + 1, &end, 10);
        if (first > last || last >= TASKS_MAX || step < 1)
            return false;
        for (; first <= last; first += step) {
            if (rows->count >= TASKS_MAX)
                return false;
            job->task = (int)first;
            add(rows, job);
        }
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

static bool take_row(const struct slurm_row_form *form, char *fields[],
                     struct slurm_rows *rows)
{
    struct slurm_job job = {
        .task = -1, .exit_code = -1, .reason = "", .nodes = ""};
    const char *tasks = strchr(fields[1], '[');

    for (size_t i = 0; i < form->count; i++) {
        if (!form->columns[i].take(&job, fields[i]))
            return false;
    }
    if (job.state->phase != SLURM_ENDED) {
        job.exit_code = -1;
        job.signal = 0;
        job.end_ms = 0;
    }
    if (job.state->phase == SLURM_PENDING || job.state->phase == SLURM_HELD)
        job.start_ms = 0;
    if (tasks != NULL && job.task < 0)
        return expand(rows, &job, tasks);
    add(rows, &job);
    return true;
}

int slurm_rows_parse(const struct slurm_row_form *form, char *text,
                     size_t length, const char *prefix, struct slurm_rows *rows)
{
    char *fields[COLUMNS_MAX], *end = text + length;

    if (strlen(text) != length ||
        !slurm_row_split(form->count, &text, fields) ||
        strncasecmp(fields[0], "JOBID", strlen("JOBID")) != 0)
        return -1;
    while (text < end) {
        if (!slurm_row_split(form->count, &text, fields))
            return -1;
        if (strncmp(fields[form->count - 1], prefix, strlen(prefix)) == 0 &&
            !take_row(form, fields, rows))
            return -1;
    }
    return 0;
}

void slurm_rows_clear(struct slurm_rows *rows)
{
    free(rows->jobs);
    memset(rows, 0, sizeof(*rows));
}
