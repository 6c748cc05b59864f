/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "tests/bench/regret/problem.h"

/*
 * Choices alone: an NK landscape (Kauffman, "The Origins of Order", 1993),
 * where each of eight parameters is worth something that hangs on itself and
 * two others; and sixteen switches that pull at each other in pairs. The best
 * is found by trying all.
 */

enum { GENES = 8, ALLELES = 4, SWITCHES = 16 };

struct landscape {
    double worth[GENES][ALLELES][ALLELES][ALLELES];
    double pull[SWITCHES][SWITCHES];
};

static const struct value alleles[] = {TEXT("a"), TEXT("c"), TEXT("g"),
                                       TEXT("t")};
static const struct param genes[] = {
    VALUES("g0", CATEGORICAL, alleles), VALUES("g1", CATEGORICAL, alleles),
    VALUES("g2", CATEGORICAL, alleles), VALUES("g3", CATEGORICAL, alleles),
    VALUES("g4", CATEGORICAL, alleles), VALUES("g5", CATEGORICAL, alleles),
    VALUES("g6", CATEGORICAL, alleles), VALUES("g7", CATEGORICAL, alleles)};
static const struct layout gene_layout = {genes, GENES, NULL, NULL};

static const struct param switches[] = {
    BOOL("s0"),  BOOL("s1"),  BOOL("s2"),  BOOL("s3"), BOOL("s4"),  BOOL("s5"),
    BOOL("s6"),  BOOL("s7"),  BOOL("s8"),  BOOL("s9"), BOOL("s10"), BOOL("s11"),
    BOOL("s12"), BOOL("s13"), BOOL("s14"), BOOL("s15")};
static const struct layout switch_layout = {switches, SWITCHES, NULL, NULL};

static double fitness(const struct landscape *landscape, const size_t *choice)
{
    double sum = 0;

    for (size_t i = 0; i < GENES; i++)
        sum += landscape->worth[i][choice[i]][choice[(i + 1) % GENES]]
                               [choice[(i + 3) % GENES]];
    return sum;
}

static double tension(const struct landscape *landscape, const size_t *choice)
{
    double sum = 0;

    for (size_t i = 0; i < SWITCHES; i++)
        for (size_t k = 0; k <= i; k++)
            if (choice[i] == choice[k])
                sum += landscape->pull[i][k];
    return sum;
}

/* The smallest over all choices; each of `count` has `radix` values. */
static double smallest(const struct landscape *landscape,
                       double (*sum)(const struct landscape *, const size_t *),
                       size_t count, size_t radix)
{
    size_t choice[SWITCHES] = {0};
    double best = INFINITY;
    size_t i;

    do {
        best = fmin(best, sum(landscape, choice));
        for (i = 0; i < count && ++choice[i] == radix; i++)
            choice[i] = 0;
    } while (i < count);
    return best;
}

static void place_genes(struct instance *instance)
{
    struct landscape *landscape = mem_zero(sizeof(*landscape));
    double *worth = &landscape->worth[0][0][0][0];

    for (size_t i = 0; i < sizeof(landscape->worth) / sizeof(double); i++)
        worth[i] = rng_uniform(&instance->rng);
    instance->state = landscape;
    instance->best = smallest(landscape, fitness, GENES, ALLELES);
}

static void place_switches(struct instance *instance)
{
    struct landscape *landscape = mem_zero(sizeof(*landscape));

    for (size_t i = 0; i < SWITCHES; i++)
        for (size_t k = 0; k < i; k++)
            landscape->pull[i][k] = 2 * rng_uniform(&instance->rng) - 1;
    instance->state = landscape;
    instance->best = smallest(landscape, tension, SWITCHES, 2);
}

static double measure_genes(const struct instance *instance, const double *x,
                            double *outcomes)
{
    size_t choice[GENES];

    (void)outcomes;
    for (size_t i = 0; i < GENES; i++)
        choice[i] = instance_choice(instance, x, i);
    return fitness(instance->state, choice);
}

static double measure_switches(const struct instance *instance, const double *x,
                               double *outcomes)
{
    size_t choice[SWITCHES];

    (void)outcomes;
    for (size_t i = 0; i < SWITCHES; i++)
        choice[i] = instance_choice(instance, x, i);
    return tension(instance->state, choice);
}

const struct problem choice_problems[] = {
    {.name = "landscape-8",
     .kind = "choices",
     .set = SET_REPORT,
     .data = &gene_layout,
     .build = instance_lay_out,
     .place = place_genes,
     .function = measure_genes},
    {.name = "switches-16",
     .kind = "choices",
     .set = SET_TUNE,
     .data = &switch_layout,
     .build = instance_lay_out,
     .place = place_switches,
     .function = measure_switches},
    {.name = NULL},
};
