/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "executors/container/runtime.h"
#include "tests/unit/folder.h"

static void test_runtime__tells_paths_from_names(void **state)
{
    static const struct {
        const char *image;
        bool is_path;
    } rows[] = {
        {"/opt/a", true},
        {"./box", true},
        {"../box", true},
        {"box/", true},
        {"images/a.sif", true},
        {"a.simg", true},
        {"python:3.12", false},
        {"docker://a/b.sif", false},
        {"nvcr.io/nvidia/pytorch:24.07-py3", false},
        {".sif", false},
        {"oras://host/a.sif", false},
        {"library://a/b/c", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(container_image_is_path(rows[i].image),
                         rows[i].is_path);
}

/* root/folder/name, which may be executed. */
static void make_program(const char *root, const char *folder, const char *name)
{
    char path[PATH_MAX];

    put(root, folder, name, "");
    snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
    assert_int_equal(chmod(path, 0700), 0);
}

static void test_runtime__is_the_first_that_takes_the_image(void **state)
{
    const char *root = *state;
    char path[PATH_MAX];
    struct container_program program;
    struct err err;

    make_program(root, "a", "docker");
    make_program(root, "b", "podman");
    put(root, "a", "apptainer", "is no program");
    snprintf(path, sizeof(path), "relative::%s/a:%s/b", root, root);
    assert_int_equal(container_find(NULL, "x", path, &program, &err), 0);
    assert_string_equal(program.runtime->name, "podman");
    assert_int_equal(container_find("docker", "x", path, &program, &err), 0);
    assert_string_equal(program.path + strlen(root), "/a/docker");

    assert_int_equal(container_find(NULL, "x.sif", path, &program, &err), -1);
    assert_string_equal(err.text, "'x.sif' needs Apptainer, and PATH has "
                                  "neither apptainer nor singularity");
    assert_int_equal(container_find("apptainer", "x", path, &program, &err),
                     -1);
    assert_string_equal(err.text, "no program 'apptainer' in PATH");
    make_program(root, "b", "singularity");
    assert_int_equal(container_find(NULL, "x.sif", path, &program, &err), 0);
    assert_string_equal(program.runtime->name, "singularity");
    assert_int_equal(container_find(NULL, "x", NULL, &program, &err), -1);
    assert_string_equal(err.text, "PATH has none of apptainer, singularity, "
                                  "podman and docker");
}

static void test_runtime__needs_a_file_that_is_there(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(container_check_image("/nope.sif", &err), -1);
    assert_string_equal(err.text, "no such file: '/nope.sif'");
    assert_int_equal(container_check_image("/", &err), 0);
    assert_int_equal(container_check_image("nope.sif", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runtime__tells_paths_from_names),
        cmocka_unit_test_setup_teardown(
            test_runtime__is_the_first_that_takes_the_image, make_folder,
            remove_folder),
        cmocka_unit_test(test_runtime__needs_a_file_that_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
