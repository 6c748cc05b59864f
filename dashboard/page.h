/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_PAGE_H
#define SMTUNE_DASHBOARD_PAGE_H

#include <stddef.h>

struct answer;
struct blob;
struct http_exchange;
struct page;

/*
 * The built page: the files of dashboard/web/dist, compressed, as parts of the
 * program (dashboard/embed writes them into one C file at build time).
 */
struct page_file {
    const char *name;          /* "app.js"; NULL ends */
    const unsigned char *gzip; /* its bytes, compressed */
    const unsigned char *gzip_end;
    size_t length;      /* in full */
    const char *sha256; /* in hexadecimal */
};

extern const struct page_file page_files[];

/* NULL: there is none of that name. */
const struct page_file *page_find(const char *name);
/* Its bytes in full. */
struct blob *page_expand(const struct page_file *file);

/* Keeps the files that were asked for in full: expanding one takes
 * milliseconds of the loop. */
struct page *page_create(void);
void page_destroy(struct page *page); /* NULL is allowed */

/* Where the request, whose target is given without what is in front of it
 * (target.h), is for one of the files ("/" is index.html, "/login" login.html):
 * the answer, compressed if the client takes that, with its ETag, the caller's
 * to free; 0. -1: it is not. */
int page_answer(struct page *page, const struct http_exchange *exchange,
                const char *target, struct answer *answer, char **etag);

#endif
