/* Any bytes as the slices of a run file of two jobs: an analysis that adds up, or an error.
 *
 * Eight bytes make a slice; what the numbers mean is stretched so that odd ones are common.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interference/analyse.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const entities[] = {"rank:0.0", "rank:0.1", "rank:1.0",        "app:0",
                                       "app:1",    "rank:7.3", "rank:1.99999999", "rank:x"};
static const char *const metrics[] = {"write_bytes", "sync_time", "read_bytes", "inflight"};
static const double lengths[] = {0.25, 0.5, 0.3, 1e-3};

static void put(struct run *run, const uint8_t *b)
{
    struct wr_err err = {0};
    struct run_series s = {entities[b[0] % 8], metrics[b[1] % 4], "B",
                           (int64_t)(lengths[b[2] % 4] * 1e12)};
    double value = ((double)b[3] - (b[4] > 250 ? 128 : 0)) * pow(10, b[4] % 20);
    uint32_t id;

    if (!run_open_series(run, &s, &id, &err) ||
        !run_put_slice(run, id, ((int64_t)b[5] * 256 + b[6]) * s.dt_ps / (b[7] > 200 ? 3 : 1),
                       s.dt_ps, value, &err))
        return; /* the same slice twice: the rest is left out */
}

static bool make(const char *path, const uint8_t *data, size_t len)
{
    struct run_meta meta = {.kind = "fuzz", .force = true};
    struct run_app app = {.app = 0, .name = "A", .ranks = 2};
    struct wr_err err = {0};
    struct run *run;

    if (!run_create(&run, path, &meta, &err))
        return false;
    if (len && data[0] & 1)
        run_put_app(run, &app, &err);
    if (len && data[0] & 2)
        run_put_count(run, "epoch_ns", (uint64_t)data[0] << 50, "ns", &err);
    for (size_t i = 1; i + 8 <= len && i < 400; i += 8)
        put(run, data + i);
    return run_finish(run, RUN_INCOMPLETE, "fuzz", &err);
}

static void check(const struct interference_set *s)
{
    for (int active = INTERFERENCE_ALL_PROCESSES; active <= INTERFERENCE_NODES; active++) {
        struct interference_analysis a;
        struct wr_str words = {0};
        double sum = 0;

        interference_analyse(&a, s, NULL, (enum interference_active)active);
        for (size_t i = 0; i < s->njobs; i++) {
            if (!(s->job[i].volume_b > 0) || s->job[i].after <= s->job[i].first)
                abort();
            sum += a.job[i].share;
        }
        if (a.to > s->nslices || a.from > a.to ||
            (a.overlaps && s->njobs > 1 && fabs(sum - 1) > 1e-6 && a.total_bps > 0))
            abort();
        interference_verdict(s, &a, &words);
        wr_str_fini(&words);
        interference_analysis_fini(&a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[64];
    const char *list = path;
    struct interference_set s;
    struct wr_err err = {0};
    struct interference_load how = {
        .align = len && data[0] & 4 ? INTERFERENCE_BY_START : INTERFERENCE_BY_CLOCK,
        .op = len && data[0] & 8 ? INTERFERENCE_BOTH : INTERFERENCE_WRITE};

    snprintf(path, sizeof path, "/dev/shm/weir-fuzz-%ld.weir", (long)getpid());
    if (!make(path, data, len))
        return 0;
    if (interference_load(&s, &list, 1, &how, &err)) {
        check(&s);
        interference_set_fini(&s);
    } else if (err.code != WR_INPUT) {
        abort();
    }
    unlink(path);
    return 0;
}
