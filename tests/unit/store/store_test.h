/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STORE_STORE_TEST_H
#define SMTUNE_TESTS_UNIT_STORE_STORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tests/unit/folder.h"
#include "tests/unit/store/store_fill.h"

/* Opening and changing a store in a test's folder without errors. */

#define STORE_TEST(name)                                                       \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

#define must(result)                                                           \
    do {                                                                       \
        if ((result) != 0)                                                     \
            fail_msg("%s: %s", #result, err.text);                             \
    } while (0)

UNUSED static struct store *must_open(const char *folder, enum store_mode mode)
{
    struct err err = {0};
    struct store *store = store_open(folder, mode, &err);

    if (store == NULL)
        fail_msg("open: %s", err.text);
    return store;
}

UNUSED static void must_refuse(const char *folder, enum store_mode mode,
                               enum err_kind kind, const char *word)
{
    struct err err = {0};

    assert_null(store_open(folder, mode, &err));
    assert_int_equal(err.kind, kind);
    if (strstr(err.text, word) == NULL || strchr(err.text, '\n') != NULL)
        fail_msg("not one line with '%s': %s", word, err.text);
}

/* A store with the run 1, "r", of `trials` trials: trial n has value n. */
UNUSED static struct store *must_fill(const char *folder, int64_t trials)
{
    struct err err = {0};
    struct store *store = must_open(folder, STORE_CREATE);
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    for (int64_t n = 1; n <= trials; n++)
        must(fill_trial(store, run, n, (double)n, &err));
    must(store_commit(store, &err));
    assert_int_equal(run, 1);
    return store;
}

/* The sqlite3 program's answer to one statement; for what people would see. */
UNUSED static char *ask_sqlite(const char *folder, const char *sql)
{
    char *database = fs_join(folder, "smtune.db");
    char *answer = mem_zero(4096);
    int fds[2];
    FILE *output;
    size_t length;

    assert_int_equal(pipe(fds), 0);
    if (fork() == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        /* Newer shells keep the tables of SQLite itself from being changed. */
        execlp("sqlite3", "sqlite3", "-cmd", ".output /dev/null", "-cmd",
               ".dbconfig defensive off", "-cmd", ".output stdout", database,
               sql, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    output = fdopen(fds[0], "r");
    length = fread(answer, 1, 4095, output);
    fclose(output);
    while (length > 0 && answer[length - 1] == '\n')
        answer[--length] = '\0';
    wait(NULL);
    free(database);
    return answer;
}

UNUSED static int count_trial(void *user, const struct trial_row *trial)
{
    (void)trial;
    ++*(int64_t *)user;
    return 0;
}

UNUSED static int64_t count_trials(struct store *store, int64_t run)
{
    struct err err = {0};
    struct trial_query query = {.run = run};
    int64_t count = 0;

    must(store_each_trial(store, &query, count_trial, &count, &err));
    return count;
}

#endif
