/* Any bytes as an archive of profiles: its frames are read or refused, one by one. */
#include "prof/read/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prof_file f;
    struct wr_err err = {0};
    size_t at = 0;

    while (prof_archive_next(&f, "fuzz", (const char *)data, size, &at, &err)) {
        if (err.code == WR_NONE)
            prof_file_fini(&f);
        err = (struct wr_err){0};
    }
    return 0;
}
