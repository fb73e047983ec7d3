/* band.c -- how far laws may be wrong: each size is told by the other sizes.
 *
 *   all runs - those of one size --> laws --> simulated at that size
 *                                                 │
 *   the runs of that size ──────── measured / told, for every function and for reads and writes
 *
 * What comes out of all sizes together is the band, and its middle error says which of two ways to
 * see the network is the better one. So neither ever saw what it is judged by.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib_priv.h"
#include "stack/replay.h"

struct residual {
    uint32_t key; /* function and io, or IO_KEY */
    float ratio;
};

#define IO_KEY UINT32_MAX

struct residuals {
    WR_VEC(struct residual) v;
    double error;
    size_t medians;
};

static int by_residual(const void *a, const void *b)
{
    const struct residual *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

static void take_io(struct residuals *r, const struct stack_log *log, const struct stack_log *run,
                    uint64_t bytes)
{
    for (int w = 0; w < 2; w++) {
        double told, is;

        if (!stack_io_median(run, w, bytes, &told) || !stack_io_median(log, w, bytes, &is) ||
            !(told > 0) || !(is > 0))
            continue;
        r->error += fabs(log2(is / told));
        r->medians++;
        for (size_t i = 0; i < log->io.n; i++)
            if (log->io.v[i].bytes == bytes && log->io.v[i].writes == w)
                wr_vec_push(&r->v, (struct residual){IO_KEY, (float)(log->io.v[i].seconds / told)});
    }
}

static void take_functions(struct residuals *r, const struct stack_log *log,
                           const struct stack_log *run, uint64_t bytes)
{
    size_t machines = log->fs->machine.n;
    double *told = wr_zalloc(3 * machines + 1, sizeof *told);

    for (size_t k = 0; k < 3 * machines; k++)
        if (!stack_op_median(run, (uint16_t)(k / 3), (uint8_t)(k % 3), bytes, &told[k]))
            told[k] = 0;
    for (size_t i = 0; i < log->op.n; i++) {
        const struct stack_op_sample *s = &log->op.v[i];
        uint32_t key = s->function * 3u + s->io;

        if (s->bytes == bytes && told[key] > 0)
            wr_vec_push(&r->v, (struct residual){key, (float)(s->seconds / told[key])});
    }
    free(told);
}

/* One size, told by laws of the others. */
static bool tell_without(struct residuals *r, const struct stack_log *log,
                         const struct stack_laws *base, bool shared, uint64_t bytes, bool alone,
                         struct wr_err *err)
{
    struct stack_log rest, run;
    struct stack_laws *laws = NULL;
    struct wr_str text = {0};

    stack_log_without(&rest, log, alone ? 0 : bytes);
    bool ok = calib_laws(&text, &rest, base, "left out", shared, NULL, err) &&
              stack_laws_open_text(&laws, log->fs, "the laws", text.s, text.n, err) &&
              stack_replay_log(&run, log, laws, bytes, err);

    if (ok) {
        take_io(r, log, &run, bytes);
        take_functions(r, log, &run, bytes);
        stack_log_fini(&run);
    }
    stack_laws_close(laws);
    wr_str_fini(&text);
    stack_log_fini(&rest);
    return ok;
}

/* Of reads and writes together the sizes are few, and a law that is wrong by a factor at one of
 * them may be wrong the other way at the next: the band is the same to both sides. */
static struct stack_band io_band(struct residual *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i].ratio = (float)fabs(log(fmax(v[i].ratio, 1e-9)));
    qsort(v, n, sizeof *v, by_residual);
    double by = exp((double)v[n - 1 - n / 5].ratio);

    return (struct stack_band){1 / by, by};
}

static void take_bands(struct calib_bands *b, struct residuals *r)
{
    if (r->v.n)
        qsort(r->v.v, r->v.n, sizeof *r->v.v, by_residual);
    for (size_t i = 0, end; i < r->v.n; i = end) {
        uint32_t key = r->v.v[i].key;

        for (end = i; end < r->v.n && r->v.v[end].key == key;)
            end++;
        size_t tenth = (end - i) / 10;

        if (key == IO_KEY)
            b->io = io_band(r->v.v + i, end - i);
        else
            b->of[key % 3][key / 3] =
                (struct stack_band){r->v.v[i + tenth].ratio, r->v.v[end - 1 - tenth].ratio};
    }
    b->error = r->medians ? r->error / (double)r->medians : INFINITY;
}

bool calib_bands(struct calib_bands *ret, const struct stack_log *log,
                 const struct stack_laws *base, bool shared, struct wr_err *err)
{
    struct residuals r = {0};
    struct calib_bands b = {.io = {1, 1}};
    size_t n;
    uint64_t *size = stack_log_sizes(log, &n);
    bool ok = true;

    for (int i = 0; i < 3; i++)
        b.of[i] = wr_zalloc(log->fs->machine.n + 1, sizeof *b.of[i]);
    for (size_t i = 0; ok && i < n; i++)
        ok = tell_without(&r, log, base, shared, size[i], n < 3, err);
    take_bands(&b, &r);
    wr_vec_fini(&r.v);
    free(size);
    if (!ok) {
        calib_bands_fini(&b);
        return false;
    }
    *ret = b;
    return true;
}

void calib_bands_fini(struct calib_bands *b)
{
    for (int i = 0; i < 3; i++)
        free(b->of[i]);
}

static int by_slope(const void *a, const void *b)
{
    const struct stack_lean *x = a, *y = b;

    return x->slope < y->slope ? -1 : x->slope > y->slope;
}

/* On one link that all share, a process that begins later ends with the others and takes so much
 * less; where each has its own, it takes as long as they do. */
static bool leans(const struct stack_log *log)
{
    size_t n = log->lean.n;
    struct stack_lean *v = wr_zalloc(n + 1, sizeof *v);

    if (n) {
        memcpy(v, log->lean.v, n * sizeof *v);
        qsort(v, n, sizeof *v, by_slope);
    }
    bool shared = n && v[n / 2].slope < -0.5;

    free(v);
    return shared;
}

/* What the processes of a run show of each other, unless sizes left out are told clearly better
 * by the other way to see it. */
static bool find_medium(struct calib_bands *ret, bool *ret_shared, const struct stack_log *log,
                        const struct stack_laws *base, struct wr_err *err)
{
    static const double clearly = 0.05; /* three and a half in a hundred, as a logarithm */
    struct calib_bands shared;

    *ret_shared = false;
    if (!calib_bands(ret, log, base, false, err))
        return false;
    if (log->clients < 2)
        return true;
    if (!calib_bands(&shared, log, base, true, err)) {
        calib_bands_fini(ret);
        return false;
    }
    bool better = shared.error < ret->error + (leans(log) ? clearly : -clearly);
    struct calib_bands other = better ? *ret : shared;

    if (better)
        *ret = shared;
    *ret_shared = better;
    calib_bands_fini(&other);
    return true;
}

bool stack_calibrate(struct wr_str *out, const struct stack_log *log, const struct stack_laws *base,
                     const char *title, enum stack_see see, struct wr_err *err)
{
    struct calib_bands bands;
    bool shared = see == STACK_SEE_SHARED;

    if (!(see == STACK_SEE_ITSELF ? find_medium(&bands, &shared, log, base, err)
                                  : calib_bands(&bands, log, base, shared, err)))
        return false;
    bool ok = calib_laws(out, log, base, title, shared, &bands, err);

    calib_bands_fini(&bands);
    return ok;
}
