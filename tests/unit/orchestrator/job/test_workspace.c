/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/job/workspace.h"

struct fixture {
    char folder[32];
    struct job_spec task;
    struct workspaces *workspaces;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));

    *state = fixture;
    snprintf(fixture->folder, sizeof(fixture->folder), "%s",
             "/tmp/smtune-test-XXXXXX");
    if (mkdtemp(fixture->folder) == NULL)
        return -1;
    fixture->workspaces = workspaces_create(fixture->folder, NULL);
    return fixture->workspaces != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    int result;

    workspaces_destroy(fixture->workspaces);
    result = fs_remove_tree(fixture->folder, NULL);
    free(fixture);
    return result;
}

static void prepare_copy(struct fixture *fixture, int64_t trial,
                         int64_t attempt, const char *word,
                         struct job_copy copy)
{
    json_t *params = json_object();
    const struct workspace_order order = {.job = trial,
                                          .attempt_number = attempt,
                                          .task = &fixture->task,
                                          .copy = copy,
                                          .params = params,
                                          .strings = params};

    json_object_set_new(params, "x", json_string(word));
    assert_int_equal(workspace_prepare(fixture->workspaces, &order, NULL), 0);
    json_decref(params);
}

static void prepare(struct fixture *fixture, int64_t trial, int64_t attempt,
                    const char *word)
{
    prepare_copy(fixture, trial, attempt, word, (struct job_copy){0, 1, false});
}

static char *path_of(const struct fixture *fixture, const char *rest)
{
    return fs_join(fixture->folder, rest);
}

static bool is_there(const struct fixture *fixture, const char *rest)
{
    char *path = path_of(fixture, rest);
    bool found = fs_exists(path);

    free(path);
    return found;
}

static ino_t inode(const struct fixture *fixture, const char *rest)
{
    char *path = path_of(fixture, rest);
    struct stat status = {.st_ino = 0};

    assert_int_equal(stat(path, &status), 0);
    free(path);
    return status.st_ino;
}

static void touch(const struct fixture *fixture, const char *rest)
{
    char *path = path_of(fixture, rest);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static void assert_holds(const struct fixture *fixture, const char *rest,
                         const char *text)
{
    char *path = path_of(fixture, rest);
    struct buf buf = BUF_INIT;

    assert_int_equal(fs_read(path, 1000, &buf, NULL), 0);
    assert_string_equal(buf_text(&buf), text);
    buf_clear(&buf);
    free(path);
}

static void test_workspace__an_untouched_folder_is_the_next_ones(void **state)
{
    struct fixture *fixture = *state;
    ino_t first;

    prepare(fixture, 1, 1, "a long word");
    first = inode(fixture, "trials/1/ml/checkpoints");
    assert_true(is_there(fixture, "attempts/1-1"));
    workspace_release(fixture->workspaces, 1, 1);
    prepare(fixture, 2, 1, "b");
    assert_false(is_there(fixture, "trials/1"));
    assert_true(inode(fixture, "trials/2/ml/checkpoints") == first);
    assert_holds(fixture, "trials/2/ml/input/config/params.json",
                 "{\"x\":\"b\"}\n");
    assert_true(is_there(fixture, "attempts/1-1"));
    assert_true(is_there(fixture, "attempts/2-1"));
}

static const char *const places[] = {
    "", "ml", "ml/model", "ml/checkpoints", "ml/output", "ml/output/data"};

/* As if the trial's folder had last changed a minute ago. */
static void age(const struct fixture *fixture, int64_t trial)
{
    struct timespec times[2];

    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 60;
    times[1] = times[0];
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *name = mem_printf("trials/%d/%s", (int)trial, places[i]);
        char *path = path_of(fixture, name);

        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        free(path);
        free(name);
    }
}

/* A folder that was seen empty long after its last change is known by its
 * times alone; what is put there shows all the same, wherever it is. */
static void test_workspace__what_a_trial_left_stays(void **state)
{
    struct fixture *fixture = *state;
    int64_t trial = 1;

    for (size_t i = 0; i < ARRAY_LEN(places); i++, trial += 3) {
        char *left = mem_printf("trials/%d/%s/left", (int)trial + 1, places[i]);

        prepare(fixture, trial, 1, "a");
        age(fixture, trial);
        workspace_release(fixture->workspaces, trial, 1);
        prepare(fixture, trial + 1, 1, "b");
        touch(fixture, left);
        workspace_release(fixture->workspaces, trial + 1, 1);
        prepare(fixture, trial + 2, 1, "c");
        assert_true(is_there(fixture, left));
        free(left);
    }
}

static void test_workspace__a_trial_run_again_has_its_own_back(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    workspace_release(fixture->workspaces, 1, 1);
    prepare(fixture, 1, 2, "a");
    prepare(fixture, 2, 1, "b");
    assert_true(is_there(fixture, "trials/1/ml/checkpoints"));
    assert_true(is_there(fixture, "trials/2/ml/checkpoints"));
    assert_true(is_there(fixture, "attempts/1-2"));
}

static void test_workspace__spare_folders_go_at_the_end(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    prepare(fixture, 2, 1, "b");
    touch(fixture, "trials/2/ml/model/left");
    workspace_release(fixture->workspaces, 1, 1);
    workspace_release(fixture->workspaces, 2, 1);
    workspaces_destroy(fixture->workspaces);
    assert_false(is_there(fixture, "trials/1"));
    assert_true(is_there(fixture, "trials/2/ml/model/left"));
    fixture->workspaces = workspaces_create(fixture->folder, NULL);
    assert_non_null(fixture->workspaces);
}

static void test_workspace__spare_folders_can_go_before(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    workspace_release(fixture->workspaces, 1, 1);
    workspaces_remove_spare(fixture->workspaces);
    assert_false(is_there(fixture, "trials/1"));
    prepare(fixture, 2, 1, "b");
    assert_holds(fixture, "trials/2/ml/input/config/params.json",
                 "{\"x\":\"b\"}\n");
}

static void test_workspace__a_folder_that_changes_hosts_says_so(void **state)
{
    struct fixture *fixture = *state;
    ino_t first;

    prepare_copy(fixture, 1, 1, "a", (struct job_copy){0, 2, true});
    first = inode(fixture, "trials/1/ml/checkpoints");
    workspace_release(fixture->workspaces, 1, 1);
    prepare_copy(fixture, 2, 1, "a", (struct job_copy){1, 2, true});
    assert_true(inode(fixture, "trials/2/ml/checkpoints") == first);
    assert_holds(fixture, "trials/2/ml/input/config/resourceconfig.json",
                 "{\"current_host\":\"algo-2\",\"hosts\":[\"algo-1\","
                 "\"algo-2\"],\"network_interface_name\":\"lo\"}\n");
    workspace_release(fixture->workspaces, 2, 1);
    prepare(fixture, 3, 1, "a");
    assert_holds(fixture, "trials/3/ml/input/config/resourceconfig.json",
                 "{\"current_host\":\"algo-1\",\"hosts\":[\"algo-1\"],"
                 "\"network_interface_name\":\"lo\"}\n");
}

static void test_workspace__a_share_of_files_stays(void **state)
{
    struct channel channel = {.name = "train", .is_sharded = true};
    struct fixture *fixture = *state;

    fixture->task.channels = &channel;
    fixture->task.channel_count = 1;
    prepare(fixture, 1, 1, "a");
    assert_holds(fixture, "trials/1/ml/input/config/inputdataconfig.json",
                 "{\"train\":{\"TrainingInputMode\":\"File\","
                 "\"S3DistributionType\":\"ShardedByS3Key\","
                 "\"RecordWrapperType\":\"None\"}}\n");
    workspace_release(fixture->workspaces, 1, 1);
    prepare(fixture, 2, 1, "a");
    assert_true(is_there(fixture, "trials/1"));
}

static void assert_mode(const struct fixture *fixture, const char *rest,
                        unsigned mode)
{
    char *path = path_of(fixture, rest);
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    if ((status.st_mode & 07777) != mode)
        fail_msg("%s: mode %04o, not %04o", path, status.st_mode & 07777u,
                 mode);
    free(path);
}

/* Its group can read and remove all. */
static void test_workspace__a_shared_run_has_the_groups_modes(void **state)
{
    struct fixture *fixture = *state;
    char *run = path_of(fixture, "run");
    mode_t before = umask(077);

    assert_int_equal(mkdir(run, 0700), 0);
    assert_int_equal(chmod(run, 02770), 0);
    workspaces_destroy(fixture->workspaces);
    fixture->workspaces = workspaces_create(run, NULL);
    assert_non_null(fixture->workspaces);
    prepare(fixture, 1, 1, "a");
    umask(before);
    assert_mode(fixture, "run/trials", 02770);
    assert_mode(fixture, "run/trials/1", 02770);
    assert_mode(fixture, "run/trials/1/ml/checkpoints", 02770);
    assert_mode(fixture, "run/trials/1/ml/input/config/params.json", 0660);
    assert_mode(fixture, "run/attempts/1-1", 02770);
    free(run);
}

static void test_workspace__a_run_of_ones_own_has_its_users_modes(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    assert_mode(fixture, "trials/1", 0700);
    assert_mode(fixture, "trials/1/ml/checkpoints", 0700);
    assert_mode(fixture, "trials/1/ml/input/config/params.json", 0600);
    assert_mode(fixture, "attempts/1-1", 0700);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* An engine that crashed may have copied for a trial that never came to be. */
static void test_workspace__what_was_copied_for_another_is_gone(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    touch(fixture, "trials/1/ml/checkpoints/epoch-3");
    assert_int_equal(workspace_copy_checkpoint(fixture->workspaces, 1, 2, NULL),
                     0);
    assert_true(is_there(fixture, "trials/2/ml/checkpoints/epoch-3"));
    prepare(fixture, 2, 1, "b");
    assert_false(workspace_has_checkpoint(fixture->workspaces, 2));
}

static void test_workspace__a_copy_has_nothing_else_in_it(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    prepare(fixture, 2, 1, "b");
    touch(fixture, "trials/1/ml/checkpoints/epoch-3");
    touch(fixture, "trials/2/ml/checkpoints/epoch-9");
    for (int64_t from = 1; from <= 2; from++)
        assert_int_equal(
            workspace_copy_checkpoint(fixture->workspaces, from, 3, NULL), 0);
    assert_false(is_there(fixture, "trials/3/ml/checkpoints/epoch-3"));
    assert_true(is_there(fixture, "trials/3/ml/checkpoints/epoch-9"));
}

/* Promoted before it was told that it rests. */
static void test_workspace__a_trial_that_goes_on_keeps_its_own(void **state)
{
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    prepare(fixture, 1, 2, "a");
    workspace_release(fixture->workspaces, 1, 1);
    prepare(fixture, 2, 1, "b");
    assert_true(is_there(fixture, "trials/1/ml/checkpoints"));
}

static void write_file(const struct fixture *fixture, const char *rest,
                       const char *text)
{
    char *path = path_of(fixture, rest);

    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0600, NULL), 0);
    free(path);
}

/* The record that knew of it is lost, or an older one was put back. */
static void test_workspace__what_no_row_knows_of_is_kept_aside(void **state)
{
    static const char claim[] = "{\"attempt\": 7, \"pid\": 1, \"pid_start\": 1,"
                                " \"shim_pid\": 1, \"shim_start\": 1,"
                                " \"time_ms\": 1, \"boot_id\": \"b\","
                                " \"host\": \"h\"}\n";
    struct fixture *fixture = *state;

    prepare(fixture, 1, 1, "a");
    for (int i = 0; i < 2; i++) {
        write_file(fixture, "attempts/1-1/claim", claim);
        prepare(fixture, 1, 1, "a");
        assert_false(is_there(fixture, "attempts/1-1/claim"));
        assert_true(is_there(fixture, "attempts/1-1"));
    }
    assert_true(is_there(fixture, "attempts/1-1.unrecorded-1/claim"));
    assert_true(is_there(fixture, "attempts/1-1.unrecorded-2/claim"));
}

/* Nor what was made for it, by an engine that died, or for a reserve. */
static void test_workspace__what_is_an_attempts_own_stays(void **state)
{
    static const char claim[] =
        "{\"attempt\": -7, \"pid\": 1, \"pid_start\": 1,"
        " \"shim_pid\": 1, \"shim_start\": 1,"
        " \"time_ms\": 1, \"boot_id\": \"b\","
        " \"host\": \"h\"}\n";
    struct fixture *fixture = *state;

    prepare(fixture, 1, 2, "a");
    touch(fixture, "attempts/1-2/order");
    prepare(fixture, 1, 2, "a");
    assert_true(is_there(fixture, "attempts/1-2/order"));
    write_file(fixture, "attempts/1-2/claim", claim);
    prepare(fixture, 1, 2, "a");
    assert_true(is_there(fixture, "attempts/1-2/claim"));
    assert_false(is_there(fixture, "attempts/1-2.unrecorded-1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_workspace__an_untouched_folder_is_the_next_ones),
        TEST(test_workspace__what_a_trial_left_stays),
        TEST(test_workspace__a_trial_run_again_has_its_own_back),
        TEST(test_workspace__spare_folders_go_at_the_end),
        TEST(test_workspace__spare_folders_can_go_before),
        TEST(test_workspace__a_folder_that_changes_hosts_says_so),
        TEST(test_workspace__a_share_of_files_stays),
        TEST(test_workspace__what_was_copied_for_another_is_gone),
        TEST(test_workspace__a_copy_has_nothing_else_in_it),
        TEST(test_workspace__a_trial_that_goes_on_keeps_its_own),
        TEST(test_workspace__what_no_row_knows_of_is_kept_aside),
        TEST(test_workspace__what_is_an_attempts_own_stays),
        TEST(test_workspace__a_shared_run_has_the_groups_modes),
        TEST(test_workspace__a_run_of_ones_own_has_its_users_modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
