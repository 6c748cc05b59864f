/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/near.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/metrics/name.h"
#include "base/metrics/number.h"
#include "base/metrics/scan.h"
#include "base/metrics/step.h"
#include "base/screen.h"
#include "base/text.h"

/*
 * Asked only where a metric was not found, with the end of the log. A line with
 * the very name is nearer than one that gives a similar name a value, and that
 * one than words like the name before any number; of equal ones the first
 * counts.
 */

enum { LINE_MAX_LENGTH = 400, NUMBER_DISTANCE = 40 };

enum nearness { NEAR_NOT, NEAR_WORDS, NEAR_SIMILAR, NEAR_NAMED };

/* What a regular expression needs: from the name up to the number. */
struct place {
    enum nearness nearness;
    const char *start, *number;
};

/* Whether the word before `at` names a step: "after epoch 3". */
static bool is_step(const char *line, const char *at)
{
    static const struct metric_resource none;
    const char *end, *word;

    while (at > line && (metric_is_blank(at[-1]) || at[-1] == '#' ||
                         at[-1] == '=' || at[-1] == ':'))
        at--;
    end = at;
    for (word = end; word > line && metric_is_letter(word[-1]); word--)
        ;
    return metric_step_rank(&none, word, (size_t)(end - word)) != STEP_NONE;
}

/* The first number behind `at` that is no step, or NULL. */
static const char *find_number(const char *at, const char *end)
{
    const char *stop = end - at > NUMBER_DISTANCE ? at + NUMBER_DISTANCE : end;
    const char *from = at;
    double value;

    while (at < stop) {
        size_t length = 0;

        if (metric_is_digit(*at) || *at == '-' || *at == '.')
            length = metric_scan_number(at, end, &value);
        if (length > 0 && !is_step(from, at))
            return at;
        if (length == 0)
            length = metric_blank_groups(at, end);
        at += length > 0 ? length : 1;
    }
    return NULL;
}

static void look_for_name(const char *name, const char *line, const char *end,
                          struct place *place)
{
    size_t length = strlen(name);

    for (const char *at = line; (size_t)(end - at) > length; at++) {
        const char *number;

        if (!metric_names_match(at, name, length))
            continue;
        number = find_number(at + length, end);
        if (number != NULL)
            *place = (struct place){NEAR_NAMED, at, number};
        return;
    }
}

static bool is_joint(char c)
{
    return c == '_' || c == '.' || c == '/' || c == '-' || c == ' ';
}

static size_t part_length(const char *text, const char *end)
{
    size_t length = 0;

    while (text + length < end && !is_joint(text[length]))
        length++;
    return length;
}

/* Whether some part of the other name begins as this one does, or the other way
 * round: val and validation. */
static bool has_part(const char *part, size_t length, const char *name,
                     const char *end)
{
    while (name < end) {
        size_t other = part_length(name, end);
        size_t common = length < other ? length : other;

        if (common > 0 && (common >= 3 || length == other) &&
            metric_names_match(part, name, common))
            return true;
        name += other + 1;
    }
    return false;
}

/* Whether each part of one name is in the other: val_loss, validation_loss. */
static bool has_all_parts(const char *name, const char *end, const char *other,
                          const char *other_end)
{
    while (name < end) {
        size_t length = part_length(name, end);

        if (length > 0 && !has_part(name, length, other, other_end))
            return false;
        name += length + 1;
    }
    return true;
}

static bool is_similar(const char *name, const struct metric_pair *pair)
{
    const char *end = name + strlen(name);
    const char *other_end = pair->name + pair->length;
    char other[METRIC_NAME_MAX * 2 + 1];
    const char *others[] = {other};

    if (pair->length >= sizeof(other))
        return false;
    memcpy(other, pair->name, pair->length);
    other[pair->length] = '\0';
    return has_all_parts(name, end, pair->name, other_end) ||
           has_all_parts(pair->name, other_end, name, end) ||
           text_nearest(name, others, 1) != NULL;
}

static void look_for_similar(const char *name, const char *line,
                             const char *end, struct metric_pairs *pairs,
                             struct place *place)
{
    metric_scan_line(line, (size_t)(end - line), pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct metric_pair *pair = &pairs->items[i];
        const char *start, *number;

        if (!is_similar(name, pair))
            continue;
        start = memmem(line, (size_t)(end - line), pair->name, pair->length);
        number = start != NULL ? find_number(start + pair->length, end) : NULL;
        if (number == NULL)
            continue;
        *place = (struct place){NEAR_SIMILAR, start, number};
        return;
    }
}

static size_t count_parts(const char *name)
{
    const char *end = name + strlen(name);
    size_t count = 0;

    while (name < end) {
        size_t length = part_length(name, end);

        count += length > 0;
        name += length + 1;
    }
    return count;
}

/* Behind `count` words from `at` on, or NULL. */
static const char *skip_words(const char *at, const char *end, size_t count)
{
    for (; count > 0; count--) {
        const char *word = at;

        while (at < end && (metric_is_letter(*at) || metric_is_digit(*at)) &&
               !is_joint(*at))
            at++;
        if (at == word)
            return NULL;
        if (count > 1 && at < end && is_joint(*at))
            at++;
    }
    return at;
}

/* "validation loss is now 0.5" for val_loss. */
static void look_for_words(const char *name, const char *line, const char *end,
                           struct place *place)
{
    const char *name_end = name + strlen(name);
    size_t parts = count_parts(name);

    for (const char *at = line; at < end; at++) {
        const char *behind, *number;

        if (!metric_is_letter(*at) || (at > line && (metric_is_letter(at[-1]) ||
                                                     metric_is_digit(at[-1]))))
            continue;
        behind = skip_words(at, end, parts);
        if (behind == NULL || !has_all_parts(name, name_end, at, behind) ||
            !has_all_parts(at, behind, name, name_end))
            continue;
        number = find_number(behind, end);
        if (number != NULL) {
            *place = (struct place){NEAR_WORDS, at, number};
            return;
        }
    }
}

/* Numbers and blanks of the line may be others in the next one. False: it is
 * too long. */
static bool write_regex(const struct place *place, char *out, size_t size)
{
    struct buf regex = BUF_INIT;
    const char *at = place->start;
    bool fits;

    while (at < place->number) {
        if (metric_is_blank(*at)) {
            buf_add_string(&regex, "\\s+");
            while (at < place->number && metric_is_blank(*at))
                at++;
            continue;
        }
        if (metric_is_digit(*at)) {
            buf_add_string(&regex, "\\d+");
            while (at < place->number && metric_is_digit(*at))
                at++;
            continue;
        }
        if (strchr("\\^$.|?*+()[]{}", *at) != NULL)
            buf_add_char(&regex, '\\');
        if (*at == '\'') /* in YAML's quotes */
            buf_add_char(&regex, '\'');
        buf_add_char(&regex, *at++);
    }
    buf_add_string(&regex, "([-+.0-9eE]+)");
    fits = regex.length < size;
    if (fits)
        memcpy(out, buf_text(&regex), regex.length + 1);
    buf_clear(&regex);
    return fits;
}

static void write_line(const char *line, size_t length, char *out, size_t size)
{
    struct buf shown = BUF_INIT;
    int used;

    screen_line(line, length, &shown);
    used = snprintf(out, size, "%s",
                    buf_text(&shown) + strspn(buf_text(&shown), " "));
    if (used >= (int)size)
        snprintf(out + size - 4, 4, "...");
    buf_clear(&shown);
}

static void look_at_line(const char *name, const char *line, size_t length,
                         struct metric_pairs *pairs, struct metric_near *near,
                         enum nearness *best)
{
    struct buf bare = BUF_INIT;
    struct place place = {NEAR_NOT, NULL, NULL};
    struct metric_near found;
    const char *end;

    if (length > LINE_MAX_LENGTH)
        return;
    escape_strip(line, length, &bare);
    line = buf_text(&bare);
    end = line + bare.length;
    look_for_name(name, line, end, &place);
    if (place.nearness == NEAR_NOT && *best < NEAR_SIMILAR)
        look_for_similar(name, line, end, pairs, &place);
    if (place.nearness == NEAR_NOT && *best == NEAR_NOT)
        look_for_words(name, line, end, &place);
    if (place.nearness > *best &&
        write_regex(&place, found.regex, sizeof(found.regex))) {
        write_line(line, bare.length, found.line, sizeof(found.line));
        *near = found;
        *best = place.nearness;
    }
    buf_clear(&bare);
}

bool metric_near_find(const char *name, const char *log, size_t length,
                      struct metric_near *near)
{
    struct metric_pairs pairs = {NULL, 0, 0, BUF_INIT, false};
    enum nearness best = NEAR_NOT;
    const char *end = log + length;

    while (log < end && best < NEAR_NAMED) {
        const char *line = log;

        while (log < end && *log != '\n' && *log != '\r')
            log++;
        if (log > line)
            look_at_line(name, line, (size_t)(log - line), &pairs, near, &best);
        log += log < end;
    }
    metric_pairs_clear(&pairs);
    return best > NEAR_NOT;
}

void metric_near_print(const struct metric_near *near, const char *name,
                       struct buf *out)
{
    buf_printf(out, "to read it from \"%s\", write metrics: {\"%s\": '%s'}",
               near->line, name, near->regex);
}
