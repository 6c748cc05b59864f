/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include "executors/slurm/talk/rows.h"

#define S SLURM_SEPARATOR
#define QUEUE_HEAD                                                             \
    "JOBID" S "ARRAY_JOB_ID" S "ARRAY_TASK_ID" S "STATE" S "REASON" S          \
    "NODELIST" S "EXIT_CODE" S "RESTART_COUNT" S "START_TIME" S "END_TIME" S   \
    "NAME" S "\n"
#define ACCOUNT_HEAD                                                           \
    "JobIDRaw" S "JobID" S "State" S "Reason" S "NodeList" S "ExitCode" S      \
    "Start" S "End" S "JobName" S "\n"

struct listing {
    char *text;
    struct slurm_rows rows;
};

static int parse(struct listing *listing, const struct slurm_row_form *form,
                 const char *text, const char *prefix)
{
    memset(listing, 0, sizeof(*listing));
    listing->text = mem_copy_string(text);
    return slurm_rows_parse(form, listing->text, strlen(text), prefix,
                            &listing->rows);
}

static void clear(struct listing *listing)
{
    slurm_rows_clear(&listing->rows);
    free(listing->text);
}

static void test_slurm_rows__a_queue(void **state)
{
    struct listing listing;
    const struct slurm_job *jobs;

    (void)state;
    assert_int_equal(
        parse(&listing, &slurm_queue_rows,
              QUEUE_HEAD
              "3" S "3" S "N/A" S "FAILED" S "NonZeroExitCode" S "n1" S "768" S
              "1" S "1795317082" S "1795317083" S "smt-1-j2" S "\n"
              "4" S "4" S "N/A" S "CANCELLED" S "None" S "" S "15" S "0" S
              "1795317082" S "1795317083" S "smt-1-j3" S "\n"
              "9" S "2" S "0" S "RUNNING" S "None" S "n[1-2]" S "0" S "0" S
              "1795317082" S "1795318082" S "smt-1-a1" S "\n"
              "2" S "2" S "1" S "PENDING" S "JobHeldUser" S "" S "0" S "0" S
              "1795317082" S "N/A" S "my run.train[1].smt-1-a1" S "\n"
              "8" S "8" S "N/A" S "PENDING" S "None" S "" S "0" S "0" S "N/A" S
              "N/A" S "smt-1-.other" S "\n",
              "smt-1-"),
        0);
    jobs = listing.rows.jobs;
    assert_int_equal(listing.rows.count, 4);
    assert_int_equal(jobs[0].id, 3);
    assert_int_equal(jobs[0].array, 0);
    assert_int_equal(jobs[0].task, -1);
    assert_int_equal(jobs[0].exit_code, 3);
    assert_int_equal(jobs[0].signal, 0);
    assert_int_equal(jobs[0].restarts, 1);
    assert_int_equal(jobs[0].start_ms, 1795317082000);
    assert_int_equal(jobs[0].end_ms, 1795317083000);
    assert_int_equal(jobs[0].state->phase, SLURM_ENDED);
    assert_string_equal(jobs[0].word, "FAILED");
    assert_string_equal(jobs[0].reason, "NonZeroExitCode");
    assert_int_equal(jobs[1].signal, 15);
    assert_int_equal(jobs[1].exit_code, -1);
    assert_string_equal(jobs[1].reason, "");
    assert_int_equal(jobs[2].id, 9);
    assert_int_equal(jobs[2].array, 2);
    assert_int_equal(jobs[2].task, 0);
    assert_int_equal(jobs[2].exit_code, -1);
    assert_int_equal(jobs[2].end_ms, 0); /* when it will be ended at last */
    assert_string_equal(jobs[2].nodes, "n[1-2]");
    assert_int_equal(jobs[3].start_ms, 0); /* when it may start */
    assert_int_equal(jobs[3].task, 1);
    assert_string_equal(jobs[3].name, "smt-1-a1");
    clear(&listing);
}

/* squeue of Slurm 22.05 prints the status of waitpid(), from 23.02 on
 * CODE:SIGNAL, or nothing. */
static void test_slurm_rows__a_queue_of_any_slurm_has_exit_codes(void **state)
{
    static const struct {
        const char *text;
        int exit_code, signal;
    } cases[] = {
        {"0", 0, 0},   {"256", 1, 0},  {"9", -1, 9}, {"0:0", 0, 0},
        {"3:0", 3, 0}, {"0:9", -1, 9}, {"", -1, 0},
    };
    static const char *const garbage[] = {"0:", ":0", "x", "0:0:0", "-1:0"};
    struct listing listing;
    char text[512];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases) + ARRAY_LEN(garbage); i++) {
        bool is_case = i < ARRAY_LEN(cases);

        snprintf(text, sizeof(text),
                 QUEUE_HEAD "3" S "3" S "N/A" S "FAILED" S "None" S "n1" S
                            "%s" S "1" S "1795317082" S "1795317083" S
                            "smt-1-j2" S "\n",
                 is_case ? cases[i].text : garbage[i - ARRAY_LEN(cases)]);
        assert_int_equal(parse(&listing, &slurm_queue_rows, text, "smt-1-"),
                         is_case ? 0 : -1);
        if (is_case) {
            assert_int_equal(listing.rows.jobs[0].exit_code,
                             cases[i].exit_code);
            assert_int_equal(listing.rows.jobs[0].signal, cases[i].signal);
        }
        clear(&listing);
    }
}

static void test_slurm_rows__names_of_others_may_be_anything(void **state)
{
    struct listing listing;

    (void)state;
    assert_int_equal(parse(&listing, &slurm_queue_rows,
                           QUEUE_HEAD
                           "1+0" S "x" S "?" S "" S "" S "" S "" S "" S "" S
                           "" S "we\nird|x\nsmt-1-j1" S "\n"
                           "5" S "5" S "N/A" S "TELEPORTED" S "Priority" S "" S
                           "0" S "0" S "N/A" S "N/A" S "smt-1-j2" S "\n",
                           "smt-1-"),
                     0);
    assert_int_equal(listing.rows.count, 1);
    assert_int_equal(listing.rows.jobs[0].id, 5);
    assert_int_equal(listing.rows.jobs[0].state->phase, SLURM_UNKNOWN);
    assert_string_equal(listing.rows.jobs[0].word, "TELEPORTED");
    clear(&listing);
}

static void test_slurm_rows__an_empty_queue_has_its_heading(void **state)
{
    struct listing listing;

    (void)state;
    assert_int_equal(parse(&listing, &slurm_queue_rows, QUEUE_HEAD, ""), 0);
    assert_int_equal(listing.rows.count, 0);
    clear(&listing);
    assert_int_equal(parse(&listing, &slurm_queue_rows, "", ""), -1);
    clear(&listing);
    assert_int_equal(parse(&listing, &slurm_account_rows, ACCOUNT_HEAD, ""), 0);
    clear(&listing);
}

#define ROW                                                                    \
    "5" S "5" S "N/A" S "RUNNING" S "None" S "n1" S "0" S "0" S "17" S "18" S  \
    "smt-1-j2" S "\n"

/* Wherever it is cut, but behind a row, nothing of it is taken. */
static void test_slurm_rows__half_an_answer_is_none(void **state)
{
    static const char text[] = QUEUE_HEAD ROW ROW;
    const size_t head = strlen(QUEUE_HEAD), row = strlen(ROW);

    (void)state;
    for (size_t i = 0; i < strlen(text); i++) {
        char *part = mem_copy_bytes(text, i);
        struct listing listing;
        bool is_whole = i == head || i == head + row;

        assert_int_equal(parse(&listing, &slurm_queue_rows, part, ""),
                         is_whole ? 0 : -1);
        clear(&listing);
        free(part);
    }
}

static void test_slurm_rows__garbage_is_no_answer(void **state)
{
    static const char *const texts[] = {
        "slurm_load_jobs error: Unable to contact slurm controller\n",
        ROW,
        QUEUE_HEAD "garbage\n",
        QUEUE_HEAD "x5" S "5" S "N/A" S "RUNNING" S "" S "" S "0" S "0" S "1" S
                   "2" S "smt-1-j2" S "\n",
        QUEUE_HEAD "5" S "5" S "N/A" S "" S "" S "" S "0" S "0" S "1" S "2" S
                   "smt-1-j2" S "\n",
        QUEUE_HEAD "99999999999999999999" S "5" S "N/A" S "RUNNING" S "" S "" S
                   "0" S "0" S "1" S "2" S "smt-1-j2" S "\n",
        QUEUE_HEAD ROW "\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct listing listing;

        assert_int_equal(parse(&listing, &slurm_queue_rows, texts[i], ""), -1);
        clear(&listing);
    }
}

static void test_slurm_rows__an_accounting(void **state)
{
    struct listing listing;
    const struct slurm_job *jobs;

    (void)state;
    assert_int_equal(parse(&listing, &slurm_account_rows,
                           ACCOUNT_HEAD
                           "14" S "14" S "FAILED" S "None" S "n3" S "3:0" S
                           "1795318010" S "1795318011" S "smt-1-j1" S "\n"
                           "16" S "15_0" S "CANCELLED by 0" S "None" S "n3" S
                           "0:15" S "1795318010" S "1795318011" S "smt-1-a2" S
                           "\n"
                           "15" S "15_[1,4-6:2%3]" S "PENDING" S "Resources" S
                           "None assigned" S "0:0" S "Unknown" S "Unknown" S
                           "smt-1-a2" S "\n",
                           "smt"),
                     0);
    jobs = listing.rows.jobs;
    assert_int_equal(listing.rows.count, 5);
    assert_int_equal(jobs[0].task, -1);
    assert_int_equal(jobs[0].exit_code, 3);
    assert_int_equal(jobs[0].end_ms, 1795318011000);
    assert_int_equal(jobs[1].id, 16);
    assert_int_equal(jobs[1].array, 15);
    assert_int_equal(jobs[1].task, 0);
    assert_int_equal(jobs[1].signal, 15);
    assert_int_equal(jobs[1].state->cause, CAUSE_CANCELLED);
    assert_int_equal(jobs[2].task, 1);
    assert_int_equal(jobs[3].task, 4);
    assert_int_equal(jobs[4].task, 6);
    assert_int_equal(jobs[4].array, 15);
    assert_string_equal(jobs[4].nodes, "");
    clear(&listing);
}

static void test_slurm_rows__a_list_of_tasks_is_bounded(void **state)
{
    struct listing listing;

    (void)state;
    assert_int_equal(parse(&listing, &slurm_account_rows,
                           ACCOUNT_HEAD "15" S "15_[0-99999999]" S "PENDING" S
                                        "" S "" S "0:0" S "0" S "0" S
                                        "smt-1-a2" S "\n",
                           ""),
                     -1);
    clear(&listing);
    assert_int_equal(parse(&listing, &slurm_account_rows,
                           ACCOUNT_HEAD "15" S "15_[0,2,...]" S "PENDING" S "" S
                                        "" S "0:0" S "0" S "0" S "smt-1-a2" S
                                        "\n",
                           ""),
                     0);
    assert_int_equal(listing.rows.count, 2);
    clear(&listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_rows__a_queue),
        cmocka_unit_test(test_slurm_rows__a_queue_of_any_slurm_has_exit_codes),
        cmocka_unit_test(test_slurm_rows__names_of_others_may_be_anything),
        cmocka_unit_test(test_slurm_rows__an_empty_queue_has_its_heading),
        cmocka_unit_test(test_slurm_rows__half_an_answer_is_none),
        cmocka_unit_test(test_slurm_rows__garbage_is_no_answer),
        cmocka_unit_test(test_slurm_rows__an_accounting),
        cmocka_unit_test(test_slurm_rows__a_list_of_tasks_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
