/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_DELIVER_H
#define SMTUNE_ORCHESTRATOR_RUN_DELIVER_H

#include <stdbool.h>

#include "base/err.h"
#include "orchestrator/run/run.h"

/*
 * Sends the messages of an open run that wait for their receivers, where no
 * engine does; each is tried at least once, and for half a minute at most. With
 * `test`, a message more goes to every receiver. What came of it is in the
 * record: 0, also where nobody answered; -1 where the record cannot be written.
 */
int deliver_run(struct run *run, bool test, struct err *err);

#endif
