/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_DASHBOARD_ACCESS_LOGIN_CODE_H
#define SMTUNE_DASHBOARD_ACCESS_LOGIN_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/token.h"

/*
 * Codes that let a browser in once, within a minute. now_ms is of
 * clock_monotonic_ms(), which all processes of a machine share.
 */

enum {
    LOGIN_CODE_BYTES = 16,
    LOGIN_CODE_SIZE = TOKEN_SIZE(LOGIN_CODE_BYTES),
    LOGIN_CODE_VALID_MS = 60000
};

/* Draws a code that is valid from now on, for whoever uses codes of that
 * folder. */
int login_code_make(const char *folder, int64_t now_ms,
                    char code[LOGIN_CODE_SIZE], struct err *err);

/* Uses a code up. False: there is none such, it was used, or is too old. */
bool login_code_use(const char *folder, const char *code, int64_t now_ms);

#endif
