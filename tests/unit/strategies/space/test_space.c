/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"
#include "strategies/space/lattice.h"
#include "strategies/space/space.h"

static const struct value optimizers[] = {
    {.type = VALUE_TEXT, .text = "sgd"},
    {.type = VALUE_TEXT, .text = "adam"},
    {.type = VALUE_TEXT, .text = "rmsprop"}};

static const struct param lr = {.name = "lr",
                                .kind = PARAM_FLOAT,
                                .scale = SCALE_LOG,
                                .min = 1e-4,
                                .max = 1};
static const struct param width = {
    .name = "width", .kind = PARAM_INT, .min = 1, .max = 4};
static const struct param depth = {
    .name = "depth", .kind = PARAM_INT, .min = 1, .max = 3};
static const struct param flag = {.name = "flag", .kind = PARAM_BOOL};
static const struct param optimizer = {.name = "optimizer",
                                       .kind = PARAM_CATEGORICAL,
                                       .values = optimizers,
                                       .value_count = 3};

struct fixture {
    struct expr_env *env;
    struct space *space;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->env = expr_env_create(NULL);
    f->space = space_create(f->env);
    *state = f;
    return f->env != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    space_destroy(f->space);
    expr_env_destroy(f->env);
    free(f);
    return 0;
}

static void add(struct space *space, const struct param *param)
{
    struct err err = {0};

    if (space_add_param(space, param, &err) < 0)
        fail_msg("%s", err.text);
}

static void when(struct space *space, const char *name, const char *text)
{
    struct err err = {0};

    if (space_set_when(space, (size_t)space_find(space, name), text, &err) < 0)
        fail_msg("%s", err.text);
}

static void constrain(struct space *space, const char *text)
{
    struct err err = {0};

    if (space_add_constraint(space, text, &err) < 0)
        fail_msg("%s", err.text);
}

/* Bools b0, b1 ... */
static void add_bools(struct space *space, int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        struct param param = {.name = name, .kind = PARAM_BOOL};

        snprintf(name, sizeof(name), "b%d", i);
        add(space, &param);
    }
}

static void test_space__keeps_copies_of_its_parameters(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    char name[] = "optimizer", text[] = "sgd";
    struct value values[] = {{.type = VALUE_TEXT, .text = text},
                             {.type = VALUE_INT, .integer = 1}};
    struct param param = {.name = name,
                          .kind = PARAM_CATEGORICAL,
                          .values = values,
                          .value_count = 2};

    add(space, &param);
    memset(name, 'x', sizeof(name) - 1);
    memset(text, 'x', sizeof(text) - 1);
    values[1].integer = 7;
    assert_int_equal(space_count(space), 1);
    assert_int_equal(space_find(space, "optimizer"), 0);
    assert_int_equal(space_find(space, "xxxxxxxxx"), -1);
    assert_string_equal(space_param(space, 0)->values[0].text, "sgd");
    assert_int_equal(space_param(space, 0)->values[1].integer, 1);
}

static void test_space__refuses_a_name_twice_and_says_which(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct param bad = {.name = "bad", .kind = PARAM_INT, .min = 2, .max = 1};
    struct err err = {0};

    add(space, &lr);
    assert_int_equal(space_add_param(space, &lr, &err), -1);
    assert_string_equal(err.text, "duplicate parameter 'lr'");
    assert_int_equal(space_add_param(space, &bad, &err), -1);
    assert_string_equal(err.text, "parameter 'bad': min 2 is above max 1");
    assert_int_equal(space_count(space), 1);
}

static void test_space__decodes_every_parameter(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    const double unit[] = {0.5, 0.99, 0.4, 0.6};
    struct value point[4];

    add(space, &lr);
    add(space, &width);
    add(space, &optimizer);
    add(space, &flag);
    space_decode(space, unit, point);
    assert_true(fabs(point[0].real - 0.01) < 1e-12);
    assert_int_equal(point[1].integer, 4);
    assert_string_equal(point[2].text, "adam");
    assert_true(point[3].boolean);
}

/* b0 is always there; b1 when b0; b2 when b1 and so on, declared backwards so
 * that the order must be found. */
static void test_space__conditions_nest_in_any_order(void **state)
{
    enum { N = 40 };
    struct space *space = ((struct fixture *)*state)->space;
    struct value point[N];
    char name[16], text[16];

    add_bools(space, N);
    for (int i = 0; i < N - 1; i++) {
        snprintf(name, sizeof(name), "b%d", i);
        snprintf(text, sizeof(text), "b%d", i + 1);
        when(space, name, text);
        assert_true(space_is_conditional(space, (size_t)i));
    }
    assert_false(space_is_conditional(space, N - 1));
    for (int off = 0; off < N; off++) {
        for (int i = 0; i < N; i++)
            point[i] = value_bool(i != off);
        space_apply_conditions(space, point);
        for (int i = 0; i < N; i++)
            assert_int_equal(point[i].type, i < off ? VALUE_NULL : VALUE_BOOL);
    }
}

static void test_space__order_is_as_added_where_conditions_look_back(void **s)
{
    struct space *space = ((struct fixture *)*s)->space;

    add_bools(space, 5);
    when(space, "b3", "b1 and b0");
    when(space, "b4", "b3");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(space_order(space)[i], i);
    when(space, "b0", "b2");
    assert_int_equal(space_order(space)[0], 2);
    assert_int_equal(space_order(space)[1], 0);
    assert_int_equal(space_order(space)[2], 1);
}

static void test_space__a_circle_of_conditions_names_its_members(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct value point[4];
    struct err err = {0};

    add_bools(space, 4);
    when(space, "b3", "b0");
    when(space, "b0", "b1 or b1");
    when(space, "b1", "b2");
    assert_int_equal(space_set_when(space, 2, "not b0", &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_string_equal(
        err.text, "conditions depend on each other in a cycle: 'b0' uses 'b1' "
                  "uses 'b2' uses 'b0'");
    assert_int_equal(space_set_when(space, 2, "b2", &err), -1);
    assert_string_equal(
        err.text, "conditions depend on each other in a cycle: 'b2' uses 'b2'");
    /* what was refused has no effect */
    assert_false(space_is_conditional(space, 2));
    for (int i = 0; i < 4; i++)
        point[i] = value_bool(true);
    space_apply_conditions(space, point);
    assert_int_equal(point[2].type, VALUE_BOOL);
}

static void test_space__bad_expressions_say_where(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct err err = {0};

    add(space, &lr);
    add(space, &flag);
    assert_int_equal(space_set_when(space, 1, "lr > 0 and widht > 1", &err),
                     -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_int_equal(err.column, 12);
    assert_int_equal(space_add_constraint(space, "lr >", &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
}

static void test_space__constraints_hold_unless_false(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct value point[2];

    add(space, &width);
    add(space, &depth);
    constrain(space, "width * depth <= 6");
    constrain(space, "width <> 3");
    for (int w = 1; w <= 4; w++)
        for (int d = 1; d <= 3; d++) {
            point[0] = value_int(w);
            point[1] = value_int(d);
            assert_int_equal(space_feasible(space, point),
                             w * d <= 6 && w != 3);
        }
    point[0] = value_int(4);
    point[1] = value_null(); /* width * null is null: no objection */
    assert_true(space_feasible(space, point));
}

static void test_space__a_broken_constraint_tells_how_deep_it_looks(void **s)
{
    struct space *space = ((struct fixture *)*s)->space;
    struct value point[4];
    size_t deep;

    add_bools(space, 4);
    constrain(space, "b0 or b2");
    constrain(space, "b1");
    constrain(space, "1 = 1");
    for (int i = 0; i < 4; i++)
        point[i] = value_bool(false);
    assert_false(space_feasible_prefix(space, point, &deep));
    assert_int_equal(deep, 2);
    point[1] = value_bool(true);
    assert_false(space_feasible_prefix(space, point, &deep));
    assert_int_equal(deep, 3);
    point[0] = value_bool(true);
    assert_true(space_feasible_prefix(space, point, &deep));
    constrain(space, "0 = 1");
    assert_false(space_feasible_prefix(space, point, &deep));
    assert_int_equal(deep, 0);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* All 2^14 points of bools and nulls mixed with reals: no two hashes alike,
 * and every bit of them set about half of the time. */
static void test_space__hashes_are_apart_and_well_mixed(void **state)
{
    enum { BITS = 14, POINTS = 1 << BITS };
    struct space *space = ((struct fixture *)*state)->space;
    uint64_t *hashes = calloc(POINTS, sizeof(*hashes));
    int set[64] = {0};

    add_bools(space, BITS);
    for (int p = 0; p < POINTS; p++) {
        struct value point[BITS];

        for (int i = 0; i < BITS; i++)
            point[i] = p >> i & 1   ? value_bool(i % 2 == 0)
                       : i % 3 == 0 ? value_null()
                                    : value_real(i);
        hashes[p] = space_hash(space, point);
        assert_int_equal(hashes[p], space_hash(space, point));
        for (int bit = 0; bit < 64; bit++)
            set[bit] += hashes[p] >> bit & 1;
    }
    for (int bit = 0; bit < 64; bit++)
        assert_in_range(set[bit], POINTS / 2 - 400, POINTS / 2 + 400);
    qsort(hashes, POINTS, sizeof(*hashes), compare_hashes);
    for (int p = 1; p < POINTS; p++)
        assert_int_not_equal(hashes[p - 1], hashes[p]);
    free(hashes);
}

static void test_space__equal_points_hash_alike_wherever_their_text_is(void **s)
{
    struct space *space = ((struct fixture *)*s)->space;
    char copy[] = "adam";
    struct value a[] = {value_text("adam"), value_real(0.0)};
    struct value b[] = {value_text(copy), value_real(-0.0)};
    struct value c[] = {value_text("sgd"), value_real(0.0)};
    struct param x = {.name = "x", .kind = PARAM_FLOAT, .min = -1, .max = 1};

    add(space, &optimizer);
    add(space, &x);
    assert_int_equal(space_hash(space, a), space_hash(space, b));
    assert_int_not_equal(space_hash(space, a), space_hash(space, c));
}

static void test_space__cardinality_is_the_product(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;

    assert_int_equal(space_cardinality(space), 1);
    add(space, &width);
    add(space, &optimizer);
    assert_int_equal(space_cardinality(space), 12);
    add_bools(space, 58);
    assert_int_equal(space_cardinality(space), UINT64_C(12) << 58);
    add(space, &flag); /* 2^62 * 1.5: more than is counted */
    assert_int_equal(space_cardinality(space), 0);
}

static void test_space__a_continuum_has_no_cardinality(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;

    add(space, &width);
    add(space, &lr);
    assert_int_equal(space_cardinality(space), 0);
}

static void test_space__volume_of_a_finite_space_is_exact(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct space_volume volume;

    add(space, &width);
    add(space, &optimizer);
    add(space, &depth);
    when(space, "depth", "optimizer = 'sgd'");
    constrain(space, "width <= 2");
    assert_int_equal(space_estimate_volume(space, &volume, NULL), 0);
    assert_true(volume.exact);
    assert_int_equal(volume.tried, 36);
    assert_int_equal(volume.feasible, 18);
    assert_int_equal(volume.points, 2 * (3 + 1 + 1));
    assert_true(volume.fraction == 0.5);
}

static void test_space__volume_of_a_continuum_is_estimated(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct space_volume volume;
    struct param x = {.name = "x", .kind = PARAM_FLOAT, .min = 0, .max = 1};
    struct param y = {.name = "y", .kind = PARAM_FLOAT, .min = 0, .max = 1};

    add(space, &x);
    add(space, &y);
    constrain(space, "x * x + y * y <= 1");
    assert_int_equal(space_estimate_volume(space, &volume, NULL), 0);
    assert_false(volume.exact);
    assert_int_equal(volume.tried, 10000);
    assert_true(fabs(volume.fraction - acos(-1) / 4) < 0.02);
}

static void test_space__volume_looks_longer_where_little_is_feasible(void **s)
{
    struct space *space = ((struct fixture *)*s)->space;
    struct space_volume volume;
    struct param x = {.name = "x", .kind = PARAM_FLOAT, .min = 0, .max = 1};

    add(space, &x);
    constrain(space, "x < 0.00002");
    assert_int_equal(space_estimate_volume(space, &volume, NULL), 0);
    assert_true(volume.tried > 10000 && volume.feasible > 0);
}

static void test_space__nothing_feasible_is_an_error(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct space_volume volume;
    struct err err = {0};

    add(space, &width);
    add(space, &flag);
    constrain(space, "width > 4");
    assert_int_equal(space_estimate_volume(space, &volume, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_string_equal(err.text,
                        "no setting satisfies the constraints: all 8 tried");
    add(space, &lr);
    assert_int_equal(space_estimate_volume(space, &volume, &err), -1);
    assert_string_equal(err.text, "no setting satisfies the constraints: none "
                                  "of 1000000 tried at random");
}

/* Walking by `next` must find exactly what looking at every position finds. */
static void test_space__lattice_skips_nothing_feasible(void **state)
{
    struct space *space = ((struct fixture *)*state)->space;
    struct lattice *lattice;
    struct value point[5];
    uint64_t next, walked = 0, all = 0;

    add(space, &depth);
    add(space, &optimizer);
    add(space, &width);
    add_bools(space, 2);
    when(space, "depth", "b0 or optimizer = 'adam'");
    when(space, "b1", "depth > 1");
    constrain(space, "width <> 2 or depth = 1");
    constrain(space, "optimizer <> 'rmsprop'");
    lattice = lattice_create(space, LATTICE_ALL, NULL);
    assert_int_equal(lattice_size(lattice), 3 * 3 * 4 * 2 * 2);
    for (uint64_t p = 0; p < lattice_size(lattice); p++) {
        all += lattice_at(lattice, p, point, &next);
        assert_true(next > p);
    }
    for (uint64_t p = 0; p < lattice_size(lattice); p = next)
        walked += lattice_at(lattice, p, point, &next);
    assert_int_equal(walked, all);
    /* adam: depth 1, or 2 and 3 with both of b1, each with b0 on and off;
     * width is free for depth 1, else not 2. sgd: depth only with b0. */
    assert_int_equal(all, 2 * (4 + 4 * 3) + (4 + 4 * 3) + 4);
    lattice_destroy(lattice);
}

#define WITH_SPACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SPACE(test_space__keeps_copies_of_its_parameters),
        WITH_SPACE(test_space__refuses_a_name_twice_and_says_which),
        WITH_SPACE(test_space__decodes_every_parameter),
        WITH_SPACE(test_space__conditions_nest_in_any_order),
        WITH_SPACE(test_space__order_is_as_added_where_conditions_look_back),
        WITH_SPACE(test_space__a_circle_of_conditions_names_its_members),
        WITH_SPACE(test_space__bad_expressions_say_where),
        WITH_SPACE(test_space__constraints_hold_unless_false),
        WITH_SPACE(test_space__a_broken_constraint_tells_how_deep_it_looks),
        WITH_SPACE(test_space__hashes_are_apart_and_well_mixed),
        WITH_SPACE(test_space__equal_points_hash_alike_wherever_their_text_is),
        WITH_SPACE(test_space__cardinality_is_the_product),
        WITH_SPACE(test_space__a_continuum_has_no_cardinality),
        WITH_SPACE(test_space__volume_of_a_finite_space_is_exact),
        WITH_SPACE(test_space__volume_of_a_continuum_is_estimated),
        WITH_SPACE(test_space__volume_looks_longer_where_little_is_feasible),
        WITH_SPACE(test_space__nothing_feasible_is_an_error),
        WITH_SPACE(test_space__lattice_skips_nothing_feasible),
    };

    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
