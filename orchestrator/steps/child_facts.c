/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/child_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/search/warm_start.h"
#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/steps/child_run.h"
#include "orchestrator/steps/image_facts.h"

/*
 * The file is read as the child run will read it, with the same words. Whatever
 * stands in the file is in the key by the file's hash; what is looked for here
 * is what the file only names.
 */

/* ---- what its file names ---- */

static int read_file(const struct step *step, char *const *words,
                     struct spec *spec, struct err *err)
{
    struct diags *diags = diags_create(step->file);
    struct experiment_source source = {
        .path = step->file,
        .assignments = (const char *const *)words,
    };
    int result;

    while (words[source.assignment_count] != NULL)
        source.assignment_count++;
    result = spec_load(spec, &source, diags, err);
    if (result != 0 && diags_count(diags) > 0)
        diags_to_err(diags, err);
    diags_destroy(diags);
    return result;
}

static int add_warm_start(const struct experiment *experiment,
                          struct store *store, json_t *facts, struct err *err)
{
    char hex[DIGEST_HEX_SIZE];
    struct warm_start *warm;

    if (experiment->earlier_run_count == 0 || store == NULL)
        return 0;
    warm = warm_start_read(store, experiment, err);
    if (warm == NULL)
        return -1;
    warm_start_digest(warm, hex);
    json_object_set_new(facts, "warm_start", json_string(hex));
    warm_start_destroy(warm);
    return 0;
}

/* One that depends on a trial's values is known by the file alone. */
static int add_image(const struct job_spec *task, json_t *facts,
                     struct err *err)
{
    json_t *container;
    char *image;

    if (task->container.image == NULL ||
        strstr(template_source(task->container.image), "${{") != NULL)
        return 0;
    if (container_expand_image(task, NULL, &image, err) != 0)
        return -1;
    container = json_object();
    image_facts_add(image, container);
    json_object_set_new(facts, "container", container);
    free(image);
    return 0;
}

static int add_named(const struct experiment *experiment, struct store *store,
                     json_t *facts, struct word_list *inputs, struct err *err)
{
    const struct job_spec *task = &experiment->task;

    for (size_t i = 0; i < task->file_count; i++) {
        if (task->files[i].from != NULL)
            word_list_add(inputs, mem_copy_string(task->files[i].from));
    }
    if (add_image(task, facts, err) != 0)
        return -1;
    return add_warm_start(experiment, store, facts, err);
}

int child_facts_add(const struct step *step, const struct value *values,
                    struct store *store, json_t *facts,
                    struct word_list *inputs, struct err *err)
{
    char **words = child_run_settings(step, values, err);
    json_t *with = json_array();
    struct spec spec = {0};
    int result = words != NULL ? 0 : -1;

    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(with, json_from_text(words[i]));
    json_object_set_new(facts, "with", with);
    json_object_set_new(facts, "experiment", json_from_text(step->file));
    word_list_add(inputs, mem_copy_string(step->file));
    if (result == 0)
        result = read_file(step, words, &spec, err);
    if (result == 0)
        result = add_named(spec.experiment, store, facts, inputs, err);
    spec_clear(&spec);
    words_free(words);
    return result;
}

/* ---- what became of its run ---- */

struct child {
    int64_t parent_job;
    char *change; /* what somebody did to it; NULL: nothing */
};

static int look_at(void *user, const struct run_row *row)
{
    struct child *child = user;
    struct budget_change given = budget_change_of(row);

    child->parent_job = row->parent_job;
    if (row->edited_spec[0] != '\0')
        child->change = mem_printf("run '%s' was edited", row->name);
    else if (budget_change_is_any(&given))
        child->change =
            mem_printf("the budget of run '%s' was changed", row->name);
    return 0;
}

static int note_enqueued(void *user, const struct enqueued_row *row)
{
    struct child *child = user;

    (void)row;
    if (child->change == NULL)
        child->change = mem_copy_string("settings were enqueued in its run");
    return 0;
}

static int read_run(struct store *store, const char *name, struct child *child)
{
    int64_t run;

    if (store_find_run(store, name, &run, NULL) != 0 ||
        store_get_run_uncounted(store, run, look_at, child, NULL) != 0)
        return -1;
    return store_each_enqueued(store, run, note_enqueued, child, NULL);
}

char *child_facts_find_change(struct store *store, const char *name)
{
    struct child child = {0};

    if (read_run(store, name, &child) != 0 && child.change == NULL)
        child.change = mem_printf("run '%s' cannot be read", name);
    return child.change;
}

bool child_facts_has_run(struct store *store, const char *name, int64_t job)
{
    struct child child = {0};
    int64_t run;
    bool is_there =
        store_find_run(store, name, &run, NULL) == 0 &&
        store_get_run_uncounted(store, run, look_at, &child, NULL) == 0;

    free(child.change);
    return is_there && child.parent_job == job;
}
