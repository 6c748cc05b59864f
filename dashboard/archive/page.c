/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/digest.h"
#include "dashboard/archive/archive_impl.h"
#include "dashboard/http/blob.h"
#include "dashboard/page.h"

/*
 * The page's three files as one: the policy goes before all that it is about,
 * style and script to where they were asked for. The script comes last, since
 * what stands in the page itself cannot be deferred, and it reads the answers.
 */

static const char charset_tag[] = "<meta charset=\"utf-8\" />";
static const char style_tag[] = "<link rel=\"stylesheet\" href=\"/app.css\" />";
static const char script_tag[] = "<script src=\"/app.js\" defer></script>";
static const char end_tag[] = "</body>";

/* What would end the element, or begin a comment in it, is written so that it
 * means the same in a text of the script or of the style. */
static struct blob *shield(const struct blob *text)
{
    struct buf out = BUF_INIT;

    for (size_t i = 0; i < text->length; i++) {
        bool is_ending = text->data[i] == '<' && i + 1 < text->length &&
                         (text->data[i + 1] == '/' || text->data[i + 1] == '!');

        buf_add_char(&out, text->data[i]);
        if (is_ending)
            buf_add_char(&out, '\\');
    }
    return blob_create(&out);
}

static struct blob *read_file(const char *name, struct err *err)
{
    const struct page_file *file = page_find(name);

    if (file != NULL)
        return page_expand(file);
    err_set(err, ERR_FAILED,
            "this program was built without the file '%s' of the page", name);
    return NULL;
}

static struct blob *read_inline(const char *name, struct err *err)
{
    struct blob *plain = read_file(name, err);
    struct blob *shielded = plain != NULL ? shield(plain) : NULL;

    blob_release(plain);
    return shielded;
}

static void add_hash(struct buf *out, const char *directive,
                     const struct blob *text)
{
    unsigned char digest[DIGEST_BYTES];

    digest_bytes(text->data, text->length, digest);
    buf_printf(out, "%s 'sha256-", directive);
    base64_encode(digest, sizeof(digest), out);
    buf_add_string(out, "'; ");
}

/* As the server's, but that all of it is in the file, and nothing is asked
 * for. A worker's script is the page's own, handed over as a blob. */
static void write_policy(const struct archive *archive)
{
    struct buf policy = BUF_INIT;

    add_hash(&policy, "script-src", archive->script);
    add_hash(&policy, "style-src", archive->style);
    fprintf(archive->out,
            "<meta http-equiv=\"Content-Security-Policy\" "
            "content=\"default-src 'none'; %simg-src data: blob:; "
            "worker-src blob:; base-uri 'none'; form-action 'none'\" />\n"
            "    <meta name=\"referrer\" content=\"no-referrer\" />\n    ",
            buf_text(&policy));
    buf_clear(&policy);
}

/* Writes the html up to a tag, which is left out; -1: there is none. */
static int write_up_to(struct archive *archive, const char *tag,
                       struct err *err)
{
    const char *at = strstr(archive->rest, tag);

    if (at == NULL)
        return err_set(err, ERR_FAILED, "the built page has no '%s'", tag);
    fwrite(archive->rest, 1, (size_t)(at - archive->rest), archive->out);
    archive->rest = at + strlen(tag);
    return 0;
}

static void write_element(const struct archive *archive, const char *name,
                          const struct blob *text)
{
    fprintf(archive->out, "<%s>", name);
    fwrite(text->data, 1, text->length, archive->out);
    fprintf(archive->out, "</%s>", name);
}

int archive_begin_page(struct archive *archive, struct err *err)
{
    archive->html = read_file("index.html", err);
    archive->style = read_inline("app.css", err);
    archive->script = read_inline("app.js", err);
    if (archive->html == NULL || archive->style == NULL ||
        archive->script == NULL)
        return -1;
    archive->rest = archive->html->data;
    if (write_up_to(archive, charset_tag, err) != 0)
        return -1;
    fprintf(archive->out, "%s\n    ", charset_tag);
    write_policy(archive);
    if (write_up_to(archive, style_tag, err) != 0)
        return -1;
    write_element(archive, "style", archive->style);
    if (write_up_to(archive, script_tag, err) != 0)
        return -1;
    return write_up_to(archive, end_tag, err);
}

void archive_end_page(struct archive *archive)
{
    write_element(archive, "script", archive->script);
    fprintf(archive->out, "\n  %s%s", end_tag, archive->rest);
}

void archive_clear_page(struct archive *archive)
{
    blob_release(archive->html);
    blob_release(archive->style);
    blob_release(archive->script);
}
