/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/show/run/attempt_place.h"
#include "cli/show/run/run_view.h"
#include "cli/term/guarded_file.h"
#include "dashboard/log_file.h"

/*
 * A trial's logs, byte for byte, but on a terminal, of which a log may have the
 * colours alone (cli/term/guarded_file.h). Following one means to look every
 * tenth of a second: first whether its attempt has ended, and only then what
 * the log holds, so that nothing which was written before the end is missed.
 */

enum { PIECE_BYTES = 65536, PAUSE_MS = 100 };

struct options {
    bool follow, raw;
    int64_t attempt, rank;
};

static const struct opt opts[] = {
    {"follow", 'f', OPT_FLAG, offsetof(struct options, follow), NULL,
     "follow the log until the attempt ends", 0, NULL},
    {"raw", 0, OPT_FLAG, offsetof(struct options, raw), NULL,
     "on a terminal, too, every byte as it is", 0, NULL},
    {"attempt", 0, OPT_INT, offsetof(struct options, attempt), "N",
     "only the log of attempt N", 1, NULL},
    {"rank", 0, OPT_INT, offsetof(struct options, rank), "N",
     "the log of rank N of a trial with ranks (0)", 0, NULL},
    {0},
};

struct attempt {
    int64_t number;
    char *directory; /* in the store's */
    bool ended;
};

struct attempts {
    const struct run_view *view;
    int64_t wanted; /* 0: all */
    int64_t rank;   /* 0: what is in the trial's own log */
    FILE *to;
    struct attempt *items;
    size_t count, capacity;
};

/* ---- which ---- */

static int keep_attempt(void *user, const struct attempt_row *row)
{
    struct attempts *attempts = user;

    if (attempts->wanted != 0 && attempts->wanted != row->number)
        return 0;
    attempts->items = mem_grow(attempts->items, attempts->count,
                               &attempts->capacity, sizeof(*attempts->items));
    attempts->items[attempts->count++] =
        (struct attempt){row->number, mem_copy_string(row->directory),
                         strcmp(row->state, "ended") == 0};
    return 0;
}

static void forget(struct attempts *attempts)
{
    for (size_t i = 0; i < attempts->count; i++)
        free(attempts->items[i].directory);
    attempts->count = 0;
}

static int find_attempts(struct attempts *attempts, int64_t job,
                         struct err *err)
{
    forget(attempts);
    return store_each_attempt(attempts->view->store, attempts->view->row.id,
                              job, keep_attempt, attempts, err);
}

/* ---- copying ---- */

/* What is in the file from its offset on. A file that is not there is empty. */
static int copy(int fd, const char *directory, FILE *to, struct err *err)
{
    char piece[PIECE_BYTES];
    ssize_t length;

    while (fd >= 0 && (length = read(fd, piece, sizeof(piece))) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return err_set_errno(err, ERR_FAILED, errno,
                                 "cannot read the log in '%s'", directory);
        if (fwrite(piece, 1, (size_t)length, to) != (size_t)length)
            break;
    }
    if (fflush(to) == 0)
        return 0;
    if (errno == EPIPE)
        return err_set(err, ERR_FAILED, "%s", "");
    return err_set_errno(err, ERR_FAILED, errno,
                         "cannot write to standard output");
}

/* *fd is -1 where there is no log. */
static int open_log(const struct attempts *attempts, const char *directory,
                    int *fd, struct err *err)
{
    struct log_file file;
    int status = log_file_open(store_directory(attempts->view->store),
                               directory, attempts->rank, &file, err);

    *fd = status == 0 ? file.fd : -1;
    return status;
}

static int print_log(const struct attempts *attempts,
                     const struct attempt *attempt, struct err *err)
{
    int fd;
    int status = open_log(attempts, attempt->directory, &fd, err);

    if (status == 0)
        status = copy(fd, attempt->directory, attempts->to, err);
    if (fd >= 0)
        close(fd);
    return status;
}

/* ---- following ---- */

struct follow {
    struct attempts *attempts; /* of one attempt */
    int64_t job;
    int fd; /* -1: not there yet */
};

/* 1 when there is nothing more to come, 0 when there may be, -1. */
static int is_over(struct follow *follow, struct err *err)
{
    const struct run_view *view = follow->attempts->view;
    struct run_row row = view->row;
    int64_t pid;

    if (find_attempts(follow->attempts, follow->job, err) < 0)
        return -1;
    if (follow->attempts->count == 0 || follow->attempts->items[0].ended)
        return 1;
    row.state = "running";
    return strcmp(run_state_shown(view->store, &row, &pid), "running") != 0;
}

static int follow_log(struct follow *follow, struct err *err)
{
    char *directory = mem_copy_string(follow->attempts->items[0].directory);
    int over = 0, status = 0;

    while (status == 0 && over == 0) {
        over = is_over(follow, err);
        status = over < 0 ? -1 : 0;
        if (status == 0 && follow->fd < 0)
            status = open_log(follow->attempts, directory, &follow->fd, err);
        if (status == 0)
            status = copy(follow->fd, directory, follow->attempts->to, err);
        if (status == 0 && over == 0)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    if (follow->fd >= 0)
        close(follow->fd);
    free(directory);
    return status;
}

/* ---- the command ---- */

static int print_logs(const struct cli *cli, struct attempts *attempts,
                      int64_t job, bool follow, struct err *err)
{
    size_t whole = attempts->count - (follow ? 1 : 0);
    struct follow last = {attempts, job, -1};

    for (size_t i = 0; i < attempts->count; i++) {
        if (attempts->count > 1 && !cli->quiet)
            fprintf(stderr, "==> attempt %" PRId64 " <==\n",
                    attempts->items[i].number);
        if (i < whole && print_log(attempts, &attempts->items[i], err) < 0)
            return -1;
    }
    if (!follow)
        return 0;
    attempts->wanted = attempts->items[attempts->count - 1].number;
    if (find_attempts(attempts, job, err) < 0)
        return -1;
    return follow_log(&last, err);
}

static int print_to(const struct cli *cli, struct attempts *attempts,
                    int64_t job, const struct options *chosen, struct err *err)
{
    FILE *bypass = chosen->raw ? guarded_file_bypass(STDOUT_FILENO) : NULL;
    int status;

    if (chosen->raw && bypass == NULL)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot write to standard output");
    attempts->to = bypass != NULL ? bypass : stdout;
    status = print_logs(cli, attempts, job, chosen->follow, err);
    if (bypass != NULL)
        fclose(bypass);
    return status;
}

/* Nothing has been written because it waits: says so to people. */
static int tell_of_queue(const struct cli *cli, const struct run_view *view,
                         const struct run_job *job, struct err *err)
{
    struct buf queue = BUF_INIT;
    int status = place_print_queue(view, job->id, &queue, err);

    if (queue.length > 0 && !cli->quiet)
        fprintf(stderr, "%s %s: %s\n", job->label,
                run_lacks_engine(view) ? "has written nothing"
                                       : "has not started",
                buf_text(&queue));
    buf_clear(&queue);
    return status;
}

static int no_attempt(const struct run_job *job, int64_t attempt,
                      struct err *err)
{
    if (attempt != 0)
        return err_set(err, ERR_NOT_FOUND, "%s has no attempt %" PRId64,
                       job->label, attempt);
    if (job->is_reused)
        return err_set(err, ERR_NOT_FOUND,
                       "%s was a cache hit: its log is that of an earlier run",
                       job->label);
    if (job->is_over)
        return err_set(err, ERR_NOT_FOUND, "%s was not run", job->label);
    return err_set(err, ERR_NOT_FOUND, "%s has not started yet", job->label);
}

/* A rank's file is there from its start on. */
static int check_rank(const struct attempts *attempts, const char *label,
                      struct err *err)
{
    if (attempts->rank == 0)
        return 0;
    for (size_t i = 0; i < attempts->count; i++) {
        int fd;

        if (open_log(attempts, attempts->items[i].directory, &fd, err) != 0)
            return -1;
        if (fd < 0)
            continue;
        close(fd);
        return 0;
    }
    return err_set(err, ERR_NOT_FOUND, "%s has no rank %" PRId64, label,
                   attempts->rank);
}

static int exec_logs(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    struct run_view view;
    struct attempts attempts = {
        .view = &view, .wanted = chosen->attempt, .rank = chosen->rank};
    struct run_job job = {0};
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    if (status == 0)
        status = run_jobs_find(&view, operands[1], &job, err);
    if (status == 0)
        status = find_attempts(&attempts, job.id, err);
    if (status == 0 && attempts.count == 0)
        status = no_attempt(&job, chosen->attempt, err);
    if (status == 0)
        status = check_rank(&attempts, job.label, err);
    if (status == 0)
        status = tell_of_queue(cli, &view, &job, err);
    if (status == 0)
        status = print_to(cli, &attempts, job.id, chosen, err);
    forget(&attempts);
    free(attempts.items);
    run_job_clear(&job);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_logs = {
    .name = "logs",
    .operands = "RUN JOB",
    .summary = "print the output of a trial, or of a job of a workflow",
    .details = "Prints standard output and standard error of the command, "
               "in their order, of all attempts or of the one you select. "
               "-f follows the log until the last attempt ends. Of a "
               "trial with ranks (resources.tasks), it prints the log of "
               "rank 0.\n\n"
               "On a terminal, colours are shown, and other control "
               "characters and invalid UTF-8 as \\xHH; --raw prints every "
               "byte. In a file or a pipe the log is always as it is. "
               "It follows no symbolic link that a trial put in place of "
               "its log.\n\n"
               "JOB is the number of a trial. In a workflow it is a step, "
               "and STEP[3] its copy 3 (from 0), STEP#2 its second round, "
               "STEP[3]#2 the second round of a copy. Without a round it "
               "is the last one.",
    .examples = "smtune logs last 3               # trial 3 of the newest "
                "run\n"
                "smtune logs mlp 17 -f            # follow it\n"
                "smtune logs mlp 17 --attempt 1   # before its retry\n"
                "smtune logs mlp 17 --rank 3      # of its fourth rank\n"
                "smtune logs nightly train[3]     # of a workflow\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 2,
    .max_operands = 2,
    .exec = exec_logs,
};
