/* Any bytes as a compressed text: plain bytes up to a limit, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST = 1 << 20 };

static bool count(void *ctx, const char *bytes, size_t n, struct wr_err *err)
{
    size_t *total = ctx;
    unsigned sum = 0;

    for (size_t i = 0; i < n; i++) /* all of them can be read */
        sum += (unsigned char)bytes[i];
    *total += n + (sum == 1);
    return *total <= MOST || wr_fail(err, WR_INPUT, "fuzz: too long");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct wr_err err = {0};
    size_t total = 0;

    if (!wr_unpack_knows((const char *)data, len))
        return 0;
    if (!wr_unpack("fuzz", (const char *)data, len, count, &total, &err) &&
        (err.code != WR_INPUT || strncmp(err.text, "fuzz", 4) != 0))
        abort();
    return 0;
}
