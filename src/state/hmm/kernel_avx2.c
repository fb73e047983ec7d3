/* Four lanes; this file alone is compiled for AVX2 and FMA (CMakeLists.txt). */
#define WIDE 4
#define KERNELS hmm_kernels_avx2
#define LABEL "avx2"
#include "kernel_wide_priv.h"
