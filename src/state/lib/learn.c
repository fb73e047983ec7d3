/* learn.c -- an observation, for every processor. */
#define KERNEL online_kernel_plain
#include "learn_priv.h"
