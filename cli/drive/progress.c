/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress on stderr: a panel, or lines.
 *
 * Two things are limited. Lines are rationed by a bucket (struct progress), so
 * that many short trials neither flood a log nor slow the engine. Trials that
 * are left out are counted and reported. A terminal or pipe that accepts
 * nothing is not waited for. A new best trial is always printed. The clock is
 * the caller's, so that tests decide what time it is.
 */
#include "cli/drive/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/term/guarded_file.h"
#include "cli/term/nonblocking_file.h"
#include "cli/term/panel.h"
#include "cli/term/term.h"
#include "store/store.h"

enum {
    FRAME_MS = 100, /* between two drawings of the panel */
    PANEL_LINES = 8,
    LINES_A_SECOND = 4,  /* in the long run */
    LINES_AT_ONCE = 5,   /* after a quiet time */
    UNSAID_MAX_MS = 1000 /* after which a count stands for those not shown */
};

#define PROMOTED "promoted"

/*
 * Lines are rationed by a bucket: each costs one token, LINES_A_SECOND come
 * back each second, at most LINES_AT_ONCE gather. Trials without a token are
 * counted in `unsaid`.
 */
struct progress {
    FILE *file, *own; /* own is closed in the end, or NULL */
    int fd;
    struct progress_style style;
    struct panel *panel; /* PROGRESS_PANEL */
    char *last;          /* the panel's line on the trial that ended last */
    bool last_failed;
    int64_t drawn_ms;
    bool drawn;
    double tokens;
    int64_t token_ms;
    int64_t unsaid;
    bool has_jobs; /* of a workflow; else trials */
    int64_t said_ms;
};

struct progress *progress_create_for(FILE *file, int fd,
                                     struct progress_style style)
{
    struct progress *progress = mem_zero(sizeof(*progress));

    progress->file = file;
    progress->fd = fd;
    progress->style = style;
    progress->tokens = LINES_AT_ONCE;
    progress->token_ms = -1;
    if (style.mode == PROGRESS_PANEL)
        progress->panel = panel_create(file, fd, style.columns, PANEL_LINES);
    return progress;
}

struct progress *progress_create(const struct cli *cli)
{
    FILE *own = nonblocking_file_open(STDERR_FILENO);
    struct progress *progress;
    struct progress_style style = {PROGRESS_LINES, cli->colour_err,
                                   term_is_utf8(), 0};

    if (cli->quiet)
        style.mode = PROGRESS_NONE;
    else if (cli->err_is_terminal && !term_is_dumb())
        style.mode = PROGRESS_PANEL;
    if (own == NULL)
        own = guarded_file_bypass(STDERR_FILENO);
    progress =
        progress_create_for(own != NULL ? own : stderr, STDERR_FILENO, style);
    progress->own = own;
    return progress;
}

static void add_styled(const struct progress *progress, enum style style,
                       const char *text, struct buf *out)
{
    bool colour = progress->style.colour && style != STYLE_PLAIN;

    buf_add_string(out, term_style(style, colour));
    text_escape(text, strlen(text), out);
    buf_add_string(out, term_style(STYLE_PLAIN, colour));
}

static void add_count(const struct progress_snapshot *now, struct buf *out)
{
    buf_printf(out, "%" PRId64, now->done);
    if (now->total > 0)
        buf_printf(out, "/%" PRId64, now->total);
}

/* ---- lines ---- */

/* At once, and without a retry. */
static bool starts_again(const struct progress_trial *trial)
{
    return trial->again != NULL && trial->again[0] != '\0';
}

/* "paused at 3 epochs", "promoted to 9 epochs" */
static void add_state(const struct progress *progress,
                      const struct progress_trial *trial, const char *unit,
                      struct buf *out)
{
    bool is_promoted = strcmp(trial->state, PROMOTED) == 0;
    bool succeeded = strcmp(trial->state, "succeeded") == 0;
    const char *state =
        succeeded && trial->is_nonfinite ? STATE_NONFINITE : trial->state;

    if (trial->will_retry || starts_again(trial))
        add_styled(progress, STYLE_NOTE, "ended", out);
    else
        add_styled(progress, term_state_style(state), state, out);
    if (trial->resource > 0 && unit != NULL && !succeeded)
        buf_printf(out, " %s %" PRId64 " %.*s", is_promoted ? "to" : "at",
                   trial->resource, units_length(unit, trial->resource), unit);
}

/* What a schedule has decided is said in words. */
static bool shows_cause(const struct progress_trial *trial)
{
    static const char *const plain[] = {"succeeded", "paused", PROMOTED};

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (strcmp(trial->state, plain[i]) == 0)
            return false;
    }
    return trial->cause != NULL &&
           !(strcmp(trial->state, "stopped") == 0 && trial->resource > 0);
}

/* "trial 12 failed (exit), will be tried again" */
static void add_outcome(const struct progress *progress,
                        const struct progress_trial *trial, const char *unit,
                        struct buf *out)
{
    bool succeeded = strcmp(trial->state, "succeeded") == 0;

    if (trial->job != NULL)
        buf_printf(out, "%s ", trial->job);
    else
        buf_printf(out, "trial %" PRId64 " ", trial->number);
    add_state(progress, trial, unit, out);
    if (shows_cause(trial))
        buf_printf(out, " (%s)", trial->cause);
    if (succeeded && trial->is_infeasible)
        add_styled(progress, STYLE_NOTE, " (infeasible)", out);
    if (succeeded && trial->is_cached)
        add_styled(progress, STYLE_NOTE, " (cached)", out);
    if (trial->will_retry)
        buf_add_string(out, ", will be retried");
    else if (starts_again(trial))
        buf_printf(out, ", starts again (%s)", trial->again);
}

/* The best trial, or the mean of the best setting. */
static void add_best_value(const struct progress_snapshot *now, struct buf *out)
{
    if (now->best_count > 0)
        buf_printf(out, "mean %.6g of %" PRId64 ", ", now->best,
                   now->best_count);
    else
        buf_printf(out, "%.6g, ", now->best);
    buf_printf(out, "trial %" PRId64, now->best_trial);
}

/* "3/12 steps, 2 cached" */
static void add_steps(const struct progress_snapshot *now, struct buf *out)
{
    if (now->metric != NULL)
        return;
    buf_add_string(out, " steps");
    if (now->cached > 0)
        buf_printf(out, ", %" PRId64 " cached", now->cached);
}

static void add_standing(const struct progress_trial *trial,
                         const struct progress_snapshot *now, struct buf *out)
{
    bool is_best = trial != NULL && trial->is_best;

    buf_add_string(out, "  (");
    if (now->front > 0)
        buf_printf(out, "%s%" PRId64 " on the front; ",
                   is_best ? "new of " : "", now->front);
    else if (is_best && now->best_count == 0)
        buf_add_string(out, "new best; ");
    else if (now->best_trial > 0) {
        buf_add_string(out, is_best ? "new best " : "best ");
        add_best_value(now, out);
        buf_add_string(out, "; ");
    }
    add_count(now, out);
    add_steps(now, out);
    buf_add_char(out, ')');
}

static void add_others(const struct progress_trial *trial, struct buf *out)
{
    if (trial->others == NULL || trial->others[0] == '\0')
        return;
    buf_add_string(out, " ");
    text_escape(trial->others, strlen(trial->others), out);
}

/* Why a schedule decided as it did is no fault. */
static void add_reason(const struct progress *progress,
                       const struct progress_trial *trial, struct buf *out)
{
    bool is_decided = trial->resource > 0 && !shows_cause(trial);

    if (trial->text == NULL || trial->text[0] == '\0')
        return;
    buf_add_string(out, "  ");
    add_styled(progress, is_decided ? STYLE_NOTE : STYLE_BAD, trial->text, out);
}

static void add_took(const struct progress_trial *trial, struct buf *out)
{
    if (trial->duration_ms == 0) /* no attempt of it has ended */
        return;
    buf_add_string(out, "  ");
    units_add_duration(trial->duration_ms, out);
    if (trial->last_duration_ms == 0 ||
        trial->last_duration_ms == trial->duration_ms)
        return;
    buf_add_string(out, " (last attempt ");
    units_add_duration(trial->last_duration_ms, out);
    buf_add_char(out, ')');
}

/* A trial of an experiment that succeeded has one, NaN or not. */
static bool has_value(const struct progress_trial *trial)
{
    return !isnan(trial->value) ||
           (trial->job == NULL && strcmp(trial->state, "succeeded") == 0);
}

/* The C library may print a sign for NaN. */
static void add_value(const char *sign, const struct progress_trial *trial,
                      const struct progress_snapshot *now, struct buf *out)
{
    buf_printf(out, "  %s%s%.6g", now->metric, sign,
               isnan(trial->value) ? (double)NAN : trial->value);
}

static void add_trial_line(const struct progress *progress,
                           const struct progress_trial *trial,
                           const struct progress_snapshot *now, struct buf *out)
{
    add_outcome(progress, trial, now->unit, out);
    if (has_value(trial))
        add_value("=", trial, now, out);
    add_others(trial, out);
    add_took(trial, out);
    if (trial->params != NULL && trial->params[0] != '\0') {
        buf_add_string(out, "  ");
        add_styled(progress, STYLE_DIM, trial->params, out);
    }
    add_reason(progress, trial, out);
    add_standing(trial, now, out);
    buf_add_char(out, '\n');
}

static void say_unsaid(struct progress *progress,
                       const struct progress_snapshot *now, struct buf *out)
{
    if (progress->unsaid == 0)
        return;
    buf_printf(out, "... and %" PRId64 " more %s%s", progress->unsaid,
               progress->has_jobs ? "job" : "trial",
               progress->unsaid == 1 ? "" : "s");
    if (now != NULL)
        add_standing(NULL, now, out);
    buf_add_char(out, '\n');
    progress->unsaid = 0;
}

/* The file is not guarded as stderr is. */
static void put(struct progress *progress, const char *text)
{
    struct buf shown = BUF_INIT;

    escape_show(text, strlen(text), true, &shown);
    fputs(buf_text(&shown), progress->file);
    fflush(progress->file);
    buf_clear(&shown);
}

static void write_out(struct progress *progress, struct buf *text,
                      int64_t now_ms)
{
    put(progress, buf_text(text));
    buf_clear(text);
    progress->said_ms = now_ms;
}

static bool take_token(struct progress *progress, bool at_any_rate,
                       int64_t now_ms)
{
    if (progress->token_ms >= 0)
        progress->tokens +=
            (double)(now_ms - progress->token_ms) * LINES_A_SECOND / 1000.0;
    progress->token_ms = now_ms;
    progress->tokens = fmin(progress->tokens, LINES_AT_ONCE);
    if (progress->tokens < 1.0 && !at_any_rate)
        return false;
    progress->tokens = fmax(progress->tokens - 1.0, 0.0);
    return true;
}

static void print_line(struct progress *progress,
                       const struct progress_trial *trial,
                       const struct progress_snapshot *now, int64_t now_ms)
{
    struct buf text = BUF_INIT;

    progress->has_jobs = trial->job != NULL;
    if (!term_is_writable(progress->fd) ||
        !take_token(progress, trial->is_best, now_ms)) {
        progress->unsaid++;
        return;
    }
    say_unsaid(progress, now, &text);
    add_trial_line(progress, trial, now, &text);
    write_out(progress, &text, now_ms);
}

/* ---- panel ---- */

static void add_head(const struct progress *progress,
                     const struct progress_snapshot *now, struct buf *out)
{
    add_styled(progress, STYLE_BOLD, now->run, out);
    if (now->method != NULL)
        buf_printf(out, "  %s", now->method);
    buf_add_string(out, "  ");
    if (now->total > 0) {
        panel_add_bar((double)now->done / (double)now->total,
                      progress->style.utf8, out);
        buf_add_char(out, ' ');
    }
    add_count(now, out);
    add_steps(now, out);
    buf_add_string(out, "  ");
    units_add_duration(now->elapsed_ms, out);
    if (now->eta_ms >= 0 && now->done != now->total) {
        buf_add_string(out, ", about ");
        units_add_duration(now->eta_ms, out);
        buf_add_string(out, " left");
    }
}

static void add_states(const struct progress *progress,
                       const struct progress_snapshot *now, struct buf *out)
{
    const struct {
        const char *word;
        int64_t count;
    } states[] = {{"queued", now->queued},
                  {"succeeded", now->succeeded},
                  {"cached", now->cached_jobs},
                  {"infeasible", now->infeasible},
                  {STATE_NONFINITE, now->nonfinite},
                  {"failed", now->failed},
                  {"stopped", now->stopped},
                  {"cancelled", now->cancelled},
                  {"paused", now->paused}};

    buf_printf(out, "  %" PRId64, now->running);
    if (now->slots > 0)
        buf_printf(out, " of %" PRId64, now->slots);
    buf_add_char(out, ' ');
    add_styled(progress, STYLE_BUSY, "running", out);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (states[i].count == 0)
            continue;
        buf_printf(out, ", %" PRId64 " ", states[i].count);
        add_styled(progress, term_state_style(states[i].word), states[i].word,
                   out);
    }
    if (now->unit == NULL)
        return;
    buf_printf(out, "; %" PRId64, now->used);
    if (now->budget > 0)
        buf_printf(out, " of %" PRId64, now->budget);
    buf_printf(
        out, " %.*s",
        units_length(now->unit, now->budget > 0 ? now->budget : now->used),
        now->unit);
}

static void add_best(const struct progress *progress,
                     const struct progress_snapshot *now, struct buf *out)
{
    if (now->front > 0)
        buf_printf(out, "  %" PRId64 " on the Pareto front; best ", now->front);
    else
        buf_printf(out, "  best%s ", now->best_count > 0 ? " mean" : "");
    buf_add_string(out, now->metric);
    if (now->best_trial == 0) {
        buf_add_string(out, ": none yet");
        return;
    }
    buf_printf(out, " %s%.6g%s (trial %" PRId64,
               term_style(STYLE_BOLD, progress->style.colour), now->best,
               term_style(STYLE_PLAIN, progress->style.colour),
               now->best_trial);
    if (!isnan(now->previous_best))
        buf_printf(out, ", was %.6g", now->previous_best);
    buf_add_char(out, ')');
    if (now->best_params != NULL && now->best_params[0] != '\0') {
        buf_add_string(out, "  ");
        text_escape(now->best_params, strlen(now->best_params), out);
    }
}

static void add_active_steps(const struct progress_snapshot *now,
                             struct buf *out)
{
    if (now->steps == NULL || now->steps[0] == '\0')
        return;
    buf_add_string(out, "  ");
    text_escape(now->steps, strlen(now->steps), out);
    buf_add_char(out, '\n');
}

static void draw(struct progress *progress, const struct progress_snapshot *now,
                 int64_t now_ms, bool at_once)
{
    struct buf lines = BUF_INIT;

    if (progress->drawn && !at_once && now_ms - progress->drawn_ms < FRAME_MS)
        return;
    add_head(progress, now, &lines);
    buf_add_char(&lines, '\n');
    add_states(progress, now, &lines);
    buf_add_char(&lines, '\n');
    if (now->metric == NULL) {
        add_active_steps(now, &lines);
    } else {
        add_best(progress, now, &lines);
        buf_add_char(&lines, '\n');
    }
    if (progress->last != NULL)
        buf_printf(&lines, "  last: %s\n", progress->last);
    if (now->note != NULL && now->note[0] != '\0') {
        buf_add_string(&lines, "  ");
        add_styled(progress, STYLE_NOTE, now->note, &lines);
        buf_add_char(&lines, '\n');
    }
    panel_show(progress->panel, buf_text(&lines));
    buf_clear(&lines);
    progress->drawn = true;
    progress->drawn_ms = now_ms;
}

/* For the panel: the outcome without what the panel's other lines say. */
static void remember(struct progress *progress,
                     const struct progress_trial *trial,
                     const struct progress_snapshot *now)
{
    struct buf line = BUF_INIT;

    add_outcome(progress, trial, now->unit, &line);
    if (has_value(trial))
        add_value(" ", trial, now, &line);
    add_others(trial, &line);
    add_took(trial, &line);
    add_reason(progress, trial, &line);
    free(progress->last);
    progress->last = buf_take(&line);
}

/* ---- all ---- */

void progress_trial_ended(struct progress *progress,
                          const struct progress_trial *trial,
                          const struct progress_snapshot *now, int64_t now_ms)
{
    if (progress == NULL || progress->style.mode == PROGRESS_NONE)
        return;
    if (progress->style.mode == PROGRESS_LINES) {
        print_line(progress, trial, now, now_ms);
        return;
    }
    remember(progress, trial, now);
    draw(progress, now, now_ms, false);
}

void progress_update(struct progress *progress,
                     const struct progress_snapshot *now, int64_t now_ms)
{
    struct buf text = BUF_INIT;

    if (progress == NULL || progress->style.mode == PROGRESS_NONE)
        return;
    if (progress->style.mode == PROGRESS_PANEL) {
        draw(progress, now, now_ms, false);
    } else if (progress->unsaid > 0 &&
               now_ms - progress->said_ms >= UNSAID_MAX_MS &&
               term_is_writable(progress->fd)) {
        say_unsaid(progress, now, &text);
        write_out(progress, &text, now_ms);
    }
}

void progress_message(struct progress *progress, const char *text)
{
    if (progress->panel != NULL)
        panel_hide(progress->panel);
    put(progress, text);
    put(progress, "\n");
    progress->drawn = false;
}

void progress_finish(struct progress *progress,
                     const struct progress_snapshot *now)
{
    struct buf text = BUF_INIT;

    if (progress == NULL)
        return;
    say_unsaid(progress, now, &text);
    if (text.length > 0)
        write_out(progress, &text, 0);
    panel_destroy(progress->panel);
    if (progress->own != NULL)
        fclose(progress->own);
    free(progress->last);
    free(progress);
}
