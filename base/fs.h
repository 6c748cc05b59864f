/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_FS_H
#define SMTUNE_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct buf;

/* Files as wholes. Every error names the path. */

/*
 * Appends the whole file to *out. Longer than max_bytes: ERR_FILE; missing:
 * ERR_NOT_FOUND; else ERR_FAILED. "-" is standard input.
 */
int fs_read(const char *path, size_t max_bytes, struct buf *out,
            struct err *err);

/* The same for a file that others have the making of: never waits, and what is
 * no file (a pipe, a device, a folder) is ERR_FILE. */
int fs_read_regular(const char *path, size_t max_bytes, struct buf *out,
                    struct err *err);

/* Appends at most the last max_bytes of a file, in the same way; of a link, or
 * of a file that cannot be read, nothing: -1. */
int fs_read_tail(const char *path, size_t max_bytes, struct buf *out);

/* Writes all of it, in pieces if need be; also to a terminal or a pipe that
 * somebody else made non-blocking. -1 with errno when it failed. */
int fs_write_all(int fd, const void *data, size_t length);

/* Replaces the file at `path` by a temporary one beside it that the caller
 * opened (fd < 0: could not, with errno) and has written (or not, with errno).
 * Closes it, and removes it where that fails. */
int fs_put_in_place(int fd, const char *temporary, const char *path,
                    bool is_written, struct err *err);
/* Replaces the file by a temporary beside it, fsync and rename. */
int fs_write_atomic(const char *path, const void *bytes, size_t length,
                    mode_t mode, struct err *err);

/* The same as fs_shared_mode() has it, after its folder is made as by
 * fs_make_shared_directories(). */
int fs_write_below(const char *path, const void *bytes, size_t length,
                   mode_t mode, struct err *err);

/* Makes a rename to that path last through a power cut; a file system that
 * cannot is no error. */
void fs_sync_directory_of(const char *path);

/* Creates a directory and its missing parents, mode 0700 where new. */
int fs_make_directories(const char *path, struct err *err);

/* What the files of a tree hold in all; 0: it has none, or is not there. */
int64_t fs_tree_bytes(const char *path);

/* Removes a file or a whole tree; follows no symbolic link; absent is fine. */
int fs_remove_tree(const char *path, struct err *err);

/* Copies a tree of files, folders and symbolic links into a folder, which may
 * be there; of what else there is, nothing. What was copied lasts through a
 * power cut. */
int fs_copy_tree(const char *source, const char *target, struct err *err);

/*
 * Folders that a group shares have the setgid bit and all rights for the group.
 * The functions below make a file or a folder as the one around it is: in such
 * a folder the group has the rights of the user and others none, whatever the
 * umask; elsewhere a file has the given mode, less the umask, and a folder
 * 0700. They are for folders of a run: other folders may have such a mode for
 * another reason.
 */

/* Whether a folder of that mode is one. */
bool fs_is_shared(mode_t mode);
/* The mode of a file at a path, for fs_write_atomic(). */
mode_t fs_shared_mode(const char *path, mode_t mode);
/* As open() and openat() with O_CREAT and O_CLOEXEC besides, and in such a
 * folder with O_NOFOLLOW; -1 with errno. */
int fs_shared_open(const char *path, int flags, mode_t mode);
int fs_shared_openat(int folder, const char *path, int flags, mode_t mode);
/* As mkdir() and mkdirat(). */
int fs_shared_mkdir(const char *path);
int fs_shared_mkdirat(int folder, const char *path);
/* As fs_make_directories(). */
int fs_make_shared_directories(const char *path, struct err *err);
/* For programs of trials, where their user names the folder: the same within
 * the folder that smtune gave to the trial, and fs_make_directories()
 * elsewhere. */
int fs_make_trial_directories(const char *path, struct err *err);
/* Whether this user may remove all of a tree; -1 with an error that names the
 * first folder that denies it. */
int fs_check_removable(const char *path, struct err *err);

/* Whether there is anything there, behind a link too, that can be seen. */
bool fs_exists(const char *path);
/* Whether the path leads to the open file: it was not removed meanwhile, and
 * another one made. */
bool fs_is_at(int fd, const char *path);

/* Whether the path is the folder or in it, by their names; both absolute. */
bool fs_is_within(const char *path, const char *folder);

/* "a/b" from "a" and "b"; an absolute `name` alone. The caller's to free. */
char *fs_join(const char *directory, const char *name);

/* The absolute path of a path that need not exist. The caller's to free. */
char *fs_absolute(const char *path);

/* The directory of the running program itself. The caller's to free. */
char *fs_program_directory(void);

#endif
