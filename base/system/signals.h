/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_SYSTEM_SIGNALS_H
#define SMTUNE_BASE_SYSTEM_SIGNALS_H

enum { SIGNAL_NAMES = 31 }; /* signals 1 to 31 have one */

/* "SEGV"; NULL of a number without a name. */
const char *signal_name(int number);
/* "Segmentation fault"; NULL of a number without a name. */
const char *signal_meaning(int number);

#endif
