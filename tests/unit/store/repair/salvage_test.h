/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STORE_REPAIR_SALVAGE_TEST_H
#define SMTUNE_TESTS_UNIT_STORE_REPAIR_SALVAGE_TEST_H

#include "base/buf.h"
#include "store/repair/salvage.h"
#include "tests/unit/store/store_test.h"

/* The database of a test's folder, damaged page by page. */

enum { PAGE = 4096, TRIALS = 80 };

UNUSED static struct buf read_file(const char *folder, const char *name)
{
    struct err err = {0};
    struct buf bytes = BUF_INIT;
    char *path = fs_join(folder, name);

    must(fs_read(path, 1 << 30, &bytes, &err));
    free(path);
    return bytes;
}

UNUSED static void write_file(const char *folder, const char *name,
                              const struct buf *bytes)
{
    struct err err = {0};
    char *path = fs_join(folder, name);

    must(fs_write_atomic(path, buf_text(bytes), bytes->length, 0600, &err));
    free(path);
}

UNUSED static bool is_there(const char *folder, const char *name)
{
    char *path = fs_join(folder, name);
    bool is = fs_exists(path);

    free(path);
    return is;
}

UNUSED static void must_be_the_same(const char *folder, const char *name,
                                    const struct buf *before)
{
    struct buf after = read_file(folder, name);

    assert_int_equal(after.length, before->length);
    assert_memory_equal(after.data, before->data, before->length);
    buf_clear(&after);
}

UNUSED static int64_t ask_number(const char *folder, const char *sql)
{
    char *answer = ask_sqlite(folder, sql);
    int64_t number = strtoll(answer, NULL, 10);

    free(answer);
    return number;
}

/* A store of TRIALS trials, all of it in its file. */
UNUSED static void fill(const char *folder)
{
    store_close(must_fill(folder, TRIALS));
}

UNUSED static unsigned char *page_at(const struct buf *bytes, int64_t page)
{
    assert_true(page > 0 && page * PAGE <= (int64_t)bytes->length);
    return (unsigned char *)bytes->data + (page - 1) * PAGE;
}

/* The i-th page below a table's first one, which is an inner one. */
UNUSED static int64_t find_page(const char *folder, const struct buf *bytes,
                                const char *table, int i)
{
    char *sql = mem_printf("SELECT rootpage FROM sqlite_schema"
                           " WHERE name = '%s'",
                           table);
    const unsigned char *root = page_at(bytes, ask_number(folder, sql));
    const unsigned char *pointer = root + 12 + 2 * i, *cell;

    free(sql);
    assert_int_equal(root[0], 5);
    assert_true(i < root[3] * 256 + root[4]);
    cell = root + pointer[0] * 256 + pointer[1];
    return cell[0] * 0x1000000 + cell[1] * 0x10000 + cell[2] * 0x100 + cell[3];
}

UNUSED static void spoil(const struct buf *bytes, int64_t page)
{
    memset(page_at(bytes, page), 0xa5, PAGE);
}

/* 0, or -1 and then all is as it was. */
UNUSED static int salvage(const char *folder, struct salvage *saved,
                          struct err *err)
{
    struct buf before = read_file(folder, "smtune.db");
    char *kept = fs_join(folder, "kept.db");
    char *own = mem_printf("salvage.%ld", (long)getpid());
    int result = store_salvage(folder, kept, saved, err);

    if (result == 0) {
        must_be_the_same(folder, "kept.db", &before);
    } else {
        must_be_the_same(folder, "smtune.db", &before);
        assert_false(is_there(folder, "kept.db"));
        assert_true(err->text[0] != '\0');
    }
    assert_false(is_there(folder, own));
    buf_clear(&before);
    free(kept);
    free(own);
    return result;
}

UNUSED static struct salvage must_salvage(const char *folder)
{
    struct err err = {0};
    struct salvage saved;
    bool is_sound;

    must(salvage(folder, &saved, &err));
    must(store_is_sound(folder, &is_sound, &err));
    assert_true(is_sound);
    return saved;
}

UNUSED static void must_not_salvage(const char *folder, enum err_kind kind,
                                    const char *word)
{
    struct err err = {0};
    struct salvage saved;

    assert_int_equal(salvage(folder, &saved, &err), -1);
    assert_int_equal(err.kind, kind);
    if (strstr(err.text, word) == NULL)
        fail_msg("without '%s': %s", word, err.text);
}

#endif
