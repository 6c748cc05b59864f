/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/schema/schema.h"

/* The assembler copies the files in, so that they stay plain SQL. Paths are
 * relative to the top of the sources, where compilers are started. */
#define EMBED(name, path)                                                      \
    __asm__(".pushsection .rodata\n"                                           \
            ".global " name "\n"                                               \
            ".type " name ", %object\n" name ":\n"                             \
            ".incbin \"" path "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".size " name ", . - " name "\n"                                   \
            ".popsection\n")

EMBED("store_schema", "store/schema/schema.sql");
EMBED("store_schema_2", "store/schema/schema_2.sql");
EMBED("store_schema_3", "store/schema/schema_3.sql");
EMBED("store_schema_4", "store/schema/schema_4.sql");
EMBED("store_schema_5", "store/schema/schema_5.sql");
EMBED("store_schema_6", "store/schema/schema_6.sql");
EMBED("store_schema_7", "store/schema/schema_7.sql");
EMBED("store_schema_8", "store/schema/schema_8.sql");
EMBED("store_schema_9", "store/schema/schema_9.sql");
EMBED("store_schema_10", "store/schema/schema_10.sql");
