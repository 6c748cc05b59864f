/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "tests/unit/folder.h"

static void test_fs__write_and_read_back(void **state)
{
    char *path = fs_join(*state, "file");
    struct buf out = BUF_INIT;
    struct err err;
    struct stat st;

    assert_int_equal(fs_write_atomic(path, "first", 5, 0600, &err), 0);
    assert_int_equal(fs_write_atomic(path, "a\0b", 3, 0644, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    buf_add_string(&out, "kept:");
    assert_int_equal(fs_read(path, 3, &out, &err), 0);
    assert_int_equal(out.length, 8);
    assert_memory_equal(out.data, "kept:a\0b", 9);
    buf_clear(&out);
    free(path);
}

static void test_fs__read_says_why_it_cannot(void **state)
{
    char *path = fs_join(*state, "file");
    struct buf out = BUF_INIT;
    struct err err;

    assert_int_equal(fs_read(path, 10, &out, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(fs_write_atomic(path, "12345678901", 11, 0600, &err), 0);
    assert_int_equal(fs_read(path, 10, &out, &err), -1);
    assert_int_equal(err.kind, ERR_FILE);
    assert_int_equal(fs_read(*state, 10, &out, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    buf_clear(&out);
    free(path);
}

static void test_fs__a_tail_is_the_end_of_a_file(void **state)
{
    char *path = fs_join(*state, "file"), *link = fs_join(*state, "link");
    struct buf out = BUF_INIT;
    struct err err;

    assert_int_equal(fs_read_tail(path, 4, &out), -1);
    assert_int_equal(fs_write_atomic(path, "12345", 5, 0600, &err), 0);
    buf_add_string(&out, "kept:");
    assert_int_equal(fs_read_tail(path, 4, &out), 0);
    assert_string_equal(buf_text(&out), "kept:2345");
    assert_int_equal(fs_read_tail(path, 9, &out), 0);
    assert_string_equal(buf_text(&out), "kept:234512345");
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(fs_read_tail(link, 4, &out), -1);
    assert_int_equal(fs_read_tail(*state, 4, &out), -1);
    assert_int_equal(out.length, 14);
    buf_clear(&out);
    free(link);
    free(path);
}

/* A reader takes what a pipe holds at a time, and the writer does not block. */
static void test_fs__write_all_waits_for_room(void **state)
{
    enum { BYTES = 1 << 20 };
    char *bytes = mem_zero(BYTES);
    int ends[2], status;
    pid_t reader;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        size_t got = 0;
        ssize_t length;

        close(ends[1]);
        fcntl(ends[0], F_SETFL, 0);
        while ((length = read(ends[0], bytes, BYTES)) > 0)
            got += (size_t)length;
        _exit(got != BYTES);
    }
    close(ends[0]);
    assert_int_equal(fs_write_all(ends[1], bytes, BYTES), 0);
    close(ends[1]);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(bytes);
}

static void test_fs__failed_write_leaves_nothing(void **state)
{
    char *directory = fs_join(*state, "d");
    char *inside = fs_join(directory, "x");
    struct err err;

    assert_int_equal(fs_write_atomic(inside, "x", 1, 0600, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_int_equal(fs_make_directories(inside, &err), 0);
    /* a directory is in the way of the rename */
    assert_int_equal(fs_write_atomic(inside, "x", 1, 0600, &err), -1);
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(rmdir(directory), 0);
    free(inside);
    free(directory);
}

static void test_fs__make_directories(void **state)
{
    char *deep = fs_join(*state, "a//b/c/");
    char *file = fs_join(*state, "file");
    char *below = fs_join(file, "d");
    struct err err;
    struct stat st;

    assert_int_equal(fs_make_directories(deep, &err), 0);
    assert_int_equal(fs_make_directories(deep, &err), 0);
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(fs_write_atomic(file, "", 0, 0600, &err), 0);
    assert_int_equal(fs_make_directories(below, &err), -1);
    assert_non_null(strstr(err.text, "file"));
    assert_int_equal(fs_make_directories("/", &err), 0);
    free(below);
    free(file);
    free(deep);
}

static void test_fs__remove_tree_follows_no_link(void **state)
{
    char *kept = fs_join(*state, "kept");
    char *tree = fs_join(*state, "tree");
    char *link = fs_join(tree, "link");
    char *kept_file = fs_join(kept, "file");
    struct err err;

    assert_int_equal(fs_make_directories(kept, &err), 0);
    assert_int_equal(fs_make_directories(tree, &err), 0);
    assert_int_equal(fs_write_atomic(kept_file, "", 0, 0600, &err), 0);
    assert_int_equal(symlink(kept, link), 0);
    assert_int_equal(fs_remove_tree(tree, &err), 0);
    assert_false(fs_exists(tree));
    assert_true(fs_exists(kept_file));
    assert_int_equal(fs_remove_tree(tree, &err), 0);
    assert_int_equal(fs_remove_tree(kept_file, &err), 0);
    assert_false(fs_exists(kept_file));
    free(kept_file);
    free(link);
    free(tree);
    free(kept);
}

static void test_fs__copy_tree(void **state)
{
    char *from = fs_join(*state, "from"), *to = fs_join(*state, "to");
    char *inner = fs_join(to, "a/b/file"), *link = fs_join(from, "a/link");
    char *copied_link = fs_join(to, "a/link");
    char text[64] = "";
    struct buf out = BUF_INIT;
    struct err err;

    put(from, "", "top", "1");
    put(from, "a/b", "file", "what it holds");
    put(to, "a/b", "file", "something that is longer than that");
    assert_int_equal(symlink("b/file", link), 0);
    assert_int_equal(fs_copy_tree(from, to, &err), 0);
    assert_int_equal(fs_read(inner, 100, &out, &err), 0);
    assert_string_equal(buf_text(&out), "what it holds");
    assert_int_equal(readlink(copied_link, text, sizeof(text)), 6);
    assert_string_equal(text, "b/file");
    assert_int_equal(fs_copy_tree(from, to, &err), 0);
    assert_int_equal(fs_remove_tree(from, &err), 0);
    assert_int_equal(fs_copy_tree(from, to, &err), -1);
    assert_non_null(strstr(err.text, from));
    buf_clear(&out);
    free(from);
    free(to);
    free(inner);
    free(link);
    free(copied_link);
}

static void expect_path(char *path, const char *expected)
{
    assert_string_equal(path, expected);
    free(path);
}

static void test_fs__paths(void **state)
{
    char here[4096], expected[8192];

    (void)state;
    expect_path(fs_join("a", "b"), "a/b");
    expect_path(fs_join("a/", "b"), "a/b");
    expect_path(fs_join("a", "/b"), "/b");
    expect_path(fs_join("", "b"), "b");
    expect_path(fs_absolute("/a/./b//c/"), "/a/b/c");
    expect_path(fs_absolute("/"), "/");
    assert_non_null(getcwd(here, sizeof(here)));
    snprintf(expected, sizeof(expected), "%s/.smtune", here);
    expect_path(fs_absolute("./.smtune"), expected);
}

static void test_fs__program_directory_holds_this_program(void **state)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *directory = fs_program_directory();

    (void)state;
    assert_true(length > 0);
    self[length] = '\0';
    assert_memory_equal(directory, self, strlen(directory));
    assert_int_equal(self[strlen(directory)], '/');
    assert_null(strchr(self + strlen(directory) + 1, '/'));
    free(directory);
}

static void test_fs__a_folder_has_its_paths_within(void **state)
{
    (void)state;
    assert_true(fs_is_within("/a/b", "/a"));
    assert_true(fs_is_within("/a/b", "/a/"));
    assert_true(fs_is_within("/a", "/a"));
    assert_true(fs_is_within("/a", "/"));
    assert_false(fs_is_within("/ab", "/a"));
    assert_false(fs_is_within("/", "/a"));
}

static void test_fs__a_file_is_at_its_path_until_another_is(void **state)
{
    char *path = fs_join(*state, "file");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), other;

    assert_true(fd >= 0);
    assert_true(fs_is_at(fd, path));
    assert_int_equal(unlink(path), 0);
    assert_false(fs_is_at(fd, path));
    other = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_false(fs_is_at(fd, path));
    assert_true(fs_is_at(other, path));
    assert_false(fs_is_at(-1, path));
    close(other);
    close(fd);
    free(path);
}

/* ---- folders that a group shares ---- */

static unsigned mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

/* A folder of that mode; the caller's to free. */
static char *make_with(const char *root, const char *name, mode_t mode)
{
    char *path = fs_join(root, name);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

struct modes {
    mode_t folder; /* given */
    unsigned file, program, inner;
};

static void expect_mode(char *path, unsigned mode)
{
    if (mode_of(path) != mode)
        fail_msg("%s: mode %04o, not %04o", path, mode_of(path), mode);
    free(path);
}

static void make_all_in(const char *folder)
{
    char *open_path = fs_join(folder, "open");
    char *written = fs_join(folder, "a/b/written");
    char *program = fs_join(folder, "program");
    char *source = fs_join(folder, "a"), *tree = fs_join(folder, "tree");
    struct err err;
    int fd = fs_shared_open(open_path, O_WRONLY, 0600);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(fs_write_below(written, "x", 1, 0600, &err), 0);
    assert_int_equal(
        fs_write_atomic(program, "x", 1, fs_shared_mode(program, 0700), &err),
        0);
    assert_int_equal(fs_copy_tree(source, tree, &err), 0);
    fd = open(folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(fs_shared_mkdirat(fd, "at/"), 0);
    assert_int_equal(fs_shared_mkdirat(fd, "at"), -1);
    assert_int_equal(fs_shared_mkdirat(fd, "at/in"), 0);
    close(fd);
    free(open_path);
    free(written);
    free(program);
    free(source);
    free(tree);
}

static void test_fs__a_shared_folder_passes_on_its_modes(void **state)
{
    static const struct modes cases[] = {
        {02770, 0660, 0770, 02770},
        {0700, 0600, 0700, 0700},
        {0770, 0600, 0700, 0700},
        {02750, 0600, 0700, 02700},
    };
    static const mode_t masks[] = {0, 022, 077};

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(masks); i++) {
        const struct modes *wanted = &cases[i / ARRAY_LEN(masks)];
        char *name = mem_printf("%zu", i);
        char *folder = make_with(*state, name, wanted->folder);
        mode_t before = umask(masks[i % ARRAY_LEN(masks)]);

        make_all_in(folder);
        umask(before);
        expect_mode(fs_join(folder, "open"), wanted->file);
        expect_mode(fs_join(folder, "a/b/written"), wanted->file);
        expect_mode(fs_join(folder, "program"), wanted->program);
        expect_mode(fs_join(folder, "a"), wanted->inner);
        expect_mode(fs_join(folder, "a/b"), wanted->inner);
        expect_mode(fs_join(folder, "at"), wanted->inner);
        expect_mode(fs_join(folder, "at/in"), wanted->inner);
        expect_mode(fs_join(folder, "tree"), wanted->inner);
        expect_mode(fs_join(folder, "tree/b"), wanted->inner);
        expect_mode(fs_join(folder, "tree/b/written"), wanted->file);
        free(folder);
        free(name);
    }
}

static void test_fs__a_file_keeps_the_mode_that_it_has(void **state)
{
    char *folder = make_with(*state, "shared", 02770);
    char *path = fs_join(folder, "file");
    int fd;

    assert_int_equal(fs_write_atomic(path, "x", 1, 0600, NULL), 0);
    fd = fs_shared_open(path, O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mode_of(path), 0600);
    free(path);
    free(folder);
}

/* Others of the group may have put a link there. */
static void test_fs__a_shared_folder_follows_no_link(void **state)
{
    char *folder = make_with(*state, "shared", 02770);
    char *elsewhere = fs_join(*state, "mine");
    char *link = fs_join(folder, "link"), *hard = fs_join(folder, "hard");
    int fd;

    assert_int_equal(fs_write_atomic(elsewhere, "", 0, 0600, NULL), 0);
    assert_int_equal(symlink(elsewhere, link), 0);
    assert_int_equal(fs_shared_open(link, O_WRONLY | O_TRUNC, 0600), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(linkat(AT_FDCWD, elsewhere, AT_FDCWD, hard, 0), 0);
    fd = fs_shared_open(hard, O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mode_of(elsewhere), 0600);
    free(hard);
    free(link);
    free(elsewhere);
    free(folder);
}

/* A folder of the project with the same modes is nothing of smtune's. */
static void test_fs__only_the_trials_folder_shares_what_a_trial_names(
    void **state)
{
    char *trial = make_with(*state, "trial", 02770);
    char *project = make_with(*state, "project", 02770);
    char *inside = fs_join(trial, "logs/a"), *outside = fs_join(project, "b");
    char *beside = fs_join(*state, "trial-2");

    assert_int_equal(setenv("SMTUNE_DIR", trial, 1), 0);
    assert_int_equal(fs_make_trial_directories(inside, NULL), 0);
    assert_int_equal(fs_make_trial_directories(outside, NULL), 0);
    assert_int_equal(fs_make_trial_directories(beside, NULL), 0);
    assert_int_equal(unsetenv("SMTUNE_DIR"), 0);
    expect_mode(fs_join(trial, "logs"), 02770);
    expect_mode(inside, 02770);
    expect_mode(outside, 02700);
    expect_mode(beside, 0700);
    expect_mode(trial, 02770);
    expect_mode(project, 02770);
}

static void test_fs__what_can_be_removed(void **state)
{
    char *folder = make_with(*state, "folder", 0700);
    char *inner = make_with(folder, "inner", 0700);
    char *missing = fs_join(*state, "missing");
    struct err err;

    put(inner, ".", "file", "x");
    assert_int_equal(fs_check_removable(folder, &err), 0);
    assert_int_equal(fs_check_removable(missing, &err), 0);
    assert_int_equal(chmod(inner, 0500), 0);
    /* root may write all the same */
    if (geteuid() != 0) {
        assert_int_equal(fs_check_removable(folder, &err), -1);
        assert_non_null(strstr(err.text, inner));
    }
    assert_int_equal(chmod(inner, 0700), 0);
    free(missing);
    free(inner);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fs__a_folder_has_its_paths_within),
        FOLDER_TEST(test_fs__a_file_is_at_its_path_until_another_is),
        cmocka_unit_test_setup_teardown(test_fs__write_and_read_back,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_fs__read_says_why_it_cannot,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_fs__a_tail_is_the_end_of_a_file,
                                        make_folder, remove_folder),
        cmocka_unit_test(test_fs__write_all_waits_for_room),
        cmocka_unit_test_setup_teardown(test_fs__failed_write_leaves_nothing,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_fs__make_directories, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_fs__remove_tree_follows_no_link,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_fs__copy_tree, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(
            test_fs__a_shared_folder_passes_on_its_modes, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(
            test_fs__a_file_keeps_the_mode_that_it_has, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(
            test_fs__a_shared_folder_follows_no_link, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(
            test_fs__only_the_trials_folder_shares_what_a_trial_names,
            make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_fs__what_can_be_removed,
                                        make_folder, remove_folder),
        cmocka_unit_test(test_fs__paths),
        cmocka_unit_test(test_fs__program_directory_holds_this_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
