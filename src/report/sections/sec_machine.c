/* sec_machine.c -- the machine drawn, and what went from group to group over its links.
 *
 * Routers are numbered group after group, so that a group is a range of routers.
 */
#include "sec_machine_priv.h"
#include "sections_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

#include "run/slices.h"

struct reading {
    struct machine *m;
    struct wr_arena *arena;
    double per_group, end_ns;
    WR_VEC(int) group; /* of each node */
    /* Of each series of links that is drawn, by its id: 1 + 2 * pair, or 2 + 2 * pair where it is
     * of saturation. */
    WR_VEC(uint32_t) of_series;
};

static bool sec_machine_on_links(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    double a = run_rows_real(q, 0), b = run_rows_real(q, 1);

    if (!(a >= 0 && a < (double)in->m->n && b >= 0 && b < (double)in->m->n))
        return true;
    in->m->pair[(size_t)a * in->m->n + (size_t)b] =
        (struct machine_pair){.links = run_rows_real(q, 2),
                              .bytes = run_rows_real(q, 3),
                              .busy = run_rows_real(q, 4) / in->end_ns,
                              .saturated = run_rows_real(q, 5) / in->end_ns};
    return true;
}

/* The group of each node. */
static bool sec_machine_on_node(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    int64_t node = run_rows_int(q, 0);

    if (node < 0 || node > 1 << 24)
        return true;
    while (in->group.n <= (size_t)node)
        wr_vec_push(&in->group, -1);
    double g = run_rows_real(q, 1) / in->per_group;
    in->group.v[node] = g >= 0 && g < (double)in->m->n ? (int)g : -1;
    return true;
}

/* Ranks come job by job: the last of a group's jobs is the one that is counted. */
static bool sec_machine_on_rank(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    size_t node = (size_t)run_rows_int(q, 0);
    int g = node < in->group.n ? in->group.v[node] : -1;
    const char *name = run_rows_text(q, 1, NULL);

    if (g < 0 || (size_t)g >= in->m->n)
        return true;
    struct report_spot *s = &in->m->spot[g];
    struct report_part *last = s->njobs ? (struct report_part *)&s->job[s->njobs - 1] : NULL;

    if (last && !strcmp(last->name, name)) {
        last->value++;
        return true;
    }
    struct report_part *job = wr_arena_alloc(in->arena, (s->njobs + 1) * sizeof *job);

    if (s->job)
        memcpy(job, s->job, s->njobs * sizeof *job);
    job[s->njobs++] = (struct report_part){.name = wr_arena_strdup(in->arena, name), .value = 1};
    s->job = job;
    return true;
}

/* Of "links:A>B": which series they are, and their slices, gathered into the few that are drawn. */
static bool sec_machine_on_series(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    int64_t id = run_rows_int(q, 0);
    double a = run_rows_real(q, 1), b = run_rows_real(q, 2);

    if (!(a >= 0 && a < (double)in->m->n && b >= 0 && b < (double)in->m->n) || id < 0 ||
        id > 1 << 24)
        return true;
    while (in->of_series.n <= (size_t)id)
        wr_vec_push(&in->of_series, 0);
    in->of_series.v[id] = 2 * (uint32_t)(a * (double)in->m->n + b) + 1 + (run_rows_int(q, 3) != 0);
    return true;
}

static bool sec_machine_on_slice(void *ctx, const struct run_heap *h)
{
    struct reading *in = ctx;
    struct machine *m = in->m;
    uint32_t which = in->of_series.v[h->series] - 1;
    double links = m->pair[which / 2].links, at = (double)h->t_ps / 1e3 / m->dt_ns;

    if (!(at >= 0 && links > 0))
        return true;
    size_t k = at < (double)m->nslices ? (size_t)at : m->nslices - 1;

    m->slice[which % 2][which / 2 * m->nslices + k] += h->sum / m->dt_ns / links;
    return true;
}

/* As many slices as a page may hold; none where the run has none. */
static bool sec_machine_read_slices(struct reading *in, struct run_reader *r, struct wr_err *err)
{
    struct machine *m = in->m;
    double dt = 0, pairs = 0;
    struct run_slices slices;
    bool found = false;

    if (!run_number(r, "SELECT min(dt_ns) FROM series WHERE entity GLOB 'links:*'", &dt, &found,
                    err))
        return false;
    for (size_t i = 0; i < m->n * m->n; i++)
        pairs += m->pair[i].links > 0;
    double most = fmin(MACHINE_SLICES, floor(MACHINE_NUMBERS / fmax(pairs, 1)));
    /* Of the last slice, which the run's end cut short, nothing is written. */
    double all = found && dt > 0 ? floor(in->end_ns / dt + 1e-6) : 0;
    if (all < 2 || most < 2)
        return true;
    if (!run_slices(&slices, r, err))
        return false;
    /* What is gathered by eights fits into slices that are at least that long. */
    double least = (double)slices.dt_ps / 1e3 * RUN_GATHER, per = ceil(all / most);
    bool gathered = slices.gathered && dt * per >= least;

    m->dt_ns = gathered ? least * ceil(dt * per / least) : dt * per;
    m->nslices = wr_index(ceil(all * dt / m->dt_ns), MACHINE_SLICES + 1);
    for (int k = 0; k < 2; k++)
        m->slice[k] = wr_arena_alloc(in->arena, m->n * m->n * m->nslices * sizeof(double));
    return run_each(r,
                    "SELECT s.id, CAST(substr(e.text, 7) AS INTEGER), CAST(substr(e.text,"
                    " instr(e.text, '>') + 1) AS INTEGER), m.text = 'saturated_time' FROM"
                    " fact_series s JOIN dict e ON e.id = s.entity JOIN dict m ON m.id = s.metric"
                    " WHERE e.text GLOB 'links:*'",
                    NULL, sec_machine_on_series, in, err) &&
           run_each_slice(r, &slices, in->of_series.v, in->of_series.n, gathered,
                          sec_machine_on_slice, in, err);
}

static void sec_machine_place_spots(struct machine *m, struct wr_arena *arena)
{
    for (size_t i = 0; i < m->n; i++) {
        double at = 2 * M_PI * (double)i / (double)m->n;

        m->spot[i] = (struct report_spot){.label = wr_arena_printf(arena, "group %zu", i),
                                          .x = 0.93 * sin(at),
                                          .y = -0.93 * cos(at)};
    }
}

static bool sec_machine_key_number(struct run_reader *r, const char *key, double *ret,
                                   struct wr_err *err)
{
    char sql[96];
    bool found = false;

    *ret = 0;
    snprintf(sql, sizeof sql, "SELECT value FROM summary WHERE key = '%s'", key);
    return run_number(r, sql, ret, &found, err);
}

bool machine_read(struct machine *ret, struct run_reader *r, struct report_section *s,
                  struct wr_err *err)
{
    double groups, routers, end_ns;
    struct machine m = {0};

    if (!sec_machine_key_number(r, "groups", &groups, err) ||
        !sec_machine_key_number(r, "routers", &routers, err) ||
        !sec_machine_key_number(r, "sim_end_ns", &end_ns, err))
        return false;
    *ret = m;
    if (!(groups >= 3 && groups <= MACHINE_MOST) || fmod(routers, groups) != 0 || !(end_ns > 0))
        return true;
    m.n = (size_t)groups;
    m.nslices = 1;
    m.pair = wr_arena_alloc(s->arena, m.n * m.n * sizeof *m.pair);
    m.spot = wr_arena_alloc(s->arena, m.n * sizeof *m.spot);
    sec_machine_place_spots(&m, s->arena);
    struct reading in = {
        .m = &m, .arena = s->arena, .per_group = routers / groups, .end_ns = end_ns};
    const char *links = wr_arena_printf(
        s->arena,
        "SELECT CAST(src / %g AS INTEGER) AS a, CAST(dst / %g AS INTEGER) AS b, count(*),"
        " sum(bytes), sum(busy_ns), sum(saturated_ns) FROM link_stat WHERE src_kind = 'router' AND"
        " dst_kind = 'router' GROUP BY 1, 2",
        in.per_group, in.per_group);
    bool ok =
        run_each(r, links, NULL, sec_machine_on_links, &in, err) &&
        run_each(r, "SELECT src, dst FROM link_stat WHERE src_kind = 'node'", NULL,
                 sec_machine_on_node, &in, err) &&
        run_each(r, "SELECT node, app_name FROM rank_stat WHERE node IS NOT NULL ORDER BY app",
                 NULL, sec_machine_on_rank, &in, err) &&
        sec_machine_read_slices(&in, r, err);
    wr_vec_fini(&in.group);
    wr_vec_fini(&in.of_series);
    if (!ok)
        return false;
    *ret = m;
    return true;
}

/* Of each pair of groups that have links, and of each group its own. */
static size_t sec_machine_list_bundles(const struct machine *m, struct report_section *s,
                                       struct report_bundle **ret)
{
    struct report_bundle *b = wr_arena_alloc(s->arena, (m->n * m->n + 1) * sizeof *b);
    size_t n = 0;

    for (size_t i = 0; i < m->n * m->n; i++) {
        const struct machine_pair *p = &m->pair[i];
        double *v;

        if (!(p->links > 0))
            continue;
        v = wr_arena_alloc(s->arena, 2 * sizeof *v);
        v[0] = p->busy / p->links;
        v[1] = p->saturated / p->links;
        b[n] = (struct report_bundle){.a = (uint32_t)(i / m->n),
                                      .b = (uint32_t)(i % m->n),
                                      .cls = i / m->n == i % m->n ? "local" : "global",
                                      .n = p->links,
                                      .load = m->slice[0] ? m->slice[0] + i * m->nslices : &v[0],
                                      .sat = m->slice[1] ? m->slice[1] + i * m->nslices : &v[1]};
        n++;
    }
    *ret = b;
    return n;
}

void machine_draw(const struct machine *m, struct report_section *s, const char *id,
                  const char *whose)
{
    struct report_bundle *b;
    size_t n = sec_machine_list_bundles(m, s, &b);
    const struct report_bundle *top = NULL;

    double most = -1;

    for (size_t i = 0; i < n; i++) {
        const struct machine_pair *p = &m->pair[b[i].a * m->n + b[i].b];

        if (p->busy / p->links > most) {
            most = p->busy / p->links;
            top = &b[i];
        }
    }
    if (!top)
        return;
    struct report_figure *f = report_add_figure(s, id, REPORT_MACHINE);
    f->machine = (struct report_machine){.spot = m->spot,
                                         .nspots = m->n,
                                         .bundle = b,
                                         .nbundles = n,
                                         .nslices = m->nslices,
                                         .dt_ns = m->dt_ns};
    f->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "Topology and link utilisation%s", whose),
        .desc = wr_arena_printf(
            s->arena,
            "%zu groups of routers in a ring; the strength of a line is the utilisation of "
            "its links, a rim has the colour of the job with most ranks there. The busiest links, "
            "%s %s%s%s, have a utilisation of %.3g %%.",
            m->n, top->a == top->b ? "within" : "from", m->spot[top->a].label,
            top->a == top->b ? "" : " to ", top->a == top->b ? "" : m->spot[top->b].label,
            100 * most)};
}

void machine_matrix(const struct machine *m, struct report_section *s, const char *id,
                    const char *whose)
{
    const char **name = wr_arena_alloc(s->arena, m->n * sizeof *name);
    double *value = wr_arena_alloc(s->arena, m->n * m->n * sizeof *value), most = 0, all = 0;
    size_t at = 0;

    for (size_t i = 0; i < m->n; i++)
        name[i] = wr_arena_printf(s->arena, "%zu", i);
    for (size_t i = 0; i < m->n * m->n; i++) {
        value[i] = m->pair[i].bytes;
        all += value[i];
        if (value[i] > most) {
            most = value[i];
            at = i;
        }
    }
    if (!(all > 0))
        return;
    struct report_figure *f = report_add_figure(s, id, REPORT_MATRIX);
    f->matrix = (struct report_matrix){
        .row = name, .col = name, .nrows = m->n, .ncols = m->n, .value = value, .unit = "B"};
    f->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "Traffic on links between groups%s", whose),
        .desc = wr_arena_printf(s->arena,
                                "Bytes on the links from each group to each other, and within "
                                "groups on the diagonal; the most, %.4g MB, from group %zu to %zu.",
                                most / 1e6, at / m->n, at % m->n),
        .x = {.label = "to group"},
        .y = {.label = "from group"}};
}

static bool sec_machine_make(const struct report_inputs *in, size_t which, struct report_section *s,
                             struct wr_err *err)
{
    struct machine m;

    if (!machine_read(&m, in->v.v[which].run, s, err))
        return false;
    if (m.n) {
        machine_draw(&m, s, "ring", "");
        if (!machine_flows(&m, in->v.v[which].run, s, "flows", "", true, err))
            return false;
        machine_matrix(&m, s, "matrix", "");
    }
    return true;
}

const struct report_maker report_machines = {.id = "machine",
                                             .group = "run",
                                             .title = "The machine",
                                             .each = true,
                                             .make = sec_machine_make};
