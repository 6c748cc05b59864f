/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/mask_file.h"

#include "base/conf/schema.h"
#include "tests/unit/base/conf/conf_test.h"

/* Like the files of smtune, and smaller. */

static const struct schema_key scalar_element = {.name = "value",
                                                 .type = SCHEMA_SCALAR};

static const struct schema_key step_keys[] = {
    {.name = "command", .type = SCHEMA_TEXT},
    {.name = "env",
     .type = SCHEMA_MAP,
     .element = &scalar_element,
     .secrecy = SECRECY_SECRET},
    {.name = "set", .type = SCHEMA_ANY_MAP},
    {.name = "if", .type = SCHEMA_TEXT, .secrecy = SECRECY_OPEN},
    {.name = "parallel", .type = SCHEMA_INT},
    {.name = NULL},
};

static const struct schema_key step_element = {
    .name = "step", .type = SCHEMA_MAP, .keys = step_keys};

static const struct schema_key receiver_keys[] = {
    {.name = "url", .type = SCHEMA_TEXT, .secrecy = SECRECY_SECRET},
    {.name = "secret_env", .type = SCHEMA_TEXT},
    {.name = NULL},
};

static const struct schema_key receiver = {.name = "receiver",
                                           .type = SCHEMA_MAP,
                                           .keys = receiver_keys,
                                           .shorthand = "url"};

static const struct schema_key keys[] = {
    {.name = "name", .type = SCHEMA_TEXT},
    {.name = "params", .type = SCHEMA_MAP, .element = &scalar_element},
    {.name = "parameters",
     .type = SCHEMA_MAP,
     .element = &scalar_element,
     .secrecy = SECRECY_OPEN},
    {.name = "trial", .type = SCHEMA_MAP, .keys = step_keys},
    {.name = "steps",
     .type = SCHEMA_MAP | SCHEMA_ANY_LIST,
     .element = &step_element},
    {.name = "notify",
     .type = SCHEMA_LIST | SCHEMA_MAP,
     .keys = receiver_keys,
     .element = &receiver,
     .shorthand = "url"},
    {.name = NULL},
};

struct masked {
    const char *text, *shown;
    size_t count;
};

static void check(const struct masked *expected)
{
    struct buf out = BUF_INIT;
    size_t count =
        conf_mask(keys, expected->text, strlen(expected->text), &out);

    assert_string_equal(buf_text(&out), expected->shown);
    assert_int_equal(count, expected->count);
    buf_clear(&out);
}

/* What comes of a file is a file, with the same lines. */
static void check_file(const struct masked *expected)
{
    size_t lines = 0;

    check(expected);
    conf_destroy(parse(expected->text));
    conf_destroy(parse(expected->shown));
    for (const char *at = expected->text; *at != '\0'; at++)
        lines += *at == '\n';
    for (const char *at = expected->shown; *at != '\0'; at++)
        lines -= *at == '\n';
    assert_int_equal(lines, 0);
}

static const struct masked files[] = {
    {"name: a\n", "name: a\n", 0},
    {"trial:\n  env:\n    A: swordfish # why\n    B: 8080\n",
     "trial:\n  env:\n    A: \"***\" # why\n    B: \"***\"\n", 2},
    {"trial: {env: {A: b, C: 'd e', E: \"f\"}}",
     "trial: {env: {A: \"***\", C: '***', E: \"***\"}}", 3},
    {"{\"trial\": {\"env\": {\"A\": \"b\"}}}",
     "{\"trial\": {\"env\": {\"A\": \"***\"}}}", 1},
    {"trial:\n  env:\n    A: ~\n    B:\n    C: null\n",
     "trial:\n  env:\n    A: ~\n    B:\n    C: null\n", 0},
    {"trial:\n  env:\n    A: |\n      one\n\n      two\n    B: >-\n      "
     "three\n",
     "trial:\n  env:\n    A: |\n      ***\n\n      ***\n    B: >-\n      ***\n",
     2},
    {"trial:\n  env:\n    A: one\n      two\n    B: \"three\n\n      four\"\n",
     "trial:\n  env:\n    A: \"***\n      ***\"\n    B: \"***\n\n      ***\"\n",
     2},
    {"trial:\n  env:\n    A: ${{ lr }}\n    B: a${{ lr }}b\n    C: ${{ 'x' "
     "}}\n",
     "trial:\n  env:\n    A: ${{ lr }}\n    B: \"***${{ lr }}***\"\n"
     "    C: \"***\"\n",
     2},
    {"trial:\r\n  env:\r\n    A: b\r\n  command: c\r\n",
     "trial:\r\n  env:\r\n    A: \"***\"\r\n  command: c\r\n", 1},
    {"trial:\n  env: {\xc3\xa9t\xc3\xa9: \xe2\x82\xac\xe2\x82\xac, A: b}\n",
     "trial:\n  env: {\xc3\xa9t\xc3\xa9: \"***\", A: \"***\"}\n", 2},
    {"trial:\n  env: {A: &a !!str b, C: *a}\n",
     "trial:\n  env: {A: &a !!str \"***\", C: *a}\n", 1},
    {"name: &n swordfish\ntrial:\n  env: {A: *n}\n",
     "name: &n \"***\"\ntrial:\n  env: {A: *n}\n", 1},
    {"steps:\n  a:\n    env: {A: b}\n  token: {command: c}\n",
     "steps:\n  a:\n    env: {A: \"***\"}\n  token: {command: c}\n", 1},
    {"steps:\n- a: {env: {A: b}}\n- parallel:\n  - {name: c, if: key=d, "
     "env: {D: e}}\n",
     "steps:\n- a: {env: {A: \"***\"}}\n- parallel:\n"
     "  - {name: c, if: key=d, env: {D: \"***\"}}\n",
     2},
    {"notify: https://hooks.example.org/T0/B0\n", "notify: https://***\n", 1},
    {"notify: [\"http://a.b/c\"]\n", "notify: [\"http://***\"]\n", 1},
    {"notify:\n- {url: 'https://a.b/c', secret_env: HOOK_SECRET}\n",
     "notify:\n- {url: 'https://***', secret_env: HOOK_SECRET}\n", 1},
    {"params: {api_key: swordfish, max_tokens: many, key: 3}\n",
     "params: {api_key: \"***\", max_tokens: many, key: 3}\n", 1},
    {"parameters: {api_key: swordfish, env: {a: b}}\n",
     "parameters: {api_key: swordfish, env: {a: b}}\n", 0},
    {"trial:\n  set: {a: {api_key: [b, c]}, model.token: d, lr: e}\n",
     "trial:\n  set: {a: {api_key: [\"***\", \"***\"]}, model.token: \"***\", "
     "lr: e}\n",
     3},
    {"trial:\n  set: {trial.env.A: b, notify: c}\n",
     "trial:\n  set: {trial.env.A: \"***\", notify: \"***\"}\n", 2},
    {"trial:\n  command: a --api-key b --lr ${{ lr }}\n",
     "trial:\n  command: a --api-key *** --lr ${{ lr }}\n", 1},
    {"trial:\n  command: 'export A_TOKEN=''b''; c''d'\n",
     "trial:\n  command: 'export A_TOKEN=''***''; c''d'\n", 1},
    {"trial:\n  command: |\n    export A_TOKEN=b\n    c\n",
     "trial:\n  command: |\n    export A_TOKEN=***\n    c\n", 1},
    {"trial:\n  command: hf_abcdefghij0123456789 a\n",
     "trial:\n  command: \"***\"\n", 1},
    {"trial:\n  command: a swordfish\n  env: {A_TOKEN: swordfish}\n",
     "trial:\n  command: a <A_TOKEN>\n  env: {A_TOKEN: \"***\"}\n", 2},
    {"trial:\n  command: \"a token='b c\"\n",
     "trial:\n  command: \"a token='***\"\n", 1},
    {"trial:\n  command: \"set -e\\nTOKEN=b\\n c\\t\"\n",
     "trial:\n  command: \"set -e\\nTOKEN=*** c\\t\"\n", 1},
    {"trial:\n  command: [a, --api-key, b, --lr, c, --token, --key, d]\n",
     "trial:\n  command: [a, --api-key, \"***\", --lr, c, --token, --key, "
     "\"***\"]\n",
     2},
    {"name: &n b\ntrial:\n  command: [--token, *n]\n",
     "name: &n \"***\"\ntrial:\n  command: [--token, *n]\n", 1},
    {"# swordfish\ntrial:\n  env:\n    A_TOKEN: |\n      swordfish\n"
     "  command: a swordfish\n",
     "# <A_TOKEN>\ntrial:\n  env:\n    A_TOKEN: |\n      ***\n"
     "  command: a <A_TOKEN>\n",
     2},
    {"name: &swordfish a\ntrial:\n  env: {A_TOKEN: swordfish}\n"
     "  command: *swordfish\n",
     "name: &swordfish a\ntrial:\n  env: {A_TOKEN: \"***\"}\n"
     "  command: *swordfish\n",
     1},
    {"name: local\ntrial: {env: {A_TOKEN: local}}\n",
     "name: local\ntrial: {env: {A_TOKEN: \"***\"}}\n", 1},
    {"name: \"\\ud83d\\ude00\"\ntrial: {env: {A: b, C: "
     "\"\\ud83d\\ude00\"}}\n",
     "name: \"\\ud83d\\ude00\"\ntrial: {env: {A: \"***\", C: "
     "\"***\"}}\n",
     2},
    {"trial:\n  set: {trial.env: {A: b}, env: c}\n",
     "trial:\n  set: {trial.env: {A: \"***\"}, env: c}\n", 1},
    {"params: {api_key: !!str 12345, db_password: 12345}\n",
     "params: {api_key: !!str \"***\", db_password: 12345}\n", 1},
    {"# A_TOKEN: b\nname: a # hf_abcdefghij0123456789\n",
     "# A_TOKEN: ***\nname: a # ***\n", 0},
    {"\xef\xbb\xbftrial: {env: {A: b}}\n",
     "\xef\xbb\xbftrial: {env: {A: \"***\"}}\n", 1},
};

static void test_mask_file__files(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        check_file(&files[i]);
}

/* What is no YAML is masked by lines. */
static const struct masked broken[] = {
    {"trial:\n  env:\n    A: b\n    - c\n  d: [\n",
     "trial:\n  env:\n    A: ***\n    - ***\n  d: [\n", 2},
    {"trial: {env: {A: b}, command: c\n", "trial: {env: ***\n", 1},
    {"A_TOKEN: |\n  b\nname: 'x\n", "A_TOKEN: ***\n  ***\nname: 'x\n", 2},
    {"notify:\n  - https://a.b/c\n\n  - d\nx: ]\n",
     "notify:\n  - ***\n\n  - ***\nx: ]\n", 2},
    {"a --token b: ]: [", "a --token *** ]: [", 1},
    {"env: a\rb", "env: ***", 1},
    {"", "", 0},
};

static void test_mask_file__broken(void **state)
{
    struct buf deep = BUF_INIT, out = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        check(&broken[i]);
    repeat(&deep, "[", 2 * CONF_MAX_DEPTH);
    buf_add_string(&deep, "A_TOKEN: b");
    repeat(&deep, "]", 2 * CONF_MAX_DEPTH);
    conf_mask(keys, buf_text(&deep), deep.length, &out);
    assert_null(strstr(buf_text(&out), ": b"));
    buf_clear(&out);
    buf_clear(&deep);
}

static const struct masked assignments[] = {
    {"name=a", "name=a", 0},
    {"trial.env.A=b c", "trial.env.A=\"***\"", 1},
    {"trial.env={A: b}", "trial.env={A: \"***\"}", 1},
    {"trial={command: c, env: {A: b}}", "trial={command: c, env: {A: \"***\"}}",
     1},
    {"steps.a.env.A=1", "steps.a.env.A=\"***\"", 1},
    {"notify=https://a.b/c", "notify=https://***", 1},
    {"notify=[{\"url\": \"https://a.b/c\"}]",
     "notify=[{\"url\": \"https://***\"}]", 1},
    {"params.api_key=b", "params.api_key=\"***\"", 1},
    {"params.lr=b", "params.lr=b", 0},
    {"trial.command=a --token b", "trial.command=a --token ***", 1},
    {"trial.env.A=", "trial.env.A=", 0},
    {"trial.env.A=[b", "trial.env.A=***", 1},
    {"trial.env.A=\"\\ud83d\\ude00 b\"", "trial.env.A=\"***\"", 1},
    {"trial.env.A=b=c", "trial.env.A=\"***\"", 1},
    {"params.env=b", "params.env=b", 0},
    {"token: a", "token: ***", 0},
};

static void test_mask_file__assignments(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(assignments); i++) {
        struct buf out = BUF_INIT;
        size_t count = conf_mask_assignment(keys, assignments[i].text, &out);

        assert_string_equal(buf_text(&out), assignments[i].shown);
        assert_int_equal(count, assignments[i].count);
        buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask_file__files),
        cmocka_unit_test(test_mask_file__broken),
        cmocka_unit_test(test_mask_file__assignments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
