/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/experiment_impl.h"

enum { EXIT_STATUS_MAX = 255, CAUSE_WORDS_MAX = CAUSE_COUNT };

static bool is_failure(int cause)
{
    return cause >= 0 && cause != CAUSE_OK && cause != CAUSE_CANCELLED;
}

/* The causes that a rule may name. */
static size_t list_causes(const char **words)
{
    size_t count = 0;

    for (int i = 0; i < CAUSE_COUNT; i++)
        if (is_failure(i))
            words[count++] = attempt_cause_names[i];
    return count;
}

static int read_exit(struct build *build, const struct conf_node *node,
                     int *status)
{
    const char *digits = node->text + strlen("exit:");
    size_t length = strspn(digits, "0123456789");

    *status = 0;
    if (length > 0 && length <= 3 && digits[length] == '\0')
        *status = (int)strtol(digits, NULL, 10);
    if (*status >= 1 && *status <= EXIT_STATUS_MAX)
        return 0;
    return diags_add(build->diags, node->place, NULL,
                     "'%s' must be exit:1 to exit:%d", node->text,
                     EXIT_STATUS_MAX);
}

static void add_match(struct build *build, struct retry_rule *rule, int *exits,
                      const struct conf_node *node)
{
    const char *words[CAUSE_WORDS_MAX];
    int cause;

    if (node->type != CONF_TEXT)
        return;
    cause = attempt_cause_find(node->text);
    if (strncmp(node->text, "exit:", strlen("exit:")) == 0) {
        if (read_exit(build, node, &exits[rule->exit_count]) == 0)
            rule->exit_count++;
    } else if (is_failure(cause)) {
        rule->causes |= 1u << cause;
    } else {
        diags_add_unknown(build->diags, node->place, node->text, words,
                          list_causes(words), "a retry rule cannot match '%s'",
                          node->text);
    }
}

static void read_rule(struct build *build, struct retry_rule *rule,
                      const struct conf_node *node)
{
    const struct conf_node *match = conf_get(node, "match");
    const struct conf_node *longest = conf_get(node, "max_delay");
    size_t count = match != NULL && match->type == CONF_LIST ? match->count : 1;
    int *exits = mem_array(count, sizeof(*exits));

    rule->exits = exits;
    rule->max = experiment_int(node, "max", 1);
    rule->delay_ms = experiment_ms(node, "delay", 0);
    rule->backoff = experiment_number(node, "backoff", 1);
    rule->max_delay_ms = experiment_ms(node, "max_delay", 0);
    if (strcmp(experiment_text(node, "jitter", "none"), "full") == 0)
        rule->jitter = JITTER_FULL;
    if (match != NULL && match->type != CONF_LIST)
        add_match(build, rule, exits, match);
    for (size_t i = 0; match != NULL && i < match->count; i++)
        add_match(build, rule, exits, match->items[i]);
    if (match != NULL && match->type == CONF_LIST && match->count == 0)
        diags_add(build->diags, match->place, NULL,
                  "the retry rule matches nothing");
    if (longest != NULL && rule->max_delay_ms > 0 &&
        rule->max_delay_ms < rule->delay_ms)
        diags_add(build->diags, longest->place, NULL,
                  "max_delay %s is below delay %s", longest->text,
                  conf_get(node, "delay")->text);
}

void experiment_build_retries(struct build *build,
                              const struct conf_node *rules)
{
    struct experiment *experiment = build->experiment;

    if (rules == NULL || rules->type != CONF_LIST)
        return;
    experiment->retries = mem_array(rules->count, sizeof(*experiment->retries));
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i]->type == CONF_MAP)
            read_rule(build, &experiment->retries[experiment->retry_count++],
                      rules->items[i]);
}
