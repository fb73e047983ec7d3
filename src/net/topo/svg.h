/* svg.h -- a machine as a picture.
 *
 * Machines of groups become a ring of groups, grids a grid, fat trees levels, the
 * rest a circle. A large machine is thinned: neighbouring routers share a spot,
 * and of too many lines some are left out; the caption says so.
 */
#ifndef NET_TOPO_SVG_H
#define NET_TOPO_SVG_H

#include "base/str.h"
#include "net/topo/topo.h"

void topo_svg(const struct topo *t, const char *title, struct wr_str *out);

#endif
