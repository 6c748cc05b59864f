/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd.h"

#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

/* GROUP is a heading of `smtune help`; CMD(name) is cmd_name. */
#define COMMANDS(GROUP, CMD)                                                   \
    GROUP("Prepare an experiment")                                             \
    CMD(init)                                                                  \
    CMD(validate)                                                              \
    CMD(plan)                                                                  \
    CMD(try)                                                                   \
    CMD(schema)                                                                \
    GROUP("Run it")                                                            \
    CMD(run)                                                                   \
    CMD(each)                                                                  \
    CMD(attach)                                                                \
    CMD(pause)                                                                 \
    CMD(stop)                                                                  \
    CMD(resume)                                                                \
    CMD(retry)                                                                 \
    CMD(enqueue)                                                               \
    CMD(edit)                                                                  \
    CMD(wait)                                                                  \
    CMD(launch)                                                                \
    CMD(notify)                                                                \
    CMD(nodes)                                                                 \
    GROUP("See what came of it")                                               \
    CMD(ls)                                                                    \
    CMD(status)                                                                \
    CMD(top)                                                                   \
    CMD(dashboard)                                                             \
    CMD(show)                                                                  \
    CMD(best)                                                                  \
    CMD(trials)                                                                \
    CMD(logs)                                                                  \
    CMD(why)                                                                   \
    CMD(replay)                                                                \
    CMD(whatif)                                                                \
    CMD(export)                                                                \
    CMD(import)                                                                \
    CMD(note)                                                                  \
    CMD(tag)                                                                   \
    CMD(prune)                                                                 \
    CMD(rm)                                                                    \
    GROUP("Take care of the record")                                           \
    CMD(fsck)                                                                  \
    CMD(backup)                                                                \
    CMD(restore)                                                               \
    GROUP("From inside a trial")                                               \
    CMD(report)                                                                \
    GROUP("For other programs")                                                \
    CMD(suggest)                                                               \
    CMD(serve_search)                                                          \
    GROUP("About smtune")                                                      \
    CMD(completion)                                                            \
    CMD(doctor)                                                                \
    CMD(help)                                                                  \
    CMD(version)

#define NOTHING(title)
#define DECLARE(command) extern const struct cmd cmd_##command;
COMMANDS(NOTHING, DECLARE)

#define POINTER(command) &cmd_##command,
const struct cmd *const commands[] = {COMMANDS(NOTHING, POINTER) NULL};

#define TITLE(title)   {title, NULL},
#define ENTRY(command) {NULL, &cmd_##command},
static const struct {
    const char *title;
    const struct cmd *cmd;
} entries[] = {COMMANDS(TITLE, ENTRY)};

const struct cmd *cmd_find(const char *name)
{
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++) {
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
    }
    return NULL;
}

/* What other programs call a command. */
static const struct {
    const char *word, *command;
} others[] = {
    {"list", "ls"},         {"ps", "ls"},          {"delete", "rm"},
    {"remove", "rm"},       {"start", "run"},      {"tune", "run"},
    {"sweep", "run"},       {"kill", "stop"},      {"cancel", "stop"},
    {"continue", "resume"}, {"restart", "resume"}, {"check", "validate"},
    {"graph", "plan"},      {"tail", "logs"},      {"ask", "suggest"},
    {"modify", "edit"},     {"update", "edit"},    {"ui", "dashboard"},
    {"serve", "dashboard"}, {"test", "try"},       {"map", "each"},
    {"parallel", "each"},   {"xargs", "each"},     {"foreach", "each"},
};

static const char *find_meant(const char *name)
{
    const char *names[ARRAY_LEN(commands)];
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(others[i].word, name) == 0)
            return others[i].command;
    for (; commands[count] != NULL; count++)
        names[count] = commands[count]->name;
    return text_nearest(name, names, count);
}

int cmd_unknown(const char *name, struct err *err)
{
    const char *nearest = find_meant(name);

    if (nearest != NULL)
        return err_set(err, ERR_USAGE,
                       "unknown command '%s' (did you mean '%s'?)", name,
                       nearest);
    return err_set(err, ERR_USAGE,
                   "unknown command '%s' ('smtune help' lists them)", name);
}

const char *cmd_group(const struct cmd *cmd)
{
    const char *title = "";

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        if (entries[i].title != NULL)
            title = entries[i].title;
        if (entries[i].cmd == cmd)
            break;
    }
    return title;
}
