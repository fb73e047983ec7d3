/* Any bytes as one of the files that timing models are taken from: samples with times that can be,
 * or nothing, or one clear error. The first byte says which file it is; `r`: runs.csv. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stack/stack_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_as(struct stack_log *log, unsigned what, char *text, size_t len)
{
    struct wr_err err = {0};
    struct stack_ior_out out;
    uint16_t test;
    bool ok = true;

    static const char *const names[] = {"F_S1P1_r0", "F_S1P1_r1", "A_S5P5_b0008_r0"};

    /* what all files but runs.csv are of */
    if (!stack_log_test(log, "log", 1, 1, "ior -a MPIIO -b 8m -t 8m -F", &test, &err))
        abort();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stack_listed of = {.test = test};

        strcpy(of.name, names[i]);
        wr_vec_push(&log->listed, of);
    }
    if (what == 0 || what == 1)
        ok = stack_log_text(log, "log", text, len, what, 0, test, &err);
    else if (what == 2)
        stack_log_calls(log, "calls", text, 0, test);
    else if (what == 3)
        ok = stack_log_ior(log, "ior.out", text, &out, &err);
    else if (what == 4)
        ok = stack_log_table(log, "table", text, NULL, &err);
    else
        ok = stack_log_runs(log, "runs.csv", text, &err);
    if (!ok && (err.code != WR_INPUT || !*err.text))
        abort();
    stack_log_nest(log, test);
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
    read_as(&log, *data == 'r' ? 5 : *data % 5, text, len - 1);
    stack_log_drop_duplicates(&log);
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
