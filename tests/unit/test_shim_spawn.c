/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/shim_spawn.h"

static int make_folder(void **state)
{
    char *folder = mem_copy_string("/tmp/smtune-test-XXXXXX");

    *state = folder;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    int result = fs_remove_tree(*state, NULL);

    free(*state);
    return result;
}

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

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_spawn__gpus_become_visible_devices),
        IN_FOLDER(test_spawn__gpus_replace_what_was_visible),
        IN_FOLDER(test_spawn__without_gpus_nothing_is_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
