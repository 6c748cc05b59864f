/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/opts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/count.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

enum { TABLES = 2 };

struct parser {
    const struct opt *tables[TABLES];
    void *options[TABLES];
    int argc, next;
    char **argv;
    struct err *err;
};

struct found {
    const struct opt *opt;
    void *options;
};

/* The command's own table is asked first, so it may redefine a common one. */
static struct found find(const struct parser *parser, const char *name,
                         size_t length, char letter)
{
    for (int i = 0; i < TABLES; i++) {
        const struct opt *opt = parser->tables[i];

        for (; opt != NULL && opt->name != NULL; opt++) {
            bool same = name != NULL ? strlen(opt->name) == length &&
                                           memcmp(opt->name, name, length) == 0
                                     : opt->letter == letter;

            if (same)
                return (struct found){opt, parser->options[i]};
        }
    }
    return (struct found){NULL, NULL};
}

static int unknown_name(const struct parser *parser, const char *name,
                        size_t length)
{
    const char **names = NULL;
    const char *nearest;
    char *word = mem_copy_bytes(name, length);
    size_t count = 0, capacity = 0;

    for (int i = 0; i < TABLES; i++) {
        const struct opt *opt = parser->tables[i];

        for (; opt != NULL && opt->name != NULL; opt++) {
            names = mem_grow(names, count, &capacity, sizeof(*names));
            if (opt->doc != NULL)
                names[count++] = opt->name;
        }
    }
    nearest = text_nearest(word, names, count);
    if (nearest != NULL)
        err_set(parser->err, ERR_USAGE,
                "unknown option '--%s' (did you mean '--%s'?)", word, nearest);
    else
        err_set(parser->err, ERR_USAGE,
                "unknown option '--%s' (--help lists all options)", word);
    free(names);
    free(word);
    return -1;
}

static int bad_choice(const struct opt *opt, const char *value, struct err *err)
{
    struct buf list = BUF_INIT;
    const char *nearest;
    size_t count = 0;

    while (opt->choices[count] != NULL) {
        buf_printf(&list, "%s%s", count > 0 ? ", " : "", opt->choices[count]);
        count++;
    }
    nearest = text_nearest(value, opt->choices, count);
    err_set(err, ERR_USAGE,
            "option '--%s': unknown value '%s': expected one of "
            "%s%s%s%s",
            opt->name, value, buf_text(&list),
            nearest != NULL ? " (did you mean '" : "",
            nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "");
    buf_clear(&list);
    return -1;
}

static int set_choice(const struct opt *opt, const char **field,
                      const char *value, struct err *err)
{
    for (const char *const *choice = opt->choices; *choice != NULL; choice++) {
        if (strcmp(*choice, value) == 0) {
            *field = *choice;
            return 0;
        }
    }
    return bad_choice(opt, value, err);
}

static int set_int(const struct opt *opt, int64_t *field, const char *value,
                   struct err *err)
{
    char *end;
    long long number;

    number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || number < opt->min)
        return err_set(
            err, ERR_USAGE,
            "option '--%s': expected a whole number of at least %lld, "
            "got '%s'",
            opt->name, (long long)opt->min, value);
    if (!count_is_sound(number))
        return err_set(
            err, ERR_USAGE,
            "option '--%s': out of range: expected a whole number of "
            "at most %" PRId64 ", got '%s'",
            opt->name, COUNT_MAX, value);
    *field = number;
    return 0;
}

static int set_duration(const struct opt *opt, struct opt_duration *field,
                        const char *value, struct err *err)
{
    char least[32];

    field->is_given = true;
    if (units_parse_duration(value, &field->ms) == 0 && field->ms >= opt->min)
        return 0;
    units_format_duration(opt->min, least, sizeof(least));
    return err_set(err, ERR_USAGE,
                   "option '--%s': expected a duration%s%s such as 90s, 10m "
                   "or 2h, got '%s'",
                   opt->name, opt->min > 0 ? " of at least " : "",
                   opt->min > 0 ? least : "", value);
}

static int set_value(struct found found, const char *value, struct err *err)
{
    void *field = (char *)found.options + found.opt->offset;
    struct opt_texts *texts;

    switch (found.opt->type) {
    case OPT_FLAG:
        *(bool *)field = true;
        return 0;
    case OPT_TEXT:
        *(const char **)field = value;
        return 0;
    case OPT_INT:
        return set_int(found.opt, field, value, err);
    case OPT_DURATION:
        return set_duration(found.opt, field, value, err);
    case OPT_TEXTS:
        texts = field;
        texts->items =
            mem_resize(texts->items, texts->count + 1, sizeof(*texts->items));
        texts->items[texts->count++] = value;
        return 0;
    case OPT_CHOICE:
    default:
        return set_choice(found.opt, field, value, err);
    }
}

/* `attached` is what follows in the same word, or NULL. */
static int take(struct parser *parser, struct found found, const char *attached)
{
    const struct opt *opt = found.opt;

    if (opt->type != OPT_FLAG && attached == NULL) {
        if (parser->next >= parser->argc)
            return err_set(parser->err, ERR_USAGE,
                           "option '--%s': missing value (%s)", opt->name,
                           opt->argument);
        attached = parser->argv[parser->next++];
    }
    return set_value(found, attached, parser->err);
}

static int parse_long(struct parser *parser, const char *word)
{
    size_t length = strcspn(word, "=");
    const char *attached = word[length] == '=' ? word + length + 1 : NULL;
    struct found found = find(parser, word, length, 0);

    if (found.opt == NULL)
        return unknown_name(parser, word, length);
    if (found.opt->type == OPT_FLAG && attached != NULL)
        return err_set(parser->err, ERR_USAGE,
                       "option '--%s' takes no value, got '%s'",
                       found.opt->name, attached);
    return take(parser, found, attached);
}

static int parse_letters(struct parser *parser, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        struct found found = find(parser, NULL, 0, *letters);

        if (found.opt == NULL)
            return err_set(parser->err, ERR_USAGE, "unknown option '-%s'",
                           letters);
        if (found.opt->type != OPT_FLAG)
            return take(parser, found, letters[1] != '\0' ? letters + 1 : NULL);
        take(parser, found, NULL);
    }
    return 0;
}

/* Parses the word at `next`, which is an option. */
static int parse_option(struct parser *parser)
{
    const char *word = parser->argv[parser->next++];

    return word[1] == '-' ? parse_long(parser, word + 2)
                          : parse_letters(parser, word + 1);
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

int opts_parse(const struct opt *table, void *options, const struct opt *common,
               void *common_options, int argc, char **argv, struct err *err)
{
    struct parser parser = {
        {table, common}, {options, common_options}, argc, 0, argv, err};
    bool only_operands = false;
    int operands = 0;

    while (parser.next < argc) {
        char *word = argv[parser.next];

        if (only_operands || !is_option(word)) {
            argv[operands++] = word;
            parser.next++;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
            parser.next++;
        } else if (parse_option(&parser) < 0) {
            return -1;
        }
    }
    return operands;
}

int opts_parse_leading(const struct opt *table, void *options, int argc,
                       char **argv, struct err *err)
{
    struct parser parser = {{table, NULL}, {options, NULL}, argc, 0, argv, err};

    while (parser.next < argc && is_option(argv[parser.next])) {
        if (strcmp(argv[parser.next], "--") == 0)
            return parser.next + 1;
        if (parse_option(&parser) < 0)
            return -1;
    }
    return parser.next;
}

void opts_clear(const struct opt *table, void *options)
{
    for (; table != NULL && table->name != NULL; table++) {
        struct opt_texts *texts = (void *)((char *)options + table->offset);

        if (table->type != OPT_TEXTS)
            continue;
        free(texts->items);
        *texts = (struct opt_texts){NULL, 0};
    }
}
