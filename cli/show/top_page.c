/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/top_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/show/jobs/step_table.h"
#include "cli/show/run/run_view.h"
#include "cli/show/top_trials.h"
#include "cli/term/panel.h"
#include "cli/term/table.h"
#include "cli/term/term.h"
#include "orchestrator/job/states.h"
#include "store/store.h"

/* ---- reading ---- */

static void clear_run(struct top_run *run)
{
    free(run->name);
    free(run->state);
    free(run->metric);
    free(run->said_state);
    free(run->said_steps);
    if (run->has_steps)
        run_steps_clear(&run->steps);
}

void top_clear(struct top *top)
{
    for (size_t i = 0; i < top->count; i++)
        clear_run(&top->runs[i]);
    free(top->runs);
    *top = (struct top){0};
}

struct reading {
    struct store *store;
    struct top *top;
    const struct top *before;
    int64_t only;
};

static bool was_shown(const struct top *before, int64_t run)
{
    for (size_t i = 0; i < before->count; i++) {
        if (before->runs[i].id == run)
            return true;
    }
    return false;
}

static int keep_run(void *user, const struct run_row *row)
{
    struct reading *reading = user;
    struct top *top = reading->top;
    int64_t pid;
    const char *state = run_state_shown(reading->store, row, &pid);
    bool is_left = run_state_lacks_engine(row, state);
    bool is_wanted = reading->only != 0
                         ? row->id == reading->only
                         : (pid > 0 && row->parent_id == 0) ||
                               was_shown(reading->before, row->id);

    if (!is_wanted)
        return 0;
    top->runs =
        mem_grow(top->runs, top->count, &top->capacity, sizeof(*top->runs));
    top->runs[top->count++] = (struct top_run){
        .id = row->id,
        .name = mem_copy_string(row->name),
        .state = mem_copy_string(state),
        .metric = mem_copy_string(row->metric),
        .is_workflow = run_is_workflow(row),
        .is_live = pid > 0,
        .duration_ms = run_duration_ms(row, state),
        .jobs = row->trials,
        .succeeded = row->succeeded,
        .nonfinite = row->nonfinite,
        .failed = row->failed,
        .stopped = row->stopped,
        .cancelled = row->cancelled,
        .running = is_left ? 0 : row->running,
        .interrupted = is_left ? row->running : 0,
        .queued = row->queued,
        .best = row->best,
        .best_trial = row->best_trial,
    };
    return 0;
}

/* Of what is known of it already nothing is to be read or said again. */
static void take_over(struct top_run *run, struct top *before)
{
    for (size_t i = 0; i < before->count; i++) {
        struct top_run *old = &before->runs[i];

        if (old->id != run->id)
            continue;
        run->steps = old->steps;
        run->has_steps = old->has_steps;
        run->said_state = old->said_state;
        run->said_steps = old->said_steps;
        old->has_steps = false;
        old->said_state = NULL;
        old->said_steps = NULL;
    }
}

static int read_steps(struct top_run *run, struct store *store, struct err *err)
{
    if (run->has_steps)
        return run_steps_refresh(&run->steps, store, run->id, err);
    run->has_steps = true;
    return run_steps_load(&run->steps, store, run->id, err);
}

int top_read(struct top *top, struct store *store, int64_t only,
             struct err *err)
{
    struct top now = {0};
    struct reading reading = {store, &now, top, only};
    int status = only != 0 ? store_get_run(store, only, keep_run, &reading, err)
                           : store_each_run(store, keep_run, &reading, err);

    for (size_t i = 0; i < now.count; i++) {
        take_over(&now.runs[i], top);
        if (now.runs[i].is_workflow && status == 0)
            status = read_steps(&now.runs[i], store, err);
    }
    top_clear(top);
    *top = now;
    return status;
}

/* ---- a page ---- */

static void add_styled(const struct cli *cli, enum style style,
                       const char *text, struct buf *out)
{
    buf_add_string(out, term_style(style, cli->colour_out));
    text_escape(text, strlen(text), out);
    buf_add_string(out, term_style(STYLE_PLAIN, cli->colour_out));
}

static void add_duration(int64_t ms, struct buf *out)
{
    if (ms < 0)
        return;
    buf_add_string(out, "  ");
    units_add_duration(ms, out);
}

/* "night  active  ████░░░ 12/60 steps  4m 05s" */
static void add_head(const struct top_run *run, const struct cli *cli,
                     struct buf *out)
{
    struct step_counts counts;

    add_styled(cli, STYLE_BOLD, run->name, out);
    buf_add_string(out, "  ");
    add_styled(cli, term_state_style(run->state), run->state, out);
    if (run->is_workflow) {
        step_list_count(&run->steps.list, &counts);
        buf_add_string(out, "  ");
        panel_add_bar(counts.all > 0 ? (double)counts.done / (double)counts.all
                                     : 1.0,
                      term_is_utf8(), out);
        buf_printf(out, " %" PRId64 "/%" PRId64 " steps", counts.done,
                   counts.all);
        if (counts.cached > 0)
            buf_printf(out, ", %" PRId64 " cached", counts.cached);
    }
    add_duration(run->duration_ms, out);
    buf_add_char(out, '\n');
}

static void add_trials(const struct top_run *run, struct buf *out)
{
    const struct {
        const char *word;
        int64_t count;
    } parts[] = {
        {"succeeded", run->succeeded},     {STATE_NONFINITE, run->nonfinite},
        {"failed", run->failed},           {"stopped", run->stopped},
        {"cancelled", run->cancelled},     {"running", run->running},
        {"interrupted", run->interrupted}, {"queued", run->queued}};

    buf_printf(out, "  %" PRId64 " trials", run->jobs);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].count > 0)
            buf_printf(out, ", %" PRId64 " %s", parts[i].count, parts[i].word);
    }
    if (run->best_trial > 0 && !isnan(run->best)) {
        buf_add_string(out, "; best ");
        text_escape(run->metric, strlen(run->metric), out);
        buf_printf(out, " %.6g (trial %" PRId64 ")", run->best,
                   run->best_trial);
    }
    buf_add_char(out, '\n');
}

struct rows {
    struct table *table;
    struct buf *out;
};

static int add_row(void *user, const struct value *cells)
{
    const struct rows *rows = user;

    table_add(rows->table, cells, rows->out);
    return 0;
}

static void add_steps(const struct top_run *run, struct table_style style,
                      size_t lines, struct buf *out)
{
    struct rows rows = {
        table_create(step_table_columns, STEP_TABLE_COLUMNS, style), out};

    step_table_each(&run->steps.list, lines, run->is_live ? clock_wall_ms() : 0,
                    add_row, &rows);
    table_flush(rows.table, out);
    table_destroy(rows.table);
}

static int add_run(const struct top_run *run, struct store *store,
                   struct table_style style, size_t lines, struct buf *out,
                   struct err *err)
{
    enum { HEAD = 2, FIXED = 3 /* head, heading, what is left out */ };

    if (!run->is_workflow) {
        add_trials(run, out);
        return lines > HEAD ? top_trials_add(store, run->id, style,
                                             lines - HEAD, out, err)
                            : 0;
    }
    if (lines > FIXED)
        add_steps(run, style, lines - FIXED, out);
    return 0;
}

int top_print_page(const struct top *top, struct store *store,
                   const struct cli *cli, size_t lines, struct buf *out,
                   struct err *err)
{
    int columns = cli->out_is_terminal ? term_columns(STDOUT_FILENO) : 0;
    struct table_style style = {columns > 1 ? (size_t)columns - 1 : 0,
                                cli->colour_out, term_is_utf8()};
    size_t each = top->count > 0 ? lines / top->count : lines;
    int status = 0;

    for (size_t i = 0; i < top->count && status == 0; i++) {
        add_head(&top->runs[i], cli, out);
        status = add_run(&top->runs[i], store, style, each, out, err);
    }
    return status;
}

/* ---- what has changed ---- */

static void add_time(struct buf *out)
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    char text[16] = "";
    struct tm parts;

    if (localtime_r(&now, &parts) != NULL)
        strftime(text, sizeof(text), "%H:%M:%S", &parts);
    buf_printf(out, "%s ", text);
}

static void add_change(const struct top_run *run, size_t step, struct buf *out)
{
    const struct step_line *line = &run->steps.list.lines[step];
    struct buf note = BUF_INIT, jobs = BUF_INIT;

    step_line_print_jobs(line, &jobs);
    if (line->state != FLOW_WAITING)
        step_list_print_note(&run->steps.list, step, &note);
    add_time(out);
    text_escape(run->name, strlen(run->name), out);
    buf_printf(out, " %s %s", line->name,
               step_list_state(&run->steps.list, line));
    if (line->state != FLOW_ACTIVE && jobs.length > 0)
        buf_printf(out, "  %s", buf_text(&jobs));
    if (line->state != FLOW_ACTIVE)
        add_duration(step_line_duration_ms(line, 0), out);
    if (note.length > 0 && line->state != FLOW_ACTIVE) {
        buf_add_string(out, "  ");
        text_escape(buf_text(&note), note.length, out);
    }
    buf_add_char(out, '\n');
    buf_clear(&note);
    buf_clear(&jobs);
}

static void add_step_changes(struct top_run *run, struct buf *out)
{
    const struct step_list *list = &run->steps.list;

    if (run->said_steps == NULL)
        run->said_steps = mem_array(list->count, sizeof(*run->said_steps));
    for (size_t i = 0; i < list->count; i++) {
        size_t step = list->order[i];

        if (list->lines[step].state == run->said_steps[step])
            continue;
        run->said_steps[step] = list->lines[step].state;
        if (!list->lines[step].is_hidden)
            add_change(run, step, out);
    }
}

static void add_run_change(struct top_run *run, struct buf *out)
{
    if (run->said_state != NULL && strcmp(run->said_state, run->state) == 0)
        return;
    free(run->said_state);
    run->said_state = mem_copy_string(run->state);
    add_time(out);
    text_escape(run->name, strlen(run->name), out);
    buf_printf(out, " %s", run->state);
    add_duration(run->duration_ms, out);
    if (!run->is_workflow)
        add_trials(run, out);
    else
        buf_add_char(out, '\n');
}

void top_print_changes(struct top *top, struct buf *out)
{
    for (size_t i = 0; i < top->count; i++) {
        if (top->runs[i].is_workflow)
            add_step_changes(&top->runs[i], out);
        add_run_change(&top->runs[i], out);
    }
}
