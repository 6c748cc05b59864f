/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"

int cache_ask_about(struct steps *steps, const struct job *job,
                    char *const *environment, struct cache_facts *facts,
                    struct cache_subject *subject, struct err *err)
{
    const struct step *step = &steps->workflow->steps[job->step];

    if (cache_facts_init(facts, steps, job, environment, err) != 0)
        return -1;
    *subject = (struct cache_subject){
        .facts = facts->facts,
        .work_directory = facts->work_directory != NULL
                              ? facts->work_directory
                              : steps->run->work_directory,
        .inputs = (const char *const *)facts->inputs,
        .input_count = facts->input_count,
        .allows_empty = step->allows_empty,
        .known = facts->known,
        .temps = facts->temps,
        .temp_count = facts->temp_count,
        .is_child = step->kind == STEP_EXPERIMENT,
    };
    return 0;
}

int64_t cache_ask_since(const struct cache_rule *rule, const struct job *job)
{
    if (rule->is_forced || job->runs_again)
        return INT64_MAX;
    return rule->expire_ms > 0 ? clock_wall_ms() - rule->expire_ms : 0;
}

/* The caller's; NULL: it has none. */
static json_t *parse_outputs(const struct cached_row *row)
{
    return row->outputs != NULL
               ? json_parse(row->outputs, strlen(row->outputs), NULL)
               : NULL;
}

/* ---- what was touched ---- */

struct touching {
    const json_t *outputs; /* of the job */
    json_t *missing;       /* names of its temporary ones that are missing */
    struct cache_facts *facts;
};

static int on_last(void *user, const struct cached_row *row)
{
    struct touching *touching = user;
    json_t *outputs = parse_outputs(row);
    json_t *hashes = json_object_get(outputs, CACHE_HASHES);

    for (size_t i = 0; i < json_array_size(touching->missing); i++) {
        const char *name =
            json_string_value(json_array_get(touching->missing, i));
        json_t *path = json_object_get(touching->outputs, name);
        json_t *hash = json_object_get(hashes, name);

        if (json_is_string(hash) &&
            json_equal(path, json_object_get(outputs, name)))
            json_object_set(touching->facts->known, json_string_value(path),
                            hash);
    }
    json_decref(outputs);
    return 0;
}

void cache_ask_about_last(struct steps *steps, struct job *job,
                          struct cache_facts *facts)
{
    const struct workflow *workflow = steps->workflow;
    const struct cached_step of = {workflow->path,
                                   workflow->steps[job->step].name, job->copy};
    struct touching touching = {job->outputs, json_array(), facts};

    for (size_t i = 0; i < facts->temp_count; i++) {
        const char *path =
            json_string_value(json_object_get(job->outputs, facts->temps[i]));

        if (path != NULL && !fs_exists(path))
            json_array_append_new(touching.missing,
                                  json_string(facts->temps[i]));
    }
    if (json_array_size(touching.missing) > 0) {
        if (facts->known == NULL)
            facts->known = json_object();
        store_last_cached(steps->run->store, &of, on_last, &touching, NULL);
        json_object_set(job->outputs, CACHE_MISSING, touching.missing);
    }
    json_decref(touching.missing);
}

/* ---- why ---- */

enum { COMPARED_COPIES = 64 }; /* of a step: each takes a query */

enum { DIFFERENCES_SHOWN = 3 };

/* What differs between the parts of two keys, "command, input 'a.csv'"; "":
 * nothing. */
static char *find_difference(const json_t *parts, const json_t *before)
{
    struct buf out = BUF_INIT;
    const char *name;
    json_t *part;
    int count = 0;

    json_object_foreach((json_t *)(uintptr_t)parts, name, part)
    {
        if (!json_equal(part, json_object_get(before, name)) &&
            count++ < DIFFERENCES_SHOWN)
            buf_printf(&out, "%s%s", count > 1 ? ", " : "", name);
    }
    json_object_foreach((json_t *)(uintptr_t)before, name, part)
    {
        if (json_object_get(parts, name) == NULL && count++ < DIFFERENCES_SHOWN)
            buf_printf(&out, "%s%s", count > 1 ? ", " : "", name);
    }
    if (count > DIFFERENCES_SHOWN)
        buf_printf(&out, " and %d more", count - DIFFERENCES_SHOWN);
    return buf_take(&out);
}

struct comparison {
    const json_t *parts;
    char *text;
};

static int compare(void *user, const struct cached_row *row)
{
    struct comparison *comparison = user;
    json_t *outputs = parse_outputs(row);
    char *difference = find_difference(comparison->parts,
                                       json_object_get(outputs, CACHE_PARTS));

    if (json_object_get(outputs, CACHE_HASHES) == NULL)
        comparison->text =
            mem_printf("the result of job %" PRId64 " of run '%s' is not to "
                       "be reused",
                       row->number, row->run);
    else if (difference[0] == '\0')
        comparison->text =
            mem_printf("the result of job %" PRId64 " of run '%s' is too old",
                       row->number, row->run);
    else
        comparison->text =
            mem_printf("changed since job %" PRId64 " of run '%s': %s",
                       row->number, row->run, difference);
    free(difference);
    json_decref(outputs);
    return 0;
}

/* Why there is no result for a job with these parts of a key. */
static char *explain_miss(struct store *store, const struct workflow *workflow,
                          const struct job *job, const json_t *parts)
{
    const struct step *step = &workflow->steps[job->step];
    struct comparison comparison = {.parts = parts};
    const struct cached_step of = {workflow->path, step->name, job->copy};

    if (step->cache.is_forced)
        return mem_copy_string("--force");
    if (job->runs_again)
        return mem_copy_string("a retry runs it again");
    if (job->copy < COMPARED_COPIES && store != NULL)
        store_last_cached(store, &of, compare, &comparison, NULL);
    return comparison.text != NULL
               ? comparison.text
               : mem_copy_string("no earlier result of this step");
}

char *cache_ask_why(struct store *store, const struct workflow *workflow,
                    const struct job *job, const struct cache_answer *answer)
{
    char *why = answer->text[0] != '\0'
                    ? mem_copy_string(answer->text)
                    : explain_miss(store, workflow, job, answer->parts);
    char *text = mem_printf(
        "%s: %s", answer->key != NULL ? "cache miss" : "it cannot be cached",
        why);

    free(why);
    return text;
}

char *cache_ask_why_missing(const char *source, const char *needed_by)
{
    if (needed_by == NULL)
        return mem_printf("cache miss: the temporary output of %s is missing, "
                          "and a later step may need it",
                          source);
    return mem_printf("cache miss: the temporary output of %s is missing, and "
                      "step '%s' may need it",
                      source, needed_by);
}
