/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: open opendir */
/* Processes where a folder stands for /proc: it may say what the kernel says in
 * rare moments alone, and what it never says. */
#include "executors/machine/process_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/folder.h"

/* No kernel gives so large a pid to a process. */
enum { NOBODY = 1 << 23, START = 700 };

static struct {
    const char *folder; /* NULL: /proc is /proc */
    int open, opendir;  /* errors that each is to give; 0: none */
} proc;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

/* Where the path leads to. */
static const char *redirect(const char *path, char room[PATH_MAX])
{
    static const char root[] = "/proc";
    size_t length = strlen(root);

    if (proc.folder == NULL || strncmp(path, root, length) != 0)
        return path;
    snprintf(room, PATH_MAX, "%s%s", proc.folder, path + length);
    return room;
}

static bool fails(int error)
{
    errno = error;
    return error != 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    char room[PATH_MAX];
    va_list list;
    mode_t mode;

    va_start(list, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(proc.open) ? -1
                            : __real_open(redirect(path, room), flags, mode);
}

DIR *__wrap_opendir(const char *path)
{
    char room[PATH_MAX];

    return fails(proc.opendir) ? NULL : __real_opendir(redirect(path, room));
}

static int begin(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    proc.folder = *state;
    return 0;
}

static int end(void **state)
{
    memset(&proc, 0, sizeof(proc));
    return remove_folder(state);
}

static void put_of(pid_t pid, const char *name, const char *text)
{
    char folder[32];

    snprintf(folder, sizeof(folder), "%d", (int)pid);
    put(proc.folder, folder, name, text);
}

/* A folder where a file is expected: it opens, and cannot be read. */
static void put_unreadable(const char *folder, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s/%s", proc.folder, folder, name);
    assert_int_equal(fs_make_directories(path, NULL), 0);
}

static void put_stat(pid_t pid, char kind, pid_t parent, pid_t session)
{
    char text[256];

    snprintf(text, sizeof(text),
             "%d (some (thing)) %c %d 0 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 "
             "3 0\n",
             (int)pid, kind, (int)parent, (int)session, START);
    put_of(pid, "stat", text);
}

/* A child that ends by a signal alone. */
static pid_t start_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

static void must_die_of(pid_t pid, int signal_number)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal_number);
}

/* Nothing was sent to it: the next signal is its first. */
static void must_live(pid_t pid)
{
    assert_int_equal(kill(pid, SIGUSR2), 0);
    must_die_of(pid, SIGUSR2);
}

/* ---- one process ---- */

static void test_process__is_none_where_little_is_said_of_it(void **state)
{
    static const char *const texts[] = {"", "1", "1 (a b", "1 (a)",
                                        "1 (a) S 1 2 3 4 5 6 7 8 9"};
    struct process process;
    char folder[32];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        put_of(NOBODY, "stat", texts[i]);
        assert_false(process_read(NOBODY, &process));
        assert_int_equal(errno, ESRCH);
    }
    assert_false(process_read(NOBODY + 1, &process));
    assert_int_equal(errno, ENOENT);
    snprintf(folder, sizeof(folder), "%d", NOBODY + 2);
    put_unreadable(folder, "stat");
    assert_false(process_read(NOBODY + 2, &process));
    assert_int_equal(errno, EISDIR);
    proc.open = EMFILE;
    assert_false(process_read(NOBODY, &process));
    assert_int_equal(errno, EMFILE);
}

static void test_process__is_dead_in_either_way(void **state)
{
    static const struct {
        char kind;
        bool is_zombie;
    } cases[] = {{'R', false}, {'S', false}, {'Z', true}, {'X', true}};
    struct process process;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put_stat(NOBODY, cases[i].kind, 12, 13);
        assert_true(process_read(NOBODY, &process));
        assert_int_equal(process.is_zombie, cases[i].is_zombie);
        assert_int_equal(process.pid, NOBODY);
        assert_int_equal(process.parent, 12);
        assert_int_equal(process.session, 13);
        assert_int_equal(process.start, START);
        assert_int_equal(process.rss_bytes, 3 * sysconf(_SC_PAGESIZE));
        assert_null(process.owner);
    }
}

static void test_memory__is_hidden_gone_or_counted(void **state)
{
    static const struct {
        int error;
        int64_t bytes;
    } cases[] = {{EACCES, -1}, {EPERM, -1}, {ENOENT, 0}, {EMFILE, 0}};
    struct buf long_text = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        proc.open = cases[i].error;
        assert_int_equal(process_pss_bytes(NOBODY), cases[i].bytes);
    }
    proc.open = 0;
    put_of(NOBODY, "smaps_rollup", "0-1 ---p\nRss: 9 kB\nPss:   5 kB\n");
    assert_int_equal(process_pss_bytes(NOBODY), 5 * 1024);
    put_of(NOBODY, "smaps_rollup", "0-1 ---p\nRss: 9 kB\n");
    assert_int_equal(process_pss_bytes(NOBODY), 0);
    while (long_text.length < 1 << 20)
        buf_add_string(&long_text, "Rss: 9 kB\n");
    buf_add_string(&long_text, "Pss: 5 kB\n"); /* where nobody reads */
    put_of(NOBODY, "smaps_rollup", buf_text(&long_text));
    assert_int_equal(process_pss_bytes(NOBODY), 0);
    buf_clear(&long_text);
}

static void link_to(const char *target, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%d/fd/%s", proc.folder, NOBODY, name);
    assert_int_equal(symlink(target, path), 0);
}

/* A file is one of a device; what cannot be followed is no file. */
static void test_open__is_a_file_of_that_device(void **state)
{
    struct stat mine, other;
    char path[PATH_MAX], folder[32];

    (void)state;
    snprintf(path, sizeof(path), "%s/mine", proc.folder);
    put(proc.folder, ".", "mine", "");
    assert_int_equal(stat(path, &mine), 0);
    assert_int_equal(stat("/dev/null", &other), 0);
    assert_int_not_equal(mine.st_dev, other.st_dev);
    assert_false(process_has_open(NOBODY, mine.st_dev, mine.st_ino));
    snprintf(folder, sizeof(folder), "%d/fd", NOBODY);
    put_unreadable(folder, "5");
    link_to("/nowhere/at/all", "3");
    link_to("/dev/null", "4");
    assert_false(process_has_open(NOBODY, mine.st_dev, mine.st_ino));
    assert_false(process_has_open(NOBODY, mine.st_dev, other.st_ino));
    assert_true(process_has_open(NOBODY, other.st_dev, other.st_ino));
    link_to(path, "6");
    assert_true(process_has_open(NOBODY, mine.st_dev, mine.st_ino));
}

/* ---- all of them ---- */

static void test_table__has_those_that_were_read(void **state)
{
    struct process_table table = {NULL, 0, 0};

    (void)state;
    put(proc.folder, "self", "stat", "1 (a) S");
    put_of(NOBODY + 1, "status", "has ended since\n");
    assert_int_equal(process_table_read(&table), 0);
    assert_int_equal(table.count, 0);
    put_stat(NOBODY + 2, 'S', 1, 1);
    assert_int_equal(process_table_read(&table), 0);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.rows[0].pid, NOBODY + 2);
    for (pid_t pid = NOBODY + 9; pid > NOBODY + 3; pid--)
        put_stat(pid, 'S', 1, 1);
    assert_int_equal(process_table_read(&table), 0);
    assert_int_equal(table.count, 7);
    for (size_t i = 1; i < table.count; i++)
        assert_int_equal(table.rows[i].pid, NOBODY + 3 + (pid_t)i);
    assert_true(process_table_has(&table, NOBODY + 4, START));
    assert_false(process_table_has(&table, NOBODY + 4, START + 1));
    assert_false(process_table_has(&table, NOBODY + 3, START));
    process_table_clear(&table);
}

static void test_table__is_empty_without_proc(void **state)
{
    struct process_table table = {NULL, 0, 0};
    pid_t child = start_child();

    (void)state;
    put_stat(child, 'S', 1, child);
    assert_int_equal(process_table_read(&table), 0);
    assert_int_equal(table.count, 1);
    proc.opendir = EMFILE;
    assert_int_equal(process_table_read(&table), -1);
    assert_int_equal(table.count, 0);
    assert_int_equal(process_signal_session(child, START, SIGKILL), 0);
    assert_int_equal(process_signal_descendants(1, SIGKILL), 0);
    must_live(child);
    process_table_clear(&table);
}

static void *owner_of(const struct process_table *table, pid_t pid)
{
    return process_table_find(table, pid)->owner;
}

/* Also to children with a smaller pid; not past one with its own. */
static void test_table__hands_owners_down(void **state)
{
    struct process_table table = {NULL, 0, 0};
    int first, second;

    (void)state;
    put_stat(NOBODY + 5, 'S', 1, 1);          /* the first's */
    put_stat(NOBODY + 4, 'S', NOBODY + 5, 1); /* by two steps */
    put_stat(NOBODY + 3, 'S', NOBODY + 4, 1);
    put_stat(NOBODY + 6, 'S', NOBODY + 5, 1); /* the second's */
    put_stat(NOBODY + 7, 'S', NOBODY + 6, 1);
    put_stat(NOBODY + 8, 'S', 1, 1); /* nobody's */
    put_stat(NOBODY + 9, 'S', NOBODY + 8, 1);
    assert_int_equal(process_table_read(&table), 0);
    process_table_find(&table, NOBODY + 5)->owner = &first;
    process_table_find(&table, NOBODY + 6)->owner = &second;
    process_table_hand_down(&table);
    assert_ptr_equal(owner_of(&table, NOBODY + 3), &first);
    assert_ptr_equal(owner_of(&table, NOBODY + 4), &first);
    assert_ptr_equal(owner_of(&table, NOBODY + 6), &second);
    assert_ptr_equal(owner_of(&table, NOBODY + 7), &second);
    assert_null(owner_of(&table, NOBODY + 8));
    assert_null(owner_of(&table, NOBODY + 9));
    process_table_clear(&table);
}

/* ---- signals ---- */

static void test_signal__is_sent_to_what_can_be_seen_alone(void **state)
{
    pid_t child = start_child();

    (void)state;
    assert_false(process_signal(child, START, SIGKILL));
    put_stat(child, 'S', 1, 1);
    assert_false(process_signal(child, START + 1, SIGKILL));
    assert_false(process_signal(child, START, 9999)); /* there is none such */
    put_stat(child, 'Z', 1, 1);
    assert_false(process_signal(child, START, SIGKILL));
    put_stat(child, 'S', 1, 1);
    assert_true(process_signal(child, START, SIGUSR1));
    must_die_of(child, SIGUSR1);
    assert_false(process_signal(child, START, SIGUSR1));
}

static void test_signal__to_a_session_spares_others(void **state)
{
    pid_t leader = start_child(), member = start_child(), other = start_child();

    (void)state;
    put_stat(leader, 'S', 1, leader);
    put_stat(member, 'S', 1, leader);
    put_stat(other, 'S', 1, other);
    assert_int_equal(process_signal_session(leader, START + 1, SIGUSR1), 0);
    assert_int_equal(process_signal_session(leader, START, SIGUSR1), 2);
    must_die_of(leader, SIGUSR1);
    must_die_of(member, SIGUSR1);
    must_live(other);
}

static void test_signal__to_descendants_counts_the_living(void **state)
{
    pid_t root = start_child(), child = start_child(),
          grandchild = start_child(), other = start_child();

    (void)state;
    assert_int_equal(process_signal_descendants(root, SIGUSR1), 0);
    put_stat(root, 'S', 1, 1);
    put_stat(child, 'S', root, 1);
    put_stat(grandchild, 'S', child, 1);
    put_stat(NOBODY, 'Z', root, 1);
    put_stat(other, 'S', 1, 1);
    assert_int_equal(process_signal_descendants(root, SIGUSR1), 2);
    must_die_of(child, SIGUSR1);
    must_die_of(grandchild, SIGUSR1);
    must_live(root);
    must_live(other);
}

/* ---- warnings ---- */

/* Whether a process with that status, whose parent has the other (NULL: none),
 * is warned by SIGUSR1, bit 9 of a mask. */
static bool is_warned(const char *status, const char *above)
{
    struct process_table table = {NULL, 0, 0};
    pid_t child = start_child();
    char folder[32];
    size_t warned;
    int owner;

    put_stat(child, 'S', NOBODY, child);
    snprintf(folder, sizeof(folder), "%d", (int)child);
    if (status != NULL)
        put_of(child, "status", status);
    else
        put_unreadable(folder, "status");
    if (above != NULL)
        put_of(NOBODY, "status", above);
    assert_int_equal(process_table_read(&table), 0);
    process_table_find(&table, child)->owner = &owner;
    warned = process_table_warn(&table, &owner, SIGUSR1);
    if (warned > 0)
        must_die_of(child, SIGUSR1);
    else
        must_live(child);
    process_table_clear(&table);
    return warned == 1;
}

static void test_warning__goes_to_those_that_heed_it(void **state)
{
    static const struct {
        const char *status;
        bool is_warned;
    } cases[] = {
        {"Name:\ta\nSigBlk:\t0000000000000000\nSigCgt:\t0000000000000200\n",
         true},
        {"Name:\ta\nSigBlk:\t0000000000000200\nSigCgt:\t0000000000000000\n",
         true},
        {"Name:\ta\nSigBlk:\t0000000000000100\nSigCgt:\t0000000000000dff\n",
         false},
        {"Name:\ta\n", false},
        {"", false},
        {NULL, false}, /* it cannot be read */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(is_warned(cases[i].status, NULL), cases[i].is_warned);
}

static void test_warning__spares_the_srun_of_a_launch_alone(void **state)
{
    static const char srun[] = "Name:\tsrun\nSigCgt:\t0000000000000200\n",
                      sruns[] = "Name:\tsruns\nSigCgt:\t0000000000000200\n";

    (void)state;
    assert_true(is_warned(srun, NULL)); /* whose parent has ended */
    assert_true(is_warned(srun, "Name:\tbash\n"));
    assert_true(is_warned(srun, "Name:\tsmtunes\n"));
    assert_true(is_warned(sruns, "Name:\tsmtune\n"));
    assert_false(is_warned(srun, "Name:\tsmtune\n"));
}

/* A process that heeds it below one that has that status. */
static size_t warn_below(const char *above, bool is_same_owner)
{
    static const char status[] = "Name:\tpython3\nSigCgt:\t0000000000000200\n";
    struct process_table table = {NULL, 0, 0};
    pid_t rank = start_child(), launcher = start_child();
    size_t warned;
    int owner, other;

    put_stat(launcher, 'S', NOBODY, launcher);
    put_of(launcher, "status", above);
    put_stat(rank, 'S', launcher, rank);
    put_of(rank, "status", status);
    assert_int_equal(process_table_read(&table), 0);
    process_table_find(&table, rank)->owner = &owner;
    process_table_find(&table, launcher)->owner =
        is_same_owner ? &owner : &other;
    warned = process_table_warn(&table, &owner, SIGUSR1);
    process_table_clear(&table);
    kill(rank, SIGKILL);
    kill(launcher, SIGKILL);
    assert_int_equal(waitpid(rank, NULL, 0), rank);
    assert_int_equal(waitpid(launcher, NULL, 0), launcher);
    return warned;
}

static void test_warning__is_left_to_who_passes_it_on(void **state)
{
    (void)state;
    assert_int_equal(
        warn_below("Name:\tbash\nSigCgt:\t0000000000000200\n", true), 2);
    assert_int_equal(
        warn_below("Name:\tsmtune\nSigCgt:\t0000000000000200\n", true), 1);
    assert_int_equal(
        warn_below("Name:\tmpirun\nSigCgt:\t0000000000000200\n", true), 1);
    /* it does not handle it, so it passes nothing on */
    assert_int_equal(
        warn_below("Name:\tsmtune\nSigCgt:\t0000000000000000\n", true), 1);
    assert_int_equal(
        warn_below("Name:\tsmtune\nSigCgt:\t0000000000000200\n", false), 1);
}

static void test_warning__spares_the_dead_and_strangers(void **state)
{
    static const char status[] = "Name:\ta\nSigCgt:\t0000000000000200\n";
    struct process_table table = {NULL, 0, 0};
    pid_t dead = start_child(), stranger = start_child();
    int owner, other;

    (void)state;
    put_stat(dead, 'Z', 1, 1);
    put_of(dead, "status", status);
    put_stat(stranger, 'S', 1, 1);
    put_of(stranger, "status", status);
    assert_int_equal(process_table_read(&table), 0);
    process_table_find(&table, dead)->owner = &owner;
    process_table_find(&table, stranger)->owner = &other;
    assert_int_equal(process_table_warn(&table, &owner, SIGUSR1), 0);
    assert_int_equal(process_table_warn(&table, &other, SIGUSR1), 1);
    must_live(dead);
    must_die_of(stranger, SIGUSR1);
    process_table_clear(&table);
}

/* ---- children ---- */

static void put_children(const char *text)
{
    char folder[64];

    snprintf(folder, sizeof(folder), "self/task/%d", (int)getpid());
    if (text != NULL)
        put(proc.folder, folder, "children", text);
    else
        put_unreadable(folder, "children");
}

static void test_children__are_unknown_without_a_list(void **state)
{
    (void)state;
    assert_int_equal(process_count_children(), -1);
    put_children(NULL);
    assert_int_equal(process_count_children(), -1);
    assert_int_equal(process_kill_children(), -1);
}

/* Of what is no pid in the list, 0 above all, nothing is counted or killed. */
static void test_children__are_those_of_the_list(void **state)
{
    pid_t first = start_child(), second = start_child(), other = start_child();
    char text[64];

    (void)state;
    put_children("");
    assert_int_equal(process_count_children(), 0);
    put_children("8388608 8388609  0 :8388610\n");
    assert_int_equal(process_count_children(), 3);
    snprintf(text, sizeof(text), "%d  0 :%d ", (int)first, (int)second);
    put_children(text);
    assert_int_equal(process_kill_children(), 2);
    must_die_of(first, SIGKILL);
    must_die_of(second, SIGKILL);
    must_live(other);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_process__is_none_where_little_is_said_of_it),
        IN_FOLDER(test_process__is_dead_in_either_way),
        IN_FOLDER(test_memory__is_hidden_gone_or_counted),
        IN_FOLDER(test_open__is_a_file_of_that_device),
        IN_FOLDER(test_table__has_those_that_were_read),
        IN_FOLDER(test_table__is_empty_without_proc),
        IN_FOLDER(test_table__hands_owners_down),
        IN_FOLDER(test_signal__is_sent_to_what_can_be_seen_alone),
        IN_FOLDER(test_signal__to_a_session_spares_others),
        IN_FOLDER(test_signal__to_descendants_counts_the_living),
        IN_FOLDER(test_warning__goes_to_those_that_heed_it),
        IN_FOLDER(test_warning__spares_the_srun_of_a_launch_alone),
        IN_FOLDER(test_warning__is_left_to_who_passes_it_on),
        IN_FOLDER(test_warning__spares_the_dead_and_strangers),
        IN_FOLDER(test_children__are_unknown_without_a_list),
        IN_FOLDER(test_children__are_those_of_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
