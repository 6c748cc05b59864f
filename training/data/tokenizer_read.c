/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vocabularies of Hugging Face's files, read. A file may describe any
 * tokenizer; what is not byte-level BPE, or cuts words in another way than
 * smtrain can, is refused by name, because it would give other tokens without a
 * message.
 */
#include "training/data/tokenizer_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "training/data/bpe.h"
#include "training/data/byte_letters.h"
#include "training/data/tokenizer_pieces.h"

enum { FILE_MAX_BYTES = 1 << 25 };

static const char TOKENIZER[] = "tokenizer.json";
static const char VOCABULARY[] = "vocab.json";
static const char MERGES[] = "merges.txt";

bool tokenizer_is_at(const char *path)
{
    size_t length = strlen(path);
    struct stat about;

    if (length > 5 && strcmp(path + length - 5, ".json") == 0)
        return true;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int take_added(struct bpe *bpe, json_t *added, struct err *err)
{
    json_t *item;
    size_t i;

    json_array_foreach(added, i, item)
    {
        const json_t *id = json_object_get(item, "id");
        const char *text = json_string_value(json_object_get(item, "content"));

        if (text == NULL || !json_is_integer(id) || json_integer_value(id) < 0)
            return err_set(err, ERR_FILE,
                           "an added token without id or content");
        if (json_is_true(json_object_get(item, "lstrip")) ||
            json_is_true(json_object_get(item, "rstrip")) ||
            json_is_true(json_object_get(item, "single_word")))
            return tokenizer_fail(
                err,
                "an added token that takes the blanks beside it, or "
                "only whole words:",
                text);
        if (bpe_set_special(bpe, (uint16_t)json_integer_value(id), text) != 0)
            return tokenizer_fail(
                err,
                "an added token without text of at most 256 bytes, or "
                "whose number another one has:",
                text);
    }
    return 0;
}

static bool is_empty(const json_t *json)
{
    const char *text = json_string_value(json);

    return json == NULL || json_is_null(json) || json_is_false(json) ||
           (text != NULL && *text == '\0') ||
           (json_is_number(json) && json_number_value(json) == 0);
}

static int check_model(const json_t *model, struct err *err)
{
    static const char *const unusual[] = {
        "dropout", "continuing_subword_prefix", "end_of_word_suffix",
        "byte_fallback", "ignore_merges"};
    const char *type = json_string_value(json_object_get(model, "type"));

    if (type != NULL && strcmp(type, "BPE") != 0)
        return tokenizer_fail(err, "only BPE can be read, not a model of type",
                              type);
    for (size_t i = 0; i < sizeof(unusual) / sizeof(*unusual); i++)
        if (!is_empty(json_object_get(model, unusual[i])))
            return tokenizer_fail(
                err, "a model that smtrain cannot use, because of", unusual[i]);
    return 0;
}

static bool is_of_type(const json_t *json, const char *type)
{
    const char *name = json_string_value(json_object_get(json, "type"));

    return name != NULL && strcmp(name, type) == 0;
}

/* What tokenizer_write writes for smtrain's words. */
static bool has_words_of_smtrain(const json_t *cut)
{
    const json_t *steps = json_object_get(cut, "pretokenizers");
    const json_t *split = json_array_get(steps, 1);
    const char *pattern = json_string_value(
        json_object_get(json_object_get(split, "pattern"), "Regex"));

    return is_of_type(cut, "Sequence") && json_array_size(steps) == 2 &&
           is_of_type(json_array_get(steps, 0), "ByteLevel") &&
           json_is_false(
               json_object_get(json_array_get(steps, 0), "use_regex")) &&
           is_of_type(split, "Split") && pattern != NULL &&
           strcmp(pattern, SMTRAIN_WORD_PATTERN) == 0;
}

static int find_words(const json_t *tokenizer, enum bpe_words *words,
                      struct err *err)
{
    const json_t *normalizer = json_object_get(tokenizer, "normalizer");
    const json_t *cut = json_object_get(tokenizer, "pre_tokenizer");
    const char *type = json_string_value(json_object_get(cut, "type"));
    const char *changes =
        json_string_value(json_object_get(normalizer, "type"));

    if (!is_empty(normalizer))
        return tokenizer_fail(err, "a normalizer, which smtrain cannot use:",
                              changes != NULL ? changes : "");
    *words = BPE_WORDS_SMTRAIN;
    if (has_words_of_smtrain(cut))
        return 0;
    *words = BPE_WORDS_GPT2;
    if (is_of_type(cut, "ByteLevel") &&
        !json_is_false(json_object_get(cut, "use_regex"))) {
        if (json_is_true(json_object_get(cut, "add_prefix_space")))
            return err_set(err, ERR_FILE,
                           "add_prefix_space is true: smtrain adds no space");
        return 0;
    }
    return tokenizer_fail(
        err, "words cut in another way than GPT-2's: pre_tokenizer",
        type != NULL ? type : "null");
}

static struct bpe *from_tokenizer(json_t *tokenizer, struct err *err)
{
    const json_t *model = json_object_get(tokenizer, "model");
    json_t *vocabulary = json_object_get(model, "vocab");
    json_t *merges = json_object_get(model, "merges"), *merge;
    json_t *added = json_object_get(tokenizer, "added_tokens");
    enum bpe_words words = BPE_WORDS_GPT2;
    struct bpe *bpe;
    size_t size, i;
    int status;

    if (check_model(model, err) != 0 || find_words(tokenizer, &words, err) != 0)
        return NULL;
    size = tokenizer_size(vocabulary, added, err);
    if (size == 0)
        return NULL;
    bpe = bpe_begin(words, size);
    status = tokenizer_take_bytes(bpe, vocabulary, err);
    json_array_foreach(merges, i, merge)
    {
        if (status == 0)
            status = tokenizer_take_merge(bpe, vocabulary, merge, err);
    }
    if (status == 0)
        status = take_added(bpe, added, err);
    if (status == 0)
        return bpe;
    bpe_destroy(bpe);
    return NULL;
}

/* Tokens that neither bytes nor merges come to are texts of their own, as
 * <|endoftext|>. */
static int take_others(struct bpe *bpe, json_t *vocabulary, struct err *err)
{
    const char *key;
    json_t *item;

    json_object_foreach(vocabulary, key, item)
    {
        int token = tokenizer_number(vocabulary, key);

        if (!bpe_is_used(bpe, (uint16_t)token) &&
            bpe_set_special(bpe, (uint16_t)token, key) != 0)
            return tokenizer_fail(err, "a token without a text:", key);
    }
    return 0;
}

static struct bpe *from_vocabulary(json_t *vocabulary, const char *merges,
                                   struct err *err)
{
    size_t size = tokenizer_size(vocabulary, NULL, err);
    struct bpe *bpe;

    if (size == 0)
        return NULL;
    bpe = bpe_begin(BPE_WORDS_GPT2, size);
    if (tokenizer_take_bytes(bpe, vocabulary, err) == 0 &&
        tokenizer_take_lines(bpe, vocabulary, merges, err) == 0 &&
        take_others(bpe, vocabulary, err) == 0)
        return bpe;
    bpe_destroy(bpe);
    return NULL;
}

struct bpe *tokenizer_parse(const char *text, size_t length, struct err *err)
{
    json_t *json = json_parse_up_to(text, length, FILE_MAX_BYTES, err);
    struct bpe *bpe = json != NULL ? from_tokenizer(json, err) : NULL;

    json_decref(json);
    return bpe;
}

static struct bpe *read_tokenizer(const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    struct bpe *bpe = NULL;

    if (fs_read_regular(path, FILE_MAX_BYTES, &text, err) == 0) {
        bpe = tokenizer_parse(buf_text(&text), text.length, err);
        if (bpe == NULL)
            err_prefix(err, "'%s'", path);
    }
    buf_clear(&text);
    return bpe;
}

static struct bpe *read_pair(const char *vocabulary_path,
                             const char *merges_path, struct err *err)
{
    struct buf merges = BUF_INIT, text = BUF_INIT;
    struct bpe *bpe = NULL;
    json_t *vocabulary;

    if (fs_read_regular(merges_path, FILE_MAX_BYTES, &merges, err) == 0 &&
        fs_read_regular(vocabulary_path, FILE_MAX_BYTES, &text, err) == 0) {
        vocabulary =
            json_parse_up_to(buf_text(&text), text.length, FILE_MAX_BYTES, err);
        if (vocabulary != NULL && strlen(buf_text(&merges)) < merges.length)
            err_set(err, ERR_FILE, "a byte 0 in the merges");
        else if (vocabulary != NULL)
            bpe = from_vocabulary(vocabulary, buf_text(&merges), err);
        if (bpe == NULL)
            err_prefix(err, "'%s', '%s'", vocabulary_path, merges_path);
        json_decref(vocabulary);
    }
    buf_clear(&merges);
    buf_clear(&text);
    return bpe;
}

static struct bpe *read_folder(const char *folder, struct err *err)
{
    char *tokenizer = fs_join(folder, TOKENIZER);
    char *vocabulary = fs_join(folder, VOCABULARY);
    char *merges = fs_join(folder, MERGES);
    struct bpe *bpe = NULL;

    if (fs_exists(tokenizer))
        bpe = read_tokenizer(tokenizer, err);
    else if (fs_exists(vocabulary))
        bpe = read_pair(vocabulary, merges, err);
    else
        err_set(err, ERR_NOT_FOUND, "no %s, and no %s with %s in '%s'",
                TOKENIZER, VOCABULARY, MERGES, folder);
    free(tokenizer);
    free(vocabulary);
    free(merges);
    return bpe;
}

struct bpe *tokenizer_read(const char *path, struct err *err)
{
    struct stat about;

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return read_folder(path, err);
    return read_tokenizer(path, err);
}
