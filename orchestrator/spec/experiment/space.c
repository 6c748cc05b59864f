/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/json.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/experiment_impl.h"

/* Which keys a parameter of a type must have, and which it may have besides
 * `type` and `when`. */
struct type_rule {
    const char *name;
    enum param_kind kind;
    const char *needs[3], *allows[3]; /* NULL-ended */
};

static const struct type_rule type_rules[] = {
    {"float", PARAM_FLOAT, {"min", "max"}, {"scale", "step"}},
    {"int", PARAM_INT, {"min", "max"}, {"scale", "step"}},
    {"categorical", PARAM_CATEGORICAL, {"values"}, {NULL}},
    {"ordinal", PARAM_ORDINAL, {"values"}, {NULL}},
    {"bool", PARAM_BOOL, {NULL}, {NULL}},
};

static const struct type_rule constant_rule = {
    "constant", PARAM_CONST, {"value"}, {NULL}};

/* How a word is related to the keys of a parameter. */
enum relation { RELATION_NONE, RELATION_NEAR, RELATION_KEY };

static enum relation relate(const char *word)
{
    enum relation relation = RELATION_NONE;

    for (const struct schema_key *key = experiment_param.keys;
         key->name != NULL; key++) {
        if (strcmp(key->name, word) == 0)
            return RELATION_KEY;
        if (text_has_word(key->known_as, word) ||
            text_nearest(word, &key->name, 1) != NULL)
            relation = RELATION_NEAR;
    }
    return relation;
}

/* A map with a misspelt key of a parameter is one, unless it has maps. */
static bool is_group(const struct conf_node *map)
{
    bool has_map = false, is_near = false;

    for (size_t i = 0; i < map->count; i++) {
        enum relation relation = relate(map->keys[i]->text);

        if (relation == RELATION_KEY)
            return false;
        is_near |= relation == RELATION_NEAR;
        has_map |= map->items[i]->type == CONF_MAP;
    }
    return map->count > 0 && (has_map || !is_near);
}

void experiment_flatten(struct conf_doc *doc)
{
    conf_flatten(doc, "parameters", is_group);
}

static const struct type_rule *find_rule(const struct conf_node *node)
{
    const char *type = conf_read_text(node, "type", "");

    for (size_t i = 0; i < ARRAY_LEN(type_rules); i++)
        if (strcmp(type_rules[i].name, type) == 0)
            return &type_rules[i];
    return conf_get(node, "value") != NULL ? &constant_rule : NULL;
}

static int check_keys(struct build *build, const struct type_rule *rule,
                      const char *name, const struct conf_node *node)
{
    bool is_constant = rule == &constant_rule;
    char *what =
        is_constant ? mem_printf("the constant '%s'", name)
                    : mem_printf("parameter '%s' of type %s", name, rule->name);
    int rc = 0;

    for (size_t i = 0; rule->needs[i] != NULL; i++)
        if (conf_get(node, rule->needs[i]) == NULL)
            rc = diags_add(build->diags, node->place, NULL,
                           "missing key '%s' in %s", rule->needs[i], what);
    for (size_t i = 0; i < node->count; i++) {
        const struct conf_node *key = node->keys[i];

        if (text_list_has(rule->needs, key->text) ||
            text_list_has(rule->allows, key->text) ||
            strcmp(key->text, "when") == 0 ||
            (!is_constant && strcmp(key->text, "type") == 0))
            continue;
        rc = diags_add(build->diags, key->place, NULL,
                       "key '%s' is not allowed in %s", key->text, what);
    }
    free(what);
    return rc;
}

static int refuse_nonfinite(struct build *build, const struct conf_node *node)
{
    return diags_add(build->diags, node->place, NULL,
                     "out of range: value %s is not a finite number",
                     node->text);
}

/* The first number in it that is NaN or infinite; NULL: there is none. */
static const struct conf_node *find_nonfinite(const struct conf_node *node)
{
    const struct conf_node *found = NULL;

    if (node->type == CONF_REAL)
        return isfinite(node->real) ? NULL : node;
    if (node->type != CONF_LIST && node->type != CONF_MAP)
        return NULL;
    for (size_t i = 0; i < node->count && found == NULL; i++)
        found = find_nonfinite(node->items[i]);
    return found;
}

/* A list, a map or null. JSON would have null for what is not finite. */
static int read_json(struct build *build, const struct conf_node *node,
                     struct value *value)
{
    const struct conf_node *nonfinite = find_nonfinite(node);
    struct buf text = BUF_INIT;
    json_t *json;

    if (nonfinite != NULL)
        return refuse_nonfinite(build, nonfinite);
    json = conf_to_json(node);
    json_print(json, &text);
    json_decref(json);
    *value = value_json(build_take_text(build->file, buf_take(&text)));
    return 0;
}

static bool is_whole(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');

    return digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

int experiment_read_value(struct build *build, const struct conf_node *node,
                          struct value *value)
{
    switch (node->type) {
    case CONF_BOOL:
        *value = value_bool(node->boolean);
        return 0;
    case CONF_INT:
        *value = value_int(node->integer);
        return 0;
    case CONF_REAL:
        /* of more than 64 bits: an id, or the like */
        if (is_whole(node->text) && fabs(node->real) >= 0x1p63) {
            *value = value_text(node->text);
            return 0;
        }
        *value = value_real(node->real);
        return isfinite(node->real) ? 0 : refuse_nonfinite(build, node);
    case CONF_TEXT:
        *value = value_text(node->text);
        return 0;
    case CONF_NULL:
    case CONF_LIST:
    case CONF_MAP:
    default:
        return read_json(build, node, value);
    }
}

/* Those of a list, or one. The array is the caller's to free. */
static int read_values(struct build *build, const struct conf_node *node,
                       bool is_list, struct value **values, size_t *count)
{
    int rc = 0;

    *count = is_list ? node->count : 1;
    *values = mem_array(*count, sizeof(**values));
    if (!is_list)
        return experiment_read_value(build, node, *values);
    for (size_t i = 0; i < node->count; i++)
        rc |= experiment_read_value(build, node->items[i], &(*values)[i]);
    return rc;
}

static enum param_scale read_scale(const struct conf_node *node)
{
    const char *word = conf_read_text(node, "scale", "linear");
    int scale = SCALE_LINEAR;

    while (strcmp(param_scale_names[scale], word) != 0)
        scale++;
    return (enum param_scale)scale;
}

struct listed {
    const char *text;
    size_t index;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *left = a, *right = b;
    int order = strcmp(left->text, right->text);

    return order != 0
               ? order
               : (left->index > right->index) - (left->index < right->index);
}

/* The second of the first two values that print alike, or the list itself. */
static const struct conf_node *find_repeated(const struct conf_node *values)
{
    struct listed *texts = mem_array(values->count, sizeof(*texts));
    size_t count = 0, found = values->count;

    for (size_t i = 0; i < values->count; i++)
        if (values->items[i]->text != NULL)
            texts[count++] = (struct listed){values->items[i]->text, i};
    qsort(texts, count, sizeof(*texts), compare_listed);
    for (size_t i = 1; i < count; i++)
        if (strcmp(texts[i - 1].text, texts[i].text) == 0 &&
            texts[i].index < found)
            found = texts[i].index;
    free(texts);
    return found < values->count ? values->items[found] : values;
}

/* Where to point at for what param_check says: the key that the most telling of
 * its words names, which is the last one here. */
static const struct conf_node *find_culprit(const struct conf_node *node,
                                            const char *text)
{
    static const char *const words[][2] = {
        {"values", "values"},
        {"value ", "values"},
        {"scale", "scale"},
        {"the range", "max"},
        {"max ", "max"},
        {"min ", "min"},
        {"missing key 'max'", "max"},
        {"missing key 'min'", "min"},
        {": step", "step"},
    };
    const struct conf_node *culprit = node;

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const struct conf_node *item = conf_get(node, words[i][1]);

        if (item == NULL || strstr(text, words[i][0]) == NULL)
            continue;
        culprit = item->type == CONF_LIST ? find_repeated(item) : item;
    }
    return culprit;
}

static int read_param(struct build *build, const struct conf_node *node,
                      struct param *param, struct value **values)
{
    const struct conf_node *list = conf_get(node, "values");
    const struct type_rule *rule = &constant_rule;

    if (node->type == CONF_MAP) {
        rule = find_rule(node);
        if (rule == NULL)
            return diags_add(build->diags, node->place,
                             "float, int, categorical, ordinal or bool; or "
                             "`value` for a constant",
                             "missing key 'type' in parameter '%s'",
                             param->name);
        if (check_keys(build, rule, param->name, node) != 0)
            return -1;
    }
    param->kind = rule->kind;
    if (rule == &constant_rule)
        list = node->type == CONF_MAP ? conf_get(node, "value") : node;
    if (list != NULL)
        return read_values(build, list,
                           rule != &constant_rule && list->type == CONF_LIST,
                           values, &param->value_count);
    param->min = conf_read_number(node, "min", 0);
    param->max = conf_read_number(node, "max", 0);
    param->step = conf_read_number(node, "step", 0);
    param->scale = read_scale(node);
    if (param->step == 0 && conf_get(node, "step") != NULL)
        return diags_add(build->diags, conf_get(node, "step")->place, NULL,
                         "out of range: parameter '%s': step 0 is not positive",
                         param->name);
    return 0;
}

/* The names of those that have one of their own. */
static const char *const extra_names[] = {
    [EXTRA_TRIAL] = "trial",   [EXTRA_RUN] = "run",
    [EXTRA_DIR] = "dir",       [EXTRA_CHECKPOINT_DIR] = "checkpoint_dir",
    [EXTRA_REPEAT] = "repeat", [EXTRA_FILE_DIR] = "file_dir",
    [EXTRA_RESOURCE] = NULL,
};

bool experiment_is_own_column(const char *name)
{
    return text_list_has(extra_names, name);
}

static int check_name(struct build *build, const struct conf_node *key)
{
    static const char *const lists[] = {"args", "overrides", NULL};

    if (experiment_is_own_column(key->text) || text_list_has(lists, key->text))
        return diags_add(
            build->diags, key->place, NULL,
            "'%s' is not a valid name for a parameter: in a command it "
            "is reserved",
            key->text);
    if (text_is_name(key->text))
        return 0;
    return diags_add(build->diags, key->place,
                     "expected letters, digits and _ first, then . and - too",
                     "'%s' is not a valid name for a parameter", key->text);
}

static void add_param(struct build *build, const struct conf_node *key,
                      const struct conf_node *node)
{
    const struct param nothing = {.name = key->text, .kind = PARAM_CONST};
    const struct value zero = value_int(0);
    struct param param = nothing;
    struct value *values = NULL;
    struct err err;
    int rc = -1;

    if (check_name(build, key) != 0)
        return;
    if (schema_check_item(&experiment_param, node, "", NULL) == 0 &&
        read_param(build, node, &param, &values) == 0) {
        param.values = values;
        rc = space_add_param(build->experiment->space, &param, &err);
        if (rc != 0)
            diags_add(build->diags, find_culprit(node, err.text)->place, NULL,
                      "%s", err.text);
    }
    free(values);
    if (rc == 0)
        return;
    /* so that expressions which use it are not wrong as well */
    param = nothing;
    param.values = &zero;
    param.value_count = 1;
    space_add_param(build->experiment->space, &param, NULL);
}

static void set_when(struct build *build, const char *name,
                     const struct conf_node *node)
{
    const struct conf_node *when = conf_get(node, "when");
    int index = space_find(build->experiment->space, name);
    struct err err;

    if (index < 0 || when == NULL || when->type != CONF_TEXT ||
        space_set_when(build->experiment->space, (size_t)index, when->text,
                       &err) == 0)
        return;
    err_prefix(&err, "condition of parameter '%s'", name);
    build_add_error(build, when, &err);
}

static void add_constraint(struct build *build, const struct conf_node *node)
{
    struct err err;

    if (node->type == CONF_TEXT &&
        space_add_constraint(build->experiment->space, node->text, &err) != 0) {
        err_prefix(&err, "constraint");
        build_add_error(build, node, &err);
    }
}

/* Of the first constraint that explains it. */
static void refuse_unsatisfied(struct build *build,
                               const struct conf_node *node, const char *why)
{
    const struct space *space = build->experiment->space;
    char *help = NULL;

    if (node->type == CONF_TEXT)
        help = experiment_explain_unsatisfied(space, node->text);
    for (size_t i = 0; node->type == CONF_LIST && i < node->count; i++)
        if (help == NULL && node->items[i]->type == CONF_TEXT)
            help = experiment_explain_unsatisfied(space, node->items[i]->text);
    diags_add(build->diags, node->place, help, "%s", why);
    free(help);
}

static void add_constraints(struct build *build, const struct conf_node *node)
{
    struct space_volume volume;
    struct err err;

    if (node == NULL)
        return;
    if (node->type != CONF_LIST)
        add_constraint(build, node);
    for (size_t i = 0; node->type == CONF_LIST && i < node->count; i++)
        add_constraint(build, node->items[i]);
    if (diags_count(build->diags) == 0 &&
        space_estimate_volume(build->experiment->space, &volume, &err) != 0)
        refuse_unsatisfied(build, node, err.text);
}

static void list_columns(struct build *build)
{
    const struct space *space = build->experiment->space;
    const char *resource = build->experiment->schedule.resource;

    build->columns =
        mem_array(space_count(space) + EXTRA_COUNT, sizeof(const char *));
    for (size_t i = 0; i < space_count(space); i++) {
        const char *name = space_param(space, i)->name;
        bool is_resource = resource != NULL && strcmp(name, resource) == 0;

        /* A constant of the resource's name is the most of it, and hidden. */
        build->columns[build->column_count++] = is_resource ? "" : name;
    }
    for (size_t i = 0; extra_names[i] != NULL; i++)
        build->columns[build->column_count++] = extra_names[i];
    if (resource != NULL)
        build->columns[build->column_count++] = resource;
}

void experiment_build_space(struct build *build, const struct conf_node *root)
{
    const struct conf_node *params = conf_get(root, "parameters");

    build->experiment->space = space_create(build->experiment->env);
    if (params != NULL && params->type == CONF_MAP) {
        if (params->count == 0)
            diags_add(build->diags, params->place, NULL, "missing parameters");
        for (size_t i = 0; i < params->count; i++)
            add_param(build, params->keys[i], params->items[i]);
        for (size_t i = 0; i < params->count; i++)
            set_when(build, params->keys[i]->text, params->items[i]);
        add_constraints(build, conf_get(root, "constraints"));
        list_columns(build);
    }
}
