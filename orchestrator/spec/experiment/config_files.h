/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_CONFIG_FILES_H
#define SMTUNE_ORCHESTRATOR_SPEC_EXPERIMENT_CONFIG_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/conf/conf.h"
#include "base/conf/schema.h"
#include "base/err.h"

/*
 * The configuration files of a user and of a site: defaults for what an
 * experiment or a workflow leaves out. A key of the user's file hides the same
 * key of the site's.
 */

enum config_key {
    CONFIG_STORE,
    CONFIG_EXECUTOR,
    CONFIG_ACCOUNT,
    CONFIG_PARTITION,
    CONFIG_SETUP,
    CONFIG_NOTIFY,
    CONFIG_COUNT
};

/* The keys of such a file, in that order. */
extern const struct schema_key config_schema[];

struct config_files;

/* Where a default comes from. */
struct config_origin {
    const char *name;     /* the key */
    char *value;          /* as one line of YAML; the caller's to free */
    const char *variable; /* the environment variable that has it; or NULL */
    const char *path;     /* else the file */
    int line;
};

/*
 * Reads ~/.config/smtune/config.yaml (XDG_CONFIG_HOME) and
 * /etc/smtune/config.yaml (SMTUNE_SITE_CONFIG; empty: none). A file that does
 * not exist sets nothing. NULL (ERR_FILE with path and line, or why a file
 * cannot be read) on error.
 */
struct config_files *config_load(struct err *err);
void config_destroy(struct config_files *config);

/* Whether anything sets the key; then *origin says what. */
bool config_find(const struct config_files *config, enum config_key key,
                 struct config_origin *origin);
/* The files that were looked for, "the user's" and "the site's"; NULL: none. */
const char *config_path(const struct config_files *config, size_t i);

/* The folder of the store, "~/" and $VARIABLES of it replaced; the caller's to
 * free. NULL without an error where no file sets it. */
char *config_store(const struct config_files *config);

/* The assignment number i that completes a file, "executor=slurm", whose
 * document has had the earlier ones; the caller's to free. NULL: the file needs
 * no such one. i < CONFIG_COUNT. */
char *config_assignment(const struct config_files *config, size_t i,
                        const struct conf_doc *doc);

#endif
