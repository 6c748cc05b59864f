/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "executors/machine/gpu_parts.h"

/*
 * Whoever was refused holds a shared lock on the file `waiting` of the
 * directory for as long as it waits. Without that, a process that ends an
 * attempt and starts its next would always be quicker than one that tries
 * every SLOTS_RETRY_MS.
 */

struct slot {
    int64_t holder; /* 0: not ours */
    int fd;         /* -1: not opened yet */
};

struct place {
    char *directory;
    int waiting_fd; /* -1: not opened yet */
    bool waits;
};

struct pool {
    struct pool *next;
    struct place place;
    struct slot *slots;
    size_t count;
};

/* Parts of a GPU, of which several may be held at once. */
struct share {
    int64_t holder;
    size_t gpu;
    uint64_t parts; /* gpu_parts.h */
};

struct slots {
    struct place machine;
    struct slot *cpus;
    struct slot *gpus; /* whole ones; those with shares have no holder */
    struct share *shares;
    size_t share_count, share_capacity;
    struct gpu *gpu_names;
    size_t cpu_count;
    size_t gpu_count;
    struct pool *pools; /* those that were asked for so far */
};

/* -- The directory --------------------------------------------------------*/

static int make_private(const char *path, struct err *err)
{
    struct stat status;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, ERR_FAILED, errno, "cannot create '%s'",
                             path);
    if (lstat(path, &status) != 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot examine '%s'",
                             path);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return err_set(err, ERR_FAILED,
                       "'%s' is not a private directory: it must belong to "
                       "you, and only you may write to it",
                       path);
    return 0;
}

int slots_directory(char path[SLOTS_PATH_MAX], struct err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char parent[SLOTS_PATH_MAX - sizeof("/slots")];

    if (runtime != NULL && runtime[0] == '/' &&
        strlen(runtime) + sizeof("/smtune") <= sizeof(parent) &&
        access(runtime, W_OK) == 0)
        snprintf(parent, sizeof(parent), "%s/smtune", runtime);
    else
        snprintf(parent, sizeof(parent), "/tmp/smtune-%u",
                 (unsigned int)geteuid());
    if (make_private(parent, err) != 0)
        return -1;
    snprintf(path, SLOTS_PATH_MAX, "%s/slots", parent);
    return make_private(path, err);
}

/* -- Places ---------------------------------------------------------------*/

static void place_init(struct place *place, const char *directory)
{
    place->directory = mem_copy_string(directory);
    place->waiting_fd = -1;
    place->waits = false;
}

static void place_clear(struct place *place)
{
    if (place->waiting_fd >= 0)
        close(place->waiting_fd);
    free(place->directory);
}

static int open_file(const struct place *place, const char *name)
{
    char *path = mem_printf("%s/%s", place->directory, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    free(path);
    return fd;
}

static int waiting_fd(struct place *place)
{
    if (place->waiting_fd < 0)
        place->waiting_fd = open_file(place, "waiting");
    return place->waiting_fd;
}

static bool others_wait(struct place *place)
{
    int fd = place->directory != NULL ? waiting_fd(place) : -1;
    bool alone;

    if (fd < 0)
        return false;
    alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
    flock(fd, place->waits ? LOCK_SH | LOCK_NB : LOCK_UN);
    return !alone;
}

static void leave(struct place *place)
{
    if (place->waits)
        flock(place->waiting_fd, LOCK_UN);
    place->waits = false;
}

/* Who has all that it wants waits nowhere; who has not, waits for what it
 * lacks, and goes on to wait for what it did lack. */
static void wait_at(struct place *place, bool has_all, bool is_short)
{
    if (has_all) {
        leave(place);
    } else if (is_short && place->directory != NULL) {
        place->waits = true;
        flock(waiting_fd(place), LOCK_SH | LOCK_NB);
    }
}

/* -- Slots ----------------------------------------------------------------*/

static struct slot *slot_array(size_t count)
{
    struct slot *slots = mem_array(count, sizeof(*slots));

    for (size_t i = 0; i < count; i++)
        slots[i].fd = -1;
    return slots;
}

static void close_array(struct slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i].fd >= 0)
            close(slots[i].fd);
    }
    free(slots);
}

static bool take_slot(const struct place *place, struct slot *slot,
                      const char *name, int64_t holder)
{
    if (slot->holder != 0)
        return false;
    if (slot->fd < 0 && place->directory != NULL)
        slot->fd = open_file(place, name);
    if (place->directory != NULL &&
        (slot->fd < 0 || flock(slot->fd, LOCK_EX | LOCK_NB) != 0))
        return false;
    slot->holder = holder;
    return true;
}

/* Their files are PREFIX0, PREFIX1 ... */
static int64_t take_numbered(const struct place *place, struct slot *slots,
                             size_t count, const char *prefix, int64_t holder,
                             int64_t wanted)
{
    char name[32];
    int64_t taken = 0;

    for (size_t i = 0; i < count && taken < wanted; i++) {
        snprintf(name, sizeof(name), "%s%zu", prefix, i);
        taken += take_slot(place, &slots[i], name, holder);
    }
    return taken;
}

/* ---- GPUs ---- */

/* A GPU's file is locked by who has all of it, and for reading by all that have
 * parts of it. Parts are taken from the first GPU that has enough, so that the
 * others stay whole. */

static uint64_t shared_parts(const struct slots *slots, size_t gpu)
{
    uint64_t parts = 0;

    for (size_t i = 0; i < slots->share_count; i++) {
        if (slots->shares[i].gpu == gpu)
            parts |= slots->shares[i].parts;
    }
    return parts;
}

static void print_gpu_file(const struct slots *slots, size_t gpu,
                           char name[GPU_NAME_MAX + 8])
{
    snprintf(name, GPU_NAME_MAX + 8, "gpu-%s", slots->gpu_names[gpu].name);
}

static int take_gpus(struct slots *slots, int64_t holder, int wanted)
{
    char name[GPU_NAME_MAX + 8];
    int taken = 0;

    for (size_t i = 0; i < slots->gpu_count && taken < wanted; i++) {
        if (shared_parts(slots, i) != 0)
            continue;
        print_gpu_file(slots, i, name);
        taken += take_slot(&slots->machine, &slots->gpus[i], name, holder);
    }
    return taken;
}

static bool may_share(struct slots *slots, size_t gpu)
{
    struct slot *slot = &slots->gpus[gpu];
    char name[GPU_NAME_MAX + 8];

    if (slot->holder != 0)
        return false;
    if (slots->machine.directory == NULL)
        return true;
    print_gpu_file(slots, gpu, name);
    if (slot->fd < 0)
        slot->fd = open_file(&slots->machine, name);
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
        slots->shares[slots->share_count++] = (struct share){holder, i, parts};
        return true;
    }
    return false;
}

static void release_parts(struct slots *slots, int64_t holder)
{
    for (size_t i = 0; i < slots->share_count;) {
        struct share share = slots->shares[i];

        if (share.holder != holder) {
            i++;
            continue;
        }
        gpu_parts_release(slots->gpus[share.gpu].fd, share.parts);
        slots->shares[i] = slots->shares[--slots->share_count];
        stop_sharing(slots, share.gpu);
    }
}

static bool takes_gpus(struct slots *slots, const struct attempt_spec *spec)
{
    if (spec->gpu_permille > 0)
        return take_part(slots, spec->attempt, spec->gpu_permille);
    return take_gpus(slots, spec->attempt, spec->gpus) == spec->gpus;
}

static void release_array(struct slot *slots, size_t count, int64_t holder)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i].holder != holder)
            continue;
        if (slots[i].fd >= 0)
            flock(slots[i].fd, LOCK_UN);
        slots[i].holder = 0;
    }
}

/* -- Pools ----------------------------------------------------------------*/

/* The size may have been another in the file that an earlier engine read. */
static struct pool *find_pool(struct slots *slots,
                              const struct attempt_pool *wanted)
{
    struct pool *pool = slots->pools;
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
    struct pool *pool = find_pool(slots, wanted);

    if (!is_turn && others_wait(&pool->place))
        return false;
    return take_numbered(&pool->place, pool->slots, (size_t)wanted->size, "",
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
    slots->cpus = slot_array(slots->cpu_count);
    slots->gpus = slot_array(gpu_count);
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
        struct pool *pool = slots->pools;

        slots->pools = pool->next;
        close_array(pool->slots, pool->count);
        place_clear(&pool->place);
        free(pool);
    }
    close_array(slots->cpus, slots->cpu_count);
    close_array(slots->gpus, slots->gpu_count);
    place_clear(&slots->machine);
    free(slots->gpu_names);
    free(slots->shares);
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

    if (spec->cpus > 0 &&
        !(may &&
          take_numbered(&slots->machine, slots->cpus, slots->cpu_count, "cpu-",
                        spec->attempt, spec->cpus) == spec->cpus))
        lacks |= LACKS_CPUS;
    if (spec->gpus > 0 && !(may && takes_gpus(slots, spec)))
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
    for (struct pool *pool = slots->pools; pool != NULL; pool = pool->next)
        leave(&pool->place);
}

void slots_release(struct slots *slots, int64_t holder)
{
    release_array(slots->cpus, slots->cpu_count, holder);
    release_array(slots->gpus, slots->gpu_count, holder);
    release_parts(slots, holder);
    for (struct pool *pool = slots->pools; pool != NULL; pool = pool->next)
        release_array(pool->slots, pool->count, holder);
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
