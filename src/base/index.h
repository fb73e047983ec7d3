/* index.h -- real numbers that become whole ones.
 *
 * C does not say what (size_t)v is when v is no such number, and numbers come from files. */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stddef.h>

/* From 0 to `most`; NaN is 0. */
static inline size_t wr_index(double v, size_t most)
{
    return !(v > 0) ? 0 : v < (double)most ? (size_t)v : most;
}

#endif
