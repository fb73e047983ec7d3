/* roofline.c -- what holds for any parameters of a data service, and for any windows that they
 * were measured in. */
#include "unit/run_help.h"

#include <math.h>

#include "base/rng.h"
#include "prop/prop.h"
#include "report/doc.h"
#include "report/sections/sections.h"
#include "rpc/peak.h"
#include "stat/roofline.h"

static double any(struct wr_rng *g, double low, double high)
{
    return low * pow(high / low, wr_rng_unit(g));
}

static struct stat_range any_range(struct wr_rng *g, double low, double high)
{
    double a = any(g, low, high), b = wr_rng_below(g, 4) ? any(g, low, high) : a;

    return (struct stat_range){fmin(a, b), fmax(a, b)};
}

static struct stat_roof any_roof(uint32_t number)
{
    struct wr_rng g;

    wr_rng_init(&g, prop_seed(), number, 0x726f);
    struct stat_roof r = {.client = any_range(&g, 1, 1e3),
                          .server = any_range(&g, 1, 1e4),
                          .node = {INFINITY, INFINITY},
                          .per_node = 1 + wr_rng_below(&g, 100)};

    if (wr_rng_below(&g, 2))
        r.node = any_range(&g, 1, 1e5);
    return r;
}

static void queueing_is_never_above_the_roof(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < prop_cases(300); i++) {
        struct stat_roof r = any_roof(i);
        struct wr_rng g;

        wr_rng_init(&g, prop_seed(), i, 0x6d76);
        for (int k = 0; k < 40; k++) {
            double servers = 1 + wr_rng_below(&g, 20), clients = 1 + wr_rng_below(&g, 400);
            double at = wr_rng_below(&g, 2) ? wr_rng_unit(&g) : wr_rng_below(&g, 3) / 2.0;
            double roof = stat_roof_bound(&r, at, servers, clients);
            struct stat_range band = stat_roof_at(&r, servers, clients).client;

            for (int service = STAT_SERVICE_EXP; service <= STAT_SERVICE_DET; service++)
                assert_true(stat_roof_mva(&r, at, servers, clients, service) <= roof * (1 + 1e-12));
            /* The bound is between the ends of the band, and not below the middle of it. */
            assert_true(roof >= band.lo * (1 - 1e-12) && roof <= band.hi * (1 + 1e-12));
            assert_true(stat_roof_bound(&r, 0.5, servers, clients) >=
                        stat_range_mid(band) * (1 - 1e-12));
        }
    }
}

static const struct report_series *series_of(const struct report_figure *f, const char *begins)
{
    for (size_t i = 0; i < f->chart.nseries; i++)
        if (!strncmp(f->chart.series[i].name, begins, strlen(begins)))
            return &f->chart.series[i];
    fail_msg("no series %s", begins);
    return NULL;
}

/* The least of the bounds, drawn; and nothing of the model above it. */
static void assert_drawn_below(const struct report_figure *f, const struct stat_roof *r)
{
    const struct report_series *roof = series_of(f, "roof"), *mva = series_of(f, "with queueing");
    const struct report_series *best = series_of(f, "best of");

    bool corner = false;

    assert_int_equal(roof->n, mva->n);
    for (size_t i = 0; i < roof->n; i++) {
        double x = roof->point[i].x;

        assert_true(!i || x > roof->point[i - 1].x);
        corner = corner || fabs(x / (r->client.hi / r->server.hi) - 1) < 1e-9;
        assert_true(mva->point[i].y <= roof->point[i].y * (1 + 1e-12));
        assert_true(fabs(roof->point[i].y / fmin(r->client.hi, x * r->server.hi) - 1) < 1e-9);
    }
    assert_true(corner); /* the knee is drawn where it is */
    for (size_t i = 0; i < best->n; i++)
        assert_true(best->point[i].y <=
                    fmin(r->client.hi, best->point[i].x * r->server.hi) * (1 + 1e-9));
}

static void the_drawn_roof_is_above_the_drawn_queueing(void **state)
{
    struct place *p = *state;

    for (uint32_t i = 0; i < prop_cases(12); i++) {
        struct stat_roof r = any_roof(i);
        struct run_meta meta = {.command = "weir", .seed = 1};
        struct report_inputs in;
        struct report_doc doc;
        struct run *run;
        struct wr_err err;
        const double ends[] = {r.client.lo, r.client.hi, r.server.lo, r.server.hi};
        static const char *const names[] = {"client_min", "client_max", "server_min", "server_max"};

        must(run_create(&run, p->path, &meta, &err), err);
        for (int k = 0; k < 4; k++) {
            char key[48];

            snprintf(key, sizeof key, "roofline.rpc.%s", names[k]);
            must(run_put_real(run, key, 1e3 * ends[k], "1/s", &err), err);
        }
        must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
        must(report_inputs_open(&in, (const char *[]){p->path}, 1, &err), err);
        must(report_doc_open(&doc, &in, report_sections, "roofline", &err), err);
        assert_drawn_below(&doc.section.v[0].figure.v[0], &r);
        report_doc_close(&doc);
        report_inputs_close(&in);
        unlink(p->path);
    }
}

/* ---- windows ---- */

static const struct rpc_case cases[] = {
    {.name = "c", .op = RPC_OP_GET, .depth = 1, .size_b = 4096, .measures = RPC_MEASURES_CLIENT},
    {.name = "s", .op = RPC_OP_GET, .depth = 4, .size_b = 4096, .measures = RPC_MEASURES_SERVER},
    {.name = "p", .op = RPC_OP_GET, .depth = 1, .size_b = 4096, .measures = RPC_MEASURES_POINT},
};

static struct rpc_window any_window(struct wr_rng *g, uint32_t i)
{
    uint32_t of = i < 2 ? i : wr_rng_below(g, 3); /* C and S there are */
    struct rpc_window w = {.of = of,
                           .servers = 2,
                           .clients = of ? 4 : 1,
                           .client = of ? -1 : (int64_t)wr_rng_below(g, 4),
                           .server = of ? -1 : (int64_t)wr_rng_below(g, 2),
                           .foreign = wr_rng_below(g, 2) ? 0 : wr_rng_unit(g),
                           .lost = wr_rng_below(g, 2) ? 0 : wr_rng_unit(g)};

    w.rate = any(g, 1, 1e3) * (of ? 4 : 1);
    w.bps = 4096 * w.rate;
    return w;
}

static void no_measured_window_exceeds_the_roof_of_its_run(void **state)
{
    struct rpc_spec s = {.cases = {.items = (void *)cases, .n = 3}};

    (void)state;
    for (uint32_t i = 0; i < prop_cases(300); i++) {
        struct rpc_span c[RPC_METRICS], v[RPC_METRICS];
        struct rpc_window w[24];
        struct wr_rng g;

        wr_rng_init(&g, prop_seed(), i, 0x7769);
        size_t n = 2 + wr_rng_below(&g, 23);
        for (uint32_t k = 0; k < n; k++)
            w[k] = any_window(&g, k);
        rpc_peaks(c, v, w, n, &s);
        assert_true(c[1].n && v[1].n && c[1].lo <= c[1].hi && v[1].lo <= v[1].hi && v[1].lo > 0);
        struct stat_roof r = {.client = {c[1].lo, c[1].hi},
                              .server = {v[1].lo, v[1].hi},
                              .node = {INFINITY, INFINITY},
                              .per_node = 1};

        for (size_t k = 0; k < n; k++) {
            if (w[k].of == 2)
                assert_true(w[k].bps <= stat_roof_at(&r, 2, 4).total.hi * (1 + 1e-12));
            if (w[k].of == 0)
                assert_true(w[k].bps <= r.client.hi);
            if (w[k].of == 1)
                assert_true(w[k].bps / 2 <= r.server.hi);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queueing_is_never_above_the_roof),
        IN_PLACE(the_drawn_roof_is_above_the_drawn_queueing),
        cmocka_unit_test(no_measured_window_exceeds_the_roof_of_its_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
