/* Any bytes as a table of slices: rows in order, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interference/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    for (int given = 0; given < 2; given++) {
        struct interference_import im;
        struct wr_err err = {0};

        if (!interference_import_parse(&im, "fuzz", (const char *)data, len, given ? 0.25 : 0,
                                       &err)) {
            if (err.code != WR_INPUT || strncmp(err.text, "fuzz", 4) != 0)
                abort();
            continue;
        }
        if (!im.rows.n || !(im.slice_s >= 0.0001))
            abort();
        for (size_t i = 1; i < im.rows.n; i++)
            if (strcmp(im.rows.v[i - 1].run, im.rows.v[i].run) > 0)
                abort();
        interference_import_fini(&im);
    }
    return 0;
}
