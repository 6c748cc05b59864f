/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_AWAIT_H
#define SMTUNE_TESTS_UNIT_AWAIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/clock.h"

enum { AWAIT_MS = 120 * 1000 };

/* Waits until the condition holds; the test fails where it never does. */
#define AWAIT(condition)                                                       \
    do {                                                                       \
        int64_t await_end_ms = clock_monotonic_ms() + AWAIT_MS;                \
                                                                               \
        while (!(condition)) {                                                 \
            assert_true(clock_monotonic_ms() < await_end_ms);                  \
            usleep(1000); /* looked at again then */                           \
        }                                                                      \
    } while (0)

#endif
