/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "base/compiler.h"
#include "executors/machine/cpus.h"
#include "tests/unit/folder.h"

static int affine(void)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    return CPU_COUNT(&set);
}

static void test_cpus__are_those_of_the_affinity(void **state)
{
    cpu_set_t all, one;

    assert_int_equal(cpus_find(*state), affine());
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(cpus_find(*state), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void test_cpus__are_limited_by_the_quotas_of_groups(void **state)
{
    put(*state, "proc/self", "cgroup", "1:cpu:/x\n0::/a/b\n");
    put(*state, "sys/fs/cgroup/a/b", "cpu.max", "max 100000\n");
    assert_int_equal(cpus_find(*state), affine());
    put(*state, "sys/fs/cgroup/a", "cpu.max", "50000 100000\n");
    assert_int_equal(cpus_find(*state), 1);
}

static void test_cpus__are_limited_by_a_container(void **state)
{
    put(*state, "proc/self", "cgroup", "0::/\n");
    put(*state, "sys/fs/cgroup", "cpu.max", "100000 100000\n");
    assert_int_equal(cpus_find(*state), 1);
}

static void test_cpus__a_quota_of_any_size_is_rounded_up(void **state)
{
    put(*state, "sys/fs/cgroup", "cpu.max",
        "9223372036854775807 9223372036854775807\n");
    assert_int_equal(cpus_find(*state), 1);
}

static void test_cpus__nonsense_is_no_quota(void **state)
{
    static const char *const quotas[] = {"",
                                         "x",
                                         "-1 100000",
                                         "0 10",
                                         "100000 0",
                                         "99999999999999 1",
                                         "9223372036854775807 9"};

    for (size_t i = 0; i < ARRAY_LEN(quotas); i++) {
        put(*state, "sys/fs/cgroup", "cpu.max", quotas[i]);
        assert_int_equal(cpus_find(*state), affine());
    }
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_cpus__are_those_of_the_affinity),
        IN_FOLDER(test_cpus__are_limited_by_the_quotas_of_groups),
        IN_FOLDER(test_cpus__are_limited_by_a_container),
        IN_FOLDER(test_cpus__a_quota_of_any_size_is_rounded_up),
        IN_FOLDER(test_cpus__nonsense_is_no_quota),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
