/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "tests/unit/folder.h"

/*
 * A workflow that uses every key, tests/golden/workflow_shapes.yaml, with each
 * of its values replaced in turn by ones of all other shapes. What is accepted
 * is recorded beside it, and of what is refused something is said, at a place.
 */

static const char base_path[] = "tests/golden/workflow_shapes.yaml";
static const char accepted_path[] = "tests/golden/workflow_shapes.txt";

/* The last three do not replace the value: it goes without its key, and its key
 * is no name, or a name that is smtune's own. */
static const char *const shapes[] = {
    "null",       "true",    "3",       "-1",           "1e300",
    ".nan",       "\"\"",    "word",    "\"a b\"",      "\"${{ x\"",
    "\"${{3}}\"", "[]",      "[1]",     "[a, a]",       "[[]]",
    "[{}]",       "[null]",  "{}",      "{a: 1}",       "{a: null}",
    "{a b: 1}",   "{a: []}", "{a: {}}", "[1, 2, 3, 4]", "[-1e300, 1e300]",
    "without",    "no name", "run_dir",
};

enum { WITHOUT = ARRAY_LEN(shapes) - 3 };

/* One change: at this value of this map or list. */
struct change {
    const struct conf_node *parent;
    size_t index;
    size_t shape;
};

static void write_scalar(const struct conf_node *node, struct buf *out)
{
    if (node->type == CONF_TEXT || node->quoted) {
        json_t *text = json_string(node->text);

        json_print(text, out);
        json_decref(text);
    } else {
        buf_add_string(out, node->text);
    }
}

/* In one line, as it is with the change; NULL: as it is. */
static void write_node(const struct conf_node *node,
                       const struct change *change, struct buf *out)
{
    bool is_map = node->type == CONF_MAP;

    if (!is_map && node->type != CONF_LIST) {
        write_scalar(node, out);
        return;
    }
    buf_add_char(out, is_map ? '{' : '[');
    for (size_t i = 0; i < node->count; i++) {
        bool is_here =
            change != NULL && change->parent == node && change->index == i;

        if (is_here && change->shape == WITHOUT)
            continue;
        if (is_map && is_here && change->shape > WITHOUT)
            buf_add_string(out, shapes[change->shape]);
        else if (is_map)
            write_scalar(node->keys[i], out);
        if (is_map)
            buf_add_string(out, ": ");
        if (is_here && change->shape < WITHOUT)
            buf_add_string(out, shapes[change->shape]);
        else
            write_node(node->items[i], change, out);
        buf_add_string(out, ", ");
    }
    buf_add_char(out, is_map ? '}' : ']');
}

static bool is_accepted(const struct buf *text, const char *path)
{
    struct diags *diags = diags_create("main.yaml");
    const struct experiment_source source = {
        .text = buf_text(text), .length = text->length, .path = path};
    struct err err = {0};
    struct workflow *workflow = workflow_parse(&source, diags, &err);

    assert_string_equal(err.text, "");
    assert_int_equal(workflow == NULL, diags_count(diags) > 0);
    for (size_t i = 0; i < diags_count(diags) && i < DIAG_MAX; i++) {
        assert_true(diags_get(diags, i)->text[0] != '\0');
        assert_true(diags_get(diags, i)->place.line == 1);
    }
    workflow_destroy(workflow);
    diags_destroy(diags);
    return workflow != NULL;
}

struct round {
    const struct conf_node *root;
    const char *path;  /* of the workflow's file */
    struct buf place;  /* steps.tune.with */
    struct buf *found; /* a line a value: its place, and what is accepted */
};

/* All changes of the values in the node, and in what is below. */
static void change_all(struct round *round, const struct conf_node *node)
{
    size_t length = round->place.length;
    size_t shape_count =
        node->type == CONF_MAP ? ARRAY_LEN(shapes) : WITHOUT + 1;

    if (node->type != CONF_MAP && node->type != CONF_LIST)
        return;
    for (size_t i = 0; i < node->count; i++) {
        struct change change = {.parent = node, .index = i};

        if (length > 0)
            buf_add_char(&round->place, '.');
        if (node->type == CONF_MAP)
            buf_add_string(&round->place, node->keys[i]->text);
        else
            buf_printf(&round->place, "%zu", i);
        buf_printf(round->found, "%s:", buf_text(&round->place));
        for (; change.shape < shape_count; change.shape++) {
            struct buf text = BUF_INIT;

            write_node(round->root, &change, &text);
            if (is_accepted(&text, round->path))
                buf_printf(round->found, " %s", shapes[change.shape]);
            buf_clear(&text);
        }
        buf_add_char(round->found, '\n');
        change_all(round, node->items[i]);
        buf_truncate(&round->place, length);
    }
}

static void test_workflow_shapes__are_as_recorded(void **state)
{
    struct diags *diags = diags_create(base_path);
    struct conf_doc *doc = conf_load(base_path, diags, NULL);
    struct buf recorded = BUF_INIT, found = BUF_INIT, whole = BUF_INIT;
    char *path = fs_join(*state, "main.yaml");
    struct round round = {.path = path, .place = BUF_INIT, .found = &found};

    put(*state, ".", "tune.yaml",
        "version: 1\nobjective: loss\nparameters:\n"
        "  lr: {type: float, min: 0.1, max: 1}\n  epochs: 3\n"
        "trial: {command: ./train}\n");
    put(*state, ".", "below.yaml",
        "version: 1\nparams: {size: 1}\n"
        "steps: {a: {command: x, outputs: {m: m.bin}}}\n"
        "outputs: {model: a.m}\n");
    assert_non_null(doc);
    round.root = conf_root(doc);
    write_node(round.root, NULL, &whole);
    assert_true(is_accepted(&whole, path));
    change_all(&round, round.root);
    if (getenv("UPDATE") != NULL)
        assert_int_equal(fs_write_atomic(accepted_path, found.data,
                                         found.length, 0644, NULL),
                         0);
    assert_int_equal(fs_read(accepted_path, 1 << 20, &recorded, NULL), 0);
    assert_string_equal(buf_text(&found), buf_text(&recorded));
    buf_clear(&found);
    buf_clear(&recorded);
    buf_clear(&whole);
    buf_clear(&round.place);
    free(path);
    conf_destroy(doc);
    diags_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_workflow_shapes__are_as_recorded,
                                        make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
