/* Eight lanes; this file alone is compiled for AVX-512 (CMakeLists.txt). */
#define WIDE 8
#define KERNELS hmm_kernels_avx512
#define LABEL "avx512"
#include "kernel_wide_priv.h"
