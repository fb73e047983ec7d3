/* Any bytes as the log of a client: samples of states with times, or nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stack/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct stack_fs *fs; /* reading it takes longer than the log */
    struct wr_err err = {0};

    if (!fs && !stack_fs_open(&fs, "pvfs2", &err))
        abort();
    struct stack_log log = {.fs = fs};
    char *text = malloc(len + 1);

    memcpy(text, data, len);
    text[len] = 0;
    stack_log_text(&log, text, len, len & 1, 8);
    for (size_t i = 0; i < log.state.n; i++)
        if (log.state.v[i].state >= fs->state.n || log.state.v[i].exec_us < -2)
            abort();
    stack_log_fini(&log);
    free(text);
    return 0;
}
