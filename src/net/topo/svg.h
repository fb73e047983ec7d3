/* svg.h -- a picture of a machine.
 *
 * Machines of groups are drawn as a ring of groups, grids as a grid, fat trees as levels, others
 * as a circle. In a large machine neighbouring routers share a spot, and some lines are left out;
 * the caption says so.
 */
#ifndef NET_TOPO_SVG_H
#define NET_TOPO_SVG_H

#include "base/str.h"
#include "net/topo/topo.h"

void topo_svg(const struct topo *t, const char *title, struct wr_str *out);

#endif
