/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations and sizes as users write and read them. Parsing is strict, because
 * a wrong unit in a budget is expensive. There is no sign and no exponent,
 * units descend, and a limit excludes overflow. Two tables hold the units; the
 * accepted words follow from them.
 */
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"

struct unit {
    const char *name;
    double size;
};

/* From the largest: in "1h30m" each unit is smaller than the one before. */
static const struct unit time_units[] = {
    {"d", 86400e3}, {"h", 3600e3}, {"m", 60e3}, {"s", 1e3}, {"ms", 1},
};

static const struct unit byte_units[] = {
    {"", 1},         {"b", 1},        {"k", 0x1p10},   {"kb", 0x1p10},
    {"kib", 0x1p10}, {"m", 0x1p20},   {"mb", 0x1p20},  {"mib", 0x1p20},
    {"g", 0x1p30},   {"gb", 0x1p30},  {"gib", 0x1p30}, {"t", 0x1p40},
    {"tb", 0x1p40},  {"tib", 0x1p40}, {"p", 0x1p50},   {"pb", 0x1p50},
    {"pib", 0x1p50},
};

static const double max_duration_ms = 100 * 366 * 86400e3; /* a century */
static const double max_bytes = 0x1p53;

/* Reads digits with at most one point, no sign and no exponent. */
static bool read_number(const char **text, double *number)
{
    const char *p = *text;
    size_t digits = 0;
    bool point = false;

    for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
        point = point || *p == '.';
        digits += *p != '.';
    }
    if (digits == 0 || p - *text > 40)
        return false;
    *number = strtod(*text, NULL);
    *text = p;
    return true;
}

static size_t find_time_unit(const char *text, size_t length)
{
    size_t i = 0;

    while (i < ARRAY_LEN(time_units) &&
           (strlen(time_units[i].name) != length ||
            strncmp(time_units[i].name, text, length) != 0))
        i++;
    return i;
}

int units_parse_duration(const char *text, int64_t *ms)
{
    double total = 0, number;
    size_t next = 0; /* units before this one have been used */

    do {
        size_t length, unit;
        bool first = next == 0;

        if (!read_number(&text, &number))
            return -1;
        length = strspn(text, "dhms");
        unit = find_time_unit(text, length);
        if (first && *text == '\0')
            unit = 3; /* a bare number is seconds */
        if (unit == ARRAY_LEN(time_units) || unit < next)
            return -1;
        total += number * time_units[unit].size;
        next = unit + 1;
        text += length;
    } while (*text != '\0');
    if (total > max_duration_ms)
        return -1;
    *ms = llround(total);
    return 0;
}

int units_parse_bytes(const char *text, int64_t *bytes)
{
    double number;

    if (!read_number(&text, &number))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(byte_units); i++) {
        if (strcasecmp(byte_units[i].name, text) != 0)
            continue;
        number *= byte_units[i].size;
        if (number > max_bytes)
            return -1;
        *bytes = llround(number);
        return 0;
    }
    return -1;
}

void units_format_duration(int64_t ms, char *text, size_t size)
{
    int64_t s = ms / 1000;

    if (ms < 1000)
        snprintf(text, size, "%" PRId64 " ms", ms);
    else if (s < 60)
        snprintf(text, size, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
    else if (s < 3600)
        snprintf(text, size, "%" PRId64 "m %02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(text, size, "%" PRId64 "h %02" PRId64 "m", s / 3600,
                 s % 3600 / 60);
    else
        snprintf(text, size, "%" PRId64 "d %02" PRId64 "h", s / 86400,
                 s % 86400 / 3600);
}

void units_format_bytes(int64_t bytes, char *text, size_t size)
{
    static const char *const names[] = {"KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double amount = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(text, size, "%" PRId64 " B", bytes);
        return;
    }
    /* 1023.95 would print as 1024.0 */
    for (; amount >= 1023.95; i++)
        amount /= 1024;
    snprintf(text, size, "%.1f %s", amount, names[i]);
}

void units_add_duration(int64_t ms, struct buf *out)
{
    char text[32];

    units_format_duration(ms, text, sizeof(text));
    buf_add_string(out, text);
}

void units_add_bytes(int64_t bytes, struct buf *out)
{
    char text[32];

    units_format_bytes(bytes, text, sizeof(text));
    buf_add_string(out, text);
}

const char *units_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

int units_length(const char *plural, int64_t amount)
{
    /* The first that fits; as it stands where the singular is not known. */
    static const struct {
        const char *text;
        int dropped;
    } endings[] = {{"ches", 2}, {"shes", 2}, {"sses", 2}, {"xes", 2},
                   {"ies", 0},  {"ss", 0},   {"s", 1}};
    size_t length = strlen(plural);

    for (size_t i = 0; amount == 1 && i < ARRAY_LEN(endings); i++) {
        size_t bytes = strlen(endings[i].text);

        if (length > bytes &&
            strcmp(plural + length - bytes, endings[i].text) == 0)
            return (int)length - endings[i].dropped;
    }
    return (int)length;
}
