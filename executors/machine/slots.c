/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/slots.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "executors/machine/slots_impl.h"

/*
 * Whoever was refused holds a shared lock on the file `waiting` of the
 * directory for as long as it waits. Without that, a process that ends an
 * attempt and starts its next would always be quicker than one that tries
 * every SLOTS_RETRY_MS.
 */

/* -- The directory --------------------------------------------------------*/

int slots_directory(char path[SLOTS_PATH_MAX], struct err *err)
{
    return runtime_folder("slots", path, err);
}

/* -- Places ---------------------------------------------------------------*/

static void place_init(struct slots_place *place, const char *directory)
{
    place->directory = mem_copy_string(directory);
    place->waiting_fd = -1;
    place->waits = false;
}

static void place_clear(struct slots_place *place)
{
    if (place->waiting_fd >= 0)
        close(place->waiting_fd);
    free(place->directory);
}

static int waiting_fd(struct slots_place *place)
{
    if (place->waiting_fd < 0)
        place->waiting_fd = slot_open_file(place, "waiting");
    return place->waiting_fd;
}

static bool others_wait(struct slots_place *place)
{
    int fd = place->directory != NULL ? waiting_fd(place) : -1;
    bool alone;

    if (fd < 0)
        return false;
    alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
    flock(fd, place->waits ? LOCK_SH | LOCK_NB : LOCK_UN);
    return !alone;
}

static void leave(struct slots_place *place)
{
    if (place->waits)
        flock(place->waiting_fd, LOCK_UN);
    place->waits = false;
}

/* Who has all that it wants waits nowhere; who has not, waits for what it
 * lacks, and goes on to wait for what it did lack. */
static void wait_at(struct slots_place *place, bool has_all, bool is_short)
{
    if (has_all) {
        leave(place);
    } else if (is_short && place->directory != NULL) {
        place->waits = true;
        flock(waiting_fd(place), LOCK_SH | LOCK_NB);
    }
}

/* -- Pools ----------------------------------------------------------------*/

/* The size may have been another in the file that an earlier engine read. */
static struct slots_pool *find_pool(struct slots *slots,
                                    const struct attempt_pool *wanted)
{
    struct slots_pool *pool = slots->pools;
    size_t count = (size_t)wanted->size;

    while (pool != NULL &&
           strcmp(pool->place.directory, wanted->directory) != 0)
        pool = pool->next;
    if (pool == NULL) {
        pool = mem_zero(sizeof(*pool));
        place_init(&pool->place, wanted->directory);
        mkdir(wanted->directory, 0700);
        pool->next = slots->pools;
        slots->pools = pool;
    }
    if (count > pool->count) {
        pool->slots = mem_resize(pool->slots, count, sizeof(*pool->slots));
        for (; pool->count < count; pool->count++)
            pool->slots[pool->count] = (struct slot){.fd = -1};
    }
    return pool;
}

static bool take_pool(struct slots *slots, const struct attempt_pool *wanted,
                      int64_t holder, bool is_turn)
{
    struct slots_pool *pool = find_pool(slots, wanted);

    if (!is_turn && others_wait(&pool->place))
        return false;
    return slots_take_numbered(
               &pool->place, "",
               &(struct slot_range){pool->slots, 0, (size_t)wanted->size},
               holder, wanted->amount) == wanted->amount;
}

static uint32_t take_pools(struct slots *slots, const struct attempt_spec *spec,
                           bool is_turn)
{
    uint32_t lacks = 0;

    for (size_t i = 0; i < spec->pool_count; i++) {
        if (!take_pool(slots, &spec->pools[i], spec->attempt, is_turn))
            lacks |= (uint32_t)LACKS_POOL << i;
    }
    return lacks;
}

/* -- The interface --------------------------------------------------------*/

struct slots *slots_open(const char *directory, int cpus,
                         const struct gpu *gpus, size_t gpu_count)
{
    struct slots *slots = mem_zero(sizeof(*slots));

    place_init(&slots->machine, directory);
    slots->cpu_count = cpus > 0 ? (size_t)cpus : 0;
    slots->gpu_count = gpu_count;
    slots->cpus = slot_array_create(slots->cpu_count);
    slots->gpus = slot_array_create(gpu_count);
    slots->gpu_names = mem_array(gpu_count, sizeof(*gpus));
    if (gpu_count > 0)
        memcpy(slots->gpu_names, gpus, gpu_count * sizeof(*gpus));
    return slots;
}

void slots_close(struct slots *slots)
{
    if (slots == NULL)
        return;
    while (slots->pools != NULL) {
        struct slots_pool *pool = slots->pools;

        slots->pools = pool->next;
        slot_array_close(pool->slots, pool->count);
        place_clear(&pool->place);
        free(pool);
    }
    slot_array_close(slots->cpus, slots->cpu_count);
    slot_array_close(slots->gpus, slots->gpu_count);
    place_clear(&slots->machine);
    free(slots->gpu_names);
    free(slots->shares);
    free(slots->places);
    free(slots);
}

/* What is short, of all that is wanted: who knows that takes nothing else away
 * from it. */
static uint32_t take_all(struct slots *slots, const struct attempt_spec *spec,
                         bool is_turn)
{
    bool wants_machine = spec->cpus > 0 || spec->gpus > 0;
    bool may = !wants_machine || is_turn || !others_wait(&slots->machine);
    uint32_t lacks = take_pools(slots, spec, is_turn);

    if (spec->cpus > 0 && !(may && slots_take_cpus(slots, spec)))
        lacks |= LACKS_CPUS;
    if (spec->gpus > 0 && !(may && slots_take_gpus(slots, spec)))
        lacks |= LACKS_GPUS;
    return lacks;
}

bool slots_take(struct slots *slots, const struct attempt_spec *spec,
                bool is_turn, uint32_t *lacks)
{
    uint32_t short_of = take_all(slots, spec, is_turn);
    bool has_all = short_of == 0;

    *lacks |= short_of;
    if (!has_all)
        slots_release(slots, spec->attempt);
    if (spec->cpus > 0 || spec->gpus > 0)
        wait_at(&slots->machine, has_all,
                (short_of & (LACKS_CPUS | LACKS_GPUS)) != 0);
    for (size_t i = 0; i < spec->pool_count; i++)
        wait_at(&find_pool(slots, &spec->pools[i])->place, has_all,
                (short_of & (uint32_t)LACKS_POOL << i) != 0);
    return has_all;
}

void slots_give_up(struct slots *slots)
{
    leave(&slots->machine);
    for (struct slots_pool *pool = slots->pools; pool != NULL;
         pool = pool->next)
        leave(&pool->place);
}

void slots_release(struct slots *slots, int64_t holder)
{
    slot_array_release(slots->cpus, slots->cpu_count, holder);
    slot_array_release(slots->gpus, slots->gpu_count, holder);
    slots_release_parts(slots, holder);
    for (struct slots_pool *pool = slots->pools; pool != NULL;
         pool = pool->next)
        slot_array_release(pool->slots, pool->count, holder);
}
