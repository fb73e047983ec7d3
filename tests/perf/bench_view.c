/* bench_view.c -- how long the viewer takes to answer for a run of a million slices.
 *
 *   bench.view DIR
 *
 * Makes run files in DIR, and asks for their whole report as a browser does, without the network
 * between: real and processor time, the best of several, and the length of the answer. Few long
 * series are the hard case, because all of them are drawn; so are many of which each shows
 * something for a mean.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "report/sections/sections.h"
#include "report/web/web.h"
#include "run/run.h"

enum { ROWS = 1000000, TIMES = 7, MOST_SERIES = 2000, GROUPS = 20 };

/* The name of its n-th series. */
static void of_job(char *into, size_t size, unsigned n)
{
    snprintf(into, size, "app:%u", n);
}

static void of_rank(char *into, size_t size, unsigned n)
{
    snprintf(into, size, "rank:%u.%u", n / 50, n % 50);
}

static void of_node(char *into, size_t size, unsigned n)
{
    snprintf(into, size, "node:%u", n);
}

static void of_links(char *into, size_t size, unsigned n)
{
    snprintf(into, size, "links:%u>%u", n / GROUPS, n % GROUPS);
}

static const struct shape {
    const char *file, *words;
    void (*entity)(char *into, size_t size, unsigned n);
    const char *metric, *unit;
    unsigned series, jobs;
} shapes[] = {
    {"jobs.weir", "10 series of 100,000 slices, of jobs", of_job, "write_bytes", "B", 10, 10},
    {"ranks.weir", "100 series of 10,000, of ranks", of_rank, "write_bytes", "B", 100, 2},
    {"nodes.weir", "1,000 series of 1,000, of nodes", of_node, "messages_queued", "", 1000, 0},
    {"links.weir", "400 series of 2,500, of links", of_links, "busy_time", "ns", 400, 0},
};

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool put_jobs(struct run *run, const struct shape *s, struct wr_err *err)
{
    bool ok = true;

    for (uint32_t k = 0; ok && k < s->jobs; k++) {
        char name[16];

        snprintf(name, sizeof name, "job%u", k);
        ok = run_put_app(
            run, &(struct run_app){.app = k, .name = name, .ranks = s->series / s->jobs}, err);
    }
    return ok;
}

/* One link from each group to each. */
static bool put_machine(struct run *run, struct wr_err *err)
{
    bool ok = run_put_count(run, "groups", GROUPS, "", err) &&
              run_put_count(run, "routers", GROUPS, "", err) &&
              run_put_real(run, "sim_end_ns", 2.5e6, "ns", err);

    for (uint32_t k = 0; ok && k < GROUPS * GROUPS; k++)
        ok = run_put_link(run,
                          &(struct run_link){.src_kind = "router",
                                             .dst_kind = "router",
                                             .cls = "global",
                                             .src = k / GROUPS,
                                             .dst = k % GROUPS,
                                             .port = (uint16_t)(k % GROUPS),
                                             .bytes = k},
                          err);
    return ok;
}

static bool put_slices(struct run *run, const struct shape *s, struct wr_err *err)
{
    uint32_t id[MOST_SERIES];
    uint64_t x = 1;
    bool ok = true;

    for (unsigned k = 0; ok && k < s->series; k++) {
        char entity[32];

        s->entity(entity, sizeof entity, k);
        ok = run_open_series(run, &(struct run_series){entity, s->metric, s->unit, 1000000}, &id[k],
                             err);
    }
    for (int64_t t = 0; ok && t < ROWS / s->series; t++)
        for (unsigned k = 0; ok && k < s->series; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            ok = run_put_slice(run, id[k], t * 1000000, 1000000, (double)(x >> 54), err);
        }
    return ok;
}

static bool make(const char *path, const struct shape *s, struct wr_err *err)
{
    struct run_meta meta = {.kind = "sim", .command = "bench.view", .force = true};
    struct run *run;

    if (!run_create(&run, path, &meta, err))
        return false;
    bool ok = put_jobs(run, s, err) && put_slices(run, s, err) &&
              (s->entity != of_links || put_machine(run, err));
    double t = seconds(CLOCK_PROCESS_CPUTIME_ID);

    ok = run_finish(run, RUN_COMPLETE, NULL, ok ? err : &(struct wr_err){0}) && ok;
    printf("%s: closing its file took %.0f ms of processor\n", s->words,
           1e3 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - t));
    return ok;
}

static bool ask(const char *path, const struct shape *s, struct wr_err *err)
{
    struct web_config c = {.operands = &path, .n = 1, .makers = report_sections};
    double real = 1e9, cpu = 1e9;
    struct wr_arena a = {0};
    struct web_request q;
    struct web_site site;
    char target[64];
    size_t len = 0;

    if (!web_open(&site, &c, err))
        return false;
    snprintf(target, sizeof target, "/api/report?run=%s", s->file);
    bool ok = web_parse(&q, target, &a);
    q.method = "GET";
    for (int i = 0; ok && i < TIMES; i++) {
        double r = seconds(CLOCK_MONOTONIC), p = seconds(CLOCK_PROCESS_CPUTIME_ID);
        struct web_answer answer;

        web_answer(&site, &q, &answer);
        r = seconds(CLOCK_MONOTONIC) - r;
        p = seconds(CLOCK_PROCESS_CPUTIME_ID) - p;
        real = r < real ? r : real;
        cpu = p < cpu ? p : cpu;
        len = answer.body.n;
        ok = answer.status == 200 || wr_fail(err, WR_BUG, "%s", wr_str_get(&answer.body));
        wr_str_fini(&answer.body);
    }
    wr_arena_fini(&a);
    web_close(&site);
    if (ok)
        printf("%*s answered in %.0f ms (%.0f ms of processor), %zu kB; at most 200 ms wanted\n", 6,
               "", 1e3 * real, 1e3 * cpu, len / 1000);
    return ok;
}

int main(int argc, char **argv)
{
    struct wr_err err = {0};

    if (argc != 2) {
        fprintf(stderr, "bench.view DIR\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", argv[1], shapes[i].file);
        if (!make(path, &shapes[i], &err) || !ask(path, &shapes[i], &err)) {
            fprintf(stderr, "bench.view: %s\n", err.text);
            return wr_exit_status(err.code);
        }
    }
    return 0;
}
