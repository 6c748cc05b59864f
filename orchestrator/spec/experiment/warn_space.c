/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions and constraints that are allowed and hardly meant. Random settings
 * decide: a parameter that none of them has, a constraint that all of them
 * satisfy. A comparison of a text with a number is seen from the expression.
 */
#include <stdlib.h>
#include <string.h>

#include "base/expr/logic.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/experiment_impl.h"

enum { SETTINGS_DRAWN = 10000 };

struct check {
    const struct experiment *experiment;
    const struct conf_doc *doc;
    struct diags *warnings;
};

static const struct conf_node *find_param(const struct check *check,
                                          const char *name)
{
    return conf_get(conf_get(conf_root(check->doc), "parameters"), name);
}

/* ---- texts and numbers ---- */

static bool is_text(const struct param *param)
{
    if (param->value_count == 0)
        return false;
    for (size_t i = 0; i < param->value_count; i++)
        if (param->values[i].type != VALUE_TEXT)
            return false;
    return true;
}

static char *propose_value(const struct param *param)
{
    return mem_printf("write a value of '%s', such as %s = '%s'", param->name,
                      param->name, param->values[0].text);
}

static void warn_of_number(const struct check *check,
                           const struct conf_node *node,
                           const struct param *param,
                           const struct expr_span *found)
{
    struct diag_place place = node->place;
    char *help = propose_value(param);

    if (strchr(node->text, '\n') == NULL)
        place = conf_place_in(check->doc, node, 1, (int)found->offset + 1);
    if (place.length == 1)
        place.length = (int)found->length;
    diags_add(check->warnings, place, help,
              "'%.*s' compares a text with a number", (int)found->length,
              node->text + found->offset);
    free(help);
}

/* Whether the expression at the node compares so. */
static bool check_types(const struct check *check, const struct conf_node *node)
{
    const struct space *space = check->experiment->space;
    struct expr_span found;

    if (node == NULL || node->type != CONF_TEXT)
        return false;
    for (size_t i = 0; i < space_count(space); i++) {
        const struct param *param = space_param(space, i);

        if (!is_text(param) ||
            !expr_compares_with_number(node->text, param->name, &found))
            continue;
        warn_of_number(check, node, param, &found);
        return true;
    }
    return false;
}

/* ---- conditions ---- */

/* The value of a parameter that a text in a condition is a misspelling of;
 * NULL: none. */
static const char *find_misspelt(const struct space *space, const char *when)
{
    const char *nearest = NULL;

    for (const char *open = strchr(when, '\''); open != NULL && nearest == NULL;
         open = strchr(open + 1, '\'')) {
        size_t length = strcspn(open + 1, "'");
        char *word = mem_printf("%.*s", (int)length, open + 1);

        for (size_t i = 0; i < space_count(space) && nearest == NULL; i++) {
            const struct param *param = space_param(space, i);

            for (size_t k = 0; k < param->value_count && nearest == NULL; k++)
                if (param->values[k].type == VALUE_TEXT &&
                    strcmp(param->values[k].text, word) != 0)
                    nearest = text_nearest(word, &param->values[k].text, 1);
        }
        free(word);
        open += length + 1;
        if (*open == '\0')
            break;
    }
    return nearest;
}

char *experiment_explain_unsatisfied(const struct space *space,
                                     const char *text)
{
    const char *nearest = find_misspelt(space, text);
    struct expr_span found;

    if (nearest != NULL)
        return mem_printf("did you mean '%s'?", nearest);
    for (size_t i = 0; i < space_count(space); i++) {
        const struct param *param = space_param(space, i);

        if (is_text(param) &&
            expr_compares_with_number(text, param->name, &found))
            return propose_value(param);
    }
    return NULL;
}

static void warn_inactive(const struct check *check, size_t index)
{
    const struct space *space = check->experiment->space;
    const char *name = space_param(space, index)->name;
    const struct conf_node *node = find_param(check, name);
    const struct conf_node *when = conf_get(node, "when");
    char *help =
        experiment_explain_unsatisfied(space, space_when(space, index));

    diags_add(check->warnings,
              when != NULL ? when->place : (struct diag_place){0, 0, 1}, help,
              "parameter '%s' is active in none of %d random settings", name,
              SETTINGS_DRAWN);
    free(help);
}

/* ---- constraints ---- */

static const struct conf_node *constraint_node(const struct check *check,
                                               size_t index)
{
    const struct conf_node *node =
        conf_get(conf_root(check->doc), "constraints");

    if (node == NULL || node->type != CONF_LIST)
        return node;
    return index < node->count ? node->items[index] : NULL;
}

static void warn_satisfied(const struct check *check, size_t index)
{
    const struct conf_node *node = constraint_node(check, index);

    if (node != NULL && !check_types(check, node))
        diags_add(check->warnings, node->place, NULL,
                  "the constraint is satisfied by all of %d random settings",
                  SETTINGS_DRAWN);
}

/* ---- random settings ---- */

/* What is seen in none of the settings so far. */
struct unseen {
    bool *inactive;  /* parameters that none has */
    bool *satisfied; /* constraints that all satisfy */
    size_t count;
};

static void look(const struct check *check, const struct value *point,
                 struct unseen *unseen)
{
    struct space *space = check->experiment->space;

    for (size_t i = 0; i < space_count(space); i++)
        if (unseen->inactive[i] && point[i].type != VALUE_NULL) {
            unseen->inactive[i] = false;
            unseen->count--;
        }
    for (size_t i = 0; i < space_constraint_count(space); i++)
        if (unseen->satisfied[i] && !space_satisfies(space, i, point)) {
            unseen->satisfied[i] = false;
            unseen->count--;
        }
}

static void draw(const struct check *check, struct unseen *unseen)
{
    struct space *space = check->experiment->space;
    size_t count = space_count(space);
    double *unit = mem_array(count, sizeof(*unit));
    struct value *point = mem_array(count, sizeof(*point));
    struct rng rng;

    rng_init(&rng, 0, 0, 0);
    for (int n = 0; n < SETTINGS_DRAWN && unseen->count > 0; n++) {
        for (size_t i = 0; i < count; i++)
            unit[i] = rng_uniform(&rng);
        space_decode(space, unit, point);
        look(check, point, unseen);
    }
    free(point);
    free(unit);
}

static void check_conditions(const struct check *check)
{
    const struct space *space = check->experiment->space;

    for (size_t i = 0; i < space_count(space); i++)
        check_types(
            check,
            conf_get(find_param(check, space_param(space, i)->name), "when"));
}

void experiment_warn_space(const struct experiment *experiment,
                           const struct conf_doc *doc, struct diags *warnings)
{
    const struct check check = {experiment, doc, warnings};
    const struct space *space = experiment->space;
    size_t constraints = space_constraint_count(space);
    struct unseen unseen = {
        .inactive = mem_array(space_count(space) + 1, sizeof(bool)),
        .satisfied = mem_array(constraints + 1, sizeof(bool)),
        .count = constraints,
    };

    for (size_t i = 0; i < space_count(space); i++) {
        unseen.inactive[i] = space_is_conditional(space, i);
        unseen.count += unseen.inactive[i];
    }
    memset(unseen.satisfied, true, constraints);
    draw(&check, &unseen);
    check_conditions(&check);
    for (size_t i = 0; i < space_count(space); i++)
        if (unseen.inactive[i])
            warn_inactive(&check, i);
    for (size_t i = 0; i < constraints; i++)
        if (unseen.satisfied[i])
            warn_satisfied(&check, i);
    free(unseen.inactive);
    free(unseen.satisfied);
}
