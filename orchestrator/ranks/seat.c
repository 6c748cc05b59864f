/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/seat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orchestrator/ranks/group.h"
#include "orchestrator/spec/experiment/job_spec.h"

/* Steps from this number on are Slurm's own, such as salloc's shell. */
#define OWN_STEPS 0xfffffff0UL

enum { NODES_MAX = 1 << 16, CPUS_MAX = 1 << 20 };

/* -1: there is no such number up to `most`. */
static int read_variable(const char *name, int most)
{
    const char *text = getenv(name);
    char *end = NULL;
    long number = text != NULL ? strtol(text, &end, 10) : -1;

    return text != NULL && end != text && *end == '\0' && number >= 0 &&
                   number <= most
               ? (int)number
               : -1;
}

int rank_seat_nodes(void)
{
    const char *step = getenv("SLURM_STEP_ID");
    int nodes = read_variable("SLURM_JOB_NUM_NODES", NODES_MAX);
    bool is_in_step = step != NULL && strtoul(step, NULL, 10) < OWN_STEPS;

    if (getenv("SLURM_JOB_ID") == NULL || is_in_step || nodes < 1)
        return 1;
    return nodes;
}

/* "gpu[007-012,20],x" gives "gpu007". */
static void first_node(const char *list, char name[RANK_ADDRESS_MAX])
{
    bool in_brackets = false, is_passed = false;
    size_t length = 0;

    for (; *list != '\0' && (in_brackets || *list != ','); list++) {
        if (*list == '[') {
            in_brackets = true;
            is_passed = false;
        } else if (*list == ']') {
            in_brackets = false;
        } else if (in_brackets && (*list == '-' || *list == ',')) {
            is_passed = true;
        } else if (!(in_brackets && is_passed) &&
                   length + 1 < RANK_ADDRESS_MAX) {
            name[length++] = *list;
        }
    }
    name[length] = '\0';
}

/* "4(x2),1" gives 4 for the nodes 0 and 1, and 1 for 2; else 0. */
static int count_on(const char *list, int node)
{
    while (*list != '\0') {
        int tasks = 0, times = 1, length = 0, more = 0;

        if (sscanf(list, "%9d%n", &tasks, &length) < 1)
            return 0;
        list += length;
        if (sscanf(list, "(x%9d)%n", &times, &more) < 1)
            times = 1;
        list += more;
        if (node < times)
            return tasks;
        node -= times;
        list += *list == ',';
    }
    return 0;
}

int rank_seat_share(int nodes, int tasks)
{
    const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");
    int each = read_variable("SLURM_CPUS_PER_TASK", CPUS_MAX);
    int share = tasks / nodes + (tasks % nodes != 0);

    for (int node = 0; node < nodes; node++) {
        if (count_on(cpus != NULL ? cpus : "", node) / (each > 0 ? each : 1) <
            share)
            return 0;
    }
    return share;
}

int rank_seat_arrange(char name[RANK_ADDRESS_MAX], int *port, struct err *err)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    const char *here = getenv("SLURMD_NODENAME");

    first_node(nodes != NULL ? nodes : "", name);
    if (here != NULL && strcmp(here, name) == 0)
        name[0] = '\0';
    *port = rank_meeting_port(err);
    return *port < 0 ? -1 : 0;
}

static int count_threads(const struct rank_meeting *meeting)
{
    int all = read_variable("SMTUNE_CPUS", CPUS_MAX);
    int each = read_variable("SLURM_CPUS_PER_TASK", CPUS_MAX);
    int here = read_variable("SLURM_CPUS_ON_NODE", CPUS_MAX);

    if (all > 0)
        each = all / meeting->tasks;
    else if (each <= 0)
        each = here / meeting->local_tasks;
    return each > 0 ? each : 1;
}

int rank_seat_take(struct rank_meeting *meeting, struct err *err)
{
    const char *shares = getenv("SLURM_STEP_TASKS_PER_NODE");
    const char *starter = getenv("SLURM_LAUNCH_NODE_IPADDR");

    meeting->tasks = read_variable("SLURM_NTASKS", RANK_GROUP_MAX);
    meeting->first = read_variable("SLURM_PROCID", meeting->tasks - 1);
    meeting->first_local = read_variable("SLURM_LOCALID", meeting->tasks - 1);
    meeting->nodes = read_variable("SLURM_STEP_NUM_NODES", NODES_MAX);
    meeting->node = read_variable("SLURM_NODEID", meeting->nodes - 1);
    meeting->local_tasks =
        count_on(shares != NULL ? shares : "", meeting->node);
    if (meeting->first < 0 || meeting->first_local < 0 || meeting->node < 0 ||
        meeting->local_tasks <= meeting->first_local)
        return err_set(err, ERR_USAGE, "this process is no task of srun");
    if (meeting->address[0] == '\0')
        snprintf(meeting->address, sizeof(meeting->address), "%s",
                 starter != NULL ? starter : "127.0.0.1");
    meeting->threads = count_threads(meeting);
    return 0;
}
