/* Any bytes as the slices and phases of a recorded job: a program whose ranks end and move what was
 * recorded, or one clear error.
 *
 * Eight bytes make a slice or a phase.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/kinds/load_kinds.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const entities[] = {"rank:0.0", "rank:0.1", "rank:1.0",        "app:0",
                                       "rank:0.2", "rank:7.3", "rank:0.99999999", "rank:0.x"};
static const char *const metrics[] = {"write_bytes", "write_calls", "write_time", "read_bytes",
                                      "read_calls",  "mpi_time",    "meta_time",  "sync_calls"};
static const char *const ops[] = {"read", "write", "open",    "sync",
                                  "mpi",  "meta",  "barrier", "mpiio"};

static void put_slice(struct run *run, const uint8_t *b)
{
    struct run_series s = {entities[b[0] % 8], metrics[b[1] % 8], "",
                           (1 + b[2] % 4) * INT64_C(1000000000)};
    double value = ((double)b[3] - (b[4] > 250 ? 128 : 0)) * pow(10, b[4] % 3);
    struct wr_err err = {0};
    uint32_t id;

    if (b[4] == 200)
        value = 1e25;
    if (run_open_series(run, &s, &id, &err))
        run_put_slice(run, id, ((int64_t)b[5] * 256 + b[6]) * s.dt_ps / (b[7] > 200 ? 3 : 1),
                      s.dt_ps, value, &err);
}

static void put_phase(struct run *run, const uint8_t *b, uint64_t seq)
{
    struct run_io_phase p = {.app = b[0] > 240,
                             .rank = b[0] % 4,
                             .seq = seq,
                             .op = ops[b[1] % 8],
                             .entity = b[1] & 8 ? "file:/a" : "file:/b",
                             .source = b[1] & 16 ? "measured" : "spread",
                             .t_ps = (int64_t)b[2] << b[3] % 50,
                             .dt_ps = (int64_t)b[3] << b[2] % 50,
                             .offset_b = b[4] & 1 ? RUN_NULL : (int64_t)b[4] << b[5] % 56,
                             .bytes = (int64_t)b[5] << b[4] % 56,
                             .n = 1 + b[6] % 40,
                             .io_ps = (int64_t)b[7] << b[6] % 50};
    struct wr_err err = {0};

    run_put_io_phase(run, &p, &err);
}

static bool make(const char *path, const uint8_t *data, size_t len)
{
    struct run_meta meta = {.kind = "fuzz", .force = true};
    struct run_app app = {.app = 0, .name = "A", .ranks = 3};
    struct wr_err err = {0};
    struct run *run;

    if (!run_create(&run, path, &meta, &err))
        return false;
    if (len && !(data[0] & 1))
        run_put_app(run, &app, &err);
    if (len && data[0] & 2)
        run_put_text(run, "file_mode", "shared", &err);
    for (size_t i = 1; i + 8 <= len && i < 400; i += 8)
        if (len && data[0] & 4)
            put_phase(run, data + i, i);
        else
            put_slice(run, data + i);
    return run_finish(run, RUN_INCOMPLETE, "fuzz", &err);
}

static void execute(const struct load *l)
{
    void *rank = calloc(1, l->rank_size);
    enum { MOST = 1 << 20 }; /* slices may have millions of calls */

    for (uint32_t i = 0; i < l->ranks; i++) {
        enum load_kind k = LOAD_LATER;

        l->ops->rank_init(l, rank, i);
        for (int n = 0; n < MOST && k != LOAD_END; n++) {
            struct load_op op = {0};

            k = l->ops->next(l, rank, 0, &op);
            if (k == LOAD_LATER || k == LOAD_FAIL || (k == LOAD_COMPUTE && !op.ps))
                abort();
        }
    }
    free(rank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *params[2];
    struct wr_err err = {0};
    char path[64];

    snprintf(path, sizeof path, "/tmp/weir-fuzz-replay-%d.weir", (int)getpid());
    if (!make(path, data, len)) { /* a slice twice: the writer refuses it */
        unlink(path);
        return 0;
    }
    params[0] = path;
    params[1] = "";
    for (const struct load_ops *const *o = load_table; *o; o++) {
        struct conf_plugin plug = {.kind = &(*o)->kind, .params = params};
        struct load l;

        if (strcmp((*o)->kind.name, "profile") != 0)
            continue;
        if (load_open(&l, &plug, &(struct load_start){0}, &err)) {
            execute(&l);
            load_close(&l);
        } else if (err.code != WR_INPUT || !strstr(err.text, path)) {
            abort();
        }
    }
    unlink(path);
    return 0;
}
