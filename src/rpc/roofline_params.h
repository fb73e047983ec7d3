/* roofline_params.h -- the parameters of rooflines, from a table, or from the run file of a
 * measurement.
 *
 * A table has a line per system; docs/models/roofline.md names its columns.
 */
#ifndef RPC_ROOFLINE_PARAMS_H
#define RPC_ROOFLINE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "stat/roofline.h"

enum roofline_metric { ROOFLINE_RPC, ROOFLINE_BW, ROOFLINE_IOPS, ROOFLINE_SBW, ROOFLINE_METRICS };

struct roofline_metric_row {
    const char *name;  /* rpc */
    const char *unit;  /* kops/s */
    double scale;      /* one unit in operations or bytes per second */
    const char *title; /* RPC rate */
};
extern const struct roofline_metric_row roofline_metrics[ROOFLINE_METRICS];
extern const char *const roofline_metric_names[]; /* ends with NULL */

/* A measured point: the rate of all clients together. */
struct roofline_seen {
    const char *system;
    enum roofline_metric metric;
    double servers, clients, measured; /* in the metric's unit */
    double disturbed;                  /* windows of it that others disturbed */
};

struct roofline_system {
    const char *name;
    double per_node; /* processes on a node */
    bool has[ROOFLINE_METRICS];
    double disturbed[ROOFLINE_METRICS][2];   /* peaks of C and of S from disturbed windows */
    bool from_point[ROOFLINE_METRICS][2];    /* the peak is that of a point, which was faster */
    struct stat_roof roof[ROOFLINE_METRICS]; /* with the node's ceiling where there is one */
};

struct roofline_params {
    WR_VEC(struct roofline_system) system;
    WR_VEC(struct roofline_seen) seen;
    struct wr_arena arena;
};

/* `per_node`, when not 0, stands in for the table's own. */
bool roofline_params_read(struct roofline_params *ret, const char *path, double per_node,
                          struct wr_err *err);
bool roofline_params_parse(struct roofline_params *ret, const char *name, const char *text,
                           size_t len, double per_node, struct wr_err *err);
/* Adds measured points: columns system, metric, servers, clients, measured. */
bool roofline_points_read(struct roofline_params *p, const char *path, struct wr_err *err);
void roofline_params_fini(struct roofline_params *p);

const struct roofline_system *roofline_find(const struct roofline_params *p, const char *name);

/* The same roof without the node's ceiling. */
static inline struct stat_roof roofline_two_ceilings(struct stat_roof r)
{
    r.node = (struct stat_range){__builtin_inf(), __builtin_inf()};
    return r;
}

#endif
