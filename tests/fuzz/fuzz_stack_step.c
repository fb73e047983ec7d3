/* Any bytes as commands of `weir stack step`: each line is one that can be obeyed, or one clear
 * error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stack/stack_step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct stack_fs *fs; /* reading it takes longer than the commands */
    struct wr_err err = {0};

    if (!fs && !stack_fs_open(&fs, "pvfs2", &err))
        abort();
    char *text = malloc(len + 1), *rest = text;

    memcpy(text, data, len);
    text[len] = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct stack_step_command c = {.n = 77};
        struct wr_err wrong = {0};

        if (!stack_step_parse(&c, line, fs, 2, 3, &wrong)) {
            if (wrong.code != WR_INPUT || !*wrong.text || c.n != 77)
                abort();
            continue;
        }
        if (c.what > STEP_QUIT || c.node >= 5 || !(c.speed >= 0) ||
            (c.what == STEP_UNTIL_STATE && c.state >= fs->state.n) ||
            (c.what == STEP_EVENTS && !c.n))
            abort();
    }
    free(text);
    return 0;
}
