/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a chain of attempts (`continue`) goes on and when it ends;
 * orchestrator/job/links.h has the rules.
 *
 * A link is idle if it left the checkpoint as it was, or torn. Two in a row end
 * the chain, because a third would change nothing. The checkpoint of a link may
 * be unknown, if the next had begun before an engine could look. Such links are
 * counted in `unseen` until the next known checkpoint decides about all of them
 * at once. The time of a lost attempt does not count, because nobody knows when
 * it ended.
 */
#include "orchestrator/job/links.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "base/units.h"
#include "executors/attempt/attempt_file.h"
#include "store/store.h"

int links_read_exit(const struct attempt_row *row, struct attempt_exit *exit)
{
    int cause = attempt_cause_find(row->cause);

    if (cause < 0)
        return -1;
    *exit = (struct attempt_exit){
        .cause = (enum attempt_cause)cause,
        .exit_code = (int)row->exit_code,
        .signal = (int)row->signal,
        .started_ms = row->started_ms,
        .ended_ms = row->ended_ms,
        .is_displaced = row->is_displaced,
        .is_outside = row->is_outside,
        .is_shortage = row->is_shortage,
    };
    return 0;
}

bool links_is_by_time(const struct link_rule *rule, const struct link_end *end)
{
    return exit_is_by_time(
        end->exit, &(struct attempt_spec){.time_ms = end->time_ms,
                                          .warn_signal = rule->signal,
                                          .warn_before_ms = rule->before_ms,
                                          .link_exits = rule->exits});
}

void links_take_exit(const struct link_rule *rule, int64_t time_ms,
                     struct attempt_exit *exit)
{
    const struct link_end end = {.exit = exit, .time_ms = time_ms};

    if (exit->cause == CAUSE_OK && links_is_by_time(rule, &end))
        exit->cause = CAUSE_EXIT;
}

static void note(struct links *links, const struct link_end *end, bool by_time)
{
    const struct attempt_exit *exit = end->exit;

    /* of what is lost nobody knows when it ended: the machine may have been off
     * for days */
    if (exit->cause != CAUSE_LOST && exit->started_ms > 0 &&
        exit->ended_ms > exit->started_ms)
        links->used_ms =
            count_add(links->used_ms, exit->ended_ms - exit->started_ms);
    if (end->checkpoint != NULL && strcmp(end->checkpoint, LINKS_UNSEEN) == 0) {
        links->unseen += by_time;
        return;
    }
    links->is_torn =
        end->checkpoint != NULL && strcmp(end->checkpoint, LINKS_TORN) == 0;
    if (end->checkpoint != NULL && !links->is_torn &&
        strcmp(end->checkpoint, links->checkpoint) != 0) {
        snprintf(links->checkpoint, sizeof(links->checkpoint), "%s",
                 end->checkpoint);
        links->idle = 0;
    } else {
        links->idle += links->unseen + by_time;
    }
    links->unseen = 0;
}

static const char *idle_reason(const struct links *links)
{
    if (links->is_torn)
        return "the checkpoint is torn";
    return links->checkpoint[0] != '\0' ? "the checkpoint did not change"
                                        : "no checkpoint was saved";
}

enum link_verdict links_end(struct links *links, const struct link_rule *rule,
                            const struct link_end *end,
                            char text[LINKS_TEXT_MAX])
{
    bool by_time = links_is_by_time(rule, end);
    char duration[32];

    note(links, end, by_time);
    if (!by_time)
        return LINK_NONE;
    if (links->idle >= LINKS_IDLE_MAX) {
        snprintf(text, LINKS_TEXT_MAX, "two links without progress (%s)",
                 idle_reason(links));
        return LINK_DENIED;
    }
    if (links->count >= rule->max) {
        snprintf(text, LINKS_TEXT_MAX, "continue.max=%" PRId64 " is reached",
                 links->count);
        return LINK_DENIED;
    }
    if (rule->total_ms > 0 && links->used_ms >= rule->total_ms) {
        units_format_duration(links->used_ms, duration, sizeof(duration));
        snprintf(text, LINKS_TEXT_MAX, "continue.total is used up (%s)",
                 duration);
        return LINK_DENIED;
    }
    links->count++;
    return LINK_FOLLOWS;
}
