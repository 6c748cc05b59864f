/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What cannot be read from a run's file: the machine, the command, the
 * environment, and what is not in any commit of the code.
 *
 * The record keeps what is written into it, and it is shown, exported and sent.
 * So secrets are masked on the way in: values of variables with a secret's
 * name, values that the run's file hides, and text that looks like a secret.
 */
#include "orchestrator/run/origin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/conf/mask_file.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/text.h"
#include "orchestrator/run/git.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec_mask.h"
#include "orchestrator/spec/workflow/workflow.h"

enum {
    DIFF_MAX_BYTES = 256 << 10,
    DIFF_MAX_MS = 2000,
    ENVIRONMENT_MAX_BYTES = 64 << 10,
    VALUE_MAX_BYTES = 4 << 10,
    COMMAND_MAX_BYTES = 64 << 10
};

struct secrets {
    struct mask *mask;
    json_t *names; /* of variables that no one is shown, whatever they have */
};

static json_t *masked_json(const struct mask *mask, const char *text,
                           size_t length)
{
    struct buf shown = BUF_INIT;
    json_t *json;

    mask_add(mask, text, length, &shown);
    json = json_from_text(buf_text(&shown));
    buf_clear(&shown);
    return json;
}

/* ---- the environment ---- */

static void add_variable(json_t *json, const struct secrets *secrets,
                         const char *entry, size_t *room, bool *is_cut)
{
    const char *equals = strchr(entry, '=');
    size_t length = strlen(entry);
    bool is_secret;
    char *name;

    if (equals == NULL || equals == entry)
        return;
    if (length > *room || strlen(equals + 1) > VALUE_MAX_BYTES) {
        *is_cut = true;
        return;
    }
    *room -= length;
    name = mem_copy_bytes(entry, (size_t)(equals - entry));
    is_secret = secret_is_name(name, strlen(name)) ||
                json_object_get(secrets->names, name) != NULL;
    json_object_set_new(
        json, name,
        is_secret ? json_string(MASKED)
                  : masked_json(secrets->mask, equals + 1, strlen(equals + 1)));
    free(name);
}

static json_t *environment_json(const struct secrets *secrets, bool *is_cut)
{
    json_t *json = json_object();
    size_t room = ENVIRONMENT_MAX_BYTES;

    for (char **entry = environ; *entry != NULL; entry++)
        add_variable(json, secrets, *entry, &room, is_cut);
    return json;
}

/* ---- the command ---- */

/* A word of --set may be any value of the file, also one that the run's own
 * file has no more after an edit. */
static void add_word(const struct run *run, const char *before,
                     const char *word, struct buf *line)
{
    static const char option[] = "--set";
    const struct schema_key *schema =
        run->workflow != NULL ? workflow_schema : experiment_schema;
    bool is_joined = text_begins_with(word, "--set=");
    struct buf shown = BUF_INIT;

    if (is_joined) {
        buf_add_string(&shown, "--set=");
        word += strlen("--set=");
    }
    if (is_joined || strcmp(before, option) == 0)
        conf_mask_assignment(schema, word, &shown);
    else
        buf_add_string(&shown, word);
    buf_add_string(line, line->length > 0 ? " " : "");
    shell_add_word(buf_text(&shown), line);
    buf_clear(&shown);
}

static json_t *command_json(const struct run *run, const struct mask *mask)
{
    struct buf words = BUF_INIT, line = BUF_INIT;
    struct err ignored;
    json_t *json = json_null();

    if (fs_read("/proc/self/cmdline", COMMAND_MAX_BYTES, &words, &ignored) ==
        0) {
        const char *before = "";

        for (const char *word = buf_text(&words);
             word < buf_text(&words) + words.length; word += strlen(word) + 1) {
            add_word(run, before, word, &line);
            before = word;
        }
        json = masked_json(mask, buf_text(&line), line.length);
    }
    buf_clear(&words);
    buf_clear(&line);
    return json;
}

/* ---- the code ---- */

static json_t *diff_json(const struct run *run, const struct mask *mask,
                         bool *is_cut)
{
    static const char *const words[] = {
        "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD", NULL};
    static const struct git_limits limits = {DIFF_MAX_BYTES, DIFF_MAX_MS};
    bool is_part = false;
    char *diff = git_output(run->work_directory, words, &limits, &is_part);
    json_t *json;

    /* The beginning of a secret would not be masked. */
    if (diff != NULL && is_part) {
        char *end = strrchr(diff, '\n');

        *(end != NULL ? end + 1 : diff) = '\0';
    }
    json = diff == NULL || diff[0] == '\0'
               ? json_null()
               : masked_json(mask, diff, strlen(diff));
    *is_cut |= is_part;
    free(diff);
    return json;
}

/* ---- all ---- */

static json_t *system_json(void)
{
    struct utsname system;
    char *text;
    json_t *json;

    if (uname(&system) != 0)
        return json_null();
    text =
        mem_printf("%s %s %s", system.sysname, system.release, system.machine);
    json = json_from_text(text);
    free(text);
    return json;
}

/* Each value of the file's env: the code's changes may have the file, too. A
 * name is that of env_from, or of no variable ("env.X"). */
static void hide(void *user, const char *name, const char *value)
{
    struct secrets *secrets = user;

    mask_hide(secrets->mask, name, value);
    json_object_set_new(secrets->names, name, json_true());
}

static void describe(const struct run *run, const char *revision,
                     struct buf *out)
{
    struct secrets secrets = {mask_create(), json_object()};
    char host[256] = "";
    bool is_cut = false;
    json_t *json = json_object();

    spec_each_secret(run->experiment, run->workflow, true, hide, &secrets);
    mask_hide_environment(secrets.mask, environ);
    gethostname(host, sizeof(host) - 1);
    json_object_set_new(json, "host", json_from_text(host));
    json_object_set_new(json, "smtune", json_string(SMTUNE_VERSION));
    json_object_set_new(json, "system", system_json());
    json_object_set_new(json, "command", command_json(run, secrets.mask));
    json_object_set_new(json, "environment",
                        environment_json(&secrets, &is_cut));
    json_object_set_new(json, "diff",
                        revision != NULL && text_ends_with(revision, "-dirty")
                            ? diff_json(run, secrets.mask, &is_cut)
                            : json_null());
    json_object_set_new(json, "is_cut", json_boolean(is_cut));
    json_print(json, out);
    json_decref(json);
    mask_destroy(secrets.mask);
    json_decref(secrets.names);
}

static int keep_last(void *user, const struct origin_row *row)
{
    char **last = user;

    free(*last);
    *last = mem_copy_string(row->detail);
    return 0;
}

static int add(struct run *run, const char *detail, struct err *err)
{
    struct store *store = run->store;

    if (store_begin(store, err) == 0 &&
        store_end_dead_engine(store, run->id, err) == 0 &&
        store_add_origin(store, run->id, detail, clock_wall_ms(), err) == 0 &&
        store_commit(store, err) == 0)
        return 0;
    store_rollback(store);
    return -1;
}

int origin_record(struct run *run, const char *revision, struct err *err)
{
    struct buf now = BUF_INIT;
    char *last = NULL;
    int result = store_each_origin(run->store, run->id, keep_last, &last, err);

    if (result == 0) {
        describe(run, revision, &now);
        if (last == NULL || strcmp(last, buf_text(&now)) != 0)
            result = add(run, buf_text(&now), err);
    }
    buf_clear(&now);
    free(last);
    return result;
}
