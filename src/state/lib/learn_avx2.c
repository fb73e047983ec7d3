/* An observation, with vectors of four; this file alone is compiled for AVX2 and FMA
 * (cmake/state.cmake).
 */
#define KERNEL online_kernel_avx2
#include "online_learn_priv.h"
