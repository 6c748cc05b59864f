/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/cache.h"

#include <stdlib.h>

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
    job->cached_from = answer->job;
    job->end = (struct attempt_exit){.cause = CAUSE_OK, .exit_code = -1};
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    if (engine_change_trial(engine, job, EVENT_REUSED,
                            attempt_cause_names[CAUSE_OK]))
        engine_tally_ended(engine, job, false);
}

static void on_answer(void *owner, void *user,
                      const struct cache_answer *answer)
{
    struct engine *engine = owner;
    struct job *job = user;

    if (answer->key != NULL)
        job->cache_key = mem_copy_string(answer->key);
    if (answer->job != 0)
        take_result(engine, job, answer);
    else
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

static void on_sealed(void *owner, void *user, json_t *hashes, const char *text)
{
    struct job *job = user;

    (void)text;
    job->seal = SEAL_DONE;
    if (hashes != NULL)
        json_object_set(job->outputs, CACHE_HASHES, hashes);
    engine_read_first(owner, job);
}

bool engine_cache_seal(struct engine *engine, struct job *job)
{
    const struct step *step;
    struct cache_subject subject;
    struct cache_facts facts;
    const char **files;
    size_t count = 0;

    if (rule_of(engine, job) == NULL || job->cache_key == NULL ||
        describe(engine, job, &facts, &subject) != 0)
        return false;
    if (job->outputs == NULL)
        job->outputs = json_object();
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
