/* Any bytes as a file of cases: one that the model answers, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interference/interference_cases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void answer(const struct interference_cases *cs)
{
    json_t *all = interference_cases_json(cs);
    struct wr_err err = {0};
    size_t checked;

    if (json_array_size(json_object_get(all, "cases")) != cs->n)
        abort();
    if (!interference_cases_check(cs, &checked, &err) && err.code != WR_CHECK &&
        err.code != WR_INPUT)
        abort();
    json_decref(all);
}

/* Every job ends, not before it begins. */
static void solve(const struct interference_case *c)
{
    struct stat_share s;

    stat_share_solve(&s, c->job, c->napps, &c->capacity);
    for (size_t i = 0; i < c->napps; i++)
        if (!(s.runtime[i] >= 0) || !(s.runtime[i] < 1e40))
            abort();
    stat_share_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    for (int by = INTERFERENCE_WEIGHT_NODES; by <= INTERFERENCE_WEIGHT_EQUAL; by++) {
        struct interference_cases cs;
        struct wr_err err = {0};

        if (!interference_cases_parse(&cs, "fuzz", (const char *)data, len,
                                      (enum interference_weights)by, &err)) {
            if ((err.code != WR_INPUT && err.code != WR_UNKNOWN) ||
                strncmp(err.text, "fuzz:", 5) != 0)
                abort();
            continue;
        }
        for (size_t i = 0; i < cs.n; i++)
            solve(&cs.v[i]);
        answer(&cs);
        interference_cases_fini(&cs);
    }
    return 0;
}
