/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/event.h"
#include "store/store_impl.h"

/* ---- what may be said ---- */

static bool is_control(uint32_t rune)
{
    return rune < 0x20 || (rune >= 0x7f && rune < 0xa0);
}

static int check_text(const char *what, const char *text, size_t max_bytes,
                      const char *allowed, struct err *err)
{
    size_t length = strlen(text), size;
    uint32_t rune;

    if (length > max_bytes)
        return err_set(err, ERR_USAGE, "%s has at most %zu bytes, not %zu",
                       what, max_bytes, length);
    for (size_t i = 0; i < length; i += size) {
        size = text_next_rune(text + i, length - i, &rune);
        if (size == 0)
            return err_set(err, ERR_USAGE, "%s must be UTF-8", what);
        if (is_control(rune) && strchr(allowed, (int)rune) == NULL)
            return err_set(err, ERR_USAGE,
                           "%s must not contain control characters", what);
    }
    return 0;
}

static int check_tag(const char *tag, struct err *err)
{
    size_t length = strlen(tag);

    if (length == 0)
        return err_set(err, ERR_USAGE, "a tag must not be empty");
    if (tag[0] == ' ' || tag[length - 1] == ' ')
        return err_set(err, ERR_USAGE,
                       "a tag must not start or end with a blank: '%s'", tag);
    return check_text("a tag", tag, STORE_TAG_MAX_BYTES, "", err);
}

/* ---- what is changed ---- */

struct remark {
    int64_t run, job;
    enum statement of_run, of_job;
    struct value value;
};

/* *changed: it was not so already. */
static int set_remark(struct store *store, const struct remark *remark,
                      bool *changed, struct err *err)
{
    bool is_job = remark->job != 0;
    int result = store_change(
        store, is_job ? remark->of_job : remark->of_run,
        VALUES(value_int(is_job ? remark->job : remark->run), remark->value),
        err);

    *changed = result == 0 && sqlite3_changes(store->db) > 0;
    return result;
}

int store_set_comment(struct store *store, int64_t run, int64_t job,
                      const char *text, int64_t time_ms, struct err *err)
{
    const char *kept = text != NULL && text[0] != '\0' ? text : NULL;
    const struct remark remark = {run, job, UPDATE_RUN_COMMENT,
                                  UPDATE_JOB_COMMENT, value_text(kept)};
    struct buf *detail;
    bool changed;
    int result;

    if (kept != NULL &&
        check_text("a note", kept, STORE_COMMENT_MAX_BYTES, "\n\t", err) < 0)
        return -1;
    result = set_remark(store, &remark, &changed, err);
    if (!changed)
        return result;
    detail = detail_start(store);
    detail_text(detail, "comment", kept);
    return event_add(store,
                     &(struct event){.run = run,
                                     .job = job,
                                     .time_ms = time_ms,
                                     .event = "commented",
                                     .detail = detail_end(detail)},
                     err);
}

/* Those that it has; a new list. NULL on error. */
static json_t *read_tags(struct store *store, int64_t run, int64_t job,
                         struct err *err)
{
    struct value id = value_int(job != 0 ? job : run);
    sqlite3_stmt *statement =
        store_query(store,
                    job != 0 ? "SELECT tags FROM job WHERE id = ?1"
                             : "SELECT tags FROM run WHERE id = ?1",
                    &id, 1, err);
    int row = statement != NULL ? store_step(store, statement, err) : -1;
    json_t *tags = NULL;

    if (row == 0)
        err_set(err, ERR_NOT_FOUND, "the run or trial no longer exists");
    if (row > 0)
        tags = json_loads(store_column_text(statement, 0), 0, NULL);
    if (row > 0 && !json_is_array(tags)) {
        json_decref(tags);
        tags = json_array();
    }
    sqlite3_finalize(statement);
    return tags;
}

static int compare_tags(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The sorted set of those that it had and those that it gets, without those
 * that go: into tags[], which has room for all. Borrowed texts. */
static size_t merge(const json_t *had, const struct tag_change *change,
                    const char **tags)
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(had) + change->add_count; i++) {
        const char *tag = i < json_array_size(had)
                              ? json_string_value(json_array_get(had, i))
                              : change->add[i - json_array_size(had)];

        if (tag != NULL && !text_is_among(tag, tags, count) &&
            !text_is_among(tag, change->remove, change->remove_count))
            tags[count++] = tag;
    }
    if (count > 0)
        qsort(tags, count, sizeof(*tags), compare_tags);
    return count;
}

static int put_tags(struct store *store, const struct tag_change *change,
                    const char *const *tags, size_t count, struct err *err)
{
    struct remark remark = {change->run, change->job, UPDATE_RUN_TAGS,
                            UPDATE_JOB_TAGS, value_null()};
    json_t *list = json_array();
    struct buf text = BUF_INIT;
    struct buf *detail;
    bool changed;
    int result;

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_from_text(tags[i]));
    json_print(list, &text);
    if (count > 0)
        remark.value = value_text(buf_text(&text));
    result = set_remark(store, &remark, &changed, err);
    if (changed) {
        detail = detail_start(store);
        if (count > 0)
            detail_texts(detail, "tags", tags, count);
        result = event_add(store,
                           &(struct event){.run = change->run,
                                           .job = change->job,
                                           .time_ms = change->time_ms,
                                           .event = "tagged",
                                           .detail = detail_end(detail)},
                           err);
    }
    buf_clear(&text);
    json_decref(list);
    return result;
}

int store_change_tags(struct store *store, const struct tag_change *change,
                      struct err *err)
{
    const char **tags;
    json_t *had;
    size_t count;
    int result;

    if (change->add_count > STORE_TAGS_MAX)
        return err_set(err, ERR_USAGE, "at most %d tags, not %zu",
                       STORE_TAGS_MAX, change->add_count);
    for (size_t i = 0; i < change->add_count; i++) {
        if (check_tag(change->add[i], err) < 0)
            return -1;
    }
    had = read_tags(store, change->run, change->job, err);
    if (had == NULL)
        return -1;
    tags = mem_array(json_array_size(had) + change->add_count, sizeof(*tags));
    count = merge(had, change, tags);
    result = count > STORE_TAGS_MAX
                 ? err_set(err, ERR_USAGE, "at most %d tags, not %zu",
                           STORE_TAGS_MAX, count)
                 : put_tags(store, change, tags, count, err);
    free(tags);
    json_decref(had);
    return result;
}

/* ---- what there is ---- */

int store_each_remark(struct store *store, int64_t run,
                      int (*row)(void *user, const struct remark_row *remark),
                      void *user, struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT 0, 0, comment, tags FROM run WHERE id = ?1"
        " AND (comment IS NOT NULL OR tags IS NOT NULL)"
        " UNION ALL SELECT * FROM (SELECT id, number, comment, tags FROM job"
        "  WHERE run_id = ?1 AND (comment IS NOT NULL OR tags IS NOT NULL)"
        "  ORDER BY number)",
        &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        const struct remark_row remark = {
            .job = sqlite3_column_int64(statement, 0),
            .number = sqlite3_column_int64(statement, 1),
            .comment = store_column_text_or_null(statement, 2),
            .tags = store_column_text_or_null(statement, 3),
        };

        result = row(user, &remark);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
