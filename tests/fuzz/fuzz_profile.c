/* Any bytes as a profile: read or refused, and what is read can be laid on slices. */
#include <stdlib.h>
#include <string.h>

#include "prof/read/profile_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prof_file *f = calloc(1, sizeof *f);
    struct wr_err err = {0};
    struct prof_job j = {0};

    if (!prof_file_parse(f, "fuzz", data, size, &err)) {
        free(f);
        return 0;
    }
    if (prof_job_make(&j, f, 1, &err)) {
        prof_job_fini(&j);
        return 0;
    }
    prof_file_fini(f);
    free(f);
    wr_str_fini(&j.warnings);
    return 0;
}
