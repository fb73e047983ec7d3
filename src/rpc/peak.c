/* peak.c -- disturbed windows, and the peaks C and S that windows show.
 *
 * See peak.h. Functions of windows, no state.
 */
#include "rpc/peak.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rpc_metric_names[] = {"rpc", "bw", "iops", "sbw", NULL};

/* Index into rpc_metric_names. */
static int peak_metric_of(const struct rpc_case *k)
{
    int m = 0;

    while (rpc_metric_names[m] && strcmp(rpc_metric_names[m], rpc_case_metric(k)) != 0)
        m++;
    assert(m < RPC_METRICS);
    return m;
}

bool rpc_window_disturbed(const struct rpc_window *w)
{
    return w->foreign > RPC_DISTURBED || w->lost > RPC_DISTURBED;
}

bool rpc_window_better(const struct rpc_window *w, const struct rpc_window *than)
{
    bool a = rpc_window_disturbed(w), b = rpc_window_disturbed(than);

    /* Both are of one case, so calls compare as bytes do. */
    return a != b ? b : w->rate > than->rate;
}

double rpc_window_value(const struct rpc_window *w, const struct rpc_case *k)
{
    return rpc_case_counts_bytes(k) ? w->bps : w->rate;
}

static int peak_by_count(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

double rpc_lost(const uint64_t *calls, size_t n)
{
    uint64_t sorted[RPC_SUBWINDOWS];
    double missing = 0;

    assert(n <= RPC_SUBWINDOWS);
    if (!n)
        return 0;
    memcpy(sorted, calls, n * sizeof *calls);
    qsort(sorted, n, sizeof *sorted, peak_by_count);
    size_t low = (n - 1) / 2, high = n / 2;
    double median = (double)(sorted[low] + sorted[high]) / 2;

    for (size_t i = 0; i < n; i++) {
        double short_of = median - (double)calls[i];

        missing += short_of > 3 * sqrt(median) ? short_of : 0;
    }
    return median > 0 ? missing / (median * (double)n) : 0;
}

/* ---- parameters ---- */

static void peak_raise(struct rpc_span *r, double v, const struct rpc_window *w)
{
    r->hi = v;
    r->of = w->of;
}

/* Takes one peak in: a range is as wide as its peaks. */
static void peak_widen(struct rpc_span *r, double v, const struct rpc_window *w)
{
    if (!r->n || v > r->hi)
        peak_raise(r, v, w);
    r->lo = r->n ? fmin(r->lo, v) : v;
}

static bool peak_same_pair(const struct rpc_window *a, const struct rpc_window *b)
{
    return a->of == b->of && a->client == b->client && a->server == b->server;
}

/* The fastest window of the pair that window i is of. */
static const struct rpc_window *peak_of_pair(const struct rpc_window *w, size_t n, size_t i,
                                             const struct rpc_case *k)
{
    const struct rpc_window *best = &w[i];

    for (size_t j = 0; j < n; j++)
        if (peak_same_pair(&w[j], &w[i]) && rpc_window_value(&w[j], k) > rpc_window_value(best, k))
            best = &w[j];
    return best;
}

static void peak_add_client(struct rpc_span *c, const struct rpc_window *w, size_t n, size_t i,
                            const struct rpc_case *k)
{
    const struct rpc_window *best = peak_of_pair(w, n, i, k);
    bool first = true;

    for (size_t j = 0; j < i; j++)
        first = first && !peak_same_pair(&w[j], &w[i]);
    if (first) {
        peak_widen(c, rpc_window_value(best, k), best);
        c->disturbed += rpc_window_disturbed(best);
    }
    c->n++;
}

/* The low end is that of undisturbed windows; before there is one it is NaN. */
static void peak_add_server(struct rpc_span *s, const struct rpc_window *w,
                            const struct rpc_case *k)
{
    double v = rpc_window_value(w, k) / w->servers;

    if (!s->n || v > s->hi) {
        peak_raise(s, v, w);
        s->disturbed = rpc_window_disturbed(w);
    }
    if (!s->n)
        s->lo = NAN;
    if (!rpc_window_disturbed(w))
        s->lo = fmin(s->lo, v); /* of NaN and a number, the number */
    s->n++;
}

/* Does a point do what a case that measures C or S does? */
static bool peak_alike(const struct rpc_case *point, const struct rpc_case *k, bool client)
{
    return point->op == k->op && point->size_b == k->size_b &&
           (!client || point->depth <= k->depth);
}

static bool peak_shown_by(const struct rpc_case *point, enum rpc_measures what,
                          const struct rpc_spec *s)
{
    const struct rpc_case *k = s->cases.items;

    for (size_t i = 0; i < s->cases.n; i++)
        if (k[i].measures == what && peak_alike(point, &k[i], what == RPC_MEASURES_CLIENT))
            return true;
    return false;
}

static void peak_add_point(struct rpc_span *c, struct rpc_span *server, const struct rpc_window *w,
                           const struct rpc_case *k, const struct rpc_spec *s)
{
    double v = rpc_window_value(w, k);

    if (server->n && w->servers && v / w->servers > server->hi &&
        peak_shown_by(k, RPC_MEASURES_SERVER, s)) {
        peak_raise(server, v / w->servers, w);
        server->disturbed = rpc_window_disturbed(w);
        server->from_point = true;
    }
    if (c->n && w->clients && v / w->clients > c->hi && peak_shown_by(k, RPC_MEASURES_CLIENT, s)) {
        peak_raise(c, v / w->clients, w);
        c->from_point = true;
    }
}

void rpc_peaks(struct rpc_span client[RPC_METRICS], struct rpc_span server[RPC_METRICS],
               const struct rpc_window *w, size_t n, const struct rpc_spec *s)
{
    const struct rpc_case *cases = s->cases.items;

    memset(client, 0, RPC_METRICS * sizeof *client);
    memset(server, 0, RPC_METRICS * sizeof *server);
    for (size_t i = 0; i < n; i++) {
        assert(w[i].of < s->cases.n);
        const struct rpc_case *k = &cases[w[i].of];

        if (k->measures == RPC_MEASURES_CLIENT)
            peak_add_client(&client[peak_metric_of(k)], w, n, i, k);
        else if (k->measures == RPC_MEASURES_SERVER && w[i].servers)
            peak_add_server(&server[peak_metric_of(k)], &w[i], k);
    }
    for (size_t i = 0; i < n; i++) {
        const struct rpc_case *k = &cases[w[i].of];
        int m = peak_metric_of(k);

        if (k->measures == RPC_MEASURES_POINT)
            peak_add_point(&client[m], &server[m], &w[i], k, s);
    }
    for (int m = 0; m < RPC_METRICS; m++)
        if (isnan(server[m].lo))
            server[m].lo = server[m].hi;
}
