/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/slurm/talk/gres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char separators[] = ", \t\n";

/* Without what is in parentheses: sockets, devices, and the "(null)" of a type
 * that is none. */
static size_t copy_entry(const char *text, char *entry, size_t size)
{
    size_t length = 0, at = 0;
    int depth = 0;

    for (; text[at] != '\0'; at++) {
        if (depth == 0 && strchr(separators, text[at]) != NULL)
            break;
        depth += text[at] == '(';
        if (depth == 0 && length + 1 < size)
            entry[length++] = text[at];
        depth -= text[at] == ')' && depth > 0;
    }
    entry[length] = '\0';
    return at;
}

static const char *skip_prefix(const char *entry)
{
    bool has_prefix =
        text_begins_with(entry, "gres/") || text_begins_with(entry, "gres:");

    return has_prefix ? entry + 5 : entry;
}

/* "4", "2K"; -1: it is none, but a type. */
static int64_t read_count(const char *text)
{
    static const char units[] = "KMG";
    enum { DIGITS_MAX = 9 };
    size_t digits = strspn(text, "0123456789");
    const char *unit =
        text[digits] != '\0' ? strchr(units, text[digits]) : NULL;

    if (digits == 0 || digits > DIGITS_MAX ||
        (text[digits] != '\0' && (unit == NULL || text[digits + 1] != '\0')))
        return -1;
    return strtoll(text, NULL, 10)
           << (unit != NULL ? 10 * (unit - units + 1) : 0);
}

/* What is behind the name: "a100:2", "a100", "2", "a100:no_consume:2". */
static void read_rest(char *rest, struct slurm_gres *gres)
{
    char *equals = strrchr(rest, '=');
    char *last = equals != NULL ? equals : strrchr(rest, ':');
    int64_t count = read_count(last != NULL ? last + 1 : rest);
    char *flag;

    if (count >= 0) {
        gres->count = count;
        *(last != NULL ? last : rest) = '\0';
    }
    flag = strstr(rest, "no_consume");
    if (flag != NULL)
        *(flag > rest ? flag - 1 : flag) = '\0';
    snprintf(gres->type, sizeof(gres->type), "%.*s",
             (int)sizeof(gres->type) - 1, rest);
}

bool slurm_gres_next(const char **at, struct slurm_gres *gres)
{
    char entry[GRES_NAME_MAX + GRES_TYPE_MAX + 32];
    const char *from;
    size_t length;

    *at += strspn(*at, separators);
    if (**at == '\0')
        return false;
    *at += copy_entry(*at, entry, sizeof(entry));
    from = skip_prefix(entry);
    length = strcspn(from, ":=");
    *gres = (struct slurm_gres){.count = 1};
    memcpy(gres->name, from,
           length < sizeof(gres->name) ? length : sizeof(gres->name) - 1);
    if (from[length] != '\0')
        read_rest(entry + (from - entry) + length + 1, gres);
    return true;
}

void slurm_gres_add(struct buf *list, const char *prefix, const char *option)
{
    for (option += strspn(option, separators); *option != '\0';
         option += strspn(option, separators)) {
        size_t length = strcspn(option, separators);
        const char *from = skip_prefix(option), *end = option + length;

        buf_printf(list, "%s%s", list->length > 0 ? "," : "",
                   from > option ? "gres/" : prefix);
        for (; from < end; from++)
            buf_add_char(list, *from == '=' ? ':' : *from);
        option = end;
    }
}
