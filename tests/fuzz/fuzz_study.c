/* Any bytes as a study: runs with names of their own, or one clear error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct study *s)
{
    size_t n = study_runs(s);

    if (!n || n > STUDY_MOST_RUNS || !study_axes(s))
        abort();
    for (size_t i = 0; i < n && i < 100; i++) {
        const char *name = study_run(s, i)->name;
        struct wr_err err = {0};
        size_t at;

        if (!*name || strchr(name, '/') || !study_find(s, name, &at, &err) || at != i)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct wr_err err = {0};
    struct study *s;
    char path[40];
    int fd = memfd_create("study", 0);

    if (fd < 0 || write(fd, data, len) != (ssize_t)len)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (study_open(&s, path, NULL, 0, &err)) {
        check(s);
        study_close(s);
    } else if ((err.code != WR_INPUT && err.code != WR_UNKNOWN && err.code != WR_SYSTEM) ||
               !*err.text) {
        abort();
    }
    close(fd);
    return 0;
}
