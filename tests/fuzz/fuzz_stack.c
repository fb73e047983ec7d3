/* Any bytes as a machine file: a file system that a small test runs through, or one clear error. */
#include <stdint.h>
#include <stdlib.h>

#include "stack/stack_drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char no_timings[] = "title: none\nstates: {}\n";

/* A machine may well go around for ever; then it is stopped. */
static void try_run(const struct stack_fs *fs, enum stack_api api)
{
    static const char *const commands[STACK_APIS][2] = {
        {"ior -a MPIIO -b 1m -t 512k", "ior -a MPIIO -b 1m -t 512k -e"},
        {"ior -a POSIX -b 1m -t 512k", "ior -a POSIX -b 1m -t 512k -e"}};
    bool syncs = fs->operation[api][STACK_OP_SYNC] != STACK_NONE;
    struct wr_err err = {0};
    struct stack_timings *timings;
    struct ior_test test;
    struct stack_drive *d;

    if (!stack_timings_open_text(&timings, fs, "none", no_timings, sizeof no_timings - 1, &err) ||
        !ior_parse(&test, commands[api][syncs], 2, &err))
        abort();
    struct stack_setup setup = {.fs = fs, .timings = timings, .servers = 3, .start = UINT32_MAX};

    if (!stack_drive_open(&d, &setup, &test, 2, 1, &err))
        abort();
    stack_drive_begin(d);
    for (int i = 0; i < 3 && stack_engine_run(stack_drive_engine(d), STACK_FOREVER, 1000); i++)
        ;
    stack_drive_close(d);
    ior_fini(&test);
    stack_timings_close(timings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct wr_err err = {0};
    struct stack_fs *fs;

    if (len > 1 << 16)
        return 0;
    if (!stack_fs_open_text(&fs, "fuzz", (const char *)data, len, &err)) {
        if ((err.code != WR_INPUT && err.code != WR_UNKNOWN) || !*err.text)
            abort();
        return 0;
    }
    for (int api = 0; api < STACK_APIS; api++)
        if (fs->operation[api][STACK_OP_WRITE] != STACK_NONE)
            try_run(fs, (enum stack_api)api);
    stack_fs_close(fs);
    return 0;
}
