/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A copy without secrets. Files of runs, and their --set words, are in the rows
 * of runs and in events, and both become the same, so that `fsck` finds no
 * difference. Events never change, which a trigger ensures: it is taken away
 * and put back as it was. VACUUM writes another file, because the copied pages
 * also hold what was deleted or replaced before.
 */
#include "store/repair/backup_mask.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "store/repair/backup.h"
#include "store/statements.h"

static const struct backup_mask *mask_of(sqlite3_context *context)
{
    return sqlite3_user_data(context);
}

/* Takes the text. */
static void answer(sqlite3_context *context, struct buf *text)
{
    sqlite3_result_text64(context, buf_text(text), text->length,
                          SQLITE_TRANSIENT, SQLITE_UTF8);
    buf_clear(text);
}

static const char *text_of(sqlite3_value *value)
{
    return (const char *)sqlite3_value_text(value);
}

static void on_file(sqlite3_context *context, UNUSED int count,
                    sqlite3_value **values)
{
    const struct backup_mask *mask = mask_of(context);
    const char *text = text_of(values[0]), *words = text_of(values[1]);
    struct buf out = BUF_INIT;

    if (text == NULL)
        return;
    mask->file(mask->user, text, words != NULL ? words : "[]", &out);
    answer(context, &out);
}

static void on_words(sqlite3_context *context, UNUSED int count,
                     sqlite3_value **values)
{
    const struct backup_mask *mask = mask_of(context);
    const char *file = text_of(values[0]), *words = text_of(values[1]);
    struct buf out = BUF_INIT;

    if (words == NULL)
        return;
    mask->words(mask->user, file != NULL ? file : "", words, &out);
    answer(context, &out);
}

static void on_detail(sqlite3_context *context, UNUSED int count,
                      sqlite3_value **values)
{
    const struct backup_mask *mask = mask_of(context);
    const char *detail = text_of(values[0]);
    struct buf out = BUF_INIT;

    if (detail == NULL)
        return;
    mask->detail(mask->user, detail, &out);
    answer(context, &out);
}

static int add_functions(sqlite3 *db, const struct backup_mask *mask)
{
    static const struct {
        const char *name;
        int count;
        void (*call)(sqlite3_context *context, int count,
                     sqlite3_value **values);
    } functions[] = {
        {"mask_file", 2, on_file},
        {"mask_words", 2, on_words},
        {"mask_detail", 1, on_detail},
    };
    int code = SQLITE_OK;

    for (size_t i = 0; i < ARRAY_LEN(functions) && code == SQLITE_OK; i++)
        code = sqlite3_create_function(
            db, functions[i].name, functions[i].count, SQLITE_UTF8,
            (void *)(uintptr_t)mask, functions[i].call, NULL, NULL);
    return code;
}

/* The SQL that made it; the caller's to free. NULL: there is none. */
static char *read_trigger(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    char *sql = NULL;

    if (sqlite3_prepare_v2(db,
                           "SELECT sql FROM sqlite_master"
                           " WHERE name = 'event_never_changes'",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        sql = mem_copy_string(store_column_text(statement, 0));
    sqlite3_finalize(statement);
    return sql;
}

static int change(sqlite3 *db, const char *trigger)
{
    static const char updates[] =
        "UPDATE run SET spec = mask_file(spec, overrides),"
        " overrides = mask_words(spec, overrides),"
        " edited_spec = mask_file(edited_spec, edited_overrides),"
        " edited_overrides = mask_words(edited_spec, edited_overrides);"
        "UPDATE event SET detail = mask_detail(detail)"
        " WHERE event = 'run_created' OR event = 'edited';";
    const char *const steps[] = {
        "BEGIN",  "DROP TRIGGER IF EXISTS event_never_changes",
        updates,  trigger != NULL ? trigger : "",
        "COMMIT",
    };
    int code = SQLITE_OK;

    for (size_t i = 0; i < ARRAY_LEN(steps) && code == SQLITE_OK; i++)
        code = sqlite3_exec(db, steps[i], NULL, NULL, NULL);
    return code;
}

static int write_anew(sqlite3 *db, const char *into)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, into, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE)
        code = sqlite3_errcode(db);
    sqlite3_finalize(statement);
    return code;
}

int backup_mask_apply(sqlite3 *db, const struct backup_mask *mask,
                      const char *into, struct err *err)
{
    char *trigger = read_trigger(db);
    int code = add_functions(db, mask);

    if (code == SQLITE_OK)
        code = change(db, trigger);
    if (code == SQLITE_OK)
        code = write_anew(db, into);
    free(trigger);
    if (code == SQLITE_OK)
        return 0;
    if (code == SQLITE_FULL)
        return err_set(err, ERR_SHORTAGE, "cannot write '%s': the disk is full",
                       into);
    return err_set(err, ERR_FAILED, "cannot mask secrets in '%s': %s", into,
                   sqlite3_errmsg(db));
}
