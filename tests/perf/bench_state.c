/* bench_state.c -- what the recursions, a fit and the library cost, one core.
 *
 *   bench.state                all lines
 *   bench.state --library      only what the library costs
 *   bench.state --one-start N  seconds and log-likelihood of the fit that tools/msm.R makes
 *   bench.state --csv N FILE   only writes N simulated probes, for other programs to fit
 *
 * Processor time, the best of several repetitions, because the machine may be shared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "state/hmm/hmm_fit.h"
#include "state/lib/weir-state.h"
#include "state/model/simulate.h"

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const struct hmm_model truth = {
    .k = 3,
    .nblocks = 1,
    .initial = {1.0 / 3, 1.0 / 3, 1.0 / 3},
    .q = {{-5.56e-4, 4.17e-4, 1.39e-4, 8.33e-4, -1.666e-3, 8.33e-4, 2.78e-4, 5.56e-4, -8.34e-4}},
    .emit = {{-5.5728, 0.1}, {-5.0672, 0.09}, {-4.4228, 0.4}},
};

struct series {
    double *t, *x, *dt;
    struct hmm_data d;
    struct hmm_work w;
};

static void series_open(struct series *s, size_t n, bool regular)
{
    struct wr_rng g;

    s->t = malloc(n * sizeof *s->t);
    s->x = malloc(n * sizeof *s->x);
    s->dt = malloc(n * sizeof *s->dt);
    wr_rng_init(&g, 1, 1, 1);
    for (size_t i = 0; i < n; i++) {
        double step = regular ? 60 : 54 + 12 * wr_rng_unit(&g);

        s->t[i] = i ? s->t[i - 1] + step : 0;
        s->dt[i] = i ? step : -1;
    }
    state_simulate(s->x, NULL, s->t, n, &truth, truth.initial, &g);
    s->d = (struct hmm_data){.n = n, .x = s->x, .dt = s->dt};
    if (!hmm_work_init(&s->w, n, regular ? 1 : 0, 3))
        exit(4);
    hmm_work_bind(&s->w, &s->d);
}

static void series_close(struct series *s)
{
    hmm_work_fini(&s->w);
    free(s->t);
    free(s->x);
    free(s->dt);
}

static void time_loglik(const char *what, size_t n, bool regular)
{
    struct series s;
    double best = INFINITY, plain = INFINITY, f = 0, g = 0;

    series_open(&s, n, regular);
    for (int r = 0; r < 7; r++) {
        double a = now_s();

        f = hmm_loglik(&s.w, &truth);
        double b = now_s();

        g = r < 2 ? hmm_loglik_plain(&s.w, &truth) : g;
        double c = now_s();

        best = fmin(best, b - a);
        plain = r < 2 ? fmin(plain, c - b) : plain;
    }
    printf("%-44s %8.2f ns per observation; plain %.2f; they differ by %.1e\n", what,
           best / (double)n * 1e9, plain / (double)n * 1e9, fabs(f / g - 1));
    series_close(&s);
}

static void time_fits(void)
{
    struct series s;
    struct hmm_fit fit, again;
    double *scratch = malloc(hmm_fit_scratch(HMM_PARAMS) * sizeof *scratch), best = INFINITY;
    struct hmm_fit_opts o = {
        .k = 3, .starts = 8, .em_steps = 6, .finalists = 2, .grad_tol = 1e-3, .seed = 1};

    series_open(&s, 10080, true);
    for (int r = 0; r < 5; r++) {
        double a = now_s();

        hmm_fit(&fit, &s.w, &o, scratch);
        best = fmin(best, now_s() - a);
    }
    printf("%-44s %8.2f ms, %d evaluations\n", "fit of a week (10,080), 8 starts", 1e3 * best,
           fit.evaluations);
    series_close(&s);
    series_open(&s, 720, true);
    hmm_fit(&fit, &s.w, &o, scratch);
    /* The window has moved by one probe: the model is nearly right already. */
    s.d.n = 719;
    s.d.x++;
    s.dt[1] = -1;
    s.d.dt++;
    hmm_work_bind(&s.w, &s.d);
    best = INFINITY;
    for (int r = 0; r < 20; r++) {
        struct hmm_fit_opts warm = {.k = 3,
                                    .from = &fit.model,
                                    .em_steps = 1,
                                    .finalists = 1,
                                    .newton_most = 15,
                                    .grad_tol = 0.01};
        double a = now_s();

        hmm_fit(&again, &s.w, &warm, scratch);
        best = fmin(best, now_s() - a);
    }
    printf("%-44s %8.3f ms, %d evaluations\n", "re-fit of a window of 720", 1e3 * best,
           again.evaluations);
    series_close(&s);
    free(scratch);
}

/* One start from the values that tools/msm.R begins with. */
static int time_one_start(size_t n)
{
    static const struct hmm_model near = {
        .k = 3,
        .nblocks = 1,
        .initial = {1.0 / 3, 1.0 / 3, 1.0 / 3},
        .q = {{-5e-4, 4e-4, 1e-4, 8e-4, -1.6e-3, 8e-4, 3e-4, 5e-4, -8e-4}},
        .emit = {{-5.6, 0.1}, {-5, 0.1}, {-4.4, 0.4}},
    };
    struct hmm_fit_opts o = {
        .k = 3, .from = &near, .em_steps = 6, .finalists = 1, .grad_tol = 1e-3, .seed = 1};
    double *scratch = malloc(hmm_fit_scratch(HMM_PARAMS) * sizeof *scratch), best = INFINITY;
    struct series s;
    struct hmm_fit fit;

    if (!n || !scratch)
        return 2;
    series_open(&s, n, true);
    for (int r = 0; r < 5; r++) {
        double a = now_s();

        hmm_fit(&fit, &s.w, &o, scratch);
        best = fmin(best, now_s() - a);
    }
    double loglik = fit.loglik;

    for (size_t i = 0; i < n; i++)
        loglik -= s.x[i]; /* density of latency, not of its logarithm */
    printf("%.6f %.6f\n", best, loglik);
    series_close(&s);
    free(scratch);
    return 0;
}

/* Observations at a regular beat and at one that jitters, and questions. */
static void time_library(void)
{
    enum { N = 20000 };
    struct series s, jittered;
    struct weir_state_config c = {.size = sizeof c, .refit_every = -1};
    struct weir_state *w = weir_state_create(&c);
    double best[3] = {INFINITY, INFINITY, INFINITY}, sum = 0, t = 0;
    static const char *const what[] = {"library: one observation",
                                       "library: the same, all steps different",
                                       "library: one question (exceedance)"};

    series_open(&s, N, true);
    series_open(&jittered, N, false);
    for (int i = 0; i < N; i++)
        s.x[i] = exp(s.x[i]);
    for (int i = 0; i < 720; i++)
        weir_state_observe(w, t += 60, s.x[i]);
    weir_state_refit(w);
    for (int r = 0; r < 10; r++) {
        double at[4] = {now_s()};

        for (int i = 0; i < N; i++)
            weir_state_observe(w, t += 60, s.x[i]);
        at[1] = now_s();
        for (int i = 0; i < N; i++)
            weir_state_observe(w, t += fabs(jittered.dt[i]), s.x[i]);
        at[2] = now_s();
        for (int i = 0; i < N; i++)
            sum += weir_state_exceeds(w, 300, s.x[i]);
        at[3] = now_s();
        for (int i = 0; i < 3; i++)
            best[i] = fmin(best[i], at[i + 1] - at[i]);
    }
    for (int i = 0; i < 3; i++)
        printf("%-44s %8.1f ns%s\n", what[i], best[i] / N * 1e9, sum > 0 ? "" : " ?");
    weir_state_destroy(w);
    series_close(&s);
    series_close(&jittered);
}

static int write_csv(const char *count, const char *path)
{
    struct series s;
    size_t n = (size_t)strtoull(count, NULL, 10);
    FILE *f = fopen(path, "w");

    if (!f || !n)
        return 2;
    series_open(&s, n, true);
    fprintf(f, "t_seconds,op,bytes,latency_seconds\n");
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%.6f,write,1048576,%.9f\n", s.t[i], exp(s.x[i]));
    series_close(&s);
    return fclose(f) ? 4 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--csv"))
        return write_csv(argv[2], argv[3]);
    if (argc == 3 && !strcmp(argv[1], "--one-start"))
        return time_one_start((size_t)strtoull(argv[2], NULL, 10));
    if (argc == 2 && !strcmp(argv[1], "--library")) {
        time_library();
        return 0;
    }
    time_loglik("likelihood, regular grid, 100,000", 100000, true);
    time_loglik("likelihood, all steps different, 100,000", 100000, false);
    time_loglik("likelihood, regular grid, 1,000,000", 1000000, true);
    time_loglik("likelihood, regular grid, 10,000,000", 10000000, true);
    time_fits();
    time_library();
    return 0;
}
