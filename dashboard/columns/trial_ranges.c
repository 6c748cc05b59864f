/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/columns/trial_ranges.h"

#include <stdlib.h>

#include "base/mem.h"

/* One number, and where it ends; -1 where there is none. */
static int64_t read_number(const char **text)
{
    char *end;
    long long number;

    if (**text < '0' || **text > '9')
        return -1;
    number = strtoll(*text, &end, 10);
    *text = end;
    return number;
}

static int refuse(const char *text, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "query 'trials': expected an ascending list like '1,5,9-20' "
                   "with at most %d parts, got '%.80s'",
                   TRIAL_RANGES_MAX, text);
}

int trial_ranges_read(const char *text, struct trial_ranges *ranges,
                      struct err *err)
{
    const char *at = text;
    int64_t before = 0;

    ranges->ranges = mem_array(TRIAL_RANGES_MAX, sizeof(*ranges->ranges));
    ranges->count = 0;
    if (text == NULL) {
        ranges->ranges[ranges->count++] = (struct trial_range){1, INT64_MAX};
        return 0;
    }
    while (ranges->count < TRIAL_RANGES_MAX) {
        struct trial_range *range = &ranges->ranges[ranges->count++];

        range->first = range->last = read_number(&at);
        if (range->first > 0 && *at == '-') {
            at++;
            range->last = read_number(&at);
        }
        if (range->first <= before || range->last < range->first)
            break;
        before = range->last;
        if (*at == '\0')
            return 0;
        if (*at++ != ',')
            break;
    }
    return refuse(text, err);
}

void trial_ranges_clear(struct trial_ranges *ranges)
{
    free(ranges->ranges);
    *ranges = (struct trial_ranges){0};
}
