/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/regret/functions.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

static double square(double x)
{
    return x * x;
}

static double sphere(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

/* Weights from 1 to 10^decades along the axes. */
static double weighted(const double *x, size_t count, double decades)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum +=
            pow(10, decades * (double)i / (double)(count - 1)) * square(x[i]);
    return sum;
}

static double ellipsoid(const double *x, size_t count)
{
    return weighted(x, count, 4);
}

static double discus(const double *x, size_t count)
{
    return 1e4 * square(x[0]) + sphere(x + 1, count - 1);
}

static double cigar(const double *x, size_t count)
{
    return square(x[0]) + 1e4 * sphere(x + 1, count - 1);
}

static double sum_powers(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += pow(fabs(x[i]), 2 + 4 * (double)i / (double)count);
    return sum;
}

static double rosenbrock(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < count; i++)
        sum += 100 * square(x[i + 1] - square(x[i])) + square(1 - x[i]);
    return sum;
}

static double dixon_price(const double *x, size_t count)
{
    double sum = square(x[0] - 1);

    for (size_t i = 1; i < count; i++)
        sum += (double)(i + 1) * square(2 * square(x[i]) - x[i - 1]);
    return sum;
}

static double powell(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i + 3 < count; i += 4)
        sum += square(x[i] + 10 * x[i + 1]) + 5 * square(x[i + 2] - x[i + 3]) +
               square(square(x[i + 1] - 2 * x[i + 2])) +
               10 * square(square(x[i] - x[i + 3]));
    return sum;
}

static double zakharov(const double *x, size_t count)
{
    double line = 0;

    for (size_t i = 0; i < count; i++)
        line += 0.5 * (double)(i + 1) * x[i];
    return sphere(x, count) + square(line) + square(square(line));
}

static double ackley(const double *x, size_t count)
{
    double waves = 0;

    for (size_t i = 0; i < count; i++)
        waves += cos(2 * M_PI * x[i]);
    return 20 + M_E - 20 * exp(-0.2 * sqrt(sphere(x, count) / (double)count)) -
           exp(waves / (double)count);
}

static double rastrigin(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += square(x[i]) + 10 - 10 * cos(2 * M_PI * x[i]);
    return sum;
}

static double griewank(const double *x, size_t count)
{
    double product = 1;

    for (size_t i = 0; i < count; i++)
        product *= cos(x[i] / sqrt((double)(i + 1)));
    return 1 + sphere(x, count) / 4000 - product;
}

static double levy(const double *x, size_t count)
{
    double w = 1 + (x[0] - 1) / 4;
    double sum = square(sin(M_PI * w));

    for (size_t i = 0; i + 1 < count; i++) {
        w = 1 + (x[i] - 1) / 4;
        sum += square(w - 1) * (1 + 10 * square(sin(M_PI * w + 1)));
    }
    w = 1 + (x[count - 1] - 1) / 4;
    return sum + square(w - 1) * (1 + square(sin(2 * M_PI * w)));
}

static double schwefel(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum -= x[i] * sin(sqrt(fabs(x[i])));
    return sum;
}

static double styblinski(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += square(square(x[i])) - 16 * square(x[i]) + 5 * x[i];
    return sum / 2;
}

static double michalewicz(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum -= sin(x[i]) * pow(sin((double)(i + 1) * square(x[i]) / M_PI), 20);
    return sum;
}

static double step(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += square(floor(x[i] + 0.5));
    return sum;
}

static double alpine(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += fabs(x[i] * sin(x[i]) + 0.1 * x[i]);
    return sum;
}

static double salomon(const double *x, size_t count)
{
    double length = sqrt(sphere(x, count));

    return 1 - cos(2 * M_PI * length) + 0.1 * length;
}

static double schaffer(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < count; i++) {
        double s = hypot(x[i], x[i + 1]);

        sum += sqrt(s) * (1 + square(sin(50 * pow(s, 0.2))));
    }
    return square(sum / (double)(count - 1));
}

static double bohachevsky(const double *x, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < count; i++)
        sum += square(x[i]) + 2 * square(x[i + 1]) + 0.7 -
               0.3 * cos(3 * M_PI * x[i]) - 0.4 * cos(4 * M_PI * x[i + 1]);
    return sum;
}

static double forrester(const double *x, size_t count)
{
    (void)count;
    return square(6 * x[0] - 2) * sin(12 * x[0] - 4);
}

static double gramacy_lee(const double *x, size_t count)
{
    (void)count;
    return sin(10 * M_PI * x[0]) / (2 * x[0]) + square(square(x[0] - 1));
}

static double branin(const double *x, size_t count)
{
    (void)count;
    return square(x[1] - 5.1 / (4 * M_PI * M_PI) * square(x[0]) +
                  5 / M_PI * x[0] - 6) +
           10 * (1 - 1 / (8 * M_PI)) * cos(x[0]) + 10;
}

static double camel(const double *x, size_t count)
{
    double a = square(x[0]);

    (void)count;
    return (4 - 2.1 * a + a * a / 3) * a + x[0] * x[1] +
           (4 * square(x[1]) - 4) * square(x[1]);
}

static double beale(const double *x, size_t count)
{
    double sum = 0, power = 1;
    const double levels[] = {1.5, 2.25, 2.625};

    (void)count;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        power *= x[1];
        sum += square(levels[i] - x[0] + x[0] * power);
    }
    return sum;
}

static double goldstein_price(const double *x, size_t count)
{
    double a = x[0], b = x[1];

    (void)count;
    return (1 + square(a + b + 1) * (19 - 14 * a + 3 * a * a - 14 * b +
                                     6 * a * b + 3 * b * b)) *
           (30 + square(2 * a - 3 * b) * (18 - 32 * a + 12 * a * a + 48 * b -
                                          36 * a * b + 27 * b * b));
}

static const double hartmann_height[] = {1, 1.2, 3, 3.2};

static double hartmann3(const double *x, size_t count)
{
    static const double width[4][3] = {
        {3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
    static const double centre[4][3] = {{0.3689, 0.1170, 0.2673},
                                        {0.4699, 0.4387, 0.7470},
                                        {0.1091, 0.8732, 0.5547},
                                        {0.0381, 0.5743, 0.8828}};
    double sum = 0;

    (void)count;
    for (int i = 0; i < 4; i++) {
        double inner = 0;

        for (int j = 0; j < 3; j++)
            inner += width[i][j] * square(x[j] - centre[i][j]);
        sum -= hartmann_height[i] * exp(-inner);
    }
    return sum;
}

static double hartmann6(const double *x, size_t count)
{
    static const double width[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                       {0.05, 10, 17, 0.1, 8, 14},
                                       {3, 3.5, 1.7, 10, 17, 8},
                                       {17, 8, 0.05, 10, 0.1, 14}};
    static const double centre[4][6] = {
        {0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
        {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
        {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
        {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
    double sum = 0;

    (void)count;
    for (int i = 0; i < 4; i++) {
        double inner = 0;

        for (int j = 0; j < 6; j++)
            inner += width[i][j] * square(x[j] - centre[i][j]);
        sum -= hartmann_height[i] * exp(-inner);
    }
    return sum;
}

static double shekel(const double *x, size_t count)
{
    static const double centre[10][4] = {
        {4, 4, 4, 4}, {1, 1, 1, 1},    {8, 8, 8, 8}, {6, 6, 6, 6},
        {3, 7, 3, 7}, {2, 9, 2, 9},    {5, 5, 3, 3}, {8, 1, 8, 1},
        {6, 2, 6, 2}, {7, 3.6, 7, 3.6}};
    static const double base[] = {0.1, 0.2, 0.2, 0.4, 0.4,
                                  0.6, 0.3, 0.7, 0.5, 0.5};
    double sum = 0;

    (void)count;
    for (size_t i = 0; i < ARRAY_LEN(base); i++) {
        double inner = base[i];

        for (int j = 0; j < 4; j++)
            inner += square(x[j] - centre[i][j]);
        sum -= 1 / inner;
    }
    return sum;
}

#define EVEN(name, low, high, at)                                              \
    {                                                                          \
#name, name, low, high, {0 }, {0 }, {at }, 1                           \
    }

const struct function functions[] = {
    EVEN(sphere, -5, 5, 0),
    EVEN(ellipsoid, -5, 5, 0),
    EVEN(discus, -5, 5, 0),
    EVEN(cigar, -5, 5, 0),
    EVEN(sum_powers, -2, 2, 0),
    EVEN(rosenbrock, -2.5, 2.5, 1),
    EVEN(powell, -4, 5, 0),
    EVEN(zakharov, -5, 10, 0),
    EVEN(ackley, -20, 20, 0),
    EVEN(rastrigin, -3, 3, 0),
    EVEN(griewank, -300, 300, 0),
    EVEN(levy, -10, 10, 1),
    EVEN(schwefel, -500, 500, 420.9687),
    EVEN(styblinski, -5, 5, -2.903534),
    EVEN(step, -5, 5, 0),
    EVEN(alpine, -10, 10, 0),
    EVEN(salomon, -20, 20, 0),
    EVEN(schaffer, -50, 50, 0),
    EVEN(bohachevsky, -15, 15, 0),
    EVEN(forrester, 0, 1, 0.757249),
    EVEN(gramacy_lee, 0.5, 2.5, 0.548563),
    EVEN(shekel, 0, 10, 4),
    {"dixon_price",
     dixon_price,
     -3,
     3,
     {0},
     {0},
     {1, 0.7071, 0.5946, 0.5453, 0.5221, 0.5109, 0.5054, 0.5027, 0.5014, 0.5},
     10},
    {"michalewicz",
     michalewicz,
     0,
     M_PI,
     {0},
     {0},
     {2.2029, 1.5708, 1.2850, 1.9231, 1.7205, 1.5708, 1.4544, 1.7561, 1.6557,
      1.5708},
     10},
    {"branin", branin, 0, 0, {-5, 0}, {10, 15}, {M_PI, 2.275}, 2},
    {"camel", camel, 0, 0, {-3, -2}, {3, 2}, {0.0898, -0.7126}, 2},
    {"beale", beale, -4.5, 4.5, {0}, {0}, {3, 0.5}, 2},
    {"goldstein_price", goldstein_price, -2, 2, {0}, {0}, {0, -1}, 2},
    {"hartmann3", hartmann3, 0, 1, {0}, {0}, {0.114614, 0.555649, 0.852547}, 3},
    {"hartmann6",
     hartmann6,
     0,
     1,
     {0},
     {0},
     {0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573},
     6},
    {NULL, NULL, 0, 0, {0}, {0}, {0}, 0},
};

const struct function *function_find(const char *name)
{
    const struct function *function = functions;

    while (function->name != NULL && strcmp(function->name, name) != 0)
        function++;
    return function->name != NULL ? function : NULL;
}
