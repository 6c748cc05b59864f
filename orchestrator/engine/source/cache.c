/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/source/cached.h"
#include "orchestrator/engine/source/flow_jobs.h"
#include "orchestrator/engine/source/foresee.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/child_facts.h"
#include "orchestrator/steps/child_run.h"

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

static void on_answer(void *owner, void *user,
                      const struct cache_answer *answer)
{
    struct engine *engine = owner;
    struct job *job = user;

    free(job->cache_key);
    job->cache_key = mem_copy_string(answer->key);
    json_decref(job->cache_parts);
    job->cache_parts = json_incref(answer->parts);
    if (answer->lacks_temps) {
        engine_hold(engine, job, answer);
    } else if (answer->job != 0) {
        engine_leave_asked(engine, job);
        engine_take_result(engine, job, answer->job, answer->outputs);
    } else {
        engine_note_miss(
            engine, job,
            cache_ask_why(engine->store, engine->run->workflow, job, answer));
        engine_take_back(engine, job);
    }
}

bool engine_cache_ask(struct engine *engine, struct job *job)
{
    const struct cache_rule *rule = rule_of(engine, job);
    struct cache_subject subject;
    struct cache_facts facts;

    if (rule == NULL || job->was_asked || job->attempt_number > 0)
        return false;
    job->was_asked = true;
    if (cache_ask_about(engine->steps, job, engine->site.environment, &facts,
                        &subject, NULL) != 0)
        return false; /* it will fail for the same reason */
    cache_find(engine->cache, &subject, cache_ask_since(rule, job), on_answer,
               job);
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

static void keep_warning(struct job *job, const char *text)
{
    char *warning = mem_printf("its result will not be reused: %s", text);

    json_object_set_new(job->outputs, CACHE_WARNING, json_from_text(warning));
    free(warning);
}

static void on_sealed(void *owner, void *user, json_t *hashes, const char *text)
{
    struct job *job = user;

    job->seal = SEAL_DONE;
    if (hashes != NULL)
        json_object_set(job->outputs, CACHE_HASHES, hashes);
    else
        keep_warning(job, text);
    if (job->attempt_number > 0) {
        engine_read_first(owner, job);
        return;
    }
    engine_leave_asked(owner, job); /* it was touched, and has not run */
    flow_end_at_once(owner, job, EVENT_REUSED, FLOW_ACCEPTED);
}

/* Names of its outputs that are paths: [*count], the caller frees. */
static const char **list_files(const struct step *step, const struct job *job,
                               size_t *count)
{
    const char **files = mem_array(step->output_count + 1, sizeof(*files));

    *count = 0;
    for (size_t i = 0; i < step->output_count; i++) {
        if (step->outputs[i].kind == OUTPUT_FILE)
            files[(*count)++] = step->outputs[i].name;
    }
    if (step->kind == STEP_EXPERIMENT &&
        json_is_string(json_object_get(job->outputs, BEST_CHECKPOINT)))
        files[(*count)++] = BEST_CHECKPOINT;
    return files;
}

/* Whether somebody had a hand in the child run, so that its result is not that
 * of the key. */
static bool was_changed(struct engine *engine, struct job *job,
                        const struct step *step)
{
    const char *run =
        json_string_value(json_object_get(job->outputs, CHILD_NAME));
    char *change;

    if (step->kind != STEP_EXPERIMENT || run == NULL)
        return false;
    change = child_facts_find_change(engine->store, run);
    if (change != NULL)
        keep_warning(job, change);
    free(change);
    return change != NULL;
}

bool engine_cache_seal(struct engine *engine, struct job *job)
{
    const struct step *step;
    struct cache_subject subject;
    struct cache_facts facts;
    struct err err = {0};
    const char **files;
    size_t count;

    if (rule_of(engine, job) == NULL)
        return false;
    keep_findings(job);
    step = &engine->run->workflow->steps[job->step];
    if (job->cache_key == NULL || was_changed(engine, job, step))
        return false;
    if (cache_ask_about(engine->steps, job, engine->site.environment, &facts,
                        &subject, &err) != 0) {
        keep_warning(job, err.text);
        return false;
    }
    if (job->attempt_number == 0) {
        cache_ask_about_last(engine->steps, job, &facts);
        subject.known = facts.known;
    }
    files = list_files(step, job, &count);
    job->seal = SEAL_WAITS;
    cache_seal(engine->cache, &subject, job->cache_key,
               &(struct cache_made){job->outputs, files, count}, on_sealed,
               job);
    free(files);
    cache_facts_clear(&facts);
    return true;
}
