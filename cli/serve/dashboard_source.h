/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SERVE_DASHBOARD_SOURCE_H
#define SMTUNE_CLI_SERVE_DASHBOARD_SOURCE_H

#include "dashboard/source.h"

/* The documents that the dashboard gets from the commands. */

struct source_user;

/* store: the directory. */
struct source_user *source_user_create(const char *store);
void source_user_destroy(struct source_user *user);
/* Fills in all functions; user is borrowed. */
void source_set_documents(struct dashboard_source *source,
                          struct source_user *user);

#endif
