/* roofline_tables.h -- rooflines as tables and pictures. */
#ifndef CLI_ROOFLINE_TABLES_H
#define CLI_ROOFLINE_TABLES_H

#include "base/str.h"
#include "cli/cli_table.h"
#include "report/chart.h"
#include "rpc/roofline_params.h"

/* The allocations for which the model is evaluated. */
struct roofline_ask {
    const struct roofline_params *params;
    uint32_t server_nodes, client_nodes; /* the allocation; of the grid, the largest */
    uint64_t processes;                  /* to be divided; 0: all of these nodes */
    double amount[ROOFLINE_METRICS];     /* of one operation of a mixed workload */
};

enum roofline_view {
    ROOFLINE_VIEW_MODEL,
    ROOFLINE_VIEW_GRID,
    ROOFLINE_VIEW_MVA,
    ROOFLINE_VIEW_POINTS,
    ROOFLINE_VIEW_MIX,
    ROOFLINE_VIEWS
};

void roofline_print(FILE *out, enum cli_format format, enum roofline_view view,
                    const struct roofline_ask *ask);

/* Which parameters come from disturbed windows, and, where points are
 * compared with them, which are hardly known: a line each. */
void roofline_print_notes(FILE *out, const struct roofline_params *p);

/* Rate of a client against servers per client, of one metric. */
void roofline_chart_text(const struct roofline_params *p, enum roofline_metric m,
                         const struct report_text_style *style, struct wr_str *out);
void roofline_chart_svg(const struct roofline_params *p, enum roofline_metric m,
                        struct wr_str *out);

#endif
