/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/commands_impl.h"
#include "executors/slurm/talk/rows.h"
#include "executors/slurm/talk/trace.h"

/*
 * A request is one program after the other, mostly one. Each ends in `take`,
 * which starts the next or answers. What a program says counts only where it
 * ended well and said all that it had to: a heading, whole rows, a number.
 */

enum {
    LIMIT_MS = 60000,
    OUTPUT_MAX_BYTES = 128 << 20,
    CANCEL_BATCH = 500, /* jobs that one scancel is told of */
    ACCOUNT_MAX = 8192, /* jobs that one sacct is asked for by their ids */
    SKEW_S = 7200       /* of two clocks, and an hour that comes twice */
};

/* sbatch tries again by itself for minutes, while others might be let in. */
static const char full[] = "sleeping and retrying";

enum program {
    SBATCH,
    SQUEUE,
    SACCT,
    SCANCEL,
    SCONTROL,
    SINFO,
    NEEDED,
    SACCTMGR = NEEDED,
    PROGRAMS
};

static const char *const program_names[PROGRAMS] = {
    "sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo", "sacctmgr"};

struct request;

struct commands {
    struct slurm_transport base;
    uv_loop_t *loop;
    struct log *log;
    char *programs[PROGRAMS]; /* paths; from NEEDED on NULL: there is none */
    char **environment;       /* slurm_environment() */
    struct request *requests; /* on their way */
    uv_timer_t failures;      /* answers those that could not be started */
    bool is_destroyed, is_closed;
    void (*destroyed)(void *user);
    void *destroyed_user;
};

struct request {
    struct request *next, **link;
    struct commands *owner;
    struct command *command;  /* NULL: none runs */
    struct slurm_trace trace; /* of that */
    bool has_failed;          /* it could not be started, and err says why */
    struct err err;
    void (*take)(struct request *request, const struct command_result *result,
                 const struct slurm_reply *reply);
    union {
        slurm_submit_fn *submit;
        slurm_list_fn *list;
        slurm_done_fn *done;
        slurm_site_fn *site;
    } answer;
    void *user;
    char *prefix; /* of the names in a listing */
    const struct slurm_row_form *form;
    struct slurm_target *targets; /* to cancel, [target_count] */
    size_t target_count, target_next;
    int signal;
    struct slurm_site found;
    size_t question;  /* of slurm_site_questions */
    int64_t limit_ms; /* of the next program; 0: LIMIT_MS */
};

/* -- Requests -------------------------------------------------------------*/

static struct request *request_add(struct slurm_transport *transport,
                                   void *user)
{
    struct commands *commands = (struct commands *)transport;
    struct request *request = mem_zero(sizeof(*request));

    request->owner = commands;
    request->user = user;
    request->next = commands->requests;
    request->link = &commands->requests;
    if (request->next != NULL)
        request->next->link = &request->next;
    commands->requests = request;
    return request;
}

static void finish_destruction(struct commands *commands)
{
    if (!commands->is_closed || commands->requests != NULL)
        return;
    for (int i = 0; i < PROGRAMS; i++)
        free(commands->programs[i]);
    for (char **variable = commands->environment; *variable != NULL; variable++)
        free(*variable);
    free(commands->environment);
    commands->destroyed(commands->destroyed_user);
    free(commands);
}

static void request_remove(struct request *request)
{
    *request->link = request->next;
    if (request->next != NULL)
        request->next->link = request->link;
    slurm_site_clear(&request->found);
    free(request->prefix);
    free(request->targets);
    free(request);
}

static void on_command_done(void *user, const struct command_result *result)
{
    struct request *request = user;
    struct commands *commands = request->owner;
    struct slurm_reply reply;

    request->command = NULL;
    slurm_trace_result(commands->log, &request->trace, result);
    if (!commands->is_destroyed) {
        slurm_reply_take(&reply, result);
        request->take(request, result, &reply);
        return;
    }
    request_remove(request);
    finish_destruction(commands);
}

/* `take` may start others, or destroy the transport. */
static void on_failures(uv_timer_t *timer)
{
    static char nothing[] = "";
    const struct command_result result = {.exit_code = -1, .output = nothing};
    struct commands *commands = timer->data;
    struct request *request = commands->requests;
    struct slurm_reply reply;

    while (request != NULL && !request->has_failed)
        request = request->next;
    if (request == NULL)
        return;
    uv_timer_start(timer, on_failures, 0, 0);
    request->has_failed = false;
    slurm_reply_silent(&reply, request->err.text);
    request->take(request, &result, &reply);
}

static void request_start(struct request *request, enum program program,
                          struct slurm_words *words, const char *input)
{
    struct commands *commands = request->owner;
    const bool is_listing = program != SBATCH;
    const struct command_options options = {
        .program = commands->programs[program],
        .argv = words->words,
        .envp = commands->environment + (is_listing ? 0 : 1),
        .input = input,
        .output_max = OUTPUT_MAX_BYTES,
        .limit_ms = request->limit_ms > 0 ? request->limit_ms : LIMIT_MS,
        .stop_at = full,
    };

    slurm_trace_command(commands->log, &request->trace,
                        ++commands->base.requests, words->words);
    request->command = command_start(commands->loop, &options, on_command_done,
                                     request, &request->err);
    slurm_words_clear(words);
    request->has_failed = request->command == NULL;
    if (!request->has_failed)
        return;
    slurm_trace_failure(commands->log, &request->trace, request->err.text);
    uv_timer_start(&commands->failures, on_failures, 0, 0);
}

/* -- What can be asked ----------------------------------------------------*/

static void take_submission(struct request *request,
                            const struct command_result *result,
                            const struct slurm_reply *reply)
{
    struct slurm_reply own = *reply;
    int64_t id = slurm_submit_id(result->output);

    if (own.answer == SLURM_DONE && id == 0)
        slurm_reply_silent(&own, "sbatch printed no job number");
    if (own.answer != SLURM_DONE && id != 0)
        own.answer = SLURM_SILENT;
    request->answer.submit(request->user, &own,
                           own.answer == SLURM_DONE ? id : 0);
    request_remove(request);
}

static void commands_submit(struct slurm_transport *transport,
                            const struct slurm_submission *submission,
                            slurm_submit_fn *done, void *user)
{
    struct request *request = request_add(transport, user);
    struct slurm_words words = {0};

    request->take = take_submission;
    request->answer.submit = done;
    slurm_submit_words(submission, &words);
    request_start(request, SBATCH, &words, submission->script);
}

static void take_rows(struct request *request,
                      const struct command_result *result,
                      const struct slurm_reply *reply)
{
    struct slurm_reply own = *reply;
    struct slurm_rows rows = {0};

    if (own.answer == SLURM_DONE &&
        slurm_rows_parse(request->form, result->output, result->output_length,
                         request->prefix, &rows) != 0)
        slurm_reply_silent(&own, "its answer is incomplete");
    if (own.answer == SLURM_DONE)
        request->answer.list(request->user, &own, rows.jobs, rows.count);
    else
        request->answer.list(request->user, &own, NULL, 0);
    slurm_rows_clear(&rows);
    request_remove(request);
}

static void commands_list(struct slurm_transport *transport, const char *prefix,
                          slurm_list_fn *done, void *user)
{
    struct request *request = request_add(transport, user);
    char *columns = slurm_row_columns(&slurm_queue_rows, ":" SLURM_SEPARATOR);
    struct slurm_words words = {0};

    request->take = take_rows;
    request->answer.list = done;
    request->form = &slurm_queue_rows;
    request->prefix = mem_copy_string(prefix);
    slurm_words_add(&words, "squeue");
    slurm_words_add(&words, "--me");
    slurm_words_add(&words, "--all"); /* in partitions that are hidden, too */
    slurm_words_add(&words, "--array");
    slurm_words_add(&words, "--states=all");
    slurm_words_add(&words, "--Format=%s", columns);
    request_start(request, SQUEUE, &words, NULL);
    free(columns);
}

/* In the local time, which is what sacct takes. */
static void add_since(struct slurm_words *words, int64_t since_ms)
{
    time_t since = (time_t)(since_ms / 1000 - SKEW_S);
    char text[32];
    struct tm tm;

    if (since > 0 && localtime_r(&since, &tm) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) > 0)
        slurm_words_add(words, "--starttime=%s", text);
}

static void commands_account(struct slurm_transport *transport,
                             const int64_t *ids, size_t count, int64_t since_ms,
                             slurm_list_fn *done, void *user)
{
    struct request *request = request_add(transport, user);
    char *columns = slurm_row_columns(&slurm_account_rows, "");
    struct slurm_words words = {0};
    struct buf list = BUF_INIT;

    request->take = take_rows;
    request->answer.list = done;
    request->form = &slurm_account_rows;
    request->prefix = mem_copy_string("");
    slurm_words_add(&words, "sacct");
    slurm_words_add(&words, "--parsable");
    slurm_words_add(&words, "--allocations");
    slurm_words_add(&words, "--delimiter=%s", SLURM_SEPARATOR);
    slurm_words_add(&words, "--format=%s", columns);
    add_since(&words, since_ms);
    for (size_t i = 0; i < count && count <= ACCOUNT_MAX; i++)
        buf_printf(&list, "%s%" PRId64, i > 0 ? "," : "", ids[i]);
    if (list.length > 0)
        slurm_words_add(&words, "--jobs=%s", list.data);
    request_start(request, SACCT, &words, NULL);
    buf_clear(&list);
    free(columns);
}

static void cancel_next(struct request *request)
{
    size_t left = request->target_count - request->target_next;
    size_t count = left < CANCEL_BATCH ? left : CANCEL_BATCH;
    struct slurm_words words = {0};

    slurm_cancel_words(request->targets + request->target_next, count,
                       request->signal, &words);
    request->target_next += count;
    request_start(request, SCANCEL, &words, NULL);
}

static void take_cancellation(struct request *request,
                              const struct command_result *result,
                              const struct slurm_reply *reply)
{
    struct slurm_reply own = *reply;

    if (own.answer != SLURM_DONE && slurm_cancel_is_done(result))
        own = (struct slurm_reply){.answer = SLURM_DONE};
    if (own.answer == SLURM_DONE &&
        request->target_next < request->target_count) {
        cancel_next(request);
        return;
    }
    request->answer.done(request->user, &own);
    request_remove(request);
}

static void commands_cancel(struct slurm_transport *transport,
                            const struct slurm_target *targets, size_t count,
                            int signal, slurm_done_fn *done, void *user)
{
    struct request *request = request_add(transport, user);

    request->take = take_cancellation;
    request->answer.done = done;
    request->signal = signal;
    request->targets = mem_copy_array(targets, count, sizeof(*targets));
    request->target_count = count;
    cancel_next(request);
}

static void answer_site(struct request *request,
                        const struct slurm_reply *reply)
{
    request->answer.site(request->user, reply,
                         reply->answer == SLURM_DONE ? &request->found : NULL);
    request_remove(request);
}

static enum program program_of(const char *name)
{
    int i = 0;

    while (i < PROGRAMS && strcmp(program_names[i], name) != 0)
        i++;
    return i;
}

/* Whether it is on its way now. */
static bool ask_about_site(struct request *request)
{
    const struct slurm_site_question *question =
        &slurm_site_questions[request->question];
    enum program program = program_of(question->program);
    struct slurm_words words = {0};

    if (request->owner->programs[program] == NULL ||
        (question->is_asked != NULL && !question->is_asked(&request->found)))
        return false;
    question->words(&request->found, &words);
    request->limit_ms = question->limit_ms;
    request_start(request, program, &words, NULL);
    return true;
}

static void take_site(struct request *request,
                      const struct command_result *result,
                      const struct slurm_reply *reply)
{
    const struct slurm_site_question *question =
        &slurm_site_questions[request->question++];
    struct slurm_reply own = *reply;

    if (own.answer == SLURM_DONE &&
        question->take(&request->found, result->output,
                       result->output_length) != 0)
        slurm_reply_silent(&own, "its answer is incomplete");
    if (own.answer != SLURM_DONE && question->limit_ms == 0) {
        answer_site(request, &own);
        return;
    }
    while (request->question < slurm_site_question_count) {
        if (ask_about_site(request))
            return;
        request->question++;
    }
    answer_site(request, &(struct slurm_reply){.answer = SLURM_DONE});
}

static void commands_describe(struct slurm_transport *transport,
                              slurm_site_fn *done, void *user)
{
    struct request *request = request_add(transport, user);

    request->take = take_site;
    request->answer.site = done;
    ask_about_site(request);
}

/* -- Its life -------------------------------------------------------------*/

static int find_programs(struct commands *commands, struct err *err)
{
    int i = 0;

    while (i < PROGRAMS &&
           ((commands->programs[i] = slurm_program(program_names[i])) != NULL ||
            i >= NEEDED))
        i++;
    if (i == PROGRAMS)
        return 0;
    err_set(err, ERR_FILE,
            "there is no '%s' in PATH: the executor slurm needs Slurm's "
            "commands, or transport: rest",
            program_names[i]);
    while (i-- > 0)
        free(commands->programs[i]);
    return -1;
}

static struct slurm_transport *commands_create(
    uv_loop_t *loop, const struct slurm_options *options, struct err *err)
{
    struct commands *commands = mem_zero(sizeof(*commands));

    if (find_programs(commands, err) != 0) {
        free(commands);
        return NULL;
    }
    commands->base.type = &slurm_commands;
    commands->loop = loop;
    commands->log = options->log;
    commands->environment = slurm_environment();
    uv_timer_init(loop, &commands->failures);
    commands->failures.data = commands;
    return &commands->base;
}

static void on_closed(uv_handle_t *handle)
{
    struct commands *commands = handle->data;

    commands->is_closed = true;
    finish_destruction(commands);
}

/* What is being answered just now removes itself. */
static void commands_destroy(struct slurm_transport *transport,
                             void (*done)(void *user), void *user)
{
    struct commands *commands = (struct commands *)transport;
    struct request *request = commands->requests, *next;

    commands->is_destroyed = true;
    commands->destroyed = done;
    commands->destroyed_user = user;
    for (; request != NULL; request = next) {
        next = request->next;
        if (request->command != NULL)
            command_kill(request->command);
        else if (request->has_failed)
            request_remove(request);
    }
    uv_close((uv_handle_t *)&commands->failures, on_closed);
}

const struct slurm_transport_type slurm_commands = {
    .name = "commands",
    .create = commands_create,
    .destroy = commands_destroy,
    .submit = commands_submit,
    .list = commands_list,
    .account = commands_account,
    .cancel = commands_cancel,
    .describe = commands_describe,
};
