/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ask_tell/ask_tell_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"
#include "base/units.h"

/* ---- the line ---- */

static size_t match_word(const char *text, size_t length)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t size = strlen(words[i]);

        if (length >= size && memcmp(text, words[i], size) == 0)
            return size;
    }
    return 0;
}

/* The line with null for the words that JSON does not know. */
static void replace_words(const char *line, size_t length, struct buf *out)
{
    bool in_string = false;

    for (size_t i = 0; i < length; i++) {
        size_t size = in_string ? 0 : match_word(line + i, length - i);

        if (size > 0) {
            buf_add_string(out, "null");
            i += size - 1;
            continue;
        }
        if (line[i] == '"')
            in_string = !in_string;
        buf_add_char(out, line[i]);
        if (in_string && line[i] == '\\' && i + 1 < length)
            buf_add_char(out, line[++i]);
    }
}

json_t *ask_tell_parse(const char *line, size_t length, struct err *err)
{
    json_t *request = json_parse(line, length, err);
    struct buf text = BUF_INIT;

    if (request == NULL) {
        replace_words(line, length, &text);
        if (text.length != length)
            request = json_parse(text.data, text.length, NULL);
        buf_clear(&text);
    }
    if (request == NULL || json_typeof(request) == JSON_OBJECT)
        return request;
    json_decref(request);
    err_set(err, ERR_USAGE,
            "type mismatch: a request is an object with \"op\", such "
            "as {\"op\":\"ask\"}");
    return NULL;
}

/* ---- its parts ---- */

/* Says which type was expected where another stands, or none. */
static int refuse(const json_t *item, const char *key, const char *expected,
                  struct err *err)
{
    static const char *const types[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list",
        [JSON_STRING] = "a text",      [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };

    if (item == NULL)
        return err_set(err, ERR_USAGE, "missing key \"%s\"", key);
    return err_set(err, ERR_USAGE, "type mismatch: \"%s\" must be %s, not %s",
                   key, expected, types[json_typeof(item)]);
}

const char *ask_tell_read_text(const json_t *request, const char *key,
                               struct err *err)
{
    const json_t *item = json_object_get(request, key);

    if (!json_is_string(item))
        refuse(item, key, "a text", err);
    return json_string_value(item);
}

int ask_tell_read_integer(const json_t *request, const char *key,
                          int64_t *number, struct err *err)
{
    const json_t *item = json_object_get(request, key);

    if (!json_is_integer(item))
        return refuse(item, key, "an integer", err);
    *number = json_integer_value(item);
    return 0;
}

int ask_tell_read_count(const json_t *request, const char *key, int64_t max,
                        int64_t *count, struct err *err)
{
    if (json_object_get(request, key) == NULL)
        return 0;
    if (ask_tell_read_integer(request, key, count, err) != 0)
        return -1;
    if (*count < 1 || *count > max)
        return err_set(err, ERR_USAGE,
                       "out of range: \"%s\" must be from 1 to %" PRId64
                       ", not %" PRId64,
                       key, max, *count);
    return 0;
}

int ask_tell_read_id(const json_t *request, int64_t *id, struct err *err)
{
    return ask_tell_read_integer(request, "id", id, err);
}

int ask_tell_read_flag(const json_t *request, const char *key, bool *flag,
                       struct err *err)
{
    const json_t *item = json_object_get(request, key);

    if (item == NULL)
        return 0;
    *flag = json_typeof(item) == JSON_TRUE;
    return *flag || json_typeof(item) == JSON_FALSE
               ? 0
               : refuse(item, key, "true or false", err);
}

int session_read_state(const json_t *request, enum job_state *state,
                       struct err *err)
{
    static const enum job_state states[] = {JOB_SUCCEEDED, JOB_FAILED,
                                            JOB_STOPPED, JOB_CANCELLED};
    const char *words[ARRAY_LEN(states)];
    const char *word = job_state_names[JOB_SUCCEEDED];

    if (json_object_get(request, "state") != NULL)
        word = ask_tell_read_text(request, "state", err);
    if (word == NULL)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        words[i] = job_state_names[states[i]];
        *state = states[i];
        if (strcmp(words[i], word) == 0)
            return 0;
    }
    return text_unknown("state", word, words, ARRAY_LEN(words), ERR_USAGE, err);
}

/* null and "nan" are NaN. */
static int read_real(const json_t *item, const char *key, double *real,
                     struct err *err)
{
    static const struct {
        const char *word;
        double real;
    } words[] = {
        {"nan", (double)NAN},
        {"inf", (double)INFINITY},
        {"-inf", -(double)INFINITY},
        {"infinity", (double)INFINITY},
        {"-infinity", -(double)INFINITY},
        {"+inf", (double)INFINITY},
    };

    *real = (double)NAN;
    if (json_is_number(item))
        *real = json_number_value(item);
    if (json_is_number(item) || json_is_null(item))
        return 0;
    for (size_t i = 0; json_is_string(item) && i < ARRAY_LEN(words); i++) {
        *real = words[i].real;
        if (strcasecmp(words[i].word, json_string_value(item)) == 0)
            return 0;
    }
    return refuse(item, key, "a number", err);
}

static int read_list(const json_t *list, const char *key, double *reals,
                     size_t count, struct err *err)
{
    if (!json_is_array(list))
        return refuse(list, key, "a list of numbers", err);
    if (json_array_size(list) != count)
        return err_set(err, ERR_USAGE,
                       "out of range: \"%s\" must have %zu number%s, not %zu",
                       key, count, units_plural((int64_t)count),
                       json_array_size(list));
    for (size_t i = 0; i < count; i++) {
        if (read_real(json_array_get(list, i), key, &reals[i], err) != 0)
            return -1;
    }
    return 0;
}

int ask_tell_read_value(const json_t *request, double *value, struct err *err)
{
    return read_real(json_object_get(request, "value"), "value", value, err);
}

bool ask_tell_has_values(const json_t *request)
{
    return json_object_get(request, "value") != NULL ||
           json_object_get(request, "values") != NULL;
}

int ask_tell_read_values(const json_t *request, double *values, size_t count,
                         struct err *err)
{
    const json_t *list = json_object_get(request, "values");

    if (count > 1 || list != NULL)
        return read_list(list, "values", values, count, err);
    return ask_tell_read_value(request, values, err);
}

int ask_tell_read_constraints(const json_t *request, double *outcomes,
                              size_t count, struct err *err)
{
    const json_t *list = json_object_get(request, "constraints");

    if (count == 0 && list == NULL)
        return 0;
    if (count == 0)
        return err_set(err, ERR_USAGE,
                       "unknown key \"constraints\": the experiment has no "
                       "constraints on metrics");
    return read_list(list, "constraints", outcomes, count, err);
}
