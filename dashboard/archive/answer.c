/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "dashboard/archive/archive_impl.h"
#include "dashboard/http/gzip.h"
#include "dashboard/route/request.h"

/* Answers as the page finds them in the file. */

enum { JSON_PLAIN_MAX = 16 << 10, JSON_BYTES_MAX = 1 << 30 };
static const char json_media[] = "application/json";

/* ---- asking ---- */

static int ask(struct archive *archive, const char *target,
               struct request *request, struct err *err)
{
    int status = match_find(route_tables, "GET", target, &request->match, err);

    if (status == 200)
        return request->match.route->answer(request, archive->store,
                                            &request->answer, err);
    return status == 400
               ? -1
               : err_set(err, ERR_NOT_FOUND, "no such address '%s'", target);
}

static void done(struct request *request)
{
    match_clear(&request->match);
    answer_clear(&request->answer);
}

static struct request viewer_of(const struct archive *archive)
{
    return (struct request){.dashboard = archive->dashboard,
                            .role = ROLE_VIEWER};
}

json_t *archive_ask_json(struct archive *archive, const char *target,
                         struct err *err)
{
    struct request request = viewer_of(archive);
    json_t *json = NULL;

    if (ask(archive, target, &request, err) == 0)
        json =
            json_parse_up_to(request.answer.bytes->data,
                             request.answer.bytes->length, JSON_BYTES_MAX, err);
    done(&request);
    return json;
}

/* ---- writing ---- */

/* "<" stands in texts alone, where it has another way to be written. */
static void write_json(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(text[i], out);
    }
}

static void write_json_text(FILE *out, const char *text)
{
    json_t *json = json_from_text(text);
    struct buf quoted = BUF_INIT;

    json_print(json, &quoted);
    write_json(out, buf_text(&quoted), quoted.length);
    buf_clear(&quoted);
    json_decref(json);
}

static void begin_entry(FILE *out, const char *path, const char *type)
{
    fputs("<script type=\"application/json\" data-archive>{", out);
    write_json_text(out, path);
    fputs(": {\"type\": ", out);
    write_json_text(out, type);
}

static void end_entry(FILE *out)
{
    fputs("}}</script>\n", out);
}

static void write_packed(FILE *out, const char *bytes, size_t length)
{
    struct buf packed = BUF_INIT, text = BUF_INIT;

    gzip_compress(bytes, length, &packed);
    base64_encode(packed.data, packed.length, &text);
    fprintf(out, ", \"base64gz\": \"%s\"", buf_text(&text));
    buf_clear(&packed);
    buf_clear(&text);
}

static void put(const struct archive *archive, const char *path,
                const struct answer *answer)
{
    const char *bytes = answer->bytes->data;
    size_t length = answer->bytes->length;
    FILE *out = archive->out;

    begin_entry(out, path, answer->type);
    if (answer->is_piece)
        fprintf(out, ", \"from\": %lld, \"size\": %lld",
                (long long)answer->from_byte, (long long)answer->size_bytes);
    if (strcmp(answer->type, json_media) == 0 && length <= JSON_PLAIN_MAX) {
        fputs(", \"json\": ", out);
        write_json(out, bytes, length);
    } else {
        write_packed(out, bytes, length);
    }
    end_entry(out);
}

void archive_put_json(struct archive *archive, const char *path,
                      const json_t *json)
{
    struct buf text = BUF_INIT;
    struct answer answer = {.type = json_media};

    json_print(json, &text);
    answer.bytes = blob_create(&text);
    put(archive, path, &answer);
    blob_release(answer.bytes);
}

/* ---- both ---- */

int archive_add(struct archive *archive, const char *path, const char *target,
                struct err *err)
{
    struct request request = viewer_of(archive);
    int status = ask(archive, target, &request, err);

    if (status == 0)
        put(archive, path, &request.answer);
    done(&request);
    return status;
}

int archive_add_page(struct archive *archive, const char *path, int64_t *next,
                     size_t *bytes, struct err *err)
{
    struct request request = viewer_of(archive);
    int status = ask(archive, path, &request, err);

    if (status == 0) {
        put(archive, path, &request.answer);
        *next = request.answer.next;
        *bytes = request.answer.bytes->length;
    }
    done(&request);
    return status;
}

char *archive_escape(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!~*'()";
    struct buf out = BUF_INIT;

    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL)
            buf_add_char(&out, *text);
        else
            buf_printf(&out, "%%%02X", (unsigned int)(unsigned char)*text);
    }
    return buf_take(&out);
}
