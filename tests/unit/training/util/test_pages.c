/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: sysconf madvise */
/* Pages of another size than this machine's: 64 KiB, as some kernels for
 * aarch64 have. There madvise() extends an end to that of its page, and what
 * lies behind it would read as zeroes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "training/ops/backend.h"
#include "training/util/pages.h"

enum { PAGE = 64 << 10 };

static struct pages advised;
static int advices;

long __real_sysconf(int name);
long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
    return name == _SC_PAGESIZE ? PAGE : __real_sysconf(name);
}

int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
    (void)advice;
    advised = (struct pages){at, bytes};
    advices++;
    return 0;
}

/* [4 * PAGE], at the beginning of a page */
static char *memory;

static int set_up(void **state)
{
    (void)state;
    memory = aligned_alloc(PAGE, 4 * PAGE);
    return memory == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    free(memory);
    return 0;
}

static void test_pages__are_whole(void **state)
{
    (void)state;
    assert_ptr_equal(pages_within(memory, 2 * PAGE).at, memory);
    assert_int_equal(pages_within(memory, 2 * PAGE).bytes, 2 * PAGE);
    assert_int_equal(pages_within(memory, 2 * PAGE - 1).bytes, PAGE);
    assert_ptr_equal(pages_within(memory + 1, 2 * PAGE).at, memory + PAGE);
    assert_int_equal(pages_within(memory + 1, 2 * PAGE).bytes, PAGE);
}

static void test_pages__are_none_in_a_small_piece(void **state)
{
    (void)state;
    assert_int_equal(pages_within(memory, 0).bytes, 0);
    assert_int_equal(pages_within(memory, PAGE - 1).bytes, 0);
    assert_int_equal(pages_within(memory + 4096, 4096).bytes, 0);
    assert_int_equal(pages_within(memory + 4096, PAGE).bytes, 0);
}

static void test_backend_cpu__discards_whole_pages(void **state)
{
    (void)state;
    advices = 0;
    backend_cpu.discard(memory, 4096);
    backend_cpu.discard(memory + 4096, PAGE);
    assert_int_equal(advices, 0);
    backend_cpu.discard(memory, PAGE + 4096);
    assert_int_equal(advices, 1);
    assert_ptr_equal(advised.at, memory);
    assert_int_equal(advised.bytes, PAGE);
    backend_cpu.discard(memory + 4096, 2 * PAGE);
    assert_int_equal(advices, 2);
    assert_ptr_equal(advised.at, memory + PAGE);
    assert_int_equal(advised.bytes, PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages__are_whole),
        cmocka_unit_test(test_pages__are_none_in_a_small_piece),
        cmocka_unit_test(test_backend_cpu__discards_whole_pages),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
