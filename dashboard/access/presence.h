/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ACCESS_PRESENCE_H
#define SMTUNE_DASHBOARD_ACCESS_PRESENCE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * What a running dashboard leaves for other programs of its user: a folder with
 *
 *   about.json       its address and store
 *   operator, viewer the tokens for programs, each a line (mode 0600)
 *   code-...         codes for browsers (login_code.h)
 *
 * It is under the port, or under a hash of the path of the socket, in a folder
 * of one user's dashboards: the one that is given or, for NULL, that of all of
 * them (runtime_folder()). A lock shows that the dashboard runs.
 */
struct presence;

struct presence_about {
    const char *url;      /* for programs: "http://127.0.0.1:8420" */
    const char *base_url; /* for browsers, of a proxy; NULL: there is none */
    const char *store;    /* the store's directory */
    const char *socket;   /* NULL: it has a port */
    bool is_read_only;
};

/* "8420", or what is made of the path of a socket (NULL: a port). The caller's
 * to free. */
char *presence_name(int port, const char *socket);

/* For a dashboard that begins; ERR_BUSY where one of that name runs. NULL on
 * error. */
struct presence *presence_create(const char *folder, const char *name,
                                 const struct presence_about *about,
                                 struct err *err);
/*
 * Looks whether the folder is still where others look for it: what is below
 * $XDG_RUNTIME_DIR goes with the last logout, and what is old in /tmp is
 * removed. 0: it is. 1: it was made anew there, with what presence_create()
 * writes and nothing else. -1 on error: then it is as it was.
 */
int presence_refresh(struct presence *presence, struct err *err);
/* A file of a line in the folder, for this user alone. */
int presence_write(const struct presence *presence, const char *file,
                   const char *text, struct err *err);

/*
 * That of a dashboard that runs: of the name, or (NULL) the only one of the
 * store. ERR_NOT_FOUND where none runs, ERR_USAGE where several do. NULL on
 * error.
 */
struct presence *presence_find(const char *folder, const char *name,
                               const char *store, struct err *err);

/* Removes the folder of a dashboard that ends; one that was found stays. */
void presence_destroy(struct presence *presence);

const char *presence_folder(const struct presence *presence);
/* Borrowed. */
const struct presence_about *presence_about(const struct presence *presence);

#endif
