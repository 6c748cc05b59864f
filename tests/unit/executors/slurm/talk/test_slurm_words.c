/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Slurm's commands are asked and say, and where they are. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executors/slurm/talk/commands_impl.h"
#include "executors/slurm/talk/rows.h"
#include "tests/unit/folder.h"

static void test_submit__id_is_alone_in_the_last_line(void **state)
{
    static const struct {
        const char *output;
        int64_t id;
    } cases[] = {
        {"12\n", 12},
        {"12;east\n", 12},
        {"sbatch: a note\n7\n", 7},
        {"999999999999999999\n", 999999999999999999},
        {"9999999999999999999\n", 0},
        {"", 0},
        {"12", 0},
        {"12 \n", 0},
        {"x12\n", 0},
        {"12\nnothing\n", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(slurm_submit_id(cases[i].output), cases[i].id);
}

static void assert_program(const char *name, const char *expected)
{
    char *found = slurm_program(name);

    if (expected == NULL) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, expected);
    free(found);
}

static void test_program__is_looked_for_as_a_shell_does(void **state)
{
    char *before = mem_copy_string(getenv("PATH"));
    char *program = fs_join(*state, "no-sbatch");
    char *path = mem_printf("/nowhere:%s:/bin", (const char *)*state);

    put(*state, ".", "no-sbatch", "");
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_program("no-sbatch", NULL);
    assert_int_equal(chmod(program, 0700), 0);
    assert_program("no-sbatch", program);
    assert_program("no-program-has-this-name", NULL);
    /* an empty one is the folder where one is */
    assert_int_equal(chdir(*state), 0);
    assert_int_equal(setenv("PATH", "/nowhere::/bin", 1), 0);
    assert_program("no-sbatch", "./no-sbatch");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(unsetenv("PATH"), 0);
    assert_program("env", "/usr/bin/env");
    assert_int_equal(setenv("PATH", before, 1), 0);
    free(before);
    free(program);
    free(path);
}

/* Each number is one that an int holds; their sum is none. */
static void test_nodes__are_added_up_as_far_as_that_goes(void **state)
{
    char *text = mem_copy_string(
        "PARTITION|AVAIL|NODES|CPUS|MEMORY|GRES|TIMELIMIT|DEFAULTTIME|"
        "NODELIST|\n"
        "a*|up|1795317082|2|1|gpu:1|1:00:00|1:00|n[1-2]|\n"
        "a*|up|1795317082|2|1|gpu:1|1:00:00|1:00|n4|\n");
    struct slurm_site site = {0};

    (void)state;
    for (char *bar = text; (bar = strchr(bar, '|')) != NULL;)
        *bar = SLURM_SEPARATOR[0];
    assert_int_equal(slurm_site_take_nodes(&site, text, strlen(text)), 0);
    assert_int_equal(site.partition_count, 1);
    assert_int_equal(site.partitions[0].nodes, INT_MAX);
    assert_string_equal(buf_text(&site.nodes), "n[1-2],n4");
    slurm_site_clear(&site);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submit__id_is_alone_in_the_last_line),
        cmocka_unit_test(test_nodes__are_added_up_as_far_as_that_goes),
        cmocka_unit_test_setup_teardown(
            test_program__is_looked_for_as_a_shell_does, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
