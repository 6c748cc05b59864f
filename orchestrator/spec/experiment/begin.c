/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/setting_json.h"

/* What a search begins with: settings that the user wants tried first, and
 * earlier runs. */

static int refuse_number(struct build *build, struct diag_place place,
                         const char *text, const struct param *param)
{
    struct buf help = BUF_INIT;
    int rc;

    setting_print_range(param, &help);
    rc = diags_add(build->diags, place, buf_text(&help),
                   "'%s' is not a value of parameter '%s'", text, param->name);
    buf_clear(&help);
    return rc;
}

static int refuse_word(struct build *build, struct diag_place place,
                       const char *text, const struct param *param)
{
    size_t count;
    char **words = setting_words(param, &count);
    int rc;

    rc = diags_add_unknown(
        build->diags, place, text, (const char *const *)words, count,
        "'%s' is not a value of parameter '%s'", text, param->name);
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    free(words);
    return rc;
}

static int read_item(struct build *build, const struct conf_node *node,
                     const struct param *param, struct value *value)
{
    struct buf text = BUF_INIT;
    struct value written;

    if (experiment_read_value(build, node, &written) != 0)
        return -1;
    if (param_coerce(param, &written, value) == 0)
        return 0;
    value_print(&written, &text);
    (param->kind == PARAM_FLOAT || param->kind == PARAM_INT
         ? refuse_number
         : refuse_word)(build, node->place, buf_text(&text), param);
    buf_clear(&text);
    return -1;
}

static int refuse_name(struct build *build, struct diag_place place,
                       const char *name)
{
    const struct space *space = build->experiment->space;

    return diags_add_unknown(build->diags, place, name, build->columns,
                             space_count(space), "unknown parameter '%s'",
                             name);
}

/* Whether there is a setting with these values, as point. */
static int check_setting(struct build *build, const struct conf_node *map,
                         const struct value *values, struct value *point)
{
    struct rng rng;
    struct err err;

    rng_init(&rng, build->experiment->search.seed, 0, 0);
    return space_complete(build->experiment->space, &rng, values, point,
                          &err) == 0
               ? 0
               : diags_add(build->diags, map->place, NULL, "%s", err.text);
}

static bool is_same(const struct value *a, const struct value *b, size_t width)
{
    for (size_t i = 0; i < width; i++)
        if (!value_equal(&a[i], &b[i]))
            return false;
    return true;
}

/* A whole setting that comes again would be tried again. points[last +
 * 1][width] are null where something was drawn. */
static void check_new(struct build *build, const struct conf_node *list,
                      const struct value *points, size_t last)
{
    size_t width = space_count(build->experiment->space);
    const struct value *point = points + last * width;

    for (size_t i = 0; i < last; i++) {
        if (!is_same(points + i * width, point, width))
            continue;
        diags_add(build->diags, list->items[last]->place,
                  "to evaluate each setting several times: repeats: 2",
                  "duplicate setting (first defined at line %d)",
                  list->items[i]->place.line);
        return;
    }
}

/* Whether parameters are in a group of that name. */
static bool is_group(const struct space *space, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < space_count(space); i++) {
        const char *other = space_param(space, i)->name;

        if (strncmp(other, name, length) == 0 && other[length] == '.')
            return true;
    }
    return false;
}

/* The items of a setting, or of a group in it, whose name is before each key
 * then. What is left out stays null. */
static int read_items(struct build *build, const struct conf_node *map,
                      const char *group, struct value *values)
{
    struct space *space = build->experiment->space;
    int rc = 0;

    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i], *item = map->items[i];
        char *name =
            mem_printf("%s%s%s", group, *group != '\0' ? "." : "", key->text);
        int index = space_find(space, name);

        if (index < 0 && item->type == CONF_MAP && is_group(space, name))
            rc |= read_items(build, item, name, values);
        else if (index < 0)
            rc |= refuse_name(build, key->place, name);
        else if (!value_is_null(&values[index]))
            rc |= diags_add(build->diags, key->place, NULL,
                            "duplicate key '%s'", name);
        else
            rc |= read_item(build, item, space_param(space, (size_t)index),
                            &values[index]);
        free(name);
    }
    return rc;
}

static int read_setting(struct build *build, const struct conf_node *map,
                        struct value *values, struct value *point)
{
    int rc = read_items(build, map, "", values);

    return rc == 0 ? check_setting(build, map, values, point) : rc;
}

void experiment_build_enqueue(struct build *build, const struct conf_node *list)
{
    struct experiment *experiment = build->experiment;
    size_t width = space_count(experiment->space);
    struct value *points;

    if (list == NULL || list->type != CONF_LIST ||
        diags_count(build->diags) > 0)
        return;
    experiment->enqueued =
        mem_array(list->count * width, sizeof(*experiment->enqueued));
    experiment->enqueued_count = list->count;
    points = mem_array(list->count * width, sizeof(*points));
    for (size_t i = 0; i < list->count; i++) {
        struct value *values = experiment->enqueued + i * width;
        struct value *point = points + i * width;

        if (read_setting(build, list->items[i], values, point) != 0 ||
            !space_is_whole(experiment->space, values, point))
            memset(point, 0, width * sizeof(*point));
        else
            check_new(build, list, points, i);
    }
    free(points);
}

/* ---- earlier runs ---- */

static void add_run(struct build *build, const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;

    if (node->text == NULL)
        return;
    if (text_is_among(node->text, experiment->earlier_runs,
                      experiment->earlier_run_count)) {
        diags_add(build->diags, node->place, NULL, "duplicate run '%s'",
                  node->text);
        return;
    }
    experiment->earlier_runs[experiment->earlier_run_count++] = node->text;
}

void experiment_build_warm_start(struct build *build,
                                 const struct conf_node *node)
{
    struct experiment *experiment = build->experiment;
    const struct conf_node *from =
        node != NULL && node->type == CONF_MAP ? conf_get(node, "from") : node;
    size_t count;

    if (from == NULL)
        return;
    count = from->type == CONF_LIST ? from->count : 1;
    experiment->earlier_guide =
        strcmp(conf_read_text(node, "mode", ""), "transfer") == 0;
    if (count > WARM_MAX_RUNS) {
        diags_add(build->diags, from->place, NULL,
                  "out of range: 'warm_start.from' has %zu runs, more than %d",
                  count, WARM_MAX_RUNS);
        return;
    }
    experiment->earlier_runs =
        mem_array(count, sizeof(*experiment->earlier_runs));
    if (from->type != CONF_LIST)
        add_run(build, from);
    for (size_t i = 0; from->type == CONF_LIST && i < count; i++)
        add_run(build, from->items[i]);
}
