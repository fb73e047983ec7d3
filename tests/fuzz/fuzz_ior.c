/* Any bytes as an IOR command line: operations inside the file, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "load/ior/ior.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { TASKS = 3, MOST = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = wr_alloc(len + 1);
    struct wr_err err = {0};
    struct ior_test t;

    memcpy(text, data, len);
    text[len] = 0;
    if (!ior_parse(&t, text, TASKS, &err)) {
        if (err.code != WR_INPUT || strncmp(err.text, "ior: ", 5) != 0)
            abort();
        free(text);
        return 0;
    }
    struct ior_where w = {t.tasks ? (uint32_t)t.tasks : TASKS, 2, 1};
    uint64_t size = (uint64_t)t.block * (uint64_t)t.segments * (t.file_per_task ? 1 : w.ntasks);

    for (uint32_t i = 0; i < TASKS; i++) {
        struct ior_rank r;
        struct ior_event ev;

        ior_rank_init(&r, i);
        for (int n = 0; n < MOST && ior_next(&t, &w, &r, 0, &ev) != IOR_END; n++)
            if ((ev.op == IOR_WRITE || ev.op == IOR_READ) && ev.offset + ev.bytes > size)
                abort();
    }
    ior_fini(&t);
    free(text);
    return 0;
}
