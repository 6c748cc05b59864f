/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/slots_census.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "executors/machine/slots_impl.h"

struct locked {
    dev_t device;
    ino_t inode;
    int64_t pid;
};

struct locks {
    struct locked *files;
    size_t count, capacity;
};

/* "5: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF"; with "->" before the word
 * it is one that waits. Who has a part of a GPU has locked it to READ. */
static void read_lock(struct locks *locks, const char *line)
{
    unsigned int major_number, minor_number;
    unsigned long inode;
    long pid;

    if (sscanf(line, "%*s FLOCK ADVISORY %*s %ld %x:%x:%lu", &pid,
               &major_number, &minor_number, &inode) != 4)
        return;
    locks->files = mem_grow(locks->files, locks->count, &locks->capacity,
                            sizeof(*locks->files));
    locks->files[locks->count++] =
        (struct locked){makedev(major_number, minor_number), inode, pid};
}

static void read_locks(struct locks *locks)
{
    FILE *file = fopen("/proc/locks", "re");
    char line[256];

    if (file == NULL)
        return;
    while (fgets(line, sizeof(line), file) != NULL)
        read_lock(locks, line);
    fclose(file);
}

/* NULL: nobody holds the file. */
static const struct locked *find_lock(const struct locks *locks, int directory,
                                      const char *name)
{
    struct stat status;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
    for (size_t i = 0; i < locks->count; i++) {
        if (locks->files[i].inode == status.st_ino &&
            locks->files[i].device == status.st_dev)
            return &locks->files[i];
    }
    return NULL;
}

static void add_holder(int64_t pid, struct slots_census *census)
{
    for (size_t i = 0; i < census->holder_count; i++) {
        if (census->holders[i] == pid)
            return;
    }
    if (census->holder_count < SLOTS_HOLDERS_MAX)
        census->holders[census->holder_count++] = pid;
}

static void count_file(const struct locks *locks, int directory,
                       const char *name, struct slots_census *census)
{
    const struct locked *lock;
    struct gpu gpu;
    bool is_gpu = slot_gpu_of_file(name, &gpu);

    if (!is_gpu && strncmp(name, "cpu-", 4) != 0)
        return;
    lock = find_lock(locks, directory, name);
    if (lock == NULL)
        return;
    add_holder(lock->pid, census);
    if (!is_gpu)
        census->cpus_taken++;
    else if (census->gpus_taken < GPUS_MAX)
        census->gpus[census->gpus_taken++] = gpu;
}

void slots_count(const char *directory, struct slots_census *census)
{
    DIR *files = opendir(directory);
    struct locks locks = {0};
    const struct dirent *entry;

    *census = (struct slots_census){0};
    if (files == NULL)
        return;
    read_locks(&locks);
    while (locks.count > 0 && (entry = readdir(files)) != NULL)
        count_file(&locks, dirfd(files), entry->d_name, census);
    closedir(files);
    free(locks.files);
}
