/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "executors/machine/cgroup_site.h"
#include "tests/unit/folder.h"

/* The place in a tree is root + path; there is none for NULL. */
static void assert_place(const char *root, enum cgroup_tree tree,
                         const char *path)
{
    struct cgroup_places places;
    char *whole = path != NULL ? mem_printf("%s%s", root, path) : NULL;

    cgroup_places_find(&places, root);
    if (whole == NULL)
        assert_null(places.directories[tree]);
    else
        assert_string_equal(places.directories[tree], whole);
    cgroup_places_clear(&places);
    free(whole);
}

#define MOUNT(root, point, type, options)                                      \
    "31 23 0:28 " root " " point " rw,relatime shared:4 - " type " none "      \
    "rw," options "\n"

static void test_place__is_found_in_version_2(void **state)
{
    put(*state, "proc/self", "mountinfo",
        MOUNT("/", "/proc", "proc", "x")
            MOUNT("/", "/sys/fs/cgroup", "cgroup2", "nsdelegate"));
    put(*state, "proc/self", "cgroup", "0::/user.slice/a.scope\n");
    assert_place(*state, CGROUP_UNIFIED, "/sys/fs/cgroup/user.slice/a.scope");
    assert_place(*state, CGROUP_MEMORY, NULL);
    assert_place(*state, CGROUP_CPU, NULL);
    assert_place(*state, CGROUP_FREEZER, NULL);
}

static void test_place__is_found_in_both_versions_at_once(void **state)
{
    put(*state, "proc/self", "mountinfo",
        MOUNT("/", "/cg/cpu", "cgroup", "cpu,cpuacct")
            MOUNT("/", "/cg/cpuset", "cgroup", "cpuset")
                MOUNT("/", "/cg/memory", "cgroup", "memory")
                    MOUNT("/", "/cg/freezer", "cgroup", "freezer")
                        MOUNT("/", "/cg/unified", "cgroup2", "x"));
    put(*state, "proc/self", "cgroup",
        "9:name=systemd:/s\n4:memory:/a:b\n3:cpuset:/no\n2:cpuacct,cpu:/c\n"
        "1:freezer:/\n0::/\n");
    assert_place(*state, CGROUP_UNIFIED, "/cg/unified");
    assert_place(*state, CGROUP_MEMORY, "/cg/memory/a:b");
    assert_place(*state, CGROUP_CPU, "/cg/cpu/c");
    assert_place(*state, CGROUP_FREEZER, "/cg/freezer");
}

static void test_place__is_below_what_a_container_has_mounted(void **state)
{
    put(*state, "proc/self", "mountinfo",
        MOUNT("/docker/12", "/sys/fs/a\\040b", "cgroup2", "x")
            MOUNT("/other", "/cg/memory", "cgroup", "memory"));
    put(*state, "proc/self", "cgroup", "4:memory:/docker/12\n0::/docker/12/x");
    assert_place(*state, CGROUP_UNIFIED, "/sys/fs/a b/x");
    assert_place(*state, CGROUP_MEMORY, NULL);
    put(*state, "proc/self", "cgroup", "0::/docker/123\n");
    assert_place(*state, CGROUP_UNIFIED, NULL);
    put(*state, "proc/self", "cgroup", "0::/docker/12\n");
    assert_place(*state, CGROUP_UNIFIED, "/sys/fs/a b");
}

static void test_place__is_nowhere_without_files_or_with_nonsense(void **state)
{
    static const char *const mounts[] = {"",
                                         "\n\n",
                                         "1 2 3",
                                         "1 2 3 4 5 6 -",
                                         "1 2 3 4 5 6 - cgroup2",
                                         "1 2 3 4 5 6 - cgroup2 none"};

    assert_place(*state, CGROUP_UNIFIED, NULL);
    put(*state, "proc/self", "cgroup", "0\n0:\n:::\n\n0::/\n");
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        put(*state, "proc/self", "mountinfo", mounts[i]);
        assert_place(*state, CGROUP_UNIFIED, NULL);
    }
}

/* -- What can be made there -----------------------------------------------*/

static void put_group(const char *root, const char *group,
                      const char *controllers, const char *handed_down,
                      int process)
{
    char *folder = mem_printf("cg/%s", group), text[64];

    snprintf(text, sizeof(text), "%d\n", process);
    put(root, folder, "cgroup.procs", text);
    put(root, folder, "cgroup.controllers", controllers);
    put(root, folder, "cgroup.subtree_control", handed_down);
    free(folder);
}

static void put_version_2(const char *root, const char *group)
{
    char *line = mem_printf("0::/%s\n", group);

    put(root, "proc/self", "mountinfo", MOUNT("/", "/cg", "cgroup2", "x"));
    put(root, "proc/self", "cgroup", line);
    free(line);
}

static char *described(const char *root)
{
    struct cgroup_site site;
    struct buf out = BUF_INIT;

    cgroup_site_probe(&site, root);
    cgroup_site_describe(&site, &out);
    cgroup_site_clear(&site);
    return buf_take(&out);
}

static void assert_described(const char *root, const char *words)
{
    char *text = described(root);

    assert_string_equal(text, words);
    free(text);
}

static void test_site__limits_what_is_handed_down_already(void **state)
{
    put_version_2(*state, "g");
    put_group(*state, "g", "cpu memory pids\n", "memory\n", 1);
    assert_described(*state, "version 2 (kill, memory)");
}

static void test_site__hands_down_where_it_is_alone(void **state)
{
    put_version_2(*state, "g");
    put_group(*state, "g", "cpu memory pids\n", "\n", getpid());
    assert_described(*state, "version 2 (kill, memory, CPU)");
    put_group(*state, "g", "cpu memory pids\n", "\n", getppid());
    assert_described(*state, "version 2 (kill)");
    put_group(*state, "g", "pids\n", "\n", getpid());
    assert_described(*state, "version 2 (kill)");
}

static void test_site__of_a_lost_agent_is_the_one_above(void **state)
{
    struct cgroup_site site;
    char *above = mem_printf("%s/cg/g", (char *)*state);

    put_version_2(*state, "g/smtune-1-2-agent");
    put_group(*state, "g", "memory\n", "memory\n", 1);
    put_group(*state, "g/smtune-1-2-agent", "memory\n", "\n", getpid());
    cgroup_site_probe(&site, *state);
    assert_string_equal(site.bases[CGROUP_UNIFIED], above);
    cgroup_site_clear(&site);
    free(above);
    put_version_2(*state, "g/smtune-1-2-7"); /* an attempt's: stay inside */
    put_group(*state, "g/smtune-1-2-7", "memory\n", "\n", 1);
    assert_described(*state, "version 2 (kill)");
}

static void test_site__takes_version_1_where_it_is(void **state)
{
    put(*state, "proc/self", "mountinfo",
        MOUNT("/", "/cg/memory", "cgroup", "memory")
            MOUNT("/", "/cg/freezer", "cgroup", "freezer")
                MOUNT("/", "/cg/unified", "cgroup2", "x"));
    put(*state, "proc/self", "cgroup", "4:memory:/\n1:freezer:/\n0::/\n");
    put(*state, "cg/memory", "cgroup.procs", "");
    put(*state, "cg/freezer", "cgroup.procs", "");
    assert_described(*state, "version 1 (kill, memory)");
    put_group(*state, "unified", "hugetlb\n", "\n", getpid());
    assert_described(*state, "version 2 (kill), version 1 (memory)");
}

static void test_site__is_none_without_groups(void **state)
{
    assert_described(*state, "none");
    put_version_2(*state, "g"); /* mounted, but nothing there */
    assert_described(*state, "none");
}

#define IN_FOLDER(name)                                                        \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_place__is_found_in_version_2),
        IN_FOLDER(test_place__is_found_in_both_versions_at_once),
        IN_FOLDER(test_place__is_below_what_a_container_has_mounted),
        IN_FOLDER(test_place__is_nowhere_without_files_or_with_nonsense),
        IN_FOLDER(test_site__limits_what_is_handed_down_already),
        IN_FOLDER(test_site__hands_down_where_it_is_alone),
        IN_FOLDER(test_site__of_a_lost_agent_is_the_one_above),
        IN_FOLDER(test_site__takes_version_1_where_it_is),
        IN_FOLDER(test_site__is_none_without_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
