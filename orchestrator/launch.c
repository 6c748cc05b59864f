/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/launch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/env_list.h"

struct launch {
    struct attempt_spec spec;
    char *trial_directory, *directory, *checkpoint_directory;
    char **argv;
    struct env_list environment;
};

char *launch_directory(const struct launch_site *site, int64_t trial,
                       int64_t attempt_number)
{
    return mem_printf("%s/trials/%" PRId64 "/attempt-%" PRId64,
                      site->run_directory, trial, attempt_number);
}

static int make_directories(const struct launch *launch, struct err *err)
{
    static const char *const names[] = {
        "",        "/input",       "/input/config", "/model",
        "/output", "/output/data", "/checkpoints"};
    struct buf path = BUF_INIT;
    int result = 0;

    for (size_t i = 0; i < ARRAY_LEN(names) && result == 0; i++) {
        buf_truncate(&path, 0);
        buf_printf(&path, "%s%s", launch->trial_directory, names[i]);
        if (mkdir(buf_text(&path), 0700) != 0 && errno != EEXIST)
            result = err_set_errno(err, ERR_FAILED, errno, "cannot make %s",
                                   buf_text(&path));
    }
    if (result == 0 && mkdir(launch->directory, 0700) != 0 && errno != EEXIST)
        result = err_set_errno(err, ERR_FAILED, errno, "cannot make %s",
                               launch->directory);
    buf_clear(&path);
    return result;
}

/* Not atomic and not synced: made anew for every attempt. */
static int write_file(const struct launch *launch, const char *name,
                      const struct buf *text, struct err *err)
{
    char *path = mem_printf("%s/%s", launch->trial_directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int result = 0;

    if (fd < 0 ||
        write(fd, buf_text(text), text->length) != (ssize_t)text->length)
        result = err_set_errno(err, ERR_FAILED, errno, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    free(path);
    return result;
}

static int write_json(const struct launch *launch, const char *name,
                      const json_t *json, struct err *err)
{
    struct buf text = BUF_INIT;
    int result;

    json_print(json, &text);
    buf_add_char(&text, '\n');
    result = write_file(launch, name, &text, err);
    buf_clear(&text);
    return result;
}

/* The active parameters, with their own types. */
static json_t *params_json(const struct space *space, const struct value *point)
{
    json_t *params = json_object();

    for (size_t i = 0; i < space_count(space); i++) {
        if (point[i].type != VALUE_NULL)
            json_object_set_new(params, space_param(space, i)->name,
                                json_from_value(&point[i]));
    }
    return params;
}

/* SageMaker hands every hyperparameter over as a string. */
static json_t *hyperparameters_json(const struct space *space,
                                    const struct value *point)
{
    json_t *strings = json_object();
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < space_count(space); i++) {
        if (point[i].type == VALUE_NULL)
            continue;
        buf_truncate(&text, 0);
        value_print(&point[i], &text);
        json_object_set_new(strings, space_param(space, i)->name,
                            json_from_text(buf_text(&text)));
    }
    buf_clear(&text);
    return strings;
}

static json_t *channels_json(const struct experiment *experiment)
{
    json_t *channels = json_object();

    for (size_t i = 0; i < experiment->channel_count; i++)
        json_object_set_new(channels, experiment->channels[i].name,
                            json_pack("{s:s, s:s, s:s}", "TrainingInputMode",
                                      "File", "S3DistributionType",
                                      "FullyReplicated", "RecordWrapperType",
                                      "None"));
    return channels;
}

static int write_files(const struct launch_site *site,
                       const struct launch *launch, const struct value *point,
                       const json_t *params, struct err *err)
{
    const struct space *space = site->experiment->space;
    json_t *strings = hyperparameters_json(space, point);
    json_t *hosts =
        json_pack("{s:s, s:[s], s:s}", "current_host", "algo-1", "hosts",
                  "algo-1", "network_interface_name", "lo");
    json_t *channels = channels_json(site->experiment);
    int result = 0;

    if (write_json(launch, "params.json", params, err) != 0 ||
        write_json(launch, "input/config/hyperparameters.json", strings, err) !=
            0 ||
        write_json(launch, "input/config/resourceconfig.json", hosts, err) !=
            0 ||
        write_json(launch, "input/config/inputdataconfig.json", channels,
                   err) != 0)
        result = -1;
    json_decref(strings);
    json_decref(hosts);
    json_decref(channels);
    return result;
}

static void set_own_names(struct launch *launch, const struct launch_site *site,
                          int64_t trial, int64_t attempt_number)
{
    struct env_list *env = &launch->environment;

    env_list_set(env, "PATH", site->program_path);
    env_list_set(env, "SMTUNE_RUN", site->run_name);
    env_list_printf(env, "SMTUNE_JOB", "%" PRId64, trial);
    env_list_printf(env, "SMTUNE_ATTEMPT", "%" PRId64, launch->spec.attempt);
    env_list_printf(env, "SMTUNE_ATTEMPT_NUMBER", "%" PRId64, attempt_number);
    env_list_set(env, "SMTUNE_DIR", launch->trial_directory);
    env_list_set(env, "SMTUNE_CHECKPOINT_DIR", launch->checkpoint_directory);
    env_list_printf(env, "SMTUNE_METRICS", "%s/metrics.jsonl",
                    launch->directory);
    env_list_printf(env, "SMTUNE_PARAMS", "%s/params.json",
                    launch->trial_directory);
}

static void set_hyperparameters(struct env_list *env, const struct space *space,
                                const struct value *point, const json_t *params)
{
    json_t *args = json_array();
    struct buf name = BUF_INIT;
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < space_count(space); i++) {
        const char *param = space_param(space, i)->name;

        if (point[i].type == VALUE_NULL)
            continue;
        buf_truncate(&name, 0);
        buf_truncate(&text, 0);
        buf_add_string(&name, "SM_HP_");
        for (const char *c = param; *c != '\0'; c++)
            buf_add_char(&name, (char)toupper((unsigned char)*c));
        value_print(&point[i], &text);
        env_list_set(env, buf_text(&name), buf_text(&text));
        buf_truncate(&name, 0);
        buf_printf(&name, "%s%s", param[1] == '\0' ? "-" : "--", param);
        json_array_append_new(args, json_from_text(buf_text(&name)));
        json_array_append_new(args, json_from_text(buf_text(&text)));
    }
    buf_truncate(&text, 0);
    json_print(params, &text);
    env_list_set(env, "SM_HPS", buf_text(&text));
    buf_truncate(&text, 0);
    json_print(args, &text);
    env_list_set(env, "SM_USER_ARGS", buf_text(&text));
    buf_clear(&name);
    buf_clear(&text);
    json_decref(args);
}

static void set_channels(struct env_list *env,
                         const struct experiment *experiment)
{
    json_t *names = json_array();
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < experiment->channel_count; i++) {
        const struct channel *channel = &experiment->channels[i];

        buf_truncate(&text, 0);
        buf_add_string(&text, "SM_CHANNEL_");
        for (const char *c = channel->name; *c != '\0'; c++)
            buf_add_char(&text, (char)toupper((unsigned char)*c));
        env_list_set(env, buf_text(&text), channel->path);
        json_array_append_new(names, json_from_text(channel->name));
    }
    buf_truncate(&text, 0);
    json_print(names, &text);
    env_list_set(env, "SM_CHANNELS", buf_text(&text));
    buf_clear(&text);
    json_decref(names);
}

static void set_sagemaker_names(struct launch *launch,
                                const struct experiment *experiment,
                                const struct value *point, const json_t *params)
{
    struct env_list *env = &launch->environment;
    const char *base = launch->trial_directory;

    env_list_set(env, "SAGEMAKER_BASE_DIR", base);
    env_list_printf(env, "SM_MODEL_DIR", "%s/model", base);
    env_list_printf(env, "SM_INPUT_DIR", "%s/input", base);
    env_list_printf(env, "SM_INPUT_CONFIG_DIR", "%s/input/config", base);
    env_list_printf(env, "SM_OUTPUT_DIR", "%s/output", base);
    env_list_printf(env, "SM_OUTPUT_DATA_DIR", "%s/output/data", base);
    env_list_set(env, "SM_HOSTS", "[\"algo-1\"]");
    env_list_set(env, "SM_CURRENT_HOST", "algo-1");
    env_list_printf(env, "SM_NUM_GPUS", "%d", experiment->resources.gpus);
    set_hyperparameters(env, experiment->space, point, params);
    set_channels(env, experiment);
}

/* The columns of the experiment's templates: see experiment.h. */
static struct value *template_values(const struct launch_site *site,
                                     const struct launch *launch, int64_t trial,
                                     const struct value *point)
{
    size_t count = space_count(site->experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));

    memcpy(values, point, count * sizeof(*values));
    values[count + EXTRA_TRIAL] = value_int(trial);
    values[count + EXTRA_RUN] = value_text(site->run_name);
    values[count + EXTRA_DIR] = value_text(launch->trial_directory);
    values[count + EXTRA_CHECKPOINT_DIR] =
        value_text(launch->checkpoint_directory);
    return values;
}

static int expand_shell(struct launch *launch, struct template *command,
                        const struct value *values, struct err *err)
{
    struct buf script = BUF_INIT;

    if (template_expand(command, values, &script, err) != 0) {
        buf_clear(&script);
        return -1;
    }
    launch->argv = mem_array(4, sizeof(*launch->argv));
    launch->argv[0] = mem_copy_string("/bin/sh");
    launch->argv[1] = mem_copy_string("-c");
    launch->argv[2] = buf_take(&script);
    return 0;
}

static int expand(struct launch *launch, const struct experiment *experiment,
                  const struct value *values, struct err *err)
{
    struct buf text = BUF_INIT;
    int result = 0;

    if (experiment->is_shell) {
        result = expand_shell(launch, experiment->command, values, err);
    } else {
        launch->argv = template_expand_words(experiment->command, values, err);
        result = launch->argv == NULL ? -1 : 0;
    }
    for (size_t i = 0; i < experiment->environment_count && result == 0; i++) {
        const struct env_entry *entry = &experiment->environment[i];

        buf_truncate(&text, 0);
        result = template_expand(entry->value, values, &text, err);
        if (result == 0)
            env_list_set(&launch->environment, entry->name, buf_text(&text));
    }
    buf_clear(&text);
    return result;
}

static void fill_spec(struct launch *launch, const struct launch_site *site)
{
    const struct resources *resources = &site->experiment->resources;
    struct attempt_spec *spec = &launch->spec;

    spec->directory = launch->directory;
    spec->work_directory = site->work_directory;
    spec->argv = launch->argv;
    spec->envp = launch->environment.items;
    spec->cpus = resources->cpus;
    spec->gpus = resources->gpus;
    spec->memory_bytes = resources->memory_bytes;
    spec->time_ms = resources->time_ms;
    spec->grace_ms = resources->grace_ms;
}

struct launch *launch_create(const struct launch_site *site, int64_t trial,
                             int64_t attempt, int64_t attempt_number,
                             const struct value *point, struct err *err)
{
    struct launch *launch = mem_zero(sizeof(*launch));
    json_t *params = params_json(site->experiment->space, point);
    struct value *values;
    int result;

    launch->spec.attempt = attempt;
    launch->trial_directory =
        mem_printf("%s/trials/%" PRId64, site->run_directory, trial);
    launch->directory = launch_directory(site, trial, attempt_number);
    launch->checkpoint_directory =
        mem_printf("%s/checkpoints", launch->trial_directory);
    values = template_values(site, launch, trial, point);
    env_list_inherit(&launch->environment, site->environment);
    set_own_names(launch, site, trial, attempt_number);
    set_sagemaker_names(launch, site->experiment, point, params);
    result = make_directories(launch, err);
    if (result == 0)
        result = write_files(site, launch, point, params, err);
    if (result == 0)
        result = expand(launch, site->experiment, values, err);
    fill_spec(launch, site);
    json_decref(params);
    free(values);
    if (result != 0) {
        launch_destroy(launch);
        return NULL;
    }
    return launch;
}

const struct attempt_spec *launch_spec(const struct launch *launch)
{
    return &launch->spec;
}

void launch_destroy(struct launch *launch)
{
    if (launch == NULL)
        return;
    for (size_t i = 0; launch->argv != NULL && launch->argv[i] != NULL; i++)
        free(launch->argv[i]);
    free(launch->argv);
    env_list_clear(&launch->environment);
    free(launch->trial_directory);
    free(launch->directory);
    free(launch->checkpoint_directory);
    free(launch);
}
