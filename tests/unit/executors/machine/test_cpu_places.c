/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cpu_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/folder.h"

static void test_cpu_places__are_one_node_where_no_file_is(void **state)
{
    struct cpu_place places[CPU_SETSIZE];
    cpu_set_t set;
    size_t count = cpu_places_find(*state, places);

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    assert_int_equal(count, CPU_COUNT(&set));
    for (size_t i = 0; i < count; i++) {
        assert_true(CPU_ISSET(places[i].cpu, &set));
        assert_int_equal(places[i].node, 0);
        assert_true(i == 0 || places[i - 1].cpu < places[i].cpu);
    }
}

static void test_cpu_places__are_in_the_order_of_nodes(void **state)
{
    struct cpu_place places[CPU_SETSIZE];
    cpu_set_t set;
    size_t count;

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    put(*state, "sys/devices/system/node/node0", "cpulist", "1-600,700\n");
    put(*state, "sys/devices/system/node/node3", "cpulist", "0,601-699\n");
    count = cpu_places_find(*state, places);
    assert_int_equal(count, CPU_COUNT(&set));
    if (CPU_ISSET(0, &set)) {
        assert_int_equal(places[count - 1].cpu, 0);
        assert_int_equal(places[count - 1].node, 3);
    }
    for (size_t i = 1; i < count; i++)
        assert_true(places[i - 1].node <= places[i].node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_cpu_places__are_one_node_where_no_file_is, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(
            test_cpu_places__are_in_the_order_of_nodes, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
