/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/disk_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * A file has two images: what a reader sees, and what is on the platter. Each
 * write and truncation is noted until the next sync, which brings the platter
 * up to date. A power cut goes through the notes in their order and does each
 * of them wholly, not at all, or in some of its sectors; what then is on the
 * platter is the file. As on ext4 a file that was never synced may be gone.
 */

enum { SECTOR_BYTES = 512 };

/* -- Images ---------------------------------------------------------------*/

static void image_resize(struct image *image, size_t size)
{
    if (size > image->capacity) {
        image->capacity = size > 2 * image->capacity ? size : 2 * size;
        image->bytes = mem_resize(image->bytes, image->capacity, 1);
    }
    if (size > image->size)
        memset(image->bytes + image->size, 0, size - image->size);
    image->size = size;
}

static void image_write(struct image *image, size_t offset, const void *bytes,
                        size_t length)
{
    if (offset + length > image->size)
        image_resize(image, offset + length);
    memcpy(image->bytes + offset, bytes, length);
}

static void image_copy(struct image *to, const struct image *from)
{
    to->size = 0;
    if (from->size > 0)
        image_write(to, 0, from->bytes, from->size);
}

static void image_apply(struct image *image, const struct change *change)
{
    if (change->bytes == NULL)
        image_resize(image, change->offset);
    else
        image_write(image, change->offset, change->bytes, change->length);
}

/* -- Files ----------------------------------------------------------------*/

static void forget_changes(struct file *file)
{
    for (size_t i = 0; i < file->change_count; i++)
        free(file->changes[i].bytes);
    file->change_count = 0;
}

void file_forget_shared(struct file *file)
{
    for (int i = 0; i < file->shared.count; i++)
        free(file->shared.regions[i]);
    free(file->shared.regions);
    file->shared = (struct shared){.regions = NULL};
}

void file_destroy(struct file *file)
{
    forget_changes(file);
    file_forget_shared(file);
    free(file->changes);
    free(file->seen.bytes);
    free(file->synced.bytes);
    free(file->name);
    free(file);
}

void file_change(struct file *file, const struct change *change)
{
    image_apply(&file->seen, change);
    file->changes = mem_grow(file->changes, file->change_count,
                             &file->change_capacity, sizeof(*file->changes));
    file->changes[file->change_count++] = *change;
}

void file_sync(struct file *file)
{
    for (size_t i = 0; i < file->change_count; i++)
        image_apply(&file->synced, &file->changes[i]);
    forget_changes(file);
    file->is_synced = true;
}

static void apply_torn(struct image *image, const struct change *change,
                       struct rng *rng)
{
    for (size_t at = 0; at < change->length;) {
        size_t length = SECTOR_BYTES - (change->offset + at) % SECTOR_BYTES;

        if (length > change->length - at)
            length = change->length - at;
        if (rng_percent(rng, 50))
            image_write(image, change->offset + at, change->bytes + at, length);
        at += length;
    }
}

/* Whether the file is still there. */
static bool file_cut_power(struct file *file, struct rng *rng)
{
    file_forget_shared(file);
    if (file->is_gone || (!file->is_synced && rng_percent(rng, 50)))
        return false;
    for (size_t i = 0; i < file->change_count; i++) {
        switch (rng_below(rng, 3)) {
        case 0:
            image_apply(&file->synced, &file->changes[i]);
            break;
        case 1:
            if (file->changes[i].bytes != NULL)
                apply_torn(&file->synced, &file->changes[i], rng);
            break;
        default:
            break;
        }
    }
    forget_changes(file);
    image_copy(&file->seen, &file->synced);
    file->is_deleted = file->is_deleted && rng_percent(rng, 50);
    file->is_synced = true;
    return !file->is_deleted;
}

struct file *disk_find(const struct disk *disk, const char *name)
{
    struct file *file = disk->files;

    while (file != NULL && (file->is_deleted || strcmp(file->name, name) != 0))
        file = file->next;
    return file;
}

/* In the place of one of that name that was deleted. */
struct file *disk_add(struct disk *disk, const char *name)
{
    struct file *file = mem_zero(sizeof(*file));

    for (struct file *old = disk->files; old != NULL; old = old->next)
        old->is_gone |= strcmp(old->name, name) == 0;
    file->name = mem_copy_string(name);
    file->next = disk->files;
    disk->files = file;
    return file;
}

/* -- The disk -------------------------------------------------------------*/

struct disk *disk_create(void)
{
    return mem_zero(sizeof(struct disk));
}

void disk_destroy(struct disk *disk)
{
    while (disk->files != NULL) {
        struct file *file = disk->files;

        disk->files = file->next;
        file_destroy(file);
    }
    free(disk);
}

struct disk *disk_copy(const struct disk *disk)
{
    struct disk *copy = disk_create();

    for (const struct file *from = disk->files; from != NULL;
         from = from->next) {
        struct file *file;

        if (from->is_deleted)
            continue;
        file = disk_add(copy, from->name);
        image_copy(&file->seen, &from->seen);
        image_copy(&file->synced, &from->seen);
        file->is_synced = true;
    }
    return copy;
}

void disk_kill(struct disk *disk)
{
    for (struct file *file = disk->files; file != NULL; file = file->next)
        file_forget_shared(file);
}

void disk_cut_power(struct disk *disk, struct rng *rng)
{
    for (struct file **link = &disk->files; *link != NULL;) {
        struct file *file = *link;

        if (file_cut_power(file, rng)) {
            link = &file->next;
            continue;
        }
        *link = file->next;
        file_destroy(file);
    }
}

void disk_fill(struct disk *disk, int64_t from_ms, int64_t until_ms)
{
    disk->full_from_ms = from_ms;
    disk->full_until_ms = until_ms;
}

void disk_fail_at(struct disk *disk, int64_t nth)
{
    disk->fails_in = nth;
}

void disk_deny_at(struct disk *disk, int64_t nth)
{
    disk->denied_in = nth;
}

bool disk_is_full(const struct disk *disk)
{
    int64_t now_ms = world_get()->now_ms;

    return now_ms >= disk->full_from_ms && now_ms < disk->full_until_ms;
}

/* Whether what is so many calls ahead has come. */
static bool is_due(int64_t *calls)
{
    return *calls > 0 && --*calls == 0;
}

bool disk_fails(struct disk *disk)
{
    if (!is_due(&disk->fails_in))
        return false;
    world_trace("the disk fails");
    return true;
}

bool disk_denies(struct disk *disk)
{
    if (!world_get()->is_armed || !is_due(&disk->denied_in))
        return false;
    world_trace("the disk cannot be read");
    return true;
}
