/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/steps/cache_facts.h"

/*
 * Jobs whose step has `cache`. Before its first attempt such a job leaves the
 * ready ones for the list `asked`, until it is known whether there is a result
 * that stands for its own. When its last attempt has ended well, its end waits
 * until the files that it made are hashed.
 */

static const struct cache_rule *rule_of(const struct engine *engine,
                                        const struct job *job)
{
    const struct cache_rule *rule;

    if (job->step < 0)
        return NULL;
    rule = &engine->run->workflow->steps[job->step].cache;
    return rule->is_on ? rule : NULL;
}

static void take_result(struct engine *engine, struct job *job,
                        const struct cache_answer *answer)
{
    engine_leave_asked(engine, job);
    job->outputs = json_deep_copy(answer->outputs);
    json_object_del(job->outputs, CACHE_NOTE);
    job->cached_from = answer->job;
    job->end = (struct attempt_exit){.cause = CAUSE_OK, .exit_code = -1};
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    if (engine_change_trial(engine, job, EVENT_REUSED,
                            attempt_cause_names[CAUSE_OK]))
        engine_tally_ended(engine, job, false);
}

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
static char *explain_miss(struct engine *engine, const struct job *job,
                          const json_t *parts)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct step *step = &workflow->steps[job->step];
    struct comparison comparison = {.parts = parts};
    const struct cached_step of = {workflow->path, step->name, job->copy};

    if (step->cache.is_forced)
        return mem_copy_string("--force");
    if (job->copy < COMPARED_COPIES)
        store_last_cached(engine->store, &of, compare, &comparison, NULL);
    return comparison.text != NULL
               ? comparison.text
               : mem_copy_string("no earlier result of this step");
}

static void keep_miss(struct engine *engine, struct job *job,
                      const struct cache_answer *answer)
{
    char *why = answer->text[0] != '\0'
                    ? mem_copy_string(answer->text)
                    : explain_miss(engine, job, answer->parts);

    free(job->cache_note);
    job->cache_note = mem_printf(
        "%s: %s", answer->key != NULL ? "cache miss" : "it cannot be cached",
        why);
    json_decref(job->cache_parts);
    job->cache_parts = json_incref(answer->parts);
    LOG(engine->log, LOG_ENGINE, answer->key != NULL ? LOG_INFO : LOG_WARNING,
        job->number, "%s", job->cache_note);
    free(why);
}

static void on_answer(void *owner, void *user,
                      const struct cache_answer *answer)
{
    struct engine *engine = owner;
    struct job *job = user;

    if (answer->key != NULL)
        job->cache_key = mem_copy_string(answer->key);
    if (answer->job != 0) {
        take_result(engine, job, answer);
        return;
    }
    keep_miss(engine, job, answer);
    engine_take_back(engine, job);
}

/* Both ask about the same. -1 where that cannot be said. */
static int describe(struct engine *engine, const struct job *job,
                    struct cache_facts *facts, struct cache_subject *subject)
{
    if (cache_facts_init(facts, engine->steps, job, engine->site.environment,
                         NULL) != 0)
        return -1;
    *subject = (struct cache_subject){
        .facts = facts->facts,
        .work_directory = facts->work_directory != NULL
                              ? facts->work_directory
                              : engine->site.work_directory,
        .inputs = (const char *const *)facts->inputs,
        .input_count = facts->input_count,
        .allows_empty = engine->run->workflow->steps[job->step].allows_empty,
    };
    return 0;
}

bool engine_cache_ask(struct engine *engine, struct job *job)
{
    const struct cache_rule *rule = rule_of(engine, job);
    struct cache_subject subject;
    struct cache_facts facts;
    int64_t since_ms = 0;

    if (rule == NULL || job->was_asked || job->attempt_number > 0)
        return false;
    job->was_asked = true;
    if (describe(engine, job, &facts, &subject) != 0)
        return false; /* it will fail for the same reason */
    if (rule->expire_ms > 0)
        since_ms = clock_wall_ms() - rule->expire_ms;
    if (rule->is_forced)
        since_ms = INT64_MAX;
    cache_find(engine->cache, &subject, since_ms, on_answer, job);
    cache_facts_clear(&facts);
    engine_set_aside(engine, job);
    return true;
}

void engine_cache_give_up(struct engine *engine)
{
    struct job *job;

    while ((job = TAILQ_FIRST(&engine->queues.asked)) != NULL) {
        cache_forget(engine->cache, job);
        sharing_forget(engine->sharing, job);
        engine_take_back(engine, job);
    }
}

/* What its outputs have beside what it made. */
static void keep_findings(struct job *job)
{
    if (job->outputs == NULL)
        job->outputs = json_object();
    if (job->cache_note != NULL)
        json_object_set_new(job->outputs,
                            job->cache_key != NULL ? CACHE_NOTE : CACHE_WARNING,
                            json_from_text(job->cache_note));
    if (job->cache_key != NULL && job->cache_parts != NULL)
        json_object_set(job->outputs, CACHE_PARTS, job->cache_parts);
}

static void on_sealed(void *owner, void *user, json_t *hashes, const char *text)
{
    struct job *job = user;
    char *warning;

    job->seal = SEAL_DONE;
    if (hashes != NULL) {
        json_object_set(job->outputs, CACHE_HASHES, hashes);
    } else {
        warning = mem_printf("its result will not be reused: %s", text);
        json_object_set_new(job->outputs, CACHE_WARNING,
                            json_from_text(warning));
        free(warning);
    }
    engine_read_first(owner, job);
}

bool engine_cache_seal(struct engine *engine, struct job *job)
{
    const struct step *step;
    struct cache_subject subject;
    struct cache_facts facts;
    const char **files;
    size_t count = 0;

    if (rule_of(engine, job) == NULL)
        return false;
    keep_findings(job);
    if (job->cache_key == NULL || describe(engine, job, &facts, &subject) != 0)
        return false;
    step = &engine->run->workflow->steps[job->step];
    files = mem_array(step->output_count, sizeof(*files));
    for (size_t i = 0; i < step->output_count; i++) {
        if (step->outputs[i].kind == OUTPUT_FILE)
            files[count++] = step->outputs[i].name;
    }
    job->seal = SEAL_WAITS;
    cache_seal(engine->cache, &subject, job->cache_key,
               &(struct cache_made){job->outputs, files, count}, on_sealed,
               job);
    free(files);
    cache_facts_clear(&facts);
    return true;
}
