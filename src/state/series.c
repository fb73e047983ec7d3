/* series.c -- from a table of probes to the series of each path. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "stat/sample.h"
#include "state/probes.h"

#define SERIES_SAME_SIZE 0.99 /* sizes that differ by less than a percent are one size */
/* Latencies are rounded if all are multiples of one width, as far as decimals in a file can be. */
#define SERIES_ON_GRID 1e-6
enum { SERIES_FEW = 20 }; /* fewer may be multiples by chance */

static void series_fini(struct state_series *s)
{
    free(s->name);
    free(s->t);
    free(s->latency);
    memset(s, 0, sizeof *s);
}

void state_series_free(struct state_series *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        series_fini(&s[i]);
    free(s);
}

static void series_list(struct wr_str *out, char *const *names, size_t n)
{
    for (size_t i = 0; i < n && i < 8; i++)
        wr_str_addf(out, "%s%s", i ? ", " : "", names[i]);
    if (n > 8)
        wr_str_add(out, ", ...");
}

/* Which name is meant; -1: any (`want` is NULL and there is no choice to make, or it is free). */
static bool series_choose_name(int *ret, char *const *names, size_t n, const char *want,
                               const char *what, bool free_choice, const char *file,
                               struct wr_err *err)
{
    struct wr_str all = {0};

    *ret = -1;
    if (!want && (n <= 1 || free_choice))
        return true;
    for (size_t i = 0; want && i < n; i++)
        if (!strcmp(names[i], want)) {
            *ret = (int)i;
            return true;
        }
    series_list(&all, names, n);
    if (!want)
        wr_fail(err, WR_INPUT, "%s holds several: %s; choose one by `%s`", file, wr_str_get(&all),
                what);
    else
        wr_fail(err, WR_INPUT, "%s holds no %s \"%s\"; it has: %s", file, what, want,
                wr_str_get(&all));
    wr_str_fini(&all);
    return false;
}

static bool series_wanted(const struct state_probe *p, const struct state_choice *c, int op,
                          int target)
{
    return (op < 0 || p->op == op) && (target < 0 || p->target == target) &&
           (!c->bytes || p->bytes == c->bytes) &&
           !((c->from_s != 0 || c->to_s != 0) && (p->t_s < c->from_s || p->t_s >= c->to_s));
}

/* Latencies of different sizes are different things; a percent of difference is not. */
static bool series_one_size(const struct state_probes *p, const struct state_choice *c, int op,
                            int target, const char *file, struct wr_err *err)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (size_t i = 0; i < p->n && !c->any_size; i++) {
        if (!series_wanted(&p->v[i], c, op, target))
            continue;
        least = p->v[i].bytes < least ? p->v[i].bytes : least;
        most = p->v[i].bytes > most ? p->v[i].bytes : most;
    }
    if (most && (double)least < SERIES_SAME_SIZE * (double)most)
        return wr_fail(err, WR_INPUT,
                       "%s mixes sizes from %llu to %llu bytes; choose one by `bytes` or take all "
                       "by `any-size`",
                       file, (unsigned long long)least, (unsigned long long)most);
    return true;
}

static void series_pick_out(struct state_series *to, const struct state_probes *p,
                            const struct state_choice *c, int op, int target, const char *file)
{
    struct wr_str name = {0};
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += series_wanted(&p->v[i], c, op, target);
    to->t = wr_alloc((n + 1) * sizeof *to->t);
    to->latency = wr_alloc((n + 1) * sizeof *to->latency);
    to->n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (series_wanted(&p->v[i], c, op, target)) {
            to->t[to->n] = p->v[i].t_s;
            to->latency[to->n++] = p->v[i].latency_s;
        }
    wr_str_add(&name, file);
    if (target >= 0 && *p->target[target])
        wr_str_addf(&name, " %s", p->target[target]);
    if (p->nops && *p->op[op < 0 ? 0 : op])
        wr_str_addf(&name, " %s", p->op[op < 0 ? 0 : op]);
    to->name = name.s;
}

bool state_choose(struct state_series **ret, size_t *ret_n, const struct state_probes *p,
                  const char *name, const struct state_choice *choice, struct wr_err *err)
{
    int op, target;

    if (!p->n)
        return wr_fail(err, WR_INPUT, "%s holds no latency; probe for a while first", name);
    if (!series_choose_name(&op, p->op, p->nops, choice->op, "op", false, name, err) ||
        !series_choose_name(&target, p->target, p->ntargets, choice->target, "target", true, name,
                            err) ||
        !series_one_size(p, choice, op, target, name, err))
        return false;
    size_t most = target >= 0 ? 1 : p->ntargets, n = 0;
    struct state_series *s = wr_zalloc(most, sizeof *s);

    for (size_t i = 0; i < most; i++) {
        series_pick_out(&s[n], p, choice, op, target >= 0 ? target : (int)i, name);
        if (s[n].n)
            n++;
        else
            series_fini(&s[n]);
    }
    if (!n) {
        free(s);
        return wr_fail(err, WR_INPUT,
                       "%s: no row is left after choosing; widen `from`, `to`, `bytes` or `target`",
                       name);
    }
    *ret = s;
    *ret_n = n;
    return true;
}

bool state_load(struct state_series **ret, size_t *ret_n, char *const *paths, size_t npaths,
                const struct state_choice *choice, struct wr_err *err)
{
    struct state_series *all = NULL;
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < npaths; i++) {
        struct state_probes p;
        struct state_series *some;
        size_t nsome;

        if (!state_probes_read(&p, paths[i], err)) {
            ok = false;
            break;
        }
        ok = state_choose(&some, &nsome, &p, paths[i], choice, err);
        if (ok) {
            all = wr_realloc(all, n + nsome, sizeof *all);
            memcpy(all + n, some, nsome * sizeof *all);
            n += nsome;
            free(some);
        }
        state_probes_fini(&p);
    }
    if (!ok) {
        state_series_free(all, n);
        return false;
    }
    *ret = all;
    *ret_n = n;
    return true;
}

/* Rounded measurements sit on a grid 1, 2 or 5 times a power of ten wide; the widest grid that
 * holds them all is theirs, if they meet on it often. */
double state_rounding(const double *latency, size_t n)
{
    static const double mantissa[] = {5, 2, 1};
    double *sorted = wr_alloc((n + 1) * sizeof *sorted), found = 0;
    size_t distinct = 0;

    memcpy(sorted, latency, n * sizeof *sorted);
    stat_sort(sorted, n);
    for (size_t i = 0; i < n; i++)
        distinct += !i || sorted[i] != sorted[i - 1];
    for (int e = 1; n >= SERIES_FEW && distinct < n / 2 && e >= -9 && found == 0; e--)
        for (int j = 0; j < 3 && found == 0; j++) {
            double width = mantissa[j] * pow(10, e);
            bool all = true;

            for (size_t i = 0; all && i < n; i++) {
                double steps = sorted[i] / width;

                all = fabs(steps - round(steps)) <
                      SERIES_ON_GRID * fmax(1, steps * 1e-6) + 1e-9 * steps;
            }
            if (all)
                found = width;
        }
    free(sorted);
    return found;
}
