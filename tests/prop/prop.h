/* prop.h -- the seed and the length of a property test.
 *
 * Without anything in the environment the seed is fixed and the test short. `make
 * soak` sets WEIR_TEST_SEED: then the seed is that, and the test longer.
 */
#ifndef TESTS_PROP_PROP_H
#define TESTS_PROP_PROP_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t prop_seed(void)
{
    const char *s = getenv("WEIR_TEST_SEED");

    return s ? strtoull(s, NULL, 10) : 20260;
}

static inline uint32_t prop_cases(uint32_t usually)
{
    return getenv("WEIR_TEST_SEED") ? 10 * usually : usually;
}

#endif
