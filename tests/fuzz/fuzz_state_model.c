/* Any bytes as a model: one that can be used on a series, or one clear error. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "state/hmm/work.h"
#include "state/model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const double x[] = {-5, -4, NAN, -3, -5.5, 2}, dt[] = {-1, 60, 61, 1e6, 0, 3};
    struct hmm_data d = {.n = 6, .x = x, .dt = dt};
    struct wr_err err = {0};
    struct hmm_model m;
    struct hmm_work w;

    if (!state_model_parse(&m, "fuzz", (const char *)data, len, &err)) {
        if (err.code != WR_INPUT || strncmp(err.text, "fuzz", 4) != 0)
            abort();
        return 0;
    }
    if (!hmm_work_init(&w, d.n, 0, m.k))
        abort();
    hmm_work_bind(&w, &d);
    m.nblocks = 1;
    double f = hmm_loglik(&w, &m);

    if (isnan(f) || f == INFINITY)
        abort();
    hmm_work_fini(&w);
    return 0;
}
