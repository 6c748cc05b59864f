/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a submission that asks for little, and in strange surroundings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "executors/slurm/talk/rest_impl.h"

static const struct slurm_submission least = {.name = "smt-1",
                                              .directory = "/d",
                                              .log = "/l",
                                              .script = "#!/bin/sh\n",
                                              .without_environment = true};

static void assert_body(const struct slurm_submission *submission, int version,
                        const char *expected)
{
    json_t *body = slurm_rest_job_adapt(slurm_rest_job(submission), version);
    struct buf out = BUF_INIT;

    json_object_del(json_object_get(body, "job"), "environment");
    json_print(body, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
    json_decref(body);
}

static void test_job__asks_for_no_more_than_is_wanted(void **state)
{
    static const char *const nobody[] = {NULL};
    struct slurm_submission avoiding = least;

    (void)state;
    assert_body(&least, 38,
                "{\"script\":\"#!/bin/sh\\n\",\"job\":{\"name\":\"smt-1\","
                "\"current_working_directory\":\"/d\","
                "\"standard_output\":\"/l\",\"open_mode\":\"append\","
                "\"no_requeue\":true,\"nodes\":1,\"tasks\":1}}");
    assert_body(&least, 39,
                "{\"script\":\"#!/bin/sh\\n\",\"job\":{\"name\":\"smt-1\","
                "\"current_working_directory\":\"/d\","
                "\"standard_output\":\"/l\",\"open_mode\":[\"APPEND\"],"
                "\"nodes\":\"1\",\"tasks\":1,\"requeue\":false}}");
    avoiding.avoid = nobody;
    assert_body(&avoiding, 38,
                "{\"script\":\"#!/bin/sh\\n\",\"job\":{\"name\":\"smt-1\","
                "\"current_working_directory\":\"/d\","
                "\"standard_output\":\"/l\",\"open_mode\":\"append\","
                "\"no_requeue\":true,\"nodes\":1,\"tasks\":1}}");
}

static void assert_gres(const char *type, int nodes, int gpus, int version,
                        const char *key, const char *expected)
{
    const struct slurm_ask ask = {.gpu_type = type};
    struct slurm_submission it = least;
    json_t *body;

    it.ask = &ask;
    it.nodes = nodes;
    it.gpus = gpus;
    body = slurm_rest_job_adapt(slurm_rest_job(&it), version);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(body, "job"), key)),
        expected);
    json_decref(body);
}

static void test_job__names_the_gpus_of_a_node(void **state)
{
    (void)state;
    assert_gres(NULL, 2, 4, 38, "gres", "gpu:2");
    assert_gres("a100", 2, 4, 38, "gres", "gpu:a100:2");
    assert_gres("a100", 1, 1, 41, "tres_per_node", "gres/gpu:a100:1");
}

static void test_job__divides_its_tasks(void **state)
{
    struct slurm_submission it = least;
    struct slurm_size size;

    (void)state;
    it.nodes = 2;
    it.tasks = 8;
    it.gpus = 8;
    it.cpus = 16;
    size = slurm_size_of(&it);
    assert_int_equal(size.tasks_per_node, 4);
    assert_int_equal(size.gpus_per_node, 4);
    assert_int_equal(size.cpus_per_task, 2);
    /* A retry may have scaled what was even. */
    it.gpus = 9;
    it.cpus = 17;
    size = slurm_size_of(&it);
    assert_int_equal(size.gpus_per_node, 5);
    assert_int_equal(size.cpus_per_task, 3);
    assert_int_equal(slurm_size_of(&least).tasks_per_node, 0);
}

static void test_job__is_said_as_utf8_alone(void **state)
{
    struct slurm_submission it = least;

    (void)state;
    it.directory = "/\xff";
    assert_null(slurm_rest_job(&it));
    it = least;
    it.log = "/\xff";
    assert_null(slurm_rest_job(&it));
}

/* A program may be started with any texts as its environment. */
static void test_job__takes_variables_alone_from_the_environment(void **state)
{
    char *odd[] = {(char[]){"A=1"}, (char[]){"=2"}, (char[]){"B"},
                   (char[]){"C="}, NULL};
    struct slurm_submission it = least;
    char **before = environ;
    struct buf out = BUF_INIT;
    json_t *body;

    (void)state;
    it.without_environment = false;
    environ = odd;
    body = slurm_rest_job(&it);
    environ = before;
    json_print(json_object_get(json_object_get(body, "job"), "environment"),
               &out);
    assert_string_equal(buf_text(&out),
                        "{\"PATH\":\"/usr/local/bin:/usr/bin:/bin\","
                        "\"A\":\"1\",\"C\":\"\"}");
    buf_clear(&out);
    json_decref(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job__asks_for_no_more_than_is_wanted),
        cmocka_unit_test(test_job__names_the_gpus_of_a_node),
        cmocka_unit_test(test_job__divides_its_tasks),
        cmocka_unit_test(test_job__is_said_as_utf8_alone),
        cmocka_unit_test(test_job__takes_variables_alone_from_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
