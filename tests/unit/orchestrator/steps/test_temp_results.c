/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/temp_results.h"

#include "orchestrator/steps/cache.h"
#include "tests/unit/folder.h"

/* a -> join -> user, and `far` reads what b makes. Each of a and b has one
 * temporary output, t. */
enum { A, B, JOIN, USER, FAR, STEPS };

struct world {
    struct step steps[STEPS];
    struct flow_step flow_steps[STEPS];
    struct workflow workflow;
    struct temp_results *temps;
};

static const struct output outputs[] = {
    {.name = "t", .kind = OUTPUT_FILE, .is_temp = true},
    {.name = "kept", .kind = OUTPUT_FILE}};

static void make(struct world *world)
{
    static const size_t a[] = {A}, b[] = {B}, join[] = {JOIN};

    memset(world, 0, sizeof(*world));
    for (size_t i = A; i <= B; i++) {
        world->steps[i].outputs = outputs;
        world->steps[i].output_count = 2;
        world->steps[i].has_temps = true;
    }
    world->steps[JOIN].kind = STEP_JOIN;
    world->flow_steps[JOIN] = (struct flow_step){.needs = a, .need_count = 1};
    world->flow_steps[USER] =
        (struct flow_step){.needs = join, .need_count = 1};
    world->flow_steps[FAR] = (struct flow_step){
        .needs = join, .need_count = 1, .reads = b, .read_count = 1};
    world->workflow.steps = world->steps;
    world->workflow.flow_steps = world->flow_steps;
    world->workflow.step_count = STEPS;
    world->temps = temp_results_create(&world->workflow);
}

static void set(struct world *world, size_t step, int64_t copy,
                const char *path, const char *hash, bool was_missing)
{
    json_t *made = json_pack("{s:s, s:s, s:{s:s, s:s}}", "t", path, "kept",
                             "/kept", CACHE_HASHES, "t", hash, "kept", "1");

    if (was_missing)
        json_object_set_new(made, CACHE_MISSING, json_pack("[s]", "t"));
    temp_results_set(world->temps, step, copy, made);
    json_decref(made);
}

static void must_have(const struct world *world, size_t step, const char *path,
                      const char *hash)
{
    const char *found = temp_results_hash(world->temps, step, path);

    if (hash == NULL)
        assert_null(found);
    else
        assert_string_equal(found, hash);
}

/* Those of the steps that a step may use, and no others. */
static void test_temp_results__have_the_hashes_of_what_is_used(void **state)
{
    struct world world;

    (void)state;
    make(&world);
    set(&world, A, 0, "/a0", "10", false);
    set(&world, A, 1, "/a1", "11", false);
    set(&world, B, 0, "/b", "20", false);
    must_have(&world, USER, "/a0", "10");
    must_have(&world, USER, "/a1", "11");
    must_have(&world, USER, "/kept", NULL);
    must_have(&world, USER, "/b", NULL);
    must_have(&world, FAR, "/b", "20");
    must_have(&world, FAR, "/a0", "10");
    temp_results_set(world.temps, A, 0, NULL);
    must_have(&world, USER, "/a0", NULL);
    must_have(&world, USER, "/a1", "11");
    temp_results_forget(world.temps, A);
    must_have(&world, USER, "/a1", NULL);
    must_have(&world, FAR, "/b", "20");
    temp_results_destroy(world.temps);
}

/* Those of an earlier round are not, and of several at one path the newest. */
static void test_temp_results__are_those_of_the_last_round(void **state)
{
    struct world world;
    struct temp_missing missing;

    (void)state;
    make(&world);
    set(&world, A, 0, "/round 1", "1", true);
    assert_true(temp_results_find_missing(world.temps, USER, &missing));
    set(&world, A, 0, "/round 2", "2", false);
    must_have(&world, USER, "/round 1", NULL);
    must_have(&world, USER, "/round 2", "2");
    assert_false(temp_results_find_missing(world.temps, USER, &missing));
    set(&world, A, 1, "/round 2", "3", false);
    must_have(&world, USER, "/round 2", "3");
    temp_results_set(world.temps, A, 1, NULL);
    must_have(&world, USER, "/round 2", "2");
    temp_results_destroy(world.temps);
}

static void test_temp_results__have_any_that_were_there(void **state)
{
    struct world world;

    (void)state;
    make(&world);
    assert_false(temp_results_has_any(world.temps, A));
    set(&world, A, 0, "/a0", "10", true);
    assert_false(temp_results_has_any(world.temps, A));
    set(&world, A, 1, "/a1", "11", false);
    assert_true(temp_results_has_any(world.temps, A));
    assert_false(temp_results_has_any(world.temps, B));
    temp_results_forget(world.temps, A);
    assert_false(temp_results_has_any(world.temps, A));
    temp_results_destroy(world.temps);
}

static void test_temp_results__find_what_was_missing_and_is(void **state)
{
    struct world world;
    struct temp_missing missing;
    char *path = fs_join(*state, "b");

    make(&world);
    set(&world, A, 0, "/no such file", "10", false);
    set(&world, B, 0, path, "20", true);
    assert_false(temp_results_find_missing(world.temps, USER, &missing));
    assert_true(temp_results_find_missing(world.temps, FAR, &missing));
    assert_int_equal(missing.step, B);
    assert_string_equal(missing.path, path);
    put(*state, ".", "b", "again");
    assert_false(temp_results_find_missing(world.temps, FAR, &missing));
    free(path);
    temp_results_destroy(world.temps);
}

static void test_temp_results__are_none_without_such_outputs(void **state)
{
    struct step step = {.kind = STEP_TASK};
    struct flow_step flow = {.need_count = 0};
    const struct workflow workflow = {
        .steps = &step, .flow_steps = &flow, .step_count = 1};
    struct temp_results *temps = temp_results_create(&workflow);
    struct temp_missing missing;

    (void)state;
    assert_null(temps);
    temp_results_forget(temps, 0);
    temp_results_set(temps, 0, 0, NULL);
    assert_null(temp_results_hash(temps, 0, "/a"));
    assert_false(temp_results_find_missing(temps, 0, &missing));
    assert_false(temp_results_has_any(temps, 0));
    temp_results_destroy(temps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_temp_results__have_the_hashes_of_what_is_used),
        cmocka_unit_test(test_temp_results__are_those_of_the_last_round),
        cmocka_unit_test(test_temp_results__have_any_that_were_there),
        cmocka_unit_test_setup_teardown(
            test_temp_results__find_what_was_missing_and_is, make_folder,
            remove_folder),
        cmocka_unit_test(test_temp_results__are_none_without_such_outputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
