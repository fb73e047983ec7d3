/* The recursions of the hidden Markov model against enumeration, differences and closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "state/hmm/hmm_fit.h"

static void close_to(double got, double want, double rel)
{
    if (!(fabs(got - want) <= rel * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

enum { MOST = 4096 };

struct lab {
    double x[MOST], dt[MOST], lo[MOST], hi[MOST];
    uint8_t block[MOST];
    struct hmm_data d;
    struct hmm_work w;
    struct hmm_model m;
};

static struct lab *lab_open(size_t n, int k, uint64_t seed, bool regular)
{
    struct lab *l = calloc(1, sizeof *l);
    struct wr_rng g;

    wr_rng_init(&g, seed, 1, 1);
    for (size_t i = 0; i < n; i++) {
        l->x[i] = -5 + 0.7 * wr_rng_normal(&g);
        l->dt[i] = i ? (regular ? 60 : 20 + 80 * wr_rng_unit(&g)) : -1;
        l->lo[i] = l->x[i] - 0.05;
        l->hi[i] = l->x[i] + 0.05;
    }
    l->d = (struct hmm_data){.n = n, .x = l->x, .dt = l->dt};
    l->m = (struct hmm_model){.k = k, .nblocks = 1};
    for (int i = 0; i < k; i++) {
        l->m.initial[i] = 1.0 / k;
        l->m.emit[i][HMM_LOC] = -5.8 + 0.6 * i;
        l->m.emit[i][HMM_SPREAD] = 0.3 + 0.1 * i;
        l->m.emit[i][HMM_LOC2] = -5 + 0.2 * i;
        l->m.emit[i][HMM_SPREAD2] = 0.9;
        l->m.emit[i][HMM_WEIGHT2] = 0.2;
        for (int b = 0; b < 4; b++)
            for (int j = 0; j < k; j++)
                l->m.q[b][i * k + j] = 1e-3 * (b + 1) * (1 + i + 2 * j % 3) * (i != j);
    }
    hmm_tidy(&l->m);
    if (!hmm_work_init(&l->w, n, 0, k))
        fail_msg("no memory");
    hmm_work_bind(&l->w, &l->d);
    return l;
}

static void lab_close(struct lab *l)
{
    hmm_work_fini(&l->w);
    free(l);
}

/* exp(Q t) of two states is known. */
static void two_states_have_a_closed_form(void **state)
{
    (void)state;
    double a = 0.3, b = 0.07, q[4] = {-a, a, b, -b}, p[4];

    for (double t = 0; t < 1e5; t = 3 * t + 1e-6) {
        double e = exp(-(a + b) * t), up = -expm1(-(a + b) * t) * a / (a + b);

        hmm_expm(p, q, 2, t);
        close_to(p[1] / (up > 0 ? up : 1), up > 0 ? 1 : 0, 1e-12);
        close_to(p[3], (a + b * e) / (a + b), 1e-12);
        close_to(p[0] + p[1], 1, 1e-15);
    }
}

/* A jump that needs two steps at tiny rates keeps all its digits. */
static void small_probabilities_are_exact(void **state)
{
    (void)state;
    double e = 1e-14, q[9] = {-e, e, 0, 0, -e, e, 0, 0, 0}, p[9];

    hmm_expm(p, q, 3, 60);
    close_to(p[2] / (e * e * 1800), 1, 1e-9);
}

/* A chain through a cycle has complex eigenvalues, one through equal rates has multiple ones. */
static void any_generator_will_do(void **state)
{
    (void)state;
    double cycle[9] = {-1, 1, 0, 0, -1, 1, 1, 0, -1}, p[9], half[9], twice[9] = {0};

    hmm_expm(p, cycle, 3, 2.5);
    hmm_expm(half, cycle, 3, 1.25);
    for (int i = 0; i < 9; i++)
        for (int l = 0; l < 3; l++)
            twice[i] += half[i / 3 * 3 + l] * half[l * 3 + i % 3];
    for (int i = 0; i < 9; i++)
        close_to(p[i], twice[i], 1e-14);
    /* e^{-t} sum t^{3n}/(3n)! */
    double sum = 0, term = 1;

    for (int n = 0; n < 60; n++) {
        if (n % 3 == 0)
            sum += term;
        term *= 2.5 / (n + 1);
    }
    close_to(p[0], exp(-2.5) * sum, 1e-14);
}

/* The adjoint against differences of the exponential. */
static void the_adjoint_is_the_slope_of_the_exponential(void **state)
{
    (void)state;
    double q[9] = {-3, 2, 1, 0.5, -1, 0.5, 4, 1, -5}, v[9] = {1, 2, 0.3, 0.1, 4, 2, 1, 1, 3}, s[9];

    for (double t = 0.01; t < 50; t *= 7) {
        hmm_expm_adjoint(s, q, 3, t, v);
        for (int i = 0; i < 9; i++) {
            /* Entries are free here, so rows need not sum to 0: take differences of a plain series.
             */
            double sum[2] = {0}, h = 1e-6 * fabs(q[i]);

            for (int side = 0; side < 2; side++) {
                double a[9], e[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u[9];
                int squarings = 20;

                for (int j = 0; j < 9; j++)
                    a[j] = (q[j] + (j == i ? (side ? h : -h) : 0)) * t / (1 << squarings);
                for (int j = 0; j < 9; j++) {
                    double a2 = 0;

                    for (int l = 0; l < 3; l++)
                        a2 += a[j / 3 * 3 + l] * a[l * 3 + j % 3];
                    e[j] += a[j] + a2 / 2;
                }
                for (; squarings > 0; squarings--) {
                    for (int j = 0; j < 9; j++) {
                        u[j] = 0;
                        for (int l = 0; l < 3; l++)
                            u[j] += e[j / 3 * 3 + l] * e[l * 3 + j % 3];
                    }
                    memcpy(e, u, sizeof e);
                }
                for (int j = 0; j < 9; j++)
                    sum[side] += v[j] * e[j];
            }
            close_to(s[i], (sum[1] - sum[0]) / (2 * h), 2e-4);
        }
    }
}

/* All k^n hidden paths, added up. */
static double enumerate(const struct lab *l, double *ret_best)
{
    size_t n = l->d.n, paths = 1;
    int k = l->m.k;
    double sum = 0, best = 0;

    for (size_t i = 0; i < n; i++)
        paths *= (size_t)k;
    for (size_t code = 0; code < paths; code++) {
        size_t rest = code;
        int before = 0;
        double p = 1, e[HMM_STATES * HMM_STATES];

        for (size_t i = 0; i < n; i++, rest /= (size_t)k) {
            int now = (int)(rest % (size_t)k);

            hmm_expm(e, l->m.q[0], k, i ? l->dt[i] : 1);
            p *= l->dt[i] < 0 ? l->m.initial[now] : e[before * k + now];
            p *= exp(hmm_log_density(&l->m, now, l->x[i]));
            before = now;
        }
        sum += p;
        best = fmax(best, p);
    }
    *ret_best = log(best);
    return log(sum);
}

static void the_likelihood_is_the_sum_over_all_paths(void **state)
{
    (void)state;
    for (int k = 1; k <= 4; k++)
        for (int family = 0; family < HMM_FAMILIES; family++) {
            struct lab *l = lab_open(6, k, 7, false);
            double best, want;
            uint8_t path[6];

            l->m.family = (enum hmm_family)family;
            l->dt[3] = -1; /* a second series */
            hmm_work_bind(&l->w, &l->d);
            want = enumerate(l, &best);
            close_to(hmm_loglik(&l->w, &l->m), want, 1e-12);
            close_to(hmm_loglik_plain(&l->w, &l->m), want, 1e-12);
            close_to(hmm_viterbi(path, &l->w, &l->m), best, 1e-12);
            struct hmm_stats st;

            hmm_estep(&st, &l->w, &l->m);
            close_to(st.loglik, want, 1e-12);
            lab_close(l);
        }
}

/* Every slope, of every family, exact and rounded, with parts of the day. */
static void slopes_are_those_of_differences(void **state)
{
    (void)state;
    for (int family = 0; family < HMM_FAMILIES; family++)
        for (int kind = 0; kind < 4; kind++) {
            struct lab *l = lab_open(200, 3, 11, kind & 1);
            double g[HMM_PARAMS], theta[HMM_PARAMS];

            l->m.family = (enum hmm_family)family;
            if (kind & 2) {
                l->d.lo = l->lo;
                l->d.hi = l->hi;
                l->d.block = l->block;
                l->m.nblocks = 3;
                for (int i = 0; i < 200; i++)
                    l->block[i] = (uint8_t)(i / 5 % 3);
                l->x[17] = NAN; /* nothing seen */
                l->lo[17] = l->hi[17] = NAN;
            }
            hmm_tidy(&l->m);
            hmm_work_bind(&l->w, &l->d);
            hmm_params_get(theta, &l->m);
            hmm_gradient(g, &l->w, &l->m);
            for (int i = 0; i < hmm_nparams(&l->m); i++) {
                double was = theta[i], f[2];

                for (int side = 0; side < 2; side++) {
                    theta[i] = was + (side ? 1e-5 : -1e-5);
                    hmm_params_set(&l->m, theta);
                    f[side] = hmm_loglik(&l->w, &l->m);
                }
                theta[i] = was;
                hmm_params_set(&l->m, theta);
                close_to(g[i], (f[1] - f[0]) / 2e-5, 2e-6);
            }
            lab_close(l);
        }
}

static void em_never_goes_down(void **state)
{
    (void)state;
    for (int family = 0; family < HMM_FAMILIES; family++)
        for (int rounded = 0; rounded < 2; rounded++) {
            struct lab *l = lab_open(300, 3, 5, false);
            double last = -INFINITY;

            if (rounded) {
                l->d.lo = l->lo;
                l->d.hi = l->hi;
            }
            l->m.family = (enum hmm_family)family;
            hmm_work_bind(&l->w, &l->d);
            for (int i = 0; i < 40; i++) {
                double f = hmm_em_step(&l->w, &l->m, HMM_INITIAL_ESTIMATED, 1e-3, 10);

                if (!(f >= last - 1e-9))
                    fail_msg("family %d: step %d went from %.12g to %.12g", family, i, last, f);
                last = f;
            }
            lab_close(l);
        }
}

/* Far out, where every density underflows, the likelihood is still a number. */
static void outliers_do_not_underflow(void **state)
{
    (void)state;
    struct lab *l = lab_open(100, 3, 3, true);

    for (int s = 0; s < 3; s++)
        l->m.emit[s][HMM_SPREAD] = 0.01;
    l->m.q[0][1] = l->m.q[0][2] = 0; /* never leaves the first state */
    hmm_tidy(&l->m);
    l->x[50] = 40;
    hmm_work_bind(&l->w, &l->d);
    double f = hmm_loglik(&l->w, &l->m);

    assert_true(isfinite(f) && f < -1e6);
    lab_close(l);
}

static void a_missing_observation_changes_nothing_but_time(void **state)
{
    (void)state;
    struct lab *l = lab_open(50, 3, 9, false);
    double whole, split, step = l->dt[20];

    whole = hmm_loglik(&l->w, &l->m);
    memmove(l->x + 21, l->x + 20, 29 * sizeof *l->x);
    memmove(l->dt + 21, l->dt + 20, 29 * sizeof *l->dt);
    l->x[20] = NAN;
    l->dt[20] = 0.3 * step;
    l->dt[21] = 0.7 * step;
    double last = l->x[49];
    struct lab *longer = lab_open(51, 3, 9, false);

    memcpy(longer->x, l->x, 50 * sizeof *l->x);
    memcpy(longer->dt, l->dt, 50 * sizeof *l->dt);
    struct lab *fresh = lab_open(50, 3, 9, false);

    longer->x[50] = fresh->x[49];
    longer->dt[50] = fresh->dt[49];
    hmm_work_bind(&longer->w, &longer->d);
    split = hmm_loglik(&longer->w, &longer->m);
    close_to(split, whole, 1e-12);
    assert_true(!isnan(last));
    lab_close(l);
    lab_close(longer);
    lab_close(fresh);
}

static void time_to_a_state_follows_from_its_rates(void **state)
{
    (void)state;
    double q[9] = {-1, 1, 0, 0.5, -1, 0.5, 0, 2, -2}, t[3];

    hmm_time_to(t, q, 3, 0);
    /* t1 = 1 + t2/2, t2 = 1/2 + t1 */
    close_to(t[0], 0, 0);
    close_to(t[1], 2.5, 1e-14);
    close_to(t[2], 3, 1e-14);
    double never[4] = {0, 0, 1, -1};

    hmm_time_to(t, never, 2, 1);
    assert_true(isinf(t[0]));
}

/* Whatever the processor offers gives what the plainest code gives: on a grid, with jitter, with
 * gaps, with several series, with observations missing, with densities whose ratios have no bound,
 * and with a length that no number of lanes divides. */
static void every_kernel_gives_the_same(void **state)
{
    (void)state;
    for (int k = 2; k <= 4; k++)
        for (int kind = 0; kind < 6; kind++) {
            struct lab *l = lab_open(2003, k, 21, kind != 1);

            for (int i = 1; i < 2003; i++) {
                if (kind == 2 && i % 97 == 0)
                    l->dt[i] = 1e4 + i;
                if (kind == 3 && i % 500 == 0)
                    l->dt[i] = -1;
                if (kind == 4 && i % 31 == 0)
                    l->x[i] = NAN;
            }
            for (int i = 0; kind == 5 && i < k; i++)
                l->m.emit[i][HMM_SPREAD] = 0.02;
            hmm_work_bind(&l->w, &l->d);
            double want = hmm_loglik_plain(&l->w, &l->m), expected = NAN;
            int kernels = 0;

            for (const char *name; (name = hmm_work_kernels(&l->w, kernels)); kernels++) {
                struct hmm_stats st;

                close_to(hmm_loglik(&l->w, &l->m), want, 1e-12);
                hmm_estep(&st, &l->w, &l->m);
                close_to(st.loglik, want, 1e-12);
                if (kernels)
                    close_to(st.s[0][1], expected, 1e-12);
                expected = st.s[0][1];
                if (k == 2 && kind == 0)
                    print_message("%s\n", name);
            }
            assert_true(kernels >= 1);
            lab_close(l);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_states_have_a_closed_form),
        cmocka_unit_test(small_probabilities_are_exact),
        cmocka_unit_test(any_generator_will_do),
        cmocka_unit_test(the_adjoint_is_the_slope_of_the_exponential),
        cmocka_unit_test(the_likelihood_is_the_sum_over_all_paths),
        cmocka_unit_test(slopes_are_those_of_differences),
        cmocka_unit_test(em_never_goes_down),
        cmocka_unit_test(outliers_do_not_underflow),
        cmocka_unit_test(every_kernel_gives_the_same),
        cmocka_unit_test(a_missing_observation_changes_nothing_but_time),
        cmocka_unit_test(time_to_a_state_follows_from_its_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
