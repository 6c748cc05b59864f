/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: yaml_parser_initialize yaml_parser_parse */
/* wrap: sqlite3_column_text sqlite3_db_config sqlite3_open_v2 */
/* wrap: sqlite3_set_authorizer */
/* wrap: pcre2_compile_context_create_8 pcre2_jit_compile_8 */
/* wrap: pcre2_jit_stack_create_8 pcre2_match_context_create_8 */
/* wrap: pcre2_match_data_create_from_pattern_8 */
/* The libraries behind the parsers have no memory: that is said, and nothing is
 * read in another way than else. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pcre2.h>
#include <sqlite3.h>
#include <yaml.h>

#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/conf/diag.h"
#include "base/expr/expr.h"
#include "base/regex.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "tests/unit/folder.h"

/* The one that has none, after so many calls that had; NULL: all have. The
 * linker puts these in place. */
static const char *denied;
static int granted;

static bool is_denied(const char *call)
{
    return denied != NULL && strcmp(denied, call) == 0 && granted-- <= 0;
}

#define WRAP(type, call, failed, parameters, arguments)                        \
    type __real_##call parameters;                                             \
    type __wrap_##call parameters;                                             \
    type __wrap_##call parameters                                              \
    {                                                                          \
        return is_denied(#call) ? (failed) : __real_##call arguments;          \
    }

WRAP(int, yaml_parser_initialize, 0, (yaml_parser_t * parser), (parser))
WRAP(pcre2_compile_context *, pcre2_compile_context_create_8, NULL,
     (pcre2_general_context * general), (general))
WRAP(pcre2_match_data *, pcre2_match_data_create_from_pattern_8, NULL,
     (const pcre2_code *code, pcre2_general_context *general), (code, general))
WRAP(pcre2_match_context *, pcre2_match_context_create_8, NULL,
     (pcre2_general_context * general), (general))
WRAP(int, pcre2_jit_compile_8, PCRE2_ERROR_JIT_BADOPTION,
     (pcre2_code * code, uint32_t options), (code, options))
WRAP(pcre2_jit_stack *, pcre2_jit_stack_create_8, NULL,
     (size_t least, size_t most, pcre2_general_context *general),
     (least, most, general))
WRAP(int, sqlite3_open_v2, SQLITE_NOMEM,
     (const char *name, sqlite3 **db, int flags, const char *vfs),
     (name, db, flags, vfs))
WRAP(int, sqlite3_set_authorizer, SQLITE_MISUSE,
     (sqlite3 * db,
      int (*authorize)(void *, int, const char *, const char *, const char *,
                       const char *),
      void *user),
     (db, authorize, user))

WRAP(const unsigned char *, sqlite3_column_text, NULL,
     (sqlite3_stmt * statement, int column), (statement, column))

int __real_sqlite3_db_config(sqlite3 *db, int option, ...);
int __wrap_sqlite3_db_config(sqlite3 *db, int option, int value, int *now);
int __wrap_sqlite3_db_config(sqlite3 *db, int option, int value, int *now)
{
    return is_denied("sqlite3_db_config")
               ? SQLITE_ERROR
               : __real_sqlite3_db_config(db, option, value, now);
}

int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
    if (!is_denied("yaml_parser_parse"))
        return __real_yaml_parser_parse(parser, event);
    parser->error = YAML_MEMORY_ERROR;
    return 0;
}

/* ---- YAML ---- */

static const char text[] = "a: 1\n";

static void test_conf__says_that_there_is_no_memory(void **state)
{
    static const char *const calls[] = {"yaml_parser_initialize",
                                        "yaml_parser_parse"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct diags *diags = diags_create("t.yaml");

        denied = calls[i];
        assert_null(conf_parse(text, strlen(text), diags));
        denied = NULL;
        assert_int_equal(diags_count(diags), 1);
        assert_string_equal(diags_get(diags, 0)->text,
                            "out of memory while reading this");
        diags_destroy(diags);
    }
}

static void test_conf__has_no_key_without_memory(void **state)
{
    (void)state;
    assert_true(conf_has_key(text, strlen(text), "a"));
    denied = "yaml_parser_initialize";
    assert_false(conf_has_key(text, strlen(text), "a"));
    denied = NULL;
}

static void test_conf__lets_no_experiment_be_opened(void **state)
{
    static const char *const calls[] = {"yaml_parser_initialize",
                                        "sqlite3_open_v2"};
    static const char *const assignments[] = {"executor.cpus=1", "name=a"};
    struct experiment_source source = {
        .path = "", .assignments = assignments, .is_for_search = true};

    (void)state;
    for (size_t count = 0; count <= ARRAY_LEN(assignments); count++) {
        struct conf_doc *doc = conf_parse("executor: local\n", 16, NULL);
        struct err err = {0};

        assert_non_null(doc);
        source.assignment_count = count;
        denied = calls[count == 0];
        assert_null(experiment_open(doc, &source, experiment_schema, &err));
        denied = NULL;
        assert_int_not_equal(err.kind, ERR_NONE);
    }
}

/* ---- regular expressions ---- */

static void test_regex__is_none_without_memory(void **state)
{
    static const char *const calls[] = {
        "pcre2_compile_context_create_8",
        "pcre2_match_data_create_from_pattern_8",
        "pcre2_match_context_create_8"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct err err = {0};

        denied = calls[i];
        assert_null(regex_create("a$", REGEX_TEXT, &err));
        denied = NULL;
        assert_int_equal(err.kind, ERR_FAILED);
        assert_string_equal(err.text, "no memory for a regular expression");
    }
}

/* Each by itself it was one, together there was no memory any more. */
static void test_metrics__are_none_without_memory(void **state)
{
    static const char experiment[] =
        "version: 1\nobjective: loss\nparameters: {x: {type: bool}}\n"
        "trial: {command: x, metrics: {loss: 'loss=(.*)'}}\n";
    struct experiment_source source = {
        .text = experiment, .length = strlen(experiment), .path = ""};
    struct diags *diags = diags_create("");

    (void)state;
    denied = "pcre2_match_context_create_8";
    granted = 1;
    assert_null(experiment_parse(&source, diags, NULL));
    denied = NULL;
    granted = 0;
    assert_int_equal(diags_count(diags), 1);
    assert_string_equal(diags_get(diags, 0)->text,
                        "no memory for a regular expression");
    diags_destroy(diags);
}

static void test_regex__finds_the_same_without_jit(void **state)
{
    static const char *const calls[] = {"pcre2_jit_compile_8",
                                        "pcre2_jit_stack_create_8"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct regex *regex;
        size_t start, end;

        denied = calls[i];
        regex = regex_create("(b+)$", REGEX_TEXT, NULL);
        denied = NULL;
        assert_non_null(regex);
        assert_int_equal(regex_find(regex, "aa\rabb\r\nc", 9), 1);
        assert_true(regex_group(regex, 1, &start, &end));
        assert_int_equal(start, 4);
        assert_int_equal(end, 6);
        assert_int_equal(regex_find(regex, "a", 1), 0);
        regex_destroy(regex);
    }
}

/* ---- expressions ---- */

static void test_expr__has_no_evaluator_without_its_walls(void **state)
{
    static const char *const calls[] = {"sqlite3_open_v2", "sqlite3_db_config",
                                        "sqlite3_set_authorizer"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct err err = {0};

        denied = calls[i];
        assert_null(expr_env_create(&err));
        denied = NULL;
        assert_int_equal(err.kind, ERR_FAILED);
        assert_non_null(
            strstr(err.text, "cannot open SQLite for expressions: "));
    }
}

/* The file has its own evaluator, which is opened first. */
static void test_workflow__says_that_a_file_below_has_no_evaluator(void **state)
{
    static const char step[] = "version: 1\nsteps: {a: {experiment: b.yaml}}\n";
    const struct experiment_source source = {
        .text = step,
        .length = strlen(step),
        .path = mem_printf("%s/w.yaml", (char *)*state)};
    struct diags *diags = diags_create("w.yaml");
    struct err err = {0};

    put(*state, ".", "b.yaml",
        "version: 1\nobjective: loss\nparameters: {lr: 1}\n"
        "trial: {command: x}\n");
    denied = "sqlite3_open_v2";
    granted = 1;
    assert_null(workflow_parse(&source, diags, &err));
    denied = NULL;
    granted = 0;
    assert_int_equal(diags_count(diags), 1);
    assert_non_null(strstr(diags_get(diags, 0)->text,
                           "cannot open SQLite for expressions: "));
    assert_int_equal(diags_get(diags, 0)->place.line, 2);
    diags_destroy(diags);
    free((void *)(uintptr_t)source.path);
}

static void test_expr__gives_no_text_without_memory(void **state)
{
    struct expr_env *env = expr_env_create(NULL);
    struct expr *expr = expr_compile(env, "'a' || 'b'", NULL, 0, NULL);
    struct value value;
    struct err err;

    (void)state;
    assert_non_null(expr);
    denied = "sqlite3_column_text";
    assert_int_equal(expr_eval(expr, NULL, &value, &err), -1);
    denied = NULL;
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(err.text,
                        "out of memory for the result of an expression");
    assert_int_equal(expr_eval(expr, NULL, &value, &err), 0);
    assert_string_equal(value.text, "ab");
    expr_destroy(expr);
    expr_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conf__says_that_there_is_no_memory),
        cmocka_unit_test(test_conf__has_no_key_without_memory),
        cmocka_unit_test(test_conf__lets_no_experiment_be_opened),
        cmocka_unit_test(test_regex__is_none_without_memory),
        cmocka_unit_test(test_metrics__are_none_without_memory),
        cmocka_unit_test(test_regex__finds_the_same_without_jit),
        cmocka_unit_test(test_expr__has_no_evaluator_without_its_walls),
        cmocka_unit_test_setup_teardown(
            test_workflow__says_that_a_file_below_has_no_evaluator, make_folder,
            remove_folder),
        cmocka_unit_test(test_expr__gives_no_text_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
