/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each step with temporary outputs has a map by path: [hash, copy, whether it
 * was missing]. So one path costs a look-up for each step that may be used, and
 * not for each of their copies.
 */
#include "orchestrator/steps/temp_results.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/steps/cache.h"

struct temp_results {
    const struct workflow *workflow;
    json_t **paths;    /* [step_count] NULL: none */
    bool *has_missing; /* [step_count] some of them were */
};

enum { AT_HASH, AT_COPY, AT_MISSING };

struct temp_results *temp_results_create(const struct workflow *workflow)
{
    struct temp_results *temps;
    bool has_any = false;

    for (size_t i = 0; i < workflow->step_count; i++)
        has_any |= workflow->steps[i].has_temps;
    if (!has_any)
        return NULL;
    temps = mem_zero(sizeof(*temps));
    temps->workflow = workflow;
    temps->paths = mem_array(workflow->step_count, sizeof(json_t *));
    temps->has_missing = mem_array(workflow->step_count, sizeof(bool));
    return temps;
}

void temp_results_destroy(struct temp_results *temps)
{
    if (temps == NULL)
        return;
    for (size_t i = 0; i < temps->workflow->step_count; i++)
        json_decref(temps->paths[i]);
    free(temps->paths);
    free(temps->has_missing);
    free(temps);
}

/* ---- what it is told ---- */

void temp_results_forget(struct temp_results *temps, size_t step)
{
    if (temps == NULL)
        return;
    json_decref(temps->paths[step]);
    temps->paths[step] = NULL;
    temps->has_missing[step] = false;
}

static void forget_copy(json_t *paths, int64_t copy)
{
    const char *path;
    json_t *entry;
    void *next;

    json_object_foreach_safe(paths, next, path, entry)
    {
        if (json_integer_value(json_array_get(entry, AT_COPY)) == copy)
            json_object_del(paths, path);
    }
}

static bool is_among(const json_t *names, const char *name)
{
    const char *other;

    for (size_t i = 0; i < json_array_size(names); i++) {
        other = json_string_value(json_array_get(names, i));
        if (other != NULL && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static void add(struct temp_results *temps, size_t step, int64_t copy,
                const char *name, const json_t *outputs)
{
    const char *path = json_string_value(json_object_get(outputs, name));
    json_t *hash =
        json_object_get(json_object_get(outputs, CACHE_HASHES), name);
    bool was_missing = is_among(json_object_get(outputs, CACHE_MISSING), name);
    json_t *entry;

    if (path == NULL)
        return;
    entry = json_array();
    json_array_append_new(entry, json_is_string(hash) ? json_incref(hash)
                                                      : json_null());
    json_array_append_new(entry, json_integer((json_int_t)copy));
    json_array_append_new(entry, json_boolean(was_missing));
    json_object_set_new(temps->paths[step], path, entry);
    temps->has_missing[step] |= was_missing;
}

void temp_results_set(struct temp_results *temps, size_t step, int64_t copy,
                      const json_t *outputs)
{
    const struct step *its;

    if (temps == NULL || !temps->workflow->steps[step].has_temps)
        return;
    its = &temps->workflow->steps[step];
    if (temps->paths[step] == NULL)
        temps->paths[step] = json_object();
    if (outputs == NULL)
        forget_copy(temps->paths[step], copy);
    for (size_t i = 0; i < its->output_count; i++)
        if (its->outputs[i].is_temp)
            add(temps, step, copy, its->outputs[i].name, outputs);
}

/* ---- what it is asked ---- */

struct search {
    const struct temp_results *temps;
    const char *path; /* that is looked for */
    const char *hash;
    struct temp_missing missing;
};

/* Whether a step has what is looked for. */
typedef bool look_fn(struct search *search, size_t step);

/* Asks the steps whose outputs a step may use: as workflow_mark_users(). */
static bool ask_used(struct search *search, size_t step, look_fn *look)
{
    const struct workflow *workflow = search->temps->workflow;
    const struct flow_step *flow = &workflow->flow_steps[step];

    for (size_t i = 0; i < flow->need_count; i++) {
        bool is_join = workflow->steps[flow->needs[i]].kind == STEP_JOIN;

        if (is_join ? ask_used(search, flow->needs[i], look)
                    : look(search, flow->needs[i]))
            return true;
    }
    for (size_t i = 0; i < flow->read_count; i++)
        if (look(search, flow->reads[i]))
            return true;
    return false;
}

static bool look_for_hash(struct search *search, size_t step)
{
    const json_t *entry =
        json_object_get(search->temps->paths[step], search->path);

    search->hash = json_string_value(json_array_get(entry, AT_HASH));
    return search->hash != NULL;
}

const char *temp_results_hash(const struct temp_results *temps, size_t step,
                              const char *path)
{
    struct search search = {.temps = temps, .path = path};

    return temps != NULL && ask_used(&search, step, look_for_hash) ? search.hash
                                                                   : NULL;
}

static bool look_for_missing(struct search *search, size_t step)
{
    const char *path;
    json_t *entry;

    if (!search->temps->has_missing[step])
        return false;
    json_object_foreach(search->temps->paths[step], path, entry)
    {
        if (json_is_true(json_array_get(entry, AT_MISSING)) &&
            !fs_exists(path)) {
            search->missing = (struct temp_missing){step, path};
            return true;
        }
    }
    return false;
}

bool temp_results_find_missing(const struct temp_results *temps, size_t step,
                               struct temp_missing *missing)
{
    struct search search = {.temps = temps};

    if (temps == NULL || !ask_used(&search, step, look_for_missing))
        return false;
    *missing = search.missing;
    return true;
}
