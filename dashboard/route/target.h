/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ROUTE_TARGET_H
#define SMTUNE_DASHBOARD_ROUTE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The parts of a request's target:
 *
 *   /user/you/proxy/8420   the path of the base URL, where the proxy keeps it
 *   /s/KEY                 the session that a browser's page asks in
 *   /api/v1/runs?limit=9   what is asked for
 */
struct target {
    const char *file;        /* behind the first part */
    const char *asked;       /* behind the second, too; the same without one */
    const char *session_key; /* not ended there; NULL: none */
    size_t session_key_length;
    /* It is the first part alone, without the slash that relative addresses
     * need. */
    bool lacks_slash;
};

/* All of them point into text. base_path: that of the base URL, or "". */
struct target target_read(const char *text, const char *base_path);

#endif
