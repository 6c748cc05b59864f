/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an event's detail says, and how that is complained of. */
#include "orchestrator/proof/fsck_fold_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void fsck_fold_complain(struct fsck_fold *fold, const char *format, ...)
{
    const struct event_row *event = fold->event;
    struct fsck_fold_row *attempt =
        fsck_fold_find(fold, IMAGE_ATTEMPT, event->attempt);
    struct fsck_fold_row *job = fsck_fold_find(fold, IMAGE_JOB, event->job);
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fold->wrong(
        fold->user, event->seq,
        job != NULL ? fsck_fold_trial(fold, IMAGE_JOB, job) : event->job_number,
        attempt != NULL ? attempt->cells[ATTEMPT_CELL_NUMBER].integer : 0,
        text);
}

static struct value take_text(struct fsck_fold *fold, char *text)
{
    struct value kept = fsck_fold_keep_text(fold, text);

    free(text);
    return kept;
}

/* A real stands as a list of one, so that it may be a word. */
static struct value cell_of(struct fsck_fold *fold, enum stored_as kind,
                            const json_t *item)
{
    const json_type type = json_typeof(item);
    struct buf text = BUF_INIT;

    if (type == JSON_INTEGER)
        return value_int(json_integer_value(item));
    if (type == JSON_STRING)
        return fsck_fold_keep_text(fold, json_string_value(item));
    if (type != JSON_ARRAY)
        return value_null();
    if (kind == STORED_REAL)
        return value_real(json_to_real(json_array_get(item, 0)));
    if (kind == STORED_REALS)
        return take_text(fold, image_reals(item));
    json_print(item, &text);
    return take_text(fold, buf_take(&text));
}

void fsck_fold_set_from_detail(struct fsck_fold *fold, enum image image,
                               struct fsck_fold_row *row, json_t *detail)
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
                fsck_fold_set(row, i, cell_of(fold, table->kinds[i], item));
        }
    }
}

const char *fsck_fold_text_of(const json_t *detail, const char *key)
{
    const char *text = json_string_value(json_object_get(detail, key));

    return text != NULL ? text : "";
}
