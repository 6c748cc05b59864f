/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ranks/step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/ranks/group.h"
#include "orchestrator/ranks/spawn.h"
#include "orchestrator/ranks/warned.h"

enum {
    KILL_SIGNALS = 3, /* so many from outside end the step at once */
    TASKS_MS = 5000,  /* for a task to see its rank's end, and to end itself */
    FORCE_MS = 5000,  /* for srun to end the step by itself */
    STATUS_SIGNAL = 128
};

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

struct rank_step {
    const struct rank_step_options *options;
    pid_t pid;   /* of srun */
    int orders;  /* its standard input */
    int signal;  /* the first that ends them; 0: none */
    int signals; /* how many of those came */
    bool is_forced;
    int wait_status;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t child;
    uv_signal_t handles[ARRAY_LEN(passed_on)];
    uv_signal_t warning; /* where that is another one */
    bool is_warned;
};

/* ---- ending ---- */

/* To SIGTERM srun answers by killing all tasks. */
static void force(struct rank_step *step);

static void on_late(uv_timer_t *timer)
{
    force(timer->data);
}

static void force(struct rank_step *step)
{
    kill(step->pid, step->is_forced ? SIGKILL : SIGTERM);
    step->is_forced = true;
    uv_timer_start(&step->timer, on_late, FORCE_MS, 0);
}

static void on_signal(uv_signal_t *handle, int signal_number)
{
    struct rank_step *step = handle->data;
    unsigned char order = (unsigned char)signal_number;

    /* A pipe that is full has more orders in it than anybody gives. */
    if (write(step->orders, &order, 1) < 0 && !step->is_forced)
        force(step);
    if (signal_number == step->options->warning && !step->is_warned &&
        step->signal == 0) {
        step->is_warned = true;
        return;
    }
    if (signal_number != SIGINT && signal_number != SIGTERM &&
        signal_number != SIGHUP)
        return;
    if (step->signal == 0) {
        step->signal = signal_number;
        uv_timer_start(&step->timer, on_late,
                       (uint64_t)step->options->grace_ms + TASKS_MS, 0);
    }
    if (++step->signals == KILL_SIGNALS)
        force(step);
}

static void close_handles(struct rank_step *step)
{
    uv_close((uv_handle_t *)&step->timer, NULL);
    uv_close((uv_handle_t *)&step->child, NULL);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        uv_close((uv_handle_t *)&step->handles[i], NULL);
    uv_close((uv_handle_t *)&step->warning, NULL);
}

static void on_child(uv_signal_t *handle, int signal_number)
{
    struct rank_step *step = handle->data;

    (void)signal_number;
    if (waitpid(step->pid, &step->wait_status, WNOHANG) == step->pid)
        close_handles(step);
}

/* The tasks of ranks that failed after the warning exit with 0. */
static int warned_status(const struct rank_step *step)
{
    const struct rank_step_options *options = step->options;
    struct rank_failure failure = {.was_warned = true, .tail = ""};
    struct rank_end end;

    if (!step->is_warned || options->log_directory == NULL ||
        !rank_end_find(options->log_directory, options->tasks, &end))
        return 0;
    failure.rank = end.rank;
    failure.exit_code = end.status > STATUS_SIGNAL ? -1 : end.status;
    if (end.status > STATUS_SIGNAL)
        failure.signal = end.status - STATUS_SIGNAL;
    options->failed(options->user, &failure);
    return end.status;
}

static int status_of(const struct rank_step *step)
{
    if (step->signal != 0)
        return STATUS_SIGNAL + step->signal;
    if (!WIFEXITED(step->wait_status))
        return STATUS_SIGNAL + WTERMSIG(step->wait_status);
    return WEXITSTATUS(step->wait_status) != 0 ? WEXITSTATUS(step->wait_status)
                                               : warned_status(step);
}

/* ---- starting ---- */

/* The words of srun, before those of a task. SLURM_CPUS_PER_TASK is how the
 * allocation was asked for, which srun does not go by. */
static char **create_words(const struct rank_step_options *options)
{
    const char *cpus = getenv("SLURM_CPUS_PER_TASK");
    size_t count = 0, task_count = 0;
    char **words;

    while (options->argv[task_count] != NULL)
        task_count++;
    words = mem_array(task_count + 16, sizeof(*words));
    words[count++] = mem_copy_string("srun");
    words[count++] = mem_printf("--nodes=%d", options->nodes);
    words[count++] = mem_printf("--ntasks=%d", options->tasks);
    if (options->tasks_per_node > 0)
        words[count++] =
            mem_printf("--ntasks-per-node=%d", options->tasks_per_node);
    if (cpus != NULL)
        words[count++] = mem_printf("--cpus-per-task=%s", cpus);
    words[count++] = mem_copy_string("--distribution=block");
    words[count++] = mem_copy_string("--kill-on-bad-exit=1");
    words[count++] = mem_copy_string("--wait=0");
    words[count++] = mem_copy_string("--export=ALL");
    words[count++] = mem_copy_string("--input=all");
    words[count++] = mem_copy_string("--quiet");
    for (size_t i = 0; i < task_count; i++)
        words[count++] = mem_copy_string(options->argv[i]);
    return words;
}

static int spawn(struct rank_step *step, struct err *err)
{
    char **words = create_words(step->options);
    int ends[2];
    struct rank_spec spec = {
        .argv = words,
        .envp = step->options->environment,
        .out_fd = STDOUT_FILENO,
        .err_fd = STDERR_FILENO,
    };

    if (pipe2(ends, O_CLOEXEC) == 0) {
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        spec.in_fd = ends[0];
        step->orders = ends[1];
        step->pid = rank_spawn(&spec, err);
        close(ends[0]);
    } else {
        err_set_errno(err, ERR_FAILED, errno, "cannot make a pipe");
    }
    for (size_t i = 0; words[i] != NULL; i++)
        free(words[i]);
    free(words);
    return step->pid > 0 ? 0 : -1;
}

static void start_handles(struct rank_step *step)
{
    bool is_another = step->options->warning != 0;

    uv_timer_init(&step->loop, &step->timer);
    step->timer.data = step;
    uv_signal_init(&step->loop, &step->child);
    step->child.data = step;
    uv_signal_start(&step->child, on_child, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        uv_signal_init(&step->loop, &step->handles[i]);
        step->handles[i].data = step;
        uv_signal_start(&step->handles[i], on_signal, passed_on[i]);
        is_another &= passed_on[i] != step->options->warning;
    }
    uv_signal_init(&step->loop, &step->warning);
    step->warning.data = step;
    if (is_another)
        uv_signal_start(&step->warning, on_signal, step->options->warning);
}

int rank_step_run(const struct rank_step_options *options, int *status,
                  struct err *err)
{
    struct rank_step step = {.options = options, .orders = -1};
    int result;

    if (options->warning != 0 && options->log_directory != NULL)
        rank_end_clear(options->log_directory, options->tasks);
    uv_loop_init(&step.loop);
    start_handles(&step);
    result = spawn(&step, err);
    if (result == 0)
        on_child(&step.child, SIGCHLD);
    else
        close_handles(&step);
    uv_run(&step.loop, UV_RUN_DEFAULT);
    uv_loop_close(&step.loop);
    if (step.orders >= 0)
        close(step.orders);
    if (result == 0)
        *status = status_of(&step);
    return result;
}
