/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/container/end.h"

#include "base/buf.h"
#include "tests/unit/folder.h"

static char *add_note(const char *folder, const char *name, const char *program)
{
    struct err err;

    if (container_end_note(folder, name, program, &err) != 0)
        fail_msg("%s", err.text);
    return mem_printf("%s/containers/%s", folder, name);
}

/* Ranks share the folder of their attempt. */
static void test_end__leaves_the_containers_of_other_ranks(void **state)
{
    static const char script[] = "#!/bin/sh\necho \"$@\" >>\"$0.calls\"\n";
    char *program = fs_join(*state, "runtime"), *calls;
    char *one, *other;
    struct buf text = BUF_INIT;

    assert_int_equal(
        fs_write_atomic(program, script, sizeof(script) - 1, 0700, NULL), 0);
    one = add_note(*state, "a-r0", program);
    other = add_note(*state, "a-r1", program);
    container_end(*state, "a-r0");
    assert_false(fs_exists(one));
    assert_true(fs_exists(other));
    container_end(*state, "a-r2"); /* there is none */
    container_end_all(*state);
    assert_false(fs_exists(other));
    calls = mem_printf("%s.calls", program);
    assert_int_equal(fs_read(calls, 1000, &text, NULL), 0);
    assert_string_equal(buf_text(&text), "rm -f a-r0\nrm -f a-r1\n");
    buf_clear(&text);
    free(calls);
    free(one);
    free(other);
    free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_end__leaves_the_containers_of_other_ranks, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
