/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune init`: copies a template and the schema for editors. All files are
 * checked before the first is written, so that a refusal leaves nothing behind.
 * The schema is an exception: it is always written again, because it belongs to
 * the program and not to the user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/schema.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/commands/init_templates.h"
#include "cli/term/output.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/share.h"

struct init_options {
    const char *template;
    const char *shared; /* a group; NULL: an experiment is wanted */
};

static const struct table_column columns[] = {
    {"file", "written", COLUMN_TEXT, NULL}};

static const char *const template_names[] = {
    "minimal", "python", "sagemaker", "grid", "quickstart", NULL};

static const struct init_template *find_template(const char *name)
{
    const struct init_template *found = init_templates;

    while (found->name != NULL && strcmp(found->name, name) != 0)
        found++;
    return found->name != NULL ? found : NULL;
}

/* The directory's own name, where a run may be called so. */
static char *experiment_name(const char *directory)
{
    char *path = fs_absolute(directory);
    const char *last = strrchr(path, '/');
    char *name = mem_copy_string(
        last != NULL && text_is_name(last + 1) ? last + 1 : "experiment");

    free(path);
    return name;
}

static void fill_in(const char *text, const char *name, struct buf *out)
{
    const char *place;

    while ((place = strstr(text, "@NAME@")) != NULL) {
        buf_add(out, text, (size_t)(place - text));
        buf_add_string(out, name);
        text = place + strlen("@NAME@");
    }
    buf_add_string(out, text);
}

static int refuse_to_overwrite(const struct init_template *chosen,
                               const char *directory, struct err *err)
{
    int result = 0;

    for (int i = 0; i < INIT_FILES_MAX && result == 0; i++) {
        char *path;

        if (chosen->files[i].name == NULL)
            continue;
        path = fs_join(directory, chosen->files[i].name);
        if (fs_exists(path))
            result = err_set(err, ERR_BUSY,
                             "file exists: %s (it was not overwritten)", path);
        free(path);
    }
    return result;
}

static int write_file(const char *directory, const char *name,
                      const struct buf *text, struct output *output,
                      struct err *err)
{
    char *path = fs_join(directory, name);
    struct value cell = value_text(path);
    int result = fs_write_atomic(path, buf_text(text), text->length, 0644, err);

    if (result == 0)
        result = output_row(output, &cell, err);
    free(path);
    return result;
}

/* Editors find it through the first line of each template. */
static int write_schema(const char *directory, struct output *output,
                        struct err *err)
{
    char *store = fs_join(directory, ".smtune");
    struct buf text = BUF_INIT;
    int result = fs_make_directories(store, err);

    schema_print_json(experiment_schema, "smtune experiment", &text);
    if (result == 0)
        result =
            write_file(store, "experiment.schema.json", &text, output, err);
    buf_clear(&text);
    free(store);
    return result;
}

static int write_template(const struct init_template *chosen,
                          const char *directory, struct output *output,
                          struct err *err)
{
    char *name = experiment_name(directory);
    int result = 0;

    for (int i = 0; i < INIT_FILES_MAX && result == 0; i++) {
        struct buf text = BUF_INIT;

        if (chosen->files[i].name == NULL)
            continue;
        fill_in(chosen->files[i].text, name, &text);
        result =
            write_file(directory, chosen->files[i].name, &text, output, err);
        buf_clear(&text);
    }
    free(name);
    return result;
}

static void print_next(const char *directory)
{
    struct buf word = BUF_INIT;

    shell_add_word(directory, &word);
    fputs("\nnext:\n", stderr);
    if (strcmp(directory, ".") != 0)
        fprintf(stderr, "  cd %s\n", buf_text(&word));
    fputs("  smtune validate experiment.yaml  # after each change\n"
          "  smtune plan experiment.yaml      # what would run\n"
          "  smtune run experiment.yaml       # run it\n",
          stderr);
    buf_clear(&word);
}

/* ---- a store that a group shares ---- */

/* Whether --store or SMTUNE_STORE names a folder. */
static bool names_store(const struct cli *cli)
{
    const char *named = getenv("SMTUNE_STORE");

    return cli->store != cli->default_store ||
           (named != NULL && named[0] != '\0');
}

static void print_shared(const char *store, const char *group)
{
    char *path = fs_absolute(store), *barrier = store_find_barrier(path);
    struct buf word = BUF_INIT;

    shell_add_word(path, &word);
    if (barrier != NULL)
        fprintf(stderr,
                "smtune: warning: the group '%s' cannot enter %s (give it the "
                "right: chmod o+x, or an access list)\n",
                group, barrier);
    fprintf(stderr,
            "\nmembers of the group '%s' use this store with one of\n"
            "  export SMTUNE_STORE=%s\n"
            "  smtune run experiment.yaml --store %s\n",
            group, buf_text(&word), buf_text(&word));
    buf_clear(&word);
    free(barrier);
    free(path);
}

static int make_shared(const struct cli *cli, const char *store,
                       const char *group, struct err *err)
{
    struct value cell = value_text(store);
    struct output *output;

    if (store_share(store, group, err) != 0)
        return -1;
    output = output_create(cli, columns, 1);
    if (output_row(output, &cell, err) < 0) {
        output_destroy(output);
        return -1;
    }
    if (output_finish(output, err) < 0)
        return -1;
    if (!cli->quiet)
        print_shared(store, group);
    return 0;
}

static int exec_shared(const struct cli *cli, const struct init_options *given,
                       const char *directory, struct err *err)
{
    char *store;
    int result;

    if (given->template != NULL)
        return err_set(err, ERR_USAGE,
                       "--shared and --template exclude each other");
    if (directory != NULL && cli->store != cli->default_store)
        return err_set(err, ERR_USAGE,
                       "--store names the folder of the shared store: there "
                       "is no DIR besides");
    store = directory == NULL && names_store(cli)
                ? mem_copy_string(cli->store)
                : fs_join(directory != NULL ? directory : ".", ".smtune");
    result = make_shared(cli, store, given->shared, err);
    free(store);
    return result;
}

/* ---- the command ---- */

static int exec_init(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct init_options *given = options;
    const char *directory = count > 0 ? operands[0] : ".";
    const struct init_template *chosen =
        find_template(given->template != NULL ? given->template : "minimal");
    struct output *output;

    if (given->shared != NULL)
        return exec_shared(cli, given, count > 0 ? operands[0] : NULL, err);
    if (refuse_to_overwrite(chosen, directory, err) < 0 ||
        fs_make_directories(directory, err) < 0)
        return -1;
    output = output_create(cli, columns, 1);
    if (write_template(chosen, directory, output, err) < 0 ||
        write_schema(directory, output, err) < 0) {
        output_destroy(output);
        return -1;
    }
    if (output_finish(output, err) < 0)
        return -1;
    if (!cli->quiet)
        print_next(directory);
    return 0;
}

static const struct opt init_opts[] = {
    {.name = "template",
     .letter = 't',
     .type = OPT_CHOICE,
     .offset = offsetof(struct init_options, template),
     .argument = "NAME",
     .doc = "the template (minimal)",
     .choices = template_names},
    {.name = "shared",
     .type = OPT_TEXT,
     .offset = offsetof(struct init_options, shared),
     .argument = "GROUP",
     .doc = "make a store that this group shares, and nothing else"},
    {.name = NULL},
};

const struct cmd cmd_init = {
    .name = "init",
    .operands = "[DIR]",
    .summary = "create an experiment file from a template",
    .details = "Writes experiment.yaml and the files that it needs into "
               "the directory (default: the current one). The experiment "
               "runs without changes. Existing files are never "
               "overwritten. The templates:\n\n"
               "  minimal     two numbers and a formula: the shortest "
               "file that runs\n"
               "  python      a training script with options, in Python\n"
               "  sagemaker   a script written for Amazon SageMaker, "
               "unchanged\n"
               "  grid        every combination of a few values\n"
               "  quickstart  the bundled trainer on Fashion-MNIST\n\n"
               "Editors with a YAML language server complete and check "
               "the file with the schema in .smtune/, which its first "
               "line names.\n\n"
               "A store is for one user. --shared makes one for a group: a "
               "new, empty store in --store, or in .smtune of the directory. "
               "All members of the group can read it, start runs in it, and "
               "remove runs. Only the user of a run can control it. "
               "docs/security.md describes what the group can see.",
    .examples = "smtune init                          # here\n"
                "smtune init digits --template python # in a new directory\n"
                "smtune init --shared ml --store /project/ml/store\n",
    .completes = "dir",
    .opts = init_opts,
    .options_size = sizeof(struct init_options),
    .max_operands = 1,
    .without_config = true,
    .exec = exec_init,
};
