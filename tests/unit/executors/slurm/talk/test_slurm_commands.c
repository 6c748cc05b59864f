/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transport itself: which programs it needs, what they see, how it ends. */
#include "executors/slurm/talk/transport.h"

#include <unistd.h>

#include "tests/unit/executors/slurm/talk/commands_test.h"

static void test_slurm_commands__no_variable_speaks_for_us(void **state)
{
    const struct slurm_options options = {0};
    struct desk *desk = *state;
    char *words;

    place_program(desk->root, "sbatch", "env >$ROOT/words; echo 1");
    place_program(desk->root, "squeue", "env >$ROOT/words; exit 1");
    desk->transport->type->destroy(desk->transport, on_destroyed, desk);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    desk->is_destroyed = false;
    setenv("SBATCH_ARRAY_INX", "0-9", 1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SQUEUE_FORMAT", "%i", 1);
    setenv("SBATCH_ACCOUNT", "ours", 1);
    setenv("SLURM_CONF", "/there", 1);
    desk->transport = slurm_transport_create(&desk->loop, &options, NULL);
    unsetenv("SBATCH_ARRAY_INX");
    unsetenv("SLURM_JOB_ID");
    unsetenv("SQUEUE_FORMAT");
    unsetenv("SBATCH_ACCOUNT");
    unsetenv("SLURM_CONF");
    submit(desk, &plain);
    words = content(desk, "words");
    assert_null(strstr(words, "SBATCH_ARRAY_INX"));
    assert_null(strstr(words, "SLURM_JOB_ID"));
    assert_null(strstr(words, "SLURM_TIME_FORMAT")); /* jobs would have it */
    assert_non_null(strstr(words, "SBATCH_ACCOUNT=ours\n"));
    assert_non_null(strstr(words, "SLURM_CONF=/there\n"));
    free(words);
    list(desk);
    words = content(desk, "words");
    assert_null(strstr(words, "SQUEUE_FORMAT"));
    assert_non_null(strstr(words, "SLURM_TIME_FORMAT=%s\n"));
    free(words);
}

static void test_slurm_commands__a_missing_program_answers_later(void **state)
{
    struct desk *desk = *state;
    char *path = mem_printf("%s/bin/sbatch", desk->root);

    assert_int_equal(unlink(path), 0);
    free(path);
    submit(desk, &plain);
    assert_int_equal(desk->reply.answer, SLURM_SILENT);
    assert_non_null(strstr(desk->reply.text, "cannot start"));
}

static void test_slurm_commands__needs_its_programs(void **state)
{
    const struct slurm_options options = {.transport = "comands"};
    const struct slurm_options none = {0};
    struct desk *desk = *state;
    struct err err;

    assert_null(slurm_transport_create(&desk->loop, &options, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "'commands'"));
    setenv("PATH", "/nowhere", 1);
    assert_null(slurm_transport_create(&desk->loop, &none, &err));
    assert_int_equal(err.kind, ERR_FILE);
    assert_non_null(strstr(err.text, "'sbatch'"));
}

static void test_slurm_commands__gives_up_without_an_answer(void **state)
{
    struct desk *desk = *state;
    char *path = mem_printf("%s/bin/sbatch", desk->root);

    place_program(desk->root, "squeue", "exec sleep 1000");
    assert_int_equal(unlink(path), 0);
    free(path);
    desk->transport->type->list(desk->transport, "", on_listed, desk);
    desk->transport->type->submit(desk->transport, &plain, on_submitted, desk);
    desk->transport->type->destroy(desk->transport, on_destroyed, desk);
    assert_false(desk->is_destroyed);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_true(desk->is_destroyed);
    assert_int_equal(desk->answers, 0);
}

static void destroy_it(void *user, const struct slurm_reply *reply, int64_t id)
{
    struct desk *desk = user;

    (void)id;
    take(desk, reply);
    desk->transport->type->destroy(desk->transport, on_destroyed, desk);
}

static void test_slurm_commands__may_be_destroyed_by_an_answer(void **state)
{
    struct desk *desk = *state;

    desk->transport->type->submit(desk->transport, &plain, destroy_it, desk);
    answer(desk);
    assert_true(desk->is_destroyed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slurm_commands__no_variable_speaks_for_us),
        TEST(test_slurm_commands__a_missing_program_answers_later),
        TEST(test_slurm_commands__needs_its_programs),
        TEST(test_slurm_commands__gives_up_without_an_answer),
        TEST(test_slurm_commands__may_be_destroyed_by_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
