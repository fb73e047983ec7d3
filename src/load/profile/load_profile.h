/* load_profile.h -- `program: {kind: profile}`: a recorded job as a workload. */
#ifndef LOAD_PROFILE_LOAD_PROFILE_H
#define LOAD_PROFILE_LOAD_PROFILE_H

#include "load/load.h"

extern const struct load_ops load_profile;

#endif
