/* cmd_profile_show.c -- `weir profile show`: what a job did, as a time line and in totals. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "cli/profile.h"
#include "cli/rows.h"
#include "cli/style.h"
#include "cli/table.h"
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
    {.name = "ranks",
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
#define MOST_FIRST " ORDER BY ifnull(read_b, 0) + ifnull(written_b, 0) DESC, entity"

static const struct section {
    const char *name, *title, *sql;
    bool ranks; /* takes the number of ranks */
} sections[] = {
    {"apps", "jobs",
     "SELECT app, name, ranks AS processes, elapsed_ns / 1e9 AS seconds,"
     " bytes_read AS read_b, bytes_written AS written_b FROM app_stat",
     false},
    {"mounts", "mounts", SUMS("mount") MOST_FIRST, false},
    {"files", "files", SUMS("file") MOST_FIRST " LIMIT 20", false},
    {"ranks", "processes",
     "SELECT app || '.' || rank AS process, node, elapsed_ns / 1e9 AS seconds, bytes_read AS "
     "read_b,"
     " bytes_written AS written_b, io_ns / 1e9 AS io_s FROM rank_stat"
     " ORDER BY bytes_read + bytes_written DESC, app, rank LIMIT ?1",
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

static bool number(struct run_reader *r, const char *sql, double *ret, struct wr_err *err)
{
    bool found = false;

    *ret = 0;
    return run_number(r, sql, ret, &found, err);
}

static bool read_curve(struct curve *ret, struct run_reader *r, const char *app, const char *metric,
                       const struct span *t, struct wr_err *err)
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

static bool draw_job(FILE *out, struct run_reader *r, const char *app, const struct span *t,
                     bool ascii, struct wr_err *err)
{
    struct curve w = {0}, d = {0};
    bool ok = read_curve(&w, r, app, "write_bytes", t, err) &&
              read_curve(&d, r, app, "read_bytes", t, err);

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
static bool draw(FILE *out, struct run_reader *r, const struct show_opts *o, struct wr_err *err)
{
    struct span t = {0};
    double jobs;
    struct run_rows *q;
    bool ok, more = false;

    if (!number(r, "SELECT value FROM summary WHERE key = 'slice_ns'", &t.slice_ns, err) ||
        !number(r, "SELECT value FROM summary WHERE key = 'epoch_ns'", &t.epoch_ns, err) ||
        !number(r, "SELECT count(*) FROM app_stat", &jobs, err) ||
        !number(r, "SELECT max(t_ns + dt_ns) FROM slice", &t.end_ns, err))
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
        ok = draw_job(out, r, run_rows_text(q, 0, NULL), &t, o->ascii, err);
        if (!ok)
            break;
        if (jobs > 1)
            fputc('\n', out);
    }
    run_rows_close(q);
    return ok;
}

static bool print_sections(FILE *out, struct run_reader *r, const struct show_opts *o,
                           struct wr_err *err)
{
    bool ok = true;

    for (int i = 0; ok && i < NSECTIONS; i++) {
        char title[64], sql[2048];
        const char *at = strstr(sections[i].sql, "?1");
        struct cli_rows_opts rows = {.format = o->json ? CLI_AS_JSON : CLI_AS_TEXT,
                                     .unless_empty = !o->json,
                                     .title = title};

        snprintf(sql, sizeof sql, "%.*s", (int)(at ? at - sections[i].sql : 2000), sections[i].sql);
        if (sections[i].ranks)
            snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "%u", o->ranks);
        snprintf(title, sizeof title, "\n%s", sections[i].title);
        if (o->json)
            fprintf(out, "%s\"%s\": ", i ? ",\n" : "{", sections[i].name);
        ok = cli_rows_query(out, r, sql, &rows, err);
    }
    return ok;
}

/* What a reader must know before believing the numbers. */
static bool print_notes(FILE *out, struct run_reader *r, struct wr_err *err)
{
    static const struct {
        const char *key, *text;
    } notes[] = {
        {"processes_by_kernel",
         "processes were not preloaded (static or setuid): their bytes are the kernel's "
         "counters, pipes and sockets included\n"},
        {"read_estimate", "bytes more were read through mappings, as an estimate\n"},
        {"write_estimate", "bytes more were written through mappings, as an estimate\n"},
        {"other_write_bytes", "bytes went to pipes, sockets and terminals, not in the table\n"},
        {"processes_sharing",
         "processes had no room for profiles of their own: they are one process here, their bytes "
         "one mount, \"(other storage)\"\n"},
        {"dropped_calls", "calls were not counted, see docs/formats/profile.md\n"},
        {"dropped_records", "records did not fit: late slices are missing\n"},
    };
    bool ok = true;

    fputc('\n', out);
    for (size_t i = 0; ok && i < sizeof notes / sizeof notes[0]; i++) {
        char sql[128];
        double value;

        snprintf(sql, sizeof sql, "SELECT value FROM summary WHERE key = '%s'", notes[i].key);
        ok = number(r, sql, &value, err);
        if (ok && value > 0)
            fprintf(out, "%.0f %s", value, notes[i].text);
    }
    return ok;
}

static bool show_run(const struct cli_call *call, const char *path, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    struct run_reader *r;

    if (!run_open(&r, path, err))
        return false;
    bool ok = strcmp(run_info(r)->kind, "prof") == 0 ||
              wr_fail(err, WR_INPUT, "%s was made by \"%s\", not by a profile; try `weir show %s`",
                      path, run_info(r)->kind, path);

    ok = ok && (o->json || draw(call->out, r, o, err)) && print_sections(call->out, r, o, err) &&
         (o->json || print_notes(call->out, r, err));
    if (ok && o->json)
        fputs("}\n", call->out);
    run_close(r);
    return ok;
}

static int show_main(const struct cli_call *call, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    const char *path = call->args[0], *tmp = getenv("TMPDIR");
    struct stat st;
    struct wr_scratch kept = {.lock = -1};
    struct profile_made made = {.force = true};

    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return show_run(call, path, err) ? 0 : cli_error(err);
    made.force = !o->out || o->force;
    tmp = tmp && *tmp ? tmp : "/tmp";
    if (!o->out)
        wr_scratch_clean(tmp, SHOW_NAME);
    if (!o->out && !wr_scratch_make(&kept, tmp, SHOW_NAME)) {
        wr_fail_errno(err, "cannot make a file in %s; keep the run file with -o", tmp);
        return cli_error(err);
    }
    const char *run = o->out ? o->out : wr_arena_printf(call->arena, "%s/run.weir", kept.dir);
    bool ok = profile_to_run(path, run, &made, err) && show_run(call, run, err);

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
    .main = show_main,
};
