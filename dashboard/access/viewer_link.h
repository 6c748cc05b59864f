/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ACCESS_VIEWER_LINK_H
#define SMTUNE_DASHBOARD_ACCESS_VIEWER_LINK_H

#include <stdbool.h>

#include "base/err.h"
#include "base/token.h"

/*
 * What the address for viewers has in it: 256 random bits, which one user's
 * dashboards of a store have in common, and find again after a restart.
 */
struct viewer_link;

enum {
    VIEWER_LINK_BYTES = 32,
    VIEWER_LINK_SIZE = TOKEN_SIZE(VIEWER_LINK_BYTES)
};

/* Reads it from the store, where it is made if it is not there; or, where the
 * store cannot keep it, from the folder `other` (NULL: none). NULL on error. */
struct viewer_link *viewer_link_open(const char *store, const char *other,
                                     struct err *err);
/* The one that a running dashboard has with these folders: once it had to take
 * the other folder, it stays there. */
struct viewer_link *viewer_link_find(const char *store, const char *other,
                                     struct err *err);
void viewer_link_close(struct viewer_link *link);

/* In hexadecimal, until the next change. */
const char *viewer_link_text(const struct viewer_link *link);

/* Puts another in its place, for this process and all others. */
int viewer_link_replace(struct viewer_link *link, struct err *err);

bool viewer_link_is_in_store(const struct viewer_link *link);
/* The folder `other` is another now, or was made anew: the link is in it again,
 * unless it is in the store. */
void viewer_link_move(struct viewer_link *link, const char *other);
/* Looks at what others have done: whether it is another now. One whose file was
 * removed is replaced. */
bool viewer_link_refresh(struct viewer_link *link);

#endif
