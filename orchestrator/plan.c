/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/template_shell.h"
#include "orchestrator/search.h"
#include "strategies/strategy.h"

struct plan {
    const struct experiment *experiment;
    struct strategy *strategy;
    struct space_volume volume;
    int64_t number; /* of the last trial */
    struct value *point;
    struct buf command;
};

struct plan *plan_create(const struct experiment *experiment,
                         const struct warm_start *warm, struct err *err)
{
    struct plan *plan = mem_zero(sizeof(*plan));

    plan->experiment = experiment;
    plan->point =
        mem_array(space_count(experiment->space), sizeof(*plan->point));
    plan->strategy = search_create(experiment, warm, err);
    if (plan->strategy == NULL ||
        space_estimate_volume(experiment->space, &plan->volume, err) != 0) {
        plan_destroy(plan);
        return NULL;
    }
    return plan;
}

void plan_destroy(struct plan *plan)
{
    if (plan == NULL)
        return;
    strategy_destroy(plan->strategy);
    free(plan->point);
    buf_clear(&plan->command);
    free(plan);
}

const char *plan_method(const struct plan *plan)
{
    return strategy_method(plan->strategy);
}

const char *plan_reason(const struct plan *plan)
{
    return strategy_reason(plan->strategy);
}

const struct space_volume *plan_volume(const struct plan *plan)
{
    return &plan->volume;
}

static int print_command(struct plan *plan, const struct value *values,
                         struct err *err)
{
    const struct experiment *experiment = plan->experiment;
    char **words;

    buf_truncate(&plan->command, 0);
    if (experiment->is_shell)
        return template_expand(experiment->command, values, &plan->command,
                               err);
    words = template_expand_words(experiment->command, values, err);
    if (words == NULL)
        return -1;
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0)
            buf_add_char(&plan->command, ' ');
        shell_add_word(words[i], &plan->command);
    }
    template_free_words(words);
    return 0;
}

/* Folders are named as they would lie in the store. */
static int expand_command(struct plan *plan, struct err *err)
{
    const struct experiment *experiment = plan->experiment;
    const struct schedule *schedule = &experiment->schedule;
    size_t count = space_count(experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));
    char *directory =
        mem_printf("runs/%s/trials/%" PRId64, experiment->name, plan->number);
    char *checkpoints = mem_printf("%s/ml/checkpoints", directory);
    int result;

    memcpy(values, plan->point, count * sizeof(*values));
    values[count + EXTRA_TRIAL] = value_int(plan->number);
    values[count + EXTRA_RUN] = value_text(experiment->name);
    values[count + EXTRA_DIR] = value_text(directory);
    values[count + EXTRA_CHECKPOINT_DIR] = value_text(checkpoints);
    if (schedule->is_on && schedule->options.max != SCHEDULE_NO_MAX)
        values[count + EXTRA_RESOURCE] =
            value_int((int64_t)schedule->options.max);
    result = print_command(plan, values, err);
    free(values);
    free(directory);
    free(checkpoints);
    return result;
}

int plan_next(struct plan *plan, struct plan_trial *trial, struct err *err)
{
    int64_t budget = plan->experiment->budget.trials;

    if (budget > 0 && plan->number >= budget)
        return 0;
    switch (strategy_ask(plan->strategy, (uint64_t)plan->number + 1,
                         plan->point, NULL, err)) {
    case ASK_ERROR:
        return -1;
    case ASK_EXHAUSTED:
        return 0;
    case ASK_OK:
        break;
    }
    plan->number++;
    if (expand_command(plan, err) != 0)
        return -1;
    *trial = (struct plan_trial){.number = plan->number,
                                 .point = plan->point,
                                 .command = buf_text(&plan->command)};
    return 1;
}
