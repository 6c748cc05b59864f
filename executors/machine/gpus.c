/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/gpus.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* -1 when the driver's description of a GPU has none. */
static int device_minor(const char *information_path)
{
    static const char key[] = "Device Minor:";
    FILE *file = fopen(information_path, "re");
    char line[256];
    int minor = -1;

    if (file == NULL)
        return -1;
    while (minor < 0 && fgets(line, sizeof(line), file) != NULL) {
        const char *at = line + strlen(key);

        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        at += strspn(at, " \t");
        if (isdigit((unsigned char)*at))
            minor = (int)strtol(at, NULL, 10);
    }
    fclose(file);
    return minor;
}

static bool is_usable(const char *root, const char *information_path)
{
    int minor = device_minor(information_path);
    char path[PATH_MAX];

    if (minor < 0)
        return false;
    snprintf(path, sizeof(path), "%s/dev/nvidia%d", root, minor);
    return access(path, F_OK) == 0;
}

static size_t count_described(const char *root)
{
    char pattern[PATH_MAX];
    size_t count = 0;
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/proc/driver/nvidia/gpus/*/%s", root,
             "information");
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += is_usable(root, found.gl_pathv[i]);
    globfree(&found);
    return count;
}

static size_t count_device_files(const char *root)
{
    char pattern[PATH_MAX];
    size_t count = 0;
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/dev/nvidia[0-9]*", root);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *number =
            strrchr(found.gl_pathv[i], '/') + strlen("/nvidia");

        count += number[strspn(number, "0123456789")] == '\0';
    }
    globfree(&found);
    return count;
}

/* Names of slots are made of them, so no other character passes. */
static bool is_name(const char *text, size_t length)
{
    bool is_mig = text_begins_with(text, "MIG-");

    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '-' &&
            !(is_mig && text[i] == '/'))
            return false;
    }
    return true;
}

bool gpu_is_mig(const struct gpu *gpu)
{
    return text_begins_with(gpu->name, "MIG-");
}

size_t gpus_parse(const char *visible, struct gpu gpus[GPUS_MAX])
{
    size_t count = 0;

    while (count < GPUS_MAX) {
        size_t length = strcspn(visible, ",");

        if (length == 0 || length >= GPU_NAME_MAX || visible[0] == '-' ||
            !is_name(visible, length))
            break;
        memcpy(gpus[count].name, visible, length);
        gpus[count++].name[length] = '\0';
        visible += length + (visible[length] == ',');
    }
    return count;
}

size_t gpus_find(const char *root, const char *visible,
                 struct gpu gpus[GPUS_MAX])
{
    size_t count = count_described(root);

    if (count == 0)
        count = count_device_files(root);
    if (count > GPUS_MAX)
        count = GPUS_MAX;
    if (count > 0 && visible != NULL)
        return gpus_parse(visible, gpus);
    for (size_t i = 0; i < count; i++)
        snprintf(gpus[i].name, sizeof(gpus[i].name), "%zu", i);
    return count;
}

bool gpu_field_next(const char **at, const char *end, char *field, size_t size)
{
    const char *from = *at, *to;

    field[0] = '\0';
    if (from == NULL)
        return false;
    to = memchr(from, ',', (size_t)(end - from));
    *at = to != NULL ? to + 1 : NULL;
    if (to == NULL)
        to = end;
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    snprintf(field, size, "%.*s", (int)(to - from), from);
    return true;
}
