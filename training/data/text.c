/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/text.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "training/data/bpe.h"
#include "training/data/tokenizer_files.h"
#include "training/util/text_file.h"

/* The samples that are trained on, and then those held out, each a run of
 * tokens of its own. */
struct text {
    struct data data;
    size_t context;
    uint16_t *tokens;
    size_t second; /* where the tokens begin that are held out */
};

struct span {
    const uint8_t *start;
    size_t length;
};

static struct bpe *vocabulary_of(const struct text_options *options,
                                 struct err *err)
{
    struct bpe *bpe;

    if (strcmp(options->vocabulary, "bytes") == 0)
        bpe = bpe_create();
    else if (tokenizer_is_at(options->vocabulary))
        bpe = tokenizer_read(options->vocabulary, err);
    else
        bpe = bpe_load(options->vocabulary, err);
    if (bpe != NULL)
        bpe_widen(bpe, (size_t)options->tokens);
    return bpe;
}

static size_t samples_in(const struct text *text, size_t tokens)
{
    return tokens > 0 ? (tokens - 1) / text->context : 0;
}

/* The first span to train on and the second to hold out; for the test the
 * second alone. Each gives whole samples. */
static int take_spans(struct text *text, const struct bpe *bpe,
                      struct span first, struct span second, struct err *err)
{
    struct data *data = &text->data;
    size_t rest, count;

    text->tokens =
        malloc((first.length + second.length) * sizeof(*text->tokens));
    if (text->tokens == NULL)
        return err_set(err, ERR_FAILED,
                       "out of memory for the tokens of the text");
    text->second = bpe_encode(bpe, first.start, first.length, text->tokens);
    rest = bpe_encode(bpe, second.start, second.length,
                      text->tokens + text->second);
    data->held_out = samples_in(text, text->second);
    count = samples_in(text, rest);
    data->count = data->held_out + count;
    if (count == 0 || (first.length > 0 && data->held_out == 0) ||
        data->count > UINT32_MAX)
        return err_set(err, ERR_FILE,
                       "the held-out text of %zu bytes has too %s tokens for "
                       "samples of %zu tokens",
                       second.length, count == 0 ? "few" : "many",
                       text->context);
    data->bytes_per_target = (double)second.length / (double)rest;
    data->digest =
        (uint32_t)crc32_z(0, (const Bytef *)text->tokens,
                          (text->second + rest) * sizeof(*text->tokens));
    return 0;
}

static void text_close(struct data *data)
{
    struct text *text = (struct text *)data;

    free(text->tokens);
    free(text->data.merges);
    free(text);
}

static int load(struct text *text, const char *path, enum data_part part,
                const struct bpe *bpe, struct err *err)
{
    size_t length, share;
    uint8_t *bytes = text_file_read(path, &length, err);
    struct span first, second;
    int status;

    if (bytes == NULL)
        return -1;
    share = length / TEXT_PARTS;
    first = (struct span){bytes, text_learnable(length)};
    second = (struct span){bytes + first.length, share};
    if (part == DATA_TEST) {
        first.length = 0;
        second.start += share;
    }
    status = take_spans(text, bpe, first, second, err);
    if (status != 0)
        err_prefix(err, "'%s'", path);
    free(bytes);
    return status;
}

static char *merges_of(const struct bpe *bpe)
{
    struct buf out = BUF_INIT;

    bpe_print(bpe, ',', &out);
    return buf_take(&out);
}

static struct data *text_open(const char *path, enum data_part part,
                              const void *model_options, struct err *err)
{
    const struct text_options *options = model_options;
    struct bpe *bpe = vocabulary_of(options, err);
    struct text *text;
    int status;

    if (bpe == NULL)
        return NULL;
    text = mem_zero(sizeof(*text));
    text->context = (size_t)options->context;
    text->data = (struct data){
        .kind = &data_text,
        .input_bytes = text->context * sizeof(*text->tokens),
        .targets = text->context,
        .classes = bpe_size(bpe),
        .merges = merges_of(bpe),
    };
    status = load(text, path, part, bpe, err);
    if (part == DATA_TEST)
        text->data.held_out = text->data.count;
    bpe_destroy(bpe);
    if (status == 0)
        return &text->data;
    text_close(&text->data);
    return NULL;
}

static void text_gather(const struct data *data, const uint32_t *samples,
                        size_t count, void *inputs, uint16_t *targets)
{
    const struct text *text = (const struct text *)data;
    size_t context = text->context;
    size_t bytes = data->input_bytes;
    /* Of a test all tokens are of one run. */
    size_t in_first = text->second > 0 ? data->held_out : 0;

    for (size_t i = 0; i < count; i++) {
        size_t sample = samples[i];
        const uint16_t *from =
            sample < in_first
                ? text->tokens + sample * context
                : text->tokens + text->second + (sample - in_first) * context;

        memcpy((uint8_t *)inputs + i * bytes, from, bytes);
        memcpy(targets + i * context, from + 1, bytes);
    }
}

const struct data_kind data_text = {
    .name = "text",
    .default_path = "/usr/share/dictd/gcide.dict.dz",
    .package = "dict-gcide",
    .open = text_open,
    .close = text_close,
    .gather = text_gather,
};
