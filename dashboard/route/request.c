/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

/* What the functions of routes see of a request, and how they fill an answer.
 */

struct dashboard *request_dashboard(const struct request *request)
{
    return request->dashboard;
}

enum role request_role(const struct request *request)
{
    return request->role;
}

bool request_is_guests(const struct request *request)
{
    return request->role < ROLE_OPERATOR;
}

int64_t request_id(const struct request *request, size_t i)
{
    return request->match.ids[i];
}

const char *request_text(const struct request *request, const char *name)
{
    int at = match_query(request->match.route, name);

    return at < 0 ? NULL : request->match.texts[at];
}

int64_t request_int(const struct request *request, const char *name)
{
    int at = match_query(request->match.route, name);

    return at < 0 ? 0 : request->match.ints[at];
}

const json_t *request_body(const struct request *request)
{
    return request->body;
}

int answer_json(struct answer *answer, json_t *json, struct err *err)
{
    struct buf text = BUF_INIT;

    (void)err;
    if (json == NULL)
        return -1;
    json_print(json, &text);
    json_decref(json);
    buf_add_char(&text, '\n');
    return answer_bytes(answer, "application/json", blob_create(&text));
}

int answer_block(struct answer *answer, struct blob *block)
{
    return block == NULL
               ? -1
               : answer_bytes(answer, "application/octet-stream", block);
}

int answer_bytes(struct answer *answer, const char *type, struct blob *bytes)
{
    answer->type = type;
    answer->bytes = bytes;
    return 0;
}

/* The word a program looks for. */
static const char *kind_of(int status)
{
    static const struct {
        int status;
        const char *kind;
    } kinds[] = {
        {400, "bad_request"},     {401, "not_logged_in"}, {403, "forbidden"},
        {404, "not_found"},       {405, "bad_method"},    {409, "busy"},
        {411, "length_required"}, {413, "too_large"},     {415, "bad_type"},
        {421, "wrong_host"},      {501, "not_offered"},   {503, "shortage"},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].status == status)
            return kinds[i].kind;
    }
    return "failed";
}

int answer_error(struct answer *answer, int status, const char *text)
{
    struct err err = {0};
    json_t *error = json_object();
    json_t *json = json_object();

    json_object_set_new(error, "kind", json_from_text(kind_of(status)));
    json_object_set_new(error, "text", json_from_text(text));
    json_object_set_new(json, "error", error);
    answer->status = status;
    return answer_json(answer, json, &err);
}

void answer_header(struct answer *answer, const char *name, const char *format,
                   ...)
{
    size_t i = 0;
    va_list args;

    while (i < ANSWER_HEADERS_MAX && answer->headers[i].name != NULL)
        i++;
    if (i == ANSWER_HEADERS_MAX)
        return;
    va_start(args, format);
    vsnprintf(answer->headers[i].value, ANSWER_HEADER_SIZE, format, args);
    va_end(args);
    answer->headers[i].name = name;
}

void answer_clear(struct answer *answer)
{
    blob_release(answer->bytes);
    *answer = (struct answer){0};
}
