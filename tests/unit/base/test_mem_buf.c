/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static void test_mem__copies_end_in_nul(void **state)
{
    char *bytes = mem_copy_bytes("ab\0cd", 5);
    char *text = mem_copy_string("smtune");
    char *printed = mem_printf("%s-%d", "trial", 7);

    (void)state;
    assert_memory_equal(bytes, "ab\0cd\0", 6);
    assert_string_equal(text, "smtune");
    assert_string_equal(printed, "trial-7");
    assert_null(mem_copy_string(NULL));
    free(bytes);
    free(text);
    free(printed);
}

static void test_mem__zero_sizes_are_real_memory(void **state)
{
    char *a = mem_alloc(0), *b = mem_array(0, 8), *c = mem_copy_bytes("", 0);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(c[0], '\0');
    free(a);
    free(b);
    free(c);
}

static void test_mem__grow_keeps_what_was_there(void **state)
{
    size_t capacity = 0;
    int *numbers = NULL;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        numbers = mem_grow(numbers, (size_t)i, &capacity, sizeof(*numbers));
        assert_true(capacity > (size_t)i);
        numbers[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    free(numbers);
}

/* The signal that ends a child which asks for more than can be counted. */
static int signal_of_overflow(void *(*ask)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        close(STDERR_FILENO);
        free(ask());
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void *resize_too_much(void)
{
    return mem_resize(NULL, SIZE_MAX / 2, 4);
}

static void test_mem__overflow_aborts(void **state)
{
    (void)state;
    assert_int_equal(signal_of_overflow(resize_too_much), SIGABRT);
}

static void test_buf__is_text_from_the_start(void **state)
{
    struct buf buf = BUF_INIT;

    (void)state;
    assert_string_equal(buf_text(&buf), "");
    buf_add(&buf, NULL, 0);
    assert_null(buf.data);
    buf_printf(&buf, "%s", "");
    assert_string_equal(buf_text(&buf), "");
    buf_clear(&buf);
}

static void test_buf__grows_and_stays_terminated(void **state)
{
    struct buf buf = BUF_INIT;

    (void)state;
    for (int i = 0; i < 500; i++) {
        buf_add_char(&buf, 'x');
        buf_add_string(&buf, "yz");
        buf_printf(&buf, "%03d", i);
        assert_int_equal(strlen(buf.data), buf.length);
    }
    assert_int_equal(buf.length, 3000);
    assert_string_equal(buf.data + 2994, "xyz499");
    buf_clear(&buf);
    assert_null(buf.data);
}

static void test_buf__truncates_and_consumes(void **state)
{
    struct buf buf = BUF_INIT;

    (void)state;
    buf_add_string(&buf, "0123456789");
    buf_truncate(&buf, 20);
    assert_int_equal(buf.length, 10);
    buf_truncate(&buf, 8);
    buf_consume(&buf, 3);
    assert_string_equal(buf_text(&buf), "34567");
    buf_consume(&buf, 5);
    assert_string_equal(buf_text(&buf), "");
    buf_clear(&buf);
}

static void test_buf__take_hands_the_string_over(void **state)
{
    struct buf buf = BUF_INIT;
    char *text = buf_take(&buf);

    (void)state;
    assert_string_equal(text, "");
    free(text);
    buf_add_string(&buf, "loss");
    text = buf_take(&buf);
    assert_string_equal(text, "loss");
    assert_null(buf.data);
    assert_int_equal(buf.length, 0);
    free(text);
}

static void test_buf__reserve_leaves_room_behind_length(void **state)
{
    struct buf buf = BUF_INIT;
    char *room = buf_reserve(&buf, 1000);

    (void)state;
    memset(room, 'a', 1000);
    buf.length += 1000;
    buf_add_char(&buf, 'b');
    assert_int_equal(buf.length, 1001);
    assert_int_equal(buf.data[1000], 'b');
    buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mem__copies_end_in_nul),
        cmocka_unit_test(test_mem__zero_sizes_are_real_memory),
        cmocka_unit_test(test_mem__grow_keeps_what_was_there),
        cmocka_unit_test(test_mem__overflow_aborts),
        cmocka_unit_test(test_buf__is_text_from_the_start),
        cmocka_unit_test(test_buf__grows_and_stays_terminated),
        cmocka_unit_test(test_buf__truncates_and_consumes),
        cmocka_unit_test(test_buf__take_hands_the_string_over),
        cmocka_unit_test(test_buf__reserve_leaves_room_behind_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
