/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A task's command as text that a shell would accept, for people and for `best
 * --command`. It expands the same template as the engine does, so it shows what
 * was started.
 */
#include "orchestrator/spec/experiment/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/template_shell.h"
#include "base/mem.h"
#include "orchestrator/spec/command/shebang.h"
#include "orchestrator/spec/experiment/workdir.h"
#include "strategies/schedules/scheduler.h"

/* Of a script that names its program: as that program's input. */
static void add_here_document(const char *script, struct buf *out)
{
    static const char end[] = "END_OF_SCRIPT";
    char **words = shebang_words(script, "/dev/stdin");

    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        shell_add_word(words[i], out);
        buf_add_char(out, ' ');
    }
    buf_printf(out, "<<'%s'\n%s", end, script);
    if (script[strlen(script) - 1] != '\n')
        buf_add_char(out, '\n');
    buf_add_string(out, end);
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
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0)
            buf_add_char(out, ' ');
        shell_add_word(words[i], out);
    }
    words_free(words);
    return 0;
}

/* A variable whose value is null is not set in a trial, either. */
static int add_variable(const struct env_entry *entry,
                        const struct value *values, struct buf *out,
                        struct err *err)
{
    int null = template_is_null(entry->value, values, err);
    struct buf text = BUF_INIT;
    int result = null < 0 ? -1 : 0;

    if (null > 0)
        buf_printf(out, "unset %s", entry->name);
    if (null == 0)
        result = template_expand(entry->value, values, &text, err);
    if (null == 0 && result == 0) {
        buf_printf(out, "export %s=", entry->name);
        shell_add_word(buf_text(&text), out);
    }
    buf_clear(&text);
    return result;
}

static int add_environment(const struct job_spec *spec,
                           const struct value *values, struct buf *out,
                           struct err *err)
{
    for (size_t i = 0; i < spec->environment_count; i++) {
        if (add_variable(&spec->environment[i], values, out, err) != 0)
            return -1;
        buf_add_string(out, spec->is_shell ? "\n" : " && ");
    }
    return 0;
}

/* Into the folder where the command starts, and the lines before it. */
static int add_start(const struct job_spec *spec, const struct value *values,
                     struct buf *out, struct err *err)
{
    const char *separator = spec->is_shell ? "\n" : " && ";
    char *path;

    if (workdir_expand(spec, values, &path, err) != 0)
        return -1;
    if (path != NULL) {
        buf_add_string(out, "cd ");
        shell_add_word(path, out);
        buf_add_string(out, separator);
    }
    for (size_t i = 0; i < spec->setup_count; i++)
        buf_printf(out, "%s%s", spec->setup[i], separator);
    free(path);
    return 0;
}

int command_line_print(const struct command_line *line, struct buf *out,
                       struct err *err)
{
    size_t count = space_count(line->experiment->space);
    struct value *values = mem_array(count + EXTRA_COUNT, sizeof(*values));
    int result;

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
    result = line->with_environment
                 ? add_environment(&line->experiment->task, values, out, err)
                 : 0;
    if (result == 0)
        result = add_start(&line->experiment->task, values, out, err);
    if (result == 0)
        result = command_line_expand(&line->experiment->task, values, out, err);
    free(values);
    return result;
}
