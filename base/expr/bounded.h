/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_BOUNDED_H
#define SMTUNE_BASE_EXPR_BOUNDED_H

#include <sqlite3.h>
#include <stdint.h>

/*
 * The functions of SQLite whose work is not bounded by the length of their
 * arguments (printf, trim, ltrim, rtrim, instr, replace, like, glob), with the
 * same results and with bounds: of the widths and precisions of a format, and
 * of the characters that all calls of an evaluation compare.
 */

struct bounded;

struct bounded *bounded_create(void);
void bounded_destroy(struct bounded *bounded); /* after the connection */

/* Puts them in place of SQLite's own on a connection, whose limits on the
 * length of texts and patterns hold for them. An SQLite result code. */
int bounded_add(struct bounded *bounded, sqlite3 *db);

/* Another evaluation begins: nothing has been compared. */
void bounded_begin(struct bounded *bounded);

/* The characters that all evaluations have compared, or would have. */
int64_t bounded_work(const struct bounded *bounded);

#endif
