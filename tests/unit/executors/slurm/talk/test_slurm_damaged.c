/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of Slurm's that are cut, or that say what cannot be: an answer is
 * taken whole, or it is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"
#include "executors/slurm/talk/rows.h"
#include "executors/slurm/talk/state.h"

#define S SLURM_SEPARATOR

/* ---- rows of squeue and sacct ---- */

/* How many jobs the row is; -1: the answer is none. */
static int count_rows(const struct slurm_row_form *form, const char *head,
                      const char *row, struct slurm_job *first)
{
    char *text = mem_printf("%s%s\n", head, row);
    struct slurm_rows rows = {0};
    int result = slurm_rows_parse(form, text, strlen(text), "", &rows);

    if (rows.count > 0) {
        *first = rows.jobs[0];
        first->nodes = first->nodes[0] != '\0' ? "some" : "";
    }
    if (result == 0)
        result = (int)rows.count;
    slurm_rows_clear(&rows);
    free(text);
    return result;
}

static int count_queue(const char *row, struct slurm_job *first)
{
    return count_rows(&slurm_queue_rows,
                      "JOBID" S "A" S "T" S "S" S "R" S "N" S "E" S "R" S "S" S
                      "E" S "N" S "\n",
                      row, first);
}

static int count_account(const char *row, struct slurm_job *first)
{
    return count_rows(&slurm_account_rows,
                      "JobIDRaw" S "J" S "S" S "R" S "N" S "E" S "S" S "E" S
                      "J" S "\n",
                      row, first);
}

#define QUEUED(id, array, task, state, nodes, status, restarts, start)         \
    id S array S task S state S "None" S nodes S status S restarts S start S   \
                                "N/A" S "j" S

static void test_slurm_rows__of_a_queue_are_sound(void **state)
{
    static const struct {
        const char *row;
        int count;
    } cases[] = {
        {QUEUED("3", "3", "N/A", "RUNNING", "n1", "0", "0", "9"), 1},
        {QUEUED("0", "3", "N/A", "RUNNING", "n1", "0", "0", "9"), -1},
        {QUEUED("3x", "3", "N/A", "RUNNING", "n1", "0", "0", "9"), -1},
        {QUEUED("1234567890123456789", "3", "1", "RUNNING", "n1", "0", "0",
                "9"),
         -1},
        {QUEUED("3", "x", "N/A", "RUNNING", "n1", "0", "0", "9"), -1},
        {QUEUED("3", "3", "", "RUNNING", "n1", "0", "0", "9"), -1},
        {QUEUED("3", "3", "N/A", "", "n1", "0", "0", "9"), -1},
        {QUEUED("3", "3", "N/A", "RUNNING", "n1", "x", "0", "9"), -1},
        {QUEUED("3", "3", "N/A", "RUNNING", "n1", "99999999999", "0", "9"), -1},
        {QUEUED("3", "3", "N/A", "RUNNING", "n1", "0", "x", "9"), -1},
        {QUEUED("3", "3", "N/A", "RUNNING", "n1", "0", "0", ""), -1},
    };
    struct slurm_job job = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(count_queue(cases[i].row, &job), cases[i].count);
}

static void test_slurm_rows__know_what_is_not_known(void **state)
{
    struct slurm_job job = {.state = slurm_state_find(""), .nodes = ""};

    (void)state;
    assert_int_equal(count_queue(QUEUED("3", "3", "99999999999", "REQUEUE_HOLD",
                                        "(null)", "0", "0", "9"),
                                 &job),
                     1);
    assert_int_equal(job.task, -1);
    assert_int_equal(job.array, 0);
    assert_int_equal(job.state->phase, SLURM_HELD);
    assert_int_equal(job.start_ms, 0); /* when it may start */
    assert_string_equal(job.nodes, "");
    assert_int_equal(count_queue(QUEUED("3", "3", "N/A", "RUNNING", "n1", "0",
                                        "0", "999999999999999999"),
                                 &job),
                     1);
    assert_int_equal(job.start_ms, 0);
    assert_string_equal(job.nodes, "some");
}

#define ENDED(id, exit)                                                        \
    "7" S id S "FAILED" S "" S "n1" S exit S "5" S "9" S "j" S

static void test_slurm_rows__of_an_accounting_are_sound(void **state)
{
    static const struct {
        const char *row;
        int count;
    } cases[] = {
        {ENDED("7", "1:0"), 1},
        {ENDED("7_2", "1:0"), 1},
        {ENDED("x", "1:0"), -1},
        {ENDED("7_x", "1:0"), -1},
        {ENDED("7_[9-1]", "1:0"), -1},
        {ENDED("7", ""), -1},
        {ENDED("7", "99999999999:0"), -1},
        {ENDED("7", "1"), -1},
        {ENDED("7", "1:x"), -1},
    };
    struct slurm_job job = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(count_account(cases[i].row, &job), cases[i].count);
}

/* ---- JSON of slurmrestd ---- */

static struct slurm_rest_rows read_jobs(const char *body, size_t length,
                                        enum slurm_answer expected)
{
    const struct fetch_answer answer = {
        .status = 200, .text = "", .body = body, .body_bytes = length};
    struct slurm_rest_rows rows = {0};
    struct slurm_reply reply;

    slurm_rest_read_jobs(&answer, "smt-", 1000, &rows, &reply);
    if (reply.answer != expected)
        fail_msg("%.*s: %s", (int)length, body, reply.text);
    return rows;
}

#define JOB(fields)                                                            \
    "{\"user_id\": 1000, \"name\": \"smt-1\", \"job_id\": 7, \"job_state\": "  \
    "\"FAILED\", \"state_reason\": \"\\\"[{\" " fields "}"
#define JOBS(text) "{\"meta\": {\"a\": [1, {}]}, \"jobs\": [" text "]}"

static void test_slurm_rest__an_answer_that_is_cut_is_none(void **state)
{
    static const char body[] = " " JOBS(JOB("") ", " JOB("")) " ";
    struct slurm_rest_rows rows;

    (void)state;
    rows = read_jobs(body, strlen(body), SLURM_DONE);
    assert_int_equal(rows.count, 2);
    slurm_rest_rows_clear(&rows);
    for (size_t length = 0; length < strlen(body) - 1; length++) {
        char *cut = mem_copy_bytes(body, length);

        rows = read_jobs(cut, length, SLURM_SILENT);
        assert_int_equal(rows.count, 0);
        free(cut);
    }
}

static void test_slurm_rest__what_is_no_listing_is_no_answer(void **state)
{
    static const char *const bodies[] = {
        "{\"jobs\" []}",
        "{\"jobs\": []} x",
        "{\"jobs\": [,]}",
        "{\"jobs\": [}",
        "{\"jobs\": ]}",
        "{jobs: []}",
        "{\"jobs\": 7}",
        "{\"jobs\": {}}",
        "{\"jobx\": []}",
        "{\"jobs\": [], \"count\": 12",
        "{\"jobs\": [\"smt-\"]x}",
        JOBS("{\"name\": \"smt-\", \"user_id\": 1000}"),
        JOBS("{\"name\": \"smt-\", \"user_id\": 1000, \"job_id\": 3}"),
        JOBS("{\"name\": \"smt-\", \"user_id\": 1000, \"job_id\": x}"),
        JOBS(JOB(", \"array_job_id\": 7, \"array_task_string\": \"9-1\"")),
        JOBS(JOB(", \"array_job_id\": 7, \"array_task_string\": "
                 "\"0-131071\"") ", " JOB(", \"array_job_id\": 7, "
                                          "\"array_task_string\": \"...\"")),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        assert_int_equal(
            read_jobs(bodies[i], strlen(bodies[i]), SLURM_SILENT).count, 0);
}

static void test_slurm_rest__a_nul_ends_nothing(void **state)
{
    static const char bodies[][16] = {
        {"{\0\"jobs\": []}"}, {"{\"jobs\":\0 []}"}, {"{\"a\": 1\0,}"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        assert_int_equal(
            read_jobs(bodies[i], sizeof(bodies[i]), SLURM_SILENT).count, 0);
}

static void test_slurm_rest__what_is_not_known_is_left_out(void **state)
{
    static const char body[] =
        "{\"jobs\": [{\"user_id\": 1000, \"name\": \"smt-1\", \"job_id\": 7, "
        "\"job_state\": [\"FAILED\", \"GLOWING\"], "
        "\"start_time\": 9223372036854775807, \"end_time\": 9}]}";
    struct slurm_rest_rows rows;

    (void)state;
    rows = read_jobs(body, strlen(body), SLURM_DONE);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.jobs[0].word, "FAILED");
    assert_int_equal(rows.jobs[0].start_ms, 0);
    assert_int_equal(rows.jobs[0].end_ms, 9000);
    slurm_rest_rows_clear(&rows);
}

/* The first number of Slurm's own counts. */
static void test_slurm_rest__errors_are_judged_by_their_number(void **state)
{
    static const struct {
        const char *errors;
        enum slurm_answer answer;
    } cases[] = {
        {"{\"error_number\": \"x\"}", SLURM_SILENT},
        {"{\"error_number\": 11}", SLURM_LATER},
        {"{\"error_number\": 2027}", SLURM_SILENT},
        {"{\"error_number\": 2131}", SLURM_SILENT},
        {"{\"error_number\": 2100, \"error\": \"It is odd\"}", SLURM_REFUSED},
        {"{\"error_number\": 2200, \"error\": \"It is odd\"}", SLURM_SILENT},
        {"{\"error_number\": 2100}, {\"error_number\": 9001}", SLURM_REFUSED},
        {"{\"error_number\": 9001}, {\"error_number\": 2100}", SLURM_REFUSED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *body =
            mem_printf("{\"errors\": [%s], \"jobs\": []}", cases[i].errors);
        struct slurm_rest_rows rows =
            read_jobs(body, strlen(body), cases[i].answer);

        assert_int_equal(rows.count, 0);
        free(body);
    }
}

static void must_have_version(int status, const char *text, const char *body,
                              int version, const char *says)
{
    const struct fetch_answer answer = {.status = status,
                                        .text = text,
                                        .body = body,
                                        .body_bytes = strlen(body)};
    struct err err = {0};

    assert_int_equal(slurm_rest_version(&answer, &err), version);
    if (strstr(err.text, says) == NULL)
        fail_msg("%s", err.text);
}

static void test_slurm_rest__a_version_is_of_an_answer(void **state)
{
    static const char paths[] = "{\"paths\": {\"/slurm/v0.0.38/jobs\": {}}}";

    (void)state;
    must_have_version(200, "", paths, 38, "");
    must_have_version(503, "", paths, 0, "503");
    must_have_version(0, "no route there", "", 0, "no route there");
}

static void must_exit(const char *fields, int exit_code, int signal)
{
    char *body = mem_printf(JOBS(JOB("%s")), fields);
    struct slurm_rest_rows rows = read_jobs(body, strlen(body), SLURM_DONE);

    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.jobs[0].exit_code, exit_code);
    assert_int_equal(rows.jobs[0].signal, signal);
    assert_int_equal(rows.jobs[0].task, -1);
    slurm_rest_rows_clear(&rows);
    free(body);
}

static void test_slurm_rest__an_exit_that_cannot_be_is_not_known(void **state)
{
    (void)state;
    must_exit(", \"exit_code\": 256", 1, 0);
    must_exit(", \"exit_code\": 9", -1, 9);
    must_exit(", \"exit_code\": -1", -1, 0);
    must_exit(", \"exit_code\": {\"return_code\": 3}", 3, 0);
    must_exit(", \"exit_code\": {\"return_code\": 256}", -1, 0);
    must_exit(", \"exit_code\": {\"signal\": {\"id\": 99999999999}}", -1,
              INT32_MAX);
    must_exit(", \"array_job_id\": 0, \"array_task_id\": 99999999999", -1, 0);
}

#define ACCOUNT(id, array, time)                                               \
    "{\"job_id\": " id ", \"name\": \"smt-1\", \"array\": " array              \
    ", \"state\": {\"current\": \"FAILED\"}, \"time\": " time "}"

static enum slurm_answer read_account(const char *body,
                                      struct slurm_rest_rows *rows)
{
    const struct fetch_answer answer = {
        .status = 200, .text = "", .body = body, .body_bytes = strlen(body)};
    struct slurm_reply reply;

    memset(rows, 0, sizeof(*rows));
    slurm_rest_read_account(&answer, 4900 * 1000, rows, &reply);
    return reply.answer;
}

static void test_slurm_rest__an_accounting_is_sound(void **state)
{
    static const char *const bodies[] = {
        JOBS(ACCOUNT("0", "{}", "{\"submission\": 5000}")),
        JOBS("{\"job_id\": 3, \"time\": {\"submission\": 5000}}"),
        JOBS(ACCOUNT("x", "{}", "{}")),
        JOBS(ACCOUNT("3", "{\"job_id\": 3, \"task\": \"9-1\"}",
                     "{\"submission\": 5000}")),
    };
    struct slurm_rest_rows rows;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        assert_int_equal(read_account(bodies[i], &rows), SLURM_SILENT);
        slurm_rest_rows_clear(&rows);
    }
}

/* The end of time is after any day that is asked for. */
static void test_slurm_rest__an_accounting_has_lives_in_any_order(void **state)
{
    static const char body[] = JOBS(
        ACCOUNT("3", "{\"job_id\": 2, \"task_id\": 1}", "{\"start\": 7000, \"submission\": 9223372036854774}") ", " ACCOUNT(
            "3", "{\"job_id\": 2, \"task_id\": 1}",
            "{\"start\": 6000, \"submission\": 5000}") ", " ACCOUNT("3",
                                                                    "{\"job_"
                                                                    "id\": 2, "
                                                                    "\"task_"
                                                                    "id\": 0}",
                                                                    "{\"start\""
                                                                    ": 5000, "
                                                                    "\"submissi"
                                                                    "on\": "
                                                                    "5000}") ","
                                                                             " " ACCOUNT("9", "{\"job_id\": 0, \"task_id\": 99999999999}", "{\"start\": 5000, \"submission\": 5000}") ", " ACCOUNT(
                                                                                 "4",
                                                                                 "{\"job_id\": 4, \"task\": \"0-1\"}",
                                                                                 "{\"submission\": 5000}"));
    struct slurm_rest_rows rows;

    (void)state;
    assert_int_equal(read_account(body, &rows), SLURM_DONE);
    assert_int_equal(rows.count, 5);
    assert_int_equal(rows.jobs[0].start_ms, 7000 * 1000);
    assert_int_equal(rows.jobs[1].task, 0);
    assert_int_equal(rows.jobs[2].task, -1);
    assert_int_equal(rows.jobs[4].task, 1);
    slurm_rest_rows_clear(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_rows__of_a_queue_are_sound),
        cmocka_unit_test(test_slurm_rows__know_what_is_not_known),
        cmocka_unit_test(test_slurm_rows__of_an_accounting_are_sound),
        cmocka_unit_test(test_slurm_rest__an_answer_that_is_cut_is_none),
        cmocka_unit_test(test_slurm_rest__what_is_no_listing_is_no_answer),
        cmocka_unit_test(test_slurm_rest__a_nul_ends_nothing),
        cmocka_unit_test(test_slurm_rest__what_is_not_known_is_left_out),
        cmocka_unit_test(test_slurm_rest__errors_are_judged_by_their_number),
        cmocka_unit_test(test_slurm_rest__a_version_is_of_an_answer),
        cmocka_unit_test(test_slurm_rest__an_exit_that_cannot_be_is_not_known),
        cmocka_unit_test(test_slurm_rest__an_accounting_is_sound),
        cmocka_unit_test(test_slurm_rest__an_accounting_has_lives_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
