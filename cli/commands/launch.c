/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune launch`: ranks on this machine or on the nodes of a Slurm allocation;
 * orchestrator/ranks/ does the work.
 *
 * On several nodes there are two levels. This process starts one srun, whose
 * tasks are this command again with --in-step, one rank each. Ranks learn their
 * numbers and the address of rank 0 where they meet
 * (orchestrator/ranks/seat.h). Every option that concerns a rank must
 * therefore be passed on in create_task(). The exit status is that of the rank
 * that failed first.
 */
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/system/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "orchestrator/ranks/group.h"
#include "orchestrator/ranks/seat.h"
#include "orchestrator/ranks/step.h"
#include "orchestrator/spec/experiment/job_spec.h"
#include "orchestrator/spec/experiment/signal_name.h"

enum { TAIL_LINES = 10, DEFAULT_GRACE_MS = 30000 };

struct options {
    int64_t tasks, nodes;
    const char *logs, *in_step, *warning;
    struct opt_duration grace;
    bool tag, split_gpus, pin;
};

static const struct opt opts[] = {
    {"tasks", 'n', OPT_INT, offsetof(struct options, tasks), "N",
     "number of ranks", 1, NULL},
    {"nodes", 'N', OPT_INT, offsetof(struct options, nodes), "N",
     "number of nodes of a Slurm allocation (all of them)", 1, NULL},
    {"logs", 0, OPT_TEXT, offsetof(struct options, logs), "DIR",
     "write the output of each rank to DIR/rank-N.log; show "
     "that of rank 0",
     0, NULL},
    {"tag", 0, OPT_FLAG, offsetof(struct options, tag), NULL,
     "prefix the lines of rank 0 with [rank 0], too", 0, NULL},
    {"split-gpus", 0, OPT_FLAG, offsetof(struct options, split_gpus), NULL,
     "show each rank only its share of the GPUs", 0, NULL},
    {"pin", 0, OPT_FLAG, offsetof(struct options, pin), NULL,
     "run each rank on its share of the CPUs (on one node)", 0, NULL},
    {"grace", 0, OPT_DURATION, offsetof(struct options, grace), "TIME",
     "time from SIGTERM to SIGKILL (30s)", 0, NULL},
    {"warning", 0, OPT_TEXT, offsetof(struct options, warning), "SIGNAL",
     "signal that warns the ranks of their end; after it, no rank is stopped "
     "because another one exits",
     0, NULL},
    {"in-step", 0, OPT_TEXT, offsetof(struct options, in_step), "[HOST]:PORT",
     "run one rank in a step of srun; launch itself uses this", 0, NULL},
    {0},
};

/* ---- a failure ---- */

/* Where the last lines of a text begin. */
static const char *last_lines(const char *text, int lines)
{
    const char *at = text + strlen(text);

    if (at > text && at[-1] == '\n')
        at--;
    while (at > text && (at[-1] != '\n' || --lines > 0))
        at--;
    return at;
}

static void add_tail(int rank, const char *text, struct buf *out)
{
    for (text = last_lines(text, TAIL_LINES); *text != '\0';) {
        size_t length = strcspn(text, "\n");

        buf_printf(out, "[rank %d] ", rank);
        text_escape(text, length, out);
        buf_add_char(out, '\n');
        text += length + (text[length] == '\n');
    }
}

static void describe(const struct rank_failure *failure, struct buf *out)
{
    const char *name = signal_name(failure->signal);

    buf_printf(out, "smtune: rank %d ", failure->rank);
    if (failure->start_error != NULL)
        buf_printf(out, "could not start: %s", failure->start_error);
    else if (failure->signal == 0)
        buf_printf(out, "exited with status %d", failure->exit_code);
    else
        buf_printf(out, "was killed by signal %d%s%s", failure->signal,
                   name != NULL ? ", SIG" : "", name != NULL ? name : "");
    if (failure->was_warned)
        buf_add_string(out, " after the warning");
    if (failure->others > 0)
        buf_printf(out, "; the other%s stopped because of it",
                   failure->others > 1 ? "s were" : " was");
    buf_add_char(out, '\n');
}

static void on_failed(void *user, const struct rank_failure *failure)
{
    const struct cli *cli = user;
    struct buf text = BUF_INIT;

    if (cli->quiet)
        return;
    describe(failure, &text);
    if (failure->tail[0] != '\0' && !failure->was_warned) {
        buf_printf(&text, "smtune: the last output of rank %d:\n",
                   failure->rank);
        add_tail(failure->rank, failure->tail, &text);
    }
    fputs(buf_text(&text), stderr);
    buf_clear(&text);
}

static void on_log_lost(void *user, const struct err *why)
{
    (void)user;
    fprintf(stderr, "smtune: %s\n", why->text);
}

/* ---- the command ---- */

/* The number of --warning; 0: there is none, -1: it names none. */
static int find_warning(const struct options *given)
{
    int number = given->warning != NULL ? signal_find(given->warning) : 0;

    return signal_can_be_handled(number) ? number : -1;
}

static int check(const struct options *given, struct err *err)
{
    if (given->tasks == 0 && given->in_step == NULL)
        return err_set(err, ERR_USAGE,
                       "missing option --tasks: the number of ranks");
    if (given->tasks > RANK_GROUP_MAX)
        return err_set(err, ERR_USAGE,
                       "--tasks: %" PRId64 " is out of range: at most %d",
                       given->tasks, RANK_GROUP_MAX);
    if (find_warning(given) < 0)
        return err_set(err, ERR_USAGE,
                       "--warning: '%s' is not a signal that a program can "
                       "handle, such as USR2",
                       given->warning);
    return 0;
}

/* On how many nodes; -1 with an error. */
static int find_nodes(const struct options *given, struct err *err)
{
    int there = rank_seat_nodes();
    int64_t nodes = given->nodes;

    if (nodes == 0)
        nodes = given->tasks < there ? given->tasks : there;
    if (nodes > there)
        return err_set(
            err, ERR_FAILED, "launch: %" PRId64 " nodes requested, but %s",
            nodes,
            there > 1 ? "the Slurm allocation has fewer"
                      : "this is not in a Slurm allocation of several nodes");
    if (nodes > given->tasks)
        return err_set(err, ERR_USAGE,
                       "launch: %" PRId64
                       " node%s need%s at least as many ranks",
                       nodes, units_plural(nodes), nodes == 1 ? "s" : "");
    return (int)nodes;
}

static int run_here(const struct options *given,
                    struct rank_group_options *ranks, int *status,
                    struct err *err)
{
    ranks->environment = environ;
    ranks->split_gpus = given->split_gpus;
    ranks->pins = given->pin && given->in_step == NULL;
    ranks->tag = given->tag;
    ranks->log_lost = on_log_lost;
    return rank_group_run(ranks, status, err);
}

/* As one rank of a step. */
static int run_in_step(const struct options *given,
                       const struct rank_group_options *ranks, int *status,
                       struct err *err)
{
    const char *colon = strrchr(given->in_step, ':');
    struct rank_group_options one = *ranks;
    struct rank_meeting meeting = {.split_gpus = given->split_gpus};
    size_t length = colon != NULL ? (size_t)(colon - given->in_step) : 0;

    if (colon == NULL || length >= sizeof(meeting.address) ||
        (meeting.port = (int)strtol(colon + 1, NULL, 10)) <= 0)
        return err_set(err, ERR_USAGE, "--in-step: '%s': expected [HOST]:PORT",
                       given->in_step);
    memcpy(meeting.address, given->in_step, length);
    if (rank_seat_take(&meeting, err) != 0)
        return err_prefix(err, "--in-step");
    one.tasks = 1;
    one.meeting = &meeting;
    return run_here(given, &one, status, err);
}

/* What each task of the step executes: this command again. */
static char **create_task(const struct options *given, const char *place,
                          int64_t grace_ms, char *const *argv)
{
    char *folder = fs_program_directory();
    size_t count = 0, operands = 0;
    char **words;

    while (argv[operands] != NULL)
        operands++;
    words = mem_array(operands + 10, sizeof(*words));
    words[count++] = fs_join(folder, "smtune");
    words[count++] = mem_copy_string("launch");
    words[count++] = mem_printf("--in-step=%s", place);
    words[count++] = mem_printf("--grace=%" PRId64 "ms", grace_ms);
    if (given->logs != NULL)
        words[count++] = mem_printf("--logs=%s", given->logs);
    if (given->warning != NULL)
        words[count++] = mem_printf("--warning=%s", given->warning);
    if (given->tag)
        words[count++] = mem_copy_string("--tag");
    if (given->split_gpus)
        words[count++] = mem_copy_string("--split-gpus");
    words[count++] = mem_copy_string("--");
    for (size_t i = 0; i < operands; i++)
        words[count++] = mem_copy_string(argv[i]);
    free(folder);
    return words;
}

static int run_step(const struct options *given, int nodes,
                    const struct rank_group_options *ranks, int *status,
                    struct err *err)
{
    struct rank_step_options step = {
        .environment = environ,
        .tasks = ranks->tasks,
        .nodes = nodes,
        .tasks_per_node = rank_seat_share(nodes, ranks->tasks),
        .grace_ms = ranks->grace_ms,
        .warning = ranks->warning,
        .log_directory = ranks->log_directory,
        .failed = ranks->failed,
        .user = ranks->user,
    };
    char host[RANK_ADDRESS_MAX];
    char **words;
    char *place;
    int port, result;

    if (rank_seat_arrange(host, &port, err) != 0)
        return -1;
    place = mem_printf("%s:%d", host, port);
    step.argv = words = create_task(given, place, ranks->grace_ms, ranks->argv);
    result = rank_step_run(&step, status, err);
    for (size_t i = 0; words[i] != NULL; i++)
        free(words[i]);
    free(words);
    free(place);
    return result;
}

static int exec_launch(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *given = options;
    struct rank_group_options ranks = {
        .tasks = (int)given->tasks,
        .grace_ms = given->grace.is_given ? given->grace.ms : DEFAULT_GRACE_MS,
        .warning = find_warning(given),
        .log_directory = given->logs,
        .failed = on_failed,
        .user = (void *)(uintptr_t)cli,
    };
    int status = 0, nodes = 1, result = 0;
    char **argv;

    if (check(given, err) != 0)
        return -1;
    if (given->in_step == NULL)
        nodes = find_nodes(given, err);
    if (nodes < 0)
        return -1;
    if (nodes > 1 && given->warning != NULL && given->logs == NULL)
        return err_set(err, ERR_USAGE,
                       "launch: --warning on several nodes needs --logs DIR");
    argv = mem_array((size_t)count + 1, sizeof(*argv));
    memcpy(argv, operands, (size_t)count * sizeof(*argv));
    ranks.argv = argv;
    if (given->in_step != NULL)
        result = run_in_step(given, &ranks, &status, err);
    else if (nodes > 1)
        result = run_step(given, nodes, &ranks, &status, err);
    else
        result = run_here(given, &ranks, &status, err);
    free(argv);
    return result != 0 ? -1 : status;
}

const struct cmd cmd_launch = {
    .name = "launch",
    .operands = "-- COMMAND [ARGUMENT]...",
    .summary = "start the ranks of a distributed program",
    .details = "Starts the command N times. Each rank gets RANK, "
               "WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and "
               "MASTER_PORT in its environment, like with torchrun. "
               "OMP_NUM_THREADS is its share of the CPUs, unless you set "
               "it. All ranks see the same GPUs, and LOCAL_RANK selects "
               "one. With --split-gpus each rank sees only its own: "
               "LOCAL_RANK is 0 and LOCAL_WORLD_SIZE is 1. With --pin each "
               "rank runs on CPUs of its own, close to each other. Over "
               "several nodes, Slurm binds the ranks.\n\n"
               "Rank 0 has standard input, and writes to the output of "
               "smtune. The lines of the other ranks begin with [rank N]. "
               "If a rank fails, smtune stops the others, reports the "
               "rank and its last output, and exits with its status, or "
               "with 128 + N after signal N. SIGINT, SIGTERM and SIGHUP "
               "are passed to the ranks. The third signal, or the end of "
               "the grace period, kills all ranks with all their "
               "processes. SIGUSR1, SIGUSR2 and the signal of --warning go to "
               "the processes that handle them. After --warning, smtune waits "
               "for all ranks, so that each can save.\n\n"
               "In a Slurm allocation of several nodes, srun distributes "
               "the ranks over the nodes. LOCAL_RANK and LOCAL_WORLD_SIZE "
               "count the ranks of the node, MASTER_ADDR is the first "
               "node, and no rank has standard input. Each rank writes "
               "its own log, so DIR must be on a file system that all "
               "nodes share.\n\n"
               "In an experiment file, `resources: {tasks: N}` starts "
               "each trial this way.",
    .examples =
        "smtune launch --tasks 4 -- python train.py --lr 0.1\n"
        "smtune launch -n 2 --logs logs -- ./train   # logs/rank-0.log ...\n",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = -1,
    .has_loop = true,
    .without_config = true,
    .exec = exec_launch,
};
