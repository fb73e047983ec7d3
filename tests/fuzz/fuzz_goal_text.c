/* Any bytes as the text of a schedule: a binary one that can be walked, or one clear error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/goal/goal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* More than 9999 ranks: each costs 16 bytes of the output, which is slow and finds nothing. The
 * number stands before the first brace, perhaps behind comments. */
static int many_ranks(const uint8_t *data, size_t len)
{
    int digits = 0;

    for (size_t i = 0; i < len && data[i] != '{'; i++) {
        digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
        if (digits > 4)
            return 1;
    }
    return 0;
}

static void walk(FILE *binary)
{
    long len = (fseek(binary, 0, SEEK_END), ftell(binary));
    char *bytes = malloc((size_t)len);
    struct goal_totals t;
    struct wr_err err = {0};
    struct goal g;

    rewind(binary);
    if (fread(bytes, 1, (size_t)len, binary) != (size_t)len)
        abort();
    if (!goal_open_mem(&g, "fuzz", bytes, (size_t)len, &err))
        abort();
    /* The only thing that can be wrong with what we wrote ourselves. */
    if (!goal_check(&g, &t, &err) && !strstr(err.text, "never started"))
        abort();
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct wr_err err = {0};

    if (!len || many_ranks(data, len))
        return 0;
    FILE *in = fmemopen((void *)(uintptr_t)data, len, "r"), *out = tmpfile();

    if (goal_text_read(in, "fuzz", out, &err))
        walk(out);
    else if (err.code != WR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
        abort();
    fclose(in);
    fclose(out);
    return 0;
}
