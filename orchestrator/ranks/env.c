/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/env.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "executors/machine/cpus.h"
#include "executors/machine/gpus.h"
#include "orchestrator/job/hosts.h"

/* Nobody can keep the port for rank 0, so it is only likely to be free then. */
int rank_meeting_port(struct err *err)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
    };
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port = 0;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        port = ntohs(address.sin_port);
    if (port == 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot find a free port");
    if (fd >= 0)
        close(fd);
    return port == 0 ? -1 : port;
}

static int count_cpus(void)
{
    const char *own = getenv("SMTUNE_CPUS");
    long cpus = own != NULL ? strtol(own, NULL, 10) : 0;

    return cpus > 0 && cpus < 1 << 20 ? (int)cpus : cpus_find("");
}

int rank_meeting_arrange(struct rank_meeting *meeting, int tasks,
                         bool split_gpus, struct err *err)
{
    *meeting = (struct rank_meeting){
        .tasks = tasks,
        .local_tasks = tasks,
        .nodes = 1,
        .address = "127.0.0.1",
        .port = rank_meeting_port(err),
        .threads = count_cpus() / tasks,
        .split_gpus = split_gpus,
    };
    if (meeting->threads < 1)
        meeting->threads = 1;
    return meeting->port < 0 ? -1 : 0;
}

void rank_share(int rank, int tasks, int count, int *first, int *end)
{
    *first = rank * count / tasks;
    *end = (rank + 1) * count / tasks;
    if (*end == *first)
        *end = *first + 1;
}

/* Those that its allocation or its trial has are named, whatever the files of
 * the machine say of them. */
static int find_gpus(struct gpu gpus[GPUS_MAX])
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    return (int)(visible != NULL ? gpus_parse(visible, gpus)
                                 : gpus_find("", NULL, gpus));
}

static bool has_mig(const struct gpu *gpus, int count)
{
    for (int i = 0; i < count; i++) {
        if (gpu_is_mig(&gpus[i]))
            return true;
    }
    return false;
}

/* LOCAL_RANK is one of the GPUs that are seen: the rank is alone with its.
 * Where a MIG device is among them, it could use none but the first. */
static void set_gpus(struct env_list *env, const struct rank_meeting *meeting,
                     int rank)
{
    const int tasks = meeting->local_tasks;
    struct gpu gpus[GPUS_MAX];
    struct buf names = BUF_INIT;
    int count = find_gpus(gpus);
    int first, end;

    if (count == 0 || !(meeting->split_gpus || has_mig(gpus, count)))
        return;
    env_list_set(env, "LOCAL_RANK", "0");
    env_list_set(env, "LOCAL_WORLD_SIZE", "1");
    rank_share(rank, tasks, count, &first, &end);
    for (int i = first; i < end; i++)
        buf_printf(&names, "%s%s", i > first ? "," : "", gpus[i].name);
    env_list_set(env, "CUDA_VISIBLE_DEVICES", buf_text(&names));
    if (env_list_get(env, "CUDA_DEVICE_ORDER") == NULL)
        env_list_set(env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    buf_clear(&names);
}

/* Machines are hosts to a program that was made for SageMaker. */
static void set_hosts(struct env_list *env, const struct rank_meeting *meeting)
{
    const struct job_copy node = {meeting->node, meeting->nodes, true};
    const char *known = env_list_get(env, "SM_HOSTS");
    struct buf hosts = BUF_INIT;
    json_t *config;

    if (meeting->nodes < 2 || known == NULL || strchr(known, ',') != NULL)
        return;
    config = hosts_config(&node);
    json_print(json_object_get(config, "hosts"), &hosts);
    env_list_set(env, "SM_HOSTS", buf_text(&hosts));
    env_list_set(env, "SM_CURRENT_HOST",
                 json_string_value(json_object_get(config, "current_host")));
    buf_clear(&hosts);
    json_decref(config);
}

void rank_env_set(struct env_list *env, const struct rank_meeting *meeting,
                  int index)
{
    int rank = meeting->first + index;
    int local = meeting->first_local + index;

    env_list_printf(env, "RANK", "%d", rank);
    env_list_printf(env, "WORLD_SIZE", "%d", meeting->tasks);
    env_list_printf(env, "LOCAL_RANK", "%d", local);
    env_list_printf(env, "LOCAL_WORLD_SIZE", "%d", meeting->local_tasks);
    env_list_set(env, "MASTER_ADDR", meeting->address);
    env_list_printf(env, "MASTER_PORT", "%d", meeting->port);
    if (env_list_get(env, "OMP_NUM_THREADS") == NULL)
        env_list_printf(env, "OMP_NUM_THREADS", "%d", meeting->threads);
    set_gpus(env, meeting, local);
    if (rank > 0 && env_list_get(env, "SMTUNE_METRICS") != NULL)
        env_list_set(env, "SMTUNE_METRICS", "/dev/null");
    set_hosts(env, meeting);
}
