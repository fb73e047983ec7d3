/* sections_priv.h -- the sections that are made here. */
#ifndef REPORT_SECTIONS_PRIV_H
#define REPORT_SECTIONS_PRIV_H

#include "report/sections/sections.h"

extern const struct report_maker report_interference, report_roofline, report_state, report_stack;

#endif
