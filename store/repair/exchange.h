/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_REPAIR_EXCHANGE_H
#define SMTUNE_STORE_REPAIR_EXCHANGE_H

#include "base/err.h"

/*
 * Puts the database `fresh`, one file without a log, in the place of the one at
 * `path`, which gets the new name `kept`, with its log or its journal. One that
 * is missing may have left these. The caller holds the writers' lock. At each
 * moment there is a database at `path`. On error all is as it was.
 */
int exchange_databases(const char *path, const char *fresh, const char *kept,
                       struct err *err);

#endif
