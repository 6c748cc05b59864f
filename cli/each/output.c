/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which output is written next: the engine's loop decides that here, and a
 * thread writes (writer.h). Where the lines keep their order, a job that has
 * ended is held by a mark, until all before it have ended in this call, or had
 * before.
 */
#include "cli/each/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cli/each/writer.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/job/states.h"
#include "store/store.h"

/* What is known of a job, by its number. */
enum mark {
    MARK_NONE, /* it has not ended */
    MARK_PAST, /* it had ended before this call, or was printed in it */
    MARK_HELD  /* it is to be printed in its turn */
};

struct each_output {
    struct each_output_order order;
    char *results;
    char **past; /* [past_count] logs of what had ended, by number; or NULL */
    size_t past_count;
    unsigned char *marks; /* [mark_count], by number */
    size_t mark_count;
    size_t next; /* number that is printed next */
    struct writer *writer;
};

/* ---- the record ---- */

static char *log_path(const struct each_output *output, const char *directory)
{
    return mem_printf("%s/%s/log", store_directory(output->order.store),
                      directory);
}

struct last_log {
    const struct each_output *output;
    char *path;
};

static int keep_log(void *user, const struct attempt_row *row)
{
    struct last_log *last = user;

    free(last->path);
    last->path = log_path(last->output, row->directory);
    return 0;
}

/* That of the job's last attempt; NULL where it has none. */
static char *find_log(const struct each_output *output, int64_t number)
{
    struct last_log last = {output, NULL};
    int64_t job;

    if (store_find_job(output->order.store, output->order.run, number, &job,
                       NULL) == 0)
        store_each_attempt(output->order.store, output->order.run, job,
                           keep_log, &last, NULL);
    return last.path;
}

static void add_job(struct each_output *output, enum writer_task task,
                    int64_t number)
{
    char *log = find_log(output, number);

    if (log != NULL)
        writer_add(output->writer, task, number, log);
    free(log);
}

/* ---- the order ---- */

static void mark(struct each_output *output, int64_t number, enum mark mark)
{
    size_t wanted = (size_t)number + 1, count = output->mark_count;

    if (wanted > count) {
        while (wanted > count)
            count = 2 * count + 64;
        output->marks = mem_resize(output->marks, count, 1);
        memset(output->marks + output->mark_count, MARK_NONE,
               count - output->mark_count);
        output->mark_count = count;
    }
    output->marks[number] = (unsigned char)mark;
}

static enum mark mark_of(const struct each_output *output, size_t number)
{
    return number < output->mark_count ? (enum mark)output->marks[number]
                                       : MARK_NONE;
}

static void print_held(struct each_output *output, size_t number)
{
    mark(output, (int64_t)number, MARK_PAST);
    add_job(output, WRITER_PRINT, (int64_t)number);
}

static void print_in_order(struct each_output *output, int64_t number)
{
    if ((size_t)number < output->next) { /* it ran once more in this call */
        add_job(output, WRITER_PRINT, number);
        return;
    }
    mark(output, number, MARK_HELD);
    for (; mark_of(output, output->next) != MARK_NONE; output->next++)
        if (mark_of(output, output->next) == MARK_HELD)
            print_held(output, output->next);
}

void each_output_ended(struct each_output *output,
                       const struct engine_trial *job)
{
    int state = job_state_find(job->state);

    if (state < 0 || !job_is_final((enum job_state)state))
        return;
    if (output->results != NULL)
        add_job(output, WRITER_SAVE, job->number);
    if (!output->order.prints)
        return;
    if (output->order.keeps_order)
        print_in_order(output, job->number);
    else
        add_job(output, WRITER_PRINT, job->number);
}

/* ---- what had ended before ---- */

static int keep_past(void *user, const struct trial_row *row)
{
    struct each_output *output = user;
    int state = job_state_find(row->state);

    if (state >= 0 && job_is_final((enum job_state)state))
        mark(output, row->number, MARK_PAST);
    return 0;
}

/* Attempts come by their ids: a job's last one stays. */
static int keep_past_log(void *user, const struct attempt_row *row)
{
    struct each_output *output = user;
    size_t number = (size_t)row->job_number;

    if (number >= output->past_count || mark_of(output, number) != MARK_PAST)
        return 0;
    free(output->past[number]);
    output->past[number] = log_path(output, row->directory);
    return 0;
}

static int read_past(struct each_output *output, struct err *err)
{
    const struct each_output_order *order = &output->order;
    const struct trial_query query = {.run = order->run, .results_only = true};
    int result = store_each_trial(order->store, &query, keep_past, output, err);

    if (result != 0 || output->results == NULL)
        return result;
    output->past_count = output->mark_count;
    output->past = mem_array(output->past_count + 1, sizeof(char *));
    return store_each_attempt_after(order->store, order->run,
                                    &(struct attempt_page){.after = 0},
                                    keep_past_log, output, err);
}

static void forget_past(struct each_output *output)
{
    for (size_t i = 0; i < output->past_count; i++)
        free(output->past[i]);
    free(output->past);
    output->past = NULL;
    output->past_count = 0;
}

static void save_past(struct each_output *output)
{
    for (size_t i = 0; i < output->past_count; i++)
        if (output->past[i] != NULL)
            writer_add(output->writer, WRITER_SAVE, (int64_t)i,
                       output->past[i]);
    forget_past(output);
}

static void destroy(struct each_output *output)
{
    forget_past(output);
    free(output->marks);
    free(output->results);
    free(output);
}

struct each_output *each_output_create(const struct each_output_order *order,
                                       struct err *err)
{
    struct each_output *output = mem_zero(sizeof(*output));

    output->order = *order;
    output->next = 1;
    if (order->results != NULL)
        output->results = fs_absolute(order->results);
    if ((output->results == NULL ||
         fs_make_directories(output->results, err) == 0) &&
        read_past(output, err) == 0)
        output->writer = writer_create(output->results, err);
    if (output->writer == NULL) {
        destroy(output);
        return NULL;
    }
    save_past(output);
    return output;
}

int each_output_finish(struct each_output *output, struct err *err)
{
    int result;

    if (output == NULL)
        return 0;
    for (size_t i = output->next; i < output->mark_count; i++)
        if (mark_of(output, i) == MARK_HELD)
            print_held(output, i);
    result = writer_finish(output->writer, err);
    destroy(output);
    return result;
}
