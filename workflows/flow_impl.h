/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_FLOW_IMPL_H
#define SMTUNE_WORKFLOWS_FLOW_IMPL_H

#include "workflows/flow.h"
#include "workflows/step_heap.h"

/*
 * What a flow is, for the files that make one and lead it on.
 *
 * A step is *due* when all that it needs is closed, and closed when it is due
 * and over. So what a step's end means is worked out only when all is known,
 * even if a record is told from its end. Each step is in one heap at most: of
 * those that begin (or are skipped), that start a copy, or that are over.
 */

enum copy_state {
    COPY_READY,
    COPY_AGAIN, /* put back, to start in any case */
    COPY_STARTED,
    COPY_SUCCEEDED,
    COPY_FAILED,
    COPY_CANCELLED, /* in all but its name one that failed */
    COPY_GIVEN_UP,  /* it never started, and counts as one that failed */
    COPY_REFUSED,
    COPY_STATES
};

enum { FEW_COPIES = 8 };

struct flow_node {
    struct flow_step spec; /* what it points to is the flow's */
    const size_t *dependents;
    size_t dependent_count;
    size_t claim_class;
    enum flow_state state;
    bool is_closed;
    bool rule_begins; /* and the two below: once it is due */
    bool is_tainted;  /* skipped because of a failure; set as it is closed */
    size_t because;
    size_t open_needs; /* that are not closed */
    struct step_heap *heap;
    int64_t copies;
    int64_t counts[COPY_STATES];
    int64_t first_ready, first_again; /* none of the kind is before */
    unsigned char few[FEW_COPIES];    /* enum copy_state of each copy */
    unsigned char *many;              /* where copies > FEW_COPIES */
};

/* The steps that claim the same. If the first of them has no room, none has. */
struct claim_class {
    const struct flow_claim *claims;
    size_t claim_count;
    struct step_heap startable;
};

struct flow {
    struct flow_node *nodes; /* [count] */
    size_t count, closed_count;
    size_t *finals; /* [final_count] steps */
    size_t final_count;
    size_t open_count;      /* steps, not final, that are not closed */
    size_t failed_count[2]; /* that may not fail: [is_final] */
    size_t missed_count[2]; /* skipped for a failure, and may not: the same */
    int64_t *sizes, *used;  /* [pool_count] */
    int64_t *set_aside;     /* [pool_count], for flow_next() */
    size_t pool_count;
    struct claim_class *classes; /* [class_count] */
    size_t class_count;
    struct claim_class **lined_up; /* [class_count], for flow_next() */
    struct step_heap beginning, ending;
    size_t *rank, *place; /* [count], of the heaps */
    size_t *edges;        /* needs and dependents */
    size_t *reads;        /* of all steps */
    struct flow_claim *claims;
    size_t *work; /* steps to look at, in place of recursion */
    size_t work_count, work_capacity;
};

/* Works out what follows when all that a step needs may be closed. */
void flow_advance(struct flow *flow, size_t step);
/* Puts a step into the heap where it belongs now. */
void flow_update(struct flow *flow, size_t step);
/* Changes the state, and what is counted by it; flow_set_copy() updates, too.
 */
void flow_set_state(struct flow *flow, struct flow_node *node,
                    enum flow_state state);
void flow_set_copy(struct flow *flow, size_t step, int64_t copy,
                   enum copy_state state);
/* Its rule skips it because of a failure, or this is no longer so. */
void flow_set_tainted(struct flow *flow, struct flow_node *node,
                      bool is_tainted);
/* Those of an active step may start. */
void flow_offer_given_up(struct flow *flow, size_t step);
/* To flow->work. */
void flow_push(struct flow *flow, size_t step);
void flow_push_finals(struct flow *flow);

#endif
