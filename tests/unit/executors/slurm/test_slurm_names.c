/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: getrandom pread pwrite */
/* The names that a run's jobs have in the cluster: none comes twice, whatever
 * the disk does; some calls are the test's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/slurm/core.h"
#include "tests/unit/folder.h"

enum { DAY_MS = 86400000, BLOCK = 1000 };

static struct {
    bool getrandom, pread, pwrite;
} denied;

static bool fails(bool is_denied)
{
    errno = EIO;
    return is_denied;
}

ssize_t __real_getrandom(void *bytes, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags)
{
    return fails(denied.getrandom) ? -1 : __real_getrandom(bytes, size, flags);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset)
{
    return fails(denied.pread) ? -1 : __real_pread(fd, bytes, size, offset);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return fails(denied.pwrite) ? -1 : __real_pwrite(fd, bytes, size, offset);
}

/* ---- the token ---- */

static void test_token__is_made_once(void **state)
{
    struct slurm_names first, again;

    assert_int_equal(slurm_names_open(&first, *state, NULL), 0);
    assert_int_equal(slurm_names_open(&again, *state, NULL), 0);
    assert_false(first.is_old);
    assert_true(again.is_old);
    assert_int_equal(strlen(first.token), SLURM_TOKEN_SIZE - 1);
    assert_string_equal(first.token, again.token);
    assert_string_equal(first.prefix, again.prefix);
    slurm_names_clear(&first);
    slurm_names_clear(&again);
}

static void test_token__is_eight_digits(void **state)
{
    static const struct {
        const char *text;
        bool is_one;
    } cases[] = {
        {"0123abcd", true},    {"0123abcd\n", true},  {"0123abcd\nx", true},
        {"", false},           {"0123abc", false},    {"0123abcde", false},
        {"0123ABCD\n", false}, {"0123abcd x", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slurm_names names;
        struct err err;

        put(*state, "slurm", "token", cases[i].text);
        if (cases[i].is_one) {
            assert_int_equal(slurm_names_open(&names, *state, NULL), 0);
            assert_string_equal(names.prefix, "smt-0123abcd-");
        } else {
            assert_int_equal(slurm_names_open(&names, *state, &err), -1);
            assert_non_null(strstr(err.text,
                                   "/slurm/token' does not contain a "
                                   "token of eight hexadecimal digits"));
        }
        slurm_names_clear(&names);
    }
}

static void test_token__is_not_looked_for_in_a_long_file(void **state)
{
    struct slurm_names names;
    struct err err;

    put(*state, "slurm", "token",
        "0123abcd\n0123456789012345678901234567890123456789012345678901234567");
    assert_int_equal(slurm_names_open(&names, *state, &err), -1);
    assert_non_null(strstr(err.text, "/slurm/token' is longer than 64 bytes"));
    slurm_names_clear(&names);
}

/* Slurm is asked for no jobs from before the run, whatever its clock was. */
static void test_token__says_since_when_there_are_jobs(void **state)
{
    char *path = fs_join(*state, "slurm/token");
    struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    struct slurm_names names;

    put(*state, "slurm", "token", "0123abcd\n");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(slurm_names_open(&names, *state, NULL), 0);
    assert_int_equal(names.since_ms, INT64_C(1000000000) - DAY_MS);
    slurm_names_clear(&names);
    times[1].tv_sec = INT64_C(1) << 33;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(slurm_names_open(&names, *state, NULL), 0);
    assert_true(names.since_ms <= clock_wall_ms() - DAY_MS);
    slurm_names_clear(&names);
    free(path);
}

static void test_token__needs_a_disk_and_chance(void **state)
{
    struct slurm_names names;
    struct rlimit limit, none;
    struct err err;

    denied.getrandom = true;
    assert_int_equal(slurm_names_open(&names, *state, &err), -1);
    denied.getrandom = false;
    assert_string_equal(err.text,
                        "cannot get a random number: Input/output error");
    slurm_names_clear(&names);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_int_equal(slurm_names_open(&names, *state, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_non_null(strstr(err.text, "token"));
    slurm_names_clear(&names);
    put(*state, ".", "file", "");
    char *folder = fs_join(*state, "file");
    assert_int_equal(slurm_names_open(&names, folder, &err), -1);
    slurm_names_clear(&names);
    free(folder);
}

/* ---- the numbers ---- */

static int64_t next_number(struct slurm *slurm)
{
    char name[SLURM_NAME_SIZE];
    const size_t length = strlen(slurm->names.prefix);

    slurm_new_name(slurm, 'a', name);
    assert_memory_equal(name, slurm->names.prefix, length);
    assert_int_equal(name[length], 'a');
    return strtoll(name + length + 1, NULL, 10);
}

/* Those of an engine that is gone are left out. */
static void test_number__comes_once(void **state)
{
    struct slurm first = {0}, second = {0};

    assert_int_equal(slurm_names_open(&first.names, *state, NULL), 0);
    assert_int_equal(slurm_names_open(&second.names, *state, NULL), 0);
    assert_int_equal(next_number(&first), 1);
    assert_int_equal(next_number(&second), BLOCK + 1);
    for (int64_t number = 2; number <= BLOCK; number++)
        assert_int_equal(next_number(&first), number);
    assert_int_equal(next_number(&first), 2 * BLOCK + 1);
    assert_int_equal(next_number(&second), BLOCK + 2);
    slurm_names_clear(&first.names);
    slurm_names_clear(&second.names);
}

static void test_number__begins_anew_where_none_can_be(void **state)
{
    struct slurm slurm = {0};

    assert_int_equal(slurm_names_open(&slurm.names, *state, NULL), 0);
    put(*state, "slurm", "numbers", "9223372036854775807\n");
    assert_int_equal(next_number(&slurm), 1);
    slurm_names_clear(&slurm.names);
}

/* What cannot be read or written down is made up for by the clock. */
static void test_number__comes_once_without_a_disk(void **state)
{
    int64_t now_ms = clock_wall_ms();
    char *path = fs_join(*state, "slurm/numbers");
    struct slurm slurm = {0};

    assert_int_equal(slurm_names_open(&slurm.names, *state, NULL), 0);
    denied.pread = true;
    assert_true(next_number(&slurm) >= now_ms);
    denied.pread = false;
    slurm.names.next = slurm.names.end;
    denied.pwrite = true;
    assert_true(next_number(&slurm) >= now_ms);
    denied.pwrite = false;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    slurm.names.next = slurm.names.end;
    assert_true(next_number(&slurm) >= now_ms);
    slurm_names_clear(&slurm.names);
    free(path);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_token__is_made_once),
        IN_FOLDER(test_token__is_eight_digits),
        IN_FOLDER(test_token__is_not_looked_for_in_a_long_file),
        IN_FOLDER(test_token__says_since_when_there_are_jobs),
        IN_FOLDER(test_token__needs_a_disk_and_chance),
        IN_FOLDER(test_number__comes_once),
        IN_FOLDER(test_number__begins_anew_where_none_can_be),
        IN_FOLDER(test_number__comes_once_without_a_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
