/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A control group's files where they are plain ones, which may say what no
 * kernel does. */
#include "executors/machine/cgroup_file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/unit/folder.h"

/* ---- one file ---- */

static void test_file__is_read_as_far_as_there_is_room(void **state)
{
    char text[8];

    put(*state, ".", "long", "0123456789");
    cgroup_read(*state, "long", text, sizeof(text));
    assert_string_equal(text, "0123456");
    put(*state, ".", "short", "01\n");
    cgroup_read(*state, "short", text, sizeof(text));
    assert_string_equal(text, "01\n");
    cgroup_read(*state, "none", text, sizeof(text));
    assert_string_equal(text, "");
}

static void test_file__has_words_and_lines(void **state)
{
    put(*state, ".", "words", "cpu memory\npids");
    assert_true(cgroup_has_word(*state, "words", "memory"));
    assert_true(cgroup_has_word(*state, "words", "pids"));
    assert_false(cgroup_has_word(*state, "words", "mem"));
    assert_int_equal(cgroup_line_number("low 1\noom_kill 3\n", "oom_kill"), 3);
    assert_int_equal(cgroup_line_number("oom_kill_x 4\noom_kill 5", "oom_kill"),
                     5);
    assert_int_equal(cgroup_line_number("low 1", "oom_kill"), 0);
    assert_int_equal(cgroup_line_number("low 1\n", "oom_kill"), 0);
    assert_int_equal(cgroup_line_number("", "oom_kill"), 0);
}

static void test_file__says_why_it_is_not_written(void **state)
{
    char *name = mem_alloc(PATH_MAX + 1);

    memset(name, 'x', PATH_MAX);
    name[PATH_MAX] = '\0';
    errno = 0;
    assert_int_equal(cgroup_write(*state, "none", "1"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(cgroup_write(*state, name, "1"), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    assert_int_equal(cgroup_write_number("/dev", "full", 1), -1);
    assert_int_equal(errno, ENOSPC);
    put(*state, ".", "there", "");
    assert_int_equal(cgroup_write_number(*state, "there", -12), 0);
    assert_true(cgroup_has_word(*state, "there", "-12"));
    free(name);
}

/* ---- processes ---- */

static bool add_up(const void *user, pid_t pid)
{
    int64_t *sum;

    memcpy(&sum, user, sizeof(sum));
    *sum += pid;
    return *sum < 10;
}

static void test_processes__are_told_until_one_is_enough(void **state)
{
    int64_t sum = 0, *at = &sum;

    assert_true(cgroup_each_process(*state, add_up, (const void *)&at));
    put(*state, ".", "cgroup.procs", "0\n3\n4\n");
    assert_true(cgroup_each_process(*state, add_up, (const void *)&at));
    assert_int_equal(sum, 7);
    put(*state, ".", "cgroup.procs", "0\n3\n4\n");
    assert_false(cgroup_each_process(*state, add_up, (const void *)&at));
    assert_int_equal(sum, 10);
}

static pid_t start(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static bool lives(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

static void await_end(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void list(const char *folder, const char *group, pid_t pid)
{
    char text[32];

    snprintf(text, sizeof(text), "%d\n", (int)pid);
    put(folder, group, "cgroup.procs", text);
}

/* A folder whose last part is that of a group that this process is in, one with
 * a name where there is one. */
static char *own_name(void)
{
    const char *line = "/";
    char text[8192], *rest = text, *next;

    cgroup_read("/proc/self", "cgroup", text, sizeof(text));
    while ((next = strsep(&rest, "\n")) != NULL)
        if (strrchr(next, '/') != NULL && strlen(strrchr(next, '/')) > 2)
            line = next;
    return mem_printf("own/%s", strrchr(line, '/') + 1);
}

/* A list may be old: who is no member by its own account is let alone, also
 * where the group's name begins alike. */
static void test_kill__is_for_members_alone(void **state)
{
    pid_t pid = start(), gone = start();
    char *group = fs_join(*state, "no-group-has-this-name");
    char *name = own_name();
    char *own = mem_printf("%s/%s", (const char *)*state, name);
    char *shorter = mem_copy_bytes(name, strlen(name) - 1), *path;

    kill(gone, SIGKILL);
    await_end(gone);
    list(*state, "no-group-has-this-name", pid);
    cgroup_kill_tree(group);
    assert_true(lives(pid));
    list(*state, name, gone);
    cgroup_kill_tree(own);
    list(*state, shorter, pid);
    path = fs_join(*state, shorter);
    cgroup_kill_tree(path);
    free(path);
    assert_true(lives(pid));
    list(*state, name, pid);
    assert_int_equal(chdir(own), 0);
    cgroup_kill_tree("."); /* a group without a name has no members */
    assert_true(lives(pid));
    assert_int_equal(chdir("/"), 0);
    cgroup_kill_tree(own);
    await_end(pid);
    free(group);
    free(shorter);
    free(name);
    free(own);
}

/* Whichever files there are: those of either version, and frozen or not. */
static void test_kill__tries_to_freeze_first(void **state)
{
    static const struct {
        const char *asked, *said, *text, *after;
    } cases[] = {
        {"cgroup.freeze", "cgroup.events", "populated 1\nfrozen 1\n", "0"},
        {"cgroup.freeze", "cgroup.events", "populated 1\nfrozen 0\n", "0"},
        {"freezer.state", "freezer.state", "THAWED", "THAWED"},
    };
    char *name = own_name();
    char *own = mem_printf("%s/%s", (const char *)*state, name);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t pid = start();
        char *path = fs_join(own, cases[i].asked);

        list(*state, name, pid);
        put(*state, name, cases[i].asked, "");
        put(*state, name, cases[i].said, cases[i].text);
        cgroup_kill_tree(own);
        await_end(pid);
        assert_true(cgroup_has_word(own, cases[i].asked, cases[i].after));
        assert_int_equal(unlink(path), 0);
        free(path);
    }
    put(*state, name, "cgroup.kill", "");
    cgroup_kill_tree(own);
    assert_true(cgroup_has_word(own, "cgroup.kill", "1"));
    free(name);
    free(own);
}

/* ---- trees ---- */

static void test_tree__is_removed_as_far_as_it_is_looked_into(void **state)
{
    char *top = fs_join(*state, "group"), *path = mem_copy_string(top), *below;
    char name[NAME_MAX + 1];

    assert_true(cgroup_remove_tree(top));
    for (int depth = 0; depth < 20; depth++) {
        assert_int_equal(mkdir(path, 0700), 0);
        below = fs_join(path, "a");
        free(path);
        path = below;
    }
    assert_false(cgroup_remove_tree(top));
    assert_int_equal(fs_remove_tree(top, NULL), 0);
    /* names that are longer than a path may be */
    memset(name, 'x', NAME_MAX);
    name[NAME_MAX] = '\0';
    assert_int_equal(mkdir(top, 0700), 0);
    assert_int_equal(chdir(top), 0);
    for (int depth = 0; depth < 17; depth++) {
        assert_int_equal(mkdir(name, 0700), 0);
        assert_int_equal(chdir(name), 0);
    }
    assert_false(cgroup_remove_tree(top));
    for (int depth = 0; depth < 17; depth++) {
        assert_int_equal(chdir(".."), 0);
        assert_int_equal(rmdir(name), 0);
    }
    assert_int_equal(chdir("/"), 0);
    assert_true(cgroup_remove_tree(top));
    free(path);
    free(top);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_file__is_read_as_far_as_there_is_room),
        IN_FOLDER(test_file__has_words_and_lines),
        IN_FOLDER(test_file__says_why_it_is_not_written),
        IN_FOLDER(test_processes__are_told_until_one_is_enough),
        IN_FOLDER(test_kill__is_for_members_alone),
        IN_FOLDER(test_kill__tries_to_freeze_first),
        IN_FOLDER(test_tree__is_removed_as_far_as_it_is_looked_into),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
