/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A part is a byte of the GPU's file, locked by its holder. The locks belong
 * to the open file, so they end with the process like those of whole slots,
 * and do not conflict within it: what the process itself has taken is in the
 * bits that it passes.
 */
#include "executors/machine/gpu_parts.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

enum { PERMILLE = 1000 };

static bool set_lock(int fd, int part, short type)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = part, .l_len = 1};

    return fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

int gpu_parts_of(int permille)
{
    return (permille * GPU_PARTS + PERMILLE - 1) / PERMILLE;
}

uint64_t gpu_parts_take(int fd, uint64_t taken, int wanted)
{
    uint64_t parts = 0;
    int count = 0;

    for (int part = 0; part < GPU_PARTS && count < wanted; part++) {
        uint64_t bit = UINT64_C(1) << part;

        if ((taken & bit) != 0 || !set_lock(fd, part, F_WRLCK))
            continue;
        parts |= bit;
        count++;
    }
    if (count == wanted)
        return parts;
    gpu_parts_release(fd, parts);
    return 0;
}

void gpu_parts_release(int fd, uint64_t parts)
{
    for (int part = 0; part < GPU_PARTS; part++) {
        if ((parts & UINT64_C(1) << part) != 0)
            set_lock(fd, part, F_UNLCK);
    }
}
