/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/ranks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Steps from this number on are Slurm's own, such as that of a batch script,
 * which knows the job's number of tasks but is none of them. */
#define OWN_STEPS 0xfffffff0UL

enum { PORT_MAX = 65535, PORT_USUAL = 29500, PORT_FIRST = 20000 };
enum { PORT_COUNT = 9000 };

/* The names that a launcher gives to what it tells. */
struct launcher {
    const char *rank, *size, *local_rank, *local_size;
    const char *nodes;  /* a list of host names, rank 0's first; or NULL */
    const char *job[2]; /* what all ranks of one start alone have in common */
    bool in_steps;      /* the others count only inside a step of Slurm's */
};

static const struct launcher launchers[] = {
    {.rank = "RANK",
     .size = "WORLD_SIZE",
     .local_rank = "LOCAL_RANK",
     .local_size = "LOCAL_WORLD_SIZE"},
    {.rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
     .job = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {.rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_rank = "MPI_LOCALRANKID",
     .local_size = "MPI_LOCALNRANKS",
     .job = {"PMI_JOBID"}},
    {.rank = "SLURM_PROCID",
     .size = "SLURM_NTASKS",
     .local_rank = "SLURM_LOCALID",
     .nodes = "SLURM_STEP_NODELIST",
     .job = {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     .in_steps = true},
};

/* The number that a variable holds; `otherwise` where it is not set. */
static int read_number(const char *name, int least, int most, int *number,
                       struct err *err)
{
    const char *text = name != NULL ? getenv(name) : NULL;
    char *end = NULL;
    long value;

    if (text == NULL || text[0] == '\0')
        return 0;
    value = strtol(text, &end, 10);
    if (*end != '\0' || value < least || value > most)
        return err_set(err, ERR_USAGE,
                       "%s: expected a number from %d to %d, got '%s'", name,
                       least, most, text);
    *number = (int)value;
    return 0;
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0';
}

static bool is_in_step(void)
{
    const char *step = getenv("SLURM_STEP_ID");

    return step != NULL && strtoul(step, NULL, 10) < OWN_STEPS;
}

static const struct launcher *find_launcher(void)
{
    for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
        const struct launcher *it = &launchers[i];

        if ((is_set(it->rank) || is_set(it->size)) &&
            (!it->in_steps || is_in_step()))
            return it;
    }
    return NULL;
}

/* "node[03-07,9],other": node03. */
static void copy_first_node(const char *list, char name[RANKS_HOST_MAX])
{
    bool in_brackets = false, is_passed = false;
    size_t length = 0;

    for (; *list != '\0' && (in_brackets || *list != ','); list++) {
        if (*list == '[' || *list == ']') {
            in_brackets = *list == '[';
            is_passed = false;
        } else if (in_brackets && (*list == '-' || *list == ',')) {
            is_passed = true;
        } else if (!is_passed && length + 1 < RANKS_HOST_MAX) {
            name[length++] = *list;
        }
    }
    name[length] = '\0';
}

/* The same for all ranks of one start, and hardly that of another (FNV-1a). */
static int port_of_job(const struct launcher *launcher)
{
    uint32_t hash = 2166136261U;
    bool is_known = false;

    for (size_t i = 0; i < ARRAY_LEN(launcher->job); i++) {
        const char *name = launcher->job[i];
        const char *text = name != NULL ? getenv(name) : NULL;

        for (; text != NULL && *text != '\0'; text++) {
            hash = (hash ^ (unsigned char)*text) * 16777619U;
            is_known = true;
        }
    }
    return is_known ? PORT_FIRST + (int)(hash % PORT_COUNT) : PORT_USUAL;
}

static int read_place(const struct launcher *launcher, struct ranks *ranks,
                      struct err *err)
{
    if (!is_set(launcher->rank) || !is_set(launcher->size)) {
        bool has_rank = is_set(launcher->rank);

        return err_set(err, ERR_USAGE, "%s is set, but %s is not",
                       has_rank ? launcher->rank : launcher->size,
                       has_rank ? launcher->size : launcher->rank);
    }
    if (read_number(launcher->size, 1, RANKS_MAX, &ranks->size, err) != 0 ||
        read_number(launcher->rank, 0, ranks->size - 1, &ranks->rank, err) != 0)
        return -1;
    ranks->local_rank = ranks->rank;
    ranks->local_size = ranks->size;
    if (read_number(launcher->local_size, 1, ranks->size, &ranks->local_size,
                    err) != 0)
        return -1;
    return read_number(launcher->local_rank, 0, ranks->local_size - 1,
                       &ranks->local_rank, err);
}

static int read_meeting(const struct launcher *launcher, struct ranks *ranks,
                        struct err *err)
{
    const char *address = getenv("MASTER_ADDR");
    const char *nodes =
        launcher->nodes != NULL ? getenv(launcher->nodes) : NULL;

    if (address != NULL && strlen(address) >= sizeof(ranks->address))
        return err_set(err, ERR_USAGE, "MASTER_ADDR is too long");
    if (address != NULL && address[0] != '\0')
        snprintf(ranks->address, sizeof(ranks->address), "%s", address);
    else if (nodes != NULL && nodes[0] != '\0')
        copy_first_node(nodes, ranks->address);
    else if (ranks->local_size < ranks->size)
        return err_set(err, ERR_USAGE,
                       "MASTER_ADDR is not set, but this host has only %d of "
                       "%d ranks: set it to the host of rank 0",
                       ranks->local_size, ranks->size);
    ranks->port = port_of_job(launcher);
    return read_number("MASTER_PORT", 1, PORT_MAX, &ranks->port, err);
}

int ranks_read(struct ranks *ranks, struct err *err)
{
    const struct launcher *launcher = find_launcher();

    *ranks = (struct ranks){
        .size = 1, .local_size = 1, .address = "127.0.0.1", .port = PORT_USUAL};
    if (gethostname(ranks->host, sizeof(ranks->host) - 1) != 0)
        snprintf(ranks->host, sizeof(ranks->host), "localhost");
    if (launcher == NULL)
        return 0;
    if (read_place(launcher, ranks, err) != 0)
        return -1;
    return ranks->size > 1 ? read_meeting(launcher, ranks, err) : 0;
}
