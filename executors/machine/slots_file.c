/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One slot: a file that its holder locks, so that the lock ends with the
 * process of the holder. Without a directory only this process counts. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "executors/machine/slots_impl.h"

static void replace(char *text, char old, char new)
{
    for (; *text != '\0'; text++) {
        if (*text == old)
            *text = new;
    }
}

void slot_gpu_file(const struct gpu *gpu, char file[SLOT_GPU_FILE_MAX])
{
    snprintf(file, SLOT_GPU_FILE_MAX, "gpu-%s", gpu->name);
    replace(file, '/', '_');
}

bool slot_gpu_of_file(const char *file, struct gpu *gpu)
{
    if (!text_begins_with(file, "gpu-"))
        return false;
    snprintf(gpu->name, sizeof(gpu->name), "%s", file + 4);
    replace(gpu->name, '_', '/');
    return true;
}

int slot_open_file(const struct slots_place *place, const char *name)
{
    char *path = mem_printf("%s/%s", place->directory, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    free(path);
    return fd;
}

struct slot *slot_array_create(size_t count)
{
    struct slot *slots = mem_array(count, sizeof(*slots));

    for (size_t i = 0; i < count; i++)
        slots[i].fd = -1;
    return slots;
}

void slot_array_close(struct slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i].fd >= 0)
            close(slots[i].fd);
    }
    free(slots);
}

bool slot_take(const struct slots_place *place, struct slot *slot,
               const char *name, int64_t holder)
{
    if (slot->holder != 0)
        return false;
    if (slot->fd < 0 && place->directory != NULL)
        slot->fd = slot_open_file(place, name);
    if (place->directory != NULL &&
        (slot->fd < 0 || flock(slot->fd, LOCK_EX | LOCK_NB) != 0))
        return false;
    slot->holder = holder;
    return true;
}

int64_t slots_take_numbered(const struct slots_place *place, const char *prefix,
                            const struct slot_range *range, int64_t holder,
                            int64_t wanted)
{
    char name[32];
    int64_t taken = 0;

    for (size_t i = range->first; i < range->end && taken < wanted; i++) {
        snprintf(name, sizeof(name), "%s%zu", prefix, i);
        taken += slot_take(place, &range->slots[i], name, holder);
    }
    return taken;
}

void slot_array_release(struct slot *slots, size_t count, int64_t holder)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i].holder != holder)
            continue;
        if (slots[i].fd >= 0)
            flock(slots[i].fd, LOCK_UN);
        slots[i].holder = 0;
    }
}
