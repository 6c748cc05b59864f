/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/expr/expr.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static const char *const plain[] = {
    "lr",        "width", "optimizer", "momentum", "nesterov",
    "val-error", "group", "a.b",       "and",      "Batch",
};
static const char *const train[] = {"val_loss", "step"};
static const char *const tune_1[] = {"best_lr"};
static const struct expr_table tables[] = {
    {.columns = plain, .column_count = ARRAY_LEN(plain)},
    {.table = "train", .columns = train, .column_count = ARRAY_LEN(train)},
    {.table = "tune-1", .columns = tune_1, .column_count = ARRAY_LEN(tune_1)},
};
static const struct value values[] = {
    {.type = VALUE_REAL, .real = 0.1},     {.type = VALUE_INT, .integer = 64},
    {.type = VALUE_TEXT, .text = "sgd"},   {.type = VALUE_NULL},
    {.type = VALUE_BOOL, .boolean = true}, {.type = VALUE_REAL, .real = 0.25},
    {.type = VALUE_INT, .integer = 3},     {.type = VALUE_INT, .integer = 7},
    {.type = VALUE_INT, .integer = 11},    {.type = VALUE_INT, .integer = 32},
    {.type = VALUE_REAL, .real = 0.3},     {.type = VALUE_INT, .integer = 900},
    {.type = VALUE_REAL, .real = 0.01},
};

static int setup(void **state)
{
    *state = expr_env_create(NULL);
    return *state == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    expr_env_destroy(*state);
    return 0;
}

static struct expr *compile(struct expr_env *env, const char *text,
                            struct err *err)
{
    return expr_compile(env, text, tables, ARRAY_LEN(tables), err);
}

/* What the expression gives, with its type in front; or "error: text". */
static char *outcome(struct expr_env *env, const char *text)
{
    static const char *const types[] = {"null", "bool", "int", "real", "text"};
    struct err err;
    struct expr *expr = compile(env, text, &err);
    struct buf out = BUF_INIT;
    struct value value;

    if (expr == NULL || expr_eval(expr, values, &value, &err) < 0) {
        buf_printf(&out, "error: %s", err.text);
    } else {
        buf_printf(&out, "%s ", types[value.type]);
        value_print(&value, &out);
    }
    expr_destroy(expr);
    return buf_take(&out);
}

static const struct {
    const char *text, *expected;
} evaluations[] = {
    {"1", "int 1"},
    {"1 + 2 * 3", "int 7"},
    {"7 / 2", "int 3"},
    {"7 / 2.0", "real 3.5"},
    {"lr * 2", "real 0.2"},
    {"width <= 64", "int 1"},
    {"width*Batch<=32768", "int 1"},
    {"optimizer = 'sgd'", "int 1"},
    {"optimizer == 'adam'", "int 0"},
    {"optimizer IN ('adam', 'sgd')", "int 1"},
    {"optimizer not in ('adam', 'sgd')", "int 0"},
    {"width between 16 and 128 and not nesterov", "int 0"},
    {"momentum", "null "},
    {"momentum is null", "int 1"},
    {"momentum notnull", "int 0"},
    {"momentum > 0.5", "null "},
    {"coalesce(momentum, 0.9)", "real 0.9"},
    {"nesterov", "bool true"},
    {"+nesterov", "int 1"},
    {"nesterov = true", "int 1"},
    {"case when width > 32 then 'wide' else 'narrow' end", "text wide"},
    {"iif(lr < 1, 'small', 'big')", "text small"},
    {"\"val-error\" < 0.3", "int 1"},
    {"\"group\" + 1", "int 4"},
    {"group + 1", "int 4"},
    {"a.b + 1", "int 8"},
    {"\"a.b\" + 1", "int 8"},
    {"\"and\" + 1", "int 12"},
    {"train.val_loss < 0.5 and train.step > 100", "int 1"},
    {"\"train\".\"val_loss\"", "real 0.3"},
    {"\"tune-1\".best_lr", "real 0.01"},
    {"max(lr, 0.5) + min(1, 2, 3)", "real 1.5"},
    {"round(log10(lr))", "real -1"},
    {"pow(2, 10)", "real 1024"},
    {"sqrt(width)", "real 8"},
    {"abs(-3) % 2", "int 1"},
    {"pi() > 3", "int 1"},
    {"upper(optimizer) || '-' || width", "text SGD-64"},
    {"format('%03d', width)", "text 064"},
    {"replace(optimizer, 's', 'x')", "text xgd"},
    {"substr('abcdef', 2, 3)", "text bcd"},
    {"optimizer like 'S%'", "int 1"},
    {"optimizer glob 'S*'", "int 0"},
    {"'50%' like '50!%' escape '!'", "int 1"},
    {"cast(lr * 100 as integer)", "int 10"},
    {"cast(width AS text)", "text 64"},
    {"typeof(lr)", "text real"},
    {"hex('a')", "text 61"},
    {"0x10", "int 16"},
    {"0X1f", "int 31"},
    {"1e-3 + .5", "real 0.501"},
    {"1E+3", "real 1000"},
    {"~0", "int -1"},
    {"1 << 4 | 1", "int 17"},
    {"5 - -5", "int 10"},
    {"'it''s; -- /* ?1 $x'", "text it's; -- /* ?1 $x"},
    {"'SELECT'", "text SELECT"},
    {"''", "text "},
    {"1 / 0", "null "},
    {"9223372036854775807 + 1", "real 9.223372036854776e+18"},
    {"((((((((((1))))))))))", "int 1"},
    {"\n  lr\t<\r\n 1 ", "int 1"},
    {"'\xc3\xa9'", "text \xc3\xa9"},
    {"ln(exp(1)) = 1", "int 1"},
    {"flag('--amp', nesterov)", "text --amp"},
    {"flag('--amp', lr > 1)", "null "},
    {"flag('--amp', momentum)", "null "},
    {"flag('--amp', optimizer)",
     "error: cannot evaluate the expression: flag() takes a condition "
     "behind the text, not a text"},
    {"basename('a/b.c/d.tar.gz')", "text d.tar.gz"},
    {"basename('d.gz')", "text d.gz"},
    {"basename('a/')", "text "},
    {"basename(momentum)", "null "},
    {"basename(width)", "text 64"},
    {"dirname('a/b/c')", "text a/b"},
    {"dirname('/a//b//')", "text /a"},
    {"dirname('a')", "text ."},
    {"dirname('')", "text ."},
    {"dirname('/a')", "text /"},
    {"dirname('//')", "text /"},
    {"dirname(momentum)", "null "},
    {"strip_extension('a.b/c.tar.gz')", "text a.b/c.tar"},
    {"strip_extension('a.b/c')", "text a.b/c"},
    {"strip_extension('c.')", "text c"},
    {"strip_extension('.profile')", "text "},
    {"strip_extension('c')", "text c"},
    {"strip_extension(momentum)", "null "},
    {"basename(strip_extension('a/b.c'))", "text b"},
    {"field('{\"a\": \"x y\"}', 'a')", "text x y"},
    {"field('{\"a\": 7}', 'a') + 1", "int 8"},
    {"field('{\"a\": 0.5}', 'a')", "real 0.5"},
    {"field('{\"a\": true, \"b\": false}', 'a')", "int 1"},
    {"field('{\"a\": true, \"b\": false}', 'b')", "int 0"},
    {"field('{\"a\": null}', 'a')", "null "},
    {"field('{\"a\": [1, {\"b\": 2}]}', 'a')", "text [1,{\"b\":2}]"},
    {"field('{\"a\": {\"b\": 2}}', 'a')", "text {\"b\":2}"},
    {"field('{\"it''s\": 1}', 'it''s')", "int 1"},
    {"field(momentum, 'a')", "null "},
    {"field('{}', momentum)", "null "},
    {"field('{\"a\": 1}', 'b')",
     "error: cannot evaluate the expression: field(): no key 'b'"},
    {"field('[1]', 'b')",
     "error: cannot evaluate the expression: field() takes a JSON object "
     "and a key"},
    {"field('{', 'b')",
     "error: cannot evaluate the expression: field() takes a JSON object "
     "and a key"},
    {"(lr < 1) = (width > 1)", "int 1"},
    {"lr < 1 and width > 1 or not lr > 2", "int 1"},
    {"optimizer between 'a' and 'z' and lr < 1", "int 1"},
    {"case when lr < 1 then width > 1 else lr = 2 end", "int 1"},
    {"max(lr < 1, width > 1)", "int 1"},
    {"width || '' = '64'", "int 1"},
};

static void test_expr__evaluates(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(evaluations); i++) {
        char *actual = outcome(*state, evaluations[i].text);

        if (strcmp(actual, evaluations[i].expected) != 0)
            print_error("%s\n", evaluations[i].text);
        assert_string_equal(actual, evaluations[i].expected);
        free(actual);
    }
}

struct failure {
    const char *text;
    int column;
    const char *part; /* of the message */
};

static void assert_fails(struct expr_env *env, const struct failure *failure)
{
    struct err err;
    struct expr *expr = compile(env, failure->text, &err);

    if (expr != NULL)
        fail_msg("compiled: %s", failure->text);
    if (strstr(err.text, failure->part) == NULL)
        fail_msg("%s: %s", failure->text, err.text);
    assert_int_equal(err.kind, ERR_FILE);
    if (err.column != failure->column)
        fail_msg("%s: column %d of %s", failure->text, err.column, err.text);
    for (const char *c = err.text; *c != '\0'; c++)
        assert_true((unsigned char)*c >= ' ');
    assert_null(compile(env, failure->text, NULL));
}

static void test_expr__refuses_what_is_not_an_expression(void **state)
{
    static const struct failure attacks[] = {
        {"1) UNION SELECT (2", 2, "')' without"},
        {"1) --", 2, "')' without"},
        {"1); DROP TABLE x; SELECT (1", 2, "')' without"},
        {"1, 2", 2, "one value"},
        {"(1, 2)", 3, "one value"},
        {"(1, 2) = (1, 2)", 3, "one value"},
        {"lr in ((1, 2))", 10, "one value"},
        {"1; select 2", 2, "';'"},
        {"1 -- 2", 3, "comment"},
        {"1 /* x */", 3, "comment"},
        {"1--2", 2, "comment"},
        {"?1", 1, "'?'"},
        {"?", 1, "'?'"},
        {":x", 1, "':'"},
        {"@x", 1, "'@'"},
        {"$x", 1, "'$'"},
        {"#1", 1, "'#'"},
        {"lr#", 3, "'#'"},
        {"select 1", 1, "'select' is not allowed"},
        {"(select 1)", 2, "'select' is not allowed"},
        {"(SELECT name FROM sqlite_master)", 2, "'SELECT'"},
        {"exists (select 1)", 1, "'exists' is not allowed"},
        {"lr in (select 1)", 8, "'select'"},
        {"lr in sqlite_master", 7, "unknown name 'sqlite_master'"},
        {"lr in pragma_user_version", 7, "unknown name"},
        {"lr in lr", 7, "unexpected 'lr'"},
        {"(values (1))", 2, "'values'"},
        {"with x as (select 1) select 1", 1, "'with'"},
        {"raise(abort, 'x')", 1, "'raise'"},
        {"optimizer collate nocase", 11, "'collate'"},
        {"optimizer COLLATE \"x\"", 11, "'COLLATE'"},
        {"count(*)", 1, "unknown function 'count'"},
        {"max(lr)", 1, "max() takes at least 2 arguments, not 1"},
        {"min()", 1, "min() takes at least 2 arguments, not 0"},
        {"sum(lr)", 1, "unknown function 'sum'"},
        {"total(lr)", 1, "unknown function 'total'"},
        {"group_concat(lr)", 1, "unknown function 'group_concat'"},
        {"row_number() over ()", 1, "unknown function 'row_number'"},
        {"max(1, 2) over ()", 11, "'over' is not allowed"},
        {"max(1, 2) filter (where 1)", 11, "'filter' is not allowed"},
        {"max(distinct 1, 2)", 5, "'distinct' is not allowed"},
        {"round(*)", 7, "unexpected '*'"},
        {"pi(*)", 4, "unexpected '*'"},
        {"zeroblob(1000000000)", 1, "unknown function 'zeroblob'"},
        {"randomblob(1000000000)", 1, "unknown function 'randomblob'"},
        {"random()", 1, "unknown function 'random'"},
        {"x'00'", 1, "unknown name 'x'"},
        {"load_extension('x')", 1, "unknown function"},
        {"readfile('/etc/passwd')", 1, "unknown function"},
        {"writefile('x', 'y')", 1, "unknown function"},
        {"edit('x')", 1, "unknown function"},
        {"fts3_tokenizer('x')", 1, "unknown function"},
        {"sqlite_version()", 1, "unknown function"},
        {"changes()", 1, "unknown function"},
        {"date('now')", 1, "unknown function"},
        {"current_timestamp", 1, "'current_timestamp' is not allowed"},
        {"char(0)", 1, "unknown function"},
        {"json('{}')", 1, "unknown function"},
        {"json_each('[1]')", 1, "unknown function"},
        {"'{}' -> 'a'", 6, "'->'"},
        {"'{}' ->> 'a'", 6, "'->'"},
        {"likelihood(1, 0.5)", 1, "unknown function"},
        {"sqlite_offset(lr)", 1, "unknown function"},
        {"optimizer match 'x'", 11, "'match' is not allowed"},
        {"optimizer regexp 'x'", 11, "'regexp' is not allowed"},
        {"match('a', 'b')", 1, "'match' is not allowed"},
        {"cast(lr as blob)", 12, "cannot cast to 'blob'"},
        {"cast(lr as varchar(10))", 12, "cannot cast to 'varchar'"},
        {"lr as x", 7, "cannot cast to 'x'"},
        {"lr as text", 4, "unexpected 'as'"},
        {"lr from x", 4, "'from' is not allowed"},
        {"1 limit 1", 3, "'limit' is not allowed"},
        {"1 order by 1", 3, "'order' is not allowed"},
        {"1 union all values (1)", 3, "'union' is not allowed"},
        {"attach 'x' as y", 1, "'attach' is not allowed"},
        {"pragma user_version", 1, "'pragma' is not allowed"},
        {"`lr`", 1, "quoted with \""},
        {"[lr]", 1, "quoted with \""},
        {"\"lr\"\"\"", 5, "unknown name ''"},
        {"\"1\" = 1", 1, "single quotes"},
        {"lr \\ 2", 4, "'\\'"},
        {"lr \x01 2", 4, "'\\x01'"},
        {"lr \xff", 4, "\\xff"},
        {"'open", 1, "missing closing '"},
        {"'it''s", 1, "missing closing '"},
        {"\"open", 1, "missing closing \""},
        {"(1", 1, "missing ')'"},
        {"max(1, (2)", 1, "missing ')'"},
        {")(", 1, "')' without"},
    };

    for (size_t i = 0; i < ARRAY_LEN(attacks); i++)
        assert_fails(*state, &attacks[i]);
}

static void test_expr__explains_a_mistake_where_it_is(void **state)
{
    static const struct failure mistakes[] = {
        {"", 1, "the expression is empty"},
        {" \n ", 1, "the expression is empty"},
        {"widht > 3", 1, "unknown name 'widht' (did you mean 'width'?)"},
        {"1 + Width", 5, "(did you mean 'width'?)"},
        {"'\xc3\xa9' = widht", 7, "(did you mean 'width'?)"},
        {"trian.val_loss", 1, "(did you mean 'train.val_loss'?)"},
        {"val_loss > 1", 1, "unknown name 'val_loss'"},
        {"lr < val-error", 6, "write \"val-error\" in double quotes"},
        {"tune-1.best_lr", 1, "write \"tune-1.best_lr\" in double quotes"},
        {"and > 3", 1, "write \"and\" in double quotes"},
        {"optimizer = \"sgd\"", 13, "'sgd' (a text is written in single"},
        {"optimizer = sgd", 13,
         "unknown name 'sgd' (a text is written in single quotes: 'sgd')"},
        {"optimizer in (sgd, 'x')", 15, "(a text is written in single quotes"},
        {"momentum = None", 12, "unknown name 'None' (write NULL)"},
        {"1 if lr else 2", 3, "unknown name 'if' (write iif("},
        {"lr in [1, 2]", 7, "a list is written in parentheses"},
        {"lr > 1 ? 2 : 3", 8, "(write iif(condition, a, b))"},
        {"0.1 <= lr <= 0.5", 11,
         "chained comparison (write 0.1 <= lr AND lr <= 0.5)"},
        {"1 and (0 < lr*2 < width < 9)", 17,
         "chained comparison (write 0 < lr*2 AND lr*2 < width)"},
        {"lr = width = 3", 12, "chained comparison (write lr = width AND"},
        {"case when 1 < lr < 2 then 1 end", 18, "chained comparison"},
        {"lr < 3 || lr > 7", 8, "'||' joins two texts (write OR)"},
        {"optimizer = 'sgd' or 'adam'", 22, "'adam' is a text, not a"},
        {"not 'a'", 5, "'a' is a text, not a condition"},
        {"(optimizer) = 'a' or ('b' and 1)", 23, "'b' is a text"},
        {"sqrr(lr)", 1, "unknown function 'sqrr' (did you mean 'sqrt'?)"},
        {"sqrt(lr, 2)", 1, "sqrt() takes 1 argument, not 2"},
        {"lr > 1 && lr < 2", 8, "write AND"},
        {"width // 2 = 1", 7, "unexpected '//' (write x / y"},
        {"lr => 1", 4, "unexpected '=>' (write >=)"},
        {"lr =< 1", 4, "unexpected '=<' (write <=)"},
        {"!lr", 1, "write NOT"},
        {"lr ^ 2", 4, "write pow(x, y)"},
        {"lr ** 2", 4, "write pow(x, y)"},
        {"lr +", 5, "ends too early"},
        {"lr > (1 +", 6, "missing ')'"},
        {"lr width", 4, "unexpected 'width'"},
        {"lr > > 2", 6, "unexpected '>'"},
        {"1.2.3", 4, "unexpected '.3'"},
        {"2x", 1, "bad number '2x'"},
        {"1e", 1, "bad number '1e'"},
        {"0xzz", 1, "bad number '0xzz'"},
        {"0x", 1, "bad number '0x'"},
        {"0x11112222333344445", 1, "hex literal too big"},
        {"lr.", 4, "missing name after 'lr.'"},
        {"train.5", 6, "missing name after"},
        {"train.5x", 6, "bad number '.5x'"},
        {"train.'open", 7, "missing closing '"},
        {"_x > 1", 1, "unknown name '_x'"},
        {". lr", 1, "unexpected '.'"},
        {"case when 1", 12, "ends too early"},
        {"between 1 and 2", 1, "unexpected 'between'"},
    };

    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++)
        assert_fails(*state, &mistakes[i]);
}

static char *repeat(const char *start, const char *middle, size_t count,
                    const char *end)
{
    struct buf buf = BUF_INIT;

    buf_add_string(&buf, start);
    for (size_t i = 0; i < count; i++)
        buf_add_string(&buf, middle);
    buf_add_string(&buf, end);
    return buf_take(&buf);
}

static void test_expr__length_and_depth_are_bounded(void **state)
{
    static const struct {
        const char *start, *middle;
        size_t count;
        const char *end, *part;
    } cases[] = {
        {"", "(", 41, "", "more than 40 parentheses"},
        {"", "1+", 300, "1", "maximum depth"},
        {"", "-", 1, "", "ends too early"},
        {"", " ", 5000, "1", "more than 4096"},
        {"max(1", ",1", 200, ")", "too many arguments"},
    };
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = repeat(cases[i].start, cases[i].middle, cases[i].count,
                            cases[i].end);

        assert_null(compile(*state, text, &err));
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("%.40s: %s", text, err.text);
        assert_true(err.column >= 1);
        assert_null(compile(*state, text, NULL));
        free(text);
    }
}

static void test_expr__large_results_never_come_about(void **state)
{
    /* SQLite 3.40 gives null for a text that is too long, 3.54 an error. */
    static const struct {
        const char *text, *expected[2];
    } cases[] = {
        {"printf('%16384d%d', 1, 1)", {"null", "too big"}},
        {"printf('%1000000000d', 1)", {"add up to more than 16384"}},
        {"format('%.1000000000f', 1)", {"add up to more than 16384"}},
        {"printf('%*d', 2000000000, 1)", {"add up to more than 16384"}},
        {"replace(printf('%9999d', 1), ' ', 'aaaaaaaaaaaaaaaa')", {"too big"}},
        {"hex(hex(printf('%9999d', 1)))", {"too big"}},
        {"'a' like printf('%999d', 1)", {"pattern too complex"}},
        {"abs(-9223372036854775807 - 1)", {"integer overflow"}},
        {"printf('%c', '')", {"NUL"}},
        {"'a' like 'a' escape 'ab'", {"single character"}},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *actual = outcome(*state, cases[i].text);

        if (strstr(actual, cases[i].expected[0]) == NULL &&
            (cases[i].expected[1] == NULL ||
             strstr(actual, cases[i].expected[1]) == NULL))
            fail_msg("%s: %s", cases[i].text, actual);
        free(actual);
    }
}

static void test_expr__one_statement_serves_many_values(void **state)
{
    const char *const columns[] = {"a", "b", "c"};
    const struct expr_table table = {.columns = columns, .column_count = 3};
    struct expr *expr =
        expr_compile(*state, "iif(c > a, c || '!', NULL)", &table, 1, NULL);
    struct value in[3] = {{.type = VALUE_INT}}, result, kept;
    char expected[32];

    assert_non_null(expr);
    assert_true(expr_uses(expr, 0));
    assert_false(expr_uses(expr, 1));
    assert_true(expr_uses(expr, 2));
    for (int i = -5; i < 200000; i += i < 100 ? 1 : 9999) {
        in[2] = value_int(i);
        assert_int_equal(expr_eval(expr, in, &result, NULL), 0);
        snprintf(expected, sizeof(expected), "%d!", i);
        if (i <= 0)
            assert_int_equal(result.type, VALUE_NULL);
        else
            assert_string_equal(result.text, expected);
    }
    kept = result;
    in[2] = value_text("z");
    assert_string_equal(kept.text, expected);
    assert_int_equal(expr_eval(expr, in, &result, NULL), 0);
    assert_string_equal(result.text, "z!");
    expr_destroy(expr);
}

/* SQLite's own guard counts steps over all evaluations of a statement. */
static void test_expr__many_evaluations_are_no_runaway(void **state)
{
    struct expr *expr = compile(*state, "width * Batch <= 32768", NULL);
    struct value result;

    for (int i = 0; i < 50000; i++) {
        assert_int_equal(expr_eval(expr, values, &result, NULL), 0);
        assert_int_equal(result.integer, 1);
    }
    expr_destroy(expr);
}

/* There are fewer buckets for what SQLite makes of them than expressions. */
static void test_expr__many_expressions_do_not_mix(void **state)
{
    enum { COUNT = 6000 };
    struct expr **exprs = mem_array(COUNT, sizeof(struct expr *));
    struct value result;
    char text[32];

    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "width + %d", i);
        exprs[i] = compile(*state, text, NULL);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = round; i < COUNT; i += 1 + round) {
            assert_int_equal(expr_eval(exprs[i], values, &result, NULL), 0);
            assert_int_equal(result.integer, 64 + i);
        }
        for (int i = round; i < COUNT; i += 2)
            expr_destroy(exprs[i]);
    }
    free(exprs);
}

static void test_expr__finds_names_with_a_table(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"lr + width * 2", ""},
        {"train.step", "train.step"},
        {"\"tune-1\".\"best_lr\" + 1", "\"tune-1\".\"best_lr\""},
        {"lr + a.b.c - d . e", "a.b.c"},
        {"lr. step + train.step", "train.step"},
        {"lr.'text' + a.b", "a.b"},
        {"lr.(a.b)", "a.b"},
        {"'a.b' || .5 || 1.5", ""},
        {"lr.'open + a.b", ""},
        {"'open + a.b", ""},
    };
    struct expr_reference found;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;
        bool is_found = expr_find_reference(text, 0, &found);
        const char *expected = strstr(text, cases[i].expected);

        assert_int_equal(is_found, cases[i].expected[0] != '\0');
        if (!is_found)
            continue;
        assert_int_equal(found.offset, expected - text);
        assert_int_equal(found.end - found.offset, strlen(cases[i].expected));
        assert_false(expr_find_reference(text, found.end, &found));
    }
}

static void test_expr__odd_values_pass_through(void **state)
{
    const char *const columns[] = {"x"};
    const struct expr_table table = {.columns = columns, .column_count = 1};
    struct expr *bare = expr_compile(*state, " x ", &table, 1, NULL);
    struct expr *expr = expr_compile(*state, "+x", &table, 1, NULL);
    char *huge = repeat("", "x", 20000, "");
    struct value in, result;
    struct err err;

    in = value_real(INFINITY);
    assert_int_equal(expr_eval(expr, &in, &result, NULL), 0);
    assert_true(isinf(result.real));
    in = value_real(NAN);
    assert_int_equal(expr_eval(expr, &in, &result, NULL), 0);
    assert_int_equal(result.type, VALUE_NULL);
    assert_int_equal(expr_eval(bare, &in, &result, NULL), 0);
    assert_true(isnan(result.real));
    in = value_int(INT64_MIN);
    assert_int_equal(expr_eval(expr, &in, &result, NULL), 0);
    assert_true(result.integer == INT64_MIN);
    in = value_text("'; DROP TABLE x; --");
    assert_int_equal(expr_eval(expr, &in, &result, NULL), 0);
    assert_string_equal(result.text, in.text);
    in = value_text(huge);
    assert_int_equal(expr_eval(expr, &in, &result, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_non_null(strstr(err.text, "too big"));
    assert_int_equal(expr_eval(bare, &in, &result, &err), 0);
    memset(huge, 'y', 20000);
    assert_int_equal(result.text[19999], 'x');
    free(huge);
    expr_destroy(bare);
    expr_destroy(expr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expr__evaluates),
        cmocka_unit_test(test_expr__refuses_what_is_not_an_expression),
        cmocka_unit_test(test_expr__explains_a_mistake_where_it_is),
        cmocka_unit_test(test_expr__length_and_depth_are_bounded),
        cmocka_unit_test(test_expr__large_results_never_come_about),
        cmocka_unit_test(test_expr__one_statement_serves_many_values),
        cmocka_unit_test(test_expr__many_evaluations_are_no_runaway),
        cmocka_unit_test(test_expr__many_expressions_do_not_mix),
        cmocka_unit_test(test_expr__finds_names_with_a_table),
        cmocka_unit_test(test_expr__odd_values_pass_through),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
