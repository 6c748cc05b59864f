/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: sqlite3_exec sqlite3_prepare_v2 sqlite3_step */
/* What a search takes over from earlier runs, as it is kept with its run. */
#include "orchestrator/search/warm_start.h"

#include <math.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "tests/unit/store/sqlite_denied.h"
#include "tests/unit/store/store_test.h"

int __real_sqlite3_exec(sqlite3 *db, const char *sql,
                        int (*row)(void *, int, char **, char **), void *user,
                        char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql,
                        int (*row)(void *, int, char **, char **), void *user,
                        char **error);

/* What ends a reading is not what is read. */
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql,
                        int (*row)(void *, int, char **, char **), void *user,
                        char **error)
{
    if (strcmp(sql, "COMMIT") != 0 && is_denied())
        return SQLITE_IOERR;
    return __real_sqlite3_exec(db, sql, row, user, error);
}

/* ---- earlier runs ---- */

/* Of 'loss', with bounds on 'lat', in x, k. */
static int64_t add_run(struct store *store, const char *name)
{
    static const char *const metrics[] = {"loss"}, *const goals[] = {
                                                       "minimize"};
    static const char *const params[] = {"x", "k"};
    static const struct outcome_bounds bounds[] = {
        {"other", 0, (double)INFINITY}, {"lat", -(double)INFINITY, 20}};
    const struct run_new run = {
        .name = name,
        .kind = "experiment",
        .spec = "version: 1\n",
        .overrides = "[]",
        .spec_path = "",
        .work_directory = "/tmp",
        .metrics = metrics,
        .goals = goals,
        .objective_count = 1,
        .outcomes = bounds,
        .outcome_count = ARRAY_LEN(bounds),
        .params = params,
        .param_count = ARRAY_LEN(params),
        .time_ms = 1,
    };
    struct err err = {0};
    int64_t id;

    must(store_begin(store, &err));
    must(store_add_run(store, &run, &id, &err));
    must(store_commit(store, &err));
    return id;
}

struct trial {
    const char *state;
    struct value x, k;
    const double *loss, *outcomes; /* [1], [2]; NULL: none */
};

static int64_t add_trial(struct store *store, int64_t run, int64_t number,
                         const struct trial *trial)
{
    const struct value params[] = {trial->x, trial->k};
    struct job_change end = {.run = run,
                             .state = trial->state,
                             .event = trial->state,
                             .time_ms = 2,
                             .values = trial->loss,
                             .value_count = 1,
                             .outcomes = trial->outcomes,
                             .outcome_count = 2};
    struct err err = {0};

    must(store_begin(store, &err));
    must(store_add_job(store,
                       &(struct job_new){.run = run,
                                         .number = number,
                                         .state = "ready",
                                         .step = -1,
                                         .params = params,
                                         .param_count = ARRAY_LEN(params),
                                         .time_ms = 1},
                       &end.job, &err));
    must(store_change_job(store, &end, &err));
    must(store_commit(store, &err));
    return end.job;
}

static void add_metric(struct store *store, int64_t job, const char *name,
                       double value)
{
    struct err err = {0};

    must(store_begin(store, &err));
    must(store_add_metric(store,
                          &(struct metric_new){.job = job,
                                               .attempt = 1,
                                               .name = name,
                                               .step = 1,
                                               .value = value,
                                               .time_ms = 2},
                          &err));
    must(store_commit(store, &err));
}

#define LOSS(value) ((const double[]){value})

/* A run 'old' with a trial of each loss, at x = 1 and k = 'a'. */
static void add_losses(struct store *store, const double *losses, size_t count)
{
    int64_t run = add_run(store, "old");

    for (size_t i = 0; i < count; i++)
        add_trial(store, run, (int64_t)i + 1,
                  &(struct trial){"succeeded", value_int(1), value_text("a"),
                                  &losses[i], NULL});
}

/* ---- reading them ---- */

#define SAME     "warm_start: old\n"
#define TRANSFER "warm_start: {from: old, mode: transfer}\n"
#define X        "  x: {type: int, min: 1, max: 6}\n"
#define K        "  k: {type: categorical, values: [a, b]}\n"

static struct experiment *parse(const char *objective, const char *params,
                                const char *more)
{
    char *text = mem_printf("version: 1\nobjective: %s\nparameters:\n%s%s"
                            "trial: {command: x}\n",
                            objective, params, more);
    struct diags *diags = diags_create("");
    struct buf out = BUF_INIT;
    struct err err = {0};
    struct experiment_source source = {
        .text = text, .length = strlen(text), .path = ""};
    struct experiment *experiment = experiment_parse(&source, diags, &err);

    diags_render(diags, false, &out);
    if (experiment == NULL)
        fail_msg("%s%s", buf_text(&out), err.text);
    buf_clear(&out);
    diags_destroy(diags);
    free(text);
    return experiment;
}

static int print_earlier(void *user, const struct earlier_row *row)
{
    buf_printf(user, "%lld %s %s %s %s\n", (long long)row->number, row->state,
               row->params, row->values, row->outcomes);
    return 0;
}

/* As a run keeps what is read, a line a trial; as many were left out. */
static struct buf read_all(struct store *store,
                           const struct experiment *experiment,
                           int64_t left_out)
{
    struct err err = {0};
    struct warm_start *warm = warm_start_read(store, experiment, &err);
    struct buf lines = BUF_INIT;

    if (warm == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(warm_start_source_count(warm), 1);
    assert_string_equal(warm_start_source(warm, 0)->run, "old");
    assert_int_equal(warm_start_source(warm, 0)->left_out, left_out);
    must(store_begin(store, &err));
    must(warm_start_record(warm, store, 1, &err));
    must(store_each_earlier(store, 1, print_earlier, &lines, &err));
    store_rollback(store);
    warm_start_destroy(warm);
    return lines;
}

static void must_read(struct store *store, struct experiment *take_experiment,
                      int64_t left_out, const char *expected)
{
    struct buf lines = read_all(store, take_experiment, left_out);

    assert_string_equal(buf_text(&lines), expected);
    buf_clear(&lines);
    experiment_destroy(take_experiment);
}

static void must_refuse_it(struct store *store,
                           struct experiment *take_experiment,
                           enum err_kind kind, const char *words)
{
    struct err err = {0};

    assert_null(warm_start_read(store, take_experiment, &err));
    assert_int_equal(err.kind, kind);
    if (strncmp(err.text, "warm_start: ", 12) != 0 ||
        strstr(err.text, words) == NULL)
        fail_msg("without '%s': %s", words, err.text);
    experiment_destroy(take_experiment);
}

static void test_warm_start_read__takes_what_is_over(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run = add_run(store, "old");
    const struct value a = value_text("a");

    add_trial(store, run, 1,
              &(struct trial){"succeeded", value_int(1), a, LOSS(0.5), NULL});
    add_trial(store, run, 2,
              &(struct trial){"running", value_int(2), a, NULL, NULL});
    add_trial(store, run, 3,
              &(struct trial){"failed", value_int(3), a, NULL, NULL});
    add_trial(store, run, 4,
              &(struct trial){"stopped", value_int(4), a, LOSS(0.25), NULL});
    must_read(store, parse("loss", X K, SAME), 0,
              "1 succeeded {\"x\":1,\"k\":\"a\"} [0.5] []\n"
              "3 failed {\"x\":3,\"k\":\"a\"} [null] []\n"
              "4 stopped {\"x\":4,\"k\":\"a\"} [0.25] []\n");
    must_read(store, parse("{metric: loss, goal: maximize}", X K, SAME), 0,
              "1 succeeded {\"x\":1,\"k\":\"a\"} [-0.5] []\n"
              "3 failed {\"x\":3,\"k\":\"a\"} [null] []\n"
              "4 stopped {\"x\":4,\"k\":\"a\"} [-0.25] []\n");
    store_close(store);
}

/* ---- settings ---- */

static void test_warm_start_read__same_leaves_others_out(void **state)
{
    static const char more[] = "constraints: [\"x != 3\"]\n" SAME;
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run = add_run(store, "old");
    const struct value settings[][2] = {
        {value_int(1), value_text("a")},  /* is taken */
        {value_int(9), value_text("a")},  /* out of range */
        {value_int(9), value_text("no")}, /* neither */
        {value_int(2), value_text("no")}, /* no such word */
        {value_int(3), value_text("b")},  /* breaks a constraint */
        {value_null(), value_text("a")},  /* is said to lack x */
        {value_int(5), value_null()},     /* lacks k, which is not wanted */
        {value_int(4), value_text("b")},  /* is taken without k */
    };

    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        add_trial(store, run, (int64_t)i + 1,
                  &(struct trial){"succeeded", settings[i][0], settings[i][1],
                                  LOSS(0.5), NULL});
    must_read(store,
              parse("loss",
                    X "  k: {type: categorical, values: [a, b],"
                      " when: \"x < 4\"}\n",
                    more),
              5,
              "1 succeeded {\"x\":1,\"k\":\"a\"} [0.5] []\n"
              "7 succeeded {\"x\":5} [0.5] []\n"
              "8 succeeded {\"x\":4} [0.5] []\n");
    store_close(store);
}

/* Where none that succeeded is of this space, those that failed are. */
static void test_warm_start_read__same_bears_failures_alone(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run = add_run(store, "old");

    add_trial(store, run, 1,
              &(struct trial){"succeeded", value_int(9), value_text("a"),
                              LOSS(1), NULL});
    add_trial(
        store, run, 2,
        &(struct trial){"failed", value_int(1), value_text("a"), NULL, NULL});
    must_read(store, parse("loss", X K, SAME), 1,
              "2 failed {\"x\":1,\"k\":\"a\"} [null] []\n");
    store_close(store);
}

static void test_warm_start_read__same_needs_the_same_names(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);

    add_losses(store, LOSS(1), 1);
    must_refuse_it(store, parse("loss", X K "  z: 3\n", SAME), ERR_FILE,
                   "run 'old' has no parameter 'z'");
    must_refuse_it(store, parse("loss", X, SAME), ERR_FILE,
                   "run 'old' has a parameter 'k' that this file lacks");
    store_close(store);
}

/* Its trials would count twice. */
static void test_warm_start_read__takes_a_run_once(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);

    add_run(store, "older");
    add_losses(store, LOSS(1), 1);
    must_refuse_it(
        store, parse("loss", X K, "warm_start: [older, old, last]\n"), ERR_FILE,
        "duplicate run 'old' ('last' selects the same run)");
    store_close(store);
}

static void test_warm_start_read__needs_the_run(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    struct experiment *experiment = parse("loss", X, "");
    struct err err = {0};
    struct warm_start *warm = warm_start_read(store, experiment, &err);

    assert_non_null(warm);
    assert_int_equal(warm_start_source_count(warm), 0);
    warm_start_destroy(warm);
    experiment_destroy(experiment);
    must_refuse_it(store, parse("loss", X, SAME), ERR_NOT_FOUND,
                   "no run 'old'");
    must_refuse_it(store, parse("loss", X, "warm_start: [old, older]\n"),
                   ERR_NOT_FOUND, "no run 'old'");
    store_close(store);
}

/* x is moved to the nearest value, where it is a number; a k of another kind,
 * and what was not there, is drawn. */
static void must_move(struct store *store, const char *x, const char *start)
{
    char *params = mem_printf("  x: %s\n  k: {type: bool}\n"
                              "  z: {type: int, min: 3, max: 4}\n",
                              x);
    struct experiment *experiment = parse("loss", params, TRANSFER);
    struct buf lines = read_all(store, experiment, 0);

    if (strncmp(buf_text(&lines), start, strlen(start)) != 0)
        fail_msg("not '%s' first: %s", start, buf_text(&lines));
    assert_non_null(strstr(buf_text(&lines), "2 succeeded {\"x\":"));
    assert_non_null(strstr(buf_text(&lines), "3 succeeded {\"x\":"));
    assert_null(strstr(buf_text(&lines), "\"k\":\""));
    assert_non_null(strstr(buf_text(&lines), ",\"z\":"));
    buf_clear(&lines);
    experiment_destroy(experiment);
    free(params);
}

static void test_warm_start_read__transfer_moves_into_range(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run = add_run(store, "old");

    add_trial(store, run, 1,
              &(struct trial){"succeeded", value_real(7.25), value_text("a"),
                              LOSS(1), NULL});
    add_trial(store, run, 2,
              &(struct trial){"succeeded", value_text("big"), value_bool(true),
                              LOSS(1), NULL});
    add_trial(store, run, 3,
              &(struct trial){"succeeded", value_null(), value_int(1), LOSS(1),
                              NULL});
    must_move(store, "{type: float, min: 0, max: 9}",
              "1 succeeded {\"x\":7.25,");
    must_move(store, "{type: float, min: 0, max: 4.5}",
              "1 succeeded {\"x\":4.5,");
    must_move(store, "{type: float, min: 0, max: 8, step: 0.5}",
              "1 succeeded {\"x\":7.5,");
    must_move(store, "{type: int, min: 8, max: 9}", "1 succeeded {\"x\":8,");
    must_move(store, "{type: int, min: 1, max: 9, step: 4}",
              "1 succeeded {\"x\":9,");
    must_move(store, "{type: categorical, values: [big, small]}",
              "1 succeeded {\"x\":\"");
    store_close(store);
}

/* ---- results ---- */

/* From its objectives, its constraints, or what it said on its way. */
static void test_warm_start_read__finds_metrics_by_name(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run = add_run(store, "old");
    const struct value a = value_text("a");
    int64_t job = add_trial(store, run, 1,
                            &(struct trial){"succeeded", value_int(1), a,
                                            LOSS(4), (const double[]){3, 30}});

    add_metric(store, job, "acc", 0.75);
    add_metric(store, job, "zeal", 0.5);
    add_trial(store, run, 2,
              &(struct trial){"failed", value_int(2), a, NULL, NULL});
    must_read(store,
              parse("[loss, lat, {metric: acc, goal: maximize}]", X K,
                    "outcomes: [{metric: zeal, min: 1}, {metric: other,"
                    " max: 2}]\n" SAME),
              0,
              "1 succeeded {\"x\":1,\"k\":\"a\"} [4.0,30.0,-0.75]"
              " [0.5,1.0]\n"
              "2 failed {\"x\":2,\"k\":\"a\"} [null,null,null]"
              " [null,null]\n");
    must_refuse_it(store, parse("acd", X K, SAME), ERR_FILE,
                   "no trial of run 'old' has a value of 'acd'");
    store_close(store);
}

static void must_standardise(const char *folder, const double *losses,
                             size_t count, const double *expected)
{
    struct store *store = must_open(folder, STORE_CREATE);
    struct experiment *experiment = parse("loss", X K, TRANSFER);
    struct buf lines;
    const char *rest;

    add_losses(store, losses, count);
    lines = read_all(store, experiment, 0);
    rest = buf_text(&lines);
    for (size_t i = 0; i < count; i++) {
        rest = strchr(rest, '[');
        assert_non_null(rest);
        assert_true(fabs(strtod(rest + 1, NULL) - expected[i]) < 1e-12);
        rest = strchr(rest, '\n');
    }
    buf_clear(&lines);
    experiment_destroy(experiment);
    store_close(store);
}

static void test_warm_start_read__transfer_standardises(void **state)
{
    static const double cases[][2][2] = {{{1, 3}, {-1, 1}},
                                         {{5, 5}, {0, 0}},
                                         {{0, 0}, {0, 0}},
                                         {{-1.7e308, 1.7e308}, {-1, 1}},
                                         {{3e-320, 1e-320}, {1, -1}}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *folder = mem_printf("%s/%zu", (char *)*state, i);

        must_standardise(folder, cases[i][0], 2, cases[i][1]);
        free(folder);
    }
}

/* What did not succeed, or has no value, says nothing of mean and deviation. */
static void test_warm_start_read__transfer_goes_by_successes(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t run = add_run(store, "old");
    const struct value a = value_text("a");

    add_trial(store, run, 1,
              &(struct trial){"stopped", value_int(1), a, LOSS(7), NULL});
    add_trial(store, run, 2,
              &(struct trial){"failed", value_int(1), a, NULL, NULL});
    must_read(store, parse("loss", X K, TRANSFER), 0,
              "1 stopped {\"x\":1,\"k\":\"a\"} [7.0] []\n"
              "2 failed {\"x\":1,\"k\":\"a\"} [null] []\n");
    add_trial(store, run, 3,
              &(struct trial){"succeeded", value_int(1), a, LOSS(1), NULL});
    add_trial(store, run, 4,
              &(struct trial){"succeeded", value_int(1), a, LOSS(3), NULL});
    add_trial(store, run, 5,
              &(struct trial){"succeeded", value_int(1), a,
                              LOSS((double)INFINITY), NULL});
    must_read(store, parse("loss", X K, TRANSFER), 0,
              "1 stopped {\"x\":1,\"k\":\"a\"} [5.0] []\n"
              "2 failed {\"x\":1,\"k\":\"a\"} [null] []\n"
              "3 succeeded {\"x\":1,\"k\":\"a\"} [-1.0] []\n"
              "4 succeeded {\"x\":1,\"k\":\"a\"} [1.0] []\n"
              "5 succeeded {\"x\":1,\"k\":\"a\"} [null] []\n");
    store_close(store);
}

/* ---- what does not go ---- */

static void test_warm_start_read__bounds_their_number(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);

    add_losses(store, LOSS(1), 1);
    free(ask_sqlite(*state,
                    "WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n"
                    " WHERE i < 100001) INSERT INTO job (run_id, number,"
                    " state, cursor, created_ms)"
                    " SELECT 1, i, 'failed', 0, 0 FROM n"));
    assert_int_equal(count_trials(store, 1), WARM_MAX_TRIALS + 1);
    must_refuse_it(store, parse("loss", X K, TRANSFER), ERR_FILE,
                   "the earlier runs have more than 100000 trials");
    store_close(store);
}

/* All of it is read, or it is an error. */
static void test_warm_start_read__is_whole_or_not(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    struct experiment *experiment =
        parse("[acc, loss]", X K, "outcomes: [{metric: zeal, min: 1}]\n" SAME);
    struct err err = {0};
    struct warm_start *warm;
    int64_t run = add_run(store, "old");
    int64_t job = add_trial(store, run, 1,
                            &(struct trial){"succeeded", value_int(1),
                                            value_text("a"), LOSS(4), NULL});
    int n = 0;

    add_metric(store, job, "acc", 0.75);
    for (;;) {
        store_close(store);
        store = must_open(*state, STORE_READ);
        err = (struct err){0};
        denied_in = ++n;
        warm = warm_start_read(store, experiment, &err);
        if (denied_in > 0)
            break;
        if (warm != NULL)
            fail_msg("denied the call %d, and all the same it is read", n);
        assert_int_equal(strncmp(err.text, "warm_start: ", 12), 0);
    }
    denied_in = 0;
    assert_true(n > 30);
    assert_non_null(warm);
    assert_int_equal(warm_start_source(warm, 0)->taken, 1);
    warm_start_destroy(warm);
    experiment_destroy(experiment);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_warm_start_read__takes_what_is_over),
        STORE_TEST(test_warm_start_read__same_leaves_others_out),
        STORE_TEST(test_warm_start_read__same_bears_failures_alone),
        STORE_TEST(test_warm_start_read__same_needs_the_same_names),
        STORE_TEST(test_warm_start_read__takes_a_run_once),
        STORE_TEST(test_warm_start_read__needs_the_run),
        STORE_TEST(test_warm_start_read__transfer_moves_into_range),
        STORE_TEST(test_warm_start_read__finds_metrics_by_name),
        STORE_TEST(test_warm_start_read__transfer_standardises),
        STORE_TEST(test_warm_start_read__transfer_goes_by_successes),
        STORE_TEST(test_warm_start_read__bounds_their_number),
        STORE_TEST(test_warm_start_read__is_whole_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
