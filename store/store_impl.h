/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_STORE_IMPL_H
#define SMTUNE_STORE_STORE_IMPL_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/schema/migrate.h"
#include "store/statements.h"
#include "store/store.h"

/* What the files of store/ share; nobody else includes it. */

enum { KEPT_QUERIES_MAX = 8 };

/* A query that is not compiled anew each time. */
struct kept_query {
    const char *sql;
    sqlite3_stmt *statement;
};

struct store {
    const struct migrations *migrations;
    sqlite3 *db;
    char *directory;     /* absolute */
    char *path;          /* of smtune.db */
    int lock_fd;         /* -1 in a reader */
    bool is_without_log; /* of what is to be written */
    bool in_transaction;
    sqlite3_stmt *statements[STATEMENT_COUNT]; /* compiled at first use */
    struct kept_query kept[KEPT_QUERIES_MAX];  /* [kept_count] likewise */
    size_t kept_count;
    struct buf scratch; /* an event's detail */
};

/* store_open() with other tables than those of the product, or more of them. */
struct store *store_open_by(const struct migrations *migrations,
                            const char *directory, enum store_mode mode,
                            struct err *err);

/* Opens a copy of the database of the store in `directory`, wherever it is, to
 * read it as it is: its tables may be older. NULL with an error where it is no
 * store, or a newer one. */
struct store *store_open_copy(const char *directory, const char *path,
                              struct err *err);

/* Whether what is written goes to a log first, beside which reading goes on. */
int store_has_log(struct store *store, bool *has_log, struct err *err);

#endif
