/* Any bytes as measurements of a device: points that can be fitted, or one clear error. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/fit/fit_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

typedef bool parser(fit_points *ret, const char *name, const char *text, size_t len,
                    struct wr_err *err);

static void try(parser *parse, const uint8_t *data, size_t len)
{
    fit_points ps = {0};
    struct wr_err err = {0};

    if (!parse(&ps, "fuzz", (const char *)data, len, &err)) {
        if (err.code != WR_INPUT || strncmp(err.text, "fuzz:", 5) != 0 || ps.v)
            abort();
        return;
    }
    if (!ps.n || ps.n > FIT_MOST_POINTS)
        abort();
    for (size_t i = 0; i < ps.n; i++)
        if (!(ps.v[i].value > 0) || !isfinite(ps.v[i].value) || !ps.v[i].record_b ||
            ps.v[i].record_b > 1 << 30 || !ps.v[i].depth || ps.v[i].depth > FIT_MOST_DEPTH)
            abort();
    wr_vec_fini(&ps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try(fit_parse, data, len);
    try(fit_parse_csv, data, len);
    try(fit_parse_fio, data, len);
    return 0;
}
