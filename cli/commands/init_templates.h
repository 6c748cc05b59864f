/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_COMMANDS_INIT_TEMPLATES_H
#define SMTUNE_CLI_COMMANDS_INIT_TEMPLATES_H

/* What `smtune init` writes. */

enum { INIT_FILES_MAX = 2 };

struct init_template {
    const char *name;
    const char *summary;
    struct {
        const char *name; /* NULL: none */
        const char *text; /* @NAME@ stands for the experiment's name */
    } files[INIT_FILES_MAX];
};

extern const struct init_template init_templates[]; /* name NULL ends it */

#endif
