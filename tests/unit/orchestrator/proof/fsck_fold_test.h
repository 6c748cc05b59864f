/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_ORCHESTRATOR_PROOF_FSCK_FOLD_TEST_H
#define SMTUNE_TESTS_UNIT_ORCHESTRATOR_PROOF_FSCK_FOLD_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "orchestrator/proof/fsck_fold.h"

/* Events go into a fold, and what is wrong with them is written down. */

struct said {
    int count;
    char last[256]; /* "trial/attempt text" */
};

UNUSED static void on_wrong(void *user, int64_t seq, int64_t trial,
                            int64_t attempt, const char *text)
{
    struct said *said = user;

    assert_true(seq > 0);
    said->count++;
    snprintf(said->last, sizeof(said->last), "%d/%d %s", (int)trial,
             (int)attempt, text);
}

struct line {
    int64_t job, attempt;
    const char *event, *detail;
};

UNUSED static void add(struct fsck_fold *fold, const struct line *lines,
                       size_t count)
{
    static int64_t seq;

    for (size_t i = 0; i < count; i++)
        fsck_fold_add(fold, &(struct event_row){.seq = ++seq,
                                                .job = lines[i].job,
                                                .attempt = lines[i].attempt,
                                                .time_ms = 100 + (int64_t)i,
                                                .event = lines[i].event,
                                                .detail = lines[i].detail});
}

UNUSED static void must_be(const struct fsck_fold_row *row, size_t cell,
                           const char *text)
{
    char found[64] = "NULL";

    assert_non_null(row);
    if (row->cells[cell].type == VALUE_TEXT)
        snprintf(found, sizeof(found), "%s", row->cells[cell].text);
    else if (row->cells[cell].type != VALUE_NULL)
        snprintf(found, sizeof(found), "%g", value_number(&row->cells[cell]));
    assert_string_equal(found, text);
}

#endif
