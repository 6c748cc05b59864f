/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/rows.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/tasks.h"

enum { COLUMNS_MAX = 12, TASKS_MAX = 1 << 20 };

struct row {
    struct slurm_job job;
    const char *tasks; /* a list of those that it stands for, or NULL */
};

struct column {
    const char *name;
    bool (*take)(struct row *row, const char *text);
};

struct slurm_row_form {
    size_t count;
    struct column columns[COLUMNS_MAX]; /* the name is the last */
};

/* -- Fields ---------------------------------------------------------------*/

/* The number that stands at *at, which moves behind it. */
static bool next_number(const char **at, int64_t *number)
{
    enum { DIGITS_MAX = 18 };
    size_t length = strspn(*at, "0123456789");

    if (length == 0 || length > DIGITS_MAX)
        return false;
    *number = strtoll(*at, NULL, 10);
    *at += length;
    return true;
}

static bool to_number(const char *text, int64_t *number)
{
    return next_number(&text, number) && *text == '\0';
}

static bool to_int(const char *text, int *value)
{
    int64_t number;

    if (!to_number(text, &number) || number > INT32_MAX)
        return false;
    *value = (int)number;
    return true;
}

static bool take_id(struct row *row, const char *text)
{
    return to_number(text, &row->job.id) && row->job.id > 0;
}

static bool take_array(struct row *row, const char *text)
{
    return to_number(text, &row->job.array);
}

static bool take_task(struct row *row, const char *text)
{
    if (!to_int(text, &row->job.task)) {
        row->job.task = -1;
        row->job.array = 0;
    }
    return *text != '\0';
}

static bool take_state(struct row *row, const char *text)
{
    row->job.word = text;
    row->job.state = slurm_state_find(text);
    return *text != '\0';
}

static bool take_reason(struct row *row, const char *text)
{
    row->job.reason = strcmp(text, "None") != 0 ? text : "";
    return true;
}

static bool take_nodes(struct row *row, const char *text)
{
    bool is_none =
        strcmp(text, "None assigned") == 0 || strcmp(text, "(null)") == 0;

    row->job.nodes = is_none ? "" : text;
    return true;
}

/* "CODE:SIGNAL". */
static bool take_exit(struct row *row, const char *text)
{
    int64_t code;

    if (!next_number(&text, &code) || code > INT32_MAX || *text != ':' ||
        !to_int(text + 1, &row->job.signal))
        return false;
    row->job.exit_code = row->job.signal != 0 ? -1 : (int)code;
    return true;
}

/* squeue prints the status of waitpid() up to Slurm 22.05, and CODE:SIGNAL or
 * nothing from 23.02 on. */
static bool take_status(struct row *row, const char *text)
{
    int status;

    if (*text == '\0')
        return true;
    if (strchr(text, ':') != NULL)
        return take_exit(row, text);
    if (!to_int(text, &status))
        return false;
    row->job.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    row->job.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

static bool take_restarts(struct row *row, const char *text)
{
    return to_int(text, &row->job.restarts);
}

/* In seconds; any word is for one that is not known. */
static int64_t to_ms(const char *text)
{
    int64_t seconds;

    return to_number(text, &seconds) && seconds < INT64_MAX / 1000
               ? seconds * 1000
               : 0;
}

static bool take_start(struct row *row, const char *text)
{
    row->job.start_ms = to_ms(text);
    return *text != '\0';
}

static bool take_end(struct row *row, const char *text)
{
    row->job.end_ms = to_ms(text);
    return *text != '\0';
}

/* "ID", "ID_TASK", or "ID_[TASKS]". */
static bool take_task_id(struct row *row, const char *text)
{
    int64_t id;

    if (!next_number(&text, &id))
        return false;
    if (*text != '_')
        return true;
    row->job.array = id;
    if (text[1] == '[')
        row->tasks = text + 1;
    return row->tasks != NULL || to_int(text + 1, &row->job.task);
}

static bool take_name(struct row *row, const char *text)
{
    row->job.name = slurm_own_name(text);
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

char *slurm_row_split(size_t count, char **at, char *fields[])
{
    char *text = *at, *last = NULL;

    for (size_t i = 0; i < count; i++) {
        char *end = strchr(text, SLURM_SEPARATOR[0]);

        if (end == NULL)
            return NULL;
        *end = '\0';
        last = fields[i] = text;
        text = end + 1;
    }
    *at = text + 1;
    return *text == '\n' ? last : NULL;
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
    struct slurm_tasks tasks;
    int taken;

    text++;
    while ((taken = slurm_tasks_take(&text, &tasks)) == 1) {
        for (; tasks.first <= tasks.last; tasks.first += tasks.step) {
            if (rows->count >= TASKS_MAX)
                return false;
            job->task = (int)tasks.first;
            add(rows, job);
        }
    }
    return taken == 0;
}

static bool take_row(const struct slurm_row_form *form, char *fields[],
                     struct slurm_rows *rows)
{
    struct row row = {.job = {.state = slurm_state_find(""),
                              .task = -1,
                              .exit_code = -1,
                              .reason = "",
                              .nodes = "",
                              .partition = ""}};
    struct slurm_job *job = &row.job;

    for (size_t i = 0; i < form->count; i++) {
        if (!form->columns[i].take(&row, fields[i]))
            return false;
    }
    if (job->state->phase != SLURM_ENDED) {
        job->exit_code = -1;
        job->signal = 0;
        job->end_ms = 0;
    }
    if (job->state->phase == SLURM_PENDING || job->state->phase == SLURM_HELD)
        job->start_ms = 0;
    if (row.tasks != NULL)
        return expand(rows, job, row.tasks);
    add(rows, job);
    return true;
}

int slurm_rows_parse(const struct slurm_row_form *form, char *text,
                     size_t length, const char *prefix, struct slurm_rows *rows)
{
    char *fields[COLUMNS_MAX], *end = text + length;

    if (strlen(text) != length ||
        strncasecmp(text, "JOBID", strlen("JOBID")) != 0 ||
        slurm_row_split(form->count, &text, fields) == NULL)
        return -1;
    while (text < end) {
        const char *name = slurm_row_split(form->count, &text, fields);

        if (name == NULL)
            return -1;
        if (strncmp(slurm_own_name(name), prefix, strlen(prefix)) == 0 &&
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
