/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small files that an attempt on a cluster leaves, and what Slurm's programs
 * say: whole, damaged, cut. */
#include "tests/unit/folder.h"

#include "base/compiler.h"
#include "executors/attempt/command.h"
#include "executors/slurm/slurm_impl.h"
#include "executors/slurm/talk/commands_impl.h"

static void write_to(const char *folder, const char *name, const char *text)
{
    struct err err;

    if (slurm_file_write(folder, name, text, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_slurm_handle__is_read_whole_or_not(void **state)
{
    static const struct {
        const char *text;
        int result, task;
    } cases[] = {
        {"smt-1-a1 3\n", 0, 3},
        {"smt-1-a1 -1\n", 0, -1},
        {"", -1, 0},
        {"\n", -1, 0},
        {"smt-1-a1 3", -1, 0}, /* half of 31, say */
        {"smt-1-a1\n", -1, 0},
        {" 3\n", -1, 0},
        {"smt-1-a1 \n", -1, 0},
        {"smt-1-a1 x\n", -1, 0},
        {"smt-1-a1 3x\n", -1, 0},
        {"smt-1-a1 -2\n", -1, 0},
    };
    struct slurm_handle handle;
    char line[512];

    assert_int_equal(slurm_handle_read(*state, &handle), -1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        write_to(*state, "slurm", cases[i].text);
        assert_int_equal(slurm_handle_read(*state, &handle), cases[i].result);
        if (cases[i].result == 0) {
            assert_string_equal(handle.name, "smt-1-a1");
            assert_int_equal(handle.task, cases[i].task);
        }
    }
    for (size_t length = sizeof(handle.name); length < 500; length += 150) {
        memset(line, 'x', length);
        memcpy(line + length, " 3\n", sizeof(" 3\n"));
        write_to(*state, "slurm", line);
        assert_int_equal(slurm_handle_read(*state, &handle), -1);
    }
}

static void test_slurm_handle__what_cannot_be_written_is_said(void **state)
{
    char *none = fs_join(*state, "none");
    struct err err;

    assert_int_equal(slurm_file_write(none, "slurm", "x", &err), -1);
    assert_non_null(strstr(err.text, "cannot write '"));
    err.text[0] = '\0';
    assert_int_equal(slurm_file_write("/dev", "full", "x", &err), -1);
    assert_non_null(strstr(err.text, "cannot write '/dev/full'"));
    free(none);
}

static void test_slurm_job__is_a_number_or_none(void **state)
{
    static const struct {
        const char *text;
        int64_t job;
    } cases[] = {
        {"7\n", 7}, {"7", 0},    {"7x\n", 0}, {"x\n", 0},
        {"0\n", 0}, {"-3\n", 0}, {"\n", 0},
    };

    assert_int_equal(slurm_job_read(*state), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        write_to(*state, "job", cases[i].text);
        assert_int_equal(slurm_job_read(*state), cases[i].job);
    }
}

static void test_slurm_last_words__are_a_line(void **state)
{
    static const char *const cases[][2] = {
        {"one", "one"}, {"one\ntwo\n\n", "two"}, {"\n", ""}, {"", ""}};
    char line[32];

    slurm_last_words(*state, line, sizeof(line));
    assert_string_equal(line, "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        write_to(*state, "log", cases[i][0]);
        slurm_last_words(*state, line, sizeof(line));
        assert_string_equal(line, cases[i][1]);
    }
}

/* ---- replies ---- */

static void test_slurm_reply__says_how_it_went(void **state)
{
    static const struct {
        struct command_result result;
        enum slurm_answer answer;
        const char *text;
    } cases[] = {
        {{.errors = "a warning"}, SLURM_DONE, ""},
        {{.is_cut = true, .errors = ""},
         SLURM_SILENT,
         "its answer is too long"},
        {{.is_late = true, .errors = ""},
         SLURM_SILENT,
         "it did not answer in time"},
        {{.exit_code = -1, .errors = " \n"},
         SLURM_SILENT,
         "it failed without a message"},
        {{.exit_code = 1, .errors = "sbatch: error: Invalid x\n"},
         SLURM_REFUSED,
         "Invalid x"},
        {{.exit_code = -1, .errors = "Invalid x"}, SLURM_SILENT, "Invalid x"},
        {{.exit_code = -1, .is_stopped = true, .errors = "Invalid x"},
         SLURM_REFUSED,
         "Invalid x"},
        {{.exit_code = 1, .is_late = true, .errors = "Invalid x"},
         SLURM_SILENT,
         "Invalid x"},
    };
    struct slurm_reply reply;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        slurm_reply_take(&reply, &cases[i].result);
        assert_int_equal(reply.answer, cases[i].answer);
        assert_string_equal(reply.text, cases[i].text);
    }
}

/* The end counts. */
static void test_slurm_reply__keeps_the_end_of_a_long_one(void **state)
{
    char text[2 * SLURM_TEXT_MAX];
    const struct command_result result = {.exit_code = 1, .errors = text};
    struct slurm_reply reply;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + sizeof(text) - sizeof("Invalid y"), "Invalid y",
           sizeof("Invalid y"));
    slurm_reply_take(&reply, &result);
    assert_int_equal(reply.answer, SLURM_REFUSED);
    assert_int_equal(strlen(reply.text), SLURM_TEXT_MAX / 2);
    assert_non_null(strstr(reply.text, "xInvalid y"));
}

#define GONE                                                                   \
    "scancel: error: Kill job error on job id 7: Invalid job id specified"

static void test_slurm_cancel__is_done_where_nothing_is_left(void **state)
{
    static const struct {
        struct command_result result;
        bool is_done;
    } cases[] = {
        {{.exit_code = 1, .errors = GONE "\n" GONE}, true},
        {{.exit_code = 1, .errors = GONE "\nscancel: error: busy\n"}, false},
        {{.exit_code = 1, .errors = ""}, false},
        {{.exit_code = -1, .errors = GONE}, false},
        {{.exit_code = 1, .is_late = true, .errors = GONE}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(slurm_cancel_is_done(&cases[i].result),
                         cases[i].is_done);
}

#define WITH_FOLDER(test)                                                      \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_slurm_handle__is_read_whole_or_not),
        WITH_FOLDER(test_slurm_handle__what_cannot_be_written_is_said),
        WITH_FOLDER(test_slurm_job__is_a_number_or_none),
        WITH_FOLDER(test_slurm_last_words__are_a_line),
        cmocka_unit_test(test_slurm_reply__says_how_it_went),
        cmocka_unit_test(test_slurm_reply__keeps_the_end_of_a_long_one),
        cmocka_unit_test(test_slurm_cancel__is_done_where_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
