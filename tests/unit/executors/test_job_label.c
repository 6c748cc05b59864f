/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/folder.h"

#include "executors/job_label.h"

static const struct job_label_values values = {"nightly", "train", "train[3]"};

static void check(const char *pattern, size_t max, const char *wanted)
{
    struct job_label *label = job_label_create(pattern, NULL);
    struct buf out = BUF_INIT;

    assert_non_null(label);
    job_label_print(label, &values, max, &out);
    assert_string_equal(buf_text(&out), wanted);
    buf_clear(&out);
    job_label_destroy(label);
}

static void test_job_label__is_a_pattern(void **state)
{
    (void)state;
    check("", 99, "");
    check("${{ run }}.${{ job }}", 99, "nightly.train[3]");
    check("${{ upper(step) }}-x", 99, "TRAIN-x");
    check("a\tb", 99, "a_b");
    check("${{ null }}", 99, "");
}

static void test_job_label__is_cut_between_characters(void **state)
{
    (void)state;
    check("\xc3\xa4\xc3\xb6", 4, "\xc3\xa4\xc3\xb6");
    check("\xc3\xa4\xc3\xb6", 3, "\xc3\xa4");
    check("\xc3\xa4\xc3\xb6", 2, "\xc3\xa4");
    check("\xc3\xa4\xc3\xb6", 1, "");
}

static void test_job_label__knows_its_names(void **state)
{
    struct err err;

    (void)state;
    assert_null(job_label_create("x ${{ stp }}", &err));
    assert_non_null(strstr(err.text, "did you mean 'step'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_label__is_a_pattern),
        cmocka_unit_test(test_job_label__is_cut_between_characters),
        cmocka_unit_test(test_job_label__knows_its_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
