/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vocabularies as Hugging Face's files. Readers of tokenizer.json cut text as
 * it describes; vocab.json and merges.txt are for programs that always cut it
 * as GPT-2 does. The words of smtrain are a regular expression on the letters
 * that stand for bytes, so that it counts bytes as smtrain does.
 */
#include "training/data/tokenizer_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "training/data/bpe.h"
#include "training/data/byte_letters.h"
#include "training/util/json_file.h"

static const char END[] = "<|endoftext|>";

int tokenizer_end(const struct bpe *bpe)
{
    struct buf text = BUF_INIT;
    int found = -1;

    for (size_t token = 0; token < bpe_size(bpe) && found < 0; token++) {
        if (!bpe_is_special(bpe, (uint16_t)token))
            continue;
        buf_truncate(&text, 0);
        bpe_decode(bpe, (uint16_t)token, &text);
        if (strcmp(buf_text(&text), END) == 0)
            found = (int)token;
    }
    buf_clear(&text);
    return found;
}

/* A token in the letters of the files. */
static char *key_of(const struct bpe *bpe, uint16_t token)
{
    struct buf bytes = BUF_INIT, key = BUF_INIT;
    char letter[4];

    bpe_decode(bpe, token, &bytes);
    for (size_t i = 0; i < bytes.length; i++)
        buf_add(&key, letter,
                text_put_rune(byte_letter((uint8_t)bytes.data[i]), letter));
    buf_clear(&bytes);
    return buf_take(&key);
}

/* What the files have for each token, [bpe_size]; NULL for unused ones. */
static char **keys_of(const struct bpe *bpe)
{
    char **keys = mem_array(bpe_size(bpe), sizeof(*keys));

    for (size_t i = 0; i < bpe_size(bpe); i++) {
        struct buf text = BUF_INIT;

        if (bpe_is_special(bpe, (uint16_t)i)) {
            bpe_decode(bpe, (uint16_t)i, &text);
            keys[i] = buf_take(&text);
        } else if (bpe_is_used(bpe, (uint16_t)i)) {
            keys[i] = key_of(bpe, (uint16_t)i);
        }
    }
    return keys;
}

static void free_keys(const struct bpe *bpe, char **keys)
{
    for (size_t i = 0; i < bpe_size(bpe); i++)
        free(keys[i]);
    free(keys);
}

/* Of two tokens that spell the same, only the first is ever found in a text. */
static json_t *vocabulary_of(const struct bpe *bpe, char *const *keys)
{
    json_t *vocabulary = json_object();

    for (size_t i = 0; i < bpe_size(bpe); i++) {
        char *again = NULL;

        if (keys[i] == NULL)
            continue;
        if (json_object_get(vocabulary, keys[i]) != NULL)
            again = mem_printf("<|again-%zu|>", i);
        json_object_set_new(vocabulary, again != NULL ? again : keys[i],
                            json_integer((json_int_t)i));
        free(again);
    }
    return vocabulary;
}

/* "LEFT RIGHT" for each merge, once. */
static json_t *merges_of(const struct bpe *bpe, char *const *keys)
{
    json_t *merges = json_array(), *seen = json_object();

    for (size_t i = 0; i < bpe_merge_count(bpe); i++) {
        uint16_t parts[2], token;
        char *text;

        bpe_merge(bpe, i, parts, &token);
        text = mem_printf("%s %s", keys[parts[0]], keys[parts[1]]);
        if (json_object_get(seen, text) == NULL)
            json_array_append_new(merges, json_string(text));
        json_object_set_new(seen, text, json_null());
        free(text);
    }
    json_decref(seen);
    return merges;
}

static json_t *added_of(const struct bpe *bpe, char *const *keys)
{
    json_t *added = json_array();

    for (size_t i = 0; i < bpe_size(bpe); i++)
        if (bpe_is_special(bpe, (uint16_t)i))
            json_array_append_new(
                added, json_pack("{s:I, s:s, s:b, s:b, s:b, s:b, s:b}", "id",
                                 (json_int_t)i, "content", keys[i],
                                 "single_word", 0, "lstrip", 0, "rstrip", 0,
                                 "normalized", 0, "special", 1));
    return added;
}

static json_t *byte_level(bool cuts)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel",
                     "add_prefix_space", 0, "trim_offsets", 1, "use_regex",
                     (int)cuts);
}

static json_t *cut_of(const struct bpe *bpe)
{
    if (bpe_words(bpe) == BPE_WORDS_GPT2)
        return byte_level(true);
    return json_pack("{s:s, s:[o, {s:s, s:{s:s}, s:s, s:b}]}", "type",
                     "Sequence", "pretokenizers", byte_level(false), "type",
                     "Split", "pattern", "Regex", SMTRAIN_WORD_PATTERN,
                     "behavior", "Isolated", "invert", 0);
}

static json_t *tokenizer_of(const struct bpe *bpe, char *const *keys,
                            json_t *vocabulary, json_t *merges)
{
    json_t *model =
        json_pack("{s:s, s:n, s:n, s:n, s:n, s:b, s:b, s:b, s:O, s:O}", "type",
                  "BPE", "dropout", "unk_token", "continuing_subword_prefix",
                  "end_of_word_suffix", "fuse_unk", 0, "byte_fallback", 0,
                  "ignore_merges", 0, "vocab", vocabulary, "merges", merges);

    return json_pack("{s:s, s:n, s:n, s:o, s:n, s:o, s:n, s:o, s:o}", "version",
                     "1.0", "truncation", "padding", "added_tokens",
                     added_of(bpe, keys), "normalizer", "pre_tokenizer",
                     cut_of(bpe), "post_processor", "decoder", byte_level(true),
                     "model", model);
}

/* Of GPT-2's words, what stands for the beginning and the end of a text. The
 * other class takes tokenizer.json as it is. */
static json_t *config_of(const struct bpe *bpe, size_t context)
{
    json_t *config =
        json_pack("{s:s, s:I, s:b, s:b}", "tokenizer_class",
                  bpe_words(bpe) == BPE_WORDS_GPT2 ? "GPT2Tokenizer"
                                                   : "PreTrainedTokenizerFast",
                  "model_max_length", (json_int_t)context, "add_prefix_space",
                  0, "clean_up_tokenization_spaces", 0);

    if (tokenizer_end(bpe) >= 0) {
        json_object_set_new(config, "bos_token", json_string(END));
        json_object_set_new(config, "eos_token", json_string(END));
        json_object_set_new(config, "unk_token", json_string(END));
    }
    return config;
}

static int write_merges(json_t *merges, const char *folder, struct err *err)
{
    char *path = fs_join(folder, "merges.txt");
    struct buf text = BUF_INIT;
    json_t *merge;
    size_t i;
    int status;

    buf_add_string(&text, "#version: 0.2\n");
    json_array_foreach(merges, i, merge)
    {
        buf_printf(&text, "%s\n", json_string_value(merge));
    }
    status = fs_write_atomic(path, buf_text(&text), text.length, 0644, err);
    buf_clear(&text);
    free(path);
    return status;
}

int tokenizer_write(const struct bpe *bpe, const char *folder, size_t context,
                    struct err *err)
{
    char **keys = keys_of(bpe);
    json_t *vocabulary = vocabulary_of(bpe, keys);
    json_t *merges = merges_of(bpe, keys);
    int status =
        json_file_write(folder, "vocab.json", json_incref(vocabulary), err);

    if (status == 0)
        status = write_merges(merges, folder, err);
    if (status == 0)
        status = json_file_write(folder, "tokenizer_config.json",
                                 config_of(bpe, context), err);
    if (status == 0)
        status =
            json_file_write(folder, "tokenizer.json",
                            tokenizer_of(bpe, keys, vocabulary, merges), err);
    json_decref(vocabulary);
    json_decref(merges);
    free_keys(bpe, keys);
    return status;
}
