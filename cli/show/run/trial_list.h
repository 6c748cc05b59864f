/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_TRIAL_LIST_H
#define SMTUNE_CLI_SHOW_RUN_TRIAL_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/show/run/run_view.h"
#include "cli/show/run/trial_table.h"

/*
 * Trials as rows or as one object, with the columns of trial_columns.h. In a
 * table, metrics are shown where they are named.
 */

enum trial_taken { TRIAL_SKIP, TRIAL_TAKE, TRIAL_END };

struct trial_choice {
    enum trial_detail detail;
    const char *columns; /* names with commas between; NULL: see above */
    const char *filter;  /* an expression over the columns; NULL: all */
    const char *sort;    /* a column, ":desc" behind it; NULL: as they come */
    int64_t limit;       /* 0: none */
    bool is_object;      /* the first one alone, as an object */
    /* Whether a trial is one of them, or the end of them; NULL: each is. */
    enum trial_taken (*take)(void *user, const struct trial_row *trial);
    void *user;
};

/* The query's limit is not heeded. 0, or -1: ERR_USAGE for an unknown column
 * or a wrong expression. */
int trial_list_print(const struct cli *cli, const struct run_view *view,
                     const struct trial_query *query,
                     const struct trial_choice *choice, struct err *err);

#endif
