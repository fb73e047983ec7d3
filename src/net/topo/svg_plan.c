#include "svg_priv.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/topo/topo_fat_tree.h"
#include "net/topo/topo_grid.h"

enum { MOST_SPOTS = 1200, STEP = 15, MARGIN = 50, MOST_PER_LEVEL = 120, GRID_STEP = 46 };

static void begin(struct svg_plan *p, const struct topo *t, uint32_t nspots)
{
    p->nspots = nspots;
    p->spot = wr_zalloc(nspots, sizeof *p->spot);
    p->spot_of = wr_zalloc(t->nrouters, sizeof *p->spot_of);
}

/* The radius of a circle on which n things of the given size have room. */
static double radius_for(uint32_t n, double size)
{
    return n > 1 ? fmax((double)n * size / (2 * M_PI), size * 0.6) : 0;
}

static void put_on_circle(struct svg_spot *s, double x, double y, double radius, double turn)
{
    /* From the top, clockwise. */
    s->out_x = sin(2 * M_PI * turn);
    s->out_y = -cos(2 * M_PI * turn);
    s->x = x + radius * s->out_x;
    s->y = y + radius * s->out_y;
}

/* All routers on one circle, neighbours in number sharing a spot when there are too many. */
static void plan_circle(const struct topo *t, struct svg_plan *p)
{
    uint32_t n = t->nrouters < MOST_SPOTS ? t->nrouters : MOST_SPOTS;
    double radius = radius_for(n, STEP * 1.2) + (n > 1 ? 30 : 0);

    begin(p, t, n);
    for (uint32_t i = 0; i < n; i++)
        put_on_circle(&p->spot[i], radius + MARGIN, radius + MARGIN, radius, (double)i / n);
    for (uint32_t r = 0; r < t->nrouters; r++)
        p->spot_of[r] = (uint32_t)((uint64_t)r * n / t->nrouters);
    p->width = p->height = 2 * (radius + MARGIN);
    p->bend = SVG_TO_CENTRE;
    p->straight = STEP * 1.5;
}

/* Groups on a ring, each a small circle of its routers, or one spot. */
static void plan_groups(const struct topo *t, struct svg_plan *p)
{
    bool whole = t->nrouters <= MOST_SPOTS;
    uint32_t *size = wr_zalloc(t->ngroups, sizeof *size),
             *next = wr_zalloc(t->ngroups, sizeof *next);
    uint32_t largest = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        largest = ++size[t->group[r]] > largest ? size[t->group[r]] : largest;
    double inner = whole ? radius_for(largest, STEP) : 3;
    double outer = radius_for(t->ngroups, 2 * inner + (whole ? 26 : 6)), centre;

    centre = outer + inner + MARGIN;
    begin(p, t, whole ? t->nrouters : t->ngroups);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t g = t->group[r];
        struct svg_spot hub;

        put_on_circle(&hub, centre, centre, outer, (double)g / t->ngroups);
        p->spot_of[r] = whole ? r : g;
        if (whole)
            put_on_circle(&p->spot[r], hub.x, hub.y, inner,
                          (double)next[g]++ / size[g] + (double)g / t->ngroups);
        else
            p->spot[g] = hub;
    }
    p->width = p->height = 2 * centre;
    p->bend = SVG_TO_CENTRE;
    p->straight = 2 * inner + 2;
    free(size);
    free(next);
}

static void plan_tree(const struct topo *t, struct svg_plan *p)
{
    const struct topo_tree *f = topo_tree(t);
    uint32_t base[TOPO_MAX_LEVELS], drawn[TOPO_MAX_LEVELS], n = 0, widest = 0;

    for (uint32_t l = 0; l < f->nlevels; l++) {
        uint32_t switches = f->level[l].subtrees * f->level[l].copies;

        base[l] = n;
        drawn[l] = switches < MOST_PER_LEVEL ? switches : MOST_PER_LEVEL;
        n += drawn[l];
        widest = drawn[l] > widest ? drawn[l] : widest;
    }
    begin(p, t, n);
    p->width = fmax(widest * STEP * 1.6, 300) + 2 * MARGIN;
    p->height = (f->nlevels - 1) * fmin(140, p->width / 4) + 2 * MARGIN;
    for (uint32_t l = 0; l < f->nlevels; l++)
        for (uint32_t i = 0; i < drawn[l]; i++)
            p->spot[base[l] + i] = (struct svg_spot){
                .x = MARGIN + (p->width - 2 * MARGIN) * (i + 0.5) / drawn[l],
                .y = p->height - MARGIN - l * fmin(140, p->width / 4),
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
    uint32_t size[TOPO_MAX_DIMS], n = 1, block[TOPO_MAX_DIMS];
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
    begin(p, t, n);
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
    for (uint32_t r = t->nrouters; r-- > 0;) {
        p.spot[p.spot_of[r]].first = r;
        p.spot[p.spot_of[r]].routers++;
    }
    for (uint32_t i = 0; i < t->nterms; i++)
        p.spot[p.spot_of[t->term[i].router]].terms++;
    *ret = p;
}
