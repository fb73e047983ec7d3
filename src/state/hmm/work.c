/* work.c -- memory, distinct steps, and their classes for a given model. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hmm_priv.h"
#include "state/hmm/work.h"

/* A class of several distinct steps holds at least so many, or each gets an exponential of its
 * own: it bounds the memory for coefficients. */
enum { CLASS_LEAST = 8 };

/* c d stays below this within a class. */
static const double class_width = 0.5;

static size_t work_coef_count(size_t steps)
{
    return steps + 1 + steps * HMM_TERMS / CLASS_LEAST + HMM_TERMS;
}

/* Parts of one allocation, each on a cache line. */
static void *work_part(char *base, size_t *at, size_t count, size_t size)
{
    void *p = base ? base + *at : NULL;

    *at += (count * size + 63) / 64 * 64;
    return p;
}

static size_t work_lay_out(struct hmm_work *w, char *base)
{
    size_t at = 0, k = (size_t)w->k_cap, kk = (size_t)hmm_kk(w->k_cap), s = w->steps_cap;

    w->coef_cap = work_coef_count(s);
    w->id = work_part(base, &at, w->cap, sizeof *w->id);
    w->step_dt = work_part(base, &at, s, sizeof *w->step_dt);
    w->step_block = work_part(base, &at, s, 1);
    w->cls = work_part(base, &at, s, sizeof *w->cls);
    w->classes = work_part(base, &at, s + 1, sizeof *w->classes);
    w->coef = work_part(base, &at, w->coef_cap * kk, sizeof *w->coef);
    w->acc = work_part(base, &at, w->coef_cap * kk, sizeof *w->acc);
    w->b = work_part(base, &at, w->cap * (k < 4 ? 4 : k), sizeof *w->b);
    w->alpha = work_part(base, &at, w->cap * k, sizeof *w->alpha);
    return at;
}

bool hmm_work_init(struct hmm_work *w, size_t cap, size_t steps_cap, int k_cap)
{
    assert(k_cap >= 1 && k_cap <= HMM_STATES);
    memset(w, 0, sizeof *w);
    w->cap = cap ? cap : 1;
    w->steps_cap = steps_cap ? steps_cap : w->cap;
    w->k_cap = k_cap;
    w->kernels = hmm_kernels_best();
    size_t size = work_lay_out(w, NULL);

    w->memory = aligned_alloc(64, size);
    if (!w->memory)
        return false;
    work_lay_out(w, w->memory);
    return true;
}

void hmm_work_fini(struct hmm_work *w)
{
    free(w->memory);
    memset(w, 0, sizeof *w);
}

/* Steps to sort: the bits of a non-negative double order as the number does, so a radix
 * sort is linear and exact. The part of the day goes into the sign and exponent bits that no
 * step below 2^64 seconds uses. */
struct keyed {
    uint64_t key;
    uint64_t at;
};

static uint64_t work_key_of(const struct hmm_data *d, size_t i)
{
    uint64_t bits;
    double dt = d->dt[i];

    if (dt < 0)
        return UINT64_MAX;
    dt = fmin(dt, 0x1p60) + 0; /* -0 becomes 0 */
    memcpy(&bits, &dt, sizeof bits);
    return bits;
}

/* Sorts by key; `tmp` holds n entries. Returns where the result is. */
static struct keyed *work_radix_sort(struct keyed *v, struct keyed *tmp, size_t n)
{
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[257] = {0};

        for (size_t i = 0; i < n; i++)
            count[(v[i].key >> shift & 255) + 1]++;
        if (count[(v[0].key >> shift & 255) + 1] == n)
            continue;
        for (int j = 0; j < 256; j++)
            count[j + 1] += count[j];
        for (size_t i = 0; i < n; i++)
            tmp[count[v[i].key >> shift & 255]++] = v[i];
        struct keyed *t = v;

        v = tmp;
        tmp = t;
    }
    return v;
}

static bool work_all_same(const struct hmm_data *d)
{
    double first = -1;

    if (d->block)
        return false;
    for (size_t i = 0; i < d->n; i++) {
        if (d->dt[i] < 0)
            continue;
        if (first < 0)
            first = d->dt[i];
        else if (d->dt[i] != first)
            return false;
    }
    return true;
}

/* A stable counting sort by part of the day, after the sort by length. */
static struct keyed *work_by_block(struct keyed *v, struct keyed *tmp, const struct hmm_data *d)
{
    size_t count[HMM_BLOCKS + 1] = {0};

    if (!d->block)
        return v;
    for (size_t i = 0; i < d->n; i++)
        count[d->block[i] + 1]++;
    for (int j = 0; j < HMM_BLOCKS; j++)
        count[j + 1] += count[j];
    for (size_t i = 0; i < d->n; i++)
        tmp[count[d->block[v[i].at]]++] = v[i];
    return tmp;
}

static void work_find_steps(struct hmm_work *w, const struct hmm_data *d)
{
    /* b and alpha are free until a model comes; together they hold two lists of pairs. */
    struct keyed *v = (void *)w->b, *tmp = v + d->n, *sorted;

    w->nsteps = 0;
    w->same = work_all_same(d);
    if (w->same) {
        for (size_t i = 0; i < d->n && !w->nsteps; i++)
            if (d->dt[i] >= 0) {
                w->step_dt[0] = d->dt[i];
                w->step_block[0] = 0;
                w->nsteps = 1;
            }
        return;
    }
    for (size_t i = 0; i < d->n; i++)
        v[i] = (struct keyed){work_key_of(d, i), i};
    sorted = work_radix_sort(v, tmp, d->n);
    sorted = work_by_block(sorted, sorted == v ? tmp : v, d);
    for (size_t i = 0; i < d->n; i++) {
        size_t at = sorted[i].at, n = w->nsteps;
        uint8_t block = d->block ? d->block[at] : 0;

        if (d->dt[at] < 0) {
            w->id[at] = UINT32_MAX;
            continue;
        }
        if (!n || w->step_dt[n - 1] != d->dt[at] || w->step_block[n - 1] != block) {
            w->step_dt[n] = d->dt[at];
            w->step_block[n] = block;
            w->nsteps = ++n;
        }
        w->id[at] = (uint32_t)(n - 1);
    }
}

/* Span: from the first to the last of all series together. The median step follows from the
 * sorted distinct ones and how often each occurs; `cls` counts. */
static void work_find_span(struct hmm_work *w, const struct hmm_data *d)
{
    size_t total = 0, seen = 0;

    w->span_s = 0;
    w->median_dt_s = w->nsteps ? w->step_dt[0] : 1;
    memset(w->cls, 0, sizeof *w->cls * w->nsteps);
    for (size_t i = 0; i < d->n; i++)
        if (d->dt[i] >= 0) {
            w->span_s += d->dt[i];
            total++;
            if (!w->same)
                w->cls[w->id[i]]++;
        }
    if (w->same || !total || d->block)
        return;
    double below = 0;
    bool have = false;

    for (size_t s = 0; s < w->nsteps; s++) {
        size_t next = seen + w->cls[s];

        if (!have && next > (total - 1) / 2) {
            below = w->step_dt[s];
            have = true;
        }
        if (next > total / 2) {
            w->median_dt_s = (below + w->step_dt[s]) / 2;
            return;
        }
        seen = next;
    }
}

static double work_median_by_blocks(const struct hmm_work *w)
{
    /* Boundaries of parts of the day split steps; the mean of what remains will do. */
    return w->data->n > 1 ? w->span_s / (double)(w->data->n - 1) : 1;
}

void hmm_work_bind(struct hmm_work *w, const struct hmm_data *d)
{
    assert(w->memory && d->n && d->n <= w->cap);
    double sum = 0;
    size_t seen = 0, starts = 0;

    w->data = d;
    work_find_steps(w, d);
    work_find_span(w, d);
    if (d->block)
        w->median_dt_s = work_median_by_blocks(w);
    if (!(w->median_dt_s > 0))
        w->median_dt_s = w->span_s > 0 ? w->span_s / (double)d->n : 1;
    for (size_t i = 0; i < d->n; i++) {
        starts += d->dt[i] < 0;
        if (!isnan(d->x[i])) {
            sum += d->x[i];
            seen++;
        }
    }
    w->complete = seen == d->n;
    w->grid = w->same && starts == 1 && d->dt[0] < 0;
    w->x_mid = seen ? sum / (double)seen : 0;
}

/* How many terms make the rest of the series for c d smaller than a double can show. */
static int work_terms_for(double cd)
{
    double term = 1;

    for (int m = 1; m < HMM_TERMS; m++) {
        term *= cd / m;
        if (term < 1e-17)
            return m;
    }
    return HMM_TERMS;
}

static void work_add_class(struct hmm_work *w, const struct hmm_model *m, size_t from, size_t to,
                           uint32_t *used)
{
    const double *q = m->q[w->step_block[from]];
    int k = m->k, kk = hmm_kk(k);
    double g = w->step_dt[from], c = hmm_shift(q, k), a[HMM_STATES * HMM_STATES];
    struct hmm_class *to_fill = &w->classes[w->nclasses];
    double *at = w->coef + (size_t)*used * (size_t)kk;

    *to_fill = (struct hmm_class){.g = g, .c = c, .coef = *used, .block = w->step_block[from]};
    to_fill->terms = (uint16_t)(to - from > 1 ? work_terms_for(c * (w->step_dt[to - 1] - g)) : 1);
    *used += to_fill->terms;
    memset(at, 0, sizeof *at * (size_t)kk * to_fill->terms);
    hmm_expm(at, q, k, g);
    memcpy(a, q, sizeof *a * (size_t)(k * k));
    for (int i = 0; i < k; i++)
        a[i * k + i] = fmax(a[i * k + i] + c, 0);
    for (int t = 1; t < to_fill->terms; t++) {
        hmm_matmul(at + kk, at, a, k);
        at += kk;
        for (int j = 0; j < k * k; j++)
            at[j] /= t;
    }
    for (size_t s = from; s < to; s++)
        w->cls[s] = (uint32_t)w->nclasses;
    w->nclasses++;
}

void hmm_work_classes(struct hmm_work *w, const struct hmm_model *m)
{
    assert(w->data && m->k >= 1 && m->k <= w->k_cap);
    int k = m->k;
    uint32_t used = 1;

    w->nclasses = 1;
    w->classes[0] = (struct hmm_class){.terms = 1};
    memset(w->coef, 0, sizeof *w->coef * (size_t)hmm_kk(k));
    for (int i = 0; i < k; i++)
        memcpy(w->coef + i * k, m->initial, sizeof *w->coef * (size_t)k);
    /* A few distinct steps get a matrix each; many share centres. */
    bool few = w->nsteps <= 32 || w->nsteps <= w->data->n / 16;

    for (size_t from = 0; from < w->nsteps;) {
        size_t to = from + 1;
        double c = hmm_shift(m->q[w->step_block[from]], k);

        while (!few && to < w->nsteps && w->step_block[to] == w->step_block[from] &&
               c * (w->step_dt[to] - w->step_dt[from]) <= class_width)
            to++;
        if (to - from < CLASS_LEAST)
            to = from + 1;
        work_add_class(w, m, from, to, &used);
        from = to;
    }
}
