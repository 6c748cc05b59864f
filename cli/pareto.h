/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_PARETO_H
#define SMTUNE_CLI_PARETO_H

#include <stddef.h>
#include <stdint.h>

struct trial_row;

/*
 * The Pareto front of trials: those which no other trial beats, that is, is
 * better in one objective and no worse in the others. A trial with a value
 * that is not finite is never on it.
 */
struct pareto;

/* goals[objective_count], "minimize" or "maximize", are borrowed. */
struct pareto *pareto_create(const char *const *goals, size_t objective_count);
void pareto_destroy(struct pareto *front);
/* Equal trials stay side by side. */
void pareto_add(struct pareto *front, const struct trial_row *trial);
size_t pareto_count(const struct pareto *front);
/* The trial's number; in the order in which they were added. */
int64_t pareto_number(const struct pareto *front, size_t index);

#endif
