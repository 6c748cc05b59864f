/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a pass through the flow has shown: on which steps the rest depends, and
 * whether results will do whose temporary outputs are missing.
 *
 * Such a result will do when each step that may use it (workflow_mark_users())
 * is a hit, or is skipped. It becomes a miss when one of them would run, also
 * because its own result became a miss. When it is not known of one of them,
 * the result waits for the steps that decide. It cannot wait for a step that is
 * behind it, which would wait for it in turn: then it is a miss, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/steps/cache_forecast_impl.h"

/* ---- what is not known ---- */

static void add_depends(struct forecast_step *step, size_t need)
{
    for (size_t i = 0; i < step->depends_count; i++) {
        if (step->depends[i] == need)
            return;
    }
    if (step->depends_count < FORECAST_DEPENDS_MAX)
        step->depends[step->depends_count++] = need;
}

/* The nearest steps before it that would run: those of a step that waits, too,
 * are known already. */
static void find_depends(struct cache_forecast *forecast, size_t step)
{
    struct forecast_step *found = &forecast->found[step];
    size_t count;
    const size_t *needs = graph_needs(forecast->file->graph, step, &count);

    for (size_t i = 0; i < count; i++) {
        const struct forecast_step *need = &forecast->found[needs[i]];

        if (flow_state(forecast->steps->flow, needs[i]) == FLOW_ACTIVE)
            add_depends(found, needs[i]);
        for (size_t k = 0; k < need->depends_count; k++)
            add_depends(found, need->depends[k]);
    }
}

/* A final step waits for all others. */
static void find_all_depends(struct cache_forecast *forecast)
{
    size_t count = forecast->file->step_count;
    size_t *order = mem_array(count, sizeof(*order));
    struct forecast_step running = {.depends_count = 0};

    for (size_t i = 0; i < count; i++) {
        if (flow_state(forecast->steps->flow, i) == FLOW_ACTIVE)
            add_depends(&running, i);
    }
    count = graph_order(forecast->file->graph, order);
    for (size_t i = 0; i < count; i++) {
        struct forecast_step *found = &forecast->found[order[i]];
        bool is_behind;

        if (found->is_known)
            continue;
        find_depends(forecast, order[i]);
        is_behind = found->depends_count > 0;
        for (size_t k = 0; !is_behind && k < running.depends_count; k++)
            add_depends(found, running.depends[k]);
    }
    free(order);
}

/* ---- missing files ---- */

static bool is_lacking(const struct forecast_step *step,
                       enum forecast_fate fate)
{
    return step->lacks_temps && step->fate == fate;
}

/* Whether it runs a command, or will unless it is skipped. */
static bool runs(const struct cache_forecast *forecast, size_t step)
{
    const struct forecast_step *found = &forecast->found[step];
    const struct step *its = &forecast->file->steps[step];

    if (its->kind == STEP_JOIN || its->kind == STEP_FAIL ||
        forecast->nothing_runs)
        return false;
    return found->runs > 0 || is_lacking(found, FATE_MISS) ||
           (!found->is_known && !its->cache.is_on);
}

static bool is_open(const struct cache_forecast *forecast, size_t step)
{
    const struct forecast_step *found = &forecast->found[step];
    enum step_kind kind = forecast->file->steps[step].kind;

    return kind != STEP_JOIN && kind != STEP_FAIL && !forecast->nothing_runs &&
           (!found->is_known || is_lacking(found, FATE_WAITS));
}

/* Whether a step that runs is behind one and before another, which cannot be
 * known before the first is over, then. */
static bool is_between(const struct cache_forecast *forecast, size_t first,
                       size_t last)
{
    const struct workflow *file = forecast->file;
    bool *behind = mem_array(file->step_count, sizeof(*behind));
    bool *before = mem_array(file->step_count, sizeof(*before));
    bool found = false;

    graph_mark_descendants(file->graph, first, behind);
    graph_mark_ancestors(file->graph, last, before);
    for (size_t i = 0; i < file->step_count && !found; i++)
        found = behind[i] && runs(forecast, i) &&
                (before[i] || (file->flow_steps[last].is_final &&
                               !file->flow_steps[i].is_final));
    free(behind);
    free(before);
    return found;
}

static enum forecast_fate find_fate(const struct cache_forecast *forecast,
                                    size_t step, size_t *needed_by)
{
    size_t count = forecast->file->step_count;
    bool *users = mem_array(count, sizeof(*users));
    enum forecast_fate fate = FATE_HIT;

    workflow_mark_users(forecast->file, step, users);
    /* A round may go on from what the one before made. */
    users[step] |= forecast->file->steps[step].repeat.max > 0;
    for (size_t i = 0; i < count && fate != FATE_MISS; i++) {
        if (!users[i])
            continue;
        *needed_by = i;
        if (runs(forecast, i))
            fate = FATE_MISS;
        else if (i != step && is_open(forecast, i))
            fate = is_between(forecast, step, i) ? FATE_MISS : FATE_WAITS;
    }
    free(users);
    return fate;
}

/* Whether there is something new; nothing is taken back. */
static bool decide(struct cache_forecast *forecast, size_t step)
{
    struct forecast_step *found = &forecast->found[step];
    enum forecast_fate fate;
    size_t needed_by = SIZE_MAX;

    if (!found->lacks_temps || found->fate == FATE_MISS)
        return false;
    fate = find_fate(forecast, step, &needed_by);
    if (fate <= found->fate)
        return false;
    found->fate = fate;
    found->needed_by = needed_by;
    return true;
}

static bool decide_all(struct cache_forecast *forecast)
{
    bool is_new = false, again = true;

    while (again) {
        again = false;
        for (size_t i = forecast->file->step_count; i-- > 0;)
            again |= decide(forecast, i);
        is_new |= again;
    }
    return is_new;
}

/* Results that wait depend on what their users depend on. */
static void find_waits(struct cache_forecast *forecast, size_t step)
{
    struct forecast_step *found = &forecast->found[step];
    size_t count = forecast->file->step_count;
    bool *users = mem_array(count, sizeof(*users));

    workflow_mark_users(forecast->file, step, users);
    for (size_t i = 0; i < count; i++) {
        const struct forecast_step *user = &forecast->found[i];

        for (size_t k = 0; users[i] && k < user->depends_count; k++)
            if (user->depends[k] != step)
                add_depends(found, user->depends[k]);
    }
    found->is_known = false;
    free(users);
}

bool forecast_judge(struct cache_forecast *forecast)
{
    if (decide_all(forecast))
        return true;
    find_all_depends(forecast);
    for (size_t i = forecast->file->step_count; i-- > 0;)
        if (is_lacking(&forecast->found[i], FATE_WAITS))
            find_waits(forecast, i);
    return false;
}
