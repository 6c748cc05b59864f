/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.json of Hugging Face's GPT-2. A key that would make the model compute
 * something else than gpt does is refused by name; those that only describe its
 * training (dropout, first weights) are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/json.h"
#include "training/models/gpt2_files.h"
#include "training/util/json_file.h"

enum { FILE_MAX_BYTES = 1 << 20 };

static const char NAME[] = "config.json";
static const int64_t SIZE_MAX_HERE = 65536;

/* What a key has to be where it is there; several of one key: one of them. */
static const struct {
    const char *key, *value; /* as JSON */
} fixed[] = {
    {"model_type", "\"gpt2\""},
    {"activation_function", "\"gelu_new\""},
    {"activation_function", "\"gelu_pytorch_tanh\""},
    {"layer_norm_epsilon", "1e-05"},
    {"scale_attn_weights", "true"},
    {"scale_attn_by_inverse_layer_idx", "false"},
    {"tie_word_embeddings", "true"},
    {"add_cross_attention", "false"},
};

static int refuse(const char *key, const json_t *value, const char *expected,
                  struct err *err)
{
    struct buf shown = BUF_INIT;

    json_show(value, &shown);
    err_set(err, ERR_FILE, "'%s' is %.200s: smtrain's gpt needs %s", key,
            buf_text(&shown), expected);
    buf_clear(&shown);
    return -1;
}

static bool is_equal(const json_t *value, const char *expected)
{
    json_t *wanted = json_parse(expected, strlen(expected), NULL);
    bool is_same = json_is_number(wanted)
                       ? json_is_number(value) && json_number_value(value) ==
                                                      json_number_value(wanted)
                       : json_equal(value, wanted);

    json_decref(wanted);
    return is_same;
}

static int check_fixed(const json_t *json, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const json_t *value = json_object_get(json, fixed[i].key);
        bool fits = value == NULL;

        for (size_t j = 0; j < ARRAY_LEN(fixed) && !fits; j++)
            fits = strcmp(fixed[j].key, fixed[i].key) == 0 &&
                   is_equal(value, fixed[j].value);
        if (!fits)
            return refuse(fixed[i].key, value, fixed[i].value, err);
    }
    return 0;
}

static int read_size(const json_t *json, const char *key, int64_t *size,
                     struct err *err)
{
    const json_t *value = json_object_get(json, key);

    if (value == NULL)
        return err_set(err, ERR_FILE, "missing key '%s'", key);
    *size = json_integer_value(value);
    if (!json_is_integer(value) || *size < 1 || *size > SIZE_MAX_HERE)
        return refuse(key, value, "a number from 1 to 65536", err);
    return 0;
}

static int read_config(const json_t *json, struct gpt2_config *config,
                       struct err *err)
{
    const json_t *inner = json_object_get(json, "n_inner");

    if (check_fixed(json, err) != 0 ||
        read_size(json, "vocab_size", &config->tokens, err) != 0 ||
        read_size(json, "n_positions", &config->context, err) != 0 ||
        read_size(json, "n_embd", &config->width, err) != 0 ||
        read_size(json, "n_layer", &config->layers, err) != 0 ||
        read_size(json, "n_head", &config->heads, err) != 0)
        return -1;
    if (inner != NULL && !json_is_null(inner) &&
        json_integer_value(inner) != 4 * config->width)
        return refuse("n_inner", inner, "4 times n_embd", err);
    return 0;
}

int gpt2_config_read(const char *folder, struct gpt2_config *config,
                     struct err *err)
{
    char *path = fs_join(folder, NAME);
    json_t *json = json_file_read(path, FILE_MAX_BYTES, err);
    int status = -1;

    if (json != NULL && (status = read_config(json, config, err)) != 0)
        err_prefix(err, "'%s'", path);
    json_decref(json);
    free(path);
    return status;
}

static const char *name_of(enum dtype dtype)
{
    if (dtype == DTYPE_F16)
        return "float16";
    return dtype == DTYPE_BF16 ? "bfloat16" : "float32";
}

int gpt2_config_write(const char *folder, const struct gpt2_config *config,
                      int end, enum dtype dtype, struct err *err)
{
    json_t *json = json_pack(
        "{s:[s], s:s, s:s, s:s, s:f, s:b, s:I, s:I, s:I, s:I, s:I, s:n}",
        "architectures", "GPT2LMHeadModel", "model_type", "gpt2", "torch_dtype",
        name_of(dtype), "activation_function", "gelu_new", "layer_norm_epsilon",
        1e-5, "tie_word_embeddings", 1, "vocab_size",
        (json_int_t)config->tokens, "n_positions", (json_int_t)config->context,
        "n_embd", (json_int_t)config->width, "n_layer",
        (json_int_t)config->layers, "n_head", (json_int_t)config->heads,
        "n_inner");

    json_object_set_new(json, "bos_token_id",
                        end >= 0 ? json_integer(end) : json_null());
    json_object_set_new(json, "eos_token_id",
                        end >= 0 ? json_integer(end) : json_null());
    return json_file_write(folder, NAME, json, err);
}
