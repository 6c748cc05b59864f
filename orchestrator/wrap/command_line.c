/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A task's command as text that a shell would accept, for people and for `best
 * --command`. It expands the same template as the engine does, so it shows what
 * was started. To run it by hand, it also has what an attempt has around its
 * command, in the same order: variables, folder, `setup`, the conda
 * environment, ranks, the container.
 */
#include "orchestrator/wrap/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/word_list.h"
#include "orchestrator/spec/command/shebang.h"
#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/experiment/workdir.h"
#include "orchestrator/wrap/conda.h"
#include "orchestrator/wrap/container.h"
#include "orchestrator/wrap/env_sources.h"
#include "strategies/schedules/scheduler.h"

static void add_words(char *const *words, struct buf *out)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0)
            buf_add_char(out, ' ');
        shell_add_word(words[i], out);
    }
}

static void add_document(const char *script, struct buf *out)
{
    static const char end[] = "END_OF_SCRIPT";

    buf_printf(out, "<<'%s'\n%s", end, script);
    if (script[strlen(script) - 1] != '\n')
        buf_add_char(out, '\n');
    buf_add_string(out, end);
}

/* Of a script that names its program: as that program's input. */
static void add_here_document(const char *script, struct buf *out)
{
    char **words = shebang_words(script, "/dev/stdin");

    if (words != NULL) {
        add_words(words, out);
        buf_add_char(out, ' ');
    }
    add_document(script, out);
    words_free(words);
}

static int add_script(const struct job_spec *spec, const struct value *values,
                      struct buf *out, struct err *err)
{
    struct buf script = BUF_INIT;
    int result = template_expand(spec->command, values, &script, err);

    if (result == 0 && shebang_is_in(buf_text(&script))) {
        add_here_document(buf_text(&script), out);
    } else if (result == 0 && spec->interpreter == NULL) {
        buf_add_string(out, buf_text(&script));
    } else if (result == 0) {
        buf_printf(out, "%s -eo pipefail -c ", spec->interpreter);
        shell_add_word(buf_text(&script), out);
    }
    buf_clear(&script);
    return result;
}

int command_line_expand(const struct job_spec *spec, const struct value *values,
                        struct buf *out, struct err *err)
{
    char **words;

    if (spec->is_shell)
        return add_script(spec, values, out, err);
    words = template_expand_words(spec->command, values, err);
    if (words == NULL)
        return -1;
    add_words(words, out);
    words_free(words);
    return 0;
}

/* ---- by hand ---- */

struct printing {
    const struct command_line *line;
    const struct job_spec *task;
    const struct value *values;
    const char *separator;
    char *work_directory;        /* of the task; NULL: the run's */
    struct word_list variables;  /* that are set before the command */
    const char *variable_prefix; /* container_put_by_hand() */
    char **words;                /* with all that runs the command */
    struct buf *out;
};

/* A variable whose value is null is not set in a trial, either. */
static int add_variable(struct printing *p, const struct env_entry *entry,
                        struct err *err)
{
    int null = template_is_null(entry->value, p->values, err);
    struct buf text = BUF_INIT;
    int result = null < 0 ? -1 : 0;

    if (null > 0)
        buf_printf(p->out, "unset %s", entry->name);
    if (null == 0)
        result = template_expand(entry->value, p->values, &text, err);
    if (null == 0 && result == 0) {
        buf_printf(p->out, "export %s=", entry->name);
        shell_add_word(buf_text(&text), p->out);
        word_list_add(&p->variables,
                      mem_printf("%s=%s", entry->name, buf_text(&text)));
    }
    buf_clear(&text);
    return result;
}

/* Whoever runs it has the variables of env_from. Those of env_file come from
 * the file, which has to be one for a shell then. */
static void add_sources(struct printing *p)
{
    struct word_list file = {0};
    struct err ignored;

    if (p->task->env_file != NULL) {
        buf_printf(p->out, "set -a%s. ", p->separator);
        shell_add_word(p->task->env_file, p->out);
        buf_printf(p->out, "%sset +a%s", p->separator, p->separator);
    }
    env_sources_read_file(p->task, &file, &ignored);
    for (size_t i = 0; i < file.count; i++)
        word_list_add(&p->variables,
                      mem_printf("%.*s=", (int)strcspn(file.items[i], "="),
                                 file.items[i]));
    for (size_t i = 0; i < p->task->env_from_count; i++)
        word_list_add(&p->variables, mem_printf("%s=", p->task->env_from[i]));
    words_free(file.items);
}

static int add_environment(struct printing *p, struct err *err)
{
    const struct command_by_hand *by_hand = p->line->by_hand;

    for (size_t i = 0; by_hand->variables[i] != NULL; i++)
        word_list_copy(&p->variables, by_hand->variables[i]);
    add_sources(p);
    for (size_t i = 0; i < p->task->environment_count; i++) {
        if (add_variable(p, &p->task->environment[i], err) != 0)
            return -1;
        buf_add_string(p->out, p->separator);
    }
    return 0;
}

/* After the lines of `setup`, as for a trial. */
static int add_conda(struct printing *p, struct err *err)
{
    char *name;

    if (conda_expand(p->task, p->values, &name, err) != 0)
        return -1;
    if (name != NULL) {
        buf_printf(p->out, "{ %ssmtune_conda=", conda_activation);
        shell_add_word(name, p->out);
        buf_printf(p->out, "; smtune_activate; }%s",
                   p->task->is_shell ? " || exit\n" : p->separator);
    }
    free(name);
    return 0;
}

/* A script that names its program goes into a file. */
static char **file_words(const struct printing *p, const char *script,
                         struct err *err)
{
    char *path = fs_join(p->line->directory, "command");
    char **words = shebang_words(script, path);

    if (words == NULL) {
        err_set(err, ERR_FILE,
                "the first line '#!' of the script names no program");
    } else {
        buf_add_string(p->out, "cat >");
        shell_add_word(path, p->out);
        buf_add_char(p->out, ' ');
        add_document(script, p->out);
        buf_add_char(p->out, '\n');
    }
    free(path);
    return words;
}

/* Those of the command alone. */
static char **command_words(const struct printing *p, struct err *err)
{
    struct buf script = BUF_INIT;
    char **words = NULL;

    if (!p->task->is_shell)
        return template_expand_words(p->task->command, p->values, err);
    if (template_expand(p->task->command, p->values, &script, err) == 0)
        words = shebang_is_in(buf_text(&script))
                    ? file_words(p, buf_text(&script), err)
                    : script_words(p->task->interpreter, buf_text(&script));
    buf_clear(&script);
    return words;
}

/* The names that `smtune launch` sets, for a container that has only variables
 * that are named. */
static void add_rank_names(const struct printing *p, struct word_list *list)
{
    static const char *const names[] = {
        "RANK=",        "WORLD_SIZE=",  "LOCAL_RANK=", "LOCAL_WORLD_SIZE=",
        "MASTER_ADDR=", "MASTER_PORT=",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (p->task->resources.tasks > 1)
            word_list_copy(list, names[i]);
}

static int put_container(struct printing *p, struct err *err)
{
    const struct command_by_hand *by_hand = p->line->by_hand;
    struct container_order order = {
        .task = p->task,
        .values = p->values,
        .resources = &p->task->resources,
        .run_directory = by_hand->run_directory,
        .attempt_directory = p->line->directory,
        .work_directory = p->work_directory != NULL ? p->work_directory
                                                    : by_hand->work_directory,
    };
    struct word_list environment = {0}, names = {0};
    int result;

    if (p->task->container.image == NULL)
        return 0;
    environment.items = mem_zero(sizeof(char *));
    for (size_t i = 0; i < p->variables.count; i++) {
        const char *variable = p->variables.items[i];

        word_list_copy(&environment, variable);
        word_list_add(&names, mem_copy_bytes(variable, strcspn(variable, "=")));
    }
    order.variables = names.items;
    add_rank_names(p, &environment);
    result = container_put_by_hand(&order, environment.items, &p->words,
                                   &p->variable_prefix, err);
    words_free(names.items);
    words_free(environment.items);
    return result;
}

static void put_launch(struct printing *p)
{
    const struct resources *resources = &p->task->resources;
    struct word_list words = {0};

    if (resources->tasks <= 1)
        return;
    word_list_copy(&words, "smtune");
    word_list_copy(&words, "launch");
    word_list_add(&words, mem_printf("--tasks=%d", resources->tasks));
    word_list_add(
        &words,
        mem_printf("--nodes=%d", resources->nodes > 1 ? resources->nodes : 1));
    if (resources->pins)
        word_list_copy(&words, "--pin");
    if (resources->splits_gpus)
        word_list_copy(&words, "--split-gpus");
    word_list_copy(&words, "--");
    for (size_t i = 0; p->words[i] != NULL; i++)
        word_list_add(&words, p->words[i]);
    free(p->words);
    p->words = words.items;
}

static void prefer_variables(const struct printing *p)
{
    for (size_t i = 0; i < p->variables.count; i++) {
        const char *text = p->variables.items[i];
        int length = (int)strcspn(text, "=");

        if (p->variable_prefix != NULL)
            buf_printf(p->out, "export %s%.*s=\"$%.*s\"%s", p->variable_prefix,
                       length, text, length, text, p->separator);
    }
}

static int add_wrapped(struct printing *p, struct err *err)
{
    p->words = command_words(p, err);
    if (p->words == NULL || put_container(p, err) != 0)
        return -1;
    put_launch(p);
    prefer_variables(p);
    add_words(p->words, p->out);
    return 0;
}

/* ---- a trial's ---- */

/* Into the folder where the command starts, and the lines before it. */
static int add_start(struct printing *p, struct err *err)
{
    if (workdir_expand(p->task, p->values, &p->work_directory, err) != 0)
        return -1;
    if (p->work_directory != NULL) {
        buf_add_string(p->out, "cd ");
        shell_add_word(p->work_directory, p->out);
        buf_add_string(p->out, p->separator);
    }
    for (size_t i = 0; i < p->task->setup_count; i++)
        buf_printf(p->out, "%s%s", p->task->setup[i], p->separator);
    return 0;
}

static int print_line(struct printing *p, struct err *err)
{
    bool is_by_hand = p->line->by_hand != NULL;

    if (is_by_hand && add_environment(p, err) != 0)
        return -1;
    if (add_start(p, err) != 0)
        return -1;
    if (is_by_hand && add_conda(p, err) != 0)
        return -1;
    if (is_by_hand && command_line_is_wrapped(p->task))
        return add_wrapped(p, err);
    return command_line_expand(p->task, p->values, p->out, err);
}

bool command_line_is_wrapped(const struct job_spec *spec)
{
    return spec->container.image != NULL || spec->resources.tasks > 1;
}

struct value *command_line_values(const struct command_line *line)
{
    size_t count = space_count(line->experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));

    memcpy(values, line->point, count * sizeof(*values));
    values[count + EXTRA_TRIAL] = value_int(line->trial);
    values[count + EXTRA_RUN] = value_text(line->run);
    values[count + EXTRA_DIR] = value_text(line->directory);
    values[count + EXTRA_REPEAT] =
        value_int(experiment_repeat(line->experiment, line->trial));
    values[count + EXTRA_FILE_DIR] = value_text(line->experiment->folder);
    values[count + EXTRA_CHECKPOINT_DIR] =
        value_text(line->checkpoint_directory);
    if (line->resource > 0 && line->resource != SCHEDULE_NO_MAX)
        values[count + EXTRA_RESOURCE] = value_int((int64_t)line->resource);
    return values;
}

int command_line_print(const struct command_line *line, struct buf *out,
                       struct err *err)
{
    const struct job_spec *task = &line->experiment->task;
    struct value *values = command_line_values(line);
    struct printing printing = {.line = line,
                                .task = task,
                                .values = values,
                                .separator = task->is_shell ? "\n" : " && ",
                                .out = out};
    int result = print_line(&printing, err);

    words_free(printing.words);
    words_free(printing.variables.items);
    free(printing.work_directory);
    free(values);
    return result;
}
