/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/spec_mask.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/mask_file.h"
#include "base/expr/template_shell.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/text.h"
#include "orchestrator/spec/workflow/workflow.h"

/* ---- texts of the record ---- */

/* A comment of YAML, also behind a value of --set. No line of a block of text
 * is indented less than its key, so this one belongs to none. */
static const char note[] = "# smtune masked the secrets of this copy\n";

size_t spec_mask_text(const char *text, struct buf *out)
{
    return conf_mask(spec_schema(text), text, strlen(text), out);
}

size_t spec_mask_word(const char *text, const char *word, struct buf *out)
{
    return conf_mask_assignment(spec_schema(text), word, out);
}

size_t spec_mask_value(bool is_workflow, const char *key, const json_t *value,
                       struct buf *out)
{
    const struct schema_key *schema =
        is_workflow ? workflow_schema : experiment_schema;
    struct buf printed = BUF_INIT;
    size_t masked;

    json_print(value, &printed);
    masked = conf_mask_value(schema, key, buf_text(&printed), out);
    buf_clear(&printed);
    return masked;
}

/* ---- copies ---- */

bool spec_is_masked(const char *text)
{
    return text_ends_with(text, note);
}

/* In a line of its own. */
static void add_note(struct buf *out)
{
    if (spec_is_masked(buf_text(out)))
        return;
    if (out->length > 0 && out->data[out->length - 1] != '\n')
        buf_add_char(out, '\n');
    buf_add_string(out, note);
}

static size_t mask_words(const char *text, const char *overrides, bool is_copy,
                         struct buf *out)
{
    json_t *list = json_parse(overrides, strlen(overrides), NULL), *word;
    json_t *shown = json_array();
    size_t all = 0, i;

    json_array_foreach(list, i, word)
    {
        struct buf one = BUF_INIT;
        size_t masked = 0;

        if (json_is_string(word))
            masked = spec_mask_word(text, json_string_value(word), &one);
        if (masked > 0 && is_copy)
            add_note(&one);
        json_array_append_new(shown, json_from_text(buf_text(&one)));
        buf_clear(&one);
        all += masked;
    }
    if (all > 0)
        json_print(shown, out);
    else
        buf_add_string(out, overrides);
    json_decref(shown);
    json_decref(list);
    return all;
}

size_t spec_mask_overrides(const char *text, const char *overrides,
                           struct buf *out)
{
    return mask_words(text, overrides, false, out);
}

size_t spec_mask_copy_overrides(const char *text, const char *overrides,
                                struct buf *out)
{
    return mask_words(text, overrides, true, out);
}

size_t spec_mask_copy(const char *text, const char *overrides, struct buf *out)
{
    struct buf words = BUF_INIT, copy = BUF_INIT;
    size_t masked = spec_mask_text(text, &copy);
    size_t all = masked + spec_mask_overrides(text, overrides, &words);

    if (all > 0)
        add_note(&copy);
    buf_add(out, buf_text(&copy), copy.length);
    buf_clear(&copy);
    buf_clear(&words);
    return masked;
}

void spec_mask_like_copy(const char *text, struct buf *out)
{
    struct buf copy = BUF_INIT;

    spec_mask_text(text, &copy);
    add_note(&copy);
    buf_add(out, buf_text(&copy), copy.length);
    buf_clear(&copy);
}

/* The keys of a file and of its --set words. */
static const char *const pairs[][2] = {
    {"spec", "overrides"},
    {"edited_spec", "edited_overrides"},
};

/* In place of the old one, if there is one. Whether it differs. */
static bool set_text(json_t *detail, const char *key, const char *old,
                     const struct buf *text)
{
    bool differs = old != NULL && strcmp(old, buf_text(text)) != 0;

    if (differs)
        json_object_set_new(detail, key, json_from_text(buf_text(text)));
    return differs;
}

static bool mask_pair(json_t *detail, const char *const *pair, bool is_copy)
{
    const char *text = json_string_value(json_object_get(detail, pair[0]));
    const char *words = json_string_value(json_object_get(detail, pair[1]));
    struct buf shown_text = BUF_INIT, shown_words = BUF_INIT;
    bool differs;

    if (words != NULL)
        mask_words(text != NULL ? text : "", words, is_copy, &shown_words);
    if (text != NULL && is_copy)
        spec_mask_copy(text, words != NULL ? words : "[]", &shown_text);
    else if (text != NULL)
        spec_mask_text(text, &shown_text);
    differs = set_text(detail, pair[1], words, &shown_words);
    differs |= set_text(detail, pair[0], text, &shown_text);
    buf_clear(&shown_words);
    buf_clear(&shown_text);
    return differs;
}

bool spec_mask_detail(json_t *detail, bool is_copy)
{
    bool differs = false;

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        differs |= mask_pair(detail, pairs[i], is_copy);
    return differs;
}

/* ---- values ---- */

struct walk {
    spec_secret_fn *call;
    void *user;
    bool wants_all;
};

/* A template's text is what the file has; the parts between expressions appear
 * in what comes of it. */
static void call_parts(const struct walk *walk, const char *name,
                       const char *text)
{
    static const char begin[] = "${{", end[] = "}}";
    const char *expression;

    while ((expression = strstr(text, begin)) != NULL) {
        char *part = mem_copy_bytes(text, (size_t)(expression - text));

        walk->call(walk->user, name, part);
        free(part);
        text = strstr(expression, end);
        if (text == NULL)
            return;
        text += strlen(end);
    }
    walk->call(walk->user, name, text);
}

static void call_variables(const struct walk *walk, const struct job_spec *task)
{
    for (size_t i = 0; i < task->environment_count; i++) {
        const struct env_entry *entry = &task->environment[i];
        const char *text = template_source(entry->value);
        char *name = mem_printf("env.%s", entry->name);

        if (walk->wants_all ||
            secret_is_name(entry->name, strlen(entry->name)) ||
            secret_is_value(entry->name, text))
            call_parts(walk, name, text);
        free(name);
    }
    for (size_t i = 0; i < task->env_from_count; i++) {
        const char *value = getenv(task->env_from[i]);

        if (value != NULL)
            walk->call(walk->user, task->env_from[i], value);
    }
}

static void call_params(const struct walk *walk,
                        const struct workflow *workflow)
{
    for (size_t i = 0; i < workflow->param_count; i++) {
        const char *name = workflow->param_names[i];
        const struct value *value = &workflow->params[i];

        if (value->type == VALUE_TEXT && secret_is_name(name, strlen(name)))
            walk->call(walk->user, name, value->text);
    }
}

void spec_each_secret(const struct experiment *experiment,
                      const struct workflow *workflow, bool wants_all,
                      spec_secret_fn *call, void *user)
{
    const struct walk walk = {call, user, wants_all};

    call_variables(&walk, &experiment->task);
    for (size_t i = 0; workflow != NULL && i < workflow->step_count; i++)
        call_variables(&walk, &workflow->steps[i].task);
    if (workflow != NULL)
        call_params(&walk, workflow);
    for (size_t i = 0; i < experiment->receiver_count; i++)
        call(user, "notify.url", experiment->receivers[i].url);
}

/* Also as a word of a shell, where a quote in it is written otherwise. */
static void hide(void *user, const char *name, const char *value)
{
    struct buf word = BUF_INIT;

    mask_hide(user, name, value);
    shell_add_word(value, &word);
    if (strchr(value, '\'') != NULL)
        mask_hide(user, name, buf_text(&word));
    buf_clear(&word);
}

struct mask *spec_mask_create(const struct experiment *experiment,
                              const struct workflow *workflow)
{
    struct mask *mask = mask_create();

    spec_each_secret(experiment, workflow, false, hide, mask);
    return mask;
}
