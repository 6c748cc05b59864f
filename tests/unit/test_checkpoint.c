/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

static const char SETTINGS[] = "lr=0.5\nbatch=7\n";

/* A little run, and a folder for its checkpoints. */
struct fixture {
    char directory[32];
    struct params params;
    struct optim optim;
    struct position at;
    struct checkpoint_parts parts;
};

static const struct position somewhere = {2, 5, 123, 0.1, 0.2, 1.0 / 3, 0.4};

static void fill(struct fixture *run, int first)
{
    for (size_t i = 0; i < run->params.count; i++) {
        run->params.values[i] = (real)first + (real)i;
        run->optim.moments[0][i] = (real)first - (real)i;
        run->optim.moments[1][i] = (real)first / (real)(i + 1);
    }
}

static int make_run(void **state)
{
    const struct optim_settings adam = {1, 0, 0};
    struct fixture *run = mem_zero(sizeof(*run));

    memcpy(run->directory, "/tmp/smtune-test-ckpt-XXXXXX", 29);
    *state = run;
    if (mkdtemp(run->directory) == NULL ||
        params_add(&run->params, "w", 3, 4, NULL) < 0 ||
        params_add(&run->params, "b", 1, 3, NULL) < 0 ||
        params_allocate(&run->params, NULL) != 0 ||
        optim_init(&run->optim, &adam, &run->params, NULL) != 0)
        return -1;
    fill(run, 1);
    run->at = somewhere;
    run->parts = (struct checkpoint_parts){SETTINGS, SETTINGS, &run->params,
                                           &run->optim, &run->at};
    return 0;
}

static int remove_run(void **state)
{
    struct fixture *run = *state;
    int rc = fs_remove_tree(run->directory, NULL);

    params_clear(&run->params);
    optim_clear(&run->optim);
    free(run);
    return rc;
}

static void save(struct fixture *run, int first, uint64_t step)
{
    struct err err;

    fill(run, first);
    run->at.step = step;
    if (checkpoint_save(run->directory, &run->parts, &err) != 0)
        fail_msg("%s", err.text);
}

/* Opens the newest and restores it; the notes are compared. */
static void restore(struct fixture *run, const char *expected_note)
{
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    struct err err;

    fill(run, -1000);
    memset(&run->at, 0, sizeof(run->at));
    assert_int_equal(checkpoint_open(run->directory, &checkpoint, &notes, &err),
                     0);
    if (expected_note == NULL)
        assert_int_equal(notes.length, 0);
    else
        assert_non_null(strstr(buf_text(&notes), expected_note));
    assert_non_null(checkpoint);
    if (checkpoint_restore(checkpoint, &run->parts, &err) != 0)
        fail_msg("%s", err.text);
    checkpoint_destroy(checkpoint);
    buf_clear(&notes);
}

static char *path_of(const struct fixture *run, int step)
{
    return mem_printf("%s/checkpoint-%016d", run->directory, step);
}

static void test_checkpoint__restores_what_was_saved(void **state)
{
    struct fixture *run = *state;

    save(run, 1, 123);
    restore(run, NULL);
    assert_memory_equal(&run->at, &somewhere, sizeof(somewhere));
    for (size_t i = 0; i < run->params.count; i++) {
        real expected[] = {1 + (real)i, 1 - (real)i, 1 / (real)(i + 1)};

        assert_memory_equal(&run->params.values[i], &expected[0], sizeof(real));
        assert_memory_equal(&run->optim.moments[0][i], &expected[1],
                            sizeof(real));
        assert_memory_equal(&run->optim.moments[1][i], &expected[2],
                            sizeof(real));
    }
}

static void test_checkpoint__an_empty_or_missing_folder_has_none(void **state)
{
    struct fixture *run = *state;
    char *missing = fs_join(run->directory, "missing");
    struct buf notes = BUF_INIT;
    struct checkpoint *checkpoint;

    assert_int_equal(checkpoint_open(run->directory, &checkpoint, &notes, NULL),
                     0);
    assert_null(checkpoint);
    assert_int_equal(checkpoint_open(missing, &checkpoint, &notes, NULL), 0);
    assert_null(checkpoint);
    assert_int_equal(notes.length, 0);
    free(missing);
}

static void test_checkpoint__keeps_the_two_newest(void **state)
{
    struct fixture *run = *state;
    char *leftover = fs_join(run->directory, "checkpoint-0000000000000002.aB");
    char *foreign = fs_join(run->directory, "checkpoint-notes");
    static const int steps[] = {1, 2, 10};
    static const bool kept[] = {false, true, true};

    assert_int_equal(fs_write_atomic(leftover, "x", 1, 0600, NULL), 0);
    assert_int_equal(fs_write_atomic(foreign, "x", 1, 0600, NULL), 0);
    for (int i = 0; i < 3; i++)
        save(run, steps[i], (uint64_t)steps[i]);
    for (int i = 0; i < 3; i++) {
        char *path = path_of(run, steps[i]);

        assert_int_equal(fs_exists(path), kept[i]);
        free(path);
    }
    assert_false(fs_exists(leftover));
    assert_true(fs_exists(foreign));
    restore(run, NULL);
    assert_int_equal(run->at.step, 10);
    free(leftover);
    free(foreign);
}

/* Each single wrong byte and each length must be found out. */
static void test_checkpoint__passes_over_a_damaged_file(void **state)
{
    struct fixture *run = *state;
    char *path = path_of(run, 2);
    struct buf file = BUF_INIT;

    save(run, 1, 1);
    save(run, 2, 2);
    assert_int_equal(fs_read(path, 1 << 20, &file, NULL), 0);
    for (size_t i = 0; i < file.length; i += 13) {
        file.data[i] ^= 0x10;
        assert_int_equal(
            fs_write_atomic(path, file.data, file.length, 0600, NULL), 0);
        restore(run, "0002' is damaged: passed over");
        assert_int_equal(run->at.step, 1);
        file.data[i] ^= 0x10;
    }
    for (size_t length = 0; length < file.length; length += 17) {
        assert_int_equal(fs_write_atomic(path, file.data, length, 0600, NULL),
                         0);
        restore(run, "passed over");
        assert_int_equal(run->at.step, 1);
    }
    assert_int_equal(fs_write_atomic(path, file.data, file.length, 0600, NULL),
                     0);
    restore(run, NULL);
    assert_int_equal(run->at.step, 2);
    buf_clear(&file);
    free(path);
}

static void assert_refused(struct fixture *run, const char *why)
{
    struct buf notes = BUF_INIT;
    struct checkpoint *checkpoint;
    struct err err;

    assert_int_equal(checkpoint_open(run->directory, &checkpoint, &notes, &err),
                     0);
    assert_non_null(checkpoint);
    fill(run, 7);
    assert_int_equal(checkpoint_restore(checkpoint, &run->parts, &err), -1);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_memory_equal(&run->params.values[0], &(real){7}, sizeof(real));
    checkpoint_destroy(checkpoint);
}

static void test_checkpoint__refuses_another_run(void **state)
{
    struct fixture *run = *state;

    save(run, 1, 1);
    run->parts.required = "lr=0.25\nbatch=7\n";
    assert_refused(run, "made with lr=0.5, not lr=0.25");
    run->parts.required = "lr=0.5\nbatch=77\n";
    assert_refused(run, "made with batch=7, not batch=77");
    run->parts.required = "lr=0.5\nwidth=1\n";
    assert_refused(run, "made without width=1");
    run->parts.required = "lr=0.5\n"; /* no matter what batch was */
    run->params.tensors[1].columns = 5;
    assert_refused(run, "made with tensor b=1x3, not tensor b=1x5");
}

int main(void)
{
#define WITH_RUN(test)                                                         \
    cmocka_unit_test_setup_teardown(test, make_run, remove_run)
    const struct CMUnitTest tests[] = {
        WITH_RUN(test_checkpoint__restores_what_was_saved),
        WITH_RUN(test_checkpoint__an_empty_or_missing_folder_has_none),
        WITH_RUN(test_checkpoint__keeps_the_two_newest),
        WITH_RUN(test_checkpoint__passes_over_a_damaged_file),
        WITH_RUN(test_checkpoint__refuses_another_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
