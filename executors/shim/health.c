/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/shim/health.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/count.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/attempt/attempt_file.h"
#include "executors/machine/cgroup_file.h"
#include "executors/machine/program_output.h"

enum {
    COMMAND_MS = 60000,
    GPUS_MS = 20000,
    QUOTED_MAX = 120 /* of the end of what a program wrote */
};

/* -- Programs -------------------------------------------------------------*/

/* "what it said" in one line. */
static void quote(const struct program_output *output, char quoted[QUOTED_MAX])
{
    size_t length = output->length;
    const char *from = output->text;

    while (length > 0 && (unsigned char)from[length - 1] <= ' ')
        length--;
    if (length > QUOTED_MAX - 1) {
        from += length - (QUOTED_MAX - 1);
        length = QUOTED_MAX - 1;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];

        quoted[i] = (char)(c < ' ' || c >= 0x7f ? ' ' : c);
    }
    quoted[length] = '\0';
}

/* 0, or -1 with how the program failed. */
static int run_check(const char *name, char *const *argv, int64_t limit_ms,
                     struct program_output *output, char text[HEALTH_TEXT_MAX])
{
    int status = program_run(argv, limit_ms, output);
    char quoted[QUOTED_MAX];

    if (status == 0)
        return 0;
    quote(output, quoted);
    if (status == -1)
        snprintf(text, HEALTH_TEXT_MAX,
                 "%s did not answer within %" PRId64 " s: \"%s\"", name,
                 limit_ms / 1000, quoted);
    else if (WIFSIGNALED(status))
        snprintf(text, HEALTH_TEXT_MAX, "%s was killed by signal %d: \"%s\"",
                 name, WTERMSIG(status), quoted);
    else
        snprintf(text, HEALTH_TEXT_MAX, "%s failed with status %d: \"%s\"",
                 name, WEXITSTATUS(status), quoted);
    return -1;
}

/* -- What is built in -----------------------------------------------------*/

/* Written, and not only to memory. */
static int check_folder(const char *folder, char text[HEALTH_TEXT_MAX])
{
    static const char bytes[4096];
    char *path = mem_printf("%s/.smtune-health-%d", folder, (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_written = fd >= 0 && fs_write_all(fd, bytes, sizeof(bytes)) == 0 &&
                      fdatasync(fd) == 0;
    int error = errno;

    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(path);
    if (!is_written)
        snprintf(text, HEALTH_TEXT_MAX, "cannot write to '%.100s': %s", folder,
                 strerror(error));
    else if (attempt_disk_is_full(folder))
        snprintf(text, HEALTH_TEXT_MAX, "no free space in '%.100s'", folder);
    return is_written && !attempt_disk_is_full(folder) ? 0 : -1;
}

static int check_shared(const struct attempt_spec *needs,
                        char text[HEALTH_TEXT_MAX])
{
    return check_folder(needs->directory, text);
}

static int check_temporary(const struct attempt_spec *needs,
                           char text[HEALTH_TEXT_MAX])
{
    const char *folder = getenv("TMPDIR");

    (void)needs;
    return check_folder(folder != NULL && folder[0] != '\0' ? folder : "/tmp",
                        text);
}

static int check_memory(const struct attempt_spec *needs,
                        char text[HEALTH_TEXT_MAX])
{
    char lines[8192], wanted[32], has[32];
    int64_t available;

    if (needs->memory_bytes == 0)
        return 0;
    cgroup_read("/proc", "meminfo", lines, sizeof(lines));
    available = count_times(cgroup_line_number(lines, "MemAvailable:"), 1024);
    if (available == 0 || available >= needs->memory_bytes)
        return 0;
    units_format_bytes(needs->memory_bytes, wanted, sizeof(wanted));
    units_format_bytes(available, has, sizeof(has));
    snprintf(text, HEALTH_TEXT_MAX,
             "needs %s of memory, this node has %s available", wanted, has);
    return -1;
}

static bool is_on_path(const char *program)
{
    const char *path = getenv("PATH");
    bool is_there = false;

    while (path != NULL && !is_there) {
        size_t length = strcspn(path, ":");
        char *candidate = mem_printf("%.*s/%s", (int)length, path, program);

        is_there = access(candidate, X_OK) == 0;
        free(candidate);
        path = path[length] == ':' ? path + length + 1 : NULL;
    }
    return is_there;
}

/* A line of the listing: "INDEX, ERRORS". */
static int check_gpu_line(const char *line, size_t length,
                          char text[HEALTH_TEXT_MAX])
{
    static const char *const bad[] = {"ERR!", "lost", "Unknown Error", "Xid",
                                      "Unable"};
    char copy[128];
    const char *errors;

    snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (strstr(copy, bad[i]) != NULL) {
            snprintf(text, HEALTH_TEXT_MAX, "nvidia-smi reports \"%s\"", copy);
            return -1;
        }
    }
    errors = strchr(copy, ',');
    if (errors == NULL || strtoll(errors + 1, NULL, 10) == 0)
        return 0;
    snprintf(text, HEALTH_TEXT_MAX, "GPU %.*s has uncorrected memory errors:%s",
             (int)(errors - copy), copy, errors + 1);
    return -1;
}

/* MIG devices are GPUs to an attempt, and not in the query. */
static int count_mig(void)
{
    static char program[] = "nvidia-smi", list[] = "-L";
    char *argv[] = {program, list, NULL};
    struct program_output output;
    int count = 0;

    if (program_run(argv, GPUS_MS, &output) != 0)
        return 0;
    for (const char *at = output.text; (at = strstr(at, "(UUID: MIG-")) != NULL;
         at++)
        count++;
    return count;
}

static int check_gpus(const struct attempt_spec *needs,
                      char text[HEALTH_TEXT_MAX])
{
    static char program[] = "nvidia-smi", format[] = "--format=csv,noheader",
                query[] =
                    "--query-gpu=index,ecc.errors.uncorrected.volatile.total";
    char *argv[] = {program, query, format, NULL};
    struct program_output output;
    const char *line;
    int count = 0;

    if (needs->gpus == 0 || !is_on_path(program))
        return 0;
    if (run_check(program, argv, GPUS_MS, &output, text) != 0)
        return -1;
    for (line = output.text; *line != '\0'; line += strspn(line, "\n")) {
        size_t length = strcspn(line, "\n");

        if (check_gpu_line(line, length, text) != 0)
            return -1;
        count += length > 0;
        line += length;
    }
    if (count < needs->gpus)
        count += count_mig();
    if (count >= needs->gpus)
        return 0;
    snprintf(text, HEALTH_TEXT_MAX, "needs %d GPU%s, nvidia-smi lists %d",
             needs->gpus, units_plural(needs->gpus), count);
    return -1;
}

/* -- The interface --------------------------------------------------------*/

static int check_command(const char *command, char text[HEALTH_TEXT_MAX])
{
    static char shell[] = "/bin/sh", option[] = "-c";
    char *words = mem_copy_string(command);
    char *argv[] = {shell, option, words, NULL};
    struct program_output output;
    int result = run_check("the health check", argv, COMMAND_MS, &output, text);

    free(words);
    return result;
}

int health_check(const struct attempt_spec *needs, const char *command,
                 char text[HEALTH_TEXT_MAX])
{
    static int (*const built_in[])(const struct attempt_spec *,
                                   char text[HEALTH_TEXT_MAX]) = {
        check_shared, check_temporary, check_memory, check_gpus};

    for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
        if (built_in[i](needs, text) != 0)
            return -1;
    }
    return command != NULL ? check_command(command, text) : 0;
}
