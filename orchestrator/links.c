/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/links.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* A process that ended by itself; what happened to machines is no link's end.
 */
#define BY_ITSELF (1u << CAUSE_EXIT | 1u << CAUSE_SIGNAL | 1u << CAUSE_OOM)

/* The time of the warning is known to the millisecond; that it took effect,
 * only from what came after. */
static bool was_warned(const struct link_rule *rule, const struct link_end *end)
{
    int64_t ran_ms = end->exit->ended_ms - end->exit->started_ms;

    return rule->signal != 0 && end->time_ms > 0 && end->exit->started_ms > 0 &&
           ran_ms + 1 >= end->time_ms - rule->before_ms;
}

static bool is_by_time(const struct link_rule *rule, const struct link_end *end)
{
    return end->exit->cause == CAUSE_TIMEOUT ||
           ((BY_ITSELF & 1u << end->exit->cause) != 0 && was_warned(rule, end));
}

static void note(struct links *links, const struct link_end *end, bool by_time)
{
    const struct attempt_exit *exit = end->exit;

    if (exit->started_ms > 0 && exit->ended_ms > exit->started_ms)
        links->used_ms += exit->ended_ms - exit->started_ms;
    if (end->checkpoint != NULL &&
        strcmp(end->checkpoint, links->checkpoint) != 0) {
        snprintf(links->checkpoint, sizeof(links->checkpoint), "%s",
                 end->checkpoint);
        links->idle = 0;
    } else {
        links->idle += by_time;
    }
}

enum link_verdict links_end(struct links *links, const struct link_rule *rule,
                            const struct link_end *end,
                            char text[LINKS_TEXT_MAX])
{
    bool by_time = is_by_time(rule, end);
    char duration[32];

    note(links, end, by_time);
    if (!by_time)
        return LINK_NONE;
    if (links->idle >= LINKS_IDLE_MAX) {
        snprintf(text, LINKS_TEXT_MAX, "two links in a row left %s",
                 links->checkpoint[0] != '\0' ? "the checkpoint as it was"
                                              : "no checkpoint");
        return LINK_DENIED;
    }
    if (links->count >= rule->max) {
        snprintf(text, LINKS_TEXT_MAX, "%" PRId64 " links are used",
                 links->count);
        return LINK_DENIED;
    }
    if (rule->total_ms > 0 && links->used_ms >= rule->total_ms) {
        units_format_duration(links->used_ms, duration, sizeof(duration));
        snprintf(text, LINKS_TEXT_MAX, "%s are used", duration);
        return LINK_DENIED;
    }
    links->count++;
    return LINK_FOLLOWS;
}
