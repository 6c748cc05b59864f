/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/data/tokenizer_files.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/folder.h"
#include "training/data/bpe.h"

static const char TEXT[] =
    "low lower lowest newer newest widest 1999 1998 1997; low, lower: lowest\n";

/* Tokens as GPT-2 has them: bytes in another order, its merges, and the end. */
static struct bpe *make_like_gpt2(void)
{
    struct bpe *bpe = bpe_begin(BPE_WORDS_GPT2, 260);

    for (int i = 0; i < BPE_BYTES; i++)
        assert_int_equal(bpe_set_byte(bpe, (uint8_t)i, (uint16_t)(255 - i)), 0);
    assert_int_equal(bpe_set_merge(bpe, 255 - 'l', 255 - 'o', 256), 0);
    assert_int_equal(bpe_set_merge(bpe, 256, 255 - 'w', 257), 0);
    assert_int_equal(bpe_set_merge(bpe, 255 - ' ', 257, 259), 0);
    assert_int_equal(bpe_set_special(bpe, 258, "<|endoftext|>"), 0);
    return bpe;
}

static void assert_same(const struct bpe *one, const struct bpe *other)
{
    struct buf a = BUF_INIT, b = BUF_INIT;

    bpe_print(one, '\n', &a);
    bpe_print(other, '\n', &b);
    assert_string_equal(buf_text(&a), buf_text(&b));
    buf_clear(&a);
    buf_clear(&b);
}

static void remove_file(const char *folder, const char *name)
{
    char *path = fs_join(folder, name);

    assert_int_equal(fs_remove_tree(path, NULL), 0);
    free(path);
}

static void test_tokenizer_files__give_back_what_was_written(void **state)
{
    struct bpe *all[] = {bpe_learn((const uint8_t *)TEXT, strlen(TEXT), 290),
                         make_like_gpt2(), bpe_create()};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct bpe *again;

        assert_int_equal(tokenizer_write(all[i], *state, 64, NULL), 0);
        again = tokenizer_read(*state, NULL);
        assert_non_null(again);
        assert_same(again, all[i]);
        bpe_destroy(again);
        if (i == 1) {
            remove_file(*state, "tokenizer.json");
            again = tokenizer_read(*state, NULL);
            assert_non_null(again);
            assert_same(again, all[i]);
            assert_int_equal(tokenizer_end(again), 258);
            bpe_destroy(again);
        }
        bpe_destroy(all[i]);
    }
}

static void test_tokenizer_files__a_special_token_is_no_word(void **state)
{
    static const char text[] = " low<|endoftext|>low<|endoftext|";
    struct bpe *bpe = make_like_gpt2();
    uint16_t tokens[sizeof(text)];
    struct buf spelled = BUF_INIT;
    size_t count = bpe_encode(bpe, (const uint8_t *)text, strlen(text), tokens);

    (void)state;
    assert_int_equal(count, 3 + strlen("<|endoftext|"));
    assert_int_equal(tokens[0], 259);
    assert_int_equal(tokens[1], 258);
    assert_int_equal(tokens[2], 257);
    for (size_t i = 0; i < count; i++)
        bpe_decode(bpe, tokens[i], &spelled);
    assert_string_equal(buf_text(&spelled), text);
    assert_true(bpe_is_special(bpe, 258));
    bpe_widen(bpe, 300);
    assert_int_equal(bpe_size(bpe), 300);
    assert_false(bpe_is_used(bpe, 299));
    buf_clear(&spelled);
    bpe_destroy(bpe);
}

/* Puts other text in the place of some, in a file of a vocabulary. */
static void change(const char *folder, const char *name, const char *from,
                   const char *to)
{
    struct buf text = BUF_INIT, changed = BUF_INIT;
    char *path = fs_join(folder, name);
    const char *at;

    assert_int_equal(fs_read(path, 1 << 20, &text, NULL), 0);
    at = strstr(buf_text(&text), from);
    assert_non_null(at);
    buf_add(&changed, text.data, (size_t)(at - text.data));
    buf_add_string(&changed, to);
    buf_add_string(&changed, at + strlen(from));
    assert_int_equal(
        fs_write_atomic(path, changed.data, changed.length, 0600, NULL), 0);
    buf_clear(&text);
    buf_clear(&changed);
    free(path);
}

static void test_tokenizer_files__names_what_it_cannot_use(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"type\": \"BPE\"", "\"type\": \"Unigram\"",
         "only BPE can be read, not a model of type 'Unigram'"},
        {"\"byte_fallback\": false", "\"byte_fallback\": true",
         "because of 'byte_fallback'"},
        {"\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}",
         "a normalizer, which smtrain cannot use: 'NFC'"},
        {"\"use_regex\": true", "\"use_regex\": false",
         "words cut in another way than GPT-2's: pre_tokenizer 'ByteLevel'"},
        {"\"add_prefix_space\": false", "\"add_prefix_space\": true",
         "smtrain adds no space"},
        {"\"a\": ", "\"aa\": ", "no token for the byte 0x61"},
        {"\"l o\"", "\"l oo\"",
         "a merge of tokens that are not in the vocabulary: "},
        {"\"lo w\"", "\"l o\"", "comes twice, before its parts, or "},
        {"\"lo w\"", "\"low\"", "not two tokens: 'low'"},
        {"\"lstrip\": false", "\"lstrip\": true",
         "takes the blanks beside it, or only whole words: '<|endoftext|>'"},
        {"\"id\": 258", "\"id\": 7", "whose number another one has"},
        {"\"id\": 258", "\"id\": 70000",
         "an added token has the number 70000, which is over 65535"},
        {"\"a\": 158", "\"a\": 157", "two tokens have the same number: "},
        {"\"a\": 158", "\"a\": 65536", "not 0 to 65535: 'a'"},
        {"\"a\": 158", "\"a\": \"158\"", "not 0 to 65535: 'a'"},
        {"\"version\"", "version", "not valid JSON"},
    };
    struct bpe *bpe = make_like_gpt2();
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(tokenizer_write(bpe, *state, 64, NULL), 0);
        change(*state, "tokenizer.json", cases[i].from, cases[i].to);
        assert_null(tokenizer_read(*state, &err));
        if (strstr(err.text, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].to, err.text);
        assert_int_equal(err.kind, ERR_FILE);
        assert_non_null(strstr(err.text, "tokenizer.json'"));
    }
    remove_file(*state, "tokenizer.json");
    change(*state, "merges.txt", "l o\n", "l o w\n");
    assert_null(tokenizer_read(*state, &err));
    assert_non_null(strstr(err.text, "merges.txt': a merge that is not two"));
    remove_file(*state, "vocab.json");
    assert_null(tokenizer_read(*state, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    bpe_destroy(bpe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_tokenizer_files__give_back_what_was_written),
        cmocka_unit_test(test_tokenizer_files__a_special_token_is_no_word),
        FOLDER_TEST(test_tokenizer_files__names_what_it_cannot_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
