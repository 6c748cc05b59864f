/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/shares.h"

#include <stdbool.h>

#include "base/buf.h"

/* Some consecutive shares are one branch of the tree when their number is a
 * power of two that divides the whole, or when they are the whole. */
static bool fits(int count, int size)
{
    int own = count / size;

    return size == 1 || (count % size == 0 && (own & (own - 1)) == 0);
}

static int refuse(int count, int size, struct err *err)
{
    struct buf sizes = BUF_INIT;

    for (int i = 1; i <= count && i <= RANKS_MAX; i++) {
        if (fits(count, i))
            buf_printf(&sizes, "%s%d", sizes.length > 0 ? ", " : "", i);
    }
    err_set(err, ERR_USAGE,
            "%d ranks cannot share a run whose batches are cut into %d "
            "shares; these numbers of ranks can: %s",
            size, count, buf_text(&sizes));
    buf_clear(&sizes);
    return -1;
}

int shares_init(struct shares *shares, int count, const struct ranks *ranks,
                struct err *err)
{
    if (!fits(count, ranks->size))
        return refuse(count, ranks->size, err);
    shares->count = count;
    shares->own = count / ranks->size;
    shares->first = ranks->rank * shares->own;
    return 0;
}

size_t shares_begin(const struct shares *shares, int share, size_t total)
{
    return total * (size_t)share / (size_t)shares->count;
}

size_t shares_most(const struct shares *shares, size_t total)
{
    size_t count = (size_t)shares->count;

    return (total + count - 1) / count;
}
