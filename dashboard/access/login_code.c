/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A code is a file in a private folder. Its name is the hash of the code, so
 * that a look at the folder opens nothing, and its text is the time until which
 * the code is valid. Any process of the user can make one, without a word to
 * the dashboard that takes it. Whoever removes the file has used the code: of
 * two that try at once, unlink() lets one succeed.
 *
 * A folder in /tmp may be removed while the dashboard runs, and another user
 * may make one of that name then: a file that is not this user's is no code.
 */
#include "dashboard/access/login_code.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/mem.h"
#include "dashboard/access/private_file.h"

static const char prefix[] = "code-";

enum { TEXT_SIZE = 32, NAME_LENGTH = sizeof(prefix) - 1 + DIGEST_HEX_SIZE - 1 };

static char *path_of(const char *folder, const char *code)
{
    char hex[DIGEST_HEX_SIZE];

    digest_of(code, strlen(code), hex);
    return mem_printf("%s/%s%s", folder, prefix, hex);
}

/* Whether the file has a time that is to come, and not too far off: such a file
 * is of another start of the machine. */
static bool is_valid(const char *path, int64_t now_ms)
{
    char text[TEXT_SIZE];
    int64_t until_ms;

    if (private_file_read(path, text, sizeof(text)) < 0)
        return false;
    until_ms = strtoll(text, NULL, 10);
    return until_ms > now_ms && until_ms <= now_ms + LOGIN_CODE_VALID_MS;
}

/* What is still being written has a longer name. */
static void remove_old(const char *folder, int64_t now_ms)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char *path;

        if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) != 0 ||
            strlen(entry->d_name) != NAME_LENGTH)
            continue;
        path = fs_join(folder, entry->d_name);
        if (!is_valid(path, now_ms))
            unlink(path);
        free(path);
    }
    if (directory != NULL)
        closedir(directory);
}

int login_code_make(const char *folder, int64_t now_ms,
                    char code[LOGIN_CODE_SIZE], struct err *err)
{
    char *text = mem_printf("%" PRId64, now_ms + LOGIN_CODE_VALID_MS);
    char *path;
    int status;

    remove_old(folder, now_ms);
    token_draw(code, LOGIN_CODE_BYTES);
    path = path_of(folder, code);
    status = private_file_write(path, text, err);
    free(path);
    free(text);
    return status;
}

bool login_code_use(const char *folder, const char *code, int64_t now_ms)
{
    char *path = path_of(folder, code);
    bool is_in_time = is_valid(path, now_ms);
    bool is_ours = unlink(path) == 0;

    free(path);
    return is_in_time && is_ours;
}
