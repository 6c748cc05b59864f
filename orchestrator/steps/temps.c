/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each step counts its users that are not settled yet, and a step that settles
 * counts itself off from what it uses: O(needs) in all. What only joins others
 * (STEP_JOIN) stands for those behind it: it is counted off when it and all of
 * them are settled. After a retry or an edit, which are rare, all is counted
 * anew.
 */
#include "orchestrator/steps/temps.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct temps {
    const struct workflow *workflow;
    const struct flow *flow;
    bool *is_settled, *is_done, *is_cut_off, *was_given; /* [step_count] */
    size_t *open_users;                                  /* [step_count] */
    size_t open_count;      /* steps that are not final, not settled */
    size_t *due, due_count; /* [step_count] not given yet */
    bool is_stale;          /* has to be counted anew */
};

struct temps *temps_create(const struct workflow *workflow,
                           const struct flow *flow)
{
    size_t count = workflow->step_count;
    struct temps *temps;
    bool has_any = false;

    for (size_t i = 0; i < count; i++)
        has_any |= workflow->steps[i].has_temps;
    if (!has_any)
        return NULL;
    temps = mem_zero(sizeof(*temps));
    temps->workflow = workflow;
    temps->flow = flow;
    temps->is_settled = mem_array(count, sizeof(bool));
    temps->is_done = mem_array(count, sizeof(bool));
    temps->is_cut_off = mem_array(count, sizeof(bool));
    temps->was_given = mem_array(count, sizeof(bool));
    temps->open_users = mem_array(count, sizeof(size_t));
    temps->due = mem_array(count, sizeof(size_t));
    temps->is_stale = true;
    return temps;
}

void temps_destroy(struct temps *temps)
{
    if (temps == NULL)
        return;
    free(temps->is_settled);
    free(temps->is_done);
    free(temps->is_cut_off);
    free(temps->was_given);
    free(temps->open_users);
    free(temps->due);
    free(temps);
}

/* ---- settling ---- */

static bool may_settle(const struct temps *temps, size_t step)
{
    const struct flow_step *flow = &temps->workflow->flow_steps[step];
    enum flow_state state = flow_state(temps->flow, step);
    struct flow_counts counts;

    flow_count(temps->flow, step, &counts);
    if ((state != FLOW_SUCCEEDED && state != FLOW_SKIPPED) ||
        counts.failed > 0 || temps->is_cut_off[step] ||
        (flow->is_final && temps->open_count > 0))
        return false;
    for (size_t i = 0; i < flow->need_count; i++)
        if (!temps->is_settled[flow->needs[i]])
            return false;
    return true;
}

static void finish(struct temps *temps, size_t step);

static void count_off(struct temps *temps, size_t step)
{
    if (--temps->open_users[step] == 0 && temps->is_settled[step])
        finish(temps, step);
}

/* It is a user of a step once only, by a need or because it reads from it. */
static bool is_read_alone(const struct flow_step *flow, size_t read)
{
    for (size_t i = 0; i < flow->need_count; i++)
        if (flow->needs[i] == flow->reads[read])
            return false;
    return true;
}

/* Nothing of it is needed any more by those behind it. */
static void leave_needs(struct temps *temps, size_t step)
{
    const struct flow_step *flow = &temps->workflow->flow_steps[step];

    if (temps->is_done[step])
        return;
    temps->is_done[step] = true;
    for (size_t i = 0; i < flow->need_count; i++)
        count_off(temps, flow->needs[i]);
    for (size_t i = 0; i < flow->read_count; i++)
        if (is_read_alone(flow, i))
            count_off(temps, flow->reads[i]);
}

/* It is settled, and so are all its users. */
static void finish(struct temps *temps, size_t step)
{
    const struct step *its = &temps->workflow->steps[step];

    if (its->kind == STEP_JOIN)
        leave_needs(temps, step);
    if (!its->has_temps || temps->was_given[step])
        return;
    temps->was_given[step] = true;
    temps->due[temps->due_count++] = step;
}

static void settle(struct temps *temps, size_t step)
{
    if (temps->is_settled[step] || !may_settle(temps, step))
        return;
    temps->is_settled[step] = true;
    temps->open_count -= !temps->workflow->flow_steps[step].is_final;
    if (temps->workflow->steps[step].kind != STEP_JOIN)
        leave_needs(temps, step);
    if (temps->open_users[step] == 0)
        finish(temps, step);
}

static void count_users(struct temps *temps)
{
    for (size_t i = 0; i < temps->workflow->step_count; i++) {
        const struct flow_step *flow = &temps->workflow->flow_steps[i];

        temps->is_settled[i] = temps->is_done[i] = false;
        temps->was_given[i] = false;
        temps->open_count += !flow->is_final;
        for (size_t k = 0; k < flow->need_count; k++)
            temps->open_users[flow->needs[k]]++;
        for (size_t k = 0; k < flow->read_count; k++)
            if (is_read_alone(flow, k))
                temps->open_users[flow->reads[k]]++;
    }
}

/* All that are final come behind the others. */
static void count_anew(struct temps *temps)
{
    size_t count = temps->workflow->step_count;
    size_t *order = mem_array(count, sizeof(*order));
    size_t sorted = graph_order(temps->workflow->graph, order);

    temps->open_count = temps->due_count = 0;
    for (size_t i = 0; i < count; i++)
        temps->open_users[i] = 0;
    count_users(temps);
    temps->is_stale = false;
    for (int finals = 0; finals < 2; finals++)
        for (size_t i = 0; i < sorted; i++)
            if (temps->workflow->flow_steps[order[i]].is_final == (finals == 1))
                settle(temps, order[i]);
    free(order);
}

/* ---- what it is told and asked ---- */

void temps_ended(struct temps *temps, size_t step)
{
    if (temps == NULL)
        return;
    temps->is_cut_off[step] = false;
    if (temps->is_stale)
        count_anew(temps);
    else
        settle(temps, step);
}

void temps_cut_off(struct temps *temps, size_t step)
{
    if (temps == NULL)
        return;
    temps->is_cut_off[step] = true;
    temps->is_stale = true;
}

void temps_look_again(struct temps *temps)
{
    if (temps != NULL)
        temps->is_stale = true;
}

bool temps_next(struct temps *temps, size_t *step)
{
    if (temps == NULL)
        return false;
    if (temps->is_stale)
        count_anew(temps);
    if (temps->due_count == 0)
        return false;
    *step = temps->due[--temps->due_count];
    return true;
}

bool temps_has_next(struct temps *temps)
{
    if (temps != NULL && temps->is_stale)
        count_anew(temps);
    return temps != NULL && temps->due_count > 0;
}

bool temps_are_due(struct temps *temps, size_t step)
{
    if (temps == NULL)
        return false;
    if (temps->is_stale)
        count_anew(temps);
    return temps->is_settled[step] && temps->open_users[step] == 0;
}

/* Of what a step needs, near or far, one that alone keeps it from being
 * settled. */
static size_t find_unsettled(const struct temps *temps, size_t step)
{
    size_t next = step;

    while (next != SIZE_MAX) {
        const struct flow_step *flow = &temps->workflow->flow_steps[next];

        step = next;
        next = SIZE_MAX;
        for (size_t i = 0; i < flow->need_count && next == SIZE_MAX; i++)
            if (!temps->is_settled[flow->needs[i]])
                next = flow->needs[i];
    }
    return step;
}

size_t temps_wait_for(struct temps *temps, size_t step)
{
    size_t count = temps->workflow->step_count, found = SIZE_MAX;
    bool *users;

    if (temps_are_due(temps, step))
        return SIZE_MAX;
    if (!temps->is_settled[step])
        return find_unsettled(temps, step);
    users = mem_array(count, sizeof(*users));
    workflow_mark_users(temps->workflow, step, users);
    for (size_t i = 0; i < count && found == SIZE_MAX; i++)
        if (users[i] && !temps->is_settled[i])
            found = find_unsettled(temps, i);
    free(users);
    return found;
}

void temps_mark_users(const struct temps *temps, size_t step, bool *users)
{
    workflow_mark_users(temps->workflow, step, users);
}
