/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_CGROUP_FILE_H
#define SMTUNE_EXECUTORS_MACHINE_CGROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The files of a control group's directory. None of these allocates. */

/* 0, or -1 with errno. */
int cgroup_write(const char *directory, const char *name, const char *value);
int cgroup_write_number(const char *directory, const char *name,
                        int64_t number);

/* As much of a file as fits, with a NUL; "" when it cannot be read. */
void cgroup_read(const char *directory, const char *name, char *text,
                 size_t size);

/* Whether a word stands in a file of words. */
bool cgroup_has_word(const char *directory, const char *name, const char *word);

/* The number on the line of a key, in a text of lines "KEY NUMBER"; 0 when
 * there is no such line. */
int64_t cgroup_line_number(const char *text, const char *key);

/* Calls `visit` with each process of the group itself, not of those below it,
 * until it returns false, which is then returned. */
bool cgroup_each_process(const char *directory,
                         bool (*visit)(const void *user, pid_t pid),
                         const void *user);

/* Removes a group and those below it; false while anything lives there. */
bool cgroup_remove_tree(const char *directory);

/* Kills every process in a group and below it, once, as far as possible
 * without missing those that are being forked. No other is touched. */
void cgroup_kill_tree(const char *directory);

#endif
