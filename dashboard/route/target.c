/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/target.h"

#include <string.h>

static const char *behind_base(const char *text, const char *base_path,
                               bool *lacks_slash)
{
    size_t length = strlen(base_path);
    const char *rest;

    if (length == 0 || strncmp(text, base_path, length) != 0)
        return text;
    rest = text + length;
    *lacks_slash = *rest == '\0' || *rest == '?';
    return *rest == '/' ? rest : text;
}

struct target target_read(const char *text, const char *base_path)
{
    const char prefix[] = "/s/";
    struct target target = {0};
    const char *key;

    target.file = behind_base(text, base_path, &target.lacks_slash);
    target.asked = target.file;
    if (strncmp(target.file, prefix, sizeof(prefix) - 1) != 0)
        return target;
    key = target.file + sizeof(prefix) - 1;
    if (key[strcspn(key, "/?")] != '/')
        return target;
    target.session_key = key;
    target.session_key_length = strcspn(key, "/");
    target.asked = key + target.session_key_length;
    return target;
}
