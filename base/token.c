/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/token.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
