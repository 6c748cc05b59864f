/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/log_hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "dashboard/log_search.h"

enum {
    BEFORE_MAX_BYTES = 160,
    MATCH_MAX_BYTES = 240,
    AFTER_MAX_BYTES = 240,
    TEXT_BYTES = BEFORE_MAX_BYTES + MATCH_MAX_BYTES + AFTER_MAX_BYTES
};

struct hit {
    struct log_source source;
    int64_t line, byte;
    size_t before, match, after; /* lengths in the text, one after the other */
    bool is_cut;
    char text[TEXT_BYTES];
};

struct log_hits {
    struct hit *hits; /* a ring where the last are kept */
    size_t limit, capacity;
    int64_t count;
    bool keeps_last;
};

struct log_hits *log_hits_create(size_t limit, bool keeps_last)
{
    struct log_hits *hits = mem_zero(sizeof(*hits));

    hits->limit = limit;
    hits->keeps_last = keeps_last;
    return hits;
}

void log_hits_destroy(struct log_hits *hits)
{
    if (hits == NULL)
        return;
    free(hits->hits);
    free(hits);
}

/* Where the text before the match begins that is kept: at a character, and
 * behind what a terminal wrote over. */
static size_t begin_before(const struct log_line *line, bool *is_cut)
{
    size_t start = line->match.start;
    size_t from = start > BEFORE_MAX_BYTES ? start - BEFORE_MAX_BYTES : 0;
    const char *text = line->text, *written_over;

    written_over = memrchr(text + from, '\r', start - from);
    if (written_over != NULL)
        return (size_t)(written_over + 1 - text);
    *is_cut = from > 0;
    while (from > 0 && from < start && ((unsigned char)text[from] >> 6) == 2)
        from++;
    return from;
}

static size_t cut(const char *text, size_t length, size_t max, bool *is_cut)
{
    *is_cut = *is_cut || length > max;
    return text_cut(text, length, max);
}

static void fill(struct hit *hit, const struct log_line *line)
{
    const struct log_match *match = &line->match;
    const char *text = line->text, *end = text + line->length, *written_over;
    size_t from;

    hit->line = line->line;
    hit->byte = line->byte;
    hit->is_cut = false;
    hit->after = 0;
    from = begin_before(line, &hit->is_cut);
    hit->before = match->start - from;
    hit->match = cut(text + match->start, match->end - match->start,
                     MATCH_MAX_BYTES, &hit->is_cut);
    if (hit->match == match->end - match->start) {
        written_over =
            memchr(text + match->end, '\r', line->length - match->end);
        if (written_over != NULL)
            end = written_over;
        hit->after = cut(text + match->end, (size_t)(end - text) - match->end,
                         AFTER_MAX_BYTES, &hit->is_cut);
    }
    memcpy(hit->text, text + from, hit->before + hit->match + hit->after);
}

bool log_hits_add(struct log_hits *hits, const struct log_source *source,
                  const struct log_line *line)
{
    size_t place = (size_t)(hits->count % (int64_t)hits->limit);
    struct hit *hit;

    if (hits->count < (int64_t)hits->limit)
        hits->hits = mem_grow(hits->hits, (size_t)hits->count, &hits->capacity,
                              sizeof(*hits->hits));
    else if (!hits->keeps_last)
        return true;
    hit = &hits->hits[place];
    hit->source = *source;
    fill(hit, line);
    hits->count++;
    return !hits->keeps_last && hits->count == (int64_t)hits->limit;
}

int64_t log_hits_count(const struct log_hits *hits)
{
    return hits->count;
}

/* ---- as JSON ---- */

static json_t *shown(const char *text, size_t length)
{
    struct buf out = BUF_INIT;
    json_t *json;

    while (length > 0) {
        const char *tab = memchr(text, '\t', length);
        size_t plain = tab != NULL ? (size_t)(tab - text) : length;

        text_escape(text, plain, &out);
        if (tab != NULL)
            buf_add_char(&out, '\t');
        plain += tab != NULL;
        text += plain;
        length -= plain;
    }
    json = json_from_text(buf_text(&out));
    buf_clear(&out);
    return json;
}

static json_t *hit_json(const struct hit *hit)
{
    const char *match = hit->text + hit->before;

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:b}", "job",
        (json_int_t)hit->source.job, "attempt", (json_int_t)hit->source.attempt,
        "rank", (json_int_t)hit->source.rank, "line", (json_int_t)hit->line,
        "byte", (json_int_t)hit->byte, "before", shown(hit->text, hit->before),
        "match", shown(match, hit->match), "after",
        shown(match + hit->match, hit->after), "is_cut", (int)hit->is_cut);
}

json_t *log_hits_json(const struct log_hits *hits)
{
    int64_t limit = (int64_t)hits->limit;
    int64_t first = hits->count > limit ? hits->count - limit : 0;
    json_t *list = json_array();

    for (int64_t i = first; i < hits->count; i++)
        json_array_append_new(list, hit_json(&hits->hits[i % limit]));
    return list;
}
