/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/*
 * What steps take from pools. A step that is a run of its own holds what it
 * takes until that run is over, and pools of one name are one: so a child run
 * must not want what the step above it holds, or each would wait for the other,
 * nor more than there is. What each holds while it wants something is noted for
 * pool_circle.c.
 */

static const char *keep_name(struct workflow_build *w, const char *name)
{
    return build_take_text(w->build.file, mem_copy_string(name));
}

/* ---- what child runs take ---- */

static struct pool_share *find_share(struct step *step, const char *name)
{
    for (size_t i = 0; i < step->child_pool_count; i++)
        if (strcmp(step->child_pools[i].name, name) == 0)
            return &step->child_pools[i];
    return NULL;
}

/* The most that one job takes of each pool. */
static void note_shares(struct workflow_build *w, struct step *step,
                        const struct pool_share *shares, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pool_share *known = find_share(step, shares[i].name);

        if (known == NULL) {
            step->child_pools =
                mem_resize(step->child_pools, step->child_pool_count + 1,
                           sizeof(*step->child_pools));
            known = &step->child_pools[step->child_pool_count++];
            *known = (struct pool_share){keep_name(w, shares[i].name), 0};
        }
        if (known->amount < shares[i].amount)
            known->amount = shares[i].amount;
    }
}

/* ---- in which order they are taken ---- */

static bool is_known(const struct pool_order *known,
                     const struct pool_order *order)
{
    return (known->step == order->step || known->is_elsewhere) &&
           strcmp(known->held, order->held) == 0 &&
           strcmp(known->wanted, order->wanted) == 0;
}

static void note_order(struct workflow_build *w, const struct pool_order *order)
{
    struct workflow *workflow = w->workflow;
    struct pool_order *known = workflow->pool_orders;
    size_t count = workflow->pool_order_count;

    for (size_t i = 0; i < count; i++)
        if (is_known(&known[i], order))
            return;
    known = mem_resize(known, count + 1, sizeof(*known));
    known[count] = (struct pool_order){
        keep_name(w, order->held), keep_name(w, order->wanted), order->step,
        .is_elsewhere = count >= POOL_ORDERS_MAX};
    workflow->pool_orders = known;
    workflow->pool_order_count++;
}

/* ---- of child runs ---- */

void workflow_note_experiment(struct workflow_build *w, struct step *step,
                              const struct experiment *experiment)
{
    note_shares(w, step, experiment->task.pools, experiment->task.pool_count);
}

void workflow_note_workflow(struct workflow_build *w, struct step *step,
                            const struct workflow *workflow)
{
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *below = &workflow->steps[i];

        note_shares(w, step, below->task.pools, below->task.pool_count);
        note_shares(w, step, below->child_pools, below->child_pool_count);
    }
    for (size_t i = 0; i < workflow->pool_order_count; i++) {
        struct pool_order order = workflow->pool_orders[i];

        order.step = (size_t)(step - w->workflow->steps);
        note_order(w, &order);
    }
}

/* ---- what the step takes ---- */

static bool find_pool(const struct workflow *workflow, const char *name,
                      size_t *index)
{
    for (*index = 0; *index < workflow->pool_count; ++*index)
        if (strcmp(workflow->pools[*index].name, name) == 0)
            return true;
    return false;
}

static void refuse_pool(struct step_build *s, const struct conf_node *place,
                        const char *name)
{
    const struct workflow *workflow = s->w->workflow;
    const char **names = mem_array(workflow->pool_count, sizeof(*names));

    for (size_t i = 0; i < workflow->pool_count; i++)
        names[i] = workflow->pools[i].name;
    diags_add_unknown(s->w->build.diags, place->place, name, names,
                      workflow->pool_count, "unknown pool '%s'", name);
    free(names);
}

static void add_claim(struct step_build *s, const struct conf_node *place,
                      const struct pool_share *share, struct flow_claim *claims)
{
    const struct workflow *workflow = s->w->workflow;
    struct diags *diags = s->w->build.diags;
    size_t pool;

    if (!find_pool(workflow, share->name, &pool))
        refuse_pool(s, place, share->name);
    else if (share->amount > workflow->pools[pool].size)
        diags_add(diags, place->place, NULL,
                  "out of range: pool '%s' has %lld, and %s takes %lld",
                  share->name, (long long)workflow->pools[pool].size,
                  s->source->what, (long long)share->amount);
    else if (find_share(s->step, share->name) != NULL)
        diags_add(diags, place->place,
                  "let it take nothing (`pools: {}`): the limit applies to "
                  "its child run",
                  "%s would hold pool '%s' while its child run waits for it",
                  s->source->what, share->name);
    else
        claims[s->flow->claim_count++] =
            (struct flow_claim){pool, share->amount};
}

static void check_child(struct step_build *s)
{
    const struct workflow *workflow = s->w->workflow;
    const char *key =
        s->step->kind == STEP_EXPERIMENT ? "experiment" : "workflow";
    const struct conf_node *node = conf_get(s->source->own, key);

    for (size_t i = 0; i < s->step->child_pool_count; i++) {
        const struct pool_share *share = &s->step->child_pools[i];
        size_t pool;

        if (find_pool(workflow, share->name, &pool) &&
            share->amount > workflow->pools[pool].size)
            diags_add(
                s->w->build.diags, node->place, NULL,
                "out of range: pool '%s' has %lld, and a job of '%s' takes "
                "%lld",
                share->name, (long long)workflow->pools[pool].size, node->text,
                (long long)share->amount);
    }
}

/* What was refused above holds nothing. */
static void note_orders(struct step_build *s)
{
    const struct job_spec *spec = s->task.task;
    struct step *step = s->step;

    for (size_t i = 0; i < spec->pool_count; i++) {
        const char *held = spec->pools[i].name;

        for (size_t k = 0;
             k < step->child_pool_count && find_share(step, held) == NULL; k++)
            note_order(s->w,
                       &(struct pool_order){.held = held,
                                            .wanted = step->child_pools[k].name,
                                            .step = s->index});
    }
}

void workflow_build_claims(struct step_build *s)
{
    const struct conf_node *own = s->source->own;
    bool is_own = conf_get(own, "pool") != NULL || //
                  conf_get(own, "pools") != NULL;
    const struct conf_node *map = is_own ? own : s->source->map;
    const struct job_spec *spec = s->task.task;
    const struct conf_node *node;
    struct flow_claim *claims;

    job_spec_build_pools(&s->task, map);
    node = conf_get(map, conf_get(map, "pools") != NULL ? "pools" : "pool");
    claims = mem_array(spec->pool_count, sizeof(*claims));
    build_take(s->w->build.file, claims);
    s->flow->claims = claims;
    for (size_t i = 0; i < spec->pool_count; i++)
        add_claim(s, node->type == CONF_MAP ? node->keys[i] : node,
                  &spec->pools[i], claims);
    check_child(s);
    note_orders(s);
}
