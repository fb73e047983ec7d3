/* Any bytes as one of the files that laws are taken from: samples with times that can be, or
 * nothing, or one clear error. The first byte says which file it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stack/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_as(struct stack_log *log, unsigned what, char *text, size_t len)
{
    struct wr_err err = {0};
    uint64_t bytes;
    uint32_t tasks;
    bool ok = true;

    if (what == 0 || what == 1)
        ok = stack_log_text(log, "log", text, len, what, 0, 8, &err);
    else if (what == 2)
        stack_log_calls(log, "calls", text, 0, 8);
    else if (what == 3)
        ok = stack_log_ior(log, "ior.out", text, &bytes, &tasks, &err);
    else
        ok = stack_log_table(log, "table", text, NULL, &err);
    if (!ok && (err.code != WR_INPUT || !*err.text))
        abort();
    stack_log_nest(log, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct stack_fs *fs; /* reading it takes longer than the log */
    struct wr_err err = {0};

    if (!len || (!fs && !stack_fs_open(&fs, "pvfs2", &err)))
        return 0;
    struct stack_log log = {.fs = fs};
    char *text = malloc(len);

    memcpy(text, data + 1, len - 1);
    text[len - 1] = 0;
    read_as(&log, *data % 5, text, len - 1);
    stack_log_settle(&log);
    for (size_t i = 0; i < log.state.n; i++)
        if (log.state.v[i].state >= fs->state.n || log.state.v[i].exec_us < -2 ||
            log.state.v[i].io > 2)
            abort();
    for (size_t i = 0; i < log.op.n; i++)
        if (log.op.v[i].function >= fs->machine.n || !(log.op.v[i].seconds >= -2e-6))
            abort();
    stack_log_fini(&log);
    free(text);
    return 0;
}
