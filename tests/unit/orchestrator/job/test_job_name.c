/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "orchestrator/job/job_name.h"

static const struct {
    const char *operand, *step;
    int64_t number, copy, round;
} names[] = {
    {"train", "train", 0, -1, 0},
    {"train[0]", "train", 0, 0, 0},
    {"train[12]", "train", 0, 12, 0},
    {"grow#1", "grow", 0, -1, 1},
    {"a-b.c_d[3]#2", "a-b.c_d", 0, 3, 2},
    {"7", NULL, 7, -1, 0},
    {"7th", "7th", 0, -1, 0},
    {"7#7", "7", 0, -1, 7},
    {"9223372036854775807", NULL, INT64_MAX, -1, 0},
};

static void test_job_name__reads_what_people_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct job_name name;

        assert_int_equal(job_name_parse(names[i].operand, &name, NULL), 0);
        assert_int_equal(name.number, names[i].number);
        assert_int_equal(name.copy, names[i].copy);
        assert_int_equal(name.round, names[i].round);
        if (names[i].step == NULL) {
            assert_null(name.step);
            continue;
        }
        assert_int_equal(name.step_length, strlen(names[i].step));
        assert_memory_equal(name.step, names[i].step, name.step_length);
    }
}

static void test_job_name__prints_what_it_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct buf text = BUF_INIT;

        if (names[i].step == NULL)
            continue;
        job_name_print(names[i].step, names[i].copy, names[i].round, &text);
        assert_string_equal(buf_text(&text), names[i].operand);
        buf_clear(&text);
    }
}

static void test_job_name__refuses_the_rest(void **state)
{
    static const char *const others[] = {"",
                                         "0",
                                         "-1",
                                         "[3]",
                                         "#2",
                                         "[]",
                                         "#",
                                         "train[",
                                         "train]",
                                         "train[]",
                                         "train[-1]",
                                         "train[ 1]",
                                         "train[+1]",
                                         "train[x",
                                         "train[1]x",
                                         "train[1]]",
                                         "train#0",
                                         "train#",
                                         "train#2[3]",
                                         "train##2",
                                         "train[[1]",
                                         "tr ain",
                                         "train#1.5",
                                         "train[1][2]",
                                         "a/b",
                                         "train[1",
                                         "train[99999999999999999999]",
                                         "train#99999999999999999999",
                                         "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct job_name name;
        struct err err = {0};

        print_message("'%s'\n", others[i]);
        assert_int_equal(job_name_parse(others[i], &name, &err), -1);
        assert_int_equal(err.kind, ERR_USAGE);
        assert_non_null(strstr(err.text, others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_name__reads_what_people_write),
        cmocka_unit_test(test_job_name__prints_what_it_reads),
        cmocka_unit_test(test_job_name__refuses_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
