/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/job_spec_build.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/conf/schema.h"
#include "base/mem.h"
#include "base/regex.h"
#include "base/system/signals.h"
#include "orchestrator/spec/experiment/signal_name.h"

/* Linux has a name for each of the first 31 signals. */
enum { EXIT_STATUS_MAX = 255 };

/* A rule under way, with the lists that will be the rule's. */
struct match {
    struct build *build;
    struct retry_rule *rule;
    struct exit_range *exits;
};

static bool is_failure(int cause)
{
    return cause >= 0 && cause != CAUSE_OK;
}

/* The whole of text as a number from 1 to max, else -1. */
static int parse_number(const char *text, size_t length, int max)
{
    int number = 0;

    if (length == 0 || length > 3)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = number * 10 + text[i] - '0';
    }
    return number >= 1 && number <= max ? number : -1;
}

/* "75" or "1-10" */
static void add_exits(struct match *match, const struct conf_node *node,
                      const char *text)
{
    size_t length = strcspn(text, "-");
    struct exit_range range;

    range.first = range.last = parse_number(text, length, EXIT_STATUS_MAX);
    if (text[length] == '-')
        range.last = parse_number(text + length + 1, strlen(text + length + 1),
                                  EXIT_STATUS_MAX);
    if (range.first > 0 && range.last >= range.first)
        match->exits[match->rule->exit_count++] = range;
    else
        diags_add(match->build->diags, node->place,
                  text[length] == '-' ? "write a range as exit:1-10" : NULL,
                  "out of range: '%s' must be exit:1 to exit:%d", node->text,
                  EXIT_STATUS_MAX);
}

int job_spec_find_signal(const struct build *build,
                         const struct conf_node *node, const char *text)
{
    const char *names[SIGNAL_NAMES];
    int number = signal_find(text);

    if (number > 0)
        return number;
    for (int i = 0; i < SIGNAL_NAMES; i++)
        names[i] = signal_name(i + 1);
    return diags_add_unknown(build->diags, node->place, text, names,
                             SIGNAL_NAMES, "unknown signal '%s'", text);
}

static void add_signal(struct match *match, const struct conf_node *node,
                       const char *text)
{
    int number = job_spec_find_signal(match->build, node, text);

    if (number > 0)
        match->rule->signals |= UINT64_C(1) << (number - 1);
}

static void add_log(struct match *match, const struct conf_node *node,
                    const char *text)
{
    struct err err;
    struct regex *regex = regex_create(text, REGEX_TEXT, &err);

    if (*text == '\0') {
        diags_add(match->build->diags, node->place, NULL,
                  "'log:' requires a regular expression");
        regex_destroy(regex);
    } else if (regex == NULL) {
        err.line = 1;
        err.column += (int)(text - node->text);
        build_add_error(match->build, node, &err);
    } else {
        match->rule->logs[match->rule->log_count++] = regex;
    }
}

struct kind {
    const char *prefix;
    void (*add)(struct match *match, const struct conf_node *node,
                const char *text);
};

static const struct kind kinds[] = {
    {"exit:", add_exits},
    {"signal:", add_signal},
    {"log:", add_log},
};

/* What a rule may begin with: the causes, and the kinds. */
static size_t list_words(const char **words)
{
    size_t count = 0;

    for (int i = 0; i < CAUSE_COUNT; i++)
        if (is_failure(i))
            words[count++] = attempt_cause_names[i];
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        words[count++] = kinds[i].prefix;
    return count;
}

static void refuse(struct match *match, const struct conf_node *node)
{
    const char *words[CAUSE_COUNT + ARRAY_LEN(kinds)];
    size_t length = strcspn(node->text, ":");
    char *word;

    if (node->text[length] == ':')
        length++;
    word = mem_copy_bytes(node->text, length);
    diags_add_unknown(match->build->diags, node->place, word, words,
                      list_words(words), "a retry rule cannot match '%s'",
                      node->text);
    free(word);
}

static void add_match(struct match *match, const struct conf_node *node)
{
    int cause;

    if (node->type != CONF_TEXT)
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t length = strlen(kinds[i].prefix);

        if (strncmp(node->text, kinds[i].prefix, length) == 0) {
            kinds[i].add(match, node, node->text + length);
            return;
        }
    }
    cause = attempt_cause_find(node->text);
    if (is_failure(cause))
        match->rule->causes |= 1u << cause;
    else
        refuse(match, node);
}

static void read_match(struct build *build, struct retry_rule *rule,
                       const struct conf_node *node)
{
    bool is_list = node != NULL && node->type == CONF_LIST;
    size_t count = is_list ? node->count : 1;
    struct match match = {build, rule, mem_array(count, sizeof(*match.exits))};

    rule->exits = match.exits;
    rule->logs = mem_array(count, sizeof(struct regex *));
    if (node == NULL)
        return;
    if (!is_list)
        add_match(&match, node);
    for (size_t i = 0; is_list && i < count; i++)
        add_match(&match, node->items[i]);
    if (is_list && count == 0)
        diags_add(build->diags, node->place, NULL,
                  "the retry rule matches nothing");
}

static void read_delays(struct build *build, struct retry_rule *rule,
                        const struct conf_node *node)
{
    const struct conf_node *longest = conf_get(node, "max_delay");

    rule->delay_ms = conf_read_ms(node, "delay", 0);
    rule->backoff = conf_read_number(node, "backoff", 1);
    rule->max_delay_ms = conf_read_ms(node, "max_delay", 0);
    if (strcmp(conf_read_text(node, "jitter", "none"), "full") == 0)
        rule->jitter = JITTER_FULL;
    if (longest != NULL && rule->max_delay_ms > 0 &&
        rule->max_delay_ms < rule->delay_ms)
        diags_add(build->diags, longest->place, NULL,
                  "out of range: max_delay %s is below delay %s", longest->text,
                  conf_get(node, "delay")->text);
}

/* ---- resources ---- */

/* What is said of one resource: in `resources` and `cap`. */
struct scaled {
    const char *name;
    int64_t amount, cap; /* 0: none */
};

static void check_scaled(const struct job_spec_build *t,
                         const struct conf_node *node,
                         const struct scaled *scaled, double factor)
{
    const struct conf_node *cap = conf_get_key(conf_get(node, "cap"), //
                                               scaled->name);
    struct diags *diags = t->build->diags;

    if (factor > 0 && scaled->amount == 0) {
        char *label = schema_label(t->what, "resources");

        diags_add(diags,
                  conf_get_key(conf_get(node, "scale"), scaled->name)->place,
                  NULL, "%s has no %s to scale", label, scaled->name);
        free(label);
    }
    if (cap == NULL || scaled->cap == 0)
        return;
    if (factor == 0)
        diags_add(diags, cap->place, NULL,
                  "'cap' limits %s, which the rule does not scale",
                  scaled->name);
    else if (scaled->cap < scaled->amount)
        diags_add(diags, conf_get(conf_get(node, "cap"), scaled->name)->place,
                  NULL,
                  "out of range: %s's cap %s is below the initial value of %s",
                  scaled->name,
                  conf_get(conf_get(node, "cap"), scaled->name)->text, t->who);
}

static void read_scale(struct retry_rule *rule, const struct conf_node *node)
{
    const struct conf_node *scale = conf_get(node, "scale");
    const struct conf_node *cap = conf_get(node, "cap");

    rule->scale = (struct resource_scale){
        .cpus = conf_read_number(scale, "cpus", 0),
        .gpus = conf_read_number(scale, "gpus", 0),
        .memory = conf_read_number(scale, "memory", 0),
        .time = conf_read_number(scale, "time", 0),
    };
    rule->cap = (struct resources){
        .cpus = (int)conf_read_int(cap, "cpus", 0),
        .gpus = (int)conf_read_int(cap, "gpus", 0),
        .memory_bytes = conf_read_bytes(cap, "memory", 0),
        .time_ms = conf_read_ms(cap, "time", 0),
    };
}

static void check_scale(const struct job_spec_build *t,
                        const struct conf_node *node)
{
    const struct conf_node *scale = conf_get(node, "scale");
    const struct conf_node *cap = conf_get(node, "cap");
    const struct resources *resources = &t->task->resources;
    const struct scaled all[] = {
        {"cpus", resources->cpus, conf_read_int(cap, "cpus", 0)},
        {"gpus", resources->gpus, conf_read_int(cap, "gpus", 0)},
        {"memory", resources->memory_bytes, conf_read_bytes(cap, "memory", 0)},
        {"time", resources->time_ms, conf_read_ms(cap, "time", 0)},
    };

    if (resources->gpu_permille > 0 && conf_get(scale, "gpus") != NULL)
        diags_add(t->build->diags, conf_get_key(scale, "gpus")->place, NULL,
                  "a part of a GPU cannot be scaled");
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        check_scaled(t, node, &all[i], conf_read_number(scale, all[i].name, 0));
}

void job_spec_check_retries(const struct job_spec_build *t,
                            const struct conf_node *rules)
{
    if (rules == NULL || rules->type != CONF_LIST)
        return;
    for (size_t i = 0; i < rules->count; i++) {
        if (rules->items[i]->type == CONF_MAP)
            check_scale(t, rules->items[i]);
    }
}

void job_spec_build_retries(struct job_spec_build *t,
                            const struct conf_node *rules)
{
    struct job_spec *spec = t->task;

    if (rules == NULL || rules->type != CONF_LIST)
        return;
    spec->is_tried_once = rules->count == 0;
    spec->retries = mem_array(rules->count, sizeof(*spec->retries));
    for (size_t i = 0; i < rules->count; i++) {
        const struct conf_node *node = rules->items[i];
        struct retry_rule *rule = &spec->retries[spec->retry_count];

        if (node->type != CONF_MAP)
            continue;
        spec->retry_count++;
        rule->max = conf_read_int(node, "max", 1);
        read_match(t->build, rule, conf_get(node, "match"));
        read_delays(t->build, rule, node);
        rule->excludes_node = conf_read_bool(node, "exclude_node", false);
        read_scale(rule, node);
    }
}
