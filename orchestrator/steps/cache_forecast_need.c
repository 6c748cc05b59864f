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
 *
 * Steps are looked at from the last one on, so what becomes of the users of a
 * step is known before.
 */
#include <stdlib.h>

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

/* What the users of a step do. */
struct use {
    bool runs, is_open; /* one of them, as runs() and is_open() */
    size_t by;          /* the first of these, rather one that runs */
};

struct judging {
    struct cache_forecast *forecast;
    size_t *order;    /* [step_count] each behind what it needs */
    struct use *uses; /* [step_count] of its outputs */
};

static bool is_lacking(const struct forecast_step *step,
                       enum forecast_fate fate)
{
    return step->lacks_temps && step->fate == fate;
}

static bool has_command(const struct cache_forecast *forecast, size_t step)
{
    enum step_kind kind = forecast->file->steps[step].kind;

    return kind != STEP_JOIN && kind != STEP_FAIL && !forecast->nothing_runs;
}

/* Whether it runs a command, or will unless it is skipped. */
static bool runs(const struct cache_forecast *forecast, size_t step)
{
    const struct forecast_step *found = &forecast->found[step];

    return has_command(forecast, step) &&
           (found->runs > 0 || is_lacking(found, FATE_MISS) ||
            (!found->is_known && !forecast->file->steps[step].cache.is_on));
}

static bool is_open(const struct cache_forecast *forecast, size_t step)
{
    const struct forecast_step *found = &forecast->found[step];

    return has_command(forecast, step) &&
           (!found->is_known || is_lacking(found, FATE_WAITS));
}

/* Marks what is behind a step that runs, of those behind `first`; whether that
 * is behind all steps that are not final. */
static bool mark_behind_runs(const struct cache_forecast *forecast,
                             size_t first, bool *marks)
{
    const struct workflow *file = forecast->file;
    bool *behind = mem_array(file->step_count, sizeof(*behind));
    bool is_before_finals = false;

    graph_mark_descendants(file->graph, first, behind);
    for (size_t i = 0; i < file->step_count; i++) {
        if (!behind[i] || !runs(forecast, i))
            continue;
        graph_mark_descendants(file->graph, i, marks);
        is_before_finals |= !file->flow_steps[i].is_final;
    }
    free(behind);
    return is_before_finals;
}

/* Whether a step that runs is behind one and before an open user of it, which
 * cannot be known before the first is over, then. */
static bool waits_for_itself(const struct cache_forecast *forecast, size_t step,
                             size_t *by)
{
    const struct workflow *file = forecast->file;
    bool *users = mem_array(file->step_count, sizeof(*users));
    bool *marks = mem_array(file->step_count, sizeof(*marks));
    bool finals = mark_behind_runs(forecast, step, marks), found = false;

    workflow_mark_users(file, step, users);
    for (size_t i = 0; i < file->step_count && !found; i++) {
        found = users[i] && is_open(forecast, i) &&
                (marks[i] || (finals && file->flow_steps[i].is_final));
        if (found)
            *by = i;
    }
    free(users);
    free(marks);
    return found;
}

static enum forecast_fate find_fate(const struct judging *judging, size_t step,
                                    size_t *by)
{
    const struct cache_forecast *forecast = judging->forecast;
    const struct use *use = &judging->uses[step];
    /* A round may go on from what the one before made. */
    bool is_own =
        forecast->file->steps[step].repeat.max > 0 && runs(forecast, step);

    *by = use->runs || use->is_open ? use->by : step;
    if (use->runs || is_own)
        return FATE_MISS;
    if (!use->is_open)
        return FATE_HIT;
    return waits_for_itself(forecast, step, by) ? FATE_MISS : FATE_WAITS;
}

/* Whether there is something new; nothing is taken back. */
static bool decide(const struct judging *judging, size_t step)
{
    struct forecast_step *found = &judging->forecast->found[step];
    enum forecast_fate fate;
    size_t by;

    if (!found->lacks_temps || found->fate == FATE_MISS ||
        judging->forecast->is_strict)
        return false;
    fate = find_fate(judging, step, &by);
    if (fate <= found->fate)
        return false;
    found->fate = fate;
    found->needed_by = by;
    return true;
}

static void add_use(struct use *use, const struct use *more)
{
    if (more->runs || (more->is_open && !use->runs))
        use->by = more->by;
    use->runs |= more->runs;
    use->is_open |= more->is_open;
}

/* What only joins others stands for those behind it. */
static bool judge(const struct judging *judging, size_t step)
{
    const struct workflow *file = judging->forecast->file;
    const struct flow_step *flow = &file->flow_steps[step];
    bool is_new = decide(judging, step);
    struct use own = judging->uses[step];

    if (file->steps[step].kind != STEP_JOIN)
        own = (struct use){runs(judging->forecast, step),
                           is_open(judging->forecast, step), step};
    for (size_t i = 0; i < flow->need_count; i++)
        add_use(&judging->uses[flow->needs[i]], &own);
    for (size_t i = 0; i < flow->read_count; i++)
        add_use(&judging->uses[flow->reads[i]], &own);
    return is_new;
}

/* Final steps come behind all others. */
static bool judge_all(const struct judging *judging)
{
    const struct workflow *file = judging->forecast->file;
    bool is_new = false;

    for (int finals = 1; finals >= 0; finals--)
        for (size_t i = file->step_count; i-- > 0;)
            if (file->flow_steps[judging->order[i]].is_final == (finals == 1))
                is_new |= judge(judging, judging->order[i]);
    return is_new;
}

/* ---- what waits ---- */

/* Results that wait depend on what a user of theirs depends on. */
static void find_waits(const struct judging *judging, size_t step)
{
    struct forecast_step *found = &judging->forecast->found[step];
    const struct forecast_step *user =
        &judging->forecast->found[found->needed_by];

    for (size_t i = 0; i < user->depends_count; i++)
        if (user->depends[i] != step)
            add_depends(found, user->depends[i]);
    if (found->depends_count == 0)
        add_depends(found, step); /* on other copies of its own */
    found->is_known = false;
}

/* Whether it has results of its own that wait, or joins steps that have. */
static bool has_waiting(const struct judging *judging, size_t step,
                        const bool *joins)
{
    return is_lacking(&judging->forecast->found[step], FATE_WAITS) ||
           joins[step];
}

static bool uses_waiting(const struct judging *judging, size_t step,
                         const bool *joins)
{
    const struct flow_step *flow = &judging->forecast->file->flow_steps[step];

    for (size_t i = 0; i < flow->need_count; i++)
        if (has_waiting(judging, flow->needs[i], joins))
            return true;
    for (size_t i = 0; i < flow->read_count; i++)
        if (has_waiting(judging, flow->reads[i], joins))
            return true;
    return false;
}

/* Marks the open users of results that wait, and what is before them. */
static void mark_matters(const struct judging *judging, bool *marks)
{
    const struct cache_forecast *forecast = judging->forecast;
    const struct workflow *file = forecast->file;
    bool *joins = mem_array(file->step_count, sizeof(*joins));
    bool has_final = false;

    for (size_t i = 0; i < file->step_count; i++) {
        size_t step = judging->order[i];
        bool uses = uses_waiting(judging, step, joins);

        joins[step] = uses && file->steps[step].kind == STEP_JOIN;
        if (!uses || !is_open(forecast, step))
            continue;
        graph_mark_ancestors(file->graph, step, marks);
        marks[step] = true;
        has_final |= file->flow_steps[step].is_final;
    }
    for (size_t i = 0; i < file->step_count; i++)
        marks[i] |= has_final && !file->flow_steps[i].is_final;
    free(joins);
}

static void find_matters(const struct judging *judging)
{
    struct cache_forecast *forecast = judging->forecast;
    size_t count = forecast->file->step_count;
    bool *marks = mem_array(count, sizeof(*marks));

    mark_matters(judging, marks);
    for (size_t i = 0; i < count; i++) {
        forecast->found[i].matters = marks[i];
        forecast->found[i].decides = marks[i] && runs(forecast, i);
    }
    free(marks);
}

bool forecast_judge(struct cache_forecast *forecast)
{
    size_t count = forecast->file->step_count;
    struct judging judging = {
        .forecast = forecast,
        .order = mem_array(count, sizeof(*judging.order)),
        .uses = mem_array(count, sizeof(*judging.uses)),
    };
    bool is_new;

    graph_order(forecast->file->graph, judging.order);
    is_new = judge_all(&judging);
    if (!is_new) {
        find_matters(&judging);
        find_all_depends(forecast);
        for (size_t i = count; i-- > 0;)
            if (is_lacking(&forecast->found[judging.order[i]], FATE_WAITS))
                find_waits(&judging, judging.order[i]);
    }
    free(judging.order);
    free(judging.uses);
    return is_new;
}
