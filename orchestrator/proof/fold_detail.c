/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an event's detail says, and how that is complained of. */
#include "orchestrator/proof/fold_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void fold_complain(struct fold *fold, const char *format, ...)
{
    const struct event_row *event = fold->event;
    struct fold_row *attempt = fold_find(fold, IMAGE_ATTEMPT, event->attempt);
    struct fold_row *job = fold_find(fold, IMAGE_JOB, event->job);
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fold->wrong(
        fold->user, event->seq,
        job != NULL ? fold_trial(fold, IMAGE_JOB, job) : event->job_number,
        attempt != NULL ? attempt->cells[ATTEMPT_CELL_NUMBER].integer : 0,
        text);
}

static struct value take_text(struct fold *fold, char *text)
{
    struct value kept = fold_keep_text(fold, text);

    free(text);
    return kept;
}

/* A real stands as a list of one, so that it may be a word. */
static bool is_real(enum image image, size_t cell)
{
    return (image == IMAGE_JOB && cell == JOB_CELL_VIOLATION) ||
           (image == IMAGE_OBSERVATION &&
            (cell == OBSERVATION_CELL_LAST || cell == OBSERVATION_CELL_BEST));
}

static bool is_reals(enum image image, size_t cell)
{
    return (image == IMAGE_JOB &&
            (cell == JOB_CELL_VALUES || cell == JOB_CELL_OUTCOMES)) ||
           (image == IMAGE_OBSERVATION && (cell == OBSERVATION_CELL_VALUES ||
                                           cell == OBSERVATION_CELL_OUTCOMES));
}

static struct value cell_of(struct fold *fold, enum image image, size_t cell,
                            const json_t *item)
{
    const json_type type = json_typeof(item);
    struct buf text = BUF_INIT;

    if (type == JSON_INTEGER)
        return value_int(json_integer_value(item));
    if (type == JSON_STRING)
        return fold_keep_text(fold, json_string_value(item));
    if (type != JSON_ARRAY)
        return value_null();
    if (is_real(image, cell))
        return value_real(json_to_real(json_array_get(item, 0)));
    if (is_reals(image, cell))
        return take_text(fold, image_reals(item));
    json_print(item, &text);
    return take_text(fold, buf_take(&text));
}

void fold_set_from_detail(struct fold *fold, enum image image,
                          struct fold_row *row, json_t *detail)
{
    const struct image_table *table = &image_tables[image];
    void *at = json_object_iter(detail);

    for (; at != NULL; at = json_object_iter_next(detail, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *item = json_object_iter_value(at);

        if (strcmp(key, "state") == 0)
            continue;
        for (size_t i = 1; i < table->cell_count; i++) {
            if (strcmp(key, table->cells[i]) == 0)
                fold_set(row, i, cell_of(fold, image, i, item));
        }
    }
}

const char *fold_text_of(const json_t *detail, const char *key)
{
    const char *text = json_string_value(json_object_get(detail, key));

    return text != NULL ? text : "";
}
