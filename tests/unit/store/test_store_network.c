/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: statfs */
/* A store on a file system of the network; statfs is the test's. */
#include "store/file_system.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/fs.h"
#include "tests/unit/store/store_test.h"

static uint32_t told_type; /* 0: what it is */

int __real_statfs(const char *path, struct statfs *status);
int __wrap_statfs(const char *path, struct statfs *status);

int __wrap_statfs(const char *path, struct statfs *status)
{
    int result = __real_statfs(path, status);

    if (told_type != 0)
        status->f_type = (int32_t)told_type;
    return result;
}

static int clear(void **state)
{
    told_type = 0;
    unsetenv("SMTUNE_STORE_JOURNAL");
    return remove_folder(state);
}

static void test_store_network__types_have_names(void **state)
{
    static const struct {
        uint32_t type;
        const char *name; /* NULL: not on a network */
    } types[] = {
        {0x6969, "NFS"},        {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},
        {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"},
        {0x5346414f, "AFS"},    {0x01021997, "9p"},   {0x00c36400, "Ceph"},
        {0xef53, NULL},         {0x01021994, NULL},   {0x65735546, NULL}};
    struct file_system found;

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        told_type = types[i].type;
        assert_int_equal(file_system_find(*state, &found), 0);
        assert_int_equal(found.is_network, types[i].name != NULL);
        if (types[i].name != NULL)
            assert_string_equal(found.name, types[i].name);
        else
            assert_true(found.name[0] != '\0');
    }
    assert_int_equal(file_system_find("/none", &found), -1);
}

static void must_answer(const char *folder, const char *sql, const char *text)
{
    char *answer = ask_sqlite(folder, sql);

    assert_string_equal(answer, text);
    free(answer);
}

/* Its file says so from then on. */
static void test_store_network__a_new_one_has_no_log(void **state)
{
    struct store *reader;

    told_type = 0x6969;
    store_close(must_fill(*state, 3));
    must_answer(*state, "PRAGMA journal_mode", "delete");
    reader = must_open(*state, STORE_READ);
    assert_int_equal(count_trials(reader, 1), 3);
    store_close(reader);
    store_close(must_open(*state, STORE_WRITE));
    must_answer(*state, "PRAGMA journal_mode", "delete");
    told_type = 0;
    store_close(must_open(*state, STORE_WRITE));
    must_answer(*state, "PRAGMA journal_mode", "wal");
}

/* A journal that is removed is one that a repeated request of NFS misses. */
static void test_store_network__its_journal_is_emptied(void **state)
{
    char *path = fs_join(*state, "smtune.db-journal");
    struct stat file;

    told_type = 0x6969;
    store_close(must_fill(*state, 3));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_size, 0);
    free(path);
}

static void test_store_network__one_with_a_log_is_refused(void **state)
{
    store_close(must_fill(*state, 3));
    told_type = 0x0bd00bd0;
    must_refuse(*state, STORE_READ, ERR_FAILED, "(Lustre)");
    must_refuse(*state, STORE_WRITE, ERR_FAILED, "SMTUNE_STORE_JOURNAL");
    must_refuse(*state, STORE_CREATE, ERR_FAILED, "--store");
    setenv("SMTUNE_STORE_JOURNAL", "delete", 1);
    store_close(must_open(*state, STORE_WRITE));
    unsetenv("SMTUNE_STORE_JOURNAL");
    store_close(must_open(*state, STORE_READ));
}

static void test_store_network__another_journal_is_refused(void **state)
{
    setenv("SMTUNE_STORE_JOURNAL", "wal", 1);
    must_refuse(*state, STORE_CREATE, ERR_USAGE, "'wal'");
    setenv("SMTUNE_STORE_JOURNAL", "", 1);
    store_close(must_fill(*state, 1));
    must_answer(*state, "PRAGMA journal_mode", "wal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_store_network__types_have_names,
                                        make_folder, clear),
        cmocka_unit_test_setup_teardown(
            test_store_network__a_new_one_has_no_log, make_folder, clear),
        cmocka_unit_test_setup_teardown(
            test_store_network__its_journal_is_emptied, make_folder, clear),
        cmocka_unit_test_setup_teardown(
            test_store_network__one_with_a_log_is_refused, make_folder, clear),
        cmocka_unit_test_setup_teardown(
            test_store_network__another_journal_is_refused, make_folder, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
