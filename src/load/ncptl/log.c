#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "ncptl_log.h"
#include "prog_priv.h"

/* Why a column has no such value as it asks for. */
enum cell_fault { CELL_FINE, CELL_SEVERAL, CELL_ZERO };

/* One column of one processor. */
struct cell {
    uint64_t n; /* values since the last aggregation */
    double first, last, min, max, sum;
    double mean, m2;      /* Welford 1962: the variance without keeping values */
    double inverse, logs; /* sums of 1/x and log|x| */
    bool zero, odd_negative, differ;
    uint8_t fault; /* enum cell_fault: of the first group that has no such value */
    double fault_first, fault_last;
    WR_VEC(double) raw; /* for those that need them all */
    WR_VEC(double) out; /* finished */
};

struct ncptl_log {
    const struct ncptl_prog *p;
    bool clock;
    struct cell ***of; /* by processor and column; NULL where nothing was logged */
};

struct ncptl_log *ncptl_log_new(const struct ncptl_prog *p, bool clock)
{
    struct ncptl_log *log = wr_zalloc(1, sizeof *log);

    log->p = p;
    log->clock = clock;
    log->of = wr_zalloc(p->n, sizeof *log->of);
    return log;
}

void ncptl_log_free(struct ncptl_log *log)
{
    if (!log)
        return;
    for (uint32_t i = 0; i < log->p->n; i++) {
        for (uint32_t c = 0; log->of[i] && c < log->p->ncolumns; c++)
            if (log->of[i][c]) {
                wr_vec_fini(&log->of[i][c]->raw);
                wr_vec_fini(&log->of[i][c]->out);
                free(log->of[i][c]);
            }
        free(log->of[i]);
    }
    free(log->of);
    free(log);
}

static bool keeps_raw(enum ncptl_aggregate a)
{
    return a == NCPTL_MEDIAN || a == NCPTL_MAD || a == NCPTL_PERCENTILE || a == NCPTL_HISTOGRAM;
}

static struct cell *cell_of(struct ncptl_log *log, uint32_t proc, uint32_t column)
{
    if (!log->of[proc])
        log->of[proc] = wr_zalloc(log->p->ncolumns, sizeof **log->of);
    if (!log->of[proc][column])
        log->of[proc][column] = wr_zalloc(1, sizeof ***log->of);
    return log->of[proc][column];
}

static bool starred(const struct ncptl_log *log, uint32_t column)
{
    return log->p->columns[column].info.timed && !log->clock;
}

static void feed(struct cell *c, double v)
{
    double delta = v - c->mean;

    c->differ = c->differ || (c->n && v != c->first);
    if (!c->n)
        c->first = c->min = c->max = v;
    c->n++;
    c->last = v;
    c->min = v < c->min ? v : c->min;
    c->max = v > c->max ? v : c->max;
    c->sum += v;
    c->mean += delta / (double)c->n;
    c->m2 += delta * (v - c->mean);
    c->zero = c->zero || v == 0;
    c->odd_negative ^= v < 0;
    c->inverse += 1 / v;
    c->logs += log(fabs(v));
}

/* ---- aggregation ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Linear interpolation between the two nearest ranks; p in [0, 100]. */
static double percentile(const double *sorted, size_t n, double p)
{
    double at = (double)(n - 1) * p / 100;
    size_t i = (size_t)at;

    return i + 1 >= n ? sorted[n - 1] : sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

static double deviation(struct cell *c)
{
    double median = percentile(c->raw.v, c->raw.n, 50);

    for (size_t i = 0; i < c->raw.n; i++)
        c->raw.v[i] = fabs(c->raw.v[i] - median);
    qsort(c->raw.v, c->raw.n, sizeof *c->raw.v, by_value);
    return percentile(c->raw.v, c->raw.n, 50);
}

static void histogram(struct cell *c)
{
    for (size_t i = 0; i < c->raw.n;) {
        size_t k = i;

        while (k < c->raw.n && c->raw.v[k] == c->raw.v[i])
            k++;
        if (k == i)
            k++; /* not a number equals nothing */
        wr_vec_push(&c->out, c->raw.v[i]);
        wr_vec_push(&c->out, (double)(k - i));
        i = k;
    }
}

static double summary(const struct ncptl_column *info, struct cell *c)
{
    double variance = c->n > 1 ? c->m2 / (double)(c->n - 1) : 0;

    switch (info->aggregate) {
    case NCPTL_ONLY:
        return c->first;
    case NCPTL_MEAN:
        return c->sum / (double)c->n;
    case NCPTL_HARMONIC_MEAN:
        return (double)c->n / c->inverse;
    case NCPTL_GEOMETRIC_MEAN:
        return c->odd_negative ? NAN : exp(c->logs / (double)c->n);
    case NCPTL_MEDIAN:
        return percentile(c->raw.v, c->raw.n, 50);
    case NCPTL_MAD:
        return deviation(c);
    case NCPTL_STDEV:
        return sqrt(variance);
    case NCPTL_VARIANCE:
        return variance;
    case NCPTL_SUM:
        return c->sum;
    case NCPTL_MINIMUM:
        return c->min;
    case NCPTL_MAXIMUM:
        return c->max;
    case NCPTL_PERCENTILE:
        return percentile(c->raw.v, c->raw.n, info->param);
    default:
        return c->last;
    }
}

static enum cell_fault fault_of(const struct ncptl_column *info, const struct cell *c)
{
    bool mean = info->aggregate == NCPTL_HARMONIC_MEAN || info->aggregate == NCPTL_GEOMETRIC_MEAN;

    return info->aggregate == NCPTL_ONLY && c->differ ? CELL_SEVERAL
           : mean && c->zero                          ? CELL_ZERO
                                                      : CELL_FINE;
}

static bool tell_fault(const struct ncptl_log *log, const struct ncptl_column *info,
                       const struct cell *c, struct wr_err *err)
{
    if (c->fault == CELL_SEVERAL)
        return nc_fail(&log->p->src, NC_RUNTIME, info->source, err,
                       "column \"%s\" says THE but has more than one value (%.10g and %.10g); "
                       "COMPUTE AGGREGATES between them, or drop THE",
                       info->title, c->fault_first, c->fault_last);
    return nc_fail(&log->p->src, NC_RUNTIME, info->source, err,
                   "column \"%s\" has a value of zero, of which no such mean exists; use MEAN",
                   info->title);
}

/* What a group has no value of is not a number, and the column says so at the end. */
static void flush(struct ncptl_log *log, uint32_t proc, uint32_t column)
{
    const struct ncptl_column *info = &log->p->columns[column].info;
    struct cell *c = log->of[proc][column];

    if (!c || !c->n)
        return;
    enum cell_fault fault = starred(log, column) ? CELL_FINE : fault_of(info, c);

    if (starred(log, column)) {
        wr_vec_push(&c->out, NAN);
        if (info->aggregate == NCPTL_HISTOGRAM)
            wr_vec_push(&c->out, NAN);
    } else if (fault) {
        wr_vec_push(&c->out, NAN);
    } else {
        if (c->raw.n)
            qsort(c->raw.v, c->raw.n, sizeof *c->raw.v, by_value);
        if (info->aggregate == NCPTL_HISTOGRAM)
            histogram(c);
        else
            wr_vec_push(&c->out, summary(info, c));
    }
    struct cell keep = {
        .fault = c->fault, .fault_first = c->fault_first, .fault_last = c->fault_last};

    if (fault && !c->fault)
        keep =
            (struct cell){.fault = (uint8_t)fault, .fault_first = c->first, .fault_last = c->last};
    keep.out.v = c->out.v;
    keep.out.n = c->out.n;
    keep.out.cap = c->out.cap;
    wr_vec_fini(&c->raw);
    *c = keep;
}

/* ---- feeding ---- */

static bool add_values(struct ncptl_log *log, struct ncptl_rank *r, const struct ncptl_event *ev,
                       struct wr_err *err)
{
    for (uint32_t k = 0; k < ev->ncolumns; k++) {
        uint32_t column = ev->column + k;
        enum ncptl_aggregate a = log->p->columns[column].info.aggregate;
        struct cell *c = cell_of(log, r->proc, column);
        double v = NAN;

        if (!starred(log, column) && !ncptl_log_value(log->p, r, column, &v, err))
            return false;
        if (a == NCPTL_ALL_DATA) {
            wr_vec_push(&c->out, v);
            continue;
        }
        feed(c, v);
        if (keeps_raw(a) && !starred(log, column))
            wr_vec_push(&c->raw, v);
    }
    return true;
}

bool ncptl_log_add(struct ncptl_log *log, struct ncptl_rank *r, const struct ncptl_event *ev,
                   struct wr_err *err)
{
    if (ev->op == NCPTL_LOG)
        return add_values(log, r, ev, err);
    if (ev->op != NCPTL_AGGREGATE || !log->of[r->proc])
        return true;
    for (uint32_t c = 0; c < log->p->ncolumns; c++)
        if (log->p->columns[c].info.table == ev->table)
            flush(log, r->proc, c);
    return true;
}

/* ---- from one process to another ---- */

static void pack_values(const double *v, size_t n, struct wr_bytes *out)
{
    wr_bytes_u64(out, n);
    wr_bytes_put(out, v, n * sizeof *v);
}

void ncptl_log_pack(const struct ncptl_log *log, uint32_t proc, struct wr_bytes *out)
{
    for (uint32_t k = 0; log->of[proc] && k < log->p->ncolumns; k++) {
        const struct cell *c = log->of[proc][k];

        if (!c)
            continue;
        wr_bytes_u64(out, k + 1); /* never 0, which ends them */
        wr_bytes_put(out, c, offsetof(struct cell, raw));
        pack_values(c->raw.v, c->raw.n, out);
        pack_values(c->out.v, c->out.n, out);
    }
    wr_bytes_u64(out, 0);
}

void ncptl_log_take(struct ncptl_log *log, uint32_t proc, struct wr_reader *in)
{
    uint64_t k;

    while ((k = wr_read_below(in, log->p->ncolumns + 1))) {
        struct cell *c = cell_of(log, proc, (uint32_t)k - 1);
        double v;

        wr_read_raw(in, c, offsetof(struct cell, raw));
        for (size_t n = wr_read_count(in, sizeof v); n; n--) {
            wr_read_raw(in, &v, sizeof v);
            wr_vec_push(&c->raw, v);
        }
        for (size_t n = wr_read_count(in, sizeof v); n; n--) {
            wr_read_raw(in, &v, sizeof v);
            wr_vec_push(&c->out, v);
        }
    }
}

bool ncptl_log_finish(struct ncptl_log *log, struct wr_err *err)
{
    bool ok = true;

    for (uint32_t i = 0; i < log->p->n; i++)
        for (uint32_t c = 0; log->of[i] && c < log->p->ncolumns; c++) {
            flush(log, i, c);
            if (ok && log->of[i][c] && log->of[i][c]->fault)
                ok = tell_fault(log, &log->p->columns[c].info, log->of[i][c], err);
        }
    return ok;
}

void ncptl_log_each(const struct ncptl_log *log, ncptl_log_fn *fn, void *ctx)
{
    for (uint32_t i = 0; i < log->p->n; i++)
        for (uint32_t k = 0; log->of[i] && k < log->p->ncolumns; k++) {
            const struct cell *c = log->of[i][k];
            uint32_t parts = log->p->columns[k].info.aggregate == NCPTL_HISTOGRAM ? 2 : 1;

            for (size_t v = 0; c && v < c->out.n; v++)
                fn(ctx, i, k, (uint32_t)(v % parts), v / parts, c->out.v[v]);
        }
}

/* ---- printing ---- */

static void add_quoted(struct wr_str *out, const char *s)
{
    wr_str_add(out, "\"");
    for (; *s; s++)
        wr_str_addf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    wr_str_add(out, "\"");
}

void ncptl_aggregate_text(const struct ncptl_column *c, uint32_t part, struct wr_str *out)
{
    static const char *const names[] = {
        [NCPTL_ALL_DATA] = "all data",
        [NCPTL_ONLY] = "only value",
        [NCPTL_MEAN] = "mean",
        [NCPTL_HARMONIC_MEAN] = "harm. mean",
        [NCPTL_GEOMETRIC_MEAN] = "geom. mean",
        [NCPTL_MEDIAN] = "median",
        [NCPTL_MAD] = "med. abs. dev.",
        [NCPTL_STDEV] = "std. dev.",
        [NCPTL_VARIANCE] = "variance",
        [NCPTL_SUM] = "sum",
        [NCPTL_MINIMUM] = "minimum",
        [NCPTL_MAXIMUM] = "maximum",
        [NCPTL_FINAL] = "final",
        [NCPTL_HISTOGRAM] = "hist. values",
    };

    if (c->aggregate == NCPTL_PERCENTILE) /* always "th", as in the reference's tables */
        wr_str_addf(out, "(%.0fth percentile)", c->param);
    else
        wr_str_addf(out, "(%s)", part ? "hist. tallies" : names[c->aggregate]);
}

struct table {
    const struct ncptl_log *log;
    struct cell *const *cells;
    uint32_t number;
    struct wr_str *out;
};

/* The next column >= c of this table that has data; ncolumns if none. */
static uint32_t next_column(const struct table *t, uint32_t c)
{
    while (c < t->log->p->ncolumns &&
           (t->log->p->columns[c].info.table != t->number || !t->cells[c] || !t->cells[c]->out.n))
        c++;
    return c;
}

static uint32_t parts_of(const struct table *t, uint32_t c)
{
    return t->log->p->columns[c].info.aggregate == NCPTL_HISTOGRAM ? 2 : 1;
}

static void print_value(const struct table *t, uint32_t c, size_t i)
{
    if (i >= t->cells[c]->out.n)
        return;
    if (starred(t->log, c))
        wr_str_add(t->out, "*");
    else
        wr_str_addf(t->out, "%.10g", t->cells[c]->out.v[i]);
}

enum row { ROW_TITLES = -2, ROW_AGGREGATES = -1 };

static void print_row(const struct table *t, int64_t row)
{
    bool first = true;

    for (uint32_t c = next_column(t, 0); c < t->log->p->ncolumns; c = next_column(t, c + 1)) {
        const struct ncptl_column *info = &t->log->p->columns[c].info;
        uint32_t parts = parts_of(t, c);

        for (uint32_t part = 0; part < parts; part++, first = false) {
            wr_str_add(t->out, first ? "" : ",");
            if (row == ROW_TITLES) {
                add_quoted(t->out, info->title);
            } else if (row == ROW_AGGREGATES) {
                struct wr_str text = {0};

                ncptl_aggregate_text(info, part, &text);
                add_quoted(t->out, wr_str_get(&text));
                wr_str_fini(&text);
            } else {
                print_value(t, c, (size_t)row * parts + part);
            }
        }
    }
    wr_str_add(t->out, "\n");
}

static void print_table(const struct table *t)
{
    size_t rows = 0;

    for (uint32_t c = next_column(t, 0); c < t->log->p->ncolumns; c = next_column(t, c + 1)) {
        size_t n = t->cells[c]->out.n / parts_of(t, c);

        rows = n > rows ? n : rows;
    }
    if (t->out->n)
        wr_str_add(t->out, "\n");
    print_row(t, ROW_TITLES);
    print_row(t, ROW_AGGREGATES);
    for (size_t r = 0; r < rows; r++)
        print_row(t, (int64_t)r);
}

void ncptl_log_print_one(const struct ncptl_log *log, uint32_t proc, struct wr_str *out)
{
    struct wr_str text = {0};
    struct table t = {.log = log, .cells = log->of[proc], .out = &text};

    for (uint32_t c = 0; t.cells && c < log->p->ncolumns;) {
        t.number = log->p->columns[c].info.table;
        if (next_column(&t, c) < log->p->ncolumns)
            print_table(&t);
        while (c < log->p->ncolumns && log->p->columns[c].info.table == t.number)
            c++;
    }
    wr_str_addn(out, wr_str_get(&text), text.n);
    wr_str_fini(&text);
}

void ncptl_log_print(const struct ncptl_log *log, struct wr_str *out)
{
    for (uint32_t i = 0; i < log->p->n; i++) {
        struct wr_str one = {0};

        ncptl_log_print_one(log, i, &one);
        if (one.n) {
            wr_str_addf(out, "## rank %u\n", i);
            wr_str_addn(out, one.s, one.n);
        }
        wr_str_fini(&one);
    }
}
