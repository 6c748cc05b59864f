/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/machine/process_table.h"
#include "executors/shim/spawn.h"
#include "tests/unit/folder.h"

/* What `env` prints, sorted, when started with these variables and GPUs. */
static char *environment_of(const char *folder, char *const *envp,
                            const char *gpus)
{
    static char sh[] = "/bin/sh", option[] = "-c",
                script[] = "/usr/bin/env | /usr/bin/grep CUDA | /usr/bin/sort";
    char *argv[] = {sh, option, script, NULL};
    const struct attempt_spec spec = {.attempt = 1,
                                      .directory = folder,
                                      .work_directory = folder,
                                      .argv = argv,
                                      .envp = envp};
    const struct spawn_place place = {.gpus = gpus};
    struct buf log = BUF_INIT;
    char *path = fs_join(folder, "log");
    struct spawner spawner;
    uint64_t start = 0;
    pid_t pid;

    assert_int_equal(spawner_init(&spawner, NULL), 0);
    pid = spawn_command(&spawner, &spec, &place, &start, NULL);
    assert_true(pid > 0 && start > 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    spawner_clear(&spawner);
    assert_int_equal(fs_read(path, 1 << 20, &log, NULL), 0);
    free(path);
    return buf_take(&log);
}

static void test_spawn__gpus_become_visible_devices(void **state)
{
    static char word[] = "A=b";
    char *envp[] = {word, NULL};
    char *seen = environment_of(*state, envp, "0,2");

    assert_string_equal(seen, "CUDA_DEVICE_ORDER=PCI_BUS_ID\n"
                              "CUDA_VISIBLE_DEVICES=0,2\n");
    free(seen);
}

static void test_spawn__gpus_replace_what_was_visible(void **state)
{
    static char order[] = "CUDA_DEVICE_ORDER=FASTEST_FIRST";
    static char devices[] = "CUDA_VISIBLE_DEVICES=7";
    char *envp[] = {order, devices, NULL};
    char *seen = environment_of(*state, envp, "1");

    assert_string_equal(seen, "CUDA_DEVICE_ORDER=FASTEST_FIRST\n"
                              "CUDA_VISIBLE_DEVICES=1\n");
    free(seen);
}

static void test_spawn__without_gpus_nothing_is_changed(void **state)
{
    static char devices[] = "CUDA_VISIBLE_DEVICES=7";
    char *envp[] = {devices, NULL};
    char *seen = environment_of(*state, envp, NULL);

    assert_string_equal(seen, "CUDA_VISIBLE_DEVICES=7\n");
    free(seen);
}

/* Starts the program, without arguments, in a folder of its own, so that the
 * start overlaps with what we do. */
static pid_t start_beside(struct spawner *spawner, const char *folder,
                          int64_t number, char *program, uint64_t *start)
{
    static char path_of_programs[] = "PATH=/nowhere:/usr/bin:/bin";
    char *envp[] = {path_of_programs, NULL}, *argv[] = {program, NULL};
    char *directory = mem_printf("%s/%d", folder, (int)number);
    const struct attempt_spec spec = {.attempt = number,
                                      .directory = directory,
                                      .work_directory = folder,
                                      .argv = argv,
                                      .envp = envp};
    const struct spawn_place place = {.overlaps = true};
    pid_t pid;

    assert_int_equal(fs_make_directories(directory, NULL), 0);
    pid = spawn_command(spawner, &spec, &place, start, NULL);
    assert_true(pid > 0);
    free(directory);
    return pid;
}

static void test_spawn__overlapping_starts_run(void **state)
{
    enum { COUNT = 20 }; /* more than overlap at most */
    static char program[] = "pwd";
    struct spawner spawner;
    pid_t pids[COUNT];
    uint64_t start;

    assert_int_equal(spawner_init(&spawner, NULL), 0);
    for (int i = 0; i < COUNT; i++)
        pids[i] = start_beside(&spawner, *state, i, program, &start);
    for (int i = 0; i < COUNT; i++) {
        char *path = mem_printf("%s/%d/log", (char *)*state, i);
        char *line = mem_printf("%s\n", (char *)*state);
        struct buf log = BUF_INIT;
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
        assert_int_equal(spawn_result(&spawner, pids[i], NULL), 0);
        assert_int_equal(fs_read(path, 1000, &log, NULL), 0);
        assert_string_equal(buf_text(&log), line);
        buf_clear(&log);
        free(path);
        free(line);
    }
    spawner_clear(&spawner);
}

static void test_spawn__overlapping_starts_say_why_they_failed(void **state)
{
    static char program[] = "no-such-program";
    struct spawner spawner;
    struct err err;
    uint64_t start;
    int status;
    pid_t pid;

    assert_int_equal(spawner_init(&spawner, NULL), 0);
    pid = start_beside(&spawner, *state, 1, program, &start);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    assert_int_equal(spawn_result(&spawner, pid, &err), -1);
    assert_non_null(strstr(err.text, "no program 'no-such-program'"));
    assert_int_equal(spawn_result(&spawner, pid, &err), 0);
    spawner_clear(&spawner);
}

static void test_spawn__parent_and_claim_know_the_start_time(void **state)
{
    static char program[] = "yes";
    char *directory = mem_printf("%s/1", (char *)*state);
    struct spawner spawner;
    struct process process;
    struct claim claim;
    uint64_t start = 0;
    pid_t pid;

    assert_int_equal(spawner_init(&spawner, NULL), 0);
    pid = start_beside(&spawner, *state, 1, program, &start);
    spawn_await(&spawner, pid);
    assert_true(process_read(pid, &process));
    assert_int_equal(claim_judge(directory, 1, &claim, NULL), CLAIM_HELD);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(process.start, start);
    assert_int_equal(claim.pid, pid);
    assert_int_equal(claim.pid_start, start);
    spawner_clear(&spawner);
    free(directory);
}

/* What `umask` prints for a command in a folder of that mode. */
static char *umask_in(const char *root, mode_t mode, mode_t own)
{
    static char sh[] = "/bin/sh", option[] = "-c", script[] = "umask";
    char *argv[] = {sh, option, script, NULL}, *envp[] = {NULL};
    char *folder = fs_join(root, "attempt"), *path = fs_join(folder, "log");
    const struct attempt_spec spec = {.attempt = 1,
                                      .directory = folder,
                                      .work_directory = folder,
                                      .argv = argv,
                                      .envp = envp};
    const struct spawn_place place = {.gpus = NULL};
    struct buf log = BUF_INIT;
    struct spawner spawner;
    uint64_t start = 0;
    mode_t before;
    pid_t pid;

    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, mode), 0);
    before = umask(own);
    assert_int_equal(spawner_init(&spawner, NULL), 0);
    pid = spawn_command(&spawner, &spec, &place, &start, NULL);
    assert_int_equal(umask(before), own);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    spawner_clear(&spawner);
    assert_int_equal(fs_read(path, 1 << 20, &log, NULL), 0);
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
    free(path);
    free(folder);
    return buf_take(&log);
}

static void expect_umask(const char *root, mode_t mode, mode_t own,
                         const char *expected)
{
    char *seen = umask_in(root, mode, own);

    assert_string_equal(seen, expected);
    free(seen);
}

/* The folder has our own group. */
static void test_spawn__a_group_may_use_what_the_command_makes(void **state)
{
    expect_umask(*state, 0700, 077, "0077\n");
    expect_umask(*state, 0770, 022, "0022\n");
    expect_umask(*state, 02700, 027, "0027\n");
    expect_umask(*state, 02770, 077, "0007\n");
    expect_umask(*state, 02770, 022, "0002\n");
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_spawn__gpus_become_visible_devices),
        IN_FOLDER(test_spawn__gpus_replace_what_was_visible),
        IN_FOLDER(test_spawn__without_gpus_nothing_is_changed),
        IN_FOLDER(test_spawn__overlapping_starts_run),
        IN_FOLDER(test_spawn__overlapping_starts_say_why_they_failed),
        IN_FOLDER(test_spawn__parent_and_claim_know_the_start_time),
        IN_FOLDER(test_spawn__a_group_may_use_what_the_command_makes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
