/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line that `smtune report` and smtrain write for NAME=NUMBER words. It is
 * JSON, and base/metrics/metrics.c reads it like a line of any other program.
 * JSON has no nan and no inf; they are written as words, which the reader
 * accepts.
 */
#include "base/metrics/metrics.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/metrics/name.h"
#include "base/metrics/number.h"

static const double exact_max = 9007199254740992.0; /* 2^53 */

/* A new reference. JSON has no NaN and no infinities. */
static json_t *number(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    if (value == floor(value) && fabs(value) <= exact_max)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static int add_word(json_t *line, const char *word, struct err *err)
{
    const char *equals = strchr(word, '=');
    const char *end = word + strlen(word);
    char name[METRIC_NAME_MAX + 1];
    size_t length;
    double value;

    if (equals == NULL)
        return err_set(err, ERR_USAGE, "'%s': expected NAME=NUMBER", word);
    length = (size_t)(equals - word);
    if (!metric_is_name(word, length))
        return err_set(
            err, ERR_USAGE,
            "'%.*s' is not a valid name for a metric (letters, digits "
            "and _ . / -, a letter or _ first)",
            (int)length, word);
    if (!metric_is_number(equals + 1, end, &value))
        return err_set(err, ERR_USAGE, "'%s' is not a number, in '%s'",
                       equals + 1, word);
    memcpy(name, word, length);
    name[length] = '\0';
    if (json_object_get(line, name) != NULL)
        return err_set(err, ERR_USAGE, "duplicate metric '%s'", name);
    if (strcmp(name, "step") == 0 &&
        !(value >= 0 && value <= exact_max && value == floor(value)))
        return err_set(
            err, ERR_USAGE,
            "type mismatch: a step is a whole number from 0, not '%s'",
            equals + 1);
    json_object_set_new(line, name, number(value));
    return 0;
}

int metric_report_line(char *const *words, size_t count, struct buf *out,
                       struct err *err)
{
    json_t *line = json_object();
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_word(line, words[i], err);
    if (rc == 0 && json_object_size(line) ==
                       (json_object_get(line, "step") != NULL ? 1 : 0))
        rc = err_set(err, ERR_USAGE, "missing metric: write NAME=NUMBER");
    if (rc == 0) {
        json_print(line, out);
        buf_add_char(out, '\n');
    }
    json_decref(line);
    return rc;
}
