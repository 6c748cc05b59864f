/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_CONF_READ_H
#define SMTUNE_BASE_CONF_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf/conf.h"

/*
 * Items of a map, by key. Each function returns the fallback where the map is
 * NULL or no map, the key is missing, or the item has another type or cannot be
 * read: the schema reports that, these do not.
 */

/* The text is the document's. */
const char *conf_read_text(const struct conf_node *map, const char *key,
                           const char *fallback);
/* Only finite numbers are read. */
double conf_read_number(const struct conf_node *map, const char *key,
                        double fallback);
/* A number up to 2^53, whose fraction is cut off. */
int64_t conf_read_int(const struct conf_node *map, const char *key,
                      int64_t fallback);
bool conf_read_bool(const struct conf_node *map, const char *key,
                    bool fallback);
/* "10 min" and the like, in milliseconds. */
int64_t conf_read_ms(const struct conf_node *map, const char *key,
                     int64_t fallback);
/* "2 GiB" and the like, in bytes. */
int64_t conf_read_bytes(const struct conf_node *map, const char *key,
                        int64_t fallback);

/* How many values a node has that is one, or a list of them; 0 of null. */
size_t conf_item_count(const struct conf_node *node);
/* One of them. */
const struct conf_node *conf_item_at(const struct conf_node *node, size_t i);

#endif
