/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_API_LOG_H
#define SMTUNE_DASHBOARD_API_LOG_H

#include "base/err.h"

struct request;
struct store;

/* Ranks that a request may name. */
enum { LOG_RANK_MAX = 1 << 20 };

/* The folder of the attempt that the request's path names (run, job, attempt),
 * as the record has it; the caller's to free. NULL on error, ERR_NOT_FOUND
 * where there is no such attempt. */
char *log_directory(const struct request *request, struct store *store,
                    struct err *err);

#endif
