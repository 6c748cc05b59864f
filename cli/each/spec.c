/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The workflow that stands for a command and its lines. Everything that makes
 * the run another one is in it: the command, the digest of the lines, the
 * folder. Limits are in it, too, but not in the name, since a run may continue
 * with others.
 */
#include "cli/each/spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/diag.h"
#include "base/conf/json.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/drive/foreground.h"
#include "cli/each/command.h"
#include "cli/each/lines.h"
#include "cli/term/output.h"
#include "orchestrator/job/file_print.h"
#include "orchestrator/spec/workflow/workflow.h"

#define STEP "each"

enum { DIGITS = 8, PROGRAM_BYTES = 40, LINES_DIGITS = 16 };

/* ---- names ---- */

/* The program's name, made fit for a name, or the step's. */
static void add_program(const struct each_command *command, struct buf *out)
{
    const char *word = json_string_value(json_array_get(command->words, 0));
    const char *template = strstr(word, "${{");
    size_t length = strcspn(word, " \t\n");
    size_t start = length;

    while (start > 0 && word[start - 1] != '/')
        start--;
    while (start < length && !isalnum((unsigned char)word[start]))
        start++;
    if (start == length || (template != NULL && template <word + length))
        length = 0;
    if (length > start + PROGRAM_BYTES)
        length = start + PROGRAM_BYTES;
    if (length == 0)
        buf_add_string(out, STEP);
    for (size_t i = start; i < length; i++)
        buf_add_char(out, isalnum((unsigned char)word[i]) ||
                                  strchr("_.-", word[i]) != NULL
                              ? word[i]
                              : '_');
}

char *each_spec_name(const struct each_order *order)
{
    struct digest *digest = digest_create();
    struct buf name = BUF_INIT;
    char hex[DIGEST_HEX_SIZE];

    digest_add_number(digest, order->command->is_shell);
    for (size_t i = 0; i < json_array_size(order->command->words); i++)
        digest_add_text(digest, json_string_value(
                                    json_array_get(order->command->words, i)));
    digest_add_text(digest, order->lines->digest);
    digest_add_text(digest, order->folder);
    digest_hex(digest, hex);
    digest_destroy(digest);
    add_program(order->command, &name);
    buf_printf(&name, "-%.*s", DIGITS, hex);
    return buf_take(&name);
}

char *each_spec_lines_path(const struct each_order *order,
                           const char *run_directory)
{
    return mem_printf("%s/lines-%.*s.jsonl", run_directory, LINES_DIGITS,
                      order->lines->digest);
}

/* ---- the text ---- */

/* A number where it is one: what the schema makes of it is its matter. */
static json_t *scalar_json(const char *text)
{
    struct conf_doc *doc = conf_parse(text, strlen(text), NULL);
    json_t *json = doc != NULL ? conf_to_json(conf_root(doc)) : NULL;

    conf_destroy(doc);
    return json != NULL ? json : json_from_text(text);
}

static json_t *resources_json(const struct each_order *order)
{
    json_t *resources = json_object();

    if (order->cpus > 0)
        json_object_set_new(resources, "cpus", json_integer(order->cpus));
    if (order->gpus != NULL)
        json_object_set_new(resources, "gpus", scalar_json(order->gpus));
    if (order->memory != NULL)
        json_object_set_new(resources, "memory", scalar_json(order->memory));
    if (order->timeout_ms > 0) {
        char *time = mem_printf("%lldms", (long long)order->timeout_ms);

        json_object_set_new(resources, "time", json_from_text(time));
        free(time);
    }
    if (json_object_size(resources) > 0)
        return resources;
    json_decref(resources);
    return NULL;
}

static json_t *plain_json(const char *text)
{
    struct buf plain = BUF_INIT;
    json_t *json;

    each_command_add_plain(text, strlen(text), &plain);
    json = json_from_text(buf_text(&plain));
    buf_clear(&plain);
    return json;
}

static json_t *step_json(const struct each_order *order, const char *lines_path)
{
    const struct each_command *command = order->command;
    json_t *words =
        command->is_shell ? json_array_get(command->words, 0) : command->words;

    return json_pack(
        "{s{s{so}} sO so so* so* sb}", "matrix", EACH_AXIS, "lines",
        json_from_text(lines_path), command->is_shell ? "shell" : "command",
        words, "workdir", plain_json(order->folder), "resources",
        resources_json(order), "retry",
        order->retries > 0
            ? json_pack("[{s[ssss] sI}]", "match", "exit", "signal", "timeout",
                        "oom", "max", (json_int_t)order->retries)
            : NULL,
        "fail_fast", (int)order->fails_fast);
}

static void print(const struct each_order *order, const char *lines_path,
                  struct buf *out)
{
    char *name = each_spec_name(order);
    json_t *file = json_pack("{si ss}", "version", 1, "name", name);

    if (order->executor != NULL)
        json_object_set_new(file, "executor", json_from_text(order->executor));
    if (order->jobs > 0)
        json_object_set_new(file, "parallel", json_integer(order->jobs));
    json_object_set_new(file, "steps",
                        json_pack("{so}", STEP, step_json(order, lines_path)));
    buf_add_string(out, "# Made by smtune each.\n");
    file_print_yaml(file, out);
    json_decref(file);
    free(name);
}

/* ---- words of --set ---- */

/* Whether an option of this call sets what a word of an earlier one set, or of
 * a configuration file then. */
static bool is_replaced(const struct each_order *order, const char *word)
{
    const struct {
        const char *key;
        bool is_given;
    } options[] = {
        {"executor", order->executor != NULL},
        {"parallel", order->jobs > 0},
        {"steps." STEP ".resources.cpus", order->cpus > 0},
        {"steps." STEP ".resources.gpus", order->gpus != NULL},
        {"steps." STEP ".resources.memory", order->memory != NULL},
        {"steps." STEP ".resources.time", order->timeout_ms > 0},
        {"steps." STEP ".retry", order->retries > 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        size_t length = strlen(options[i].key);

        if (options[i].is_given && strncmp(word, options[i].key, length) == 0 &&
            (word[length] == '=' || word[length] == '.'))
            return true;
    }
    return false;
}

/* Those of the run, then the order's; the caller frees the list. */
static const char **find_words(const struct each_order *order,
                               const struct spec *before, size_t *count)
{
    size_t earlier = before != NULL ? before->experiment->assignment_count : 0;
    const char **words =
        mem_array(earlier + order->set_count + 1, sizeof(*words));

    *count = 0;
    for (size_t i = 0; i < earlier; i++)
        if (!is_replaced(order, before->experiment->assignments[i]))
            words[(*count)++] = before->experiment->assignments[i];
    for (size_t i = 0; i < order->set_count; i++)
        words[(*count)++] = order->set[i];
    return words;
}

/* ---- checked ---- */

bool each_spec_has_lines(const struct spec *spec, const char *lines_path)
{
    const struct workflow *workflow = spec->workflow;
    const struct step *step;

    if (workflow == NULL || workflow->step_count != 1)
        return false;
    step = &workflow->steps[0];
    return step->kind == STEP_TASK && step->repeat.max == 0 &&
           step->axis_count == 1 && step->axes[0].kind == AXIS_LINES &&
           text_ends_with(step->axes[0].pattern, strrchr(lines_path, '/'));
}

static int check_lines(struct spec *spec, const char *lines_path,
                       struct err *err)
{
    if (each_spec_has_lines(spec, lines_path))
        return 0;
    spec_clear(spec);
    return err_set(err, ERR_FILE,
                   "--set cannot add steps or rounds, or change the matrix "
                   "(change the file that smtune show RUN --file prints, and "
                   "start it by smtune run)");
}

int each_spec_parse(const struct cli *cli, const struct each_order *order,
                    const char *lines_path, const struct spec *before,
                    struct spec *spec, struct err *err)
{
    size_t count;
    const char **words = find_words(order, before, &count);
    struct diags *diags = diags_create("smtune each");
    struct buf text = BUF_INIT;
    struct experiment_source source = {
        .path = "",
        .assignments = words,
        .assignment_count = count,
        .config =
            before == NULL || order->executor != NULL ? cli->config : NULL,
    };
    int result;

    print(order, lines_path, &text);
    source.text = buf_text(&text);
    source.length = text.length;
    result = spec_parse(spec, &source, diags, err);
    result = result != 0 ? foreground_print_diags(cli, diags)
                         : check_lines(spec, lines_path, err);
    diags_destroy(diags);
    buf_clear(&text);
    free(words);
    return result;
}
