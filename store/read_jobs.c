/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <string.h>

#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* ---- one job ---- */

int store_find_job(struct store *store, int64_t run, int64_t number,
                   int64_t *job, struct err *err)
{
    const struct value key[] = {value_int(run), value_int(number)};

    return store_query_integer(
        store, "SELECT id FROM job WHERE run_id = ?1 AND number = ?2", key, 2,
        job, err);
}

int store_find_job_number(struct store *store, int64_t job, int64_t *number,
                          struct err *err)
{
    const struct value key = value_int(job);

    return store_query_integer(store, "SELECT number FROM job WHERE id = ?1",
                               &key, 1, number, err);
}

/* ---- attempts ---- */

#define ATTEMPT_NAME(cell, column, kind, member) "a.\"" #column "\", "
#define SELECT_ATTEMPTS                                                        \
    "SELECT " ATTEMPT_COLUMNS(                                                 \
        ATTEMPT_NAME,                                                          \
        ATTEMPT_NAME) "job.number"                                             \
                      " FROM attempt AS a CROSS JOIN job ON job.id = a.job_id" \
                      " WHERE job.run_id = ?1"

static void read_attempt(sqlite3_stmt *statement, struct attempt_row *row)
{
    COLUMN_READS(ATTEMPT_COLUMNS)
    row->job_number = sqlite3_column_int64(statement, ATTEMPT_COLUMN_COUNT);
}

/* Destroys the query. */
static int each_attempt(struct store *store, sqlite3_stmt *statement,
                        int (*row)(void *user, const struct attempt_row *row),
                        void *user, struct err *err)
{
    struct attempt_row attempt;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        read_attempt(statement, &attempt);
        result = row(user, &attempt);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_each_attempt(struct store *store, int64_t run, int64_t job,
                       int (*row)(void *user, const struct attempt_row *row),
                       void *user, struct err *err)
{
    const char *sql =
        job == 0 ? SELECT_ATTEMPTS " AND a.state <> 'ended' ORDER BY a.id"
                 : SELECT_ATTEMPTS " AND a.job_id = ?2 ORDER BY a.number";
    struct value ids[] = {value_int(run), value_int(job)};

    return each_attempt(store,
                        store_query(store, sql, ids, job == 0 ? 1 : 2, err),
                        row, user, err);
}

/* A run's first attempt is that of the first event of any: what earlier runs
 * had is not gone through. */
int store_each_attempt_after(struct store *store, int64_t run,
                             const struct attempt_page *page,
                             int (*row)(void *user,
                                        const struct attempt_row *row),
                             void *user, struct err *err)
{
    const char *sql =
        page->changed_since == 0 ? SELECT_ATTEMPTS
            " AND a.id > ?2 AND a.id >= (SELECT attempt_id FROM event"
            "  WHERE run_id = ?1 AND attempt_id IS NOT NULL"
            "  ORDER BY seq LIMIT 1) ORDER BY a.id"
                                 : SELECT_ATTEMPTS
            " AND a.id > ?2 AND a.id IN (SELECT attempt_id FROM event"
            "  WHERE run_id = ?1 AND seq > ?3) ORDER BY a.id";
    const struct value key[] = {value_int(run), value_int(page->after),
                                value_int(page->changed_since)};

    return each_attempt(
        store,
        store_query(store, sql, key, page->changed_since == 0 ? 2 : 3, err),
        row, user, err);
}

/* ---- metrics ---- */

/* Ends the query. */
static int each_metric(struct store *store, sqlite3_stmt *statement,
                       int (*row)(void *user, const struct metric_row *metric),
                       void *user, struct err *err)
{
    struct metric_row metric;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        metric.name = store_column_text(statement, 0);
        metric.step = sqlite3_column_double(statement, 1);
        metric.attempt = sqlite3_column_int64(statement, 2);
        metric.time_ms = sqlite3_column_int64(statement, 3);
        metric.value = store_column_real(statement, 4);
        result = row(user, &metric);
        if (result != 0)
            break;
    }
    store_query_end(store, statement);
    return result;
}

#define SELECT_METRICS                                                         \
    "SELECT n.name, m.step, m.attempt_id, m.time_ms, m.value"                  \
    " FROM metric AS m JOIN metric_name AS n ON n.id = m.name_id"

int store_each_metric(struct store *store, int64_t job,
                      int (*row)(void *user, const struct metric_row *metric),
                      void *user, struct err *err)
{
    struct value id = value_int(job);

    return each_metric(
        store,
        store_query(store,
                    SELECT_METRICS
                    " WHERE m.job_id = ?1 ORDER BY m.name_id, m.step",
                    &id, 1, err),
        row, user, err);
}

/* Names are found one behind the other in the primary key, so that the points
 * between are not read. */
int store_each_last_metric(struct store *store, int64_t job,
                           int (*row)(void *user,
                                      const struct metric_row *metric),
                           void *user, struct err *err)
{
    struct value id = value_int(job);

    return each_metric(
        store,
        store_query_kept(
            store,
            "WITH RECURSIVE known (id) AS ("
            "SELECT min(name_id) FROM metric WHERE job_id = ?1 UNION ALL"
            " SELECT (SELECT min(name_id) FROM metric WHERE job_id = ?1"
            "  AND name_id > known.id) FROM known WHERE known.id IS NOT NULL) "
            "SELECT n.name, m.step, m.attempt_id, m.time_ms, m.value FROM known"
            " JOIN metric_name AS n ON n.id = known.id"
            " JOIN metric AS m ON m.job_id = ?1 AND m.name_id = known.id"
            "  AND m.step = (SELECT max(step) FROM metric WHERE job_id = ?1"
            "   AND name_id = known.id) ORDER BY known.id",
            &id, 1, err),
        row, user, err);
}

/* Of a row of the table job. */
#define FIRST_UNIT                                                             \
    "iif(first_resource IS NULL, NULL, EXISTS (SELECT 1 FROM run_objective"    \
    " AS o JOIN metric_name AS n ON n.name = o.metric JOIN metric AS m"        \
    " ON m.job_id = job.id AND m.name_id = n.id AND m.step = 0"                \
    " WHERE o.run_id = job.run_id))"

int store_first_unit(struct store *store, int64_t job, int64_t *units,
                     struct err *err)
{
    struct value id = value_int(job);

    return store_query_integer(
        store, "SELECT ifnull(" FIRST_UNIT ", -1) FROM job WHERE id = ?1", &id,
        1, units, err);
}

int store_each_point(struct store *store, const struct point_query *query,
                     int (*row)(void *user, const struct point_row *point),
                     void *user, struct err *err)
{
    const struct value key[] = {
        value_int(query->run), value_text(query->metric),
        value_int(query->first), value_int(query->last)};
#define SELECT_POINTS                                                          \
    "WITH of_run AS MATERIALIZED (SELECT id, number, " FIRST_UNIT " AS unit"   \
    "  FROM job WHERE run_id = ?1 AND number BETWEEN ?3 AND ?4),"              \
    " name AS MATERIALIZED (SELECT id FROM metric_name WHERE name = ?2)"       \
    " SELECT j.number, m.step, m.value, m.time_ms, m.step + j.unit"            \
    " FROM of_run AS j CROSS JOIN metric AS m ON m.job_id = j.id"              \
    "  AND m.name_id = (SELECT id FROM name)"
    sqlite3_stmt *statement = store_query(
        store,
        query->ends_only ? SELECT_POINTS
            "  AND m.step = (SELECT max(step) FROM metric WHERE job_id = j.id"
            "   AND name_id = (SELECT id FROM name)) ORDER BY j.number"
                         : SELECT_POINTS " ORDER BY j.number, m.step",
        key, 4, err);
    struct point_row point;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        point.number = sqlite3_column_int64(statement, 0);
        point.step = sqlite3_column_double(statement, 1);
        point.value = store_column_real(statement, 2);
        point.time_ms = sqlite3_column_int64(statement, 3);
        point.resource = store_column_real(statement, 4);
        result = row(user, &point);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_each_metric_name(struct store *store, int64_t run,
                           int (*row)(void *user, const char *name), void *user,
                           struct err *err)
{
    struct value id = value_int(run);
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT name FROM metric_name AS n WHERE EXISTS (SELECT 1"
        " FROM job CROSS JOIN metric AS m ON m.job_id = job.id"
        "  AND m.name_id = n.id WHERE job.run_id = ?1) ORDER BY n.id",
        &id, 1, err);
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        result = row(user, store_column_text(statement, 0));
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

/* ---- events ---- */

int store_each_event(struct store *store, int64_t run,
                     int (*row)(void *user, const struct event_row *event),
                     void *user, struct err *err)
{
    return store_each_event_after(store, run, 0, row, user, err);
}

int store_each_event_after(struct store *store, int64_t run, int64_t after,
                           int (*row)(void *user,
                                      const struct event_row *event),
                           void *user, struct err *err)
{
    sqlite3_stmt *statement = store_query(
        store,
        "SELECT e.seq, job.number, e.attempt_id, e.time_ms, e.event, e.detail,"
        " e.job_id"
        " FROM event AS e LEFT JOIN job ON job.id = e.job_id"
        " WHERE e.run_id = ?1 AND e.seq > ?2 ORDER BY e.seq",
        VALUES(value_int(run), value_int(after)), err);
    struct event_row event;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        event.seq = sqlite3_column_int64(statement, 0);
        event.job_number = sqlite3_column_int64(statement, 1);
        event.attempt = sqlite3_column_int64(statement, 2);
        event.time_ms = sqlite3_column_int64(statement, 3);
        event.event = store_column_text(statement, 4);
        event.detail = store_column_text(statement, 5);
        event.job = sqlite3_column_int64(statement, 6);
        result = row(user, &event);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

int store_each_origin(struct store *store, int64_t run,
                      int (*row)(void *user, const struct origin_row *origin),
                      void *user, struct err *err)
{
    sqlite3_stmt *statement =
        store_query(store,
                    "SELECT time_ms, detail FROM event WHERE run_id = ?1"
                    " AND event = 'origin' ORDER BY seq",
                    VALUES(value_int(run)), err);
    struct origin_row origin;
    int result;

    if (statement == NULL)
        return -1;
    while ((result = store_step(store, statement, err)) > 0) {
        origin.time_ms = sqlite3_column_int64(statement, 0);
        origin.detail = store_column_text(statement, 1);
        result = row(user, &origin);
        if (result != 0)
            break;
    }
    sqlite3_finalize(statement);
    return result;
}

bool store_event_is_of_people(const char *word)
{
#define IS_IT(event) || strcmp(word, event) == 0
    return false EVENTS_OF_PEOPLE(IS_IT);
#undef IS_IT
}

/* Events are many and these few, so only they are looked at one by one. */
#define IS_WORK SQL_NOT_OF_PEOPLE("e.event")
static const char sum_of_engines[] =
    "WITH mark AS MATERIALIZED (SELECT seq, time_ms, event, detail"
    "  FROM event WHERE run_id = ?1 AND event IN ('engine_started',"
    "   'engine_ended', 'run_paused', 'run_resumed', 'clock_jumped',"
    "   'time_used_up')),"
    "part AS (SELECT seq, time_ms, event, ifnull(lead(seq) OVER (ORDER BY seq)"
    "   + (lead(event) OVER (ORDER BY seq) <> 'engine_started'),"
    "   9223372036854775807) AS next"
    "  FROM mark WHERE event NOT IN ('clock_jumped', 'time_used_up')),"
    "counted AS (SELECT sum((SELECT e.time_ms FROM event AS e"
    "   WHERE e.run_id = ?1 AND e.seq < part.next AND " IS_WORK
    "   ORDER BY e.seq DESC LIMIT 1) - part.time_ms"
    "  - (SELECT coalesce(sum(json_extract(detail, '$.by_ms')), 0)"
    "   FROM mark WHERE mark.event = 'clock_jumped'"
    "   AND mark.seq > part.seq AND mark.seq < part.next)) AS ms"
    " FROM part WHERE (?2 OR seq < (SELECT max(seq) FROM part"
    "   WHERE event = 'engine_started'))"
    "  AND event IN ('engine_started', 'run_resumed')),"
    "used_up AS (SELECT max(json_extract(detail, '$.after_ms')) AS ms"
    "  FROM mark WHERE event = 'time_used_up')"
    "SELECT max(coalesce(counted.ms, 0), coalesce(used_up.ms, 0))"
    " FROM counted, used_up";

static int sum_engines(struct store *store, int64_t run, bool is_last_over,
                       int64_t *ms, struct err *err)
{
    const struct value values[] = {value_int(run), value_int(is_last_over)};

    return store_query_integer(store, sum_of_engines, values, 2, ms, err);
}

int store_earlier_engines_ms(struct store *store, int64_t run, int64_t *ms,
                             struct err *err)
{
    return sum_engines(store, run, false, ms, err);
}

int store_engines_ms(struct store *store, int64_t run, int64_t *ms,
                     struct err *err)
{
    return sum_engines(store, run, true, ms, err);
}
