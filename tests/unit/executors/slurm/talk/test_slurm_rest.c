/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"

enum { UID = 1000 };

#define META                                                                   \
    "\"meta\": {\"plugin\": {\"type\": \"openapi\\/v0.0.38\"}, \"Slurm\": "    \
    "{\"version\": {\"major\": 22}, \"release\": \"22.05.8\"}}"

static struct fetch_answer said(int status, const char *body)
{
    return (struct fetch_answer){
        .status = status, .text = "", .body = body, .body_bytes = strlen(body)};
}

static enum slurm_answer judged(int status, const char *body,
                                struct slurm_reply *reply)
{
    const struct fetch_answer answer = said(status, body);
    int64_t number;

    json_decref(slurm_rest_judge(&answer, NULL, &number, reply));
    return reply->answer;
}

static void read_jobs(const char *body, struct slurm_rest_rows *rows,
                      struct slurm_reply *reply)
{
    const struct fetch_answer answer = said(200, body);

    memset(rows, 0, sizeof(*rows));
    slurm_rest_read_jobs(&answer, "smt-0badcafe-", UID, rows, reply);
}

/* ---- what an answer means ---- */

static void test_slurm_rest__a_refusal_is_told_from_silence(void **state)
{
    static const char partition[] =
        "{" META ", \"errors\": [{\"error_code\": 2000, \"error\": \"Invalid "
        "partition name specified\"}]}";
    static const char down[] =
        "{\"errors\": [{\"description\": \"Failed while looking for jobs\", "
        "\"error_number\": -1, \"error\": \"Unspecified error\", \"source\": "
        "\"slurm_load_jobs\"}], \"jobs\": []}";
    static const char token[] =
        "{\"errors\": [{\"error_code\": 5005, \"error\": \"Zero Bytes were "
        "transmitted or received\"}]}";
    static const char limit[] =
        "{\"errors\": [{\"error_code\": 2050, \"error\": \"Job violates "
        "accounting/QOS policy\"}]}";
    static const char standby[] =
        "{\"errors\": [{\"error_code\": 2027, \"error\": \"Slurm backup "
        "controller in standby mode\"}]}";
    static const char full[] = /* from Slurm 26.05 on */
        "{\"errors\": [{\"error_number\": 2007, \"error\": \"MaxJobCount "
        "limit reached\"}]}";
    static const char busy[] = /* from Slurm 24.05 on */
        "{\"errors\": [{\"error_number\": 1805, \"error\": \"Rate limit "
        "exceeded, please retry later\"}]}";
    static const char key[] =
        "{\"errors\": [{\"description\": \"Unknown key \\\"x\\\"\", "
        "\"source\": \"hsearch_r\"}, {\"error_code\": 9001, \"error\": "
        "\"Failure during parsing\"}]}";
    struct slurm_reply reply;

    (void)state;
    assert_int_equal(judged(500, partition, &reply), SLURM_REFUSED);
    assert_string_equal(reply.text, "Invalid partition name specified");
    assert_int_equal(judged(500, down, &reply), SLURM_SILENT);
    assert_int_equal(judged(500, token, &reply), SLURM_SILENT);
    assert_int_equal(judged(500, limit, &reply), SLURM_LATER);
    assert_int_equal(judged(500, full, &reply), SLURM_LATER);
    assert_int_equal(judged(500, busy, &reply), SLURM_LATER);
    assert_int_equal(judged(500, standby, &reply), SLURM_SILENT);
    assert_int_equal(judged(400, key, &reply), SLURM_REFUSED);
    assert_string_equal(reply.text,
                        "Unknown key \"x\"; Failure during parsing");
}

static void test_slurm_rest__what_is_no_answer_says_nothing(void **state)
{
    static const struct {
        int status;
        const char *body;
    } cases[] = {
        {0, ""},
        {200, ""},
        {200, "{\"jobs\": ["},
        {200, "{\"jobs\": [{}"},
        {200, "[]"},
        {200, "<html>busy</html>"},
        {401, "Authentication failure"},
        {404, "Unable find requested URL."},
        {502, "{}"},
    };
    struct slurm_rest_rows rows;
    struct slurm_reply reply;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(judged(cases[i].status, cases[i].body, &reply),
                         SLURM_SILENT);
        assert_string_not_equal(reply.text, "");
    }
    read_jobs("{\"errors\": []}", &rows, &reply); /* no jobs, not even none */
    assert_int_equal(reply.answer, SLURM_SILENT);
}

/* A JSON body without errors, as slurmrestd of 24.11 sends it. */
static void test_slurm_rest__a_status_has_a_sentence(void **state)
{
    static const char body[] = "{\n  \"errors\": [],\n  \"warnings\": []\n}";
    static const struct {
        int status;
        const char *body, *expected;
    } cases[] = {
        {401, body, "refused the token"},
        {511, body, "refused the token"},
        {502, body, "cannot reach the Slurm controller"},
        {503, body, "cannot reach the Slurm controller"},
        {504, "", "cannot reach the Slurm controller"},
        {500, body, "answered HTTP 500 without a reason"},
        {404, "Unable find requested URL.", "HTTP 404: Unable find"},
    };
    struct slurm_reply reply;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(judged(cases[i].status, cases[i].body, &reply),
                         SLURM_SILENT);
        assert_non_null(strstr(reply.text, cases[i].expected));
        assert_null(strchr(reply.text, '{'));
    }
}

static void test_slurm_rest__takes_the_newest_version_it_knows(void **state)
{
    static const char three[] =
        "{\"paths\": {\"\\/slurm\\/v0.0.36\\/jobs\": {}, "
        "\"\\/slurm\\/v0.0.38\\/jobs\": {}, \"\\/slurm\\/v0.0.37\\/jobs\": {}, "
        "\"\\/slurmdb\\/v0.0.41\\/jobs\": {}}}";
    static const char later[] =
        "{\"paths\": {\"/slurm/v0.0.40/jobs/\": {}, \"/slurm/v0.0.41/jobs/\": "
        "{}, \"/slurm/v0.0.99/jobs/\": {}}}";
    static const char of_26_05[] =
        "{\"paths\": {\"/slurm/v0.0.44/jobs/\": {}, \"/slurm/v0.0.45/jobs/\": "
        "{}}}";
    static const char unknown[] =
        "{\"paths\": {\"/slurm/v0.0.36/jobs\": {}, \"/slurm/v0.0.40/jobs/\": "
        "{}}}";
    struct fetch_answer answer;
    struct err err;

    (void)state;
    answer = said(200, three);
    assert_int_equal(slurm_rest_version(&answer, &err), 38);
    answer = said(200, later);
    assert_int_equal(slurm_rest_version(&answer, &err), 41);
    answer = said(200, of_26_05);
    assert_int_equal(slurm_rest_version(&answer, &err), 45);
    answer = said(200, unknown);
    assert_int_equal(slurm_rest_version(&answer, &err), 0);
    assert_non_null(strstr(err.text, "supports: v0.0.37, v0.0.38, v0.0.41"));
    answer = said(401, "Authentication failure");
    assert_int_equal(slurm_rest_version(&answer, &err), 0);
    assert_non_null(strstr(err.text, "SLURM_JWT"));
}

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

/* ---- the cluster ---- */

static void assert_site(const char *partitions, const char *nodes)
{
    struct fetch_answer answer = said(200, partitions);
    struct slurm_site site = {0};
    struct slurm_reply reply;
    const struct slurm_partition *batch;

    slurm_rest_read_partitions(&answer, &site, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    answer = said(200, nodes);
    slurm_rest_read_nodes(&answer, &site, &reply);
    assert_int_equal(reply.answer, SLURM_DONE);
    assert_string_equal(site.version, "22.05.8");
    assert_int_equal(site.partition_count, 2);
    batch = slurm_site_partition(&site, "batch");
    assert_true(batch->is_up);
    assert_int_equal(batch->nodes, 2);
    assert_int_equal(batch->node_cpus, 8);
    assert_int_equal(batch->node_gpus, 4);
    assert_int_equal(batch->node_memory_bytes, INT64_C(16000) << 20);
    assert_int_equal(batch->default_time_ms, 600000);
    assert_int_equal(batch->max_time_ms, 0);
    assert_false(slurm_site_partition(&site, "short")->is_up);
    assert_int_equal(slurm_site_partition(&site, "short")->max_time_ms, 120000);
    slurm_site_clear(&site);
}

static void test_slurm_rest__reads_the_cluster(void **state)
{
    static const char nodes[] =
        "{\"errors\": [], \"nodes\": [{\"cpus\": 16, \"real_memory\": 32000, "
        "\"gres\": \"gpu:fake:4(S:0-1)\", \"partitions\": [\"batch\", "
        "\"short\"]}, {\"cpus\": 8, \"real_memory\": 16000, \"gres\": \"\", "
        "\"partitions\": [\"batch\"]}]}";

    (void)state;
    assert_site(
        "{" META ", \"errors\": [], \"partitions\": [{\"name\": \"batch\", "
        "\"flags\": [\"default\"], \"state\": \"UP\", \"default_time_limit\": "
        "10, \"max_time_limit\": -1}, {\"name\": \"short\", \"flags\": [], "
        "\"state\": \"DOWN\", \"default_time_limit\": null, "
        "\"max_time_limit\": 2}]}",
        nodes);
    assert_site(
        "{\"meta\": {\"slurm\": {\"release\": \"22.05.8\", \"cluster\": "
        "\"c\"}}, \"errors\": [], \"partitions\": [{\"name\": \"batch\", "
        "\"partition\": {\"state\": [\"UP\"]}, \"defaults\": {\"time\": "
        "{\"set\": true, \"infinite\": false, \"number\": 10}}, \"maximums\": "
        "{\"time\": {\"set\": false, \"infinite\": true, \"number\": 0}}}, "
        "{\"name\": \"short\", \"partition\": {\"state\": [\"DRAIN\"]}, "
        "\"maximums\": {\"time\": {\"set\": true, \"infinite\": false, "
        "\"number\": 2}}}]}",
        nodes);
}

/* ---- submissions ---- */

static struct slurm_submission submission(void)
{
    static const struct slurm_ask own = {.partition = "gpu"};
    static const struct slurm_ask fallback = {.partition = "batch",
                                              .account = "it's"};
    static const char *const avoid[] = {"n1", "n7", NULL};

    return (struct slurm_submission){
        .name = "smt-0badcafe-j1",
        .directory = "/a b/\"c\"",
        .log = "/a b/%j\\x",
        .script = "#!/bin/sh\nexec 'x'\n",
        .ask = &own,
        .fallback = &fallback,
        .nodes = 2,
        .tasks = 4,
        .cpus = 9,
        .gpus = 3,
        .memory_bytes = (INT64_C(100) << 20) + 1,
        .time_ms = 60001,
        .array = 5,
        .after = 17,
        .avoid = avoid,
    };
}

static void assert_text(const json_t *job, const char *key, const char *text)
{
    assert_string_equal(json_string_value(json_object_get(job, key)), text);
}

static void assert_number(const json_t *job, const char *key, int64_t number)
{
    assert_int_equal(json_integer_value(json_object_get(job, key)), number);
}

static void test_slurm_rest__writes_a_submission(void **state)
{
    const struct slurm_submission it = submission();
    json_t *body = slurm_rest_job_adapt(slurm_rest_job(&it), 38);
    const json_t *job = json_object_get(body, "job");

    (void)state;
    assert_text(body, "script", it.script);
    assert_text(job, "name", it.name);
    assert_text(job, "current_working_directory", it.directory);
    assert_text(job, "standard_output", "/a b/\\%j\\\\x");
    assert_text(job, "open_mode", "append");
    assert_true(json_is_true(json_object_get(job, "no_requeue")));
    assert_text(job, "partition", "gpu");
    assert_text(job, "account", "it's");
    assert_number(job, "nodes", 2);
    assert_number(job, "tasks", 4);
    assert_number(job, "cpus_per_task", 3);
    assert_text(job, "gres", "gpu:2");
    assert_number(job, "memory_per_node", 101);
    assert_number(job, "time_limit", 2);
    assert_text(job, "array", "0-4");
    assert_text(job, "exclude_nodes", "n1,n7");
    assert_text(job, "dependency", "afternotok:17");
    json_decref(body);
}

static void test_slurm_rest__writes_it_for_later_versions(void **state)
{
    const struct slurm_submission it = submission();
    json_t *body = slurm_rest_job_adapt(slurm_rest_job(&it), 41);
    const json_t *job = json_object_get(body, "job");
    const json_t *avoided = json_object_get(job, "excluded_nodes");
    const json_t *limit = json_object_get(job, "time_limit");

    (void)state;
    assert_true(json_is_array(json_object_get(job, "environment")));
    assert_true(json_is_false(json_object_get(job, "requeue")));
    assert_null(json_object_get(job, "no_requeue"));
    assert_text(job, "nodes", "2");
    assert_text(job, "tres_per_node", "gres/gpu:2");
    assert_true(json_is_true(json_object_get(limit, "set")));
    assert_number(limit, "number", 2);
    assert_int_equal(slurm_rest_number(json_object_get(job, "memory_per_node")),
                     101);
    assert_null(json_object_get(job, "gres"));
    assert_int_equal(json_array_size(avoided), 2);
    assert_string_equal(json_string_value(json_array_get(avoided, 1)), "n7");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(job, "flags"), 0)),
        "KILL_INVALID_DEPENDENCY");
    json_decref(body);
}

static void test_slurm_rest__gives_jobs_our_environment_alone(void **state)
{
    struct slurm_submission it = submission();
    json_t *body;
    const json_t *environment;

    (void)state;
    setenv("SMTUNE_TEST_VALUE", "a=b\nc", 1);
    setenv("SLURM_JWT", "secret", 1);
    setenv("SMTUNE_TEST_BYTES", "\xff", 1);
    body = slurm_rest_job(&it);
    environment = json_object_get(json_object_get(body, "job"), "environment");
    assert_text(environment, "SMTUNE_TEST_VALUE", "a=b\nc");
    assert_text(environment, "PATH", getenv("PATH"));
    assert_null(json_object_get(environment, "SLURM_JWT"));
    assert_null(json_object_get(environment, "SMTUNE_TEST_BYTES"));
    json_decref(body);

    it.without_environment = true;
    body = slurm_rest_job(&it);
    environment = json_object_get(json_object_get(body, "job"), "environment");
    assert_int_equal(json_object_size(environment), 1);
    assert_text(environment, "PATH", getenv("PATH"));
    json_decref(body);
    unsetenv("SLURM_JWT");
}

static void test_slurm_rest__says_what_json_cannot(void **state)
{
    struct slurm_submission it = submission();

    (void)state;
    it.script = "#!/bin/sh\ncd '/\xff'\n";
    assert_null(slurm_rest_job(&it));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_rest__a_refusal_is_told_from_silence),
        cmocka_unit_test(test_slurm_rest__what_is_no_answer_says_nothing),
        cmocka_unit_test(test_slurm_rest__a_status_has_a_sentence),
        cmocka_unit_test(test_slurm_rest__takes_the_newest_version_it_knows),
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
        cmocka_unit_test(test_slurm_rest__reads_the_cluster),
        cmocka_unit_test(test_slurm_rest__writes_a_submission),
        cmocka_unit_test(test_slurm_rest__writes_it_for_later_versions),
        cmocka_unit_test(test_slurm_rest__gives_jobs_our_environment_alone),
        cmocka_unit_test(test_slurm_rest__says_what_json_cannot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
