/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/executor.h"

/*
 * How fast attempts of /bin/echo go through the local executor, 2 at a time,
 * against `xargs -P2 -n1 /bin/echo`: the median of several pairs of runs. In
 * memory, since a file system's moods are not what is measured: ext4 without a
 * journal takes a millisecond to make a file where many were just removed.
 */

enum { ATTEMPTS = 2000, PARALLEL = 2, AHEAD = 64, PAIRS = 5 };

struct bench {
    struct executor *executor;
    char *root;
    int64_t next, ended, failed;
};

static double now_s(void)
{
    return (double)uv_hrtime() / 1e9;
}

static void start_next(struct bench *bench)
{
    static char echo[] = "/bin/echo", word[] = "loss=1";
    char *argv[] = {echo, word, NULL};
    char *directory = mem_printf("%s/%" PRId64, bench->root, bench->next);
    struct attempt_spec spec = {.attempt = bench->next,
                                .directory = directory,
                                .work_directory = bench->root,
                                .argv = argv,
                                .envp = environ,
                                .cpus = 1,
                                .grace_ms = 1000};
    uint32_t lacks = 0;

    if (bench->next <= ATTEMPTS && mkdir(directory, 0700) == 0 &&
        executor_start(bench->executor, &spec, &lacks, NULL) == START_OK)
        bench->next++;
    else
        rmdir(directory);
    free(directory);
}

static void fill(void *user)
{
    struct bench *bench = user;
    int64_t before;

    do {
        before = bench->next;
        if (bench->next - bench->ended <= PARALLEL + AHEAD)
            start_next(bench);
    } while (bench->next > before);
}

static void on_destroyed(void *user)
{
    (void)user;
}

static void on_started(void *user, int64_t attempt,
                       const struct attempt_place *place)
{
    (void)user;
    (void)attempt;
    (void)place;
}

static void on_ended(void *user, const struct attempt_exit *end)
{
    struct bench *bench = user;

    bench->ended++;
    bench->failed += end->cause != CAUSE_OK;
    if (bench->ended == ATTEMPTS)
        executor_destroy(bench->executor, on_destroyed, NULL);
    else
        fill(bench);
}

static void on_broken(void *user, const struct err *err)
{
    (void)user;
    fprintf(stderr, "bench_executor: %s\n", err->text);
    exit(1);
}

static double run_executor(char *root)
{
    struct bench bench = {.root = root, .next = 1};
    const struct executor_options options = {
        .name = "local", .cpus = PARALLEL, .gpus = 0, .parallel = PARALLEL};
    const struct executor_events events = {.started = on_started,
                                           .ended = on_ended,
                                           .room = fill,
                                           .broken = on_broken,
                                           .user = &bench};
    struct err err;
    uv_loop_t loop;
    double start_s;

    uv_loop_init(&loop);
    bench.executor = executor_create(&loop, &options, &events, &err);
    if (bench.executor == NULL)
        on_broken(NULL, &err);
    start_s = now_s();
    fill(&bench);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    if (bench.failed > 0) {
        fprintf(stderr, "bench_executor: %" PRId64 " failed\n", bench.failed);
        exit(1);
    }
    return now_s() - start_s;
}

static double run_xargs(const char *root)
{
    static const char command[] = "yes loss=1 | head -n 2000 | "
                                  "xargs -P2 -n1 /bin/echo >\"$0\"/log";
    double start_s = now_s();
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, root, (char *)NULL);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fputs("bench_executor: xargs failed\n", stderr);
        exit(1);
    }
    return now_s() - start_s;
}

static int by_size(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

int main(void)
{
    double ours_s[PAIRS], theirs_s[PAIRS], rate, peer;
    char root[] = "/dev/shm/smtune-bench-XXXXXX";

    if (mkdtemp(root) == NULL)
        return 1;
    for (int i = 0; i < PAIRS; i++) {
        char *folder = mem_printf("%s/%d", root, i);

        if (mkdir(folder, 0700) != 0)
            return 1;
        theirs_s[i] = run_xargs(folder);
        ours_s[i] = run_executor(folder);
        free(folder);
    }
    fs_remove_tree(root, NULL);
    qsort(ours_s, PAIRS, sizeof(*ours_s), by_size);
    qsort(theirs_s, PAIRS, sizeof(*theirs_s), by_size);
    rate = ATTEMPTS / ours_s[PAIRS / 2];
    peer = ATTEMPTS / theirs_s[PAIRS / 2];
    printf("executor alone: %d of /bin/echo, xargs -P2\t%g\t%g\t%g\t/s\n",
           ATTEMPTS, rate, peer, 0.7 * peer);
    return 0;
}
