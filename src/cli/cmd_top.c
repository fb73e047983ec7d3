/* cmd_top.c -- `weir top`: I/O of profiled jobs, live, by process and mount.
 *
 * Reads the profiles' memory through interference's live reader; cli_follow() also serves
 * `weir interfere`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "cli/top.h"
#include "interference/live/live.h"

static const double mib = 1 << 20;

struct top_opts {
    const char *interval;
    uint32_t count;
    bool json;
};

static const struct cli_opt top_rows[] = {
    {.name = "interval",
     .letter = 'i',
     .type = CLI_TEXT,
     .offset = offsetof(struct top_opts, interval),
     .value = "TIME",
     .def = "2s",
     .help = "how long between two looks"},
    {.name = "count",
     .letter = 'n',
     .type = CLI_U32,
     .offset = offsetof(struct top_opts, count),
     .value = "N",
     .def = "0",
     .help = "end after N tables; 0: at Ctrl-C"},
    CLI_JSON(struct top_opts, json),
    CLI_OPT_END,
};

static const struct cli_column columns[] = {
    {"job", NULL},
    {"host", NULL},
    {"mount", NULL},
    {"fs", NULL},
    {"processes", NULL},
    {"read_mib_s", "read, MiB/s"},
    {"write_mib_s", "write, MiB/s"},
    {"share_percent", "share, %"},
    {"reads_per_s", "reads/s"},
    {"writes_per_s", "writes/s"},
    {"syncs_per_s", "syncs/s"},
    {"metas_per_s", "opens, meta/s"},
    {"in_flight", "in flight"},
    {"read_mib", "read, MiB"},
    {"written_mib", "written, MiB"},
};

static void top_print_rows(FILE *out, bool json, const struct live_row *rows, size_t n)
{
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns,
                                         sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < n; i++) {
        const struct live_row *r = &rows[i];

        cli_table_text(t, r->job);
        cli_table_text(t, r->host);
        cli_table_text(t, r->mount);
        cli_table_text(t, r->fs);
        cli_table_int(t, r->processes);
        cli_table_real(t, cli_round(r->rate[PROF_W_read_bytes] / mib, 10));
        cli_table_real(t, cli_round(r->rate[PROF_W_write_bytes] / mib, 10));
        cli_table_real(t, cli_round(100 * r->share, 10));
        cli_table_real(t, cli_round(r->rate[PROF_W_read_calls], 10));
        cli_table_real(t, cli_round(r->rate[PROF_W_write_calls], 10));
        cli_table_real(t, cli_round(r->rate[PROF_W_sync_calls], 10));
        cli_table_real(t, cli_round(r->rate[PROF_W_open_calls] + r->rate[PROF_W_meta_calls], 10));
        cli_table_int(t, r->calls_in_flight);
        cli_table_real(t, cli_round(r->total[PROF_W_read_bytes] / mib, 10));
        cli_table_real(t, cli_round(r->total[PROF_W_write_bytes] / mib, 10));
    }
    cli_table_close(t);
}

static void top_print_once(FILE *out, const struct live *l, bool json, const struct live_row *rows,
                           size_t n)
{
    char utc[WR_CLOCK_TEXT];

    if (json) {
        top_print_rows(out, true, rows, n);
        fflush(out);
        return;
    }
    wr_clock_utc(utc);
    if (isatty(fileno(out)))
        fputs("\033[H\033[2J", out);
    fprintf(out, "%s  %zu rows of jobs and mounts\n\n", utc, n);
    if (n)
        top_print_rows(out, false, rows, n);
    else
        fputs("no job is being profiled here; start one with `weir profile -- COMMAND`\n", out);
    if (live_unread(l))
        fprintf(out,
                "\n%zu directories or profiles could not be read: they are others' or damaged\n",
                live_unread(l));
    fflush(out);
}

static int64_t top_wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeps in short intervals, so that Ctrl-C takes effect at once. */
static bool top_wait_for(double s)
{
    uint64_t until = wr_clock_ns() + (uint64_t)(s * 1e9);

    while (wr_clock_ns() < until && !wr_interrupted()) {
        uint64_t left = until - wr_clock_ns();

        nanosleep(&(struct timespec){.tv_nsec = left < 50000000 ? (long)left : 50000000}, NULL);
    }
    return !wr_interrupted();
}

bool cli_follow(const struct cli_call *call, const struct cli_follow *f, struct wr_err *err)
{
    struct live *l = live_open((const char *const *)call->args, (size_t)call->nargs);
    const struct live_row *rows;
    size_t n;
    bool ok = live_look(l, top_wall_ns(), &rows, &n, err);

    wr_interrupt_catch();
    for (uint32_t i = 0; ok && (!f->count || i < f->count) && top_wait_for(f->interval_s); i++) {
        ok = live_look(l, top_wall_ns(), &rows, &n, err);
        if (ok)
            top_print_once(call->out, l, f->json, rows, n);
        /* The reader has closed the output. */
        if (ferror(call->out))
            break;
    }
    wr_interrupt_release();
    live_close(l);
    return ok;
}

bool cli_follow_interval(double *ret, const char *text, struct wr_err *err)
{
    double ps;

    if (!wr_parse_time(&ps, text, err))
        return wr_wrap(err, "--interval");
    if (!(ps >= 1e10 && ps <= 3600e12))
        return wr_fail(err, WR_INPUT, "--interval %s: give a time from 10 ms to 1 h",
                       wr_text_clip(text).s);
    *ret = ps / 1e12;
    return true;
}

static int top_main(const struct cli_call *call, struct wr_err *err)
{
    const struct top_opts *o = call->opts;
    struct cli_follow f = {.count = o->count, .json = o->json};

    return cli_follow_interval(&f.interval_s, o->interval, err) && cli_follow(call, &f, err)
               ? 0
               : cli_error(err);
}

const struct cli_verb cli_cmd_top = {
    .name = "top",
    .goes_on = true,
    .summary = "show live the I/O of the jobs being profiled",
    .args = "[DIRECTORY...]",
    .max_args = -1,
    .about =
        "Looks at the counters of running jobs that `weir profile` started, or that have "
        "libweir-prof.so preloaded, and shows for each job and mount what it reads and "
        "writes, its share of what all jobs move there, calls, and calls under way. Looking "
        "costs the jobs nothing. Without DIRECTORY your own jobs on this machine are shown, and "
        "to the superuser those of all users; give the directories of `weir profile --dir` "
        "otherwise.",
    .examples = "weir top\n"
                "weir top /scratch/me/profiles --interval 10s\n"
                "weir top --count 1 --json\n",
    .opts = top_rows,
    .opts_size = sizeof(struct top_opts),
    .main = top_main,
};
