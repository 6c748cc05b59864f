/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a test leaves to `make check-all`. */
#ifndef SMTUNE_TESTS_UNIT_SAMPLE_H
#define SMTUNE_TESTS_UNIT_SAMPLE_H

#include <stdbool.h>
#include <stdlib.h>

/* Whether this run is for a share of a test's cases: `make check-unit SAMPLE=1`
 * says so. A test with many seconds of like cases asks. */
static inline bool is_sample(void)
{
    return getenv("UNIT_SAMPLE") != NULL;
}

#endif
