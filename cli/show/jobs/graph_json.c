/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/graph_json.h"

#include <stdlib.h>

#include "base/buf.h"
#include "cli/show/jobs/run_graph.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/show/jobs/workflow_drawing.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/job/states.h"
#include "workflows/draw/place.h"

/* To a tenth of a pixel: what is drawn is no sharper, and a graph of 1,000
 * steps is half as long. */
static json_t *pixels(double length)
{
    return json_real((double)(int64_t)(length * 10.0 + 0.5) / 10.0);
}

static json_t *jobs_to_json(const struct step_jobs *jobs)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "succeeded",
        (json_int_t)jobs->succeeded, "failed", (json_int_t)jobs->failed,
        "running", (json_int_t)jobs->running, "pending",
        (json_int_t)jobs->pending, "skipped", (json_int_t)jobs->skipped,
        "cancelled", (json_int_t)jobs->cancelled, "interrupted",
        (json_int_t)jobs->interrupted);
}

static json_t *note_to_json(const struct step_list *list, size_t step)
{
    struct buf note = BUF_INIT;
    json_t *json;

    step_list_print_note(list, step, &note);
    json = json_text_unless_empty(buf_text(&note));
    buf_clear(&note);
    return json;
}

/* What the record says of a step. */
static json_t *step_to_json(const struct step_list *list, size_t step)
{
    const struct step_line *line = &list->lines[step];

    return json_pack(
        "{s:I, s:o, s:s, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "step",
        (json_int_t)step, "name", json_from_text(line->name), "state",
        step_list_state(list, line), "copies", (json_int_t)line->copies, "jobs",
        jobs_to_json(&line->jobs), "cached", (json_int_t)line->jobs.cached,
        "round", json_int_unless(line->round, 0), "rounds",
        json_int_unless(line->rounds, 0), "note", note_to_json(list, step),
        "began_ms", json_int_unless(line->began_ms, 0), "ended_ms",
        json_int_unless(line->ended_ms, 0));
}

/* ---- with its place ---- */

static const char *kind_word(enum draw_kind kind)
{
    static const char *const words[] = {
        [DRAW_TASK] = "task",         [DRAW_EXPERIMENT] = "experiment",
        [DRAW_WORKFLOW] = "workflow", [DRAW_FAIL] = "fail",
        [DRAW_JOIN] = "join",
    };

    return words[kind];
}

static void add_place(json_t *object, const struct draw_node *node,
                      const struct layout *layout, size_t step)
{
    struct layout_box box = layout_box(layout, step);

    json_object_set_new(object, "kind", json_string(kind_word(node->kind)));
    json_object_set_new(object, "when",
                        json_string(flow_when_names[node->when]));
    json_object_set_new(object, "is_final", json_boolean(node->is_final));
    json_object_set_new(object, "detail", json_from_text(node->detail));
    json_object_set_new(object, "copies", json_integer(node->copies));
    json_object_set_new(object, "layer",
                        json_integer((json_int_t)layout_layer(layout, step)));
    json_object_set_new(object, "x", pixels(box.x));
    json_object_set_new(object, "y", pixels(box.y));
    json_object_set_new(object, "width", pixels(box.width));
    json_object_set_new(object, "height", pixels(box.height));
}

static json_t *line_to_json(const struct layout *layout, size_t step,
                            size_t need)
{
    size_t count;
    struct layout_point *points = layout_line(layout, step, need, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("[o, o]", pixels(points[i].x),
                                              pixels(points[i].y)));
    free(points);
    return list;
}

static json_t *edges_to_json(const struct graph *graph,
                             const struct layout *layout)
{
    json_t *edges = json_array();

    for (size_t i = 0; i < graph_count(graph); i++) {
        size_t count;
        const size_t *needs = graph_needs(graph, i, &count);

        for (size_t k = 0; k < count; k++)
            json_array_append_new(edges, json_pack("{s:I, s:I, s:o}", "from",
                                                   (json_int_t)needs[k], "to",
                                                   (json_int_t)i, "points",
                                                   line_to_json(layout, i, k)));
    }
    return edges;
}

static json_t *nodes_to_json(const struct step_list *list)
{
    json_t *nodes = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(nodes, step_to_json(list, i));
    return nodes;
}

static void place(json_t *graph, const struct cli *cli,
                  const struct run_steps *steps)
{
    json_t *nodes = json_object_get(graph, "nodes");
    struct workflow_drawing drawing;
    struct draw_place places;

    workflow_drawing_init(&drawing, cli, steps->spec.workflow);
    run_graph_set_states(&drawing, &steps->list);
    draw_place_init(&places, &drawing.drawing);
    for (size_t i = 0; i < steps->list.count; i++)
        add_place(json_array_get(nodes, i), &drawing.nodes[i], places.layout,
                  i);
    json_object_set_new(graph, "width", pixels(layout_width(places.layout)));
    json_object_set_new(graph, "height", pixels(layout_height(places.layout)));
    json_object_set_new(graph, "edges",
                        edges_to_json(steps->list.graph, places.layout));
    draw_place_clear(&places);
    workflow_drawing_clear(&drawing);
}

json_t *graph_to_json(const struct cli *cli, const struct run_view *view,
                      struct err *err)
{
    struct run_steps steps;
    json_t *graph = NULL;

    if (!run_is_workflow(&view->row)) {
        err_set(err, ERR_USAGE, "run '%s' is an experiment and has no graph",
                view->row.name);
        return NULL;
    }
    if (run_steps_load(&steps, view->store, view->row.id, err) == 0) {
        graph = json_pack("{s:o, s:f, s:f, s:o, s:[]}", "problem", json_null(),
                          "width", 0.0, "height", 0.0, "nodes",
                          nodes_to_json(&steps.list), "edges");
        if (steps.list.graph != NULL)
            place(graph, cli, &steps);
        else
            json_object_set_new(
                graph, "problem",
                json_string(
                    "the file of the run is no longer valid: its graph is "
                    "unknown"));
    }
    run_steps_clear(&steps);
    return graph;
}
