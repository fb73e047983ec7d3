/* sec_jobs.c -- the section "jobs" of one run: elapsed time of each job, box plots, causes. */
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "sec_boxes_priv.h"
#include "sections_priv.h"

struct job {
    int64_t app;
    const char *name;
};

struct jobs {
    struct wr_arena *arena;
    WR_VEC(struct job) v;
};

static bool sec_jobs_on_job(void *ctx, const struct run_rows *q)
{
    struct jobs *j = ctx;

    wr_vec_push(&j->v, (struct job){run_rows_int(q, 0),
                                    wr_arena_strdup(j->arena, run_rows_text(q, 1, NULL))});
    return j->v.n < 64;
}

static bool sec_jobs_draw_boxes(struct report_section *s, struct run_reader *r,
                                const struct jobs *jobs, struct wr_err *err)
{
    struct report_box(*all)[BOXES_OF] = wr_zalloc(jobs->v.n + 1, sizeof *all);
    struct report_box *b = wr_zalloc(jobs->v.n + 1, sizeof *b);
    bool ok = true;

    for (size_t i = 0; ok && i < jobs->v.n; i++)
        ok = boxes_read(all[i], r, jobs->v.v[i].app, err);
    for (enum boxes_of k = 0; ok && k < BOXES_OF; k++) {
        size_t n = 0;

        for (size_t i = 0; i < jobs->v.n; i++)
            if (all[i][k].n > 0) {
                b[n] = all[i][k];
                b[n].group = "";
                b[n++].name = jobs->v.v[i].name;
            }
        if (n)
            boxes_figure(s, boxes_kinds[k].id, boxes_kinds[k].title, boxes_kinds[k].label, b, n);
    }
    free(all);
    free(b);
    return ok;
}

static bool sec_jobs_draw_causes(struct report_section *s, struct run_reader *r,
                                 const struct jobs *jobs, struct wr_err *err)
{
    struct report_bar *bar = wr_zalloc(jobs->v.n + 1, sizeof *bar);
    bool ok = true;

    for (size_t i = 0; ok && i < jobs->v.n; i++) {
        struct boxes_causes c = {0};

        ok = boxes_causes(&c, r, jobs->v.v[i].app, s->arena, err);
        struct report_part *part = wr_arena_alloc(s->arena, (c.part.n + 1) * sizeof *part);

        if (c.part.n)
            memcpy(part, c.part.v, c.part.n * sizeof *part);
        bar[i] = (struct report_bar){jobs->v.v[i].name, "", part, c.part.n};
        wr_vec_fini(&c.part);
    }
    if (ok)
        boxes_bars(s, "causes", "Where the time of each job's mean rank goes", bar, jobs->v.n);
    free(bar);
    return ok;
}

static bool sec_jobs_make(const struct report_inputs *in, size_t which, struct report_section *s,
                          struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    struct jobs jobs = {.arena = s->arena};
    bool ok = run_each(r, "SELECT app, name FROM app_stat ORDER BY app", NULL, sec_jobs_on_job,
                       &jobs, err) &&
              sec_jobs_draw_causes(s, r, &jobs, err) && sec_jobs_draw_boxes(s, r, &jobs, err);

    if (ok && jobs.v.n)
        ok = report_add_query(
            s, "table", "The jobs, in ms; means over their ranks.", r,
            "SELECT name, ranks, round(elapsed_ns / 1e6, 6) AS \"elapsed ms\","
            " round(compute_mean_ns / 1e6, 6) AS \"compute ms\","
            " round(comm_mean_ns / 1e6, 6) AS \"comm ms\", round(io_mean_ns / 1e6, 6) AS \"io ms\","
            " msgs_sent, bytes_sent AS \"bytes_sent B\", bytes_read AS \"bytes_read B\","
            " bytes_written AS \"bytes_written B\" FROM app_stat ORDER BY app",
            NULL, err);
    if (jobs.v.n)
        s->says = wr_arena_printf(s->arena,
                                  jobs.v.n == 1 ? "Times of the job %s, by rank."
                                                : "Times of %s and the other jobs, by rank.",
                                  jobs.v.v[0].name);
    wr_vec_fini(&jobs.v);
    return ok;
}

const struct report_maker report_jobs = {
    .id = "jobs", .group = "run", .title = "Jobs", .each = true, .make = sec_jobs_make};
