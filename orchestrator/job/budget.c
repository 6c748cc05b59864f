/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/job/budget.h"

#include <math.h>
#include <string.h>

static bool is_better(const struct objective *objective, double a, double b)
{
    return objective->maximize ? a > b : a < b;
}

void tally_init(struct tally *tally, double improvement)
{
    *tally = (struct tally){
        .best = NAN, .improvement = improvement, .improved = NAN};
}

void tally_forget(struct tally *tally)
{
    struct tally before = *tally;

    tally_init(tally, before.improvement);
    tally->suggested = before.suggested;
    tally->resource_used = before.resource_used;
    tally->has_converged = before.has_converged;
}

static bool is_improvement(const struct tally *tally, double value)
{
    return tally->improved_place == 0 ||
           fabs(value - tally->improved) >=
               tally->improvement * fabs(tally->improved);
}

double tally_value(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values == NULL || !isfinite(values[i]))
            return NAN;
    }
    return count > 0 ? values[0] : (double)NAN;
}

bool tally_add_result(struct tally *tally, const struct objective *objective,
                      int64_t trial, int64_t place, double value)
{
    tally->since_best++;
    if (!isfinite(value)) {
        tally->nonfinite++;
        return false;
    }
    tally->succeeded++;
    if (tally->best_trial > 0 && !is_better(objective, value, tally->best))
        return false;
    tally->best_trial = trial;
    tally->best = value;
    if (!is_improvement(tally, value))
        return true;
    tally->improved = value;
    tally->improved_place = place;
    tally->since_best = 0;
    return true;
}

void tally_add_copy(struct tally *tally)
{
    tally->succeeded++;
    tally->since_best++;
}

void tally_add_infeasible(struct tally *tally)
{
    tally->succeeded++;
    tally->infeasible++;
    tally->since_best++;
}

/* Its bit among the first trials; 0: it is none of them. */
static unsigned first_bit(int64_t trial)
{
    return trial >= 1 && trial <= BUDGET_FIRST_TRIALS ? 1u << (trial - 1) : 0;
}

void tally_add_other(struct tally *tally, enum job_state state, int64_t trial)
{
    tally->failed += state == JOB_FAILED;
    tally->first_failed |= state == JOB_FAILED ? first_bit(trial) : 0;
    tally->since_best += state == JOB_FAILED || state == JOB_STOPPED;
    tally->stopped += state == JOB_STOPPED;
    tally->skipped += state == JOB_SKIPPED;
    tally->cancelled += state == JOB_CANCELLED;
}

void tally_note_without_value(struct tally *tally, int64_t trial)
{
    if (tally_ended(tally) == 0)
        tally->without_value = trial;
}

bool tally_hangs_on(const struct tally *tally, enum job_state state,
                    bool is_infeasible, int64_t trial, int64_t place)
{
    return state == JOB_SUCCEEDED && !is_infeasible &&
           (tally->nonfinite > 0 || trial == tally->best_trial ||
            place <= tally->improved_place);
}

void tally_remove(struct tally *tally, enum job_state state, bool is_infeasible,
                  int64_t trial, int64_t place)
{
    tally->succeeded -= state == JOB_SUCCEEDED;
    tally->infeasible -= is_infeasible;
    tally->failed -= state == JOB_FAILED;
    tally->stopped -= state == JOB_STOPPED;
    tally->cancelled -= state == JOB_CANCELLED;
    tally->first_failed &= ~first_bit(trial);
    if (trial == tally->without_value)
        tally->without_value = 0;
    if (state != JOB_CANCELLED && place > tally->improved_place)
        tally->since_best--;
}

int64_t tally_ended(const struct tally *tally)
{
    return tally->succeeded + tally->nonfinite + tally->failed +
           tally->stopped + tally->skipped + tally->cancelled;
}

int64_t budget_resource_left(const struct budget *budget,
                             const struct tally *tally, int64_t outstanding)
{
    if (budget->resource == 0)
        return INT64_MAX;
    return budget->resource - tally->resource_used - outstanding;
}

static bool have_first_failed(const struct tally *tally)
{
    return tally->succeeded == 0 &&
           tally->first_failed == (1u << BUDGET_FIRST_TRIALS) - 1;
}

enum budget_verdict budget_check(const struct budget *budget,
                                 const struct objective *objective,
                                 const struct tally *tally, int64_t elapsed_ms)
{
    if (budget->has_target && tally->best_trial > 0 &&
        !is_better(objective, budget->target, tally->best))
        return BUDGET_TARGET;
    if (budget->time_ms > 0 && elapsed_ms >= budget->time_ms)
        return BUDGET_TIME;
    if (budget->no_improvement > 0 &&
        tally->since_best >= budget->no_improvement)
        return BUDGET_NO_IMPROVEMENT;
    if (budget->convergence && tally->has_converged)
        return BUDGET_CONVERGENCE;
    if (budget->failures > 0 && tally->failed >= budget->failures)
        return BUDGET_FAILURES;
    if (budget->gives_up && have_first_failed(tally))
        return BUDGET_FIRST_FAILED;
    if (budget->gives_up && tally->without_value > 0 && tally->succeeded == 0)
        return BUDGET_NO_VALUE;
    if (budget->trials > 0 && tally->suggested >= budget->trials)
        return BUDGET_TRIALS;
    if (budget_resource_left(budget, tally, 0) <= 0)
        return BUDGET_RESOURCE;
    return BUDGET_GO_ON;
}

bool budget_verdict_ends_all(enum budget_verdict verdict)
{
    return verdict > BUDGET_RESOURCE;
}

bool budget_is_hopeless(const struct tally *tally, int64_t launch_errors)
{
    enum { HOPELESS_LAUNCHES = 3 };

    return launch_errors >= HOPELESS_LAUNCHES &&
           tally->succeeded + tally->nonfinite == 0;
}

bool budget_verdict_is_failure(enum budget_verdict verdict)
{
    return verdict == BUDGET_FAILURES || verdict == BUDGET_FIRST_FAILED;
}

const char *budget_verdict_text(enum budget_verdict verdict)
{
    static const char *const texts[] = {
        [BUDGET_GO_ON] = "",
        [BUDGET_TRIALS] = "trial budget used up",
        [BUDGET_RESOURCE] = "resource budget used up",
        [BUDGET_TIME] = "time budget used up",
        [BUDGET_TARGET] = "the target was reached",
        [BUDGET_NO_IMPROVEMENT] =
            "no improvement for budget.no_improvement trials",
        [BUDGET_CONVERGENCE] = "the search has converged: a better trial is "
                               "unlikely",
        [BUDGET_FAILURES] = "too many failed trials (budget.failures)",
        [BUDGET_FIRST_FAILED] = "the first 10 trials all failed",
        [BUDGET_NO_VALUE] = "the first trial to finish has no value of its "
                            "objective",
    };

    return texts[verdict];
}

const char *budget_vain_reason(const char *reason)
{
    size_t length = strlen(BUDGET_IN_VAIN);

    return strncmp(reason, BUDGET_IN_VAIN, length) == 0 ? reason + length
                                                        : NULL;
}

/* Counts may follow in brackets. */
static bool is_text_of(enum budget_verdict verdict, const char *text)
{
    const char *own = budget_verdict_text(verdict);
    size_t length = strlen(own);

    return strncmp(text, own, length) == 0 &&
           (text[length] == '\0' || strncmp(text + length, " (", 2) == 0);
}

enum budget_verdict budget_verdict_find(const char *text)
{
    const char *behind = budget_vain_reason(text);
    int verdict = BUDGET_VERDICT_COUNT - 1;

    if (behind != NULL)
        text = behind;
    while (verdict > BUDGET_GO_ON &&
           !is_text_of((enum budget_verdict)verdict, text))
        verdict--;
    return (enum budget_verdict)verdict;
}
