/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/guests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "dashboard/http/blob.h"

static void must_enter(struct guests *guests, struct guest *guest)
{
    struct err err = {0};

    if (guests_enter(guests, guest, &err) != 0)
        fail_msg("%s", err.text);
}

static void must_hold(struct guests *guests, struct guest *guest,
                      const struct blob *answer)
{
    struct err err = {0};

    if (guests_hold(guests, guest, answer, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_guests__have_so_many_requests(void **state)
{
    struct guest all[GUESTS_REQUESTS_MAX] = {0}, more = {0};
    struct guests *guests = guests_create();
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        must_enter(guests, &all[i]);
    assert_int_equal(guests_enter(guests, &more, &err), -1);
    assert_int_equal(err.kind, ERR_SHORTAGE);
    assert_non_null(strstr(err.text, "192 at once"));
    guests_leave(guests, &more); /* it does not count */
    assert_int_equal(guests_enter(guests, &more, &err), -1);
    guests_leave(guests, &all[3]);
    guests_leave(guests, &all[3]);
    must_enter(guests, &more);
    assert_int_equal(guests_enter(guests, &all[3], &err), -1);
    guests_leave(guests, &more);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        guests_leave(guests, &all[i]);
    guests_destroy(guests);
}

static void must_be_too_much(struct guests *guests, struct guest *guest,
                             const struct blob *answer)
{
    struct err err = {0};

    assert_int_equal(guests_hold(guests, guest, answer, &err), -1);
    assert_int_equal(err.kind, ERR_SHORTAGE);
    assert_non_null(strstr(err.text, "256 MiB are the maximum"));
    assert_null(guest->answer);
}

static void test_guests__hold_so_many_bytes(void **state)
{
    const struct blob half = {.length = GUESTS_BYTES_MAX / 2},
                      other = {.length = GUESTS_BYTES_MAX / 2},
                      byte = {.length = 1},
                      giant = {.length = (size_t)GUESTS_BYTES_MAX + 1};
    struct guest all[4] = {0};
    struct guests *guests = guests_create();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        must_enter(guests, &all[i]);
    /* The same bytes count once, until the last one leaves. */
    must_hold(guests, &all[0], &half);
    must_hold(guests, &all[1], &half);
    must_hold(guests, &all[2], &other);
    must_be_too_much(guests, &all[3], &byte);
    must_hold(guests, &all[3], NULL);
    guests_leave(guests, &all[0]);
    must_be_too_much(guests, &all[3], &byte);
    guests_leave(guests, &all[1]);
    must_hold(guests, &all[3], &byte);
    guests_leave(guests, &all[3]);
    guests_leave(guests, &all[2]);
    /* Alone, one may be of any length; who is no guest may always. */
    must_enter(guests, &all[0]);
    must_enter(guests, &all[1]);
    must_hold(guests, &all[0], &giant);
    must_be_too_much(guests, &all[1], &byte);
    must_hold(guests, &all[2], &giant);
    guests_leave(guests, &all[0]);
    guests_leave(guests, &all[1]);
    guests_destroy(guests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guests__have_so_many_requests),
        cmocka_unit_test(test_guests__hold_so_many_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
