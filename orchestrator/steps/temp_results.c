/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One map by path has what each copy made there: most paths that are asked for
 * are no temporary outputs, and cost one look-up. A second map has the paths of
 * each copy, to forget them.
 */
#include "orchestrator/steps/temp_results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/steps/cache.h"

struct temp_results {
    const struct workflow *workflow;
    json_t *made;    /* lists by path: [step, copy, hash, was missing], the
                        newest last */
    json_t **copies; /* [step_count] lists of paths by copy; NULL: none */
    size_t *count;   /* [step_count] all of them */
    size_t *missing; /* [step_count] those that were */
    size_t all_missing;
};

enum { AT_STEP, AT_COPY, AT_HASH, AT_MISSING };

enum { COPY_DIGITS = 24 };

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
    temps->made = json_object();
    temps->copies = mem_array(workflow->step_count, sizeof(json_t *));
    temps->count = mem_array(workflow->step_count, sizeof(size_t));
    temps->missing = mem_array(workflow->step_count, sizeof(size_t));
    return temps;
}

void temp_results_destroy(struct temp_results *temps)
{
    if (temps == NULL)
        return;
    for (size_t i = 0; i < temps->workflow->step_count; i++)
        json_decref(temps->copies[i]);
    json_decref(temps->made);
    free(temps->copies);
    free(temps->count);
    free(temps->missing);
    free(temps);
}

/* ---- what it is told ---- */

static bool is_of(const json_t *entry, size_t step, int64_t copy)
{
    return json_integer_value(json_array_get(entry, AT_STEP)) ==
               (json_int_t)step &&
           json_integer_value(json_array_get(entry, AT_COPY)) == copy;
}

static bool was_missing(const json_t *entry)
{
    return json_is_true(json_array_get(entry, AT_MISSING));
}

static void forget_path(struct temp_results *temps, size_t step, int64_t copy,
                        const char *path)
{
    json_t *list = json_object_get(temps->made, path);

    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *entry = json_array_get(list, i);

        if (!is_of(entry, step, copy))
            continue;
        temps->count[step]--;
        temps->missing[step] -= was_missing(entry);
        temps->all_missing -= was_missing(entry);
        json_array_remove(list, i);
    }
    if (list != NULL && json_array_size(list) == 0)
        json_object_del(temps->made, path);
}

static void forget_paths(struct temp_results *temps, size_t step, int64_t copy,
                         const json_t *paths)
{
    for (size_t i = 0; i < json_array_size(paths); i++)
        forget_path(temps, step, copy,
                    json_string_value(json_array_get(paths, i)));
}

void temp_results_forget(struct temp_results *temps, size_t step)
{
    const char *copy;
    json_t *paths;

    if (temps == NULL)
        return;
    json_object_foreach(temps->copies[step], copy, paths)
    {
        forget_paths(temps, step, strtoll(copy, NULL, 10), paths);
    }
    json_decref(temps->copies[step]);
    temps->copies[step] = NULL;
}

bool temp_results_was_missing(const json_t *outputs, const char *name)
{
    const json_t *names = json_object_get(outputs, CACHE_MISSING);
    const char *other;

    for (size_t i = 0; i < json_array_size(names); i++) {
        other = json_string_value(json_array_get(names, i));
        if (other != NULL && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static void add(struct temp_results *temps, size_t step, int64_t copy,
                const char *name, const json_t *outputs, json_t *paths)
{
    const char *path = json_string_value(json_object_get(outputs, name));
    json_t *hash =
        json_object_get(json_object_get(outputs, CACHE_HASHES), name);
    bool is_missing = temp_results_was_missing(outputs, name);
    json_t *list, *entry;

    if (path == NULL)
        return;
    list = json_object_get(temps->made, path);
    if (list == NULL) {
        list = json_array();
        json_object_set_new(temps->made, path, list);
    }
    entry = json_array();
    json_array_append_new(entry, json_integer((json_int_t)step));
    json_array_append_new(entry, json_integer((json_int_t)copy));
    json_array_append_new(entry, json_is_string(hash) ? json_incref(hash)
                                                      : json_null());
    json_array_append_new(entry, json_boolean(is_missing));
    json_array_append_new(list, entry);
    json_array_append_new(paths, json_string(path));
    temps->count[step]++;
    temps->missing[step] += is_missing;
    temps->all_missing += is_missing;
}

void temp_results_set(struct temp_results *temps, size_t step, int64_t copy,
                      const json_t *outputs)
{
    char number[COPY_DIGITS];
    const struct step *its;
    json_t *paths;

    if (temps == NULL || !temps->workflow->steps[step].has_temps)
        return;
    its = &temps->workflow->steps[step];
    snprintf(number, sizeof(number), "%" PRId64, copy);
    if (temps->copies[step] == NULL)
        temps->copies[step] = json_object();
    forget_paths(temps, step, copy,
                 json_object_get(temps->copies[step], number));
    paths = json_array();
    for (size_t i = 0; i < its->output_count; i++)
        if (its->outputs[i].is_temp)
            add(temps, step, copy, its->outputs[i].name, outputs, paths);
    json_object_set_new(temps->copies[step], number, paths);
}

/* ---- what it is asked ---- */

/* As workflow_mark_users(). */
static bool uses(const struct workflow *workflow, size_t user, size_t step)
{
    const struct flow_step *flow = &workflow->flow_steps[user];

    for (size_t i = 0; i < flow->read_count; i++)
        if (flow->reads[i] == step)
            return true;
    for (size_t i = 0; i < flow->need_count; i++)
        if (flow->needs[i] == step ||
            (workflow->steps[flow->needs[i]].kind == STEP_JOIN &&
             uses(workflow, flow->needs[i], step)))
            return true;
    return false;
}

const char *temp_results_hash(const struct temp_results *temps, size_t step,
                              const char *path)
{
    const json_t *list;

    if (temps == NULL)
        return NULL;
    list = json_object_get(temps->made, path);
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *entry = json_array_get(list, i);
        const char *hash = json_string_value(json_array_get(entry, AT_HASH));
        json_int_t maker = json_integer_value(json_array_get(entry, AT_STEP));

        if (hash != NULL && uses(temps->workflow, step, (size_t)maker))
            return hash;
    }
    return NULL;
}

bool temp_results_has_any(const struct temp_results *temps, size_t step)
{
    return temps != NULL && temps->count[step] > temps->missing[step];
}

static bool is_missing(const struct temp_results *temps, size_t step,
                       const char *path)
{
    const json_t *list = json_object_get(temps->made, path);
    bool was = false;

    for (size_t i = 0; i < json_array_size(list) && !was; i++) {
        const json_t *entry = json_array_get(list, i);

        was = was_missing(entry) &&
              json_integer_value(json_array_get(entry, AT_STEP)) ==
                  (json_int_t)step;
    }
    return was && !fs_exists(path);
}

static bool find_missing(const struct temp_results *temps, size_t step,
                         struct temp_missing *missing)
{
    const char *copy, *path;
    json_t *paths;

    if (temps->missing[step] == 0)
        return false;
    json_object_foreach(temps->copies[step], copy, paths)
    {
        for (size_t i = 0; i < json_array_size(paths); i++) {
            path = json_string_value(json_array_get(paths, i));
            if (is_missing(temps, step, path)) {
                *missing = (struct temp_missing){step, path};
                return true;
            }
        }
    }
    return false;
}

/* Of the steps whose outputs a step may use, as uses() has them. */
static bool find_used(const struct temp_results *temps, size_t user,
                      struct temp_missing *missing)
{
    const struct workflow *workflow = temps->workflow;
    const struct flow_step *flow = &workflow->flow_steps[user];

    for (size_t i = 0; i < flow->need_count; i++) {
        bool is_join = workflow->steps[flow->needs[i]].kind == STEP_JOIN;

        if (is_join ? find_used(temps, flow->needs[i], missing)
                    : find_missing(temps, flow->needs[i], missing))
            return true;
    }
    for (size_t i = 0; i < flow->read_count; i++)
        if (find_missing(temps, flow->reads[i], missing))
            return true;
    return false;
}

bool temp_results_find_missing(const struct temp_results *temps, size_t step,
                               struct temp_missing *missing)
{
    return temps != NULL && temps->all_missing > 0 &&
           find_used(temps, step, missing);
}
