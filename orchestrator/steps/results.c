/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/job/outputs.h"

/*
 * Copies' values lie in one table a step, a row a copy, a cell for each name
 * that a column reads, and nothing at all before the step begins: of 100,000
 * steps, or copies, each costs what it holds.
 */

struct answer { /* of a column, over all copies */
    bool is_known;
    struct value value;
    char *text; /* behind value, where that is a list */
};

struct outcome {
    enum flow_state state;
    bool has_begun, has_answers;
    int64_t copies, succeeded, failed;
    size_t width;           /* names that columns read */
    size_t *cell_of;        /* [result_count] a column's cell, below width */
    const char **names;     /* [width] */
    struct value *cells;    /* [copies][width]; text is our own */
    struct answer *answers; /* [result_count] */
};

struct results {
    const struct workflow *workflow;
    struct outcome *outcomes; /* [step_count] */
};

struct results *results_create(const struct workflow *workflow)
{
    struct results *results = mem_zero(sizeof(*results));

    results->workflow = workflow;
    results->outcomes =
        mem_array(workflow->step_count + 1, sizeof(struct outcome));
    return results;
}

static void clear_cell(struct value *cell)
{
    union {
        const char *borrowed;
        char *own;
    } text;

    if (value_has_text(cell)) {
        text.borrowed = cell->text;
        free(text.own);
    }
    *cell = value_null();
}

static void forget_answers(struct outcome *outcome, size_t count)
{
    if (!outcome->has_answers)
        return;
    for (size_t i = 0; i < count; i++) {
        free(outcome->answers[i].text);
        outcome->answers[i] = (struct answer){0};
    }
    outcome->has_answers = false;
}

static void clear_outcome(struct outcome *outcome, size_t column_count)
{
    size_t cells = (size_t)outcome->copies * outcome->width;

    forget_answers(outcome, column_count);
    for (size_t i = 0; i < cells; i++)
        clear_cell(&outcome->cells[i]);
    free(outcome->cells);
    free(outcome->names);
    free(outcome->cell_of);
    free(outcome->answers);
    *outcome = (struct outcome){0};
}

void results_destroy(struct results *results)
{
    if (results == NULL)
        return;
    for (size_t i = 0; i < results->workflow->step_count; i++)
        clear_outcome(&results->outcomes[i],
                      results->workflow->steps[i].result_count);
    free(results->outcomes);
    free(results);
}

static bool has_cell(const struct result_column *column)
{
    return column->kind != RESULT_STATE && column->kind != RESULT_COUNT;
}

static size_t cell_named(struct outcome *outcome, const char *name)
{
    for (size_t i = 0; i < outcome->width; i++)
        if (strcmp(outcome->names[i], name) == 0)
            return i;
    outcome->names[outcome->width] = name;
    return outcome->width++;
}

void results_begin(struct results *results, size_t step, int64_t copies)
{
    const struct step *of = &results->workflow->steps[step];
    struct outcome *outcome = &results->outcomes[step];

    clear_outcome(outcome, of->result_count);
    outcome->state = FLOW_ACTIVE;
    outcome->has_begun = true;
    outcome->copies = copies;
    outcome->cell_of = mem_array(of->result_count + 1, sizeof(size_t));
    outcome->names = mem_array(of->result_count + 1, sizeof(char *));
    outcome->answers = mem_array(of->result_count + 1, sizeof(struct answer));
    for (size_t i = 0; i < of->result_count; i++)
        if (has_cell(&of->results[i]))
            outcome->cell_of[i] = cell_named(outcome, of->results[i].source);
    outcome->cells =
        mem_array((size_t)copies * outcome->width + 1, sizeof(struct value));
}

void results_set(struct results *results, size_t step, int64_t copy,
                 const json_t *values)
{
    struct outcome *outcome = &results->outcomes[step];
    struct value *row;

    if (copy >= outcome->copies)
        return;
    forget_answers(outcome, results->workflow->steps[step].result_count);
    row = &outcome->cells[(size_t)copy * outcome->width];
    for (size_t i = 0; i < outcome->width; i++) {
        clear_cell(&row[i]);
        row[i] = outputs_get(values, outcome->names[i]);
        if (value_has_text(&row[i]))
            row[i].text = mem_copy_string(row[i].text);
    }
}

void results_set_state(struct results *results, size_t step,
                       enum flow_state state, int64_t succeeded, int64_t failed)
{
    struct outcome *outcome = &results->outcomes[step];

    outcome->state = state;
    outcome->succeeded = succeeded;
    outcome->failed = failed;
}

static struct value state_value(const struct outcome *outcome)
{
    switch (outcome->state) {
    case FLOW_WAITING:
    case FLOW_ACTIVE:
        break;
    case FLOW_SUCCEEDED:
        return value_text("succeeded");
    case FLOW_FAILED:
        return value_text("failed");
    case FLOW_SKIPPED:
        return value_text("skipped");
    }
    return value_null();
}

static struct value count_value(const struct outcome *outcome, const char *what)
{
    if (outcome->state == FLOW_WAITING)
        return value_null();
    if (strcmp(what, "copies") == 0)
        return value_int(outcome->copies);
    return value_int(strcmp(what, "failed") == 0 ? outcome->failed
                                                 : outcome->succeeded);
}

/* A numeral keeps its text where that is JSON. */
static void add_item(const struct value *cell, struct buf *out)
{
    json_t *json = cell->type == VALUE_NUMERAL
                       ? json_loads(cell->text, JSON_DECODE_ANY, NULL)
                       : NULL;

    if (json != NULL) {
        buf_add_string(out, cell->text);
    } else {
        json = json_from_value(cell);
        json_print(json, out);
    }
    json_decref(json);
}

static void make_list(const struct outcome *outcome, size_t cell,
                      struct answer *answer)
{
    struct buf text = BUF_INIT;

    for (int64_t i = 0; i < outcome->copies; i++) {
        buf_add_char(&text, i == 0 ? '[' : ',');
        add_item(&outcome->cells[(size_t)i * outcome->width + cell], &text);
    }
    buf_add_string(&text, outcome->copies == 0 ? "[]" : "]");
    answer->text = buf_take(&text);
    answer->value = value_text(answer->text);
}

/* Integers are added up as such for as long as that goes. */
struct total {
    int64_t count, integer;
    double real;
    bool is_integer;
    struct value least, greatest;
};

static void add_to_total(struct total *total, const struct value *cell)
{
    const struct value number_of_cell = value_of_numeral(cell);
    const struct value *value = &number_of_cell;
    double number = value_number(value);

    if (isnan(number))
        return;
    if (total->count++ == 0)
        total->least = total->greatest = *value;
    if (number < value_number(&total->least))
        total->least = *value;
    if (number > value_number(&total->greatest))
        total->greatest = *value;
    total->real += number;
    total->is_integer =
        total->is_integer && value->type != VALUE_REAL &&
        !__builtin_add_overflow(total->integer,
                                value->type == VALUE_INT ? value->integer
                                                         : (int64_t)number,
                                &total->integer);
}

static struct value total_value(const struct total *total,
                                enum result_kind kind)
{
    if (total->count == 0)
        return value_null();
    switch (kind) {
    case RESULT_MIN:
        return total->least;
    case RESULT_MAX:
        return total->greatest;
    case RESULT_MEAN:
        return value_real(total->real / (double)total->count);
    case RESULT_SUM:
        return total->is_integer ? value_int(total->integer)
                                 : value_real(total->real);
    case RESULT_STATE:
    case RESULT_COUNT:
    case RESULT_VALUE:
        break;
    }
    return value_null();
}

static void make_total(const struct outcome *outcome, size_t cell,
                       enum result_kind kind, struct answer *answer)
{
    struct total total = {.is_integer = true};

    for (int64_t i = 0; i < outcome->copies; i++)
        add_to_total(&total,
                     &outcome->cells[(size_t)i * outcome->width + cell]);
    answer->value = total_value(&total, kind);
}

static bool has_many_copies(const struct step *step)
{
    return step->axis_count > 0 || step->copies > 1;
}

struct value results_get(struct results *results, size_t step, size_t column)
{
    const struct step *of = &results->workflow->steps[step];
    struct outcome *outcome = &results->outcomes[step];
    const struct result_column *asked = &of->results[column];
    struct answer *answer;

    if (!has_cell(asked) || !outcome->has_begun ||
        (asked->kind == RESULT_VALUE && !has_many_copies(of)))
        return results_get_own(results, step, 0, column);
    answer = &outcome->answers[column];
    if (answer->is_known)
        return answer->value;
    if (asked->kind == RESULT_VALUE)
        make_list(outcome, outcome->cell_of[column], answer);
    else
        make_total(outcome, outcome->cell_of[column], asked->kind, answer);
    answer->is_known = true;
    outcome->has_answers = true;
    return answer->value;
}

struct value results_get_own(const struct results *results, size_t step,
                             int64_t copy, size_t column)
{
    const struct outcome *outcome = &results->outcomes[step];
    const struct result_column *asked =
        &results->workflow->steps[step].results[column];

    if (asked->kind == RESULT_STATE)
        return state_value(outcome);
    if (asked->kind == RESULT_COUNT)
        return count_value(outcome, asked->source);
    if (copy >= outcome->copies)
        return value_null();
    return outcome
        ->cells[(size_t)copy * outcome->width + outcome->cell_of[column]];
}
