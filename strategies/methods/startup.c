/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/methods/startup.h"

#include <stdlib.h>

#include "base/mem.h"

enum { TRIES = 1000 };

struct startup {
    void *sobol;
};

struct startup *startup_create(const struct strategy_options *options,
                               struct space *space, struct err *err)
{
    struct startup *startup = mem_zero(sizeof(*startup));

    startup->sobol = strategy_method_sobol.create(options, space, err);
    if (startup->sobol == NULL) {
        free(startup);
        return NULL;
    }
    return startup;
}

void startup_destroy(struct startup *startup)
{
    if (startup == NULL)
        return;
    strategy_method_sobol.destroy(startup->sobol);
    free(startup);
}

enum ask_result startup_next(struct startup *startup, struct ask *ask,
                             struct err *err)
{
    ask->reason->step = "startup";
    for (int i = 0; i < TRIES; i++) {
        enum ask_result result =
            strategy_method_sobol.next(startup->sobol, ask, err);

        if (result != ASK_OK || ask_accepts(ask, ask->point))
            return result;
    }
    return ASK_EXHAUSTED;
}
