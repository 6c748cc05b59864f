/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_JOB_SPEC_BUILD_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_JOB_SPEC_BUILD_H

#include "orchestrator/spec/experiment/build.h"

/*
 * A task put together from the keys of a map: an experiment's `trial`, or a
 * step of a workflow. Errors go to build->diags; what the schema has refused
 * is passed over.
 */
struct job_spec_build {
    struct build *build;
    struct job_spec *task;
    const char *what; /* the map in messages: "'trial'", "step 'train'" */
    const char *who;  /* what runs: "a trial", "a step" */
    struct diag_place place; /* of the map, for what is in none of its keys */
    const struct expr_table *tables; /* of templates; NULL: none is read */
    size_t table_count;
    bool allows_files; /* ${{ files() }} in what is read now */
    /* Called with each template before it is compiled; may give it more
     * tables, behind those there are. Not 0: it is wrong, and was told. NULL:
     * nothing is to be done. */
    int (*prepare)(struct job_spec_build *t, const struct conf_node *text);
};

/* A text as a template; `label` goes before what is wrong with it. */
struct template *job_spec_build_text(struct job_spec_build *t,
                                     const struct conf_node *node,
                                     enum template_mode mode,
                                     const char *label);

/* `command`, words or a list of them, or `shell`. */
void job_spec_build_command(struct job_spec_build *t,
                            const struct conf_node *node, bool is_shell);
/* `shell` beside `command`: the shell that runs the command as a script. */
void job_spec_build_interpreter(struct job_spec_build *t,
                                const struct conf_node *command,
                                const struct conf_node *shell);
/* Lines of bash before the command; NULL: none. Behind those of the executor,
 * which job_spec_settle() puts first. */
void job_spec_build_setup(struct job_spec_build *t,
                          const struct conf_node *node);
/* Puts the executor's lines of bash before its own. */
void job_spec_prepend_setup(struct job_spec *spec,
                            const struct slurm_options *slurm);
/* `container` and `conda` of the map, one of which may be there. own: the map
 * without defaults, whose one replaces the other of a default. */
void job_spec_build_container(struct job_spec_build *t,
                              const struct conf_node *map,
                              const struct conf_node *own);
/* Where the command starts; NULL: where the run does. */
void job_spec_build_workdir(struct job_spec_build *t,
                            const struct conf_node *node);
/* `env`, `env_from` and `env_file` of the map. */
void job_spec_build_environment(struct job_spec_build *t,
                                const struct conf_node *map);
void job_spec_build_channels(struct job_spec_build *t,
                             const struct conf_node *map);
/* Without a node: every NAME=NUMBER is a metric. */
void job_spec_build_metrics(struct job_spec_build *t,
                            const struct conf_node *metrics);
void job_spec_build_resources(struct job_spec_build *t,
                              const struct conf_node *map);
/* `pool` and `pools` of the map, one of which may be there. */
void job_spec_build_pools(struct job_spec_build *t,
                          const struct conf_node *map);
void job_spec_build_retries(struct job_spec_build *t,
                            const struct conf_node *rules);
/* After the resources, some of which a rule may scale. */
void job_spec_check_retries(const struct job_spec_build *t,
                            const struct conf_node *rules);
/* After the resources, whose map is given: what they leave out is as the
 * executor has it. One that wants more than there is would wait for ever, and
 * what cannot be divided evenly among its nodes and ranks is an error. */
void job_spec_settle(const struct job_spec_build *t,
                     const struct conf_node *map,
                     const struct executor_options *executor);

/* Whether a template of the command, the environment or a channel reads a
 * column. */
bool job_spec_uses(const struct job_spec *spec, size_t column);
/* Whether one does, or the command reads a variable in its text, or by a
 * program that is known to read all of ours. */
bool job_spec_reads(const struct job_spec_build *t, const struct conf_node *map,
                    size_t column, const char *variable);

/* "USR2", "SIGUSR2", "12": its number. -1 with a message at the node. */
int job_spec_find_signal(const struct build *build,
                         const struct conf_node *node, const char *text);
/* Whether `text` may be (the end of) an environment variable's name. */
bool job_spec_is_variable(const char *text);

void job_spec_clear(struct job_spec *spec);

#endif
