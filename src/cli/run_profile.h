/* run_profile.h -- `weir run --profile`: what the threads of a simulation did. */
#ifndef CLI_RUN_PROFILE_H
#define CLI_RUN_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "world/world.h"

/* Says so on standard error if one thread would have been faster. */
void run_profile_warn(const struct world *w);
/* As JSON the table is alone, and the advice goes to standard error. Was the number of threads
 * chosen by the program? */
void run_profile_print(const struct world *w, bool chosen, bool json, FILE *out);

#endif
