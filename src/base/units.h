/* units.h -- quantities as people write them, and back.
 *
 *   text                      stored as
 *   "4 KiB", "166666666 B"    uint64_t, bytes
 *   "25 GB/s", "200 Gbit/s"   double, bytes per second
 *   "726.609003 ns"           double, picoseconds
 *   "20 %", "0.2"             double
 *   "33", "1e6"               uint64_t
 *   "-1.5e3"                  double
 *
 * A quantity needs its unit; only 0 may go without. Powers of ten are applied
 * to the decimal text before it becomes binary, so a value is rounded once and
 * "726.609003 ns" is the double nearest to 726609.003.
 *
 * The wr_text_ functions are canonical: equal values give equal text, and the
 * text parses to exactly the value it was made from.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

bool wr_parse_u64(uint64_t *ret, const char *text, struct wr_err *err);
bool wr_parse_real(double *ret, const char *text, struct wr_err *err); /* may be negative */
bool wr_parse_fraction(double *ret, const char *text, struct wr_err *err);
bool wr_parse_bytes(uint64_t *ret, const char *text, struct wr_err *err);
bool wr_parse_rate(double *ret_bps, const char *text, struct wr_err *err);
bool wr_parse_time(double *ret_ps, const char *text, struct wr_err *err);

/* Returned by value, to be used inside one expression: printf("%s", wr_text_time(t).s) */
struct wr_text {
    char s[48];
};

struct wr_text wr_text_u64(uint64_t v);
struct wr_text wr_text_real(double v);
struct wr_text wr_text_fraction(double v);
struct wr_text wr_text_bytes(uint64_t v);
struct wr_text wr_text_rate(double v_bps);
struct wr_text wr_text_time(double v_ps);

/* User text as it may stand in a message: cut when long, control characters replaced. */
struct wr_text wr_text_clip(const char *text);

#endif
