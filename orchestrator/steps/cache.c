/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/steps/child_facts.h"
#include "orchestrator/steps/child_run.h"
#include "orchestrator/steps/work_queue.h"
#include "workflows/cache_key.h"

/*
 * A question goes through stages: the thread makes the key; the record, which
 * only the loop may read, names candidates; the thread looks whether the files
 * of one of them are still there. The thread alone touches `hashes`.
 */

enum { CANDIDATES_MAX = 16 };

struct candidate {
    int64_t job;
    char *source; /* "job 3 of run 'one'" */
    json_t *outputs;
    json_t *missing; /* names of its temporary outputs */
};

struct question {
    struct work_item item;
    cache_answer_fn *answer;
    cache_sealed_fn *sealed;
    json_t *facts;
    char *work_directory;
    char **inputs; /* [input_count] */
    size_t input_count;
    bool allows_empty, is_child;
    json_t *known; /* hashes by path */
    char **temps;  /* [temp_count] */
    size_t temp_count;
    json_t *parts; /* of the key; NULL: nobody asks for them */
    char *lost;    /* why the newest result will not do; NULL: there is none */
    int64_t since_ms;
    char key[DIGEST_HEX_SIZE]; /* "": not made yet; or as it has to be */
    struct cache *cache;
    struct candidate candidates[CANDIDATES_MAX];
    size_t candidate_count;
    const struct candidate *found; /* NULL: none has proved good */
    json_t *outputs;               /* to be sealed */
    json_t *hashes;                /* of its files: by name, null at first */
    bool has_failed;
    struct err err;
};

struct cache {
    struct work_queue *queue;
    struct store *store;
    void *owner;
    struct file_hashes *hashes;
};

/* -- Questions ------------------------------------------------------------*/

static char **copy_texts(const char *const *texts, size_t count)
{
    char **copies = mem_array(count, sizeof(*copies));

    for (size_t i = 0; i < count; i++)
        copies[i] = mem_copy_string(texts[i]);
    return copies;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static struct question *make_question(const struct cache_subject *subject,
                                      void *user)
{
    struct question *question = mem_zero(sizeof(*question));

    question->item.user = user;
    question->facts = json_deep_copy(subject->facts);
    question->work_directory = mem_copy_string(subject->work_directory);
    question->inputs = copy_texts(subject->inputs, subject->input_count);
    question->input_count = subject->input_count;
    question->temps = copy_texts(subject->temps, subject->temp_count);
    question->temp_count = subject->temp_count;
    question->known = json_deep_copy(subject->known);
    question->allows_empty = subject->allows_empty;
    question->is_child = subject->is_child;
    return question;
}

static void forget_candidates(struct question *question)
{
    for (size_t i = 0; i < question->candidate_count; i++) {
        json_decref(question->candidates[i].outputs);
        json_decref(question->candidates[i].missing);
        free(question->candidates[i].source);
    }
    question->candidate_count = 0;
}

static void destroy_question(struct work_item *item)
{
    struct question *question = (struct question *)item;

    forget_candidates(question);
    free_texts(question->inputs, question->input_count);
    free_texts(question->temps, question->temp_count);
    free(question->work_directory);
    json_decref(question->known);
    json_decref(question->facts);
    json_decref(question->outputs);
    json_decref(question->hashes);
    json_decref(question->parts);
    free(question->lost);
    free(question);
}

/* -- What the thread does -------------------------------------------------*/

static int make_key(struct cache *cache, struct question *question,
                    const atomic_bool *stop, char hex[DIGEST_HEX_SIZE])
{
    const char **paths = mem_array(question->input_count, sizeof(*paths));
    struct cache_inputs inputs = {
        .work_directory = question->work_directory,
        .paths = paths,
        .count = question->input_count,
        .allows_empty = question->allows_empty,
        .known = question->known,
        .parts = question->parts,
    };
    int result;

    for (size_t i = 0; i < question->input_count; i++)
        paths[i] = question->inputs[i];
    result = cache_key(question->facts, &inputs, cache->hashes, stop, hex,
                       &question->err);
    free(paths);
    return result;
}

/* Whether a file is as it was. One that is missing and temporary is noted. */
static bool will_do(struct cache *cache, const struct question *question,
                    const struct candidate *candidate, const char *name,
                    const char *was, const atomic_bool *stop)
{
    const char *path =
        json_string_value(json_object_get(candidate->outputs, name));
    char hex[DIGEST_HEX_SIZE];
    struct err err;

    if (path == NULL || was == NULL)
        return false;
    if (file_hashes_of(cache->hashes, path, stop, hex, &err) == 0)
        return strcmp(hex, was) == 0;
    if (err.kind != ERR_NOT_FOUND ||
        !text_is_among(name, (const char *const *)question->temps,
                       question->temp_count))
        return false;
    json_array_append_new(candidate->missing, json_string(name));
    return true;
}

/* Whether all its files are as they were, but for temporary ones. */
static bool is_intact(struct cache *cache, const struct question *question,
                      const struct candidate *candidate,
                      const atomic_bool *stop)
{
    json_t *hashes = json_object_get(candidate->outputs, CACHE_HASHES), *was;
    const char *name;

    json_object_foreach(hashes, name, was)
    {
        if (!will_do(cache, question, candidate, name, json_string_value(was),
                     stop))
            return false;
    }
    return true;
}

/* The newest that has all its files, else the newest that lacks temporary
 * ones. */
static void check_candidates(struct cache *cache, struct question *question,
                             const atomic_bool *stop)
{
    const struct candidate *lacking = NULL;

    for (size_t i = 0; question->found == NULL && //
                       i < question->candidate_count;
         i++) {
        const struct candidate *candidate = &question->candidates[i];

        if (!is_intact(cache, question, candidate, stop))
            continue;
        if (json_array_size(candidate->missing) == 0)
            question->found = candidate;
        else if (lacking == NULL)
            lacking = candidate;
    }
    if (question->found == NULL)
        question->found = lacking;
}

static int hash_files(struct cache *cache, struct question *question,
                      const atomic_bool *stop)
{
    char hex[DIGEST_HEX_SIZE];
    const char *name;
    json_t *unused;
    void *next;

    json_object_foreach_safe(question->hashes, next, name, unused)
    {
        const char *path =
            json_string_value(json_object_get(question->outputs, name));

        (void)unused;
        if (path == NULL)
            return err_set(&question->err, ERR_FAILED, "'%s' is not a path",
                           name);
        if (file_hashes_or_known(cache->hashes, path, question->known, stop,
                                 hex, &question->err) != 0)
            return -1;
        json_object_set_new(question->hashes, name, json_string(hex));
    }
    return 0;
}

static void seal(struct cache *cache, struct question *question,
                 const atomic_bool *stop)
{
    char hex[DIGEST_HEX_SIZE];

    if (make_key(cache, question, stop, hex) != 0) {
        question->has_failed = true;
    } else if (strcmp(hex, question->key) != 0) {
        err_set(&question->err, ERR_FAILED, "its inputs changed while it ran");
        question->has_failed = true;
    } else {
        question->has_failed = hash_files(cache, question, stop) != 0;
    }
}

static void work_on(void *owner, struct work_item *item,
                    const atomic_bool *stop)
{
    struct cache *cache = owner;
    struct question *question = (struct question *)item;

    if (question->sealed != NULL)
        seal(cache, question, stop);
    else if (question->key[0] == '\0')
        question->has_failed =
            make_key(cache, question, stop, question->key) != 0;
    else
        check_candidates(cache, question, stop);
}

/* -- What the loop does ---------------------------------------------------*/

/* Whether the child run that its outputs are of is still in the store. */
static bool has_its_run(struct store *store, int64_t job, const json_t *outputs)
{
    const char *run = json_string_value(json_object_get(outputs, CHILD_NAME));

    return run != NULL && child_facts_has_run(store, run, job);
}

static char *print_source(const struct cached_row *row)
{
    return mem_printf("job %" PRId64 " of run '%s'", row->number, row->run);
}

static char *describe_lost(const struct cached_row *row, const char *source,
                           bool is_there)
{
    if (!is_there)
        return mem_printf("the child run of %s was removed", source);
    if (row->temps_removed_ms != 0)
        return mem_printf("the temporary output of %s was removed when no "
                          "step needed it any more",
                          source);
    return mem_printf("a file that %s made has changed or is missing", source);
}

static void add_candidate(struct question *question,
                          const struct cached_row *row, json_t *outputs)
{
    char *source = print_source(row);
    bool is_there = !question->is_child ||
                    has_its_run(question->cache->store, row->job, outputs);

    if (question->lost == NULL)
        question->lost = describe_lost(row, source, is_there);
    if (is_there) {
        question->candidates[question->candidate_count++] = (struct candidate){
            row->job, source, json_incref(outputs), json_array()};
        return;
    }
    free(source);
}

static int on_cached(void *user, const struct cached_row *row)
{
    struct question *question = user;
    json_t *outputs =
        row->outputs == NULL
            ? NULL
            : json_parse(row->outputs, strlen(row->outputs), NULL);

    if (json_is_object(json_object_get(outputs, CACHE_HASHES)))
        add_candidate(question, row, outputs);
    json_decref(outputs);
    return question->candidate_count == CANDIDATES_MAX;
}

/* What of its outputs is missing now. */
static void note_missing(const struct candidate *found)
{
    if (json_array_size(found->missing) > 0)
        json_object_set(found->outputs, CACHE_MISSING, found->missing);
    else
        json_object_del(found->outputs, CACHE_MISSING);
}

static void tell(const struct cache *cache, struct question *question)
{
    const char *text = question->has_failed ? question->err.text : "";
    struct cache_answer answer = {.text = text, .parts = question->parts};

    if (question->sealed != NULL) {
        question->sealed(cache->owner, question->item.user,
                         question->has_failed ? NULL : question->hashes, text);
        return;
    }
    if (!question->has_failed)
        answer.key = question->key;
    if (!question->has_failed && question->lost != NULL)
        answer.text = question->lost;
    if (question->found != NULL) {
        note_missing(question->found);
        answer.job = question->found->job;
        answer.source = question->found->source;
        answer.outputs = question->found->outputs;
        answer.lacks_temps = json_array_size(question->found->missing) > 0;
    }
    question->answer(cache->owner, question->item.user, &answer);
}

/* Whether the thread has to look on: there are candidates, which it has not
 * seen. */
static bool has_candidates(struct cache *cache, struct question *question)
{
    if (question->has_failed || question->sealed != NULL ||
        question->candidate_count > 0 || cache->store == NULL)
        return false;
    question->cache = cache;
    if (store_each_cached(cache->store, question->key, question->since_ms,
                          on_cached, question, &question->err) < 0)
        forget_candidates(question);
    return question->candidate_count > 0;
}

static bool answer_or_go_on(void *owner, struct work_item *item)
{
    struct question *question = (struct question *)item;
    bool goes_on = has_candidates(owner, question);

    if (!goes_on)
        tell(owner, question);
    return goes_on;
}

static void free_cache(void *owner)
{
    struct cache *cache = owner;

    file_hashes_destroy(cache->hashes);
    free(cache);
}

static const struct work_queue_ops ops = {work_on, answer_or_go_on,
                                          destroy_question, free_cache};

/* -- The interface --------------------------------------------------------*/

struct cache *cache_create(uv_loop_t *loop, struct store *store, void *owner)
{
    struct cache *cache = mem_zero(sizeof(*cache));

    cache->queue = work_queue_create(loop, &ops, cache);
    cache->store = store;
    cache->owner = owner;
    cache->hashes = file_hashes_create();
    return cache;
}

void cache_destroy(struct cache *cache)
{
    if (cache != NULL)
        work_queue_destroy(cache->queue);
}

void cache_find(struct cache *cache, const struct cache_subject *subject,
                int64_t since_ms, cache_answer_fn *answer, void *user)
{
    struct question *question = make_question(subject, user);

    question->parts = json_object();
    question->since_ms = since_ms;
    question->answer = answer;
    work_queue_add(cache->queue, &question->item);
}

void cache_seal(struct cache *cache, const struct cache_subject *subject,
                const char *key, const struct cache_made *made,
                cache_sealed_fn *sealed, void *user)
{
    struct question *question = make_question(subject, user);

    snprintf(question->key, sizeof(question->key), "%s", key);
    question->sealed = sealed;
    question->outputs = json_deep_copy(made->outputs);
    question->hashes = json_object();
    for (size_t i = 0; i < made->file_count; i++)
        json_object_set_new(question->hashes, made->files[i], json_null());
    work_queue_add(cache->queue, &question->item);
}

void cache_forget(struct cache *cache, const void *user)
{
    work_queue_forget(cache->queue, user);
}
