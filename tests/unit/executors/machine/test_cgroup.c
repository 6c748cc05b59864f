/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/machine/cgroup.h"
#include "executors/machine/cgroup_file.h"
#include "executors/machine/process_table.h"
#include "tests/unit/await.h"

/* Real groups, of which there are some only where this process may write. */

static const struct cgroup_limits unlimited = {0, 0};

static int open_site(void **state)
{
    struct cgroup_site *site = mem_zero(sizeof(*site));

    *state = site;
    cgroup_site_open(site, "", 0);
    return 0;
}

static int close_site(void **state)
{
    cgroup_site_close(*state);
    free(*state);
    return 0;
}

#define NEED(condition)                                                        \
    do {                                                                       \
        if (!(condition))                                                      \
            skip();                                                            \
    } while (0)

static void make(struct cgroup *group, const struct cgroup_site *site,
                 const struct cgroup_limits *limits)
{
    assert_true(cgroup_create(group, site, 77, limits));
}

static pid_t start_inside(struct cgroup *group, void (*body)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        cgroup_enter(group, false);
        body();
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static bool count_one(const void *user, pid_t pid)
{
    size_t *count;

    (void)pid;
    memcpy(&count, user, sizeof(count));
    ++*count;
    return true;
}

static size_t living(const struct cgroup *group)
{
    char directory[PATH_MAX];
    size_t count = 0, *to_count = &count;

    assert_true(cgroup_directory(group, directory, sizeof(directory)));
    cgroup_each_process(directory, count_one, &to_count);
    return count;
}

static void reap_all(void)
{
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

static void sleep_long(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

/* Three processes, of which two are in sessions of their own. */
static void hide(void)
{
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            setsid();
            sleep_long();
        }
    }
    sleep_long();
}

static void test_cgroup__holds_what_hides_until_it_is_killed(void **state)
{
    struct cgroup_site *site = *state;
    struct cgroup group;

    NEED(site->bases[CGROUP_UNIFIED] != NULL ||
         site->bases[CGROUP_FREEZER] != NULL);
    make(&group, site, &unlimited);
    start_inside(&group, hide);
    AWAIT(living(&group) == 3);
    assert_false(cgroup_remove(&group));
    cgroup_kill(&group);
    AWAIT(cgroup_remove(&group));
    assert_false(cgroup_is_there(&group));
    reap_all();
}

/* Forks as fast as it can; each child lives for a moment. */
static void fork_on(void)
{
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        if (fork() == 0) {
            setsid();
            usleep(2000); /* its moment */
            if (fork() != 0)
                _exit(0);
        }
        usleep(1000); /* leaves processes for others */
    }
}

/* By the files of each tree, as if it were the only one. */
static void kill_bomb_in(struct cgroup_site *whole, enum cgroup_tree tree)
{
    struct cgroup_site site = {.memory = CGROUP_TREES, .cpu = CGROUP_TREES};
    struct cgroup group;

    site.bases[tree] = whole->bases[tree];
    memcpy(site.prefix, whole->prefix, sizeof(site.prefix));
    make(&group, &site, &unlimited);
    assert_true(group.is_in[tree]);
    start_inside(&group, fork_on);
    AWAIT(living(&group) > 3);
    cgroup_kill(&group); /* once */
    AWAIT(cgroup_remove(&group));
    reap_all();
}

static void test_cgroup__kills_in_version_2_what_forks(void **state)
{
    struct cgroup_site *site = *state;

    NEED(site->bases[CGROUP_UNIFIED] != NULL);
    kill_bomb_in(site, CGROUP_UNIFIED);
}

static void test_cgroup__kills_with_the_freezer_what_forks(void **state)
{
    struct cgroup_site *site = *state;

    NEED(site->bases[CGROUP_FREEZER] != NULL);
    kill_bomb_in(site, CGROUP_FREEZER);
}

static void eat_memory(void)
{
    size_t bytes = 64 << 20;
    char *memory = malloc(bytes);

    if (memory != NULL)
        memset(memory, 1, bytes);
    _exit(memory != NULL && memory[bytes / 2] == 1 ? 0 : 1);
}

static void test_cgroup__counts_kills_at_the_memory_limit(void **state)
{
    const struct cgroup_limits limits = {.memory_bytes = 32 << 20};
    struct cgroup_site *site = *state;
    struct cgroup_facts facts;
    struct cgroup group;
    int status;

    NEED(site->memory != CGROUP_TREES);
    make(&group, site, &limits);
    assert_true(group.limits_memory);
    cgroup_look(&group, &facts);
    assert_int_equal(facts.oom_kills, 0);
    assert_int_equal(waitpid(start_inside(&group, eat_memory), &status, 0) > 0,
                     1);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cgroup_look(&group, &facts);
    assert_int_equal(facts.oom_kills, 1);
    assert_true(facts.was_at_limit);
    AWAIT(cgroup_remove(&group));
}

static void test_cgroup__measures_memory_in_use(void **state)
{
    const struct cgroup_limits limits = {.memory_bytes = 512 << 20};
    struct cgroup_site *site = *state;
    struct cgroup_facts facts;
    struct cgroup group;

    NEED(site->memory != CGROUP_TREES);
    make(&group, site, &limits);
    start_inside(&group, sleep_long);
    AWAIT(living(&group) == 1);
    cgroup_look(&group, &facts);
    assert_true(facts.anon_bytes < 64 << 20);
    assert_false(facts.was_at_limit);
    cgroup_kill(&group);
    AWAIT(cgroup_remove(&group));
    reap_all();
}

static void test_cgroup__caps_cpus(void **state)
{
    const struct cgroup_limits limits = {.cpus = 3};
    struct cgroup_site *site = *state;
    struct cgroup group;
    char path[PATH_MAX], text[64];

    NEED(site->cpu != CGROUP_TREES);
    make(&group, site, &limits);
    assert_true(group.is_in[site->cpu]);
    snprintf(path, sizeof(path), "%s/%s77", site->bases[site->cpu],
             site->prefix);
    cgroup_read(path,
                site->cpu == CGROUP_UNIFIED ? "cpu.max" : "cpu.cfs_quota_us",
                text, sizeof(text));
    assert_int_equal(strtol(text, NULL, 10), 300000);
    assert_true(cgroup_remove(&group));
}

/* As when another has removed the group in between. */
static void test_cgroup__that_refuses_a_process_is_given_up(void **state)
{
    struct cgroup_site *site = *state;
    struct cgroup group;
    char path[PATH_MAX];

    NEED(site->bases[CGROUP_UNIFIED] != NULL ||
         site->bases[CGROUP_FREEZER] != NULL);
    make(&group, site, &unlimited);
    assert_true(cgroup_directory(&group, path, sizeof(path)));
    assert_int_equal(rmdir(path), 0);
    cgroup_enter(&group, false);
    assert_false(cgroup_is_there(&group));
}

static void test_cgroup__only_members_are_killed(void **state)
{
    struct cgroup_site *site = *state;
    struct cgroup group;
    char path[PATH_MAX];
    pid_t outside;

    NEED(site->bases[CGROUP_FREEZER] != NULL);
    outside = fork();
    if (outside == 0)
        sleep_long();
    make(&group, site, &unlimited);
    start_inside(&group, sleep_long);
    AWAIT(living(&group) == 1);
    assert_true(cgroup_directory(&group, path, sizeof(path)));
    cgroup_kill_tree(path);
    AWAIT(cgroup_remove(&group));
    assert_int_equal(kill(outside, 0), 0);
    kill(outside, SIGKILL);
    reap_all();
}

/* -- Leftovers ------------------------------------------------------------*/

static char *any_base(const struct cgroup_site *site)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        if (site->bases[tree] != NULL)
            return site->bases[tree];
    }
    return NULL;
}

static void test_site__removes_what_the_dead_have_left(void **state)
{
    struct cgroup_site *site = *state, another;
    static const char *const ends[] = {"5", "agent"};
    char *path, *below, *name;

    NEED(any_base(site) != NULL);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        /* Our pid, but of a process that began at another time. */
        name = mem_printf("smtune-%d-1-%s", (int)getpid(), ends[i]);
        path = fs_join(any_base(site), name);
        below = fs_join(path, "below");
        /* Any smtune that begins meanwhile removes it, too. */
        AWAIT((mkdir(path, 0755) == 0 || errno == EEXIST) &&
              mkdir(below, 0755) == 0);
        cgroup_site_open(&another, "", 0);
        assert_false(fs_exists(path));
        cgroup_site_close(&another);
        free(name);
        free(path);
        free(below);
    }
}

/* The group is made while its maker lives: an empty group of the dead is
 * removed by any smtune that begins meanwhile. */
static void test_site__keeps_groups_that_are_used(void **state)
{
    struct cgroup_site *site = *state, dead, another;
    struct cgroup ours, left;
    struct process maker;
    pid_t maker_pid;

    NEED(site->bases[CGROUP_UNIFIED] != NULL);
    make(&ours, site, &unlimited); /* empty, but its maker lives */
    maker_pid = fork();
    if (maker_pid == 0)
        sleep_long();
    assert_true(process_read(maker_pid, &maker));
    dead = *site;
    snprintf(dead.prefix, sizeof(dead.prefix), "smtune-%d-%" PRIu64 "-",
             (int)maker_pid, maker.start);
    make(&left, &dead, &unlimited); /* of the dead, but something lives in it */
    start_inside(&left, sleep_long);
    AWAIT(living(&left) == 1);
    kill(maker_pid, SIGKILL);
    assert_int_equal(waitpid(maker_pid, NULL, 0), maker_pid);
    cgroup_site_open(&another, "", 0);
    assert_int_equal(living(&left), 1);
    assert_int_equal(living(&ours), 0);
    cgroup_kill(&left);
    AWAIT(living(&left) == 0);
    cgroup_site_close(&another);
    assert_true(cgroup_remove(&ours));
    assert_true(cgroup_remove(&left));
    reap_all();
}

static void test_site__of_an_ordinary_user_is_none(void **state)
{
    int status;
    pid_t pid;

    NEED(geteuid() == 0);
    (void)state;
    pid = fork();
    if (pid == 0) {
        struct cgroup_site site;
        bool any;

        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        any = cgroup_site_open(&site, "", 0);
        cgroup_site_close(&site);
        _exit(any);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cgroup__holds_what_hides_until_it_is_killed),
        cmocka_unit_test(test_cgroup__kills_in_version_2_what_forks),
        cmocka_unit_test(test_cgroup__kills_with_the_freezer_what_forks),
        cmocka_unit_test(test_cgroup__counts_kills_at_the_memory_limit),
        cmocka_unit_test(test_cgroup__measures_memory_in_use),
        cmocka_unit_test(test_cgroup__caps_cpus),
        cmocka_unit_test(test_cgroup__that_refuses_a_process_is_given_up),
        cmocka_unit_test(test_cgroup__only_members_are_killed),
        cmocka_unit_test(test_site__removes_what_the_dead_have_left),
        cmocka_unit_test(test_site__keeps_groups_that_are_used),
        cmocka_unit_test(test_site__of_an_ordinary_user_is_none),
    };

    return cmocka_run_group_tests(tests, open_site, close_site);
}
