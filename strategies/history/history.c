/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/space/space.h"

void history_init(struct history *history, struct space *space,
                  size_t objective_count, size_t outcome_count)
{
    *history = (struct history){
        .space = space,
        .dimension = space_count(space),
        .objective_count = objective_count,
        .outcome_count = outcome_count,
    };
}

void history_clear(struct history *history)
{
    if (history->transfer != NULL)
        history_clear(history->transfer);
    free(history->transfer);
    free(history->numbers);
    free(history->states);
    free(history->units);
    free(history->values);
    free(history->outcomes);
    free(history->seen);
    free(history->told);
    free(history->pending);
    *history = (struct history){0};
}

static void *grow(void *rows, size_t capacity, size_t width)
{
    return mem_resize(rows, capacity, width);
}

static void reserve(struct history *history)
{
    size_t n = history->capacity > 0 ? 2 * history->capacity : 64;
    size_t cell = sizeof(double);

    if (history->count < history->capacity)
        return;
    history->numbers = grow(history->numbers, n, sizeof(*history->numbers));
    history->states = grow(history->states, n, 1);
    history->units = grow(history->units, n, cell * history->dimension);
    history->values = grow(history->values, n, cell * history->objective_count);
    history->outcomes =
        grow(history->outcomes, n, cell * history->outcome_count);
    history->seen = grow(history->seen, n, sizeof(*history->seen));
    history->told = grow(history->told, n, sizeof(*history->told));
    history->pending = grow(history->pending, n, sizeof(*history->pending));
    history->capacity = n;
}

static void fill_nan(double *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cells[i] = (double)NAN;
}

static void forget_values(struct history *history, size_t index)
{
    fill_nan(history->values + index * history->objective_count,
             history->objective_count);
    fill_nan(history->outcomes + index * history->outcome_count,
             history->outcome_count);
}

static void remove_pending(struct history *history, size_t index)
{
    size_t at = history->pending_count;

    while (at > 0 && history->pending[at - 1] != index)
        at--;
    if (at == 0)
        return;
    memmove(&history->pending[at - 1], &history->pending[at],
            (history->pending_count - at) * sizeof(*history->pending));
    history->pending_count--;
}

static void forget_told(struct history *history, size_t index)
{
    size_t at = history->told_count;

    while (at > 0 && history->told[at - 1] != index)
        at--;
    memmove(&history->told[at - 1], &history->told[at],
            (history->told_count - at) * sizeof(*history->told));
    history->told_count--;
    history->complete_count -= history->states[index] == HISTORY_COMPLETE;
    forget_values(history, index);
}

static void take_out(struct history *history, size_t index)
{
    switch ((enum history_state)history->states[index]) {
    case HISTORY_PENDING:
        remove_pending(history, index);
        break;
    case HISTORY_BEHIND:
        history->behind_count--;
        break;
    case HISTORY_ASIDE:
        break;
    case HISTORY_COMPLETE:
    case HISTORY_FAILED:
    case HISTORY_STOPPED:
    case HISTORY_CANCELLED:
        forget_told(history, index);
        break;
    }
}

static void put_in(struct history *history, size_t index,
                   enum history_state state)
{
    history->states[index] = (unsigned char)state;
    if (state == HISTORY_PENDING)
        history->pending[history->pending_count++] = index;
    history->behind_count += state == HISTORY_BEHIND;
}

void history_set(struct history *history, size_t index,
                 enum history_state state)
{
    if (history->states[index] == state)
        return;
    take_out(history, index);
    put_in(history, index, state);
}

/* All but its units. */
static size_t add_row(struct history *history, uint64_t number,
                      enum history_state state)
{
    size_t index = history->count;

    reserve(history);
    history->numbers[index] = number;
    forget_values(history, index);
    history->seen[index] = history->told_count;
    history->count++;
    put_in(history, index, state);
    return index;
}

size_t history_ask(struct history *history, uint64_t number,
                   const struct value *point)
{
    size_t index = add_row(history, number, HISTORY_PENDING);
    size_t width = history->dimension;

    for (size_t i = 0; i < width; i++)
        history->units[index * width + i] =
            point[i].type == VALUE_NULL
                ? (double)NAN
                : param_to_unit(space_param(history->space, i), &point[i]);
    return index;
}

size_t history_add(struct history *history, const struct history *from,
                   size_t index, enum history_state state)
{
    size_t mine = add_row(history, from->numbers[index], state);

    memcpy(history->units + mine * history->dimension,
           history_unit(from, index),
           history->dimension * sizeof(*history->units));
    return mine;
}

void history_tell(struct history *history, size_t index,
                  enum history_state state, const double *values,
                  const double *outcomes)
{
    double *mine = history->values + index * history->objective_count;

    take_out(history, index);
    if (values != NULL)
        memcpy(mine, values, history->objective_count * sizeof(*mine));
    if (outcomes != NULL && history->outcome_count > 0)
        memcpy(history->outcomes + index * history->outcome_count, outcomes,
               history->outcome_count * sizeof(*outcomes));
    for (size_t i = 0; i < history->objective_count; i++)
        if (state == HISTORY_COMPLETE && !isfinite(mine[i]))
            state = HISTORY_FAILED;
    history->states[index] = (unsigned char)state;
    history->told[history->told_count++] = index;
    history->complete_count += state == HISTORY_COMPLETE;
}

size_t history_find(const struct history *history, uint64_t number)
{
    size_t low = 0, high = history->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (history->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < history->count && history->numbers[low] == number ? low
                                                                   : SIZE_MAX;
}

double history_violation(const struct history *history, size_t index)
{
    const double *outcomes = history_outcomes(history, index);
    double sum = 0;

    for (size_t i = 0; i < history->outcome_count; i++) {
        if (isnan(outcomes[i]))
            return (double)INFINITY;
        sum += fmax(outcomes[i], 0);
    }
    return sum;
}

bool history_better(const struct history *history, size_t a, size_t b)
{
    bool is_complete = history->states[a] == HISTORY_COMPLETE;
    double violation, other;

    if (is_complete != (history->states[b] == HISTORY_COMPLETE) || !is_complete)
        return is_complete && history->states[b] != HISTORY_COMPLETE;
    violation = history_violation(history, a);
    other = history_violation(history, b);
    if (violation < other || violation > other)
        return violation < other;
    return history_values(history, a)[0] < history_values(history, b)[0];
}

size_t history_choice(double unit, uint64_t cardinality)
{
    double choice = floor(unit * (double)cardinality);

    if (choice < 0)
        return 0;
    return choice < (double)cardinality ? (size_t)choice
                                        : (size_t)cardinality - 1;
}
