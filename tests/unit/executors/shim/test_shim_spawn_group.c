/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: cgroup_write clone_into */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/machine/cgroup_file.h"
#include "executors/machine/clone_into.h"
#include "executors/shim/spawn.h"
#include "tests/unit/folder.h"

/* How commands come into their groups: real ones, of which there are some only
 * where this process may write. */

struct calls {
    int writes;  /* of processes that move by themselves */
    int clones;  /* of processes made in a group */
    int refusal; /* errno of each of these; 0: they are made */
};

static struct calls *calls;

int __real_cgroup_write(const char *directory, const char *name,
                        const char *value);
int __wrap_cgroup_write(const char *directory, const char *name,
                        const char *value);
pid_t __real_clone_into(int group_fd, const struct clone_into *child);
pid_t __wrap_clone_into(int group_fd, const struct clone_into *child);

/* Also in the child, which shares our memory. */
int __wrap_cgroup_write(const char *directory, const char *name,
                        const char *value)
{
    calls->writes++;
    return __real_cgroup_write(directory, name, value);
}

pid_t __wrap_clone_into(int group_fd, const struct clone_into *child)
{
    calls->clones++;
    if (calls->refusal != 0) {
        errno = calls->refusal;
        return -1;
    }
    return __real_clone_into(group_fd, child);
}

/* What the command says of its groups, and what was called meanwhile. */
static char *run_in(struct cgroup *group, const char *folder, bool overlaps,
                    struct calls *counted)
{
    static char cat[] = "/bin/cat", file[] = "/proc/self/cgroup";
    char *argv[] = {cat, file, NULL}, *envp[] = {NULL};
    const struct attempt_spec spec = {.attempt = group->attempt,
                                      .directory = folder,
                                      .work_directory = folder,
                                      .argv = argv,
                                      .envp = envp};
    const struct spawn_place place = {.group = group, .overlaps = overlaps};
    struct buf log = BUF_INIT;
    char *path = fs_join(folder, "log");
    struct spawner spawner;
    uint64_t start = 0;
    int status;
    pid_t pid;

    calls = counted;
    assert_int_equal(spawner_init(&spawner, NULL), 0);
    pid = spawn_command(&spawner, &spec, &place, &start, NULL);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(spawn_result(&spawner, pid, NULL), 0);
    spawner_clear(&spawner);
    assert_int_equal(fs_read(path, 1 << 20, &log, NULL), 0);
    free(path);
    return buf_take(&log);
}

/* Whether the command was in the group in all trees where the group is, and
 * its claim says by which directory it is found. */
static void assert_inside(const struct cgroup *group, const char *folder,
                          const char *groups)
{
    char directory[PATH_MAX];
    struct claim claim;
    size_t trees = 0, seen = 0;
    const char *name;

    assert_true(cgroup_directory(group, directory, sizeof(directory)));
    assert_int_equal(claim_judge(folder, group->attempt, &claim, NULL),
                     CLAIM_FREE);
    assert_string_equal(claim.cgroup, directory);
    name = strrchr(directory, '/');
    for (int tree = 0; tree < CGROUP_TREES; tree++)
        trees += group->is_in[tree];
    for (const char *at = strstr(groups, name); at != NULL;
         at = strstr(at + 1, name))
        seen++;
    assert_int_equal(seen, trees);
}

static void check(const char *folder, struct cgroup_limits limits,
                  bool overlaps, int refusal, bool moves)
{
    struct calls counted = {.refusal = refusal};
    struct calls before = {0};
    struct cgroup_site site;
    struct cgroup group;
    bool has_unified;
    char *groups;

    calls = &before;
    cgroup_site_open(&site, "", 0);
    has_unified = site.bases[CGROUP_UNIFIED] != NULL &&
                  (limits.memory_bytes == 0 || site.memory != CGROUP_TREES);
    if (has_unified) {
        assert_true(cgroup_create(&group, &site, 7, &limits));
        groups = run_in(&group, folder, overlaps, &counted);
        assert_inside(&group, folder, groups);
        assert_int_equal(counted.clones, 1);
        assert_int_equal(counted.writes, moves + !cgroup_is_unified(&group));
        free(groups);
        assert_true(cgroup_remove(&group));
    }
    cgroup_site_close(&site);
    if (!has_unified)
        skip();
}

static void test_spawn_group__a_command_is_made_in_its_group(void **state)
{
    check(*state, (struct cgroup_limits){0, 0}, false, 0, false);
}

static void test_spawn_group__also_one_that_overlaps(void **state)
{
    check(*state, (struct cgroup_limits){0, 0}, true, 0, false);
}

/* The groups that limit may be in another tree. */
static void test_spawn_group__and_one_with_limits(void **state)
{
    check(*state, (struct cgroup_limits){.memory_bytes = 64 << 20}, true, 0,
          false);
}

static void test_spawn_group__it_moves_where_that_is_refused(void **state)
{
    check(*state, (struct cgroup_limits){0, 0}, false, ENOSYS, true);
}

static void test_spawn_group__it_moves_while_it_overlaps(void **state)
{
    check(*state, (struct cgroup_limits){0, 0}, true, EPERM, true);
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_spawn_group__a_command_is_made_in_its_group),
        IN_FOLDER(test_spawn_group__also_one_that_overlaps),
        IN_FOLDER(test_spawn_group__and_one_with_limits),
        IN_FOLDER(test_spawn_group__it_moves_where_that_is_refused),
        IN_FOLDER(test_spawn_group__it_moves_while_it_overlaps),
    };

    return cmocka_run_group_tests_name("shim_spawn_group", tests, NULL, NULL);
}
