/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fault/sim/disk_impl.h"

/*
 * A virtual file system of SQLite over the disk of the world that there is.
 * Each change of a file is a point at which the engine may crash; locks are
 * none, since one process at a time has the files.
 */

enum { PAGE_BYTES = 4096 };

/* What SQLite has of an open file. */
struct handle {
    sqlite3_file base;
    struct disk *disk;
    struct file *file;
    bool is_temporary, is_mapped;
};

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

/* Whether a write goes through: 0, or what SQLite is told. */
static int try_write(const struct handle *handle, size_t until)
{
    world_step();
    if (until > handle->file->seen.size && disk_is_full(handle->disk)) {
        world_trace("the disk is full");
        return SQLITE_FULL;
    }
    return disk_fails(handle->disk) ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int on_write(sqlite3_file *base, const void *bytes, int count,
                    sqlite3_int64 at)
{
    struct handle *handle = (struct handle *)base;
    struct change change = {.offset = (size_t)at, .length = (size_t)count};
    int status = SQLITE_OK;

    if (!handle->is_temporary)
        status = try_write(handle, change.offset + change.length);
    if (status != SQLITE_OK)
        return status;
    change.bytes = mem_array(change.length, 1);
    memcpy(change.bytes, bytes, change.length);
    file_change(handle->file, &change);
    return SQLITE_OK;
}

static int on_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    world_step();
    file_change(file_of(base), &(struct change){.offset = (size_t)size});
    return SQLITE_OK;
}

static int on_sync(sqlite3_file *base, int flags)
{
    struct handle *handle = (struct handle *)base;

    (void)flags;
    world_step();
    if (disk_fails(handle->disk))
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
    struct handle *handle = (struct handle *)base;
    struct shared *shared = &handle->file->shared;

    shared->users += !handle->is_mapped;
    handle->is_mapped = true;
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
    struct handle *handle = (struct handle *)base;

    (void)remove;
    if (handle->is_mapped && --handle->file->shared.users == 0)
        file_forget_shared(handle->file);
    handle->is_mapped = false;
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
        handle->file = disk_find(disk, name);
    if (handle->file == NULL && (flags & SQLITE_OPEN_CREATE) == 0)
        return SQLITE_CANTOPEN;
    if (handle->file == NULL)
        handle->file = disk_add(disk, name);
    if (out_flags != NULL)
        *out_flags = flags;
    handle->base.pMethods = &methods;
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    struct file *file = disk_find(world_get()->disk, name);

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
    const struct file *file = disk_find(world_get()->disk, name);

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
    (void)vfs;
    if (size > 0)
        out[0] = '\0';
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
