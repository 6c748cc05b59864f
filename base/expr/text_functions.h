/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_EXPR_TEXT_FUNCTIONS_H
#define SMTUNE_BASE_EXPR_TEXT_FUNCTIONS_H

#include <sqlite3.h>

/*
 * The functions of texts that SQLite lacks and expressions have. An SQLite
 * result code.
 *
 * basename(path)         what is behind the last slash; "" where that is last
 * dirname(path)          as dirname(1) has it: "." without a slash
 * strip_extension(path)  without the last dot of the last part, and what is
 *                        behind it
 * field(object, key)     of a JSON object; a list or an object in it as JSON
 *
 * Null of null. The first three are those of GNU parallel's {/}, {//} and {.}.
 */
int text_functions_add(sqlite3 *db);

#endif
