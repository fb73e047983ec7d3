/* Any bytes as a table of points: rows of finite numbers or none, or one clear error. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const names[] = {"series", "load", "accepted", "lat_mean_ns"};

static void row(void *ctx, const char *const *text, const double *col)
{
    (void)ctx;
    for (int i = 0; i < 4; i++)
        if (isinf(col[i]) || strlen(text[i]) > 1 << 20)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    for (uint32_t texts = 0; texts <= 5; texts += 5) { /* the first only; or the third too */
        struct wr_csv_place place;
        struct wr_csv_shape shape = {names, 4, 2, row, texts, &place};
        struct wr_err err = {0};

        if (!wr_csv_parse(&shape, "fuzz", (const char *)data, len, NULL, &err) &&
            (err.code != WR_INPUT || strncmp(err.text, "fuzz:", 5) != 0))
            abort();
    }
    return 0;
}
