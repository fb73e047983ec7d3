/* topo_svg_priv.h -- the places of the routers in a picture. */
#ifndef NET_TOPO_TOPO_SVG_PRIV_H
#define NET_TOPO_TOPO_SVG_PRIV_H

#include <stdint.h>

#include "net/topo/topo.h"

/* One router, or several that share a place. */
struct svg_spot {
    double x, y;
    double out_x, out_y; /* unit vector to the side where terminals are drawn */
    uint32_t first;      /* its first router */
    uint32_t routers, terms;
};

enum svg_bend {
    SVG_STRAIGHT,
    SVG_TO_CENTRE, /* long lines bend towards the middle of the picture */
    SVG_ARC,       /* long lines bend away from what they pass */
};

struct svg_plan {
    struct svg_spot *spot;
    uint32_t nspots;
    uint32_t *spot_of; /* [nrouters] */
    double width, height;
    enum svg_bend bend;
    double straight; /* lines up to this length are not bent */
    bool named;      /* names fit beside the spots */
    bool name_out;   /* on the side of the terminals, behind them */
};

enum { SVG_NAMED_SPOTS = 96 }; /* above that, names are only tooltips */

/* Fills everything; free spot and spot_of. */
void topo_svg_plan(const struct topo *t, struct svg_plan *ret);

#endif
