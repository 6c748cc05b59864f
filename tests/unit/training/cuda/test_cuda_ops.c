/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "base/rng.h"
#include "tests/unit/built.h"
#include "tests/unit/training/cuda/cuda_cases.h"
#include "training/models/cnn.h"
#include "training/models/gpt.h"
#include "training/models/mlp.h"
#include "training/models/optim.h"
#include "training/models/recorder.h"

/*
 * The backend of training/cuda against the processor's: on a device where there
 * is one, else its very sources on the processor (tests/cuda).
 */

extern const struct backend smtrain_backends[]; /* the emulated ones */
void emulated_reverse(bool is_reversed);

/* CUDA's memory does not fit around the sanitizer's otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "protect_shadow_gap=0";
}

/* Of fp32, and of bf16: numbers with 8 bits, so that what is rounded to them
 * is off by 2^-9 at most, and a product of two by 2^-8; twice that, as terms of
 * a sum take each other away. */
static const struct backend *under_test, *under_test_bf16;
static const double BF16_LIMIT = 1.0 / 128;
static size_t case_count = ARRAY_LEN(op_cases);

static int open_backend(void **state)
{
    char *path = built_path("smtrain-cuda.so");
    struct err err = {0};

    (void)state;
    if (fs_exists(path))
        under_test_bf16 = backend_load(path, PRECISION_BF16, 0, &err);
    if (under_test_bf16 == NULL) {
        print_message("no device (%s): on the processor\n",
                      err.kind != ERR_NONE ? err.text : "not built");
        under_test_bf16 = &smtrain_backends[PRECISION_BF16];
        assert_int_equal(under_test_bf16->start(0, NULL), 0);
        case_count -= LARGE_CASE_COUNT;
    }
    under_test = under_test_bf16 - PRECISION_BF16; /* on the same device */
    free(path);
    return 0;
}

static bool is_poisoned(enum role role)
{
    return role == OUT || role == OUT_LOG || role == SCRATCH;
}

/* Numbers of -1 .. 1; where they are short, such as bf16 has. */
static void fill(struct matrix x, enum role role, bool is_short,
                 struct rng *rng)
{
    for (size_t i = 0; i < x.rows * x.columns; i++) {
        double number = 2 * rng_uniform(rng) - 1;

        if (is_short)
            number = round(number * 128) / 128;
        x.data[i] = is_poisoned(role) ? (real)NAN : (real)number;
    }
}

/* What a case gets; the same on every backend. */
static struct operands make(const struct op_case *it,
                            const struct backend *backend, bool is_short)
{
    size_t tokens = it->sizes[0] > 0 ? it->sizes[0] : 1;
    struct operands with = {.totals = {1, 2}};
    struct rng rng;

    rng_init(&rng, 11, 0, 0);
    for (size_t i = 0; i < CASE_MATRICES && it->shapes[i].role != 0; i++) {
        with.m[i].rows = it->shapes[i].rows;
        with.m[i].columns = it->shapes[i].columns;
        with.m[i].data =
            backend_array(backend, with.m[i].rows * with.m[i].columns, NULL);
        assert_non_null(with.m[i].data);
        fill(with.m[i], it->shapes[i].role, is_short, &rng);
    }
    with.tokens = backend->allocate(CASE_TOKENS * sizeof(*with.tokens), NULL);
    with.bytes = backend->allocate(CASE_TOKENS, NULL);
    with.squares =
        backend->allocate(CASE_SQUARES * sizeof(*with.squares), NULL);
    with.step = backend->allocate(sizeof(*with.step), NULL);
    assert_true(with.tokens != NULL && with.bytes != NULL &&
                with.squares != NULL && with.step != NULL);
    *with.step = 0x9876543210U;
    for (size_t i = 0; i < CASE_TOKENS; i++) {
        with.tokens[i] = (uint16_t)rng_below(&rng, tokens);
        with.bytes[i] = (uint8_t)rng_below(&rng, 256);
    }
    return with;
}

static void let_go(const struct operands *with, const struct backend *backend)
{
    for (size_t i = 0; i < CASE_MATRICES; i++)
        backend->release(with->m[i].data);
    backend->release(with->tokens);
    backend->release(with->bytes);
    backend->release(with->squares);
    backend->release(with->step);
}

static struct operands run_on(const struct op_case *it,
                              const struct backend *backend, bool is_short)
{
    struct operands with = make(it, backend, is_short);
    struct err err;

    it->run(backend->ops, it->sizes, &with);
    if (backend->synchronize(&err) != 0)
        fail_msg("%s: %s", it->name, err.text);
    for (size_t i = 0; i < CASE_SQUARES; i++)
        with.totals.loss += with.squares[i] * (double)(i + 1);
    return with;
}

static struct operands run(const struct op_case *it,
                           const struct backend *backend)
{
    return run_on(it, backend, false);
}

/* Against their size; `unit` is the least that a number counts for. */
static double distance(struct matrix x, struct matrix expected, double unit)
{
    double off = 0, size = 1e-12 + unit * (double)(x.rows * x.columns);

    for (size_t i = 0; i < x.rows * x.columns; i++) {
        off += pow((double)x.data[i] - (double)expected.data[i], 2);
        size += pow((double)expected.data[i], 2);
    }
    return sqrt(off / size);
}

/* NaN is far from anything. */
static bool is_near(struct matrix x, struct matrix expected, double limit)
{
    return distance(x, expected, 0) <= limit;
}

static void compare(const struct op_case *it, const struct operands *with,
                    const struct operands *expected, double limit)
{
    for (size_t i = 0; i < CASE_MATRICES && it->shapes[i].role != 0; i++) {
        enum role role = it->shapes[i].role;

        if (role != LOST && role != SCRATCH &&
            !(distance(with->m[i], expected->m[i], role == OUT_LOG) <=
              (role == IN ? 0 : limit)))
            fail_msg("%s: matrix %zu is not as on the processor", it->name, i);
    }
    if (fabs(with->totals.loss - expected->totals.loss) >
            1e-5 * expected->totals.loss ||
        with->totals.errors != expected->totals.errors)
        fail_msg("%s: loss %g, errors %zu; on the processor %g, %zu", it->name,
                 with->totals.loss, (size_t)with->totals.errors,
                 expected->totals.loss, (size_t)expected->totals.errors);
}

/* A second time on the processor in the reverse order of threads and blocks:
 * none takes what another one has yet to give. */
static void test_cuda__ops_come_to_what_the_processor_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct op_case *it = &op_cases[i];
        struct operands expected = run(it, &backend_cpu);
        struct operands with = run(it, under_test), again;

        emulated_reverse(true);
        again = run(it, under_test);
        emulated_reverse(false);
        compare(it, &with, &expected, it->is_exact ? 0 : 3e-6);
        compare(it, &again, &with, 0);
        let_go(&expected, &backend_cpu);
        let_go(&with, under_test);
        let_go(&again, under_test);
    }
}

static double largest_distance(const struct op_case *it,
                               const struct operands *with,
                               const struct operands *expected)
{
    double largest = 0;

    for (size_t i = 0; i < CASE_MATRICES && it->shapes[i].role != 0; i++)
        if (it->shapes[i].role == OUT || it->shapes[i].role == BOTH)
            largest = fmax(largest, distance(with->m[i], expected->m[i], 0));
    return largest;
}

/* Nothing but the operands of products is rounded, and these are. */
static void test_cuda__bf16_rounds_what_it_multiplies(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct op_case *it = &op_cases[i];
        struct operands expected = run(it, &backend_cpu);
        struct operands with = run(it, under_test_bf16), again;
        double same = it->is_exact ? 0 : 3e-6;

        emulated_reverse(true);
        again = run(it, under_test_bf16);
        emulated_reverse(false);
        compare(it, &with, &expected, it->multiplies ? BF16_LIMIT : same);
        compare(it, &again, &with, 0);
        if (it->multiplies &&
            largest_distance(it, &with, &expected) < BF16_LIMIT / 128)
            fail_msg("%s: nothing is rounded", it->name);
        let_go(&expected, &backend_cpu);
        let_go(&with, under_test_bf16);
        let_go(&again, under_test_bf16);
    }
}

static void test_cuda__bf16_adds_up_in_fp32(void **state)
{
    (void)state;
    for (size_t i = 0; i < case_count; i++) {
        const struct op_case *it = &op_cases[i];
        struct operands expected, with;

        if (!it->multiplies || it->rounds_within)
            continue;
        expected = run_on(it, &backend_cpu, true);
        with = run_on(it, under_test_bf16, true);
        compare(it, &with, &expected, 3e-6);
        let_go(&expected, &backend_cpu);
        let_go(&with, under_test_bf16);
    }
}

static double loss_with(float odd, size_t at)
{
    struct matrix x = {backend_array(under_test, 3, NULL), 1, 3};
    uint16_t *targets = under_test->allocate(sizeof(*targets), NULL);
    struct totals totals = {0};

    assert_true(x.data != NULL && targets != NULL);
    x.data[at] = odd;
    under_test->ops->softmax_loss(x, targets, &totals);
    assert_int_equal(under_test->synchronize(NULL), 0);
    under_test->release(x.data);
    under_test->release(targets);
    return totals.loss;
}

static void test_cuda__ops_do_not_hide_nan(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct matrix x = {backend_array(under_test, 4, NULL), 4, 1};
        struct matrix y = {backend_array(under_test, 1, NULL), 1, 1};

        assert_true(x.data != NULL && y.data != NULL);
        x.data[i] = (real)NAN;
        under_test->ops->relu(x);
        under_test->ops->pool(x, (struct grid){2, 2}, y);
        assert_int_equal(under_test->synchronize(NULL), 0);
        assert_true(isnan(x.data[i]) && isnan(y.data[0]));
        under_test->release(x.data);
        under_test->release(y.data);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(isnan(loss_with(NAN, i)));
        assert_false(isfinite(loss_with(INFINITY, i)));
    }
}

enum { SAMPLES = 2, PIXELS = 36, CONTEXT = 9, STEPS = 6, LONG_STEPS = 10 };

struct training {
    uint64_t steps;
    double lr;
    /* Samples change a little from step to step, each third step has one less,
     * and lr goes down. */
    bool varies;
    bool records;
};

/* A model, and what training makes of it in a few steps. */
struct trained {
    struct model *model;
    struct recorder recorder;
    struct optim optim;
    struct totals totals;
    double losses[LONG_STEPS]; /* of each step */
};

static void train(struct trained *it, const struct training *how,
                  const uint8_t *inputs, const uint16_t *targets)
{
    const struct backend *backend = it->model->backend;
    const struct model_shape *shape = &it->model->shape;
    size_t input_bytes = SAMPLES * shape->inputs;
    size_t target_bytes = SAMPLES * shape->targets * sizeof(*targets);
    struct params *params = &it->model->params;
    struct optim_span span = {params->values, params->grads, 0, 0,
                              params->count};
    struct batch batch = {.count = SAMPLES, .first = 5, .scale = 0.1};
    void *there = backend->allocate(input_bytes, NULL);
    void *wanted = backend->allocate(target_bytes, NULL);
    uint64_t *step = backend->allocate(sizeof(*step), NULL);

    assert_true(there != NULL && wanted != NULL && step != NULL);
    memcpy(there, inputs, input_bytes);
    memcpy(wanted, targets, target_bytes);
    batch.inputs = there;
    batch.targets = wanted;
    batch.step = step;
    for (; *step < how->steps; ++*step) {
        double lr = how->varies ? how->lr / (double)(*step + 1) : how->lr;

        ((uint8_t *)there)[2 * *step] ^= how->varies;
        batch.count = how->varies && *step % 3 == 2 ? SAMPLES - 1 : SAMPLES;
        assert_int_equal(recorder_train(&it->recorder, it->model, &batch, 0,
                                        &it->totals, NULL),
                         0);
        it->losses[*step] = it->totals.loss;
        assert_int_equal(optim_step(&it->optim, &span, lr, 1, *step, NULL), 0);
    }
    assert_int_equal(model_evaluate(it->model, &batch, &it->totals, NULL), 0);
    backend->release(there);
    backend->release(wanted);
    backend->release(step);
}

static struct trained trained_on(const struct backend *backend,
                                 const struct model_kind *kind,
                                 const struct model_shape *shape,
                                 const void *options,
                                 const struct training *how)
{
    const struct optim_settings settings = {.rule = 0, .momentum = 0.9};
    uint16_t targets[SAMPLES * CONTEXT];
    uint16_t inputs[SAMPLES * PIXELS];
    struct trained it = {0};
    struct rng rng;

    rng_init(&rng, 17, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(inputs); i++)
        inputs[i] = (uint16_t)rng_below(&rng, shape->classes);
    for (size_t i = 0; i < ARRAY_LEN(targets); i++)
        targets[i] = (uint16_t)rng_below(&rng, shape->classes);
    it.model = model_plan(kind, backend, shape, options, NULL);
    assert_non_null(it.model);
    assert_int_equal(model_allocate(it.model, NULL), 0);
    it.model->params.grads =
        backend_array(backend, it.model->params.count, NULL);
    assert_non_null(it.model->params.grads);
    assert_int_equal(
        optim_init(&it.optim, &settings, it.model->params.count, backend, NULL),
        0);
    recorder_init(&it.recorder, backend, how->records);
    train(&it, how, (const uint8_t *)inputs, targets);
    return it;
}

static void let_trained_go(struct trained *it)
{
    const struct backend *backend = it->model->backend;

    recorder_clear(&it->recorder);
    backend->release(it->model->params.grads);
    optim_clear(&it->optim);
    model_release(it->model);
}

/* Recorded passes come to the bits of those that are not. */
static void check_records(const struct trained *it, const struct trained *plain)
{
    const struct params *params = &it->model->params;

    for (size_t i = 0; i < it->recorder.count; i++)
        assert_non_null(it->recorder.kept[i].recording);
    assert_non_null(it->recorder.calls);
    assert_null(plain->recorder.calls);
    assert_memory_equal(params->values, plain->model->params.values,
                        params->count * sizeof(*params->values));
    assert_memory_equal(it->losses, plain->losses, sizeof(it->losses));
}

static void check_model(const struct model_kind *kind,
                        const struct model_shape *shape, const void *options)
{
    const struct training plainly = {STEPS, 0.01, true, false};
    const struct training recorded = {STEPS, 0.01, true, true};
    struct trained expected =
        trained_on(&backend_cpu, kind, shape, options, &plainly);
    struct trained plain =
        trained_on(under_test, kind, shape, options, &plainly);
    struct trained it = trained_on(under_test, kind, shape, options, &recorded);
    struct params *params = &it.model->params;

    if (fabs(it.totals.loss - expected.totals.loss) >
        1e-4 * expected.totals.loss)
        fail_msg("%s: loss %g, on the processor %g", kind->name, it.totals.loss,
                 expected.totals.loss);
    for (size_t i = 0; i < params->tensor_count; i++)
        if (!is_near(params_value(params, (int)i),
                     params_value(&expected.model->params, (int)i), 1e-4))
            fail_msg("%s: %s is not as on the processor", kind->name,
                     params->tensors[i].name);
    assert_int_equal(it.recorder.count, 2);
    check_records(&it, &plain);
    let_trained_go(&expected);
    let_trained_go(&plain);
    let_trained_go(&it);
}

/* The same batch again and again. */
static void check_losses(const struct model_kind *kind,
                         const struct model_shape *shape, const void *options)
{
    const struct training plainly = {LONG_STEPS, 0.05, false, false};
    const struct training recorded = {LONG_STEPS, 0.05, false, true};
    struct trained expected =
        trained_on(&backend_cpu, kind, shape, options, &plainly);
    struct trained plain =
        trained_on(under_test_bf16, kind, shape, options, &plainly);
    struct trained it =
        trained_on(under_test_bf16, kind, shape, options, &recorded);

    for (int i = 0; i < LONG_STEPS; i++)
        if (fabs(it.losses[i] / expected.losses[i] - 1) > 1.0 / 32)
            fail_msg("%s, step %d: loss %g, of fp32 %g", kind->name, i,
                     it.losses[i], expected.losses[i]);
    assert_true(it.losses[LONG_STEPS - 1] < 0.9 * it.losses[0]);
    assert_int_equal(it.recorder.count, 1);
    check_records(&it, &plain);
    let_trained_go(&expected);
    let_trained_go(&plain);
    let_trained_go(&it);
}

static void test_cuda__models_learn_what_they_do_on_the_processor(void **state)
{
    const struct mlp_options mlp = {.width = 20, .depth = 2, .dropout = 0.3};
    const struct cnn_options cnn = {
        .channels = 3, .depth = 2, .width = 10, .dropout = 0.2};
    const struct gpt_options gpt = {
        .layers = 2, .heads = 2, .width = 8, .dropout = 0.1};
    struct model_shape shape = {.inputs = PIXELS,
                                .targets = 1,
                                .classes = 10,
                                .max_samples = SAMPLES + 1,
                                .seed = 7};

    (void)state;
    check_model(&model_mlp, &shape, &mlp);
    check_model(&model_cnn, &shape, &cnn);
    shape.inputs = CONTEXT * sizeof(uint16_t);
    shape.targets = CONTEXT;
    check_model(&model_gpt, &shape, &gpt);
}

static void test_cuda__bf16_learns_as_fp32_does(void **state)
{
    const struct cnn_options cnn = {.channels = 3, .depth = 2, .width = 10};
    const struct gpt_options gpt = {.layers = 1, .heads = 2, .width = 8};
    struct model_shape shape = {.inputs = PIXELS,
                                .targets = 1,
                                .classes = 10,
                                .max_samples = SAMPLES,
                                .seed = 7};

    (void)state;
    check_losses(&model_cnn, &shape, &cnn);
    shape.inputs = CONTEXT * sizeof(uint16_t);
    shape.targets = CONTEXT;
    check_losses(&model_gpt, &shape, &gpt);
}

/* Heads wider than it can; nothing is touched. */
static void ask_for_wide_attention(struct matrix x)
{
    const struct matrix qkv = {x.data, 1, 3 * 200}, y = {x.data, 1, 200};
    const struct attention how = {1, 1, x, {NULL, 0, 0}, .known = 0};

    under_test->ops->attention(qkv, &how, y);
}

/* Nor is it a failure where it could not be recorded. */
static void test_cuda__what_is_recorded_is_not_done(void **state)
{
    const struct recording_calls *calls = under_test->recording;
    struct matrix x = {backend_array(under_test, 1, NULL), 1, 1};
    struct recording *recording;

    (void)state;
    assert_non_null(x.data);
    x.data[0] = 1;
    assert_int_equal(calls->begin(), 0);
    under_test->ops->add(x, x, x);
    recording = calls->end();
    assert_non_null(recording);
    assert_int_equal(calls->begin(), 0);
    under_test->ops->add(x, x, x);
    ask_for_wide_attention(x);
    assert_null(calls->end());
    assert_int_equal(under_test->synchronize(NULL), 0);
    assert_true((double)x.data[0] == 1);
    calls->replay(recording);
    calls->replay(recording);
    assert_int_equal(under_test->synchronize(NULL), 0);
    assert_true((double)x.data[0] == 4);
    calls->forget(recording);
    under_test->release(x.data);
}

/* What has failed is told by every synchronize from then on, so it is last. */
static void test_cuda__a_failure_names_its_operation(void **state)
{
    struct matrix x = {backend_array(under_test, 1, NULL), 1, 1};
    struct err err = {0};

    (void)state;
    ask_for_wide_attention(x);
    assert_int_equal(under_test->synchronize(&err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(
        err.text,
        "cuda, attention: heads are too wide: 200 numbers, more than 128");
    assert_int_equal(under_test->synchronize(NULL), -1);
    under_test->release(x.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda__ops_come_to_what_the_processor_does),
        cmocka_unit_test(test_cuda__bf16_rounds_what_it_multiplies),
        cmocka_unit_test(test_cuda__bf16_adds_up_in_fp32),
        cmocka_unit_test(test_cuda__ops_do_not_hide_nan),
        cmocka_unit_test(test_cuda__models_learn_what_they_do_on_the_processor),
        cmocka_unit_test(test_cuda__bf16_learns_as_fp32_does),
        cmocka_unit_test(test_cuda__what_is_recorded_is_not_done),
        cmocka_unit_test(test_cuda__a_failure_names_its_operation),
    };

    return cmocka_run_group_tests(tests, open_backend, NULL);
}
