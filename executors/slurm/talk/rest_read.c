/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The meaning of an answer of slurmrestd: its values, its errors and its
 * version.
 *
 * The most important distinction is between refused and silent. A job is
 * refused by a bad request or by an error number of Slurm's about jobs; it does
 * not exist. Everything else is silence, from which nothing follows: the job
 * may exist. slurmrestd reports a controller that does not answer as an error
 * like others, so the text of an error never decides alone.
 *
 * A number may be missing, unlimited or plain, in three forms in different
 * versions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"
#include "executors/slurm/talk/rest_impl.h"
#include "executors/slurm/talk/rest_link.h"

enum {
    NO_NUMBER = -1, /* of an error: what slurmrestd cannot tell either */
    HTTP_OK = 200,
    BODY_MAX_BYTES = 64 << 20,
    HTTP_BAD_REQUEST = 400,
    HTTP_NO_ACCESS = 401
};

/* -- Values ---------------------------------------------------------------*/

int64_t slurm_rest_number(const json_t *json)
{
    if (json_is_object(json)) {
        if (json_is_true(json_object_get(json, "infinite")))
            return 0;
        if (!json_is_true(json_object_get(json, "set")))
            return -1;
        json = json_object_get(json, "number");
    }
    return json_is_integer(json) && json_integer_value(json) >= 0
               ? json_integer_value(json)
               : -1;
}

int64_t slurm_rest_known(const json_t *json)
{
    int64_t number = slurm_rest_number(json);

    return number > 0 ? number : 0;
}

int slurm_rest_count(const json_t *json)
{
    int64_t number = slurm_rest_known(json);

    return number < INT32_MAX ? (int)number : INT32_MAX;
}

int64_t slurm_rest_time_ms(const json_t *json, int64_t unit_ms)
{
    int64_t number = slurm_rest_known(json);

    return number < INT64_MAX / unit_ms ? number * unit_ms : 0;
}

const char *slurm_rest_text(const json_t *json)
{
    return json_is_string(json) ? json_string_value(json) : "";
}

const json_t *slurm_rest_inner(const json_t *json, const char *a, const char *b)
{
    return json_object_get(json_object_get(json, a), b);
}

/* The last of those that are known says most. */
const char *slurm_rest_state(const json_t *json)
{
    const char *word =
        slurm_rest_text(json_is_array(json) ? json_array_get(json, 0) : json);

    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *other = slurm_rest_text(json_array_get(json, i));

        if (slurm_state_find(other)->phase != SLURM_UNKNOWN)
            word = other;
    }
    return word;
}

/* -- What an answer means -------------------------------------------------*/

static int64_t error_number(const json_t *error)
{
    const json_t *number = json_object_get(error, "error_number");

    if (number == NULL)
        number = json_object_get(error, "error_code");
    return json_is_integer(number) ? json_integer_value(number) : 0;
}

/* What the errors say, one behind the other, and the number of the first that
 * tells of Slurm's own. */
static int64_t add_errors(const json_t *errors, struct buf *out)
{
    enum { FIRST = 1000, LAST = 8999 };
    int64_t found = 0;

    for (size_t i = 0; i < json_array_size(errors); i++) {
        const json_t *error = json_array_get(errors, i);
        const char *description =
            slurm_rest_text(json_object_get(error, "description"));
        const char *name = slurm_rest_text(json_object_get(error, "error"));
        int64_t number = error_number(error);

        if (found < FIRST || found > LAST)
            found = number != 0 ? number : NO_NUMBER;
        buf_add_string(out, out->length > 0 ? "; " : "");
        buf_add_string(out, description);
        if (strstr(description, name) == NULL)
            buf_printf(out, "%s%s", description[0] != '\0' ? ": " : "", name);
    }
    return found;
}

static void set_text(struct slurm_reply *reply, const char *text)
{
    struct buf line = BUF_INIT;
    size_t length = strlen(text);

    text_escape(text, length < SLURM_TEXT_MAX ? length : SLURM_TEXT_MAX, &line);
    snprintf(reply->text, sizeof(reply->text), "%s", buf_text(&line));
    buf_clear(&line);
}

/* Numbers of Slurm's, as slurm_errno.h has them. */
static enum slurm_answer answer_of(int status, int64_t number,
                                   const char *message)
{
    enum {
        HARD_DROP = 1805, /* more requests than the controller allows */
        JOB_FIRST = 2000,
        STANDBY = 2027,
        STANDBY_BACKUP = 2131,
        JOB_LAST = 2199
    };
    enum slurm_answer answer;

    /* EAGAIN: the controller takes no more jobs just now */
    if (number == EAGAIN || number == HARD_DROP)
        return SLURM_LATER;
    if (number == STANDBY || number == STANDBY_BACKUP)
        return SLURM_SILENT;
    if (status == HTTP_BAD_REQUEST)
        return SLURM_REFUSED;
    if (number < JOB_FIRST || number > JOB_LAST)
        return SLURM_SILENT;
    answer = slurm_answer_of(message);
    return answer == SLURM_SILENT ? SLURM_REFUSED : answer;
}

/* What a status means where the body lists no errors. slurmrestd of 24.11
 * answers 511 to a token that has expired, and 502 without a controller. */
static const char *status_meaning(int status)
{
    switch (status) {
    case HTTP_NO_ACCESS:
    case 511: /* Network Authentication Required */
        return "slurmrestd refused the token (is the one in SLURM_JWT, or in "
               "the file of SMTUNE_SLURM_TOKEN_FILE, still valid?)";
    case 502: /* Bad Gateway */
    case 503: /* Service Unavailable */
    case 504: /* Gateway Timeout */
        return "slurmrestd cannot reach the Slurm controller";
    default:
        return NULL;
    }
}

/* A body of JSON is for programs; any other is quoted. */
static bool is_json(const struct fetch_answer *answer)
{
    size_t blank = strspn(answer->body, " \t\r\n");

    return answer->body[blank] == '{' || answer->body[blank] == '[';
}

/* A reply that lists no errors of its own. */
static void judge_status(const struct fetch_answer *answer,
                         struct slurm_reply *reply)
{
    const char *meaning = status_meaning(answer->status);
    struct buf text = BUF_INIT;

    reply->answer = SLURM_SILENT;
    if (answer->status == 0)
        buf_printf(&text, "slurmrestd: %s", answer->text);
    else if (meaning != NULL)
        buf_printf(&text, "%s (HTTP %d)", meaning, answer->status);
    else if (answer->status >= HTTP_BAD_REQUEST && !is_json(answer))
        buf_printf(&text, "slurmrestd answered HTTP %d: %s", answer->status,
                   answer->body);
    else if (answer->status >= HTTP_BAD_REQUEST)
        buf_printf(&text, "slurmrestd answered HTTP %d without a reason",
                   answer->status);
    else
        buf_add_string(&text, "the answer of slurmrestd is not complete JSON");
    set_text(reply, buf_text(&text));
    buf_clear(&text);
}

static int pass_over(void *user, const char *item, size_t length)
{
    (void)user, (void)item, (void)length;
    return 0;
}

json_t *slurm_rest_judge(const struct fetch_answer *answer,
                         const struct slurm_rest_part *part, int64_t *number,
                         struct slurm_reply *reply)
{
    static const struct slurm_rest_part none = {"", pass_over, NULL};
    struct buf rest = BUF_INIT, text = BUF_INIT;
    json_t *body = NULL;

    memset(reply, 0, sizeof(*reply));
    *number = 0;
    if (slurm_rest_cut(answer->body, answer->body_bytes,
                       part != NULL ? part : &none, &rest) == 0)
        body = json_parse_up_to(rest.data, rest.length, BODY_MAX_BYTES, NULL);
    if (body != NULL)
        *number = add_errors(json_object_get(body, "errors"), &text);
    if (*number != 0) {
        reply->answer = answer_of(answer->status, *number, buf_text(&text));
        if (*number == NO_NUMBER)
            buf_add_string(
                &text,
                " (check that the controller runs and the token is valid)");
        set_text(reply, buf_text(&text));
    } else if (body == NULL || answer->status != HTTP_OK) {
        judge_status(answer, reply);
    }
    buf_clear(&rest);
    buf_clear(&text);
    return body;
}

void slurm_rest_set_garbled(struct slurm_reply *reply)
{
    judge_status(&(struct fetch_answer){.status = HTTP_OK}, reply);
}

static int version_of(const char *path)
{
    static const char stem[] = "/slurm/v0.0.";
    static const int known[] = {
#define X(number) number,
        REST_VERSIONS(X)
#undef X
    };
    long number = 0;

    if (strncmp(path, stem, sizeof(stem) - 1) == 0)
        number = strtol(path + sizeof(stem) - 1, NULL, 10);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i] == number)
            return known[i];
    }
    return 0;
}

static const char known_texts[] =
#define X(number) ", v0.0." #number
    REST_VERSIONS(X);
#undef X

int slurm_rest_version(const struct fetch_answer *answer, struct err *err)
{
    json_t *spec = json_parse_up_to(answer->body, answer->body_bytes,
                                    BODY_MAX_BYTES, NULL);
    json_t *paths = json_object_get(spec, "paths");
    struct slurm_reply reply = {0};
    void *at = json_object_iter(paths);
    int version = 0;

    for (; at != NULL; at = json_object_iter_next(paths, at)) {
        int found = version_of(json_object_iter_key(at));

        if (found > version)
            version = found;
    }
    if (paths == NULL || answer->status != HTTP_OK) {
        judge_status(answer, &reply);
        err_set(err, ERR_FAILED, "%s",
                answer->status == 0 ? answer->text : reply.text);
        version = 0;
    } else if (version == 0) {
        err_set(err, ERR_FAILED,
                "slurmrestd has no version of its interface that smtune "
                "supports: %s",
                known_texts + 2);
    }
    json_decref(spec);
    return version;
}
