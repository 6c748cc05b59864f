/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Defaults of a user and of a site. They become assignments like those of --set
 * when a file is loaded. So the record has them with the run: a resumed run
 * and `replay` do the same, whatever the configuration files contain by then.
 *
 * A default never changes what a file has: `executor` completes a file without
 * one; `account` and `partition` complete an executor slurm, unless the
 * variable that sbatch reads is set. A list of executors stays as it is.
 */
#include "orchestrator/spec/experiment/config_files.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/diag.h"
#include "base/conf/json.h"
#include "base/conf/schema.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/executor.h"
#include "orchestrator/spec/experiment/experiment_impl.h"

enum { FILES = 2 };

struct config_files {
    char *paths[FILES]; /* the user's, the site's; NULL: none */
    struct conf_doc *docs[FILES];
};

const struct schema_key config_schema[] = {
    {
        .name = "store",
        .type = SCHEMA_TEXT,
        .min = 1,
        .doc = "The folder of the store, where neither `--store`, "
               "SMTUNE_STORE nor a .smtune from the current folder upwards "
               "names one: an absolute path. A leading ~/ is the home folder, "
               "and $NAME is a variable of the environment.",
        .fallback = "./.smtune",
        .example = "/scratch/$USER/smtune",
    },
    {
        .name = "executor",
        .type = SCHEMA_TEXT,
        .names = executor_names,
        .doc = "The executor of files that name none.",
        .fallback = "local",
        .example = "slurm",
    },
    {
        .name = "account",
        .type = SCHEMA_TEXT | SCHEMA_INT,
        .doc = "The account of executor slurm, where neither the file nor "
               "SBATCH_ACCOUNT names one.",
        .fallback = "that of Slurm",
        .example = "physics",
    },
    {
        .name = "partition",
        .type = SCHEMA_TEXT | SCHEMA_INT,
        .doc = "The partition of executor slurm, where neither the file nor "
               "SBATCH_PARTITION names one.",
        .fallback = "that of Slurm",
        .example = "gpu",
    },
    {
        .name = "setup",
        .type = SCHEMA_LIST | SCHEMA_TEXT,
        .element = &experiment_line_element,
        .doc = "The `setup` of executor slurm, where the file has none.",
        .fallback = "none",
        .example = "[module load cuda]",
    },
    {
        .name = "notify",
        .type = SCHEMA_LIST | SCHEMA_MAP,
        .keys = experiment_receiver_keys,
        .element = &experiment_receiver,
        .shorthand = "url",
        .doc = "The receivers of notifications, where the file names none.",
        .fallback = "none",
        .example = "[{url: \"https://example.org/hook\", events: [failed]}]",
    },
    {.name = NULL},
};

/* ---- reading ---- */

static char *user_path(void)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");

    if (config != NULL && config[0] == '/')
        return mem_printf("%s/smtune/config.yaml", config);
    if (home == NULL || home[0] != '/')
        return NULL;
    return mem_printf("%s/.config/smtune/config.yaml", home);
}

static char *site_path(void)
{
    const char *path = getenv("SMTUNE_SITE_CONFIG");

    if (path == NULL)
        return mem_copy_string("/etc/smtune/config.yaml");
    return path[0] != '\0' ? mem_copy_string(path) : NULL;
}

static void check_store(const struct conf_node *root, struct diags *diags)
{
    const struct conf_node *store = conf_get(root, "store");

    if (store == NULL || store->type != CONF_TEXT || store->text[0] == '\0')
        return;
    if (store->text[0] != '/' && store->text[0] != '$' &&
        strncmp(store->text, "~/", 2) != 0)
        diags_add(diags, store->place, "for example /scratch/$USER/smtune",
                  "'store' must be an absolute path, not '%s'", store->text);
}

/* -1 when the file is wrong; one that does not exist is not. */
static int load(struct config_files *config, size_t i, struct err *err)
{
    struct diags *diags;
    struct err why = {0};
    int result = 0;

    if (config->paths[i] == NULL)
        return 0;
    diags = diags_create(config->paths[i]);
    config->docs[i] = conf_load(config->paths[i], diags, &why);
    if (config->docs[i] != NULL) {
        const struct conf_node *root = conf_root(config->docs[i]);

        schema_check(config_schema, root, NULL, diags);
        check_store(root, diags);
    }
    if (diags_count(diags) > 0)
        result = diags_to_err(diags, err);
    else if (config->docs[i] == NULL && why.kind != ERR_NOT_FOUND) {
        result = -1;
        if (err != NULL)
            *err = why;
    }
    diags_destroy(diags);
    return result;
}

struct config_files *config_load(struct err *err)
{
    struct config_files *config = mem_zero(sizeof(*config));

    config->paths[0] = user_path();
    config->paths[1] = site_path();
    for (size_t i = 0; i < FILES; i++) {
        if (load(config, i, err) != 0) {
            config_destroy(config);
            return NULL;
        }
    }
    return config;
}

void config_destroy(struct config_files *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < FILES; i++) {
        conf_destroy(config->docs[i]);
        free(config->paths[i]);
    }
    free(config);
}

const char *config_path(const struct config_files *config, size_t i)
{
    return i < FILES ? config->paths[i] : NULL;
}

/* ---- what they set ---- */

/* The file's item of the key, and the file's number. */
static const struct conf_node *find(const struct config_files *config,
                                    enum config_key key, size_t *file)
{
    for (size_t i = 0; i < FILES; i++) {
        const struct conf_node *node =
            config->docs[i] != NULL
                ? conf_get(conf_root(config->docs[i]), config_schema[key].name)
                : NULL;

        if (node != NULL) {
            *file = i;
            return node;
        }
    }
    return NULL;
}

/* The variable in which Slurm has it, where it is set. */
static const char *variable_of(enum config_key key)
{
    static const char *const names[CONFIG_COUNT] = {
        [CONFIG_STORE] = "SMTUNE_STORE",
        [CONFIG_ACCOUNT] = "SBATCH_ACCOUNT",
        [CONFIG_PARTITION] = "SBATCH_PARTITION",
    };
    const char *value = names[key] != NULL ? getenv(names[key]) : NULL;

    return value != NULL && value[0] != '\0' ? names[key] : NULL;
}

static char *print_node(const struct conf_node *node)
{
    json_t *json = conf_to_json(node);
    struct buf text = BUF_INIT;

    json_print(json, &text);
    json_decref(json);
    return buf_take(&text);
}

bool config_find(const struct config_files *config, enum config_key key,
                 struct config_origin *origin)
{
    const char *variable = variable_of(key);
    const struct conf_node *node;
    size_t file = 0;

    *origin = (struct config_origin){.name = config_schema[key].name,
                                     .variable = variable};
    if (variable != NULL) {
        origin->value = mem_copy_string(getenv(variable));
        return true;
    }
    node = find(config, key, &file);
    if (node == NULL)
        return false;
    origin->value =
        node->text != NULL ? mem_copy_string(node->text) : print_node(node);
    origin->path = config->paths[file];
    origin->line = node->place.line;
    return true;
}

/* Appends the variable whose name begins there; how long the name is. */
static size_t add_variable(const char *text, struct buf *out)
{
    size_t brace = text[0] == '{', length = 0;
    char *name;
    const char *value;

    while (isalnum((unsigned char)text[brace + length]) != 0 ||
           text[brace + length] == '_')
        length++;
    name = mem_copy_bytes(text + brace, length);
    value = getenv(name);
    free(name);
    buf_add_string(out, value != NULL ? value : "");
    return brace + length + (brace > 0 && text[brace + length] == '}');
}

char *config_store(const struct config_files *config)
{
    size_t file;
    const struct conf_node *node = find(config, CONFIG_STORE, &file);
    const char *text = node != NULL ? node->text : NULL;
    struct buf path = BUF_INIT;

    if (text == NULL)
        return NULL;
    if (text[0] == '~')
        add_variable("HOME", &path);
    for (text += text[0] == '~'; *text != '\0'; text++) {
        if (*text == '$')
            text += add_variable(text + 1, &path);
        else
            buf_add_char(&path, *text);
    }
    return buf_take(&path);
}

/* ---- assignments ---- */

static bool is_slurm(const struct conf_node *executor)
{
    const struct conf_node *name =
        executor != NULL && executor->type == CONF_MAP
            ? conf_get(executor, "name")
            : executor;

    return name != NULL && name->type == CONF_TEXT &&
           strcmp(name->text, "slurm") == 0;
}

/* Whether the variable decides; slurmrestd does not read it. */
static bool is_in_variable(const struct conf_node *executor,
                           enum config_key key)
{
    const struct conf_node *transport = conf_get(executor, "transport");

    return variable_of(key) != NULL &&
           (transport == NULL || transport->type != CONF_TEXT ||
            strcmp(transport->text, "rest") != 0);
}

/* What the file lacks that the key sets: the name to assign to; NULL: it has
 * it, or has no place for it. */
static const char *missing(const struct conf_node *root, enum config_key key)
{
    static const char *const names[CONFIG_COUNT] = {
        [CONFIG_ACCOUNT] = "executor.account",
        [CONFIG_PARTITION] = "executor.partition",
        [CONFIG_SETUP] = "executor.setup",
    };
    const struct conf_node *executor = conf_get(root, "executor");

    if (key == CONFIG_NOTIFY)
        return conf_get(root, "notify") == NULL ? "notify" : NULL;
    if (key == CONFIG_EXECUTOR && executor == NULL)
        return "executor";
    if (key == CONFIG_EXECUTOR)
        return executor->type == CONF_MAP && conf_get(executor, "name") == NULL
                   ? "executor.name"
                   : NULL;
    if (names[key] == NULL || !is_slurm(executor) ||
        conf_get(executor, config_schema[key].name) != NULL ||
        is_in_variable(executor, key))
        return NULL;
    return names[key];
}

char *config_assignment(const struct config_files *config, size_t i,
                        const struct conf_doc *doc)
{
    const struct conf_node *root = conf_root(doc);
    size_t file;
    const struct conf_node *node = find(config, (enum config_key)i, &file);
    const char *name;
    char *value, *assignment;

    if (node == NULL || root->type != CONF_MAP)
        return NULL;
    name = missing(root, (enum config_key)i);
    if (name == NULL)
        return NULL;
    value = print_node(node);
    assignment = mem_printf("%s=%s", name, value);
    free(value);
    return assignment;
}
