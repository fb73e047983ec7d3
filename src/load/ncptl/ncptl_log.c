/* ncptl_log.c -- the log tables of all processors of a program.
 *
 * Owns one array of cells per processor, allocated when the processor logs first. A processor's
 * cells are written by the thread that executes it only, so there is no lock. log_table.c has the
 * arithmetic and the text of one processor's tables.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "log_table_priv.h"
#include "ncptl_log.h"
#include "prog_priv.h"

struct ncptl_log {
    const struct ncptl_prog *p;
    bool clock;
    struct ncptl_column *info;
    struct nc_cell ***of; /* by processor and column; NULL where nothing was logged */
};

struct ncptl_log *ncptl_log_new(const struct ncptl_prog *p, bool clock)
{
    struct ncptl_log *log = wr_zalloc(1, sizeof *log);

    log->p = p;
    log->clock = clock;
    log->of = wr_zalloc(p->n, sizeof *log->of);
    log->info = wr_zalloc(p->ncolumns + 1, sizeof *log->info);
    for (uint32_t c = 0; c < p->ncolumns; c++)
        log->info[c] = p->columns[c].info;
    return log;
}

static struct nc_tables log_tables(const struct ncptl_log *log, uint32_t proc)
{
    assert(proc < log->p->n);
    return (struct nc_tables){.info = log->info,
                              .ncolumns = log->p->ncolumns,
                              .clock = log->clock,
                              .cell = log->of[proc]};
}

/* The same, with the array of cells allocated. */
static struct nc_tables log_tables_made(struct ncptl_log *log, uint32_t proc)
{
    if (!log->of[proc])
        log->of[proc] = wr_zalloc(log->p->ncolumns, sizeof **log->of);
    return log_tables(log, proc);
}

void ncptl_log_free(struct ncptl_log *log)
{
    if (!log)
        return;
    for (uint32_t i = 0; i < log->p->n; i++) {
        struct nc_tables t = log_tables(log, i);

        if (t.cell)
            nc_tables_free(&t);
        free(log->of[i]);
    }
    free(log->of);
    free(log->info);
    free(log);
}

/* ---- feeding ---- */

static bool log_add_values(struct ncptl_log *log, struct ncptl_rank *r,
                           const struct ncptl_event *ev, struct wr_err *err)
{
    struct nc_tables t = log_tables_made(log, r->proc);

    for (uint32_t column = ev->column; column < ev->column + ev->ncolumns; column++) {
        double v = 0;

        if (!nc_tables_starred(&t, column) && !ncptl_log_value(log->p, r, column, &v, err))
            return false;
        nc_tables_log(&t, column, v);
    }
    return true;
}

bool ncptl_log_add(struct ncptl_log *log, struct ncptl_rank *r, const struct ncptl_event *ev,
                   struct wr_err *err)
{
    if (ev->op == NCPTL_LOG)
        return log_add_values(log, r, ev, err);
    if (ev->op != NCPTL_AGGREGATE || !log->of[r->proc])
        return true;
    struct nc_tables t = log_tables(log, r->proc);

    nc_tables_aggregate(&t, ev->table);
    return true;
}

/* ---- from one process to another ---- */

static void log_pack_values(const double *v, size_t n, struct wr_bytes *out)
{
    wr_bytes_u64(out, n);
    wr_bytes_put(out, v, n * sizeof *v);
}

void ncptl_log_pack(const struct ncptl_log *log, uint32_t proc, struct wr_bytes *out)
{
    for (uint32_t k = 0; log->of[proc] && k < log->p->ncolumns; k++) {
        const struct nc_cell *c = log->of[proc][k];

        if (!c)
            continue;
        wr_bytes_u64(out, k + 1); /* never 0, which ends them */
        wr_bytes_put(out, c, offsetof(struct nc_cell, raw));
        log_pack_values(c->raw.v, c->raw.n, out);
        log_pack_values(c->out.v, c->out.n, out);
    }
    wr_bytes_u64(out, 0);
}

void ncptl_log_take(struct ncptl_log *log, uint32_t proc, struct wr_reader *in)
{
    struct nc_tables t = log_tables_made(log, proc);
    uint64_t k;

    while ((k = wr_read_below(in, log->p->ncolumns + 1))) {
        struct nc_cell *c = nc_tables_cell(&t, (uint32_t)k - 1);
        double v;

        wr_read_raw(in, c, offsetof(struct nc_cell, raw));
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

static bool log_report_fault(const struct ncptl_log *log, const struct nc_tables *t,
                             uint32_t column, struct wr_err *err)
{
    struct wr_str why = {0};

    nc_tables_fault(t, column, &why);
    nc_fail(&log->p->src, NC_RUNTIME, log->info[column].source, err, "%s", wr_str_get(&why));
    wr_str_fini(&why);
    return false;
}

bool ncptl_log_finish(struct ncptl_log *log, struct wr_err *err)
{
    bool ok = true;

    for (uint32_t i = 0; i < log->p->n; i++) {
        struct nc_tables t = log_tables(log, i);
        uint32_t column;

        if (t.cell && !nc_tables_finish(&t, &column) && ok)
            ok = log_report_fault(log, &t, column, err);
    }
    return ok;
}

void ncptl_log_each(const struct ncptl_log *log, ncptl_log_fn *fn, void *ctx)
{
    for (uint32_t i = 0; i < log->p->n; i++)
        for (uint32_t k = 0; log->of[i] && k < log->p->ncolumns; k++) {
            const struct nc_cell *c = log->of[i][k];
            uint32_t parts = log->p->columns[k].info.aggregate == NCPTL_HISTOGRAM ? 2 : 1;

            for (size_t v = 0; c && v < c->out.n; v++)
                fn(ctx, i, k, (uint32_t)(v % parts), v / parts, c->out.v[v]);
        }
}

/* ---- printing ---- */

void ncptl_log_print_one(const struct ncptl_log *log, uint32_t proc, struct wr_str *out)
{
    struct nc_tables t = log_tables(log, proc);

    nc_tables_print(&t, out);
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
