/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/opts.h"
#include "tests/bench/regret/run.h"

static const char usage[] =
    "usage: regret [OPTION...]\n"
    "       regret --list\n"
    "       regret --serve PROBLEM [--first-seed N]\n"
    "\n"
    "Runs search methods on problems whose best value is known, and writes a\n"
    "line of JSON a run: the regret after 10, 25, 50, 100, 200 ... trials, in\n"
    "units of what the median random point is behind the best; and the "
    "seconds\n"
    "spent in asking and telling. score.py makes tables of them.\n"
    "\n"
    "  --set NAME        tune: for choosing defaults; report: for reporting;\n"
    "                    or all (tune)\n"
    "  --problems A,B    these alone, of either set; PREFIX* is all that "
    "begin so\n"
    "  --kinds A,B       those of these kinds alone; --list shows them\n"
    "  --methods A,B     what to run; all: every method but grid (all)\n"
    "  --seeds N         instances of each problem (5)\n"
    "  --first-seed N    and the first one's number (1)\n"
    "  --trials N        of each run (200)\n"
    "  --parallel N      trials pending at once; a random one ends next (1)\n"
    "  --convergence     say when budget.convergence would have ended the run\n"
    "  --jobs N          processes (1)\n"
    "  --out FILE        where the lines go (standard output)\n"
    "  --list            name, set, kind and dimensions of the problems\n"
    "  --serve PROBLEM   evaluate for another program; see optuna_peer.py\n"
    "\n"
    "Example:\n"
    "  regret --set tune --methods random,sobol --seeds 10 --jobs 2 --out "
    "a.jsonl\n"
    "  tests/bench/regret/score.py a.jsonl\n";

struct options {
    const char *set, *problems, *kinds, *methods, *out, *serve;
    int64_t seeds, first_seed, trials, parallel, jobs;
    bool list, help, convergence;
};

#define OPTION(n, t, field, least)                                             \
    {                                                                          \
        .name = (n), .type = OPT_##t,                                          \
        .offset = offsetof(struct options, field), .min = (least)              \
    }

static const char *const sets[] = {"tune", "report", "all", NULL};
static const struct opt table[] = {
    {.name = "set",
     .type = OPT_CHOICE,
     .offset = offsetof(struct options, set),
     .choices = sets},
    OPTION("problems", TEXT, problems, 0),
    OPTION("kinds", TEXT, kinds, 0),
    OPTION("methods", TEXT, methods, 0),
    OPTION("seeds", INT, seeds, 1),
    OPTION("first-seed", INT, first_seed, 1),
    OPTION("trials", INT, trials, 10),
    OPTION("parallel", INT, parallel, 1),
    OPTION("convergence", FLAG, convergence, 0),
    OPTION("jobs", INT, jobs, 1),
    OPTION("out", TEXT, out, 0),
    OPTION("list", FLAG, list, 0),
    OPTION("serve", TEXT, serve, 0),
    OPTION("help", FLAG, help, 0),
    {.name = NULL},
};

enum {
    PROBLEMS_MAX = 256,
    METHODS_MAX = 16,
};

struct plan {
    const struct options *options;
    const struct problem *problems[PROBLEMS_MAX];
    size_t problem_count;
    char *methods[METHODS_MAX];
    size_t method_count;
    int out;
};

/* Whether the word is one of a list with commas between, or begins as one of
 * them that ends with an asterisk. */
static bool listed(const char *list, const char *word)
{
    while (*list != '\0') {
        size_t length = strcspn(list, ",");

        if (length > 0 && list[length - 1] == '*') {
            if (strncmp(list, word, length - 1) == 0)
                return true;
        } else if (strlen(word) == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

static void consider(const struct problem *problem, void *user)
{
    struct plan *plan = user;
    const struct options *options = plan->options;

    if (options->problems != NULL) {
        if (!listed(options->problems, problem->name))
            return;
    } else if (strcmp(options->set, "all") != 0 &&
               strcmp(options->set, problem_set_names[problem->set]) != 0) {
        return;
    }
    if (options->kinds != NULL && !listed(options->kinds, problem->kind))
        return;
    if (plan->problem_count < PROBLEMS_MAX)
        plan->problems[plan->problem_count++] = problem;
}

/* A name in --problems that is none is more likely a slip than a wish. */
static int check_names(const char *list, struct err *err)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        char *name = mem_copy_bytes(list, length);
        bool known = length == 0 || name[length - 1] == '*' ||
                     problem_find(name) != NULL;

        if (!known)
            err_set(err, ERR_USAGE, "no problem '%s' (--list shows them)",
                    name);
        free(name);
        if (!known)
            return -1;
        list += length + (list[length] == ',');
    }
    return 0;
}

static bool is_method(const char *name)
{
    const char *const *names = strategy_method_names();

    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static int split_methods(struct plan *plan, struct err *err)
{
    const char *list = plan->options->methods;
    const char *const *names = strategy_method_names();

    if (strcmp(list, "all") == 0) {
        for (; *names != NULL && plan->method_count < METHODS_MAX; names++)
            if (strcmp(*names, "grid") != 0)
                plan->methods[plan->method_count++] = mem_copy_string(*names);
        return 0;
    }
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        char *name = mem_copy_bytes(list, length);

        if (plan->method_count == METHODS_MAX || !is_method(name)) {
            err_set(err, ERR_USAGE, "no method '%s'", name);
            free(name);
            return -1;
        }
        plan->methods[plan->method_count++] = name;
        list += length + (list[length] == ',');
    }
    return 0;
}

/* Run number `index`: seeds are the outermost, so that what there is after a
 * while has something of every problem. */
static void nth_run(const struct plan *plan, uint64_t index, struct run *run)
{
    const struct options *options = plan->options;

    run->method = plan->methods[index % plan->method_count];
    index /= plan->method_count;
    run->problem = plan->problems[index % plan->problem_count];
    index /= plan->problem_count;
    run->seed = (uint64_t)options->first_seed + index;
    run->trials = (uint64_t)options->trials;
    run->parallel = (uint64_t)options->parallel;
    run->improvement = options->convergence ? 0.01 : 0;
}

/* Takes runs off the common counter until there are no more. */
static int work(const struct plan *plan, atomic_ullong *next)
{
    uint64_t count = plan->method_count * plan->problem_count *
                     (uint64_t)plan->options->seeds;
    int status = EXIT_SUCCESS;

    for (;;) {
        uint64_t index = atomic_fetch_add(next, 1);
        struct buf line = BUF_INIT;
        struct err err = {0};
        struct run run;

        if (index >= count)
            return status;
        nth_run(plan, index, &run);
        if (run_method(&run, &line, &err) < 0) {
            fprintf(stderr, "regret: %s: %s\n", run.method, err.text);
            status = EXIT_FAILURE;
        } else if (write(plan->out, line.data, line.length) !=
                   (ssize_t)line.length) {
            perror("regret: cannot write");
            status = EXIT_FAILURE;
        }
        buf_clear(&line);
    }
}

static int run_all(const struct plan *plan)
{
    atomic_ullong *next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t jobs = plan->options->jobs;
    int result = EXIT_SUCCESS, status;

    if (next == MAP_FAILED) {
        perror("regret");
        return EXIT_FAILURE;
    }
    for (int64_t i = 1; i < jobs; i++)
        if (fork() == 0)
            _exit(work(plan, next));
    result = work(plan, next);
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
            result = EXIT_FAILURE;
    munmap(next, sizeof(*next));
    return result;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "regret: %s\n", err->text);
    return err_exit_status(err->kind);
}

static void list_one(const struct problem *problem, void *user)
{
    struct instance *instance = instance_create(problem, 1, NULL);

    (void)user;
    if (instance == NULL)
        return;
    printf("%-22s %-7s %-12s %zu\n", problem->name,
           problem_set_names[problem->set], problem->kind, instance->dimension);
    instance_destroy(instance);
}

static int serve(const struct options *options)
{
    const struct problem *problem = problem_find(options->serve);
    struct err err = {0};

    if (check_names(options->serve, &err) < 0 || problem == NULL ||
        serve_instance(problem, (uint64_t)options->first_seed, &err) < 0)
        return fail(&err);
    return EXIT_SUCCESS;
}

static int run_plan(const struct options *options)
{
    struct plan plan = {.options = options, .out = STDOUT_FILENO};
    struct err err = {0};
    int status;

    problem_each(consider, &plan);
    if (check_names(options->problems, &err) < 0 ||
        split_methods(&plan, &err) < 0) {
        status = fail(&err);
    } else if (options->out != NULL &&
               (plan.out =
                    open(options->out,
                         O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
                         0666)) < 0) {
        err_set_errno(&err, ERR_FAILED, errno, "cannot write '%s'",
                      options->out);
        status = fail(&err);
    } else {
        status = plan.problem_count > 0 ? run_all(&plan) : EXIT_SUCCESS;
    }
    for (size_t i = 0; i < plan.method_count; i++)
        free(plan.methods[i]);
    if (plan.out > STDOUT_FILENO)
        close(plan.out);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.set = "tune",
                              .methods = "all",
                              .seeds = 5,
                              .first_seed = 1,
                              .trials = 200,
                              .parallel = 1,
                              .jobs = 1};
    struct err err = {0};

    /* A method's matrices are small, and every process has a core; the
     * library reads this when it is loaded. */
    if (getenv("OPENBLAS_NUM_THREADS") == NULL) {
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    if (opts_parse(table, &options, NULL, NULL, argc - 1, argv + 1, &err) != 0)
        return err.kind == ERR_NONE ? (fputs(usage, stderr), 2) : fail(&err);
    if (options.help)
        return puts(usage) < 0;
    if (options.list)
        problem_each(list_one, NULL);
    else if (options.serve != NULL)
        return serve(&options);
    else
        return run_plan(&options);
    return EXIT_SUCCESS;
}
