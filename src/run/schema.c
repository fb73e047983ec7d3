/* schema.c -- the tables of facts, and the views that are the stable interface.
 *
 *   fact_*, dict         written by makers, free to change with the format's major version
 *   views, meta, input   names and columns are stable; new columns are added at the end
 *
 * The views are plain SQL, without SQLite's own functions where a standard way exists,
 * because some programs (DuckDB) read a view's text and run it themselves. Nothing newer
 * than SQLite 3.26 is used, so that old systems' sqlite3 and Python read the file as well.
 */
#include "sql_priv.h"

/* clang-format off */

/* The quantile q of a histogram: inside the cell where the rank q*(n-1) falls, values are
 * taken as spread evenly -- the same rule as wr_hist_quantile. */
#define RAW_QUANTILE(name, q) \
    " max(CASE WHEN c.below <= " q " * (h.n - 1) AND c.below + c.n > " q " * (h.n - 1)" \
    " THEN c.low_ps + (c.high_ps - 1 - c.low_ps)" \
    " * ((" q " * (h.n - 1) - c.below + 0.5) / (c.n + 0.5)) END) AS " name ",\n"

#define CLAMPED_NS(name) \
    " CASE WHEN " name " < min_ps THEN min_ps / 1000.0 WHEN " name " > max_ps" \
    " THEN max_ps / 1000.0 ELSE " name " / 1000.0 END AS " name "_ns,\n"

#define META \
    "CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value TEXT) WITHOUT ROWID;\n" \
    "CREATE TABLE input(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE," \
    " len_b INTEGER NOT NULL, codec TEXT NOT NULL, content BLOB NOT NULL);\n" \
    "CREATE TABLE dict(id INTEGER PRIMARY KEY, text TEXT NOT NULL);\n"

#define SUMMARY \
    "CREATE TABLE fact_summary(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE," \
    " number NUMERIC, words TEXT, unit TEXT NOT NULL, volatile INTEGER NOT NULL);\n" \
    "CREATE VIEW summary AS SELECT key, coalesce(number, words) AS value, unit, volatile\n" \
    " FROM fact_summary;\n"

#define APPS \
    "CREATE TABLE fact_app(app INTEGER PRIMARY KEY, name TEXT NOT NULL, ranks INTEGER NOT NULL," \
    " start_ps INTEGER, workload TEXT, placement TEXT);\n" \
    "CREATE TABLE fact_rank(app INTEGER, rank INTEGER, node INTEGER," \
    " msgs_sent INTEGER, bytes_sent INTEGER, msgs_recvd INTEGER, bytes_recvd INTEGER," \
    " elapsed_ps INTEGER, compute_ps INTEGER, comm_ps INTEGER, io_ps INTEGER, wait_ps INTEGER," \
    " bytes_read INTEGER, bytes_written INTEGER, send_ps INTEGER, recv_ps INTEGER," \
    " await_ps INTEGER, coll_ps INTEGER, idle_ps INTEGER," \
    " PRIMARY KEY(app, rank)) WITHOUT ROWID;\n" \
    "CREATE VIEW rank_stat AS SELECT r.app AS app, r.rank AS rank, r.node AS node,\n" \
    " r.msgs_sent AS msgs_sent, r.bytes_sent AS bytes_sent,\n" \
    " r.msgs_recvd AS msgs_recvd, r.bytes_recvd AS bytes_recvd,\n" \
    " r.elapsed_ps / 1000.0 AS elapsed_ns, r.compute_ps / 1000.0 AS compute_ns,\n" \
    " r.comm_ps / 1000.0 AS comm_ns, r.io_ps / 1000.0 AS io_ns,\n" \
    " r.wait_ps / 1000.0 AS wait_ns, r.bytes_read AS bytes_read,\n" \
    " r.bytes_written AS bytes_written, a.name AS app_name,\n" \
    " r.send_ps / 1000.0 AS send_ns, r.recv_ps / 1000.0 AS recv_ns,\n" \
    " r.await_ps / 1000.0 AS await_ns, r.coll_ps / 1000.0 AS coll_ns,\n" \
    " r.idle_ps / 1000.0 AS idle_ns\n" \
    " FROM fact_rank r LEFT JOIN fact_app a ON a.app = r.app;\n" \
    "CREATE VIEW app_stat AS SELECT a.app AS app, a.name AS name, a.ranks AS ranks,\n" \
    " sum(r.msgs_sent) AS msgs_sent, sum(r.bytes_sent) AS bytes_sent,\n" \
    " sum(r.msgs_recvd) AS msgs_recvd, sum(r.bytes_recvd) AS bytes_recvd,\n" \
    " max(r.elapsed_ps) / 1000.0 AS elapsed_ns, avg(r.elapsed_ps) / 1000.0 AS elapsed_mean_ns,\n" \
    " avg(r.compute_ps) / 1000.0 AS compute_mean_ns, avg(r.comm_ps) / 1000.0 AS comm_mean_ns,\n" \
    " avg(r.io_ps) / 1000.0 AS io_mean_ns, avg(r.wait_ps) / 1000.0 AS wait_mean_ns,\n" \
    " sum(r.bytes_read) AS bytes_read, sum(r.bytes_written) AS bytes_written,\n" \
    " a.start_ps / 1000.0 AS start_ns, a.workload AS workload, a.placement AS placement,\n" \
    " avg(r.send_ps) / 1000.0 AS send_mean_ns, avg(r.recv_ps) / 1000.0 AS recv_mean_ns,\n" \
    " avg(r.await_ps) / 1000.0 AS await_mean_ns, avg(r.coll_ps) / 1000.0 AS coll_mean_ns,\n" \
    " avg(r.idle_ps) / 1000.0 AS idle_mean_ns, max(r.comm_ps) / 1000.0 AS comm_max_ns\n" \
    " FROM fact_app a LEFT JOIN fact_rank r ON r.app = a.app\n" \
    " GROUP BY a.app, a.name, a.ranks, a.start_ps, a.workload, a.placement;\n"

/* What ranks did in collectives, why it took so long, when they came to a mark, and what their program left behind. */
#define PROGRAMS \
    "CREATE TABLE fact_coll(app INTEGER, rank INTEGER, coll INTEGER, n INTEGER, ps INTEGER," \
    " PRIMARY KEY(app, rank, coll)) WITHOUT ROWID;\n" \
    "CREATE VIEW coll_stat AS SELECT c.app AS app, c.rank AS rank, d.text AS coll, c.n AS n,\n" \
    " c.ps / 1000.0 AS time_ns FROM fact_coll c LEFT JOIN dict d ON d.id = c.coll;\n" \
    "CREATE TABLE fact_cause(app INTEGER, rank INTEGER, during INTEGER, cause INTEGER," \
    " ps INTEGER, PRIMARY KEY(app, rank, during, cause)) WITHOUT ROWID;\n" \
    "CREATE VIEW cause_stat AS SELECT c.app AS app, c.rank AS rank, d.text AS during,\n" \
    " w.text AS cause, c.ps / 1000.0 AS time_ns FROM fact_cause c\n" \
    " LEFT JOIN dict d ON d.id = c.during LEFT JOIN dict w ON w.id = c.cause\n" \
    " UNION ALL SELECT app, rank, 'compute', 'compute', compute_ps / 1000.0 FROM fact_rank\n" \
    " WHERE compute_ps > 0\n" \
    " UNION ALL SELECT app, rank, 'idle', 'idle', idle_ps / 1000.0 FROM fact_rank\n" \
    " WHERE idle_ps > 0;\n" \
    "CREATE TABLE fact_mark(id INTEGER PRIMARY KEY, app INTEGER, rank INTEGER, mark INTEGER," \
    " t_ps INTEGER);\n" \
    "CREATE VIEW mark AS SELECT app, rank, mark, t_ps / 1000.0 AS t_ns FROM fact_mark;\n" \
    "CREATE TABLE fact_timeline(app INTEGER, rank INTEGER, t_ps INTEGER, compute_ps INTEGER," \
    " comm_ps INTEGER, io_ps INTEGER, idle_ps INTEGER, PRIMARY KEY(app, rank, t_ps))" \
    " WITHOUT ROWID;\n" \
    "CREATE VIEW timeline AS SELECT app, rank, t_ps / 1000.0 AS t_ns,\n" \
    " (compute_ps + comm_ps + io_ps + idle_ps) / 1000.0 AS dt_ns,\n" \
    " CASE max(compute_ps, comm_ps, io_ps, idle_ps) WHEN compute_ps THEN 'compute'\n" \
    " WHEN comm_ps THEN 'communication' WHEN io_ps THEN 'I/O' ELSE 'idle' END AS did,\n" \
    " compute_ps / 1000.0 AS compute_ns, comm_ps / 1000.0 AS comm_ns, io_ps / 1000.0 AS io_ns,\n" \
    " idle_ps / 1000.0 AS idle_ns FROM fact_timeline;\n" \
    "CREATE TABLE fact_log(id INTEGER PRIMARY KEY, app INTEGER, rank INTEGER, tab INTEGER," \
    " col INTEGER, title INTEGER, aggregate INTEGER, row INTEGER, value REAL);\n" \
    "CREATE VIEW log AS SELECT l.app AS app, l.rank AS rank, l.tab AS tab, l.col AS col,\n" \
    " t.text AS title, a.text AS aggregate, l.row AS row, l.value AS value\n" \
    " FROM fact_log l LEFT JOIN dict t ON t.id = l.title\n" \
    " LEFT JOIN dict a ON a.id = l.aggregate;\n" \
    "CREATE TABLE fact_output(id INTEGER PRIMARY KEY, app INTEGER, rank INTEGER, t_ps INTEGER," \
    " text TEXT);\n" \
    "CREATE VIEW output AS SELECT app, rank, t_ps / 1000.0 AS t_ns, text FROM fact_output;\n"

/* id = src_kind << 48 | src << 16 | port: half the time and two thirds of the size of a key of
 * three columns. No NOT NULL either: four million links times ten checks. */
#define LINKS \
    "CREATE TABLE fact_link(id INTEGER PRIMARY KEY, dst_kind INTEGER, dst INTEGER," \
    " class INTEGER, bytes INTEGER, packets INTEGER, busy_ps INTEGER, saturated_ps INTEGER," \
    " bytes_per_s REAL);\n" \
    "CREATE VIEW link_stat AS SELECT sk.text AS src_kind, (l.id >> 16) & 4294967295 AS src,\n" \
    " dk.text AS dst_kind, l.dst AS dst, c.text AS class, l.id & 65535 AS port,\n" \
    " l.bytes AS bytes, l.packets AS packets,\n" \
    " l.busy_ps / 1000.0 AS busy_ns, l.saturated_ps / 1000.0 AS saturated_ns,\n" \
    " l.busy_ps / 1000.0 / (SELECT number FROM fact_summary WHERE key = 'sim_end_ns')\n" \
    " AS utilization, l.bytes_per_s AS bytes_per_s,\n" \
    " sk.text || ':' || ((l.id >> 16) & 4294967295) || '.' || (l.id & 65535) AS entity\n" \
    " FROM fact_link l LEFT JOIN dict sk ON sk.id = l.id >> 48\n" \
    " LEFT JOIN dict dk ON dk.id = l.dst_kind LEFT JOIN dict c ON c.id = l.class;\n"

/* Storage: devices, and the buffers of the nodes that have one. */
#define SERVERS \
    "CREATE TABLE fact_server(server INTEGER, device INTEGER, idx INTEGER, node INTEGER," \
    " role INTEGER, model INTEGER, reads INTEGER, writes INTEGER, bytes_read INTEGER," \
    " bytes_written INTEGER, busy_ps INTEGER, seeks INTEGER, queue_ps INTEGER, queue_max INTEGER," \
    " PRIMARY KEY(server, device, idx)) WITHOUT ROWID;\n" \
    "CREATE VIEW server_stat AS SELECT s.server AS server, s.node AS node, r.text AS role,\n" \
    " d.text AS device, s.idx AS idx, m.text AS model, s.reads AS reads, s.writes AS writes,\n" \
    " s.bytes_read AS bytes_read, s.bytes_written AS bytes_written,\n" \
    " s.busy_ps / 1000.0 AS busy_ns, s.seeks AS seeks,\n" \
    " s.queue_ps / 1000.0 / (SELECT number FROM fact_summary WHERE key = 'sim_end_ns')\n" \
    " AS queue_mean, s.queue_max AS queue_max FROM fact_server s\n" \
    " LEFT JOIN dict r ON r.id = s.role LEFT JOIN dict d ON d.id = s.device\n" \
    " LEFT JOIN dict m ON m.id = s.model;\n" \
    "CREATE TABLE fact_buffer(server INTEGER PRIMARY KEY, node INTEGER, role INTEGER," \
    " requests INTEGER, used_b INTEGER, used_max_b INTEGER, dirty_b INTEGER, in_b INTEGER," \
    " out_b INTEGER, absorbed_b INTEGER, evicted_b INTEGER, hit_b INTEGER, miss_b INTEGER," \
    " waits INTEGER, wait_ps INTEGER);\n" \
    "CREATE VIEW buffer_stat AS SELECT b.server AS server, b.node AS node, r.text AS role,\n" \
    " b.requests AS requests, b.used_b AS used_b, b.used_max_b AS used_max_b,\n" \
    " b.dirty_b AS dirty_b, b.in_b AS in_b, b.out_b AS out_b, b.absorbed_b AS absorbed_b,\n" \
    " b.evicted_b AS evicted_b, b.hit_b AS hit_b, b.miss_b AS miss_b, b.waits AS waits,\n" \
    " b.wait_ps / 1000.0 AS wait_ns FROM fact_buffer b LEFT JOIN dict r ON r.id = b.role;\n" \
    "CREATE TABLE fact_client(node INTEGER PRIMARY KEY, server INTEGER);\n" \
    "CREATE VIEW client_stat AS SELECT node, server FROM fact_client;\n" \
    "CREATE TABLE fact_flow(app INTEGER, src_group INTEGER, dst_group INTEGER, msgs INTEGER," \
    " bytes INTEGER, PRIMARY KEY(app, src_group, dst_group)) WITHOUT ROWID;\n" \
    "CREATE VIEW flow_stat AS SELECT app, src_group, dst_group, msgs, bytes FROM fact_flow;\n"

#define LATENCIES \
    "CREATE TABLE fact_hist(id INTEGER PRIMARY KEY, app INTEGER NOT NULL, class TEXT NOT NULL," \
    " n INTEGER NOT NULL, sum_ps REAL NOT NULL, min_ps INTEGER, max_ps INTEGER," \
    " UNIQUE(app, class));\n" \
    "CREATE TABLE fact_hist_cell(hist INTEGER, low_ps INTEGER, high_ps INTEGER, n INTEGER," \
    " PRIMARY KEY(hist, low_ps)) WITHOUT ROWID;\n" \
    "CREATE VIEW latency_hist AS SELECT nullif(h.app, -1) AS app, h.class AS class,\n" \
    " c.low_ps / 1000.0 AS low_ns, c.high_ps / 1000.0 AS high_ns, c.n AS n\n" \
    " FROM fact_hist h JOIN fact_hist_cell c ON c.hist = h.id;\n" \
    "CREATE VIEW latency AS WITH cell AS (SELECT hist, low_ps, high_ps, n,\n" \
    " sum(n) OVER (PARTITION BY hist ORDER BY low_ps ROWS UNBOUNDED PRECEDING) - n AS below\n" \
    " FROM fact_hist_cell), raw AS (SELECT h.id AS id, h.app AS app, h.class AS class,\n" \
    " h.n AS n, h.sum_ps AS sum_ps,\n" \
    RAW_QUANTILE("p01", "0.01") RAW_QUANTILE("p25", "0.25") RAW_QUANTILE("p50", "0.5") \
    RAW_QUANTILE("p75", "0.75") RAW_QUANTILE("p90", "0.9") RAW_QUANTILE("p99", "0.99") \
    RAW_QUANTILE("p999", "0.999") \
    " h.min_ps AS min_ps, h.max_ps AS max_ps FROM fact_hist h LEFT JOIN cell c\n" \
    " ON c.hist = h.id GROUP BY h.id, h.app, h.class, h.n, h.sum_ps, h.min_ps, h.max_ps)\n" \
    " SELECT nullif(app, -1) AS app, class, n, sum_ps / nullif(n, 0) / 1000.0 AS mean_ns,\n" \
    " min_ps / 1000.0 AS min_ns,\n" \
    CLAMPED_NS("p01") CLAMPED_NS("p25") CLAMPED_NS("p50") CLAMPED_NS("p75") \
    CLAMPED_NS("p90") CLAMPED_NS("p99") CLAMPED_NS("p999") \
    " max_ps / 1000.0 AS max_ns FROM raw;\n"

/* A slice's width is stored only where it is not its series' usual one. What is in fact_gather is
 * derived (slices_gather.c). */
#define SLICES \
    "CREATE TABLE fact_series(id INTEGER PRIMARY KEY, entity INTEGER NOT NULL," \
    " metric INTEGER NOT NULL, unit INTEGER NOT NULL, dt_ps INTEGER NOT NULL);\n" \
    "CREATE TABLE fact_slice(t_ps INTEGER, series INTEGER, dt_ps INTEGER, value REAL," \
    " PRIMARY KEY(t_ps, series)) WITHOUT ROWID;\n" \
    "CREATE TABLE fact_gather(t_ps INTEGER, series INTEGER, n INTEGER, sum REAL, most REAL," \
    " PRIMARY KEY(t_ps, series)) WITHOUT ROWID;\n" \
    "CREATE VIEW series AS SELECT e.text AS entity, m.text AS metric, u.text AS unit,\n" \
    " s.dt_ps / 1000.0 AS dt_ns FROM fact_series s LEFT JOIN dict e ON e.id = s.entity\n" \
    " LEFT JOIN dict m ON m.id = s.metric LEFT JOIN dict u ON u.id = s.unit;\n" \
    "CREATE VIEW slice AS SELECT f.t_ps / 1000.0 AS t_ns,\n" \
    " coalesce(f.dt_ps, s.dt_ps) / 1000.0 AS dt_ns, e.text AS entity, m.text AS metric,\n" \
    " f.value AS value, u.text AS unit FROM fact_slice f\n" \
    " LEFT JOIN fact_series s ON s.id = f.series LEFT JOIN dict e ON e.id = s.entity\n" \
    " LEFT JOIN dict m ON m.id = s.metric LEFT JOIN dict u ON u.id = s.unit;\n"

#define SWEEPS \
    "CREATE TABLE fact_sweep(id INTEGER PRIMARY KEY, series TEXT NOT NULL, load REAL NOT NULL," \
    " seed TEXT NOT NULL, offered REAL, accepted REAL, lat_mean_ns REAL, lat_min_ns REAL," \
    " lat_p50_ns REAL, lat_p99_ns REAL, lat_max_ns REAL, hops_mean REAL, nonminimal_frac REAL," \
    " saturated INTEGER NOT NULL, packets INTEGER, events INTEGER, sim_end_ns REAL, wall_s REAL," \
    " UNIQUE(series, load, seed));\n" \
    "CREATE VIEW sweep AS SELECT series, load, offered, accepted, lat_mean_ns, lat_p50_ns,\n" \
    " lat_p99_ns, lat_max_ns, hops_mean, nonminimal_frac, saturated, lat_min_ns, seed, packets,\n" \
    " events, sim_end_ns, wall_s FROM fact_sweep;\n"

/* The software of a file system: what its agents did. Times are whole nanoseconds there. */
#define STACK_SUMS(name, columns, order) \
    "CREATE VIEW " name " AS SELECT side, " columns ", sum(visits) AS visits,\n" \
    " sum(work_ns) AS work_ns, sum(wait_ns) AS wait_ns, sum(own_ns) AS own_ns,\n" \
    " sum(own_ns) * 1.0 / nullif((SELECT sum(own_ns) FROM fact_stack_state), 0) AS share,\n" \
    " min(measured) AS measured\n" \
    " FROM fact_stack_state GROUP BY side, " columns " ORDER BY " order ";\n"

#define STACK \
    "CREATE TABLE fact_stack_state(id INTEGER PRIMARY KEY, side TEXT, layer TEXT, agent TEXT," \
    " machine TEXT, state TEXT, class TEXT, layer_at INTEGER, visits INTEGER, work_ns INTEGER," \
    " wait_ns INTEGER, own_ns INTEGER, between_ns INTEGER, measured INTEGER);\n" \
    "CREATE VIEW stack_state AS SELECT side, layer, agent, machine, state, class, visits,\n" \
    " work_ns, wait_ns, (work_ns + wait_ns) * 1.0 / nullif((SELECT number FROM fact_summary\n" \
    " WHERE key = 'test_ns'), 0) AS occupancy, measured, own_ns, between_ns\n" \
    " FROM fact_stack_state;\n" \
    STACK_SUMS("stack_layer", "layer", "side, min(layer_at)") \
    STACK_SUMS("stack_class", "class", "side, class") \
    STACK_SUMS("stack_agent", "layer, agent", "side, min(layer_at), agent") \
    "CREATE TABLE fact_stack_message(id INTEGER PRIMARY KEY, message TEXT, requests INTEGER," \
    " request_b INTEGER, answers INTEGER, answer_b INTEGER);\n" \
    "CREATE VIEW stack_message AS SELECT message, requests, request_b, answers, answer_b\n" \
    " FROM fact_stack_message;\n" \
    "CREATE TABLE fact_stack_phase(phase INTEGER PRIMARY KEY, access TEXT, rep INTEGER," \
    " transfers INTEGER, bytes INTEGER, open_ns INTEGER, io_ns INTEGER, close_ns INTEGER," \
    " total_ns INTEGER, busy_ns INTEGER);\n" \
    "CREATE VIEW stack_phase AS SELECT phase, access, rep, transfers, bytes, open_ns, io_ns,\n" \
    " close_ns, total_ns, bytes * 1e9 / nullif(total_ns, 0) AS bytes_per_s,\n" \
    " transfers * 1e9 / nullif(io_ns, 0) AS iops,\n" \
    " busy_ns * 1.0 / nullif(transfers, 0) AS latency_ns FROM fact_stack_phase;\n" \
    "CREATE TABLE fact_stack_param(id INTEGER PRIMARY KEY, name TEXT, value INTEGER," \
    " source TEXT, help TEXT);\n" \
    "CREATE VIEW stack_param AS SELECT name, value, source, help FROM fact_stack_param;\n" \
    "CREATE TABLE fact_stack_step(id INTEGER PRIMARY KEY, operation TEXT, t_ns INTEGER," \
    " kind TEXT, node INTEGER, peer INTEGER, layer TEXT, what TEXT, class TEXT," \
    " work_ns INTEGER, wait_ns INTEGER, bytes INTEGER, side TEXT, op INTEGER, parent INTEGER);\n" \
    "CREATE VIEW stack_step AS SELECT operation, t_ns, kind, side, node, peer, layer, what,\n" \
    " class, work_ns, wait_ns, bytes, op, parent FROM fact_stack_step ORDER BY id;\n" \
    "CREATE TABLE fact_stack_check(id INTEGER PRIMARY KEY, bytes INTEGER, kind TEXT, name TEXT," \
    " n INTEGER, p10_s REAL, measured_s REAL, p90_s REAL, simulated_s REAL, low_s REAL," \
    " high_s REAL);\n" \
    "CREATE VIEW stack_check AS SELECT bytes, kind, name, n, p10_s, measured_s, p90_s,\n" \
    " simulated_s, low_s, high_s, simulated_s / nullif(measured_s, 0) - 1 AS error\n" \
    " FROM fact_stack_check ORDER BY id;\n"

/* A profiled job. Bytes of the balance are what the kernel counts, storage or not. */
#define PROCESSES \
    "CREATE TABLE fact_process(app INTEGER, rank INTEGER, host TEXT, command TEXT," \
    " counted_by TEXT, pid INTEGER, ppid INTEGER, threads INTEGER, start_ps INTEGER," \
    " end_ps INTEGER, io_start_ps INTEGER, io_end_ps INTEGER, library_read INTEGER," \
    " library_written INTEGER, kernel_read INTEGER, kernel_written INTEGER, start_read INTEGER," \
    " unexplained_read INTEGER, unexplained_written INTEGER, booked_read INTEGER," \
    " booked_written INTEGER, images INTEGER, mpi_rank INTEGER, PRIMARY KEY(app, rank))" \
    " WITHOUT ROWID;\n" \
    "CREATE VIEW process AS SELECT app, rank, host, pid, ppid, command, counted_by, threads,\n" \
    " start_ps / 1000.0 AS start_ns, end_ps / 1000.0 AS end_ns,\n" \
    " io_start_ps / 1000.0 AS io_start_ns, io_end_ps / 1000.0 AS io_end_ns, library_read,\n" \
    " library_written, kernel_read, kernel_written, start_read, unexplained_read,\n" \
    " unexplained_written, booked_read, booked_written, images, mpi_rank FROM fact_process;\n" \
    "CREATE TABLE fact_use(app INTEGER, rank INTEGER, entity INTEGER, bytes_read INTEGER," \
    " bytes_written INTEGER, reads INTEGER, writes INTEGER, syncs INTEGER, opens INTEGER," \
    " metas INTEGER, PRIMARY KEY(app, rank, entity)) WITHOUT ROWID;\n" \
    "CREATE VIEW use_stat AS SELECT u.app AS app, u.rank AS rank, p.pid AS pid,\n" \
    " p.command AS command, e.text AS entity, u.bytes_read AS bytes_read,\n" \
    " u.bytes_written AS bytes_written, u.reads AS reads, u.writes AS writes,\n" \
    " u.syncs AS syncs, u.opens AS opens, u.metas AS metas FROM fact_use u\n" \
    " LEFT JOIN dict e ON e.id = u.entity\n" \
    " LEFT JOIN fact_process p ON p.app = u.app AND p.rank = u.rank;\n" \
    "CREATE TABLE fact_access(app INTEGER, op TEXT, low_b INTEGER, high_b INTEGER," \
    " calls INTEGER, PRIMARY KEY(app, op, low_b)) WITHOUT ROWID;\n" \
    "CREATE VIEW access_size AS SELECT app, op, low_b, high_b, calls FROM fact_access;\n" \
    "CREATE TABLE fact_io_phase(app INTEGER, rank INTEGER, seq INTEGER, t_ps INTEGER," \
    " dt_ps INTEGER, op INTEGER, entity INTEGER, offset_b INTEGER, bytes INTEGER, n INTEGER," \
    " io_ps INTEGER, source INTEGER, PRIMARY KEY(app, rank, seq)) WITHOUT ROWID;\n" \
    "CREATE VIEW io_phase AS SELECT p.app AS app, p.rank AS rank, p.seq AS seq,\n" \
    " p.t_ps / 1000.0 AS t_ns, p.dt_ps / 1000.0 AS dt_ns, o.text AS op, e.text AS entity,\n" \
    " p.offset_b AS offset_b, p.bytes AS bytes, p.n AS n, p.io_ps / 1000.0 AS io_ns,\n" \
    " s.text AS source FROM fact_io_phase p LEFT JOIN dict o ON o.id = p.op\n" \
    " LEFT JOIN dict e ON e.id = p.entity LEFT JOIN dict s ON s.id = p.source;\n"

const char run_schema[] = META SUMMARY APPS PROGRAMS LINKS SERVERS LATENCIES SLICES SWEEPS STACK PROCESSES;
