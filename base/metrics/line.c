/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/reader.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/metrics/name.h"
#include "base/metrics/number.h"
#include "base/metrics/rank.h"
#include "base/metrics/regex.h"
#include "base/text.h"

/*
 * One line: its step, then its metrics. Where rules name metrics, each is
 * looked for in forms that get less strict, and the first that is there counts:
 * the name as it is; with other case or separators; before a blank; without the
 * word (train, val) that belongs to it, if the line has no second one.
 */

enum { WORDS_MAX = 40 };

/* The letters of the words before a name, as a hash: which sentence it is. */
static uint32_t hash_words(const char *line, const char *name)
{
    char letters[WORDS_MAX];
    size_t count = 0;

    for (const char *at = name; at > line && name - at < WORDS_MAX; at--) {
        if (!metric_is_letter(at[-1]) && !metric_is_blank(at[-1]))
            break;
        if (metric_is_letter(at[-1]))
            letters[count++] = at[-1];
    }
    return text_hash(letters, count);
}

/* `at`: where the name is in the line, NULL: in none of its sentences. */
static void add_found(struct metric_reader *reader, const char *line,
                      const char *at, size_t series, struct found found)
{
    struct series *s;

    if (series == SIZE_MAX) {
        reader->left_out++;
        return;
    }
    s = &reader->series[series];
    if (s->line == reader->line)
        return;
    if (at != NULL) {
        found.words = hash_words(line, at);
        if (!metric_is_of_best(line, at))
            s->is_current = true;
        else if (s->is_current)
            return;
    }
    s->line = reader->line;
    if (s->is_reserved)
        found.form = metric_line_form(line, (size_t)(reader->line_end - line),
                                      found.value);
    found.series = series;
    reader->found.items =
        mem_grow(reader->found.items, reader->found.count,
                 &reader->found.capacity, sizeof(*reader->found.items));
    reader->found.items[reader->found.count++] = found;
}

/* ---- steps ---- */

/* The step of the line's metrics, NaN: they are counted. A line of text that
 * names one sets it for those below it. step->pair is none where it does not
 * count. */
static double follow_step(struct metric_reader *reader,
                          struct metric_step *step)
{
    bool has_resource = reader->rules->resource.core[0] != '\0';
    bool is_own =
        has_resource ? step->rank <= STEP_TOTAL : step->rank < STEP_BRACKET;

    if (is_own && !reader->pairs.is_json && step->rank != STEP_TOTAL) {
        reader->has_step = true;
        reader->step = step->value;
    }
    if (is_own || (reader->pairs.is_json && step->rank != STEP_NONE))
        return step->value;
    if (reader->has_step && !reader->pairs.is_json) {
        step->pair = reader->pairs.count;
        return reader->step;
    }
    return step->rank != STEP_NONE ? step->value : (double)NAN;
}

/* ---- rules without a regex ---- */

static bool is_exact(const struct metric_pair *pair, const char *name,
                     size_t length)
{
    return pair->length == length && memcmp(pair->name, name, length) == 0;
}

static struct metric_pair *find_exact(struct metric_pairs *pairs,
                                      const char *name, size_t length)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (is_exact(&pairs->items[i], name, length))
            return &pairs->items[i];
    return NULL;
}

/* The length of the dot in "Val. loss". */
static size_t dot_length(const struct metric_pair *pair)
{
    return pair->lead > 1 && pair->name[pair->lead - 2] == '.';
}

/* In other case, with other separators, and without that dot. */
static bool is_alike(const struct metric_pair *pair, const char *name,
                     size_t length)
{
    size_t dot = dot_length(pair);
    size_t word = dot > 0 ? pair->lead - 2 : 0;

    return pair->length > 0 && pair->length - dot == length &&
           metric_names_match(pair->name, name, word) &&
           metric_names_match(pair->name + word + dot, name + word,
                              length - word);
}

static struct metric_pair *find_alike(struct metric_pairs *pairs,
                                      const char *name, size_t length)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (is_alike(&pairs->items[i], name, length))
            return &pairs->items[i];
    return NULL;
}

/* The only one that has the name behind a word, which is always the same. */
static struct metric_pair *find_bare(struct metric_pairs *pairs,
                                     const char *name, size_t length,
                                     struct rule_use *use)
{
    struct metric_pair *found = NULL;
    uint32_t lead;

    for (size_t i = 0; i < pairs->count; i++) {
        struct metric_pair *pair = &pairs->items[i];

        if (pair->lead == 0 || pair->length - pair->lead != length ||
            memcmp(pair->name + pair->lead, name, length) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = pair;
    }
    if (found == NULL)
        return NULL;
    lead = text_hash(found->name, found->lead - 1); /* without the blank */
    if (use->lead == 0)
        use->lead = lead;
    return use->lead == lead ? found : NULL;
}

static void read_rule(struct metric_reader *reader, size_t index,
                      const char *line, size_t line_length, double step)
{
    struct metric_pairs *pairs = &reader->pairs;
    struct rule_use *use = &reader->uses[index];
    const char *name = reader->rules->rules[index].name, *at = NULL;
    size_t length = strlen(name);
    struct metric_pair *pair = find_exact(pairs, name, length);
    double value;

    use->is_exact = use->is_exact || pair != NULL;
    if (pair == NULL && !use->is_exact)
        pair = find_alike(pairs, name, length);
    if (pair == NULL && reader->block.is_open)
        at = metric_block_find(&reader->block, line, line_length, name, &value);
    if (pair == NULL && at == NULL && !pairs->is_json) {
        at = metric_scan_for(line, line_length, name, &value,
                             &reader->is_mentioned);
        if (at != NULL && (metric_name_lead(line, at) > 0 ||
                           (use->is_exact && memcmp(at, name, length) != 0)))
            at = NULL;
        if (at == NULL)
            pair = find_bare(pairs, name, length, use);
    }
    if (pair != NULL) {
        at = pairs->is_json ? NULL : pair->name;
        value = pair->value;
        pair->length = 0; /* it is taken */
    } else if (at == NULL) {
        return;
    }
    add_found(reader, line, at, series_find(reader, name, length),
              (struct found){.step = step, .value = value});
}

/* ---- all others ---- */

/* "Train loss" is train_loss, "valid_0's auc" stays. */
static size_t series_of_pair(struct metric_reader *reader,
                             const struct metric_pair *pair)
{
    char name[METRIC_NAME_MAX * 2];
    size_t length = 0, blank = pair->lead - 1;

    if (pair->lead == 0 || pair->length > sizeof(name) ||
        memchr(pair->name, '\'', pair->lead) != NULL)
        return series_find(reader, pair->name, pair->length);
    for (size_t i = 0; i < pair->length; i++) {
        char c = pair->name[i];

        if (i == blank)
            c = '_';
        if (i + 1 != blank || c != '.')
            name[length++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return series_find(reader, name, length);
}

static void read_pairs(struct metric_reader *reader, const char *line,
                       const struct metric_step *named, double step)
{
    for (size_t i = 0; i < reader->pairs.count; i++) {
        const struct metric_pair *pair = &reader->pairs.items[i];

        if (i == named->pair || pair->length == 0 ||
            (reader->has_rank_0 && metric_is_pair_of_rank(pair)))
            continue;
        add_found(reader, line, reader->pairs.is_json ? NULL : pair->name,
                  series_of_pair(reader, pair),
                  (struct found){.step = step, .value = pair->value});
    }
}

/* ---- tables ---- */

static size_t rule_of(const void *user, const char *name, size_t length)
{
    const struct metric_rules *rules = user;

    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].regex == NULL &&
            strlen(rules->rules[i].name) == length &&
            metric_names_match(rules->rules[i].name, name, length))
            return i;
    return SIZE_MAX;
}

static bool cell_number(const char *line, const struct metric_cell *cell,
                        double *value)
{
    return metric_is_number(line + cell->start, line + cell->end, value);
}

static void read_row(struct metric_reader *reader, const char *line,
                     size_t length)
{
    const struct metric_table *table = &reader->table;
    struct metric_cell cells[METRIC_COLUMNS_MAX];
    double step = reader->has_step ? reader->step : (double)NAN;
    double value;

    if (!metric_table_row(table, line, length, cells))
        return;
    if (table->step < table->count &&
        cell_number(line, &cells[table->step], &value) && metric_is_step(value))
        step = value;
    for (size_t i = 0; i < table->count; i++) {
        const char *name;

        if (table->rules[i] == SIZE_MAX ||
            !cell_number(line, &cells[i], &value))
            continue;
        name = reader->rules->rules[table->rules[i]].name;
        add_found(reader, line, NULL, series_find(reader, name, strlen(name)),
                  (struct found){.step = step, .value = value});
    }
}

/* ---- rules with a regex ---- */

static void read_match(struct metric_reader *reader, size_t rule,
                       const char *line, double step)
{
    struct metric_rules *rules = reader->rules;
    const char *name = rules->rules[rule].name;
    size_t length = (size_t)(reader->line_end - line);
    struct metric_match match;

    if (metric_regex_match(rules->rules[rule].regex, line, length, &match) <= 0)
        return;
    if (match.has_step)
        step = metric_is_step(match.step) ? match.step : (double)NAN;
    add_found(reader, line, NULL, series_find(reader, name, strlen(name)),
              (struct found){.step = step, .value = match.value});
}

static void read_built_in(struct metric_reader *reader, const char *line,
                          const struct metric_step *named, double step)
{
    const struct metric_rules *rules = reader->rules;
    size_t length = (size_t)(reader->line_end - line);

    reader->is_mentioned = false;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].regex == NULL)
            read_rule(reader, i, line, length, step);
    if (rules->finds_all)
        read_pairs(reader, line, named, step);
    if (reader->pairs.is_json || reader->found.count > 0)
        return;
    if (!reader->is_mentioned ||
        !metric_table_begin(&reader->table, &rules->resource, line, length,
                            rule_of, rules))
        read_row(reader, line, length);
}

/* ---- ranks ---- */

/* A line of another rank than 0 mostly repeats the first one's. */
static void pass_over(struct metric_reader *reader, int64_t rank)
{
    for (size_t i = 0; i < reader->pairs.count; i++) {
        const struct metric_pair *pair = &reader->pairs.items[i];

        for (size_t j = 0; j < reader->series_count; j++) {
            struct series *series = &reader->series[j];

            if (!series->is_reserved || strlen(series->name) != pair->length ||
                !metric_names_match(pair->name, series->name, pair->length))
                continue;
            if (series->several.left_out++ == 0)
                series->several.other_rank = rank;
        }
    }
}

/* A pair rank=3 may be of any kind: it is a process only beside one of rank 0,
 * and not where the file asks for it. */
static bool is_of_other_rank(struct metric_reader *reader, const char *line,
                             size_t length)
{
    int64_t rank = metric_rank_of_line(line, length);

    if (rank == METRIC_RANK_NONE) {
        if (reader->rules->asks_for_rank)
            return false;
        rank = metric_rank_of_pairs(&reader->pairs);
        reader->has_rank_0 = reader->has_rank_0 || rank == 0;
        if (!reader->has_rank_0)
            return false;
    }
    if (rank > 0)
        pass_over(reader, rank);
    return rank > 0;
}

/* What an ended block has counts now. */
static enum metric_block_line follow_block(struct metric_reader *reader,
                                           const char *line, size_t length)
{
    struct metric_block before = reader->block;
    enum metric_block_line found = metric_block_follow(
        &reader->block, &reader->rules->resource, line, length);

    if (found != BLOCK_ROW)
        series_release(reader, &before);
    return found;
}

void line_read(struct metric_reader *reader, const char *line, size_t length)
{
    struct metric_rules *rules = reader->rules;
    enum metric_block_line block;
    struct metric_step named;
    double step;

    reader->line++;
    if (length == 0 || rules == NULL)
        return;
    if (escape_is_in(line, length)) {
        buf_truncate(&reader->bare, 0);
        escape_strip(line, length, &reader->bare);
        line = buf_text(&reader->bare);
        length = reader->bare.length;
    }
    reader->line_end = line + length;
    metric_scan_line(line, length, &reader->pairs);
    if (is_of_other_rank(reader, line, length))
        return;
    block = follow_block(reader, line, length);
    named = metric_step_find(&rules->resource, line, length, &reader->pairs);
    step = follow_step(reader, &named);
    if (rules->built_in)
        read_built_in(reader, line, &named, step);
    for (size_t i = 0; i < rules->count; i++)
        if (rules->rules[i].regex != NULL)
            read_match(reader, i, line, step);
    if (block == BLOCK_ROW)
        series_hold(reader);
}
