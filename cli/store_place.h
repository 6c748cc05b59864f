/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_STORE_PLACE_H
#define SMTUNE_CLI_STORE_PLACE_H

/* The folder of the store where --store does not name one: SMTUNE_STORE, or the
 * nearest .smtune with a store from the current folder upwards, or
 * `configured` (NULL: none), or the nearest .smtune, or "./.smtune". The
 * caller's to free. */
char *store_place_find(const char *configured);

#endif
