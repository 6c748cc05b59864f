/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record of 100,000 trials of 10 parameters: writing and reading it. The
 * peer is SQLite by itself: the same tables, settings and commits, and a
 * prepared statement for each row, which it writes once, as it is when a trial
 * has ended. The store gets there step by step, as the trial does. Times are
 * those of the processor.
 */
#include "store/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "tests/unit/store/store_fill.h"

enum { TRIALS = 100000, BATCH = 100, TURNS = 10, READS = 5, RUNS = 1000 };

static double cpu_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void show_ms(const char *what, double value_us, double bar_ms)
{
    printf("%s\t%g\t-\t%g\tms\n", what, value_us / 1e3, bar_ms);
}

/* ratio is a text as "1.7x". */
static void show_ratio(const char *what, double value_us, double peer_us,
                       const char *ratio)
{
    printf("%s\t%g\t%g\t%s\tus\n", what, value_us, peer_us, ratio);
}

/* ---- the peer ---- */

enum { PEER_JOB, PEER_PARAM, PEER_OTHERS };

/* ?1 is the trial, ?2 its start or a parameter's place, ?3 the value. */
static const char *const peer_writes[] = {
    [PEER_JOB] = "INSERT INTO job (id, run_id, number, state, cause, cursor,"
                 " created_ms, started_ms, ended_ms) VALUES"
                 " (?1, 1, ?1, 'succeeded', 'ok', ?1, ?2, ?2, ?2 + 1000)",
    [PEER_PARAM] = "INSERT INTO param_value VALUES (?1, ?2, ?3, 0)",
    [PEER_OTHERS] =
        "INSERT INTO attempt (id, job_id, number, state, cause, directory, pid,"
        " created_ms, started_ms, ended_ms, cpu_ms, max_rss_bytes) VALUES"
        " (?1, ?1, 1, 'ended', 'ok', 'runs/r/1/1', 4711, ?2, ?2, ?2 + 1000,"
        " 900, 1048576)",
    "INSERT INTO metric VALUES (?1, 1, 1, ?3, ?1, ?2)",
    "INSERT INTO job_value VALUES (?1, 0, 1, ?3)",
#define PEER_EVENT                                                             \
    "INSERT INTO event (run_id, job_id, attempt_id, time_ms, event, detail)"   \
    " VALUES (1, ?1, ?1, ?2, "
    PEER_EVENT "'suggested', '{\"state\":\"ready\"}')",
    PEER_EVENT "'attempt_starting', NULL)",
    PEER_EVENT "'attempt_running', '{\"pid\":4711}')",
    PEER_EVENT "'started', '{\"state\":\"running\"}')",
    PEER_EVENT "'attempt_ended', '{\"cause\":\"ok\",\"exit_code\":0}')",
    PEER_EVENT "'succeeded', '{\"state\":\"succeeded\",\"cause\":\"ok\","
               "\"values\":[0.84147098480789650]}')",
#undef PEER_EVENT
};

enum { PEER_WRITES = ARRAY_LEN(peer_writes) };

/* Each table from its start to its end: nothing reads these rows faster. */
static const char *const peer_reads[] = {
    "SELECT number, state, cause, created_ms, started_ms, ended_ms, due_ms,"
    " cursor, violation FROM job",
    "SELECT idx, value, is_bool FROM param_value",
    "SELECT value FROM job_value",
};

enum { PEER_READS = ARRAY_LEN(peer_reads) };

struct peer {
    sqlite3 *db;
    sqlite3_stmt *writes[PEER_WRITES], *reads[PEER_READS];
};

static int peer_run(struct peer *peer, const char *sql)
{
    return sqlite3_exec(peer->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

static int peer_prepare(struct peer *peer, const char *sql,
                        sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(peer->db, sql, -1, statement, NULL) == SQLITE_OK
               ? 0
               : -1;
}

/* The store that is in the folder has the tables and a run already. */
static int peer_open(struct peer *peer, const char *folder)
{
    char *path = fs_join(folder, "smtune.db");
    int code = sqlite3_open_v2(
        path, &peer->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    free(path);
    if (code != SQLITE_OK ||
        peer_run(peer, "PRAGMA synchronous = FULL; PRAGMA cache_size = -8000;"
                       "PRAGMA foreign_keys = ON;"
                       "PRAGMA cell_size_check = ON;"
                       "INSERT INTO metric_name VALUES (1, 'loss')") < 0)
        return -1;
    for (size_t i = 0; i < PEER_WRITES; i++) {
        if (peer_prepare(peer, peer_writes[i], &peer->writes[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < PEER_READS; i++) {
        if (peer_prepare(peer, peer_reads[i], &peer->reads[i]) < 0)
            return -1;
    }
    return 0;
}

static void peer_close(struct peer *peer)
{
    for (size_t i = 0; i < PEER_WRITES; i++)
        sqlite3_finalize(peer->writes[i]);
    for (size_t i = 0; i < PEER_READS; i++)
        sqlite3_finalize(peer->reads[i]);
    sqlite3_close(peer->db);
}

static int peer_write(sqlite3_stmt *statement, int64_t trial, int64_t second,
                      double value)
{
    int code;

    sqlite3_bind_int64(statement, 1, trial);
    sqlite3_bind_int64(statement, 2, second);
    if (sqlite3_bind_parameter_count(statement) > 2)
        sqlite3_bind_double(statement, 3, value);
    code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

static int peer_write_trial(struct peer *peer, int64_t trial)
{
    int64_t start_ms = fill_start_ms + trial * 1000;
    int result = peer_write(peer->writes[PEER_JOB], trial, start_ms, 0);

    for (int i = 0; result == 0 && i < FILL_PARAMS; i++) {
        if (i != 4 || trial % 2 != 0) /* as in fill_job() */
            result = peer_write(peer->writes[PEER_PARAM], trial, i,
                                0.1 / (double)trial);
    }
    for (int i = PEER_OTHERS; result == 0 && i < PEER_WRITES; i++)
        result =
            peer_write(peer->writes[i], trial, start_ms, sin((double)trial));
    return result;
}

static int peer_fill(struct peer *peer, int64_t first, int64_t count)
{
    for (int64_t n = first; n < first + count; n++) {
        if ((n % BATCH == 1 && peer_run(peer, "BEGIN IMMEDIATE") < 0) ||
            peer_write_trial(peer, n) < 0 ||
            (n % BATCH == 0 && peer_run(peer, "COMMIT") < 0))
            return -1;
    }
    return 0;
}

static int64_t peer_read(sqlite3_stmt *statement)
{
    int64_t rows = 0;

    for (; sqlite3_step(statement) == SQLITE_ROW; rows++) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            if (sqlite3_column_type(statement, i) == SQLITE_TEXT)
                sqlite3_column_text(statement, i);
            else
                sqlite3_column_double(statement, i);
        }
    }
    sqlite3_reset(statement);
    return rows;
}

static int peer_read_all(struct peer *peer)
{
    int64_t rows = 0;

    for (size_t i = 0; i < PEER_READS; i++)
        rows += peer_read(peer->reads[i]);
    return rows == TRIALS * (FILL_PARAMS + 2) - TRIALS / 2 ? 0 : -1;
}

/* ---- the store ---- */

static int fill(struct store *store, int64_t run, int64_t first, int64_t count,
                struct err *err)
{
    for (int64_t n = first; n < first + count; n++) {
        if (store_begin(store, err) < 0 ||
            fill_trial(store, run, n, sin((double)n), err) < 0 ||
            (n % BATCH == 0 && store_commit(store, err) < 0))
            return -1;
    }
    return 0;
}

static int add_run(struct store *store, const char *name, int64_t *run,
                   struct err *err)
{
    if (store_begin(store, err) < 0 ||
        fill_run(store, name, "minimize", run, err) < 0)
        return -1;
    return store_commit(store, err);
}

struct reading {
    double start_us, first_us;
    int64_t count;
};

static int on_trial(void *user, const struct trial_row *trial)
{
    struct reading *reading = user;

    (void)trial;
    if (reading->count++ == 0)
        reading->first_us = cpu_us() - reading->start_us;
    return 0;
}

static int on_run(void *user, const struct run_row *run)
{
    (void)run;
    ++*(int64_t *)user;
    return 0;
}

/* ---- what is measured ---- */

static int measure_writing(struct store *store, struct peer *peer,
                           struct err *err)
{
    double ours_us = 0, peer_us = 0;

    for (int64_t first = 1; first <= TRIALS; first += TRIALS / TURNS) {
        double start_us = cpu_us(), middle_us;

        if (fill(store, 1, first, TRIALS / TURNS, err) < 0)
            return -1;
        middle_us = cpu_us();
        if (peer_fill(peer, first, TRIALS / TURNS) < 0)
            return err_set(err, ERR_FAILED, "%s", sqlite3_errmsg(peer->db));
        ours_us += middle_us - start_us;
        peer_us += cpu_us() - middle_us;
    }
    show_ratio("store: to write a trial, SQLite", ours_us / TRIALS,
               peer_us / TRIALS, "1.7x");
    return 0;
}

static int read_all(struct store *store, enum trial_order order,
                    struct reading *reading, struct err *err)
{
    struct trial_query query = {.run = 1, .order = order};

    *reading = (struct reading){.start_us = cpu_us()};
    return store_each_trial(store, &query, on_trial, reading, err);
}

static int measure_reading(struct store *store, struct peer *peer,
                           struct err *err)
{
    struct reading reading;
    double ours_us = 0, peer_us = 0;

    for (int i = 0; i < READS; i++) {
        double middle_us;

        if (read_all(store, ORDER_NUMBER, &reading, err) < 0)
            return -1;
        middle_us = cpu_us();
        if (peer_read_all(peer) < 0)
            return err_set(err, ERR_FAILED, "%s", sqlite3_errmsg(peer->db));
        ours_us += middle_us - reading.start_us;
        peer_us += cpu_us() - middle_us;
    }
    show_ratio("store: to read a trial, SQLite", ours_us / READS / TRIALS,
               peer_us / READS / TRIALS, "2.5x");
    show_ms("store: first of 100,000 trials", reading.first_us, 5);
    if (read_all(store, ORDER_BEST, &reading, err) < 0)
        return -1;
    show_ms("store: best of 100,000 trials", reading.first_us, 5);
    return 0;
}

static int measure_many_runs(struct store *store, struct err *err)
{
    int64_t run, count = 0;
    double start_us;

    for (int i = 0; i < RUNS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "r%d", i);
        if (add_run(store, name, &run, err) < 0 ||
            fill(store, run, 1, TRIALS / RUNS, err) < 0)
            return -1;
    }
    start_us = cpu_us();
    if (store_each_run(store, on_run, &count, err) < 0)
        return -1;
    show_ms("store: list 1,001 runs, one of 100,000 trials",
            cpu_us() - start_us, 100);
    return 0;
}

/* ---- where ---- */

/* A store with one run; the folder's last six letters are filled in. */
static struct store *make_store(char *folder, struct err *err)
{
    struct store *store = NULL;
    int64_t run;

    if (mkdtemp(folder) != NULL)
        store = store_open(folder, STORE_CREATE, err);
    if (store == NULL || add_run(store, "r", &run, err) == 0)
        return store;
    store_close(store);
    return NULL;
}

static int measure(const char *peer_folder, struct store *store,
                   struct err *err)
{
    struct peer peer = {0};
    int result = 0;

    if (peer_open(&peer, peer_folder) < 0)
        result = err_set(err, ERR_FAILED, "%s", sqlite3_errmsg(peer.db));
    if (result == 0)
        result = measure_writing(store, &peer, err);
    if (result == 0)
        result = measure_reading(store, &peer, err);
    if (result == 0)
        result = measure_many_runs(store, err);
    peer_close(&peer);
    return result;
}

int main(void)
{
    char folder[] = "/tmp/smtune-bench-XXXXXX";
    char peer_folder[] = "/tmp/smtune-bench-XXXXXX";
    struct err err = {0};
    struct store *store = make_store(folder, &err);
    struct store *tables = make_store(peer_folder, &err);
    int result = -1;

    store_close(tables);
    if (store != NULL && tables != NULL)
        result = measure(peer_folder, store, &err);
    if (result < 0)
        fprintf(stderr, "bench_store: %s\n", err.text);
    store_close(store);
    fs_remove_tree(folder, NULL);
    fs_remove_tree(peer_folder, NULL);
    return result < 0;
}
