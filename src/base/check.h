/* check.h -- wr_check: an assertion for event handlers and other inner loops.
 *
 * assert stays on in release builds. wr_check is compiled only with WEIR_CHECK, which the
 * sanitizer builds set, so it costs nothing in a release build. Its argument has no effects.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include <assert.h>

#ifdef WEIR_CHECK
#define wr_check(condition) assert(condition)
#else
#define wr_check(condition) ((void)0)
#endif

#endif
