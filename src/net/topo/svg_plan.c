/* svg_plan.c -- the places of routers in a picture: circle, ring of groups, tree or grid. */
#include "topo_svg_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/topo/topo_dragonfly_xc.h"
#include "net/topo/topo_fat_tree.h"
#include "net/topo/topo_grid.h"

enum {
    MOST_SPOTS = 1200,
    MOST_PER_LEVEL = 120,
    LEAST_WIDTH = 420,
    MARGIN = 60,
    CLOSE = 15, /* between spots without names */
    WIDE = 34,  /* and with */
    GRID_STEP = 46,
};

static void plan_begin(struct svg_plan *p, const struct topo *t, uint32_t nspots)
{
    p->nspots = nspots;
    p->spot = wr_zalloc(nspots, sizeof *p->spot);
    p->spot_of = wr_zalloc(t->nrouters, sizeof *p->spot_of);
}

/* The radius of a circle on which n objects of the given size fit. */
static double plan_radius_for(uint32_t n, double size)
{
    return n > 1 ? fmax((double)n * size / (2 * M_PI), size * 0.6) : 0;
}

static void plan_put_on_circle(struct svg_spot *s, double x, double y, double radius, double turn)
{
    /* From the top, clockwise. */
    s->out_x = sin(2 * M_PI * turn);
    s->out_y = -cos(2 * M_PI * turn);
    s->x = x + radius * s->out_x;
    s->y = y + radius * s->out_y;
}

/* Are names of `n` spots, `width` apart, readable? */
static bool plan_names_fit(const struct topo *t, uint32_t n, double width)
{
    char name[TOPO_NAME_MAX];

    topo_router_name(t, t->nrouters - 1, name);
    return n <= SVG_NAMED_SPOTS && (double)strlen(name) * 4 < width;
}

/* All routers on one circle, neighbours in number sharing a spot when there are too many. */
static void plan_circle(const struct topo *t, struct svg_plan *p)
{
    uint32_t n = t->nrouters < MOST_SPOTS ? t->nrouters : MOST_SPOTS;
    double radius = plan_radius_for(n, n <= SVG_NAMED_SPOTS ? WIDE : CLOSE);

    plan_begin(p, t, n);
    for (uint32_t i = 0; i < n; i++)
        plan_put_on_circle(&p->spot[i], radius + MARGIN, radius + MARGIN, radius, (double)i / n);
    for (uint32_t r = 0; r < t->nrouters; r++)
        p->spot_of[r] = (uint32_t)((uint64_t)r * n / t->nrouters);
    p->width = p->height = 2 * (radius + MARGIN);
    p->bend = SVG_TO_CENTRE;
    p->straight = CLOSE;
    p->named = p->name_out = n <= SVG_NAMED_SPOTS;
}

/* A group of dragonfly-xc as its rows and columns; the half width it takes. */
static double plan_put_in_rows(const struct topo *t, uint32_t r, const struct svg_spot *hub,
                               struct svg_spot *ret)
{
    const struct topo_dragonfly_xc_params *x = t->params;
    struct topo_xc_place at = topo_xc_place(t, r);
    double right = (x->columns - 1) / 2.0 * CLOSE, down = (x->rows - 1) / 2.0 * CLOSE * 1.6;

    *ret = (struct svg_spot){.x = hub->x + at.column * CLOSE - right,
                             .y = hub->y + at.row * CLOSE * 1.6 - down,
                             .out_y = 1};
    return hypot(right, down);
}

/* Groups on a ring, each a small circle of its routers, or rows, or one spot. */
static void plan_groups(const struct topo *t, struct svg_plan *p)
{
    bool whole = t->nrouters <= MOST_SPOTS, named = t->nrouters <= SVG_NAMED_SPOTS;
    bool rows = whole && !named && t->ops == &topo_dragonfly_xc;
    uint32_t *size = wr_zalloc(t->ngroups, sizeof *size);
    uint32_t *next = wr_zalloc(t->ngroups, sizeof *next), largest = 0;
    struct svg_spot hub = {0}, any;

    for (uint32_t r = 0; r < t->nrouters; r++)
        largest = ++size[t->group[r]] > largest ? size[t->group[r]] : largest;
    double inner = rows    ? plan_put_in_rows(t, 0, &hub, &any)
                   : whole ? plan_radius_for(largest, named ? WIDE : CLOSE)
                           : 3;
    double outer = plan_radius_for(t->ngroups, 2 * inner + (named ? 90 : whole ? 26 : 6));
    double centre = outer + inner + MARGIN;

    plan_begin(p, t, whole ? t->nrouters : t->ngroups);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t g = t->group[r];
        double turn = (double)g / t->ngroups;

        plan_put_on_circle(&hub, centre, centre, outer, turn);
        p->spot_of[r] = whole ? r : g;
        if (rows)
            plan_put_in_rows(t, r, &hub, &p->spot[r]);
        else if (whole) /* half a step on, so that two do not stand in one line with the middle */
            plan_put_on_circle(&p->spot[r], hub.x, hub.y, inner,
                               (next[g]++ + 0.5) / size[g] + turn);
        else
            p->spot[g] = hub;
    }
    p->width = p->height = 2 * centre;
    p->bend = SVG_TO_CENTRE;
    p->straight = 2 * inner + 2;
    p->named = p->name_out = named;
    free(size);
    free(next);
}

static void plan_tree(const struct topo *t, struct svg_plan *p)
{
    const struct topo_tree *f = topo_tree(t);
    uint32_t base[TOPO_MAX_LEVELS] = {0}, drawn[TOPO_MAX_LEVELS] = {0}, n = 0, widest = 0;

    for (uint32_t l = 0; l < f->nlevels; l++) {
        uint32_t switches = f->level[l].subtrees * f->level[l].copies;

        base[l] = n;
        drawn[l] = switches < MOST_PER_LEVEL ? switches : MOST_PER_LEVEL;
        n += drawn[l];
        widest = drawn[l] > widest ? drawn[l] : widest;
    }
    plan_begin(p, t, n);
    p->width = fmax(widest * (widest <= 32 ? WIDE : 24), 300) + 2 * MARGIN;
    double step = fmax(fmin(140, p->width / 4), p->width / 8);

    p->height = (f->nlevels - 1) * step + 2 * MARGIN;
    p->named = plan_names_fit(t, n, (p->width - 2 * MARGIN) / widest);
    for (uint32_t l = 0; l < f->nlevels; l++)
        for (uint32_t i = 0; i < drawn[l]; i++)
            p->spot[base[l] + i] = (struct svg_spot){
                .x = MARGIN + (p->width - 2 * MARGIN) * (i + 0.5) / drawn[l],
                .y = p->height - MARGIN - l * step,
                .out_y = 1,
            };
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t l = topo_tree_switch(f, r).level;
        uint64_t switches = (uint64_t)f->level[l].subtrees * f->level[l].copies;

        p->spot_of[r] =
            base[l] + (uint32_t)((r - f->level[l].base) * (uint64_t)drawn[l] / switches);
    }
    p->bend = SVG_STRAIGHT;
}

/* Dimensions in turn to the right and down, each a row of what came before:
 * x and y make a sheet, z places sheets side by side, and so on. */
static void plan_grid(const struct topo *t, struct svg_plan *p)
{
    const struct topo_grid *g = topo_grid(t);
    uint32_t size[TOPO_MAX_DIMS] = {0}, n = 1, block[TOPO_MAX_DIMS] = {0};
    double pitch[TOPO_MAX_DIMS], extent[2] = {GRID_STEP, GRID_STEP};

    for (uint32_t i = 0; i < g->ndims; i++) {
        size[i] = g->dim[i].size;
        block[i] = 1;
    }
    for (uint64_t spots = t->nrouters; spots > MOST_SPOTS;) {
        uint32_t longest = 0;

        for (uint32_t i = 1; i < g->ndims; i++)
            longest = size[i] > size[longest] ? i : longest;
        block[longest]++;
        size[longest] = (g->dim[longest].size + block[longest] - 1) / block[longest];
        spots = 1;
        for (uint32_t i = 0; i < g->ndims; i++)
            spots *= size[i];
    }
    for (uint32_t i = 0; i < g->ndims; i++) {
        pitch[i] = extent[i % 2];
        extent[i % 2] = extent[i % 2] * size[i] + (i + 2 < g->ndims ? GRID_STEP : 0);
        n *= size[i];
    }
    plan_begin(p, t, n);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t at = 0, stride = 1;
        double place[2] = {MARGIN + 15, MARGIN + 15};

        for (uint32_t i = 0; i < g->ndims; i++) {
            uint32_t x = topo_grid_coord(g, r, i) / block[i];

            at += x * stride;
            stride *= size[i];
            place[i % 2] += x * pitch[i];
        }
        p->spot_of[r] = at;
        p->spot[at] = (struct svg_spot){place[0], place[1], M_SQRT1_2, M_SQRT1_2, 0, 0, 0};
    }
    p->width = extent[0] + 2 * MARGIN;
    p->height = extent[1] + 2 * MARGIN;
    p->bend = SVG_ARC;
    p->straight = GRID_STEP * 1.1;
    p->named = plan_names_fit(t, n, GRID_STEP);
}

void topo_svg_plan(const struct topo *t, struct svg_plan *ret)
{
    struct svg_plan p = {0};

    if (topo_tree(t))
        plan_tree(t, &p);
    else if (topo_grid(t))
        plan_grid(t, &p);
    else if (t->ngroups > 1)
        plan_groups(t, &p);
    else
        plan_circle(t, &p);
    /* A small machine stands in the middle. */
    for (uint32_t i = 0; i < p.nspots && p.width < LEAST_WIDTH; i++)
        p.spot[i].x += (LEAST_WIDTH - p.width) / 2;
    p.width = fmax(p.width, LEAST_WIDTH);
    for (uint32_t r = t->nrouters; r-- > 0;) {
        p.spot[p.spot_of[r]].first = r;
        p.spot[p.spot_of[r]].routers++;
    }
    for (uint32_t i = 0; i < t->nterms; i++)
        p.spot[p.spot_of[t->term[i].router]].terms++;
    *ret = p;
}
