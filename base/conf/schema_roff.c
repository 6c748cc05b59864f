/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/roff.h"
#include "base/conf/schema_impl.h"
#include "base/mem.h"

/* Appends text as it is, but words in `backquotes` bold. */
static void add_text(struct buf *out, const char *text)
{
    bool bold = false;

    for (;;) {
        size_t length = strcspn(text, "`");

        roff_add(text, length, out);
        if (text[length] == '\0')
            return;
        bold = !bold;
        buf_add_string(out, bold ? "\\fB" : "\\fR");
        text += length + 1;
    }
}

static void add_bold(struct buf *out, const char *text)
{
    buf_add_string(out, "\\fB");
    add_text(out, text);
    buf_add_string(out, "\\fR");
}

static void print_choices(const struct schema_key *key, struct buf *out)
{
    size_t count;
    const char **choices = schema_choices(key, &count);

    if (count == 0)
        return;
    buf_add_string(out, count > 1 ? "One of" : "Only");
    for (size_t i = 0; i < count; i++) {
        buf_add_string(out, i > 0 ? ", " : " ");
        add_bold(out, choices[i]);
    }
    buf_add_string(out, ".\n");
    free(choices);
}

static void print_facts(const struct schema_key *key, struct buf *out)
{
    if (key->doc != NULL) {
        add_text(out, key->doc);
        buf_add_char(out, '\n');
    }
    print_choices(key, out);
    if (key->fallback != NULL) {
        buf_add_string(out, "Default: ");
        add_text(out, key->fallback);
        buf_add_string(out, ".\n");
    }
    if (key->example != NULL) {
        buf_add_string(out, "Example: ");
        add_bold(out, key->example);
        buf_add_char(out, '\n');
    }
}

/* "path (what it may be, required)" */
static void print_title(const struct schema_key *key, const char *path,
                        struct buf *out)
{
    struct buf types = BUF_INIT;

    schema_describe(key, &types);
    add_bold(out, path);
    buf_add_string(out, " (");
    add_text(out, buf_text(&types));
    buf_printf(out, "%s)\n", key->required ? ", required" : "");
    buf_clear(&types);
}

static void print_keys(const struct schema_key *keys, const char *prefix,
                       struct buf *out);

/* The keys inside of a key, and those of its items. */
static void print_inner(const struct schema_key *key, const char *path,
                        struct buf *out)
{
    const struct schema_key *element = key->element;
    char *inner;

    if (key->told_in != NULL)
        return;
    if (key->keys != NULL)
        print_keys(key->keys, path, out);
    /* a list of what the key itself may be adds nothing */
    if (element == NULL || element->keys == NULL || element->keys == key->keys)
        return;
    inner = mem_printf("%s%s", path,
                       (key->type & SCHEMA_LIST) != 0 ? "[]" : ".NAME");
    print_keys(element->keys, inner, out);
    free(inner);
}

static void print_keys(const struct schema_key *keys, const char *prefix,
                       struct buf *out)
{
    for (; keys->name != NULL; keys++) {
        char *path = mem_printf("%s.%s", prefix, keys->name);

        buf_add_string(out, ".TP\n");
        print_title(keys, path, out);
        print_facts(keys, out);
        print_inner(keys, path, out);
        free(path);
    }
}

void schema_print_roff(const struct schema_key *keys, struct buf *out)
{
    for (; keys->name != NULL; keys++) {
        buf_add_string(out, ".SS ");
        print_title(keys, keys->name, out);
        print_facts(keys, out);
        print_inner(keys, keys->name, out);
    }
}
