/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/cgroup_place.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

enum { FILE_MAX_BYTES = 4 << 20 };

/* The controller of a tree of version 1; NULL for version 2. */
static const char *const controllers[CGROUP_TREES] = {
    [CGROUP_FREEZER] = "freezer",
    [CGROUP_MEMORY] = "memory",
    [CGROUP_CPU] = "cpu",
};

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, word, length) == 0 &&
            (list[length] == ',' || list[length] == '\0'))
            return true;
    }
    return false;
}

/* Cuts the line into its words; returns how many there are. */
static size_t split(char *line, char **words, size_t max)
{
    size_t count = 0;
    char *rest = line, *word;

    while (count < max && (word = strsep(&rest, " ")) != NULL)
        words[count++] = word;
    return count;
}

/* Blanks and the like are written as \040 in mountinfo. */
static void unescape(char *text)
{
    char *out = text;

    for (; *text != '\0'; text++) {
        if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
            *out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 +
                            (text[3] - '0'));
            text += 3;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
}

/* A mount, as far as it matters here; see proc(5), mountinfo. */
struct mount {
    const char *root; /* the group that is mounted there */
    const char *point;
    const char *type;
    const char *options;
};

static bool parse_mount(char *line, struct mount *mount)
{
    enum { ROOT = 3, POINT = 4, OPTIONAL = 6, WORDS_MAX = 64 };
    char *words[WORDS_MAX];
    size_t count = split(line, words, WORDS_MAX), dash = OPTIONAL;

    while (dash < count && strcmp(words[dash], "-") != 0)
        dash++;
    if (dash + 3 >= count)
        return false;
    unescape(words[ROOT]);
    unescape(words[POINT]);
    mount->root = words[ROOT];
    mount->point = words[POINT];
    mount->type = words[dash + 1];
    mount->options = words[dash + 3];
    return true;
}

static bool mounts_tree(const struct mount *mount, enum cgroup_tree tree)
{
    if (controllers[tree] == NULL)
        return strcmp(mount->type, "cgroup2") == 0;
    return strcmp(mount->type, "cgroup") == 0 &&
           list_has(mount->options, controllers[tree]);
}

/* The group of this process in a tree, from a copy of /proc/self/cgroup, whose
 * lines are ID:CONTROLLERS:GROUP; NULL when it has none. The caller's to
 * free. */
static char *own_group(const char *groups, enum cgroup_tree tree)
{
    char *copy = mem_copy_string(groups), *rest = copy, *line, *found = NULL;

    while (found == NULL && (line = strsep(&rest, "\n")) != NULL) {
        char *id = strsep(&line, ":"), *list = strsep(&line, ":");

        if (line == NULL)
            continue;
        if (controllers[tree] == NULL ? strcmp(id, "0") == 0 && *list == '\0'
                                      : list_has(list, controllers[tree]))
            found = mem_copy_string(line);
    }
    free(copy);
    return found;
}

/* NULL when the group lies outside of what is mounted. */
static char *directory_of(const char *root, const struct mount *mount,
                          const char *group)
{
    size_t length = strlen(mount->root);

    if (strcmp(mount->root, "/") == 0)
        length = 0;
    if (strncmp(group, mount->root, length) != 0 ||
        (group[length] != '/' && group[length] != '\0'))
        return NULL;
    group += length;
    return mem_printf("%s%s%s", root, mount->point,
                      strcmp(group, "/") == 0 ? "" : group);
}

static void note_mount(struct cgroup_places *places, const char *root,
                       const struct mount *mount, const char *groups)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++) {
        char *group;

        if (places->directories[tree] != NULL ||
            !mounts_tree(mount, (enum cgroup_tree)tree))
            continue;
        group = own_group(groups, (enum cgroup_tree)tree);
        if (group != NULL)
            places->directories[tree] = directory_of(root, mount, group);
        free(group);
    }
}

void cgroup_places_find(struct cgroup_places *places, const char *root)
{
    char *mounts_path = mem_printf("%s/proc/self/mountinfo", root);
    char *groups_path = mem_printf("%s/proc/self/cgroup", root);
    struct buf mounts = BUF_INIT, groups = BUF_INIT;

    memset(places, 0, sizeof(*places));
    if (fs_read(mounts_path, FILE_MAX_BYTES, &mounts, NULL) == 0 &&
        fs_read(groups_path, FILE_MAX_BYTES, &groups, NULL) == 0 &&
        mounts.length > 0) {
        char *rest = mounts.data, *line;
        struct mount mount;

        while ((line = strsep(&rest, "\n")) != NULL) {
            if (parse_mount(line, &mount))
                note_mount(places, root, &mount, buf_text(&groups));
        }
    }
    buf_clear(&mounts);
    buf_clear(&groups);
    free(mounts_path);
    free(groups_path);
}

void cgroup_places_clear(struct cgroup_places *places)
{
    for (int tree = 0; tree < CGROUP_TREES; tree++)
        free(places->directories[tree]);
    memset(places, 0, sizeof(*places));
}
