/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "workflows/draw/draw_impl.h"

/* Notes begin in one column where names leave room for it. */
enum { NOTE_COLUMN_MAX = 48, NAMED_NEEDS = 3 };

static const char *mark_of(const struct drawing *drawing,
                           const struct fold_node *node)
{
    static const char *const marks[2][DRAW_STATES] = {
        {"o", ">", "*", "x", "-"},
        {"○", "◐", "●", "✗", "◌"},
    };
    static const char *const joins[2] = {".", "•"};

    if (drawing->nodes[node->first].kind == DRAW_JOIN)
        return joins[drawing->utf8];
    return marks[drawing->utf8]
                [drawing->has_states ? node->state : FLOW_WAITING];
}

static void add_mark(const struct drawing *drawing,
                     const struct fold_node *node, struct buf *out)
{
    bool is_painted = drawing->has_states && drawing->paint != NULL;

    if (is_painted)
        buf_add_string(out, drawing->paint[node->state]);
    buf_add_string(out, mark_of(drawing, node));
    if (is_painted)
        buf_add_string(out, drawing->paint[DRAW_STATES]);
}

/* As much of the text as fits into `columns`. */
static void add_cut(const struct drawing *drawing, const struct buf *text,
                    size_t columns, struct buf *out)
{
    const char *dots = drawing->utf8 ? "…" : "~";
    struct buf some = BUF_INIT;
    size_t begin = 0;

    if (drawing->columns == 0 || text_columns(buf_text(text)) <= columns) {
        buf_add(out, buf_text(text), text->length);
        return;
    }
    while (begin < text->length) {
        size_t length =
            text_next_rune(text->data + begin, text->length - begin, NULL);

        buf_add(&some, text->data + begin, length);
        if (text_columns(buf_text(&some)) >= columns)
            break;
        buf_add(out, text->data + begin, length);
        begin += length;
    }
    buf_add_string(out, dots);
    buf_clear(&some);
}

struct line {
    const char *before, *after;
    size_t columns; /* of before, mark and after */
    const struct fold_node *node;
    const char *needs; /* "after a, b"; or "" */
};

static void add_line(const struct drawing *drawing, const struct line *line,
                     size_t note_column, struct buf *out)
{
    struct buf text = BUF_INIT, note = BUF_INIT;
    size_t room = 1, used;

    fold_name(drawing, line->node, &text);
    fold_note(drawing, line->node, &note);
    if (line->needs[0] != '\0')
        buf_printf(&note, "%s%s", note.length > 0 ? ", " : "", line->needs);
    used = line->columns + 1 + text_columns(buf_text(&text));
    if (note.length > 0)
        buf_printf(&text, "%*s  %s",
                   used < note_column ? (int)(note_column - used) : 0, "",
                   buf_text(&note));
    if (drawing->columns > line->columns + 1)
        room = drawing->columns - line->columns - 1;
    buf_add_string(out, line->before);
    add_mark(drawing, line->node, out);
    buf_printf(out, "%s ", line->after);
    add_cut(drawing, &text, room, out);
    buf_add_char(out, '\n');
    buf_clear(&note);
    buf_clear(&text);
}

static size_t widen(const struct drawing *drawing, const struct line *line,
                    size_t note_column)
{
    struct buf name = BUF_INIT;
    size_t columns;

    fold_name(drawing, line->node, &name);
    columns = line->columns + 1 + text_columns(buf_text(&name));
    buf_clear(&name);
    return columns > note_column && columns <= NOTE_COLUMN_MAX ? columns
                                                               : note_column;
}

static void add_lines(const struct drawing *drawing, const struct line *lines,
                      size_t count, struct buf *out)
{
    size_t note_column = 0;

    for (size_t i = 0; i < count; i++)
        note_column = widen(drawing, &lines[i], note_column);
    if (drawing->columns > 0 && note_column > drawing->columns / 2)
        note_column = drawing->columns / 2;
    for (size_t i = 0; i < count; i++)
        add_line(drawing, &lines[i], note_column, out);
}

static void draw_with_rails(const struct drawing *drawing,
                            const struct fold *fold, const struct rails *rails,
                            struct buf *out)
{
    struct line *lines = mem_array(rails->count + 1, sizeof(*lines));

    for (size_t i = 0; i < rails->count; i++) {
        const struct rail_row *row = &rails->rows[i];

        lines[i] = (struct line){row->before, row->after, row->columns,
                                 &fold->nodes[row->node], ""};
    }
    add_lines(drawing, lines, rails->count, out);
    free(lines);
}

/* -- Without rails --------------------------------------------------------*/

static char *name_needs(const struct drawing *drawing, const struct fold *fold,
                        size_t node)
{
    struct buf text = BUF_INIT;
    size_t count;
    const size_t *needs = graph_needs(fold->graph, node, &count);

    for (size_t i = 0; i < count && i < NAMED_NEEDS; i++) {
        buf_add_string(&text, i == 0 ? "after " : ", ");
        fold_name(drawing, &fold->nodes[needs[i]], &text);
    }
    if (count > NAMED_NEEDS)
        buf_printf(&text, " and %zu more", count - NAMED_NEEDS);
    return buf_take(&text);
}

static void draw_without_rails(const struct drawing *drawing,
                               const struct fold *fold, struct buf *out)
{
    size_t count = graph_count(fold->graph);
    size_t *order = mem_array(count + 1, sizeof(*order));
    struct line *lines = mem_array(count + 1, sizeof(*lines));
    char **needs = mem_array(count + 1, sizeof(*needs));

    count = graph_order(fold->graph, order);
    for (size_t i = 0; i < count; i++) {
        needs[i] = name_needs(drawing, fold, order[i]);
        lines[i] = (struct line){"", "", 1, &fold->nodes[order[i]], needs[i]};
    }
    add_lines(drawing, lines, count, out);
    for (size_t i = 0; i < count; i++)
        free(needs[i]);
    free(needs);
    free(lines);
    free(order);
}

void draw_text(const struct drawing *drawing, struct buf *out)
{
    struct fold fold;
    struct rails rails;

    fold_init(&fold, drawing, graph_count(drawing->graph) > DRAW_FOLD_FROM);
    if (rails_init(&rails, drawing, &fold) == 0) {
        draw_with_rails(drawing, &fold, &rails, out);
        rails_clear(&rails);
    } else {
        draw_without_rails(drawing, &fold, out);
    }
    fold_clear(&fold);
}
