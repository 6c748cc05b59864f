/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/util/flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

struct options {
    bool quiet;
    int64_t width;
    double rate;
    const char *path;
    int colour;
};

static const char *const colours[] = {"red", "green", NULL};

static const struct flag model_flags[] = {
    {.name = "width",
     .type = FLAG_INT,
     .offset = offsetof(struct options, width),
     .argument = "N",
     .initial = "3",
     .doc = "how wide",
     .min = 1,
     .max = 10,
     .kept = true},
    {.name = "rate",
     .type = FLAG_REAL,
     .offset = offsetof(struct options, rate),
     .argument = "X",
     .initial = "0.1",
     .doc = "how fast",
     .min = 0,
     .max = 1,
     .environment = "TEST_FLAGS_RATE",
     .kept = true,
     .adaptable = true},
    {.name = NULL},
};

static const struct flag other_flags[] = {
    {.name = "colour",
     .type = FLAG_CHOICE,
     .offset = offsetof(struct options, colour),
     .argument = "NAME",
     .initial = "green",
     .doc = "red or green",
     .choices = colours,
     .kept = true},
    {.name = "path",
     .type = FLAG_TEXT,
     .offset = offsetof(struct options, path),
     .argument = "FILE",
     .doc = "where"},
    {.name = "quiet",
     .type = FLAG_SWITCH,
     .offset = offsetof(struct options, quiet),
     .doc = "say nothing"},
    {.name = NULL},
};

enum { MAX_WORDS = 8 };

/* Parses NULL-ended words into the options, from their defaults. */
static int parse(struct options *options, const char *const *words,
                 struct err *err)
{
    const struct flag_set sets[] = {{model_flags, options, NULL},
                                    {other_flags, options, NULL}};
    char copies[MAX_WORDS][64];
    char *argv[MAX_WORDS];
    int argc = 0;

    for (; words[argc] != NULL; argc++) {
        assert_true(argc < MAX_WORDS && strlen(words[argc]) < 64);
        argv[argc] = memcpy(copies[argc], words[argc], strlen(words[argc]) + 1);
    }
    flags_reset(sets, 2);
    return flags_parse(sets, 2, argc, argv, err);
}

static void test_flags__have_defaults(void **state)
{
    struct options options = {.quiet = true, .path = "x"};

    (void)state;
    assert_int_equal(parse(&options, (const char *[]){NULL}, NULL), 0);
    assert_false(options.quiet);
    assert_int_equal(options.width, 3);
    assert_true(options.rate > 0.0999 && options.rate < 0.1001);
    assert_null(options.path);
    assert_int_equal(options.colour, 1);
}

static void test_flags__reads_both_ways_to_write_a_value(void **state)
{
    static const char *const words[] = {"--width",   "10",       "--rate=1",
                                        "--quiet",   "--colour", "red",
                                        "--width=4", NULL};
    struct options options;

    (void)state;
    assert_int_equal(parse(&options, words, NULL), 0);
    assert_true(options.quiet);
    assert_int_equal(options.width, 4);
    assert_true(options.rate >= 1);
    assert_int_equal(options.colour, 0);
}

static void test_flags__says_what_is_wrong(void **state)
{
    static const struct {
        const char *words[3];
        const char *why;
    } cases[] = {
        {{"--widht=3"}, "unknown flag '--widht'; did you mean '--width'?"},
        {{"--zzzzzzzz"}, "unknown flag '--zzzzzzzz'; --help lists all flags"},
        {{"width"}, "'width' is not a flag"},
        {{"--"}, "'--' is not a flag"},
        {{"--=3"}, "'--=3' is not a flag"},
        {{"-w"}, "'-w' is not a flag"},
        {{"--width"}, "--width: missing value (N)"},
        {{"--width", "3.5"}, "--width: expected a whole number, got '3.5'"},
        {{"--width", ""}, "--width: expected a whole number, got ''"},
        {{"--width", "99999999999999999999"}, "expected a whole number"},
        {{"--width", "0"}, "--width: 0 is out of range 1..10"},
        {{"--width=11"}, "--width: 11 is out of range 1..10"},
        {{"--rate", "x"}, "--rate: expected a finite number, got 'x'"},
        {{"--rate", "nan"}, "--rate: expected a finite number, got 'nan'"},
        {{"--rate", "-1"}, "--rate: -1 is out of range 0..1"},
        {{"--colour", "gren"}, "value 'gren'; did you mean 'green'?"},
        {{"--colour", "purple"}, "value 'purple'; expected one of red, green"},
        {{"--quiet=1"}, "--quiet takes no value"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct options options;
        struct err err;

        assert_int_equal(parse(&options, cases[i].words, &err), -1);
        assert_int_equal(err.kind, ERR_USAGE);
        if (strstr(err.text, cases[i].why) == NULL)
            fail_msg("'%s' does not say '%s'", err.text, cases[i].why);
    }
}

static void test_flags__kept_ones_survive_a_round_trip(void **state)
{
    static const char *const words[] = {"--width", "7", "--rate",
                                        "0.123456789012345678", NULL};
    struct options options, again;
    const struct flag_set sets[] = {{model_flags, &options, NULL},
                                    {other_flags, &options, NULL}};
    const struct flag_set others[] = {{model_flags, &again, NULL},
                                      {other_flags, &again, NULL}};
    struct buf kept = BUF_INIT;
    struct err err;

    (void)state;
    assert_int_equal(parse(&options, words, NULL), 0);
    buf_add_string(&kept, "model=x\n");
    flags_print_kept(sets, 2, &kept);
    assert_string_equal(
        buf_text(&kept),
        "model=x\nwidth=7\nrate=0.12345678901234568\ncolour=green\n");
    assert_int_equal(
        parse(&again, (const char *[]){"--quiet", "--colour=red", NULL}, NULL),
        0);
    assert_int_equal(flags_restore_kept(others, 2, buf_text(&kept), &err), 0);
    assert_int_equal(again.width, 7);
    assert_memory_equal(&again.rate, &options.rate, sizeof(double));
    assert_int_equal(again.colour, 1);
    assert_true(again.quiet);
    buf_truncate(&kept, 0);
    flags_print_fixed(sets, 2, &kept);
    assert_string_equal(buf_text(&kept), "width=7\ncolour=green\n");
    buf_clear(&kept);
}

static void test_flags__have_other_defaults_in_another_set(void **state)
{
    static const struct flag_default others[] = {
        {"rate", "0.75"}, {"colour", "red"}, {NULL, NULL}};
    struct options options;
    const struct flag_set sets[] = {{model_flags, &options, others},
                                    {other_flags, &options, NULL}};
    struct buf help = BUF_INIT;

    (void)state;
    flags_reset(sets, 2);
    assert_int_equal(options.width, 3);
    assert_memory_equal(&options.rate, &(double){0.75}, sizeof(double));
    assert_int_equal(options.colour, 1);
    flags_print_help(sets, 2, &help);
    assert_non_null(strstr(buf_text(&help), "($TEST_FLAGS_RATE) (0.75)\n"));
    assert_non_null(strstr(buf_text(&help), "red or green (green)\n"));
    buf_clear(&help);
}

static void test_flags__have_another_default_where_none_is_given(void **state)
{
    char one[] = "--rate", other[] = "0.5", *argv[] = {one, other};
    struct options options;
    const struct flag_set set = {model_flags, &options, NULL};
    struct err err;

    (void)state;
    flags_reset(&set, 1);
    assert_int_equal(flags_parse(&set, 1, 2, argv, NULL), 0);
    assert_int_equal(flags_default(&set, "rate", "0.25", 2, argv, NULL), 0);
    assert_memory_equal(&options.rate, &(double){0.5}, sizeof(double));
    assert_int_equal(flags_default(&set, "width", "7", 2, argv, NULL), 0);
    assert_int_equal(options.width, 7);
    assert_int_equal(flags_default(&set, "width", "11", 2, argv, &err), -1);
    assert_string_equal(err.text, "--width: 11 is out of range 1..10");
}

static void test_flags__are_taken_from_the_environment(void **state)
{
    struct options options;
    struct err err;

    (void)state;
    setenv("TEST_FLAGS_RATE", "0.75", 1);
    assert_int_equal(parse(&options, (const char *[]){NULL}, NULL), 0);
    assert_memory_equal(&options.rate, &(double){0.75}, sizeof(double));
    assert_int_equal(
        parse(&options, (const char *[]){"--rate=0.5", NULL}, NULL), 0);
    assert_memory_equal(&options.rate, &(double){0.5}, sizeof(double));
    setenv("TEST_FLAGS_RATE", "7", 1);
    assert_int_equal(
        parse(&options, (const char *[]){"--rate", "0.5", NULL}, NULL), 0);
    assert_int_equal(
        parse(&options, (const char *[]){"--colour=red", NULL}, &err), -1);
    assert_string_equal(err.text,
                        "$TEST_FLAGS_RATE: --rate: 7 is out of range 0..1");
    setenv("TEST_FLAGS_RATE", "", 1);
    assert_int_equal(parse(&options, (const char *[]){NULL}, NULL), 0);
    unsetenv("TEST_FLAGS_RATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags__have_defaults),
        cmocka_unit_test(test_flags__reads_both_ways_to_write_a_value),
        cmocka_unit_test(test_flags__says_what_is_wrong),
        cmocka_unit_test(test_flags__kept_ones_survive_a_round_trip),
        cmocka_unit_test(test_flags__have_another_default_where_none_is_given),
        cmocka_unit_test(test_flags__have_other_defaults_in_another_set),
        cmocka_unit_test(test_flags__are_taken_from_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
