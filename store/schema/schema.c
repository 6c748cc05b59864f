/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/schema/schema.h"

/* The assembler copies the file in, so that it stays plain SQL. The path is
 * relative to the top of the sources, where compilers are started. */
__asm__(".pushsection .rodata\n"
        ".global store_schema\n"
        ".type store_schema, %object\n"
        "store_schema:\n"
        ".incbin \"store/schema/schema.sql\"\n"
        ".byte 0\n"
        ".size store_schema, . - store_schema\n"
        ".popsection\n");
