/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_COMMAND_SHEBANG_H
#define SMTUNE_ORCHESTRATOR_SPEC_COMMAND_SHEBANG_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a program's name or path is a shell's: sh, bash, dash, zsh or ksh. */
bool program_is_shell(const char *path, size_t length);

/* The first line of a script that names its program: #!/usr/bin/env python3 */

/* Whether it begins with one. */
bool shebang_is_in(const char *script);

/* Whether its program is a shell. */
bool shebang_is_shell(const char *script);

/*
 * The words that run the script, which is in the file `path`, as Linux would:
 * the program, all that follows it as one argument, and the path. Ended by
 * NULL; each and the list are the caller's to free (words_free). NULL where
 * the line names no program.
 */
char **shebang_words(const char *script, const char *path);

/* The words that a shell runs a script by that names none: bash is told to stop
 * at the first error; NULL: /bin/sh. Likewise the caller's. */
char **script_words(const char *interpreter, const char *script);

#endif
