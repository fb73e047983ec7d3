/* Any name of a file is that of a trial or not; one that is, written out, is read back the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = malloc(size + 1);
    struct run_trial t, back;

    if (!path)
        return 0;
    if (size)
        memcpy(path, data, size);
    path[size] = 0;
    if (run_trial_parse(&t, path)) {
        struct wr_str name = {0};

        run_trial_id(&name, &t);
        wr_str_addf(&name, ".%c.weir", run_trial_letter(t.job));
        if (!run_trial_parse(&back, wr_str_get(&name)) || back.n != t.n || back.job != t.job ||
            back.repetition != t.repetition || back.mode_len != t.mode_len ||
            memcmp(back.mode, t.mode, t.mode_len) != 0 ||
            memcmp(back.size, t.size, t.n * sizeof *t.size) != 0) {
            fprintf(stderr, "%s is not read back\n", wr_str_get(&name));
            abort();
        }
        wr_str_fini(&name);
    }
    free(path);
    return 0;
}
