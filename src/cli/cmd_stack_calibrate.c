/* cmd_stack_calibrate.c -- `weir stack calibrate` and `weir stack validate`: laws from real logs,
 * and what they tell about real logs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/stack.h"
#include "stack/calib.h"

struct calib_opts {
    const char *fs, *laws, *only, *title, *output;
    struct cli_list logs;
    bool shared, json, csv;
};

#define LOG_OPTS                                                                             \
    STACK_OPT("fs", CLI_TEXT, struct calib_opts, fs, "NAME|FILE", "pvfs2",                   \
              "the file system whose logs these are"),                                       \
        STACK_OPT("logs", CLI_LIST, struct calib_opts, logs, "DIR", NULL,                    \
                  "a directory with the logs of a run, or functions.csv or states.csv made " \
                  "of some; may be given several times"),                                    \
        STACK_OPT("only", CLI_TEXT, struct calib_opts, only, "PREFIX", NULL,                 \
                  "of a table, the runs whose names begin so")

static const struct cli_opt calib_rows[] = {
    LOG_OPTS,
    STACK_OPT("laws", CLI_TEXT, struct calib_opts, laws, "NAME|FILE", "default",
              "where states that are not in the logs have their times from"),
    STACK_OPT("title", CLI_TEXT, struct calib_opts, title, "TEXT", "calibrated",
              "what the laws are called"),
    STACK_OPT("shared", CLI_FLAG, struct calib_opts, shared, NULL, NULL,
              "all nodes share one link, as on a loopback, instead of having one each"),
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct calib_opts, output),
     .value = "FILE",
     .help = "write the laws there instead of to standard output"},
    CLI_OPT_END,
};

static bool read_logs(struct stack_log *log, const struct calib_opts *o, const struct stack_fs *fs,
                      struct wr_err *err)
{
    *log = (struct stack_log){.fs = fs};
    if (!o->logs.n)
        return wr_fail(err, WR_INPUT, "no logs; give --logs DIR, once for each run");
    for (size_t i = 0; i < o->logs.n; i++)
        if (!stack_log_add(log, o->logs.v[i], o->only, err))
            return false;
    if (!log->state.n && !log->io.n)
        return wr_fail(err, WR_INPUT, "no run of %s fits; see --only", o->logs.v[0]);
    if (log->cut || log->jumps)
        fprintf(stderr,
                "weir: %" PRIu64 " lines are cut off and the clock jumps back %" PRIu64
                " times; what they touch is left out\n",
                log->cut, log->jumps);
    return true;
}

/* Whole or not at all. */
static bool write_whole(const char *path, const struct wr_str *text, struct wr_err *err)
{
    char part[4096];

    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "w");

    if (!f)
        return wr_fail_errno(err, "%s cannot be written; give another file", path);
    bool bad = fwrite(text->s, 1, text->n, f) != text->n;

    bad |= fclose(f) != 0;
    if (!bad && !rename(part, path))
        return true;
    wr_fail_errno(err, "%s cannot be written; make room for it", path);
    unlink(part);
    return false;
}

static bool calibrate(const struct cli_call *call, struct stack_fs *fs, struct stack_laws *base,
                      struct wr_err *err)
{
    const struct calib_opts *o = call->opts;
    struct stack_log log;
    struct wr_str out = {0};
    struct stack_laws *check;
    bool ok =
        read_logs(&log, o, fs, err) && stack_calibrate(&out, &log, base, o->title, o->shared, err);

    if (ok && !stack_laws_open_text(&check, fs, "the laws", out.s, out.n, err))
        ok = false;
    else if (ok) {
        stack_laws_close(check);
        ok = !o->output || write_whole(o->output, &out, err);
        if (ok && !o->output)
            fputs(out.s, call->out);
    }
    wr_str_fini(&out);
    stack_log_fini(&log);
    return ok;
}

static int with_fs(const struct cli_call *call, struct wr_err *err,
                   bool (*work)(const struct cli_call *, struct stack_fs *, struct stack_laws *,
                                struct wr_err *))
{
    const struct calib_opts *o = call->opts;
    struct stack_laws *laws = NULL;
    struct stack_fs *fs;

    if (!stack_fs_open(&fs, o->fs, err))
        return cli_error(err);
    bool ok = stack_laws_open(&laws, fs, o->laws, err) && work(call, fs, laws, err);

    stack_laws_close(laws);
    stack_fs_close(fs);
    return ok ? 0 : cli_error(err);
}

static int calibrate_main(const struct cli_call *call, struct wr_err *err)
{
    return with_fs(call, err, calibrate);
}

const struct cli_verb cli_stack_calibrate = {
    .name = "calibrate",
    .summary = "take the laws of states from real logs",
    .about =
        "Reads logs of state machines of clients and servers (client.N.log, server.N.log, also "
        "with .gz), the times of calls (adio.N) and meta.json of each directory, and writes laws "
        "for --laws. A state's law is a constant or a line that does not fall; the law of data may "
        "have a knee beyond which bytes are dearer. The one is taken that tells best the size that "
        "is left out of its fit. All runs must be of the same number of servers and processes.",
    .examples = "weir stack calibrate --logs run1 --logs run2 -o laws.yaml\n"
                "weir stack calibrate --logs functions.csv --only F_ -o laws.yaml\n",
    .opts = calib_rows,
    .opts_size = sizeof(struct calib_opts),
    .main = calibrate_main,
};

/* --- validate ----------------------------------------------------------------------- */

static const struct cli_opt valid_rows[] = {
    LOG_OPTS,
    STACK_OPT("laws", CLI_TEXT, struct calib_opts, laws, "NAME|FILE", "default",
              "the laws that are put to the test"),
    CLI_CSV(struct calib_opts, csv),
    CLI_JSON(struct calib_opts, json),
    CLI_OPT_END,
};

static const struct cli_column valid_columns[] = {
    {"bytes", NULL},       {"function", NULL},         {"n", NULL},
    {"p10_s", NULL},       {"median_s", "measured s"}, {"p90_s", NULL},
    {"simulated_s", NULL}, {"error", "error %"},       {"inside", NULL},
};

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void put_row(struct cli_table *t, uint64_t bytes, const char *name, double *v, size_t n,
                    double simulated)
{
    if (!n)
        return;
    qsort(v, n, sizeof *v, by_double);
    double median = (v[(n - 1) / 2] + v[n / 2]) / 2, low = v[n / 10], high = v[n - 1 - n / 10];

    cli_table_int(t, (int64_t)bytes);
    cli_table_text(t, name);
    cli_table_int(t, (int64_t)n);
    cli_table_real(t, low);
    cli_table_real(t, median);
    cli_table_real(t, high);
    cli_table_real(t, simulated);
    cli_table_real(t, median > 0 ? 100 * (simulated / median - 1) : NAN);
    cli_table_bool(t, simulated >= low && simulated <= high);
}

static void state_rows(struct cli_table *t, const struct stack_log *log, const struct stack_sim *s,
                       uint64_t bytes, double *v)
{
    const struct stack_counts *k = stack_engine_counts(stack_drive_engine(s->drive));

    for (size_t i = 0; i < log->fs->state.n; i++) {
        uint64_t visits = k->state[0][i].n + k->state[1][i].n;
        size_t n = 0;

        for (size_t j = 0; visits && j < log->state.n; j++)
            if (log->state.v[j].state == i && log->state.v[j].bytes == bytes)
                v[n++] = log->state.v[j].exec_us * 1e-6;
        if (n)
            put_row(t, bytes, stack_state_text(log->fs, (uint16_t)i).s, v, n,
                    stack_s(k->state[0][i].exec_ns + k->state[1][i].exec_ns) / (double)visits);
    }
}

/* The same test as the logs', at one size. */
static bool simulate(struct stack_sim *s, const struct stack_log *log, struct stack_fs *fs,
                     struct stack_laws *laws, uint64_t bytes, struct wr_err *err)
{
    char command[128];
    bool stopped;

    *s = (struct stack_sim){.fs = fs, .laws = laws};
    snprintf(command, sizeof command, "ior -a MPIIO -b %" PRIu64 " -t %" PRIu64 " -F", bytes,
             bytes);
    if (!ior_parse(&s->test, command, log->clients, err))
        return false;
    s->has_test = true;
    s->setup =
        (struct stack_setup){.fs = fs, .laws = laws, .servers = log->servers, .start = UINT32_MAX};
    if (!stack_drive_open(&s->drive, &s->setup, &s->test, log->clients, 1, err))
        return false;
    stack_drive_begin(s->drive);
    return stack_drive_run(s->drive, &stopped, err);
}

static bool one_size(struct cli_table *t, const struct stack_log *log, struct stack_fs *fs,
                     struct stack_laws *laws, uint64_t bytes, struct wr_err *err)
{
    struct stack_sim s;
    double *v = wr_zalloc(log->io.n + log->state.n + 1, sizeof *v);
    const struct stack_phase *p;
    bool ok = simulate(&s, log, fs, laws, bytes, err);
    size_t phases = ok ? stack_drive_phases(s.drive, &p) : 0;

    for (size_t i = 0; i < phases; i++) {
        size_t n = 0;

        for (size_t j = 0; j < log->io.n; j++)
            if (log->io.v[j].bytes == bytes && log->io.v[j].writes == p[i].writes)
                v[n++] = log->io.v[j].seconds;
        put_row(t, bytes, p[i].writes ? "write" : "read", v, n,
                stack_s(p[i].io_ns) / (double)p[i].transfers);
    }
    if (ok)
        state_rows(t, log, &s, bytes, v);
    s.fs = NULL;
    s.laws = NULL;
    cli_stack_close(&s);
    free(v);
    return ok;
}

static bool validate(const struct cli_call *call, struct stack_fs *fs, struct stack_laws *laws,
                     struct wr_err *err)
{
    const struct calib_opts *o = call->opts;
    enum cli_format format;
    struct stack_log log = {0};
    WR_VEC(struct stack_point) size = {0};
    bool ok = cli_format_of(o->json, o->csv, &format, err) && read_logs(&log, o, fs, err);

    for (size_t i = 0; ok && i < log.io.n; i++)
        wr_vec_push(&size, (struct stack_point){(double)log.io.v[i].bytes, 0});
    size.n = stack_medians(size.v, size.n);
    if (ok && !size.n)
        ok = wr_fail(err, WR_INPUT,
                     "no reads and writes in these logs; add adio.N or functions.csv");
    struct cli_table *t = ok ? cli_table_open(call->out, format, valid_columns, 9) : NULL;

    for (size_t i = 0; ok && i < size.n; i++)
        ok = one_size(t, &log, fs, laws, (uint64_t)size.v[i].x, err);
    if (t)
        cli_table_close(t);
    wr_vec_fini(&size);
    stack_log_fini(&log);
    return ok;
}

static int validate_main(const struct cli_call *call, struct wr_err *err)
{
    return with_fs(call, err, validate);
}

const struct cli_verb cli_stack_validate = {
    .name = "validate",
    .summary = "compare simulated times with those of real logs",
    .about =
        "Runs the test of the logs at each of their sizes and prints, for reads and writes and "
        "for every state, what was measured (median, and between which values eight of ten "
        "lie), what was simulated, and whether that lies between.",
    .examples = "weir stack validate --laws laws.yaml --logs run3\n",
    .opts = valid_rows,
    .opts_size = sizeof(struct calib_opts),
    .main = validate_main,
};
