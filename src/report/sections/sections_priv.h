/* sections_priv.h -- the sections that are made here. */
#ifndef REPORT_SECTIONS_PRIV_H
#define REPORT_SECTIONS_PRIV_H

#include "inter/analyse.h"
#include "report/sections/sections.h"

extern const struct report_maker report_interference, report_roofline, report_state, report_stack;

/* Of jobs that share a server; of more, a picture shows nothing and a page is long. */
enum { SECTIONS_MOST_SLICES = 1000 };

/* predicted.c: adds what the model of sharing says of jobs in these files; `set` and `a`, of all of
 * them laid side by side, may be NULL. */
void sections_predict(struct report_section *s, const char *const *paths, size_t n,
                      const struct inter_set *set, const struct inter_analysis *a);

#endif
