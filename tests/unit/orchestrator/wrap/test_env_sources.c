/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/wrap/env_sources.h"

#include "tests/unit/folder.h"

#include "base/buf.h"

#define OWN(text) ((char[]){text})

/* What the task has of a file and of these variables, as "A=1|B=2", or the
 * message. */
static void check(const char *folder, const char *file, const char *expected)
{
    char *const environment[] = {OWN("HOME=/h"), OWN("TOKEN=t=1"), NULL};
    const char *names[] = {"TOKEN"};
    char *path = fs_join(folder, "run.env");
    const struct job_spec task = {
        .env_from = names, .env_from_count = 1, .env_file = path};
    struct word_list list = {0};
    struct buf said = BUF_INIT;
    struct err err;
    int result;

    put(folder, ".", "run.env", file);
    result = env_sources_read(&task, environment, &list, &err);
    for (size_t i = 0; i < list.count && result == 0; i++)
        buf_printf(&said, "%s%s", i > 0 ? "|" : "", list.items[i]);
    if (result != 0)
        buf_add_string(&said, err.text + strlen("env_file '") + strlen(path));
    assert_string_equal(buf_text(&said), expected);
    buf_clear(&said);
    words_free(list.items);
    free(path);
}

static void test_env_sources__files(void **state)
{
    static const char *const cases[][2] = {
        {"", "TOKEN=t=1"},
        {"A=1", "A=1|TOKEN=t=1"},
        {"A=1\nA=2\n", "A=1|A=2|TOKEN=t=1"},
        {"# c\n\n  export A=1  \r\n", "A=1|TOKEN=t=1"},
        {"A=\nB='a \"b\" '\nC=\"'\nD=\"\"\nE=\"", "A=|B=a \"b\" |C=\"'|D=|E=\"|"
                                                  "TOKEN=t=1"},
        {"A=a # b", "A=a # b|TOKEN=t=1"},
        {"A=1\nnothing\n", "', line 2: expected NAME=VALUE"},
        {"=a", "', line 1: expected NAME=VALUE"},
        {"A B=a", "', line 1: expected NAME=VALUE"},
        {"export", "', line 1: expected NAME=VALUE"},
        {"\nSMTUNE_RUN=a", "', line 2: smtune sets variables whose name begins "
                           "with SMTUNE_"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(*state, cases[i][0], cases[i][1]);
}

static void test_env_sources__what_is_missing(void **state)
{
    char *const environment[] = {OWN("TOKENS=1"), OWN("TOKEN"), NULL};
    const char *names[] = {"TOKEN"};
    char *path = fs_join(*state, "none.env");
    struct job_spec task = {.env_from = names, .env_from_count = 1};
    struct word_list list = {0};
    struct err err;

    assert_int_equal(env_sources_read(&task, environment, &list, &err), -1);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, "missing environment variable 'TOKEN'"));
    task = (struct job_spec){.env_file = path};
    assert_int_equal(env_sources_read(&task, environment, &list, &err), -1);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.text, "none.env"));
    task = (struct job_spec){.env_file = *state}; /* a folder */
    assert_int_equal(env_sources_read(&task, environment, &list, &err), -1);
    task = (struct job_spec){.env_file = NULL};
    assert_int_equal(env_sources_read(&task, environment, &list, &err), 0);
    assert_int_equal(list.count, 0);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_env_sources__files, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_env_sources__what_is_missing,
                                        make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
