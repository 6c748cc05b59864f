/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in answers of slurmrestd, as rows of struct slurm_job; read
 * executors/slurm/talk/rows.h for the same rows from squeue and sacct.
 *
 * The queue of a whole cluster may be hundreds of megabytes. It is cut into
 * records (executors/slurm/talk/rest_cut.c), and a record without our
 * prefix is not even parsed. Texts of a row belong to the JSON in `kept`. Tasks
 * of one array come as a list of ranges, which slurmrestd may shorten. An
 * unclear list yields too many rows rather than too few, because a missing task
 * counts as lost.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"
#include "executors/slurm/talk/tasks.h"

enum {
    RECORD_MAX_BYTES = 64 << 20, /* of a job on thousands of nodes */
    TASKS_MAX = 1 << 17,         /* of all arrays in one answer */
    ARRAY_USUAL = 1001,          /* MaxArraySize where nothing else is set */
    SKEW_MS = 600 * 1000 /* by which the clocks of two machines may differ */
};

struct reading {
    struct slurm_rest_rows *rows;
    const char *prefix;
    uid_t uid;
    int64_t since_ms;
};

void slurm_rest_rows_clear(struct slurm_rest_rows *rows)
{
    free(rows->jobs);
    json_decref(rows->kept);
    memset(rows, 0, sizeof(*rows));
}

static void add_row(struct slurm_rest_rows *rows, const struct slurm_job *job)
{
    rows->jobs = mem_grow(rows->jobs, rows->count + 1, &rows->capacity,
                          sizeof(*rows->jobs));
    rows->jobs[rows->count++] = *job;
}

/* The JSON whose texts a row has. */
static void keep_json(struct slurm_rest_rows *rows, json_t *json)
{
    if (rows->kept == NULL)
        rows->kept = json_array();
    json_array_append(rows->kept, json);
}

static int add_task(struct slurm_rest_rows *rows, struct slurm_job *job,
                    long task)
{
    if (rows->count >= TASKS_MAX)
        return -1;
    job->task = (int)task;
    add_row(rows, job);
    return 0;
}

/*
 * "0-7", "1,3,8-99:2%4". slurmrestd cuts it to some 60 characters, with "..."
 * at the end: what is not said then may still wait, all tasks of an array of
 * the usual size. One too many waits a little longer for nothing, while one too
 * few would be given up.
 */
static int add_tasks(struct slurm_rest_rows *rows, struct slurm_job *job,
                     const char *text)
{
    struct slurm_tasks tasks = {.last = -1};
    int taken;

    while ((taken = slurm_tasks_take(&text, &tasks)) == 1) {
        for (; tasks.first <= tasks.last; tasks.first += tasks.step) {
            if (add_task(rows, job, tasks.first) != 0)
                return -1;
        }
    }
    if (taken != 0)
        return -1;
    if (strncmp(text, "...", 3) != 0)
        return 0;
    for (long next = tasks.last + 1; next < ARRAY_USUAL; next++) {
        if (add_task(rows, job, next) != 0)
            return -1;
    }
    return 0;
}

/* Until version 38 a wait status, later {"return_code", "signal"}. */
static void take_exit(const json_t *exit, struct slurm_job *job)
{
    const json_t *signal = json_object_get(exit, "signal");
    int64_t number = slurm_rest_number(exit);

    job->exit_code = -1;
    if (job->state->phase != SLURM_ENDED)
        return;
    if (json_is_integer(exit) && number >= 0) {
        job->signal = (int)(number & 0x7f);
        number = number >> 8 & 0xff;
    } else {
        const json_t *id = json_object_get(signal, "id");

        job->signal = slurm_rest_count(
            id != NULL ? id : json_object_get(signal, "signal_id"));
        number = slurm_rest_number(json_object_get(exit, "return_code"));
    }
    if (job->signal == 0 && number >= 0 && number <= UINT8_MAX)
        job->exit_code = (int)number;
}

/* What a listing says where there is nothing to say; and of one that runs, when
 * it is expected to end. */
static void take_rest(const char *reason, struct slurm_job *job)
{
    job->reason = strcmp(reason, "None") == 0 ? "" : reason;
    if (strcmp(job->nodes, "None assigned") == 0)
        job->nodes = "";
    if (job->state->phase != SLURM_ENDED)
        job->end_ms = 0;
}

static int take_job(const json_t *json, struct slurm_rest_rows *rows)
{
    int64_t task = slurm_rest_number(json_object_get(json, "array_task_id"));
    const char *tasks =
        slurm_rest_text(json_object_get(json, "array_task_string"));
    const char *word = slurm_rest_state(json_object_get(json, "job_state"));
    struct slurm_job job = {
        .id = slurm_rest_known(json_object_get(json, "job_id")),
        .array = slurm_rest_known(json_object_get(json, "array_job_id")),
        .task = task >= 0 && task <= INT32_MAX ? (int)task : -1,
        .name = slurm_own_name(slurm_rest_text(json_object_get(json, "name"))),
        .state = slurm_state_find(word),
        .word = word,
        .nodes = slurm_rest_text(json_object_get(json, "nodes")),
        .partition = slurm_rest_text(json_object_get(json, "partition")),
        .restarts = slurm_rest_count(json_object_get(json, "restart_cnt")),
        .start_ms =
            slurm_rest_time_ms(json_object_get(json, "start_time"), 1000),
        .end_ms = slurm_rest_time_ms(json_object_get(json, "end_time"), 1000),
    };

    if (job.id == 0 || word[0] == '\0')
        return -1;
    take_exit(json_object_get(json, "exit_code"), &job);
    take_rest(slurm_rest_text(json_object_get(json, "state_reason")), &job);
    if (job.array == 0)
        job.task = -1;
    if (job.array > 0 && job.task < 0)
        return add_tasks(rows, &job, tasks);
    add_row(rows, &job);
    return 0;
}

/* Somebody else's job is not even looked at. */
static int on_job(void *user, const char *item, size_t length)
{
    struct reading *reading = user;
    size_t prefix = strlen(reading->prefix);
    json_t *json;
    int result = 0;

    if (memmem(item, length, reading->prefix, prefix) == NULL)
        return 0;
    json = json_parse_up_to(item, length, RECORD_MAX_BYTES, NULL);
    if (json == NULL)
        return -1;
    if (strncmp(slurm_own_name(slurm_rest_text(json_object_get(json, "name"))),
                reading->prefix, prefix) == 0 &&
        slurm_rest_number(json_object_get(json, "user_id")) ==
            (int64_t)reading->uid) {
        keep_json(reading->rows, json);
        result = take_job(json, reading->rows);
    }
    json_decref(json);
    return result;
}

static void read_rows(const struct fetch_answer *answer,
                      const struct slurm_rest_part *part,
                      struct slurm_reply *reply)
{
    enum { NOTHING_FOUND = 9003 };
    int64_t number;
    json_t *body = slurm_rest_judge(answer, part, &number, reply);

    if (number == NOTHING_FOUND)
        memset(reply, 0, sizeof(*reply));
    else if (reply->answer == SLURM_DONE &&
             !json_is_array(json_object_get(body, "jobs")))
        slurm_rest_set_garbled(reply);
    json_decref(body);
}

void slurm_rest_read_jobs(const struct fetch_answer *answer, const char *prefix,
                          uid_t uid, struct slurm_rest_rows *rows,
                          struct slurm_reply *reply)
{
    struct reading reading = {.rows = rows, .prefix = prefix, .uid = uid};

    read_rows(answer, &(struct slurm_rest_part){"jobs", on_job, &reading},
              reply);
    if (reply->answer != SLURM_DONE)
        slurm_rest_rows_clear(rows);
}

/* -- The accounting -------------------------------------------------------*/

/* Of the lives of a job that Slurm put back the last counts. */
static void add_life(struct slurm_rest_rows *rows, const struct slurm_job *job)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct slurm_job *other = &rows->jobs[i];

        if (other->id == job->id && other->task == job->task) {
            if (other->start_ms <= job->start_ms)
                *other = *job;
            return;
        }
    }
    add_row(rows, job);
}

static int take_account(json_t *json, const struct reading *reading)
{
    int64_t task =
        slurm_rest_number(slurm_rest_inner(json, "array", "task_id"));
    int64_t submitted_ms =
        slurm_rest_time_ms(slurm_rest_inner(json, "time", "submission"), 1000);
    const char *word =
        slurm_rest_state(slurm_rest_inner(json, "state", "current"));
    struct slurm_job job = {
        .id = slurm_rest_known(json_object_get(json, "job_id")),
        .array = slurm_rest_known(slurm_rest_inner(json, "array", "job_id")),
        .task = task >= 0 && task <= INT32_MAX ? (int)task : -1,
        .name = slurm_own_name(slurm_rest_text(json_object_get(json, "name"))),
        .state = slurm_state_find(word),
        .word = word,
        .nodes = slurm_rest_text(json_object_get(json, "nodes")),
        .partition = slurm_rest_text(json_object_get(json, "partition")),
        .start_ms =
            slurm_rest_time_ms(slurm_rest_inner(json, "time", "start"), 1000),
        .end_ms =
            slurm_rest_time_ms(slurm_rest_inner(json, "time", "end"), 1000),
    };

    if (job.id == 0 || word[0] == '\0')
        return -1;
    if (submitted_ms < reading->since_ms - SKEW_MS)
        return 0;
    take_exit(json_object_get(json, "exit_code"), &job);
    if (job.exit_code == 0 && strcmp(word, "COMPLETED") != 0)
        job.exit_code = -1;
    take_rest(slurm_rest_text(slurm_rest_inner(json, "state", "reason")), &job);
    if (job.array == 0)
        job.task = -1;
    keep_json(reading->rows, json);
    if (job.array > 0 && job.task < 0)
        return add_tasks(
            reading->rows, &job,
            slurm_rest_text(slurm_rest_inner(json, "array", "task")));
    add_life(reading->rows, &job);
    return 0;
}

static int on_account(void *user, const char *item, size_t length)
{
    json_t *json = json_parse_up_to(item, length, RECORD_MAX_BYTES, NULL);
    int result = json != NULL ? take_account(json, user) : -1;

    json_decref(json);
    return result;
}

void slurm_rest_read_account(const struct fetch_answer *answer,
                             int64_t since_ms, struct slurm_rest_rows *rows,
                             struct slurm_reply *reply)
{
    struct reading reading = {.rows = rows, .since_ms = since_ms};

    read_rows(answer, &(struct slurm_rest_part){"jobs", on_account, &reading},
              reply);
}
