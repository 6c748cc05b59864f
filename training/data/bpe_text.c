/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A vocabulary as text, in a file and in a checkpoint. One of smtrain is its
 * merges alone. Another one begins with a word: how it cuts words, its size,
 * the tokens of the bytes, then merges as "LEFT RIGHT TOKEN" and special tokens
 * as "=TOKEN" and their text in hexadecimal.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "training/data/bpe_impl.h"

enum { FILE_MAX_BYTES = 1 << 22 };

static const char HEADER[] = "smtrain vocabulary 1\n";

static const char *const word_names[] = {
    [BPE_WORDS_SMTRAIN] = "smtrain", [BPE_WORDS_GPT2] = "gpt2"};

static bool is_of_smtrain(const struct bpe *bpe)
{
    if (bpe->words != BPE_WORDS_SMTRAIN || bpe->special_count > 0 ||
        bpe->size != BPE_BYTES + bpe->merge_count)
        return false;
    for (size_t i = 0; i < BPE_BYTES; i++)
        if (bpe->bytes[i] != i)
            return false;
    for (size_t i = 0; i < bpe->merge_count; i++)
        if (bpe->merges[i].token != BPE_BYTES + i)
            return false;
    return true;
}

static void print_special(const struct bpe_special *special, char separator,
                          struct buf *out)
{
    buf_printf(out, "=%d ", special->token);
    for (size_t i = 0; i < special->length; i++)
        buf_printf(out, "%02x", (unsigned char)special->text[i]);
    buf_add_char(out, separator);
}

static void print_other(const struct bpe *bpe, char separator, struct buf *out)
{
    buf_printf(out, "%s %zu%c", word_names[bpe->words], bpe->size, separator);
    for (int i = 0; i < BPE_BYTES; i++)
        buf_printf(out, "%d%c", bpe->bytes[i],
                   i + 1 < BPE_BYTES ? ' ' : separator);
    for (size_t i = 0; i < bpe->merge_count; i++)
        buf_printf(out, "%d %d %d%c", bpe->merges[i].left, bpe->merges[i].right,
                   bpe->merges[i].token, separator);
    for (size_t i = 0; i < bpe->special_count; i++)
        print_special(&bpe->specials[i], separator, out);
}

void bpe_print(const struct bpe *bpe, char separator, struct buf *out)
{
    if (!is_of_smtrain(bpe)) {
        print_other(bpe, separator, out);
        return;
    }
    for (size_t i = 0; i < bpe->merge_count; i++)
        buf_printf(out, "%d %d%c", bpe->merges[i].left, bpe->merges[i].right,
                   separator);
}

int bpe_save(const struct bpe *bpe, const char *path, struct err *err)
{
    struct buf out = BUF_INIT;
    int status;

    buf_add_string(&out, HEADER);
    bpe_print(bpe, '\n', &out);
    status = fs_write_atomic(path, buf_text(&out), out.length, 0644, err);
    buf_clear(&out);
    return status;
}

/* A number below BPE_SIZE_MAX with that character behind it; behind both, or
 * NULL. */
static const char *read_number(const char *text, char end, uint16_t *number)
{
    unsigned long value;
    char *behind;

    if (!isdigit((unsigned char)*text))
        return NULL;
    value = strtoul(text, &behind, 10);
    if (value >= BPE_SIZE_MAX || *behind != end)
        return NULL;
    *number = (uint16_t)value;
    return behind + 1;
}

static const char *read_pair(const char *text, char end, uint16_t *left,
                             uint16_t *right)
{
    text = read_number(text, ' ', left);
    return text != NULL ? read_number(text, end, right) : NULL;
}

static const char *read_own_merge(struct bpe *bpe, const char *text,
                                  char separator)
{
    uint16_t left = 0, right = 0;

    text = read_pair(text, separator, &left, &right);
    if (text == NULL || bpe->size == BPE_SIZE_MAX || left >= bpe->size ||
        right >= bpe->size ||
        pair_map_get(&bpe->ranks, pair_key(left, right)) != PAIR_MAP_NONE)
        return NULL;
    /* Unused: it would be too long. */
    return bpe_is_used(bpe, bpe_add(bpe, left, right)) ? text : NULL;
}

static const char *read_merge(struct bpe *bpe, const char *text, char separator)
{
    uint16_t left = 0, right = 0, token = 0;

    text = read_pair(text, ' ', &left, &right);
    if (text != NULL)
        text = read_number(text, separator, &token);
    return text != NULL && bpe_set_merge(bpe, left, right, token) == 0 ? text
                                                                       : NULL;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

static const char *read_special(struct bpe *bpe, const char *text,
                                char separator)
{
    char spelled[BPE_SPECIAL_MAX + 1] = {0};
    uint16_t token = 0;
    size_t length = 0;

    text = read_number(text + 1, ' ', &token);
    if (text == NULL)
        return NULL;
    for (; *text != separator; text += 2) {
        int high = digit_of(text[0]);
        int low = high >= 0 ? digit_of(text[1]) : -1;

        if (low < 0 || length == BPE_SPECIAL_MAX)
            return NULL;
        spelled[length++] = (char)(16 * high + low);
    }
    return bpe_set_special(bpe, token, spelled) == 0 ? text + 1 : NULL;
}

static const char *read_bytes(struct bpe *bpe, const char *text, char separator)
{
    for (int i = 0; i < BPE_BYTES && text != NULL; i++) {
        uint16_t token = 0;

        text = read_number(text, i + 1 < BPE_BYTES ? ' ' : separator, &token);
        if (text != NULL && bpe_set_byte(bpe, (uint8_t)i, token) != 0)
            text = NULL;
    }
    return text;
}

/* Its first word and its size; where it goes on in *text, or NULL. */
static struct bpe *begin_other(const char **text, char separator)
{
    for (size_t i = 0; i < ARRAY_LEN(word_names); i++) {
        size_t length = strlen(word_names[i]);
        uint16_t last = 0;

        if (strncmp(*text, word_names[i], length) != 0 ||
            (*text)[length] != ' ')
            continue;
        /* The size is at most one more than a token's largest number. */
        if (strncmp(*text + length + 1, "65536", 5) == 0 &&
            (*text)[length + 6] == separator) {
            *text += length + 7;
            return bpe_begin((enum bpe_words)i, BPE_SIZE_MAX);
        }
        *text = read_number(*text + length + 1, separator, &last);
        return *text != NULL ? bpe_begin((enum bpe_words)i, last) : NULL;
    }
    *text = NULL;
    return NULL;
}

static struct bpe *parse_other(const char *text, const char *end,
                               char separator)
{
    struct bpe *bpe = begin_other(&text, separator);

    if (bpe != NULL)
        text = read_bytes(bpe, text, separator);
    while (text != NULL && text < end)
        text = *text == '=' ? read_special(bpe, text, separator)
                            : read_merge(bpe, text, separator);
    if (text != NULL)
        return bpe;
    bpe_destroy(bpe);
    return NULL;
}

struct bpe *bpe_parse(const char *text, const char *end, char separator)
{
    struct bpe *bpe;

    if (text < end && isalpha((unsigned char)*text))
        return parse_other(text, end, separator);
    bpe = bpe_create();
    while (text != NULL && text < end)
        text = read_own_merge(bpe, text, separator);
    if (text != NULL)
        return bpe;
    bpe_destroy(bpe);
    return NULL;
}

struct bpe *bpe_load(const char *path, struct err *err)
{
    struct buf file = BUF_INIT;
    struct bpe *bpe = NULL;

    if (fs_read_regular(path, FILE_MAX_BYTES, &file, err) != 0) {
        buf_clear(&file);
        return NULL;
    }
    if (strncmp(buf_text(&file), HEADER, strlen(HEADER)) == 0)
        bpe = bpe_parse(file.data + strlen(HEADER), file.data + file.length,
                        '\n');
    if (bpe == NULL)
        err_set(err, ERR_FILE,
                "'%s' is not a vocabulary of `smtrain vocabulary`", path);
    buf_clear(&file);
    return bpe;
}
