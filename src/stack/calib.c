/* calib.c -- from samples to the text of a file of laws. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib_priv.h"
#include "stack/replay.h"

/* --- all states --------------------------------------------------------------------- */

static int by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

static double median(float *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_float);
    return n ? (v[(n - 1) / 2] + v[n / 2]) / 2.0 : NAN;
}

/* Whether a sample tells something of reads (0), writes (1), or either (2). */
static bool tells_of(const struct stack_sample *s, int io)
{
    return io == 2 || s->io == 2 || s->io == io;
}

/* The law of one state from its samples; false: it has none. */
static bool fit_state(const struct stack_log *log, uint16_t state, int io, bool wait,
                      struct stack_fit *ret)
{
    /* What is done to a data file may depend on how long it is; all else is the same for all. Who
     * waits for several data files waits for the slowest: their mean shows it, the median not. */
    bool data = wait && io == 1 && log->fs->state.v[state].has_data_code;
    struct stack_point *p = NULL;
    size_t n = 0, cap = 0;
    struct wr_err err = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        float y = wait ? s->wait_us : s->exec_us;

        if (s->state != state || y < 0 || !tells_of(s, io))
            continue;
        wr_vec_grow((void **)&p, &cap, n + 1, sizeof *p);
        p[n++] = (struct stack_point){(double)s->bytes, fmax(y, 0.5)}; /* the log counts us */
    }
    if (data)
        n = stack_means(p, n);
    bool ok = n && stack_fit(ret, p, n, data ? STACK_LINE : STACK_CONSTANT, &err);

    free(p);
    return ok;
}

static void put_law(struct wr_str *out, const char *name, const char *of,
                    const struct stack_fit *exec, const struct stack_fit *wait, bool assumed,
                    const char *remark)
{
    wr_str_addf(out, "  %s%s: {exec: %.4g us", name, of, exec->constant);
    if (exec->slope > 0)
        wr_str_addf(out, ", exec_per_byte: %.6g", exec->slope * 1e6);
    if (wait)
        wr_str_addf(out, ", wait: %.4g us", wait->constant);
    if (wait && wait->slope > 0)
        wr_str_addf(out, ", wait_per_byte: %.6g", wait->slope * 1e6);
    wr_str_addf(out, "%s}%s\n", assumed ? ", assumed: true" : "", remark);
}

static struct stack_fit fit_of(const struct stack_law *l)
{
    return (struct stack_fit){.constant = l->constant_ns * 1e-3, .slope = l->per_byte_ns * 1e-3};
}

static bool alike(const struct stack_fit *a, const struct stack_fit *b)
{
    return !(a->constant < b->constant) && !(b->constant < a->constant) && !(a->slope < b->slope) &&
           !(b->slope < a->slope);
}

/* Which of two laws: of reads or writes, or of metadata or data files. 2: they are one. */
static const char *way_name(const struct stack_state *s, int io)
{
    static const char *const of[] = {"/read", "/write", "/meta", "/data"};

    return io == 2 ? "" : of[2 * s->has_data_code + io];
}

/* A state that is not in the logs keeps the law it had, for reading and for writing. */
static void put_base(struct wr_str *out, const struct stack_fs *fs, const struct stack_laws *base,
                     uint16_t at)
{
    uint8_t does = fs->state.v[at].does;
    bool rests = does == STACK_WAIT || does == STACK_SLEEP;
    struct stack_fit exec[2], wait[2];

    for (int w = 0; w < 2; w++) {
        exec[w] = fit_of(&base->exec[w][at]);
        wait[w] = fit_of(&base->wait[w][at]);
    }
    bool same = alike(&exec[0], &exec[1]) && alike(&wait[0], &wait[1]);

    for (int w = 0; w < (same ? 1 : 2); w++)
        put_law(out, stack_state_text(fs, at).s, way_name(&fs->state.v[at], same ? 2 : w), &exec[w],
                rests ? &wait[w] : NULL, !stack_state_measured(base, at), " # not in these logs");
}

/* What moves data takes another time when it reads than when it writes. */
static void put_state(struct wr_str *out, const struct stack_log *log,
                      const struct stack_laws *base, uint16_t at)
{
    const struct stack_fs *fs = log->fs;
    const struct stack_state *s = &fs->state.v[at];
    struct stack_fit exec[3] = {{0}}, wait[3] = {{0}};

    if (s->does == STACK_JUMP_TO || s->does == STACK_FLOW)
        return;
    if (!fit_state(log, at, 2, false, &exec[2])) {
        if (base && base->exec[0][at].given && !base->exec[0][at].poly)
            put_base(out, fs, base, at);
        return;
    }
    if (s->does == STACK_WAIT)
        fit_state(log, at, 2, true, &wait[2]);
    for (int io = 0; io < 2; io++) {
        exec[io] = exec[2]; /* when only the other way was seen */
        wait[io] = wait[2];
        if (!s->has_data_code)
            fit_state(log, at, io, false, &exec[io]);
        if (s->does == STACK_WAIT)
            fit_state(log, at, io, true, &wait[io]);
    }
    bool same = (!fs->machine.v[s->machine].moves && !s->has_data_code) ||
                (alike(&exec[0], &exec[1]) && alike(&wait[0], &wait[1]));

    for (int io = same ? 2 : 0; io < (same ? 3 : 2); io++)
        put_law(out, stack_state_text(fs, at).s, way_name(s, io), &exec[io],
                s->does == STACK_WAIT ? &wait[io] : NULL, false, "");
}

struct spread {
    double from, to;
    double per_byte; /* the smaller of the two: what the network can do */
};

/* What is being calibrated. */
struct draft {
    const struct stack_log *log;
    const struct stack_laws *base;
    const char *title;
    bool shared;
    double *stretch;      /* [machines] */
    const uint64_t *size; /* [sizes] */
    size_t sizes;
    const struct calib_bands *bands; /* or NULL */
    struct wr_str states;            /* their laws, which no simulation changes */
    double *beside[2]; /* [reads, writes][sizes] seconds beyond the law of the data, or less */
    double *asked[2];  /* likewise: seconds until the first answer to a request for data; NaN: ? */
    double queue_s[2]; /* [reads, writes] what a message waits behind data */
};

static double beside_at(const struct draft *d, bool writes, uint64_t bytes)
{
    for (size_t i = 0; i < d->sizes; i++)
        if (d->size[i] == bytes)
            return d->beside[writes][i];
    return 0;
}

/* The whole read or write but what else is `beside` it is the flow's law. */
static bool put_flow(struct wr_str *out, const struct draft *d, uint16_t at, bool writes,
                     struct spread *spread, struct wr_err *err)
{
    const struct stack_log *log = d->log;
    struct stack_point *p = wr_zalloc(log->io.n + 1, sizeof *p);
    size_t n = 0;
    struct stack_fit f, exec = {0};

    for (size_t i = 0; i < log->io.n; i++) {
        const struct stack_io_sample *s = &log->io.v[i];
        double y = s->seconds - beside_at(d, writes, s->bytes);

        if (s->writes == writes)
            p[n++] = (struct stack_point){stack_moved(s), fmax(y, 0.1 * s->seconds)};
    }
    bool ok = stack_fit(&f, p, n, STACK_KNEE, err);

    n = stack_medians(p, n);
    if (!ok || n < 2) {
        free(p);
        return wr_fail(
            err, WR_INPUT,
            "%s of %zu sizes: a law of bytes has two parameters; add runs of other sizes",
            writes ? "writes" : "reads", n);
    }
    fit_state(log, at, writes, false, &exec);
    wr_str_addf(out, "  %s/%s: {exec: %.4g us, wait: %.6g us, wait_per_byte: %.8g",
                stack_state_text(log->fs, at).s, writes ? "write" : "read", exec.constant,
                f.constant * 1e6, f.slope * 1e12);
    if (f.shape == STACK_KNEE)
        wr_str_addf(out, ", wait_knee: %.0f, wait_per_byte_after: %.8g", f.knee, f.after * 1e12);
    wr_str_addf(out, "} # %s", stack_shape_names[f.shape]);
    if (!isnan(f.loso))
        wr_str_addf(out, ", a size left out is told within %.1f %%", 100 * (exp(f.loso) - 1));
    wr_str_add(out, "\n");
    if (f.slope > 0 && (!(spread->per_byte > 0) || f.slope < spread->per_byte))
        spread->per_byte = f.slope;
    spread->from = spread->from > 0 && spread->from < p[0].x ? spread->from : p[0].x;
    spread->to = spread->to > p[n - 1].x ? spread->to : p[n - 1].x;
    free(p);
    return true;
}

static double median_of(float *v, size_t n, double otherwise)
{
    return n ? median(v, n) : otherwise;
}

/* Half of what one waits for a short answer beyond what the server takes for it. Servers that ask
 * each other tell it best: processes of an application are often kept from running. */
static double latency_us(const struct stack_log *log, const struct stack_laws *base, bool servers)
{
    const struct stack_fs *fs = log->fs;
    WR_VEC(float) wait = {0};
    WR_VEC(float) serve = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (fs->state.v[s->state].does == STACK_SEND && s->server == servers && s->wait_us >= 0 &&
            !fs->machine.v[fs->state.v[s->state].machine].moves)
            wr_vec_push(&wait, s->wait_us);
    }
    for (size_t i = 0; i < log->op.n; i++)
        if (fs->machine.v[log->op.v[i].function].side == STACK_SERVER && log->op.v[i].io == 2)
            wr_vec_push(&serve, (float)(log->op.v[i].seconds * 1e6));
    double us = (median(wait.v, wait.n) - median(serve.v, serve.n)) / 2;

    wr_vec_fini(&wait);
    wr_vec_fini(&serve);
    if (servers && !(us > 0))
        return latency_us(log, base, false);
    return us > 0 ? us : isnan(us) && base ? base->latency_ns * 1e-3 : 1;
}

static double between_us(const struct stack_log *log, const struct stack_laws *base, bool server)
{
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->state.n; i++)
        if (log->state.v[i].server == server && log->state.v[i].between_us >= 0)
            wr_vec_push(&v, log->state.v[i].between_us);
    double us = median_of(v.v, v.n, base ? base->between_ns[server] * 1e-3 : 0);

    wr_vec_fini(&v);
    return us;
}

/* --- what sockets keep ---------------------------------------------------------------- */

/* The ends of all flows of a run. Who has which is not asked: means need no pairs. */
struct flow_ends {
    uint64_t bytes;
    uint16_t run;
    size_t servers, clients;            /* how many were seen */
    double begin_s, server_s, client_s; /* sums */
    double moved_b;
};

struct ends {
    WR_VEC(struct flow_ends) of;
};

static struct flow_ends *ends_of(struct ends *v, uint64_t bytes, uint16_t run)
{
    for (size_t i = v->of.n; i-- > 0;)
        if (v->of.v[i].bytes == bytes && v->of.v[i].run == run)
            return &v->of.v[i];
    wr_vec_push(&v->of, (struct flow_ends){.bytes = bytes, .run = run});
    return &v->of.v[v->of.n - 1];
}

static void gather_ends(struct ends *ret, const struct stack_log *log, bool writes)
{
    enum { MOVED = 2 };

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        const struct stack_state *k = &log->fs->state.v[s->state];

        if (s->io != writes)
            continue;
        if (k->does == STACK_FLOW && s->took_us > 0) {
            struct flow_ends *f = ends_of(ret, s->bytes, s->run);

            f->servers++;
            f->begin_s += s->t_s;
            f->server_s += s->t_s + s->took_us * 1e-6;
        } else if (k->receives_data && s->phase == MOVED) {
            struct flow_ends *f = ends_of(ret, s->bytes, s->run);

            f->clients++;
            f->client_s += s->t_s;
        }
    }
    for (size_t i = 0; i < log->io.n; i++)
        if (log->io.v[i].writes == writes)
            ends_of(ret, log->io.v[i].bytes, log->io.v[i].run)->moved_b +=
                stack_moved(&log->io.v[i]);
}

/* The part that was on its way when who sends was done: the part of the time that it still took.
 * NaN: the run does not tell. */
static double under_way(const struct flow_ends *f, bool writes)
{
    double sent = writes ? f->client_s : f->server_s, had = writes ? f->server_s : f->client_s;
    double part = (had - sent) / (had - f->begin_s);

    return f->servers && f->servers == f->clients && f->moved_b > 0 && part < 1 ? fmax(part, 0)
                                                                                : NAN;
}

/* What sockets may have of a flow. Of runs whose flows were mostly under way when who sends was
 * done, what part they may have; of the others, how many bytes, in the middle of the sizes. */
struct buffers {
    double bytes[2], part;
};

static struct buffers buffers_of(const struct stack_log *log)
{
    static const double mostly = 0.4;
    struct buffers ret = {.part = 0.5};
    WR_VEC(float) parts = {0};

    for (int w = 0; w < 2; w++) {
        struct ends ends = {0};
        WR_VEC(struct stack_point) p = {0};
        WR_VEC(float) v = {0};
        double least = 0;

        gather_ends(&ends, log, w);
        for (size_t i = 0; i < ends.of.n; i++) {
            const struct flow_ends *f = &ends.of.v[i];
            double part = under_way(f, w), b = part * f->moved_b / (double)f->servers;

            if (part < mostly) {
                wr_vec_push(&p, (struct stack_point){(double)f->bytes, b});
            } else if (part < 1) {
                wr_vec_push(&parts, (float)part);
                least = fmax(least, b);
            }
        }
        p.n = stack_medians(p.v, p.n);
        for (size_t i = 0; i < p.n; i++)
            wr_vec_push(&v, (float)p.v[i].y);
        ret.bytes[w] = fmin(median_of(v.v, v.n, least), 1e15);
        wr_vec_fini(&v);
        wr_vec_fini(&p);
        wr_vec_fini(&ends.of);
    }
    ret.part = median_of(parts.v, parts.n, ret.part);
    wr_vec_fini(&parts);
    return ret;
}

/* --- what whole operations take beyond their states ---------------------------------- */

/* A median that is one of the values: of calls that are answered from a cache or over the network,
 * half and half, it is one kind and not something between them. */
bool stack_op_median(const struct stack_log *log, uint16_t function, uint8_t io, uint64_t bytes,
                     double *ret)
{
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->op.n; i++) {
        const struct stack_op_sample *s = &log->op.v[i];

        if (s->function == function && s->io == io && s->bytes == bytes)
            wr_vec_push(&v, (float)s->seconds);
    }
    if (v.n) {
        qsort(v.v, v.n, sizeof *v.v, by_float);
        *ret = v.v[(v.n - 1) / 2];
    }
    bool any = v.n > 0;

    wr_vec_fini(&v);
    return any;
}

/* Machines that ask servers, themselves or in machines they jump to. */
static bool asks(const struct stack_fs *fs, uint16_t machine, int deep)
{
    const struct stack_machine *m = &fs->machine.v[machine];

    for (uint16_t i = m->first; i < m->first + m->nstates; i++) {
        const struct stack_state *s = &fs->state.v[i];

        if (s->does == STACK_SEND ||
            (s->does == STACK_JUMP_TO && deep < STACK_DEEPEST && asks(fs, s->target, deep + 1)))
            return true;
    }
    return false;
}

static bool serves(const struct stack_fs *fs, uint16_t machine)
{
    for (size_t i = 0; i < fs->message.n; i++)
        if (fs->message.v[i].serves == machine)
            return true;
    return false;
}

static bool forked(const struct stack_fs *fs, uint16_t machine)
{
    for (size_t i = 0; i < fs->fork.n; i++)
        if (fs->fork.v[i].machine == machine)
            return true;
    return false;
}

/* Operations that ask, and requests; those that move data have a law for them. */
static bool tunable(const struct stack_fs *fs, uint16_t machine)
{
    const struct stack_machine *m = &fs->machine.v[machine];

    return m->kind == STACK_MACHINE && !m->moves && m->function_id == machine &&
           (m->side == STACK_CLIENT ? forked(fs, machine) && asks(fs, machine, 0)
                                    : serves(fs, machine));
}

/* From the first process to the last that begins, in the middle of all runs. */
static double stagger_us(const struct stack_log *log, bool writes)
{
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->stagger.n; i++)
        if (log->stagger.v[i].writes == writes)
            wr_vec_push(&v, (float)(log->stagger.v[i].seconds * 1e6));
    double us = median_of(v.v, v.n, 0);

    wr_vec_fini(&v);
    return us;
}

/* How much longer an activity waits than its states say, and the band it is likely in. */
static void put_machine(struct wr_str *out, const struct draft *d, size_t machine)
{
    static const char *const of[] = {"/read", "/write", ""};

    for (int io = 0; io < 3; io++) {
        struct stack_band band = d->bands ? d->bands->of[io][machine] : (struct stack_band){0};
        double stretch = io == 2 ? d->stretch[machine] : 0;

        if (!(stretch > 0) && !(band.high > 0))
            continue;
        wr_str_addf(out, "  %s%s: {", d->log->fs->machine.v[machine].name, of[io]);
        if (stretch > 0)
            wr_str_addf(out, "stretch: %.4g%s", stretch, band.high > 0 ? ", " : "");
        if (band.high > 0)
            wr_str_addf(out, "low: %.4g, high: %.4g", band.low, band.high);
        wr_str_add(out, "}\n");
    }
}

static bool put_all(struct wr_str *out, const struct draft *d, struct wr_err *err)
{
    const struct stack_log *log = d->log;
    const struct stack_fs *fs = log->fs;
    struct wr_str states = {0};
    struct spread spread = {0};
    bool ok = true;

    for (size_t i = 0; i < fs->machine.n; i++)
        put_machine(&states, d, i);
    wr_str_add(&states, wr_str_get(&d->states));
    for (size_t i = 0; ok && i < fs->state.n; i++)
        if (fs->state.v[i].does == STACK_FLOW)
            ok = put_flow(&states, d, (uint16_t)i, false, &spread, err) &&
                 put_flow(&states, d, (uint16_t)i, true, &spread, err);
    if (ok) {
        struct stack_band io = d->bands ? d->bands->io : (struct stack_band){1, 1};
        struct buffers buffers = buffers_of(log);

        wr_str_addf(
            out,
            "title: \"%s\"\nsource: measured, %zu visits of states and %zu reads and writes\n"
            "at: {servers: %u, clients: %u, medium: %s, stagger_read: %.4g us, stagger_write: %.4g "
            "us, from: %.0f B, to: %.0f B, low: %.4g, high: %.4g}\n"
            "link: {latency: %.4g us, bandwidth: %.4g MB/s, buffer_read: %.0f B, buffer_write: "
            "%.0f B, buffer_part: %.3g, queue_read: %.4g us, queue_write: %.4g us}\n"
            "between: {client: %.4g us, server: %.4g us}\nstates:\n%s",
            d->title, log->state.n, log->io.n, log->servers, log->clients,
            d->shared ? "shared" : "switched", stagger_us(log, false), stagger_us(log, true),
            spread.from, spread.to, io.low, io.high, latency_us(log, d->base, true),
            spread.per_byte > 0 ? (d->shared ? log->clients : 1) * 1e-6 / spread.per_byte : 1000.0,
            buffers.bytes[0], buffers.bytes[1], buffers.part, d->queue_s[0] * 1e6,
            d->queue_s[1] * 1e6, between_us(log, d->base, false), between_us(log, d->base, true),
            wr_str_get(&states));
    }
    wr_str_fini(&states);
    return ok;
}

bool stack_io_median(const struct stack_log *log, bool writes, uint64_t bytes, double *ret)
{
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->io.n; i++)
        if (log->io.v[i].writes == writes && log->io.v[i].bytes == bytes)
            wr_vec_push(&v, (float)log->io.v[i].seconds);
    bool any = v.n > 0;

    if (any)
        *ret = median(v.v, v.n);
    wr_vec_fini(&v);
    return any;
}

/* What a simulated read or write takes beyond the law of its data: the states beside it take time,
 * and processes that begin apart are less in each other's way. */
static double beside(const struct stack_log *run, const struct stack_laws *laws, bool writes)
{
    const struct stack_fs *fs = run->fs;
    double took, data = 0;

    if (!stack_io_median(run, writes, run->run.v[0], &took))
        return 0;
    for (size_t i = 0; i < fs->state.n; i++)
        if (fs->state.v[i].does == STACK_FLOW)
            data =
                (double)stack_law_ns(&laws->wait[writes][i], stack_moved(&run->io.v[0]), 0) * 1e-9;
    return took - data;
}

/* From a request for data to the first answer, in the middle of all. */
static double asked_s(const struct stack_log *log, bool writes, uint64_t bytes)
{
    const struct stack_fs *fs = log->fs;
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        const struct stack_state *k = &fs->state.v[s->state];

        if (k->does == STACK_SEND && fs->machine.v[k->machine].moves && s->io == writes &&
            s->bytes == bytes && !s->server && s->took_us > 0)
            wr_vec_push(&v, s->took_us * 1e-6f);
    }
    double s = median_of(v.v, v.n, NAN);

    wr_vec_fini(&v);
    return s;
}

/* Medians of all functions as the draft tells them, at each size: [sizes][machines]; 0: none. And
 * what reads and writes take beside their data, and until their first answer. */
static bool tell(struct draft *d, double *ret, struct wr_err *err)
{
    const struct stack_fs *fs = d->log->fs;
    struct stack_laws *laws = NULL;
    struct wr_str text = {0};
    bool ok =
        put_all(&text, d, err) && stack_laws_open_text(&laws, fs, "the laws", text.s, text.n, err);

    for (size_t i = 0; ok && i < d->sizes; i++) {
        struct stack_log run;

        ok = stack_replay_log(&run, d->log, laws, d->size[i], err);
        for (size_t m = 0; ok && m < fs->machine.n; m++) {
            double *at = &ret[i * fs->machine.n + m];

            if (!tunable(fs, (uint16_t)m) || !stack_op_median(&run, (uint16_t)m, 2, d->size[i], at))
                *at = 0;
        }
        for (int w = 0; ok && w < 2; w++) {
            d->beside[w][i] = beside(&run, laws, w);
            d->asked[w][i] = asked_s(&run, w, d->size[i]);
        }
        if (ok)
            stack_log_fini(&run);
    }
    stack_laws_close(laws);
    wr_str_fini(&text);
    return ok;
}

/* By how much a machine is told too short: the median over the sizes where waiting matters. */
static double too_short(const struct draft *d, uint16_t m, const double *told, const bool *waits)
{
    size_t machines = d->log->fs->machine.n, n = 0;
    float *v = wr_zalloc(d->sizes + 1, sizeof *v);

    for (size_t i = 0; i < d->sizes; i++) {
        double is, was = told[i * machines + m];

        if (waits[i * machines + m] && was > 0 && stack_op_median(d->log, m, 2, d->size[i], &is))
            v[n++] = (float)(is / was);
    }
    double ratio = median_of(v, n, NAN);

    free(v);
    return ratio;
}

/* Operations that were not measured wait like those that were. */
static void like_the_others(struct draft *d)
{
    const struct stack_fs *fs = d->log->fs;
    float *v = wr_zalloc(fs->machine.n + 1, sizeof *v);
    size_t n = 0;

    for (size_t m = 0; m < fs->machine.n; m++)
        if (d->stretch[m] > 0 && fs->machine.v[m].side == STACK_CLIENT)
            v[n++] = (float)d->stretch[m];
    double usual = median_of(v, n, 0);

    for (size_t m = 0; m < fs->machine.n; m++)
        if (tunable(fs, (uint16_t)m) && fs->machine.v[m].side == STACK_CLIENT &&
            !(d->stretch[m] > 0))
            d->stretch[m] = usual;
    free(v);
}

/* By how much longer than told requests for data wait for their first answer. */
static double waits_longer(const struct draft *d, bool writes)
{
    float *v = wr_zalloc(d->sizes + 1, sizeof *v);
    size_t n = 0;

    for (size_t i = 0; i < d->sizes; i++) {
        double by = asked_s(d->log, writes, d->size[i]) - d->asked[writes][i];

        if (!isnan(by))
            v[n++] = (float)by;
    }
    double s = median_of(v, n, 0);

    free(v);
    return s;
}

/* Who asks while others move data stands behind those, on the way there and back. Half of what is
 * missing is tried; where that does not show, nobody was in the way. */
static bool tune_queue(struct draft *d, double *told, struct wr_err *err)
{
    double by[2];

    for (int w = 0; w < 2; w++) {
        by[w] = waits_longer(d, w);
        d->queue_s[w] = fmax(by[w] / 2, 0);
    }
    if (!tell(d, told, err))
        return false;
    for (int w = 0; w < 2; w++) {
        double gain = 1 - waits_longer(d, w) / by[w];

        d->queue_s[w] = gain > 0.5 && by[w] > 0 ? d->queue_s[w] / gain : 0;
    }
    return tell(d, told, err);
}

/* On a busy node operations wait longer than servers and network take: how much longer is found by
 * simulating. First with answers taking as long as they do, then twice as long, to see where it
 * matters; then nearer and nearer to what was measured. */
static bool tune(struct draft *d, struct wr_err *err)
{
    enum { ROUNDS = 12 };
    const struct stack_fs *fs = d->log->fs;
    size_t sizes = d->sizes, n = fs->machine.n;
    double *told = wr_zalloc(sizes * n + 1, sizeof *told);
    double *twice = wr_zalloc(sizes * n + 1, sizeof *twice);
    bool *waits = wr_zalloc(sizes * n + 1, sizeof *waits);
    bool ok = tell(d, told, err) && tune_queue(d, told, err);

    for (size_t m = 0; m < n; m++)
        d->stretch[m] = tunable(fs, (uint16_t)m) ? 2 : 0;
    ok = ok && tell(d, twice, err);
    for (size_t i = 0; i < sizes * n; i++)
        waits[i] = twice[i] > 1.2 * told[i];
    for (size_t m = 0; m < n; m++)
        d->stretch[m] = d->stretch[m] > 0 ? 1 : 0;
    for (int round = 0; ok && round < ROUNDS; round++) {
        for (size_t m = 0; m < n; m++) {
            double by = d->stretch[m] > 0 ? too_short(d, (uint16_t)m, told, waits) : NAN;

            if (isnan(by))
                d->stretch[m] = 0;
            else
                d->stretch[m] = fmin(fmax(d->stretch[m] * by, 0.05), 1000);
        }
        ok = tell(d, told, err);
    }
    like_the_others(d);
    free(told);
    free(twice);
    free(waits);
    return ok;
}

bool calib_laws(struct wr_str *out, const struct stack_log *log, const struct stack_laws *base,
                const char *title, bool shared, const struct calib_bands *bands, struct wr_err *err)
{
    struct draft d = {.log = log, .base = base, .title = title, .shared = shared, .bands = bands};

    uint64_t *size = stack_log_sizes(log, &d.sizes);

    d.size = size;
    d.stretch = wr_zalloc(log->fs->machine.n + 1, sizeof *d.stretch);
    for (int w = 0; w < 2; w++) {
        d.asked[w] = wr_zalloc(d.sizes + 1, sizeof *d.asked[w]);
        d.beside[w] = wr_zalloc(d.sizes + 1, sizeof *d.beside[w]);
    }
    for (size_t i = 0; i < log->fs->state.n; i++)
        put_state(&d.states, log, base, (uint16_t)i);
    bool ok = (!log->op.n || tune(&d, err)) && put_all(out, &d, err);

    wr_str_fini(&d.states);
    free(d.stretch);
    free(d.asked[0]);
    free(d.asked[1]);
    free(d.beside[0]);
    free(d.beside[1]);
    free(size);
    return ok;
}
