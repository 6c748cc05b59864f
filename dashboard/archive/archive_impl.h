/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ARCHIVE_ARCHIVE_IMPL_H
#define SMTUNE_DASHBOARD_ARCHIVE_ARCHIVE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/json.h"
#include "dashboard/archive/archive.h"

struct blob;
struct dashboard;
struct store;

/* What the files of an archive share. */

struct archive_run {
    int64_t id;
    bool is_workflow;
    int64_t jobs; /* how many it has */
};

/* Scripts of the page: the page's own, and of parts that a server's client
 * loads later. */
enum { ARCHIVE_SCRIPTS_MAX = 8 };

struct archive {
    struct dashboard *dashboard;
    struct store *store;
    FILE *out;
    const int64_t *asked; /* [asked_count] the runs that it is made of */
    size_t asked_count;
    struct archive_run *runs; /* [run_count] those, and those below them */
    size_t run_count, run_capacity;
    json_t *left_out;
    struct blob *html, *style; /* of the page */
    struct blob *scripts[ARCHIVE_SCRIPTS_MAX];
    size_t script_count;
    const char *rest; /* of the html, what is not written yet */
};

/* A run's share of what there may be of all. */
size_t archive_share(const struct archive *archive, size_t most);
void archive_leave_out(struct archive *archive, int64_t run, const char *what,
                       const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- page.c: the page around the answers ---- */

int archive_begin_page(struct archive *archive, struct err *err);
void archive_end_page(struct archive *archive);
void archive_clear_page(struct archive *archive);

/* ---- answer.c: answers ---- */

/* Asks for `target` and writes the answer under `path`. An error of writing is
 * the file's (ferror). */
int archive_add(struct archive *archive, const char *path, const char *target,
                struct err *err);
/* The same of a page: *next is where the next begins, or 0, and *bytes how long
 * the answer was. */
int archive_add_page(struct archive *archive, const char *path, int64_t *next,
                     size_t *bytes, struct err *err);
/* Asks alone; a new reference. */
json_t *archive_ask_json(struct archive *archive, const char *target,
                         struct err *err);
void archive_put_json(struct archive *archive, const char *path,
                      const json_t *json);
/* For a query; the caller's to free. */
char *archive_escape(const char *text);

/* ---- pages.c: what comes in pages ---- */

/* All pages of an answer, as long as *bytes_max is over 0, which becomes less
 * by what they take; so the last one may be longer. 0, 1: pages are left out,
 * -1: error. */
int archive_add_pages(struct archive *archive, const char *path,
                      size_t *bytes_max, struct err *err);
/* The curves of a run's metrics likewise; what is left out is noted. */
int archive_add_curves(struct archive *archive, const struct archive_run *run,
                       size_t bytes_max, struct err *err);

/* ---- jobs.c: a run's jobs ---- */

int archive_add_jobs(struct archive *archive, const struct archive_run *run,
                     struct err *err);

#endif
