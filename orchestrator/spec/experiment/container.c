/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/container.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/expr/template.h"
#include "base/fs.h"
#include "base/mem.h"

static int expand(struct template *template, const struct value *values,
                  const char *label, struct buf *text, struct err *err)
{
    if (template_expand(template, values, text, err) != 0)
        return err_prefix(err, "%s", label);
    if (text->length == 0)
        return err_set(err, ERR_FILE, "%s: the value is empty", label);
    return 0;
}

/* ~/ is the user's own folder, as for a shell. */
static char *resolve(const char *folder, const char *path)
{
    const char *home = getenv("HOME");
    bool is_at_home = strncmp(path, "~/", 2) == 0 && home != NULL;
    char *joined = fs_join(is_at_home ? home : folder,
                           is_at_home ? path + strlen("~/") : path);
    char *absolute = fs_absolute(joined);

    free(joined);
    return absolute;
}

static char *resolve_image(const struct job_spec *spec, const char *image)
{
    if (strncmp(image, "~/", 2) == 0 || container_image_is_path(image))
        return resolve(spec->container.folder, image);
    return mem_copy_string(image);
}

bool container_uses(const struct job_spec *spec, size_t column)
{
    const struct container_spec *container = &spec->container;

    if (spec->conda != NULL && template_uses(spec->conda, column))
        return true;
    if (container->image != NULL && template_uses(container->image, column))
        return true;
    for (size_t i = 0; i < container->mount_count; i++)
        if (template_uses(container->mounts[i], column))
            return true;
    return false;
}

int container_expand_image(const struct job_spec *spec,
                           const struct value *values, char **image,
                           struct err *err)
{
    struct buf text = BUF_INIT;
    int result;

    *image = NULL;
    if (spec->container.image == NULL)
        return 0;
    result =
        expand(spec->container.image, values, "container.image", &text, err);
    if (result == 0)
        *image = resolve_image(spec, buf_text(&text));
    buf_clear(&text);
    return result;
}

/* PATH[:PATH_INSIDE][:ro] or :rw; what the last part is decides. */
static int parse_mount(const char *folder, char *text, char **source,
                       char **target, bool *is_read_only, struct err *err)
{
    char *mode = strrchr(text, ':'), *inside;

    *is_read_only = false;
    if (mode != NULL &&
        (strcmp(mode, ":ro") == 0 || strcmp(mode, ":rw") == 0)) {
        *is_read_only = mode[2] == 'o';
        *mode = '\0';
    }
    inside = strchr(text, ':');
    if (inside != NULL)
        *inside++ = '\0';
    if (inside != NULL && inside[0] != '/')
        return err_set(err, ERR_FILE,
                       "container.mounts: '%s' is not an absolute path inside "
                       "the container",
                       inside);
    *source = resolve(folder, text);
    *target =
        inside != NULL ? mem_copy_string(inside) : mem_copy_string(*source);
    return 0;
}

int container_expand_mount(const struct job_spec *spec, size_t i,
                           const struct value *values, char **source,
                           char **target, bool *is_read_only, struct err *err)
{
    const struct container_spec *container = &spec->container;
    struct buf text = BUF_INIT;
    int result =
        expand(container->mounts[i], values, "container.mounts", &text, err);

    if (result == 0)
        result = parse_mount(container->folder, text.data, source, target,
                             is_read_only, err);
    buf_clear(&text);
    return result;
}

int conda_expand(const struct job_spec *spec, const struct value *values,
                 char **name, struct err *err)
{
    struct buf text = BUF_INIT;
    int result;

    *name = NULL;
    if (spec->conda == NULL)
        return 0;
    result = expand(spec->conda, values, "conda", &text, err);
    if (result == 0)
        *name = strchr(buf_text(&text), '/') != NULL
                    ? resolve(spec->conda_folder, buf_text(&text))
                    : mem_copy_string(buf_text(&text));
    buf_clear(&text);
    return result;
}

int container_look(const struct job_spec *spec, bool may_come,
                   struct container_program *program, struct err *err)
{
    const char *source = template_source(spec->container.image);
    bool varies = strstr(source, "${{") != NULL;
    char *image = resolve_image(spec, source);
    int result = 0;

    if (!varies && !may_come)
        result = container_check_image(image, err);
    if (result == 0)
        result = container_find(spec->container.runtime, image, getenv("PATH"),
                                program, err);
    free(image);
    return result;
}

int container_check(const struct job_spec *spec,
                    const struct executor_options *executor, bool may_come,
                    struct err *err)
{
    struct container_program program;

    if (spec->container.image == NULL || spec->setup_count > 0 ||
        strcmp(executor->name, "local") != 0)
        return 0;
    if (container_look(spec, may_come, &program, err) != 0)
        return err_prefix(err, "container");
    return 0;
}

void container_clear_spec(struct job_spec *spec)
{
    for (size_t i = 0; i < spec->container.mount_count; i++)
        template_destroy(spec->container.mounts[i]);
    free(spec->container.mounts);
    free(spec->container.options);
    template_destroy(spec->container.image);
    template_destroy(spec->conda);
}
