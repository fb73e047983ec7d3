/* load_goal.h -- GOAL schedules as a workload: its operations, for the table in load/kinds. */
#ifndef LOAD_GOAL_LOAD_GOAL_H
#define LOAD_GOAL_LOAD_GOAL_H

#include "load/load.h"

extern const struct load_ops load_goal;

#endif
