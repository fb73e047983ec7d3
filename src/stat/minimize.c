/* minimize.c -- the downhill simplex of Nelder and Mead, restarted around the best point.
 *
 * Invariant: outside of a step the vertices are ascending by value, v[0] being the best point so
 * far.
 */
#include "stat/minimize.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct vertex {
    double x[STAT_MOST_VARIABLES], f;
};

struct simplex {
    stat_objective *f;
    void *arg;
    size_t n;
    uint32_t left; /* evaluations */
    struct vertex v[STAT_MOST_VARIABLES + 1];
};

/* A round must be better by this much, relatively, for another to be tried. */
static const double worthwhile = 1e-2, flat = 1e-12;
static const double closer = 0.7; /* size of a round's simplex, relative to the one before */
enum { LEAST_ROUNDS = 3 };        /* a simplex may have collapsed without a minimum */

static double minimize_value(struct simplex *s, const double *x)
{
    double f = s->f(x, s->n, s->arg);

    s->left -= s->left > 0;
    return isnan(f) ? INFINITY : f;
}

/* Ascending by value; few of them, nearly in order. */
static void minimize_sort(struct simplex *s)
{
    for (size_t i = 1; i <= s->n; i++)
        for (size_t k = i; k > 0 && s->v[k].f < s->v[k - 1].f; k--) {
            struct vertex t = s->v[k];

            s->v[k] = s->v[k - 1];
            s->v[k - 1] = t;
        }
}

/* The worst vertex moved through the centre of the others, `by` times as far. */
static struct vertex minimize_moved(struct simplex *s, const double *centre, double by)
{
    struct vertex t;

    for (size_t j = 0; j < s->n; j++)
        t.x[j] = centre[j] + by * (s->v[s->n].x[j] - centre[j]);
    t.f = minimize_value(s, t.x);
    return t;
}

static void minimize_shrink(struct simplex *s)
{
    for (size_t i = 1; i <= s->n; i++) {
        for (size_t j = 0; j < s->n; j++)
            s->v[i].x[j] = s->v[0].x[j] + 0.5 * (s->v[i].x[j] - s->v[0].x[j]);
        s->v[i].f = minimize_value(s, s->v[i].x);
    }
}

static void minimize_step(struct simplex *s)
{
    double centre[STAT_MOST_VARIABLES] = {0};

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++)
            centre[j] += s->v[i].x[j] / (double)s->n;
    struct vertex t = minimize_moved(s, centre, -1);

    if (t.f < s->v[0].f) {
        struct vertex further = minimize_moved(s, centre, -2);

        s->v[s->n] = further.f < t.f ? further : t;
    } else if (t.f < s->v[s->n - 1].f) {
        s->v[s->n] = t;
    } else {
        struct vertex in = minimize_moved(s, centre, t.f < s->v[s->n].f ? -0.5 : 0.5);

        if (in.f < fmin(t.f, s->v[s->n].f))
            s->v[s->n] = in;
        else
            minimize_shrink(s);
    }
}

/* One simplex around the best point, until it is flat. */
static void minimize_round(struct simplex *s, const double *step)
{
    for (size_t i = 1; i <= s->n; i++) {
        s->v[i] = s->v[0];
        s->v[i].x[i - 1] += step[i - 1];
        s->v[i].f = minimize_value(s, s->v[i].x);
    }
    minimize_sort(s);
    while (s->left && s->v[s->n].f - s->v[0].f > flat * (1 + fabs(s->v[0].f))) {
        minimize_step(s);
        minimize_sort(s);
    }
}

double stat_minimize(stat_objective *f, void *arg, double *x, const double *step, size_t n,
                     uint32_t most)
{
    struct simplex s = {.f = f, .arg = arg, .n = n, .left = most};
    double before, size[STAT_MOST_VARIABLES];
    int round = 0;

    assert(n && n <= STAT_MOST_VARIABLES);
    memcpy(s.v[0].x, x, n * sizeof *x);
    memcpy(size, step, n * sizeof *size);
    s.v[0].f = minimize_value(&s, x);
    do {
        before = s.v[0].f;
        minimize_round(&s, size);
        /* The next one looks the other way, and closer. */
        for (size_t j = 0; j < n; j++)
            size[j] *= -closer;
        round++;
    } while (s.left &&
             (round < LEAST_ROUNDS || isinf(before) || before - s.v[0].f > worthwhile * before));
    memcpy(x, s.v[0].x, n * sizeof *x);
    return s.v[0].f;
}
