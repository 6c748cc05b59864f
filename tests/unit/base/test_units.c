/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"

struct pair {
    const char *text;
    int64_t amount;
};

static void test_units__parse_duration(void **state)
{
    static const struct pair good[] = {
        {"90", 90000},      {"90s", 90000},
        {"500ms", 500},     {"10m", 600000},
        {"2h", 7200000},    {"28d", 2419200000},
        {"1h30m", 5400000}, {"1.5h", 5400000},
        {"0.25", 250},      {"1d2h3m4s5ms", 93784005},
        {"0", 0},           {".5s", 500},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t ms = -1;

        assert_int_equal(units_parse_duration(good[i].text, &ms), 0);
        assert_int_equal(ms, good[i].amount);
    }
}

static void test_units__parse_duration_refuses(void **state)
{
    static const char *const bad[] = {
        "",
        "s",
        "-5",
        "-5s",
        "5 s",
        "1h30",
        "30m1h",
        "1h1h",
        "5min",
        "1e3s",
        "inf",
        "nan",
        "0x10",
        "1..5",
        "999999d",
        "5hours",
        "1,5h",
        " 5s",
        "5s ",
        "5sx",
        "1h-30m",
        "99999999999999999999",
        "00000000000000000000000000000000000000001",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t ms = 7;

        if (units_parse_duration(bad[i], &ms) != -1)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(ms, 7);
    }
}

static void test_units__parse_bytes(void **state)
{
    static const struct pair good[] = {
        {"1536", 1536},     {"512K", 524288},
        {"1G", 1073741824}, {"1.5GiB", 1610612736},
        {"10MB", 10485760}, {"2t", 2199023255552},
        {"7B", 7},          {"8P", INT64_C(1) << 53},
    };
    static const char *const bad[] = {"",    "G",  "-1G", "1 G", "1GG",
                                      "1e3", "1X", "inf", "9P"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t bytes = -1;

        assert_int_equal(units_parse_bytes(good[i].text, &bytes), 0);
        assert_int_equal(bytes, good[i].amount);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t bytes = 7;

        if (units_parse_bytes(bad[i], &bytes) != -1)
            fail_msg("'%s' was taken", bad[i]);
    }
}

static void test_units__format_duration(void **state)
{
    static const struct pair cases[] = {
        {"0 ms", 0},           {"640 ms", 640},     {"1.0 s", 1000},
        {"12.3 s", 12349},     {"59.9 s", 59999},   {"1m 00s", 60000},
        {"4m 05s", 245999},    {"2h 03m", 7380000}, {"23h 59m", 86399999},
        {"3d 04h", 273600000},
    };
    char text[32];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        units_format_duration(cases[i].amount, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

static void test_units__format_bytes(void **state)
{
    static const struct pair cases[] = {
        {"0 B", 0},
        {"512 B", 512},
        {"1023 B", 1023},
        {"1.0 KiB", 1024},
        {"1.0 MiB", 1048575},
        {"1.5 GiB", 1610612736},
        {"8.0 EiB", INT64_MAX},
    };
    char text[32];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        units_format_bytes(cases[i].amount, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

static void test_units__are_appended(void **state)
{
    struct buf text = BUF_INIT;

    (void)state;
    units_add_bytes(512, &text);
    buf_add_string(&text, " in ");
    units_add_duration(1000, &text);
    assert_string_equal(buf_text(&text), "512 B in 1.0 s");
    buf_clear(&text);
}

static void test_clock__format_iso(void **state)
{
    char text[32];

    (void)state;
    clock_format_iso(1795255200123, text, sizeof(text));
    assert_string_equal(text, "2026-11-21T10:00:00.123Z");
    clock_format_iso(-1, text, sizeof(text));
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
}

static void test_clock__format_stamp(void **state)
{
    char text[32];

    (void)state;
    clock_format_stamp(1795255200123, text, sizeof(text));
    assert_string_equal(text, "20261121T100000Z");
}

static void test_clock__monotonic_does_not_go_back(void **state)
{
    int64_t before = clock_monotonic_ms();

    (void)state;
    assert_true(before > 0);
    assert_true(clock_monotonic_ms() >= before);
    assert_true(clock_wall_ms() > 1700000000000);
}

static void test_units__of_one_is_the_singular(void **state)
{
    static const struct {
        const char *plural;
        int64_t amount;
        const char *text;
    } cases[] = {
        {"epochs", 1, "epoch"},  {"epochs", 2, "epochs"},
        {"epochs", 0, "epochs"}, {"batches", 1, "batch"},
        {"passes", 1, "pass"},   {"boxes", 1, "box"},
        {"series", 1, "series"}, {"loss", 1, "loss"},
        {"s", 1, "s"},           {"", 1, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int length = units_length(cases[i].plural, cases[i].amount);

        assert_int_equal(length, strlen(cases[i].text));
        assert_memory_equal(cases[i].plural, cases[i].text, (size_t)length);
    }
}

static void test_units__nouns_agree_with_numbers(void **state)
{
    (void)state;
    assert_string_equal(units_plural(0), "s");
    assert_string_equal(units_plural(1), "");
    assert_string_equal(units_plural(2), "s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units__parse_duration),
        cmocka_unit_test(test_units__parse_duration_refuses),
        cmocka_unit_test(test_units__parse_bytes),
        cmocka_unit_test(test_units__format_duration),
        cmocka_unit_test(test_units__format_bytes),
        cmocka_unit_test(test_units__are_appended),
        cmocka_unit_test(test_units__of_one_is_the_singular),
        cmocka_unit_test(test_units__nouns_agree_with_numbers),
        cmocka_unit_test(test_clock__format_iso),
        cmocka_unit_test(test_clock__format_stamp),
        cmocka_unit_test(test_clock__monotonic_does_not_go_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
