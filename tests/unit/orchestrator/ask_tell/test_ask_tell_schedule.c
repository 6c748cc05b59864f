/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search with a schedule in the hands of another program: which trials go
 * on, how far, and what becomes of the others. */
#include "orchestrator/ask_tell/ask_tell_schedule.h"

#include <stdio.h>

#include "base/compiler.h"
#include "tests/unit/orchestrator/ask_tell/ask_tell_test.h"

/* x is 1, 2 ... in turn. */
#define HEAD(objective)                                                        \
    "version: 1\nobjective: " objective "\n"                                   \
    "parameters: {x: {type: int, min: 1, max: 6}}\n"                           \
    "search: {method: grid, points: 6}\n"
#define ONE_GOAL HEAD("{metric: a}")
#define ASHA     "schedule: {method: asha, min: 1, max: 9, eta: 3}\n"
#define ASK_3                                                                  \
    {                                                                          \
        "{'op':'ask','n':3}",                                                  \
            "{'trials':[{'id':1,'params':{'x':1},'budget':1},"                 \
            "{'id':2,'params':{'x':2},'budget':1},"                            \
            "{'id':3,'params':{'x':3},'budget':1}]}"                           \
    }
#define FIRST_OF "and a comparison needs 3"

#define MUST_CONVERSE(text, exchanges)                                         \
    must_converse(text, exchanges, ARRAY_LEN(exchanges))

/* ---- from rung to rung ---- */

/* Ends with the budget's three trials. */
static void test_schedule__has_trials_pause_go_on_and_end(void **state)
{
    static const struct exchange exchanges[] = {
        ASK_3,
        {"{'op':'ask'}", "{'trials':[],'waiting':true}"},
        {"{'op':'observe','id':1,'step':1,'value':0.7}",
         "{'decision':'pause','reason':'0.7 is one of 1 at 1, " FIRST_OF "'}"},
        {"{'op':'tell','id':1,'value':1}",
         "{'error':'trial 1 is paused: ask returns it again when it "
         "is promoted'}"},
        {"{'op':'tell','id':2,'value':0.5}",
         "{'ok':true,'decision':'pause','reason':'0.5 is one of 2 at "
         "1, " FIRST_OF "'}"},
        {"{'op':'tell','id':3,'value':0.6}",
         "{'ok':true,'decision':'pause','reason':'0.6 is not among the best 1 "
         "of 3 at 1 (0.5 is the last of them)'}"},
        {"{'op':'ask','n':2}",
         "{'trials':[{'id':2,'params':{'x':2},'budget':3,'resumed':true}],"
         "'waiting':true}"},
        {"{'op':'observe','id':2,'step':2,'value':0.4}",
         "{'decision':'continue'}"},
        {"{'op':'tell','id':2,'value':0.3,'budget':2}",
         "{'error':'out of range: \\'budget\\' is 2, but the trial "
         "was assigned 3'}"},
        {"{'op':'tell','id':2,'value':0.3,'budget':9}", "{'ok':true}"},
        {"{'op':'ask'}", "{'trials':[],'stopped':[3,1],'done':true}"},
        {"{'op':'tell','id':3,'value':0}",
         "{'error':'trial 3 already has a result'}"},
        {"{'op':'best'}", "{'id':2,'value':0.3,'params':{'x':2}}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL ASHA "budget: {trials: 3}\n", exchanges);
}

/* Where the file has no budget, the grid's six trials are all. */
static void test_schedule__ends_with_the_search(void **state)
{
    static const struct exchange exchanges[] = {
        ASK_3,
        {"{'op':'ask','n':6}",
         "{'trials':[{'id':4,'params':{'x':4},'budget':1},"
         "{'id':5,'params':{'x':5},'budget':1},"
         "{'id':6,'params':{'x':6},'budget':1}],'waiting':true}"},
        {"{'op':'tell','id':1,'state':'failed'}", "{'ok':true}"},
        {"{'op':'tell','id':2,'state':'cancelled'}", "{'ok':true}"},
        {"{'op':'tell','id':3,'state':'stopped','value':1}", "{'ok':true}"},
        {"{'op':'tell','id':4,'value':null}", "{'ok':true}"},
        {"{'op':'tell','id':5,'value':8,'budget':9}", "{'ok':true}"},
        {"{'op':'ask','n':2}", "{'trials':[],'waiting':true}"},
        {"{'op':'tell','id':6,'state':'failed'}", "{'ok':true}"},
        {"{'op':'ask'}", "{'trials':[],'done':true}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL ASHA, exchanges);
}

static void test_schedule__has_no_new_trials_where_none_are_wanted(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','new':false}", "{'trials':[],'done':true}"},
        {"{'op':'ask','new':true}",
         "{'trials':[{'id':1,'params':{'x':1},'budget':1}]}"},
        {"{'op':'ask','new':false}", "{'trials':[],'waiting':true}"},
        {"{'op':'tell','id':1,'value':1}",
         "{'ok':true,'decision':'pause','reason':'1 is one of 1 at "
         "1, " FIRST_OF "'}"},
        {"{'op':'ask','new':false}",
         "{'trials':[{'id':1,'params':{'x':1},'budget':3,'resumed':true}]}"},
        {"{'op':'ask','new':1}", "{'error':'type mismatch: \\'new\\' must be "
                                 "true or false, not an integer'}"},
        {"{'op':'ask','n':-1}",
         "{'error':'out of range: \\'n\\' must be from 1 to 10000, not -1'}"},
        {"{'op':'ask'}", "{'trials':[{'id':2,'params':{'x':2},'budget':1}]}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL ASHA, exchanges);
}

/* ---- a search that cannot go on ---- */

/* The grid has 0 and 1 alone. */
#define NO_GRID(enqueue)                                                       \
    "version: 1\nobjective: {metric: a}\n"                                     \
    "parameters: {x: {type: float, min: 0, max: 1}}\n"                         \
    "constraints: [x > 0.2, x < 0.8]\n"                                        \
    "search: {method: grid, points: 2}\n"                                      \
    "enqueue: " enqueue "\n"

static void test_ask__says_what_is_wrong_when_nothing_else_is_left(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':9}",
         "{'trials':[{'id':1,'params':{'x':0.5},'budget':1}]}"},
        {"{'op':'ask','n':9}",
         "{'error':'no point of the grid satisfies the constraints'}"},
        {"{'op':'ask','n':9}",
         "{'error':'no point of the grid satisfies the constraints'}"},
    };

    (void)state;
    MUST_CONVERSE(NO_GRID("[{x: 0.5}]") ASHA, exchanges);
}

/* Who is given up is said, though the new trial that is to follow fails. */
static void test_ask__says_who_is_given_up_before_what_is_wrong(void **state)
{
    static const char text[] = NO_GRID(
        "[{x: 0.5}, {x: 0.25}, {x: 0.375}]") "schedule: {method: hyperband, "
                                             "min: 1, max: 3, eta: 3, "
                                             "brackets: 1}\n";
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':3}",
         "{'trials':[{'id':1,'params':{'x':0.5},'budget':1},"
         "{'id':2,'params':{'x':0.25},'budget':1},"
         "{'id':3,'params':{'x':0.375},'budget':1}]}"},
        {"{'op':'tell','id':1,'value':1,'budget':1}",
         "{'ok':true,'decision':'pause','reason':'1 is one of 1 at "
         "1, " FIRST_OF "'}"},
        {"{'op':'tell','id':2,'value':2}",
         "{'ok':true,'decision':'pause','reason':'2 is one of 2 at "
         "1, " FIRST_OF "'}"},
        {"{'op':'tell','id':3,'value':3}",
         "{'ok':true,'decision':'pause','reason':'3 is not among the best 1 "
         "of 3 at 1 (1 is the last of them)'}"},
        {"{'op':'ask'}",
         "{'trials':[{'id':1,'params':{'x':0.5},'budget':3,'resumed':true}]}"},
        {"{'op':'tell','id':1,'value':1}", "{'ok':true}"},
        {"{'op':'ask','n':2}", "{'trials':[],'stopped':[2,3]}"},
        {"{'op':'ask','n':2}",
         "{'error':'no point of the grid satisfies the constraints'}"},
    };

    (void)state;
    MUST_CONVERSE(text, exchanges);
}

/* ---- stopping ---- */

/* Nor any plan of how far they go. */
static void test_schedule__stops_trials_that_have_no_budget(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':2}", "{'trials':[{'id':1,'params':{'x':1}},"
                               "{'id':2,'params':{'x':2}}]}"},
        {"{'op':'observe','id':1,'step':1,'value':5}",
         "{'decision':'continue'}"},
        {"{'op':'observe','id':1,'step':1,'value':9}", /* seen already */
         "{'decision':'continue'}"},
        {"{'op':'observe','id':1,'step':2,'value':6}",
         "{'decision':'stop','reason':'the best at 2, 5, is not better than 5 "
         "at 1'}"},
        {"{'op':'tell','id':1,'state':'stopped','value':6}", "{'ok':true}"},
        {"{'op':'tell','id':2,'value':7,'budget':0}",
         "{'error':'out of range: \\'budget\\' must be from 1 to "
         "9223372036854775807, not "
         "0'}"},
        {"{'op':'tell','id':2,'value':7,'budget':4}", "{'ok':true}"},
        {"{'op':'ask'}", "{'trials':[{'id':3,'params':{'x':3}}]}"},
        {"{'op':'tell','id':3,'value':8}", "{'ok':true}"},
        {"{'op':'why','id':3}",
         "{'id':3,'method':'grid',"
         "'method_reason':'selected by name','paused':false}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL "schedule: {method: patient, patience: 1}\n",
                  exchanges);
}

/* ---- what is observed ---- */

static void test_observe__takes_one_value_or_all(void **state)
{
    static const char text[] =
        HEAD("[{metric: a}, {metric: b, goal: maximize}]") ASHA
        "outcomes: [{metric: c, max: 1}]\n";
    static const char text_of_b[] = HEAD(
        "[{metric: a}, {metric: b, goal: maximize}]") "schedule: {method: "
                                                      "asha, min: 1, max: 9, "
                                                      "eta: 3, metric: b}\n";
    static const struct exchange wrong[] = {
        ASK_3,
        {"{'op':'observe','id':4,'step':1,'value':1}",
         "{'error':'there is no trial 4 (3 suggested so far)'}"},
        {"{'op':'observe','id':1,'value':1}",
         "{'error':'missing key \\'step\\''}"},
        {"{'op':'observe','id':1,'step':0,'value':1}",
         "{'error':'out of range: \\'step\\' must be 1 or more, not 0'}"},
        {"{'op':'observe','id':1,'step':1}",
         "{'error':'missing key \\'value\\''}"},
        {"{'op':'observe','id':1,'step':1,'values':[1]}",
         "{'error':'out of range: \\'values\\' must have 2 numbers, not 1'}"},
        {"{'op':'observe','id':1,'step':1,'values':[1,2],'constraints':[]}",
         "{'error':'out of range: \\'constraints\\' must have 1 number, not "
         "0'}"},
        {"{'op':'observe','id':1,'step':1,'values':[1,2],'constraints':[-1]}",
         "{'decision':'pause','reason':'1 is one of 1 at 1, " FIRST_OF "'}"},
        {"{'op':'observe','id':2,'step':1,'value':2}",
         "{'decision':'pause','reason':'2 is one of 2 at 1, " FIRST_OF "'}"},
    };
    static const struct exchange of_b[] = {
        ASK_3,
        {"{'op':'observe','id':1,'step':1,'value':5}",
         "{'decision':'pause','reason':'5 is one of 1 at 1, " FIRST_OF "'}"},
        {"{'op':'observe','id':2,'step':1,'values':[9,7]}",
         "{'decision':'pause','reason':'7 is one of 2 at 1, " FIRST_OF "'}"},
        {"{'op':'tell','id':3,'values':[0,6]}",
         "{'ok':true,'decision':'pause','reason':'6 is not among the best 1 of "
         "3 at 1 (7 is the last of them)'}"},
        {"{'op':'ask'}",
         "{'trials':[{'id':2,'params':{'x':2},'budget':3,'resumed':true}]}"},
    };

    (void)state;
    MUST_CONVERSE(text, wrong);
    MUST_CONVERSE(text_of_b, of_b);
}

/* Its best value on the way; the value of a result is what the program says. */
static void test_observe__counts_the_best_where_the_file_says_so(void **state)
{
    static const struct exchange last[] = {
        ASK_3,
        {"{'op':'observe','id':1,'step':1,'value':3}",
         "{'decision':'pause','reason':'3 is one of 1 at 1, " FIRST_OF "'}"},
        {"{'op':'observe','id':2,'step':1,'value':4}",
         "{'decision':'pause','reason':'4 is one of 2 at 1, " FIRST_OF "'}"},
        {"{'op':'observe','id':3,'step':1,'value':5}",
         "{'decision':'pause','reason':'5 is not among the best 1 of 3 at 1 (3 "
         "is the last of them)'}"},
        {"{'op':'ask'}",
         "{'trials':[{'id':1,'params':{'x':1},'budget':3,'resumed':true}]}"},
        {"{'op':'observe','id':1,'step':2,'value':2}",
         "{'decision':'continue'}"},
        {"{'op':'observe','id':1,'step':3,'value':7}",
         "{'decision':'pause','reason':'7 is one of 1 at 3, " FIRST_OF "'}"},
    };
    struct exchange best[ARRAY_LEN(last)];

    (void)state;
    MUST_CONVERSE(ONE_GOAL ASHA, last);
    memcpy(best, last, sizeof(last));
    best[6].answer =
        "{'decision':'pause','reason':'2 is one of 1 at 3, " FIRST_OF "'}";
    MUST_CONVERSE(HEAD("{metric: a, value: best}") ASHA, best);
    best[6].request = "{'op':'tell','id':1,'value':7}";
    best[6].answer = "{'ok':true,'decision':'pause','reason':'7 is one of 1 at "
                     "3, " FIRST_OF "'}";
    MUST_CONVERSE(HEAD("{metric: a, value: best}") ASHA, best);
}

/* ---- clones, and why ---- */

/* Two of four give way to clones of the others. */
static void test_ask__says_whose_clone_a_trial_is(void **state)
{
    static const char text[] = ONE_GOAL
        "schedule: {method: pbt, min: 1, max: 2, population: 4, quantile: "
        "0.5}\n";
    struct test_session test = begin_session(text);
    json_t *answer, *trial;
    int64_t parent;
    char line[80];

    (void)state;
    json_decref(answer_of(&test, "{'op':'ask','n':4}"));
    for (int i = 1; i <= 4; i++) {
        snprintf(line, sizeof(line), "{'op':'tell','id':%d,'value':%d}", i, i);
        answer = answer_of(&test, line);
        assert_string_equal(
            json_string_value(json_object_get(answer, "decision")), "pause");
        json_decref(answer);
    }
    answer = answer_of(&test, "{'op':'ask'}");
    trial = json_array_get(json_object_get(answer, "trials"), 0);
    parent = integer_of(trial, "parent");
    assert_true(parent == 1 || parent == 2);
    assert_int_equal(integer_of(trial, "id"), 5);
    assert_int_equal(integer_of(trial, "budget"), 2);
    assert_int_equal(json_array_size(json_object_get(answer, "stopped")), 2);
    json_decref(answer);
    answer = answer_of(&test, "{'op':'why','id':5}");
    assert_int_equal(integer_of(answer, "parent"), parent);
    assert_int_equal(integer_of(answer, "budget"), 2);
    json_decref(answer);
    answer = answer_of(&test, "{'op':'why','id':1}");
    assert_int_equal(integer_of(answer, "parent"), -1);
    assert_int_equal(integer_of(answer, "budget"), 1);
    json_decref(answer);
    end_session(&test);
}

/* A search learns of trials on their way, which have no result to be shown. */
static void test_why__names_a_trial_that_has_no_result_yet(void **state)
{
    static const char text[] =
        "version: 1\nobjective: {metric: a}\n"
        "parameters: {x: {type: float, min: 0, max: 1}}\n"
        "search: {method: tpe, seed: 1}\n"
        "schedule: {method: hyperband, min: 1, max: 81, eta: 3}\n";
    enum { COUNT = 40 };
    struct test_session test = begin_session(text);
    json_t *why;

    (void)state;
    for (int i = 1; i <= COUNT; i++) {
        char line[80];

        json_decref(answer_of(&test, "{'op':'ask'}"));
        snprintf(line, sizeof(line),
                 "{'op':'observe','id':%d,'step':1,'value':%d}", i,
                 i == 7 ? 0 : i);
        json_decref(answer_of(&test, line));
    }
    why = answer_of(&test, "{'op':'why','id':40}");
    assert_int_equal(integer_of(why, "incumbent"), 7);
    assert_null(json_object_get(why, "incumbent_value"));
    json_decref(why);
    end_session(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule__has_trials_pause_go_on_and_end),
        cmocka_unit_test(test_schedule__ends_with_the_search),
        cmocka_unit_test(
            test_schedule__has_no_new_trials_where_none_are_wanted),
        cmocka_unit_test(
            test_ask__says_what_is_wrong_when_nothing_else_is_left),
        cmocka_unit_test(test_ask__says_who_is_given_up_before_what_is_wrong),
        cmocka_unit_test(test_schedule__stops_trials_that_have_no_budget),
        cmocka_unit_test(test_observe__takes_one_value_or_all),
        cmocka_unit_test(test_observe__counts_the_best_where_the_file_says_so),
        cmocka_unit_test(test_ask__says_whose_clone_a_trial_is),
        cmocka_unit_test(test_why__names_a_trial_that_has_no_result_yet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
