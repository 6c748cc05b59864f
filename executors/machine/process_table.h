/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_MACHINE_PROCESS_TABLE_H
#define SMTUNE_EXECUTORS_MACHINE_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What /proc says of the machine's processes at one moment. A process is
 * known by its pid and its start time together: pids are used again.
 */

struct process {
    pid_t pid, parent, session;
    uint64_t start; /* clock ticks since boot */
    int64_t rss_bytes;
    bool is_zombie;
    void *owner; /* the caller's */
};

/* All zeroes at first; sorted by pid. */
struct process_table {
    struct process *rows;
    size_t count;
    size_t capacity;
};

/* Reads it anew; returns -1 when /proc cannot be read. */
int process_table_read(struct process_table *table);
struct process *process_table_find(const struct process_table *table,
                                   pid_t pid);
/* Gives a process without an owner its parent's, if that has one. */
void process_table_hand_down(struct process_table *table);
void process_table_clear(struct process_table *table);

/* One process; false when there is none, or when that cannot be seen now: then
 * errno is neither ENOENT nor ESRCH. Where it is read, errno stays as it was: a
 * child that runs beside its parent shares it (shim/spawn.c). */
bool process_read(pid_t pid, struct process *process);

/* Whether exactly this process lives, or that cannot be seen for now. */
bool process_lives(int64_t pid, uint64_t start);

/* Sends a signal to exactly this process (pid and start time), never to
 * another that has its pid since. False when it is gone. */
bool process_signal(pid_t pid, uint64_t start, int signal_number);

/* Whether the table has exactly this process, be it a zombie: as long as it is
 * there, its pid names its session and no other. */
bool process_table_has(const struct process_table *table, pid_t pid,
                       uint64_t start);

/* Sends a signal to every living process of the session that exactly this
 * process leads; to none when it is gone. Returns their number. */
size_t process_signal_session(pid_t leader, uint64_t start, int signal_number);

/* Sends a signal to every living process below that one, which itself gets
 * none; returns their number. Where it is a child subreaper, those are all
 * that its children ever started. */
size_t process_signal_descendants(pid_t ancestor, int signal_number);

/* Sends a signal to those living processes of an owner in the table that handle
 * it, or block it so that they can ask for it: to others it might be the end.
 * Those below smtune launch or mpirun get it from there alone, where that
 * handles it. Returns their number. */
size_t process_table_warn(const struct process_table *table, const void *owner,
                          int signal_number);

/* Proportional set size; 0 when the process is gone, -1 when it may not be
 * known. */
int64_t process_pss_bytes(pid_t pid);

/* Whether the process has this file open, as far as may be seen. */
bool process_has_open(pid_t pid, dev_t device, ino_t inode);

/* Copies the value of an environment variable that the process was started
 * with; false when it has none that fits, or hides it. */
bool process_variable(pid_t pid, const char *name, char *value, size_t size);

/* How many children this process has, dead ones that were not reaped included;
 * -1 where the kernel does not tell. The process must have one thread only. */
ptrdiff_t process_count_children(void);

/* The same, and kills them: as nobody else reaps them, no pid is a stranger's.
 * What a child that ends has started is a child of a subreaper at that very
 * moment: so for one, 0 says that nothing below it is left. */
ptrdiff_t process_kill_children(void);

#endif
