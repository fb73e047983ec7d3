/* sec_study.c -- what single runs show, for those runs of a study in which most jobs share the
 * machine. */
#include <stdlib.h>
#include <string.h>

#include "sec_links_priv.h"
#include "sec_machine_priv.h"
#include "sections_priv.h"

enum { MOST_DRAWN = 8, MOST_MACHINES = 4, MOST_TIMES = 3, CURVE_POINTS = 60 };

/* Those with the most jobs, as many as can be distinguished. */
static size_t sec_study_choose(const struct report_inputs *in, const struct report_member **ret,
                               size_t most)
{
    size_t jobs = 0, n = 0;

    for (size_t i = 0; i < in->runs.member.n; i++)
        jobs = in->runs.member.v[i].njobs > jobs ? in->runs.member.v[i].njobs : jobs;
    for (size_t i = 0; in->study && i < in->runs.member.n && n < most; i++)
        if (in->runs.member.v[i].njobs == jobs && in->runs.member.v[i].run)
            ret[n++] = &in->runs.member.v[i];
    return n;
}

/* "workload1, random, par" */
static const char *sec_study_name_of(const struct report_member *m, struct wr_arena *arena)
{
    struct wr_str s = {0};

    for (size_t i = 0; i < m->nchoices; i++)
        wr_str_addf(&s, "%s%s", s.n ? ", " : "", m->choice[i].label);
    const char *kept = s.n ? wr_arena_strdup(arena, s.s) : report_short_name(arena, m->path);

    wr_str_fini(&s);
    return kept;
}

/* The sentence, and how many of the runs with most jobs are drawn where not all are. */
static const char *sec_study_sentence(const struct report_inputs *in, struct report_section *s,
                                      size_t drawn, const char *what)
{
    const struct report_member **m = wr_zalloc(in->runs.member.n + 1, sizeof *m);
    size_t n = sec_study_choose(in, m, in->runs.member.n);

    free(m);
    return n <= drawn ? wr_arena_printf(s->arena, "%s.", what)
                      : wr_arena_printf(s->arena,
                                        "%s, of the first %zu of the %zu runs with most jobs; a "
                                        "report of one run has the same of it.",
                                        what, drawn, n);
}

static bool sec_study_make_links(const struct report_inputs *in, size_t which,
                                 struct report_section *s, struct wr_err *err)
{
    const struct report_member *m[MOST_DRAWN];
    static const char *const classes[] = {"local", "global"};
    size_t n = sec_study_choose(in, m, MOST_DRAWN);
    bool ok = true;

    (void)which;
    for (size_t c = 0; ok && c < 2; c++) {
        struct report_curves busy = {0}, saturated = {0};
        size_t before = s->figure.n;

        for (size_t i = 0; ok && i < n; i++) {
            struct links_read l;

            ok = links_read(&l, m[i]->run,
                            wr_arena_printf(s->arena, " AND class = '%s'", classes[c]), s->arena,
                            err);
            if (!ok)
                break;
            links_draw(s, &l, sec_study_name_of(m[i], s->arena), CURVE_POINTS, &busy, &saturated);
            links_fini(&l);
        }
        links_figures(s, &busy, &saturated, "the run ");
        for (size_t i = before; i < s->figure.n; i++) {
            s->figure.v[i].id = wr_arena_printf(s->arena, "%s-%s", s->figure.v[i].id, classes[c]);
            s->figure.v[i].chart.title =
                wr_arena_printf(s->arena, "%s, %s links", s->figure.v[i].chart.title, classes[c]);
        }
    }
    s->says = "CDFs of link utilisation and saturation in runs with all jobs of a workload.";
    return ok;
}

/* What to draw of the machine of one run. */
typedef bool draw_one(const struct machine *m, struct run_reader *r, struct report_section *s,
                      const char *id, const char *whose, struct wr_err *err);

static bool sec_study_make_drawn(const struct report_inputs *in, struct report_section *s,
                                 draw_one *fn, struct wr_err *err)
{
    const struct report_member *m[MOST_MACHINES];
    size_t n = sec_study_choose(in, m, MOST_MACHINES);
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        struct machine one;

        ok = machine_read(&one, m[i]->run, s, err);
        if (ok && one.n)
            ok = fn(&one, m[i]->run, s, wr_arena_printf(s->arena, "run%zu", i + 1),
                    wr_arena_printf(s->arena, ": %s", sec_study_name_of(m[i], s->arena)), err);
    }
    return ok;
}

static bool sec_study_draw_ring(const struct machine *m, struct run_reader *r,
                                struct report_section *s, const char *id, const char *whose,
                                struct wr_err *err)
{
    (void)r, (void)err;
    machine_draw(m, s, id, whose);
    return true;
}

static bool sec_study_make_machines(const struct report_inputs *in, size_t which,
                                    struct report_section *s, struct wr_err *err)
{
    (void)which;
    s->says =
        sec_study_sentence(in, s, MOST_MACHINES, "Placement of jobs and utilisation of links");
    return sec_study_make_drawn(in, s, sec_study_draw_ring, err);
}

static bool sec_study_draw_traffic(const struct machine *m, struct run_reader *r,
                                   struct report_section *s, const char *id, const char *whose,
                                   struct wr_err *err)
{
    size_t before = s->figure.n;

    if (!machine_flows(m, r, s, id, whose, false, err))
        return false;
    /* Files of before say what the links carried, and nothing of where it came from. */
    if (s->figure.n == before)
        machine_matrix(m, s, id, whose);
    return true;
}

static bool sec_study_make_traffic(const struct report_inputs *in, size_t which,
                                   struct report_section *s, struct wr_err *err)
{
    (void)which;
    s->says = sec_study_sentence(in, s, MOST_MACHINES,
                                 "Traffic matrix: bytes by group of source and destination");
    return sec_study_make_drawn(in, s, sec_study_draw_traffic, err);
}

static bool sec_study_make_times(const struct report_inputs *in, size_t which,
                                 struct report_section *s, struct wr_err *err)
{
    const struct report_member *m[MOST_MACHINES];
    /* The jobs of an experiment have a file each and are drawn together (sec_experiment.c). */
    size_t n = sections_is_experiment(in) ? 0 : sec_study_choose(in, m, MOST_MACHINES);
    bool ok = true;

    (void)which;
    for (size_t i = 0; ok && i < n; i++) {
        struct report_inputs one = {0};
        size_t before = s->figure.n;

        wr_vec_push(&one.v, (struct report_input){.run = m[i]->run, .path = m[i]->path});
        ok = report_time.make(&one, 0, s, err);
        wr_vec_fini(&one.v);
        if (s->figure.n > before + MOST_TIMES) /* what jobs moved comes first */
            s->figure.n = before + MOST_TIMES;
        for (size_t k = before; k < s->figure.n; k++) {
            s->figure.v[k].id = wr_arena_printf(s->arena, "%s-run%zu", s->figure.v[k].id, i + 1);
            s->figure.v[k].chart.title = wr_arena_printf(
                s->arena, "%s: %s", s->figure.v[k].chart.title, sec_study_name_of(m[i], s->arena));
        }
    }
    s->says = sec_study_sentence(in, s, n, "Activity of jobs over time");
    return ok;
}

const struct report_maker report_study_links = {
    .id = "study-links", .group = "study", .title = "Links", .make = sec_study_make_links};
const struct report_maker report_study_machines = {.id = "study-machine",
                                                   .group = "study",
                                                   .title = "The machine",
                                                   .make = sec_study_make_machines};
const struct report_maker report_study_traffic = {.id = "study-traffic",
                                                  .group = "study",
                                                  .title = "Traffic between groups",
                                                  .make = sec_study_make_traffic};
const struct report_maker report_study_times = {
    .id = "study-time", .group = "study", .title = "Over time", .make = sec_study_make_times};
