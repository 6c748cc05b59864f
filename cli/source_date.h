/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SOURCE_DATE_H
#define SMTUNE_CLI_SOURCE_DATE_H

#include <stdint.h>

/* When this program's sources are from, in seconds since 1970
 * (packaging/source-date). The Makefile writes the file with it, which only
 * main.c uses: a new commit links no other program. */
extern const int64_t source_date_s;

#endif
