/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/log_hits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/log_search.h"

static const struct log_source source = {.job = 7, .attempt = 2, .rank = 1};

static bool add(struct log_hits *hits, const char *text, size_t start,
                size_t end)
{
    static int64_t number;
    const struct log_line line = {.line = ++number,
                                  .byte = 10 * number,
                                  .text = text,
                                  .length = strlen(text),
                                  .match = {start, end}};

    return log_hits_add(hits, &source, &line);
}

static const char *text_of(const json_t *hit, const char *key)
{
    return json_string_value(json_object_get(hit, key));
}

static void must_show(const char *text, size_t start, size_t end,
                      const char *const parts[3])
{
    static const char *const keys[] = {"before", "match", "after"};
    struct log_hits *hits = log_hits_create(1, false);
    json_t *list;

    assert_true(add(hits, text, start, end));
    list = log_hits_json(hits);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_string_equal(text_of(json_array_get(list, 0), keys[i]),
                            parts[i]);
    assert_true(
        json_is_false(json_object_get(json_array_get(list, 0), "is_cut")));
    json_decref(list);
    log_hits_destroy(hits);
}

static void test_log_hits__show_what_is_before_and_behind(void **state)
{
    (void)state;
    must_show("the loss=3", 4, 8, (const char *const[]){"the ", "loss", "=3"});
    must_show("loss", 0, 4, (const char *const[]){"", "loss", ""});
    must_show("loss", 2, 2, (const char *const[]){"lo", "", "ss"});
    must_show("", 0, 0, (const char *const[]){"", "", ""});
    must_show("10%\r20%\r30%", 4, 6, (const char *const[]){"", "20", "%"});
    must_show("a\tb\x01\xff\x7f \xc3\xa9", 2, 3,
              (const char *const[]){"a\t", "b", "\\x01\\xff\\x7f \xc3\xa9"});
    /* U+202E turns the text around. */
    must_show("a\xe2\x80\xae"
              "b",
              0, 1,
              (const char *const[]){"", "a",
                                    "\\xe2\\x80\\xae"
                                    "b"});
}

static bool is_whole(const char *text, const char *letter)
{
    size_t length = strlen(letter);

    for (; *text != '\0'; text += length) {
        if (strncmp(text, letter, length) != 0)
            return false;
    }
    return true;
}

/* Letters of one to four bytes, at each place where they may be cut. */
static void test_log_hits__are_cut_between_characters(void **state)
{
    static const char *const letters[] = {"e", "\xc3\xa9", "\xe6\xbc\xa2",
                                          "\xf0\x9f\x98\x80"};
    enum { COUNT = 1000 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
        size_t width = strlen(letters[i]);
        char *text = mem_zero(COUNT * width + 1);

        for (size_t at = 0; at < COUNT; at++)
            memcpy(text + at * width, letters[i], width);
        for (size_t at = 400; at < 410; at++) {
            for (size_t length = 1; length < 500; length += 61) {
                struct log_hits *hits = log_hits_create(1, false);
                json_t *list, *hit;

                add(hits, text, at * width, (at + length) * width);
                list = log_hits_json(hits);
                hit = json_array_get(list, 0);
                assert_true(is_whole(text_of(hit, "before"), letters[i]));
                assert_true(is_whole(text_of(hit, "match"), letters[i]));
                assert_true(is_whole(text_of(hit, "after"), letters[i]));
                assert_in_range(strlen(text_of(hit, "before")), 150, 160);
                assert_in_range(strlen(text_of(hit, "match")), 1, 240);
                assert_in_range(strlen(text_of(hit, "after")), 0, 240);
                assert_true(json_is_true(json_object_get(hit, "is_cut")));
                json_decref(list);
                log_hits_destroy(hits);
            }
        }
        free(text);
    }
}

/* Of lines that are their numbers. */
static void must_keep(int64_t limit, bool keeps_last, int count,
                      const char *kept)
{
    static const char *const texts[] = {"0", "1", "2", "3", "4", "5", "6"};
    struct log_hits *hits = log_hits_create((size_t)limit, keeps_last);
    char found[8] = "";
    json_t *list, *hit;
    size_t i;

    for (int n = 0; n < count; n++)
        assert_int_equal(add(hits, texts[n], 0, 1),
                         !keeps_last && n + 1 >= limit);
    list = log_hits_json(hits);
    json_array_foreach(list, i, hit) found[i] = *text_of(hit, "match");
    assert_string_equal(found, kept);
    assert_int_equal(log_hits_count(hits),
                     keeps_last || count < limit ? count : limit);
    json_decref(list);
    log_hits_destroy(hits);
}

static void test_log_hits__are_the_first_or_the_last(void **state)
{
    (void)state;
    must_keep(3, false, 0, "");
    must_keep(3, false, 2, "01");
    must_keep(3, false, 3, "012");
    must_keep(3, false, 5, "012");
    must_keep(3, true, 2, "01");
    must_keep(3, true, 3, "012");
    must_keep(3, true, 7, "456");
    must_keep(1, true, 7, "6");
    log_hits_destroy(NULL);
}

static void test_log_hits__say_where_they_are(void **state)
{
    struct log_hits *hits = log_hits_create(2, false);
    const struct log_line line = {
        .line = 5, .byte = 77, .text = "x", .length = 1, .match = {0, 1}};
    json_t *list,
        *expected =
            json_pack("[{s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:b}]", "job",
                      7, "attempt", 2, "rank", 1, "line", 5, "byte", 77,
                      "before", "", "match", "x", "after", "", "is_cut", 0);

    (void)state;
    assert_false(log_hits_add(hits, &source, &line));
    list = log_hits_json(hits);
    assert_true(json_equal(list, expected));
    json_decref(list);
    json_decref(expected);
    log_hits_destroy(hits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_hits__show_what_is_before_and_behind),
        cmocka_unit_test(test_log_hits__are_cut_between_characters),
        cmocka_unit_test(test_log_hits__are_the_first_or_the_last),
        cmocka_unit_test(test_log_hits__say_where_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
