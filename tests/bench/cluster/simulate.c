/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/opts.h"
#include "tests/bench/cluster/cluster.h"

static const char usage[] =
    "usage: cluster [OPTION...] TABLE\n"
    "       cluster --list\n"
    "\n"
    "Plays searches with schedules on a simulated cluster, with learning "
    "curves\n"
    "from a table, and writes a line of JSON for each: how much time and "
    "resource it\n"
    "took to come close to the best of the table. report.py makes tables and "
    "pictures\n"
    "of them.\n"
    "\n"
    "  --contenders A,B   what to play; --list shows them (all)\n"
    "  --workers A,B      how many at once (25)\n"
    "  --seeds N          of each (30)\n"
    "  --stragglers N     percent: deviation of the logarithm of how slow an\n"
    "                     attempt is (50)\n"
    "  --failures N       percent of the attempts (2)\n"
    "  --start N          percent of a mean epoch that each start costs (10)\n"
    "  --rows N           percent of the table that a search plays with, "
    "others "
    "for\n"
    "                     each seed (100)\n"
    "  --within N         percent: how close to the best (1)\n"
    "  --most N           give up after so many epochs of all trials (200000)\n"
    "  --jobs N           processes (1)\n"
    "  --out FILE         where the lines go (standard output)\n";

struct options {
    const char *contenders, *workers, *out;
    int64_t seeds, stragglers, failures, start, rows, within, most, jobs;
    bool list, help;
};

#define OPTION(n, t, field, least)                                             \
    {                                                                          \
        .name = (n), .type = OPT_##t,                                          \
        .offset = offsetof(struct options, field), .min = (least)              \
    }

static const struct opt table[] = {
    OPTION("contenders", TEXT, contenders, 0),
    OPTION("workers", TEXT, workers, 0),
    OPTION("seeds", INT, seeds, 1),
    OPTION("stragglers", INT, stragglers, 0),
    OPTION("failures", INT, failures, 0),
    OPTION("start", INT, start, 0),
    OPTION("rows", INT, rows, 10),
    OPTION("within", INT, within, 0),
    OPTION("most", INT, most, 1),
    OPTION("jobs", INT, jobs, 1),
    OPTION("out", TEXT, out, 0),
    OPTION("list", FLAG, list, 0),
    OPTION("help", FLAG, help, 0),
    {.name = NULL},
};

#define SCHEDULE(name, ...)                                                    \
    {                                                                          \
        .method = (name), .min = 1, .max = CURVE_EPOCHS, .eta = 3, __VA_ARGS__ \
    }

static const struct contender contenders[] = {
    {"random", "random", 0, {.method = NULL}},
    {"median", "random", 0,
     SCHEDULE("median", .rule = "sagemaker", .min_trials = 5)},
    {"median-vizier", "random", 0,
     SCHEDULE("median", .rule = "vizier", .min_trials = 5)},
    {"hyperband", "random", 0, SCHEDULE("hyperband", .brackets = 0)},
    {"asha", "random", 0, SCHEDULE("asha", .type = SCHEDULE_PROMOTION)},
    {"asha-stopping", "random", 0, SCHEDULE("asha", .type = SCHEDULE_STOPPING)},
    {"tpe", "tpe", 0, {.method = NULL}},
    {"bohb", "tpe", 1.0 / 3, SCHEDULE("hyperband", .brackets = 0)},
    {"asha+tpe", "tpe", 1.0 / 3, SCHEDULE("asha", .type = SCHEDULE_PROMOTION)},
    {NULL, NULL, 0, {.method = NULL}},
};

enum { WORKERS_MAX = 100000, COUNTS_MAX = 16, CONTENDERS_MAX = 16 };

struct plan {
    const struct options *options;
    const struct curves *curves;
    const struct contender *contenders[CONTENDERS_MAX];
    size_t contender_count;
    uint64_t workers[COUNTS_MAX];
    size_t worker_count;
    int out;
};

static int choose_contenders(struct plan *plan, const char *list,
                             struct err *err)
{
    const struct contender *it = contenders;

    if (list == NULL)
        for (; it->name != NULL; it++)
            plan->contenders[plan->contender_count++] = it;
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");

        for (it = contenders; it->name != NULL; it++)
            if (strlen(it->name) == length &&
                strncmp(list, it->name, length) == 0)
                break;
        if (it->name == NULL || plan->contender_count == CONTENDERS_MAX)
            return err_set(err, ERR_USAGE, "no contender '%.*s'; --list",
                           (int)length, list);
        plan->contenders[plan->contender_count++] = it;
        list += length + (list[length] == ',');
    }
    return 0;
}

static int choose_workers(struct plan *plan, const char *list, struct err *err)
{
    while (*list != '\0') {
        char *end;
        unsigned long count = strtoul(list, &end, 10);

        if (end == list || (*end != ',' && *end != '\0') || count == 0 ||
            count > WORKERS_MAX || plan->worker_count == COUNTS_MAX)
            return err_set(err, ERR_USAGE,
                           "--workers: '%s' is no list of up to"
                           " %d counts",
                           list, COUNTS_MAX);
        plan->workers[plan->worker_count++] = count;
        list = end + (*end == ',');
    }
    return 0;
}

static void describe(const struct cluster_options *run, const struct plan *plan,
                     const struct cluster_result *result, struct buf *out)
{
    json_t *line = json_pack(
        "{s:s, s:I, s:I, s:f, s:f, s:I, s:I, s:f, s:b, s:f, s:f, s:f, s:I, "
        "s:I, "
        "s:I, "
        "s:I}",
        "contender", run->contender->name, "workers", (json_int_t)run->workers,
        "seed", (json_int_t)run->seed, "stragglers", run->stragglers,
        "failures", run->failures, "rows", (json_int_t)plan->options->rows,
        "within", (json_int_t)plan->options->within, "target", run->target,
        "found", (int)result->found, "time", result->time, "resource",
        result->resource, "busy", result->busy, "trials",
        (json_int_t)result->trials, "full_trials",
        (json_int_t)result->full_trials, "attempts",
        (json_int_t)result->attempts, "failed_attempts",
        (json_int_t)result->failed_attempts);

    json_print(line, out);
    buf_add_char(out, '\n');
    json_decref(line);
}

static void nth_run(const struct plan *plan, uint64_t index,
                    struct cluster_options *run)
{
    const struct options *options = plan->options;

    *run = (struct cluster_options){.stragglers =
                                        (double)options->stragglers / 100,
                                    .failures = (double)options->failures / 100,
                                    .start = (double)options->start / 100,
                                    .most = (double)options->most};
    run->contender = plan->contenders[index % plan->contender_count];
    index /= plan->contender_count;
    run->workers = plan->workers[index % plan->worker_count];
    run->seed = 1 + index / plan->worker_count;
}

/* Every jobs-th run, from `first` on. */
static int play(const struct plan *plan, uint64_t first)
{
    uint64_t count = plan->contender_count * plan->worker_count *
                     (uint64_t)plan->options->seeds;
    int status = EXIT_SUCCESS;

    for (uint64_t i = first; i < count; i += (uint64_t)plan->options->jobs) {
        struct cluster_options run;
        struct cluster_result result;
        struct curves *curves;
        struct buf line = BUF_INIT;
        struct err err = {0};

        nth_run(plan, i, &run);
        curves = curves_draw(plan->curves, (double)plan->options->rows / 100,
                             run.seed);
        run.target = curves->best * (1 + (double)plan->options->within / 100);
        if (cluster_run(curves, &run, &result, &err) != 0) {
            fprintf(stderr, "cluster: %s, seed %llu: %s\n", run.contender->name,
                    (unsigned long long)run.seed, err.text);
            curves_destroy(curves);
            return EXIT_FAILURE;
        }
        describe(&run, plan, &result, &line);
        curves_destroy(curves);
        if (write(plan->out, line.data, line.length) != (ssize_t)line.length) {
            perror("cluster: cannot write");
            status = EXIT_FAILURE;
        }
        buf_clear(&line);
    }
    return status;
}

static int play_all(const struct plan *plan)
{
    int result, status;

    for (int64_t i = 1; i < plan->options->jobs; i++)
        if (fork() == 0)
            _exit(play(plan, (uint64_t)i));
    result = play(plan, 0);
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
            result = EXIT_FAILURE;
    return result;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "cluster: %s\n", err->text);
    return err_exit_status(err->kind);
}

static int run_plan(const struct options *options, const char *path)
{
    struct plan plan = {.options = options, .out = STDOUT_FILENO};
    struct curves *curves;
    struct err err = {0};
    int status;

    if (choose_contenders(&plan, options->contenders, &err) != 0 ||
        choose_workers(&plan, options->workers, &err) != 0)
        return fail(&err);
    curves = curves_load(path, &err);
    if (curves == NULL)
        return fail(&err);
    plan.curves = curves;
    if (options->out != NULL)
        plan.out =
            open(options->out,
                 O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (plan.out < 0) {
        perror("cluster: cannot write");
        status = EXIT_FAILURE;
    } else {
        status = play_all(&plan);
    }
    curves_destroy(curves);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.workers = "25",
                              .seeds = 30,
                              .stragglers = 50,
                              .failures = 2,
                              .start = 10,
                              .rows = 100,
                              .within = 1,
                              .most = 200000,
                              .jobs = 1};
    struct err err = {0};
    int operands;

    operands =
        opts_parse(table, &options, NULL, NULL, argc - 1, argv + 1, &err);
    if (operands < 0)
        return fail(&err);
    if (options.help) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (options.list) {
        for (const struct contender *it = contenders; it->name != NULL; it++)
            puts(it->name);
        return EXIT_SUCCESS;
    }
    if (operands != 1) {
        fputs(usage, stderr);
        return EXIT_FAILURE;
    }
    return run_plan(&options, argv[1]);
}
