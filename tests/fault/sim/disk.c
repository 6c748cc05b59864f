/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/disk.h"

#include <sqlite3.h>
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

enum { SECTOR_BYTES = 512, PAGE_BYTES = 4096 };

struct image {
    unsigned char *bytes;
    size_t size, capacity;
};

/* A change that is not synced. */
struct change {
    size_t offset, length;
    unsigned char *bytes; /* NULL: cut to `offset` bytes */
};

struct shared { /* what connections share beside the file: the WAL's index */
    void **regions;
    int count;
};

struct file {
    struct file *next;
    char *name;
    struct image seen, synced;
    struct change *changes;
    size_t change_count, change_capacity;
    bool is_synced; /* it is known to be on the platter */
    bool is_deleted;
    bool is_gone; /* and that is known to be on the platter */
    struct shared shared;
};

struct disk {
    struct file *files;
    int64_t full_from_ms, full_until_ms;
    int64_t fails_in; /* writes and syncs until one fails; 0: none will */
};

/* What SQLite has of an open file. */
struct handle {
    sqlite3_file base;
    struct disk *disk;
    struct file *file;
    bool is_temporary;
};

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

static void forget_shared(struct file *file)
{
    for (int i = 0; i < file->shared.count; i++)
        free(file->shared.regions[i]);
    free(file->shared.regions);
    file->shared = (struct shared){NULL, 0};
}

static void file_destroy(struct file *file)
{
    forget_changes(file);
    forget_shared(file);
    free(file->changes);
    free(file->seen.bytes);
    free(file->synced.bytes);
    free(file->name);
    free(file);
}

static void note(struct file *file, const struct change *change)
{
    image_apply(&file->seen, change);
    file->changes = mem_grow(file->changes, file->change_count,
                             &file->change_capacity, sizeof(*file->changes));
    file->changes[file->change_count++] = *change;
}

static void file_sync(struct file *file)
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
    forget_shared(file);
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

static struct file *find(const struct disk *disk, const char *name)
{
    struct file *file = disk->files;

    while (file != NULL && (file->is_deleted || strcmp(file->name, name) != 0))
        file = file->next;
    return file;
}

/* In the place of one of that name that was deleted. */
static struct file *add(struct disk *disk, const char *name)
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
        file = add(copy, from->name);
        image_copy(&file->seen, &from->seen);
        image_copy(&file->synced, &from->seen);
        file->is_synced = true;
    }
    return copy;
}

void disk_kill(struct disk *disk)
{
    for (struct file *file = disk->files; file != NULL; file = file->next)
        forget_shared(file);
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

static bool is_full(const struct disk *disk)
{
    int64_t now_ms = world_get()->now_ms;

    return now_ms >= disk->full_from_ms && now_ms < disk->full_until_ms;
}

static bool fails(struct disk *disk)
{
    if (disk->fails_in == 0 || --disk->fails_in > 0)
        return false;
    world_trace("the disk fails");
    return true;
}

/* -- Open files, as SQLite calls them -------------------------------------*/

static struct file *file_of(sqlite3_file *base)
{
    return ((struct handle *)base)->file;
}

static int on_close(sqlite3_file *base)
{
    struct handle *handle = (struct handle *)base;

    if (handle->is_temporary)
        file_destroy(handle->file);
    return SQLITE_OK;
}

static int on_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 at)
{
    const struct image *image = &file_of(base)->seen;
    size_t wanted = (size_t)count, offset = (size_t)at, there = 0;

    if (offset < image->size)
        there = image->size - offset;
    if (there > wanted)
        there = wanted;
    if (there > 0)
        memcpy(bytes, image->bytes + offset, there);
    memset((char *)bytes + there, 0, wanted - there);
    return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int on_write(sqlite3_file *base, const void *bytes, int count,
                    sqlite3_int64 at)
{
    struct handle *handle = (struct handle *)base;
    struct change change = {.offset = (size_t)at, .length = (size_t)count};

    if (handle->is_temporary) {
        image_write(&handle->file->seen, change.offset, bytes, change.length);
        return SQLITE_OK;
    }
    world_step();
    if (change.offset + change.length > handle->file->seen.size &&
        is_full(handle->disk)) {
        world_trace("the disk is full");
        return SQLITE_FULL;
    }
    if (fails(handle->disk))
        return SQLITE_IOERR_WRITE;
    change.bytes = mem_array(change.length, 1);
    memcpy(change.bytes, bytes, change.length);
    note(handle->file, &change);
    return SQLITE_OK;
}

static int on_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    world_step();
    note(file_of(base), &(struct change){.offset = (size_t)size});
    return SQLITE_OK;
}

static int on_sync(sqlite3_file *base, int flags)
{
    struct handle *handle = (struct handle *)base;

    (void)flags;
    world_step();
    if (fails(handle->disk))
        return SQLITE_IOERR_FSYNC;
    if (world_get()->sabotage != SABOTAGE_EARLY_ACK)
        file_sync(handle->file);
    return SQLITE_OK;
}

static int on_size(sqlite3_file *base, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)file_of(base)->seen.size;
    return SQLITE_OK;
}

/* One process has the files open, so no lock is ever in the way. */
static int on_lock(sqlite3_file *base, int level)
{
    (void)base, (void)level;
    return SQLITE_OK;
}

static int on_check_lock(sqlite3_file *base, int *is_reserved)
{
    (void)base;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int on_control(sqlite3_file *base, int operation, void *argument)
{
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int on_sector_size(sqlite3_file *base)
{
    (void)base;
    return PAGE_BYTES;
}

static int on_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int on_shared_map(sqlite3_file *base, int index, int bytes, int extend,
                         void volatile **region)
{
    struct shared *shared = &file_of(base)->shared;

    *region = NULL;
    if (index >= shared->count && !extend)
        return SQLITE_OK;
    if (index >= shared->count) {
        shared->regions = mem_resize(shared->regions, (size_t)index + 1,
                                     sizeof(*shared->regions));
        while (shared->count <= index)
            shared->regions[shared->count++] = mem_zero((size_t)bytes);
    }
    *region = shared->regions[index];
    return SQLITE_OK;
}

static int on_shared_lock(sqlite3_file *base, int offset, int count, int flags)
{
    (void)base, (void)offset, (void)count, (void)flags;
    return SQLITE_OK;
}

static void on_shared_barrier(sqlite3_file *base)
{
    (void)base;
}

static int on_shared_unmap(sqlite3_file *base, int remove)
{
    (void)remove;
    forget_shared(file_of(base));
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_lock,
    .xCheckReservedLock = on_check_lock,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
    .xShmMap = on_shared_map,
    .xShmLock = on_shared_lock,
    .xShmBarrier = on_shared_barrier,
    .xShmUnmap = on_shared_unmap,
};

/* -- The file system, as SQLite calls it ----------------------------------*/

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base,
                   int flags, int *out_flags)
{
    struct handle *handle = (struct handle *)base;
    struct disk *disk = world_get()->disk;

    (void)vfs;
    *handle = (struct handle){.disk = disk, .is_temporary = name == NULL};
    if (name == NULL)
        handle->file = mem_zero(sizeof(*handle->file));
    else
        handle->file = find(disk, name);
    if (handle->file == NULL && (flags & SQLITE_OPEN_CREATE) == 0)
        return SQLITE_CANTOPEN;
    if (handle->file == NULL)
        handle->file = add(disk, name);
    if (out_flags != NULL)
        *out_flags = flags;
    handle->base.pMethods = &methods;
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    struct file *file = find(world_get()->disk, name);

    (void)vfs;
    world_step();
    if (file == NULL)
        return SQLITE_IOERR_DELETE_NOENT;
    file->is_deleted = true;
    file->is_gone = sync_directory != 0;
    return SQLITE_OK;
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    const struct file *file = find(world_get()->disk, name);

    (void)vfs;
    *result = file != NULL;
    if (flags == SQLITE_ACCESS_EXISTS && file != NULL)
        *result = file->seen.size > 0; /* as SQLite's own says it */
    return SQLITE_OK;
}

static int on_full_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    const char *slash = strrchr(name, '/'); /* there is one directory */

    (void)vfs;
    sqlite3_snprintf(size, out, "%s", slash != NULL ? slash + 1 : name);
    return SQLITE_OK;
}

static int on_randomness(sqlite3_vfs *vfs, int count, char *out)
{
    (void)vfs;
    for (int i = 0; i < count; i++)
        out[i] = (char)rng_u32(&world_get()->rng);
    return count;
}

static int on_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    world_get()->now_ms += us / 1000 + 1;
    return us;
}

static int on_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *julian_ms)
{
    static const int64_t unix_epoch_ms = INT64_C(210866760000000);

    (void)vfs;
    *julian_ms =
        unix_epoch_ms + world_get()->now_ms + world_get()->wall_offset_ms;
    return SQLITE_OK;
}

static int on_time(sqlite3_vfs *vfs, double *julian_days)
{
    sqlite3_int64 julian_ms;

    on_time_ms(vfs, &julian_ms);
    *julian_days = (double)julian_ms / 86400e3;
    return SQLITE_OK;
}

static int on_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs, (void)size, (void)out;
    return 0;
}

void disk_register(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .szOsFile = sizeof(struct handle),
        .mxPathname = 512,
        .zName = "sim",
        .xOpen = on_open,
        .xDelete = on_delete,
        .xAccess = on_access,
        .xFullPathname = on_full_path,
        .xRandomness = on_randomness,
        .xSleep = on_sleep,
        .xCurrentTime = on_time,
        .xGetLastError = on_last_error,
        .xCurrentTimeInt64 = on_time_ms,
    };

    /* A crash leaves SQLite's functions in their midst: no lock may stay. */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_vfs_register(&vfs, 1);
}
