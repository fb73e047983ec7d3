/* sections_priv.h -- the makers of all sections, and what several of them share. */
#ifndef REPORT_SECTIONS_SECTIONS_PRIV_H
#define REPORT_SECTIONS_SECTIONS_PRIV_H

#include "interference/analyse.h"
#include "report/sections/sections.h"

/* Of jobs that share a server; of more, a picture shows nothing and a page is long. */
enum { SECTIONS_MOST_SLICES = 1000 };

/* Of rows of `summary`: the times of a run of the I/O stack are assumed, and were not measured. */
#define SECTIONS_ASSUMED_TIMES \
    "key IN ('timing_source', 'laws_source') AND value LIKE '%not measured%'"

/* sec_predicted.c: adds what the model of sharing says of jobs in these files; `set` and `a`, of
 * all of them laid side by side, may be NULL. */
void sections_predict(struct report_section *s, const char *const *paths, size_t n,
                      const struct interference_set *set, const struct interference_analysis *a);

/* sec_bars.c: a figure of at most `most` bars, the rows of `sql` in their order: a group, a name,
 * then values named by their columns. `desc` ends with the name of the longest; rows without a
 * positive sum are left out, and without any there is no figure. */
struct sections_bars {
    const char *id, *title, *desc, *label, *unit, *sql;
};
bool sections_draw_bars(struct report_section *s, struct run_reader *r,
                        const struct sections_bars *what, size_t most, struct wr_err *err);

/* sec_experiment.c: are the inputs the run files of one interference experiment? */
bool sections_is_experiment(const struct report_inputs *in);
/* sec_stack_study.c: are they a study of the I/O stack? */
bool sections_is_stack_study(const struct report_inputs *in);

#endif
