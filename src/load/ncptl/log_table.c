/* log_table.c -- the log tables of one processor: values, aggregates, text.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#include "log_table_priv.h"

#include <math.h>
#include <stdlib.h>

static bool table_keeps_raw(enum ncptl_aggregate a)
{
    return a == NCPTL_MEDIAN || a == NCPTL_MAD || a == NCPTL_PERCENTILE || a == NCPTL_HISTOGRAM;
}

static void table_feed(struct nc_cell *c, double v)
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

static int table_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Linear interpolation between the two nearest ranks; p in [0, 100]. */
static double table_percentile(const double *sorted, size_t n, double p)
{
    double at = (double)(n - 1) * p / 100;
    size_t i = (size_t)at;

    return i + 1 >= n ? sorted[n - 1] : sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

static double table_deviation(struct nc_cell *c)
{
    double median = table_percentile(c->raw.v, c->raw.n, 50);

    for (size_t i = 0; i < c->raw.n; i++)
        c->raw.v[i] = fabs(c->raw.v[i] - median);
    qsort(c->raw.v, c->raw.n, sizeof *c->raw.v, table_by_value);
    return table_percentile(c->raw.v, c->raw.n, 50);
}

static void table_histogram(struct nc_cell *c)
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

static double table_summary(const struct ncptl_column *info, struct nc_cell *c)
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
        return table_percentile(c->raw.v, c->raw.n, 50);
    case NCPTL_MAD:
        return table_deviation(c);
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
        return table_percentile(c->raw.v, c->raw.n, info->param);
    default:
        return c->last;
    }
}

static enum nc_cell_fault table_fault_of(const struct ncptl_column *info, const struct nc_cell *c)
{
    bool mean = info->aggregate == NCPTL_HARMONIC_MEAN || info->aggregate == NCPTL_GEOMETRIC_MEAN;

    return info->aggregate == NCPTL_ONLY && c->differ ? CELL_SEVERAL
           : mean && c->zero                          ? CELL_ZERO
                                                      : CELL_FINE;
}

/* What a group has no value of is not a number, and the column says so at the end. */
static void table_flush(const struct nc_tables *t, uint32_t column)
{
    const struct ncptl_column *info = &t->info[column];
    struct nc_cell *c = t->cell[column];
    bool star = nc_tables_starred(t, column);

    if (!c || !c->n)
        return;
    enum nc_cell_fault fault = star ? CELL_FINE : table_fault_of(info, c);

    if (star) {
        wr_vec_push(&c->out, NAN);
        if (info->aggregate == NCPTL_HISTOGRAM)
            wr_vec_push(&c->out, NAN);
    } else if (fault) {
        wr_vec_push(&c->out, NAN);
    } else {
        if (c->raw.n)
            qsort(c->raw.v, c->raw.n, sizeof *c->raw.v, table_by_value);
        if (info->aggregate == NCPTL_HISTOGRAM)
            table_histogram(c);
        else
            wr_vec_push(&c->out, table_summary(info, c));
    }
    struct nc_cell keep = {
        .fault = c->fault, .fault_first = c->fault_first, .fault_last = c->fault_last};

    if (fault && !c->fault)
        keep = (struct nc_cell){
            .fault = (uint8_t)fault, .fault_first = c->first, .fault_last = c->last};
    keep.out.v = c->out.v;
    keep.out.n = c->out.n;
    keep.out.cap = c->out.cap;
    wr_vec_fini(&c->raw);
    *c = keep;
}

/* ---- feeding ---- */

bool nc_tables_starred(const struct nc_tables *t, uint32_t column)
{
    return t->info[column].timed && !t->clock;
}

struct nc_cell *nc_tables_cell(const struct nc_tables *t, uint32_t column)
{
    if (!t->cell[column])
        t->cell[column] = wr_zalloc(1, sizeof **t->cell);
    return t->cell[column];
}

void nc_tables_log(const struct nc_tables *t, uint32_t column, double value)
{
    enum ncptl_aggregate a = t->info[column].aggregate;
    struct nc_cell *c = nc_tables_cell(t, column);
    bool star = nc_tables_starred(t, column);

    if (star)
        value = NAN;
    if (a == NCPTL_ALL_DATA) {
        wr_vec_push(&c->out, value);
        return;
    }
    table_feed(c, value);
    if (table_keeps_raw(a) && !star)
        wr_vec_push(&c->raw, value);
}

void nc_tables_aggregate(const struct nc_tables *t, uint32_t table)
{
    for (uint32_t c = 0; c < t->ncolumns; c++)
        if (t->info[c].table == table)
            table_flush(t, c);
}

bool nc_tables_finish(const struct nc_tables *t, uint32_t *ret_column)
{
    bool ok = true;

    for (uint32_t c = 0; c < t->ncolumns; c++) {
        table_flush(t, c);
        if (ok && t->cell[c] && t->cell[c]->fault) {
            *ret_column = c;
            ok = false;
        }
    }
    return ok;
}

void nc_tables_fault(const struct nc_tables *t, uint32_t column, struct wr_str *out)
{
    const struct nc_cell *c = t->cell[column];

    if (c->fault == CELL_SEVERAL)
        wr_str_addf(out,
                    "column \"%s\" says THE but has more than one value (%.10g and %.10g); "
                    "COMPUTE AGGREGATES between them, or drop THE",
                    t->info[column].title, c->fault_first, c->fault_last);
    else
        wr_str_addf(out,
                    "column \"%s\" has a value of zero, of which no such mean exists; use MEAN",
                    t->info[column].title);
}

void nc_tables_free(const struct nc_tables *t)
{
    for (uint32_t c = 0; c < t->ncolumns; c++)
        if (t->cell[c]) {
            wr_vec_fini(&t->cell[c]->raw);
            wr_vec_fini(&t->cell[c]->out);
            free(t->cell[c]);
        }
}

/* ---- printing ---- */

static void table_quoted(struct wr_str *out, const char *s)
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

/* The next column >= c of a table that has data; ncolumns if none. */
static uint32_t table_next(const struct nc_tables *t, uint32_t number, uint32_t c)
{
    while (c < t->ncolumns && (t->info[c].table != number || !t->cell[c] || !t->cell[c]->out.n))
        c++;
    return c;
}

static uint32_t table_parts(const struct nc_tables *t, uint32_t c)
{
    return t->info[c].aggregate == NCPTL_HISTOGRAM ? 2 : 1;
}

static void table_value(const struct nc_tables *t, uint32_t c, size_t i, struct wr_str *out)
{
    if (i >= t->cell[c]->out.n)
        return;
    if (nc_tables_starred(t, c))
        wr_str_add(out, "*");
    else
        wr_str_addf(out, "%.10g", t->cell[c]->out.v[i]);
}

enum table_row { ROW_TITLES = -2, ROW_AGGREGATES = -1 };

static void table_row(const struct nc_tables *t, uint32_t number, int64_t row, struct wr_str *out)
{
    bool first = true;

    for (uint32_t c = table_next(t, number, 0); c < t->ncolumns; c = table_next(t, number, c + 1)) {
        uint32_t parts = table_parts(t, c);

        for (uint32_t part = 0; part < parts; part++, first = false) {
            wr_str_add(out, first ? "" : ",");
            if (row == ROW_TITLES) {
                table_quoted(out, t->info[c].title);
            } else if (row == ROW_AGGREGATES) {
                struct wr_str text = {0};

                ncptl_aggregate_text(&t->info[c], part, &text);
                table_quoted(out, wr_str_get(&text));
                wr_str_fini(&text);
            } else {
                table_value(t, c, (size_t)row * parts + part, out);
            }
        }
    }
    wr_str_add(out, "\n");
}

static void table_print(const struct nc_tables *t, uint32_t number, struct wr_str *out)
{
    size_t rows = 0;

    for (uint32_t c = table_next(t, number, 0); c < t->ncolumns; c = table_next(t, number, c + 1)) {
        size_t n = t->cell[c]->out.n / table_parts(t, c);

        rows = n > rows ? n : rows;
    }
    if (out->n)
        wr_str_add(out, "\n");
    table_row(t, number, ROW_TITLES, out);
    table_row(t, number, ROW_AGGREGATES, out);
    for (size_t r = 0; r < rows; r++)
        table_row(t, number, (int64_t)r, out);
}

void nc_tables_print(const struct nc_tables *t, struct wr_str *out)
{
    struct wr_str text = {0};

    for (uint32_t c = 0; t->cell && c < t->ncolumns;) {
        uint32_t number = t->info[c].table;

        if (table_next(t, number, c) < t->ncolumns)
            table_print(t, number, &text);
        while (c < t->ncolumns && t->info[c].table == number)
            c++;
    }
    wr_str_addn(out, wr_str_get(&text), text.n);
    wr_str_fini(&text);
}
