/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/models/gpt2_files.h"

#include "base/compiler.h"
#include "tests/unit/folder.h"
#include "training/models/gpt.h"
#include "training/weights/weight_files.h"

enum { CONTEXT = 10, CLASSES = 19, LAYERS = 2, WIDTH = 12 };

static struct model *make_model(int64_t layers, size_t context, size_t classes,
                                uint64_t seed)
{
    const struct gpt_options options = {
        .layers = layers, .heads = 3, .width = WIDTH};
    const struct model_shape shape = {.inputs = context * sizeof(uint16_t),
                                      .targets = context,
                                      .classes = classes,
                                      .max_samples = 1,
                                      .seed = seed};
    struct model *model =
        model_plan(&model_gpt, &backend_cpu, &shape, &options, NULL);

    assert_non_null(model);
    assert_int_equal(model_allocate(model, NULL), 0);
    return model;
}

static struct matrix tensor(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->params.tensor_count; i++)
        if (strcmp(model->params.tensors[i].name, name) == 0)
            return params_value(&model->params, (int)i);
    fail_msg("no tensor %s", name);
    return (struct matrix){NULL, 0, 0};
}

static void test_gpt2_files__give_back_the_weights(void **state)
{
    struct model *one = make_model(LAYERS, CONTEXT, CLASSES, 1);
    struct model *other = make_model(LAYERS, CONTEXT, CLASSES, 2);

    assert_int_equal(
        gpt2_weights_write(*state, &one->params, DTYPE_F32, 0, NULL), 0);
    assert_int_equal(gpt2_weights_read(*state, &other->params, NULL), 0);
    assert_memory_equal(one->params.values, other->params.values,
                        one->params.count * sizeof(real));
    model_release(one);
    model_release(other);
}

/* A weight of a product is [inputs][outputs] there, others are as here. */
static void test_gpt2_files__have_the_layout_of_conv1d(void **state)
{
    struct model *model = make_model(LAYERS, CONTEXT, CLASSES, 1);
    struct matrix wide = tensor(model, "block1.mlp.in.weight");
    struct matrix table = tensor(model, "tokens");
    struct weight_files *files;
    const struct weight *weight;
    float numbers[2];

    assert_int_equal(
        gpt2_weights_write(*state, &model->params, DTYPE_F32, 1000, NULL), 0);
    files = weight_files_open(*state, NULL);
    assert_non_null(files);
    assert_int_equal(weight_files_count(files), 4 + 12 * LAYERS);
    weight = weight_files_find(files, "transformer.h.1.mlp.c_fc.weight");
    assert_non_null(weight);
    assert_true(weight_is(weight, WIDTH, 4 * WIDTH));
    assert_int_equal(
        weight_files_read(files, weight, 4 * WIDTH + 7, 2, numbers, NULL), 0);
    assert_true(numbers[0] == wide.data[7 * WIDTH + 1]);
    assert_true(numbers[1] == wide.data[8 * WIDTH + 1]);
    weight = weight_files_find(files, "transformer.wte.weight");
    assert_true(weight_is(weight, CLASSES, WIDTH));
    assert_int_equal(
        weight_files_read(files, weight, WIDTH + 2, 1, numbers, NULL), 0);
    assert_true(numbers[0] == table.data[WIDTH + 2]);
    weight = weight_files_find(files, "transformer.h.0.attn.c_attn.bias");
    assert_true(weight_is(weight, 3 * WIDTH, 0));
    weight_files_close(files);
    model_release(model);
}

/* The first positions are enough. */
static void test_gpt2_files__fit_a_shorter_context(void **state)
{
    struct model *model = make_model(LAYERS, CONTEXT, CLASSES, 1);
    struct model *shorter = make_model(LAYERS, 4, CLASSES, 2);

    assert_int_equal(
        gpt2_weights_write(*state, &model->params, DTYPE_F32, 0, NULL), 0);
    assert_int_equal(gpt2_weights_read(*state, &shorter->params, NULL), 0);
    assert_memory_equal(tensor(shorter, "positions").data,
                        tensor(model, "positions").data,
                        4 * WIDTH * sizeof(real));
    model_release(model);
    model_release(shorter);
}

static void test_gpt2_files__name_a_tensor_that_does_not_fit(void **state)
{
    static const struct {
        int64_t layers;
        size_t context, classes;
        const char *message;
    } cases[] = {
        {LAYERS, CONTEXT, CLASSES + 1,
         "tensor 'transformer.wte.weight' has the shape [19, 12], expected "
         "[20, 12]"},
        {LAYERS, CONTEXT + 1, CLASSES,
         "tensor 'transformer.wpe.weight' has the shape [10, 12], expected "
         "[11, 12]"},
        {LAYERS + 1, CONTEXT, CLASSES,
         "no tensor 'transformer.h.2.ln_1.weight', expected with the shape "
         "[12]"},
        {LAYERS - 1, CONTEXT, CLASSES,
         "tensor 'transformer.h.1.attn.c_attn.bias' of shape [36] has no place "
         "in this gpt"},
    };
    struct model *model = make_model(LAYERS, CONTEXT, CLASSES, 1);

    assert_int_equal(
        gpt2_weights_write(*state, &model->params, DTYPE_F32, 0, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model *other =
            make_model(cases[i].layers, cases[i].context, cases[i].classes, 2);
        struct err err;

        assert_int_equal(gpt2_weights_read(*state, &other->params, &err), -1);
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("%s", err.text);
        assert_int_equal(err.kind, ERR_FILE);
        model_release(other);
    }
    model_release(model);
}

static void put_config(const char *folder, const char *key, const char *value)
{
    char *text = mem_printf(
        "{\"model_type\": \"gpt2\", \"vocab_size\": 50257, \"n_positions\": "
        "1024, \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12%s%s%s%s}",
        key != NULL ? ", \"" : "", key != NULL ? key : "",
        key != NULL ? "\": " : "", key != NULL ? value : "");
    char *path = fs_join(folder, "config.json");

    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0600, NULL), 0);
    free(path);
    free(text);
}

static void test_gpt2_config__names_what_computes_otherwise(void **state)
{
    static const struct {
        const char *key, *value, *message;
    } cases[] = {
        {"activation_function", "\"relu\"",
         "'activation_function' is \"relu\": smtrain's gpt needs \"gelu_new\""},
        {"layer_norm_epsilon", "1e-6", "'layer_norm_epsilon' is 1e-06: "},
        {"tie_word_embeddings", "false", "'tie_word_embeddings' is false"},
        {"scale_attn_by_inverse_layer_idx", "true", "needs false"},
        {"n_inner", "1000", "'n_inner' is 1000: smtrain's gpt needs 4 times"},
    };
    static const char *const fits[][2] = {
        {"activation_function", "\"gelu_pytorch_tanh\""},
        {"n_inner", "3072"},
        {"n_inner", "null"},
        {"layer_norm_epsilon", "0.00001"},
        {"attn_pdrop", "0.1"}};
    struct gpt2_config config;
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put_config(*state, cases[i].key, cases[i].value);
        assert_int_equal(gpt2_config_read(*state, &config, &err), -1);
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("%s", err.text);
        assert_non_null(strstr(err.text, "config.json': "));
    }
    for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
        put_config(*state, fits[i][0], fits[i][1]);
        assert_int_equal(gpt2_config_read(*state, &config, &err), 0);
    }
    assert_int_equal(config.tokens, 50257);
    assert_int_equal(config.context, 1024);
}

static void test_gpt2_config__is_the_same_from_its_file(void **state)
{
    const struct gpt2_config config = {300, 64, 32, 3, 4};
    struct gpt2_config again;
    struct err err;

    assert_int_equal(gpt2_config_read(*state, &again, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(gpt2_config_write(*state, &config, -1, DTYPE_BF16, NULL),
                     0);
    assert_int_equal(gpt2_config_read(*state, &again, NULL), 0);
    assert_memory_equal(&again, &config, sizeof(config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_gpt2_files__give_back_the_weights),
        FOLDER_TEST(test_gpt2_files__have_the_layout_of_conv1d),
        FOLDER_TEST(test_gpt2_files__fit_a_shorter_context),
        FOLDER_TEST(test_gpt2_files__name_a_tensor_that_does_not_fit),
        FOLDER_TEST(test_gpt2_config__names_what_computes_otherwise),
        FOLDER_TEST(test_gpt2_config__is_the_same_from_its_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
