/* stack_functions.c -- a run in the terms of others: the functions of the published model and
 * its classes of time, and the lines of IOR. */
#include <math.h>

#include "cli/stack.h"

void cli_stack_functions(const struct stack_sim *s, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"side", NULL},  {"function", NULL},   {"class", NULL}, {"class_b", NULL},
        {"calls", NULL}, {"s_per_call", NULL}, {"times", NULL}};
    const struct stack_engine *e = stack_drive_engine(s->drive);
    struct cli_table *t = cli_table_open(out, format, columns, 7);
    double total[2][2][STACK_CLASSES] = {0};

    for (size_t i = 0; i < s->timings->function.n; i++) {
        const struct stack_function *f = &s->timings->function.v[i];
        struct stack_sum sum = stack_engine_function(e, f);
        uint16_t m = f->state == STACK_NONE ? f->machine : s->fs->state.v[f->state].machine;
        int side = s->fs->machine.v[m].side == STACK_SERVER;
        double each = sum.n ? stack_s(sum.exec_ns) / (double)sum.n : 0;

        for (int scheme = 0; scheme < 2; scheme++)
            total[side][scheme][f->cls[scheme]] += each;
        cli_table_text(t, side ? "server" : "client");
        cli_table_text(t, f->name);
        cli_table_text(t, stack_class_names[f->cls[0]]);
        cli_table_text(t, stack_class_names[f->cls[1]]);
        cli_table_int(t, (int64_t)sum.n);
        cli_table_real(t, each);
        cli_table_text(t, cli_stack_measured(s));
    }
    for (int side = 0; side < 2; side++)
        for (int scheme = 0; scheme < 2; scheme++)
            for (int c = 0; c < STACK_CLASSES; c++) {
                cli_table_text(t, side ? "server" : "client");
                cli_table_text(t, scheme ? "TOTAL_B" : "TOTAL_A");
                scheme ? cli_table_null(t) : cli_table_text(t, stack_class_names[c]);
                scheme ? cli_table_text(t, stack_class_names[c]) : cli_table_null(t);
                cli_table_null(t);
                cli_table_real(t, total[side][scheme][c]);
                cli_table_text(t, cli_stack_measured(s));
            }
    cli_table_close(t);
}

/* One function, reading (0), writing (1) or neither (2); machines that it is known by count
 * together. */
static void functions_put_operation(const struct stack_sim *s, struct cli_table *t,
                                    uint16_t function, int io)
{
    static const char *const access[] = {"read", "write", ""};
    const struct stack_counts *c = stack_engine_counts(stack_drive_engine(s->drive));
    const struct stack_machine *of = &s->fs->machine.v[function];
    struct stack_band band = s->timings->band[io][function];
    uint64_t n = 0, ns = 0;

    for (size_t m = 0; m < s->fs->machine.n; m++)
        for (int w = 0; w < 2; w++) {
            const struct stack_sum *sum = &c->total[w][m];
            bool moves = s->fs->machine.v[m].moves;

            if (s->fs->machine.v[m].function_id != function ||
                (io == 2 ? moves : !moves || w != io))
                continue;
            n += sum->n;
            ns += sum->exec_ns;
        }
    if (!n)
        return;
    double each = stack_s(ns) / (double)n;

    cli_table_text(t, of->side == STACK_SERVER ? "server" : "client");
    cli_table_text(t, of->layer);
    cli_table_text(t, of->function);
    cli_table_text(t, access[io]);
    cli_table_int(t, (int64_t)n);
    cli_table_real(t, each);
    cli_table_real(t, stack_band_known(band) ? each * band.low : NAN);
    cli_table_real(t, stack_band_known(band) ? each * band.high : NAN);
    cli_table_text(t, cli_stack_measured(s));
}

void cli_stack_operations(const struct stack_sim *s, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"side", NULL},   {"layer", NULL}, {"operation", NULL}, {"access", NULL}, {"calls", NULL},
        {"mean_s", NULL}, {"low_s", NULL}, {"high_s", NULL},    {"times", NULL}};
    struct cli_table *t = cli_table_open(out, format, columns, 9);

    for (size_t m = 0; m < s->fs->machine.n; m++)
        for (int io = 0; io < 3; io++)
            if (s->fs->machine.v[m].function_id == m)
                functions_put_operation(s, t, (uint16_t)m, io);
    cli_table_close(t);
}

/* bw = bytes / total, total from the first open to the last close, IOPS = transfers / (from the
 * first transfer's begin to the last one's end). */
void cli_stack_ior_lines(const struct stack_sim *s, FILE *out)
{
    struct wr_str options = {0};
    const struct stack_phase *p;
    size_t n = stack_drive_phases(s->drive, &p);

    ior_describe(&s->test, stack_drive_where(s->drive), &options);
    fprintf(
        out,
        "Options: \n%s\nResults: \n\n"
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   "
        "close(s)   total(s)   iter\n"
        "------    ---------  ----       ----------  ---------- ---------  --------   --------   "
        "--------   --------   ----\n",
        wr_str_get(&options));
    wr_str_fini(&options);
    for (size_t i = 0; i < n; i++) {
        if (!p[i].opened)
            continue;
        double total = stack_s(p[i].close_last - p[i].open_first);
        double io = p[i].transfers ? stack_s(p[i].io_last - p[i].io_first) : 0;

        fprintf(
            out,
            "%-10s%-10.2f %-10.2f %-11.6f %-10.0f %-10.0f %-10.6f %-10.6f %-10.6f %-10.6f %-4d\n",
            p[i].writes ? "write" : "read", total > 0 ? (double)p[i].bytes / 1048576 / total : 0,
            io > 0 ? (double)p[i].transfers / io : 0,
            p[i].transfers ? stack_s(p[i].io_ns) / (double)p[i].transfers : 0,
            (double)s->test.block / 1024, (double)s->test.transfer / 1024,
            stack_s(p[i].open_last - p[i].open_first), io,
            stack_s(p[i].close_last - p[i].close_first), total, (int)p[i].rep);
    }
}
