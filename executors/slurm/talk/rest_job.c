/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON of a job for slurmrestd, with the same content as the words of
 * executors/slurm/talk/commands_words.c. It is built in the form of
 * version 38 and then adapted, because the version is known only when the
 * request is sent.
 *
 * Unlike sbatch, slurmrestd inherits no environment: the whole of it is sent.
 * JSON needs UTF-8, so a job whose script or paths are not UTF-8 cannot be
 * submitted this way.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executors/slurm/talk/rest_impl.h"

static bool is_utf8(const char *text)
{
    json_t *json = json_string(text);
    bool result = json != NULL;

    json_decref(json);
    return result;
}

static void set_text(json_t *job, const char *key, const char *text)
{
    if (text != NULL)
        json_object_set_new(job, key, json_from_text(text));
}

static void set_number(json_t *job, const char *key, int64_t number)
{
    if (number > 0)
        json_object_set_new(job, key, json_integer(number));
}

/* What is set here for jobs themselves, or speaks to Slurm's commands, is not
 * the job's; nor is what lets us in. A text that is no UTF-8 cannot be said. */
static json_t *environment(bool is_bare)
{
    json_t *map = json_object();

    set_text(map, "PATH", "/usr/local/bin:/usr/bin:/bin");
    for (char **variable = environ; *variable != NULL; variable++) {
        size_t length = strcspn(*variable, "=");
        char *name = mem_copy_bytes(*variable, length);
        bool is_wanted = is_bare ? strcmp(name, "PATH") == 0
                                 : !slurm_variable_is_own(*variable);

        if (is_wanted && length > 0 && (*variable)[length] == '=')
            json_object_set_new(map, name, json_string(*variable + length + 1));
        free(name);
    }
    return map;
}

static void set_size(json_t *job, const struct slurm_submission *submission)
{
    const struct slurm_size size = slurm_size_of(submission);
    char *gres = slurm_gres_of(submission);

    set_number(job, "nodes", size.nodes);
    set_number(job, "tasks", size.tasks);
    set_number(job, "tasks_per_node", size.tasks_per_node);
    set_number(job, "cpus_per_task", size.cpus_per_task);
    set_number(job, "memory_per_node", size.memory_mib);
    set_number(job, "time_limit", size.time_min);
    set_text(job, "gres", gres);
    free(gres);
    if (submission->array > 0) {
        char *tasks_text = mem_printf("0-%d", submission->array - 1);

        set_text(job, "array", tasks_text);
        free(tasks_text);
    }
}

static void set_avoided(json_t *job, const char *const *avoid)
{
    struct buf list = BUF_INIT;

    for (; avoid != NULL && *avoid != NULL; avoid++)
        buf_printf(&list, "%s%s", list.length > 0 ? "," : "", *avoid);
    set_text(job, "exclude_nodes", list.data);
    buf_clear(&list);
}

static void set_after(json_t *job, int64_t after)
{
    char *text = mem_printf("afternotok:%" PRId64, after);

    if (after > 0) {
        set_text(job, "dependency", text);
        json_object_set_new(job, "kill_on_invalid_dependency", json_true());
    }
    free(text);
}

/* Of `extra`, until the version is known. */
static json_t *words_of(const struct slurm_ask *ask)
{
    json_t *words = json_array();

    for (size_t i = 0; i < ask->extra_count; i++)
        json_array_append_new(words, json_from_text(ask->extra[i]));
    return words;
}

json_t *slurm_rest_job(const struct slurm_submission *submission)
{
    const struct slurm_ask ask = slurm_asked(submission);
    json_t *job, *body;
    char *log, *name;

    if (!is_utf8(submission->script) || !is_utf8(submission->directory) ||
        !is_utf8(submission->log))
        return NULL;
    job = json_object();
    body = json_object();
    log = slurm_escaped_path(submission->log);
    name = slurm_full_name(submission);
    set_text(job, "name", name);
    if (submission->comment != NULL && submission->comment[0] != '\0')
        set_text(job, "comment", submission->comment);
    set_text(job, "current_working_directory", submission->directory);
    set_text(job, "standard_output", log);
    set_text(job, "open_mode", "append");
    /* "requeue": false would mean that it may be put back. */
    json_object_set_new(job, "no_requeue", json_true());
    json_object_set_new(job, "environment",
                        environment(submission->without_environment));
    set_text(job, "partition", ask.partition);
    set_text(job, "account", ask.account);
    set_text(job, "qos", ask.qos);
    set_text(job, "constraints", ask.constraint);
    set_text(job, "reservation", ask.reservation);
    set_size(job, submission);
    set_avoided(job, submission->avoid);
    set_after(job, submission->after);
    set_text(body, "script", submission->script);
    json_object_set_new(body, "job", job);
    if (ask.extra_count > 0)
        json_object_set_new(body, "extra", words_of(&ask));
    free(name);
    free(log);
    return body;
}

/* -- Other versions -------------------------------------------------------*/

static json_t *pairs_of(json_t *map)
{
    json_t *list = json_array();

    for (void *at = json_object_iter(map); at != NULL;
         at = json_object_iter_next(map, at)) {
        char *pair = mem_printf("%s=%s", json_object_iter_key(at),
                                json_string_value(json_object_iter_value(at)));

        json_array_append_new(list, json_string(pair));
        free(pair);
    }
    return list;
}

/* In place of a number. */
static void set_no_val(json_t *job, const char *key)
{
    const json_t *number = json_object_get(job, key);

    if (number != NULL)
        json_object_set_new(job, key,
                            slurm_rest_optional(json_integer_value(number)));
}

/* In the words of the controller's own request. */
static void adapt(json_t *job)
{
    const json_t *nodes = json_object_get(job, "nodes");

    json_object_set_new(job, "environment",
                        pairs_of(json_object_get(job, "environment")));
    set_no_val(job, "memory_per_node");
    set_no_val(job, "time_limit");
    json_object_set_new(job, "requeue", json_false());
    json_object_del(job, "no_requeue");
    json_object_set_new(job, "open_mode", json_pack("[s]", "APPEND"));
    json_object_set_new(job, "nodes",
                        json_sprintf("%d", (int)json_integer_value(nodes)));
    if (json_object_get(job, "exclude_nodes") != NULL)
        json_object_set_new(job, "excluded_nodes",
                            slurm_rest_list(json_string_value(
                                json_object_get(job, "exclude_nodes"))));
    json_object_del(job, "exclude_nodes");
    if (json_object_get(job, "kill_on_invalid_dependency") != NULL)
        json_object_set_new(job, "flags",
                            json_pack("[s]", "KILL_INVALID_DEPENDENCY"));
    json_object_del(job, "kill_on_invalid_dependency");
}

/* Words of sbatch's options up to version 38, of the controller's own request
 * from then on. */
json_t *slurm_rest_job_adapt(json_t *body, int version)
{
    json_t *job = json_object_get(body, "job");

    if (version > SLURM_REST_LAST_OF_OPTIONS)
        adapt(job);
    slurm_rest_set_extra(job, json_object_get(body, "extra"), version);
    json_object_del(body, "extra");
    return body;
}
