/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked with the trainer's arithmetic in double precision. */
#define SMTRAIN_DOUBLE
#include "tests/unit/training/models/gradients.h"

#include "base/compiler.h"
#include "training/models/gpt.h"

/* Functions weigh an operation's outputs with fixed numbers. */
struct op {
    struct matrix x, y, weights;
    struct matrix delta;
    struct layernorm norm;
    struct attention attention;
};

static void op_clear(struct op *op)
{
    const struct matrix all[] = {op->x,
                                 op->y,
                                 op->weights,
                                 op->delta,
                                 op->norm.gain,
                                 op->norm.bias,
                                 op->norm.sum,
                                 op->norm.stats,
                                 op->attention.sums,
                                 op->attention.scratch};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i].data);
}

static double gelu_value(void *context)
{
    struct op *op = context;

    ops_cpu.gelu(op->x, op->y);
    return dot(op->y, op->weights);
}

static void test_gradients__of_gelu(void **state)
{
    struct rng rng;
    struct op op = {0};
    struct matrix dx;

    (void)state;
    rng_init(&rng, 1, 0, 0);
    op.x = matrix_of(7, 19, &rng);
    op.y = matrix_of(7, 19, &rng);
    op.weights = matrix_of(7, 19, &rng);
    for (int i = 0; i < 7 * 19; i++)
        op.x.data[i] *= 4;
    dx = copy_of(op.weights);
    ops_cpu.gelu_grad(op.x, dx);
    check((struct function){gelu_value, &op}, op.x, dx);
    free(dx.data);
    op_clear(&op);
}

static double layernorm_value(void *context)
{
    struct op *op = context;

    ops_cpu.layernorm(op->x, op->delta, &op->norm, op->y);
    return dot(op->y, op->weights) + dot(op->norm.sum, op->weights);
}

/* The stream's own gradient, that of `sum`, is there before. */
static void test_gradients__of_layernorm_and_residual(void **state)
{
    enum { ROWS = 3, WIDTH = 21 };
    struct rng rng;
    struct op op = {0};
    struct function function = {layernorm_value, &op};
    struct layernorm_grads grads;
    struct matrix dy, dsum;

    (void)state;
    rng_init(&rng, 2, 0, 0);
    op.x = matrix_of(ROWS, WIDTH, &rng);
    op.delta = matrix_of(ROWS, WIDTH, &rng);
    op.y = matrix_of(ROWS, WIDTH, &rng);
    op.weights = matrix_of(ROWS, WIDTH, &rng);
    op.norm = (struct layernorm){
        matrix_of(1, WIDTH, &rng), matrix_of(1, WIDTH, &rng),
        matrix_of(ROWS, WIDTH, &rng), matrix_of(ROWS, 2, &rng)};
    grads = (struct layernorm_grads){matrix_of(1, WIDTH, &rng),
                                     matrix_of(1, WIDTH, &rng)};
    layernorm_value(&op);
    dy = copy_of(op.weights);
    dsum = copy_of(op.weights);
    ops_cpu.layernorm_grad(&op.norm, dy, &grads, dsum);
    check(function, op.x, dsum);
    check(function, op.delta, dsum);
    check(function, op.norm.gain, grads.gain);
    check(function, op.norm.bias, grads.bias);
    free(dy.data);
    free(dsum.data);
    free(grads.gain.data);
    free(grads.bias.data);
    op_clear(&op);
}

static double attention_value(void *context)
{
    struct op *op = context;

    ops_cpu.attention(op->x, &op->attention, op->y);
    return dot(op->y, op->weights);
}

/* Two sequences; the long ones take more than a block. */
static void test_gradients__of_attention(void **state)
{
    static const struct {
        size_t length, heads, width;
    } shapes[] = {{1, 1, 2}, {5, 2, 3}, {ATTENTION_BLOCK + 3, 2, 2}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        size_t rows = 2 * shapes[i].length;
        size_t columns = shapes[i].heads * shapes[i].width;
        struct rng rng;
        struct op op = {0};
        struct attention_pass pass;

        rng_init(&rng, 3, i, 0);
        op.x = matrix_of(rows, 3 * columns, &rng);
        op.y = matrix_of(rows, columns, &rng);
        op.weights = matrix_of(rows, columns, &rng);
        op.attention = (struct attention){
            shapes[i].length, shapes[i].heads,
            matrix_of(rows, shapes[i].heads, &rng),
            matrix_of(2 * ATTENTION_BLOCK, shapes[i].length, &rng), 0};
        attention_value(&op);
        pass = (struct attention_pass){op.x, op.y, op.weights, copy_of(op.x)};
        ops_cpu.attention_grad(&pass, &op.attention);
        check((struct function){attention_value, &op}, op.x, pass.dqkv);
        free(pass.dqkv.data);
        op_clear(&op);
    }
}

struct embedding {
    struct matrix table, positions, x, weights;
};

static const uint16_t tokens[] = {2, 0, 2, 1, 3, 2};

static double embedding_value(void *context)
{
    struct embedding *embedding = context;

    ops_cpu.embedding(tokens, embedding->table, embedding->positions,
                      embedding->x);
    return dot(embedding->x, embedding->weights) +
           dot(embedding->table, embedding->table);
}

static void test_gradients__of_embedding_join_those_of_the_head(void **state)
{
    struct rng rng;
    struct embedding embedding;
    struct function function = {embedding_value, &embedding};
    struct matrix dtable, dpositions;

    (void)state;
    rng_init(&rng, 4, 0, 0);
    embedding =
        (struct embedding){matrix_of(5, 3, &rng), matrix_of(2, 3, &rng),
                           matrix_of(6, 3, &rng), matrix_of(6, 3, &rng)};
    dpositions = matrix_of(2, 3, &rng);
    dtable = copy_of(embedding.table);
    for (int i = 0; i < 5 * 3; i++)
        dtable.data[i] *= 2;
    ops_cpu.embedding_grad(tokens, embedding.weights, dtable, dpositions);
    check(function, embedding.table, dtable);
    check(function, embedding.positions, dpositions);
    free(embedding.table.data);
    free(embedding.positions.data);
    free(embedding.x.data);
    free(embedding.weights.data);
    free(dtable.data);
    free(dpositions.data);
}

static void test_gradients__of_gpt(void **state)
{
    enum { SAMPLES = 2, CONTEXT = 5, CLASSES = 6 };
    static const struct gpt_options options[] = {
        {.layers = 1, .heads = 1, .width = 4},
        {.layers = 3, .heads = 2, .width = 6},
        {.layers = 2, .heads = 2, .width = 8, .dropout = 0.3},
    };
    static const uint16_t inputs[SAMPLES * CONTEXT] = {0, 3, 1, 1, 5,
                                                       2, 4, 0, 3, 3};
    static const uint16_t targets[SAMPLES * CONTEXT] = {3, 1, 1, 5, 2,
                                                        4, 0, 3, 3, 5};
    const struct model_shape shape = {.inputs = sizeof(*inputs) * CONTEXT,
                                      .targets = CONTEXT,
                                      .classes = CLASSES,
                                      .max_samples = SAMPLES + 1,
                                      .seed = 7};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        check_model(&model_gpt, &shape, &options[i], inputs, targets, SAMPLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients__of_gelu),
        cmocka_unit_test(test_gradients__of_layernorm_and_residual),
        cmocka_unit_test(test_gradients__of_attention),
        cmocka_unit_test(test_gradients__of_embedding_join_those_of_the_head),
        cmocka_unit_test(test_gradients__of_gpt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
