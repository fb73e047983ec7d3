/* ioload_put.c -- writes the result of a load to a run file, as one job.
 *
 * The names of tables, series and summary keys are those of docs/formats/run-file.md. Called once,
 * after ioload_run() succeeded.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>

#include "base/mem.h"
#include "ioload/ioload.h"

static const struct {
    const char *name, *unit;
    size_t offset;
} metrics[] = {
    {"write_bytes", "B", offsetof(struct ioload_cell, write_b)},
    {"write_calls", "", offsetof(struct ioload_cell, write_calls)},
    {"write_time", "ns", offsetof(struct ioload_cell, write_ns)},
    {"sync_calls", "", offsetof(struct ioload_cell, sync_calls)},
    {"sync_time", "ns", offsetof(struct ioload_cell, sync_ns)},
    {"inflight", "", offsetof(struct ioload_cell, inflight)},
};
enum { NMETRICS = sizeof metrics / sizeof metrics[0] };

static bool ioload_put_series(struct run *run, const struct ioload_result *r, uint32_t *ret,
                              struct wr_err *err)
{
    for (uint32_t i = 0; i < r->n; i++)
        for (size_t m = 0; m < NMETRICS; m++) {
            char entity[48];
            struct run_series s = {entity, metrics[m].name, metrics[m].unit, r->slice_ns * 1000};

            snprintf(entity, sizeof entity, "rank:0.%u", i);
            if (!run_open_series(run, &s, &ret[i * NMETRICS + m], err))
                return false;
        }
    return true;
}

static bool ioload_put_slices(struct run *run, const struct ioload_result *r, struct wr_err *err)
{
    uint32_t *series = wr_zalloc((size_t)r->n * NMETRICS, sizeof *series);
    bool ok = ioload_put_series(run, r, series, err);

    for (size_t k = 0; ok && k < r->nslices; k++)
        for (uint32_t i = 0; ok && i < r->n; i++)
            for (size_t m = 0; ok && m < NMETRICS; m++) {
                const char *cell = (const char *)&r->cell[i * r->stride + k];
                uint64_t v = *(const uint64_t *)(const void *)(cell + metrics[m].offset);

                if (v)
                    ok = run_put_slice(run, series[i * NMETRICS + m],
                                       (int64_t)k * r->slice_ns * 1000, r->slice_ns * 1000,
                                       (double)v, err);
            }
    free(series);
    return ok;
}

static bool ioload_put_ranks(struct run *run, const struct ioload_result *r, int64_t node,
                             int64_t *start, struct wr_err *err)
{
    *start = INT64_MAX;
    for (uint32_t i = 0; i < r->n; i++)
        if (r->rank[i].begin_ns && r->rank[i].begin_ns < *start)
            *start = r->rank[i].begin_ns;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ioload_rank *k = &r->rank[i];
        struct run_rank row = run_rank_unknown(0, i);

        row.node = node;
        row.bytes_written = (int64_t)k->write_b;
        row.bytes_read = row.compute_ps = row.comm_ps = 0;
        row.elapsed_ps = k->begin_ns ? (k->end_ns - *start) * 1000 : 0;
        row.io_ps = (int64_t)(k->write_ns + k->sync_ns) * 1000;
        row.idle_ps = row.elapsed_ps - row.io_ps;
        if (!run_put_rank(run, &row, err))
            return false;
    }
    return true;
}

/* What the kernel knows of its own clock's error. */
static bool ioload_put_clock(struct run *run, const struct ioload_result *r, struct wr_err *err)
{
    struct timex t = {0};
    bool known = adjtimex(&t) >= 0;

    if (!run_put_count(run, "epoch_ns", (uint64_t)r->origin_ns, "ns", err) ||
        !run_put_volatile(run, "clock_step_ns", (double)r->clock_step_ns, "ns", err))
        return false;
    return !known ||
           (run_put_volatile(run, "clock_error_ns", 1e3 * (double)t.maxerror, "ns", err) &&
            run_put_volatile(run, "clock_synchronised", !(t.status & STA_UNSYNC), "", err));
}

bool ioload_put(struct run *run, const struct ioload_result *r, const struct ioload_opts *o,
                const struct ioload_job *job, struct wr_err *err)
{
    struct run_app app = {
        .name = job->name, .ranks = r->n, .workload = job->workload, .placement = NULL};
    int64_t start;

    assert(r->n && r->slice_ns > 0);
    if (!ioload_put_clock(run, r, err) || !ioload_put_ranks(run, r, job->node, &start, err))
        return false;
    app.start_ps = start == INT64_MAX ? 0 : (start - r->origin_ns) * 1000;
    return run_put_app(run, &app, err) &&
           run_put_text(run, "file_mode", ioload_file_names[o->file], err) &&
           ioload_put_slices(run, r, err);
}
