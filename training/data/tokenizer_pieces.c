/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes and the merges of Hugging Face's vocabularies. A vocabulary is a
 * JSON object, from tokens in the letters of bytes to their numbers.
 */
#include "training/data/tokenizer_pieces.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "training/data/bpe.h"
#include "training/data/byte_letters.h"

static const char COMMENT[] = "#version";

int tokenizer_number(const json_t *vocabulary, const char *key)
{
    const json_t *number = json_object_get(vocabulary, key);
    json_int_t token = number != NULL ? json_integer_value(number) : -1;

    return json_is_integer(number) && token >= 0 && token < BPE_SIZE_MAX
               ? (int)token
               : -1;
}

int tokenizer_fail(struct err *err, const char *what, const char *text)
{
    struct buf shown = BUF_INIT;

    text_escape(text, strnlen(text, 100), &shown);
    err_set(err, ERR_FILE, "%s '%s'", what, buf_text(&shown));
    buf_clear(&shown);
    return -1;
}

int tokenizer_take_bytes(struct bpe *bpe, const json_t *vocabulary,
                         struct err *err)
{
    for (int byte = 0; byte < BPE_BYTES; byte++) {
        char letter[5] = {0};
        int token;

        text_put_rune(byte_letter((uint8_t)byte), letter);
        token = tokenizer_number(vocabulary, letter);
        if (token < 0 || bpe_set_byte(bpe, (uint8_t)byte, (uint16_t)token) != 0)
            return err_set(err, ERR_FILE,
                           "no token for the byte 0x%02x: the vocabulary is "
                           "not one of bytes",
                           byte);
    }
    return 0;
}

static int take_merge(struct bpe *bpe, const json_t *vocabulary,
                      const char *left, const char *right, struct err *err)
{
    char *whole = mem_printf("%s%s", left, right);
    int one = tokenizer_number(vocabulary, left),
        other = tokenizer_number(vocabulary, right);
    int token = tokenizer_number(vocabulary, whole), status = 0;

    if (one < 0 || other < 0 || token < 0 ||
        bpe_set_merge(bpe, (uint16_t)one, (uint16_t)other, (uint16_t)token) !=
            0)
        status = tokenizer_fail(
            err,
            one < 0 || other < 0 || token < 0
                ? "a merge of tokens that are not in the vocabulary:"
                : "a merge that comes twice, before its parts, or with more "
                  "than 1024 bytes:",
            whole);
    free(whole);
    return status;
}

/* "LEFT RIGHT" */
static int take_merge_text(struct bpe *bpe, const json_t *vocabulary,
                           const char *text, size_t length, struct err *err)
{
    char *left = mem_copy_bytes(text, length);
    char *right = strchr(left, ' ');
    int status;

    if (right == NULL || strchr(right + 1, ' ') != NULL) {
        status = tokenizer_fail(err, "a merge that is not two tokens:", left);
    } else {
        *right = '\0';
        status = take_merge(bpe, vocabulary, left, right + 1, err);
    }
    free(left);
    return status;
}

int tokenizer_take_merge(struct bpe *bpe, const json_t *vocabulary,
                         const json_t *merge, struct err *err)
{
    const char *left = json_string_value(json_array_get(merge, 0));
    const char *right = json_string_value(json_array_get(merge, 1));

    if (json_is_string(merge))
        return take_merge_text(bpe, vocabulary, json_string_value(merge),
                               json_string_length(merge), err);
    if (left == NULL || right == NULL)
        return err_set(err, ERR_FILE, "a merge is not two tokens");
    return take_merge(bpe, vocabulary, left, right, err);
}

int tokenizer_take_lines(struct bpe *bpe, const json_t *vocabulary,
                         const char *text, struct err *err)
{
    int status = 0;

    while (*text != '\0' && status == 0) {
        size_t length = strcspn(text, "\r\n");

        if (length > 0 && strncmp(text, COMMENT, strlen(COMMENT)) != 0)
            status = take_merge_text(bpe, vocabulary, text, length, err);
        text += length;
        text += strspn(text, "\r\n");
    }
    return status;
}

/* One number a token: a merge spells what its key does. The largest, or -1. */
static int check_numbers(json_t *vocabulary, struct err *err)
{
    bool *is_taken = mem_array(BPE_SIZE_MAX, sizeof(*is_taken));
    int largest = -1, status = 0;
    const char *key;
    json_t *item;

    json_object_foreach(vocabulary, key, item)
    {
        int token = tokenizer_number(vocabulary, key);

        if (status != 0)
            break;
        if (token < 0 || is_taken[token])
            status = tokenizer_fail(
                err,
                token < 0 ? "the number of a token is missing, or "
                            "not 0 to 65535:"
                          : "two tokens have the same number:",
                key);
        else
            is_taken[token] = true;
        if (token > largest)
            largest = token;
    }
    free(is_taken);
    if (status == 0 && largest < 0)
        err_set(err, ERR_FILE, "no vocabulary");
    return status == 0 ? largest : -1;
}

size_t tokenizer_size(json_t *vocabulary, json_t *added, struct err *err)
{
    json_int_t largest = check_numbers(vocabulary, err);
    json_t *item;
    size_t i;

    if (largest < 0)
        return 0;
    json_array_foreach(added, i, item)
    {
        json_int_t token = json_integer_value(json_object_get(item, "id"));

        if (token > largest)
            largest = token;
    }
    if (largest < BPE_SIZE_MAX)
        return (size_t)largest + 1;
    err_set(err, ERR_FILE,
            "an added token has the number %" JSON_INTEGER_FORMAT
            ", which is over 65535",
            largest);
    return 0;
}
