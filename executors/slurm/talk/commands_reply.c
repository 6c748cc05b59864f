/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/text.h"
#include "executors/slurm/talk/commands_impl.h"

/* The length of what a line begins with that says nothing: "sbatch: error: ".
 */
static size_t preface_length(const char *line, size_t length)
{
    static const char *const marks[] = {": error: ", ": fatal: "};

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz");

        if (name + strlen(marks[i]) <= length &&
            strncmp(line + name, marks[i], strlen(marks[i])) == 0)
            return name + strlen(marks[i]);
    }
    return 0;
}

/* The end of it, which is what counts, in one line. */
static void set_text(struct slurm_reply *reply, const char *text)
{
    struct buf line = BUF_INIT;
    size_t length = strlen(text);

    while (length > 0 && strchr(" \n", text[length - 1]) != NULL)
        length--;
    if (length > SLURM_TEXT_MAX / 2) {
        text += length - SLURM_TEXT_MAX / 2;
        length = SLURM_TEXT_MAX / 2;
    }
    for (size_t i = preface_length(text, length); i < length; i++) {
        if (text[i] != '\n') {
            text_escape(text + i, 1, &line);
            continue;
        }
        buf_add_string(&line, "; ");
        i += preface_length(text + i + 1, length - i - 1);
    }
    snprintf(reply->text, sizeof(reply->text), "%s", buf_text(&line));
    buf_clear(&line);
}

void slurm_reply_silent(struct slurm_reply *reply, const char *text)
{
    reply->answer = SLURM_SILENT;
    set_text(reply, text);
}

void slurm_reply_take(struct slurm_reply *reply,
                      const struct command_result *result)
{
    memset(reply, 0, sizeof(*reply));
    if (result->exit_code == 0 && !result->is_cut && !result->is_late)
        return;
    reply->answer =
        (result->exit_code > 0 || result->is_stopped) && !result->is_late
            ? slurm_answer_of(result->errors)
            : SLURM_SILENT;
    set_text(reply, result->errors);
    if (reply->text[0] == '\0')
        set_text(reply, result->is_cut    ? "its answer is too long"
                        : result->is_late ? "it did not answer in time"
                                          : "it failed without a message");
}

/* What is told of jobs that are no more, or of one that has no script yet to
 * be signalled, is no failure. */
static bool is_nothing_to_cancel(const char *line, size_t length)
{
    static const char *const parts[] = {"Invalid job id specified",
                                        "already completing or completed",
                                        "can not be altered now"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (memmem(line, length, parts[i], strlen(parts[i])) != NULL)
            return true;
    }
    return length == 0;
}

bool slurm_cancel_is_done(const struct command_result *result)
{
    const char *line = result->errors;
    size_t length;

    if (result->is_late || result->exit_code < 0 || *line == '\0')
        return false;
    for (; *line != '\0'; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        if (!is_nothing_to_cancel(line, length))
            return false;
    }
    return true;
}
