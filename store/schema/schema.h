/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STORE_SCHEMA_SCHEMA_H
#define SMTUNE_STORE_SCHEMA_SCHEMA_H

/* The text of schema.sql, which makes the tables of an empty store, and of
 * what brings them to versions 2 to 9. */
extern const char store_schema[];
extern const char store_schema_2[];
extern const char store_schema_3[];
extern const char store_schema_4[];
extern const char store_schema_5[];
extern const char store_schema_6[];
extern const char store_schema_7[];
extern const char store_schema_8[];
extern const char store_schema_9[];
extern const char store_schema_10[];

#endif
