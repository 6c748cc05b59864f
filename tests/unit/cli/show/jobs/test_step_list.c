/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/jobs/step_list.h"

/* a -> b -> (join) -> d; a -> c -> (join); e stands alone. The file has them
 * the other way round. */
enum { E, D, JOIN, C, B, A, COUNT };

struct fixture {
    struct step_list list;
    struct graph *graph;
};

static void make_lines(struct step_list *list, size_t count)
{
    *list = (struct step_list){
        .count = count,
        .lines = mem_array(count, sizeof(*list->lines)),
        .order = mem_array(count, sizeof(*list->order)),
    };
}

static void set_up(struct fixture *fixture)
{
    static const char *const names[COUNT] = {"e", "d", "j", "c", "b", "a"};

    make_lines(&fixture->list, COUNT);
    fixture->graph = graph_create(COUNT);
    graph_add(fixture->graph, B, A);
    graph_add(fixture->graph, C, A);
    graph_add(fixture->graph, JOIN, B);
    graph_add(fixture->graph, JOIN, C);
    graph_add(fixture->graph, D, JOIN);
    for (size_t i = 0; i < COUNT; i++)
        fixture->list.lines[i].name = mem_copy_string(names[i]);
    fixture->list.lines[JOIN].is_hidden = true;
    step_list_set_graph(&fixture->list, fixture->graph);
}

static void tear_down(struct fixture *fixture)
{
    step_list_clear(&fixture->list);
    graph_destroy(fixture->graph);
}

static void assert_note(const struct fixture *fixture, size_t step,
                        const char *text)
{
    struct buf out = BUF_INIT;

    step_list_print_note(&fixture->list, step, &out);
    assert_string_equal(buf_text(&out), text);
    buf_clear(&out);
}

static void test_step_list__puts_a_step_behind_what_it_needs(void **state)
{
    struct fixture fixture;
    size_t place[COUNT];

    (void)state;
    set_up(&fixture);
    for (size_t i = 0; i < COUNT; i++)
        place[fixture.list.order[i]] = i;
    assert_true(place[A] < place[B] && place[A] < place[C]);
    assert_true(place[B] < place[D] && place[C] < place[D]);
    tear_down(&fixture);
}

static void test_step_list__says_what_a_step_waits_for(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    assert_note(&fixture, B, "waits for a");
    fixture.list.lines[A].state = FLOW_SUCCEEDED;
    assert_note(&fixture, B, "");
    assert_note(&fixture, D, "waits for b, c");
    fixture.list.lines[B].state = FLOW_ACTIVE;
    fixture.list.lines[C].state = FLOW_FAILED;
    assert_note(&fixture, D, "waits for b");
    fixture.list.lines[B].jobs.pending = 2;
    assert_note(&fixture, B, "waits for a slot");
    fixture.list.lines[B].jobs.running = 1;
    assert_note(&fixture, B, "");
    fixture.list.lines[D].state = FLOW_SKIPPED;
    fixture.list.lines[D].reason = mem_copy_string("'c' has failed");
    assert_note(&fixture, D, "'c' has failed");
    tear_down(&fixture);
}

static void test_step_list__names_no_more_than_a_few(void **state)
{
    enum { MANY = 6 };
    struct step_list list;
    struct graph *graph = graph_create(MANY);
    struct buf out = BUF_INIT;

    (void)state;
    make_lines(&list, MANY);
    for (size_t i = 0; i < MANY; i++)
        list.lines[i].name = mem_printf("s%zu", i);
    for (size_t i = 1; i < MANY; i++)
        graph_add(graph, 0, i);
    step_list_set_graph(&list, graph);
    step_list_print_note(&list, 0, &out);
    assert_string_equal(buf_text(&out), "waits for s1, s2, s3 and 2 more");
    buf_clear(&out);
    step_list_clear(&list);
    graph_destroy(graph);
}

static void test_step_list__shows_what_goes_on_first(void **state)
{
    struct fixture fixture;
    struct step_counts rest;
    struct buf out = BUF_INIT;
    bool shown[COUNT];

    (void)state;
    set_up(&fixture);
    fixture.list.lines[A].state = FLOW_SUCCEEDED;
    fixture.list.lines[B].state = FLOW_FAILED;
    fixture.list.lines[C].state = FLOW_ACTIVE;
    step_list_choose(&fixture.list, 1, shown, &rest);
    assert_true(shown[C]);
    step_counts_print(&rest, &out);
    assert_string_equal(buf_text(&out), "1 succeeded, 1 failed, 2 waiting");
    step_list_choose(&fixture.list, 2, shown, &rest);
    assert_true(shown[C] && shown[B] && !shown[A]);
    step_list_choose(&fixture.list, 4, shown, &rest);
    assert_true(shown[D] && shown[E] && !shown[A]);
    step_list_choose(&fixture.list, COUNT, shown, &rest);
    assert_true(shown[A] && !shown[JOIN]);
    assert_int_equal(rest.all, 0);
    buf_clear(&out);
    tear_down(&fixture);
}

static void test_step_list__counts_steps_by_state(void **state)
{
    struct fixture fixture;
    struct step_counts counts;
    struct buf out = BUF_INIT;

    (void)state;
    set_up(&fixture);
    fixture.list.lines[A].state = FLOW_SUCCEEDED;
    fixture.list.lines[A].jobs =
        (struct step_jobs){.succeeded = 2, .skipped = 1, .cached = 2};
    fixture.list.lines[JOIN].state = FLOW_SUCCEEDED;
    fixture.list.lines[C].state = FLOW_SKIPPED;
    fixture.list.lines[B].state = FLOW_ACTIVE;
    step_list_count(&fixture.list, &counts);
    assert_int_equal(counts.all, COUNT - 1);
    assert_int_equal(counts.done, 2);
    assert_int_equal(counts.of[FLOW_SUCCEEDED], 1);
    assert_int_equal(counts.of[FLOW_WAITING], 2);
    assert_int_equal(counts.cached, 1);
    step_counts_print(&counts, &out);
    assert_string_equal(buf_text(&out), "1 active, 1 succeeded (1 cached), "
                                        "1 skipped, 2 waiting");
    fixture.list.lines[A].jobs.cached = 1; /* the other copy has run */
    step_list_count(&fixture.list, &counts);
    assert_int_equal(counts.cached, 0);
    buf_clear(&out);
    tear_down(&fixture);
}

static const struct {
    struct step_line line;
    const char *text;
} folded[] = {
    {{.copies = 1, .jobs = {.running = 1}}, ""},
    {{.is_many = true}, ""},
    {{.is_many = true, .copies = 20, .jobs = {17, 1, 2, 0, 0, 0}},
     "17/20 succeeded, 1 failed, 2 running"},
    {{.is_many = true, .copies = 4, .jobs = {.pending = 4}}, "0/4 succeeded"},
    {{.is_many = true, .copies = 4, .jobs = {.skipped = 3, .cancelled = 1}},
     "0/4 succeeded, 3 skipped, 1 cancelled"},
    {{.copies = 1, .round = 3, .rounds = 10}, "round 3 of 10"},
    {{.copies = 1, .jobs = {.succeeded = 1, .cached = 1}}, "cached"},
    {{.is_many = true,
      .copies = 4,
      .jobs = {.succeeded = 3, .failed = 1, .cached = 2}},
     "3/4 succeeded (2 cached), 1 failed"},
    {{.is_many = true, .copies = 2, .jobs = {.succeeded = 1}, .round = 2},
     "1/2 succeeded, round 2"},
};

static void test_step_list__folds_copies_into_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(folded); i++) {
        struct buf out = BUF_INIT;

        step_line_print_jobs(&folded[i].line, &out);
        assert_string_equal(buf_text(&out), folded[i].text);
        buf_clear(&out);
    }
}

static void test_step_list__knows_how_long_a_step_takes(void **state)
{
    struct step_line line = {.state = FLOW_WAITING};

    (void)state;
    assert_int_equal(step_line_duration_ms(&line, 900), -1);
    line.began_ms = 500;
    line.state = FLOW_ACTIVE;
    assert_int_equal(step_line_duration_ms(&line, 900), 400);
    assert_int_equal(step_line_duration_ms(&line, 400), 0);
    assert_int_equal(step_line_duration_ms(&line, 0), -1);
    line.state = FLOW_FAILED;
    line.ended_ms = 700;
    assert_int_equal(step_line_duration_ms(&line, 900), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_list__puts_a_step_behind_what_it_needs),
        cmocka_unit_test(test_step_list__says_what_a_step_waits_for),
        cmocka_unit_test(test_step_list__names_no_more_than_a_few),
        cmocka_unit_test(test_step_list__shows_what_goes_on_first),
        cmocka_unit_test(test_step_list__counts_steps_by_state),
        cmocka_unit_test(test_step_list__folds_copies_into_counts),
        cmocka_unit_test(test_step_list__knows_how_long_a_step_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
