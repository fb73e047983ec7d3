/* scan_priv.h -- numbers out of text: option values and cells of FILE_DATA.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#ifndef LOAD_NCPTL_SCAN_PRIV_H
#define LOAD_NCPTL_SCAN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* 64K, 1E6, -3: as in programs, with a sign. */
bool nc_scan_number(const char *s, int64_t *ret);

/* The cell in a column and a row, both 1, 2, ... or, from the end, -1, -2, ...; what is no number
 * is 0. False: there is no such cell. */
bool nc_scan_cell(const char *text, const char *colsep, const char *rowsep, int64_t column,
                  int64_t row, double *ret);

#endif
