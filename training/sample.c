/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text from a trained gpt, token by token. The model keeps keys and values of
 * the tokens it has seen, so a step costs one token. When the window is full
 * and moves, every position changes, and the whole window is computed again.
 * Seed, flags and checkpoint determine the text: ties between logits break by
 * token. A special token, as GPT-2's <|endoftext|>, ends it.
 */
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "training/tools.h"
#include "training/trained_gpt.h"
#include "training/util/streams.h"

struct sample_options {
    const char *checkpoint_dir, *init_from, *prompt;
    int64_t max_bytes, top_k, seed;
    double temperature;
};

static const struct flag sample_flags[] = {
    {.name = "checkpoint-dir",
     .type = FLAG_TEXT,
     .offset = offsetof(struct sample_options, checkpoint_dir),
     .argument = "DIR",
     .doc = "checkpoints of the training",
     .environment = "SMTUNE_CHECKPOINT_DIR"},
    {.name = "init-from",
     .type = FLAG_TEXT,
     .offset = offsetof(struct sample_options, init_from),
     .argument = "DIR",
     .doc = "or a GPT-2 of Hugging Face's format"},
    {.name = "prompt",
     .type = FLAG_TEXT,
     .offset = offsetof(struct sample_options, prompt),
     .argument = "TEXT",
     .doc = "text to continue (default: a new line)"},
    {.name = "max-bytes",
     .type = FLAG_INT,
     .offset = offsetof(struct sample_options, max_bytes),
     .argument = "N",
     .initial = "500",
     .doc = "length of the generated text",
     .min = 0,
     .max = 1e6},
    {.name = "temperature",
     .type = FLAG_REAL,
     .offset = offsetof(struct sample_options, temperature),
     .argument = "X",
     .initial = "0.8",
     .doc = "lower: likelier tokens; 0: only the likeliest",
     .min = 0,
     .max = 100},
    {.name = "top-k",
     .type = FLAG_INT,
     .offset = offsetof(struct sample_options, top_k),
     .argument = "N",
     .initial = "0",
     .doc = "draw from the N likeliest tokens; 0: from all",
     .min = 0,
     .max = BPE_SIZE_MAX},
    {.name = "seed",
     .type = FLAG_INT,
     .offset = offsetof(struct sample_options, seed),
     .argument = "N",
     .initial = "1",
     .doc = "another seed gives another text",
     .min = 0,
     .max = 9007199254740992.0},
    {.name = NULL},
};

struct candidate {
    real logit;
    uint16_t token;
};

static int compare(const void *a, const void *b)
{
    const struct candidate *one = a, *other = b;

    if (one->logit != other->logit)
        return one->logit > other->logit ? -1 : 1;
    return (one->token > other->token) - (one->token < other->token);
}

/* The last tokens of a text, and what is needed to draw the next. */
struct sampler {
    const struct sample_options *options;
    struct model *model;
    const struct bpe *bpe;
    struct rng rng;
    size_t context, count;        /* tokens: at most, and how many */
    size_t known;                 /* to the model, by their keys and values */
    uint16_t *tokens;             /* [context] */
    struct candidate *candidates; /* [classes] */
};

/* Positions count from the window's start: when that moves nothing is known. */
static void add_token(struct sampler *sampler, uint16_t token)
{
    if (sampler->count == sampler->context) {
        sampler->known = 0;
        sampler->count--;
        memmove(sampler->tokens, sampler->tokens + 1,
                sampler->count * sizeof(token));
    }
    sampler->tokens[sampler->count++] = token;
}

/* Of the k likeliest: Fan, Lewis and Dauphin, "Hierarchical neural story
 * generation", ACL 2018, section 5.2. */
static uint16_t draw(struct sampler *sampler, const real *logits)
{
    const struct sample_options *options = sampler->options;
    struct candidate *candidates = sampler->candidates;
    size_t count = bpe_size(sampler->bpe), last = 0;
    double sum = 0, left;

    for (size_t i = 0; i < count; i++)
        candidates[i] = (struct candidate){logits[i], (uint16_t)i};
    qsort(candidates, count, sizeof(*candidates), compare);
    if (options->temperature == 0)
        return candidates[0].token;
    if (options->top_k > 0 && (size_t)options->top_k < count)
        count = (size_t)options->top_k;
    for (size_t i = 0; i < count; i++)
        sum += exp((double)(candidates[i].logit - candidates[0].logit) /
                   options->temperature);
    left = rng_uniform(&sampler->rng) * sum;
    for (size_t i = 0; i < count && left >= 0; i++) {
        left -= exp((double)(candidates[i].logit - candidates[0].logit) /
                    options->temperature);
        last = i;
    }
    return candidates[last].token;
}

static uint16_t next_token(struct sampler *sampler)
{
    struct matrix logits = gpt_go_on(sampler->model, sampler->tokens,
                                     sampler->known, sampler->count);

    sampler->known = sampler->count;
    return draw(sampler, logits.data + (logits.rows - 1) * logits.columns);
}

static void begin(struct sampler *sampler, const char *prompt)
{
    size_t length = strlen(prompt), count;
    uint16_t *tokens = mem_array(length, sizeof(*tokens));

    count = bpe_encode(sampler->bpe, (const uint8_t *)prompt, length, tokens);
    for (size_t i = 0; i < count; i++)
        add_token(sampler, tokens[i]);
    free(tokens);
}

static void write_text(struct sampler *sampler, struct buf *out)
{
    const struct sample_options *options = sampler->options;
    bool has_prompt = options->prompt != NULL && *options->prompt != '\0';
    size_t end;

    begin(sampler, has_prompt ? options->prompt : "\n");
    if (has_prompt)
        buf_add_string(out, options->prompt);
    end = out->length + (size_t)options->max_bytes;
    while (out->length < end) {
        uint16_t token = next_token(sampler);

        if (bpe_is_special(sampler->bpe, token) ||
            !bpe_is_used(sampler->bpe, token))
            break;
        bpe_decode(sampler->bpe, token, out);
        add_token(sampler, token);
    }
    buf_truncate(out, out->length < end ? out->length : end);
    buf_add_char(out, '\n');
}

static void sample(const struct sample_options *options,
                   const struct trained_gpt *gpt, struct buf *out)
{
    struct sampler sampler = {options, gpt->model, gpt->bpe, .count = 0};

    openblas_set_num_threads(1);
    rng_init(&sampler.rng, (uint64_t)options->seed, 0, STREAM_SAMPLE);
    sampler.context = gpt->model->shape.targets;
    sampler.tokens = mem_zero(sampler.context * sizeof(*sampler.tokens));
    sampler.candidates =
        mem_array(bpe_size(gpt->bpe), sizeof(*sampler.candidates));
    write_text(&sampler, out);
    free(sampler.tokens);
    free(sampler.candidates);
}

static int sample_run(const void *options, struct buf *out, struct err *err)
{
    const struct sample_options *how = options;
    struct trained_gpt gpt;
    int status;

    if (how->init_from != NULL)
        status = trained_gpt_load(&gpt, how->init_from, err);
    else if (how->checkpoint_dir != NULL)
        status = trained_gpt_restore(&gpt, how->checkpoint_dir, err);
    else
        return err_set(err, ERR_USAGE,
                       "missing --checkpoint-dir, or --init-from");
    if (status == 0)
        sample(how, &gpt, out);
    trained_gpt_clear(&gpt);
    return status;
}

const struct tool tool_sample = {
    .name = "sample",
    .summary = "generate text with a trained gpt",
    .about =
        "Continues a text with the newest checkpoint of a training of gpt, or "
        "with a\n"
        "GPT-2 in Hugging Face's format.\n"
        "The same flags and checkpoint give the same text.\n",
    .examples = "  smtrain sample --checkpoint-dir run1\n"
                "  smtrain sample --checkpoint-dir run1 --prompt 'In the "
                "beginning' --top-k 20\n"
                "  smtrain sample --checkpoint-dir run1 --temperature 0 "
                "--max-bytes 100\n",
    .flags = sample_flags,
    .options_size = sizeof(struct sample_options),
    .run = sample_run,
};
