/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trial or a step takes, together with what its executor leaves to it:
 * filled from the executor's defaults, then checked as a whole.
 *
 * Ranks, GPUs and CPUs are divided evenly. A node that has fewer of them than
 * another would have ranks without a GPU, or a LOCAL_RANK beyond the GPUs that
 * they see, and a run finds that out only after its wait in the queue. So what
 * cannot be divided is an error of the file, with the amounts next to it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/slurm/talk/extra.h"
#include "executors/slurm/talk/transport.h"
#include "orchestrator/spec/experiment/job_spec_build.h"
#include "orchestrator/spec/experiment/resources.h"

static void check_slots(const struct job_spec_build *t,
                        const struct conf_node *resources,
                        const struct executor_options *executor)
{
    const struct {
        const char *key, *words;
        int wanted, there;
    } slots[] = {
        {"cpus", "CPUs", t->task->resources.cpus, executor->cpus},
        {"gpus", "GPUs", t->task->resources.gpus, executor->gpus},
    };

    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        const struct conf_node *node = conf_get(resources, slots[i].key);

        if (node != NULL && slots[i].there >= 0 &&
            slots[i].wanted > slots[i].there)
            diags_add(t->build->diags, node->place, NULL,
                      "out of range: %s takes %d %s, and the executor has %d",
                      t->who, slots[i].wanted, slots[i].words, slots[i].there);
    }
}

/* What `resources` leaves out is as the executor has it. */
static void fill(struct resources *resources, const struct slurm_options *slurm,
                 bool says_gpus)
{
    if (resources->nodes == 0)
        resources->nodes = slurm->nodes;
    if (resources->tasks == 0)
        resources->tasks = slurm->tasks;
    if (resources->gpus == 0 && !says_gpus)
        resources->gpus = slurm->gpus;
    if (resources->time_ms == 0)
        resources->time_ms = slurm->time_ms;
}

static bool is_by_pilot(const struct resources *resources,
                        const struct slurm_options *slurm)
{
    const char *mode = resources->slurm.mode;

    if (mode == NULL && slurm != NULL)
        mode = slurm->ask.mode;
    return slurm != NULL && mode != NULL && strcmp(mode, "pilot") == 0;
}

/* What is wrong, at which key of the resources. text NULL: nothing is. */
struct fault {
    const char *key;
    char *text, *help; /* help NULL: there is none */
};

/* What cannot be pinned. */
static struct fault find_pin_fault(const struct job_spec_build *t,
                                   const struct executor_options *executor)
{
    const struct resources *resources = &t->task->resources;

    if (!resources->pins)
        return (struct fault){0};
    if (executor->slurm != NULL)
        return (struct fault){
            .key = "pin",
            .text = mem_printf("%s has 'pin', which is for the executor local: "
                               "Slurm binds tasks to CPUs by itself",
                               t->who),
            .help = mem_copy_string("remove pin, or see TaskPlugin in "
                                    "slurm.conf(5)")};
    if (resources->cpus == 0)
        return (struct fault){
            .key = "pin",
            .text = mem_printf("missing key 'cpus': %s has 'pin', which needs "
                               "a number of CPUs",
                               t->who),
            .help = mem_printf("add cpus: %d", resources->tasks)};
    return (struct fault){0};
}

/* What several nodes cannot be. */
static struct fault find_node_fault(const struct job_spec_build *t,
                                    const struct executor_options *executor)
{
    const struct resources *resources = &t->task->resources;

    if (strcmp(executor->name, "local") == 0 && resources->nodes > 1)
        return (struct fault){
            .key = "nodes",
            .text = mem_printf(
                "out of range: %s takes %d nodes, and the executor local "
                "has one ('executor: slurm' has more)",
                t->who, resources->nodes)};
    if (resources->tasks < resources->nodes)
        return (struct fault){
            .key = "tasks",
            .text = mem_printf(
                "out of range: %s takes %d nodes, and has ranks for %d: "
                "each node needs one",
                t->who, resources->nodes, resources->tasks)};
    if (is_by_pilot(resources, executor->slurm) && resources->nodes > 1)
        return (struct fault){
            .key = "mode",
            .text = mem_printf("%s takes %d nodes, and a pilot has one: use "
                               "mode job",
                               t->who, resources->nodes)};
    if (executor->slurm != NULL && resources->gpu_permille > 0)
        return (struct fault){
            .key = "gpus",
            .text = mem_printf("out of range: %s takes a part of a GPU, and "
                               "Slurm has whole ones",
                               t->who),
            .help = mem_copy_string("use gpus: 1, or executor: local")};
    return (struct fault){0};
}

/* `amount` of one key that is no multiple of another. */
static struct fault uneven(const struct job_spec_build *t, const char *key,
                           const char *words, int amount, int parts,
                           const char *part_words)
{
    int less = amount / parts * parts, more = less + parts;

    return (struct fault){
        .key = key,
        .text = mem_printf(
            "out of range: %s takes %d %.*s, which cannot be divided evenly "
            "among %d %s",
            t->who, amount, units_length(words, amount), words, parts,
            part_words),
        .help = less > 0
                    ? mem_printf("use %s: %d or %s: %d", key, less, key, more)
                    : mem_printf("use %s: %d", key, more)};
}

/* What is out of range by itself was refused before. */
static bool is_uneven(int amount, int parts)
{
    return amount > 0 && parts > 0 && amount % parts != 0;
}

static struct fault find_uneven(const struct job_spec_build *t)
{
    const struct resources *resources = &t->task->resources;
    const int nodes = resources->nodes > 1 ? resources->nodes : 1;
    const int cpu_shares = resources->divides_cpus ? resources->tasks : nodes;

    if (is_uneven(resources->tasks, nodes))
        return uneven(t, "tasks", "ranks", resources->tasks, nodes, "nodes");
    if (is_uneven(resources->gpus, nodes))
        return uneven(t, "gpus", "GPUs", resources->gpus, nodes, "nodes");
    if (is_uneven(resources->cpus, cpu_shares))
        return uneven(t, "cpus", "CPUs", resources->cpus, cpu_shares,
                      cpu_shares > nodes ? "ranks" : "nodes");
    return (struct fault){0};
}

/* Each rank uses the GPU that its LOCAL_RANK selects, or sees its own alone. */
static struct fault find_rank_fault(const struct job_spec_build *t)
{
    const struct resources *resources = &t->task->resources;
    const int nodes = resources->nodes > 1 ? resources->nodes : 1;
    const int ranks = resources->tasks / nodes, gpus = resources->gpus / nodes;

    if (gpus > 0 && resources->splits_gpus && is_uneven(gpus, ranks) &&
        is_uneven(ranks, gpus))
        return uneven(t, "gpus", "GPUs", resources->gpus, resources->tasks,
                      "ranks");
    if (gpus <= 0 || resources->splits_gpus || ranks <= gpus)
        return (struct fault){0};
    return (struct fault){
        .key = "gpus",
        .text =
            mem_printf("out of range: %s has %d ranks and %d GPU%s on %s, and "
                       "LOCAL_RANK would exceed the GPUs that a rank sees",
                       t->who, ranks, gpus, units_plural(gpus),
                       nodes > 1 ? "each node" : "its node"),
        .help = mem_printf("use gpus: %d, tasks: %d, or visible_gpus: rank",
                           resources->tasks, resources->gpus)};
}

static const char *find_option(const struct slurm_ask *ask, const char *name)
{
    for (size_t i = 0; i < ask->extra_count; i++) {
        if (slurm_extra_value(ask->extra[i], name, 0) != NULL)
            return ask->extra[i];
    }
    return NULL;
}

/* sbatch refuses a job with two of them, and slurmrestd would take the last.
 * `extra` may be the executor's. */
static struct fault find_memory_fault(const struct job_spec_build *t,
                                      const struct executor_options *executor)
{
    const struct resources *resources = &t->task->resources;
    const char *by_cpu, *by_gpu, *first;
    struct slurm_ask ask;

    if (executor->slurm == NULL)
        return (struct fault){0};
    ask = slurm_asked_by(&resources->slurm, &executor->slurm->ask);
    by_cpu = find_option(&ask, "--mem-per-cpu");
    by_gpu = find_option(&ask, "--mem-per-gpu");
    first = by_cpu != NULL ? by_cpu : by_gpu;
    if (resources->memory_bytes > 0 && first != NULL)
        return (struct fault){
            .key = "memory",
            .text = mem_printf("%s has 'memory' and the option '%s', which "
                               "exclude each other",
                               t->who, first),
            .help = mem_copy_string("remove one: memory is for each node")};
    if (by_cpu != NULL && by_gpu != NULL)
        return (struct fault){
            .key = "extra",
            .text = mem_printf("%s has the options '%s' and '%s', which "
                               "exclude each other",
                               t->who, by_cpu, by_gpu)};
    return (struct fault){0};
}

/* What the executor could not run: a pilot has less, or is shared. */
static struct fault find_mode_fault(const struct job_spec_build *t,
                                    const struct executor_options *executor)
{
    const struct resources *resources = &t->task->resources;
    const struct attempt_spec spec = resources_attempt_spec(resources);
    struct err err;

    if (!is_by_pilot(resources, executor->slurm) ||
        executor_check(executor, &spec, &err) == 0)
        return (struct fault){0};
    return (struct fault){
        .key = "mode",
        .text = mem_printf("%s cannot run in a pilot: %s", t->who, err.text)};
}

static struct fault find_fault(const struct job_spec_build *t,
                               const struct executor_options *executor)
{
    struct fault fault = find_node_fault(t, executor);

    if (fault.text == NULL)
        fault = find_pin_fault(t, executor);
    if (fault.text == NULL)
        fault = find_uneven(t);
    if (fault.text == NULL)
        fault = find_rank_fault(t);
    if (fault.text == NULL)
        fault = find_memory_fault(t, executor);
    if (fault.text == NULL)
        fault = find_mode_fault(t, executor);
    return fault;
}

/* Where the key is, else another that led to it, else the whole. */
static struct diag_place place_of(const struct job_spec_build *t,
                                  const struct conf_node *map, const char *key)
{
    const char *const keys[] = {key,    "mode",   "nodes", "tasks", "gpus",
                                "cpus", "memory", "time",  "extra"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (conf_get(map, keys[i]) != NULL)
            return conf_get(map, keys[i])->place;
    }
    return t->place;
}

void job_spec_settle(const struct job_spec_build *t,
                     const struct conf_node *map,
                     const struct executor_options *executor)
{
    struct resources *resources = &t->task->resources;
    struct fault fault;

    if (executor->slurm != NULL) {
        job_spec_prepend_setup(t->task, executor->slurm);
        fill(resources, executor->slurm, conf_get(map, "gpus") != NULL);
        resources->divides_cpus = true;
    }
    if (resources->tasks == 0)
        resources->tasks = resources->nodes > 0 ? resources->nodes : 1;
    check_slots(t, map, executor);
    fault = find_fault(t, executor);
    if (fault.text != NULL)
        diags_add(t->build->diags, place_of(t, map, fault.key), fault.help,
                  "%s", fault.text);
    free(fault.text);
    free(fault.help);
}
