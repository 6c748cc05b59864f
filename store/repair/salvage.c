/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables are read from their first page to their last, by their keys. Where a
 * page cannot be read, the next key that can is searched for, beyond it, and
 * reading goes on there. A page that is nonsense may have rows that are out of
 * their order, or have lost it for those behind them: all are taken.
 * Indexes are not read: the new file makes its own.
 *
 * The first page holds where all the others begin. Where it is damaged itself,
 * that of a new store is tried in its place, in a copy: stores that began with
 * the same version of the tables have it in common.
 */
#include "store/repair/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/lock.h"
#include "store/repair/exchange.h"
#include "store/schema/dialect.h"
#include "store/sharing.h"
#include "store/store_impl.h"

enum {
    PAGE_BYTES = 4096,
    LONGEST_STEP_LOG2 = 40,
    MAX_GAPS = 1 << 20,
    MODE_OF_GROUP = 0660
};

struct reading {
    struct store *to;
    sqlite3 *from;
    struct salvage *salvage;
    struct err *err;
};

static bool is_damage(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

static int open_damaged(const char *path, sqlite3 **db)
{
    int code = sqlite3_open_v2(
        path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_exec(*db,
                            "PRAGMA cell_size_check = ON;"
                            "PRAGMA mmap_size = 0",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
        sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return code;
}

/* Without this pragma SQLite reads nothing of a file whose end is missing. */
static int open_to_salvage(const char *path, sqlite3 **db)
{
    int code = open_damaged(path, db);

    return code == SQLITE_OK ? sqlite3_exec(*db, "PRAGMA writable_schema = ON",
                                            NULL, NULL, NULL)
                             : code;
}

/* ---- whether it is sound ---- */

static int check_pages(sqlite3 *db, bool *is_sound)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1,
                                  &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    *is_sound = code == SQLITE_ROW &&
                strcmp(store_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    return code;
}

int store_is_sound(const char *directory, bool *is_sound, struct err *err)
{
    char *path = fs_join(directory, "smtune.db");
    sqlite3 *db = NULL;
    int result = 0, code;

    *is_sound = false;
    if (!fs_exists(path)) {
        free(path);
        return err_set(err, ERR_NOT_FOUND, "there is no store at '%s'",
                       directory);
    }
    code = open_damaged(path, &db);
    if (code == SQLITE_OK)
        code = check_pages(db, is_sound);
    if (is_damage(code))
        result = dialect_check(db, path, err);
    else if (code != SQLITE_ROW)
        result =
            err_set(err, (code & 0xff) == SQLITE_BUSY ? ERR_BUSY : ERR_FAILED,
                    "store '%s': %s", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    free(path);
    return result;
}

/* ---- a table ---- */

struct table {
    sqlite3_stmt *select; /* ?1: the least key; key, then the columns */
    sqlite3_stmt *insert;
    int columns;
};

/* How many there are; -1: not all could be read. */
static int each_text(sqlite3 *db, const char *sql, const char *name,
                     void (*use)(struct buf *list, const char *text),
                     struct buf *list)
{
    sqlite3_stmt *statement = NULL;
    int count = 0, code;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        use(list, store_column_text(statement, 0));
        count++;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? count : -1;
}

static void add_column(struct buf *list, const char *text)
{
    buf_printf(list, "%s\"%s\"", list->length > 0 ? ", " : "", text);
}

static void add_line(struct buf *list, const char *text)
{
    buf_add(list, text, strlen(text) + 1);
}

/* pragma_table_list, which says it, came with SQLite 3.37. */
static bool has_rowid(sqlite3 *db, const char *name)
{
    char *sql = mem_printf("SELECT rowid FROM \"%s\"", name);
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;

    sqlite3_finalize(statement);
    free(sql);
    return has;
}

/* The first column of the primary key where there is no rowid. */
static void find_key(sqlite3 *db, const char *name, struct buf *key)
{
    if (has_rowid(db, name))
        buf_add_string(key, "rowid");
    else
        each_text(db, "SELECT name FROM pragma_table_info(?1) WHERE pk = 1",
                  name, add_column, key);
}

static bool table_open(struct table *table, struct reading *reading,
                       const char *name)
{
    struct buf columns = BUF_INIT, key = BUF_INIT, sql = BUF_INIT;

    table->columns =
        each_text(reading->from, "SELECT name FROM pragma_table_info(?1)", name,
                  add_column, &columns);
    find_key(reading->to->db, name, &key);
    buf_printf(&sql, "SELECT %s, %s FROM \"%s\" WHERE %s >= ?1 ORDER BY %s",
               buf_text(&key), buf_text(&columns), name, buf_text(&key),
               buf_text(&key));
    if (table->columns > 0)
        sqlite3_prepare_v2(reading->from, buf_text(&sql), -1, &table->select,
                           NULL);
    buf_truncate(&sql, 0);
    buf_printf(&sql, "INSERT INTO \"%s\" (%s) VALUES (", name,
               buf_text(&columns));
    for (int i = 0; i < table->columns; i++)
        buf_printf(&sql, "%s?%d", i == 0 ? "" : ", ", i + 1);
    buf_add_char(&sql, ')');
    if (table->columns > 0)
        sqlite3_prepare_v2(reading->to->db, buf_text(&sql), -1, &table->insert,
                           NULL);
    buf_clear(&columns);
    buf_clear(&key);
    buf_clear(&sql);
    return table->select != NULL && table->insert != NULL;
}

static void table_close(struct table *table)
{
    sqlite3_finalize(table->select);
    sqlite3_finalize(table->insert);
}

/* Whether there is a row to be read from that key on, or surely none. */
static bool can_read_from(struct table *table, int64_t key)
{
    bool can;
    int code;

    sqlite3_reset(table->select);
    sqlite3_bind_int64(table->select, 1, key);
    code = sqlite3_step(table->select);
    can = code == SQLITE_DONE || code == SQLITE_ROW;
    sqlite3_reset(table->select);
    return can;
}

/* The least key above one that cannot be read, from which it goes on. */
static bool find_next(struct table *table, int64_t key, int64_t *next)
{
    int64_t bad = key, good;
    int step = 0;

    if (key > INT64_MAX - (INT64_C(1) << LONGEST_STEP_LOG2))
        return false;
    while (step < LONGEST_STEP_LOG2 &&
           !can_read_from(table, key + (INT64_C(1) << step)))
        bad = key + (INT64_C(1) << step++);
    if (step == LONGEST_STEP_LOG2)
        return false;
    good = key + (INT64_C(1) << step);
    while (good - bad > 1) {
        int64_t middle = bad + (good - bad) / 2;

        if (can_read_from(table, middle))
            good = middle;
        else
            bad = middle;
    }
    *next = good;
    return true;
}

/* A row that is nonsense is passed over, and is one that is missing. */
static int copy_row(struct table *table, struct reading *reading, int64_t *gaps)
{
    int code;

    for (int i = 0; i < table->columns; i++)
        sqlite3_bind_value(table->insert, i + 1,
                           sqlite3_column_value(table->select, i + 1));
    code = sqlite3_step(table->insert);
    sqlite3_reset(table->insert);
    if (code == SQLITE_DONE)
        reading->salvage->rows++;
    else if ((code & 0xff) == SQLITE_CONSTRAINT)
        ++*gaps;
    else
        return store_fail(reading->to, reading->err);
    return 0;
}

/* *gaps counts the places where rows are missing, or may be. */
static int copy_table(struct table *table, struct reading *reading,
                      int64_t *gaps)
{
    int64_t key = 0, from = 0;
    int code;

    sqlite3_bind_int64(table->select, 1, from);
    while (*gaps <= MAX_GAPS &&
           (code = sqlite3_step(table->select)) != SQLITE_DONE) {
        if (code == SQLITE_ROW) {
            int64_t before = key;

            key = sqlite3_column_int64(table->select, 0);
            *gaps += key < before;
            if (copy_row(table, reading, gaps) < 0)
                return -1;
            continue;
        }
        ++*gaps;
        if (!find_next(table, key > from ? key : from, &from))
            break;
        key = from;
        sqlite3_reset(table->select);
        sqlite3_bind_int64(table->select, 1, from);
    }
    return 0;
}

static int salvage_table(struct reading *reading, const char *name)
{
    struct table table = {0};
    int64_t gaps = 0;
    int result = 0;

    if (table_open(&table, reading, name))
        result = copy_table(&table, reading, &gaps);
    else
        gaps++;
    table_close(&table);
    reading->salvage->gaps += gaps;
    if (strcmp(name, "event") == 0)
        reading->salvage->events_have_gaps = gaps > 0;
    return result;
}

static int salvage_tables(struct reading *reading)
{
    struct buf names = BUF_INIT;
    int count = each_text(reading->to->db,
                          "SELECT name FROM sqlite_master WHERE type = 'table'"
                          " AND name NOT LIKE 'sqlite_%' AND ?1 IS NULL",
                          NULL, add_line, &names);
    const char *name = buf_text(&names);
    int result = count < 0 ? store_fail(reading->to, reading->err) : 0;

    sqlite3_exec(reading->to->db, "PRAGMA foreign_keys = OFF", NULL, NULL,
                 NULL);
    if (result == 0)
        result = store_begin(reading->to, reading->err);
    for (; count > 0 && result == 0; count--) {
        result = salvage_table(reading, name);
        name += strlen(name) + 1;
    }
    buf_clear(&names);
    if (result == 0)
        result = store_commit(reading->to, reading->err);
    /* Its file alone takes the old one's place, without its log. */
    if (result == 0 && sqlite3_wal_checkpoint_v2(reading->to->db, NULL,
                                                 SQLITE_CHECKPOINT_TRUNCATE,
                                                 NULL, NULL) != SQLITE_OK)
        result = store_fail(reading->to, reading->err);
    return result;
}

/* ---- the first page ---- */

static int copy_file(const char *from, const char *to, struct err *err)
{
    struct buf bytes = BUF_INIT;
    int result = fs_read(from, SIZE_MAX / 2, &bytes, err);

    if (result == 0)
        result = fs_write_atomic(to, buf_text(&bytes), bytes.length, 0600, err);
    buf_clear(&bytes);
    return result;
}

/* A copy of the damaged file with the first page of the new one. */
static int lend_first_page(const char *damaged, const char *fresh,
                           const char *copy, struct err *err)
{
    struct buf bytes = BUF_INIT, first = BUF_INIT;
    int result = fs_read(damaged, SIZE_MAX / 2, &bytes, err);
    uint32_t pages = (uint32_t)(bytes.length / PAGE_BYTES);

    if (result == 0)
        result = fs_read(fresh, SIZE_MAX / 2, &first, err);
    if (result == 0 && (pages < 2 || first.length < PAGE_BYTES))
        result = err_set(err, ERR_FAILED, "no readable data in '%s'", damaged);
    if (result == 0) {
        memcpy(bytes.data, first.data, PAGE_BYTES);
        for (int i = 0; i < 4; i++)
            bytes.data[28 + i] = (char)(pages >> (24 - 8 * i));
        result = fs_write_atomic(copy, bytes.data, bytes.length, 0600, err);
    }
    buf_clear(&bytes);
    buf_clear(&first);
    return result;
}

static bool has_tables(sqlite3 *db)
{
    struct buf names = BUF_INIT;
    /* What is behind it may be damaged. */
    int count =
        each_text(db, "SELECT name FROM sqlite_master WHERE name = ?1 LIMIT 1",
                  "event", add_line, &names);

    buf_clear(&names);
    return count > 0;
}

/* ---- all of it ---- */

static int read_damaged(struct reading *reading, const char *path,
                        const char *folder)
{
    char *fresh = fs_join(folder, "smtune.db");
    char *copy = fs_join(folder, "copy.db");
    int result = 0;

    if (open_to_salvage(path, &reading->from) != SQLITE_OK ||
        !has_tables(reading->from)) {
        char *log = mem_printf("%s-wal", path);
        char *log_copy = mem_printf("%s-wal", copy);

        sqlite3_close(reading->from);
        reading->from = NULL;
        result = lend_first_page(path, fresh, copy, reading->err);
        if (result == 0 && fs_exists(log))
            result = copy_file(log, log_copy, reading->err);
        if (result == 0 &&
            (open_to_salvage(copy, &reading->from) != SQLITE_OK ||
             !has_tables(reading->from)))
            result = err_set(reading->err, ERR_FAILED,
                             "no readable data in '%s'", path);
        reading->salvage->gaps++;
        free(log);
        free(log_copy);
    }
    if (result == 0)
        result = salvage_tables(reading);
    sqlite3_close(reading->from);
    free(fresh);
    free(copy);
    return result;
}

int store_salvage(const char *directory, const char *kept,
                  struct salvage *salvage, struct err *err)
{
    char *path = fs_join(directory, "smtune.db");
    char *folder = mem_printf("%s/salvage.%ld", directory, (long)getpid());
    char *fresh = fs_join(folder, "smtune.db");
    struct reading reading = {.salvage = salvage, .err = err};
    int lock = lock_open(directory, err);
    int result = -1;

    *salvage = (struct salvage){0};
    if (lock < 0 || lock_take(lock, LOCK_WAIT_MS, err) < 0)
        err_prefix(err, "store '%s'", directory);
    else
        reading.to = store_open(folder, STORE_CREATE, err);
    /* Closed once, so that its first page is in the file. */
    store_close(reading.to);
    if (reading.to != NULL)
        reading.to = store_open(folder, STORE_WRITE, err);
    if (reading.to != NULL)
        result = read_damaged(&reading, path, folder);
    store_close(reading.to);
    if (result == 0 && store_has_group(directory) &&
        chmod(fresh, MODE_OF_GROUP) != 0)
        result = err_set_errno(err, ERR_FAILED, errno,
                               "cannot change the mode of '%s'", fresh);
    if (result == 0)
        result = exchange_databases(path, fresh, kept, err);
    fs_remove_tree(folder, NULL);
    if (lock >= 0)
        close(lock);
    free(path);
    free(folder);
    free(fresh);
    return result;
}
