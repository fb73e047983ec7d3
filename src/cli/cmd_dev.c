/* cmd_dev.c -- `weir dev NAME|FILE`: a storage device alone under four workloads (store/dev). */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/note.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "cli/dev_load.h"
#include "store/dev/dev_drive.h"

struct dev_opts {
    struct cli_list sets;
    uint64_t seed;
    uint32_t depth;
    bool csv, json;
};

static const struct cli_opt dev_rows[] = {
    {.name = "depth",
     .type = CLI_U32,
     .offset = offsetof(struct dev_opts, depth),
     .value = "N",
     .def = "1",
     .help = "keep N requests under way"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct dev_opts, seed),
     .value = "N",
     .def = "1",
     .help = "draw the random records, and where the platters are, from this seed"},
    CLI_SET_LIKE(struct dev_opts, sets, "file.size=1GB"),
    CLI_CSV(struct dev_opts, csv),
    CLI_JSON(struct dev_opts, json),
    CLI_OPT_END,
};

static void cmd_dev_print(struct cli_table *t, const struct dev_load *w, const struct dev_result *r)
{
    double s = (double)r->elapsed_ps * 1e-12;
    const struct wr_hist *h = &r->latency_ps;

    cli_table_text(t, w->name);
    cli_table_int(t, (int64_t)w->record_b);
    cli_table_int(t, (int64_t)r->requests);
    cli_table_real(t, (double)r->bytes / s * 1e-6);
    cli_table_real(t, (double)r->requests / s);
    cli_table_real(t, wr_hist_mean(h) * 1e-6);
    cli_table_real(t, wr_hist_quantile(h, 0.5) * 1e-6);
    cli_table_real(t, wr_hist_quantile(h, 0.95) * 1e-6);
    cli_table_real(t, wr_hist_quantile(h, 0.99) * 1e-6);
    cli_table_real(t, (double)h->max * 1e-6);
}

static bool cmd_dev_run(const struct cli_call *call, const struct conf *conf,
                        const struct dev_set *set, struct wr_err *err)
{
    static const struct cli_column columns[] = {
        {"workload", NULL},   {"record_b", "record B"}, {"requests", NULL},   {"mb_per_s", "MB/s"},
        {"iops", "IOPS"},     {"mean_us", "mean us"},   {"p50_us", "p50 us"}, {"p95_us", "p95 us"},
        {"p99_us", "p99 us"}, {"max_us", "max us"},
    };
    const struct dev_opts *o = call->opts;
    struct dev_result *r = wr_arena_alloc(call->arena, DEV_LOADS * sizeof *r);
    enum cli_format format;
    struct wr_str assumed = {0};
    struct wr_err inner;

    if (!cli_format_of(o->json, o->csv, &format, err))
        return false;
    if (!o->depth || o->depth > DEV_MOST_DEPTH)
        return wr_fail(err, WR_INPUT, "--depth %u: give 1 to %d", o->depth, DEV_MOST_DEPTH);
    if (!dev_file_check(&set->file, &inner))
        return conf_fail(conf, &set->file.extents, err, "%s", inner.text);
    for (int i = 0; i < DEV_LOADS; i++) {
        struct dev d;

        if (!dev_open(&d, &set->device, o->seed, 0, &inner))
            return conf_fail(conf, &set->device, err, "%s", inner.text);
        dev_drive(&d, &set->file, &dev_loads[i], o->depth, &r[i]);
        assumed.n ? (void)0 : dev_assumption(&d, &assumed);
        dev_close(&d);
    }
    if (format == CLI_AS_TEXT && set->title && *set->title)
        fprintf(call->out, "%s\n\n", set->title);
    struct cli_table *t = cli_table_open(call->out, format, columns, 10);

    for (int i = 0; i < DEV_LOADS; i++)
        cmd_dev_print(t, &dev_loads[i], &r[i]);
    cli_table_close(t);
    if (assumed.n)
        wr_note("times are assumed: %s", assumed.s);
    wr_str_fini(&assumed);
    return true;
}

static int cmd_dev_main(const struct cli_call *call, struct wr_err *err)
{
    const struct dev_opts *o = call->opts;
    struct dev_set set = {0};
    struct conf *conf;

    if (!dev_load_set(&conf, &set, call->args[0], o->sets.v, o->sets.n, err))
        return cli_error(err);
    bool ok = cmd_dev_run(call, conf, &set, err);

    conf_close(conf);
    return ok ? 0 : cli_error(err);
}

static void cmd_dev_complete(char **args, int at, FILE *out)
{
    (void)args;
    if (!at)
        dev_load_names(out);
}

extern const struct cli_verb cli_dev_fit;

static const struct cli_verb *const subs[] = {&cli_dev_fit, NULL};

const struct cli_verb cli_cmd_dev = {
    .name = "dev",
    .subs = subs,
    .summary = "run a storage device's model alone: IOPS, MB/s, latencies",
    .args = "NAME|FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Reads and writes a file on the device, in sequence with records of 512 KiB and at random "
        "with records of 4 KiB, each time from a fresh device and until what was written is on "
        "the medium. MB/s are 10^6 bytes per second; latencies are microseconds from a request's "
        "arrival until it is done.\n\n"
        "NAME is a device whose parameters weir brings along (st2000nx0253, d3-s4510), or a model "
        "with its default parameters (`weir list devices`). FILE is a configuration with `device:` "
        "and `file:`, as those in examples/devices.",
    .examples = "weir dev st2000nx0253\n"
                "weir dev d3-s4510 --depth 32 --json\n"
                "weir dev nvme --set device.depth=16\n",
    .opts = dev_rows,
    .opts_size = sizeof(struct dev_opts),
    .main = cmd_dev_main,
    .complete = cmd_dev_complete,
};
