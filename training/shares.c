/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/shares.h"

#include "base/buf.h"
#include "base/units.h"
#include "training/comm/ranks.h"

/* Some consecutive shares are one branch of the tree when their number is a
 * power of two that divides the whole, or when they are the whole. */
static bool fits(int count, int size, bool in_turns)
{
    int own = count / size, branch = in_turns ? size : own;

    return count % size == 0 &&
           (size == 1 || own == 1 || (branch & (branch - 1)) == 0);
}

static int refuse(int count, int size, bool in_turns, struct err *err)
{
    struct buf sizes = BUF_INIT;

    for (int i = 1; i <= count && i <= RANKS_MAX; i++) {
        if (fits(count, i, in_turns))
            buf_printf(&sizes, "%s%d", sizes.length > 0 ? ", " : "", i);
    }
    err_set(
        err, ERR_USAGE,
        "%d rank%s cannot divide batches of %d share%s; possible numbers of "
        "ranks: %s",
        size, units_plural(size), count, units_plural(count), buf_text(&sizes));
    buf_clear(&sizes);
    return -1;
}

int shares_init(struct shares *shares, int count, int ranks, bool in_turns,
                struct err *err)
{
    if (!fits(count, ranks, in_turns))
        return refuse(count, ranks, in_turns, err);
    *shares = (struct shares){count, count / ranks, ranks, in_turns};
    return 0;
}

int shares_of(const struct shares *shares, int rank, int i)
{
    return shares->in_turns ? i * shares->ranks + rank : rank * shares->own + i;
}

int shares_place(const struct shares *shares, int share)
{
    return shares->in_turns
               ? share % shares->ranks * shares->own + share / shares->ranks
               : share;
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
