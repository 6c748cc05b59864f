/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine is a process of its own, and so is what it started: after a crash
 * of the engine the record still has an attempt as running that may run, have
 * ended or be gone. Each view that shows an attempt asks here, so that all of
 * them show the same. What `smtune resume` does follows from the same sight.
 */
#include "cli/show/run/attempt_now.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/look.h"

static bool is_on_cluster(const struct attempt_row *attempt)
{
    return attempt->handle != NULL || attempt->queued_ms != 0;
}

/* A client of `smtune suggest` ran the trial: there is no process to look for.
 */
static bool is_of_client(const struct attempt_row *attempt)
{
    return strcmp(attempt->state, "running") == 0 && attempt->pid == 0 &&
           !is_on_cluster(attempt);
}

static char *resume_unknown(const struct attempt_row *attempt,
                            const struct attempt_look *look)
{
    if (is_on_cluster(attempt))
        return mem_printf("asks Slurm about %s%s",
                          attempt->handle != NULL ? "job " : "it",
                          attempt->handle != NULL ? attempt->handle : "");
    if (look->claim.host[0] != '\0')
        return mem_printf("finds it on host '%s' only", look->claim.host);
    return mem_copy_string("looks again");
}

static char *resume_ended(const struct attempt_exit *end)
{
    const char *cause = attempt_cause_names[end->cause];

    return end->cause == CAUSE_EXIT
               ? mem_printf("records its end (%s %d)", cause, end->exit_code)
               : mem_printf("records its end (%s)", cause);
}

static char *resume_unclaimed(const struct attempt_row *attempt)
{
    return attempt->handle != NULL
               ? mem_printf("finds job %s in the queue", attempt->handle)
               : mem_copy_string("starts it");
}

/* The record's times, or those of its files where it began later. */
static void set_times(const struct attempt_look *look, struct attempt_now *now)
{
    bool has_ended = look->sight == SIGHT_ENDED;
    int64_t end_ms = has_ended ? look->end.ended_ms : clock_wall_ms();

    if (now->started_ms == 0)
        now->started_ms =
            has_ended ? look->end.started_ms : look->claim.time_ms;
    if (now->started_ms != 0 && end_ms >= now->started_ms)
        now->ran_ms = end_ms - now->started_ms;
}

static void apply(const struct attempt_row *attempt,
                  const struct attempt_look *look, struct attempt_now *now)
{
    switch (look->sight) {
    case SIGHT_UNCLAIMED:
        now->state = "starting";
        now->resume = resume_unclaimed(attempt);
        break;
    case SIGHT_RUNS:
        now->state = "running";
        now->resume = mem_copy_string(
            look->is_orphan ? "adopts it; its end counts as lost, because its "
                              "smtune-shim crashed"
                            : "adopts it");
        set_times(look, now);
        break;
    case SIGHT_ENDED:
        now->state = "ended";
        now->resume = resume_ended(&look->end);
        set_times(look, now);
        break;
    case SIGHT_GONE:
        now->state = "lost";
        now->resume = mem_copy_string("counts it as lost");
        break;
    case SIGHT_UNKNOWN:
        now->state = "unknown";
        now->resume = resume_unknown(attempt, look);
        break;
    }
}

static void look_at(const struct run_view *view,
                    const struct attempt_row *attempt,
                    struct attempt_look *look)
{
    char *directory = fs_join(store_directory(view->store), attempt->directory);

    attempt_look(directory, attempt->id, look);
    free(directory);
}

void attempt_now_of(const struct run_view *view,
                    const struct attempt_row *attempt, struct attempt_now *now)
{
    struct attempt_look look;

    *now = (struct attempt_now){.state = attempt->state,
                                .started_ms = attempt->started_ms,
                                .ran_ms = -1};
    if (attempt->ended_ms == 0 && run_lacks_engine(view) &&
        is_of_client(attempt)) {
        now->state = "lost";
        now->resume = mem_copy_string("the next session returns the trial");
    } else if (attempt->ended_ms == 0 && run_lacks_engine(view)) {
        look_at(view, attempt, &look);
        apply(attempt, &look, now);
    } else if (now->started_ms != 0 &&
               (attempt->ended_ms != 0 || view->engine_pid > 0)) {
        now->ran_ms =
            (attempt->ended_ms != 0 ? attempt->ended_ms : clock_wall_ms()) -
            now->started_ms;
    }
}

void attempt_now_clear(struct attempt_now *now)
{
    free(now->resume);
    *now = (struct attempt_now){.state = NULL};
}

/* ---- in a sentence ---- */

struct sentence {
    const struct run_view *view;
    struct buf *out;
};

static void describe(const struct attempt_row *attempt,
                     const struct attempt_look *look, struct buf *out)
{
    static const struct {
        const char *before, *behind;
    } words[] = {
        [SIGHT_UNKNOWN] = {"whether attempt", "still runs is unknown"},
        [SIGHT_UNCLAIMED] = {"attempt", "has not started"},
        [SIGHT_RUNS] = {"attempt", "still runs"},
        [SIGHT_ENDED] = {"attempt", "has ended"},
        [SIGHT_GONE] = {"no process of attempt", "is left"},
    };

    buf_printf(out, "%s%s %" PRId64 " %s",
               out->length > 0 ? "; " : "the engine crashed; ",
               words[look->sight].before, attempt->number,
               words[look->sight].behind);
    if (look->sight == SIGHT_RUNS && look->claim.node[0] != '\0')
        buf_printf(out, " on node %s", look->claim.node);
    else if (look->sight == SIGHT_RUNS)
        buf_printf(out, " (pid %" PRId64 ")", look->claim.pid);
}

static int print_sentence(void *user, const struct attempt_row *attempt)
{
    const struct sentence *sentence = user;
    struct attempt_look look;
    struct attempt_now now = {.state = NULL};

    if (attempt->ended_ms != 0)
        return 0;
    if (is_of_client(attempt)) {
        buf_add_string(sentence->out,
                       "the session of its client crashed, and the next one "
                       "returns the trial");
        return 0;
    }
    look_at(sentence->view, attempt, &look);
    apply(attempt, &look, &now);
    describe(attempt, &look, sentence->out);
    buf_printf(sentence->out, ", and `smtune resume %s` %s",
               sentence->view->row.name, now.resume);
    attempt_now_clear(&now);
    return 0;
}

int attempt_now_print(const struct run_view *view, int64_t job, struct buf *out,
                      struct err *err)
{
    struct sentence sentence = {view, out};

    return run_lacks_engine(view)
               ? store_each_attempt(view->store, view->row.id, job,
                                    print_sentence, &sentence, err)
               : 0;
}
