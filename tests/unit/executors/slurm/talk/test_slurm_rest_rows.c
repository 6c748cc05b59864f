/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that slurmrestd lists, of the queue and of the accounting. */
#include "tests/unit/executors/slurm/talk/rest_test.h"

#include <stdlib.h>

#include "base/mem.h"

/* ---- jobs ---- */

#define JOB(fields)                                                            \
    "{\"user_id\": 1000, \"name\": \"smt-0badcafe-j1\", \"nodes\": \"n1\", "   \
    "\"state_reason\": \"None\", " fields "}"
#define JOBS(text) "{\"errors\": [], \"jobs\": [" text "]}"

static void test_slurm_rest__reads_jobs(void **state)
{
    struct slurm_rest_rows rows;
    struct slurm_reply reply;

    (void)state;
    read_jobs(JOBS(JOB("\"job_id\": 7, \"array_job_id\": 0, \"array_task_id\": "
                       "null, \"array_task_string\": \"\", \"job_state\": "
                       "\"FAILED\", \"exit_code\": 768, \"restart_cnt\": 2, "
                       "\"start_time\": 1795317392, \"end_time\": 1795317393")),
              &rows, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.jobs[0].id, 7);
    assert_int_equal(rows.jobs[0].array, 0);
    assert_int_equal(rows.jobs[0].task, -1);
    assert_string_equal(rows.jobs[0].name, "smt-0badcafe-j1");
    assert_string_equal(rows.jobs[0].word, "FAILED");
    assert_int_equal(rows.jobs[0].state->phase, SLURM_ENDED);
    assert_string_equal(rows.jobs[0].reason, "");
    assert_string_equal(rows.jobs[0].nodes, "n1");
    assert_int_equal(rows.jobs[0].exit_code, 3);
    assert_int_equal(rows.jobs[0].signal, 0);
    assert_int_equal(rows.jobs[0].restarts, 2);
    assert_int_equal(rows.jobs[0].start_ms, INT64_C(1795317392000));
    assert_int_equal(rows.jobs[0].end_ms, INT64_C(1795317393000));
    slurm_rest_rows_clear(&rows);
}

static void test_slurm_rest__reads_jobs_of_later_versions(void **state)
{
    struct slurm_rest_rows rows;
    struct slurm_reply reply;

    (void)state;
    read_jobs(
        JOBS(JOB(
            "\"job_id\": 9, \"array_job_id\": {\"set\": true, "
            "\"infinite\": false, \"number\": 8}, \"array_task_id\": "
            "{\"set\": true, \"infinite\": false, \"number\": 0}, "
            "\"job_state\": [\"CANCELLED\"], \"exit_code\": {\"status\": "
            "[\"SIGNALED\"], \"return_code\": {\"set\": true, "
            "\"infinite\": false, \"number\": 0}, \"signal\": {\"id\": "
            "{\"set\": true, \"infinite\": false, \"number\": 15}, "
            "\"name\": \"TERM\"}}, \"start_time\": {\"set\": true, "
            "\"infinite\": false, \"number\": 5}") ", " JOB("\"job_id\": 10, "
                                                            "\"array_job_id\": "
                                                            "{\"set\": true, "
                                                            "\"infinite\": "
                                                            "false, "
                                                            "\"number\": 0}, "
                                                            "\"array_task_id\":"
                                                            " "
                                                            "{\"set\": false, "
                                                            "\"infinite\": "
                                                            "false, "
                                                            "\"number\": 0}, "
                                                            "\"job_state\": "
                                                            "[\"COMPLETED\", "
                                                            "\"COMPLETING\"], "
                                                            "\"exit_code\": "
                                                            "{\"status\": "
                                                            "[\"ERROR\"], "
                                                            "\"return_code\": "
                                                            "{\"set\": true, "
                                                            "\"infinite\": "
                                                            "false, "
                                                            "\"number\": 4}}")),
        &rows, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.jobs[0].array, 8);
    assert_int_equal(rows.jobs[0].task, 0);
    assert_int_equal(rows.jobs[0].signal, 15);
    assert_int_equal(rows.jobs[0].exit_code, -1);
    assert_int_equal(rows.jobs[0].start_ms, 5000);
    assert_int_equal(rows.jobs[1].task, -1);
    assert_string_equal(rows.jobs[1].word, "COMPLETING");
    assert_int_equal(rows.jobs[1].state->phase, SLURM_RUNNING);
    assert_int_equal(rows.jobs[1].exit_code, -1);
    slurm_rest_rows_clear(&rows);
}

static void test_slurm_rest__leaves_out_what_is_not_ours(void **state)
{
    struct slurm_rest_rows rows;
    struct slurm_reply reply;

    (void)state;
    read_jobs(JOBS("{\"user_id\": 1001, \"name\": \"smt-0badcafe-j1\", "
                   "\"job_id\": 1, \"job_state\": \"RUNNING\"}, "
                   "{\"user_id\": 1000, \"name\": \"x smt-0badcafe-j1\", "
                   "\"job_id\": 2, \"job_state\": \"RUNNING\"}, "
                   "{\"user_id\": 1000, \"name\": \"smt-0badcaff-j1\", "
                   "\"job_id\": 3, \"job_state\": \"RUNNING\"}, "
                   "{\"name\": \"not even \\\"JSON\\\"\", [}]}"),
              &rows, &reply);
    assert_int_equal(reply.answer, SLURM_SILENT); /* of the last one */
    read_jobs(JOBS("{\"user_id\": 1001, \"name\": \"smt-0badcafe-j1\", "
                   "\"job_id\": 1, \"job_state\": \"RUNNING\"}, "
                   "{\"user_id\": 1000, \"name\": \"x smt-0badcafe-j1\", "
                   "\"job_id\": 2, \"job_state\": \"RUNNING\"}, "
                   "{\"user_id\": 1000, \"name\": \"}]\\\\\\\"{smt\", "
                   "\"job_id\": 3, \"job_state\": \"RUNNING\"}"),
              &rows, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_int_equal(rows.count, 0);
    slurm_rest_rows_clear(&rows);
}

static void assert_tasks(const char *text, const int *tasks, size_t count)
{
    char *body = mem_printf(JOBS(JOB("\"job_id\": 5, \"array_job_id\": 5, "
                                     "\"array_task_id\": null, \"job_state\": "
                                     "\"PENDING\", \"exit_code\": 0, "
                                     "\"array_task_string\": \"%s\"")),
                            text);
    struct slurm_rest_rows rows;
    struct slurm_reply reply;

    read_jobs(body, &rows, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_int_equal(rows.count, count);
    for (size_t i = 0; i < count && tasks != NULL; i++) {
        assert_int_equal(rows.jobs[i].id, 5);
        assert_int_equal(rows.jobs[i].array, 5);
        assert_int_equal(rows.jobs[i].task, tasks[i]);
        assert_int_equal(rows.jobs[i].exit_code, -1);
    }
    slurm_rest_rows_clear(&rows);
    free(body);
}

static void test_slurm_rest__gives_each_task_that_waits(void **state)
{
    static const int few[] = {0, 1, 2}, some[] = {1, 4, 6, 8};

    (void)state;
    assert_tasks("0-2", few, 3);
    assert_tasks("1,4-8:2%4", some, 4);
    assert_tasks("0,2,4...", NULL, 999); /* 0, 2, and from 4 to 1000 */
    assert_tasks("2000-2003,2009...", NULL, 5);
}

static void test_slurm_rest__takes_no_endless_array(void **state)
{
    struct slurm_rest_rows rows;
    struct slurm_reply reply;

    (void)state;
    read_jobs(JOBS(JOB("\"job_id\": 5, \"array_job_id\": 5, \"job_state\": "
                       "\"PENDING\", \"array_task_string\": "
                       "\"0-2000000000\"")),
              &rows, &reply);
    assert_int_equal(reply.answer, SLURM_SILENT);
    assert_int_equal(rows.count, 0);
}

/* ---- the accounting ---- */

#define ACCOUNT(id, state, code, submitted)                                    \
    "{\"job_id\": " id ", \"name\": \"smt-0badcafe-j1\", \"nodes\": "          \
    "\"None assigned\", \"array\": {\"job_id\": 0, \"task_id\": null}, "       \
    "\"state\": {\"current\": \"" state "\", \"reason\": \"None\"}, "          \
    "\"exit_code\": " code ", \"time\": {\"start\": " submitted                \
    ", \"end\": 9000, \"submission\": " submitted "}}"
#define SUCCESS "{\"status\": \"SUCCESS\", \"return_code\": 0}"

static void test_slurm_rest__believes_no_exit_status_of_accounting(void **state)
{
    static const char body[] =
        JOBS(ACCOUNT("1", "FAILED", SUCCESS, "5000") ", " ACCOUNT(
            "2", "COMPLETED", SUCCESS,
            "5000") ", " ACCOUNT("3", "FAILED",
                                 "{\"status\": \"SIGNALED\", \"return_code\": "
                                 "null, "
                                 "\"signal\": {\"signal_id\": 9, \"name\": "
                                 "\"Killed\"}}",
                                 "5000"));
    const struct fetch_answer answer = said(200, body);
    struct slurm_rest_rows rows = {0};
    struct slurm_reply reply;

    (void)state;
    slurm_rest_read_account(&answer, 4900 * 1000, &rows, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.jobs[0].exit_code, -1);
    assert_int_equal(rows.jobs[0].signal, 0);
    assert_string_equal(rows.jobs[0].nodes, "");
    assert_int_equal(rows.jobs[1].exit_code, 0);
    assert_int_equal(rows.jobs[2].exit_code, -1);
    assert_int_equal(rows.jobs[2].signal, 9);
    slurm_rest_rows_clear(&rows);
}

static void test_slurm_rest__takes_the_last_life_of_those_asked_for(
    void **state)
{
    static const char body[] =
        JOBS(ACCOUNT("1", "COMPLETED", SUCCESS, "100") ", " ACCOUNT(
            "2", "NODE_FAIL", SUCCESS, "5000") ", " ACCOUNT("2", "TIMEOUT",
                                                            SUCCESS, "6000"));
    const struct fetch_answer answer = said(200, body);
    struct slurm_rest_rows rows = {0};
    struct slurm_reply reply;

    (void)state;
    slurm_rest_read_account(&answer, 4900 * 1000, &rows, &reply);
    assert_int_equal(rows.count, 1); /* the first had that id long ago */
    assert_int_equal(rows.jobs[0].id, 2);
    assert_string_equal(rows.jobs[0].word, "TIMEOUT");
    slurm_rest_rows_clear(&rows);
}

static void test_slurm_rest__accounting_may_know_nothing(void **state)
{
    const struct fetch_answer answer =
        said(200, "{\"errors\": [{\"description\": \"Nothing found\", "
                  "\"error_number\": 9003, \"error\": \"Nothing found with "
                  "query\", \"source\": \"slurmdb_jobs_get\"}], \"jobs\": []}");
    struct slurm_rest_rows rows = {0};
    struct slurm_reply reply;

    (void)state;
    slurm_rest_read_account(&answer, 0, &rows, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_int_equal(rows.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_rest__reads_jobs),
        cmocka_unit_test(test_slurm_rest__reads_jobs_of_later_versions),
        cmocka_unit_test(test_slurm_rest__leaves_out_what_is_not_ours),
        cmocka_unit_test(test_slurm_rest__gives_each_task_that_waits),
        cmocka_unit_test(test_slurm_rest__takes_no_endless_array),
        cmocka_unit_test(
            test_slurm_rest__believes_no_exit_status_of_accounting),
        cmocka_unit_test(
            test_slurm_rest__takes_the_last_life_of_those_asked_for),
        cmocka_unit_test(test_slurm_rest__accounting_may_know_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
