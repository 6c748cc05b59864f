/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/order_file.h"
#include "executors/attempt/pilot_spool.h"

/*
 * What an engine says to smtune-shim on a node, for tests in Python.
 *
 *     speak order ATTEMPT DIRECTORY CPUS GPUS MEMORY TIME_MS GRACE_MS WORD...
 *         writes DIRECTORY/order, with SM_X=1 and SMTUNE_TRIAL=t as the
 *         attempt's own variables
 *     speak pilot DIRECTORY N
 *         is the pilot's N-th engine: does what comes on stdin, a line each
 *         with tabs between the words, and writes what the pilot says to
 *         stdout, a line each
 *
 *     start ATTEMPT DIRECTORY CPUS GPUS MEMORY TIME_MS GRACE_MS WORD...
 *     cancel ATTEMPT term|kill
 *     drain
 */

enum { WORDS_MAX = 32, LINE_MAX_BYTES = 4096 };

static void fail(const struct err *err)
{
    fprintf(stderr, "speak: %s\n", err->text);
    exit(1);
}

/* words: ATTEMPT DIRECTORY CPUS GPUS MEMORY TIME_MS GRACE_MS WORD... */
static struct attempt_spec spec_of(char **words)
{
    static char x[] = "SM_X=1", trial[] = "SMTUNE_TRIAL=t";
    static char *own[] = {x, trial, NULL};

    return (struct attempt_spec){.attempt = strtoll(words[0], NULL, 10),
                                 .directory = words[1],
                                 .work_directory = words[1],
                                 .cpus = (int)strtol(words[2], NULL, 10),
                                 .gpus = (int)strtol(words[3], NULL, 10),
                                 .memory_bytes = strtoll(words[4], NULL, 10),
                                 .time_ms = strtoll(words[5], NULL, 10),
                                 .grace_ms = strtoll(words[6], NULL, 10),
                                 .argv = words + 7,
                                 .envp = own};
}

static void do_line(struct spool_writer *writer, char *line)
{
    char *words[WORDS_MAX + 1] = {NULL}, *rest = line;
    struct buf *out = spool_out(writer);
    size_t count = 0;
    struct err err;

    for (char *word;
         count < WORDS_MAX && (word = strtok_r(rest, "\t\n", &rest)) != NULL;)
        words[count++] = word;
    if (count > 8 && strcmp(words[0], "start") == 0) {
        struct attempt_spec spec = spec_of(words + 1);

        if (agent_put_start(out, &spec, &err) != 0)
            fail(&err);
    } else if (count == 3 && strcmp(words[0], "cancel") == 0) {
        struct agent_cancel cancel = {
            .attempt = strtoll(words[1], NULL, 10),
            .mode = strcmp(words[2], "kill") == 0 ? CANCEL_KILL : CANCEL_TERM};

        agent_put(out, AGENT_CANCEL, &cancel, sizeof(cancel));
    } else if (count == 1 && strcmp(words[0], "drain") == 0) {
        agent_put(out, AGENT_DRAIN, "", 0);
    } else {
        fprintf(stderr, "speak: what is '%s'?\n", line);
        exit(2);
    }
}

static void print_message(const struct agent_message *message)
{
    struct agent_ready ready;
    struct agent_started started;
    struct attempt_exit end;

    if (message->kind == AGENT_READY &&
        agent_get(message, &ready, sizeof(ready)) == 0)
        printf("ready %d %d %s\n", ready.cpus, ready.gpus, ready.node);
    else if (message->kind == AGENT_STARTED &&
             agent_get(message, &started, sizeof(started)) == 0)
        printf("started %lld %lld\n", (long long)started.attempt,
               (long long)started.pid);
    else if (message->kind == AGENT_ENDED &&
             agent_get(message, &end, sizeof(end)) == 0)
        printf("ended %lld %s %d\n", (long long)end.attempt,
               attempt_cause_names[end.cause], end.is_displaced);
    else if (message->kind == AGENT_DRAIN)
        printf("drain\n");
    else
        printf("nonsense\n");
}

/* Until nobody is there to be told. */
static void talk(struct spool_writer *writer, struct spool_reader *reader)
{
    struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[LINE_MAX_BYTES];
    struct agent_message message;
    int64_t wait_ms = 0;
    bool came = true;
    struct err err;

    setvbuf(stdin, NULL, _IONBF, 0);
    for (;;) {
        poll(&polled, 1, (int)spool_wait_ms(&wait_ms, came));
        if ((polled.revents & POLLIN) != 0) {
            if (fgets(line, sizeof(line), stdin) == NULL)
                return;
            do_line(writer, line);
        } else if ((polled.revents & POLLHUP) != 0) {
            return;
        }
        if (polled.revents == 0 && spool_write(writer, &err) < 0)
            fail(&err);
        came = spool_read(reader, NULL) > 0;
        while (spool_next(reader, &message) > 0)
            print_message(&message);
        fflush(stdout);
    }
}

static int pilot(const char *directory, const char *number)
{
    char *inbox = mem_printf("%s/inbox.%s", directory, number);
    char *outbox = mem_printf("%s/outbox.%s", directory, number);
    struct spool_writer writer;
    struct spool_reader reader;
    struct err err;

    if (spool_writer_open(&writer, inbox, &err) != 0)
        fail(&err);
    spool_reader_init(&reader, outbox);
    talk(&writer, &reader);
    spool_writer_close(&writer);
    spool_reader_clear(&reader);
    free(inbox);
    free(outbox);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err;

    if (argc == 4 && strcmp(argv[1], "pilot") == 0)
        return pilot(argv[2], argv[3]);
    if (argc > 9 && strcmp(argv[1], "order") == 0) {
        struct attempt_spec spec = spec_of(argv + 2);

        if (order_write(&spec, &err) != 0)
            fail(&err);
        return 0;
    }
    fputs("usage: speak order|pilot ...\n", stderr);
    return 2;
}
