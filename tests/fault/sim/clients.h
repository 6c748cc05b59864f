/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_CLIENTS_H
#define SMTUNE_TESTS_FAULT_SIM_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Programs that talk to the engine over its socket, which is a real one: they
 * look at the run, follow it, pause and resume it, stop it, put trials back
 * and enqueue settings. What they are told is compared with what happens.
 */
struct clients;
struct history;
struct world;

struct clients *clients_create(struct history *history);
void clients_destroy(struct clients *clients);

/* For an engine that is about to begin. */
void clients_plan(struct clients *clients);
/* It is gone, or its clients' descriptors are. */
void clients_forget(struct clients *clients);

/* For the loop: whether its files are worth a look; and clients read. */
bool clients_are_there(const struct world *world);
void clients_hear(const struct world *world);

/* Whether the engine said that nothing starts, and was told nothing since. */
bool clients_have_paused(const struct world *world);
/* How long that was so in this session. */
int64_t clients_paused_ms(const struct clients *clients);

#endif
