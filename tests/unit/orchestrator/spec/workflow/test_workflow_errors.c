/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/workflow/workflow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tests/unit/folder.h"

/* The cases of tests/golden/workflow_errors.txt. */

static const char cases_path[] = "tests/golden/workflow_errors.txt";

/* Files that cases have as steps. */
static const struct {
    const char *name, *text;
} files[] = {
    {"tune.yaml", "version: 1\nobjective: loss\nparameters:\n"
                  "  lr: {type: float, min: 0.1, max: 1}\n  epochs: 3\n"
                  "trial: {command: ./train}\n"},
    {"wrong.yaml", "version: 1\nobjective: loss\nparameters: {lr: 1}\n"
                   "trial: {comand: ./train}\n"},
    {"below.yaml", "version: 1\nparams: {size: 1}\n"
                   "steps: {a: {command: x, outputs: {m: m.bin}}}\n"
                   "outputs: {model: a.m}\n"},
    {"pooled.yaml", "version: 1\nobjective: loss\nparameters:\n"
                    "  lr: {type: float, min: 0.1, max: 1}\n"
                    "trial: {command: ./train, pools: {gpu: 2}}\n"},
    {"pooled-below.yaml", "version: 1\npools: {disk: 1}\n"
                          "steps:\n  a: {experiment: pooled.yaml}\n"
                          "  b: {command: x, pool: disk}\n"},
    {"pooled-gpu.yaml", "version: 1\npools: {gpu: 2, disk: 1}\nsteps:\n"
                        "  a: {experiment: pooled.yaml, pool: disk}\n"},
    {"pooled-disk.yaml", "version: 1\npools: {gpu: 2, disk: 1}\nsteps:\n"
                         "  b: {workflow: pooled-one.yaml, pool: gpu}\n"},
    {"pooled-one.yaml", "version: 1\npools: {disk: 1}\n"
                        "steps: {c: {command: x, pool: disk}}\n"},
    {"pooled-net.yaml", "version: 1\npools: {net: 1}\n"
                        "steps: {d: {command: x, pool: net}}\n"},
    {"pooled-twice.yaml", "version: 1\npools: {gpu: 2, disk: 2}\nsteps:\n"
                          "  a: {experiment: pooled.yaml, pool: disk}\n"
                          "  b: {experiment: pooled.yaml, pool: disk}\n"
                          "  c: {command: x, pools: {disk: 2}}\n"
                          "  d: {command: x, pool: disk}\n"},
    {"list.yaml", "[steps]\n"},
    {"circle.yaml", "version: 1\nsteps: {a: {workflow: main.yaml}}\n"},
    {"main.yaml", "version: 1\nsteps: {a: {workflow: circle.yaml}}\n"},
};

static void write_files(const char *folder)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        put(folder, ".", files[i].name, files[i].text);
    for (int i = 1; i < 10; i++) {
        char *name = mem_printf("deep-%d.yaml", i);
        char *text = mem_printf(
            "version: 1\nsteps: {a: {workflow: deep-%d.yaml}}\n", i + 1);

        put(folder, ".", name, text);
        free(name);
        free(text);
    }
}

/* Appends what is said, without the folder's name. */
static void add_messages(struct diags *diags, const char *folder,
                         struct buf *out)
{
    for (size_t i = 0; i < diags_count(diags) && i < DIAG_MAX; i++) {
        const struct diag *diag = diags_get(diags, i);
        char *text = mem_copy_string(diag->text);
        char *at = strstr(text, folder);

        if (at != NULL)
            memmove(at, at + strlen(folder) + 1,
                    strlen(at + strlen(folder) + 1) + 1);
        buf_printf(out, "=> %d:%d: %s", diag->place.line, diag->place.column,
                   text);
        if (diag->help != NULL)
            buf_printf(out, " [%s]", diag->help);
        buf_add_char(out, '\n');
        free(text);
    }
}

static struct workflow *parse(const char *body, const char *folder,
                              struct diags *diags)
{
    char *text = mem_printf("version: 1\n%s", body);
    char *path = fs_join(folder, "main.yaml");
    const struct experiment_source source = {
        .text = text, .length = strlen(text), .path = path};
    struct err err = {0};
    struct workflow *workflow = workflow_parse(&source, diags, &err);

    assert_string_equal(err.text, "");
    free(path);
    free(text);
    return workflow;
}

static void parse_case(const char *body, const char *folder, struct buf *out)
{
    struct diags *diags = diags_create("main.yaml");

    if (parse(body, folder, diags) != NULL)
        fail_msg("nothing is wrong in:\n%s", body);
    assert_true(diags_count(diags) > 0);
    add_messages(diags, folder, out);
    diags_destroy(diags);
}

/* The next case's end; behind the last the text's. */
static char *case_end(char *at)
{
    char *end = strstr(at, "\n%% ");

    return end != NULL ? end + 1 : at + strlen(at);
}

/* Runs the case at `at`, which ends there, and appends it as it is now. */
static void run_case(const char *at, const char *folder, struct buf *out)
{
    const char *body = strchr(at, '\n') + 1;
    const char *expected = strstr(body, "\n=> ");
    size_t length =
        expected != NULL ? (size_t)(expected + 1 - body) : strlen(body);
    char *text;

    while (length > 1 && body[length - 1] == '\n' && body[length - 2] == '\n')
        length--;
    text = mem_copy_bytes(body, length);
    buf_add(out, at, (size_t)(body - at));
    buf_add_string(out, text);
    parse_case(text, folder, out);
    buf_add_char(out, '\n');
    free(text);
}

static void test_workflow_errors__are_as_recorded(void **state)
{
    const char *folder = *state;
    struct buf recorded = BUF_INIT, found = BUF_INIT;
    size_t count = 0;
    char *at;

    write_files(folder);
    assert_int_equal(fs_read(cases_path, 1 << 20, &recorded, NULL), 0);
    at = case_end(recorded.data);
    buf_add(&found, recorded.data, (size_t)(at - recorded.data));
    for (; *at != '\0'; count++) {
        char *end = case_end(at);
        char *one = mem_copy_bytes(at, (size_t)(end - at));

        run_case(one, folder, &found);
        free(one);
        at = end;
    }
    buf_truncate(&found, found.length - 1);
    if (getenv("UPDATE") != NULL)
        assert_int_equal(
            fs_write_atomic(cases_path, found.data, found.length, 0644, NULL),
            0);
    else
        assert_string_equal(buf_text(&found), buf_text(&recorded));
    assert_true(count >= 100);
    buf_clear(&found);
    buf_clear(&recorded);
}

/* Takes the body. What is said of it, and how often. */
static char *messages_of(struct buf *body, const char *folder, size_t *count)
{
    struct diags *diags = diags_create("main.yaml");
    struct buf messages = BUF_INIT;

    assert_null(parse(buf_text(body), folder, diags));
    add_messages(diags, folder, &messages);
    *count = diags_count(diags);
    buf_clear(body);
    diags_destroy(diags);
    return buf_take(&messages);
}

static void test_workflow_errors__names_of_many_are_counted(void **state)
{
    struct buf body = BUF_INIT;
    size_t count;
    char *messages;

    buf_add_string(&body, "steps:\n  a: {command: x, needs: [n0");
    for (int i = 1; i < 3 * DIAG_MAX; i++)
        buf_printf(&body, ", n%d", i);
    buf_add_string(&body, "]}\n");
    messages = messages_of(&body, *state, &count);
    assert_int_equal(count, 3 * DIAG_MAX);
    assert_non_null(strstr(messages, "unknown step 'n0' [only: a]"));
    free(messages);
}

/* What is behind a step is looked for near it, and kept of some where that is
 * too far: these are more. */
static void test_workflow_errors__what_is_far_behind_is_behind(void **state)
{
    enum { CHAIN = 400, READERS = 40 };
    struct buf body = BUF_INIT;
    size_t count;
    char *messages;

    buf_add_string(&body, "steps:\n  q: {command: x}\n  s0: {command: x}\n"
                          "  s1: {command: x, needs: s0}\n");
    for (int i = 2; i < CHAIN; i++)
        buf_printf(&body, "  s%d: {command: x, needs: [s%d, s%d]}\n", i, i - 1,
                   i - 2);
    for (int i = 0; i < READERS; i++)
        buf_printf(
            &body,
            "  r%d: {command: x, needs: s%d, if: s%d.failed = s0.failed}\n", i,
            CHAIN - 1, i);
    buf_printf(&body, "  u: {command: x, needs: s%d, if: q.failed > 0}\n",
               CHAIN - 1);
    messages = messages_of(&body, *state, &count);
    assert_int_equal(count, 1);
    assert_non_null(strstr(messages, "'q' is not a step that 'u' needs"));
    free(messages);
}

/* A parameter that is set beside the file, and a file that is no map. */
static void test_workflow_errors__of_what_is_no_part_of_the_file(void **state)
{
    static const char text[] = "version: 1\nparams: {epochs: 1}\n"
                               "steps: {a: {command: x}}\n";
    static const char *const assignments[] = {"params.epoch=3"};
    const struct experiment_source set = {.text = text,
                                          .length = strlen(text),
                                          .path = "main.yaml",
                                          .assignments = assignments,
                                          .assignment_count = 1};
    const struct experiment_source list = {
        .text = "[1]", .length = 3, .path = "main.yaml"};
    struct diags *diags = diags_create("main.yaml");

    (void)state;
    assert_null(workflow_parse(&set, diags, NULL));
    assert_string_equal(diags_get(diags, 0)->text, "unknown parameter 'epoch'");
    assert_string_equal(diags_get(diags, 0)->help, "did you mean 'epochs'?");
    diags_destroy(diags);
    diags = diags_create("main.yaml");
    assert_null(workflow_parse(&list, diags, NULL));
    assert_int_equal(diags_count(diags), 1);
    diags_destroy(diags);
}

/* They can never wait for each other: one runs when the other is over. */
static void test_workflow_errors__pools_of_steps_that_are_apart(void **state)
{
    static const char *const rights[] = {
        "pools: {gpu: 2, disk: 1}\nsteps:\n"
        "  a: {workflow: pooled-gpu.yaml}\n"
        "  b: {workflow: pooled-disk.yaml, needs: a}\n",
        "pools: {gpu: 2, disk: 1}\nsteps:\n"
        "  b: {workflow: pooled-disk.yaml, needs: c}\n"
        "  c: {command: x, needs: a, pool: gpu}\n"
        "  a: {workflow: pooled-gpu.yaml}\n",
        "pools: {gpu: 2, disk: 1}\nsteps:\n"
        "  a: {workflow: pooled-gpu.yaml}\n"
        "always:\n  b: {workflow: pooled-disk.yaml}\n",
        /* the order in which they are taken is the same twice */
        "pools: {gpu: 2, disk: 2}\nsteps:\n"
        "  a: {workflow: pooled-twice.yaml}\n"
        "  b: {workflow: pooled-twice.yaml, needs: a}\n",
        /* of three one is apart from another */
        "pools: {gpu: 2, disk: 1, net: 1}\nsteps:\n"
        "  a: {experiment: pooled.yaml, pool: disk}\n"
        "  b: {workflow: pooled-one.yaml, pool: net, needs: a}\n"
        "  c: {workflow: pooled-net.yaml, pool: gpu}\n",
    };

    write_files(*state);
    for (size_t i = 0; i < ARRAY_LEN(rights); i++) {
        struct diags *diags = diags_create("main.yaml");
        struct workflow *workflow = parse(rights[i], *state, diags);

        if (workflow == NULL)
            fail_msg("%s\n%s", rights[i], diags_get(diags, 0)->text);
        workflow_destroy(workflow);
        diags_destroy(diags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_workflow_errors__are_as_recorded,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            test_workflow_errors__names_of_many_are_counted, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(
            test_workflow_errors__what_is_far_behind_is_behind, make_folder,
            remove_folder),
        cmocka_unit_test(test_workflow_errors__of_what_is_no_part_of_the_file),
        cmocka_unit_test_setup_teardown(
            test_workflow_errors__pools_of_steps_that_are_apart, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
