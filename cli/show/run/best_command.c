/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command of the best trial, to run it again. It gets a folder of its own,
 * in the current one: in the trial's checkpoints it would find that there is
 * nothing left to do, and in the trial's folder it would overwrite results.
 */
#include "cli/show/run/best_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/word_list.h"
#include "cli/term/output.h"
#include "orchestrator/job/trial_files.h"
#include "orchestrator/job/workspace.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/run_version.h"
#include "orchestrator/search/search.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/experiment/job_spec_build.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/wrap/command_line.h"
#include "store/store.h"

struct printing {
    const struct cli *cli;
    const struct run_view *view;
    const struct experiment *experiment;
    const struct mask *mask; /* NULL: secrets are shown */
    bool is_masked;          /* something was */
    struct err *err;
};

/* A trial's command, and what comes before it. */
struct by_hand {
    int64_t trial;
    char *folder, *checkpoints;         /* its own, absolute */
    char *run;                          /* the run's in the store */
    char *old_folder, *old_checkpoints; /* the trial's, there */
    const char *separator;
    struct value *values;     /* of the columns, with its own folder */
    struct value *old_values; /* with the trial's, as the trial had them */
    struct word_list variables;
    struct buf command;
};

/* The caller's to free. */
static char *show(struct printing *printing, const char *text)
{
    char *shown = mask_show(printing->mask, text);

    printing->is_masked |= strcmp(shown, text) != 0;
    return shown;
}

/* The point as the search had it; the caller's to free. NULL with an error. */
static struct value *read_point(const struct printing *printing,
                                const struct trial_row *trial)
{
    const struct experiment *experiment = printing->experiment;
    struct value *point =
        mem_array(search_space_count(experiment), sizeof(*point));

    if (search_point(experiment->space, trial, point, printing->err) == 0)
        return point;
    free(point);
    return NULL;
}

/* RUN-TRIAL in the current folder, or the first of RUN-TRIAL-2, -3, ... that
 * does not exist; absolute, and the caller's to free. */
static char *find_folder(const char *run, int64_t trial)
{
    char *name = mem_printf("%s-%" PRId64, run, trial);

    for (int i = 2; fs_exists(name); i++) {
        free(name);
        name = mem_printf("%s-%" PRId64 "-%d", run, trial, i);
    }
    return name;
}

/* Whether the file reads a variable that smtune sets in a trial. */
static bool mentions(const struct job_spec *task, const char *variable)
{
    if (strstr(template_source(task->command), variable) != NULL)
        return true;
    for (size_t i = 0; i < task->setup_count; i++)
        if (strstr(task->setup[i], variable) != NULL)
            return true;
    return false;
}

static bool uses_folders(const struct experiment *experiment)
{
    size_t count = search_space_count(experiment);

    return job_spec_uses(&experiment->task, count + EXTRA_DIR) ||
           job_spec_uses(&experiment->task, count + EXTRA_CHECKPOINT_DIR) ||
           experiment->task.has_checkpoints ||
           command_line_is_wrapped(&experiment->task) ||
           mentions(&experiment->task, "SMTUNE_DIR") ||
           mentions(&experiment->task, "SMTUNE_PARAMS") ||
           mentions(&experiment->task, "SMTUNE_CHECKPOINT_DIR");
}

/* Takes both paths. */
static void print_words(const char *program, char *first, char *second,
                        const char *separator)
{
    struct buf text = BUF_INIT;

    shell_add_word(first, &text);
    if (second != NULL) {
        buf_add_char(&text, ' ');
        shell_add_word(second, &text);
    }
    printf("%s %s%s", program, buf_text(&text), separator);
    buf_clear(&text);
    free(first);
    free(second);
}

/* The variables that smtune sets in a trial, if the command needs them, as
 * NAME=VALUE. */
static void collect_variables(const struct experiment *experiment,
                              const char *folder, struct word_list *list)
{
    const struct job_spec *task = &experiment->task;
    size_t count = search_space_count(experiment);
    bool is_told = job_spec_uses(task, count + EXTRA_CHECKPOINT_DIR);

    if (mentions(task, "SMTUNE_DIR"))
        word_list_add(list, mem_printf("SMTUNE_DIR=%s", folder));
    if (mentions(task, "SMTUNE_CHECKPOINT_DIR") ||
        (task->has_checkpoints && !is_told))
        word_list_add(
            list, mem_printf("SMTUNE_CHECKPOINT_DIR=%s/checkpoints", folder));
    if (mentions(task, "SMTUNE_PARAMS"))
        word_list_add(list, mem_printf("SMTUNE_PARAMS=%s/params.json", folder));
}

static void print_variable(const char *variable, const char *separator)
{
    struct buf text = BUF_INIT;
    const char *value = strchr(variable, '=') + 1;

    shell_add_word(value, &text);
    printf("export %.*s%s%s", (int)(value - variable), variable,
           buf_text(&text), separator);
    buf_clear(&text);
}

/* The file of SMTUNE_PARAMS; takes its path. */
static void print_params(const struct printing *printing,
                         const struct value *point, char *path,
                         const char *separator)
{
    json_t *params = setting_json(printing->experiment->space, point);
    struct buf json = BUF_INIT, words = BUF_INIT;

    json_show(params, &json);
    shell_add_word(buf_text(&json), &words);
    buf_add_string(&words, " >");
    shell_add_word(path, &words);
    printf("printf '%%s\\n' %s%s", buf_text(&words), separator);
    buf_clear(&words);
    buf_clear(&json);
    json_decref(params);
    free(path);
}

static void print_text(struct printing *printing, const char *text,
                       const char *path, const char *separator)
{
    struct buf words = BUF_INIT;
    char *shown = show(printing, text);

    shell_add_word(shown, &words);
    buf_add_string(&words, " >");
    shell_add_word(path, &words);
    printf("printf %%s %s%s", buf_text(&words), separator);
    free(shown);
    buf_clear(&words);
}

/* Whether the trial's file does not have that text: it names its folders. */
static bool is_other(const char *path, const struct buf *text)
{
    struct buf own = BUF_INIT;
    bool is_other = fs_read(path, CONF_MAX_BYTES, &own, NULL) == 0 &&
                    (own.length != text->length ||
                     memcmp(buf_text(&own), buf_text(text), own.length) != 0);

    buf_clear(&own);
    return is_other;
}

/* Whether the template of a file does not make what the trial had: it was
 * edited since. */
static bool has_changed(const struct job_spec *task, size_t index,
                        const struct by_hand *by_hand, const char *path)
{
    struct trial_file file;
    struct err err;
    bool result;

    if (task->files[index].from == NULL)
        return false;
    result =
        trial_files_make(task, index, by_hand->old_values, &file, &err) == 0 &&
        is_other(path, &file.text);
    trial_file_clear(&file);
    return result;
}

/* A file of the trial, to the same place in the folder: with the new folders,
 * if it names any, but else as the trial had it. */
static void print_file(struct printing *printing, size_t index,
                       const struct by_hand *by_hand,
                       const struct trial_file *file, bool is_made)
{
    const char *name = buf_text(&file->name);
    const char *slash = strrchr(name, '/');
    char *from = fs_join(by_hand->old_folder, name);
    char *to = fs_join(by_hand->folder, name);
    bool is_new = is_made && is_other(from, &file->text);
    char *inner;

    if (is_new &&
        has_changed(&printing->experiment->task, index, by_hand, from)) {
        fprintf(stderr,
                "smtune: '%s' of trial %" PRId64 " is not what '%s' makes now: "
                "it is copied, and may name the folders of the trial\n",
                name, by_hand->trial,
                printing->experiment->task.files[index].from);
        is_new = false;
    }
    if (slash != NULL) {
        inner = mem_copy_bytes(name, (size_t)(slash - name));
        print_words("mkdir -p", fs_join(by_hand->folder, inner), NULL,
                    by_hand->separator);
        free(inner);
    }
    if (is_new)
        print_text(printing, buf_text(&file->text), to, by_hand->separator);
    else
        print_words("cp", mem_copy_string(from), mem_copy_string(to),
                    by_hand->separator);
    free(from);
    free(to);
}

/* Those that have names in the folder. */
static void print_files(struct printing *printing,
                        const struct by_hand *by_hand)
{
    const struct job_spec *task = &printing->experiment->task;

    for (size_t i = 0; i < task->file_count; i++) {
        struct trial_file file;
        struct err err;
        bool is_made =
            trial_files_make(task, i, by_hand->values, &file, &err) == 0;

        if (file.name.length > 0 && *buf_text(&file.name) != '/')
            print_file(printing, i, by_hand, &file, is_made);
        trial_file_clear(&file);
    }
}

/* With the folders, files and variables that the command expects. */
static void print(struct printing *printing, const struct value *point,
                  const struct by_hand *by_hand)
{
    const struct job_spec *task = &printing->experiment->task;
    const char *folder = by_hand->folder;
    char *command = show(printing, buf_text(&by_hand->command));

    if (uses_folders(printing->experiment)) {
        print_words("mkdir -p", mem_copy_string(by_hand->checkpoints), NULL,
                    by_hand->separator);
        print_files(printing, by_hand);
    }
    if (mentions(task, "SMTUNE_PARAMS"))
        print_params(printing, point, fs_join(folder, "params.json"),
                     by_hand->separator);
    for (size_t i = 0; i < by_hand->variables.count; i++)
        print_variable(by_hand->variables.items[i], by_hand->separator);
    printf("%s\n", command);
    free(command);
}

static int expand(const struct printing *printing,
                  const struct trial_row *trial, const struct value *point,
                  struct by_hand *by_hand)
{
    char *const none[] = {NULL};
    const struct run_view *view = printing->view;
    const struct command_by_hand surroundings = {
        .run_directory = by_hand->run,
        .work_directory = view->row.work_directory,
        .variables =
            by_hand->variables.count > 0 ? by_hand->variables.items : none,
    };
    const struct schedule *schedule = &printing->experiment->schedule;
    struct command_line line = {
        .experiment = printing->experiment,
        .run = view->row.name,
        .trial = trial->number,
        .point = point,
        .directory = by_hand->old_folder,
        .checkpoint_directory = by_hand->old_checkpoints,
        .resource =
            schedule->is_on ? (uint64_t)trial->resource : schedule->options.max,
    };

    by_hand->old_values = command_line_values(&line);
    line.directory = by_hand->folder;
    line.checkpoint_directory = by_hand->checkpoints;
    line.resource = schedule->options.max;
    line.by_hand = &surroundings;
    by_hand->values = command_line_values(&line);
    return command_line_print(&line, &by_hand->command, printing->err);
}

static int print_by_hand(struct printing *printing,
                         const struct trial_row *trial)
{
    const struct run_view *view = printing->view;
    const struct job_spec *task = &printing->experiment->task;
    char *name = find_folder(view->row.name, trial->number);
    struct by_hand by_hand = {
        .trial = trial->number,
        .folder = fs_absolute(name),
        .separator = task->is_shell ? "\n" : " && ",
        .run = store_run_directory(view->store, view->row.name)};
    struct value *point = read_point(printing, trial);
    int status = -1;

    by_hand.checkpoints = fs_join(by_hand.folder, "checkpoints");
    by_hand.old_folder =
        mem_printf("%s/trials/%" PRId64, by_hand.run, trial->number);
    by_hand.old_checkpoints =
        workspace_checkpoint_directory(by_hand.run, trial->number);
    collect_variables(printing->experiment, by_hand.folder, &by_hand.variables);
    if (point != NULL)
        status = expand(printing, trial, point, &by_hand);
    if (status == 0)
        print(printing, point, &by_hand);
    buf_clear(&by_hand.command);
    words_free(by_hand.variables.items);
    free(by_hand.run);
    free(by_hand.old_folder);
    free(by_hand.old_checkpoints);
    free(by_hand.old_values);
    free(by_hand.values);
    free(by_hand.checkpoints);
    free(by_hand.folder);
    free(point);
    free(name);
    return status;
}

/* By the file that the trial ran with: it may have been edited since. */
static int print_trial(void *user, const struct trial_row *trial)
{
    struct printing printing = *(const struct printing *)user;
    const struct run_row *run = &printing.view->row;
    struct experiment *former = NULL;
    struct mask *mask = NULL;
    struct err err;
    int status;

    if (run->edited_spec[0] != '\0') {
        former =
            run_read_version(printing.view->store, run->id, trial->job, &err);
        if (former == NULL)
            fprintf(stderr,
                    "smtune: the file that trial %" PRId64 " ran with cannot "
                    "be read: %s; this is the command of the edited file\n",
                    trial->number, err.text);
        else
            printing.experiment = former;
    }
    if (!printing.cli->with_secrets)
        mask = spec_mask_create(printing.experiment, NULL);
    printing.mask = mask;
    status = print_by_hand(&printing, trial);
    if (printing.is_masked && !printing.cli->quiet)
        fprintf(stderr, "smtune: secrets are masked, so the command does not "
                        "run as it is (show them: --with-secrets)\n");
    mask_destroy(mask);
    experiment_destroy(former);
    return status;
}

int best_command_print(const struct cli *cli, const struct run_view *view,
                       struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .order = ORDER_BEST,
                                      .state = "succeeded",
                                      .limit = 1};
    struct experiment *experiment =
        run_read_experiment(view->store, view->row.id, err);
    struct printing printing = {
        .cli = cli, .view = view, .experiment = experiment, .err = err};
    int status = -1;

    if (experiment != NULL)
        status =
            store_each_trial(view->store, &query, print_trial, &printing, err);
    experiment_destroy(experiment);
    return status < 0 ? -1 : 0;
}
