/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an answer of slurmrestd means, and which version it speaks. */
#include "tests/unit/executors/slurm/talk/rest_test.h"

static enum slurm_answer judged(int status, const char *body,
                                struct slurm_reply *reply)
{
    const struct fetch_answer answer = said(status, body);
    int64_t number;

    json_decref(slurm_rest_judge(&answer, NULL, &number, reply));
    return reply->answer;
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_rest__a_refusal_is_told_from_silence),
        cmocka_unit_test(test_slurm_rest__what_is_no_answer_says_nothing),
        cmocka_unit_test(test_slurm_rest__a_status_has_a_sentence),
        cmocka_unit_test(test_slurm_rest__takes_the_newest_version_it_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
