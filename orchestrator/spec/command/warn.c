/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/command/warn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/spec/command/shebang.h"

/* Who reads a text. */
enum reader { READER_SHELL, READER_COMMAND, READER_VARIABLE, READER_PATH };

/* A walk over one text. What is found is at `at`, `length` bytes of it. */
struct walk {
    const struct command_text *command;
    struct diags *warnings;
    const struct conf_node *node;
    const char *at;
    size_t length;
    char quote; /* that `at` stands in, or 0 */
    enum reader reader;
};

static struct diag_place place_of(const struct walk *walk)
{
    struct diag_place place =
        conf_place_at(walk->command->doc, walk->node, walk->at);

    place.length = (int)walk->length;
    return place;
}

static void warn(const struct walk *walk, const char *help, const char *why)
{
    diags_add(walk->warnings, place_of(walk), help,
              "the program receives '%.*s' literally%s", (int)walk->length,
              walk->at, why);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* The name that stands in {name}, {{ name }} or ${name}, NULL if none of ours
 * does; the length of it all to walk->length. */
static const char *find_name(struct walk *walk)
{
    const char *name = walk->at + strspn(walk->at, "${");
    const char *end;
    size_t length = 0;

    name += strspn(name, " ");
    while (is_word(name[length]))
        length++;
    end = name + length + strspn(name + length, " ");
    if (*end != '}')
        return NULL;
    walk->length = (size_t)(end + strspn(end, "}") - walk->at);
    for (size_t i = 0; i < walk->command->name_count; i++)
        if (strlen(walk->command->names[i]) == length &&
            strncmp(walk->command->names[i], name, length) == 0)
            return walk->command->names[i];
    return NULL;
}

/* Templates as others write them; ${name} is the shell's own. */
static bool check_name(struct walk *walk)
{
    bool is_variable = walk->at[0] == '$';
    bool is_behind = walk->at > walk->node->text && walk->at[-1] == '$';
    const char *name;
    char *help;

    if (walk->at[is_variable] != '{' || is_behind ||
        (is_variable && walk->reader == READER_SHELL))
        return false;
    name = find_name(walk);
    if (name == NULL)
        return false;
    help = mem_printf("did you mean '${{ %s }}'?", name);
    warn(walk, help, "");
    free(help);
    return true;
}

/* A warning of what only a shell gives a meaning. */
static bool warn_of_shell(struct walk *walk, size_t length)
{
    walk->length = length;
    if (walk->reader == READER_PATH)
        diags_add(walk->warnings, place_of(walk), "write the whole path",
                  "the path has '%.*s' literally: no shell reads it",
                  (int)walk->length, walk->at);
    else if (walk->reader == READER_VARIABLE)
        warn(walk, "write the value itself, or set the variable in 'shell'",
             ": no shell reads 'env'");
    else
        warn(walk, "'shell' in place of 'command' has one",
             ": no shell runs a command");
    return true;
}

static bool check_variable(struct walk *walk)
{
    size_t start = walk->at[1] == '{' ? 2 : 1, length = start;

    if (walk->at[0] == '`')
        return warn_of_shell(walk, 1);
    if (walk->at[0] != '$')
        return false;
    if (walk->at[1] == '(')
        return warn_of_shell(walk, 2);
    if (!isalpha((unsigned char)walk->at[start]) && walk->at[start] != '_')
        return false;
    while (isalnum((unsigned char)walk->at[length]) || walk->at[length] == '_')
        length++;
    return warn_of_shell(walk, length + (walk->at[length] == '}'));
}

/* ~/ at the start of a word, or of the value of --NAME=VALUE. */
static bool check_home(struct walk *walk)
{
    bool begins =
        walk->at == walk->node->text || strchr(" \t\n=:", walk->at[-1]) != NULL;

    if (!begins || strncmp(walk->at, "~/", 2) != 0)
        return false;
    return warn_of_shell(walk, strcspn(walk->at, " \t\n:"));
}

/* Behind the template that begins at `at`; at the end, if it has none. */
static const char *skip_template(const char *at)
{
    const char *end = strstr(at, "}}");

    return end != NULL ? end + strlen("}}") : at + strlen(at);
}

static bool check_shell(struct walk *walk)
{
    if (walk->reader == READER_SHELL || walk->quote != 0)
        return false;
    return check_variable(walk) || check_home(walk);
}

static void check_text(struct walk *walk)
{
    walk->at = walk->node->text;
    while (*walk->at != '\0') {
        char c = *walk->at;

        if (strncmp(walk->at, "${{", 3) == 0) {
            walk->at = skip_template(walk->at);
            continue;
        }
        walk->length = 1;
        if (!check_name(walk) && !check_shell(walk)) {
            walk->length = c == '\\' && walk->at[1] != '\0' ? 2 : 1;
            if (c == walk->quote)
                walk->quote = 0;
            else if (walk->quote == 0 && walk->reader < READER_VARIABLE &&
                     (c == '\'' || c == '"'))
                walk->quote = c;
        }
        walk->at += walk->length;
    }
}

/* ---- files ---- */

/* A relative path, with nothing in it that a template or a shell would change:
 * train.py, bin/train. */
static bool is_path(const char *word, size_t length)
{
    static const char others[] = "$`{}[]*?|&;<>()\"'\\=~#!";

    return word[0] != '/' && word[0] != '-' &&
           strcspn(word, others) >= length &&
           (memchr(word, '.', length) != NULL ||
            memchr(word, '/', length) != NULL);
}

/* Whether the file is not where the command starts, but beside the file that
 * has the command. */
static bool is_elsewhere(const char *folder, const char *file)
{
    char *path = fs_join(folder, file);
    bool is_there = !fs_exists(file) && fs_exists(path);

    free(path);
    return is_there;
}

static void check_path(const struct walk *walk, const char *folder)
{
    char *here = fs_absolute(".");
    char *file = mem_copy_bytes(walk->at, walk->length);
    char *help =
        mem_printf("start it from '%s', or write the whole path", folder);

    if (here != NULL && is_elsewhere(folder, file))
        diags_add(walk->warnings, place_of(walk), help,
                  "commands start in '%s', which contains no '%s'", here, file);
    free(help);
    free(file);
    free(here);
}

static void check_paths(struct walk *walk, const char *folder)
{
    walk->at = walk->node->text;
    while (*(walk->at += strspn(walk->at, " \t\n")) != '\0') {
        walk->length = strcspn(walk->at, " \t\n");
        if (is_path(walk->at, walk->length))
            check_path(walk, folder);
        walk->at += walk->length;
    }
}

/* The folder of the file that has the command; NULL: it is none, or commands
 * may change to another. */
static char *find_folder(const struct walk *walk)
{
    const char *path = walk->command->path;
    const char *slash = strrchr(path, '/');
    char *folder, *real;

    if (slash == NULL ||
        (walk->command->is_shell && strstr(walk->node->text, "cd ") != NULL))
        return NULL;
    folder = mem_copy_bytes(path, (size_t)(slash - path + 1));
    real = realpath(folder, NULL);
    free(folder);
    return real;
}

static void check_node(const struct command_text *command,
                       const struct conf_node *node, enum reader reader,
                       struct diags *warnings)
{
    struct walk walk = {.command = command,
                        .warnings = warnings,
                        .node = node,
                        .reader = reader};
    char *folder;

    if (node->text == NULL)
        return;
    check_text(&walk);
    folder = reader < READER_VARIABLE ? find_folder(&walk) : NULL;
    if (folder != NULL)
        check_paths(&walk, folder);
    free(folder);
}

/* Whether the words are those of a shell with a script: sh -c SCRIPT. */
static bool runs_script(const struct conf_node *list, size_t script)
{
    const char *program = list->count > 0 ? list->items[0]->text : NULL;
    const char *option = script > 0 ? list->items[script - 1]->text : NULL;

    return program != NULL && option != NULL && option[0] == '-' &&
           option[strlen(option) - 1] == 'c' &&
           program_is_shell(program, strlen(program));
}

/* Only the first line names a script's program. */
static void check_first_line(const struct command_text *command,
                             struct diags *warnings)
{
    const char *script = command->is_shell ? command->node->text : NULL;
    struct walk walk = {.command = command, .node = command->node};

    if (script == NULL || shebang_is_in(script))
        return;
    walk.at = script + strspn(script, " \t\n");
    walk.length = strcspn(walk.at, "\n");
    if (shebang_is_in(walk.at))
        diags_add(warnings, place_of(&walk),
                  "remove the blanks and empty lines before it",
                  "this line is not the first of the script, so it does not "
                  "name its program");
}

/* Of a script in another language nothing is known. */
static bool is_foreign(const struct command_text *command)
{
    const char *script = command->is_shell ? command->node->text : NULL;

    return script != NULL && shebang_is_in(script) && !shebang_is_shell(script);
}

static void check_items(const struct command_text *command,
                        const struct conf_node *list, enum reader reader,
                        struct diags *warnings)
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        check_node(command, list->items[i], reader, warnings);
}

static void check_own_paths(const struct command_text *command,
                            struct diags *warnings)
{
    static const char *const keys[] = {"path", "from"};
    const struct conf_node *files = command->files;

    if (command->workdir != NULL)
        check_node(command, command->workdir, READER_PATH, warnings);
    check_items(command, command->channels, READER_PATH, warnings);
    for (size_t i = 0; files != NULL && i < files->count; i++)
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            const struct conf_node *path = conf_get(files->items[i], keys[k]);

            if (path != NULL)
                check_node(command, path, READER_PATH, warnings);
        }
}

void command_warn(const struct command_text *command, struct diags *warnings)
{
    const struct conf_node *node = command->node;

    check_first_line(command, warnings);
    if (!is_foreign(command))
        check_node(command, node,
                   command->is_shell ? READER_SHELL : READER_COMMAND, warnings);
    for (size_t i = 0; node->text == NULL && i < node->count; i++)
        check_node(command, node->items[i],
                   runs_script(node, i) ? READER_SHELL : READER_COMMAND,
                   warnings);
    check_items(command, command->environment, READER_VARIABLE, warnings);
    check_own_paths(command, warnings);
}
