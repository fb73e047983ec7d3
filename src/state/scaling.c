/* scaling.c -- fits the line of scaling.h to tables of probes. */
#include "state/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stat/regress.h"
#include "stat/sample.h"

struct scaling_row {
    uint64_t bytes;
    double latency_s;
};

typedef WR_VEC(struct scaling_row) scaling_rows;

/* The rows that may count, whatever their size. */
static void scaling_take(scaling_rows *to, const struct state_probes *p,
                         const struct state_choice *c, char op[8])
{
    for (size_t i = 0; i < p->n; i++) {
        const struct state_probe *x = &p->v[i];
        const char *is = p->nops ? p->op[x->op] : "";

        if ((c->op && strcmp(is, c->op) != 0) || !x->bytes ||
            (c->target && p->ntargets && strcmp(p->target[x->target], c->target) != 0) ||
            ((c->from_s != 0 || c->to_s != 0) && (x->t_s < c->from_s || x->t_s >= c->to_s)))
            continue;
        if (!strcmp(is, "read") || !strcmp(is, "write"))
            snprintf(op, 8, "%s", is);
        wr_vec_push(to, (struct scaling_row){x->bytes, x->latency_s});
    }
}

static int scaling_by_size(const void *a, const void *b)
{
    const struct scaling_row *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->latency_s < y->latency_s ? -1 : x->latency_s > y->latency_s;
}

static double scaling_median(const struct scaling_row *row, size_t n)
{
    double *x = wr_alloc(n * sizeof *x);

    for (size_t i = 0; i < n; i++)
        x[i] = row[i].latency_s;
    stat_sort(x, n);
    double median = stat_quantile(x, n, 0.5);

    free(x);
    return median;
}

/* Sizes and their medians; a percent of difference makes no other size. */
struct scaling_sizes {
    WR_VEC(double) bytes, median_s;
    size_t all; /* sizes, also those with few probes */
};

static void scaling_group(struct scaling_sizes *to, const scaling_rows *rows)
{
    for (size_t i = 0, end; i < rows->n; i = end) {
        for (end = i + 1;
             end < rows->n && (double)rows->v[end].bytes <= 1.01 * (double)rows->v[i].bytes;)
            end++;
        to->all++;
        if (end - i < STATE_SCALING_LEAST)
            continue;
        wr_vec_push(&to->bytes, (double)rows->v[i].bytes);
        wr_vec_push(&to->median_s, scaling_median(&rows->v[i], end - i));
    }
}

static void scaling_fit(struct state_probed *ret, const struct scaling_sizes *z)
{
    struct stat_line line;
    struct wr_err ignored;

    if (z->bytes.n < 2 || !ret->bytes ||
        !stat_fit_line(z->bytes.v, z->median_s.v, z->bytes.n, &line, &ignored))
        return;
    double fixed = fmax(line.intercept, 0), grows = fmax(line.slope, 0) * (double)ret->bytes;

    if (!(fixed + grows > 0))
        return;
    ret->fixed_share = fixed / (fixed + grows);
    ret->least_b = (uint64_t)z->bytes.v[0];
    ret->most_b = (uint64_t)z->bytes.v[z->bytes.n - 1];
}

bool state_scaling(struct state_probed *ret, char *const *paths, size_t npaths,
                   const struct state_choice *choice, struct wr_err *err)
{
    struct state_probed probed = {.fixed_share = NAN};
    struct scaling_sizes z = {.all = 0};
    scaling_rows rows = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < npaths; i++) {
        struct state_probes p;

        ok = state_probes_read(&p, paths[i], err);
        if (ok) {
            scaling_take(&rows, &p, choice, probed.op);
            state_probes_fini(&p);
        }
    }
    if (ok && rows.n) {
        qsort(rows.v, rows.n, sizeof *rows.v, scaling_by_size);
        scaling_group(&z, &rows);
        probed.bytes = choice->bytes ? choice->bytes : z.all == 1 ? rows.v[0].bytes : 0;
        scaling_fit(&probed, &z);
    }
    wr_vec_fini(&z.bytes);
    wr_vec_fini(&z.median_s);
    wr_vec_fini(&rows);
    if (ok)
        *ret = probed;
    return ok;
}
