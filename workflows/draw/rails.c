/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "workflows/draw/draw_impl.h"

/*
 * A rail belongs to a node, and stands in a column from the node's row down to
 * that of the last node that needs it. A node takes the column of a need whose
 * rail ends with it, or else a free one; the other needs are joined from the
 * side. A line that passes a rail without touching it goes below: "-|-".
 */

enum glyph {
    GLYPH_BLANK,
    GLYPH_RAIL,
    GLYPH_LINE,
    GLYPH_LEFT_ON, /* the line's left end at a rail that goes on */
    GLYPH_LEFT_END,
    GLYPH_MIDDLE_ON,
    GLYPH_MIDDLE_END,
    GLYPH_RIGHT_ON,
    GLYPH_RIGHT_END,
    GLYPHS
};

static const char *const glyphs[2][GLYPHS] = {
    {" ", "|", "-", "+", "`", "+", "'", "+", "'"},
    {" ", "│", "─", "├", "└", "┼", "┴", "┤", "┘"},
};

struct rail {
    size_t node;
    size_t left;  /* nodes below that need it; 0: the column is free */
    bool is_need; /* of the row's node */
    bool is_mark; /* the row above has its node's mark here */
};

struct track {
    const struct fold *fold;
    struct rail rails[DRAW_RAILS_MAX];
    size_t *column_of; /* [graph_count] */
    size_t width;      /* columns up to the last that is in use */
};

/* -- Where the mark goes --------------------------------------------------*/

/* A need's rail that ends here, not right below its own mark where there are
 * other needs: one could not tell whether it is one of them. */
static bool find_ending(const struct track *track, size_t needs, size_t *column)
{
    for (size_t i = 0; i < track->width; i++) {
        const struct rail *rail = &track->rails[i];

        if (rail->is_need && rail->left == 1 &&
            (needs == 1 || !rail->is_mark)) {
            *column = i;
            return true;
        }
    }
    return false;
}

static bool find_free(const struct track *track, size_t needs, size_t *column)
{
    size_t begin = 0;

    while (needs > 0 && !track->rails[begin].is_need)
        begin++;
    for (size_t i = begin; i < DRAW_RAILS_MAX; i++) {
        const struct rail *rail = &track->rails[i];

        if (rail->left == 0 && (needs > 0 || !rail->is_mark)) {
            *column = i;
            return true;
        }
    }
    return false;
}

/* -- A row ----------------------------------------------------------------*/

struct row_span {
    size_t mark, low, high; /* columns of the mark, and of the line's ends */
};

static enum glyph glyph_at(const struct track *track, size_t column,
                           const struct row_span *span)
{
    const struct rail *rail = &track->rails[column];
    bool is_end = rail->left == 1;

    if (rail->is_need && column == span->low)
        return is_end ? GLYPH_LEFT_END : GLYPH_LEFT_ON;
    if (rail->is_need && column == span->high)
        return is_end ? GLYPH_RIGHT_END : GLYPH_RIGHT_ON;
    if (rail->is_need)
        return is_end ? GLYPH_MIDDLE_END : GLYPH_MIDDLE_ON;
    if (rail->left > 0)
        return GLYPH_RAIL;
    return column > span->low && column < span->high ? GLYPH_LINE : GLYPH_BLANK;
}

static void print_row(const struct track *track, const struct row_span *span,
                      bool utf8, struct rail_row *row)
{
    size_t width = track->width > span->mark ? track->width : span->mark + 1;
    struct buf before = BUF_INIT, after = BUF_INIT;

    for (size_t i = 0; i < width; i++) {
        struct buf *out = i < span->mark ? &before : &after;
        bool is_line = i >= span->low && i < span->high;

        if (i != span->mark)
            buf_add_string(out, glyphs[utf8][glyph_at(track, i, span)]);
        if (i + 1 < width)
            buf_add_string(out,
                           glyphs[utf8][is_line ? GLYPH_LINE : GLYPH_BLANK]);
    }
    row->before = mem_copy_string(buf_text(&before));
    row->after = mem_copy_string(buf_text(&after));
    row->columns = 2 * width - 1;
    buf_clear(&before);
    buf_clear(&after);
}

static void end_row(struct track *track, size_t node, size_t mark)
{
    size_t needed_by;

    graph_needed_by(track->fold->graph, node, &needed_by);
    track->width = 0;
    for (size_t i = 0; i < DRAW_RAILS_MAX; i++) {
        struct rail *rail = &track->rails[i];

        if (rail->is_need)
            rail->left--;
        rail->is_need = false;
        rail->is_mark = i == mark;
        if (i == mark)
            rail->left = needed_by;
        if (rail->left > 0)
            track->width = i + 1;
    }
    track->rails[mark].node = node;
    track->column_of[node] = mark;
}

static int add_row(struct track *track, size_t node, bool utf8,
                   struct rail_row *row)
{
    size_t count, mark;
    const size_t *needs = graph_needs(track->fold->graph, node, &count);
    struct row_span span;

    for (size_t i = 0; i < count; i++)
        track->rails[track->column_of[needs[i]]].is_need = true;
    if (!find_ending(track, count, &mark) && !find_free(track, count, &mark))
        return -1;
    span = (struct row_span){mark, mark, mark};
    for (size_t i = 0; i < count; i++) {
        size_t column = track->column_of[needs[i]];

        span.low = column < span.low ? column : span.low;
        span.high = column > span.high ? column : span.high;
    }
    row->node = node;
    print_row(track, &span, utf8, row);
    end_row(track, node, mark);
    return 0;
}

/* -- The order of rows ----------------------------------------------------*/

struct queue {
    const struct fold *fold;
    size_t *missing; /* [graph_count] needs that have no row yet */
    size_t *stack;   /* [graph_count] nodes without missing ones */
    size_t length;
};

/* The next node: the one that has waited least, so that what follows a node
 * stands below it. */
static size_t take(struct queue *queue)
{
    size_t node = queue->stack[--queue->length], count;
    const size_t *next = graph_needed_by(queue->fold->graph, node, &count);

    for (size_t i = count; i-- > 0;)
        if (--queue->missing[next[i]] == 0)
            queue->stack[queue->length++] = next[i];
    return node;
}

static void put_sources(struct queue *queue, const struct drawing *drawing,
                        bool final)
{
    for (size_t i = graph_count(queue->fold->graph); i-- > 0;) {
        size_t first = queue->fold->nodes[i].first, count;

        graph_needs(queue->fold->graph, i, &count);
        if (count == 0 && drawing->nodes[first].is_final == final)
            queue->stack[queue->length++] = i;
    }
}

int rails_init(struct rails *rails, const struct drawing *drawing,
               const struct fold *fold)
{
    size_t count = graph_count(fold->graph);
    struct track track = {.fold = fold,
                          .column_of = mem_array(count + 1, sizeof(size_t))};
    struct queue queue = {.fold = fold,
                          .missing = mem_array(count + 1, sizeof(size_t)),
                          .stack = mem_array(count + 1, sizeof(size_t))};
    int result = 0;

    *rails = (struct rails){
        .rows = mem_array(count + 1, sizeof(*rails->rows)),
    };
    for (size_t i = 0; i < count; i++)
        graph_needs(fold->graph, i, &queue.missing[i]);
    put_sources(&queue, drawing, true);
    put_sources(&queue, drawing, false);
    while (queue.length > 0 && result == 0) {
        result = add_row(&track, take(&queue), drawing->utf8,
                         &rails->rows[rails->count]);
        rails->count += result == 0 ? 1 : 0;
    }
    free(queue.stack);
    free(queue.missing);
    free(track.column_of);
    if (result != 0)
        rails_clear(rails);
    return result;
}

void rails_clear(struct rails *rails)
{
    for (size_t i = 0; i < rails->count; i++) {
        free(rails->rows[i].before);
        free(rails->rows[i].after);
    }
    free(rails->rows);
    *rails = (struct rails){NULL, 0};
}
