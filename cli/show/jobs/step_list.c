/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which steps of a workflow are shown, and what is said about each.
 *
 * Of a long workflow people need what is active, then what failed, then what
 * comes next. step_list_choose() takes them in that order until the rows are
 * used up and counts the rest. A hidden step only joins others; a step that
 * waits for it waits for the steps behind it, which find_waits() looks up.
 */
#include "cli/show/jobs/step_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"

enum { NEEDS_NAMED = 3 };

void step_list_clear(struct step_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->lines[i].name);
        free(list->lines[i].reason);
        free(list->lines[i].below);
    }
    free(list->lines);
    free(list->order);
    *list = (struct step_list){0};
}

void step_list_set_graph(struct step_list *list, const struct graph *graph)
{
    list->graph = graph;
    graph_order(graph, list->order);
}

bool step_line_is_cached(const struct step_line *line)
{
    return line->state == FLOW_SUCCEEDED && line->jobs.cached > 0 &&
           line->jobs.cached == line->jobs.succeeded;
}

static const char *state_word(const char *interrupted, enum flow_state state)
{
    return state == FLOW_ACTIVE && interrupted != NULL
               ? interrupted
               : step_state_names[state];
}

const char *step_list_state(const struct step_list *list,
                            const struct step_line *line)
{
    return state_word(list->interrupted, line->state);
}

/* ---- which are shown ---- */

static void count_line(const struct step_line *line, struct step_counts *counts)
{
    counts->all++;
    counts->done += line->state != FLOW_WAITING && line->state != FLOW_ACTIVE;
    counts->of[line->state]++;
    counts->cached += step_line_is_cached(line);
}

void step_list_count(const struct step_list *list, struct step_counts *counts)
{
    *counts = (struct step_counts){.interrupted = list->interrupted};
    for (size_t i = 0; i < list->count; i++) {
        if (!list->lines[i].is_hidden)
            count_line(&list->lines[i], counts);
    }
}

/* Those of a state, the first ones in order, or the last. */
static void choose_state(const struct step_list *list, enum flow_state state,
                         bool last, bool *shown, size_t *room)
{
    for (size_t i = 0; i<list->count && * room> 0; i++) {
        size_t step = list->order[last ? list->count - 1 - i : i];
        const struct step_line *line = &list->lines[step];

        if (line->is_hidden || line->state != state)
            continue;
        shown[step] = true;
        (*room)--;
    }
}

void step_list_choose(const struct step_list *list, size_t rows, bool *shown,
                      struct step_counts *rest)
{
    static const struct {
        enum flow_state state;
        bool last;
    } classes[] = {{FLOW_ACTIVE, false},
                   {FLOW_FAILED, false},
                   {FLOW_WAITING, false},
                   {FLOW_SUCCEEDED, true},
                   {FLOW_SKIPPED, true}};

    memset(shown, 0, list->count * sizeof(*shown));
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        choose_state(list, classes[i].state, classes[i].last, shown, &rows);
    *rest = (struct step_counts){.interrupted = list->interrupted};
    for (size_t i = 0; i < list->count; i++) {
        if (!shown[i] && !list->lines[i].is_hidden)
            count_line(&list->lines[i], rest);
    }
}

/* ---- as text ---- */

struct part {
    const char *word;
    int64_t count;
    int64_t cached; /* of them */
};

static void add_cached(int64_t count, struct buf *out)
{
    if (count > 0)
        buf_printf(out, " (%" PRId64 " cached)", count);
}

/* "1 failed, 2 running" */
static void print_parts(const struct part *parts, size_t count, const char *gap,
                        struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].count == 0)
            continue;
        buf_printf(out, "%s%" PRId64 " %s", gap, parts[i].count, parts[i].word);
        add_cached(parts[i].cached, out);
        gap = ", ";
    }
}

static void print_copies(const struct step_line *line, struct buf *out)
{
    const struct step_jobs *jobs = &line->jobs;
    const struct part parts[] = {{"failed", jobs->failed, 0},
                                 {"running", jobs->running, 0},
                                 {"interrupted", jobs->interrupted, 0},
                                 {"skipped", jobs->skipped, 0},
                                 {"cancelled", jobs->cancelled, 0}};

    buf_printf(out, "%" PRId64 "/%" PRId64 " succeeded", jobs->succeeded,
               line->copies);
    add_cached(jobs->cached, out);
    print_parts(parts, ARRAY_LEN(parts), ", ", out);
}

void step_line_print_jobs(const struct step_line *line, struct buf *out)
{
    if (line->is_many && line->copies > 0)
        print_copies(line, out);
    else if (line->jobs.cached > 0)
        buf_add_string(out, "cached");
    if (line->round == 0)
        return;
    buf_printf(out, "%sround %" PRId64, out->length > 0 ? ", " : "",
               line->round);
    if (line->rounds > 0)
        buf_printf(out, " of %" PRId64, line->rounds);
}

void step_counts_print(const struct step_counts *counts, struct buf *out)
{
    static const enum flow_state order[] = {
        FLOW_ACTIVE, FLOW_SUCCEEDED, FLOW_FAILED, FLOW_SKIPPED, FLOW_WAITING};
    struct part parts[ARRAY_LEN(order)];

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        parts[i] = (struct part){
            state_word(counts->interrupted, order[i]), counts->of[order[i]],
            order[i] == FLOW_SUCCEEDED ? counts->cached : 0};
    print_parts(parts, ARRAY_LEN(parts), "", out);
}

/* What a step waits for; what only stands for other steps is left out for
 * them. */
struct waiting {
    const struct step_list *list;
    bool *seen; /* [list->count], where one may be met twice; or NULL */
    struct buf *out;
    size_t found;
};

static void find_waits(struct waiting *waiting, size_t step)
{
    const struct step_list *list = waiting->list;
    size_t count;
    const size_t *needs = graph_needs(list->graph, step, &count);

    for (size_t i = 0; i < count; i++) {
        const struct step_line *need = &list->lines[needs[i]];

        if (need->state != FLOW_WAITING && need->state != FLOW_ACTIVE)
            continue;
        if (waiting->seen != NULL && waiting->seen[needs[i]])
            continue;
        if (waiting->seen != NULL)
            waiting->seen[needs[i]] = true;
        if (need->is_hidden) {
            find_waits(waiting, needs[i]);
            continue;
        }
        if (waiting->found++ < NEEDS_NAMED)
            buf_printf(waiting->out, "%s%s",
                       waiting->found == 1 ? "waits for " : ", ", need->name);
    }
}

static bool needs_hidden(const struct step_list *list, size_t step)
{
    size_t count;
    const size_t *needs = graph_needs(list->graph, step, &count);

    for (size_t i = 0; i < count; i++) {
        if (list->lines[needs[i]].is_hidden)
            return true;
    }
    return false;
}

static void print_waits(const struct step_list *list, size_t step,
                        struct buf *out)
{
    struct waiting waiting = {.list = list, .out = out};

    if (list->graph == NULL)
        return;
    if (needs_hidden(list, step))
        waiting.seen = mem_array(list->count, sizeof(*waiting.seen));
    find_waits(&waiting, step);
    if (waiting.found > NEEDS_NAMED)
        buf_printf(out, " and %zu more", waiting.found - NEEDS_NAMED);
    free(waiting.seen);
}

void step_list_print_note(const struct step_list *list, size_t step,
                          struct buf *out)
{
    const struct step_line *line = &list->lines[step];

    if (line->state == FLOW_WAITING) {
        print_waits(list, step, out);
        return;
    }
    if (line->state == FLOW_ACTIVE && line->jobs.running == 0 &&
        line->jobs.interrupted == 0 && line->jobs.pending > 0)
        buf_add_string(out, list->interrupted != NULL
                                ? "waits for `smtune resume`"
                                : "waits for a slot");
    else if (line->below != NULL)
        buf_add_string(out, line->below);
    if (line->reason != NULL)
        buf_printf(out, "%s%s", out->length > 0 ? "; " : "", line->reason);
}

int64_t step_line_duration_ms(const struct step_line *line, int64_t now_ms)
{
    int64_t end_ms = line->ended_ms;

    if (line->state == FLOW_ACTIVE)
        end_ms = now_ms;
    if (line->began_ms == 0 || end_ms == 0)
        return -1;
    return end_ms > line->began_ms ? end_ms - line->began_ms : 0;
}
