/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/conf/conf_impl.h"
#include "base/mem.h"

/* What libyaml says, and what a person can do with. */
struct problem {
    const char *theirs, *ours, *help;
};

static const struct problem problems[] = {
    {"mapping values are not allowed in this context", "unexpected ':'",
     "put text with ': ' in quotes; else check the indentation"},
    {"did not find expected key", "expected a key here",
     "keys of one map start in the same column"},
    {"could not find expected ':'", "expected ':' behind the key", NULL},
    {"did not find expected '-' indicator", "expected '- ' here",
     "items of one list start in the same column"},
    {"block sequence entries are not allowed in this context",
     "unexpected '- '", "a list starts on a line of its own"},
    {"found character that cannot start any token",
     "text cannot start with this character", "put the text in quotes"},
    {"found unexpected end of stream", "the file ends inside quotes", NULL},
    {"did not find expected ',' or ']'", "expected ',' or ']'", NULL},
    {"did not find expected ',' or '}'", "expected ',' or '}'", NULL},
    {"found undefined tag handle", "custom tags are not supported", NULL},
    {"found invalid Unicode character escape code",
     "an escape that is no character",
     "half of a surrogate pair, or beyond \\U0010ffff"},
};

/* Whether only white space with a tab in it stands before the place. */
static bool tab_indents(const struct conf_doc *doc, struct diag_place *place)
{
    const char *line = conf_find_place(doc->source, place->line, 1);
    size_t length = strspn(line, " ");

    if (line[length] != '\t')
        return false;
    place->column = (int)length + 1;
    return true;
}

/* Whether a template begins there, whose braces YAML takes for its own. */
static bool is_template(const struct conf_doc *doc, struct diag_place place)
{
    const char *before =
        conf_find_place(doc->source, place.line, place.column - 1);

    return place.column > 1 && strncmp(before, "${{", 3) == 0;
}

int conf_add_problem(const struct conf_doc *doc, const char *problem, int begun,
                     struct diag_place place, struct diags *diags)
{
    const struct problem *known = NULL;
    char *help = NULL;
    int rc;

    if (tab_indents(doc, &place))
        return diags_add(diags, place, "indent with spaces",
                         "a tab is not valid as indentation in YAML");
    if (is_template(doc, place))
        return diags_add(diags, place, "put the text in quotes: \"... ${{ }}\"",
                         "a template inside { } or [ ] needs quotes");
    for (size_t i = 0; i < ARRAY_LEN(problems); i++)
        if (strcmp(problems[i].theirs, problem) == 0)
            known = &problems[i];
    if (known != NULL && known->help != NULL)
        help = mem_copy_string(known->help);
    else if (begun > 0 && begun < place.line)
        help = mem_printf("of the text that starts in line %d", begun);
    if (known != NULL)
        problem = known->ours;
    rc = diags_add(diags, place, help, "%s", problem);
    free(help);
    return rc;
}
