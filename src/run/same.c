/* same.c -- compares two runs.
 *
 * Each kind of fact is read from both files in an order that does not depend on how it was written,
 * and compared row by row. Names are compared as text, never as dictionary ids. Inputs are not
 * compared: what they mean is in the resolved configuration and what they caused is in the facts,
 * while their names depend on where a run was started.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/reader.h"

static const struct facts {
    const char *what;
    uint32_t since; /* the minor version of the format that brought it */
    int keys;       /* the first columns, which name a line */
    const char *sql;
} kinds[] = {
    {"meta", 0, 1,
     "SELECT key, value FROM meta WHERE key IN ('kind', 'seed', 'status') ORDER BY key"},
    {"meta", 0, 1, "SELECT key, value FROM meta WHERE key = 'config'"},
    {"summary", 0, 1, "SELECT key, value, unit FROM summary WHERE NOT volatile ORDER BY key"},
    {"app_stat", 0, 1, "SELECT * FROM fact_app ORDER BY app"},
    {"sweep", 0, 3,
     "SELECT series, load, seed, offered, accepted, lat_mean_ns, lat_min_ns, lat_p50_ns,"
     " lat_p99_ns, lat_max_ns, hops_mean, nonminimal_frac, saturated, packets, events,"
     " sim_end_ns FROM sweep ORDER BY series, load, seed"},
    {"latency", 0, 2,
     "SELECT app, class, n, sum_ps, min_ps, max_ps FROM fact_hist ORDER BY app, class"},
    {"latency_hist", 0, 3,
     "SELECT h.app AS app, h.class AS class, c.low_ps AS low_ps, c.high_ps AS high_ps, c.n AS n"
     " FROM fact_hist h JOIN fact_hist_cell c ON c.hist = h.id"
     " ORDER BY h.app, h.class, c.low_ps"},
    {"rank_stat", 0, 2, "SELECT * FROM fact_rank ORDER BY app, rank"},
    /* Ordered by the table's own key: sorting millions of links by their
     * kinds' names would cost more than everything else. */
    {"link_stat", 0, 3,
     "SELECT sk.text AS src_kind, (l.id >> 16) & 4294967295 AS src, l.id & 65535 AS port,"
     " dk.text AS dst_kind, l.dst AS dst, c.text AS class, l.bytes AS bytes,"
     " l.packets AS packets, l.busy_ps AS busy_ps, l.saturated_ps AS saturated_ps,"
     " l.bytes_per_s AS bytes_per_s"
     " FROM fact_link l LEFT JOIN dict sk ON sk.id = l.id >> 48"
     " LEFT JOIN dict dk ON dk.id = l.dst_kind LEFT JOIN dict c ON c.id = l.class ORDER BY l.id"},
    {"slice", 0, 3,
     "SELECT f.t_ps AS t_ps, e.text AS entity, m.text AS metric,"
     " coalesce(f.dt_ps, s.dt_ps) AS dt_ps, f.value AS value, u.text AS unit"
     " FROM fact_slice f LEFT JOIN fact_series s ON s.id = f.series"
     " LEFT JOIN dict e ON e.id = s.entity LEFT JOIN dict m ON m.id = s.metric"
     " LEFT JOIN dict u ON u.id = s.unit ORDER BY f.t_ps, e.text, m.text"},
    {"coll_stat", 1, 3,
     "SELECT c.app, c.rank, d.text AS coll, c.n, c.ps FROM fact_coll c"
     " LEFT JOIN dict d ON d.id = c.coll ORDER BY c.app, c.rank, d.text"},
    {"mark", 1, 2, "SELECT app, rank, mark, t_ps FROM fact_mark ORDER BY app, rank, t_ps, mark"},
    {"timeline", 9, 3, "SELECT * FROM fact_timeline ORDER BY app, rank, t_ps"},
    {"log", 1, 5,
     "SELECT app, rank, tab, col, row, title, aggregate, value FROM log"
     " ORDER BY app, rank, tab, col, row, aggregate"},
    {"output", 1, 2, "SELECT app, rank, t_ps, text FROM fact_output ORDER BY id"},
    {"cause_stat", 2, 4,
     "SELECT c.app, c.rank, d.text AS during, w.text AS cause, c.ps FROM fact_cause c"
     " LEFT JOIN dict d ON d.id = c.during LEFT JOIN dict w ON w.id = c.cause"
     " ORDER BY c.app, c.rank, d.text, w.text"},
    {"server_stat", 3, 3,
     "SELECT s.server, d.text AS device, s.idx, s.node, r.text AS role, m.text AS model, s.reads,"
     " s.writes, s.bytes_read, s.bytes_written, s.busy_ps, s.seeks, s.queue_ps, s.queue_max"
     " FROM fact_server s LEFT JOIN dict r ON r.id = s.role LEFT JOIN dict d ON d.id = s.device"
     " LEFT JOIN dict m ON m.id = s.model ORDER BY s.server, d.text, s.idx"},
    {"buffer_stat", 3, 1, "SELECT * FROM buffer_stat ORDER BY server"},
    {"client_stat", 4, 1, "SELECT node, server FROM client_stat ORDER BY node"},
    {"flow_stat", 7, 3, "SELECT * FROM fact_flow ORDER BY app, src_group, dst_group"},
    {"stack_phase", 5, 1, "SELECT * FROM fact_stack_phase ORDER BY phase"},
    {"stack_state", 5, 3,
     "SELECT side, machine, state, layer, agent, class, visits, work_ns, wait_ns, own_ns, measured"
     " FROM fact_stack_state ORDER BY side, machine, state"},
    {"stack_message", 5, 1,
     "SELECT message, requests, request_b, answers, answer_b FROM fact_stack_message"
     " ORDER BY message"},
    {"stack_param", 5, 1, "SELECT name, value, source FROM fact_stack_param ORDER BY name"},
    {"stack_step", 5, 1, "SELECT * FROM fact_stack_step ORDER BY id"},
    {"stack_check", 8, 1, "SELECT * FROM fact_stack_check ORDER BY id"},
    {"process", 10, 2, "SELECT * FROM fact_process ORDER BY app, rank"},
    {"use_stat", 10, 3,
     "SELECT app, rank, entity, bytes_read, bytes_written, reads, writes, syncs, opens, metas"
     " FROM use_stat ORDER BY app, rank, entity"},
    {"access_size", 10, 3, "SELECT * FROM fact_access ORDER BY app, op, low_b"},
    {"io_phase", 11, 3,
     "SELECT p.app, p.rank, p.seq, o.text AS op, e.text AS entity, s.text AS source, p.t_ps,"
     " p.dt_ps, p.offset_b, p.bytes, p.n, p.io_ps FROM fact_io_phase p"
     " LEFT JOIN dict o ON o.id = p.op LEFT JOIN dict e ON e.id = p.entity"
     " LEFT JOIN dict s ON s.id = p.source ORDER BY p.app, p.rank, p.seq"},
};

struct side {
    struct run_reader *run;
    struct run_rows *rows;
    bool more;
};

/* NULL equals NULL, and 1 equals 1.0: SQLite stores whole reals as integers. */
static bool same_value(const struct run_rows *a, const struct run_rows *b, int col)
{
    enum run_type ta = run_rows_type(a, col), tb = run_rows_type(b, col);
    size_t na, nb;

    if (ta == RUN_T_NULL || tb == RUN_T_NULL)
        return ta == tb;
    if (ta == RUN_T_INT && tb == RUN_T_INT)
        return run_rows_int(a, col) == run_rows_int(b, col);
    if (ta <= RUN_T_REAL && tb <= RUN_T_REAL)
        return run_rows_real(a, col) == run_rows_real(b, col);
    const char *sa = run_rows_bytes(a, col, &na), *sb = run_rows_bytes(b, col, &nb);
    return ta == tb && na == nb && !memcmp(sa, sb, na);
}

enum { SHOWN_MAX = 60 };

/* A line of it, from byte `from` on. */
static void same_add_value(struct wr_str *out, const struct run_rows *q, int col, size_t from)
{
    size_t n;
    const char *text = run_rows_text(q, col, &n);

    if (run_rows_type(q, col) == RUN_T_NULL) {
        wr_str_add(out, "nothing");
        return;
    }
    for (size_t i = from; i < n && text[i] != '\n'; i++) {
        if (i - from == SHOWN_MAX) {
            wr_str_add(out, "...");
            return;
        }
        wr_str_addn(out, text[i] == '\t' ? " " : &text[i], 1);
    }
}

/* Where the line begins in which two long texts part. */
static size_t same_first_difference(const struct run_rows *a, const struct run_rows *b, int col)
{
    size_t na, nb, line = 0;
    const char *sa = run_rows_bytes(a, col, &na), *sb = run_rows_bytes(b, col, &nb);

    for (size_t i = 0; i < na && i < nb && sa[i] == sb[i]; i++)
        if (sa[i] == '\n')
            line = i + 1;
    return line;
}

static void same_add_keys(struct wr_str *out, const struct facts *f, const struct run_rows *q)
{
    wr_str_addf(out, "%s(", f->what);
    for (int i = 0; i < f->keys; i++) {
        wr_str_addf(out, "%s%s = ", i ? ", " : "", run_rows_name(q, i));
        same_add_value(out, q, i, 0);
    }
    wr_str_add(out, ")");
}

static bool same_report_extra(const struct facts *f, const struct side *has,
                              const struct side *lacks, struct wr_err *err)
{
    struct wr_str line = {0};

    same_add_keys(&line, f, has->rows);
    wr_fail(err, WR_CHECK, "they differ: %s has %s, which %s has not", run_path(has->run),
            wr_str_get(&line), run_path(lacks->run));
    wr_str_fini(&line);
    return false;
}

static bool same_report_difference(const struct facts *f, const struct side side[2], int col,
                                   struct wr_err *err)
{
    struct wr_str line[2] = {{0}, {0}};
    size_t from = same_first_difference(side[0].rows, side[1].rows, col);

    for (int i = 0; i < 2; i++) {
        same_add_keys(&line[i], f, side[i].rows);
        if (col >= f->keys) {
            wr_str_addf(&line[i], ".%s = ", run_rows_name(side[i].rows, col));
            same_add_value(&line[i], side[i].rows, col, from);
        }
    }
    wr_fail(err, WR_CHECK, "they differ: %s in %s, %s in %s", wr_str_get(&line[0]),
            run_path(side[0].run), wr_str_get(&line[1]), run_path(side[1].run));
    for (int i = 0; i < 2; i++)
        wr_str_fini(&line[i]);
    return false;
}

static bool same_walk(const struct facts *f, struct side side[2], struct wr_err *err)
{
    int cols = run_rows_cols(side[0].rows);

    if (cols != run_rows_cols(side[1].rows))
        return wr_fail(err, WR_CHECK, "they differ: %s has other columns in %s than in %s", f->what,
                       run_path(side[0].run), run_path(side[1].run));
    for (;;) {
        for (int i = 0; i < 2; i++)
            if (!run_rows_next(side[i].rows, &side[i].more, err))
                return false;
        if (side[0].more != side[1].more)
            return same_report_extra(f, &side[side[1].more], &side[side[0].more], err);
        if (!side[0].more)
            return true;
        for (int c = 0; c < cols; c++)
            if (!same_value(side[0].rows, side[1].rows, c))
                return same_report_difference(f, side, c, err);
    }
}

static bool same_facts(const struct facts *f, struct side side[2], struct wr_err *err)
{
    bool ok = run_query(&side[0].rows, side[0].run, f->sql, NULL, 0, err) &&
              run_query(&side[1].rows, side[1].run, f->sql, NULL, 0, err) &&
              same_walk(f, side, err);

    for (int i = 0; i < 2; i++) {
        run_rows_close(side[i].rows);
        side[i].rows = NULL;
    }
    return ok;
}

bool run_same(const char *a, const char *b, struct wr_err *err)
{
    struct side side[2] = {{0}, {0}};
    bool ok = run_open(&side[0].run, a, err) && run_open(&side[1].run, b, err);

    for (size_t i = 0; ok && i < sizeof kinds / sizeof kinds[0]; i++)
        if (run_info(side[0].run)->format_minor >= kinds[i].since &&
            run_info(side[1].run)->format_minor >= kinds[i].since)
            ok = same_facts(&kinds[i], side, err);
    run_close(side[0].run);
    run_close(side[1].run);
    return ok;
}
