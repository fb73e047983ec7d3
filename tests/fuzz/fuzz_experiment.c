/* Any bytes as an experiment: a plan whose commands can be made, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interference/experiment/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct experiment_values v = {"scratch", "socket", "run", 1};
    struct wr_err err = {0};
    struct experiment l;

    if (!experiment_open_text(&l, "fuzz", (const char *)data, len, "out", &err)) {
        if ((err.code != WR_INPUT && err.code != WR_UNKNOWN && err.code != WR_SYSTEM) || !*err.text)
            abort();
        return 0;
    }
    for (size_t i = 0; i < l.trials.n && i < 50; i++) {
        const struct experiment_trial *t = &l.trials.v[i];

        if (!t->n || t->n > EXPERIMENT_JOBS)
            abort();
        for (size_t k = 0; k < t->n; k++) {
            struct wr_str command = {0};

            experiment_command(&l, t, k, &v, &command);
            wr_str_fini(&command);
        }
    }
    experiment_close(&l);
    return 0;
}
