/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "executors/container/argv.h"

/* Words as one text, with | between them. */
static void check(char **words, const char *expected)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; words[i] != NULL; i++)
        buf_printf(&text, "%s%s", i > 0 ? "|" : "", words[i]);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
    words_free(words);
}

static char **make(const char *runtime, struct container container, uid_t uid,
                   bool has_amd, const char *const *environment)
{
    static const char *const command[] = {"python", "t.py", NULL};
    struct container_mount mounts[] = {{"/a,b", "/\"c", false},
                                       {"/d", "/d", true}};
    const char *options[] = {"--x"}, *variables[] = {"LR"};
    struct container_program program = {.path = "/bin/rt"};
    const struct container_site site = {
        .program = &program,
        .work_directory = "/w",
        .environment = (char *const *)(uintptr_t)environment,
        .name = "n",
        .id_file = "/f/n.id",
        .uid = uid,
        .gid = 6,
        .has_amd = has_amd,
    };

    for (program.runtime = container_runtimes;
         strcmp(program.runtime->name, runtime) != 0; program.runtime++)
        ;
    container.mounts = mounts;
    container.mount_count = ARRAY_LEN(mounts);
    container.options = options;
    container.option_count = 1;
    container.variables = variables;
    container.variable_count = 1;
    return container_argv(&container, &site, (char *const *)(uintptr_t)command);
}

static const char *const variables[] = {
    "PATH=/bin", "LR=1",   "SMTUNE_JOB=1", "CUDA_VISIBLE_DEVICES=2,GPU-7",
    "LRX=no",    "RANK=0", "HOME=/me",     NULL};
static const char *const no_variables[] = {NULL};

static void test_argv__of_apptainer(void **state)
{
    (void)state;
    check(make("apptainer", (struct container){.image = "/i.sif"}, 5, false,
               variables),
          "/bin/rt|exec|--pwd|/w|"
          "--mount|type=bind,\"source=/a,b\",\"destination=/\"\"c\"|"
          "--mount|type=bind,source=/d,destination=/d,ro|"
          "--x|/i.sif|python|t.py");
    check(make("singularity",
               (struct container){.image = "python:3", .has_gpus = true}, 5,
               false, variables),
          "/bin/rt|exec|--nv|--pwd|/w|"
          "--mount|type=bind,\"source=/a,b\",\"destination=/\"\"c\"|"
          "--mount|type=bind,source=/d,destination=/d,ro|"
          "--x|docker://python:3|python|t.py");
    check(make("apptainer",
               (struct container){
                   .image = "python:3", .kept = "/k.sif", .has_gpus = true},
               5, true, variables),
          "/bin/rt|exec|--rocm|--pwd|/w|"
          "--mount|type=bind,\"source=/a,b\",\"destination=/\"\"c\"|"
          "--mount|type=bind,source=/d,destination=/d,ro|"
          "--x|/k.sif|python|t.py");
}

#define DOCKER_BEGIN                                                           \
    "/bin/rt|run|--rm|--init|--name|n|--cidfile|/f/n.id|--network|host|"       \
    "--ipc|host|--entrypoint||--workdir|/w|"
#define DOCKER_MOUNTS                                                          \
    "--mount|type=bind,\"source=/a,b\",\"destination=/\"\"c\"|"                \
    "--mount|type=bind,source=/d,destination=/d,readonly|"

static void test_argv__of_docker(void **state)
{
    (void)state;
    check(make("docker",
               (struct container){.image = "docker://python:3",
                                  .memory_bytes = 1000},
               5, false, variables),
          DOCKER_BEGIN "--user|5:6|--env|HOME=/tmp|" DOCKER_MOUNTS
                       "--env|LR|--env|SMTUNE_JOB|--env|RANK|"
                       "--memory|1000|--x|python:3|python|t.py");
    check(make("docker", (struct container){.image = "a/b", .has_tty = true}, 0,
               false, no_variables),
          DOCKER_BEGIN DOCKER_MOUNTS "--tty|--x|a/b|python|t.py");
    check(make("podman", (struct container){.image = "a/b"}, 5, false,
               no_variables),
          DOCKER_BEGIN "--security-opt|label=disable|--userns=keep-id|"
                       "--env|HOME=/tmp|" DOCKER_MOUNTS "--x|a/b|python|t.py");
}

/* The command of a container that sees two of four GPUs counts them from 0. */
static void test_argv__of_gpus(void **state)
{
    const struct container gpus = {.image = "a", .has_gpus = true};

    (void)state;
    check(make("docker", gpus, 0, false, variables), DOCKER_BEGIN DOCKER_MOUNTS
          "--env|LR|--env|SMTUNE_JOB|--env|RANK|"
          "--gpus|\"device=2,GPU-7\"|--x|a|python|t.py");
    check(make("docker", gpus, 0, false, no_variables),
          DOCKER_BEGIN DOCKER_MOUNTS "--gpus|all|--x|a|python|t.py");
    check(make("podman", gpus, 0, false, variables), DOCKER_BEGIN
          "--security-opt|label=disable|" DOCKER_MOUNTS
          "--env|LR|--env|SMTUNE_JOB|--env|RANK|"
          "--device|nvidia.com/gpu=2|--device|nvidia.com/gpu=GPU-7|"
          "--x|a|python|t.py");
    check(make("podman", gpus, 0, false, no_variables),
          DOCKER_BEGIN "--security-opt|label=disable|" DOCKER_MOUNTS
                       "--device|nvidia.com/gpu=all|--x|a|python|t.py");
    check(make("docker", gpus, 0, true, no_variables),
          DOCKER_BEGIN DOCKER_MOUNTS
          "--device|/dev/kfd|--device|/dev/dri|--x|a|python|t.py");
}

static void test_argv__pulls_what_is_remote(void **state)
{
    const struct container_program program = {container_runtimes, "/bin/a"};

    (void)state;
    check(container_pull_argv(&program, "a/b:1", "/k.sif"),
          "/bin/a|pull|/k.sif|docker://a/b:1");
    check(container_pull_argv(&program, "oras://h/a", "/k.sif"),
          "/bin/a|pull|/k.sif|oras://h/a");
    assert_true(container_image_is_remote("a"));
    assert_false(container_image_is_remote("oci-archive:a.tar"));
    assert_false(container_image_is_remote("./a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_argv__of_apptainer),
        cmocka_unit_test(test_argv__of_docker),
        cmocka_unit_test(test_argv__of_gpus),
        cmocka_unit_test(test_argv__pulls_what_is_remote),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
