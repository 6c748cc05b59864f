/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/record.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fault/sim/world.h"

static void read_rows(sqlite3 *db, const char *sql,
                      void (*row)(struct record *record,
                                  sqlite3_stmt *statement),
                      struct record *record)
{
    sqlite3_stmt *statement;
    int status = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    while (status == SQLITE_OK || status == SQLITE_ROW) {
        status = sqlite3_step(statement);
        if (status == SQLITE_ROW)
            row(record, statement);
    }
    if (status != SQLITE_DONE)
        world_fail("the record cannot be read: %s", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
}

static void copy_word(char *word, sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);

    snprintf(word, RECORD_WORD, "%s", text != NULL ? (const char *)text : "");
}

static void on_check(struct record *record, sqlite3_stmt *statement)
{
    char word[RECORD_WORD];

    (void)record;
    copy_word(word, statement, 0);
    if (strcmp(word, "ok") != 0)
        world_fail("SQLite finds a fault in the record: %s",
                   (const char *)sqlite3_column_text(statement, 0));
}

static void on_run(struct record *record, sqlite3_stmt *statement)
{
    copy_word(record->run_state, statement, 0);
    snprintf(record->run_reason, RECORD_REASON, "%s",
             (const char *)sqlite3_column_text(statement, 1));
    record->budget.trials = sqlite3_column_int64(statement, 2);
    record->budget.time_ms = sqlite3_column_int64(statement, 3);
}

static void on_budget(struct record *record, sqlite3_stmt *statement)
{
    record->budgets =
        mem_grow(record->budgets, record->budget_count,
                 &record->budget_capacity, sizeof(*record->budgets));
    record->budgets[record->budget_count++] = (struct record_budget){
        .trials = sqlite3_column_int64(statement, 0),
        .time_ms = sqlite3_column_int64(statement, 1),
        .begun = sqlite3_column_int64(statement, 2),
    };
}

static void on_enqueued(struct record *record, sqlite3_stmt *statement)
{
    record->enqueued =
        mem_grow(record->enqueued, record->enqueued_count,
                 &record->enqueued_capacity, sizeof(*record->enqueued));
    record->enqueued[record->enqueued_count++] = (struct record_enqueued){
        .k = sqlite3_column_int64(statement, 0),
        .trial = sqlite3_column_int64(statement, 1),
        .tried_k = sqlite3_column_int64(statement, 2),
    };
}

static void on_answers(struct record *record, sqlite3_stmt *statement)
{
    record->put_backs = sqlite3_column_int64(statement, 0);
    record->enqueued_answers = sqlite3_column_int64(statement, 1);
}

static void on_reopened(struct record *record, sqlite3_stmt *statement)
{
    record->reopened =
        mem_grow(record->reopened, record->reopened_count,
                 &record->reopened_capacity, sizeof(*record->reopened));
    record->reopened[record->reopened_count++] = (struct record_reopened){
        .trial = sqlite3_column_int64(statement, 0),
        .attempts = sqlite3_column_int64(statement, 1),
    };
}

static double real_of(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(statement, column);
}

static void on_job(struct record *record, sqlite3_stmt *statement)
{
    struct record_job *job;

    record->jobs = mem_grow(record->jobs, record->job_count,
                            &record->job_capacity, sizeof(*record->jobs));
    job = &record->jobs[record->job_count++];
    *job = (struct record_job){
        .id = sqlite3_column_int64(statement, 0),
        .number = sqlite3_column_int64(statement, 1),
        .told = sqlite3_column_int64(statement, 4),
        .same_as = sqlite3_column_int64(statement, 5),
        .values = {real_of(statement, 6), real_of(statement, 7)},
        .step = sqlite3_column_int64(statement, 8),
        .copy = sqlite3_column_int64(statement, 9),
        .round = sqlite3_column_int64(statement, 10),
        .parent = sqlite3_column_int64(statement, 11),
        .seen = sqlite3_column_int64(statement, 12),
        .are_temps_removed = sqlite3_column_int64(statement, 13) != 0,
    };
    copy_word(job->state, statement, 2);
    copy_word(job->cause, statement, 3);
}

static void on_step(struct record *record, sqlite3_stmt *statement)
{
    struct record_step *step;

    record->steps = mem_grow(record->steps, record->step_count,
                             &record->step_capacity, sizeof(*step));
    step = &record->steps[record->step_count++];
    step->copies = sqlite3_column_int64(statement, 1);
    step->first_job = sqlite3_column_int64(statement, 2);
    copy_word(step->state, statement, 0);
}

static void on_attempt(struct record *record, sqlite3_stmt *statement)
{
    struct record_attempt *attempt;

    record->attempts =
        mem_grow(record->attempts, record->attempt_count,
                 &record->attempt_capacity, sizeof(*record->attempts));
    attempt = &record->attempts[record->attempt_count++];
    *attempt = (struct record_attempt){
        .id = sqlite3_column_int64(statement, 0),
        .trial = sqlite3_column_int64(statement, 1),
        .number = sqlite3_column_int64(statement, 2),
        .exit_code = sqlite3_column_int64(statement, 5),
        .signal = sqlite3_column_int64(statement, 6),
        .started_ms = sqlite3_column_int64(statement, 7),
        .ended_ms = sqlite3_column_int64(statement, 8),
        .resource = sqlite3_column_int64(statement, 9),
        .resource_used = sqlite3_column_int64(statement, 10),
    };
    copy_word(attempt->state, statement, 3);
    copy_word(attempt->cause, statement, 4);
}

static void on_observation(struct record *record, sqlite3_stmt *statement)
{
    struct record_observation *observation;

    record->observations =
        mem_grow(record->observations, record->observation_count,
                 &record->observation_capacity, sizeof(*record->observations));
    observation = &record->observations[record->observation_count++];
    *observation = (struct record_observation){
        .trial = sqlite3_column_int64(statement, 0),
        .attempt = sqlite3_column_int64(statement, 1),
        .told = sqlite3_column_int64(statement, 2),
        .resource = sqlite3_column_int64(statement, 3),
        .promoted = sqlite3_column_int64(statement, 5),
        .promoted_to = sqlite3_column_int64(statement, 6),
    };
    copy_word(observation->decision, statement, 4);
}

/* While the checks look, it is no engine that reads. What there was. */
static bool arm(bool is_armed)
{
    struct world *world = world_get();
    bool was_armed = world->is_armed;

    world->is_armed = is_armed;
    return was_armed;
}

static sqlite3 *open_record(void)
{
    sqlite3 *db;

    if (sqlite3_open_v2("smtune.db", &db, SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK)
        world_fail("the record cannot be opened: %s", sqlite3_errmsg(db));
    /* The log is an engine's, which may be there and go on with it. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return db;
}

void record_read(struct record *record, bool is_thorough)
{
    bool was_armed = arm(false);
    sqlite3 *db = open_record();

    *record = (struct record){.jobs = NULL};
    if (is_thorough)
        read_rows(db, "PRAGMA integrity_check", on_check, record);
    read_rows(db,
              "SELECT state, reason, budget_trials, budget_time_ms FROM run",
              on_run, record);
    read_rows(db,
              "SELECT json_extract(detail, '$.budget_trials'),"
              " json_extract(detail, '$.budget_time_ms'),"
              " (SELECT count(*) FROM event AS earlier"
              "  WHERE earlier.event = 'suggested' AND earlier.seq < event.seq)"
              " FROM event WHERE event = 'budget_changed' ORDER BY seq",
              on_budget, record);
    read_rows(db,
              "SELECT json_extract(params, '$.k'), ifnull(trial, 0),"
              " (SELECT value FROM job AS j JOIN param_value ON job_id = j.id"
              "  WHERE j.number = trial AND idx = 0)"
              " FROM enqueued ORDER BY enqueued.idx",
              on_enqueued, record);
    read_rows(db,
              "SELECT count(json_extract(detail, '$.count')),"
              " count(json_extract(detail, '$.enqueued')) FROM event"
              " WHERE event = 'answered'",
              on_answers, record);
    read_rows(db,
              "SELECT j.number, (SELECT count(DISTINCT e.attempt_id)"
              " FROM event AS e WHERE e.job_id = j.id AND e.seq < event.seq)"
              " FROM event JOIN job AS j ON j.id = event.job_id"
              " WHERE event = 'reopened' ORDER BY seq",
              on_reopened, record);
    read_rows(db,
              "SELECT id, number, state, cause, told, same_as,"
              " (SELECT value FROM job_value WHERE job_id = id AND idx = 0),"
              " (SELECT value FROM job_value WHERE job_id = id AND idx = 1),"
              " ifnull(step, -1), copy, round, parent, seen,"
              " temps_removed_ms"
              " FROM job ORDER BY number",
              on_job, record);
    read_rows(db,
              "SELECT a.id, j.number, a.number, a.state, a.cause,"
              " coalesce(a.exit_code, -1),"
              " a.signal, a.started_ms, a.ended_ms, a.resource,"
              " a.resource_used"
              " FROM attempt AS a JOIN job AS j ON j.id = a.job_id"
              " ORDER BY j.number, a.number",
              on_attempt, record);
    read_rows(db, "SELECT state, copies, first_job FROM run_step ORDER BY idx",
              on_step, record);
    read_rows(db,
              "SELECT j.number, attempt_id, o.told, o.resource, decision,"
              " promoted, promoted_to"
              " FROM observation AS o JOIN job AS j ON j.id = o.job_id"
              " ORDER BY j.number, o.told",
              on_observation, record);
    sqlite3_close(db);
    arm(was_armed);
}

void record_clear(struct record *record)
{
    free(record->budgets);
    free(record->enqueued);
    free(record->reopened);
    free(record->jobs);
    free(record->attempts);
    free(record->steps);
    free(record->observations);
    *record = (struct record){.jobs = NULL};
}

const struct record_job *record_job(const struct record *record, int64_t trial)
{
    for (size_t i = 0; i < record->job_count; i++) {
        if (record->jobs[i].number == trial)
            return &record->jobs[i];
    }
    return NULL;
}

const struct record_attempt *record_attempt(const struct record *record,
                                            int64_t id)
{
    for (size_t i = 0; i < record->attempt_count; i++) {
        if (record->attempts[i].id == id)
            return &record->attempts[i];
    }
    return NULL;
}

struct witness {
    sqlite3 *db;
    sqlite3_stmt *find;
};

struct witness *witness_create(void)
{
    struct witness *witness = mem_zero(sizeof(*witness));
    bool was_armed = arm(false);

    witness->db = open_record();
    if (sqlite3_prepare_v2(witness->db, "SELECT 1 FROM attempt WHERE id = ?",
                           -1, &witness->find, NULL) != SQLITE_OK)
        world_fail("there are no attempts in the record: %s",
                   sqlite3_errmsg(witness->db));
    arm(was_armed);
    return witness;
}

void witness_destroy(struct witness *witness)
{
    if (witness == NULL)
        return;
    sqlite3_finalize(witness->find);
    sqlite3_close(witness->db);
    free(witness);
}

bool witness_knows(struct witness *witness, int64_t attempt)
{
    bool was_armed = arm(false);
    bool found;

    sqlite3_bind_int64(witness->find, 1, attempt);
    found = sqlite3_step(witness->find) == SQLITE_ROW;
    sqlite3_reset(witness->find);
    arm(was_armed);
    return found;
}
