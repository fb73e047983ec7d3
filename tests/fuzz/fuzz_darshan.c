/* Any bytes as a Darshan log: a log whose tables can be printed, or one clear error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "darshan/darshan.h"
#include "darshan/darshan_phases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static FILE *out;
    struct darshan_phases phases;
    struct darshan_log log;
    struct wr_err err = {0};

    if (!out && !(out = fopen("/dev/null", "w")))
        abort();
    if (!darshan_parse(&log, "fuzz", data, len, &err)) {
        if (err.code != WR_INPUT || !strstr(err.text, "fuzz"))
            abort();
        return 0;
    }
    darshan_put_counters(&log, out);
    darshan_put_segments(&log, out);
    if (darshan_phases_make(&phases, &log, &err))
        darshan_phases_fini(&phases);
    darshan_fini(&log);
    return 0;
}
