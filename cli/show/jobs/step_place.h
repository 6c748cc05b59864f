/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_JOBS_STEP_PLACE_H
#define SMTUNE_CLI_SHOW_JOBS_STEP_PLACE_H

#include <stdint.h>

struct conf_doc;

/*
 * Where in a workflow's file something stands that is said of a step: its key
 * `key` ("when"), or of a list under that key the item `index` (-1: the list);
 * else the same key under `defaults`. Returns the line, 0 where it stands
 * nowhere.
 */
int step_place_line(const struct conf_doc *doc, const char *step,
                    const char *key, int64_t index);

/* The text of that key, as written; NULL where it is a list or a map, or stands
 * nowhere. */
const char *step_place_text(const struct conf_doc *doc, const char *step,
                            const char *key);

#endif
