/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/checkpoint/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tests/unit/await.h"
#include "tests/unit/training/world.h"

static const char SETTINGS[] = "lr=0.5\nbatch=7\n";

/* A little run, and a folder for its checkpoints. */
struct fixture {
    char directory[32];
    struct params params;
    struct optim optim;
    struct position at;
    struct checkpoint_piece pieces[CHECKPOINT_ARRAYS_MAX];
    struct checkpoint_place place;
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

static void assert_filled(const struct fixture *run, int first)
{
    for (size_t i = 0; i < run->params.count; i++) {
        real expected[] = {(real)first + (real)i, (real)first - (real)i,
                           (real)first / (real)(i + 1)};

        assert_memory_equal(&run->params.values[i], &expected[0], sizeof(real));
        assert_memory_equal(&run->optim.moments[0][i], &expected[1],
                            sizeof(real));
        assert_memory_equal(&run->optim.moments[1][i], &expected[2],
                            sizeof(real));
    }
}

/* What a rank of so many has a hand in; all of it for rank 0 of 1. */
static void take_part(struct fixture *run, int rank, int size)
{
    run->parts.piece_count =
        checkpoint_share(&run->params, &run->optim, rank, size, run->pieces);
}

static int make_run(void **state)
{
    const struct optim_settings adam = {1, 0, 0};
    struct fixture *run = mem_zero(sizeof(*run));

    memcpy(run->directory, "/tmp/smtune-test-ckpt-XXXXXX", 29);
    *state = run;
    params_begin_unit(&run->params);
    if (mkdtemp(run->directory) == NULL ||
        params_add(&run->params, "w", 3, 4, NULL) < 0 ||
        params_add(&run->params, "b", 1, 3, NULL) < 0)
        return -1;
    params_place(&run->params);
    if (params_allocate(&run->params, &backend_cpu, NULL) != 0 ||
        optim_init(&run->optim, &adam, run->params.count, &backend_cpu, NULL) !=
            0)
        return -1;
    run->place = (struct checkpoint_place){run->directory, 0, 1, NULL};
    run->parts =
        (struct checkpoint_parts){.settings = SETTINGS,
                                  .required = SETTINGS,
                                  .params = &run->params,
                                  .moment_count = run->optim.moment_count,
                                  .pieces = run->pieces,
                                  .position = &run->at};
    take_part(run, 0, 1);
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

static void save_at(struct fixture *run, int first, const struct position *at)
{
    struct checkpoint_saver *saver;
    struct err err;

    fill(run, first);
    run->at = *at;
    saver = checkpoint_saver_create(&run->place, &run->parts, &err);
    if (saver == NULL || checkpoint_save(saver, &err) != 0)
        fail_msg("%s", err.text);
    fill(run, -7); /* what is written is a copy */
    if (checkpoint_finish(saver, &err) != 0)
        fail_msg("%s", err.text);
    checkpoint_saver_destroy(saver);
}

static void save(struct fixture *run, int first, uint64_t step)
{
    struct position at = somewhere;

    at.step = step;
    save_at(run, first, &at);
}

/* Opens the newest and restores it; the notes are compared. */
static void restore(struct fixture *run, const char *expected_note)
{
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    struct err err;

    fill(run, -1000);
    memset(&run->at, 0, sizeof(run->at));
    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, &err),
                     0);
    if (expected_note == NULL)
        assert_int_equal(notes.length, 0);
    else if (strstr(buf_text(&notes), expected_note) == NULL)
        fail_msg("'%s' does not say '%s'", buf_text(&notes), expected_note);
    assert_non_null(checkpoint);
    if (checkpoint_restore(checkpoint, &run->parts, &err) != 0)
        fail_msg("%s", err.text);
    checkpoint_destroy(checkpoint);
    buf_clear(&notes);
}

static char *path_of(const struct fixture *run, int step, const char *name)
{
    return mem_printf("%s/checkpoint-%016d%s", run->directory, step, name);
}

static void test_checkpoint__restores_what_was_saved(void **state)
{
    struct fixture *run = *state;

    save(run, 1, 123);
    restore(run, NULL);
    assert_memory_equal(&run->at, &somewhere, sizeof(somewhere));
    assert_filled(run, 1);
}

static void test_checkpoint__an_empty_or_missing_folder_has_none(void **state)
{
    struct fixture *run = *state;
    char *missing = fs_join(run->directory, "missing");
    struct buf notes = BUF_INIT;
    struct checkpoint *checkpoint;

    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, NULL),
                     0);
    assert_null(checkpoint);
    run->place.directory = missing;
    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, NULL),
                     0);
    assert_null(checkpoint);
    assert_int_equal(notes.length, 0);
    free(missing);
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0600, NULL), 0);
}

static bool is_there(const struct fixture *run, int step, const char *name)
{
    char *path = path_of(run, step, name);
    bool is = fs_exists(path);

    free(path);
    return is;
}

static void test_checkpoint__keeps_the_two_newest(void **state)
{
    struct fixture *run = *state;
    char *foreign = fs_join(run->directory, "checkpoint-notes");
    char *killed = path_of(run, 11, "");
    char *leftover = path_of(run, 11, "/shard-0000-of-0002-epoch-2.tmp");

    write_text(foreign, "x");
    save(run, 1, 1);
    save(run, 2, 2);
    assert_int_equal(fs_make_directories(killed, NULL), 0);
    write_text(leftover, "x");
    restore(
        run,
        "checkpoint-0000000000000011/manifest' is missing: checkpoint skipped");
    save(run, 10, 10);
    assert_false(is_there(run, 1, ""));
    assert_true(is_there(run, 2, "/manifest"));
    assert_true(is_there(run, 10, "/manifest"));
    assert_false(is_there(run, 11, ""));
    assert_true(fs_exists(foreign));
    restore(run, NULL);
    assert_int_equal(run->at.step, 10);
    free(leftover);
    free(killed);
    free(foreign);
}

/* The end of an epoch may be saved before its measurement and after it. */
static void test_checkpoint__of_the_same_step_the_later_one_stays(void **state)
{
    struct position before = somewhere, after = somewhere;
    struct fixture *run = *state;

    after.epoch++;
    after.batch = 0;
    save_at(run, 1, &before);
    save_at(run, 1, &after);
    restore(run, NULL);
    assert_memory_equal(&run->at, &after, sizeof(after));
    assert_false(is_there(run, 123, "/shard-0000-of-0001-epoch-2"));
    assert_true(is_there(run, 123, "/shard-0000-of-0001-epoch-3"));
}

/* Single wrong bytes all over a file, and lengths. */
static void damage(struct fixture *run, const char *name)
{
    char *path = path_of(run, 2, name);
    struct buf file = BUF_INIT;

    assert_int_equal(fs_read(path, 1 << 20, &file, NULL), 0);
    for (size_t i = 0; i < file.length;
         i += i + 700 < file.length && i > 500 ? 491 : 13) {
        file.data[i] ^= 0x10;
        assert_int_equal(
            fs_write_atomic(path, file.data, file.length, 0600, NULL), 0);
        restore(run, name);
        assert_int_equal(run->at.step, 1);
        file.data[i] ^= 0x10;
    }
    for (size_t length = 0; length < file.length; length += 397) {
        assert_int_equal(fs_write_atomic(path, file.data, length, 0600, NULL),
                         0);
        restore(run, " is cut short: checkpoint skipped\n");
        assert_int_equal(run->at.step, 1);
    }
    assert_int_equal(unlink(path), 0);
    restore(run, " is missing: checkpoint skipped\n");
    assert_int_equal(run->at.step, 1);
    assert_filled(run, 1);
    assert_int_equal(fs_write_atomic(path, file.data, file.length, 0600, NULL),
                     0);
    restore(run, NULL);
    assert_int_equal(run->at.step, 2);
    buf_clear(&file);
    free(path);
}

static void test_checkpoint__passes_over_a_damaged_one(void **state)
{
    save(*state, 1, 1);
    save(*state, 2, 2);
    damage(*state, "/manifest");
    damage(*state, "/shard-0000-of-0001-epoch-2");
}

static void cut(const struct fixture *run, int step, const char *name)
{
    char *path = path_of(run, step, name);

    assert_int_equal(truncate(path, 100), 0);
    free(path);
}

static void test_checkpoint__refuses_where_all_are_damaged(void **state)
{
    struct fixture *run = *state;
    char *unfinished = path_of(run, 3, "");
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    struct err err = {0};

    save(run, 1, 1);
    save(run, 2, 2);
    assert_int_equal(fs_make_directories(unfinished, NULL), 0);
    cut(run, 1, "/shard-0000-of-0001-epoch-2");
    cut(run, 2, "/manifest");
    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, &err),
                     -1);
    assert_null(checkpoint);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.text, "no checkpoint in '"));
    assert_non_null(strstr(err.text, "' is usable: '"));
    assert_non_null(strstr(err.text, "0000002/manifest' is cut short; "));
    assert_true(is_there(run, 1, "/manifest"));
    assert_true(is_there(run, 2, "/shard-0000-of-0001-epoch-2"));
    buf_clear(&notes);
    free(unfinished);
}

/* Killed in the first save, which left nothing to go on from. */
static void test_checkpoint__an_unfinished_one_alone_is_none(void **state)
{
    struct fixture *run = *state;
    char *unfinished = path_of(run, 3, "");
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;

    assert_int_equal(fs_make_directories(unfinished, NULL), 0);
    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, NULL),
                     0);
    assert_null(checkpoint);
    assert_non_null(strstr(buf_text(&notes), "/manifest' is missing: "));
    buf_clear(&notes);
    free(unfinished);
}

static void assert_refused(struct fixture *run, const char *why)
{
    struct buf notes = BUF_INIT;
    struct checkpoint *checkpoint;
    struct err err;

    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, &err),
                     0);
    assert_non_null(checkpoint);
    fill(run, 7);
    assert_int_equal(checkpoint_restore(checkpoint, &run->parts, &err), -1);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_filled(run, 7);
    checkpoint_destroy(checkpoint);
}

static void test_checkpoint__refuses_another_run(void **state)
{
    struct fixture *run = *state;

    save(run, 1, 1);
    run->parts.required = "lr=0.25\nbatch=7\n";
    assert_refused(run, "saved with lr=0.5, not lr=0.25");
    run->parts.required = "lr=0.5\nbatch=77\n";
    assert_refused(run, "saved with batch=7, not batch=77");
    run->parts.required = "lr=0.5\nwidth=1\n";
    assert_refused(run, "saved without width=1");
    run->parts.required = "lr=0.5\n"; /* no matter what batch was */
    run->params.tensors[1].columns = 5;
    assert_refused(run,
                   "saved with tensor b=1x3 at 16, not tensor b=1x5 at 16");
}

/* A file of the time before there were folders is nobody's to remove. */
static void test_checkpoint__refuses_another_version(void **state)
{
    struct fixture *run = *state;
    char *path = path_of(run, 9, "");
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    struct err err;

    save(run, 1, 1);
    write_text(path, "smtrain checkpoint 1\n");
    assert_int_equal(checkpoint_open(&run->place, &checkpoint, &notes, &err),
                     -1);
    assert_non_null(strstr(err.text, "was saved by an earlier version"));
    assert_true(fs_exists(path));
    free(path);
}

static void test_checkpoint__tells_that_writing_failed(void **state)
{
    struct fixture *run = *state;
    char *path = path_of(run, 2, "");
    struct checkpoint_saver *saver;
    struct err err;

    save(run, 1, 1);
    run->at.step = 2;
    saver = checkpoint_saver_create(&run->place, &run->parts, &err);
    assert_non_null(saver);
    assert_int_equal(checkpoint_check(saver, &err), 0);
    write_text(path, "in the way");
    assert_int_equal(checkpoint_save(saver, &err), 0);
    AWAIT(checkpoint_check(saver, &err) != 0);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(checkpoint_finish(saver, &err), -1);
    assert_int_equal(checkpoint_save(saver, &err), -1);
    assert_non_null(strstr(err.text, path));
    checkpoint_saver_destroy(saver);
    assert_int_equal(unlink(path), 0);
    restore(run, NULL);
    assert_int_equal(run->at.step, 1);
    free(path);
}

/* Over ranks. What a rank restored must be what was saved, every number. */

static int check_filled(const struct fixture *run, int first, struct err *err)
{
    for (size_t i = 0; i < run->params.count; i++)
        if (run->params.values[i] != (real)first + (real)i ||
            run->optim.moments[0][i] != (real)first - (real)i ||
            run->optim.moments[1][i] != (real)first / (real)(i + 1))
            return err_set(err, ERR_FAILED, "number %zu", i);
    return 0;
}

static int save_over(struct fixture *run, struct err *err)
{
    struct checkpoint_saver *saver;
    int status = -1;

    take_part(run, run->place.rank, run->place.size);
    run->at.step++;
    fill(run, (int)run->at.step);
    saver = checkpoint_saver_create(&run->place, &run->parts, err);
    if (saver != NULL)
        status = checkpoint_save(saver, err);
    run->at.step++;
    fill(run, (int)run->at.step);
    if (status == 0)
        status = checkpoint_save(saver, err);
    if (status == 0)
        status = checkpoint_finish(saver, err);
    checkpoint_saver_destroy(saver);
    return status;
}

static int restore_over(struct fixture *run, struct buf *notes, struct err *err)
{
    struct checkpoint *checkpoint;
    int status = checkpoint_open(&run->place, &checkpoint, notes, err);

    take_part(run, 0, 1);
    if (checkpoint != NULL) {
        fill(run, -1);
        status = checkpoint_restore(checkpoint, &run->parts, err);
        if (status == 0)
            status = check_filled(run, (int)run->at.step, err);
    }
    checkpoint_destroy(checkpoint);
    return status;
}

static struct fixture *shared_run; /* a rank has a copy of its own */

static void take_place(struct fixture *run, struct comm *comm,
                       const struct world *world)
{
    run->place.rank = world->rank;
    run->place.size = world->size;
    run->place.comm = comm;
}

static int go_on(struct comm *comm, struct world *world, struct err *err)
{
    struct fixture *run = shared_run;
    struct buf notes = BUF_INIT;
    int status;

    take_place(run, comm, world);
    status = restore_over(run, &notes, err);
    if (status == 0 && notes.length > 0)
        status = err_set(err, ERR_FAILED, "%s", buf_text(&notes));
    buf_clear(&notes);
    return status == 0 ? save_over(run, err) : -1;
}

static void test_checkpoint__goes_on_over_other_ranks(void **state)
{
    static const int sizes[] = {1, 2, 4, 3, 1};

    shared_run = *state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        world_run_well((struct world){.kind = "auto", .size = sizes[i]}, go_on);
    restore(shared_run, NULL);
    assert_int_equal(shared_run->at.step, 2 * ARRAY_LEN(sizes));
    assert_filled(shared_run, 2 * ARRAY_LEN(sizes));
}

/* The last shard is damaged: every rank passes over the checkpoint, and says
 * so. */
static int pass_over(struct comm *comm, struct world *world, struct err *err)
{
    struct fixture *run = shared_run;
    struct buf notes = BUF_INIT;
    int status;

    take_place(run, comm, world);
    status = restore_over(run, &notes, err);
    if (status == 0 && (run->at.step != 1 ||
                        strstr(buf_text(&notes), "shard-0002-of-0003-epoch-0' "
                                                 "is cut short") == NULL))
        status = err_set(err, ERR_FAILED, "%s", buf_text(&notes));
    buf_clear(&notes);
    return status;
}

static int be_refused(struct comm *comm, struct world *world, struct err *err)
{
    struct fixture *run = shared_run;
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    int status;

    take_place(run, comm, world);
    status = checkpoint_open(&run->place, &checkpoint, &notes, err);
    buf_clear(&notes);
    if (status == 0)
        return err_set(err, ERR_FAILED, "opened, or none was found");
    if (strstr(err->text, "2/shard-0002-of-0003-epoch-0' is cut short") == NULL)
        return -1;
    err->text[0] = '\0';
    return 0;
}

static void test_checkpoint__ranks_agree_on_what_is_whole(void **state)
{
    shared_run = *state;
    world_run_well((struct world){.kind = "auto", .size = 3}, go_on);
    cut(shared_run, 2, "/shard-0002-of-0003-epoch-0");
    world_run_well((struct world){.kind = "auto", .size = 2}, pass_over);
    cut(shared_run, 1, "/shard-0000-of-0003-epoch-0");
    world_run_well((struct world){.kind = "auto", .size = 2}, be_refused);
}

/* Saves without end; somebody kills it. */
static void save_for_ever(struct fixture *run)
{
    struct checkpoint_saver *saver =
        checkpoint_saver_create(&run->place, &run->parts, NULL);

    for (;;) {
        run->at.step++;
        fill(run, (int)run->at.step);
        if (saver == NULL || checkpoint_save(saver, NULL) != 0)
            _exit(1);
    }
}

static void test_checkpoint__a_killed_writer_leaves_one(void **state)
{
    struct fixture *run = *state;
    uint64_t last = 1;

    save(run, 1, 1);
    for (int i = 0; i < 40 || last == 1; i++) {
        struct buf notes = BUF_INIT;
        struct err err = {.text = ""};
        useconds_t moment_us =
            500 + (useconds_t)(i * 7919) % 20000 + (useconds_t)i * 100;
        int status;
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0)
            save_for_ever(run);
        usleep(moment_us); /* each round has another */
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        if (restore_over(run, &notes, &err) != 0)
            fail_msg("%s", err.text);
        assert_true(run->at.step >= last);
        last = run->at.step;
        buf_clear(&notes);
    }
}

int main(void)
{
#define WITH_RUN(test)                                                         \
    cmocka_unit_test_setup_teardown(test, make_run, remove_run)
    const struct CMUnitTest tests[] = {
        WITH_RUN(test_checkpoint__restores_what_was_saved),
        WITH_RUN(test_checkpoint__an_empty_or_missing_folder_has_none),
        WITH_RUN(test_checkpoint__keeps_the_two_newest),
        WITH_RUN(test_checkpoint__of_the_same_step_the_later_one_stays),
        WITH_RUN(test_checkpoint__passes_over_a_damaged_one),
        WITH_RUN(test_checkpoint__refuses_where_all_are_damaged),
        WITH_RUN(test_checkpoint__an_unfinished_one_alone_is_none),
        WITH_RUN(test_checkpoint__refuses_another_run),
        WITH_RUN(test_checkpoint__refuses_another_version),
        WITH_RUN(test_checkpoint__tells_that_writing_failed),
        WITH_RUN(test_checkpoint__goes_on_over_other_ranks),
        WITH_RUN(test_checkpoint__ranks_agree_on_what_is_whole),
        WITH_RUN(test_checkpoint__a_killed_writer_leaves_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
