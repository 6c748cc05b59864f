/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/count.h"
#include "executors/attempt/shim_status.h"

enum { GRACE_MS = 10000, HEARTBEAT_MS = 10000, SILENCE_MS = 60000 };

enum kind { NUMBER, TEXT, FLAG };

struct row {
    const char *name;
    const char *word; /* for its value; "" for none */
    enum kind kind;
    size_t offset; /* in struct shim_options */
    const char *help;
};

#define AT(member) offsetof(struct shim_options, member)

static const struct row rows[] = {
    {"attempt", "ID", NUMBER, AT(attempt), "number of the attempt (0)"},
    {"time", "MS", NUMBER, AT(time_ms), "time limit in milliseconds"},
    {"memory", "BYTES", NUMBER, AT(memory_bytes),
     "memory limit of its processes; memory of a pilot"},
    {"grace", "MS", NUMBER, AT(grace_ms),
     "time from SIGTERM to SIGKILL (10000)"},
    {"no-cgroup", "", FLAG, AT(without_cgroups), "use no control group"},
    {"tty", "", FLAG, AT(with_tty),
     "run COMMAND on a pseudo-terminal and copy its output; no DIRECTORY"},
    {"agent", "FD", NUMBER, AT(agent_fd), "serve an engine on this socket"},
    {"order", "DIR", TEXT, AT(order),
     "run the command of the file `order` in DIR"},
    {"orders", "FILE", TEXT, AT(orders),
     "the same; DIR is line SLURM_ARRAY_TASK_ID of FILE, from 0"},
    {"pilot", "DIR", TEXT, AT(pilot), "serve an engine through files in DIR"},
    {"heartbeat", "MS", NUMBER, AT(heartbeat_ms),
     "time between two signs of life (10000)"},
    {"silence", "MS", NUMBER, AT(silence_ms),
     "time without a sign of life that counts as failed (60000)"},
    {"health", "COMMAND", TEXT, AT(health),
     "check the node with COMMAND, after the built-in checks"},
    {"healthy", "DIR", TEXT, AT(healthy),
     "check the node first, and record in DIR that it passed"},
    {"reserve-of", "DIR", TEXT, AT(reserve_of),
     "run after the attempt in DIR, if no engine continues it"},
    {"engine", "DIR", TEXT, AT(engine),
     "folder with the signs of life of the engine"},
    {"cpus", "N", NUMBER, AT(cpus), "CPUs of a pilot (all that it may use)"},
    {"gpus", "N", NUMBER, AT(gpus), "GPUs of a pilot"},
    {"left", "MS", NUMBER, AT(left_ms), "remaining time of a pilot"},
    {"idle", "MS", NUMBER, AT(idle_ms), "time that a pilot waits for work"},
};

enum { HELP = ARRAY_LEN(rows) };

static void print_usage(FILE *out)
{
    fputs(
        "usage: smtune-shim [options] DIRECTORY -- COMMAND [ARGUMENT]...\n"
        "       smtune-shim --order DIR|--orders FILE|--pilot DIR [options]\n"
        "       smtune-shim --agent FD\n"
        "       smtune-shim --tty -- COMMAND [ARGUMENT]...\n"
        "       smtune-shim --container ... -- COMMAND [ARGUMENT]...\n"
        "\n"
        "Runs the command as an attempt in DIRECTORY. Creates `claim` there,\n"
        "writes the output to `log`, and writes `exit` at the end. Exits with\n"
        "the status of the command (128 + N after signal N, 126 if it could\n"
        "not start). If another process has the claim, it does nothing and\n"
        "exits with 0.\n"
        "\n",
        out);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        fprintf(out, "  --%s %-*s%s\n", rows[i].name,
                16 - (int)strlen(rows[i].name), rows[i].word, rows[i].help);
}

NORETURN static void refuse(void)
{
    print_usage(stderr);
    exit(SHIM_USAGE);
}

static int64_t parse_number(const char *text)
{
    char *end;
    long long number;

    number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || number < 0 || !count_is_sound(number)) {
        fprintf(stderr, "smtune-shim: type mismatch: '%s' is not a number\n",
                text);
        exit(SHIM_USAGE);
    }
    return number;
}

static void set(struct shim_options *options, const struct row *row)
{
    char *member = (char *)options + row->offset;

    switch (row->kind) {
    case NUMBER:
        *(int64_t *)(void *)member = parse_number(optarg);
        break;
    case TEXT:
        *(const char **)(void *)member = optarg;
        break;
    case FLAG:
    default:
        *(bool *)(void *)member = true;
        break;
    }
}

int shim_options_parse(struct shim_options *options, int argc, char **argv)
{
    struct option names[ARRAY_LEN(rows) + 2] = {{NULL, 0, NULL, 0}};
    int at;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        names[i] = (struct option){rows[i].name,
                                   rows[i].kind == FLAG ? no_argument
                                                        : required_argument,
                                   NULL, (int)i};
    names[HELP] = (struct option){"help", no_argument, NULL, HELP};
    *options = (struct shim_options){.grace_ms = GRACE_MS,
                                     .agent_fd = -1,
                                     .heartbeat_ms = HEARTBEAT_MS,
                                     .silence_ms = SILENCE_MS};
    while ((at = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        if (at == HELP) {
            print_usage(stdout);
            exit(0);
        }
        if (at > HELP) /* '?': what is none of them */
            refuse();
        set(options, &rows[at]);
    }
    if (options->heartbeat_ms == 0 || options->silence_ms == 0) {
        fputs("smtune-shim: out of range: --heartbeat and --silence must be "
              "above 0\n",
              stderr);
        exit(SHIM_USAGE);
    }
    if (options->agent_fd < 0 && options->order == NULL &&
        options->orders == NULL && options->pilot == NULL &&
        argc - optind < (options->with_tty ? 1 : 2))
        refuse();
    return optind;
}
