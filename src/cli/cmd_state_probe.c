/* cmd_state_probe.c -- `weir state probe` and `weir state watch`: latencies of storage paths, live.
 *
 * struct session is shared by both: probes arrive in probe_on_sample(), which records them and
 * updates the model of their path. With --prometheus a second thread reads the session under its
 * lock (state_metrics.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/note.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/cli_json.h"
#include "cli/state_metrics.h"
#include "cli/state_opts.h"
#include "cli/state_print.h"
#include "run/run.h"
#include "state/lib/weir-state.h"
#include "state/probe.h"

struct probe_opts {
    const char *interval, *length, *bytes, *out, *run, *prometheus;
    double jitter;
    uint64_t count, seed;
    bool append, force, devices, json;
};

#define PROBE_ROWS                                                                        \
    {.name = "interval",                                                                  \
     .letter = 'i',                                                                       \
     .type = CLI_TEXT,                                                                    \
     .offset = offsetof(struct probe_opts, interval),                                     \
     .value = "TIME",                                                                     \
     .def = "60s",                                                                        \
     .help = "time from one probe of a target to the next"},                              \
        {.name = "jitter",                                                                \
         .type = CLI_REAL,                                                                \
         .offset = offsetof(struct probe_opts, jitter),                                   \
         .value = "PART",                                                                 \
         .def = "0.1",                                                                    \
         .help = "spread the starts over this part of the interval"},                     \
        {.name = "for",                                                                   \
         .type = CLI_TEXT,                                                                \
         .offset = offsetof(struct probe_opts, length),                                   \
         .value = "TIME",                                                                 \
         .help = "end after this time, as in --for=1h; by default at Ctrl-C"},            \
        {.name = "count",                                                                 \
         .letter = 'n',                                                                   \
         .type = CLI_U64,                                                                 \
         .offset = offsetof(struct probe_opts, count),                                    \
         .value = "N",                                                                    \
         .def = "0",                                                                      \
         .help = "end after N probes of each target; 0: any number"},                     \
        {.name = "bytes",                                                                 \
         .type = CLI_TEXT,                                                                \
         .offset = offsetof(struct probe_opts, bytes),                                    \
         .value = "SIZE",                                                                 \
         .def = "1MiB",                                                                   \
         .help = "how much a probe writes and reads, a multiple of 4 KiB"},               \
        {.name = "devices",                                                               \
         .type = CLI_FLAG,                                                                \
         .offset = offsetof(struct probe_opts, devices),                                  \
         .help = "targets may be block devices; they get back the bytes that they hold"}, \
    {                                                                                     \
        .name = "seed", .type = CLI_U64, .offset = offsetof(struct probe_opts, seed),     \
        .value = "N", .def = "1", .help = "seed of the jitter"                            \
    }

static const struct cli_opt probe_rows[] = {
    PROBE_ROWS,
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct probe_opts, out),
     .value = "PROBES.csv",
     .def = "probes.csv",
     .help = "the table to write, one row for each write and read"},
    {.name = "append",
     .letter = 'a',
     .type = CLI_FLAG,
     .offset = offsetof(struct probe_opts, append),
     .help = "go on with an existing table; the time in between is marked as a gap"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct probe_opts, force),
     .help = "replace an existing table and run file"},
    {.name = "run",
     .type = CLI_TEXT,
     .offset = offsetof(struct probe_opts, run),
     .value = "RUN",
     .help = "also write a run file"},
    CLI_JSON(struct probe_opts, json),
    CLI_OPT_END,
};

static const struct cli_opt watch_rows[] = {
    PROBE_ROWS,
    {.name = "prometheus",
     .type = CLI_TEXT,
     .offset = offsetof(struct probe_opts, prometheus),
     .value = "PORT",
     .help = "offer the numbers on 127.0.0.1:PORT/metrics; 0: on a free port, which is printed"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct probe_opts, json),
     .help = "print JSON instead of text: an object for each probe, on a line of its own"},
    CLI_OPT_END,
};

/* What is known of one target while it is probed. */
struct path {
    const char *name;
    struct weir_state *state; /* of writes; watch only */
    double last[2];           /* latencies: write, read */
    double last_t;
    uint64_t done, failed;
    bool direct, reported_direct;
    uint32_t series[4]; /* in the run file: write, read, what failed, what hung */
};

struct session {
    const struct probe_opts *o;
    uint64_t bytes;
    struct path *path;
    size_t n;
    struct wr_output table;
    FILE *csv, *out; /* csv: the table's, when there is one */
    struct run *run;
    int64_t began_ns;        /* t_seconds = 0 */
    int64_t mono_to_unix_ns; /* as of then */
    int64_t step_ns;         /* by which the wall clock was set meanwhile, as far as is noted */
    double cost_s;
    bool fresh;           /* the table is new and has no row yet */
    pthread_mutex_t lock; /* of path, for the metrics */
    bool watching;
};

static bool probe_read_opts(struct state_probe_opts *ret, const struct probe_opts *o,
                            struct wr_err *err)
{
    struct state_probe_opts p = {.jitter = o->jitter,
                                 .most = o->count,
                                 .devices = o->devices,
                                 .seed = o->seed,
                                 .stop = wr_interrupted};

    if (!state_seconds(&p.interval_s, "interval", o->interval, err) ||
        (o->length && !state_seconds(&p.length_s, "for", o->length, err)))
        return false;
    if (!wr_parse_bytes(&p.bytes, o->bytes, err))
        return wr_wrap(err, "--bytes");
    if (!p.bytes || p.bytes % 4096 || p.bytes > (64u << 20))
        return wr_fail(err, WR_INPUT, "--bytes %s: give a multiple of 4 KiB up to 64 MiB",
                       o->bytes);
    if (!(p.interval_s >= 0.001) || !(p.jitter >= 0 && p.jitter <= 1))
        return wr_fail(err, WR_INPUT, "--interval must be at least 1 ms and --jitter from 0 to 1");
    *ret = p;
    return true;
}

/* Where an existing table began, from its remark, and where it ends. A last line without its end
 * was being written when the machine went down: it does not count. */
static bool probe_find_start(const char *path, int64_t *ret_ns, double *ret_last, size_t *ret_len,
                             struct wr_err *err)
{
    struct state_probes p;
    char *text;
    size_t len;

    if (!wr_file_peek(&text, &len, path, (size_t)4 << 30, err))
        return false;
    while (len && text[len - 1] != '\n')
        text[--len] = '\0';
    const char *mark = strstr(text, "# began ");
    bool ok = mark && sscanf(mark, "# began %" SCNd64, ret_ns) == 1;

    if (!ok)
        wr_fail(err, WR_INPUT,
                "%s does not say when it began, so nothing can be appended; name "
                "another file",
                path);
    ok = ok && state_probes_parse(&p, path, text, len, err);
    if (ok) {
        *ret_last = 0;
        for (size_t i = 0; i < p.n; i++)
            *ret_last = fmax(*ret_last, p.v[i].t_s);
        *ret_len = len;
        state_probes_fini(&p);
    }
    free(text);
    return ok;
}

static const struct wr_format probes_format = {.name = "a table of probes",
                                               .endings = ".csv",
                                               .begins = "# began ",
                                               .holds = "\nt_seconds,op,bytes,latency_seconds,",
                                               .data = true};

static bool probe_open_csv(struct session *s, struct wr_err *err)
{
    const struct probe_opts *o = s->o;
    struct stat st;
    bool exists = !stat(o->out, &st);
    double last = 0;
    size_t len = 0;

    s->began_ns = state_wall_ns();
    s->mono_to_unix_ns = s->began_ns - (int64_t)wr_clock_ns();
    if (exists && !o->append && !o->force)
        return wr_fail(err, WR_INPUT,
                       "%s exists; go on with it by --append, replace it by --force, "
                       "or name another file",
                       o->out);
    /* What is empty has nothing to go on with. */
    bool force = o->force || (exists && !st.st_size);

    exists = exists && o->append && st.st_size > 0;
    s->fresh = !exists;
    if (exists && !probe_find_start(o->out, &s->began_ns, &last, &len, err))
        return false;
    if (exists ? !wr_output_append(&s->table, o->out, err)
               : !wr_output_open(&s->table, o->out, &probes_format, force ? WR_FORCE : 0, err))
        return false;
    s->csv = s->table.f;
    if (exists && ftruncate(fileno(s->csv), (off_t)len))
        return wr_fail_errno(err, "cannot write %s; name a file that can be written", o->out);
    double gap = (double)(state_wall_ns() - s->began_ns) / 1e9 - last;

    if (exists && gap < 0)
        return wr_fail(err, WR_INPUT, "the clock went back behind the end of %s; name another file",
                       o->out);
    if (exists)
        fprintf(s->csv, "# gap of %.0f s\n", gap);
    else
        fprintf(s->csv, "# began %" PRId64 "\nt_seconds,op,bytes,latency_seconds,target\n",
                s->began_ns);
    return exists || wr_output_publish(&s->table, err);
}

static bool probe_open_run(struct session *s, const struct cli_call *call, struct wr_err *err)
{
    static const struct {
        const char *metric, *unit;
    } row[] = {{"write_latency", "s"}, {"read_latency", "s"}, {"failed", ""}, {"hung", "s"}};
    struct wr_str command = {0};

    wr_str_addf(&command, "%s ", call->who);
    run_command_line(&command, call->argc - 1, call->argv + 1);
    struct run_meta meta = {
        .kind = "probe", .command = wr_str_get(&command), .seed = s->o->seed, .force = s->o->force};
    bool ok = run_create(&s->run, s->o->run, &meta, err);

    wr_str_fini(&command);
    for (size_t i = 0; ok && i < s->n; i++)
        for (int j = 0; ok && j < 4; j++) {
            struct wr_str name = {0};

            wr_str_addf(&name, "target:%s", s->path[i].name);
            struct run_series series = {name.s, row[j].metric, row[j].unit, 0};

            ok = run_open_series(s->run, &series, &s->path[i].series[j], err);
            wr_str_fini(&name);
        }
    return ok;
}

static void probe_print_json(struct session *s, const struct path *p, const double *now, int k)
{
    json_t *states = json_array();

    for (int i = 0; i < k; i++)
        json_array_append_new(states, cli_json_real(now[i]));
    cli_json_print_line(
        s->out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "t_s", cli_json_real(p->last_t),
                          "target", cli_json_string(p->name), "write_s", cli_json_real(p->last[0]),
                          "read_s", cli_json_real(p->last[1]), "state_probabilities", states,
                          "next_p90_s", cli_json_real(weir_state_quantile(p->state, 60, 0.9)),
                          "period_s", cli_json_real(weir_state_period(p->state, NULL))));
}

static void probe_print_sample(struct session *s, const struct path *p)
{
    double now[6] = {0};
    int k = weir_state_probabilities(p->state, 0, now, 6);

    if (s->o->json) {
        probe_print_json(s, p, now, k);
        return;
    }
    fprintf(s->out, "%10.1f s  %s  write %s  read %s", p->last_t, p->name,
            state_text_s(p->last[0]).s, state_text_s(p->last[1]).s);
    for (int i = 0; i < k; i++)
        fprintf(s->out, "%s%.0f", i ? "/" : "  states, %: ", 100 * now[i]);
    fprintf(s->out, "  next below %s with 90 %%",
            state_text_s(weir_state_quantile(p->state, 60, 0.9)).s);
    double period = weir_state_period(p->state, NULL);

    if (period > 0) /* which the forecast does not know */
        fprintf(s->out, "  repeats every %s", state_text_s(period).s);
    fputc('\n', s->out);
    fflush(s->out);
}

/* Problems are said as they come; a row without a latency keeps their place in the table, and the
 * run file counts them. */
static bool probe_record_failure(struct session *s, const struct state_probe_result *r, double t,
                                 struct wr_err *err)
{
    struct path *p = &s->path[r->target];
    bool hangs = r->kind == STATE_PROBE_HANGS;

    pthread_mutex_lock(&s->lock);
    p->failed++;
    pthread_mutex_unlock(&s->lock);
    if (hangs)
        fprintf(stderr, "weir: %s has not answered for %.0f s; the others go on\n", p->name,
                r->latency_s);
    else
        fprintf(stderr, "weir: %s: %s\n", p->name, r->words);
    s->fresh = false;
    if (s->csv) {
        fprintf(s->csv, "%.6f,%s,%" PRIu64 ",,%s\n", t, r->read ? "read" : "write", s->bytes,
                p->name);
        if (fflush(s->csv))
            return wr_fail_errno(err, "cannot write %s; free some space", s->o->out);
    }
    return !s->run || run_put_slice(s->run, p->series[hangs ? 3 : 2], (int64_t)(t * 1e12), 0,
                                    hangs ? r->latency_s : 1, err);
}

static bool probe_record(struct session *s, const struct state_probe_result *r, double t,
                         struct wr_err *err)
{
    struct path *p = &s->path[r->target];
    bool read = r->kind == STATE_PROBE_READ;

    s->fresh = false;
    if (s->csv) {
        fprintf(s->csv, "%.6f,%s,%" PRIu64 ",%.9f,%s\n", t, read ? "read" : "write", s->bytes,
                r->latency_s, p->name);
        if (fflush(s->csv))
            return wr_fail_errno(err, "cannot write %s; free some space", s->o->out);
    }
    if (s->run && !run_put_slice(s->run, p->series[read], (int64_t)(t * 1e12),
                                 (int64_t)(r->latency_s * 1e12), r->latency_s, err))
        return false;
    return true;
}

/* The table and the run file say when the wall clock was set; times in them go on as if it had
 * not been. Clocks that are kept exact by small steps stay below the threshold. */
static bool probe_report_step(struct session *s, const struct state_probe_result *r, double t,
                              struct wr_err *err)
{
    const int64_t enough_ns = 100 * 1000 * 1000;
    int64_t by = r->clock_step_ns - s->step_ns;

    if (r->kind == STATE_PROBE_HANGS || (by < enough_ns && by > -enough_ns))
        return true;
    s->step_ns = r->clock_step_ns;
    wr_note("the clock was set by %+.3f s; the times of the probes go on without that",
            (double)by / 1e9);
    if (s->csv && fprintf(s->csv, "# clock set by %+.3f s at %.3f s\n", (double)by / 1e9, t) < 0)
        return wr_fail_errno(err, "cannot write %s; free some space", s->o->out);
    return true;
}

static bool probe_on_sample(void *arg, const struct state_probe_result *r, struct wr_err *err)
{
    struct session *s = arg;
    struct path *p = &s->path[r->target];
    double t = (double)(r->unix_ns - s->began_ns) / 1e9;

    s->cost_s += r->cost_s;
    if (!probe_report_step(s, r, t, err))
        return false;
    if (r->kind == STATE_PROBE_FAILED || r->kind == STATE_PROBE_HANGS)
        return probe_record_failure(s, r, t, err);
    if (!r->direct && !p->reported_direct) {
        wr_note("%s takes no O_DIRECT; reads may come from memory", p->name);
        p->reported_direct = true;
    }
    bool read = r->kind == STATE_PROBE_READ;

    pthread_mutex_lock(&s->lock);
    p->last[read] = r->latency_s;
    p->last_t = t;
    p->direct = r->direct;
    p->done += read;
    pthread_mutex_unlock(&s->lock);
    if (p->state && !read)
        weir_state_observe(p->state, t, r->latency_s);
    if (p->state && read && s->watching)
        probe_print_sample(s, p);
    return probe_record(s, r, t, err);
}

static void probe_fill_latency(struct wr_str *out, const char *name, const struct path *p)
{
    static const char *const op[] = {"write", "read"};

    for (int j = 0; j < 2 && p->done; j++)
        wr_str_addf(out, "%s{target=\"%s\",op=\"%s\"} %.9g\n", name, p->name, op[j], p->last[j]);
}

static void probe_fill_done(struct wr_str *out, const char *name, const struct path *p)
{
    wr_str_addf(out, "%s{target=\"%s\"} %" PRIu64 "\n", name, p->name, p->done);
}

static void probe_fill_failed(struct wr_str *out, const char *name, const struct path *p)
{
    wr_str_addf(out, "%s{target=\"%s\"} %" PRIu64 "\n", name, p->name, p->failed);
}

static void probe_fill_states(struct wr_str *out, const char *name, const struct path *p)
{
    double now[6];
    int k = weir_state_probabilities(p->state, 0, now, 6);

    for (int j = 0; j < k; j++)
        wr_str_addf(out, "%s{target=\"%s\",state=\"%d\"} %.6g\n", name, p->name, j, now[j]);
}

static void probe_fill_health(struct wr_str *out, const char *name, const struct path *p)
{
    wr_str_addf(out, "%s{target=\"%s\"} %.6g\n", name, p->name, weir_state_health(p->state));
}

static void probe_fill_period(struct wr_str *out, const char *name, const struct path *p)
{
    wr_str_addf(out, "%s{target=\"%s\"} %.6g\n", name, p->name, weir_state_period(p->state, NULL));
}

static void probe_fill_forecast(struct wr_str *out, const char *name, const struct path *p)
{
    if (p->done)
        wr_str_addf(out, "%s{target=\"%s\",quantile=\"0.9\"} %.9g\n", name, p->name,
                    weir_state_quantile(p->state, 60, 0.9));
}

/* All lines of one metric stand together, after what it is: the text format wants it so. */
static void probe_fill_metrics(void *arg, struct wr_str *out)
{
    static const struct {
        const char *name, *type, *help;
        void (*fill)(struct wr_str *out, const char *name, const struct path *p);
    } table[] = {
        {"weir_probe_latency_seconds", "gauge", "Latency of the last probe.", probe_fill_latency},
        {"weir_probes_total", "counter", "Probes written and read back.", probe_fill_done},
        {"weir_probes_failed_total", "counter", "Probes that failed or hung.", probe_fill_failed},
        {"weir_state_probability", "gauge", "Of the path's hidden states, fastest first.",
         probe_fill_states},
        {"weir_state_health", "gauge", "How far the model is trusted, 0 to 1.", probe_fill_health},
        {"weir_state_period_seconds", "gauge",
         "Of a series that repeats, which no forecaster here knows; 0: none seen.",
         probe_fill_period},
        {"weir_forecast_latency_seconds", "gauge", "A write in a minute stays below this.",
         probe_fill_forecast},
    };
    struct session *s = arg;

    pthread_mutex_lock(&s->lock);
    for (size_t m = 0; m < sizeof table / sizeof table[0]; m++) {
        wr_str_addf(out, "# HELP %s %s\n# TYPE %s %s\n", table[m].name, table[m].help,
                    table[m].name, table[m].type);
        for (size_t i = 0; i < s->n; i++)
            table[m].fill(out, table[m].name, &s->path[i]);
    }
    pthread_mutex_unlock(&s->lock);
}

static bool probe_session_init(struct session *s, const struct cli_call *call, uint64_t bytes,
                               bool watching, struct wr_err *err)
{
    *s = (struct session){.o = call->opts,
                          .bytes = bytes,
                          .n = (size_t)call->nargs,
                          .out = call->out,
                          .watching = watching};
    s->path = wr_zalloc(s->n, sizeof *s->path);
    pthread_mutex_init(&s->lock, NULL);
    s->began_ns = state_wall_ns();
    s->mono_to_unix_ns = s->began_ns - (int64_t)wr_clock_ns();
    for (size_t i = 0; i < s->n; i++) {
        s->path[i].name = call->args[i];
        if (strpbrk(call->args[i], ",\"\n\\"))
            return wr_fail(err, WR_INPUT,
                           "a target's name must not hold commas, quotes or line "
                           "ends; name it through a link");
        if (watching && !(s->path[i].state = weir_state_create(NULL)))
            return wr_fail(err, WR_SYSTEM, "not enough memory to watch so many targets");
    }
    return true;
}

static bool probe_session_end(struct session *s, bool ok, struct wr_err *err)
{
    struct wr_err other = {0};

    if (s->csv && !wr_output_end(&s->table, ok ? err : &other))
        ok = false;
    if (s->csv && !ok && s->fresh)
        unlink(s->o->out);
    if (s->run) {
        bool stored = ok && run_put_volatile(s->run, "probe_cpu_s", s->cost_s, "s", &other) &&
                      (!s->step_ns ||
                       run_put_volatile(s->run, "clock_step_ns", (double)s->step_ns, "ns", &other));

        stored =
            run_finish(s->run, ok ? RUN_COMPLETE : RUN_FAILED, ok ? NULL : err->text, &other) &&
            stored;
        if (ok && !stored) {
            *err = other;
            ok = false;
        }
    }
    for (size_t i = 0; i < s->n; i++)
        weir_state_destroy(s->path[i].state);
    free(s->path);
    return ok;
}

static bool probe_run(struct session *s, const struct cli_call *call,
                      const struct state_probe_opts *o, struct wr_err *err)
{
    struct state_target *t = wr_zalloc(s->n, sizeof *t);

    for (size_t i = 0; i < s->n; i++)
        t[i].text = call->args[i];
    wr_interrupt_catch();
    struct state_probe_opts timed = *o;
    timed.mono_to_unix_ns = s->mono_to_unix_ns;
    bool ok = state_probe_run(t, s->n, &timed, probe_on_sample, s, err);

    wr_interrupt_release();
    free(t);
    return ok;
}

static int probe_main(const struct cli_call *call, struct wr_err *err)
{
    const struct probe_opts *o = call->opts;
    struct state_probe_opts p;
    struct session s;
    uint64_t done = 0;

    if (!probe_read_opts(&p, o, err))
        return cli_error(err);
    bool ok = probe_session_init(&s, call, p.bytes, false, err) && probe_open_csv(&s, err) &&
              (!o->run || probe_open_run(&s, call, err)) && probe_run(&s, call, &p, err);

    for (size_t i = 0; i < s.n; i++)
        done += s.path[i].done;
    double cost_s = s.cost_s;

    ok = probe_session_end(&s, ok, err);
    if (ok && o->json)
        cli_json_print(call->out,
                       json_pack("{s:I, s:o, s:o, s:o}", "probes", (json_int_t)done, "table",
                                 cli_json_string(o->out), "run", cli_json_string(o->run), "cpu_s",
                                 cli_json_real(cost_s)));
    else if (ok)
        fprintf(call->out,
                "%" PRIu64 " probes in %s, %.3g ms of processor time each; look at them with `weir "
                "state describe %s --op write`\n",
                done, o->out, done ? 1e3 * cost_s / (double)done : 0, o->out);
    return ok ? 0 : cli_error(err);
}

/* Says where the numbers are, so that a script that asked for any port finds them. */
static bool probe_open_metrics(struct state_metrics **ret, struct session *s, struct wr_err *err)
{
    const char *text = s->o->prometheus;
    uint64_t port;

    if (!text)
        return true;
    if (!wr_parse_u64(&port, text, err))
        return wr_wrap(err, "--prometheus");
    if (port > 65535)
        return wr_fail(err, WR_INPUT, "--prometheus %s: give a port below 65536, or 0 for any",
                       text);
    if (!state_metrics_open(ret, (unsigned)port, probe_fill_metrics, s, err))
        return false;
    if (s->o->json)
        cli_json_print_line(s->out,
                            json_pack("{s:i}", "prometheus_port", (int)state_metrics_port(*ret)));
    else
        fprintf(s->out, "metrics on http://127.0.0.1:%u/metrics\n", state_metrics_port(*ret));
    fflush(s->out);
    return true;
}

static int probe_watch_main(const struct cli_call *call, struct wr_err *err)
{
    const struct probe_opts *o = call->opts;
    struct state_metrics *metrics = NULL;
    struct state_probe_opts p;
    struct session s;

    if (!probe_read_opts(&p, o, err))
        return cli_error(err);
    bool ok = probe_session_init(&s, call, p.bytes, true, err) &&
              probe_open_metrics(&metrics, &s, err) && probe_run(&s, call, &p, err);

    state_metrics_close(metrics);
    ok = probe_session_end(&s, ok, err);
    return ok ? 0 : cli_error(err);
}

#define TARGETS_ABOUT                                                                              \
    "A TARGET is a directory, DIRECTORY@ostN for one object storage target of Lustre, or with "    \
    "--devices a block device. A probe writes with O_DIRECT, waits for fdatasync and reads back; " \
    "where O_DIRECT is not possible this is said. Its file has no name, is never larger than one " \
    "probe and disappears with the process. Targets are probed side by side, and one that hangs "  \
    "does not stop the others. A file system that is nearly full is left alone."

const struct cli_verb cli_state_probe = {
    .name = "probe",
    .summary = "measure the latency of storage paths again and again",
    .args = "TARGET...",
    .min_args = 1,
    .max_args = -1,
    .about =
        TARGETS_ABOUT "\n\nCtrl-C, SIGTERM or the end of --for end it; what was measured is in "
                      "the table. With --append the next call goes on with the same clock.",
    .examples = "weir state probe /scratch/me --interval 60s -o probes.csv\n"
                "weir state probe /lustre/me@ost3 /lustre/me@ost4 --for 1h --append\n",
    .opts = probe_rows,
    .opts_size = sizeof(struct probe_opts),
    .main = probe_main,
};

const struct cli_verb cli_state_watch = {
    .name = "watch",
    .goes_on = true,
    .summary = "probe storage paths and forecast them live",
    .args = "TARGET...",
    .min_args = 1,
    .max_args = -1,
    .about =
        TARGETS_ABOUT "\n\nEvery probe is one line: latencies, the probabilities of the states "
                      "from fast to slow, and what the next write will most likely stay below.",
    .examples = "weir state watch /scratch/me --interval 10s\n"
                "weir state watch /scratch/me --prometheus 9464\n",
    .opts = watch_rows,
    .opts_size = sizeof(struct probe_opts),
    .main = probe_watch_main,
};
