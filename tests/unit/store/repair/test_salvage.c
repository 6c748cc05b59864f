/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is saved of a database that is damaged, and what is said of the rest. */
#include "store/repair/salvage.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "tests/unit/store/repair/salvage_test.h"

#define COUNT_EVENTS "SELECT count(*) FROM event"
#define COUNT_ROWS                                                             \
    "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM run_objective)" \
    " + (SELECT count(*) FROM run_param) + (SELECT count(*) FROM job)"         \
    " + (SELECT count(*) FROM param_value) + (SELECT count(*) FROM job_value)" \
    " + (SELECT count(*) FROM attempt) + (SELECT count(*) FROM metric)"        \
    " + (SELECT count(*) FROM metric_name) + (SELECT count(*) FROM event)"

static void must_be_sound(const char *folder, bool expected)
{
    struct err err = {0};
    bool is_sound = !expected;

    must(store_is_sound(folder, &is_sound, &err));
    assert_int_equal(is_sound, expected);
}

static void must_not_tell(const char *folder, enum err_kind kind)
{
    struct err err = {0};
    bool is_sound = true;

    assert_int_equal(store_is_sound(folder, &is_sound, &err), -1);
    assert_int_equal(err.kind, kind);
    assert_false(is_sound);
}

/* ---- whether it is sound ---- */

static void test_is_sound__tells_damage_from_trouble(void **state)
{
    char *path = fs_join(*state, "smtune.db");
    struct buf bytes;
    sqlite3 *db;

    must_not_tell(*state, ERR_NOT_FOUND);
    fill(*state);
    must_be_sound(*state, true);
    bytes = read_file(*state, "smtune.db");
    spoil(&bytes, find_page(*state, &bytes, "event", 3));
    write_file(*state, "smtune.db", &bytes);
    must_be_sound(*state, false);
    memset(page_at(&bytes, 1) + 100, 0xa5, PAGE - 100);
    write_file(*state, "smtune.db", &bytes);
    must_be_sound(*state, false);
    buf_truncate(&bytes, 0);
    for (int i = 0; i < 2000; i++)
        buf_add_string(&bytes, "nonsense ");
    write_file(*state, "smtune.db", &bytes);
    must_be_sound(*state, false);
    buf_clear(&bytes);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    must_not_tell(*state, ERR_FAILED);
    assert_int_equal(rmdir(path), 0);
    fill(*state);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA journal_mode = DELETE;"
                                  "BEGIN EXCLUSIVE",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    must_not_tell(*state, ERR_BUSY);
    sqlite3_close(db);
    free(path);
}

/* ---- tables ---- */

static void test_salvage__takes_all_of_a_sound_one(void **state)
{
    struct salvage saved;
    int64_t rows, events;

    fill(*state);
    rows = ask_number(*state, COUNT_ROWS);
    events = ask_number(*state, COUNT_EVENTS);
    saved = must_salvage(*state);
    assert_int_equal(saved.rows, rows);
    assert_int_equal(saved.gaps, 0);
    assert_false(saved.events_have_gaps);
    assert_int_equal(ask_number(*state, COUNT_EVENTS), events);
}

static void test_salvage__goes_on_behind_a_damaged_page(void **state)
{
    struct salvage saved;
    struct buf bytes;
    int64_t rows, events, last, left;

    fill(*state);
    rows = ask_number(*state, COUNT_ROWS);
    events = ask_number(*state, COUNT_EVENTS);
    last = ask_number(*state, "SELECT max(seq) FROM event");
    bytes = read_file(*state, "smtune.db");
    spoil(&bytes, find_page(*state, &bytes, "event", 3));
    write_file(*state, "smtune.db", &bytes);
    saved = must_salvage(*state);
    left = ask_number(*state, COUNT_EVENTS);
    assert_true(left < events && left > events / 2);
    assert_int_equal(ask_number(*state, "SELECT max(seq) FROM event"), last);
    assert_int_equal(saved.rows, rows - (events - left));
    assert_int_equal(saved.gaps, 1);
    assert_true(saved.events_have_gaps);
    buf_clear(&bytes);
}

/* Nothing of the table can be read, all of the others can. */
static void test_salvage__goes_on_behind_a_damaged_table(void **state)
{
    struct salvage saved;
    struct buf bytes;
    int64_t rows, values;

    fill(*state);
    rows = ask_number(*state, COUNT_ROWS);
    values = ask_number(*state, "SELECT count(*) FROM param_value");
    bytes = read_file(*state, "smtune.db");
    spoil(&bytes, ask_number(*state, "SELECT rootpage FROM sqlite_schema"
                                     " WHERE name = 'param_value'"));
    write_file(*state, "smtune.db", &bytes);
    saved = must_salvage(*state);
    assert_int_equal(saved.rows, rows - values);
    assert_int_equal(saved.gaps, 1);
    assert_false(saved.events_have_gaps);
    buf_clear(&bytes);
}

/* Two pages that were written to each other's places, of which one has an event
 * with the greatest key that there is. */
static struct buf swap_pages(const char *folder)
{
    unsigned char other[PAGE];
    const unsigned char *root;
    unsigned char *first, *last;
    struct buf bytes;

    fill(folder);
    free(ask_sqlite(folder, "INSERT INTO event SELECT 0x7fffffffffffffff,"
                            " run_id, job_id, attempt_id, time_ms, event,"
                            " detail FROM event WHERE seq = 1"));
    bytes = read_file(folder, "smtune.db");
    first = page_at(&bytes, find_page(folder, &bytes, "event", 3));
    root =
        page_at(&bytes, ask_number(folder, "SELECT rootpage FROM sqlite_schema"
                                           " WHERE name = 'event'"));
    last = page_at(&bytes, root[8] * 0x1000000 + root[9] * 0x10000 +
                               root[10] * 0x100 + root[11]);
    memcpy(other, first, PAGE);
    memcpy(first, last, PAGE);
    memcpy(last, other, PAGE);
    write_file(folder, "smtune.db", &bytes);
    return bytes;
}

/* What is out of its order is taken, also behind the greatest key there is. */
static void test_salvage__bears_any_order(void **state)
{
    struct buf bytes = swap_pages(*state);
    struct salvage saved;
    int64_t last;

    saved = must_salvage(*state);
    last = ask_number(*state, "SELECT max(seq) FROM event"
                              " WHERE seq < 0x7fffffffffffffff");
    assert_int_equal(ask_number(*state, COUNT_EVENTS), last + 1);
    assert_int_equal(saved.gaps, 2);
    assert_true(saved.events_have_gaps);
    buf_clear(&bytes);
}

/* Behind the greatest key there is nothing to search for. */
static void test_salvage__bears_any_key(void **state)
{
    struct buf bytes = swap_pages(*state);
    struct salvage saved;

    spoil(&bytes, find_page(*state, &bytes, "event", 4));
    write_file(*state, "smtune.db", &bytes);
    saved = must_salvage(*state);
    assert_int_equal(ask_number(*state, "SELECT max(seq) FROM event"),
                     INT64_MAX);
    assert_int_equal(saved.gaps, 1);
    assert_true(saved.events_have_gaps);
    buf_clear(&bytes);
}

/* A row whose key has become a great one costs none of those behind it, and a
 * page that cannot be read no more than its own. */
static void test_salvage__goes_on_behind_a_key_that_is_nonsense(void **state)
{
    static const unsigned char great[] = {0xff, 0x7f};
    unsigned char *page, *cell;
    struct salvage saved;
    struct buf bytes;
    int64_t rows, lost;

    fill(*state);
    rows = ask_number(*state, COUNT_ROWS);
    bytes = read_file(*state, "smtune.db");
    page = page_at(&bytes, find_page(*state, &bytes, "event", 5));
    assert_int_equal(page[0], 13);
    lost = page[3] * 256 + page[4];
    spoil(&bytes, find_page(*state, &bytes, "event", 5));
    page = page_at(&bytes, find_page(*state, &bytes, "event", 3));
    assert_int_equal(page[0], 13);
    cell = page + page[8 + 2 * 4] * 256 + page[8 + 2 * 4 + 1];
    cell += cell[0] < 0x80 ? 1 : 2;
    assert_true(cell[0] >= 0x80 && cell[1] < 0x80);
    memcpy(cell, great, sizeof(great));
    write_file(*state, "smtune.db", &bytes);
    saved = must_salvage(*state);
    assert_int_equal(saved.rows, rows - lost);
    assert_int_equal(saved.gaps, 2);
    assert_int_equal(ask_number(*state, "SELECT max(seq) FROM event"), 16383);
    buf_clear(&bytes);
}

/* A row that breaks a rule of its table is lost, and that is told. */
static void test_salvage__tells_of_rows_that_are_nonsense(void **state)
{
    struct salvage saved;
    int64_t rows;

    fill(*state);
    rows = ask_number(*state, COUNT_ROWS);
    free(ask_sqlite(
        *state, "PRAGMA writable_schema = ON;"
                "CREATE TABLE was AS SELECT name, sql FROM sqlite_schema;"
                "DROP TRIGGER event_never_changes;"
                "UPDATE sqlite_schema SET sql = replace(sql,"
                " 'event TEXT NOT NULL', 'event TEXT') WHERE name = 'event';"
                "PRAGMA writable_schema = RESET;"
                "UPDATE event SET event = NULL WHERE seq = 7;"
                "PRAGMA writable_schema = ON;"
                "UPDATE sqlite_schema SET sql = (SELECT sql FROM was"
                " WHERE was.name = 'event') WHERE name = 'event';"
                "DROP TABLE was"));
    must_be_sound(*state, false);
    saved = must_salvage(*state);
    assert_int_equal(saved.rows, rows - 1);
    assert_int_equal(saved.gaps, 1);
    assert_true(saved.events_have_gaps);
    assert_int_equal(
        ask_number(*state, "SELECT count(*) FROM event WHERE seq = 7"), 0);
}

/* Tables that are not there, have no such key, or a column too many. */
static void test_salvage__leaves_out_tables_that_are_others(void **state)
{
    struct salvage saved;

    fill(*state);
    free(ask_sqlite(*state,
                    "DROP TABLE node; DROP TABLE run_rung;"
                    "CREATE TABLE run_rung (other INTEGER);"
                    "INSERT INTO run_rung VALUES (1);"
                    "ALTER TABLE notification ADD COLUMN other INTEGER"));
    saved = must_salvage(*state);
    assert_int_equal(saved.gaps, 3);
    assert_false(saved.events_have_gaps);
    assert_int_equal(ask_number(*state, "SELECT count(*) FROM job"), TRIALS);
    assert_int_equal(ask_number(*state, "SELECT count(*) FROM run_rung"), 0);
}

/* ---- the first page ---- */

static void test_salvage__borrows_the_first_page(void **state)
{
    struct salvage saved;
    struct buf bytes;
    int64_t rows;

    fill(*state);
    rows = ask_number(*state, COUNT_ROWS);
    bytes = read_file(*state, "smtune.db");
    spoil(&bytes, 1);
    write_file(*state, "smtune.db", &bytes);
    saved = must_salvage(*state);
    assert_int_equal(saved.rows, rows);
    assert_int_equal(saved.gaps, 1);
    assert_false(saved.events_have_gaps);
    buf_clear(&bytes);
}

/* A store with a comment that is in its log alone, and a first page that can
 * not be read. */
static void leave_log(const char *folder)
{
    struct err err = {0};
    struct store *store = must_fill(folder, TRIALS);
    struct buf bytes, log;

    store_close(store);
    store = must_open(folder, STORE_WRITE);
    must(store_begin(store, &err));
    must(store_set_comment(store, 1, 0, "in the log", 5, &err));
    must(store_commit(store, &err));
    bytes = read_file(folder, "smtune.db");
    log = read_file(folder, "smtune.db-wal");
    store_close(store);
    spoil(&bytes, 1);
    write_file(folder, "smtune.db", &bytes);
    write_file(folder, "smtune.db-wal", &log);
    buf_clear(&bytes);
    buf_clear(&log);
}

static void test_salvage__reads_the_log_as_well(void **state)
{
    char *comment;

    leave_log(*state);
    must_salvage(*state);
    comment = ask_sqlite(*state, "SELECT comment FROM run");
    assert_string_equal(comment, "in the log");
    assert_true(is_there(*state, "kept.db-wal"));
    free(comment);
}

static void test_salvage__needs_something_to_read(void **state)
{
    char *path = fs_join(*state, "smtune.db");
    char *log = fs_join(*state, "smtune.db-wal");
    struct buf bytes = BUF_INIT;

    write_file(*state, "smtune.db", &bytes);
    must_not_salvage(*state, ERR_FAILED, "no readable data in");
    for (int i = 0; i < 3 * PAGE; i++)
        buf_add_char(&bytes, '\xa5');
    write_file(*state, "smtune.db", &bytes);
    must_not_salvage(*state, ERR_FAILED, "no readable data in");
    unlink(log);
    assert_int_equal(mkdir(log, 0700), 0);
    must_not_salvage(*state, ERR_FAILED, log);
    buf_clear(&bytes);
    free(path);
    free(log);
}

static void test_salvage__needs_a_store(void **state)
{
    char *nowhere = fs_join(*state, "no/where");
    char *kept = fs_join(*state, "kept.db");
    struct err err = {0};
    struct salvage saved;

    assert_int_equal(store_salvage(nowhere, kept, &saved, &err), -1);
    assert_non_null(strstr(err.text, nowhere));
    assert_int_equal(store_salvage(*state, kept, &saved, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(is_there(*state, "smtune.db"));
    assert_false(is_there(*state, "kept.db"));
    free(nowhere);
    free(kept);
}

/* ---- the new file ---- */

static void test_salvage__needs_room_for_the_new_one(void **state)
{
    char *own = mem_printf("salvage.%ld", (long)getpid());

    fill(*state);
    put(*state, ".", own, "in the way");
    must_not_salvage(*state, ERR_FAILED, own);
    free(own);
}

static void test_salvage__overwrites_nothing(void **state)
{
    char *kept = fs_join(*state, "kept.db");
    struct salvage saved;
    struct err err = {0};
    struct buf before;

    fill(*state);
    before = read_file(*state, "smtune.db");
    put(*state, ".", "kept.db", "somebody's");
    assert_int_equal(store_salvage(*state, kept, &saved, &err), -1);
    assert_non_null(strstr(err.text, kept));
    must_be_the_same(*state, "smtune.db", &before);
    buf_clear(&before);
    before = read_file(*state, "kept.db");
    assert_string_equal(buf_text(&before), "somebody's");
    buf_clear(&before);
    free(kept);
}

/* What is in the way of the log, or of what the log's readers share, leaves
 * the log where it was. */
static void test_salvage__keeps_the_log_with_its_file(void **state)
{
    char *other = fs_join(*state, "kept.db-wal");
    char *shared = fs_join(*state, "smtune.db-shm");
    struct buf log;

    leave_log(*state);
    log = read_file(*state, "smtune.db-wal");
    assert_int_equal(mkdir(other, 0700), 0);
    must_not_salvage(*state, ERR_FAILED, "cannot move");
    must_be_the_same(*state, "smtune.db-wal", &log);
    assert_int_equal(rmdir(other), 0);
    unlink(shared);
    assert_int_equal(mkdir(shared, 0700), 0);
    must_not_salvage(*state, ERR_FAILED, "cannot move");
    must_be_the_same(*state, "smtune.db-wal", &log);
    assert_false(is_there(*state, "kept.db-wal"));
    buf_clear(&log);
    free(other);
    free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_is_sound__tells_damage_from_trouble),
        STORE_TEST(test_salvage__takes_all_of_a_sound_one),
        STORE_TEST(test_salvage__goes_on_behind_a_damaged_page),
        STORE_TEST(test_salvage__goes_on_behind_a_damaged_table),
        STORE_TEST(test_salvage__bears_any_order),
        STORE_TEST(test_salvage__bears_any_key),
        STORE_TEST(test_salvage__goes_on_behind_a_key_that_is_nonsense),
        STORE_TEST(test_salvage__tells_of_rows_that_are_nonsense),
        STORE_TEST(test_salvage__leaves_out_tables_that_are_others),
        STORE_TEST(test_salvage__borrows_the_first_page),
        STORE_TEST(test_salvage__reads_the_log_as_well),
        STORE_TEST(test_salvage__needs_something_to_read),
        STORE_TEST(test_salvage__needs_a_store),
        STORE_TEST(test_salvage__needs_room_for_the_new_one),
        STORE_TEST(test_salvage__overwrites_nothing),
        STORE_TEST(test_salvage__keeps_the_log_with_its_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
