/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checks of a Slurm cluster for `smtune doctor`. What the controller
 * reports comes first and costs one question. The probe is one job like a
 * trial's, and its findings follow the way of a job: submitted, started, files
 * seen, clocks, locks. The first step that fails ends the list, because later
 * ones would only repeat it. orchestrator/machine/ does the asking.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/cmd.h"
#include "cli/doctor/doctor.h"
#include "orchestrator/machine/cluster.h"

enum {
    PATIENCE_MS = 120000,  /* for the queue */
    AGE_WANTED_MS = 60000, /* MinJobAge, without an accounting */
    CLOCKS_APART_MS = 2000
};

struct telling {
    void (*tell)(void *user, const char *name,
                 const struct doctor_finding *finding);
    void *user;
};

static void tell(const struct telling *telling, const char *name,
                 struct doctor_finding *finding)
{
    telling->tell(telling->user, name, finding);
    buf_clear(&finding->found);
    buf_clear(&finding->fix);
    finding->health = HEALTH_OK;
}

/* ---- what it is ---- */

static void tell_silence(const struct telling *telling,
                         const struct doctor_cluster *ask,
                         const struct err *err)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

    buf_add_string(&finding.found, err->text);
    doctor_advise(
        &finding, ask->url != NULL || ask->is_tried ? HEALTH_FAIL : HEALTH_WARN,
        ask->url != NULL
            ? "check that slurmrestd runs there and accepts you "
              "(SLURM_JWT, SLURM_USER_NAME)"
            : "run `scontrol ping` to check the controller; set "
              "SLURM_CONF if the configuration file is in another place");
    tell(telling, "Slurm", &finding);
}

static void tell_site(const struct telling *telling,
                      const struct slurm_site *site, int64_t answer_ms)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

    buf_printf(&finding.found, "%s", site->version);
    if (site->cluster[0] != '\0')
        buf_printf(&finding.found, ", cluster %s", site->cluster);
    buf_printf(&finding.found, ", %s; it answers in ",
               site->has_accounting ? "with accounting" : "no accounting");
    units_add_duration(answer_ms, &finding.found);
    tell(telling, "Slurm", &finding);
}

/* slurmrestd tells none of them. */
static void tell_limits(const struct telling *telling,
                        const struct slurm_site *site)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

    if (site->array_max == 0 && site->jobs_max == 0)
        return;
    buf_printf(&finding.found,
               "arrays of at most %d tasks, at most %d jobs of all users; "
               "finished jobs are listed for ",
               site->array_max > 0 ? site->array_max - 1 : 0, site->jobs_max);
    units_add_duration(site->job_age_ms, &finding.found);
    if (!site->has_accounting && site->job_age_ms < AGE_WANTED_MS)
        doctor_advise(&finding, HEALTH_WARN,
                      "the end of an attempt without an exit file cannot be "
                      "found out: ask your administrator for a MinJobAge of 60 "
                      "or more, or for accounting");
    tell(telling, "job limits", &finding);
}

static void tell_partition(const struct telling *telling,
                           const struct slurm_partition *partition)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};
    struct buf *found = &finding.found;

    buf_printf(found, "%s%s: %d node%s of %d CPUs, ", partition->name,
               partition->is_default ? " (default)" : "", partition->nodes,
               partition->nodes == 1 ? "" : "s", partition->node_cpus);
    units_add_bytes(partition->node_memory_bytes, found);
    if (partition->node_gpus > 0)
        buf_printf(found, ", up to %d GPUs", partition->node_gpus);
    if (partition->max_time_ms > 0) {
        buf_add_string(found, "; jobs of at most ");
        units_add_duration(partition->max_time_ms, found);
    } else {
        buf_add_string(found, "; jobs of any length");
    }
    if (partition->default_time_ms > 0) {
        buf_add_string(found, ", of ");
        units_add_duration(partition->default_time_ms, found);
        buf_add_string(found, " by default");
    }
    if (!partition->is_up) {
        buf_add_string(found, "; it is not up");
        finding.health = HEALTH_WARN;
    }
    tell(telling, "partition", &finding);
}

/* slurmrestd of Slurm 24.05 to 25.11 does not report it. */
static void tell_default(const struct telling *telling,
                         const struct slurm_site *site)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

    for (size_t i = 0; i < site->partition_count; i++) {
        if (site->partitions[i].is_default)
            return;
    }
    buf_add_string(&finding.found,
                   "not reported by slurmrestd: smtune learns the default "
                   "partition from its first pilot");
    tell(telling, "default", &finding);
}

/* ---- what a job tells ---- */

/* The steps that are left when one was not reached are not told of. */
static void tell_failure(const struct telling *telling,
                         const struct cluster_trial *trial, const char *folder)
{
    static const struct {
        const char *what, *fix;
    } stages[] = {
        [CLUSTER_REFUSED] = {"Slurm rejected the job",
                             "--partition selects another partition"},
        [CLUSTER_WAITING] =
            {"the job was still waiting after two minutes",
             "--partition selects another partition, or try again later"},
        [CLUSTER_UNSEEN] =
            {"the job started, but none of its files is visible here",
             "the folders of the store and of smtune must be on a file "
             "system that all nodes share (--store)"},
        [CLUSTER_MUTE] =
            {"smtune-shim started, but its command returned no answer",
             "the folder of the store must be on a file system that all "
             "nodes share (--store)"},
        [CLUSTER_ENDED] = {"", ""},
    };
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

    buf_printf(&finding.found, "%s (%s): %s", stages[trial->stage].what, folder,
               trial->text);
    doctor_advise(&finding,
                  trial->stage == CLUSTER_WAITING ? HEALTH_WARN : HEALTH_FAIL,
                  stages[trial->stage].fix);
    tell(telling, "probe", &finding);
}

static void tell_clocks(const struct telling *telling,
                        const struct cluster_trial *trial)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};
    int64_t apart_ms = llabs(trial->clock_ahead_ms);

    if (apart_ms <= trial->clock_error_ms) {
        buf_add_string(&finding.found, "the same time, to ");
        units_add_duration(trial->clock_error_ms, &finding.found);
    } else {
        units_add_duration(apart_ms, &finding.found);
        buf_printf(&finding.found, " %s ours",
                   trial->clock_ahead_ms > 0 ? "ahead of" : "behind");
    }
    if (apart_ms > trial->clock_error_ms + CLOCKS_APART_MS)
        doctor_advise(&finding, HEALTH_WARN,
                      "smtune uses only its own clock, but the times in its "
                      "tables will differ: synchronize the clocks (NTP)");
    tell(telling, "probe clock", &finding);
}

static void tell_locks(const struct telling *telling,
                       const struct cluster_trial *trial)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};
    bool locks =
        trial->lock_there != CLUSTER_FAILS && trial->lock_here == CLUSTER_HOLDS;

    buf_printf(&finding.found, "O_EXCL %s across machines, flock %s",
               trial->exclusive == CLUSTER_HOLDS ? "holds" : "fails",
               locks ? "too" : "does not");
    if (trial->exclusive != CLUSTER_HOLDS)
        doctor_advise(&finding, HEALTH_FAIL,
                      "a trial could run twice: move the store to another file "
                      "system (--store)");
    else if (!locks)
        doctor_advise(
            &finding, HEALTH_WARN,
            "smtune uses pulse files instead, so it notices later that "
            "a node crashed");
    tell(telling, "probe locks", &finding);
}

static void tell_trial(const struct telling *telling,
                       const struct cluster_trial *trial, const char *folder)
{
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};

    buf_printf(&finding.found, "smtune-shim started on %s, ", trial->node);
    units_add_duration(trial->wait_ms, &finding.found);
    buf_add_string(&finding.found, " after the job was submitted");
    tell(telling, "probe start", &finding);

    buf_printf(&finding.found, "%s: a file was answered in ", folder);
    units_add_duration(trial->round_ms, &finding.found);
    buf_add_string(&finding.found, ", the end of the command was seen after ");
    units_add_duration(trial->exit_ms, &finding.found);
    tell(telling, "probe files", &finding);
    tell_clocks(telling, trial);
    tell_locks(telling, trial);
}

static void try_it(const struct telling *telling, const struct cli *cli,
                   const struct doctor_cluster *ask)
{
    char *folder = doctor_nearest_directory(cli->store);
    struct doctor_finding finding = {HEALTH_OK, BUF_INIT, BUF_INIT};
    struct cluster_trial trial;
    struct err err;

    if (cluster_try(&(struct cluster_trial_ask){.url = ask->url,
                                                .partition = ask->partition,
                                                .directory = folder,
                                                .patience_ms = PATIENCE_MS},
                    &trial, &err) != 0) {
        buf_add_string(&finding.found, err.text);
        finding.health = HEALTH_FAIL;
        tell(telling, "probe", &finding);
    } else if (trial.stage != CLUSTER_ENDED) {
        tell_failure(telling, &trial, folder);
    } else {
        tell_trial(telling, &trial, folder);
    }
    free(folder);
}

void doctor_look_at_cluster(
    const struct cli *cli, const struct doctor_cluster *ask,
    void (*tell_one)(void *user, const char *name,
                     const struct doctor_finding *finding),
    void *user)
{
    const struct telling telling = {tell_one, user};
    struct slurm_site site;
    int64_t answer_ms;
    struct err err;

    if (!ask->is_tried && !cluster_is_near(ask->url))
        return;
    if (cluster_describe(ask->url, &site, &answer_ms, &err) != 0) {
        tell_silence(&telling, ask, &err);
        return;
    }
    tell_site(&telling, &site, answer_ms);
    tell_limits(&telling, &site);
    for (size_t i = 0; i < site.partition_count; i++)
        tell_partition(&telling, &site.partitions[i]);
    if (ask->url != NULL)
        tell_default(&telling, &site);
    cluster_clear(&site);
    if (ask->is_tried)
        try_it(&telling, cli, ask);
}
