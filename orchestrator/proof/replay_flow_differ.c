/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the parts of the proof of the flow compare what is recorded with what
 * comes next, and report where the two differ.
 */
#include "orchestrator/proof/replay_flow_impl.h"

#include <inttypes.h>
#include <stdarg.h>

int proving_differ(struct proving *proving, const struct flow_job *job,
                   const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    replay_differ_va(proving->replay, PROOF_FLOW, job != NULL ? job->number : 0,
                     format, arguments);
    va_end(arguments);
    return REPLAY_DIFFERS;
}

const char *proving_step_name(const struct proving *proving, size_t step)
{
    return proving->workflow->steps[step].name;
}

int proving_next_differs(struct proving *proving, const struct flow_job *job,
                         const char *recorded, const struct flow_next *next)
{
    const char *name = next->kind == FLOW_NOTHING || next->kind == FLOW_OVER
                           ? ""
                           : proving_step_name(proving, next->step);

    switch (next->kind) {
    case FLOW_NOTHING:
        return proving_differ(proving, job, "%s, but no step is due", recorded);
    case FLOW_OVER:
        return proving_differ(proving, job, "%s, but all steps have finished",
                              recorded);
    case FLOW_BEGIN:
        return proving_differ(proving, job, "%s, but '%s' begins next",
                              recorded, name);
    case FLOW_SKIP:
        return proving_differ(proving, job, "%s, but '%s' is skipped next",
                              recorded, name);
    case FLOW_START:
        return proving_differ(proving, job,
                              "%s, but copy %" PRId64 " of '%s' starts next",
                              recorded, next->copy, name);
    case FLOW_END:
        return proving_differ(proving, job, "%s, but '%s' has %s next",
                              recorded, name, step_state_names[next->state]);
    }
    return REPLAY_DIFFERS;
}

bool proving_find_step(const struct proving *proving, const json_t *detail,
                       size_t *step)
{
    int64_t place = detail_integer(detail, "step", -1);

    *step = (size_t)place;
    return place >= 0 && *step < proving->workflow->step_count;
}
