/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "orchestrator/experiment.h"
#include "strategies/strategy.h"

struct plan {
    struct experiment *experiment;
    struct strategy *strategy;
    struct space_volume volume;
    struct value *point;
    struct buf command; /* of the trial being shown */
};

static bool is_plain_word(const char *word)
{
    return *word != '\0' &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-+=:,./@%") == strlen(word);
}

/* As it could be typed into a shell. */
static void print_word(const char *word, struct buf *out)
{
    if (is_plain_word(word)) {
        buf_add_string(out, word);
        return;
    }
    buf_add_char(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            buf_add_string(out, "'\\''");
        else
            buf_add_char(out, *word);
    }
    buf_add_char(out, '\'');
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
        print_word(words[i], &plan->command);
    }
    template_free_words(words);
    return 0;
}

static int describe_trial(struct plan *plan, int64_t number, struct err *err)
{
    const struct experiment *experiment = plan->experiment;
    size_t count = space_count(experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));
    char *directory =
        mem_printf("runs/%s/trials/%" PRId64, experiment->name, number);
    char *checkpoints = mem_printf("%s/checkpoints", directory);
    int result;

    memcpy(values, plan->point, count * sizeof(*values));
    values[count + EXTRA_TRIAL] = value_int(number);
    values[count + EXTRA_RUN] = value_text(experiment->name);
    values[count + EXTRA_DIR] = value_text(directory);
    values[count + EXTRA_CHECKPOINT_DIR] = value_text(checkpoints);
    result = print_command(plan, values, err);
    free(values);
    free(directory);
    free(checkpoints);
    return result;
}

/* Trial `number` into plan->point and plan->command. As strategy_ask. */
static enum ask_result next_trial(struct plan *plan, int64_t number,
                                  struct err *err)
{
    uint64_t cursor;
    enum ask_result result = strategy_ask(plan->strategy, (uint64_t)number,
                                          plan->point, &cursor, err);

    if (result == ASK_OK && describe_trial(plan, number, err) != 0)
        return ASK_ERROR;
    return result;
}

/* -- For people -----------------------------------------------------------*/

static void print_space(const struct plan *plan)
{
    const struct space_volume *volume = &plan->volume;
    const struct space *space = plan->experiment->space;
    uint64_t points = space_cardinality(space);

    printf("space     %zu parameters", space_count(space));
    if (volume->exact)
        printf(", %" PRIu64 " settings in all", volume->points);
    else if (points > 0)
        printf(", at most %" PRIu64 " settings", points);
    if (volume->fraction < 1.0)
        printf(", %s%.3g %% of them feasible", volume->exact ? "" : "about ",
               100.0 * volume->fraction);
    printf("\n");
}

static void print_budget(const struct experiment *experiment)
{
    const struct budget *budget = &experiment->budget;
    char text[32];

    printf("budget    ");
    if (budget->trials > 0)
        printf("%" PRId64 " trials", budget->trials);
    else
        printf("any number of trials");
    if (budget->parallel > 0)
        printf(", %" PRId64 " at a time", budget->parallel);
    if (budget->time_ms > 0) {
        units_format_duration(budget->time_ms, text, sizeof(text));
        printf(", at most %s", text);
    }
    if (budget->has_target)
        printf(", until %s is %g", experiment->objectives[0].metric,
               budget->target);
    if (budget->no_improvement > 0)
        printf(", until %" PRId64 " trials in a row are no better",
               budget->no_improvement);
    printf("\n");
}

static void print_resources(const struct experiment *experiment)
{
    const struct resources *resources = &experiment->resources;
    char text[32];

    printf("trial     %s executor", experiment->executor.name);
    if (resources->cpus > 0)
        printf(", %d CPUs", resources->cpus);
    if (resources->gpus > 0)
        printf(", %d GPUs", resources->gpus);
    if (resources->memory_bytes > 0) {
        units_format_bytes(resources->memory_bytes, text, sizeof(text));
        printf(", at most %s of memory", text);
    }
    if (resources->time_ms > 0) {
        units_format_duration(resources->time_ms, text, sizeof(text));
        printf(", at most %s", text);
    }
    printf("\n");
}

static int print_text(struct plan *plan, int64_t shown, struct err *err)
{
    const struct experiment *experiment = plan->experiment;
    enum ask_result result = ASK_OK;

    printf("plan for  %s\n", experiment->name);
    for (size_t i = 0; i < experiment->objective_count; i++)
        printf("goal      %s %s\n",
               experiment->objectives[i].maximize ? "maximize" : "minimize",
               experiment->objectives[i].metric);
    printf("search    %s, seed %" PRIu64 " (%s)\n",
           strategy_method(plan->strategy), experiment->search.seed,
           strategy_reason(plan->strategy));
    print_budget(experiment);
    print_space(plan);
    print_resources(experiment);
    for (int64_t i = 1; i <= shown && result == ASK_OK; i++) {
        result = next_trial(plan, i, err);
        if (result == ASK_OK)
            printf("%s%6" PRId64 "  %s\n", i == 1 ? "first trials\n" : "", i,
                   buf_text(&plan->command));
    }
    return result == ASK_ERROR ? -1 : 0;
}

/* -- For programs ---------------------------------------------------------*/

static json_t *limit_json(int64_t limit)
{
    return limit > 0 ? json_integer(limit) : json_null();
}

static json_t *trial_json(const struct plan *plan, int64_t number)
{
    const struct space *space = plan->experiment->space;
    json_t *params = json_object();

    for (size_t i = 0; i < space_count(space); i++) {
        if (plan->point[i].type != VALUE_NULL)
            json_object_set_new(params, space_param(space, i)->name,
                                json_from_value(&plan->point[i]));
    }
    return json_pack("{s:I, s:o, s:o}", "id", (json_int_t)number, "params",
                     params, "command",
                     json_from_text(buf_text(&plan->command)));
}

static int print_json(struct plan *plan, int64_t shown, struct err *err)
{
    const struct experiment *experiment = plan->experiment;
    json_t *first = json_array();
    struct buf text = BUF_INIT;
    enum ask_result result = ASK_OK;
    json_t *json;

    for (int64_t i = 1; i <= shown && result == ASK_OK; i++) {
        result = next_trial(plan, i, err);
        if (result == ASK_OK)
            json_array_append_new(first, trial_json(plan, i));
    }
    json = json_pack("{s:s, s:o, s:o, s:{s:s, s:s, s:I}, s:{s:f, s:b}, s:o}",
                     "name", experiment->name, "trials",
                     limit_json(experiment->budget.trials), "parallel",
                     limit_json(experiment->budget.parallel), "search",
                     "method", strategy_method(plan->strategy), "reason",
                     strategy_reason(plan->strategy), "seed",
                     (json_int_t)experiment->search.seed, "volume", "fraction",
                     plan->volume.fraction, "exact", (int)plan->volume.exact,
                     "first", first);
    json_print_pretty(json, &text);
    fputs(buf_text(&text), stdout);
    json_decref(json);
    buf_clear(&text);
    return result == ASK_ERROR ? -1 : 0;
}

int plan_print(const struct cli *cli, struct experiment *experiment,
               int64_t shown, struct err *err)
{
    struct plan plan = {.experiment = experiment};
    int result = -1;

    plan.point = mem_array(space_count(experiment->space), sizeof(*plan.point));
    plan.strategy =
        strategy_create(&experiment->search, experiment->space, err);
    if (plan.strategy != NULL &&
        space_estimate_volume(experiment->space, &plan.volume, err) == 0)
        result = cli->output == OUTPUT_TABLE ? print_text(&plan, shown, err)
                                             : print_json(&plan, shown, err);
    strategy_destroy(plan.strategy);
    free(plan.point);
    buf_clear(&plan.command);
    return result;
}
