/* stack_tables.c -- a simulated run in tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack.h"
#include "stack/stack_record.h"

/* As IOR prints it: its columns and what they mean. */
void cli_stack_ior(const struct stack_sim *s, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"access", NULL},
        {"bw_MiBps", "bw(MiB/s)"},
        {"iops", "IOPS"},
        {"latency_s", "Latency(s)"},
        {"block_KiB", "block(KiB)"},
        {"xfer_KiB", "xfer(KiB)"},
        {"open_s", "open(s)"},
        {"wrrd_s", "wr/rd(s)"},
        {"close_s", "close(s)"},
        {"total_s", "total(s)"},
        {"iter", NULL},
        {"low_s", "low(s)"},
        {"high_s", "high(s)"},
        {"times", NULL},
    };
    const struct stack_phase *p;
    size_t n = stack_drive_phases(s->drive, &p);
    struct stack_band band = s->timings->io;
    struct cli_table *t = cli_table_open(out, format, columns, 14);

    for (size_t i = 0; i < n; i++) {
        if (!p[i].opened)
            continue;
        double total = stack_s(p[i].close_last - p[i].open_first);
        double io = p[i].transfers ? stack_s(p[i].io_last - p[i].io_first) : 0;

        cli_table_text(t, p[i].writes ? "write" : "read");
        cli_table_real(t, total > 0 ? (double)p[i].bytes / 1048576 / total : NAN);
        cli_table_real(t, io > 0 ? (double)p[i].transfers / io : NAN);
        cli_table_real(t, p[i].transfers ? stack_s(p[i].io_ns) / (double)p[i].transfers : NAN);
        cli_table_real(t, s->has_test ? (double)s->test.block / 1024 : NAN);
        cli_table_real(t, s->has_test ? (double)s->test.transfer / 1024 : NAN);
        cli_table_real(t, stack_s(p[i].open_last - p[i].open_first));
        cli_table_real(t, io);
        cli_table_real(t, stack_s(p[i].close_last - p[i].close_first));
        cli_table_real(t, total);
        cli_table_int(t, p[i].rep);
        cli_table_real(t, stack_band_known(band) ? io * band.low : NAN);
        cli_table_real(t, stack_band_known(band) ? io * band.high : NAN);
        cli_table_text(t, cli_stack_measured(s));
    }
    cli_table_close(t);
}

struct group {
    const char *side, *name;
    uint64_t n, exec_ns, wait_ns, between_ns;
    uint32_t order;
    struct cli_stack_known known;
};

struct groups {
    struct group *v;
    size_t n;
};

static struct group *stack_table_group(struct groups *g, const char *side, const char *name,
                                       uint32_t order)
{
    for (size_t i = 0; i < g->n; i++)
        if (!strcmp(g->v[i].side, side) && !strcmp(g->v[i].name, name))
            return &g->v[i];
    g->v[g->n] = (struct group){.side = side, .name = name, .order = order};
    return &g->v[g->n++];
}

static int stack_table_by_order(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (strcmp(x->side, y->side))
        return strcmp(x->side, y->side);
    return x->order < y->order ? -1 : x->order > y->order;
}

static const char *stack_table_key_of(const struct stack_fs *fs, uint16_t state, enum stack_by by,
                                      uint32_t *order, char *text)
{
    const struct stack_state *s = &fs->state.v[state];
    const struct stack_machine *m = &fs->machine.v[s->machine];

    *order = by == STACK_BY_STATE ? state : by == STACK_BY_CLASS ? s->cls : m->layer_id;
    switch (by) {
    case STACK_BY_LAYER:
        return m->layer;
    case STACK_BY_CLASS:
        return stack_class_names[s->cls];
    case STACK_BY_AGENT:
        return m->agent;
    default:
        snprintf(text, sizeof(struct stack_text), "%s", stack_state_text(fs, state).s);
        return text;
    }
}

/* States of forks and calls that wait for their children count what they do themselves. */
static void stack_table_collect(const struct stack_sim *s, enum stack_by by, struct groups *g,
                                char *texts)
{
    const struct stack_counts *k = stack_engine_counts(stack_drive_engine(s->drive));

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < s->fs->state.n; i++) {
            const struct stack_sum *sum = &k->state[side][i];
            uint32_t order;

            if (!sum->n)
                continue;
            const char *name = stack_table_key_of(s->fs, (uint16_t)i, by, &order,
                                                  texts + ((size_t)side * s->fs->state.n + i) *
                                                              sizeof(struct stack_text));
            struct group *to = stack_table_group(g, side ? "server" : "client", name, order);

            cli_stack_know(&to->known, s, (uint16_t)i, sum);
            to->n += sum->n;
            to->exec_ns += sum->exec_ns;
            /* of a class, the waiting above is that of the layers below already */
            if (by != STACK_BY_CLASS ||
                s->fs->machine.v[s->fs->state.v[i].machine].kind != STACK_LAYER)
                to->wait_ns += sum->wait_ns;
            to->between_ns += sum->between_ns;
        }
    qsort(g->v, g->n, sizeof *g->v, stack_table_by_order);
}

void cli_stack_by(const struct stack_sim *s, enum stack_by by, FILE *out, enum cli_format format)
{
    static const char *const heads[] = {"layer", "class", "agent", "state"};
    const struct cli_column columns[] = {
        {"side", NULL},   {heads[by], NULL},   {"visits", NULL},       {"work_s", NULL},
        {"wait_s", NULL}, {"between_s", NULL}, {"mean_work_us", NULL}, {"times", NULL}};
    size_t most = 2 * s->fs->state.n;
    struct groups g = {.v = wr_zalloc(most, sizeof *g.v)};
    char *texts = wr_zalloc(most, sizeof(struct stack_text));
    struct cli_table *t = cli_table_open(out, format, columns, 8);

    stack_table_collect(s, by, &g, texts);
    for (size_t i = 0; i < g.n; i++) {
        cli_table_text(t, g.v[i].side);
        cli_table_text(t, g.v[i].name);
        cli_table_int(t, (int64_t)g.v[i].n);
        cli_table_real(t, stack_s(g.v[i].exec_ns));
        cli_table_real(t, stack_s(g.v[i].wait_ns));
        cli_table_real(t, stack_s(g.v[i].between_ns));
        cli_table_real(t, (double)g.v[i].exec_ns * 1e-3 / (double)g.v[i].n);
        cli_table_text(t, cli_stack_known(s, &g.v[i].known));
    }
    cli_table_close(t);
    free(texts);
    free(g.v);
}

void cli_stack_messages(const struct stack_sim *s, FILE *out, enum cli_format format)
{
    static const struct cli_column columns[] = {{"message", NULL},
                                                {"requests", NULL},
                                                {"request_b", NULL},
                                                {"answers", NULL},
                                                {"answer_b", NULL}};
    const struct stack_counts *k = stack_engine_counts(stack_drive_engine(s->drive));
    struct cli_table *t = cli_table_open(out, format, columns, 5);

    for (size_t i = 0; i < s->fs->message.n; i++) {
        const struct stack_traffic *m = &k->message[i];

        if (!m->requests)
            continue;
        cli_table_text(t, s->fs->message.v[i].name);
        cli_table_int(t, (int64_t)m->requests);
        cli_table_int(t, (int64_t)m->request_b);
        cli_table_int(t, (int64_t)m->answers);
        cli_table_int(t, (int64_t)m->answer_b);
    }
    struct stack_collected c = stack_drive_collected(s->drive);

    if (c.calls) {
        cli_table_text(t, "exchange between tasks");
        cli_table_int(t, (int64_t)c.messages);
        cli_table_int(t, (int64_t)c.bytes);
        cli_table_int(t, 0);
        cli_table_int(t, 0);
    }
    cli_table_text(t, "data");
    cli_table_int(t, (int64_t)k->data_messages);
    cli_table_int(t, (int64_t)k->data_b);
    cli_table_int(t, 0);
    cli_table_int(t, 0);
    cli_table_close(t);
}

void cli_stack_bottleneck(const struct stack_sim *s, struct wr_str *out)
{
    wr_str_add(out, "bottleneck: ");
    stack_bottleneck(s->fs, stack_engine_counts(stack_drive_engine(s->drive)), out);
}

void cli_stack_collected(const struct stack_sim *s, struct wr_str *out)
{
    struct stack_collected c = stack_drive_collected(s->drive);

    if (!c.calls)
        return;
    wr_str_addf(out, "collective: %" PRIu64 " calls", c.calls);
    if (!c.two_phase)
        wr_str_add(out, ", the tasks' parts in their order: each wrote and read its own");
    else
        wr_str_addf(out,
                    ", %" PRIu64 " of them gathered in %" PRIu64 " rounds: %" PRIu64
                    " messages, %" PRIu64 " bytes and %.6f s between tasks, %" PRIu64
                    " bytes of holes read",
                    c.two_phase, c.rounds, c.messages, c.bytes, stack_s(c.ns), c.holes_b);
    wr_str_add(out, "\n");
}

void cli_stack_warn(const struct stack_sim *s, struct wr_str *out)
{
    const struct stack_timings *l = s->timings;
    if (s->has_test)
        wr_str_add(out, wr_str_get(&s->test.notes));
    if (l->missing.n && !l->function.n)
        wr_str_addf(out,
                    "%zu states have no timing model and take no time, %s the first; add them to "
                    "the timing models\n",
                    l->missing.n, stack_state_text(s->fs, l->missing.v[0]).s);
    if (s->setup.beyond)
        wr_str_addf(out, "%s; calibrate with such a test to know\n", s->label.s);
    if (!stack_timings_measured(l))
        wr_str_addf(out,
                    "the times of %s are assumed (%s): compare with them, and calibrate to predict "
                    "a place\n",
                    s->fs->name, l->source);
}
