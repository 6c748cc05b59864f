/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which CPUs and GPUs an attempt gets.
 *
 * A pinned attempt gets CPUs of one NUMA node, the first that has as many free.
 * One that a node has room for waits for a node, and is not spread: its memory
 * would be far from half of its threads for all of its life.
 *
 * A GPU's file is locked by who has all of it, and for reading by all that have
 * parts of it. Parts are taken from the first GPU that has enough, so that the
 * others stay whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/mem.h"
#include "executors/machine/gpu_parts.h"
#include "executors/machine/slots_impl.h"

/* ---- CPUs ---- */

static bool take_cpus(struct slots *slots, const struct attempt_spec *spec,
                      size_t first, size_t end)
{
    const struct slot_range range = {slots->cpus, first, end};

    return slots_take_numbered(&slots->machine, "cpu-", &range, spec->attempt,
                               spec->cpus) == spec->cpus;
}

static size_t end_of_node(const struct slots *slots, size_t first, size_t end)
{
    size_t at = first;

    while (at < end && slots->places[at].node == slots->places[first].node)
        at++;
    return at;
}

static void place_on_machine(struct slots *slots)
{
    struct cpu_place places[CPU_SETSIZE];

    slots_place(slots, places, cpu_places_find("", places));
}

bool slots_take_cpus(struct slots *slots, const struct attempt_spec *spec)
{
    size_t count = slots->cpu_count;
    bool fits_a_node = false;

    if (spec->pins && slots->places == NULL)
        place_on_machine(slots);
    if (count > slots->place_count)
        count = slots->place_count;
    for (size_t first = 0, end; spec->pins && first < count; first = end) {
        end = end_of_node(slots, first, count);
        if (end - first < (size_t)spec->cpus)
            continue;
        fits_a_node = true;
        if (take_cpus(slots, spec, first, end))
            return true;
        slot_array_release(slots->cpus, count, spec->attempt);
    }
    return !fits_a_node &&
           take_cpus(slots, spec, 0, spec->pins ? count : slots->cpu_count);
}

void slots_place(struct slots *slots, const struct cpu_place *places,
                 size_t count)
{
    free(slots->places);
    slots->places = mem_array(count, sizeof(*places));
    slots->place_count = count;
    memcpy(slots->places, places, count * sizeof(*places));
}

void slots_cpu_set(const struct slots *slots, int64_t holder, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (size_t i = 0; i < slots->cpu_count && i < slots->place_count; i++) {
        if (slots->cpus[i].holder == holder)
            CPU_SET(slots->places[i].cpu, set);
    }
}

/* ---- GPUs ---- */

static uint64_t shared_parts(const struct slots *slots, size_t gpu)
{
    uint64_t parts = 0;

    for (size_t i = 0; i < slots->share_count; i++) {
        if (slots->shares[i].gpu == gpu)
            parts |= slots->shares[i].parts;
    }
    return parts;
}

static bool may_have(const struct attempt_spec *spec, size_t gpu)
{
    return spec->gpu_set == 0 || (spec->gpu_set >> gpu & 1) != 0;
}

static int take_gpus(struct slots *slots, const struct attempt_spec *spec)
{
    char name[SLOT_GPU_FILE_MAX];
    int taken = 0;

    for (size_t i = 0; i < slots->gpu_count && taken < spec->gpus; i++) {
        if (!may_have(spec, i) || shared_parts(slots, i) != 0)
            continue;
        slot_gpu_file(&slots->gpu_names[i], name);
        taken +=
            slot_take(&slots->machine, &slots->gpus[i], name, spec->attempt);
    }
    return taken;
}

static bool may_share(struct slots *slots, size_t gpu)
{
    struct slot *slot = &slots->gpus[gpu];
    char name[SLOT_GPU_FILE_MAX];

    if (slot->holder != 0)
        return false;
    if (slots->machine.directory == NULL)
        return true;
    slot_gpu_file(&slots->gpu_names[gpu], name);
    if (slot->fd < 0)
        slot->fd = slot_open_file(&slots->machine, name);
    return slot->fd >= 0 && flock(slot->fd, LOCK_SH | LOCK_NB) == 0;
}

static void stop_sharing(struct slots *slots, size_t gpu)
{
    if (slots->gpus[gpu].fd >= 0 && shared_parts(slots, gpu) == 0)
        flock(slots->gpus[gpu].fd, LOCK_UN);
}

static bool take_part(struct slots *slots, int64_t holder, int permille)
{
    for (size_t i = 0; i < slots->gpu_count; i++) {
        uint64_t parts;

        if (!may_share(slots, i))
            continue;
        parts = gpu_parts_take(slots->gpus[i].fd, shared_parts(slots, i),
                               gpu_parts_of(permille));
        if (parts == 0) {
            stop_sharing(slots, i);
            continue;
        }
        slots->shares =
            mem_grow(slots->shares, slots->share_count, &slots->share_capacity,
                     sizeof(*slots->shares));
        slots->shares[slots->share_count++] =
            (struct gpu_share){holder, i, parts};
        return true;
    }
    return false;
}

void slots_release_parts(struct slots *slots, int64_t holder)
{
    for (size_t i = 0; i < slots->share_count;) {
        struct gpu_share share = slots->shares[i];

        if (share.holder != holder) {
            i++;
            continue;
        }
        gpu_parts_release(slots->gpus[share.gpu].fd, share.parts);
        slots->shares[i] = slots->shares[--slots->share_count];
        stop_sharing(slots, share.gpu);
    }
}

bool slots_take_gpus(struct slots *slots, const struct attempt_spec *spec)
{
    if (spec->gpu_permille > 0)
        return take_part(slots, spec->attempt, spec->gpu_permille);
    return take_gpus(slots, spec) == spec->gpus;
}

static bool holds_gpu(const struct slots *slots, size_t gpu, int64_t holder)
{
    bool holds = slots->gpus[gpu].holder == holder;

    for (size_t i = 0; i < slots->share_count && !holds; i++)
        holds =
            slots->shares[i].gpu == gpu && slots->shares[i].holder == holder;
    return holds;
}

void slots_gpu_names(const struct slots *slots, int64_t holder, char *text,
                     size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < slots->gpu_count && length < size; i++) {
        if (holds_gpu(slots, i, holder))
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       length > 0 ? "," : "",
                                       slots->gpu_names[i].name);
    }
}
