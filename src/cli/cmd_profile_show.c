/* cmd_profile_show.c -- `weir profile show`: a profiled job as a time line and tables.
 *
 * Reads a run file, or makes one from a directory of profiles first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "cli/cli_rows.h"
#include "cli/cli_table.h"
#include "cli/profile.h"
#include "cli/style.h"
#include "report/chart.h"
#include "run/reader.h"

struct show_opts {
    const char *out;
    bool json, force, ascii;
    uint32_t ranks;
};

static const struct cli_opt show_rows[] = {
    CLI_JSON(struct show_opts, json),
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct show_opts, out),
     .value = "RUN",
     .help = "of a directory of profiles: also keep the run file"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, force),
     .help = "replace an existing run file"},
    {.name = "limit",
     .former = "ranks",
     .type = CLI_U32,
     .offset = offsetof(struct show_opts, ranks),
     .value = "N",
     .def = "12",
     .help = "list at most N processes, threads and call paths, those that moved most"},
    {.name = "ascii",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, ascii),
     .help = "draw with ASCII characters only"},
    CLI_OPT_END,
};

/* Sums over a job, a mount, ...: one row per entity of a kind. */
#define SUMS(kind)                                                                       \
    "SELECT substr(entity, length('" kind ":') + 1) AS " kind ","                        \
    " CAST(sum(CASE metric WHEN 'read_bytes' THEN value END) AS INTEGER) AS read_b,"     \
    " CAST(sum(CASE metric WHEN 'write_bytes' THEN value END) AS INTEGER) AS written_b," \
    " CAST(sum(CASE metric WHEN 'read_calls' THEN value END) AS INTEGER) AS reads,"      \
    " CAST(sum(CASE metric WHEN 'write_calls' THEN value END) AS INTEGER) AS writes,"    \
    " CAST(sum(CASE metric WHEN 'sync_calls' THEN value END) AS INTEGER) AS syncs,"      \
    " CAST(sum(CASE metric WHEN 'open_calls' THEN value END) AS INTEGER) AS opens,"      \
    " CAST(sum(CASE metric WHEN 'meta_calls' THEN value END) AS INTEGER) AS metas,"      \
    " sum(CASE WHEN metric IN ('read_time', 'write_time', 'sync_time', 'open_time',"     \
    " 'meta_time') THEN value END) / 1e9 AS io_s,"                                       \
    " CAST(sum(CASE WHEN metric IN ('read_estimate', 'write_estimate') THEN value END)"  \
    " AS INTEGER) AS mapped_b"                                                           \
    " FROM slice WHERE entity LIKE '" kind ":%' GROUP BY entity"
#define RATE(key, name) " (SELECT value FROM summary WHERE key = '" key "') / s AS " name "_per_s,"
#define MOST_FIRST " ORDER BY ifnull(read_b, 0) + ifnull(written_b, 0) DESC, entity"

static const struct section {
    const char *name, *title, *sql;
    bool ranks; /* takes the number of ranks */
} sections[] = {
    {"apps", "jobs",
     "SELECT a.app AS app, a.name AS name, a.ranks AS processes, a.elapsed_ns / 1e9 AS seconds,"
     " (max(p.io_end_ns) - min(p.io_start_ns)) / 1e9 AS io_phase_s, a.bytes_read AS read_b,"
     " a.bytes_written AS written_b FROM app_stat a LEFT JOIN process p ON p.app = a.app"
     " GROUP BY a.app, a.name, a.ranks, a.elapsed_ns, a.bytes_read, a.bytes_written",
     false},
    /* Where one says nothing else than the other, the first line is enough. */
    {"balance", "balance of all bytes, storage or not",
     "WITH b AS (SELECT app, pid, command, counted_by, library_read + library_written AS library_b,"
     " booked_read + booked_written AS by_kernel_b, start_read AS start_b,"
     " kernel_read + kernel_written AS kernel_b, unexplained_read + unexplained_written AS lost_b"
     " FROM process) SELECT 'job ' || app AS whose, '' AS pid, sum(library_b) AS library_b,"
     " sum(by_kernel_b) AS by_kernel_b, sum(start_b) AS start_b, sum(kernel_b) AS kernel_b,"
     " sum(lost_b) AS unexplained_b, 100.0 * sum(lost_b)"
     " / nullif(max(sum(kernel_b), sum(lost_b)), 0) AS percent FROM b GROUP BY app"
     " UNION ALL SELECT * FROM (SELECT command, pid, library_b, by_kernel_b, start_b, kernel_b,"
     " lost_b, 100.0 * lost_b / nullif(max(kernel_b, lost_b), 0) FROM b"
     " WHERE lost_b > 65536 OR by_kernel_b > 0 ORDER BY lost_b + by_kernel_b DESC, pid LIMIT ?1",
     true},
    {"rates", "accesses per second of the I/O phase, and the part that is sequential",
     "WITH t AS (SELECT nullif((SELECT value FROM summary WHERE key = 'io_phase_ns'), 0) / 1e9"
     " AS s) SELECT s AS io_phase_s," RATE("read_calls", "reads") RATE("write_calls", "writes")
         RATE("sync_calls", "syncs") RATE("open_calls", "opens")
             RATE("meta_calls", "metas") " 100.0 * (SELECT value FROM summary WHERE key = "
                                         "'read_sequential') AS seq_read_percent,"
                                         " 100.0 * (SELECT value FROM summary WHERE key = "
                                         "'write_sequential') AS seq_write_percent"
                                         " FROM t WHERE s > 0",
     false},
    {"sizes", "sizes of reads and writes",
     "SELECT low_b AS from_b, max(high_b) AS below_b,"
     " sum(CASE op WHEN 'read' THEN calls END) AS reads,"
     " sum(CASE op WHEN 'write' THEN calls END) AS writes FROM access_size GROUP BY low_b"
     " ORDER BY low_b",
     false},
    {"mounts", "mounts", SUMS("mount") MOST_FIRST, false},
    {"files", "files", SUMS("file") MOST_FIRST " LIMIT 20", false},
    {"uses", "mounts and files, by process",
     "SELECT pid, command, entity AS what, bytes_read AS read_b, bytes_written AS written_b, reads,"
     " writes, syncs, opens, metas FROM use_stat"
     " ORDER BY bytes_read + bytes_written DESC, opens + metas DESC, pid, entity LIMIT ?1",
     true},
    {"ranks", "processes",
     "SELECT r.app || '.' || r.rank AS process, p.pid AS pid, p.command AS command,"
     " p.counted_by AS counted_by, r.node AS node, r.elapsed_ns / 1e9 AS seconds,"
     " (p.io_end_ns - p.io_start_ns) / 1e9 AS io_phase_s, r.bytes_read AS read_b,"
     " r.bytes_written AS written_b, r.io_ns / 1e9 AS io_s"
     " FROM rank_stat r LEFT JOIN process p ON p.app = r.app AND p.rank = r.rank"
     " ORDER BY r.bytes_read + r.bytes_written DESC, r.app, r.rank LIMIT ?1",
     true},
    {"mpi", "MPI",
     "SELECT substr(entity, 5) AS app,"
     " CAST(sum(value) FILTER (WHERE metric = 'mpi_calls') AS INTEGER) AS calls,"
     " sum(value) FILTER (WHERE metric = 'mpi_time') / 1e9 AS mpi_s,"
     " sum(value) FILTER (WHERE metric = 'mpiio_time') / 1e9 AS io_s,"
     " sum(value) FILTER (WHERE metric = 'mpiio_collective_time') / 1e9 AS coll_io_s,"
     " CAST(sum(value) FILTER (WHERE metric = 'mpiio_read_bytes') AS INTEGER) AS read_b,"
     " CAST(sum(value) FILTER (WHERE metric = 'mpiio_collective_read_bytes') AS INTEGER)"
     " AS coll_read_b,"
     " CAST(sum(value) FILTER (WHERE metric = 'mpiio_write_bytes') AS INTEGER) AS written_b,"
     " CAST(sum(value) FILTER (WHERE metric = 'mpiio_collective_write_bytes') AS INTEGER)"
     " AS coll_written_b"
     " FROM slice WHERE entity LIKE 'app:%' AND metric LIKE 'mpi%' GROUP BY entity",
     false},
    {"counters", "counters",
     "SELECT metric AS counter, CAST(sum(value) AS INTEGER) AS total FROM slice"
     " WHERE entity LIKE 'app:%' AND unit = 'events' GROUP BY metric",
     false},
    {"calls", "call paths", SUMS("call") MOST_FIRST " LIMIT ?1", true},
    {"threads", "threads of processes that have several", SUMS("thread") MOST_FIRST " LIMIT ?1",
     true},
};

#define SHOW_NAME "weir-profile-" /* begins the name of a directory for a while */

enum { NSECTIONS = sizeof sections / sizeof sections[0], COLUMNS = 400 };

/* One curve: what a job moved in each slice, in MB/s. Long runs are drawn with several slices in
 * one point. */
struct curve {
    struct report_point *point;
    size_t n;
};

/* Time as the run file has it. */
struct span {
    double slice_ns, end_ns, epoch_ns;
};

static bool profile_show_number(struct run_reader *r, const char *sql, double *ret,
                                struct wr_err *err)
{
    bool found = false;

    *ret = 0;
    return run_number(r, sql, ret, &found, err);
}

static bool profile_show_read_curve(struct curve *ret, struct run_reader *r, const char *app,
                                    const char *metric, const struct span *t, struct wr_err *err)
{
    const char *args[] = {app, metric};
    double slice_ns = t->slice_ns;
    size_t slices = (size_t)(t->end_ns / slice_ns + 0.5);
    size_t each = slices / COLUMNS + 1, n = slices / each + 1;
    struct curve c = {.point = wr_zalloc(n + 1, sizeof *c.point), .n = n + 1};
    struct run_rows *q;
    bool ok, more = false;

    for (size_t i = 0; i <= n; i++)
        c.point[i].x = (double)i * (double)each * slice_ns / 1e9;
    ok = run_query(&q, r,
                   "SELECT t_ns, value FROM slice WHERE entity = 'app:' || ?1 AND metric = ?2",
                   args, 2, err);
    while (ok && (ok = run_rows_next(q, &more, err)) && more) {
        double at = run_rows_real(q, 0) / slice_ns / (double)each;

        if (at >= 0 && at < (double)n)
            c.point[(size_t)at].y += run_rows_real(q, 1) / 1e6 / ((double)each * slice_ns / 1e9);
    }
    if (ok)
        run_rows_close(q);
    for (size_t i = 0; i <= n; i++)
        c.point[i].low = c.point[i].high = c.point[i].y;
    if (ok)
        *ret = c;
    else
        free(c.point);
    return ok;
}

static bool profile_show_draw_job(FILE *out, struct run_reader *r, const char *app,
                                  const struct span *t, bool ascii, struct wr_err *err)
{
    struct curve w = {0}, d = {0};
    bool ok = profile_show_read_curve(&w, r, app, "write_bytes", t, err) &&
              profile_show_read_curve(&d, r, app, "read_bytes", t, err);

    if (ok) {
        struct report_series series[] = {
            {.name = "written", .point = w.point, .n = w.n, .line_only = true, .steps = true},
            {.name = "read", .point = d.point, .n = d.n, .line_only = true, .steps = true}};
        struct report_chart chart = {.x = {.label = "s"},
                                     .y = {.label = "MB/s", .zero = true},
                                     .series = series,
                                     .nseries = 2};
        struct report_text_style style = cli_style(out, ascii);
        struct wr_str text = {0};

        style.height = style.height ? style.height : 14;
        report_chart_text(&chart, &style, &text);
        fputs(wr_str_get(&text), out);
        wr_str_fini(&text);
    }
    free(w.point);
    free(d.point);
    return ok;
}

/* A time line for each job, those that moved most when there are many. */
static bool profile_show_draw(FILE *out, struct run_reader *r, const struct show_opts *o,
                              struct wr_err *err)
{
    struct span t = {0};
    double jobs;
    struct run_rows *q;
    bool ok, more = false;

    if (!profile_show_number(r, "SELECT value FROM summary WHERE key = 'slice_ns'", &t.slice_ns,
                             err) ||
        !profile_show_number(r, "SELECT value FROM summary WHERE key = 'epoch_ns'", &t.epoch_ns,
                             err) ||
        !profile_show_number(r, "SELECT count(*) FROM app_stat", &jobs, err) ||
        !profile_show_number(r, "SELECT max(t_ns + dt_ns) FROM slice", &t.end_ns, err))
        return false;
    if (t.slice_ns <= 0 || t.end_ns <= 0 || t.end_ns / t.slice_ns > 1e8) {
        fputs("no storage was touched\n", out);
        return true;
    }
    char utc[WR_CLOCK_TEXT];

    wr_clock_utc_of(utc, (int64_t)(t.epoch_ns / 1e9));
    fprintf(out, "slices of %.6g s from %s on\n\n", t.slice_ns / 1e9, utc);
    ok = run_query(&q, r,
                   "SELECT CAST(app AS TEXT), name FROM app_stat"
                   " ORDER BY ifnull(bytes_read, 0) + ifnull(bytes_written, 0) DESC, app LIMIT 8",
                   NULL, 0, err);
    if (!ok)
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        if (jobs > 1)
            fprintf(out, "job %s\n", run_rows_text(q, 1, NULL));
        ok = profile_show_draw_job(out, r, run_rows_text(q, 0, NULL), &t, o->ascii, err);
        if (!ok)
            break;
        if (jobs > 1)
            fputc('\n', out);
    }
    run_rows_close(q);
    return ok;
}

static bool profile_show_print_sections(FILE *out, struct run_reader *r, const struct show_opts *o,
                                        struct wr_err *err)
{
    bool ok = true;

    for (int i = 0; ok && i < NSECTIONS; i++) {
        char title[96], sql[2048];
        const char *at = strstr(sections[i].sql, "?1");
        size_t open = 0; /* parentheses that what is cut off would have closed */
        struct cli_rows_opts rows = {.format = o->json ? CLI_AS_JSON : CLI_AS_TEXT,
                                     .unless_empty = !o->json,
                                     .title = title};

        snprintf(sql, sizeof sql, "%.*s", (int)(at ? at - sections[i].sql : 2000), sections[i].sql);
        for (const char *c = sql; *c; c++)
            open += (*c == '(') - (*c == ')');
        if (sections[i].ranks)
            snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "%u%s", o->ranks,
                     open ? ")" : "");
        snprintf(title, sizeof title, "\n%s", sections[i].title);
        if (o->json)
            fprintf(out, "%s\"%s\": ", i ? ",\n" : "{", sections[i].name);
        ok = cli_rows_query(out, r, sql, &rows, err);
    }
    return ok;
}

/* What a reader must know before believing the numbers. */
static bool profile_show_print_notes(FILE *out, struct run_reader *r, struct wr_err *err)
{
    static const struct {
        const char *key, *text;
    } notes[] = {
        {"processes_by_kernel",
         "processes have no library (static, setuid, another environment): their bytes are the "
         "kernel's counters, pipes and sockets included\n"},
        {"read_estimate", "bytes more were read through mappings or rings, as an estimate\n"},
        {"write_estimate", "bytes more were written through mappings or rings, as an estimate\n"},
        {"balance_unexplained_bytes",
         "bytes were counted by the kernel and not seen by the library: see the balance\n"},
        {"balance_unknown_processes", "processes have no counters of the kernel's to compare\n"},
        {"processes_unseen",
         "processes became programs without the library and ended unseen: nothing is known of "
         "these\n"},
        {"processes_left", "processes ran on when the command had ended\n"},
        {"rings_unseen", "rings of io_uring could not be followed\n"},
        {"ring_requests_estimated", "requests of rings are in the estimate, not in the table\n"},
        {"other_write_bytes", "bytes went to pipes, sockets and terminals, not in the table\n"},
        {"processes_sharing", "processes did not get profiles of their own, as memory for profiles "
                              "was used up: they are "
                              "one process here, their bytes one mount, \"(other storage)\"\n"},
        {"dropped_calls", "calls were not counted, see docs/formats/profile.md\n"},
        {"dropped_records", "records did not fit: late slices are missing\n"},
    };
    bool ok = true;

    fputc('\n', out);
    for (size_t i = 0; ok && i < sizeof notes / sizeof notes[0]; i++) {
        char sql[128];
        double value;

        snprintf(sql, sizeof sql, "SELECT value FROM summary WHERE key = '%s'", notes[i].key);
        ok = profile_show_number(r, sql, &value, err);
        if (ok && value > 0)
            fprintf(out, "%.0f %s", value, notes[i].text);
    }
    return ok;
}

static bool profile_show_run(const struct cli_call *call, const char *path, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    struct run_reader *r;

    if (!run_open(&r, path, err))
        return false;
    bool ok = strcmp(run_info(r)->kind, "prof") == 0 || strcmp(run_info(r)->kind, "darshan") == 0 ||
              wr_fail(err, WR_INPUT, "%s was made by \"%s\", not by a profile; try `weir show %s`",
                      path, run_info(r)->kind, path);

    ok = ok && (o->json || profile_show_draw(call->out, r, o, err)) &&
         profile_show_print_sections(call->out, r, o, err) &&
         (o->json || profile_show_print_notes(call->out, r, err));
    if (ok && o->json)
        fputs("}\n", call->out);
    run_close(r);
    return ok;
}

static int profile_show_main(const struct cli_call *call, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    const char *path = call->args[0], *tmp = getenv("TMPDIR");
    struct stat st;
    struct wr_scratch kept = {.lock = -1};
    struct prof_run_how how = {.force = true};

    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return profile_show_run(call, path, err) ? 0 : cli_error(err);
    how.force = !o->out || o->force;
    tmp = tmp && *tmp ? tmp : "/tmp";
    if (!o->out)
        wr_scratch_clean(tmp, SHOW_NAME);
    if (!o->out && !wr_scratch_make(&kept, tmp, SHOW_NAME)) {
        wr_fail_errno(err, "cannot make a file in %s; keep the run file with -o", tmp);
        return cli_error(err);
    }
    const char *run = o->out ? o->out : wr_arena_printf(call->arena, "%s/run.weir", kept.dir);
    bool ok = profile_write_run(path, run, &how, err) && profile_show_run(call, run, err);

    wr_scratch_remove(&kept);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_profile_show = {
    .name = "show",
    .summary = "show what a profiled job did",
    .args = "RUN",
    .min_args = 1,
    .max_args = 1,
    .about = "RUN is the run file that `weir profile` wrote, or a directory of profiles (of --dir, "
             "or of "
             "WEIR_PROF_DIR when the library was preloaded by hand), also while the job runs.",
    .examples = "weir profile show job.weir\n"
                "weir profile show /scratch/profiles -o job.weir\n",
    .opts = show_rows,
    .opts_size = sizeof(struct show_opts),
    .main = profile_show_main,
};
