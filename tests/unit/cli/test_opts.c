/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "cli/opts.h"

struct own {
    bool follow, all, hidden;
    const char *name;
    int64_t limit;
    struct opt_duration wait, age;
    struct opt_texts set;
    const char *state;
};

struct common {
    bool quiet;
    const char *store;
};

static const char *const states[] = {"succeeded", "failed", "stopped", NULL};

static const struct opt own_opts[] = {
    {"follow", 'f', OPT_FLAG, offsetof(struct own, follow), NULL, "", 0, NULL},
    {"all", 'a', OPT_FLAG, offsetof(struct own, all), NULL, "", 0, NULL},
    {"name", 'n', OPT_TEXT, offsetof(struct own, name), "NAME", "", 0, NULL},
    {"limit", 'l', OPT_INT, offsetof(struct own, limit), "N", "", 1, NULL},
    {"wait", 'w', OPT_DURATION, offsetof(struct own, wait), "TIME", "", 0,
     NULL},
    {"age", 0, OPT_DURATION, offsetof(struct own, age), "TIME", "", 1000, NULL},
    {"set", 0, OPT_TEXTS, offsetof(struct own, set), "K=V", "", 0, NULL},
    {"state", 0, OPT_CHOICE, offsetof(struct own, state), "STATE", "", 0,
     states},
    {"hidden", 0, OPT_FLAG, offsetof(struct own, hidden), NULL, NULL, 0, NULL},
    {.name = NULL},
};

static const struct opt common_opts[] = {
    {"quiet", 'q', OPT_FLAG, offsetof(struct common, quiet), NULL, "", 0, NULL},
    {"store", 0, OPT_TEXT, offsetof(struct common, store), "DIR", "", 0, NULL},
    {.name = NULL},
};

enum { WORDS_MAX = 16 };

struct parsed {
    struct own own;
    struct common common;
    char text[256]; /* the words, which argv points into */
    char *argv[WORDS_MAX];
    int count;
    struct err err;
};

/* Parses the words of `line`, which one space separates. */
static struct parsed *parse(const char *line)
{
    static struct parsed parsed;
    char *at = parsed.text;
    int argc = 0;

    opts_clear(own_opts, &parsed.own);
    memset(&parsed, 0, sizeof(parsed));
    memcpy(parsed.text, line, strlen(line) + 1);
    while (at != NULL && *at != '\0' && argc < WORDS_MAX)
        parsed.argv[argc++] = strsep(&at, " ");
    parsed.count = opts_parse(own_opts, &parsed.own, common_opts,
                              &parsed.common, argc, parsed.argv, &parsed.err);
    return &parsed;
}

static void assert_refused(const char *line, const char *text)
{
    struct parsed *parsed = parse(line);

    assert_int_equal(parsed->count, -1);
    assert_int_equal(parsed->err.kind, ERR_USAGE);
    assert_string_equal(parsed->err.text, text);
    opts_clear(own_opts, &parsed->own);
}

static void test_opts__takes_values_in_every_form(void **state)
{
    static const char *const lines[] = {
        "--name best --limit 7", "--name=best --limit=7",
        "-n best -l 7",          "-nbest -l7",
        "-fnbest -fl7",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct parsed *parsed = parse(lines[i]);

        assert_int_equal(parsed->count, 0);
        assert_string_equal(parsed->own.name, "best");
        assert_int_equal(parsed->own.limit, 7);
    }
}

static void test_opts__mixes_options_and_operands(void **state)
{
    struct parsed *parsed = parse("one -f two --store=x - -q three");

    (void)state;
    assert_int_equal(parsed->count, 4);
    assert_string_equal(parsed->argv[0], "one");
    assert_string_equal(parsed->argv[1], "two");
    assert_string_equal(parsed->argv[2], "-");
    assert_string_equal(parsed->argv[3], "three");
    assert_true(parsed->own.follow);
    assert_false(parsed->own.all);
    assert_true(parsed->common.quiet);
    assert_string_equal(parsed->common.store, "x");
}

static void test_opts__two_dashes_end_options(void **state)
{
    struct parsed *parsed = parse("-f -- --name -q");

    (void)state;
    assert_int_equal(parsed->count, 2);
    assert_string_equal(parsed->argv[0], "--name");
    assert_string_equal(parsed->argv[1], "-q");
    assert_null(parsed->own.name);
    assert_false(parsed->common.quiet);
}

static void test_opts__a_list_keeps_its_order(void **state)
{
    struct parsed *parsed = parse("--set a=1 x --set=b=2 --set c=-3");

    (void)state;
    assert_int_equal(parsed->count, 1);
    assert_int_equal(parsed->own.set.count, 3);
    assert_string_equal(parsed->own.set.items[0], "a=1");
    assert_string_equal(parsed->own.set.items[1], "b=2");
    assert_string_equal(parsed->own.set.items[2], "c=-3");
    opts_clear(own_opts, &parsed->own);
    assert_int_equal(parsed->own.set.count, 0);
}

static void test_opts__a_value_may_look_like_an_option(void **state)
{
    struct parsed *parsed = parse("--name --all -l 3");

    (void)state;
    assert_int_equal(parsed->count, 0);
    assert_string_equal(parsed->own.name, "--all");
    assert_false(parsed->own.all);
}

static void test_opts__names_the_nearest(void **state)
{
    (void)state;
    assert_refused("--folow",
                   "unknown option '--folow' (did you mean '--follow'?)");
    assert_refused("--stroe=x",
                   "unknown option '--stroe' (did you mean '--store'?)");
    assert_refused("--zzzzz",
                   "unknown option '--zzzzz' (--help lists all options)");
    assert_refused("--foll",
                   "unknown option '--foll' (--help lists all options)");
    assert_refused("--hiden",
                   "unknown option '--hiden' (--help lists all options)");
    assert_refused("-fz", "unknown option '-z'");
    assert_refused("-5", "unknown option '-5'");
}

static void test_opts__refuses_bad_values(void **state)
{
    (void)state;
    assert_refused("--name", "option '--name': missing value (NAME)");
    assert_refused("-n", "option '--name': missing value (NAME)");
    assert_refused("--follow=yes",
                   "option '--follow' takes no value, got 'yes'");
    assert_refused("--limit 0",
                   "option '--limit': expected a whole number of at "
                   "least 1, got '0'");
    assert_refused("--limit 3x",
                   "option '--limit': expected a whole number of at "
                   "least 1, got '3x'");
    assert_refused("--limit=",
                   "option '--limit': expected a whole number of at "
                   "least 1, got ''");
    assert_refused(
        "-l99999999999999999999",
        "option '--limit': out of range: expected a whole number of at most "
        "9007199254740992, got '99999999999999999999'");
    assert_refused(
        "-l9007199254740993",
        "option '--limit': out of range: expected a whole number of at most "
        "9007199254740992, got '9007199254740993'");
    assert_refused("--wait soon",
                   "option '--wait': expected a duration such as "
                   "90s, 10m or 2h, got 'soon'");
    assert_refused("--age 0", "option '--age': expected a duration of at least "
                              "1.0 s such as 90s, 10m or 2h, got '0'");
    assert_refused("--state faild",
                   "option '--state': unknown value 'faild': expected one of "
                   "succeeded, failed, stopped (did you mean 'failed'?)");
    assert_refused("--state x",
                   "option '--state': unknown value 'x': expected one of "
                   "succeeded, failed, stopped");
}

static void test_opts__leading_ones_end_at_the_first_operand(void **state)
{
    struct common common = {0};
    char quiet[] = "-q", store[] = "--store", x[] = "x", ls[] = "ls",
         all[] = "--all", end[] = "--";
    struct err err;
    char *argv[] = {quiet, store, x, ls, all};

    (void)state;
    assert_int_equal(opts_parse_leading(common_opts, &common, 5, argv, NULL),
                     3);
    assert_true(common.quiet);
    assert_string_equal(common.store, "x");
    assert_int_equal(opts_parse_leading(common_opts, &common, 3, argv, NULL),
                     3);
    assert_int_equal(opts_parse_leading(common_opts, &common, 2, argv, NULL),
                     -1);
    argv[2] = end;
    assert_int_equal(
        opts_parse_leading(common_opts, &common, 5, argv + 2, NULL), 1);
    assert_int_equal(
        opts_parse_leading(common_opts, &common, 1, argv + 4, &err), -1);
    assert_string_equal(err.text,
                        "unknown option '--all' (--help lists all options)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opts__takes_values_in_every_form),
        cmocka_unit_test(test_opts__mixes_options_and_operands),
        cmocka_unit_test(test_opts__two_dashes_end_options),
        cmocka_unit_test(test_opts__a_list_keeps_its_order),
        cmocka_unit_test(test_opts__a_value_may_look_like_an_option),
        cmocka_unit_test(test_opts__names_the_nearest),
        cmocka_unit_test(test_opts__refuses_bad_values),
        cmocka_unit_test(test_opts__leading_ones_end_at_the_first_operand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
