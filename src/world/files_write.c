/* files_write.c -- what storage counted, into the run file: devices, buffers and time series. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "files_priv.h"

/* ---- the end of a run ---- */

static bool files_write_put_disk(struct run *run, const struct store_disk_stat *d,
                                 struct wr_err *err)
{
    struct run_server x = {.server = d->site,
                           .node = d->node,
                           .idx = d->index,
                           .role = d->role,
                           .device = d->device,
                           .model = d->model,
                           .reads = d->reads,
                           .writes = d->writes,
                           .bytes_read = d->bytes_read,
                           .bytes_written = d->bytes_written,
                           .busy_ps = d->busy_ps,
                           .seeks = d->seeks,
                           .queue_ps = d->queue_ps,
                           .queue_max = d->queue_most};

    return run_put_server(run, &x, err);
}

static bool files_write_put_site(struct run *run, uint32_t i, const struct store_site_stat *s,
                                 struct wr_err *err)
{
    struct run_buffer x = {.server = i,
                           .node = s->node,
                           .role = s->role,
                           .requests = s->requests,
                           .used_b = s->used_b,
                           .used_max_b = s->used_most_b,
                           .dirty_b = s->dirty_b,
                           .in_b = s->in_b,
                           .out_b = s->out_b,
                           .absorbed_b = s->absorbed_b,
                           .evicted_b = s->evicted_b,
                           .hit_b = s->hit_b,
                           .miss_b = s->miss_b,
                           .waits = s->waits,
                           .wait_ps = s->wait_ps};

    return run_put_buffer(run, &x, err);
}

/* Nodes with ranks and the server that has their data, where it is one. */
static bool files_write_put_clients(const struct world *w, struct run *run, struct wr_err *err)
{
    bool *seen = wr_zalloc(net_nodes(w->net), sizeof *seen), ok = true;
    uint32_t server;

    for (uint32_t i = 0; i < w->njobs; i++)
        for (uint32_t r = 0; w->job[i].node && r < w->job[i].load.ranks; r++)
            seen[w->job[i].node[r]] = true;
    for (uint32_t n = 0; ok && n < net_nodes(w->net); n++)
        if (seen[n] && store_home(w->store, n, &server))
            ok = run_put_client(run, n, server, err);
    free(seen);
    return ok;
}

uint64_t world_assumed(const struct world *w, struct wr_str *out)
{
    return w->store ? store_assumed(w->store, out) : 0;
}

/* Times that no probe has shown are marked as such. */
static bool files_write_put_assumed(const struct world *w, struct run *run, struct wr_err *err)
{
    struct wr_str why = {0};
    uint64_t n = world_assumed(w, &why);
    bool ok = !n || (run_put_count(run, "assumed_requests", n, "", err) &&
                     run_put_text(run, "assumed_service_times", wr_str_get(&why), err));

    wr_str_fini(&why);
    return ok;
}

bool world_files_write(const struct world *w, struct run *run, struct wr_err *err)
{
    bool ok = run_put_text(run, "storage", w->c->storage.kind->name, err) &&
              run_put_count(run, "io_pending", store_pending(w->store), "", err);

    for (uint32_t i = 0; ok && i < store_disks(w->store); i++) {
        struct store_disk_stat d;

        store_disk_stat(w->store, i, &d);
        ok = files_write_put_disk(run, &d, err);
    }
    for (uint32_t i = 0; ok && i < store_sites(w->store); i++) {
        struct store_site_stat s;

        store_site_stat(w->store, i, &s);
        ok = files_write_put_site(run, i, &s, err);
    }
    return ok && files_write_put_assumed(w, run, err) && files_write_put_clients(w, run, err);
}

/* ---- time series ---- */

enum {
    APP_READ,
    APP_WRITTEN,
    APP_READS,
    APP_WRITES,
    APP_OPENS,
    APP_CLOSES,
    APP_FLUSHES,
    APP_READ_TIME,
    APP_WRITE_TIME,
    APP_OPEN_TIME,
    APP_CLOSE_TIME,
    APP_FLUSH_TIME,
    APP_INFLIGHT,
    APP_SERIES,
};
enum {
    SITE_READ,
    SITE_WRITTEN,
    SITE_BUSY,
    SITE_SEEKS,
    SITE_INFLIGHT,
    SITE_DIRTY,
    SITE_WAITING,
    SITE_SERIES
};

struct metric {
    const char *name, *unit;
    double scale;
    bool level; /* what is there now, not what flowed */
};

static const struct metric app_metric[APP_SERIES] = {
    [APP_READ] = {"read_bytes", "B", 1, false},
    [APP_WRITTEN] = {"write_bytes", "B", 1, false},
    [APP_READS] = {"read_calls", "", 1, false},
    [APP_WRITES] = {"write_calls", "", 1, false},
    [APP_OPENS] = {"open_calls", "", 1, false},
    [APP_CLOSES] = {"meta_calls", "", 1, false},
    [APP_FLUSHES] = {"sync_calls", "", 1, false},
    [APP_READ_TIME] = {"read_time", "ns", 1e-3, false},
    [APP_WRITE_TIME] = {"write_time", "ns", 1e-3, false},
    [APP_OPEN_TIME] = {"open_time", "ns", 1e-3, false},
    [APP_CLOSE_TIME] = {"meta_time", "ns", 1e-3, false},
    [APP_FLUSH_TIME] = {"sync_time", "ns", 1e-3, false},
    [APP_INFLIGHT] = {"inflight", "", 1, true},
};

static const struct metric site_metric[SITE_SERIES] = {
    [SITE_READ] = {"read_bytes", "B", 1, false},    [SITE_WRITTEN] = {"write_bytes", "B", 1, false},
    [SITE_BUSY] = {"busy_time", "ns", 1e-3, false}, [SITE_SEEKS] = {"seeks", "", 1, false},
    [SITE_INFLIGHT] = {"inflight", "", 1, true},    [SITE_DIRTY] = {"dirty_bytes", "B", 1, true},
    [SITE_WAITING] = {"waiting", "", 1, true},
};

static uint32_t files_write_nseries(const struct world *w)
{
    return w->njobs * APP_SERIES + store_sites(w->store) * SITE_SERIES;
}

static bool files_write_open_all(struct run *run, const char *entity, const struct metric *m,
                                 uint32_t n, int64_t dt, uint32_t *ret, struct wr_err *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!run_open_series(run, &(struct run_series){entity, m[i].name, m[i].unit, dt}, &ret[i],
                             err))
            return false;
    return true;
}

bool world_files_slices_open(struct world *w, struct run *run, struct wr_err *err)
{
    struct world_files *f = w->files;
    int64_t dt = (int64_t)w->c->slice_ps;
    char entity[32];
    bool ok = true;

    f->series = wr_zalloc(files_write_nseries(w), sizeof *f->series);
    f->before = wr_zalloc(files_write_nseries(w), sizeof *f->before);
    for (uint32_t i = 0; ok && i < w->njobs; i++) {
        snprintf(entity, sizeof entity, "app:%u", i);
        ok = files_write_open_all(run, entity, app_metric, APP_SERIES, dt,
                                  f->series + i * APP_SERIES, err);
    }
    for (uint32_t i = 0; ok && i < store_sites(w->store); i++) {
        snprintf(entity, sizeof entity, "server:%u", i);
        ok = files_write_open_all(run, entity, site_metric, SITE_SERIES, dt,
                                  f->series + w->njobs * APP_SERIES + i * SITE_SERIES, err);
    }
    return ok;
}

static void files_write_app_now(const struct world *w, uint32_t app, uint64_t *now)
{
    struct store_app_stat s;

    store_app_stat(w->store, app, &s);
    now[APP_READ] = s.bytes_read;
    now[APP_WRITTEN] = s.bytes_written;
    now[APP_READS] = s.calls[STORE_READ];
    now[APP_WRITES] = s.calls[STORE_WRITE];
    now[APP_OPENS] = s.calls[STORE_OPEN];
    now[APP_CLOSES] = s.calls[STORE_CLOSE];
    now[APP_FLUSHES] = s.calls[STORE_FLUSH];
    now[APP_READ_TIME] = s.time_ps[STORE_READ];
    now[APP_WRITE_TIME] = s.time_ps[STORE_WRITE];
    now[APP_OPEN_TIME] = s.time_ps[STORE_OPEN];
    now[APP_CLOSE_TIME] = s.time_ps[STORE_CLOSE];
    now[APP_FLUSH_TIME] = s.time_ps[STORE_FLUSH];
    now[APP_INFLIGHT] = s.inflight;
}

/* Of all sites at once: devices come in no order of theirs. */
static void files_write_sites_now(const struct world *w, uint64_t *now)
{
    for (uint32_t i = 0; i < store_sites(w->store); i++) {
        struct store_site_stat s;

        store_site_stat(w->store, i, &s);
        now[i * SITE_SERIES + SITE_DIRTY] = s.dirty_b;
        now[i * SITE_SERIES + SITE_WAITING] = s.waiting;
    }
    for (uint32_t i = 0; i < store_disks(w->store); i++) {
        struct store_disk_stat d;

        store_disk_stat(w->store, i, &d);
        uint64_t *at = now + (size_t)d.site * SITE_SERIES;

        at[SITE_READ] += d.bytes_read;
        at[SITE_WRITTEN] += d.bytes_written;
        at[SITE_BUSY] += d.busy_ps;
        at[SITE_SEEKS] += d.seeks;
        at[SITE_INFLIGHT] += d.queue;
    }
}

bool world_files_slices_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err)
{
    struct world_files *f = w->files;
    int64_t dt = (int64_t)w->c->slice_ps, from = (int64_t)t_ps - dt;
    uint32_t n = files_write_nseries(w), apps = w->njobs * APP_SERIES;
    uint64_t *now = wr_zalloc(n, sizeof *now);
    bool ok = true;

    store_look(w->store, t_ps);
    for (uint32_t i = 0; i < w->njobs; i++)
        files_write_app_now(w, i, now + i * APP_SERIES);
    files_write_sites_now(w, now + apps);
    for (uint32_t i = 0; ok && i < n; i++) {
        const struct metric *m =
            i < apps ? &app_metric[i % APP_SERIES] : &site_metric[(i - apps) % SITE_SERIES];
        uint64_t value = m->level ? now[i] : now[i] - f->before[i];

        if (value) /* a slice that is left out is zero */
            ok = run_put_slice(run, f->series[i], from, dt, (double)value * m->scale, err);
        f->before[i] = now[i];
    }
    free(now);
    return ok;
}
