/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_BYTE_LETTERS_H
#define SMTUNE_TRAINING_DATA_BYTE_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

/* The letter that GPT-2's files have for a byte: those of Latin-1 that can be
 * printed are themselves, the others are U+0100 and what follows. */
static inline uint32_t byte_letter(uint8_t byte)
{
    if (byte <= 0x20)
        return 0x100U + byte;
    if (byte >= 0x7f && byte <= 0xa0)
        return 0x121U + byte - 0x7f;
    return byte == 0xad ? 0x143 : byte;
}

/* smtrain's words (bpe.h) as a regular expression on such letters, a match a
 * word: white space is U+0109 to U+010D and U+0120, letters include all bytes
 * from 0x80 on. */
#define SMTRAIN_BLANK  "\u0109-\u010D\u0120"
#define SMTRAIN_LETTER "A-Za-z\u00A1-\u00AC\u00AE-\u00FF\u0122-\u0143"
#define SMTRAIN_WORD_PATTERN                                                   \
    "\u0120[" SMTRAIN_LETTER "]{1,31}|[" SMTRAIN_LETTER "]{1,32}"              \
    "|\u0120[0-9]{1,31}|[0-9]{1,32}"                                           \
    "|\u0120[^" SMTRAIN_LETTER "0-9" SMTRAIN_BLANK "]{1,31}"                   \
    "|[^" SMTRAIN_LETTER "0-9" SMTRAIN_BLANK "]{1,32}"                         \
    "|[" SMTRAIN_BLANK "]{1,32}"

#endif
