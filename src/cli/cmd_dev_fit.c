/* cmd_dev_fit.c -- `weir dev fit MODEL FILE`: parameters of a device from measurements.
 *
 * store/fit reads the points and fits; the verb prints points and parameters and writes the device
 * file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "cli/dev_load.h"
#include "report/report.h"
#include "store/fit/fit_read.h"

extern const struct cli_verb cli_dev_fit;

struct fit_opts {
    const char *out;
    struct cli_list params, sets;
    uint64_t seed;
    bool force, csv, json;
};

static const struct cli_opt fit_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct fit_opts, out),
     .value = "DEVICE",
     .help = "write the fitted device to this file, for `weir dev DEVICE` and for `device: DEVICE` "
             "of a storage"},
    CLI_FORCE(struct fit_opts, force),
    {.name = "param",
     .former_letter = 'p',
     .type = CLI_LIST,
     .offset = offsetof(struct fit_opts, params),
     .value = "KEY",
     .help = "fit this parameter, as in --param device.seek.track; may be given several times; by "
             "default those of the model that the measurements speak of"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct fit_opts, seed),
     .value = "N",
     .def = "1",
     .help = "draw the random records, and where the platters are, from this seed"},
    CLI_SET_LIKE(struct fit_opts, sets, "file.size=1GB"),
    CLI_CSV(struct fit_opts, csv),
    CLI_JSON(struct fit_opts, json),
    CLI_OPT_END,
};

static bool dev_fit_load_points(const void *ctx, struct conf **ret, struct dev_set *into,
                                const char *const *sets, size_t nsets, struct wr_err *err)
{
    return dev_load_set(ret, into, ctx, sets, nsets, err);
}

static double dev_fit_percent(const struct fit_point *p, const struct fit_model *m)
{
    return 100 * (m->value / p->value - 1);
}

static void dev_fit_print_points(const struct cli_call *call, enum cli_format format,
                                 const fit_points *ps, const struct fit *fit)
{
    static const struct cli_column columns[] = {
        {"workload", NULL},
        {"record_b", "record B"},
        {"depth", NULL},
        {"unit", NULL},
        {"measured", NULL},
        {"model", NULL},
        {"error_percent", "error %"},
        {"mean_us", "mean us"},
        {"model_mean_us", "model"},
        {"p99_us", "p99 us"},
        {"model_p99_us", "model"},
    };
    struct cli_table *t = cli_table_open(call->out, format, columns, 11);

    for (size_t i = 0; i < ps->n; i++) {
        const struct fit_point *p = &ps->v[i];
        const struct fit_model *m = &fit->model[i];

        cli_table_text(t, fit_workload(p));
        cli_table_int(t, (int64_t)p->record_b);
        cli_table_int(t, p->depth);
        cli_table_text(t, fit_what_names[p->what]);
        cli_table_real(t, p->value);
        cli_table_real(t, m->value);
        cli_table_real(t, dev_fit_percent(p, m));
        cli_table_real(t, p->mean_us);
        cli_table_real(t, m->mean_us);
        cli_table_real(t, p->p99_us);
        cli_table_real(t, m->p99_us);
    }
    cli_table_close(t);
}

static void dev_fit_print_params(FILE *out, const struct fit *fit)
{
    fputs("\n", out);
    for (size_t i = 0; i < fit->nparams; i++)
        fprintf(out, "%s: %s%s\n", fit->param[i].key, fit->param[i].text,
                fit->param[i].undetermined
                    ? "   not determined: measure other records, patterns or depths"
                    : "");
    fprintf(out, "root mean square error %.2f %%\n", 100 * fit->rms);
}

static const struct wr_format device_format = {.name = "a fitted device",
                                               .endings = ".yaml .yml",
                                               .begins = "# Fitted to ",
                                               .holds = " with weir dev fit ",
                                               .data = true};

/* The device as `weir dev` and storage configurations read it; how good it is stands above. */
static bool dev_fit_write_device(const struct cli_call *call, const fit_points *ps,
                                 const struct fit *fit, struct wr_err *err)
{
    const struct fit_opts *o = call->opts;
    size_t n = o->sets.n;
    const char **sets = wr_arena_alloc(call->arena, (n + fit->nparams + 1) * sizeof *sets);
    struct dev_set set = {0};
    struct wr_str text = {0};
    struct conf *conf;

    for (size_t i = 0; i < n; i++)
        sets[i] = o->sets.v[i];
    for (size_t i = 0; i < fit->nparams; i++)
        sets[n++] = wr_arena_printf(call->arena, "%s=%s", fit->param[i].key, fit->param[i].text);
    if (!dev_load_set(&conf, &set, call->args[0], sets, n, err))
        return false;
    wr_str_addf(
        &text, "# Fitted to %s with weir dev fit %s: %zu points, root mean square error %.2f %%.\n",
        call->args[1], call->args[0], ps->n, 100 * fit->rms);
    for (size_t i = 0; i < ps->n; i++)
        wr_str_addf(&text, "#   %s, %llu B, depth %u: %.6g %s measured, %.6g here (%+.2f %%)\n",
                    fit_workload(&ps->v[i]), (unsigned long long)ps->v[i].record_b, ps->v[i].depth,
                    ps->v[i].value, fit_what_names[ps->v[i].what], fit->model[i].value,
                    dev_fit_percent(&ps->v[i], &fit->model[i]));
    for (size_t i = 0; i < fit->nparams; i++)
        wr_str_addf(&text, "# %s: %s\n", fit->param[i].key,
                    fit->param[i].undetermined ? "not determined by these points" : "fitted");
    conf_dump(conf, &text, false);
    conf_close(conf);
    bool ok = wr_output_text(o->out, &device_format, o->force ? WR_FORCE : 0, &text, err);

    wr_str_fini(&text);
    return ok;
}

static bool dev_fit_and_print(const struct cli_call *call, enum cli_format format,
                              const fit_points *ps, struct wr_err *err)
{
    const struct fit_opts *o = call->opts;
    struct fit fit;

    if (!fit_device(&fit,
                    &(struct fit_how){.load = dev_fit_load_points,
                                      .ctx = call->args[0],
                                      .sets = o->sets.v,
                                      .nsets = o->sets.n,
                                      .params = o->params.v,
                                      .nparams = o->params.n,
                                      .seed = o->seed},
                    ps->v, ps->n, err))
        return false;
    bool ok = !o->out || dev_fit_write_device(call, ps, &fit, err);

    if (ok)
        dev_fit_print_points(call, format, ps, &fit);
    if (ok && format == CLI_AS_TEXT) {
        dev_fit_print_params(call->out, &fit);
        if (o->out)
            fprintf(call->out, "try it with `weir dev %s`\n", o->out);
    }
    free(fit.model);
    return ok;
}

static int dev_fit_main(const struct cli_call *call, struct wr_err *err)
{
    const struct fit_opts *o = call->opts;
    fit_points points = {0};
    enum cli_format format;

    if (!cli_format_of(o->json, o->csv, &format, err))
        return cli_error(err);
    if (o->out && !wr_output_check(o->out, &device_format, o->force ? WR_FORCE : 0, err))
        return cli_error(err);
    bool ok =
        fit_read(&points, call->args[1], err) && dev_fit_and_print(call, format, &points, err);

    wr_vec_fini(&points);
    return ok ? 0 : cli_error(err);
}

static void dev_fit_complete(char **args, int at, FILE *out)
{
    (void)args;
    if (!at)
        dev_load_names(out);
}

const struct cli_verb cli_dev_fit = {
    .name = "fit",
    .summary = "find a device's parameters from measurements of one",
    .args = "DEVICE FILE",
    .min_args = 2,
    .max_args = 2,
    .input = 2,
    .about =
        "Starts from DEVICE (as for `weir dev`: a model such as table, nvme, ssd or hdd, a device "
        "that weir brings along, or a file), and changes its parameters until it gives what "
        "was measured: the sum of squared logarithms of model / measured is made least.\n\n"
        "FILE is the output of fio --output-format=json, one point of each job and direction; or "
        "CSV with the columns op (read, write), pattern (sequential, random), record (4 KiB), and "
        "one or more of iops, mb_per_s (10^6 bytes per second), latency_us (mean); depth (requests "
        "under way, 1) and p99_us may be there. A row is one point: its IOPS if given, else its "
        "MB/s, else its latency. Means and 99th percentiles are compared, not fitted.\n\n"
        "Fewer points than parameters are refused. A parameter on which the points do not depend, "
        "or not otherwise than on those before it, is said to be not determined.\n\n"
        "Set file.size (and file.extents) to those of the file that was measured.",
    .examples = "weir dev fit ssd examples/devices/d3-s4510.csv -o mine.yaml\n"
                "fio --output-format=json --output=fio.json job.fio\n"
                "weir dev fit nvme fio.json --set file.size=1GiB -o mine.yaml\n",
    .opts = fit_rows,
    .opts_size = sizeof(struct fit_opts),
    .main = dev_fit_main,
    .complete = dev_fit_complete,
};
