/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/secret_warn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/secret.h"

/* ---- values ---- */

/* The message never has the value, and its place is that of the key. */
static void warn(const struct conf_node *key, bool is_variable,
                 struct diags *warnings)
{
    char *help =
        is_variable
            ? mem_printf("write env_from: [%s] and set it where smtune runs, "
                         "or use env_file",
                         key->text)
            : mem_copy_string("use a variable of env_from or env_file in its "
                              "place");

    diags_add(warnings, key->place, help,
              "the value of '%s' looks like a secret, and the record keeps the "
              "file",
              key->text);
    free(help);
}

static void walk(const struct conf_node *node, const struct conf_node *key,
                 bool is_variable, struct diags *warnings)
{
    if (node->text != NULL && key != NULL &&
        (secret_is_value(key->text, node->text) || secret_is_in(node->text)))
        warn(key, is_variable, warnings);
    for (size_t i = 0; i < node->count; i++)
        walk(node->items[i], node->type == CONF_MAP ? node->keys[i] : key,
             node->type == CONF_MAP && key != NULL &&
                 strcmp(key->text, "env") == 0,
             warnings);
}

void secret_warn(const struct conf_node *root, struct diags *warnings)
{
    walk(root, NULL, false, warnings);
}

/* ---- the file ---- */

void env_file_warn(const struct job_spec *task, struct diags *warnings)
{
    enum { OF_OTHERS = 077 };
    struct stat status;
    struct err why;
    char *help;

    if (task->env_file == NULL)
        return;
    if (stat(task->env_file, &status) != 0) {
        err_set_errno(&why, ERR_FAILED, errno, "cannot read env_file '%s'",
                      task->env_file);
        diags_add(warnings, task->env_file_place, NULL, "%s", why.text);
        return;
    }
    if ((status.st_mode & OF_OTHERS) == 0)
        return;
    help = mem_printf("chmod 600 %s", task->env_file);
    diags_add(warnings, task->env_file_place, help,
              "env_file '%s' has mode %04o: others may use it", task->env_file,
              (unsigned)(status.st_mode & 07777));
    free(help);
}
