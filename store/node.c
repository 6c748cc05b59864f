/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of clusters that were trouble. */
#include "base/value.h"
#include "store/event.h"
#include "store/store_impl.h"

int store_report_node(struct store *store, const struct node_new *node,
                      struct err *err)
{
    struct buf *detail;

    if (store_change(store, REPORT_NODE,
                     VALUES(value_text(node->name), value_text(node->trouble),
                            value_text(node->text), value_int(node->run),
                            int_unless(node->attempt, 0),
                            value_int(node->time_ms),
                            value_int(node->until_ms)),
                     err) < 0)
        return -1;
    detail = detail_start(store);
    detail_text(detail, "node", node->name);
    detail_text(detail, "trouble", node->trouble);
    detail_text(detail, "text", node->text);
    detail_int(detail, "until_ms", node->until_ms);
    detail_int_unless_0(detail, "attempt", node->attempt);
    return event_add(store,
                     &(struct event){.run = node->run,
                                     .time_ms = node->time_ms,
                                     .event = "node_avoided",
                                     .detail = detail_end(detail)},
                     err);
}

int store_avoid_node(struct store *store, const char *name, const char *text,
                     int64_t until_ms, struct err *err)
{
    return store_change(
        store, AVOID_NODE,
        VALUES(value_text(name), value_text(text), int_unless(until_ms, 0)),
        err);
}

int store_clear_node(struct store *store, const char *name, struct err *err)
{
    if (store_change(store, CLEAR_NODE, VALUES(value_text(name)), err) < 0)
        return -1;
    return sqlite3_changes(store->db) == 1
               ? 0
               : err_set(err, ERR_NOT_FOUND,
                         "unknown node '%s' (list: smtune nodes)", name);
}

static void read_node(sqlite3_stmt *statement, struct node_row *node)
{
    int column = 0;

    node->name = store_column_text(statement, column++);
    node->trouble = store_column_text_or_null(statement, column++);
    node->text = store_column_text_or_null(statement, column++);
    node->run = store_column_text_or_null(statement, column++);
    node->trial = sqlite3_column_int64(statement, column++);
    node->attempt = sqlite3_column_int64(statement, column++);
    node->first_ms = sqlite3_column_int64(statement, column++);
    node->last_ms = sqlite3_column_int64(statement, column++);
    node->count = sqlite3_column_int64(statement, column++);
    node->is_avoided = sqlite3_column_int(statement, column++) != 0;
    node->until_ms = sqlite3_column_int64(statement, column++);
    node->by = store_column_text(statement, column++);
}

int store_each_node(struct store *store, int64_t now_ms,
                    int (*row)(void *user, const struct node_row *node),
                    void *user, struct err *err)
{
    struct value now = int_unless(now_ms, 0);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT node.name, trouble, node.text, run.name, job.number, a.number,"
        " first_ms, last_ms, count, avoided, until_ms, \"by\""
        " FROM node LEFT JOIN run ON run.id = node.run_id"
        " LEFT JOIN attempt AS a ON a.id = node.attempt_id"
        " LEFT JOIN job ON job.id = a.job_id"
        " WHERE ?1 IS NULL OR (avoided AND ifnull(until_ms > ?1, 1))"
        " ORDER BY node.name",
        &now, 1, err);
    struct node_row node;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_node(statement, &node);
        result = row(user, &node);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}
