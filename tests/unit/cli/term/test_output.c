/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "cli/term/output.h"

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"value", "val_error", COLUMN_NUMBER, NULL},
    {"lr", NULL, COLUMN_NUMBER, "params"},
    {"note", NULL, COLUMN_TEXT, "params"},
    {"took_ms", "took", COLUMN_DURATION, NULL},
};

enum { COLUMNS = ARRAY_LEN(columns) };

static void row(struct value *cells, int64_t id, double value, const char *note)
{
    cells[0] = value_int(id);
    cells[1] = value_text(id % 2 == 0 ? "failed" : "succeeded");
    cells[2] = value_real(value);
    cells[3] = id == 2 ? value_null() : value_real(0.1);
    cells[4] = note != NULL ? value_text(note) : value_null();
    cells[5] = value_int(1234 * id);
}

/* stdout goes to a file while one is here. */
struct capture {
    int saved;
    FILE *file;
    char text[1 << 18];
};

static void capture_start(struct capture *capture)
{
    fflush(stdout);
    capture->saved = dup(STDOUT_FILENO);
    capture->file = tmpfile();
    assert_non_null(capture->file);
    dup2(fileno(capture->file), STDOUT_FILENO);
}

static void capture_end(struct capture *capture)
{
    size_t length;

    fflush(stdout);
    dup2(capture->saved, STDOUT_FILENO);
    close(capture->saved);
    rewind(capture->file);
    length = fread(capture->text, 1, sizeof(capture->text) - 1, capture->file);
    capture->text[length] = '\0';
    fclose(capture->file);
}

static struct capture capture;

static const char *three_rows(const struct cli *cli)
{
    struct value cells[COLUMNS];
    struct output *output;

    capture_start(&capture);
    output = output_create(cli, columns, COLUMNS);
    row(cells, 1, 0.1 + 0.2, "plain");
    assert_int_equal(output_row(output, cells, NULL), 0);
    row(cells, 2, (double)NAN, NULL);
    assert_int_equal(output_row(output, cells, NULL), 0);
    row(cells, 31, -(double)INFINITY, "a \"b\",\n\033[31mc");
    assert_int_equal(output_row(output, cells, NULL), 0);
    assert_int_equal(output_finish(output, NULL), 0);
    capture_end(&capture);
    return capture.text;
}

static void test_output__aligns_a_table(void **state)
{
    struct cli cli = {.output = OUTPUT_TABLE};

    (void)state;
    assert_string_equal(
        three_rows(&cli),
        "id  state      val_error   lr  note                   took\n"
        " 1  succeeded        0.3  0.1  plain                 1.2 s\n"
        " 2  failed           nan    -  -                     2.4 s\n"
        "31  succeeded       -inf  0.1  a \"b\",\\x0a\\x1b[31mc  38.2 s\n");
}

static void test_output__writes_json_that_is_valid(void **state)
{
    struct cli cli = {.output = OUTPUT_JSON};

    (void)state;
    assert_string_equal(
        three_rows(&cli),
        "[\n"
        "{\"id\":1,\"state\":\"succeeded\",\"value\":0.30000000000000004,"
        "\"params\":{\"lr\":0.1,\"note\":\"plain\"},\"took_ms\":1234},\n"
        "{\"id\":2,\"state\":\"failed\",\"value\":\"nan\","
        "\"params\":{\"lr\":null,\"note\":null},\"took_ms\":2468},\n"
        "{\"id\":31,\"state\":\"succeeded\",\"value\":\"-inf\",\"params\":{"
        "\"lr\":"
        "0.1,\"note\":\"a \\\"b\\\",\\n\\u001B[31mc\"},\"took_ms\":38254}\n"
        "]\n");
}

static void test_output__writes_a_json_line_a_row(void **state)
{
    struct cli cli = {.output = OUTPUT_JSONL};
    const char *text = three_rows(&cli);
    int lines = 0;

    (void)state;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 3);
    assert_memory_equal(text, "{\"id\":1,", 8);
}

static void test_output__quotes_csv(void **state)
{
    struct cli cli = {.output = OUTPUT_CSV};

    (void)state;
    assert_string_equal(three_rows(&cli),
                        "id,state,value,lr,note,took_ms\n"
                        "1,succeeded,0.30000000000000004,0.1,plain,1234\n"
                        "2,failed,nan,,,2468\n"
                        "31,succeeded,-inf,0.1,\"a \"\"b\"\",\n\033[31mc\","
                        "38254\n");
}

/* As a text of a trial, and as the name of a metric. */
static void test_output__no_csv_is_a_formula(void **state)
{
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"=1+1", "'=1+1"},
        {"+1+1", "'+1+1"},
        {"-1-1", "'-1-1"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\t=1", "'\t=1"},
        {"\r=1", "\"'\r=1\""},
        {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
        {"=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""},
        {"'=1", "''=1"},
        {"''-x", "'''-x"},
        {"-inf", "'-inf"},
        {"-0x1p3", "'-0x1p3"},
        {"-", "'-"},
        {"--", "'--"},
        {"-1e", "'-1e"},
        {"-0.5", "-0.5"},
        {"+1e-3", "+1e-3"},
        {"-.5", "-.5"},
        {"'x'", "'x'"},
        {"'", "'"},
        {"1-1", "1-1"},
        {"a=1", "a=1"},
        {" =1", " =1"},
    };
    static const struct table_column text = {"=x", NULL, COLUMN_TEXT, NULL};
    struct cli cli = {.output = OUTPUT_CSV};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value cell = value_text(cases[i].text);
        struct output *output;
        char expected[128];

        capture_start(&capture);
        output = output_create(&cli, &text, 1);
        output_row(output, &cell, NULL);
        output_finish(output, NULL);
        capture_end(&capture);
        snprintf(expected, sizeof(expected), "'=x\n%s\n", cases[i].field);
        assert_string_equal(capture.text, expected);
    }
}

static void test_output__tells_equal_keys_apart_in_csv(void **state)
{
    static const struct table_column same[] = {
        {"state", NULL, COLUMN_STATE, NULL},
        {"state", NULL, COLUMN_TEXT, "params"},
    };
    struct cli cli = {.output = OUTPUT_CSV};
    struct value cells[] = {value_text("failed"), value_text("")};
    struct output *output;

    (void)state;
    capture_start(&capture);
    output = output_create(&cli, same, 2);
    output_row(output, cells, NULL);
    output_finish(output, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text, "state,params.state\nfailed,\"\"\n");
}

static void test_output__cuts_on_a_terminal_only(void **state)
{
    static const char wide[] = "\u65e5\u672c\u8a9e \u00e9t\u00e9 and so on";
    struct cli cli = {.output = OUTPUT_TABLE, .out_is_terminal = true};
    struct value cells[COLUMNS];
    struct output *output;

    (void)state;
    setenv("COLUMNS", "50", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    capture_start(&capture);
    output = output_create(&cli, columns, COLUMNS);
    row(cells, 1, 0.125, wide);
    output_row(output, cells, NULL);
    output_finish(output, NULL);
    capture_end(&capture);
    unsetenv("COLUMNS");
    assert_string_equal(capture.text,
                        "id  state      val_error   lr  note           took\n"
                        " 1  succeeded      0.125  0.1  \u65e5\u672c\u8a9e "
                        "\u00e9t\u00e9 \u2026  1.2 s\n");
}

static void test_output__colours_states_and_keeps_their_words(void **state)
{
    static const struct table_column one[] = {
        {"state", NULL, COLUMN_STATE, NULL}};
    struct cli cli = {.output = OUTPUT_TABLE, .colour_out = true};
    struct value cell = value_text("failed");
    struct output *output;

    (void)state;
    capture_start(&capture);
    output = output_create(&cli, one, 1);
    output_row(output, &cell, NULL);
    output_finish(output, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text,
                        "\033[1mstate\033[0m\n\033[31mfailed\033[0m\n");
}

static void test_output__starts_before_the_last_row(void **state)
{
    struct cli cli = {.output = OUTPUT_TABLE};
    struct value cells[COLUMNS];
    struct output *output;
    off_t early;

    (void)state;
    capture_start(&capture);
    output = output_create(&cli, columns, COLUMNS);
    for (int64_t i = 1; i <= 200; i++) {
        row(cells, i, (double)i, "x");
        output_row(output, cells, NULL);
    }
    early = lseek(STDOUT_FILENO, 0, SEEK_END);
    row(cells, 1000000, 1.0, "wider than the column was");
    output_row(output, cells, NULL);
    output_finish(output, NULL);
    capture_end(&capture);
    assert_true(early > 200 * 20);
    assert_non_null(strstr(capture.text, "\n1000000  failed"));
    assert_non_null(strstr(capture.text, "wider than the column was"));
}

static void test_output__empty_is_still_valid(void **state)
{
    static const struct {
        enum output_format format;
        const char *text;
    } cases[] = {
        {OUTPUT_JSON, "[]\n"},
        {OUTPUT_JSONL, ""},
        {OUTPUT_CSV, "id,state,value,lr,note,took_ms\n"},
        {OUTPUT_TABLE, "id  state  val_error  lr  note  took\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cli cli = {.output = cases[i].format};

        capture_start(&capture);
        output_finish(output_create(&cli, columns, COLUMNS), NULL);
        capture_end(&capture);
        assert_string_equal(capture.text, cases[i].text);
    }
}

static void test_output__times_are_local_for_people(void **state)
{
    static const struct table_column times[] = {
        {"started", NULL, COLUMN_TIME, NULL},
        {"ended", NULL, COLUMN_TIME, NULL},
        {"memory", NULL, COLUMN_BYTES, NULL},
    };
    struct value cells[] = {value_int(1795255200123), value_int(0),
                            value_int(1536)};
    struct cli cli = {.output = OUTPUT_TABLE};

    (void)state;
    setenv("TZ", "UTC-2", 1);
    tzset();
    capture_start(&capture);
    output_object(&cli, times, cells, 3, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text, "started:  2026-11-21 12:00:00\n"
                                      "ended:    -\n"
                                      "memory:   1.5 KiB\n");
    cli.output = OUTPUT_JSON;
    capture_start(&capture);
    output_object(&cli, times, cells, 3, NULL);
    capture_end(&capture);
    assert_non_null(strstr(capture.text, "\"2026-11-21T10:00:00.123Z\""));
    assert_non_null(strstr(capture.text, "\"ended\": null"));
    assert_non_null(strstr(capture.text, "\"memory\": 1536"));
}

static void test_output__groups_an_object(void **state)
{
    struct cli cli = {.output = OUTPUT_TABLE};
    struct value cells[COLUMNS];

    (void)state;
    row(cells, 1, 0.125, "x");
    capture_start(&capture);
    output_object(&cli, columns, cells, COLUMNS, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text, "id:         1\n"
                                      "state:      succeeded\n"
                                      "val_error:  0.125\n"
                                      "params:\n"
                                      "  lr:       0.1\n"
                                      "  note:     x\n"
                                      "took:       1.2 s\n");
}

static void test_output__a_list_has_no_keys(void **state)
{
    static const struct table_column pair[] = {
        {"loss", NULL, COLUMN_NUMBER, "values[]"},
        {"size", NULL, COLUMN_NUMBER, "values[]"},
    };
    static const struct table_column shared[] = {
        {"loss", NULL, COLUMN_NUMBER, "values[]"},
        {"loss", NULL, COLUMN_NUMBER, "outcomes"},
    };
    const struct value cells[] = {value_real(0.5), value_null()};
    struct cli cli = {.output = OUTPUT_TABLE};

    (void)state;
    capture_start(&capture);
    output_object(&cli, pair, cells, 2, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text, "values:\n  loss:  0.5\n  size:  -\n");
    cli.output = OUTPUT_JSONL;
    capture_start(&capture);
    output_object(&cli, pair, cells, 2, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text, "{\"values\":[0.5,null]}\n");
    cli.output = OUTPUT_CSV;
    capture_start(&capture);
    output_object(&cli, shared, cells, 2, NULL);
    capture_end(&capture);
    assert_string_equal(capture.text, "values.loss,outcomes.loss\n0.5,\n");
}

static void test_output__a_closed_pipe_is_an_error_without_words(void **state)
{
    struct cli cli = {.output = OUTPUT_JSONL};
    struct err err = {.text = "old"};
    struct value cells[COLUMNS];
    struct output *output;
    int ends[2], saved, result = 0;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    output = output_create(&cli, columns, COLUMNS);
    row(cells, 1, 1.0, "x");
    for (int i = 0; i < 1000 && result == 0; i++)
        result = output_row(output, cells, &err);
    output_destroy(output);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    clearerr(stdout);
    assert_int_equal(result, -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(err.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output__aligns_a_table),
        cmocka_unit_test(test_output__writes_json_that_is_valid),
        cmocka_unit_test(test_output__writes_a_json_line_a_row),
        cmocka_unit_test(test_output__quotes_csv),
        cmocka_unit_test(test_output__no_csv_is_a_formula),
        cmocka_unit_test(test_output__tells_equal_keys_apart_in_csv),
        cmocka_unit_test(test_output__cuts_on_a_terminal_only),
        cmocka_unit_test(test_output__colours_states_and_keeps_their_words),
        cmocka_unit_test(test_output__starts_before_the_last_row),
        cmocka_unit_test(test_output__empty_is_still_valid),
        cmocka_unit_test(test_output__times_are_local_for_people),
        cmocka_unit_test(test_output__groups_an_object),
        cmocka_unit_test(test_output__a_list_has_no_keys),
        cmocka_unit_test(test_output__a_closed_pipe_is_an_error_without_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
