/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The batch scripts of a run that has not begun. The executor makes them as it
 * does for a real attempt. What only the run itself decides has a placeholder:
 * the token in the names of its jobs, and in a workflow the values of
 * templates. The values of parameters and variables are no part of a script:
 * they get to a node in a file of its attempt. They are shown below it.
 */
#include "cli/plan/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/plan/shown.h"
#include "executors/executor.h"
#include "orchestrator/machine/cluster.h"
#include "orchestrator/search/dry_run.h"
#include "orchestrator/spec/experiment/resources.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/spec/workflow/workflow.h"

/* A cluster that was asked. */
struct asked {
    const char *url; /* of an executor; NULL: by commands */
    struct slurm_site site;
    bool has_site;
};

struct scripts {
    const char *run;
    char *folder; /* of the run, in the store */
    char *work_directory;
    struct mask *mask; /* NULL: secrets are shown */
    json_t *json;      /* NULL: for people */
    int64_t count;
    struct asked *asked; /* [asked_count] */
    size_t asked_count;
    bool is_quiet;
};

struct script {
    const struct executor_options *executor;
    const struct job_spec *task;
    const char *step, *job, *command;
    int64_t number;
    bool is_step;
};

/* ---- one ---- */

static void add_shown(const struct scripts *scripts, const char *text,
                      struct buf *out)
{
    if (scripts->mask != NULL)
        mask_add(scripts->mask, text, strlen(text), out);
    else
        buf_add_string(out, text);
}

/* Each line of the text in a comment. */
static void add_comment(const char *text, struct buf *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        buf_printf(out, "#   %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void add_contents(const struct scripts *scripts,
                         const struct script *script, struct buf *out)
{
    const struct job_spec *task = script->task;
    struct buf text = BUF_INIT, shown = BUF_INIT;

    for (size_t i = 0; i < task->environment_count; i++)
        buf_printf(&shown, "%s=%s\n", task->environment[i].name,
                   scripts->mask != NULL
                       ? MASKED
                       : template_source(task->environment[i].value));
    for (size_t i = 0; i < task->env_from_count; i++)
        buf_printf(&shown, "%s (from the environment of smtune)\n",
                   task->env_from[i]);
    if (task->env_file != NULL)
        buf_printf(&shown, "the variables of %s\n", task->env_file);
    /* A trial's command begins with them. */
    for (size_t i = 0; i < task->setup_count && script->is_step; i++)
        buf_printf(&text, "%s\n", task->setup[i]);
    if (task->container.image != NULL)
        buf_printf(&text, "container: %s\n",
                   template_source(task->container.image));
    if (task->conda != NULL)
        buf_printf(&text, "conda: %s\n", template_source(task->conda));
    buf_printf(&text, "%s\n", script->command);
    add_shown(scripts, buf_text(&text), &shown);
    buf_add_string(out,
                   "# smtune-shim runs, with these variables of the file:\n");
    add_comment(buf_text(&shown), out);
    buf_clear(&shown);
    buf_clear(&text);
}

static void show(struct scripts *scripts, const struct script *script,
                 const char *text)
{
    if (scripts->json != NULL)
        json_array_append_new(scripts->json,
                              json_pack("{s:o, s:o}", "job",
                                        json_from_text(script->job), "script",
                                        json_from_text(text)));
    else
        printf("%s%s", scripts->count > 0 ? "\n" : "", text);
    scripts->count++;
}

static void ask(const struct scripts *scripts, const char *url,
                struct asked *asked)
{
    bool is_near = cluster_is_near(url);
    int64_t answer_ms;
    struct err why;

    *asked = (struct asked){.url = url};
    asked->has_site =
        is_near && cluster_describe(url, &asked->site, &answer_ms, &why) == 0;
    if (is_near && !asked->has_site && !scripts->is_quiet)
        fprintf(stderr, "smtune: cannot ask the cluster for its limits: %s\n",
                why.text);
}

/* The cluster of the executor, asked once; NULL: there is none here, or it does
 * not answer. */
static const struct slurm_site *find_site(struct scripts *scripts,
                                          const char *url)
{
    size_t i = 0;

    while (i < scripts->asked_count && scripts->asked[i].url != url)
        i++;
    if (i == scripts->asked_count) {
        scripts->asked =
            mem_resize(scripts->asked, i + 1, sizeof(*scripts->asked));
        ask(scripts, url, &scripts->asked[scripts->asked_count++]);
    }
    return scripts->asked[i].has_site ? &scripts->asked[i].site : NULL;
}

static int add_script(struct scripts *scripts, const struct script *script,
                      struct err *err)
{
    char *directory = mem_printf("%s/attempts/%" PRId64 "-1", scripts->folder,
                                 script->number);
    char *folder = fs_join(scripts->folder, "slurm");
    struct attempt_spec spec = resources_attempt_spec(&script->task->resources);
    struct executor_options executor = *script->executor;
    struct buf text = BUF_INIT, out = BUF_INIT;
    struct slurm_options slurm;
    int result;

    spec.directory = directory;
    spec.work_directory = scripts->work_directory;
    spec.step = script->step;
    spec.job = script->job;
    executor.run = scripts->run;
    if (executor.slurm != NULL) {
        slurm = *executor.slurm;
        slurm.site = find_site(scripts, executor.slurm->url);
        executor.slurm = &slurm;
    }
    result = executor_preview(&executor, &spec, folder, &text, err);
    if (result != 0)
        err_prefix(err, "%s '%s'", script->is_step ? "step" : "trial",
                   script->job);
    if (result == 0) {
        add_shown(scripts, buf_text(&text), &out);
        add_contents(scripts, script, &out);
        show(scripts, script, buf_text(&out));
    }
    buf_clear(&out);
    buf_clear(&text);
    free(folder);
    free(directory);
    return result;
}

/* ---- all ---- */

static int add_trials(struct scripts *scripts,
                      const struct experiment *experiment, int64_t shown,
                      struct err *err)
{
    struct dry_run *dry_run = dry_run_create(experiment, NULL, err);
    struct dry_run_trial trial;
    int result = dry_run != NULL ? 1 : -1;

    for (int64_t i = 0; i < shown && result == 1; i++) {
        char name[24];

        result = dry_run_next(dry_run, &trial, err);
        if (result != 1)
            break;
        snprintf(name, sizeof(name), "%" PRId64, trial.number);
        if (add_script(scripts,
                       &(struct script){&experiment->executor,
                                        &experiment->task, "trial", name,
                                        trial.command, trial.number, false},
                       err) != 0)
            result = -1;
    }
    dry_run_destroy(dry_run);
    return result < 0 ? -1 : 0;
}

/* Steps on other executors are left out, where any is on a cluster. */
static int add_steps(struct scripts *scripts, const struct workflow *workflow,
                     struct err *err)
{
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct step *step = &workflow->steps[i];
        const struct executor_options *executor =
            workflow_executor(workflow, step);

        if (step->task.command == NULL || executor->slurm == NULL)
            continue;
        if (add_script(scripts,
                       &(struct script){executor, &step->task, step->name,
                                        step->name,
                                        template_source(step->task.command),
                                        (int64_t)i + 1, true},
                       err) != 0)
            return -1;
    }
    if (scripts->count > 0)
        return 0;
    return err_set(err, ERR_USAGE, "no step of '%s' runs on a cluster",
                   workflow->name);
}

static void finish(struct scripts *scripts)
{
    struct buf text = BUF_INIT;

    if (scripts->json != NULL) {
        json_show_pretty(scripts->json, &text);
        fputs(buf_text(&text), stdout);
        json_decref(scripts->json);
    }
    buf_clear(&text);
    for (size_t i = 0; i < scripts->asked_count; i++)
        if (scripts->asked[i].has_site)
            cluster_clear(&scripts->asked[i].site);
    free(scripts->asked);
    mask_destroy(scripts->mask);
    free(scripts->folder);
    free(scripts->work_directory);
}

int plan_script_print(const struct cli *cli, const struct spec *spec,
                      int64_t shown, struct err *err)
{
    const struct workflow *workflow = spec->workflow;
    struct scripts scripts = {0};
    char *store = fs_absolute(cli->store);
    int result;

    scripts.run = workflow != NULL ? workflow->name : spec->experiment->name;
    scripts.folder = mem_printf("%s/runs/%s", store, scripts.run);
    scripts.work_directory = fs_absolute(".");
    scripts.is_quiet = cli->quiet;
    if (cli->output != OUTPUT_TABLE)
        scripts.json = json_array();
    scripts.mask = shown_mask(cli, spec->experiment, workflow);
    if (scripts.mask != NULL)
        mask_hide_environment(scripts.mask, environ);
    result = workflow != NULL ? add_steps(&scripts, workflow, err)
                              : add_trials(&scripts, spec->experiment,
                                           shown > 0 ? shown : 1, err);
    if (result != 0)
        json_decref(scripts.json), scripts.json = NULL;
    finish(&scripts);
    free(store);
    return result;
}
