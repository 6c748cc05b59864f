/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes and the merges of Hugging Face's vocabularies. A vocabulary is a
 * JSON object, from tokens in the letters of bytes to their numbers.
 */
#include "training/data/tokenizer_pieces.h"

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
                ? "a merge whose tokens are not all there, or too "
                  "many:"
                : "a merge that comes twice, or before its parts:",
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

size_t tokenizer_size(json_t *vocabulary, json_t *added, struct err *err)
{
    json_int_t largest = -1;
    const char *key;
    json_t *item;
    size_t i;

    json_object_foreach(vocabulary, key, item)
    {
        if (json_integer_value(item) > largest)
            largest = json_integer_value(item);
    }
    json_array_foreach(added, i, item)
    {
        json_int_t token = json_integer_value(json_object_get(item, "id"));

        if (token > largest)
            largest = token;
    }
    if (largest >= 0 && largest < BPE_SIZE_MAX)
        return (size_t)largest + 1;
    err_set(err, ERR_FILE,
            largest < 0 ? "no vocabulary"
                        : "more than 65536 tokens, which smtrain has no "
                          "numbers for");
    return 0;
}
