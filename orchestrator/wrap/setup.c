/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `setup`: lines of bash before the command. All lines and the command share
 * one process: a line may set variables, change the folder or define limits,
 * and then the command replaces bash, so that signals and the exit status are
 * the command's own.
 *
 * A line whose status is not 0 ends the attempt. An item of several lines runs
 * under `set -e`; a single line does not, because a sourced script may expect
 * failures inside. The trap records the line, and the shim makes the cause
 * setup_failed of that (executors/shim/evidence.c). The script is a single
 * line, and each item has as many empty lines before it as there were items:
 * so the number in a message of bash is that of the item. The items run without
 * arguments of their own: `source` would pass the command's on.
 */
#include "orchestrator/wrap/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/setup_failed.h"
#include "orchestrator/wrap/conda.h"

/* Its arguments: the file for a failure, the conda environment or "", the
 * number of lines, the lines, the command. */
static const char script[] =
    "smtune_file=$1; "
    "smtune_conda=$2; "
    "smtune_lines=(\"${@:4:$3}\"); "
    "smtune_words=(\"${@:4+$3}\"); "
    "set --; "
    "smtune_break=$'\\n'; "
    "smtune_before=; "
    "smtune_number=0; "
    "smtune_tell() { "
    "if [ $smtune_number -gt ${#smtune_lines[@]} ]; then "
    "printf \"cannot activate the conda environment '%s'\" "
    "\"$smtune_conda\"; "
    "else "
    "printf \"line %s of setup failed with exit status %s: %s\" "
    "$smtune_number $1 \"${smtune_line%%\"$smtune_break\"*}\"; "
    "fi >\"$smtune_file\"; }; "
    "trap 'smtune_status=$?; "
    "[ $smtune_status -ne 0 ] || smtune_status=1; "
    "smtune_tell $smtune_status; "
    "exit $smtune_status' EXIT; "
    "for smtune_line in \"${smtune_lines[@]}\"; do "
    "smtune_number=$((smtune_number + 1)); "
    "case $smtune_line in *\"$smtune_break\"*) set -e;; esac; "
    "eval \"$smtune_before$smtune_line\"; "
    "smtune_status=$?; "
    "set +e; "
    "[ $smtune_status -eq 0 ] || exit $smtune_status; "
    "smtune_before+=$smtune_break; "
    "done; "
    "smtune_number=$((smtune_number + 1)); "
    "[ -z \"$smtune_conda\" ] || smtune_activate || exit; "
    "trap - EXIT; "
    "exec \"${smtune_words[@]}\"";

char **setup_words(const struct job_spec *task, const char *conda, char **argv,
                   const char *attempt_directory)
{
    enum { BEFORE = 7 };
    size_t count = 0, at = BEFORE;
    char **words;

    if (task->setup_count == 0 && conda == NULL)
        return argv;
    while (argv[count] != NULL)
        count++;
    words = mem_array(BEFORE + task->setup_count + count + 1, sizeof(*words));
    words[0] = mem_copy_string("bash");
    words[1] = mem_copy_string("-c");
    words[2] =
        mem_printf("%s%s", conda != NULL ? conda_activation : "", script);
    words[3] = mem_copy_string("setup"); /* begins the messages of bash */
    words[4] = fs_join(attempt_directory, SETUP_FAILED_FILE);
    words[5] = mem_copy_string(conda != NULL ? conda : "");
    words[6] = mem_printf("%zu", task->setup_count);
    for (size_t i = 0; i < task->setup_count; i++)
        words[at++] = mem_copy_string(task->setup[i]);
    memcpy(words + at, argv, count * sizeof(*words));
    free(argv);
    return words;
}
