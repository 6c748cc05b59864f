/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void clear(struct experiment_file *file)
{
    for (size_t i = 0; i < file->taken_count; i++)
        free(file->taken[i]);
    free(file->taken);
}

static void test_build__keeps_what_it_takes(void **state)
{
    struct experiment_file file = {.taken = NULL};
    void *first = mem_zero(1);

    (void)state;
    assert_ptr_equal(build_take(&file, first), first);
    for (int i = 0; i < 40; i++)
        build_take_text(&file, mem_copy_string("more"));
    assert_int_equal(file.taken_count, 41);
    assert_ptr_equal(file.taken[0], first);
    assert_string_equal(file.taken[40], "more");
    clear(&file);
}

static void test_build__paths_start_at_the_files_folder(void **state)
{
    static const struct {
        const char *own, *path, *found;
    } cases[] = {
        {"/home/me/tune.yaml", "data.csv", "/home/me/data.csv"},
        {"/home/me/tune.yaml", "../data.csv", "/home/me/../data.csv"},
        {"/home/me/tune.yaml", "/data/all.csv", "/data/all.csv"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct experiment_file file = {.experiment.path = cases[i].own};

        assert_string_equal(build_resolve_path(&file, cases[i].path),
                            cases[i].found);
        clear(&file);
    }
}

/* The place is that of the text's part, not of its beginning. */
static void test_build__an_error_in_a_text_has_its_place(void **state)
{
    static const char text[] = "name: x\nif: steps.a.ok && nosuch\n";
    struct diags *diags = diags_create("t.yaml");
    struct conf_doc *doc = conf_parse(text, strlen(text), diags);
    struct experiment_file file = {.doc = doc};
    struct build build = {.file = &file, .diags = diags};
    struct err err = {.kind = ERR_FILE};
    const struct diag *diag;

    (void)state;
    err_set(&err, ERR_FILE, "there is no 'nosuch'");
    err.line = 1;
    err.column = 15;
    assert_int_equal(
        build_add_error(&build, conf_get(conf_root(doc), "if"), &err), -1);
    assert_int_equal(diags_count(diags), 1);
    diag = diags_get(diags, 0);
    assert_int_equal(diag->place.line, 2);
    assert_int_equal(diag->place.column, 19);
    assert_string_equal(diag->text, "there is no 'nosuch'");
    conf_destroy(doc);
    diags_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build__keeps_what_it_takes),
        cmocka_unit_test(test_build__paths_start_at_the_files_folder),
        cmocka_unit_test(test_build__an_error_in_a_text_has_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
