/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tests/fault/sim/disk.h"
#include "tests/fault/sim/history.h"

/*
 * sim [--from N] [--seeds N] [--jobs N]   plays that many histories
 * sim --seed N [-v]                        plays one, and tells what happens
 * sim --self-test                          sabotages the engine, and is content
 *                                          if that is found
 *
 * Histories are played by child processes, a few each: a crash loses memory,
 * and an engine that dies of a bug must not take the others along.
 */

enum {
    SEEDS_A_CHILD = 50,
    HISTORY_SECONDS = 120,
    SELF_TEST_SEEDS = 300,
    EXIT_PLAYED = 100 /* and how many histories failed */
};

struct options {
    uint64_t from, seeds;
    int jobs;
    bool is_single, is_traced, is_self_test;
    enum world_sabotage sabotage;
};

static char *make_directory(void)
{
    const char *memory = "/dev/shm";
    char *path;

    if (access(memory, W_OK) != 0)
        memory = "/tmp";
    path = mem_printf("%s/smtune-sim.XXXXXX", memory);
    if (mkdtemp(path) == NULL) {
        fprintf(stderr, "sim: cannot make '%s': %s\n", path, strerror(errno));
        exit(2);
    }
    return path;
}

/* Plays those seeds, with files in a folder of that; how many failed. */
static int play(const struct options *options, const char *parent,
                uint64_t first, uint64_t count)
{
    char *directory = fs_join(parent, "store");
    char failure[1024];
    struct disk *template;
    int failed = 0;

    disk_register();
    template = history_make_template(directory);
    for (uint64_t seed = first; seed < first + count; seed++) {
        const struct history_options one = {
            .seed = seed,
            .sabotage = options->sabotage,
            .is_traced = options->is_traced,
            .directory = directory,
            .template = template,
        };

        fs_remove_tree(directory, NULL);
        alarm(HISTORY_SECONDS);
        if (history_run(&one, failure))
            continue;
        failed++;
        if (!options->is_self_test)
            printf("sim: seed %" PRIu64 " failed: %s\n", seed, failure);
    }
    disk_destroy(template);
    free(directory);
    fflush(stdout);
    return failed;
}

/* -- Children -------------------------------------------------------------*/

struct child {
    pid_t pid; /* 0: none */
    char *directory;
    uint64_t first, count;
};

static void start(const struct options *options, struct child *child,
                  uint64_t first, uint64_t count)
{
    fflush(stdout);
    *child = (struct child){0, make_directory(), first, count};
    child->pid = fork();
    if (child->pid == 0)
        exit(EXIT_PLAYED + play(options, child->directory, first, count));
    if (child->pid < 0) {
        perror("sim: fork");
        exit(2);
    }
}

/* How many of the child's histories failed. A child that died goes through its
 * seeds once more, one by one, to find the one of which it did. */
static uint64_t finish(const struct options *options, struct child *child,
                       int status)
{
    uint64_t failed = 0;

    child->pid = 0;
    fs_remove_tree(child->directory, NULL);
    free(child->directory);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= EXIT_PLAYED)
        return (uint64_t)WEXITSTATUS(status) - EXIT_PLAYED;
    if (child->count == 1 && options->is_self_test)
        return 1;
    if (child->count == 1) {
        printf("sim: seed %" PRIu64 " failed: it ended with %s %d\n",
               child->first, WIFEXITED(status) ? "status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        return 1;
    }
    for (uint64_t i = 0; i < child->count; i++) {
        struct child one;

        start(options, &one, child->first + i, 1);
        if (waitpid(one.pid, &status, 0) == one.pid)
            failed += finish(options, &one, status);
    }
    return failed;
}

static struct child *wait_for_one(struct child *children, int count,
                                  int *status)
{
    pid_t pid = wait(status);

    for (int i = 0; i < count; i++) {
        if (pid > 0 && children[i].pid == pid)
            return &children[i];
    }
    return NULL;
}

static struct child *find_free(struct child *children, int count)
{
    for (int i = 0; i < count; i++) {
        if (children[i].pid == 0)
            return &children[i];
    }
    return NULL;
}

/* How many failed. */
static uint64_t play_all(const struct options *options)
{
    struct child *children =
        mem_array((size_t)options->jobs, sizeof(*children));
    uint64_t next = options->from, end = options->from + options->seeds;
    uint64_t failed = 0;
    struct child *child;
    int status;

    for (;;) {
        while (next < end &&
               (child = find_free(children, options->jobs)) != NULL) {
            uint64_t count = end - next;

            if (count > SEEDS_A_CHILD)
                count = SEEDS_A_CHILD;
            start(options, child, next, count);
            next += count;
        }
        child = wait_for_one(children, options->jobs, &status);
        if (child == NULL)
            break;
        failed += finish(options, child, status);
    }
    free(children);
    return failed;
}

/* Here and now, as a debugger wants it. */
static uint64_t play_one(const struct options *options)
{
    char *directory = make_directory();
    int failed = play(options, directory, options->from, 1);

    fs_remove_tree(directory, NULL);
    free(directory);
    return (uint64_t)failed;
}

/* -- The program ----------------------------------------------------------*/

static int self_test(struct options *options)
{
    static const struct {
        enum world_sabotage sabotage;
        const char *text;
    } tests[] = {
        {SABOTAGE_EARLY_ACK, "a store that tells of commits too early"},
        {SABOTAGE_BLIND_SITE, "an executor that does not see what runs"},
        {SABOTAGE_LAZY_FOLDERS, "folders that a power cut takes"},
    };
    int passed = 0, count = (int)ARRAY_LEN(tests);

    for (int i = 0; i < count; i++) {
        uint64_t failed;

        options->sabotage = tests[i].sabotage;
        options->from = 1;
        options->seeds = SELF_TEST_SEEDS;
        failed = play_all(options);
        printf("sim: %s: found by %" PRIu64 " of %d histories\n", tests[i].text,
               failed, SELF_TEST_SEEDS);
        passed += failed > 0;
    }
    printf("sim: self-test: %d passed, %d failed\n", passed, count - passed);
    return passed == count ? 0 : 1;
}

static void usage(void)
{
    fprintf(stderr, "usage: sim [--from N] [--seeds N] [--jobs N]\n"
                    "       sim --seed N [-v]\n"
                    "       sim --self-test\n");
    exit(2);
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"from", required_argument, NULL, 'f'},
        {"seeds", required_argument, NULL, 'n'},
        {"jobs", required_argument, NULL, 'j'},
        {"seed", required_argument, NULL, 's'},
        {"verbose", no_argument, NULL, 'v'},
        {"self-test", no_argument, NULL, 't'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "v", known, NULL)) != -1) {
        switch (option) {
        case 'f':
            options->from = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            options->seeds = strtoull(optarg, NULL, 10);
            break;
        case 'j':
            options->jobs = (int)strtol(optarg, NULL, 10);
            break;
        case 's':
            options->from = strtoull(optarg, NULL, 10);
            options->seeds = 1;
            options->is_single = true;
            break;
        case 'v':
            options->is_traced = true;
            break;
        case 't':
            options->is_self_test = true;
            break;
        default:
            usage();
        }
    }
    if (optind < argc || options->jobs < 1)
        usage();
}

int main(int argc, char **argv)
{
    struct options options = {.from = 1, .seeds = 500, .jobs = 1};
    uint64_t failed;

    parse(argc, argv, &options);
    if (options.is_self_test)
        return self_test(&options);
    if (options.is_single)
        failed = play_one(&options);
    else
        failed = play_all(&options);
    printf("sim: %" PRIu64 " passed, %" PRIu64 " failed\n",
           options.seeds - failed, failed);
    return failed == 0 ? 0 : 1;
}
