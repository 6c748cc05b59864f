/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/fake/script.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

enum { SCRIPT_MAX_BYTES = 16 << 20 };

static const char *const start_names[] = {"ok", "full", "error"};
static const char *const trouble_names[] = {"died", "unhealthy", "refused"};

static int find_word(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return (int)i;
    }
    return -1;
}

/* -- Keys -----------------------------------------------------------------*/

static int64_t integer_of(const json_t *value)
{
    return json_is_integer(value) ? json_integer_value(value) : 0;
}

static const char *string_of(const json_t *value)
{
    return json_is_string(value) ? json_string_value(value) : "";
}

static int set_attempt(struct outcome *outcome, const json_t *value)
{
    outcome->attempt = integer_of(value);
    return json_is_integer(value) ? 0 : -1;
}

static int set_command(struct outcome *outcome, const json_t *value)
{
    free(outcome->command);
    outcome->command = mem_copy_string(string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_start(struct outcome *outcome, const json_t *value)
{
    int start =
        find_word(string_of(value), start_names, ARRAY_LEN(start_names));

    outcome->start = start >= 0 ? (enum fake_start)start : FAKE_OK;
    return start >= 0 ? 0 : -1;
}

static int set_duration(struct outcome *outcome, const json_t *value)
{
    outcome->duration_ms = integer_of(value);
    return json_is_integer(value) && outcome->duration_ms >= 0 ? 0 : -1;
}

static int set_cause(struct outcome *outcome, const json_t *value)
{
    int cause = attempt_cause_find(string_of(value));

    if (cause < 0)
        return -1;
    outcome->end.cause = (enum attempt_cause)cause;
    outcome->end.exit_code = cause == CAUSE_OK || cause == CAUSE_NO_METRIC ||
                                     cause == CAUSE_NO_OUTPUT
                                 ? 0
                                 : -1;
    if (cause == CAUSE_EXIT)
        outcome->end.exit_code = 1;
    if (cause == CAUSE_SIGNAL)
        outcome->end.signal = SIGKILL;
    return 0;
}

static int set_exit_code(struct outcome *outcome, const json_t *value)
{
    outcome->end.exit_code = (int)integer_of(value);
    return json_is_integer(value) ? 0 : -1;
}

static int set_signal(struct outcome *outcome, const json_t *value)
{
    outcome->end.signal = (int)integer_of(value);
    return json_is_integer(value) ? 0 : -1;
}

static int set_cpu(struct outcome *outcome, const json_t *value)
{
    outcome->end.cpu_ms = integer_of(value);
    return json_is_integer(value) ? 0 : -1;
}

static int set_max_rss(struct outcome *outcome, const json_t *value)
{
    outcome->end.max_rss_bytes = integer_of(value);
    return json_is_integer(value) ? 0 : -1;
}

static int set_log(struct outcome *outcome, const json_t *value)
{
    free(outcome->log);
    outcome->log = mem_copy_string(string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_metrics(struct outcome *outcome, const json_t *value)
{
    free(outcome->metrics);
    outcome->metrics = mem_copy_string(string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_output(struct outcome *outcome, const json_t *value)
{
    free(outcome->output);
    outcome->output = mem_copy_string(string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_text(struct outcome *outcome, const json_t *value)
{
    snprintf(outcome->end.text, sizeof(outcome->end.text), "%s",
             string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_ignore_term(struct outcome *outcome, const json_t *value)
{
    outcome->ignores_term = json_is_true(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int set_checkpoint(struct outcome *outcome, const json_t *value)
{
    free(outcome->checkpoint);
    outcome->checkpoint = mem_copy_string(string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_warned_exit(struct outcome *outcome, const json_t *value)
{
    outcome->heeds_warning = true;
    outcome->warned_exit = (int)integer_of(value);
    return json_is_integer(value) ? 0 : -1;
}

static int set_queued(struct outcome *outcome, const json_t *value)
{
    outcome->queued_ms = integer_of(value);
    return json_is_integer(value) && outcome->queued_ms >= 0 ? 0 : -1;
}

static int set_node(struct outcome *outcome, const json_t *value)
{
    snprintf(outcome->end.node, sizeof(outcome->end.node), "%s",
             string_of(value));
    return json_is_string(value) ? 0 : -1;
}

static int set_displaced(struct outcome *outcome, const json_t *value)
{
    outcome->end.is_displaced = json_is_true(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int set_outside(struct outcome *outcome, const json_t *value)
{
    outcome->end.is_outside = json_is_true(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int set_shortage(struct outcome *outcome, const json_t *value)
{
    outcome->end.is_shortage = json_is_true(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int set_trouble(struct outcome *outcome, const json_t *value)
{
    outcome->trouble =
        find_word(string_of(value), trouble_names, ARRAY_LEN(trouble_names));
    return outcome->trouble >= 0 ? 0 : -1;
}

static int set_note(struct outcome *outcome, const json_t *value)
{
    free(outcome->note);
    outcome->note = mem_copy_string(string_of(value));
    return json_is_string(value) ? 0 : -1;
}

/* In the order in which they are applied: a cause gives the exit code and the
 * signal that the keys after it may change. */
static const struct key {
    const char *name;
    int (*set)(struct outcome *outcome, const json_t *value);
} keys[] = {
    {"attempt", set_attempt},
    {"command", set_command},
    {"start", set_start},
    {"duration_ms", set_duration},
    {"cause", set_cause},
    {"exit_code", set_exit_code},
    {"signal", set_signal},
    {"cpu_ms", set_cpu},
    {"max_rss_bytes", set_max_rss},
    {"log", set_log},
    {"metrics", set_metrics},
    {"output", set_output},
    {"text", set_text},
    {"ignore_term", set_ignore_term},
    {"warned_exit", set_warned_exit},
    {"checkpoint", set_checkpoint},
    {"queued_ms", set_queued},
    {"node", set_node},
    {"displaced", set_displaced},
    {"outside", set_outside},
    {"shortage", set_shortage},
    {"trouble", set_trouble},
    {"note", set_note},
};

/* -- Lines ----------------------------------------------------------------*/

static bool is_key(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (strcmp(name, keys[i].name) == 0)
            return true;
    }
    return false;
}

static int fill(struct outcome *outcome, json_t *object, struct err *err)
{
    const char *name;
    json_t *member;

    if (!json_is_object(object))
        return err_set(err, ERR_FILE,
                       "type mismatch: an outcome must be a JSON object");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const json_t *value = json_object_get(object, keys[i].name);

        if (value == NULL)
            continue;
        if (keys[i].set(outcome, value) != 0)
            return err_set(err, ERR_FILE, "bad value of '%s'", keys[i].name);
    }
    json_object_foreach(object, name, member)
    {
        if (!is_key(name))
            return err_set(err, ERR_FILE, "unknown key '%s' in an outcome",
                           name);
    }
    return 0;
}

static int add_line(struct fake_script *script, const char *line, size_t length,
                    struct err *err)
{
    struct outcome *outcome;
    json_t *object;
    int result;

    if (strspn(line, " \t\r") >= length || line[0] == '#')
        return 0;
    object = json_parse(line, length, err);
    if (object == NULL)
        return -1;
    script->outcomes = mem_grow(script->outcomes, script->count,
                                &script->capacity, sizeof(*outcome));
    outcome = &script->outcomes[script->count++];
    memset(outcome, 0, sizeof(*outcome));
    outcome->attempt = outcome->queued_ms = outcome->trouble = -1;
    result = fill(outcome, object, err);
    json_decref(object);
    return result;
}

int fake_script_load(struct fake_script *script, const char *path,
                     struct err *err)
{
    struct buf text = BUF_INIT;
    const char *line;
    int number = 1, result = 0;

    *script = (struct fake_script){NULL, 0, 0};
    if (path == NULL)
        return 0;
    if (fs_read(path, SCRIPT_MAX_BYTES, &text, err) != 0) {
        buf_clear(&text);
        return -1;
    }
    for (line = buf_text(&text); *line != '\0' && result == 0; number++) {
        size_t length = strcspn(line, "\n");

        result = add_line(script, line, length, err);
        line += length + (line[length] == '\n');
    }
    if (result != 0) {
        err_prefix(err, "%s:%d", path, number - 1);
        fake_script_clear(script);
    }
    buf_clear(&text);
    return result;
}

void fake_script_clear(struct fake_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        free(script->outcomes[i].command);
        free(script->outcomes[i].log);
        free(script->outcomes[i].metrics);
        free(script->outcomes[i].output);
        free(script->outcomes[i].checkpoint);
        free(script->outcomes[i].note);
    }
    free(script->outcomes);
    *script = (struct fake_script){NULL, 0, 0};
}

static bool is_command(char *const *argv, const char *text)
{
    for (; argv != NULL && *argv != NULL; argv++) {
        size_t length = strlen(*argv);

        if (strncmp(*argv, text, length) != 0)
            return false;
        text += length;
        if (argv[1] != NULL && *text++ != ' ')
            return false;
    }
    return *text == '\0';
}

const struct outcome *fake_script_next(struct fake_script *script,
                                       const struct attempt_spec *spec)
{
    struct outcome *chosen = NULL;

    for (size_t i = 0; i < script->count; i++) {
        struct outcome *outcome = &script->outcomes[i];

        if (outcome->is_used ||
            (outcome->command != NULL &&
             !is_command(spec->argv, outcome->command)) ||
            (outcome->attempt >= 0 && outcome->attempt != spec->attempt))
            continue;
        if (outcome->attempt >= 0 || outcome->command != NULL) {
            chosen = outcome;
            break;
        }
        if (chosen == NULL)
            chosen = outcome;
    }
    if (chosen != NULL)
        chosen->is_used = true;
    return chosen;
}
