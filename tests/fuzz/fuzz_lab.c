/* Any bytes as an experiment: a plan whose commands can be made, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inter/lab/lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct lab_values v = {"scratch", "socket", "run", 1};
    struct wr_err err = {0};
    struct lab l;

    if (!lab_open_text(&l, "fuzz", (const char *)data, len, "out", &err)) {
        if ((err.code != WR_INPUT && err.code != WR_UNKNOWN && err.code != WR_SYSTEM) || !*err.text)
            abort();
        return 0;
    }
    for (size_t i = 0; i < l.trials.n && i < 50; i++) {
        const struct lab_trial *t = &l.trials.v[i];

        if (!t->n || t->n > LAB_JOBS)
            abort();
        for (size_t k = 0; k < t->n; k++) {
            struct wr_str command = {0};

            lab_command(&l, t, k, &v, &command);
            wr_str_fini(&command);
        }
    }
    lab_close(&l);
    return 0;
}
