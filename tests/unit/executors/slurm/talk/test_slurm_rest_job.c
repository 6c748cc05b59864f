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
    assert_gres("1g.10gb", 2, 4, 38, "gres", "gpu:1g.10gb:2");
    assert_gres("a100_1g.5gb", 1, 2, 45, "tres_per_node",
                "gres/gpu:a100_1g.5gb:2");
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

/* The GPUs of a node by `gpus: 2`, and the file's options. */
static void assert_node(const char *first, const char *second, int version,
                        const char *key, const char *expected)
{
    const char *const extra[] = {first, second};
    const struct slurm_ask ask = {.extra = extra, .extra_count = 2};
    struct slurm_submission it = least;
    json_t *body;

    it.ask = &ask;
    it.gpus = 2;
    assert_null(slurm_rest_refused_extra(&ask));
    body = slurm_rest_job_adapt(slurm_rest_job(&it), version);
    const char *text =
        json_string_value(json_object_get(json_object_get(body, "job"), key));
    if (expected != NULL)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    json_decref(body);
}

/* --gres comes in place of `gpus`, and beside --gpus-per-node: as in sbatch. */
static void test_job__joins_what_a_node_is_to_have(void **state)
{
    (void)state;
    assert_node("--hold", "--gpus-per-node=a100:1", 38, "gres", "gpu:2");
    assert_node("--hold", "--gpus-per-node=a100:1", 38, "gpus_per_node",
                "a100:1");
    assert_node("--hold", "--gpus-per-node=a100:1", 41, "tres_per_node",
                "gres/gpu:a100:1,gres/gpu:2");
    assert_node("--gres=shard:1,nvme:2", "--gpus-per-node=4", 41,
                "tres_per_node", "gres/gpu:4,gres/shard:1,gres/nvme:2");
    assert_node("--gpus-per-node=4", "--gres=shard:1", 41, "tres_per_node",
                "gres/gpu:4,gres/shard:1");
    assert_node("--gpus-per-node=4", "--gres=None", 41, "tres_per_node",
                "gres/gpu:4");
    assert_node("--hold", "--gpus-per-node=a100:2,v100:1", 39, "tres_per_node",
                "gres/gpu:a100:2,gres/gpu:v100:1,gres/gpu:2");
    assert_node("--gpus-per-node=1g.5gb:7", "--gres=gres/shard=1", 45,
                "tres_per_node", "gres/gpu:1g.5gb:7,gres/shard:1");
    assert_node("--hold", "--gres=none", 41, "tres_per_node", NULL);
    assert_node("--hold", "--gres=shard:1", 41, "gres", NULL);
    assert_node("--hold", "--gpus-per-node=1", 41, "gpus_per_node", NULL);
}

static void assert_extra(const char *word, int version, const char *expected)
{
    const char *const extra[] = {word};
    const struct slurm_ask ask = {.extra = extra, .extra_count = 1};
    struct slurm_submission it = least;
    struct buf out = BUF_INIT;
    json_t *body, *job;

    it.ask = &ask;
    assert_null(slurm_rest_refused_extra(&ask));
    body = slurm_rest_job_adapt(slurm_rest_job(&it), version);
    assert_null(json_object_get(body, "extra"));
    job = json_object_get(body, "job");
    for (const char *const *own =
             (const char *const[]){"environment", "name", "standard_output",
                                   "current_working_directory", "open_mode",
                                   "no_requeue", "nodes", "tasks", "requeue",
                                   NULL};
         *own != NULL; own++)
        json_object_del(job, *own);
    json_print(job, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
    json_decref(body);
}

static void test_job__says_options_of_sbatch_in_fields(void **state)
{
    (void)state;
    assert_extra("--exclusive", 38, "{\"exclusive\":\"exclusive\"}");
    assert_extra("--exclusive", 41, "{\"shared\":[\"none\"]}");
    assert_extra("--exclusive=user", 41, "{\"shared\":[\"user\"]}");
    assert_extra("--gres=gpu:a100:2,shard:1", 38,
                 "{\"gres\":\"gpu:a100:2,shard:1\"}");
    assert_extra("--gres=gpu:a100:2,shard:1", 41,
                 "{\"tres_per_node\":\"gres/gpu:a100:2,gres/shard:1\"}");
    assert_extra("--gpus-per-node=2", 41, "{\"tres_per_node\":\"gres/gpu:2\"}");
    assert_extra("--gpus-per-task=a100:2,v100:1", 38,
                 "{\"gpus_per_task\":\"a100:2,v100:1\"}");
    for (int version = 39; version <= 45; version++) {
        assert_extra("--gpus-per-task=a100:2,v100:1", version,
                     "{\"tres_per_task\":\"gres/gpu:a100:2,gres/gpu:v100:1\"}");
        assert_extra("--gpus-per-socket=a100_1g.5gb:2, v100:1", version,
                     "{\"tres_per_socket\":\"gres/gpu:a100_1g.5gb:2,"
                     "gres/gpu:v100:1\"}");
        assert_extra("--gres=gpu:a100=2 shard=1", version,
                     "{\"tres_per_node\":\"gres/gpu:a100:2,gres/shard:1\"}");
    }
    assert_extra("--mem-per-cpu=2G", 38, "{\"memory_per_cpu\":2048}");
    assert_extra("--mem-per-cpu=1025K", 41,
                 "{\"memory_per_cpu\":{\"set\":true,\"infinite\":false,"
                 "\"number\":2}}");
    assert_extra("--mail-type=fail,TIME_LIMIT_90", 41,
                 "{\"mail_type\":[\"FAIL\",\"TIME=90%\"]}");
    assert_extra("--mail-type=FAIL", 38, "{\"mail_type\":\"FAIL\"}");
    assert_extra("--nice", 38, "{\"nice\":100}");
    assert_extra("-wn[1-2]", 38, "{\"nodelist\":\"n[1-2]\"}");
    assert_extra("-Lmatlab:2", 41, "{\"licenses\":\"matlab:2\"}");
    assert_extra("-H", 41, "{\"hold\":true}");
}

static void test_job__memory_of_each_cpu_replaces_that_of_the_node(void **state)
{
    const char *const extra[] = {"--mem-per-cpu=1G"};
    const struct slurm_ask ask = {.extra = extra, .extra_count = 1};
    struct slurm_submission it = least;
    json_t *body, *job;

    (void)state;
    it.ask = &ask;
    it.memory_bytes = 1 << 30;
    body = slurm_rest_job_adapt(slurm_rest_job(&it), 41);
    job = json_object_get(body, "job");
    assert_null(json_object_get(job, "memory_per_node"));
    assert_non_null(json_object_get(job, "memory_per_cpu"));
    json_decref(body);
}

static void test_job__refuses_options_without_a_field_by_name(void **state)
{
    static const char *const refused[] = {
        "--begin=now+1hour", "--switches=1",   "--nice=much",
        "--mem-per-cpu=2X",  "--mem-per-cpu=", "--hold=yes",
        "--exclusive=topo",  "--gres=",        "--gpus-per-task=,"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        const char *const extra[] = {"--hold", refused[i]};
        const struct slurm_ask ask = {.extra = extra, .extra_count = 2};

        assert_string_equal(slurm_rest_refused_extra(&ask), refused[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job__asks_for_no_more_than_is_wanted),
        cmocka_unit_test(test_job__names_the_gpus_of_a_node),
        cmocka_unit_test(test_job__joins_what_a_node_is_to_have),
        cmocka_unit_test(test_job__divides_its_tasks),
        cmocka_unit_test(test_job__is_said_as_utf8_alone),
        cmocka_unit_test(test_job__says_options_of_sbatch_in_fields),
        cmocka_unit_test(
            test_job__memory_of_each_cpu_replaces_that_of_the_node),
        cmocka_unit_test(test_job__refuses_options_without_a_field_by_name),
        cmocka_unit_test(test_job__takes_variables_alone_from_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
