/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TRAINING_DATA_RUNE_CLASS_H
#define SMTUNE_TRAINING_DATA_RUNE_CLASS_H

#include <stdint.h>

enum rune_class {
    RUNE_OTHER,
    RUNE_LETTER, /* \p{L} */
    RUNE_NUMBER, /* \p{N} */
    RUNE_SPACE   /* \s: White_Space */
};

enum rune_class rune_class(uint32_t rune);

#endif
