/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_DRIVE_ENQUEUE_SETTING_H
#define SMTUNE_CLI_DRIVE_ENQUEUE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct store;

struct enqueue_order {
    int64_t run;
    const char *run_name;
    bool has_succeeded;   /* the run: it takes nothing any more */
    const json_t *params; /* {name: value} */
    int limit_ms;         /* for the run's engine to answer */
};

struct enqueue_reply {
    int64_t index;  /* which of the run's enqueued settings it is, from 1 */
    bool is_waited; /* the run has no engine: it is tried once it goes on */
};

/* Parts NAME=VALUE: the name, the caller's to free, and *value in the word.
 * NULL (ERR_USAGE): it is none. */
char *enqueue_part_word(const char *word, const char **value, struct err *err);

/*
 * Has a run try a setting next: through its engine or, where it has none, in
 * the record. ERR_BUSY where the run is over, or has no trial left for it.
 */
int enqueue_setting(struct store *store, const struct enqueue_order *order,
                    struct enqueue_reply *reply, struct err *err);

#endif
