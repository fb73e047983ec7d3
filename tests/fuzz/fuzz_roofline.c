/* Any bytes as parameters of rooflines: roofs that are numbers, or one clear error. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/roofline_params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct roofline_params p;
    struct wr_err err = {0};

    if (!roofline_params_parse(&p, "fuzz", (const char *)data, len, 0, &err)) {
        if (err.code != WR_INPUT || strncmp(err.text, "fuzz", 4) != 0)
            abort();
        return 0;
    }
    for (size_t i = 0; i < p.system.n; i++)
        for (int m = 0; m < ROOFLINE_METRICS; m++) {
            const struct roofline_system *s = &p.system.v[i];

            if (!s->has[m])
                continue;
            struct stat_roof_point at = stat_roof_at(&s->roof[m], 3, 7);
            double mva = stat_roof_mva(&s->roof[m], 0.5, 3, 7, STAT_SERVICE_EXP);

            if (!(at.client.lo > 0 && at.client.lo <= at.client.hi * (1 + 1e-9)) || !(mva > 0) ||
                !(mva <= at.client.hi * (1 + 1e-9)))
                abort();
        }
    roofline_params_fini(&p);
    return 0;
}
