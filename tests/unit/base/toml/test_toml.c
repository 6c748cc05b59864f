/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/toml/toml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

struct change {
    const char *text, *key;
    const char *set;     /* with 7 as its value; NULL: not tried */
    const char *removed; /* NULL: not tried */
};

static void expect(const struct change *change, bool is_removal)
{
    const char *wanted = is_removal ? change->removed : change->set;
    struct buf text = BUF_INIT;
    struct err err = {0};
    int rc;

    buf_add_string(&text, change->text);
    rc = is_removal ? toml_remove(&text, change->key, &err)
                    : toml_set(&text, change->key, "7", &err);
    if (rc != 0)
        fail_msg("'%s' in \"%s\": %s", change->key, change->text, err.text);
    assert_string_equal(buf_text(&text), wanted);
    buf_clear(&text);
}

static void expect_all(const struct change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].set != NULL)
            expect(&changes[i], false);
        if (changes[i].removed != NULL)
            expect(&changes[i], true);
    }
}

static void test_toml__replaces_only_the_value(void **state)
{
    static const struct change changes[] = {
        {"a = 1 # one\nb = 2\n", "a", "a = 7 # one\nb = 2\n", "b = 2\n"},
        {"a=1", "a", "a=7", ""},
        {"\xef\xbb\xbf"
         "a = 1",
         "a",
         "\xef\xbb\xbf"
         "a = 7",
         NULL},
        {"a = 1\r\nb = 2\r\n", "b", "a = 1\r\nb = 7\r\n", "a = 1\r\n"},
        {"  a = true\n[t]\n  a = false\n", "t.a", "  a = true\n[t]\n  a = 7\n",
         "  a = true\n[t]\n"},
        {"[ t . \"u\" ]\na = 1979-05-27 07:32:00Z # x\n", "t.u.a",
         "[ t . \"u\" ]\na = 7 # x\n", NULL},
        {"t . u.'a' = +inf\n", "t.u.a", "t . u.'a' = 7\n", ""},
        {"\"a.b\" = 1\n", "a.b", "\"a.b\" = 7\n", ""},
        {"\"\\u00e9\\t\" = 1\n", "\xc3\xa9\t", "\"\\u00e9\\t\" = 7\n", ""},
        {"'' = 1\n", "", "'' = 7\n", ""},
        {"a = \"\"\"\n# \\\"\"\" b = 1\\\n  \"\"\"\"\" # x\nb = '''\n''''\n",
         "b", "a = \"\"\"\n# \\\"\"\" b = 1\\\n  \"\"\"\"\" # x\nb = 7\n",
         NULL},
        {"a = \"b = '\"\nb = '\"#'\n", "b", "a = \"b = '\"\nb = 7\n", NULL},
        {"a = [\n 1, # ]\n 2\n]\n", "a", "a = 7\n", ""},
    };

    (void)state;
    expect_all(changes, ARRAY_LEN(changes));
}

static void test_toml__finds_items(void **state)
{
    static const struct change changes[] = {
        {"a = [ 1, [2, 3] ]\n", "a.1.0", "a = [ 1, [7, 3] ]\n",
         "a = [ 1, [3] ]\n"},
        {"a = [1, 2]\n", "a.1", "a = [1, 7]\n", "a = [1]\n"},
        {"a = [1, # one\n  2 # two\n]\n", "a.1",
         "a = [1, # one\n  7 # two\n]\n", "a = [1, # one\n   # two\n]\n"},
        {"a = [1 # one\n, 2]\n", "a.0", "a = [7 # one\n, 2]\n", "a = [2]\n"},
        {"a = {b = 1, c.d = {e = 2}}\n", "a.c.d.e",
         "a = {b = 1, c.d = {e = 7}}\n", "a = {b = 1, c.d = {}}\n"},
        {"a = {b = 1, c = 2}\n", "a.c", "a = {b = 1, c = 7}\n",
         "a = {b = 1}\n"},
        {"a = { b = 1, c = 2 }\n", "a.b", "a = { b = 7, c = 2 }\n",
         "a = { c = 2 }\n"},
        {"[[s]]\nx = 1\n[[s]]\nx = 2\n[[s.t]]\ny = 3\n", "s.1.x",
         "[[s]]\nx = 1\n[[s]]\nx = 7\n[[s.t]]\ny = 3\n", NULL},
        {"[[s]]\n[[s.t]]\ny = 1\n[[s]]\n[[s.t]]\ny = 2\n", "s.1.t.0.y",
         "[[s]]\n[[s.t]]\ny = 1\n[[s]]\n[[s.t]]\ny = 7\n", NULL},
        {"[[s]]\n[s.t]\ny = 1\n", "s.0.t.y", "[[s]]\n[s.t]\ny = 7\n", NULL},
    };

    (void)state;
    expect_all(changes, ARRAY_LEN(changes));
}

static void test_toml__adds_what_is_missing(void **state)
{
    static const struct change changes[] = {
        {"", "a", "a = 7\n", ""},
        {"", "t.a", "[t]\na = 7\n", ""},
        {"# top\n", "a", "# top\na = 7\n", "# top\n"},
        {"# top\n\n# t\n[t]\n", "a", "# top\n\na = 7\n\n# t\n[t]\n", NULL},
        {"a = 1", "b c", "a = 1\n\"b c\" = 7\n", "a = 1"},
        {"a = 1\r\n[t]\r\n", "b", "a = 1\r\nb = 7\r\n[t]\r\n", NULL},
        {"[t]\n  a = 1 # x\n\n[u]\n", "t.b",
         "[t]\n  a = 1 # x\n  b = 7\n\n[u]\n", NULL},
        {"[t] # x", "t.a", "[t] # x\na = 7\n", NULL},
        {"a = 1", "t.u.b", "a = 1\n\n[t.u]\nb = 7\n", NULL},
        {"[ 't' ]\n", "t.u.b", "[ 't' ]\n\n['t'.u]\nb = 7\n", NULL},
        {"[t.u]\n[v]\n", "t.a", "[t.u]\n[v]\n\n[t]\na = 7\n", NULL},
        {"t.a = 1\nb = 2\n", "t.c.d", "t.a = 1\nt.c.d = 7\nb = 2\n", NULL},
        {"'x.y'.a = 1\n", "x.y.b", "'x.y'.a = 1\n'x.y'.b = 7\n", NULL},
        {"t = {}\n", "t.a", "t = { a = 7 }\n", NULL},
        {"t = {u.a = 1}\n", "t.u.b", "t = {u.a = 1, u.b = 7}\n", NULL},
        {"t = {u = {a = 1}}\n", "t.u.b.c", "t = {u = {a = 1, b.c = 7}}\n",
         NULL},
        {"[[s]]\n[[s]]\n", "s.0.t.a", "[[s]]\nt.a = 7\n[[s]]\n", NULL},
    };

    (void)state;
    expect_all(changes, ARRAY_LEN(changes));
}

static const struct {
    const char *text, *key;
    int line, column;
    const char *message;
} refused[] = {
    {"[t]\n", "t", 1, 1, "'t' is a table here: set its keys one by one"},
    {"[t.u]\n", "t", 1, 4, "'t' is a table here"},
    {"x = 1\nt.a = 1\n", "t", 2, 3, "'t' is a table here"},
    {"[[s]]\n", "s", 1, 1, "add the number of an item, as in 's.0'"},
    {"[[s]]\n", "s.0", 1, 1, "'s.0' is a table here"},
    {"[[s]]\n", "s.x", 1, 1, "'s' is an array here"},
    {"[[s]]\n[[s]]\n", "s.2.x", 2, 1, "'s' has no item 2 (2 items)"},
    {"a = [1]\n", "a.x", 1, 5, "'a' is an array here"},
    {"a = [1]\n", "a.1", 1, 5, "'a' has no item 1 (1 item)"},
    {"a = 1\n", "a.b", 1, 5, "'a' is a value here, not a table"},
    {"a.b = 1\n'a.b' = 2\n", "a.b", 2, 9,
     "duplicate key 'a.b' (first defined at line 1)"},
    {"[a.b]\n[a]\nb.c = 1\n[a.b]\n", "a.b.d", 4, 1, "duplicate key 'a.b'"},
    {"a = ", "b", 1, 5, "missing value"},
    {"a = x\n", "b", 1, 5, "'x' is not a value"},
    {"a = 1 2\n", "b", 1, 7, "unexpected '2' where the line should end"},
    {"\xc3\xa9 = 1\n", "b", 1, 1, "missing key"},
    {"a 1\n", "b", 1, 3, "expected '='"},
    {"[a\n", "b", 1, 3, "expected ']'"},
    {"[[a]\n", "b", 1, 4, "expected ']]'"},
    {"a = [1 2]\n", "b", 1, 8, "expected ',' or ']'"},
    {"a = {b = 1\n", "b", 2, 1, "expected ',' or '}'"},
    {"a = '\xc3\xa9\n", "b", 1, 5, "unterminated string"},
    {"a = \"\"\"x\"\"", "b", 1, 5, "unterminated string"},
    {"a = '\xc3\xa9\x01'\n", "b", 1, 7, "invalid control character \\x01"},
    {"a = 1\r", "b", 1, 6, "invalid control character \\x0d"},
    {"a = '\xff'\n", "b", 1, 6, "invalid UTF-8"},
    {"a = \"\\q\"\n", "b", 1, 6, "unknown escape"},
    {"a = \"\\u12\"\n", "b", 1, 6, "4 hexadecimal digits required"},
    {"a = \"\\ud800\"\n", "b", 1, 6, "no such character"},
};

static void test_toml__refuses_with_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct buf text = BUF_INIT;
        struct err err = {0};

        buf_add_string(&text, refused[i].text);
        assert_int_equal(toml_set(&text, refused[i].key, "7", &err), -1);
        if (strstr(err.text, refused[i].message) == NULL)
            fail_msg("\"%s\": %s", refused[i].text, err.text);
        if (err.line != refused[i].line || err.column != refused[i].column)
            fail_msg("\"%s\": %d:%d", refused[i].text, err.line, err.column);
        assert_int_equal(err.kind, ERR_FILE);
        assert_string_equal(buf_text(&text), refused[i].text);
        assert_int_equal(toml_set(&text, refused[i].key, "7", NULL), -1);
        buf_clear(&text);
    }
}

static void test_toml__depth_is_bounded(void **state)
{
    struct buf text = BUF_INIT;
    struct err err = {0};

    (void)state;
    buf_add_string(&text, "a = ");
    for (int i = 0; i < 100000; i++)
        buf_add_char(&text, '[');
    assert_int_equal(toml_set(&text, "b", "7", &err), -1);
    assert_non_null(strstr(err.text, "over 100 levels"));
    buf_clear(&text);
}

static void test_toml__texts(void **state)
{
    static const char text[] =
        "a\"\\\n\t\x01\x7f\xc3\xa9\xc2\x85\xe2\x80\xa8\xff";
    struct buf out = BUF_INIT;

    (void)state;
    toml_add_text(text, strlen(text), &out);
    buf_add_char(&out, ' ');
    toml_add_part("a-b_1", 5, &out);
    toml_add_part("", 0, &out);
    assert_string_equal(
        buf_text(&out),
        "\"a\\\"\\\\\\n\\t\\u0001\\u007f\xc3\xa9\\u0085\\u2028\xff\" "
        "a-b_1\"\"");
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toml__replaces_only_the_value),
        cmocka_unit_test(test_toml__finds_items),
        cmocka_unit_test(test_toml__adds_what_is_missing),
        cmocka_unit_test(test_toml__refuses_with_the_place),
        cmocka_unit_test(test_toml__depth_is_bounded),
        cmocka_unit_test(test_toml__texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
