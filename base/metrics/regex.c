/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/regex.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics/number.h"
#include "base/regex.h"

struct metric_regex {
    struct regex *regex;
    uint32_t value_group;
    uint32_t step_group; /* 0: none */
};

static int find_groups(struct metric_regex *regex, struct err *err)
{
    regex->step_group = regex_named_group(regex->regex, "step");
    regex->value_group = regex_named_group(regex->regex, "value");
    if (regex->value_group == 0)
        regex->value_group = regex->step_group == 1 ? 2 : 1;
    if (regex->value_group <= regex_group_count(regex->regex))
        return 0;
    err_set(err, ERR_FILE,
            "the regular expression has no group: put ( ) around the "
            "number");
    if (err != NULL)
        err->column = 1;
    return -1;
}

struct metric_regex *metric_regex_create(const char *pattern, struct err *err)
{
    struct metric_regex *regex = mem_zero(sizeof(*regex));

    regex->regex = regex_create(pattern, REGEX_LINE, err);
    if (regex->regex == NULL || find_groups(regex, err) < 0) {
        metric_regex_destroy(regex);
        return NULL;
    }
    return regex;
}

void metric_regex_destroy(struct metric_regex *regex)
{
    if (regex == NULL)
        return;
    regex_destroy(regex->regex);
    free(regex);
}

/* Whether the group took part and is a number as a whole. */
static bool group_number(const struct metric_regex *regex, const char *line,
                         uint32_t group, double *value)
{
    size_t start, end;

    return regex_group(regex->regex, group, &start, &end) &&
           metric_scan_value(line + start, line + end, value) == end - start;
}

int metric_regex_match(struct metric_regex *regex, const char *line,
                       size_t length, struct metric_match *match)
{
    int found = regex_find(regex->regex, line, length);

    if (found <= 0)
        return found;
    if (!group_number(regex, line, regex->value_group, &match->value))
        return 0;
    match->has_step = regex->step_group != 0;
    if (match->has_step &&
        !group_number(regex, line, regex->step_group, &match->step))
        match->step = -1;
    return 1;
}
