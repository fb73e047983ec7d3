/* Any bytes as a table of probes: ordered positive numbers, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "state/probes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct wr_err err = {0};
    struct state_choice any = {.any_size = true};
    struct state_series *s;
    struct state_probes p;
    size_t n;

    if (!state_probes_parse(&p, "fuzz", (const char *)data, len, &err)) {
        if (err.code != WR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
            abort();
        return 0;
    }
    for (size_t i = 0; i < p.n; i++)
        if (!(p.v[i].latency_s > 0) || p.v[i].op >= p.nops || p.v[i].target >= p.ntargets)
            abort();
    if (state_choose(&s, &n, &p, "fuzz", &any, &err)) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 1; j < s[i].n; j++)
                if (s[i].t[j] < s[i].t[j - 1])
                    abort();
        for (size_t i = 0; i < n; i++)
            (void)state_rounding(s[i].latency, s[i].n);
        state_series_free(s, n);
    }
    state_probes_fini(&p);
    return 0;
}
