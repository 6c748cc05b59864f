/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/container/container.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

enum kind { TEXT, TEXTS, MOUNT, READ_ONLY, BYTES, FLAG };

/* Its words, and for what they are. */
static const struct row {
    const char *name;
    enum kind kind;
    size_t offset, count_offset; /* in struct container */
} rows[] = {
#define AT(member) offsetof(struct container, member)
    {"--image", TEXT, AT(image), 0},
    {"--runtime", TEXT, AT(runtime), 0},
    {"--folder", TEXT, AT(folder), 0},
    {"--keep", TEXT, AT(kept), 0},
    {"--mount", MOUNT, AT(mounts), AT(mount_count)},
    {"--mount-read-only", READ_ONLY, AT(mounts), AT(mount_count)},
    {"--variable", TEXTS, AT(variables), AT(variable_count)},
    {"--memory", BYTES, AT(memory_bytes), 0},
    {"--gpus", FLAG, AT(has_gpus), 0},
    {"--tty", FLAG, AT(has_tty), 0},
    {"--option", TEXTS, AT(options), AT(option_count)},
#undef AT
};

static void *member(const struct container *container, size_t offset)
{
    return (char *)(uintptr_t)container + offset;
}

void container_add_mount(struct container *container,
                         struct container_mount mount)
{
    container->mounts =
        mem_resize(container->mounts, container->mount_count + 1,
                   sizeof(*container->mounts));
    container->mounts[container->mount_count++] = mount;
}

/* ---- to words ---- */

static void print_pair(const char *name, const char *value,
                       struct word_list *words)
{
    word_list_copy(words, name);
    word_list_copy(words, value);
}

static void print_mounts(const struct container *container,
                         const struct row *row, struct word_list *words)
{
    for (size_t i = 0; i < container->mount_count; i++) {
        const struct container_mount *mount = &container->mounts[i];

        if (mount->is_read_only != (row->kind == READ_ONLY))
            continue;
        print_pair(row->name, mount->source, words);
        word_list_copy(words, mount->target);
    }
}

static void print_texts(const struct container *container,
                        const struct row *row, struct word_list *words)
{
    const char **texts = *(const char ***)member(container, row->offset);
    size_t count = *(size_t *)member(container, row->count_offset);

    for (size_t i = 0; i < count; i++)
        print_pair(row->name, texts[i], words);
}

static void print_row(const struct container *container, const struct row *row,
                      struct word_list *words)
{
    const void *at = member(container, row->offset);

    switch (row->kind) {
    case TEXT:
        if (*(const char *const *)at != NULL)
            print_pair(row->name, *(const char *const *)at, words);
        break;
    case TEXTS:
        print_texts(container, row, words);
        break;
    case MOUNT:
    case READ_ONLY:
        print_mounts(container, row, words);
        break;
    case BYTES:
        if (*(const int64_t *)at > 0) {
            word_list_copy(words, row->name);
            word_list_add(words, mem_printf("%" PRId64, *(const int64_t *)at));
        }
        break;
    case FLAG:
    default:
        if (*(const bool *)at)
            word_list_copy(words, row->name);
        break;
    }
}

void container_print(const struct container *container, struct word_list *words)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        print_row(container, &rows[i], words);
}

/* ---- from words ---- */

static void read_text(struct container *container, const struct row *row,
                      const char *text)
{
    const char ***list = member(container, row->offset);
    size_t *count = member(container, row->count_offset);

    *list = mem_resize(*list, *count + 1, sizeof(**list));
    (*list)[(*count)++] = text;
}

/* How many words follow the name. */
static int operands(enum kind kind)
{
    static const int counts[] = {[TEXT] = 1,      [TEXTS] = 1, [MOUNT] = 2,
                                 [READ_ONLY] = 2, [BYTES] = 1, [FLAG] = 0};

    return counts[kind];
}

static void read_row(struct container *container, const struct row *row,
                     char **words)
{
    void *at = member(container, row->offset);

    switch (row->kind) {
    case TEXT:
        *(const char **)at = words[0];
        break;
    case TEXTS:
        read_text(container, row, words[0]);
        break;
    case MOUNT:
    case READ_ONLY:
        container_add_mount(container,
                            (struct container_mount){words[0], words[1],
                                                     row->kind == READ_ONLY});
        break;
    case BYTES:
        *(int64_t *)at = strtoll(words[0], NULL, 10);
        break;
    case FLAG:
    default:
        *(bool *)at = true;
        break;
    }
}

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static bool has(char **words, int count)
{
    for (int i = 0; i < count; i++)
        if (words[i] == NULL)
            return false;
    return true;
}

char **container_read(char **words, struct container *container,
                      struct err *err)
{
    *container = (struct container){0};
    while (*words != NULL && strcmp(*words, "--") != 0) {
        const struct row *row = find_row(*words);

        if (row == NULL || !has(words + 1, operands(row->kind))) {
            err_set(err, ERR_USAGE, "--container: %s: '%s'",
                    row == NULL ? "unknown option" : "missing value of",
                    *words);
            return NULL;
        }
        read_row(container, row, words + 1);
        words += 1 + operands(row->kind);
    }
    if (container->image == NULL || container->folder == NULL ||
        *words == NULL || words[1] == NULL) {
        err_set(err, ERR_USAGE,
                "--container requires --image, --folder and a command");
        return NULL;
    }
    return words + 1;
}

void container_clear(struct container *container)
{
    free(container->mounts);
    free(container->options);
    free(container->variables);
}
