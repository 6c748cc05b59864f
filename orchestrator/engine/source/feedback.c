/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/feedback.h"

void feedback_give(struct engine *engine, const struct feedback_item *item,
                   struct verdict *verdict)
{
    feedback_tell(engine->strategy, engine->scheduler, engine->experiment, item,
                  verdict);
    if (engine->convergence != NULL)
        feedback_tell_convergence(engine->convergence, engine->experiment,
                                  item);
}
