/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_TASK_BUILD_H
#define SMTUNE_ORCHESTRATOR_SPEC_TASK_BUILD_H

#include "orchestrator/spec/build.h"

/*
 * A task put together from the keys of a map: an experiment's `trial`, or a
 * step of a workflow. Errors go to build->diags; what the schema has refused
 * is passed over.
 */
struct task_build {
    struct build *build;
    struct task *task;
    const char *what; /* the map in messages: "'trial'", "step 'train'" */
    const char *who;  /* what runs: "a trial", "a step" */
    struct diag_place place; /* of the map, for what is in none of its keys */
    const struct expr_table *tables; /* of templates; NULL: none is read */
    size_t table_count;
    /* Called with each template before it is compiled; may give it more
     * tables, behind those there are. Not 0: it is wrong, and was told. NULL:
     * nothing is to be done. */
    int (*prepare)(struct task_build *t, const struct conf_node *text);
};

/* A text as a template; `label` goes before what is wrong with it. */
struct template *task_build_text(struct task_build *t,
                                 const struct conf_node *node,
                                 enum template_mode mode, const char *label);

/* `command`, words or a list of them, or `shell`. */
void task_build_command(struct task_build *t, const struct conf_node *node,
                        bool is_shell);
void task_build_environment(struct task_build *t, const struct conf_node *map);
void task_build_channels(struct task_build *t, const struct conf_node *map);
/* Without a node: every NAME=NUMBER is a metric. */
void task_build_metrics(struct task_build *t, const struct conf_node *metrics);
void task_build_resources(struct task_build *t, const struct conf_node *map);
/* `pool` and `pools` of the map, one of which may be there. */
void task_build_pools(struct task_build *t, const struct conf_node *map);
void task_build_retries(struct task_build *t, const struct conf_node *rules);
/* After the resources, some of which a rule may scale. */
void task_check_retries(const struct task_build *t,
                        const struct conf_node *rules);
/* After the resources, whose map is given: what they leave out is as the
 * executor has it. One that wants more than there is would wait for ever. */
void task_settle(const struct task_build *t, const struct conf_node *map,
                 const struct executor_options *executor);

/* Whether a template of the command, the environment or a channel reads a
 * column. */
bool task_uses(const struct task *task, size_t column);
/* Whether one does, or the command reads a variable in its text, or by a
 * program that is known to read all of ours. */
bool task_reads(const struct task_build *t, const struct conf_node *map,
                size_t column, const char *variable);

/* "USR2", "SIGUSR2", "12": its number. -1 with a message at the node. */
int task_find_signal(const struct build *build, const struct conf_node *node,
                     const char *text);
/* Whether `text` may be (the end of) an environment variable's name. */
bool task_is_variable(const char *text);

void task_clear(struct task *task);

#endif
