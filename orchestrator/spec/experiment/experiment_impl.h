/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_EXPERIMENT_IMPL_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_EXPERIMENT_IMPL_H

#include "orchestrator/spec/experiment/build.h"

/* What the files of orchestrator/spec/experiment/experiment*.c share; nobody
 * else includes it. */

/* Bounds in the tables of keys: of times in seconds, and of sizes. */
#define DAY_S     86400.0
#define BYTES_MAX 0x1p53
/* Of memory: in less no program can be executed. */
#define MEMORY_MIN 0x1p24

/* One entry of `parameters`; the rest of the schema is experiment_schema. */
extern const struct schema_key experiment_param;
/* The keys of `trial`, of its `resources`, and a rule of its `retry`. */
extern const struct schema_key experiment_trial_keys[];
extern const struct schema_key experiment_resource_keys[];
extern const struct schema_key experiment_retry_element;
/* How much of a pool is taken. */
extern const struct schema_key experiment_claim_element;
extern const struct schema_key experiment_executor_keys[];
/* A line of `setup`. */
extern const struct schema_key experiment_line_element;
/* Keys that a trial and a step have alike. */
#define EXPERIMENT_KEY_WORKDIR                                                 \
    {                                                                          \
        .name = "workdir",                                                     \
        .known_as =                                                            \
            "cwd working_dir working_directory working-directory chdir",       \
        .type = SCHEMA_TEXT, .min = 1,                                         \
        .doc = "The folder in which the command starts, with ${{ }} "          \
               "templates, such as ${{ dir }}. A relative path starts at "     \
               "the folder of the file.",                                      \
        .fallback = "the folder in which smtune run started",                  \
        .example = "\"${{ file_dir }}/src\"",                                  \
    }
#define EXPERIMENT_KEY_SETUP                                                   \
    {                                                                          \
        .name = "setup",                                                       \
        .known_as = "before_script prologue pre_command env_setup",            \
        .type = SCHEMA_LIST | SCHEMA_TEXT,                                     \
        .element = &experiment_line_element,                                   \
        .doc = "Lines of bash before the command, in the same process: a "     \
               "line may set variables or change the folder. A line that "     \
               "fails ends the attempt with the cause setup_failed. With "     \
               "slurm, the lines of executor.setup come first.",               \
        .fallback = "none", .example = "[source ~/venv/bin/activate]",         \
    }
/* The keys of `container`. */
extern const struct schema_key experiment_container_keys[];
#define EXPERIMENT_KEY_CONTAINER                                               \
    {                                                                          \
        .name = "container",                                                   \
        .known_as = "singularity apptainer docker podman container_image "     \
                    "docker_image container-image",                            \
        .type = SCHEMA_MAP | SCHEMA_TEXT, .min = 1, .shorthand = "image",      \
        .keys = experiment_container_keys,                                     \
        .doc = "The container in which the command runs. With slurm it is "    \
               "started on the node. The lines of `setup` run before it, "     \
               "outside.",                                                     \
        .fallback = "none", .example = "\"docker://python:3.12\"",             \
    }
#define EXPERIMENT_KEY_CONDA                                                   \
    {                                                                          \
        .name = "conda",                                                       \
        .known_as = "conda_env conda-env conda_environment micromamba mamba",  \
        .type = SCHEMA_TEXT, .min = 1,                                         \
        .doc = "The conda environment of the command: a name, or the path "    \
               "of its folder, with ${{ }} templates. A relative path has a "  \
               "slash and starts at the folder of the file. conda, mamba or "  \
               "micromamba activates it after `setup`. If none can, the "      \
               "attempt ends with the cause setup_failed.",                    \
        .fallback = "none", .example = "pytorch-2.5",                          \
    }
/* The name of a variable of the environment. */
extern const struct schema_key experiment_variable_name;
#define EXPERIMENT_KEY_ENV_FROM                                                \
    {                                                                          \
        .name = "env_from",                                                    \
        .known_as = "pass_env passenv passthrough_env env_pass",               \
        .type = SCHEMA_LIST | SCHEMA_TEXT, .min = 1,                           \
        .element = &experiment_variable_name,                                  \
        .doc = "Variables whose values come from the environment of smtune "   \
               "at each start, so that a secret is in no file and not in "     \
               "the record. smtune starts nothing if one is not set. They "    \
               "also reach containers and, with any `executor.environment`, "  \
               "the nodes of slurm.",                                          \
        .fallback = "none", .example = "[HF_TOKEN]",                           \
    }
#define EXPERIMENT_KEY_ENV_FILE                                                \
    {                                                                          \
        .name = "env_file", .known_as = "envfile env-file dotenv",             \
        .type = SCHEMA_TEXT, .min = 1,                                         \
        .doc = "A file with a line NAME=VALUE for each variable, read at "     \
               "each start on the machine where smtune runs. A relative "      \
               "path starts at the folder of the file. Give it mode 0600. "    \
               "`env_from` replaces its values, and `env` replaces both.",     \
        .fallback = "none", .example = "secrets.env",                          \
    }
/* The keys of `schedule`. */
extern const struct schema_key experiment_schedule_keys[];
/* Search methods that stand for a schedule as well: X(name, search method,
 * share of random settings). BOHB: Falkner et al. 2018, section 4. */
#define EXPERIMENT_SHORTHANDS(X)                                               \
    X("hyperband", "random", 0)                                                \
    X("bohb", "tpe", 1.0 / 3)
/* Their names, NULL-ended. */
extern const char *const experiment_search_shorthands[];
/* One entry of `notify`, and its keys. */
extern const struct schema_key experiment_receiver;
extern const struct schema_key experiment_receiver_keys[];

/* An experiment with nothing but a file behind it: takes the document, which
 * `keys` describe and to which it applies the assignments. NULL on error; then
 * the document is gone. */
struct experiment_file *experiment_open(struct conf_doc *doc,
                                        const struct experiment_source *source,
                                        const struct schema_key *keys,
                                        struct err *err);

/* Parts groups of parameters: {model: {lr: ...}} becomes {model.lr: ...}. */
void experiment_flatten(struct conf_doc *doc);

/* A value as the file has it; a text is the node's. -1 where a number is not
 * finite. */
int experiment_read_value(struct build *build, const struct conf_node *node,
                          struct value *value);

/* Whether templates have a column of that name besides the parameters (of the
 * schedule's resource aside). */
bool experiment_is_own_column(const char *name);

/* What an expression of a condition or a constraint that no setting satisfies
 * may have meant; NULL: nothing is known. The caller frees it. */
char *experiment_explain_unsatisfied(const struct space *space,
                                     const char *text);
/* Of experiment_warn: conditions and constraints. */
void experiment_warn_space(const struct experiment *experiment,
                           const struct conf_doc *doc, struct diags *warnings);

/* The parts. Errors go to build->diags. */
/* After the search and before the columns are known. */
void experiment_build_schedule(struct build *build,
                               const struct conf_node *root);
/* After the trial: what hangs on its checkpoints. */
void experiment_finish_schedule(struct build *build,
                                const struct conf_node *root);
void experiment_build_space(struct build *build, const struct conf_node *root);
void experiment_build_outcomes(struct build *build,
                               const struct conf_node *node);
/* Where metrics are named, each that is asked for must be among them. */
void experiment_check_metrics(struct build *build,
                              const struct conf_node *root);
void experiment_build_warm_start(struct build *build,
                                 const struct conf_node *node);
void experiment_build_enqueue(struct build *build,
                              const struct conf_node *list);
void experiment_build_trial(struct build *build, const struct conf_node *trial);
struct job_spec_build;
/* `trial.files`, for experiment_build_trial. */
void experiment_build_files(struct job_spec_build *t,
                            const struct conf_node *list);
void experiment_build_notify(struct build *build, const struct conf_node *node);
/* The name, or one made of the path's; `kind` is what the file is: experiment,
 * workflow. */
void experiment_build_name(struct build *build, const struct conf_node *root,
                           const char *kind);

#endif
