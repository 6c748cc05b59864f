/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/executor_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/conf/schema.h"
#include "base/mem.h"
#include "executors/job_label.h"
#include "executors/slurm/talk/extra.h"

/* The key `executor`: what was read, put into struct executor_options. */

enum {
    SLURM_PARALLEL = 64,
    HEARTBEAT_MS = 10000,
    SILENCE_MS = 60000,
    POLL_MS = 5000,
    WORD_MAX = 1024, /* bytes of one text for Slurm */
    EXTRA_MAX = 64
};

/* ---- texts for Slurm ---- */

/* NULL where it is not there, or nothing that the schema allows. */
static const struct conf_node *find_text(const struct conf_node *map,
                                         const char *key)
{
    const struct conf_node *node = conf_get(map, key);

    return node != NULL && (node->type == CONF_TEXT || node->type == CONF_INT)
               ? node
               : NULL;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == '\x7f')
            return true;
    return false;
}

/* What a text for Slurm must be, and is not, where it may have none of the
 * refused characters; NULL: nothing is wrong. */
static const char *find_fault(const char *text, const char *refused)
{
    if (*text == '\0')
        return "type mismatch: expected a word";
    if (strlen(text) > WORD_MAX)
        return "too long";
    if (has_control(text))
        return "must be one line without control characters";
    if (strpbrk(text, refused) == NULL)
        return NULL;
    return strchr(refused, ',') != NULL && strchr(text, ',') != NULL
               ? "must be one name (`extra` can have several)"
               : "must be one word, without blanks";
}

static int check_text(struct build *build, const struct conf_node *node,
                      const char *label, const char *refused)
{
    const char *fault = find_fault(node->text, refused);

    if (fault == NULL)
        return 0;
    return diags_add(build->diags, node->place, NULL, "%s %s, not '%.64s'",
                     label, fault, node->text);
}

static const char *build_word(struct build *build, const struct conf_node *map,
                              const char *what, const char *key,
                              const char *refused)
{
    const struct conf_node *node = find_text(map, key);
    char *label;

    if (node == NULL)
        return NULL;
    label = schema_label(what, key);
    check_text(build, node, label, refused);
    free(label);
    return node->text;
}

/* ---- further options of sbatch ---- */

/* Options that smtune needs for itself: it would lose its jobs without. */
static const struct {
    const char *name;
    char letter;     /* the short form; 0: none */
    const char *use; /* what there is instead, or NULL */
} own_options[] = {
    {"--array", 'a', "mode: array"},
    {"--batch", 0, NULL},
    {"--chdir", 'D', NULL},
    {"--comment", 0, "executor.comment"},
    {"--cpus-per-task", 'c', "resources.cpus"},
    {"--dependency", 'd', NULL},
    {"--error", 'e', NULL},
    {"--exclude", 'x', "smtune nodes --avoid NAME"},
    {"--export", 0, "executor.environment"},
    {"--export-file", 0, "executor.environment"},
    {"--gpus", 'G', "resources.gpus"},
    {"--input", 'i', NULL},
    {"--job-name", 'J', "executor.job_name"},
    {"--kill-on-invalid-dep", 0, NULL},
    {"--no-requeue", 0, NULL},
    {"--mem", 0, "resources.memory"},
    {"--nodes", 'N', "resources.nodes"},
    {"--ntasks", 'n', "resources.tasks"},
    {"--ntasks-per-node", 0, "resources.tasks and resources.nodes"},
    {"--open-mode", 0, NULL},
    {"--output", 'o', NULL},
    {"--parsable", 0, NULL},
    {"--quiet", 'Q', NULL},
    {"--requeue", 0, NULL},
    {"--signal", 0, NULL},
    {"--test-only", 0, NULL},
    {"--time", 't', "resources.time"},
    {"--verbose", 'v', NULL},
    {"--wait", 'W', NULL},
    {"--wrap", 0, NULL},
};

static int check_option(struct build *build, const struct conf_node *node,
                        const char *label)
{
    char *help = NULL;
    int rc;

    if (check_text(build, node, label, "") != 0)
        return -1;
    if (node->text[0] != '-' || node->text[1] == '\0')
        return diags_add(build->diags, node->place,
                         "write an option and its value as one word, such as "
                         "--mail-type=FAIL",
                         "an item of %s must begin with '-': '%s'", label,
                         node->text);
    if (node->text[1] == '-' && node->text[strcspn(node->text, " =")] == ' ')
        return diags_add(build->diags, node->place,
                         "write an option and its value with = between them, "
                         "such as --mail-type=FAIL",
                         "%s: option '%s' is not one word", label, node->text);
    for (size_t i = 0; i < ARRAY_LEN(own_options); i++) {
        if (slurm_extra_value(node->text, own_options[i].name,
                              own_options[i].letter) == NULL)
            continue;
        if (own_options[i].use != NULL)
            help = mem_printf("use %s", own_options[i].use);
        rc = diags_add(build->diags, node->place, help,
                       "%s: option '%s' is not allowed: smtune sets %s itself",
                       label, node->text, own_options[i].name);
        free(help);
        return rc;
    }
    return 0;
}

static void build_extra(struct build *build, const struct conf_node *map,
                        const char *what, struct slurm_ask *ask)
{
    const struct conf_node *list = conf_get(map, "extra");
    const char **words;
    char *label;

    if (list == NULL || list->type != CONF_LIST)
        return;
    label = schema_label(what, "extra");
    words = build_take(build->file, mem_array(list->count + 1, sizeof(*words)));
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->type != CONF_TEXT)
            continue;
        check_option(build, list->items[i], label);
        words[ask->extra_count++] = list->items[i]->text;
    }
    if (list->count > EXTRA_MAX)
        diags_add(build->diags, list->place, NULL,
                  "out of range: %s has more than %d options", label,
                  EXTRA_MAX);
    ask->extra = words;
    free(label);
}

void executor_build_ask(struct build *build, const struct conf_node *map,
                        const char *what, struct slurm_ask *ask)
{
    ask->partition = build_word(build, map, what, "partition", " ,");
    ask->account = build_word(build, map, what, "account", " ,");
    ask->qos = build_word(build, map, what, "qos", " ,");
    ask->constraint = build_word(build, map, what, "constraint", " ");
    ask->reservation = build_word(build, map, what, "reservation", " ,");
    ask->mode = conf_read_text(map, "mode", NULL);
    build_extra(build, map, what, ask);
}

/* ---- the rest of what slurm knows ---- */

static void build_setup(struct build *build, const struct conf_node *node,
                        struct slurm_options *slurm)
{
    bool is_list = node != NULL && node->type == CONF_LIST;
    size_t count = is_list ? node->count : 1;
    const char **lines;

    if (node == NULL || (!is_list && node->type != CONF_TEXT))
        return;
    lines = build_take(build->file, mem_array(count, sizeof(*lines)));
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *line = is_list ? node->items[i] : node;

        if (line->type != CONF_TEXT)
            continue;
        build_check_setup_line(build, line);
        lines[slurm->setup_count++] = line->text;
    }
    slurm->setup = lines;
}

/* A pattern of what people see of a job; it may be empty. */
static const char *build_label(struct build *build, const struct conf_node *map,
                               const char *key)
{
    const struct conf_node *node = find_text(map, key);
    struct job_label *label = NULL;
    char *name;
    struct err err;

    if (node == NULL)
        return NULL;
    name = schema_label("'executor'", key);
    if (node->text[0] != '\0' && check_text(build, node, name, "") != 0) {
        free(name);
        return NULL;
    }
    label = job_label_create(node->text, &err);
    if (label == NULL) {
        err_prefix(&err, "%s", name);
        build_add_error(build, node, &err);
    }
    job_label_destroy(label);
    free(name);
    return node->text;
}

static void build_transport(struct build *build, const struct conf_node *map,
                            struct slurm_options *slurm)
{
    static const char *const beginnings[] = {"unix:/", "http://", "https://"};
    const struct conf_node *transport = conf_get(map, "transport");
    const struct conf_node *url = find_text(map, "url");
    bool is_sound = false;

    slurm->transport = conf_read_text(map, "transport", "commands");
    slurm->url = build_word(build, map, "'executor'", "url", " ");
    if (url == NULL && strcmp(slurm->transport, "rest") == 0)
        diags_add(build->diags, transport->place,
                  "for example url: \"unix:/run/slurmrestd.sock\"",
                  "missing key 'executor.url', which transport 'rest' "
                  "requires");
    for (size_t i = 0; url != NULL && i < ARRAY_LEN(beginnings); i++)
        is_sound |=
            strncmp(url->text, beginnings[i], strlen(beginnings[i])) == 0;
    if (url != NULL && !is_sound)
        diags_add(build->diags, url->place, NULL,
                  "'executor.url' must be unix:/PATH, http://HOST:PORT or "
                  "https://HOST:PORT, not '%s'",
                  url->text);
}

static void build_pilot(const struct conf_node *map,
                        struct slurm_options *slurm)
{
    slurm->pilot_cpus = (int)conf_read_int(map, "cpus", 0);
    slurm->pilot_gpus = (int)conf_read_int(map, "gpus", 0);
    slurm->pilot_memory_bytes = conf_read_bytes(map, "memory", 0);
    slurm->pilot_time_ms = conf_read_ms(map, "time", 0);
    slurm->pilot_max = (int)conf_read_int(map, "max", 0);
    slurm->pilot_idle_ms = conf_read_ms(map, "idle", 0);
}

static void build_signs(struct build *build, const struct conf_node *map,
                        struct slurm_options *slurm)
{
    slurm->heartbeat_ms = conf_read_ms(map, "heartbeat", HEARTBEAT_MS);
    slurm->silence_ms = conf_read_ms(map, "silence", SILENCE_MS);
    slurm->poll_ms = conf_read_ms(map, "poll", POLL_MS);
    if (slurm->silence_ms >= 2 * slurm->heartbeat_ms)
        return;
    map = conf_get(map,
                   conf_get(map, "silence") != NULL ? "silence" : "heartbeat");
    diags_add(build->diags, map->place, NULL,
              "out of range: 'executor.silence' must be at least twice "
              "'executor.heartbeat', or one late pulse counts as a lost "
              "node");
}

static const struct slurm_options *build_slurm(struct build *build,
                                               const struct conf_node *map)
{
    struct slurm_options *slurm = mem_zero(sizeof(*slurm));

    build_take(build->file, slurm);
    executor_build_ask(build, map, "'executor'", &slurm->ask);
    slurm->nodes = (int)conf_read_int(map, "nodes", 0);
    slurm->tasks = (int)conf_read_int(map, "tasks", 0);
    slurm->gpus = (int)conf_read_int(map, "gpus", 0);
    slurm->time_ms = conf_read_ms(map, "time", 0);
    slurm->health = build_word(build, map, "'executor'", "health", "");
    slurm->without_environment =
        strcmp(conf_read_text(map, "environment", "inherit"), "none") == 0;
    slurm->job_name = build_label(build, map, "job_name");
    slurm->comment = build_label(build, map, "comment");
    build_setup(build, conf_get(map, "setup"), slurm);
    build_signs(build, map, slurm);
    build_transport(build, map, slurm);
    build_pilot(conf_get(map, "pilot"), slurm);
    return slurm;
}

/* ---- the executor ---- */

static void build_script(struct build *build, const struct conf_node *node,
                         struct executor_options *options)
{
    const char *script = conf_read_text(node, "script", NULL);

    if (script == NULL)
        return;
    options->script = build_resolve_path(build->file, script);
    if (strcmp(options->name, "fake") != 0)
        diags_add(build->diags, conf_get_key(node, "script")->place, NULL,
                  "'executor.script' is only for the fake executor");
}

void executor_build(struct build *build, const struct conf_node *node,
                    struct executor_options *options)
{
    const struct slurm_options *slurm = build_slurm(build, node);

    *options = (struct executor_options){
        .name = conf_read_text(node, "name", "local"),
        .cpus = -1,
        .gpus = -1,
        .without_cgroups =
            strcmp(conf_read_text(node, "cgroup", "auto"), "off") == 0,
    };
    if (node != NULL && node->type == CONF_TEXT)
        options->name = node->text;
    if (strcmp(options->name, "slurm") == 0) {
        options->slurm = slurm;
        options->parallel = SLURM_PARALLEL;
    } else {
        options->cpus = (int)conf_read_int(node, "cpus", -1);
        options->gpus = (int)conf_read_int(node, "gpus", -1);
    }
    build_script(build, node, options);
}
