/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flags from tables: reading, help, and the lines that a checkpoint keeps. All
 * of it iterates over the same rows, so a flag cannot be read and not
 * documented. Each kind of value is read in one place (assign), for arguments,
 * defaults, environment and checkpoints alike, with the same limits. Arguments
 * win over the environment.
 */
#include "training/util/flags.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"

enum { HELP_COLUMN = 27 };

/* A flag and where its value is; flag NULL: not found. */
struct place {
    const struct flag *flag;
    void *field;
};

static struct place find(const struct flag_set *sets, size_t count,
                         const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        for (const struct flag *flag = sets[i].flags; flag->name; flag++)
            if (strlen(flag->name) == length &&
                memcmp(flag->name, name, length) == 0)
                return (struct place){flag,
                                      (char *)sets[i].options + flag->offset};
    return (struct place){NULL, NULL};
}

static int parse_int(const struct flag *flag, const char *text, int64_t *field,
                     struct err *err)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        return err_set(err, ERR_USAGE,
                       "--%s: expected a whole number, got '%s'", flag->name,
                       text);
    if ((double)value < flag->min || (double)value > flag->max)
        return err_set(err, ERR_USAGE, "--%s: %s is out of range %.0f..%.0f",
                       flag->name, text, flag->min, flag->max);
    *field = value;
    return 0;
}

static int parse_real(const struct flag *flag, const char *text, double *field,
                      struct err *err)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !isfinite(value))
        return err_set(err, ERR_USAGE,
                       "--%s: expected a finite number, got '%s'", flag->name,
                       text);
    if (value < flag->min || value > flag->max)
        return err_set(err, ERR_USAGE, "--%s: %s is out of range %g..%g",
                       flag->name, text, flag->min, flag->max);
    *field = value;
    return 0;
}

/* ", did you mean 'PREFIXword'?" or the whole list; the caller's to free. */
static char *advice(const char *word, const char *prefix,
                    const char *const *candidates, size_t count)
{
    const char *nearest = text_nearest(word, candidates, count);
    struct buf out = BUF_INIT;

    if (nearest != NULL) {
        buf_printf(&out, "; did you mean '%s%s'?", prefix, nearest);
    } else if (*prefix == '\0') {
        buf_add_string(&out, "; expected one of");
        for (size_t i = 0; i < count; i++)
            buf_printf(&out, "%s %s", i > 0 ? "," : "", candidates[i]);
    } else {
        buf_add_string(&out, "; --help lists all flags");
    }
    return buf_take(&out);
}

static int parse_choice(const struct flag *flag, const char *text, int *field,
                        struct err *err)
{
    size_t count = 0;
    char *help;

    for (; flag->choices[count] != NULL; count++) {
        if (strcmp(flag->choices[count], text) == 0) {
            *field = (int)count;
            return 0;
        }
    }
    help = advice(text, "", flag->choices, count);
    err_set(err, ERR_USAGE, "--%s: unknown value '%s'%s", flag->name, text,
            help);
    free(help);
    return -1;
}

static int assign(struct place place, const char *text, struct err *err)
{
    switch (place.flag->type) {
    case FLAG_SWITCH:
        *(bool *)place.field = text != NULL;
        return 0;
    case FLAG_INT:
        return parse_int(place.flag, text, place.field, err);
    case FLAG_REAL:
        return parse_real(place.flag, text, place.field, err);
    case FLAG_TEXT:
        *(const char **)place.field = text;
        return 0;
    case FLAG_CHOICE:
        return parse_choice(place.flag, text, place.field, err);
    }
    return -1;
}

static const char *initial_of(const struct flag_set *set,
                              const struct flag *flag)
{
    const struct flag_default *other = set->defaults;

    for (; other != NULL && other->name != NULL; other++)
        if (strcmp(other->name, flag->name) == 0)
            return other->initial;
    return flag->initial;
}

void flags_reset(const struct flag_set *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (const struct flag *flag = sets[i].flags; flag->name; flag++)
            assign((struct place){flag, (char *)sets[i].options + flag->offset},
                   initial_of(&sets[i], flag), NULL);
}

static int unknown(const struct flag_set *sets, size_t count, const char *word,
                   size_t length, struct err *err)
{
    const char **names = NULL;
    size_t known = 0, capacity = 0;
    char *name = mem_copy_bytes(word, length);
    char *help;

    for (size_t i = 0; i < count; i++) {
        for (const struct flag *flag = sets[i].flags; flag->name; flag++) {
            names = mem_grow(names, known, &capacity, sizeof(*names));
            names[known++] = flag->name;
        }
    }
    help = advice(name, "--", names, known);
    err_set(err, ERR_USAGE, "unknown flag '--%s'%s", name, help);
    free(help);
    free(name);
    free(names);
    return -1;
}

static bool is_given(const struct flag *flag, int argc, char **argv)
{
    size_t length = strlen(flag->name);

    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "--", 2) == 0 &&
            strcspn(argv[i] + 2, "=") == length &&
            memcmp(argv[i] + 2, flag->name, length) == 0)
            return true;
    return false;
}

static int parse_environment(const struct flag_set *sets, size_t count,
                             int argc, char **argv, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct flag *flag = sets[i].flags; flag->name; flag++) {
            const char *value =
                flag->environment != NULL ? getenv(flag->environment) : NULL;
            struct place place = {flag, (char *)sets[i].options + flag->offset};

            if (value == NULL || *value == '\0' || is_given(flag, argc, argv))
                continue;
            if (assign(place, value, err) != 0)
                return err_prefix(err, "$%s", flag->environment);
        }
    }
    return 0;
}

int flags_parse(const struct flag_set *sets, size_t count, int argc,
                char **argv, struct err *err)
{
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i] + 2;
        size_t length = strncmp(argv[i], "--", 2) == 0 ? strcspn(word, "=") : 0;
        const char *value =
            length > 0 && word[length] == '=' ? word + length + 1 : NULL;
        struct place place;

        if (length == 0)
            return err_set(err, ERR_USAGE, "'%s' is not a flag", argv[i]);
        place = find(sets, count, word, length);
        if (place.flag == NULL)
            return unknown(sets, count, word, length, err);
        if (place.flag->type == FLAG_SWITCH) {
            if (value != NULL)
                return err_set(err, ERR_USAGE, "--%s takes no value",
                               place.flag->name);
            value = "";
        } else if (value == NULL) {
            if (++i == argc)
                return err_set(err, ERR_USAGE, "--%s: missing value (%s)",
                               place.flag->name, place.flag->argument);
            value = argv[i];
        }
        if (assign(place, value, err) != 0)
            return -1;
    }
    return parse_environment(sets, count, argc, argv, err);
}

int flags_default(const struct flag_set *set, const char *name,
                  const char *value, int argc, char **argv, struct err *err)
{
    struct place place = find(set, 1, name, strlen(name));

    if (place.flag == NULL || is_given(place.flag, argc, argv))
        return 0;
    return assign(place, value, err);
}

static void print_value(struct place place, struct buf *out)
{
    char text[32];

    switch (place.flag->type) {
    case FLAG_SWITCH:
        buf_add_string(out, *(bool *)place.field ? "true" : "false");
        break;
    case FLAG_INT:
        buf_printf(out, "%lld", (long long)*(int64_t *)place.field);
        break;
    case FLAG_REAL:
        value_format_real(*(double *)place.field, text, sizeof(text));
        buf_add_string(out, text);
        break;
    case FLAG_TEXT:
        buf_add_string(out, *(const char **)place.field);
        break;
    case FLAG_CHOICE:
        buf_add_string(out, place.flag->choices[*(int *)place.field]);
        break;
    }
}

static void print_flags(const struct flag_set *sets, size_t count,
                        bool with_adaptable, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct flag *flag = sets[i].flags; flag->name; flag++) {
            if (!flag->kept || (flag->adaptable && !with_adaptable))
                continue;
            buf_printf(out, "%s=", flag->name);
            print_value(
                (struct place){flag, (char *)sets[i].options + flag->offset},
                out);
            buf_add_char(out, '\n');
        }
    }
}

void flags_print_kept(const struct flag_set *sets, size_t count,
                      struct buf *out)
{
    print_flags(sets, count, true, out);
}

void flags_print_fixed(const struct flag_set *sets, size_t count,
                       struct buf *out)
{
    print_flags(sets, count, false, out);
}

int flags_restore_kept(const struct flag_set *sets, size_t count,
                       const char *lines, struct err *err)
{
    int status = 0;

    for (const char *line = lines; *line != '\0' && status == 0;) {
        size_t name = strcspn(line, "=\n");
        size_t length = strcspn(line, "\n");
        struct place place = find(sets, count, line, name);

        if (place.flag != NULL && place.flag->kept && name < length) {
            char *value = mem_copy_bytes(line + name + 1, length - name - 1);

            status = assign(place, value, err);
            free(value);
        }
        line += length + (line[length] == '\n');
    }
    return status;
}

void flags_print_help(const struct flag_set *sets, size_t count,
                      struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct flag *flag = sets[i].flags; flag->name; flag++) {
            const char *initial = initial_of(&sets[i], flag);
            size_t start = out->length;

            buf_printf(out, "  --%s", flag->name);
            if (flag->argument != NULL)
                buf_printf(out, " %s", flag->argument);
            do
                buf_add_char(out, ' ');
            while (out->length - start < HELP_COLUMN);
            buf_add_string(out, flag->doc);
            if (flag->environment != NULL)
                buf_printf(out, " ($%s)", flag->environment);
            if (initial != NULL)
                buf_printf(out, " (%s)", initial);
            buf_add_char(out, '\n');
        }
    }
}
