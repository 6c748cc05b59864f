/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The argv of random commands is exactly what the file says: a list of items,
 * of which each has its text and, by rules of its own, the words it comes to.
 * The same items are read as a command, as a list of words and, by a shell, as
 * a script.
 */
#include "base/expr/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"

enum { COMMANDS = 4000, SCRIPTS = 300, ITEMS_MAX = 9 };

static const char *const columns[] = {"p", "q", "r", "s", "t"};
enum { COLUMNS = ARRAY_LEN(columns) };
static const size_t arguments[COLUMNS] = {0, 1, 2, 3, 4};
static const struct expr_table table = {
    .columns = columns,
    .column_count = COLUMNS,
    .arguments = arguments,
    .argument_count = COLUMNS,
};

/* Values, and how a program gets them. */
static const struct {
    struct value value;
    const char *text;
} pool[] = {
    {{.type = VALUE_INT, .integer = 0}, "0"},
    {{.type = VALUE_INT, .integer = -7}, "-7"},
    {{.type = VALUE_REAL, .real = 4}, "4.0"},
    {{.type = VALUE_REAL, .real = 0.25}, "0.25"},
    {{.type = VALUE_REAL, .real = 1e-5}, "1e-05"},
    {{.type = VALUE_BOOL, .boolean = true}, "true"},
    {{.type = VALUE_BOOL, .boolean = false}, "false"},
    {{.type = VALUE_TEXT, .text = "sgd"}, "sgd"},
    {{.type = VALUE_TEXT, .text = "a  b"}, "a  b"},
    {{.type = VALUE_TEXT, .text = ""}, ""},
    {{.type = VALUE_TEXT, .text = "--x"}, "--x"},
    {{.type = VALUE_TEXT, .text = "it's $(x) \"*\" `y` \\"},
     "it's $(x) \"*\" `y` \\"},
    {{.type = VALUE_TEXT, .text = "${{ p }}=1"}, "${{ p }}=1"},
};

static const struct {
    const char *text;
    bool is_option; /* that a value may follow */
} literals[] = {
    {"data", false},  {"--verbose", true}, {"-v", true},   {"--lr=0.1", false},
    {"-1", false},    {"--", false},       {"-", false},   {"key=value", false},
    {"a/b.c", false}, {"--n.m", true},     {"--=", false}, {"-.5", false},
};

struct setting {
    struct value values[COLUMNS];
    const char *texts[COLUMNS]; /* NULL: inactive */
};

/* Words under way, and whether the last is an option without its value. */
struct words {
    char *items[64];
    size_t count;
    bool ends_in_option;
};

static void add(struct words *words, char *taken, bool is_option)
{
    words->items[words->count++] = taken;
    words->ends_in_option = is_option;
}

static void clear(struct words *words)
{
    while (words->count > 0)
        free(words->items[--words->count]);
}

static size_t draw(struct rng *rng, size_t count)
{
    return (size_t)rng_below(rng, count);
}

static void draw_setting(struct rng *rng, struct setting *setting)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        size_t k = draw(rng, ARRAY_LEN(pool));

        setting->values[i] = value_null();
        setting->texts[i] = NULL;
        if (draw(rng, 2) == 0)
            continue;
        setting->values[i] = pool[k].value;
        setting->texts[i] = pool[k].text;
    }
}

/* ---- items ---- */

static char *literal(struct rng *rng, const struct setting *setting,
                     struct words *words)
{
    size_t k = draw(rng, ARRAY_LEN(literals));

    (void)setting;
    add(words, mem_copy_string(literals[k].text), literals[k].is_option);
    return mem_copy_string(literals[k].text);
}

/* ${{ p }}: without a value it takes the option before it along. */
static char *name(struct rng *rng, const struct setting *setting,
                  struct words *words)
{
    size_t i = draw(rng, COLUMNS);

    if (setting->texts[i] != NULL)
        add(words, mem_copy_string(setting->texts[i]), false);
    else if (words->ends_in_option)
        free(words->items[--words->count]);
    words->ends_in_option = false;
    return mem_printf("${{ %s }}", columns[i]);
}

/* A condition takes nothing along. */
static char *condition(struct rng *rng, const struct setting *setting,
                       struct words *words)
{
    size_t i = draw(rng, COLUMNS);
    bool is_flag = draw(rng, 2) == 0;

    if (setting->texts[i] != NULL)
        add(words, mem_copy_string("--on"), false);
    words->ends_in_option = false;
    return mem_printf(is_flag
                          ? "${{ flag('--on', %s is not null) }}"
                          : "${{ case when %s is not null then '--on' end }}",
                      columns[i]);
}

/* --name=${{ p }} and name=${{ p }}. */
static char *assignment(struct rng *rng, const struct setting *setting,
                        struct words *words)
{
    static const char *const keys[] = {"--x", "model.lr", "+k", "-D"};
    const char *key = keys[draw(rng, ARRAY_LEN(keys))];
    size_t i = draw(rng, COLUMNS);

    if (setting->texts[i] != NULL)
        add(words, mem_printf("%s=%s", key, setting->texts[i]), false);
    words->ends_in_option = false;
    return mem_printf("%s=${{ %s }}", key, columns[i]);
}

/* -j${{ p }}, an option with its value in the same word. */
static char *glued(struct rng *rng, const struct setting *setting,
                   struct words *words)
{
    static const char *const options[] = {"-j", "-O"};
    const char *option = options[draw(rng, ARRAY_LEN(options))];
    size_t i = draw(rng, COLUMNS);

    if (setting->texts[i] != NULL)
        add(words, mem_printf("%s%s", option, setting->texts[i]), false);
    words->ends_in_option = false;
    return mem_printf("%s${{ %s }}", option, columns[i]);
}

/* --b=${{ p }},${{ q }}: both or their place. */
static char *pair(struct rng *rng, const struct setting *setting,
                  struct words *words)
{
    size_t i = draw(rng, COLUMNS), k = draw(rng, COLUMNS);
    const char *left = setting->texts[i], *right = setting->texts[k];

    if (left != NULL || right != NULL)
        add(words,
            mem_printf("--b=%s,%s", left != NULL ? left : "",
                       right != NULL ? right : ""),
            false);
    words->ends_in_option = false;
    return mem_printf("--b=${{ %s }},${{ %s }}", columns[i], columns[k]);
}

/* A word that has a text of its own stays. */
static char *mixed(struct rng *rng, const struct setting *setting,
                   struct words *words)
{
    size_t i = draw(rng, COLUMNS);

    add(words,
        mem_printf("run-%s.log",
                   setting->texts[i] != NULL ? setting->texts[i] : ""),
        false);
    return mem_printf("run-${{ %s }}.log", columns[i]);
}

static char *all(struct rng *rng, const struct setting *setting,
                 struct words *words)
{
    bool has_flags = draw(rng, 2) == 0;

    for (size_t i = 0; i < COLUMNS; i++) {
        const struct value *value = &setting->values[i];
        bool is_flag = has_flags && value->type == VALUE_BOOL;

        if (setting->texts[i] == NULL || (is_flag && !value->boolean))
            continue;
        add(words, mem_printf("--%s", columns[i]), false);
        if (!is_flag)
            add(words, mem_copy_string(setting->texts[i]), false);
    }
    words->ends_in_option = false;
    return mem_copy_string(has_flags ? "${{ args(flags) }}" : "${{ args }}");
}

static char *(*const makers[])(struct rng *, const struct setting *,
                               struct words *) = {
    literal,    literal, name, name,  condition,
    assignment, glued,   pair, mixed, all,
};

/* `texts` and the words they come to; both begin with the program. */
static void draw_items(struct rng *rng, const struct setting *setting,
                       const char *program, struct words *texts,
                       struct words *words)
{
    size_t count = draw(rng, ITEMS_MAX);

    add(texts, mem_copy_string(program), false);
    add(words, mem_copy_string(program), false);
    for (size_t i = 0; i < count; i++) {
        char *text = makers[draw(rng, ARRAY_LEN(makers))](rng, setting, words);

        add(texts, text, false);
    }
}

static char *join(const struct words *texts)
{
    static const char *const blanks[] = {" ", "  ", " \\\n  ", "\t"};
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < texts->count; i++)
        buf_printf(&text, "%s%s", i > 0 ? blanks[i % 4] : "", texts->items[i]);
    return buf_take(&text);
}

/* ---- the tests ---- */

static void assert_argv(struct template *template, const char *text,
                        const struct setting *setting,
                        const struct words *expected)
{
    struct err err;
    char **argv;
    size_t count = 0;

    assert_non_null(template);
    argv = template_expand_words(template, setting->values, &err);
    if (argv == NULL)
        fail_msg("%s: %s", text, err.text);
    while (argv[count] != NULL && count < expected->count &&
           strcmp(argv[count], expected->items[count]) == 0)
        count++;
    if (argv[count] != NULL || count < expected->count)
        fail_msg("%s: word %zu is %s, not %s", text, count,
                 argv[count] != NULL ? argv[count] : "missing",
                 count < expected->count ? expected->items[count] : "there");
    words_free(argv);
    template_destroy(template);
}

static void test_argv__is_what_the_file_says(void **state)
{
    struct rng rng;

    rng_init(&rng, 29, 6, 0);
    for (int n = 0; n < COMMANDS; n++) {
        struct words texts = {.count = 0}, words = {.count = 0};
        struct setting setting;
        char *text;

        draw_setting(&rng, &setting);
        draw_items(&rng, &setting, "./train", &texts, &words);
        text = join(&texts);
        assert_argv(
            template_create(*state, text, TEMPLATE_WORDS, &table, 1, NULL),
            text, &setting, &words);
        assert_argv(template_create_words(*state,
                                          (const char *const *)texts.items,
                                          texts.count, &table, 1, NULL),
                    text, &setting, &words);
        free(text);
        clear(&texts);
        clear(&words);
    }
}

/* What sh prints. */
static char *run(const char *script)
{
    struct buf out = BUF_INIT;
    char piece[4096];
    ssize_t length;
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((length = read(ends[0], piece, sizeof(piece))) > 0)
        buf_add(&out, piece, (size_t)length);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return buf_take(&out);
}

static void test_argv__of_a_script_is_what_the_file_says(void **state)
{
    struct rng rng;

    rng_init(&rng, 29, 6, 1);
    for (int n = 0; n < SCRIPTS; n++) {
        struct words texts = {.count = 0}, words = {.count = 0};
        struct buf script = BUF_INIT, expected = BUF_INIT;
        struct template *template;
        struct setting setting;
        char *text, *whole, *printed;

        draw_setting(&rng, &setting);
        draw_items(&rng, &setting, "show", &texts, &words);
        text = join(&texts);
        whole = mem_printf("show() { printf '[%%s]' show \"$@\"; }\nif :; then "
                           "%s; fi",
                           text);
        template =
            template_create(*state, whole, TEMPLATE_SHELL, &table, 1, NULL);
        assert_non_null(template);
        assert_int_equal(
            template_expand(template, setting.values, &script, NULL), 0);
        for (size_t i = 0; i < words.count; i++)
            buf_printf(&expected, "[%s]", words.items[i]);
        printed = run(buf_text(&script));
        if (strcmp(printed, buf_text(&expected)) != 0)
            fail_msg("%s: %s: %s, not %s", text, buf_text(&script), printed,
                     buf_text(&expected));
        free(printed);
        free(whole);
        free(text);
        buf_clear(&script);
        buf_clear(&expected);
        template_destroy(template);
        clear(&texts);
        clear(&words);
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_argv__is_what_the_file_says),
        cmocka_unit_test(test_argv__of_a_script_is_what_the_file_says),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
