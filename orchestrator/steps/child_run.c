/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/child_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/word_list.h"
#include "orchestrator/run/run.h"

/* ---- the command ---- */

static void add_program(struct word_list *words)
{
    char *folder = fs_program_directory();

    word_list_add(words, fs_join(folder, "smtune"));
    word_list_copy(words, "run");
    free(folder);
}

/* "nightly.tune", "nightly.tune.3", "nightly.tune.r2"; the job alone where that
 * is too long. */
static char *name_child(const struct child_run *child)
{
    struct buf name = BUF_INIT;

    buf_printf(&name, "%s.%s", child->run_name, child->step->name);
    if (child->copy >= 0)
        buf_printf(&name, ".%" PRId64, child->copy);
    if (child->round > 0)
        buf_printf(&name, ".r%" PRId64, child->round);
    if (!text_is_name(buf_text(&name))) {
        buf_truncate(&name, 0);
        buf_printf(&name, "below-%" PRId64 "-%" PRId64, child->run, child->job);
    }
    return buf_take(&name);
}

/* Whether YAML reads it as something else than text. */
static bool is_plain(const char *text)
{
    struct diags *diags = diags_create("");
    struct conf_doc *doc = conf_parse(text, strlen(text), diags);
    enum conf_type type = doc != NULL ? conf_root(doc)->type : CONF_TEXT;

    conf_destroy(doc);
    diags_destroy(diags);
    return type == CONF_INT || type == CONF_REAL || type == CONF_BOOL;
}

static int add_assignment(struct word_list *words,
                          const struct step_assignment *assignment,
                          const struct value *values, struct err *err)
{
    struct buf text = BUF_INIT, word = BUF_INIT;
    json_t *quoted;

    if (template_expand(assignment->value, values, &text, err) != 0) {
        buf_clear(&text);
        return err_prefix(err, "with '%s'", assignment->key);
    }
    buf_printf(&word, "%s=", assignment->key);
    if (is_plain(buf_text(&text))) {
        buf_add_string(&word, buf_text(&text));
    } else {
        quoted = json_from_text(buf_text(&text));
        json_print(quoted, &word);
        json_decref(quoted);
    }
    buf_clear(&text);
    word_list_add(words, buf_take(&word));
    return 0;
}

char **child_run_settings(const struct step *step, const struct value *values,
                          struct err *err)
{
    struct word_list words = {mem_array(1, sizeof(char *)), 0, 1};

    for (size_t i = 0; i < step->assignment_count; i++) {
        if (add_assignment(&words, &step->assignments[i], values, err) != 0) {
            words_free(words.items);
            return NULL;
        }
    }
    return words.items;
}

char **child_run_words(const struct child_run *child,
                       const struct value *values, struct err *err)
{
    const struct step *step = child->step;
    char **settings = child_run_settings(step, values, err);
    struct word_list words = {0};

    if (settings == NULL)
        return NULL;
    add_program(&words);
    word_list_copy(&words, step->file);
    word_list_copy(&words, "--resume");
    word_list_add(&words, mem_printf("--store=%s", child->store));
    word_list_add(&words, mem_printf("--below=%" PRId64 ":%" PRId64, child->run,
                                     child->job));
    word_list_copy(&words, "--name");
    word_list_add(&words, name_child(child));
    if (child->is_touched)
        word_list_copy(&words, "--touch");
    for (size_t i = 0; settings[i] != NULL; i++) {
        word_list_copy(&words, "--set");
        word_list_copy(&words, settings[i]);
    }
    words_free(settings);
    return words.items;
}

int child_run_parse(const char *text, int64_t *run, int64_t *job,
                    struct err *err)
{
    int length = 0;

    if (sscanf(text, "%18" SCNd64 ":%18" SCNd64 "%n", run, job, &length) != 2 ||
        text[length] != '\0' || *run <= 0 || *job <= 0)
        return err_set(err, ERR_USAGE, "'%s': expected RUN:JOB", text);
    return 0;
}

static int keep_parent(void *user, const struct run_row *row)
{
    *(int64_t *)user = row->parent_id;
    return 0;
}

int child_run_check_depth(struct store *store, int64_t run, struct err *err)
{
    int depth = 1;

    for (; run != 0 && depth < CHILD_RUN_DEPTH_MAX; depth++) {
        if (store_get_run_uncounted(store, run, keep_parent, &run, err) != 0)
            return -1;
    }
    return run == 0 ? 0
                    : err_set(err, ERR_FILE,
                              "out of range: more than %d levels of child runs",
                              CHILD_RUN_DEPTH_MAX);
}

static int keep_paused(void *user, const struct run_row *row)
{
    *(bool *)user = row->paused_ms != 0;
    return 0;
}

int child_run_is_paused(struct store *store, int64_t run, bool *is_paused,
                        struct err *err)
{
    int64_t parent = 0;

    *is_paused = false;
    if (store_get_run_uncounted(store, run, keep_parent, &parent, err) != 0)
        return -1;
    return parent != 0 ? store_get_run_uncounted(store, parent, keep_paused,
                                                 is_paused, err)
                       : 0;
}

/* ---- its end ---- */

void child_run_judge(struct attempt_exit *end)
{
    bool was_stopped =
        end->exit_code == 128 + SIGINT || end->exit_code == 128 + SIGTERM;

    if (end->cause != CAUSE_EXIT)
        return;
    if (was_stopped)
        end->cause = CAUSE_CANCELLED;
    end->is_displaced = was_stopped;
    if (end->text[0] == '\0')
        snprintf(end->text, sizeof(end->text), "%s",
                 was_stopped ? "the child run was stopped"
                 : end->exit_code == err_exit_status(ERR_UNMET)
                     ? "the child run ended without its target or a successful "
                       "trial"
                     : "the child run failed");
}
