/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_STORE_H
#define SMTUNE_STORE_STORE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/read.h"
#include "store/write.h"

/*
 * The record: one SQLite file, smtune.db, in the store's directory, with
 * runs/NAME/ beside it for each run's files. docs/database.md describes the
 * tables for people with sqlite3 at hand.
 *
 * Writing: one connection a process, STORE_WRITE. Between store_begin and
 * store_commit, changes gather in one transaction, under a file lock
 * (smtune.lock) that every writer of any process takes; what store_commit
 * acknowledged survives a power cut (WAL, synchronous=FULL). Readers never
 * wait for writers and never make them wait.
 *
 * Opening and transactions are here, what changes the record in store/write.h,
 * and what is read of it in store/read.h. Whoever changes a state appends the
 * event row in the same call: each function that changes one does so itself.
 *
 * The states' and causes' words are given by the caller
 * (orchestrator/job/states.h, executors/executor.h); the tables check them.
 */

enum store_mode {
    STORE_READ,  /* ERR_NOT_FOUND when there is no store */
    STORE_WRITE, /* migrates an older schema; refuses a newer one */
    STORE_CREATE /* as STORE_WRITE, and makes the directory and file */
};

struct store;

/* NULL with an error. An older schema is brought up to date by a reader, too.
 */
struct store *store_open(const char *directory, enum store_mode mode,
                         struct err *err);
void store_close(struct store *store);
/* The absolute path of the store's directory. */
const char *store_directory(const struct store *store);
/* The version of the SQLite in use: "3.40.1". */
const char *store_sqlite_version(void);
/* "<directory>/runs/<name>"; the caller's to free. */
char *store_run_directory(const struct store *store, const char *run_name);

/* ---- transactions ---- */

/* Opens the transaction if it is not open yet. ERR_BUSY when another writer
 * holds it for over 10 s; the error names its process. */
int store_begin(struct store *store, struct err *err);
bool store_in_transaction(const struct store *store);
/* Durable when it returns 0; nothing of it is kept when it returns -1. With
 * nothing open: 0 at once. */
int store_commit(struct store *store, struct err *err);
/* Drops what is not committed; with nothing open it does nothing. */
void store_rollback(struct store *store);

/* What is read between these two is of one moment; -1 with an error. Within a
 * transaction, or within another such pair, they do nothing: *began, which is
 * for the second one, is then false. */
int store_read_begin(struct store *store, bool *began, struct err *err);
void store_read_end(struct store *store, bool began);

#endif
