/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/token.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void token_draw(char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte;

        if (getrandom(&byte, 1, 0) != 1)
            abort(); /* there is always one where the kernel has the call */
        snprintf(text + 2 * i, 3, "%02x", byte);
    }
}

bool token_is_equal(const char *token, const char *given, size_t length)
{
    unsigned char difference = 0;

    if (length == 0 || strlen(token) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(token[i] ^ given[i]);
    return difference == 0;
}
