/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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
        .is_child = step->kind == STEP_EXPERIMENT,
    };
    return 0;
}

int64_t cache_ask_since(const struct cache_rule *rule)
{
    if (rule->is_forced)
        return INT64_MAX;
    return rule->expire_ms > 0 ? clock_wall_ms() - rule->expire_ms : 0;
}

/* ---- why ---- */

enum { COMPARED_COPIES = 64 }; /* of a step: each takes a query */

struct comparison {
    const json_t *parts;
    char *text;
};

static int compare(void *user, const struct cached_row *row)
{
    struct comparison *comparison = user;
    json_t *outputs = row->outputs != NULL
                          ? json_parse(row->outputs, strlen(row->outputs), NULL)
                          : NULL;
    char *difference = cache_difference(comparison->parts,
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
