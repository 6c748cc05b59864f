/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SCHEMA_SCHEMA_H
#define SMTUNE_STORE_SCHEMA_SCHEMA_H

/* The text of schema.sql, which makes the tables of an empty store. */
extern const char store_schema[];

#endif
