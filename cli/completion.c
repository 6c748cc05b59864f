/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/completion.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/common.h"

/* What a value is completed with: of an option by the word that stands for its
 * argument, of an operand by struct cmd's `completes`. */
#define RUNS "smtune completion --runs 2>/dev/null"

static const struct source {
    const char *word;
    const char *bash, *zsh, *fish;
} sources[] = {
    {"file", "COMPREPLY=($(compgen -f -- \"$cur\"))", "_files",
     "__fish_complete_path"},
    {"dir", "COMPREPLY=($(compgen -d -- \"$cur\"))", "_files -/",
     "__fish_complete_directories"},
    {"run", "_smtune_words \"$(" RUNS ")\"", "_smtune_run", RUNS},
    {"command", "_smtune_words \"$commands\"", "_smtune_command",
     "__smtune_commands"},
};

static const struct source *find_source(const char *word)
{
    for (size_t i = 0; word != NULL && i < ARRAY_LEN(sources); i++) {
        if (strcasecmp(sources[i].word, word) == 0)
            return &sources[i];
    }
    return NULL;
}

static bool is_shown(const struct opt *opt)
{
    return opt->doc != NULL;
}

/* The commands' names, or an option's choices, with spaces between. */
static void add_commands(struct buf *out)
{
    const char *space = "";

    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++) {
        if ((*cmd)->hidden)
            continue;
        buf_printf(out, "%s%s", space, (*cmd)->name);
        space = " ";
    }
}

static void add_choices(const struct opt *opt, struct buf *out)
{
    for (const char *const *choice = opt->choices; *choice != NULL; choice++)
        buf_printf(out, "%s%s", choice == opt->choices ? "" : " ", *choice);
}

static void add_option_words(const struct opt *opt, struct buf *out)
{
    for (; opt != NULL && opt->name != NULL; opt++) {
        if (is_shown(opt))
            buf_printf(out, " --%s", opt->name);
    }
}

/* Text inside '...', for all three shells where they agree. */
static void add_quoted(const char *text, const char *quote_as, struct buf *out)
{
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            buf_add_string(out, quote_as);
        else
            buf_add_char(out, *text);
    }
    buf_add_char(out, '\'');
}

/* ---- bash ---- */

/* One line for each option of `table` that takes a value: "run:--name) ...". */
static void add_bash_values(const char *command, const struct opt *opt,
                            struct buf *out)
{
    for (; opt != NULL && opt->name != NULL; opt++) {
        const struct source *source = find_source(opt->argument);

        if (opt->type == OPT_FLAG || !is_shown(opt))
            continue;
        buf_printf(out, "    %s:--%s", command, opt->name);
        if (opt->letter != 0)
            buf_printf(out, " | %s:-%c", command, opt->letter);
        buf_add_string(out, ") ");
        if (opt->type == OPT_CHOICE) {
            buf_add_string(out, "_smtune_words '");
            add_choices(opt, out);
            buf_add_string(out, "'; ");
        } else if (source != NULL) {
            buf_printf(out, "%s; ", source->bash);
        }
        buf_add_string(out, "return ;;\n");
    }
}

static void add_bash_command(const struct cmd *cmd, struct buf *out)
{
    const struct source *source = find_source(cmd->completes);

    buf_printf(out, "    %s) options+='", cmd->name);
    add_option_words(cmd->opts, out);
    buf_add_char(out, '\'');
    if (source != NULL)
        buf_printf(out, "; [[ $cur == -* ]] || %s", source->bash);
    else if (cmd->completes != NULL)
        buf_printf(out, "; [[ $cur == -* ]] || _smtune_words '%s'",
                   cmd->completes);
    buf_add_string(out, " ;;\n");
}

static const char bash_start[] =
    "# bash completion for smtune, made by `smtune completion bash`\n"
    "_smtune_words() {\n"
    "    COMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
    "}\n"
    "\n"
    "_smtune() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command='' options='' commands='' i\n"
    "    COMPREPLY=()\n"
    "    # --name=value comes as three words.\n"
    "    if [[ $prev == '=' ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    elif [[ $cur == '=' ]]; then\n"
    "        cur=''\n"
    "    fi\n";

static const char bash_find_command[] =
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --store | --output | -o | --color)\n"
    "            ((i++)); [[ ${COMP_WORDS[i]} == '=' ]] && ((i++)) ;;\n"
    "        -*) ;;\n"
    "        *) command=${COMP_WORDS[i]}; break ;;\n"
    "        esac\n"
    "    done\n";

void completion_bash(struct buf *out)
{
    buf_add_string(out, bash_start);
    buf_add_string(out, bash_find_command);
    buf_add_string(out, "    commands='");
    add_commands(out);
    buf_add_string(out, "'\n    options='");
    add_option_words(common_opts, out);
    buf_add_string(out, "'\n    case $command:$prev in\n");
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++)
        add_bash_values((*cmd)->name, (*cmd)->opts, out);
    add_bash_values("*", common_opts, out);
    buf_add_string(out, "    esac\n    case $command in\n"
                        "    '') [[ $cur == -* ]] || "
                        "_smtune_words \"$commands\" ;;\n");
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++)
        add_bash_command(*cmd, out);
    buf_add_string(out, "    esac\n"
                        "    [[ $cur != -* ]] || _smtune_words \"$options\"\n"
                        "}\n"
                        "complete -o filenames -F _smtune smtune\n");
}

/* ---- zsh ---- */

/* Text of an _arguments specification: ':' and brackets mean something. */
static void add_zsh_doc(const char *text, struct buf *out)
{
    for (; *text != '\0'; text++) {
        if (strchr(":[]\\", *text) != NULL)
            buf_add_char(out, '\\');
        if (*text == '\'')
            buf_add_string(out, "'\\''");
        else
            buf_add_char(out, *text);
    }
}

static void add_zsh_action(const struct opt *opt, struct buf *out)
{
    const struct source *source = find_source(opt->argument);

    if (opt->type == OPT_FLAG)
        return;
    buf_printf(out, ":%s:", opt->argument);
    if (opt->type == OPT_CHOICE) {
        buf_add_char(out, '(');
        add_choices(opt, out);
        buf_add_char(out, ')');
    } else if (source != NULL) {
        buf_add_string(out, source->zsh);
    }
}

static void add_zsh_options(const struct opt *opt, struct buf *out)
{
    for (; opt != NULL && opt->name != NULL; opt++) {
        if (!is_shown(opt))
            continue;
        for (int form = 0; form < (opt->letter != 0 ? 2 : 1); form++) {
            buf_add_string(out, " \\\n            '");
            if (opt->type == OPT_TEXTS)
                buf_add_char(out, '*');
            if (form == 0)
                buf_printf(out, "--%s%s[", opt->name,
                           opt->type == OPT_FLAG ? "" : "=");
            else
                buf_printf(out, "-%c[", opt->letter);
            add_zsh_doc(opt->doc, out);
            buf_add_char(out, ']');
            add_zsh_action(opt, out);
            buf_add_char(out, '\'');
        }
    }
}

static void add_zsh_command(const struct cmd *cmd, struct buf *out)
{
    const struct source *source = find_source(cmd->completes);

    buf_printf(out, "    %s)\n        _arguments -s -S", cmd->name);
    add_zsh_options(cmd->opts, out);
    add_zsh_options(common_opts, out);
    if (source != NULL)
        buf_printf(out, " \\\n            '*:%s:%s'", source->word,
                   source->zsh);
    else if (cmd->completes != NULL)
        buf_printf(out, " \\\n            '*:word:(%s)'", cmd->completes);
    buf_add_string(out, " ;;\n");
}

void completion_zsh(struct buf *out)
{
    buf_add_string(out, "#compdef smtune\n"
                        "# made by `smtune completion zsh`\n"
                        "_smtune_run() { compadd -- "
                        "${(f)\"$(" RUNS ")\"} }\n");
    buf_add_string(out, "_smtune_command() {\n    local -a commands\n"
                        "    commands=(");
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++) {
        if ((*cmd)->hidden)
            continue;
        buf_printf(out, "\n        '%s:", (*cmd)->name);
        add_zsh_doc((*cmd)->summary, out);
        buf_add_char(out, '\'');
    }
    buf_add_string(out, ")\n    _describe command commands\n}\n\n"
                        "_smtune() {\n"
                        "    local line state\n"
                        "    _arguments -s -S -C");
    add_zsh_options(common_opts, out);
    buf_add_string(out, " \\\n            '1: :_smtune_command' "
                        "'*:: :->rest'\n"
                        "    [[ $state == rest ]] || return\n"
                        "    case $line[1] in\n");
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++)
        add_zsh_command(*cmd, out);
    buf_add_string(out, "    esac\n}\n\n"
                        "if [[ $funcstack[1] == _smtune ]]; then\n"
                        "    _smtune \"$@\"\n"
                        "else\n"
                        "    compdef _smtune smtune\n"
                        "fi\n");
}

/* ---- fish ---- */

static void add_fish_doc(const char *text, struct buf *out)
{
    buf_add_string(out, " -d ");
    add_quoted(text, "\\'", out);
}

static void add_fish_options(const char *condition, const struct opt *opt,
                             struct buf *out)
{
    for (; opt != NULL && opt->name != NULL; opt++) {
        const struct source *source = find_source(opt->argument);

        if (!is_shown(opt))
            continue;
        buf_printf(out, "complete -c smtune%s -l %s", condition, opt->name);
        if (opt->letter != 0)
            buf_printf(out, " -s %c", opt->letter);
        if (opt->type != OPT_FLAG)
            buf_add_string(out, " -x");
        if (opt->type == OPT_CHOICE) {
            buf_add_string(out, " -a '");
            add_choices(opt, out);
            buf_add_char(out, '\'');
        } else if (source != NULL) {
            buf_printf(out, " -a '(%s)'", source->fish);
        }
        add_fish_doc(opt->doc, out);
        buf_add_char(out, '\n');
    }
}

static void add_fish_command(const struct cmd *cmd, struct buf *out)
{
    const struct source *source = find_source(cmd->completes);
    struct buf condition = BUF_INIT;

    if (!cmd->hidden) {
        buf_printf(out, "complete -c smtune -n __fish_use_subcommand -a %s",
                   cmd->name);
        add_fish_doc(cmd->summary, out);
        buf_add_char(out, '\n');
    }
    buf_printf(&condition, " -n '__fish_seen_subcommand_from %s'", cmd->name);
    add_fish_options(buf_text(&condition), cmd->opts, out);
    if (source != NULL)
        buf_printf(out, "complete -c smtune%s -a '(%s)'\n",
                   buf_text(&condition), source->fish);
    else if (cmd->completes != NULL)
        buf_printf(out, "complete -c smtune%s -a '%s'\n", buf_text(&condition),
                   cmd->completes);
    buf_clear(&condition);
}

void completion_fish(struct buf *out)
{
    buf_add_string(out, "# fish completion for smtune, made by "
                        "`smtune completion fish`\n"
                        "function __smtune_commands\n    printf '%s\\n' ");
    add_commands(out);
    buf_add_string(out, "\nend\ncomplete -c smtune -f\n");
    add_fish_options("", common_opts, out);
    for (const struct cmd *const *cmd = commands; *cmd != NULL; cmd++)
        add_fish_command(*cmd, out);
}
