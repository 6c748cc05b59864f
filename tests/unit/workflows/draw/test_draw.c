/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/draw/draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"

static const struct draw_node nodes[] = {
    {.name = "fetch", .copies = 1, .state = FLOW_SUCCEEDED, .succeeded = 1},
    {.name = "part",
     .detail = "2 CPUs",
     .copies = 9,
     .state = FLOW_ACTIVE,
     .running = 2,
     .succeeded = 4,
     .failed = 1},
    {.name = "tune", .kind = DRAW_EXPERIMENT, .copies = 1},
    {.name = "both", .kind = DRAW_JOIN, .copies = 1},
    {.name = "a \"b\" <c> & d;\\e\n#`",
     .kind = DRAW_FAIL,
     .when = FLOW_ANY_FAILED,
     .copies = 1,
     .state = FLOW_SKIPPED},
    {.name = "each", .kind = DRAW_WORKFLOW, .copies = -1},
    {.name = "clean", .when = FLOW_ALWAYS, .is_final = true, .copies = 1},
};

static const size_t needs[][2] = {{1, 0}, {2, 0}, {3, 1}, {3, 2},
                                  {4, 3}, {5, 3}, {5, 0}};

static char *draw(const char *format, struct drawing drawing)
{
    draw_function *found = draw_find(format);
    struct graph *graph = graph_create(ARRAY_LEN(nodes));
    struct buf out = BUF_INIT;

    assert_true(found != NULL);
    drawing.title = "odd \"one\" <&>";
    drawing.nodes = nodes;
    for (size_t i = 0; i < ARRAY_LEN(needs); i++)
        graph_add(graph, needs[i][0], needs[i][1]);
    drawing.graph = graph;
    found(&drawing, &out);
    graph_destroy(graph);
    return buf_take(&out);
}

static void check_drawing(const char *format, struct drawing drawing,
                          const char *expected)
{
    char *text = draw(format, drawing);

    assert_string_equal(text, expected);
    free(text);
}

static void test_draw__names_its_formats(void **state)
{
    (void)state;
    assert_true(draw_find("dot") == draw_dot);
    assert_true(draw_find("svg") == draw_svg);
    assert_true(draw_find("svgg") == NULL);
}

static void test_draw__text_of_a_file_and_of_a_run(void **state)
{
    static const char *const paint[] = {"", "<b>", "<g>", "<r>", "", "</>"};

    (void)state;
    check_drawing("text", (struct drawing){.utf8 = true},
                  "○ fetch\n"
                  "├─○ part                      9 copies, 2 CPUs\n"
                  "├─│─○ tune                    experiment\n"
                  "│ •─┘ both\n"
                  "│ ├─○ a \"b\" <c> & d;\\e\\x0a#`  fail, when one has "
                  "failed\n"
                  "○─┘ each                      workflow, copies not known "
                  "yet\n"
                  "  ○ clean                     at the end, always\n");
    check_drawing("text", (struct drawing){.has_states = true, .paint = paint},
                  "<g>*</> fetch                       succeeded\n"
                  "+-<b>></> part                      active, 4 of 9 "
                  "copies, 2 running, 1 failed, 2 CPUs\n"
                  "+-|-o</> tune                    waiting, experiment\n"
                  "| .</>-' both\n"
                  "| +--</> a \"b\" <c> & d;\\e\\x0a#`  skipped, fail, when "
                  "one has failed\n"
                  "o</>-' each                      waiting, workflow, "
                  "copies not known yet\n"
                  "  o</> clean                     waiting, at the end, "
                  "always\n");
    check_drawing("text", (struct drawing){.columns = 24},
                  "o fetch\n"
                  "+-o part      9 copies,~\n"
                  "+-|-o tune    experiment\n"
                  "| .-' both\n"
                  "| +-o a \"b\" <c> & d;\\e\\~\n"
                  "o-' each      workflow,~\n"
                  "  o clean     at the en~\n");
}

static void test_draw__dot(void **state)
{
    (void)state;
    check_drawing("dot", (struct drawing){0},
                  "digraph \"odd \\\"one\\\" <&>\" {\n"
                  "  node [shape=box, style=\"rounded,filled\", "
                  "fillcolor=white, fontname=\"sans-serif\"];\n"
                  "  s0 [label=\"fetch\"];\n"
                  "  s1 [label=\"part\\n9 copies, 2 CPUs\", shape=box3d, "
                  "style=filled];\n"
                  "  s2 [label=\"tune\\nexperiment\", shape=hexagon, "
                  "style=filled];\n"
                  "  s3 [label=\"\", tooltip=\"both\", shape=circle, "
                  "width=0.1, fixedsize=true];\n"
                  "  s4 [label=\"a \\\"b\\\" <c> & d;\\\\e\\\\x0a#`\\nfail, "
                  "when one has failed\", shape=octagon, style=filled];\n"
                  "  s5 [label=\"each\\nworkflow, copies not known yet\", "
                  "peripheries=2];\n"
                  "  s6 [label=\"clean\\nat the end, always\"];\n"
                  "  s0 -> s1;\n"
                  "  s0 -> s2;\n"
                  "  s1 -> s3;\n"
                  "  s2 -> s3;\n"
                  "  s3 -> s4 [style=dashed];\n"
                  "  s3 -> s5;\n"
                  "  s0 -> s5;\n"
                  "}\n");
    check_drawing("dot", (struct drawing){.has_states = true},
                  "digraph \"odd \\\"one\\\" <&>\" {\n"
                  "  node [shape=box, style=\"rounded,filled\", "
                  "fillcolor=white, fontname=\"sans-serif\"];\n"
                  "  s0 [label=\"fetch\", color=\"#1a7f37\", "
                  "fillcolor=\"#dafbe1\"];\n"
                  "  s1 [label=\"part\\n4 of 9 copies, 2 running, 1 failed, "
                  "2 CPUs\", shape=box3d, style=filled, color=\"#1f6feb\", "
                  "fillcolor=\"#ddf4ff\"];\n"
                  "  s2 [label=\"tune\\nexperiment\", shape=hexagon, "
                  "style=filled];\n"
                  "  s3 [label=\"\", tooltip=\"both\", shape=circle, "
                  "width=0.1, fixedsize=true];\n"
                  "  s4 [label=\"a \\\"b\\\" <c> & d;\\\\e\\\\x0a#`\\nfail, "
                  "when one has failed\", shape=octagon, style=filled, "
                  "color=\"#8c959f\", fontcolor=\"#59636e\", "
                  "style=\"rounded,dashed\"];\n"
                  "  s5 [label=\"each\\nworkflow, copies not known yet\", "
                  "peripheries=2];\n"
                  "  s6 [label=\"clean\\nat the end, always\"];\n"
                  "  s0 -> s1;\n"
                  "  s0 -> s2;\n"
                  "  s1 -> s3;\n"
                  "  s2 -> s3;\n"
                  "  s3 -> s4 [style=dashed];\n"
                  "  s3 -> s5;\n"
                  "  s0 -> s5;\n"
                  "}\n");
}

static void test_draw__mermaid(void **state)
{
    (void)state;
    check_drawing("mermaid", (struct drawing){0},
                  "flowchart TD\n"
                  "    s0(\"fetch\")\n"
                  "    s1(\"part<br>9 copies, 2 CPUs\")\n"
                  "    s2{{\"tune<br>experiment\"}}\n"
                  "    s3((\" \"))\n"
                  "    s4[/\"a #34;b#34; #60;c#62; #38; "
                  "d#59;#92;e#92;x0a#35;#96;<br>fail, when one has failed\"/]\n"
                  "    s5[[\"each<br>workflow, copies not known yet\"]]\n"
                  "    s6(\"clean<br>at the end, always\")\n"
                  "    s0 --> s1\n"
                  "    s0 --> s2\n"
                  "    s1 --> s3\n"
                  "    s2 --> s3\n"
                  "    s3 -.-> s4\n"
                  "    s3 --> s5\n"
                  "    s0 --> s5\n");
    check_drawing("mermaid", (struct drawing){.has_states = true},
                  "flowchart TD\n"
                  "    s0(\"fetch\"):::succeeded\n"
                  "    s1(\"part<br>4 of 9 copies, 2 running, 1 failed, 2 "
                  "CPUs\"):::active\n"
                  "    s2{{\"tune<br>experiment\"}}:::waiting\n"
                  "    s3((\" \")):::waiting\n"
                  "    s4[/\"a #34;b#34; #60;c#62; #38; "
                  "d#59;#92;e#92;x0a#35;#96;<br>fail, when one has "
                  "failed\"/]:::skipped\n"
                  "    s5[[\"each<br>workflow, copies not known "
                  "yet\"]]:::waiting\n"
                  "    s6(\"clean<br>at the end, always\"):::waiting\n"
                  "    s0 --> s1\n"
                  "    s0 --> s2\n"
                  "    s1 --> s3\n"
                  "    s2 --> s3\n"
                  "    s3 -.-> s4\n"
                  "    s3 --> s5\n"
                  "    s0 --> s5\n"
                  "    classDef waiting stroke:#8c959f\n"
                  "    classDef active "
                  "fill:#ddf4ff,stroke:#1f6feb,color:#0a3069\n"
                  "    classDef succeeded "
                  "fill:#dafbe1,stroke:#1a7f37,color:#044f1e\n"
                  "    classDef failed "
                  "fill:#ffebe9,stroke:#cf222e,color:#660018\n"
                  "    classDef skipped stroke:#8c959f,stroke-dasharray:4 4\n");
}

static void check_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in %s", part, text);
}

/* What it looks like as a whole is for eyes; that it is XML, for test_plan. */
static void test_draw__svg_escapes_and_tells_states(void **state)
{
    char *plan = draw("svg", (struct drawing){0});
    char *run = draw("svg", (struct drawing){.has_states = true});

    (void)state;
    check_has(plan, "<title id=\"title\">odd &quot;one&quot; &lt;&amp;&gt;<");
    check_has(plan, ">a &quot;b&quot; &lt;c&gt; &amp; d;\\e\\x0a#`<");
    check_has(plan, "<g class=\"experiment\"><title>tune, experiment</title>");
    check_has(plan, "prefers-color-scheme:dark");
    assert_null(strstr(plan, "class=\"sign\""));
    check_has(run, "<g class=\"active\"><title>part: active, 4 of 9 copies, "
                   "2 running, 1 failed, 2 CPUs</title>");
    check_has(run, ">1 skipped<");
    free(plan);
    free(run);
}

static void test_draw__svg_of_a_thousand_steps_in_time(void **state)
{
    enum { COUNT = 1000, LIMIT_MS = 100, SANITIZED_LIMIT_MS = 1000 };
    struct draw_node *many = mem_array(COUNT, sizeof(*many));
    struct graph *graph = graph_create(COUNT);
    struct drawing drawing = {.title = "many", .graph = graph, .nodes = many};
    struct buf out = BUF_INIT;
    clock_t began;
    double cpu_ms;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        many[i] = (struct draw_node){.name = "some_step", .copies = 1};
        for (size_t k = 1; k <= 3 && i >= 7 * k * k; k++)
            graph_add(graph, i, i - 7 * k * k);
    }
    began = clock();
    draw_svg(&drawing, &out);
    cpu_ms = 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC;
    print_message("svg of 1000 steps: %.1f ms, %zu bytes\n", cpu_ms,
                  out.length);
#if defined HAS_ADDRESS_SANITIZER || defined IS_EMULATED
    assert_true(cpu_ms < SANITIZED_LIMIT_MS);
#else
    assert_true(cpu_ms < LIMIT_MS);
#endif
    buf_clear(&out);
    graph_destroy(graph);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draw__names_its_formats),
        cmocka_unit_test(test_draw__text_of_a_file_and_of_a_run),
        cmocka_unit_test(test_draw__dot),
        cmocka_unit_test(test_draw__mermaid),
        cmocka_unit_test(test_draw__svg_escapes_and_tells_states),
        cmocka_unit_test(test_draw__svg_of_a_thousand_steps_in_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
