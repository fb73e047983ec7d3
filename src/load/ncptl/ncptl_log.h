/* ncptl_log.h -- the tables that LOGS writes, one set per processor.
 *
 *   "Bytes","1/2 RTT (usecs)"        titles
 *   "(only value)","(median)"        how the values were summarised
 *   0,3.5                            a row per COMPUTES AGGREGATES
 *
 * Feed it every LOG and AGGREGATE operation. Each sentence of the program is a
 * table of its own. Memory is proportional to what is printed, plus the raw values
 * of medians, percentiles and histograms until they are computed.
 */
#ifndef LOAD_NCPTL_NCPTL_LOG_H
#define LOAD_NCPTL_NCPTL_LOG_H

#include "load/ncptl/ncptl.h"

struct ncptl_log;

/* Without a clock, what depends on elapsed_usecs is not computed but shown as "*". */
struct ncptl_log *ncptl_log_new(const struct ncptl_prog *p, bool clock);
void ncptl_log_free(struct ncptl_log *log);

/* After ncptl_next() returned LOG or AGGREGATE (others are ignored). */
bool ncptl_log_add(struct ncptl_log *log, struct ncptl_rank *r, const struct ncptl_event *ev,
                   struct wr_err *err);

/* What a processor has logged, as bytes, for a log of the same program. */
struct wr_bytes;
struct wr_reader;
void ncptl_log_pack(const struct ncptl_log *log, uint32_t proc, struct wr_bytes *out);
void ncptl_log_take(struct ncptl_log *log, uint32_t proc, struct wr_reader *in);

/* Computes what is left; call once, after the last rank has ended. False: a column has no such
 * value as it asks for, such as THE one of several; it is not a number there, and all others are
 * as they should be. */
bool ncptl_log_finish(struct ncptl_log *log, struct wr_err *err);

/* All tables as text, "## rank N" before each processor's. */
void ncptl_log_print(const struct ncptl_log *log, struct wr_str *out);

/* The tables of one processor, "" if it logged nothing. */
void ncptl_log_print_one(const struct ncptl_log *log, uint32_t proc, struct wr_str *out);

/* Calls `fn` with every finished value. A histogram gives its
 * values in rows of `part` 0 and their tallies in rows of `part` 1. */
typedef void ncptl_log_fn(void *ctx, uint32_t proc, uint32_t column, uint32_t part, uint64_t row,
                          double value);
void ncptl_log_each(const struct ncptl_log *log, ncptl_log_fn *fn, void *ctx);

#endif
