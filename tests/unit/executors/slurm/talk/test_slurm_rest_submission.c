/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a submission that asks for all there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "executors/slurm/talk/rest_impl.h"

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
        cmocka_unit_test(test_slurm_rest__writes_a_submission),
        cmocka_unit_test(test_slurm_rest__writes_it_for_later_versions),
        cmocka_unit_test(test_slurm_rest__gives_jobs_our_environment_alone),
        cmocka_unit_test(test_slurm_rest__says_what_json_cannot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
