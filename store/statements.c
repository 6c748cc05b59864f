/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All statements that write, and how they are bound, run and reported.
 *
 * Writers use the table of texts, each compiled once a connection. No change
 * runs outside a transaction: SQLite rolls back by itself after some failures,
 * and later changes would then commit one by one. Readers compile per use; a
 * query that is made once for each of many runs is kept by the address of its
 * literal.
 *
 * SQLite's errors become messages here, in one table, with the process that
 * holds a lock. The two lock bytes come from SQLite's file formats: byte 120 of
 * the -shm file (WAL_WRITE_LOCK) and RESERVED_BYTE of the database.
 */
#include "store/statements.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/value.h"
#include "store/lock.h"
#include "store/rows.h"
#include "store/schema/dialect.h"
#include "store/store_impl.h"

static const char *const texts[STATEMENT_COUNT] = {
    [INSERT_RUN] = INSERT_ROW("run", RUN_COLUMNS),
    [INSERT_RUN_OBJECTIVE] =
        "INSERT INTO run_objective VALUES (?1, ?2, ?3, ?4)",
    [INSERT_RUN_OUTCOME] =
        "INSERT INTO run_outcome VALUES (?1, ?2, ?3, ?4, ?5)",
    [INSERT_RUN_PARAM] = "INSERT INTO run_param VALUES (?1, ?2, ?3)",
    [INSERT_RUN_RUNG] = "INSERT INTO run_rung VALUES (?1, ?2, ?3, ?4, ?5)",
    [UPDATE_RUN_STATE] =
        "UPDATE run SET state = ?2, reason = ?3,"
        " ended_ms = iif(?2 = 'running', NULL, ?4) WHERE id = ?1",
    [UPDATE_RUN_ENGINE] = "UPDATE run SET engine_pid = ?2, boot_id = ?3,"
                          " started_ms = iif(?2 = 0, started_ms,"
                          " coalesce(started_ms, ?4)) WHERE id = ?1",
    [UPDATE_RUN_PAUSED] = "UPDATE run SET paused_ms = ?2"
                          " WHERE id = ?1 AND paused_ms IS NOT ?2",
    [UPDATE_RUN_COMMENT] =
        "UPDATE run SET comment = ?2 WHERE id = ?1 AND comment IS NOT ?2",
    [UPDATE_RUN_TAGS] =
        "UPDATE run SET tags = ?2 WHERE id = ?1 AND tags IS NOT ?2",
    [UPDATE_JOB_COMMENT] =
        "UPDATE job SET comment = ?2 WHERE id = ?1 AND comment IS NOT ?2",
    [UPDATE_JOB_TAGS] =
        "UPDATE job SET tags = ?2 WHERE id = ?1 AND tags IS NOT ?2",
    [INSERT_ENQUEUED] = INSERT_ROW_OF_RUN("enqueued", ENQUEUED_COLUMNS),
    [TAKE_ENQUEUED] = "UPDATE enqueued SET trial = ?3"
                      " WHERE run_id = ?1 AND idx = ?2 AND trial IS NULL",
    [INSERT_RUN_STEP] =
        "INSERT INTO run_step (run_id, idx, name) VALUES (?1, ?2, ?3)",
    [UPDATE_RUN_STEP] =
        "UPDATE run_step SET state = ?3, reason = ?4,"
        " copies = iif(?3 = 'waiting', NULL, coalesce(?5, copies)),"
        " matrix = iif(?3 = 'waiting', NULL, iif(?5 IS NULL, matrix, ?6)),"
        " first_job = iif(?3 = 'waiting', NULL, iif(?5 IS NULL, first_job, "
        "?8)),"
        " began_ms = iif(?3 = 'waiting', NULL, iif(?5 IS NULL, began_ms, ?7)),"
        " ended_ms = iif(?3 = 'waiting' OR ?3 = 'active', NULL, ?7)"
        " WHERE run_id = ?1 AND idx = ?2",
    [DELETE_RUN] =
        "WITH RECURSIVE below (run) AS (VALUES (?1) UNION"
        " SELECT r.id FROM run AS r JOIN below ON r.parent_id = below.run)"
        " DELETE FROM run WHERE id IN (SELECT run FROM below)",
    [INSERT_JOB] = INSERT_ROW_OF_RUN("job", JOB_COLUMNS),
    [INSERT_PARAM_VALUE] = "INSERT INTO param_value VALUES (?1, ?2, ?3, ?4)",
    [UPDATE_JOB] = "UPDATE job SET state = ?3, cause = ?4,"
                   " started_ms = coalesce(?5, started_ms), ended_ms = ?6,"
                   " due_ms = ?7, violation = ?8, told = coalesce(?9, told),"
                   " outputs = coalesce(?10, outputs),"
                   " cache_key = coalesce(?11, cache_key),"
                   " cached_from = coalesce(?12, cached_from)"
                   " WHERE id = ?1 AND run_id = ?2",
    [PROMOTE_JOB] = "UPDATE job SET state = ?3, resource = ?4, cause = NULL,"
                    " due_ms = NULL WHERE id = ?1 AND run_id = ?2",
    [REOPEN_JOB] = "UPDATE job SET state = ?2, cause = NULL,"
                   " started_ms = NULL, ended_ms = NULL, due_ms = NULL,"
                   " violation = 0, told = NULL, resource = NULL,"
                   " outputs = NULL, cache_key = NULL, cached_from = NULL,"
                   " cancel_asked = NULL, temps_removed_ms = NULL"
                   " WHERE id = ?1",
    [SET_TEMPS_REMOVED] =
        "UPDATE job SET temps_removed_ms = ?3 WHERE id = ?1 AND run_id = ?2",
    [SET_CACHE_KEY] =
        "UPDATE job SET cache_key = ?3 WHERE id = ?1 AND run_id = ?2",
    [ASK_CANCEL] = "UPDATE job SET cancel_asked = ?2 WHERE id = ?1",
    [INSERT_SUPERSEDED_RESULT] =
        INSERT_ROW_OF_RUN("superseded_result", SUPERSEDED_COLUMNS),
    [DELETE_JOB_VALUES] = "DELETE FROM job_value WHERE job_id = ?1",
    [DELETE_JOB_OUTCOMES] = "DELETE FROM job_outcome WHERE job_id = ?1",
    [REPLACE_JOB_VALUE] = "REPLACE INTO job_value VALUES (?1, ?2, ?3, ?4)",
    [REPLACE_JOB_OUTCOME] = "REPLACE INTO job_outcome VALUES (?1, ?2, ?3)",
    [INSERT_OBSERVATION] =
        INSERT_ROW_OF_RUN("observation", OBSERVATION_COLUMNS),
    [UPDATE_OBSERVATION_PROMOTED] =
        "UPDATE observation SET promoted = ?4, promoted_to = ?5"
        " WHERE run_id = ?1 AND told = (SELECT max(told) FROM observation"
        " WHERE job_id = ?2) AND resource = ?3 AND promoted IS NULL",
    [INSERT_ATTEMPT] = INSERT_ROW("attempt", ATTEMPT_COLUMNS),
    [UPDATE_ATTEMPT_QUEUED] =
        "UPDATE attempt SET handle = ?2, queued_ms = coalesce(queued_ms, ?3)"
        " WHERE id = ?1 AND state = 'starting'",
    [UPDATE_ATTEMPT_RUNNING] =
        "UPDATE attempt SET state = 'running', pid = ?2, started_ms = ?3,"
        " node = coalesce(?4, node), handle = coalesce(?5, handle)"
        " WHERE id = ?1 AND state = 'starting'",
    [UPDATE_ATTEMPT_ENDED] =
        "UPDATE attempt SET state = 'ended', cause = ?2, exit_code = ?3,"
        " signal = ?4, started_ms = ?5, ended_ms = ?6,"
        " cpu_ms = ?7, max_rss_bytes = ?8, text = ?9, rule = ?10,"
        " resource_used = ?11, checkpoint = ?12, node = coalesce(?13, node),"
        " displaced = ?14, outside = ?15, shortage = ?16,"
        " gpu_ms = ?17, gpu_memory_bytes = ?18"
        " WHERE id = ?1 AND state <> 'ended'",
    [SELECT_METRIC_NAME] = "SELECT id FROM metric_name WHERE name = ?1",
    [INSERT_METRIC_NAME] = "INSERT INTO metric_name (name) VALUES (?1)",
    [REPLACE_METRIC] = "REPLACE INTO metric VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [DELETE_HALF_OF_METRIC] =
        "DELETE FROM metric WHERE job_id = ?1 AND name_id = ?2 AND step IN ("
        "SELECT step FROM (SELECT step, row_number() OVER (ORDER BY step)"
        "  AS place FROM metric WHERE job_id = ?1 AND name_id = ?2)"
        " WHERE place % 2 = 0"
        " EXCEPT SELECT * FROM (SELECT step FROM metric WHERE job_id = ?1"
        "  AND name_id = ?2 AND value IS NOT NULL ORDER BY value LIMIT 1)"
        " EXCEPT SELECT * FROM (SELECT step FROM metric WHERE job_id = ?1"
        "  AND name_id = ?2 ORDER BY value DESC LIMIT 1))",
    [INSERT_EVENT] = "INSERT INTO event (run_id, job_id, attempt_id, time_ms,"
                     " event, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [INSERT_EARLIER_RESULT] =
        INSERT_ROW_OF_RUN("earlier_result", EARLIER_COLUMNS),
    [INSERT_NOTIFICATION] =
        INSERT_ROW_OF_RUN("notification", NOTIFICATION_COLUMNS),
    [REPORT_NODE] =
        "INSERT INTO node VALUES"
        " (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1, 1, ?7, 'engine')"
        " ON CONFLICT (name) DO UPDATE SET trouble = ?2, text = ?3,"
        " run_id = ?4, attempt_id = ?5, last_ms = ?6, count = count + 1,"
        " until_ms = iif(avoided AND (until_ms IS NULL OR until_ms > ?7),"
        "  until_ms, ?7),"
        " \"by\" = iif(avoided AND (until_ms IS NULL OR until_ms > ?7), \"by\","
        "  'engine'), avoided = 1",
    [AVOID_NODE] =
        "INSERT INTO node (name, text, count, avoided, until_ms,"
        " \"by\") VALUES (?1, ?2, 0, 1, ?3, 'user')"
        " ON CONFLICT (name) DO UPDATE SET text = coalesce(?2, text),"
        " avoided = 1, until_ms = ?3, \"by\" = 'user'",
    [CLEAR_NODE] = "UPDATE node SET avoided = 0, until_ms = NULL,"
                   " \"by\" = 'user' WHERE name = ?1",
    [UPDATE_NOTIFICATION] =
        "UPDATE notification SET tries = ?2, due_ms = ?3, delivered_ms = ?4,"
        " given_up_ms = ?5, error = ?6 WHERE id = ?1",
    [ADDRESS_NOTIFICATION] =
        "UPDATE notification SET receiver = ?2,"
        " given_up_ms = coalesce(?3, given_up_ms), error = coalesce(?4, error)"
        " WHERE id = ?1",
};

struct failure {
    int code; /* SQLite's primary result code */
    enum err_kind kind;
    const char *text;
};

static const struct failure failures[] = {
    {SQLITE_NOTADB, ERR_FAILED,
     "it is not a database, or it is damaged ('smtune fsck --repair' saves all "
     "readable rows)"},
    {SQLITE_CORRUPT, ERR_FAILED,
     "the database is damaged ('smtune fsck --repair' saves all readable "
     "rows)"},
    {SQLITE_FULL, ERR_SHORTAGE, "the disk is full"},
    {SQLITE_READONLY, ERR_FAILED, "it is read-only"},
    {SQLITE_CANTOPEN, ERR_FAILED, "it cannot be opened"},
};

/* Whose lock it is: that of the log's writer, or of a database without one. */
static int fail_busy(const struct store *store, struct err *err)
{
    enum { LOG_WRITER = 120, RESERVED = 0x40000001 };
    char *shared = mem_printf("%s-shm", store->path);
    long pid = lock_find_holder(shared, LOG_WRITER);

    free(shared);
    if (pid == 0)
        pid = lock_find_holder(store->path, RESERVED);
    if (pid == 0)
        return err_set(err, ERR_BUSY,
                       "store '%s': another program keeps it locked",
                       store->path);
    return err_set(err, ERR_BUSY, "store '%s': process %ld keeps it locked",
                   store->path, pid);
}

int store_fail(struct store *store, struct err *err)
{
    int code = sqlite3_extended_errcode(store->db);
    int primary = code & 0xff, why = sqlite3_system_errno(store->db);

    if (primary == SQLITE_BUSY)
        return fail_busy(store, err);
    if (dialect_check(store->db, store->path, err) != 0)
        return -1;
    if (why != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN))
        return err_set_errno(err, ERR_FAILED, why, "store '%s': %s",
                             store->path, sqlite3_errmsg(store->db));
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        if (failures[i].code == primary)
            return err_set(err, failures[i].kind, "store '%s': %s", store->path,
                           failures[i].text);
    }
    return err_set(err, ERR_FAILED, "store '%s': %s (SQLite code %d)",
                   store->path, sqlite3_errmsg(store->db), code);
}

static int bind_one(sqlite3_stmt *statement, int index,
                    const struct value *value)
{
    switch (value->type) {
    case VALUE_BOOL:
        return sqlite3_bind_int(statement, index, value->boolean);
    case VALUE_INT:
        return sqlite3_bind_int64(statement, index, value->integer);
    case VALUE_REAL:
        return sqlite3_bind_double(statement, index, value->real);
    case VALUE_TEXT:
    case VALUE_JSON:
    case VALUE_NUMERAL:
        return sqlite3_bind_text(statement, index, value->text, -1,
                                 SQLITE_STATIC);
    case VALUE_NULL:
        break;
    }
    return sqlite3_bind_null(statement, index);
}

int store_bind(sqlite3_stmt *statement, const struct value *values,
               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int code = bind_one(statement, (int)i + 1, &values[i]);

        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

int store_execute(struct store *store, const char *sql, struct err *err)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(store, err);
    return 0;
}

sqlite3_stmt *store_query(struct store *store, const char *sql,
                          const struct value *values, size_t count,
                          struct err *err)
{
    sqlite3_stmt *statement = NULL;

    if (dialect_prepare(store->db, sql, &statement) != SQLITE_OK ||
        store_bind(statement, values, count) != SQLITE_OK) {
        store_fail(store, err);
        sqlite3_finalize(statement);
        return NULL;
    }
    return statement;
}

/* The literal's, compiled where there is none yet and room for one; NULL: it is
 * not kept, or in use. */
static sqlite3_stmt *find_kept(struct store *store, const char *sql)
{
    struct kept_query *kept = store->kept;
    size_t place = 0;

    while (place < store->kept_count && kept[place].sql != sql)
        place++;
    if (place == KEPT_QUERIES_MAX)
        return NULL;
    if (place == store->kept_count) {
        kept[place] = (struct kept_query){.sql = sql};
        if (dialect_prepare_kept(store->db, sql, &kept[place].statement) !=
            SQLITE_OK)
            return NULL;
        store->kept_count++;
    }
    return sqlite3_stmt_busy(kept[place].statement) ? NULL
                                                    : kept[place].statement;
}

sqlite3_stmt *store_query_kept(struct store *store, const char *sql,
                               const struct value *values, size_t count,
                               struct err *err)
{
    sqlite3_stmt *statement = find_kept(store, sql);

    if (statement == NULL)
        return store_query(store, sql, values, count, err);
    if (store_bind(statement, values, count) == SQLITE_OK)
        return statement;
    store_fail(store, err);
    store_query_end(store, statement);
    return NULL;
}

void store_query_end(struct store *store, sqlite3_stmt *statement)
{
    for (size_t i = 0; i < store->kept_count; i++) {
        if (store->kept[i].statement == statement) {
            sqlite3_reset(statement);
            sqlite3_clear_bindings(statement);
            return;
        }
    }
    sqlite3_finalize(statement);
}

int store_step(struct store *store, sqlite3_stmt *statement, struct err *err)
{
    switch (sqlite3_step(statement)) {
    case SQLITE_ROW:
        return 1;
    case SQLITE_DONE:
        return 0;
    default:
        return store_fail(store, err);
    }
}

int store_query_integer(struct store *store, const char *sql,
                        const struct value *values, size_t count,
                        int64_t *integer, struct err *err)
{
    sqlite3_stmt *statement = store_query(store, sql, values, count, err);
    int row;

    if (statement == NULL)
        return -1;
    row = store_step(store, statement, err);
    *integer = row > 0 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return row < 0 ? -1 : 0;
}

sqlite3_stmt *store_statement(struct store *store, enum statement id,
                              struct err *err)
{
    sqlite3_stmt **statement = &store->statements[id];

    if (*statement == NULL &&
        dialect_prepare_kept(store->db, texts[id], statement) != SQLITE_OK)
        store_fail(store, err);
    return *statement;
}

/* SQLite rolls back by itself after some failures; what follows must not slip
 * in as transactions of its own. */
static int check_transaction(const struct store *store, struct err *err)
{
    if (store->in_transaction && !sqlite3_get_autocommit(store->db))
        return 0;
    return err_set(err, ERR_FAILED, "store '%s': no transaction is open",
                   store->path);
}

int store_change(struct store *store, enum statement id,
                 const struct value *values, size_t count, struct err *err)
{
    sqlite3_stmt *statement;
    int row;

    if (check_transaction(store, err) < 0)
        return -1;
    statement = store_statement(store, id, err);
    if (statement == NULL)
        return -1;
    if (store_bind(statement, values, count) != SQLITE_OK)
        return store_fail(store, err);
    row = store_step(store, statement, err);
    sqlite3_reset(statement);
    return row < 0 ? -1 : 0;
}

int store_change_once(struct store *store, const char *sql,
                      const struct value *values, size_t count, struct err *err)
{
    sqlite3_stmt *statement;
    int row;

    if (check_transaction(store, err) < 0)
        return -1;
    statement = store_query(store, sql, values, count, err);
    row = statement == NULL ? -1 : store_step(store, statement, err);
    sqlite3_finalize(statement);
    return row < 0 ? -1 : 0;
}

const char *store_column_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);

    return text == NULL ? "" : (const char *)text;
}

const char *store_column_text_or_null(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

int64_t store_column_index(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return -1;
    return sqlite3_column_int64(statement, column);
}

double store_column_real(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NAN;
    return sqlite3_column_double(statement, column);
}

int store_expect_change(struct store *store, const char *what, int64_t id,
                        struct err *err)
{
    if (sqlite3_changes(store->db) == 1)
        return 0;
    return err_set(err, ERR_FAILED, "store '%s': no %s %" PRId64, store->path,
                   what, id);
}
