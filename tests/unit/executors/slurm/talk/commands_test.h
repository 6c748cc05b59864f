/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_TALK_COMMANDS_TEST_H
#define SMTUNE_TESTS_UNIT_EXECUTORS_SLURM_TALK_COMMANDS_TEST_H

#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "executors/slurm/talk/transport.h"
#include "tests/unit/folder.h"

/* The transport, with programs of a test's own where Slurm's would be. */

struct desk {
    char *root;
    uv_loop_t loop;
    struct slurm_transport *transport;
    struct slurm_reply reply;
    int64_t id;
    size_t count;
    char names[256];
    struct slurm_site site;
    int answers;
    bool is_destroyed;
};

UNUSED static void place_program(const char *root, const char *name,
                                 const char *text)
{
    char *script = mem_printf("#!/bin/sh\n%s", text);
    char *path = mem_printf("%s/bin/%s", root, name);

    put(root, "bin", name, script);
    assert_int_equal(chmod(path, 0700), 0);
    free(path);
    free(script);
}

UNUSED static int open_desk(void **state)
{
    static const char *const programs[] = {"sbatch",  "squeue",   "sacct",
                                           "scancel", "scontrol", "sinfo",
                                           "sacctmgr"};
    const struct slurm_options options = {0};
    struct desk *desk = mem_zero(sizeof(*desk));
    char *path;

    if (make_folder((void **)&desk->root) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        place_program(desk->root, programs[i], "exit 0");
    path = mem_printf("%s/bin:/usr/bin:/bin", desk->root);
    setenv("PATH", path, 1);
    free(path);
    setenv("ROOT", desk->root, 1);
    uv_loop_init(&desk->loop);
    desk->transport = slurm_transport_create(&desk->loop, &options, NULL);
    *state = desk;
    return desk->transport != NULL ? 0 : -1;
}

UNUSED static void on_destroyed(void *user)
{
    struct desk *desk = user;

    desk->is_destroyed = true;
}

UNUSED static int close_desk(void **state)
{
    struct desk *desk = *state;

    if (!desk->is_destroyed)
        desk->transport->type->destroy(desk->transport, on_destroyed, desk);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_true(desk->is_destroyed);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    slurm_site_clear(&desk->site);
    remove_folder((void **)&desk->root);
    free(desk);
    return 0;
}

/* What a file in the test's folder holds. */
UNUSED static char *content(const struct desk *desk, const char *name)
{
    struct buf text = BUF_INIT;
    char *path = fs_join(desk->root, name);

    assert_int_equal(fs_read(path, 1 << 20, &text, NULL), 0);
    free(path);
    return text.data != NULL ? text.data : mem_copy_string("");
}

UNUSED static void take(struct desk *desk, const struct slurm_reply *reply)
{
    desk->reply = *reply;
    desk->answers++;
}

UNUSED static void on_submitted(void *user, const struct slurm_reply *reply,
                                int64_t id)
{
    struct desk *desk = user;

    take(desk, reply);
    desk->id = id;
}

UNUSED static void on_listed(void *user, const struct slurm_reply *reply,
                             const struct slurm_job *jobs, size_t count)
{
    struct desk *desk = user;

    take(desk, reply);
    desk->count = count;
    desk->names[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(desk->names, sizeof(desk->names), "%s", jobs[i].name);
}

UNUSED static void answer(struct desk *desk)
{
    int before = desk->answers;

    assert_int_equal(before, 0); /* never from inside the call */
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_int_equal(desk->answers, 1);
    desk->answers = 0;
}

static const struct slurm_submission plain = {.name = "smt-1-j1",
                                              .directory = "/tmp",
                                              .log = "/tmp/log",
                                              .script = "#!/bin/sh\n"};

UNUSED static void submit(struct desk *desk,
                          const struct slurm_submission *submission)
{
    desk->transport->type->submit(desk->transport, submission, on_submitted,
                                  desk);
    answer(desk);
}

UNUSED static void list(struct desk *desk)
{
    desk->transport->type->list(desk->transport, "smt-1-", on_listed, desk);
    answer(desk);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

#endif
