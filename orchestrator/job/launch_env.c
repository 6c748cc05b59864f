/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/launch_env.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/buf.h"
#include "orchestrator/job/outputs.h"
#include "orchestrator/job/shards.h"

static void set_own_names(struct env_list *env, const struct launch_env *names)
{
    env_list_set(env, "PATH", names->program_path);
    env_list_set(env, "SMTUNE_RUN", names->run_name);
    env_list_printf(env, "SMTUNE_JOB", "%" PRId64, names->job);
    env_list_printf(env, "SMTUNE_ATTEMPT", "%" PRId64, names->attempt);
    env_list_printf(env, "SMTUNE_ATTEMPT_NUMBER", "%" PRId64,
                    names->attempt_number);
    env_list_set(env, "SMTUNE_DIR", names->job_directory);
    env_list_printf(env, "SMTUNE_CHECKPOINT_DIR", "%s/checkpoints",
                    names->ml_directory);
    env_list_printf(env, "SMTUNE_METRICS", "%s/metrics.jsonl",
                    names->attempt_directory);
    env_list_printf(env, "SMTUNE_OUTPUTS", "%s/" OUTPUTS_FILE,
                    names->attempt_directory);
    env_list_printf(env, "SMTUNE_PARAMS", "%s/input/config/params.json",
                    names->ml_directory);
}

/* What has no limit has no name either; and none comes from a trial that runs
 * this run. */
static void set_limit(struct env_list *env, const char *name, int64_t amount)
{
    if (amount > 0)
        env_list_printf(env, name, "%" PRId64, amount);
    else
        env_list_unset(env, name);
}

static void set_resources(struct env_list *env,
                          const struct resources *resources)
{
    set_limit(env, "SMTUNE_CPUS", resources->cpus);
    set_limit(env, "SMTUNE_GPUS", resources->gpus);
    set_limit(env, "SMTUNE_MEMORY_BYTES", resources->memory_bytes);
    set_limit(env, "SMTUNE_TIME_MS", resources->time_ms);
    env_list_printf(env, "SM_NUM_GPUS", "%d", resources->gpus);
}

static void set_directories(struct env_list *env, const char *base)
{
    env_list_set(env, "SAGEMAKER_BASE_DIR", base);
    env_list_printf(env, "SM_MODEL_DIR", "%s/model", base);
    env_list_printf(env, "SM_INPUT_DIR", "%s/input", base);
    env_list_printf(env, "SM_INPUT_CONFIG_DIR", "%s/input/config", base);
    env_list_printf(env, "SM_OUTPUT_DIR", "%s/output", base);
    env_list_printf(env, "SM_OUTPUT_DATA_DIR", "%s/output/data", base);
}

static void set_json(struct env_list *env, const char *name, const json_t *json)
{
    struct buf text = BUF_INIT;

    json_print(json, &text);
    env_list_set(env, name, buf_text(&text));
    buf_clear(&text);
}

static void set_hosts(struct env_list *env, const struct job_copy *copy)
{
    json_t *config = hosts_config(copy);

    set_json(env, "SM_HOSTS", json_object_get(config, "hosts"));
    env_list_set(env, "SM_CURRENT_HOST",
                 json_string_value(json_object_get(config, "current_host")));
    json_decref(config);
}

/* PREFIX_NAME with NAME in capitals; '-' and '.' stay, as SageMaker has it. */
static void set_upper(struct env_list *env, const char *prefix,
                      const char *name, const char *value)
{
    struct buf text = BUF_INIT;

    buf_add_string(&text, prefix);
    for (; *name != '\0'; name++)
        buf_add_char(&text, (char)toupper((unsigned char)*name));
    env_list_set(env, buf_text(&text), value);
    buf_clear(&text);
}

static void set_hyperparameters(struct env_list *env, json_t *strings)
{
    json_t *args = json_array();
    struct buf option = BUF_INIT;
    const char *name;
    json_t *value;

    json_object_foreach(strings, name, value)
    {
        buf_truncate(&option, 0);
        buf_printf(&option, "%s%s", name[1] == '\0' ? "-" : "--", name);
        set_upper(env, "SM_HP_", name, json_string_value(value));
        json_array_append_new(args, json_from_text(buf_text(&option)));
        json_array_append(args, value);
    }
    set_json(env, "SM_USER_ARGS", args);
    buf_clear(&option);
    json_decref(args);
}

static void set_channels(struct env_list *env, const struct launch_env *launch)
{
    json_t *names = json_array();
    struct buf share = BUF_INIT;

    for (size_t i = 0; i < launch->task->channel_count; i++) {
        const struct channel *channel = &launch->task->channels[i];

        buf_truncate(&share, 0);
        buf_printf(&share, "%s/" SHARDS_FOLDER "/%s", launch->ml_directory,
                   channel->name);
        set_upper(env, "SM_CHANNEL_", channel->name,
                  channel->is_sharded ? buf_text(&share)
                                      : launch->channel_paths[i]);
        json_array_append_new(names, json_from_text(channel->name));
    }
    buf_clear(&share);
    set_json(env, "SM_CHANNELS", names);
    json_decref(names);
}

/* Python writes to a file in blocks, so a schedule would see the values of a
 * trial at its end. */
static void set_unbuffered(struct env_list *env)
{
    if (env_list_get(env, "PYTHONUNBUFFERED") == NULL)
        env_list_set(env, "PYTHONUNBUFFERED", "1");
}

void launch_env_set(struct env_list *env, const struct launch_env *names)
{
    set_unbuffered(env);
    set_own_names(env, names);
    set_resources(env, names->resources);
    set_limit(env, "SMTUNE_RESOURCE", names->resource);
    set_directories(env, names->ml_directory);
    set_hosts(env, &names->copy);
    set_hyperparameters(env, names->strings);
    set_json(env, "SM_HPS", names->params);
    set_channels(env, names);
}
