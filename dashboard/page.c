/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files of the page, which are part of the program. They are compressed
 * when they are built, and sent that way to every client that accepts it. The
 * ETag is the hash of the file, so a browser loads a new page exactly when the
 * program changes.
 */
#include "dashboard/page.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/http/gzip.h"
#include "dashboard/http/http.h"
#include "dashboard/route/route.h"

struct page {
    struct blob **expanded; /* of each file; NULL: not yet */
    size_t count;
};

static const struct page_file *find(const char *name, size_t length)
{
    for (const struct page_file *file = page_files; file->name != NULL;
         file++) {
        if (strlen(file->name) == length &&
            memcmp(file->name, name, length) == 0)
            return file;
    }
    return NULL;
}

const struct page_file *page_find(const char *name)
{
    return find(name, strlen(name));
}

static const struct page_file *find_target(const char *target)
{
    static const char login[] = "/login";
    size_t length = strcspn(target, "?");

    if (target[0] != '/')
        return NULL;
    if (length == 1)
        return page_find("index.html");
    if (length == strlen(login) && memcmp(target, login, length) == 0)
        return page_find("login.html");
    return find(target + 1, length - 1);
}

static const char *type_of(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".txt", "text/plain; charset=utf-8"},
        {".json", "application/json"},
    };
    const char *ending = strrchr(name, '.');

    for (size_t i = 0; ending != NULL && i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i].ending, ending) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Whether a list like "br;q=1.0, gzip;q=0.5" takes gzip. */
static bool takes_gzip(const char *accepted)
{
    const char *at = accepted != NULL ? strstr(accepted, "gzip") : NULL;

    if (at == NULL)
        return false;
    at += strlen("gzip");
    at += strspn(at, " ");
    if (strncmp(at, ";q=0", 4) != 0)
        return true;
    return strspn(at + 4, ".0") < strcspn(at + 4, ", ");
}

struct blob *page_expand(const struct page_file *file)
{
    struct buf bytes = BUF_INIT;

    gzip_expand(file->gzip, (size_t)(file->gzip_end - file->gzip), file->length,
                &bytes);
    return blob_create(&bytes);
}

struct page *page_create(void)
{
    struct page *page = mem_zero(sizeof(*page));

    while (page_files[page->count].name != NULL)
        page->count++;
    page->expanded = mem_array(page->count, sizeof(struct blob *));
    return page;
}

void page_destroy(struct page *page)
{
    if (page == NULL)
        return;
    for (size_t i = 0; i < page->count; i++)
        blob_release(page->expanded[i]);
    free(page->expanded);
    free(page);
}

static struct blob *expanded(struct page *page, const struct page_file *file)
{
    struct blob **kept = &page->expanded[file - page_files];

    if (*kept == NULL)
        *kept = page_expand(file);
    return blob_hold(*kept);
}

int page_answer(struct page *page, const struct http_exchange *exchange,
                const char *target, struct answer *answer, char **etag)
{
    const struct page_file *file = find_target(target);
    const char *method = http_method(exchange);
    bool compressed = takes_gzip(http_header(exchange, "Accept-Encoding"));

    if (file == NULL ||
        (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
        return -1;
    answer_bytes(
        answer, type_of(file->name),
        compressed
            ? blob_of_static(file->gzip, (size_t)(file->gzip_end - file->gzip))
            : expanded(page, file));
    answer_header(answer, "Vary", "Accept-Encoding");
    if (compressed)
        answer_header(answer, "Content-Encoding", "gzip");
    *etag = mem_printf("\"%s%s\"", file->sha256, compressed ? "-gz" : "");
    return 0;
}
