/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools of smtrain besides training. */
#include "training/tools.h"

const struct tool *const tools[] = {&tool_vocabulary, &tool_sample,
                                    &tool_export, NULL};
