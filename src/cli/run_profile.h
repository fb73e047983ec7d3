/* run_profile.h -- `weir run --profile`: what the threads of a simulation did. */
#ifndef CLI_RUN_PROFILE_H
#define CLI_RUN_PROFILE_H

#include <stdio.h>

#include "world/world.h"

void run_profile_print(const struct world *w, FILE *out);

#endif
