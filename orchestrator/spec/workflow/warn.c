/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/command/warn.h"
#include "orchestrator/spec/experiment/container_warn.h"
#include "orchestrator/spec/experiment/gpus.h"
#include "orchestrator/spec/experiment/secret_warn.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* What a workflow may say, and its writer can hardly have meant. */

/* What templates may name: "lr", and of the steps "train.val_loss". */
struct names {
    char **items;
    size_t count, capacity;
};

static void add(struct names *names, char *taken)
{
    names->items = mem_grow(names->items, names->count, &names->capacity,
                            sizeof(*names->items));
    names->items[names->count++] = taken;
}

static void take_back(struct names *names, size_t count)
{
    while (names->count > count)
        free(names->items[--names->count]);
}

static void add_results(struct names *names, const struct step *step)
{
    for (size_t i = 0; i < step->result_count; i++)
        add(names, mem_printf("%s.%s", step->name, step->results[i].name));
}

/* Names of what a step is itself are too common to be meant: {dir}, {step}. */
static void add_own(struct names *names, const struct step *step)
{
    for (size_t i = 0; i < step->scope.tables[0].column_count; i++)
        if (step->scope.columns[i].kind != COLUMN_OWN)
            add(names, mem_copy_string(step->scope.tables[0].columns[i]));
}

static void check_step(const struct workflow *workflow, const struct step *step,
                       struct names *names, struct diags *warnings)
{
    const struct experiment_file *file =
        (const struct experiment_file *)workflow->common;
    size_t before = names->count;

    if (step->command == NULL)
        return;
    container_warn(&step->task, step->container,
                   workflow_executor(workflow, step), true, warnings);
    add_own(names, step);
    command_warn(
        &(struct command_text){.doc = file->doc,
                               .path = workflow->path,
                               .node = step->command,
                               .environment = step->environment,
                               .workdir = step->workdir,
                               .channels = step->channels,
                               .is_shell = step->task.is_shell,
                               .names = (const char *const *)names->items,
                               .name_count = names->count},
        warnings);
    take_back(names, before);
}

void workflow_warn(const struct workflow *workflow, struct diags *warnings)
{
    const struct experiment_file *file =
        (const struct experiment_file *)workflow->common;
    struct names names = {NULL, 0, 0};
    struct machine_gpus machine = {.was_asked = false};

    diags_set_source(warnings, workflow->source, strlen(workflow->source));
    secret_warn(conf_root(file->doc), warnings);
    for (size_t i = 0; i < workflow->step_count; i++)
        add_results(&names, &workflow->steps[i]);
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *step = &workflow->steps[i];

        check_step(workflow, step, &names, warnings);
        env_file_warn(&step->task, warnings);
        if (step->command != NULL)
            gpus_warn(&step->task, step->resources,
                      workflow_executor(workflow, step), &machine, warnings);
    }
    take_back(&names, 0);
    free(names.items);
}
