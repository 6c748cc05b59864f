/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/step_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

enum { STEPS = 100, TURNS = 50000 };

static void test_step_heap__gives_the_first_of_those_left(void **state)
{
    size_t rank[STEPS], place[STEPS];
    bool is_in[STEPS] = {false};
    struct step_heap heap = {.rank = rank, .place = place};
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, 0, 0);
    for (size_t i = 0; i < STEPS; i++)
        rank[i] = i * 37 % STEPS;
    for (int turn = 0; turn < TURNS; turn++) {
        size_t step = (size_t)rng_below(&rng, STEPS), first = SIZE_MAX;

        if (is_in[step])
            step_heap_remove(&heap, step);
        else
            step_heap_add(&heap, step);
        is_in[step] = !is_in[step];
        for (size_t i = 0; i < STEPS; i++)
            if (is_in[i] && (first == SIZE_MAX || rank[i] < rank[first]))
                first = i;
        assert_int_equal(heap.count == 0, first == SIZE_MAX);
        if (heap.count > 0)
            assert_int_equal(heap.items[0], first);
    }
    step_heap_clear(&heap);
    assert_int_equal(heap.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_heap__gives_the_first_of_those_left),
    };

    return cmocka_run_group_tests_name("step_heap", tests, NULL, NULL);
}
