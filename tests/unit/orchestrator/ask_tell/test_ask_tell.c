/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search in the hands of another program: what it asks for, tells, and gets
 * to know. */
#include "orchestrator/ask_tell/ask_tell.h"

#include <stdio.h>

#include "base/compiler.h"
#include "tests/unit/orchestrator/ask_tell/ask_tell_test.h"

/* x is 1, 2 ... in turn. */
#define HEAD(objective) "version: 1\nobjective: " objective "\n"
#define COUNTING                                                               \
    "parameters: {x: {type: int, min: 1, max: 6}}\nsearch: {method: grid, "    \
    "points: 6}\n"
#define ONE_GOAL  HEAD("{metric: a}") COUNTING
#define TWO_GOALS HEAD("[{metric: a}, {metric: b, goal: maximize}]") COUNTING

#define MUST_CONVERSE(text, exchanges)                                         \
    must_converse(text, exchanges, ARRAY_LEN(exchanges))

/* ---- begin ---- */

static void must_not_begin(const struct experiment *experiment,
                           const char *message)
{
    struct err err;

    assert_null(ask_tell_create(experiment, NULL, &err));
    if (strstr(err.text, message) == NULL)
        fail_msg("%s", err.text);
}

static void test_ask_tell__begins_with_what_there_is(void **state)
{
    struct experiment *experiment = parse_for_session(
        HEAD("{metric: a}") COUNTING "schedule: {method: asha, max: 9}\n");
    struct ask_tell *ask_tell = ask_tell_create(experiment, NULL, NULL);

    (void)state;
    assert_non_null(ask_tell);
    ask_tell_destroy(ask_tell);
    experiment->schedule.options.method = "ashes";
    must_not_begin(experiment, "unknown schedule method 'ashes'");
    experiment->search.method = "gird";
    must_not_begin(experiment, "unknown search method 'gird'");
    experiment_destroy(experiment);
    ask_tell_destroy(NULL);
}

/* ---- requests ---- */

static void test_request__that_is_none_changes_nothing(void **state)
{
    static const struct exchange exchanges[] = {
        {"[1]", "{'error':'type mismatch: a request is an object with "
                "\\'op\\', such as {\\'op\\':\\'ask\\'}'}"},
        {"{}", "{'error':'missing key \\'op\\''}"},
        {"{'op':'asc'}", "{'error':'unknown op 'asc' (did you mean 'ask'?)'}"},
        {"{'op':'ask','n':0}",
         "{'error':'out of range: \\'n\\' must be from 1 to 10000, not 0'}"},
        {"{'op':'ask'}", "{'trials':[{'id':1,'params':{'x':1}}]}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL, exchanges);
}

/* ---- ask ---- */

static void test_ask__ends_with_the_search(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':2}", "{'trials':[{'id':1,'params':{'x':1}},"
                               "{'id':2,'params':{'x':2}}]}"},
        {"{'op':'ask','n':4}", "{'trials':[{'id':3,'params':{'x':3}},"
                               "{'id':4,'params':{'x':4}},"
                               "{'id':5,'params':{'x':5}},"
                               "{'id':6,'params':{'x':6}}]}"},
        {"{'op':'ask','n':2}", "{'trials':[],'exhausted':true}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL, exchanges);
}

/* The grid has 0 and 1 alone. */
static void test_ask__says_what_is_wrong_when_nothing_else_is_left(void **state)
{
    static const char text[] =
        HEAD("{metric: a}") "parameters: {x: {type: float, min: 0, max: 1}}\n"
                            "constraints: [x > 0.2, x < 0.8]\n"
                            "search: {method: grid, points: 2}\n"
                            "enqueue: [{x: 0.5}, {x: 0.25}]\n";
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':9}", "{'trials':[{'id':1,'params':{'x':0.5}},"
                               "{'id':2,'params':{'x':0.25}}]}"},
        {"{'op':'ask','n':9}",
         "{'error':'no point of the grid satisfies the constraints'}"},
        {"{'op':'tell','id':2,'value':1}", "{'ok':true}"},
    };

    (void)state;
    MUST_CONVERSE(text, exchanges);
}

/* The third trial is one of the two that were tried first. */
static void test_ask__says_whose_result_a_trial_has(void **state)
{
    static const char text[] =
        HEAD("{metric: a}") "parameters: {k: {type: categorical, values: [u, "
                            "v]}}\n"
                            "search: {method: random, duplicates: reuse}\n"
                            "enqueue: [{k: u}, {k: v}]\n";
    struct test_session test = begin_session(text);
    json_t *answer, *trial;
    bool is_first;

    (void)state;
    must_answer(&test, "{'op':'ask','n':2}",
                "{'trials':[{'id':1,'params':{'k':'u'}},"
                "{'id':2,'params':{'k':'v'}}]}");
    must_answer(&test, "{'op':'tell','id':1,'value':1}", "{'ok':true}");
    must_answer(&test, "{'op':'tell','id':2,'value':2}", "{'ok':true}");
    answer = answer_of(&test, "{'op':'ask'}");
    trial = json_array_get(json_object_get(answer, "trials"), 0);
    is_first = strcmp(json_string_value(json_object_get(
                          json_object_get(trial, "params"), "k")),
                      "u") == 0;
    assert_int_equal(integer_of(trial, "same_as"), is_first ? 1 : 2);
    json_decref(answer);
    end_session(&test);
}

/* ---- tell ---- */

static void test_tell__is_of_a_trial_under_way(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'tell','id':1,'value':1}",
         "{'error':'there is no trial 1 (0 suggested so far)'}"},
        {"{'op':'ask'}", "{'trials':[{'id':1,'params':{'x':1}}]}"},
        {"{'op':'tell','value':1}", "{'error':'missing key \\'id\\''}"},
        {"{'op':'tell','id':0,'value':1}",
         "{'error':'there is no trial 0 (1 suggested so far)'}"},
        {"{'op':'tell','id':2,'value':1}",
         "{'error':'there is no trial 2 (1 suggested so far)'}"},
        {"{'op':'tell','id':1}", "{'error':'missing key \\'value\\''}"},
        {"{'op':'tell','id':1,'state':'stopped','value':'much'}",
         "{'error':'type mismatch: \\'value\\' must be a number, not a text'}"},
        {"{'op':'tell','id':1,'state':'stoped'}",
         "{'error':'unknown state 'stoped' (did you mean 'stopped'?)'}"},
        {"{'op':'tell','id':1,'value':1,'constraints':[1]}",
         "{'error':'unknown key \\'constraints\\': the experiment has "
         "no constraints on metrics'}"},
        {"{'op':'tell','id':1,'value':1,'budget':'any'}", "{'ok':true}"},
        {"{'op':'tell','id':1,'value':2}",
         "{'error':'trial 1 already has a result'}"},
        {"{'op':'best'}", "{'id':1,'value':1.0,'params':{'x':1}}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL, exchanges);
}

/* Only what has succeeded, with a number, may be the best. */
static void test_best__has_succeeded(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':6}", "{'trials':[{'id':1,'params':{'x':1}},"
                               "{'id':2,'params':{'x':2}},"
                               "{'id':3,'params':{'x':3}},"
                               "{'id':4,'params':{'x':4}},"
                               "{'id':5,'params':{'x':5}},"
                               "{'id':6,'params':{'x':6}}]}"},
        {"{'op':'tell','id':1,'state':'failed','value':1}", "{'ok':true}"},
        {"{'op':'tell','id':2,'state':'stopped','value':1}", "{'ok':true}"},
        {"{'op':'tell','id':3,'state':'stopped'}", "{'ok':true}"},
        {"{'op':'tell','id':4,'value':'-inf'}", "{'ok':true}"},
        {"{'op':'best'}", "{'error':'no trial has succeeded yet'}"},
        {"{'op':'tell','id':6,'value':5}", "{'ok':true}"},
        {"{'op':'best'}", "{'id':6,'value':5.0,'params':{'x':6}}"},
        {"{'op':'tell','id':5,'value':7}", "{'ok':true}"},
        {"{'op':'best'}", "{'id':6,'value':5.0,'params':{'x':6}}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL, exchanges);
}

static void test_best__is_the_largest_of_a_maximum(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':3}", "{'trials':[{'id':1,'params':{'x':1}},"
                               "{'id':2,'params':{'x':2}},"
                               "{'id':3,'params':{'x':3}}]}"},
        {"{'op':'tell','id':1,'value':-4}", "{'ok':true}"},
        {"{'op':'tell','id':2,'value':9}", "{'ok':true}"},
        {"{'op':'tell','id':3,'value':8}", "{'ok':true}"},
        {"{'op':'best'}", "{'id':2,'value':9.0,'params':{'x':2}}"},
    };

    (void)state;
    MUST_CONVERSE(HEAD("{metric: a, goal: maximize}") COUNTING, exchanges);
}

/* What breaks a constraint is worse than nothing, and so is what may. */
static void test_best__satisfies_the_constraints(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':4}", "{'trials':[{'id':1,'params':{'x':1}},"
                               "{'id':2,'params':{'x':2}},"
                               "{'id':3,'params':{'x':3}},"
                               "{'id':4,'params':{'x':4}}]}"},
        {"{'op':'tell','id':1,'value':1}",
         "{'error':'missing key \\'constraints\\''}"},
        {"{'op':'tell','id':1,'value':1,'constraints':[-9,0.5]}",
         "{'ok':true}"},
        {"{'op':'tell','id':2,'value':1,'constraints':[null,-1]}",
         "{'ok':true}"},
        {"{'op':'best'}", "{'error':'no trial has succeeded and satisfied the "
                          "constraints yet'}"},
        {"{'op':'tell','id':3,'value':9,'constraints':[-1,0]}", "{'ok':true}"},
        {"{'op':'best'}", "{'id':3,'value':9.0,'params':{'x':3}}"},
        {"{'op':'tell','id':4,'state':'failed'}", "{'ok':true}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL "outcomes: [{metric: c, min: 1, max: 2}]\n",
                  exchanges);
}

/* Trial 3 beats 1 and 2, 4 is beaten by 3, 5 is another end of the front. */
static void test_best__is_a_front_of_several_objectives(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':6}", "{'trials':[{'id':1,'params':{'x':1}},"
                               "{'id':2,'params':{'x':2}},"
                               "{'id':3,'params':{'x':3}},"
                               "{'id':4,'params':{'x':4}},"
                               "{'id':5,'params':{'x':5}},"
                               "{'id':6,'params':{'x':6}}]}"},
        {"{'op':'tell','id':1,'value':5}",
         "{'error':'missing key \\'values\\''}"},
        {"{'op':'tell','id':1,'values':[5,1]}", "{'ok':true}"},
        {"{'op':'tell','id':2,'values':[6,2]}", "{'ok':true}"},
        {"{'op':'best'}",
         "{'front':[{'id':1,'values':[5.0,1.0],'params':{'x':1}},"
         "{'id':2,'values':[6.0,2.0],'params':{'x':2}}]}"},
        {"{'op':'tell','id':3,'values':[5,3]}", "{'ok':true}"},
        {"{'op':'tell','id':4,'values':[5,2]}", "{'ok':true}"},
        {"{'op':'tell','id':5,'values':[4,0]}", "{'ok':true}"},
        {"{'op':'best'}",
         "{'front':[{'id':3,'values':[5.0,3.0],'params':{'x':3}},"
         "{'id':5,'values':[4.0,0.0],'params':{'x':5}}]}"},
        {"{'op':'tell','id':6,'values':[3,null]}", "{'ok':true}"},
        {"{'op':'best'}",
         "{'front':[{'id':3,'values':[5.0,3.0],'params':{'x':3}},"
         "{'id':5,'values':[4.0,0.0],'params':{'x':5}}]}"},
    };

    (void)state;
    MUST_CONVERSE(TWO_GOALS, exchanges);
}

/* ---- observe ---- */

static void test_observe__goes_on_without_a_schedule(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask'}", "{'trials':[{'id':1,'params':{'x':1}}]}"},
        {"{'op':'observe','id':2,'step':1,'value':1}",
         "{'error':'there is no trial 2 (1 suggested so far)'}"},
        {"{'op':'observe','id':1,'value':1}",
         "{'error':'missing key \\'step\\''}"},
        {"{'op':'observe','id':1,'step':1}",
         "{'error':'missing key \\'value\\''}"},
        {"{'op':'observe','id':1,'step':1,'value':1}",
         "{'decision':'continue'}"},
        {"{'op':'tell','id':1,'state':'cancelled'}", "{'ok':true}"},
        {"{'op':'observe','id':1,'step':2,'value':1}",
         "{'error':'trial 1 already has a result'}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL, exchanges);
}

/* ---- why ---- */

static void test_why__says_what_the_search_does(void **state)
{
    static const struct exchange exchanges[] = {
        {"{'op':'ask','n':2}", "{'trials':[{'id':1,'params':{'x':5}},"
                               "{'id':2,'params':{'x':1}}]}"},
        {"{'op':'why','id':1}",
         "{'id':1,'method':'enqueue','method_reason':'selected by name',"
         "'step':'enqueued in the file','known':0,'unfinished':0}"},
        {"{'op':'why','id':2}", "{'id':2,'method':'grid',"
                                "'method_reason':'selected by name'}"},
        {"{'op':'why','id':3}",
         "{'error':'there is no trial 3 (2 suggested so far)'}"},
    };

    (void)state;
    MUST_CONVERSE(ONE_GOAL "enqueue: [{x: 5}]\n", exchanges);
}

/* A search that learns says of which trial; its value is as it was told. */
static void test_why__names_the_best_trial_of_then(void **state)
{
    static const char text[] =
        HEAD("{metric: a, goal: maximize}") "parameters: {x: {type: float, "
                                            "min: 0, max: 1}}\n"
                                            "search: {method: tpe, seed: 1}\n";
    enum { TOLD = 60 };
    struct test_session test = begin_session(text);
    char line[80];
    json_t *why;

    (void)state;
    for (int i = 1; i <= TOLD; i++) {
        json_decref(answer_of(&test, "{'op':'ask'}"));
        snprintf(line, sizeof(line), "{'op':'tell','id':%d,'value':%d}", i,
                 i == 7 ? 100 : i);
        must_answer(&test, line, "{'ok':true}");
    }
    why = answer_of(&test, "{'op':'why','id':60}");
    assert_int_equal(integer_of(why, "incumbent"), 7);
    assert_true(json_number_value(json_object_get(why, "incumbent_value")) ==
                100);
    assert_int_equal(integer_of(why, "known"), TOLD - 1);
    json_decref(why);
    why = answer_of(&test, "{'op':'why','id':1}"); /* nothing was known */
    assert_null(json_object_get(why, "incumbent"));
    assert_null(json_object_get(why, "incumbent_value"));
    assert_int_equal(integer_of(why, "known"), 0);
    json_decref(why);
    end_session(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_tell__begins_with_what_there_is),
        cmocka_unit_test(test_request__that_is_none_changes_nothing),
        cmocka_unit_test(test_ask__ends_with_the_search),
        cmocka_unit_test(
            test_ask__says_what_is_wrong_when_nothing_else_is_left),
        cmocka_unit_test(test_ask__says_whose_result_a_trial_has),
        cmocka_unit_test(test_tell__is_of_a_trial_under_way),
        cmocka_unit_test(test_best__has_succeeded),
        cmocka_unit_test(test_best__is_the_largest_of_a_maximum),
        cmocka_unit_test(test_best__satisfies_the_constraints),
        cmocka_unit_test(test_best__is_a_front_of_several_objectives),
        cmocka_unit_test(test_observe__goes_on_without_a_schedule),
        cmocka_unit_test(test_why__says_what_the_search_does),
        cmocka_unit_test(test_why__names_the_best_trial_of_then),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
