/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/env.h"

/* The columns: two values that change, and what the round gave. */
static const char *const names[] = {"batch", "lr", "loss"};
static const struct expr_table table = {.columns = names,
                                        .column_count = ARRAY_LEN(names)};

enum { BATCH, LR, VALUE_COUNT };

struct fixture {
    struct round_value values[VALUE_COUNT];
    struct repeat_rule rule;
};

static struct expr *compile(const char *text)
{
    struct expr *expr = expr_compile(env, text, &table, 1, NULL);

    assert_non_null(expr);
    return expr;
}

static void set_up(struct fixture *fixture, const char *next,
                   bool by_square_root)
{
    *fixture = (struct fixture){
        .values = {{.name = "batch",
                    .first = value_int(32),
                    .next = compile(next)},
                   {.name = "lr",
                    .first = value_real(0.1),
                    .scales_with = BATCH,
                    .by_square_root = by_square_root}},
        .rule = {.max = 4, .value_count = VALUE_COUNT},
    };
    fixture->rule.values = fixture->values;
}

static void clear(struct fixture *fixture)
{
    for (size_t i = 0; i < VALUE_COUNT; i++)
        expr_destroy(fixture->values[i].next);
    expr_destroy(fixture->rule.until);
}

static json_t *go_on(const struct fixture *fixture, const json_t *now,
                     double loss, struct err *err)
{
    struct value columns[VALUE_COUNT + 1];

    rounds_values(&fixture->rule, now, columns);
    columns[VALUE_COUNT] = value_real(loss);
    return rounds_next(&fixture->rule, columns, err);
}

/* The values of each round, one after another; the error where it ends. */
static char *go_through(const struct fixture *fixture, int rounds)
{
    json_t *now = rounds_first(&fixture->rule), *next;
    struct buf out = BUF_INIT;
    struct err err;

    for (int i = 0; i < rounds && now != NULL; i++) {
        buf_add_char(&out, ' ');
        json_print(now, &out);
        next = go_on(fixture, now, 0.5, &err);
        json_decref(now);
        now = next;
    }
    if (now == NULL)
        buf_printf(&out, " error: %s", err.text);
    json_decref(now);
    return buf_take(&out);
}

static void expect(const char *next, bool by_square_root, struct value lr,
                   const char *expected)
{
    struct fixture fixture;
    char *shown;

    set_up(&fixture, next, by_square_root);
    fixture.values[LR].first = lr;
    shown = go_through(&fixture, 3);
    assert_string_equal(shown, expected);
    free(shown);
    clear(&fixture);
}

static void test_rounds__learning_rate_goes_with_the_batch(void **state)
{
    (void)state;
    expect("batch * 2", false, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} {\"batch\":64,\"lr\":0.2}"
           " {\"batch\":128,\"lr\":0.4}");
    expect("batch * 4", true, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} {\"batch\":128,\"lr\":0.2}"
           " {\"batch\":512,\"lr\":0.4}");
    expect("batch * 2", true, value_real(1),
           " {\"batch\":32,\"lr\":1.0} {\"batch\":64,"
           "\"lr\":1.4142135623730951} {\"batch\":128,"
           "\"lr\":2.0}");
}

static void test_rounds__integers_stay_so_where_they_can(void **state)
{
    (void)state;
    expect("batch * 1.5", false, value_int(8),
           " {\"batch\":32,\"lr\":8} {\"batch\":48,\"lr\":12}"
           " {\"batch\":72,\"lr\":18}");
    expect("batch * 0.75", false, value_int(2),
           " {\"batch\":32,\"lr\":2} {\"batch\":24,\"lr\":1.5}"
           " {\"batch\":18,\"lr\":1.125}");
    expect("batch + 1e300", false, value_int(0),
           " {\"batch\":32,\"lr\":0} {\"batch\":1e+300,\"lr\":0}"
           " {\"batch\":2e+300,\"lr\":0}");
}

static void test_rounds__next_reads_what_the_round_gave(void **state)
{
    (void)state;
    expect("case when loss < 1 and lr < 0.15 then batch * 2 else batch end",
           false, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} {\"batch\":64,\"lr\":0.2}"
           " {\"batch\":64,\"lr\":0.2}");
}

static void test_rounds__no_value_is_an_error(void **state)
{
    (void)state;
    expect("nullif(batch, 32)", false, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} error: 'batch' has no value in the next "
           "round");
    expect("batch - 32", false, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} {\"batch\":0,\"lr\":0.0}"
           " {\"batch\":-32,\"lr\":-0.1}");
    expect("0 - batch", true, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} error: 'lr' cannot follow 'batch' from "
           "32 to -32");
    expect("9223372036854775807 + abs(-9223372036854775807 - batch/32)", false,
           value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} error: the next 'batch': cannot "
           "evaluate the expression: integer overflow");
    expect("'big'", false, value_real(0.1),
           " {\"batch\":32,\"lr\":0.1} error: 'lr' cannot follow 'batch' from "
           "32 to big");
}

static void test_rounds__until_says_when_it_is_enough(void **state)
{
    struct fixture fixture;
    bool are_over;
    struct value columns[] = {value_int(32), value_real(0.1), value_real(0.5)};
    struct err err;

    (void)state;
    set_up(&fixture, "batch", false);
    for (int round = 1; round <= 4; round++) {
        assert_int_equal(
            rounds_are_over(&fixture.rule, round, columns, &are_over, NULL), 0);
        assert_int_equal(are_over, round == 4);
    }
    fixture.rule.until = compile("loss < 0.2");
    assert_int_equal(
        rounds_are_over(&fixture.rule, 1, columns, &are_over, NULL), 0);
    assert_false(are_over);
    columns[2] = value_null();
    assert_int_equal(
        rounds_are_over(&fixture.rule, 1, columns, &are_over, NULL), 0);
    assert_false(are_over);
    columns[2] = value_real(0.1);
    assert_int_equal(
        rounds_are_over(&fixture.rule, 1, columns, &are_over, NULL), 0);
    assert_true(are_over);
    expr_destroy(fixture.rule.until);
    fixture.rule.until = compile("abs(-9223372036854775807 - batch/32)");
    assert_int_equal(
        rounds_are_over(&fixture.rule, 1, columns, &are_over, &err), -1);
    assert_string_equal(err.text, "until: cannot evaluate the expression: "
                                  "integer overflow");
    clear(&fixture);
}

static void test_rounds__values_come_back_from_the_record(void **state)
{
    struct value values[VALUE_COUNT];
    struct fixture fixture;
    json_t *rounds = json_pack("{s:s, s:f}", "batch", "x", "lr", 0.5);

    (void)state;
    set_up(&fixture, "batch", false);
    rounds_values(&fixture.rule, rounds, values);
    assert_string_equal(values[BATCH].text, "x");
    assert_true(values[LR].type == VALUE_REAL);
    rounds_values(&fixture.rule, NULL, values);
    assert_true(values[BATCH].type == VALUE_NULL);
    json_decref(rounds);
    clear(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds__learning_rate_goes_with_the_batch),
        cmocka_unit_test(test_rounds__integers_stay_so_where_they_can),
        cmocka_unit_test(test_rounds__next_reads_what_the_round_gave),
        cmocka_unit_test(test_rounds__no_value_is_an_error),
        cmocka_unit_test(test_rounds__until_says_when_it_is_enough),
        cmocka_unit_test(test_rounds__values_come_back_from_the_record),
    };

    return cmocka_run_group_tests(tests, open_env, close_env);
}
