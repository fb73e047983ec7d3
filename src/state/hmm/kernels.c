/* kernels.c -- the plain kernels, and the choice among those that this processor can run. */
#include <math.h>

#include "hmm_priv.h"
#include "state/hmm/work.h"

static double kernels_emit(double *b, const double *x, size_t n, const struct hmm_normal *e, int k)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double *to = b + i * (size_t)k, most = -INFINITY;

        for (int s = 0; s < k; s++) {
            double z = (x[i] - e->mu[s]) * e->isd[s];

            to[s] = e->add[s] - 0.5 * z * z;
            most = to[s] > most ? to[s] : most;
        }
        bool missing = isnan(x[i]);

        for (int s = 0; s < k; s++)
            to[s] = missing ? 1 : exp(to[s] - most);
        sum += missing ? 0 : most;
    }
    return sum;
}

const struct hmm_kernels *hmm_kernels_plain(void)
{
    static const struct hmm_kernels table = {"plain", kernels_emit, NULL};

    return &table;
}

/* Those this processor can run, best first; ends with NULL. */
static void kernels_list(const struct hmm_kernels *ret[4])
{
    int n = 0;

#ifdef HMM_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        ret[n++] = hmm_kernels_avx512();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        ret[n++] = hmm_kernels_avx2();
#endif
    ret[n++] = hmm_kernels_plain();
    ret[n] = NULL;
}

const struct hmm_kernels *hmm_kernels_best(void)
{
    const struct hmm_kernels *all[4];

    kernels_list(all);
    return all[0];
}

const char *hmm_work_kernels(struct hmm_work *w, int index)
{
    const struct hmm_kernels *all[4];
    int n = 0;

    kernels_list(all);
    while (n < index && all[n])
        n++;
    if (!all[n])
        return NULL;
    w->kernels = all[n];
    return all[n]->name;
}
