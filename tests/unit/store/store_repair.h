/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STORE_STORE_REPAIR_H
#define SMTUNE_TESTS_UNIT_STORE_STORE_REPAIR_H

#include "orchestrator/proof/fsck.h"
#include "store/repair/check.h"
#include "store/repair/repair.h"
#include "tests/unit/store/store_test.h"

/* What `smtune fsck` finds in the store of a test's folder, and mends. */

/* There are no folders of attempts. */
UNUSED static void count_finding(void *user, const struct fsck_finding *finding)
{
    if (!finding->is_note && strncmp(finding->what, "runs/", 5) != 0)
        ++*(int *)user;
}

UNUSED static void count_text(void *user, const char *text)
{
    (void)text;
    ++*(int *)user;
}

UNUSED static int findings(const char *folder)
{
    struct err err = {0};
    struct store *store = must_open(folder, STORE_WRITE);
    struct fsck_counts counts = {0};
    int count = 0;

    must(fsck_run(store, 1, count_finding, &count, &counts, &err));
    must(store_check(store, count_text, &count, &err));
    store_close(store);
    return count;
}

UNUSED static void repair(const char *folder)
{
    struct err err = {0};
    struct store *store = must_open(folder, STORE_WRITE);
    bool is_mended;
    int64_t count;

    must(store_begin(store, &err));
    must(fsck_repair_run(store, 1, &is_mended, &err));
    must(store_remove_orphans(store, &count, &err));
    must(store_commit(store, &err));
    assert_true(is_mended);
    store_close(store);
}

/* What the statement does to the store is found, and mended. */
UNUSED static void assert_mended(const char *folder, const char *damage)
{
    if (findings(folder) != 0)
        fail_msg("before: %s", damage);
    free(ask_sqlite(folder, damage));
    if (findings(folder) == 0)
        fail_msg("not found: %s", damage);
    repair(folder);
    if (findings(folder) != 0)
        fail_msg("not mended: %s", damage);
}

#endif
