/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_UTIL_PAGES_H
#define SMTUNE_TRAINING_UTIL_PAGES_H

#include <stddef.h>

/* Pages of the machine, of which a process can give memory back. */
struct pages {
    void *at;
    size_t bytes; /* 0: none */
};

/* The whole pages of a piece of memory, for madvise(): the kernel rejects a
 * beginning inside a page and extends the end to that of its page. A page has 4
 * KiB on x86-64, and up to 64 KiB on aarch64. */
struct pages pages_within(void *memory, size_t bytes);

#endif
