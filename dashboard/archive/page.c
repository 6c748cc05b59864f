/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/text.h"
#include "dashboard/archive/archive_impl.h"
#include "dashboard/http/blob.h"
#include "dashboard/page.h"

/*
 * The page's files as one: the policy goes before all that it is about, style
 * and scripts to where they were asked for. Scripts come last, since what
 * stands in the page itself cannot be deferred, and the first one reads the
 * answers. The others are parts that it would load when they are needed, and
 * follow it.
 */

static const char charset_tag[] = "<meta charset=\"utf-8\" />";
static const char style_tag[] = "<link rel=\"stylesheet\" href=\"app.css\" />";
static const char script_tag[] = "<script src=\"app.js\" defer></script>";
static const char end_tag[] = "</body>";
static const char script_name[] = "app.js";
static const char login_name[] = "login.js"; /* a file lets nobody in */

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

static int add_script(struct archive *archive, const char *name,
                      struct err *err)
{
    struct blob *script = read_inline(name, err);

    if (script == NULL)
        return -1;
    archive->scripts[archive->script_count++] = script;
    return 0;
}

static int add_scripts(struct archive *archive, struct err *err)
{
    int status = add_script(archive, script_name, err);

    for (const struct page_file *file = page_files;
         file->name != NULL && status == 0; file++) {
        if (!text_ends_with(file->name, ".js") ||
            strcmp(file->name, script_name) == 0 ||
            strcmp(file->name, login_name) == 0)
            continue;
        if (archive->script_count == ARCHIVE_SCRIPTS_MAX)
            return err_set(err, ERR_FAILED,
                           "the built page has more than %d scripts",
                           ARCHIVE_SCRIPTS_MAX);
        status = add_script(archive, file->name, err);
    }
    return status;
}

static void add_hashes(struct buf *out, const char *directive,
                       struct blob *const *texts, size_t count)
{
    buf_add_string(out, directive);
    for (size_t i = 0; i < count; i++) {
        unsigned char digest[DIGEST_BYTES];

        digest_bytes(texts[i]->data, texts[i]->length, digest);
        buf_add_string(out, " 'sha256-");
        base64_encode(digest, sizeof(digest), out);
        buf_add_char(out, '\'');
    }
    buf_add_string(out, "; ");
}

/* As the server's, but that all of it is in the file, and nothing is asked
 * for. A worker's script is the page's own, handed over as a blob. */
static void write_policy(const struct archive *archive)
{
    struct buf policy = BUF_INIT;

    add_hashes(&policy, "script-src", archive->scripts, archive->script_count);
    add_hashes(&policy, "style-src", &archive->style, 1);
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
    if (archive->html == NULL || archive->style == NULL ||
        add_scripts(archive, err) != 0)
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
    for (size_t i = 0; i < archive->script_count; i++)
        write_element(archive, "script", archive->scripts[i]);
    fprintf(archive->out, "\n  %s%s", end_tag, archive->rest);
}

void archive_clear_page(struct archive *archive)
{
    blob_release(archive->html);
    blob_release(archive->style);
    for (size_t i = 0; i < archive->script_count; i++)
        blob_release(archive->scripts[i]);
}
