/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/gpt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "training/ops/ops_cpu.h"

enum { CONTEXT = 150, CLASSES = 19, LAYERS = 3 };

static struct model *make_model(void)
{
    const struct gpt_options options = {.text = {.context = CONTEXT},
                                        .layers = LAYERS,
                                        .heads = 3,
                                        .width = 24};
    const struct model_shape shape = {.inputs = CONTEXT * sizeof(uint16_t),
                                      .targets = CONTEXT,
                                      .classes = CLASSES,
                                      .max_samples = 1,
                                      .seed = 4};
    struct model *model =
        model_plan(&model_gpt, &backend_cpu, &shape, &options, NULL);

    assert_non_null(model);
    assert_int_equal(model_allocate(model, NULL), 0);
    /* As large as after a training: nothing may be lost in the noise. */
    for (size_t i = 0; i < model->params.count; i++)
        model->params.values[i] *= 3;
    return model;
}

static void assert_same_rows(struct matrix some, struct matrix all,
                             size_t first)
{
    assert_int_equal(some.columns, all.columns);
    for (size_t i = 0; i < some.rows * some.columns; i++) {
        double wanted = (double)all.data[first * all.columns + i];

        if (!(fabs((double)some.data[i] - wanted) <= 1e-4 * (1 + fabs(wanted))))
            fail_msg("row %zu: %g, not %g", first + i / some.columns,
                     (double)some.data[i], wanted);
    }
}

/* Token by token, and some at a time, over what attention works on at once. */
static void test_gpt__goes_on_as_if_it_had_begun_anew(void **state)
{
    static const size_t steps[] = {1, 1, 7, 64, 1, 1, 60, 15};
    struct model *model = make_model();
    uint16_t tokens[CONTEXT];
    const struct batch batch = {.inputs = tokens, .count = 1};
    struct matrix all = {NULL, CONTEXT, CLASSES};
    size_t bytes = (size_t)CONTEXT * CLASSES * sizeof(real), known = 0;

    (void)state;
    for (size_t i = 0; i < CONTEXT; i++)
        tokens[i] = (uint16_t)(i * i % CLASSES);
    all.data = malloc(bytes);
    memcpy(all.data, model_gpt.forward(model, &batch, false).data, bytes);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        struct matrix some = gpt_go_on(model, tokens, known, known + steps[i]);

        assert_int_equal(some.rows, steps[i]);
        assert_same_rows(some, all, known);
        known += steps[i];
    }
    assert_int_equal(known, CONTEXT);
    free(all.data);
    model_release(model);
}

/* What is behind the tokens that there are, or was before, does not count. */
static void test_gpt__goes_on_from_other_tokens(void **state)
{
    enum { SOME = 5 };
    struct model *model = make_model();
    uint16_t tokens[CONTEXT] = {3, 1, 4, 1, 5};
    real first[CLASSES];
    struct matrix row = {first, 1, CLASSES}, again;

    (void)state;
    memcpy(first, gpt_go_on(model, tokens, 0, SOME).data + 4 * CLASSES,
           sizeof(first));
    tokens[0] = 9;
    tokens[SOME] = 7;
    gpt_go_on(model, tokens, 0, SOME + 1);
    tokens[0] = 3;
    gpt_go_on(model, tokens, 0, SOME - 1);
    again = gpt_go_on(model, tokens, SOME - 1, SOME);
    assert_same_rows(again, row, 0);
    model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpt__goes_on_as_if_it_had_begun_anew),
        cmocka_unit_test(test_gpt__goes_on_from_other_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
