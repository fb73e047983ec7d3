/* Any bytes as a binary schedule: walked to its end, or one clear error. What is sound can be
 * written as text, and that text compiles. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "load/goal/goal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void through_text(const struct goal *g)
{
    struct wr_err err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (g->nranks > 64 || !goal_text_write(g, out, &err)) {
        fclose(out);
        free(text);
        return;
    }
    fclose(out);
    FILE *in = fmemopen(text, len, "r"), *binary = tmpfile();

    if (!goal_text_read(in, "again", binary, &err))
        abort();
    fclose(in);
    fclose(binary);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct goal_totals t;
    struct wr_err err = {0};
    struct goal g;

    if (!goal_open_mem(&g, "fuzz", data, len, &err) || !goal_check(&g, &t, &err)) {
        if (err.code != WR_INPUT)
            abort();
        return 0;
    }
    through_text(&g);
    return 0;
}
