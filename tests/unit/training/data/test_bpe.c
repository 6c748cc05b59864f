/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/bpe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/rng.h"
#include "tests/unit/folder.h"

static const char TEXT[] =
    "low lower lowest newer newest widest 1999 1998 1997; low, lower: lowest\n";

static struct bpe *learn(const char *text, size_t size)
{
    return bpe_learn((const uint8_t *)text, strlen(text), size);
}

static void assert_spells(const struct bpe *bpe, const uint8_t *bytes,
                          size_t length)
{
    uint16_t *tokens = calloc(length + 1, sizeof(*tokens));
    struct buf spelt = BUF_INIT;
    size_t count;

    assert_non_null(tokens);
    count = bpe_encode(bpe, bytes, length, tokens);
    assert_true(count <= length);
    for (size_t i = 0; i < count; i++) {
        assert_true(tokens[i] < bpe_size(bpe));
        bpe_decode(bpe, tokens[i], &spelt);
    }
    assert_int_equal(spelt.length, length);
    assert_memory_equal(buf_text(&spelt), bytes, length);
    buf_clear(&spelt);
    free(tokens);
}

static void test_bpe__spells_any_bytes_again(void **state)
{
    static const char *const alphabets[] = {NULL, "abel ", "low erst,1"};
    struct bpe *bpe = learn(TEXT, 300);
    uint8_t bytes[200];
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 0, 0);
    assert_spells(bpe, (const uint8_t *)TEXT, strlen(TEXT));
    for (int i = 0; i < 1000; i++) {
        const char *letters = alphabets[i % 3];
        size_t length = (size_t)rng_below(&rng, sizeof(bytes));

        for (size_t at = 0; at < length; at++)
            bytes[at] =
                letters == NULL
                    ? (uint8_t)rng_below(&rng, 256)
                    : (uint8_t)letters[rng_below(&rng, strlen(letters))];
        assert_spells(bpe, bytes, length);
    }
    bpe_destroy(bpe);
}

/* The text of the paper's section 3.2, by hand: l o (4), lo w (4), then of
 * those that come twice the one whose tokens are older. */
static void test_bpe__merges_the_most_frequent_pair_first(void **state)
{
    struct bpe *bpe = learn("low;low;low;low;ne;ne", 400);
    uint16_t tokens[21];

    (void)state;
    assert_int_equal(bpe_size(bpe), 256 + 3);
    assert_int_equal(bpe_encode(bpe, (const uint8_t *)"low;lo;ne", 9, tokens),
                     5);
    assert_int_equal(tokens[0], 257); /* low */
    assert_int_equal(tokens[1], ';');
    assert_int_equal(tokens[2], 256); /* lo */
    assert_int_equal(tokens[4], 258); /* ne */
    bpe_destroy(bpe);
}

static void test_bpe__cuts_text_into_words(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"low er", 3},
        {" low er", 4},
        {"  low", 2},
        {"12ab", 2},
        {" ", 1},
        {".,a", 2},
        {"\n\nGe", 2},
        {" .\n", 2},
        {"\303\251t\303\251 x", 5},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", BPE_WORD_MAX},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(
            bpe_word((const uint8_t *)cases[i].text, strlen(cases[i].text)),
            cases[i].length);
}

static void test_bpe__is_the_same_from_its_file(void **state)
{
    char *path = fs_join(*state, "vocabulary");
    struct bpe *bpe = learn(TEXT, 290), *loaded;
    uint16_t one[sizeof(TEXT)], other[sizeof(TEXT)];
    const uint8_t *text = (const uint8_t *)TEXT;
    size_t count;

    assert_int_equal(bpe_save(bpe, path, NULL), 0);
    loaded = bpe_load(path, NULL);
    assert_non_null(loaded);
    assert_int_equal(bpe_size(loaded), bpe_size(bpe));
    count = bpe_encode(bpe, text, strlen(TEXT), one);
    assert_int_equal(bpe_encode(loaded, text, strlen(TEXT), other), count);
    assert_memory_equal(one, other, count * sizeof(*one));
    bpe_destroy(bpe);
    bpe_destroy(loaded);
    free(path);
}

static void test_bpe__is_the_same_from_a_line(void **state)
{
    struct bpe *bpe = learn(TEXT, 270), *again;
    struct buf line = BUF_INIT, other = BUF_INIT;
    const char *end;

    (void)state;
    bpe_print(bpe, ',', &line);
    end = buf_text(&line) + line.length;
    again = bpe_parse(buf_text(&line), end, ',');
    assert_non_null(again);
    bpe_print(again, ',', &other);
    assert_string_equal(buf_text(&other), buf_text(&line));
    assert_null(bpe_parse(buf_text(&line), end, '\n'));
    bpe_destroy(again);
    bpe_destroy(bpe);
    buf_clear(&other);
    buf_clear(&line);
}

/* Of another numbering, with a special token; at most as many tokens as numbers
 * have 16 bits for. */
static void test_bpe__of_others_is_the_same_from_a_line(void **state)
{
    static const size_t sizes[] = {300, BPE_SIZE_MAX};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct bpe *bpe = bpe_begin(BPE_WORDS_GPT2, sizes[i]), *again;
        struct buf line = BUF_INIT, other = BUF_INIT;
        const char *end;

        for (int byte = 0; byte < BPE_BYTES; byte++)
            bpe_set_byte(bpe, (uint8_t)byte, (uint16_t)(byte ^ 255));
        assert_int_equal(bpe_set_merge(bpe, 1, 2, 299), 0);
        assert_int_equal(bpe_set_merge(bpe, 1, 2, 298), -1);   /* twice */
        assert_int_equal(bpe_set_merge(bpe, 297, 2, 298), -1); /* not yet */
        assert_int_equal(bpe_set_byte(bpe, 1, 299), -1);       /* taken */
        assert_int_equal(bpe_set_special(bpe, 299, "x"), -1);
        assert_int_equal(bpe_set_special(bpe, 270, "<\n>"), 0);
        bpe_print(bpe, ',', &line);
        end = buf_text(&line) + line.length;
        again = bpe_parse(buf_text(&line), end, ',');
        assert_non_null(again);
        assert_int_equal(bpe_size(again), sizes[i]);
        bpe_print(again, ',', &other);
        assert_string_equal(buf_text(&other), buf_text(&line));
        assert_null(bpe_parse(buf_text(&line), end, '\n'));
        line.data[line.length - 2] = 'z';
        assert_null(bpe_parse(buf_text(&line), end, ','));
        bpe_destroy(again);
        bpe_destroy(bpe);
        buf_clear(&other);
        buf_clear(&line);
    }
}

/* Of a run of letters, with merges of up to 8 of them: the leftmost first. */
static void test_bpe__merges_a_long_word_as_a_short_one(void **state)
{
    enum { LONG = 5003 };
    struct bpe *bpe = bpe_begin(BPE_WORDS_GPT2, 300);
    uint8_t text[LONG];
    uint16_t tokens[LONG], last = 'a';
    struct buf spelled = BUF_INIT;
    size_t count;

    (void)state;
    for (int i = 0; i < BPE_BYTES; i++)
        bpe_set_byte(bpe, (uint8_t)i, (uint16_t)i);
    for (uint16_t token = 256; token < 259; last = token++)
        assert_int_equal(bpe_set_merge(bpe, last, last, token), 0);
    assert_int_equal(bpe_set_merge(bpe, 256, 'b', 259), 0);
    memset(text, 'a', LONG);
    count = bpe_encode(bpe, text, LONG, tokens);
    assert_int_equal(count, LONG / 8 + 2);
    for (size_t i = 0; i < LONG / 8; i++)
        assert_int_equal(tokens[i], 258);
    assert_int_equal(tokens[count - 2], 256);
    assert_int_equal(tokens[count - 1], 'a');
    /* Words of 3 letters, without any space: aab aab ... */
    for (size_t i = 2; i < LONG; i += 3)
        text[i] = 'b';
    count = bpe_encode(bpe, text, LONG - 2, tokens);
    assert_int_equal(count, (LONG - 2) / 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tokens[i], 259);
        bpe_decode(bpe, tokens[i], &spelled);
    }
    assert_memory_equal(buf_text(&spelled), text, LONG - 2);
    buf_clear(&spelled);
    bpe_destroy(bpe);
}

/* Each token twice the one before it: 64 of them would spell 2^64 bytes. */
static void test_bpe__refuses_tokens_that_are_too_long(void **state)
{
    struct bpe *bpe = bpe_begin(BPE_WORDS_GPT2, 300);
    struct buf own = BUF_INIT, spelled = BUF_INIT;
    uint16_t last = 'a', token = 256;

    (void)state;
    for (int i = 0; i < BPE_BYTES; i++)
        bpe_set_byte(bpe, (uint8_t)i, (uint16_t)i);
    while (bpe_set_merge(bpe, last, last, token) == 0)
        last = token++;
    bpe_decode(bpe, last, &spelled);
    assert_int_equal(spelled.length, BPE_TOKEN_MAX);
    buf_add_string(&own, "97 97,");
    for (int i = 256; i < 320; i++)
        buf_printf(&own, "%d %d,", i, i);
    assert_null(bpe_parse(buf_text(&own), buf_text(&own) + own.length, ','));
    bpe_destroy(bpe);
    buf_clear(&own);
    buf_clear(&spelled);
}

static void test_bpe__refuses_other_files(void **state)
{
    static const char *const files[] = {
        "",
        "smtrain vocabulary 2\n",
        "smtrain vocabulary 1\n97 256\n",       /* not there yet */
        "smtrain vocabulary 1\n97 98\n97 98\n", /* twice */
        "smtrain vocabulary 1\n97 98",
        "smtrain vocabulary 1\n-1 98\n",
        "smtrain vocabulary 1\n97\n",
        "smtrain vocabulary 1\ngpt2 \n",
        "smtrain vocabulary 1\ngpt2 257\n0 0 1\n",
        "smtrain vocabulary 1\nother 257\n",
    };
    char *path = fs_join(*state, "vocabulary");
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        assert_int_equal(
            fs_write_atomic(path, files[i], strlen(files[i]), 0600, NULL), 0);
        assert_null(bpe_load(path, &err));
        assert_int_equal(err.kind, ERR_FILE);
        assert_non_null(strstr(err.text, "vocabulary"));
    }
    free(path);
}

static void test_bpe__names_a_file_that_is_missing(void **state)
{
    struct err err;

    (void)state;
    assert_null(bpe_load("/nowhere/vocabulary", &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpe__spells_any_bytes_again),
        cmocka_unit_test(test_bpe__merges_the_most_frequent_pair_first),
        cmocka_unit_test(test_bpe__cuts_text_into_words),
        cmocka_unit_test_setup_teardown(test_bpe__is_the_same_from_its_file,
                                        make_folder, remove_folder),
        cmocka_unit_test(test_bpe__is_the_same_from_a_line),
        cmocka_unit_test(test_bpe__of_others_is_the_same_from_a_line),
        cmocka_unit_test(test_bpe__merges_a_long_word_as_a_short_one),
        cmocka_unit_test(test_bpe__refuses_tokens_that_are_too_long),
        cmocka_unit_test_setup_teardown(test_bpe__refuses_other_files,
                                        make_folder, remove_folder),
        cmocka_unit_test(test_bpe__names_a_file_that_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
