/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/system/close_from.h"
#include "base/system/process_hold.h"

/*
 * It has ended when its process has: what that left in the pipes is read then,
 * and no descendant that holds them open is waited for. Its input is a file in
 * memory, so that there is nothing to feed and nobody to wait for.
 */

enum { OUTPUT, ERRORS, EXIT, WATCHED, TERM_TO_KILL_MS = 2000 };

struct stream {
    struct buf text;
    bool is_cut;
};

struct command {
    uv_poll_t polls[WATCHED];
    uv_timer_t timer;
    int fds[WATCHED];
    struct stream streams[EXIT];
    size_t output_max;
    char *stop_at;
    pid_t pid; /* 0: has ended */
    int open_handles;
    int status; /* as waitpid() has it */
    bool is_late, is_stopped;
    command_fn *done;
    void *user;
};

/* -- Starting -------------------------------------------------------------*/

static int make_input(const char *text, struct err *err)
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot create the command's input");
    if (text != NULL && (fs_write_all(fd, text, strlen(text)) != 0 ||
                         lseek(fd, 0, SEEK_SET) != 0)) {
        err_set_errno(err, ERR_FAILED, errno,
                      "cannot write the command's input");
        close(fd);
        return -1;
    }
    return fd;
}

static int spawn(pid_t *pid, const struct command_options *options,
                 const int files[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int error;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_adddup2(&actions, files[fd], fd);
    error = spawn_close_from(&actions, 3);
    if (error == 0)
        error = posix_spawn(pid, options->program, &actions, &attributes,
                            options->argv, options->envp);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

/* The reading ends in fds[OUTPUT] and fds[ERRORS], its process in fds[EXIT]. */
static int launch(const struct command_options *options, int fds[WATCHED],
                  pid_t *pid, struct err *err)
{
    int output[2] = {-1, -1}, errors[2] = {-1, -1}, files[3];
    int input = make_input(options->input, err), error;

    if (input < 0)
        return -1;
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
        error = errno;
    } else {
        files[0] = input;
        files[1] = output[1];
        files[2] = errors[1];
        error = spawn(pid, options, files);
    }
    close_all((int[]){input, output[1], errors[1]}, 3);
    fds[OUTPUT] = output[0];
    fds[ERRORS] = errors[0];
    fds[EXIT] = error == 0 ? child_watch(*pid) : -1;
    if (fds[EXIT] >= 0)
        return 0;
    if (error == 0) {
        error = errno;
        kill(*pid, SIGKILL);
        waitpid(*pid, NULL, 0);
    }
    close_all(fds, EXIT);
    return err_set_errno(err, ERR_FAILED, error, "cannot start '%s'",
                         options->program);
}

/* -- Running --------------------------------------------------------------*/

/* False when there is no more, now or for ever; *is_over says which. */
static bool read_some(struct command *command, int which, bool *is_over)
{
    enum { STEP = 65536 };
    struct stream *stream = &command->streams[which];
    size_t room = command->output_max - stream->text.length;
    char *end = buf_reserve(&stream->text, STEP);
    ssize_t length = read(command->fds[which], end, STEP);

    *is_over = length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
    if (length <= 0)
        return length < 0 && errno == EINTR;
    stream->is_cut = stream->is_cut || (size_t)length > room;
    stream->text.length += (size_t)length < room ? (size_t)length : room;
    stream->text.data[stream->text.length] = '\0';
    return true;
}

static void on_closed(uv_handle_t *handle)
{
    struct command *command = handle->data;
    struct stream *output = &command->streams[OUTPUT];
    struct stream *errors = &command->streams[ERRORS];
    struct command_result result = {.is_late = command->is_late,
                                    .is_stopped = command->is_stopped};

    if (--command->open_handles > 0)
        return;
    close_all(command->fds, WATCHED);
    result.exit_code =
        WIFEXITED(command->status) ? WEXITSTATUS(command->status) : -1;
    result.is_cut = output->is_cut || errors->is_cut;
    buf_reserve(&output->text, 0);
    result.output = output->text.data;
    result.output_length = output->text.length;
    result.errors = buf_text(&errors->text);
    command->done(command->user, &result);
    buf_clear(&output->text);
    buf_clear(&errors->text);
    free(command->stop_at);
    free(command);
}

static void close_handles(struct command *command)
{
    for (int i = 0; i < WATCHED; i++)
        uv_close((uv_handle_t *)&command->polls[i], on_closed);
    uv_close((uv_handle_t *)&command->timer, on_closed);
}

static void on_process_end(uv_poll_t *poll, int status, int events)
{
    struct command *command = poll->data;
    bool is_over;

    (void)status;
    (void)events;
    if (waitpid(command->pid, &command->status, WNOHANG) == 0)
        return;
    command->pid = 0;
    /* What it started may go on writing: the bound is where that ends. */
    for (int i = 0; i < EXIT; i++) {
        while (!command->streams[i].is_cut && read_some(command, i, &is_over))
            ;
    }
    close_handles(command);
}

static void send_signal(struct command *command, int signal)
{
    if (command->pid == 0)
        return;
    command->is_late = true;
    kill(-command->pid, signal);
}

static void stop_if_said(struct command *command)
{
    const struct stream *errors = &command->streams[ERRORS];

    if (command->stop_at == NULL || command->is_stopped || command->pid == 0 ||
        strstr(buf_text(&errors->text), command->stop_at) == NULL)
        return;
    command->is_stopped = true;
    kill(-command->pid, SIGTERM);
}

static void on_output(uv_poll_t *poll, int status, int events)
{
    struct command *command = poll->data;
    int which = (int)(poll - command->polls);
    bool is_over;

    (void)status;
    (void)events;
    read_some(command, which, &is_over);
    if (is_over)
        uv_poll_stop(poll);
    stop_if_said(command);
    if (command->streams[which].is_cut)
        command_kill(command);
}

static void on_kill_time(uv_timer_t *timer)
{
    command_kill(timer->data);
}

static void on_time(uv_timer_t *timer)
{
    struct command *command = timer->data;

    send_signal(command, SIGTERM);
    uv_timer_start(timer, on_kill_time, TERM_TO_KILL_MS, 0);
}

void command_kill(struct command *command)
{
    send_signal(command, SIGKILL);
}

/* -- The interface --------------------------------------------------------*/

struct command *command_start(uv_loop_t *loop,
                              const struct command_options *options,
                              command_fn *done, void *user, struct err *err)
{
    struct command *command = mem_zero(sizeof(*command));

    if (launch(options, command->fds, &command->pid, err) != 0) {
        free(command);
        return NULL;
    }
    command->output_max = options->output_max;
    if (options->stop_at != NULL)
        command->stop_at = mem_copy_string(options->stop_at);
    command->done = done;
    command->user = user;
    command->open_handles = WATCHED + 1;
    command->timer.data = command;
    uv_timer_init(loop, &command->timer);
    uv_timer_start(&command->timer, on_time, (uint64_t)options->limit_ms, 0);
    for (int i = 0; i < WATCHED; i++) {
        uv_poll_init(loop, &command->polls[i], command->fds[i]);
        command->polls[i].data = command;
        uv_poll_start(&command->polls[i], UV_READABLE,
                      i == EXIT ? on_process_end : on_output);
    }
    return command;
}
