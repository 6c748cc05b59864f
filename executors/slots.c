/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * Whoever was refused holds a shared lock on the file `waiting` for as long
 * as it waits. Without that, a process that ends an attempt and starts its
 * next would always be quicker than one that tries every SLOTS_RETRY_MS.
 */

struct slot {
    int64_t holder; /* 0: not ours */
    int fd;         /* -1: not opened yet */
};

struct slots {
    char *directory;
    struct slot *cpus;
    struct slot *gpus;
    struct gpu *gpu_names;
    size_t cpu_count;
    size_t gpu_count;
    int waiting_fd;
    bool waits;
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
                       "'%s' is not a directory of yours alone", path);
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

/* -- Slots ----------------------------------------------------------------*/

static struct slot *slot_array(size_t count)
{
    struct slot *slots = mem_array(count, sizeof(*slots));

    for (size_t i = 0; i < count; i++)
        slots[i].fd = -1;
    return slots;
}

struct slots *slots_open(const char *directory, int cpus,
                         const struct gpu *gpus, size_t gpu_count)
{
    struct slots *slots = mem_zero(sizeof(*slots));

    slots->directory = mem_copy_string(directory);
    slots->cpu_count = cpus > 0 ? (size_t)cpus : 0;
    slots->gpu_count = gpu_count;
    slots->cpus = slot_array(slots->cpu_count);
    slots->gpus = slot_array(gpu_count);
    slots->gpu_names = mem_array(gpu_count, sizeof(*gpus));
    if (gpu_count > 0)
        memcpy(slots->gpu_names, gpus, gpu_count * sizeof(*gpus));
    slots->waiting_fd = -1;
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

void slots_close(struct slots *slots)
{
    if (slots == NULL)
        return;
    close_array(slots->cpus, slots->cpu_count);
    close_array(slots->gpus, slots->gpu_count);
    if (slots->waiting_fd >= 0)
        close(slots->waiting_fd);
    free(slots->gpu_names);
    free(slots->directory);
    free(slots);
}

static int open_file(const struct slots *slots, const char *name)
{
    char path[SLOTS_PATH_MAX + GPU_NAME_MAX + 16];

    snprintf(path, sizeof(path), "%s/%s", slots->directory, name);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static bool take_slot(struct slots *slots, struct slot *slot, const char *name,
                      int64_t holder)
{
    if (slot->holder != 0)
        return false;
    if (slot->fd < 0)
        slot->fd = open_file(slots, name);
    if (slot->fd < 0 || flock(slot->fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    slot->holder = holder;
    return true;
}

static int take_cpus(struct slots *slots, int64_t holder, int wanted)
{
    char name[32];
    int taken = 0;

    for (size_t i = 0; i < slots->cpu_count && taken < wanted; i++) {
        snprintf(name, sizeof(name), "cpu-%zu", i);
        taken += take_slot(slots, &slots->cpus[i], name, holder);
    }
    return taken;
}

static int take_gpus(struct slots *slots, int64_t holder, int wanted)
{
    char name[GPU_NAME_MAX + 8];
    int taken = 0;

    for (size_t i = 0; i < slots->gpu_count && taken < wanted; i++) {
        snprintf(name, sizeof(name), "gpu-%s", slots->gpu_names[i].name);
        taken += take_slot(slots, &slots->gpus[i], name, holder);
    }
    return taken;
}

static bool others_wait(struct slots *slots)
{
    bool alone;

    if (slots->waiting_fd < 0)
        slots->waiting_fd = open_file(slots, "waiting");
    if (slots->waiting_fd < 0)
        return false;
    alone = flock(slots->waiting_fd, LOCK_EX | LOCK_NB) == 0;
    flock(slots->waiting_fd, slots->waits ? LOCK_SH | LOCK_NB : LOCK_UN);
    return !alone;
}

bool slots_take(struct slots *slots, int64_t holder, int cpus, int gpus,
                bool is_turn)
{
    if (cpus <= 0 && gpus <= 0)
        return true;
    if ((is_turn || !others_wait(slots)) &&
        take_cpus(slots, holder, cpus) == cpus &&
        take_gpus(slots, holder, gpus) == gpus) {
        slots_give_up(slots);
        return true;
    }
    slots_release(slots, holder);
    slots->waits = true;
    flock(slots->waiting_fd, LOCK_SH | LOCK_NB);
    return false;
}

void slots_give_up(struct slots *slots)
{
    if (slots->waits)
        flock(slots->waiting_fd, LOCK_UN);
    slots->waits = false;
}

static void release_array(struct slot *slots, size_t count, int64_t holder)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i].holder != holder)
            continue;
        flock(slots[i].fd, LOCK_UN);
        slots[i].holder = 0;
    }
}

void slots_release(struct slots *slots, int64_t holder)
{
    release_array(slots->cpus, slots->cpu_count, holder);
    release_array(slots->gpus, slots->gpu_count, holder);
}

void slots_gpu_names(const struct slots *slots, int64_t holder, char *text,
                     size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < slots->gpu_count && length < size; i++) {
        if (slots->gpus[i].holder == holder)
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       length > 0 ? "," : "",
                                       slots->gpu_names[i].name);
    }
}
