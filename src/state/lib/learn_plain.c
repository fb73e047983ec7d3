/* learn_plain.c -- an observation, for every processor. */
#define KERNEL online_kernel_plain
#include "online_learn_priv.h"
