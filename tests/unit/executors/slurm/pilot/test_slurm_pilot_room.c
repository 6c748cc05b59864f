/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "executors/slurm/pilot/pilot_impl.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static const struct slurm_options plain = {.pilot_max = 0};
static char batch[] = "batch", short_ones[] = "brief";
static const struct slurm_partition nodes16 = {.name = batch,
                                               .node_cpus = 16,
                                               .node_gpus = 4,
                                               .node_memory_bytes = 1 << 30,
                                               .max_time_ms = 2 * HOUR_MS};

static void test_slurm_pilot_room__lists_keep_their_order(void **state)
{
    struct slurm_flight a = {.task = 1}, b = {.task = 2}, c = {.task = 3};
    struct pilot_list list = {.count = 0};

    (void)state;
    pilot_list_add(&list, &b);
    pilot_list_add(&list, &c);
    pilot_list_add_first(&list, &a);
    assert_ptr_equal(list.first, &a);
    assert_ptr_equal(a.sibling, &b);
    pilot_list_remove(&list, &c);
    assert_ptr_equal(list.last, &b);
    pilot_list_remove(&list, &a);
    pilot_list_remove(&list, &b);
    assert_null(list.first);
    assert_null(list.last);
    assert_int_equal(list.count, 0);
    pilot_list_add_first(&list, &c);
    assert_ptr_equal(list.last, &c);
}

static void test_slurm_pilot_room__no_cpus_are_one(void **state)
{
    const struct attempt_spec spec = {.cpus = 0};

    (void)state;
    assert_int_equal(pilot_room_of(&spec).cpus, 1);
}

static void test_slurm_pilot_room__says_what_is_short(void **state)
{
    const struct pilot_room size = {4, 2, 1000}, half = {2, 2, 500};
    const struct pilot_room cpus = {3, 0, 0}, gpus = {1, 1, 0};
    const struct pilot_room memory = {1, 0, 501}, fits = {2, 0, 500};
    const struct pilot_room beyond = {5, 0, 0};

    (void)state;
    assert_int_equal(pilot_room_lacks(&size, &half, &fits, 1000), 0);
    assert_int_equal(pilot_room_lacks(&size, &half, &cpus, 1000), LACKS_CPUS);
    assert_int_equal(pilot_room_lacks(&size, &half, &gpus, 1000), LACKS_GPUS);
    assert_int_equal(pilot_room_lacks(&size, &half, &memory, 1000), LACKS_CPUS);
    assert_int_equal(pilot_room_lacks(&size, &half, &cpus, 1250), 0);
    assert_int_equal(pilot_room_lacks(&size, &half, &gpus, 1500), 0);
    assert_int_equal(pilot_room_lacks(&size, &half, &beyond, 5000), LACKS_CPUS);
}

static void test_slurm_pilot_room__of_an_unknown_size_holds_none(void **state)
{
    const struct pilot_room unknown = {0, 0, 0}, bare = {16, 0, 0};
    const struct pilot_room one = {1, 0, 0}, with_memory = {1, 0, 100};

    (void)state;
    assert_int_equal(pilot_room_units(&unknown, &one), 0);
    assert_int_equal(pilot_room_units(&bare, &with_memory), 0);
    assert_int_equal(pilot_room_units(&bare, &one), 16);
}

static void test_slurm_pilot_room__short_attempts_go_ahead(void **state)
{
    (void)state;
    assert_int_equal(pilot_depth_permille(0), 5000);
    assert_int_equal(pilot_depth_permille(5), 5000);
    assert_int_equal(pilot_depth_permille(250), 2000);
    assert_int_equal(pilot_depth_permille(60000), 1004);
}

static void kind(const struct slurm_ask *ask, const char *expected)
{
    struct buf text = BUF_INIT;

    pilot_kind_of(ask, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_slurm_pilot_room__kinds_tell_what_is_asked_for(void **state)
{
    const struct slurm_ask typed = {.gpu_type = "a100"};
    const char *const extra[] = {"--exclusive"};
    const struct slurm_ask nothing = {.mode = "pilot"};
    const struct slurm_ask asks = {
        .partition = "gpu", .qos = "high", .extra = extra, .extra_count = 1};

    (void)state;
    kind(NULL, "");
    kind(&nothing, "");
    kind(&asks, "gpu\n\nhigh\n\n\n\n--exclusive\n");
    kind(&typed, "\n\n\n\n\na100\n");
}

static struct pilot_plan plan(const struct attempt_spec *spec,
                              const struct slurm_options *options,
                              const struct slurm_partition *partition,
                              int units)
{
    const struct pilot_wish wish = {
        .spec = spec,
        .units = units,
        .limit.time_ms = partition != NULL ? partition->max_time_ms : 0};
    struct pilot_plan result;
    struct err err;

    assert_int_equal(pilot_plan(&result, &wish, options, partition, &err), 0);
    return result;
}

static void test_slurm_pilot_room__a_pilot_is_a_node_or_what_is_needed(
    void **state)
{
    const struct attempt_spec one = {.cpus = 1};
    const struct attempt_spec gpu = {.cpus = 2, .gpus = 1};
    const struct attempt_spec memory = {.cpus = 1, .memory_bytes = 1 << 28};
    const struct attempt_spec wide = {.cpus = 32};

    (void)state;
    assert_int_equal(plan(&one, &plain, &nodes16, 64).size.cpus, 16);
    assert_int_equal(plan(&one, &plain, &nodes16, 5).size.cpus, 5);
    assert_int_equal(plan(&gpu, &plain, &nodes16, 64).size.cpus, 8);
    assert_int_equal(plan(&gpu, &plain, &nodes16, 64).size.gpus, 4);
    assert_int_equal(plan(&memory, &plain, &nodes16, 64).size.cpus, 4);
    assert_int_equal(plan(&memory, &plain, &nodes16, 64).size.memory_bytes,
                     1 << 30);
    assert_int_equal(plan(&wide, &plain, &nodes16, 64).size.cpus, 32);
    assert_int_equal(plan(&one, &plain, NULL, 64).size.cpus, 1);
}

/* A pilot for six of one type would never start. */
static void test_slurm_pilot_room__its_gpus_are_those_of_the_type(void **state)
{
    static char profile[] = "a100_3g.20gb", whole[] = "a100";
    struct slurm_gpu_type types[] = {{whole, 2}, {profile, 4}};
    const struct slurm_partition mixed = {.name = batch,
                                          .node_cpus = 16,
                                          .node_gpus = 6,
                                          .gpu_types = types,
                                          .gpu_type_count = 2};
    const struct slurm_ask asks[] = {{.gpu_type = "a100"},
                                     {.gpu_type = "a100_3g.20gb"},
                                     {.gpu_type = "v100"}};
    const struct attempt_spec any = {.cpus = 1, .gpus = 1};
    struct attempt_spec typed = any;
    static const int expected[] = {2, 4, 1};

    (void)state;
    assert_int_equal(plan(&any, &plain, &mixed, 64).size.gpus, 6);
    for (size_t i = 0; i < 3; i++) {
        typed.slurm = &asks[i];
        assert_int_equal(plan(&typed, &plain, &mixed, 64).size.gpus,
                         expected[i]);
    }
}

static void test_slurm_pilot_room__options_say_the_size(void **state)
{
    const struct slurm_options options = {.pilot_cpus = 8,
                                          .pilot_gpus = 2,
                                          .pilot_memory_bytes = 1 << 20,
                                          .pilot_time_ms = HOUR_MS};
    const struct attempt_spec one = {.cpus = 1};
    struct pilot_plan result = plan(&one, &options, &nodes16, 3);

    (void)state;
    assert_int_equal(result.size.cpus, 8);
    assert_int_equal(result.size.gpus, 2);
    assert_int_equal(result.size.memory_bytes, 1 << 20);
    assert_int_equal(result.time_ms, HOUR_MS);
    assert_true(result.says_time);
}

static void test_slurm_pilot_room__its_time_is_the_partitions_or_enough(
    void **state)
{
    const struct slurm_partition brief = {.name = short_ones,
                                          .node_cpus = 4,
                                          .default_time_ms = 10 * MINUTE_MS,
                                          .max_time_ms = HOUR_MS};
    const struct attempt_spec none = {.cpus = 1};
    const struct attempt_spec longer = {.time_ms = 20 * MINUTE_MS,
                                        .grace_ms = 5000};
    const struct attempt_spec beyond = {.time_ms = HOUR_MS};
    const struct pilot_wish wish = {
        .spec = &beyond,
        .units = 4,
        .limit = {HOUR_MS, SLURM_BY_PARTITION, "brief", false}};
    const struct pilot_wish in_qos = {
        .spec = &longer,
        .units = 4,
        .limit = {20 * MINUTE_MS, SLURM_BY_QOS, "few", false}};
    struct pilot_plan result = plan(&none, &plain, &brief, 4);
    struct err err;

    (void)state;
    assert_int_equal(result.time_ms, 10 * MINUTE_MS);
    assert_false(result.says_time);
    result = plan(&longer, &plain, &brief, 4);
    assert_int_equal(result.time_ms, 21 * MINUTE_MS);
    assert_true(result.says_time);
    assert_int_equal(pilot_plan(&result, &wish, &plain, &brief, &err), -1);
    assert_non_null(
        strstr(err.text, "partition 'brief' allows at most 1h 00m"));
    assert_int_equal(pilot_plan(&result, &in_qos, &plain, &brief, &err), -1);
    assert_non_null(strstr(err.text, "QOS 'few' allows at most 20m 00s"));
}

/* A pilot that asks for more than it needs waits longer for its turn. */
static void test_slurm_pilot_room__asks_for_the_time_that_is_needed(
    void **state)
{
    const struct slurm_partition daily = {
        .name = batch, .node_cpus = 4, .default_time_ms = 24 * HOUR_MS};
    const struct slurm_options long_ones = {.pilot_time_ms = 24 * HOUR_MS};
    const struct attempt_spec minute = {.time_ms = MINUTE_MS, .grace_ms = 5000};
    struct pilot_wish wish = {.spec = &minute, .units = 4, .rounds = 1};
    struct pilot_plan result;

    (void)state;
    assert_int_equal(pilot_plan(&result, &wish, &plain, &daily, NULL), 0);
    assert_int_equal(result.time_ms, 2 * MINUTE_MS);
    assert_true(result.says_time);
    wish.rounds = 30;
    assert_int_equal(pilot_plan(&result, &wish, &plain, &daily, NULL), 0);
    assert_int_equal(result.time_ms, 40 * MINUTE_MS);
    wish.rounds = INT64_MAX;
    assert_int_equal(pilot_plan(&result, &wish, &plain, &daily, NULL), 0);
    assert_int_equal(result.time_ms, 24 * HOUR_MS);
    assert_false(result.says_time);
    wish.limit.time_ms = HOUR_MS;
    assert_int_equal(pilot_plan(&result, &wish, &plain, &daily, NULL), 0);
    assert_int_equal(result.time_ms, HOUR_MS);
    assert_true(result.says_time);
    assert_int_equal(pilot_plan(&result, &wish, &long_ones, &daily, NULL), 0);
    assert_int_equal(result.time_ms, HOUR_MS);
}

/* Slurm ends it then, although its partition has no limit. */
static void test_slurm_pilot_room__a_limit_is_one_where_nothing_is_asked_for(
    void **state)
{
    const struct slurm_partition endless = {.name = batch, .node_cpus = 4};
    const struct attempt_spec any = {.cpus = 1};
    struct pilot_wish wish = {.spec = &any, .units = 4};
    struct pilot_plan result;

    (void)state;
    assert_int_equal(pilot_plan(&result, &wish, &plain, &endless, NULL), 0);
    assert_int_equal(result.time_ms, 0);
    assert_false(result.says_time);
    wish.limit.time_ms = HOUR_MS;
    assert_int_equal(pilot_plan(&result, &wish, &plain, &endless, NULL), 0);
    assert_int_equal(result.time_ms, HOUR_MS);
    assert_true(result.says_time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_pilot_room__lists_keep_their_order),
        cmocka_unit_test(test_slurm_pilot_room__no_cpus_are_one),
        cmocka_unit_test(test_slurm_pilot_room__says_what_is_short),
        cmocka_unit_test(test_slurm_pilot_room__of_an_unknown_size_holds_none),
        cmocka_unit_test(test_slurm_pilot_room__short_attempts_go_ahead),
        cmocka_unit_test(test_slurm_pilot_room__kinds_tell_what_is_asked_for),
        cmocka_unit_test(
            test_slurm_pilot_room__a_pilot_is_a_node_or_what_is_needed),
        cmocka_unit_test(test_slurm_pilot_room__its_gpus_are_those_of_the_type),
        cmocka_unit_test(test_slurm_pilot_room__options_say_the_size),
        cmocka_unit_test(
            test_slurm_pilot_room__its_time_is_the_partitions_or_enough),
        cmocka_unit_test(
            test_slurm_pilot_room__asks_for_the_time_that_is_needed),
        cmocka_unit_test(
            test_slurm_pilot_room__a_limit_is_one_where_nothing_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
