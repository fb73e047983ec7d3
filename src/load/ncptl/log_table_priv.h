/* log_table_priv.h -- the log tables of one processor: values, aggregates, text.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#ifndef LOAD_NCPTL_LOG_TABLE_PRIV_H
#define LOAD_NCPTL_LOG_TABLE_PRIV_H

#include "base/mem.h"
#include "base/str.h"
#include "ncptl_event.h"

/* Why a column has no such value as it asks for. */
enum nc_cell_fault { CELL_FINE, CELL_SEVERAL, CELL_ZERO };

/* One column of one processor. */
struct nc_cell {
    uint64_t n; /* values since the last aggregation */
    double first, last, min, max, sum;
    double mean, m2;      /* Welford 1962: the variance without keeping values */
    double inverse, logs; /* sums of 1/x and log|x| */
    bool zero, odd_negative, differ;
    uint8_t fault; /* enum nc_cell_fault: of the first group that has no such value */
    double fault_first, fault_last;
    WR_VEC(double) raw; /* for those that need them all */
    WR_VEC(double) out; /* finished */
};

struct nc_tables {
    const struct ncptl_column *info;
    uint32_t ncolumns;
    bool clock;            /* false: what depends on elapsed_usecs is shown as "*" */
    struct nc_cell **cell; /* by column; NULL where nothing was logged */
};

bool nc_tables_starred(const struct nc_tables *t, uint32_t column);
struct nc_cell *nc_tables_cell(const struct nc_tables *t, uint32_t column); /* makes it */
void nc_tables_log(const struct nc_tables *t, uint32_t column, double value);
void nc_tables_aggregate(const struct nc_tables *t, uint32_t table);

/* Computes what is left; false when a column, the first of which is returned, has no such value as
 * it asks for. */
bool nc_tables_finish(const struct nc_tables *t, uint32_t *ret_column);
void nc_tables_fault(const struct nc_tables *t, uint32_t column, struct wr_str *out);

void nc_tables_print(const struct nc_tables *t, struct wr_str *out);
void nc_tables_free(const struct nc_tables *t); /* all but t->cell itself */

#endif
