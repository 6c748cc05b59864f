/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/util/pages.h"

#include <stdint.h>
#include <unistd.h>

struct pages pages_within(void *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t lead = -(uintptr_t)memory % page;

    if (bytes < lead)
        return (struct pages){memory, 0};
    return (struct pages){(char *)memory + lead, (bytes - lead) / page * page};
}
