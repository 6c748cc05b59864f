/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/conf/schema_impl.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/value.h"

/* One alternative of a type: what it is called, and a scalar's size if it is
 * of it (0 where that has none), NaN if not. */
struct kind {
    unsigned type;
    const char *words;
    double (*measure)(const struct conf_node *node);
};

static double fits(bool condition)
{
    return condition ? 0.0 : (double)NAN;
}

static double measure_bool(const struct conf_node *node)
{
    return fits(node->type == CONF_BOOL);
}

static double measure_int(const struct conf_node *node)
{
    double number = conf_number(node);

    if (node->type == CONF_INT ||
        (fabs(number) < 0x1p53 && number == floor(number)))
        return number;
    return (double)NAN;
}

static double measure_number(const struct conf_node *node)
{
    double number = conf_number(node);

    return isfinite(number) ? number : (double)NAN;
}

static double measure_text(const struct conf_node *node)
{
    return fits(node->type == CONF_TEXT);
}

static double measure_auto(const struct conf_node *node)
{
    return fits(node->type == CONF_TEXT && strcmp(node->text, "auto") == 0);
}

static double measure_duration(const struct conf_node *node)
{
    int64_t ms;

    if (node->text == NULL || units_parse_duration(node->text, &ms) != 0)
        return (double)NAN;
    return (double)ms / 1000;
}

static double measure_bytes(const struct conf_node *node)
{
    int64_t bytes;

    if (node->text == NULL || units_parse_bytes(node->text, &bytes) != 0)
        return (double)NAN;
    return (double)bytes;
}

static double measure_scalar(const struct conf_node *node)
{
    return fits(node->text != NULL && node->type != CONF_NULL);
}

static double measure_null(const struct conf_node *node)
{
    return fits(node->type == CONF_NULL);
}

static double measure_map(const struct conf_node *node)
{
    return fits(node->type == CONF_MAP);
}

static double measure_list(const struct conf_node *node)
{
    return fits(node->type == CONF_LIST);
}

/* `auto` before text, so that it needs not be among the choices. */
static const struct kind kinds[] = {
    {SCHEMA_BOOL, "true or false", measure_bool},
    {SCHEMA_INT, "a whole number", measure_int},
    {SCHEMA_NUMBER, "a number", measure_number},
    {SCHEMA_DURATION, "a duration such as 90s or 2h", measure_duration},
    {SCHEMA_BYTES, "an amount such as 512M or 2G", measure_bytes},
    {SCHEMA_AUTO, "'auto'", measure_auto},
    {SCHEMA_TEXT, "text", measure_text},
    {SCHEMA_SCALAR, "a number, text, true or false", measure_scalar},
    {SCHEMA_LIST | SCHEMA_ANY_LIST, "a list", measure_list},
    {SCHEMA_MAP | SCHEMA_ANY_MAP, "a map", measure_map},
    {SCHEMA_NULL, "nothing", measure_null},
};

const struct schema_key *schema_find(const struct schema_key *keys,
                                     const char *name)
{
    if (keys == NULL || name == NULL)
        return NULL;
    while (keys->name != NULL && strcmp(keys->name, name) != 0)
        keys++;
    return keys->name != NULL ? keys : NULL;
}

const char **schema_choices(const struct schema_key *key, size_t *count)
{
    const char *const *const lists[] = {
        key->names != NULL ? key->names() : NULL,
        key->choices,
    };
    const char **words = NULL;
    size_t capacity = 0;

    *count = 0;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const char *const *word = lists[i]; word != NULL && *word != NULL;
             word++) {
            words = mem_grow(words, *count, &capacity, sizeof(*words));
            words[(*count)++] = *word;
        }
    return words;
}

/* The types of an item, with those that a shorthand adds. */
static unsigned all_types(const struct schema_key *key)
{
    const struct schema_key *shorthand = schema_find(key->keys, key->shorthand);

    return key->type | (shorthand != NULL ? shorthand->type : 0);
}

void schema_describe(const struct schema_key *key, struct buf *out)
{
    unsigned types = all_types(key);
    const char *separator = "";

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if ((types & kinds[i].type) == 0)
            continue;
        buf_printf(out, "%s%s", separator, kinds[i].words);
        separator = " or ";
    }
}

/* Appends "the number 5": what an item is, in words. */
static void describe_node(const struct conf_node *node, struct buf *out)
{
    bool is_number = isfinite(conf_number(node));

    if (node->text == NULL)
        buf_add_string(out, conf_type_name(node->type));
    else
        buf_printf(out, is_number ? "the number %s" : "'%s'", node->text);
}

/* What would be right in place of an item of a wrong type; NULL: no idea. */
static char *suggest_item(const struct schema_key *key,
                          const struct conf_node *node)
{
    bool is_built = (key->type & (SCHEMA_MAP | SCHEMA_LIST)) != 0;
    size_t count;
    const char **choices = schema_choices(key, &count);
    struct buf help = BUF_INIT;

    if (count > 0)
        for (size_t i = 0; i < count; i++)
            buf_printf(&help, "%s%s", i > 0 ? ", " : "one of: ", choices[i]);
    else if ((all_types(key) & SCHEMA_TEXT) != 0 && node->text != NULL)
        buf_printf(&help, "for text, write '%s' in quotes", node->text);
    else if (is_built && key->example != NULL)
        buf_printf(&help, "for example %s", key->example);
    free(choices);
    return help.length > 0 ? buf_take(&help) : NULL;
}

static int add_wrong_type(const struct schema_key *key,
                          const struct conf_node *node, const char *label,
                          struct diags *diags)
{
    struct buf wanted = BUF_INIT, found = BUF_INIT;
    char *help;
    int rc;

    if (node->type == CONF_NULL)
        return diags_add(diags, node->place, NULL, "%s has no value", label);
    schema_describe(key, &wanted);
    describe_node(node, &found);
    help = suggest_item(key, node);
    rc = diags_add(diags, node->place, help,
                   "type mismatch: %s must be %s, not %s", label,
                   buf_text(&wanted), buf_text(&found));
    free(help);
    buf_clear(&found);
    buf_clear(&wanted);
    return rc;
}

/* An amount without a unit counts bytes, and megabytes were meant; NULL: it has
 * a unit. */
static char *suggest_unit(const char *text)
{
    return text[strspn(text, "0123456789_.")] == '\0'
               ? mem_printf("a number without a unit is in bytes; write %sM "
                            "for megabytes",
                            text)
               : NULL;
}

static int check_range(const struct schema_key *key, unsigned type, double size,
                       const struct conf_node *node, const char *label,
                       struct diags *diags)
{
    const unsigned sized =
        SCHEMA_INT | SCHEMA_NUMBER | SCHEMA_DURATION | SCHEMA_BYTES;
    bool low = size<key->min, high = size> key->max;
    const char *unit = type == SCHEMA_DURATION ? "s" : "";
    char limit[32], *help = NULL;
    int rc;

    if ((type & sized) == 0 || (key->min == 0 && key->max == 0) ||
        (!low && !high))
        return 0;
    value_format_real(low ? key->min : key->max, limit, sizeof(limit));
    if (type == SCHEMA_BYTES && low) {
        units_format_bytes((int64_t)key->min, limit, sizeof(limit));
        help = suggest_unit(node->text);
    }
    rc = diags_add(diags, node->place, help,
                   "out of range: %s must be at %s %s%s, not %s", label,
                   low ? "least" : "most", limit, unit, node->text);
    free(help);
    return rc;
}

static int add_unknown_choice(const struct schema_key *key,
                              const struct conf_node *node, const char *label,
                              const char *const *choices, size_t count,
                              struct diags *diags)
{
    const char *meant = schema_guess_choice(key, node->text);
    char *help;
    int rc;

    if (meant == NULL)
        return diags_add_unknown(diags, node->place, node->text, choices, count,
                                 "%s cannot be '%s'", label, node->text);
    help = mem_printf("did you mean '%s'?", meant);
    rc = diags_add(diags, node->place, help, "%s cannot be '%s'", label,
                   node->text);
    free(help);
    return rc;
}

static int check_text(const struct schema_key *key,
                      const struct conf_node *node, const char *label,
                      struct diags *diags)
{
    size_t count, i = 0;
    const char **choices = schema_choices(key, &count);
    int rc = 0;

    while (i < count && strcmp(choices[i], node->text) != 0)
        i++;
    if (key->min > 0 && node->text[0] == '\0')
        rc = diags_add(diags, node->place, NULL, "%s is empty", label);
    else if (count > 0 && i == count)
        rc = add_unknown_choice(key, node, label, choices, count, diags);
    free(choices);
    return rc;
}

static int check_scalar(const struct schema_key *key,
                        const struct conf_node *node, const char *label,
                        struct diags *diags)
{
    const struct kind *kind = NULL;
    double size = 0;

    for (size_t i = 0; i < ARRAY_LEN(kinds) && kind == NULL; i++) {
        size = kinds[i].measure(node);
        if ((key->type & kinds[i].type) != 0 && !isnan(size))
            kind = &kinds[i];
    }
    if (kind == NULL)
        return add_wrong_type(key, node, label, diags);
    if (kind->type == SCHEMA_TEXT)
        return check_text(key, node, label, diags);
    return check_range(key, kind->type, size, node, label, diags);
}

char *schema_label(const char *what, const char *name)
{
    const char *last = what != NULL ? strrchr(what, '\'') : NULL;

    if (what == NULL)
        return mem_printf("'%s'", name);
    if (what[0] == '\'' && strchr(what + 1, '\'') == last)
        return mem_printf("%.*s.%s'", (int)(last - what), what, name);
    return mem_printf("'%s' in %s", name, what);
}

static int check_free_keys(const struct schema_key *element,
                           const struct conf_node *map, struct diags *diags)
{
    int rc = 0;

    for (size_t i = 0; i < map->count; i++) {
        char *label = mem_printf("%s '%s'", element->name, map->keys[i]->text);

        rc |= schema_check_item(element, map->items[i], label, diags);
        free(label);
    }
    return rc;
}

static int check_list(const struct schema_key *element,
                      const struct conf_node *list, const char *label,
                      struct diags *diags)
{
    char *item_label = mem_printf("an item of %s", label);
    int rc = 0;

    for (size_t i = 0; i < list->count; i++) {
        bool is_map = list->items[i]->type == CONF_MAP;

        rc |= schema_check_item(element, list->items[i],
                                is_map ? label : item_label, diags);
    }
    free(item_label);
    return rc;
}

int schema_check_item(const struct schema_key *key,
                      const struct conf_node *node, const char *label,
                      struct diags *diags)
{
    const struct schema_key *shorthand = schema_find(key->keys, key->shorthand);
    char *name;
    int rc;

    if (node->type == CONF_MAP && (key->type & SCHEMA_MAP) != 0)
        return key->keys != NULL ? schema_check(key->keys, node, label, diags)
                                 : check_free_keys(key->element, node, diags);
    if ((node->type == CONF_LIST && (key->type & SCHEMA_ANY_LIST) != 0) ||
        (node->type == CONF_MAP && (key->type & SCHEMA_ANY_MAP) != 0))
        return 0;
    if (node->type == CONF_LIST && (key->type & SCHEMA_LIST) != 0)
        return check_list(key->element, node, label, diags);
    if (shorthand == NULL || node->type == CONF_NULL ||
        (node->type == CONF_LIST &&
         (shorthand->type & (SCHEMA_LIST | SCHEMA_ANY_LIST)) == 0))
        return check_scalar(key, node, label, diags);
    name = schema_label(label, shorthand->name);
    rc = schema_check_item(shorthand, node, name, diags);
    free(name);
    return rc;
}

static int check_present(const struct schema_key *keys,
                         const struct conf_node *map, const char *what,
                         struct diags *diags)
{
    int rc = 0;

    for (; keys->name != NULL; keys++) {
        char *help = NULL;

        if (!keys->required || conf_get(map, keys->name) != NULL)
            continue;
        if (keys->example != NULL)
            help =
                mem_printf("add for example %s: %s", keys->name, keys->example);
        rc = diags_add(diags, map->place, help, "missing key '%s'%s%s",
                       keys->name, what != NULL ? " in " : "",
                       what != NULL ? what : "");
        free(help);
    }
    return rc;
}

static int add_unknown_key(const struct schema_key *keys,
                           const struct conf_node *map,
                           const struct conf_node *key, const char *what,
                           struct diags *diags)
{
    char *text =
        mem_printf("unknown key '%s'%s%s", key->text,
                   what != NULL ? " in " : "", what != NULL ? what : "");
    char *meant = schema_guess(keys, map, key->text);
    char *help = meant != NULL ? mem_printf("did you mean '%s'?", meant) : NULL;
    const char **names = NULL;
    size_t count = 0, capacity = 0;

    for (; keys->name != NULL; keys++) {
        names = mem_grow(names, count, &capacity, sizeof(*names));
        names[count++] = keys->name;
    }
    if (help != NULL)
        diags_add(diags, key->place, help, "%s", text);
    else
        diags_add_unknown(diags, key->place, key->text, names, count, "%s",
                          text);
    free(names);
    free(help);
    free(meant);
    free(text);
    return -1;
}

int schema_check(const struct schema_key *keys, const struct conf_node *node,
                 const char *what, struct diags *diags)
{
    int rc;

    if (node->type != CONF_MAP)
        return diags_add(diags, node->place, NULL,
                         "type mismatch: %s must be a map of keys, not %s",
                         what != NULL ? what : "the file",
                         conf_type_name(node->type));
    rc = check_present(keys, node, what, diags);
    for (size_t i = 0; i < node->count; i++) {
        const struct conf_node *name = node->keys[i];
        const struct schema_key *key = schema_find(keys, name->text);
        char *label;

        if (key == NULL) {
            rc = add_unknown_key(keys, node, name, what, diags);
            continue;
        }
        label = schema_label(what, key->name);
        rc |= schema_check_item(key, node->items[i], label, diags);
        free(label);
    }
    return rc;
}
