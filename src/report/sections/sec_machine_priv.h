/* sec_machine_priv.h -- the machine of a simulated run: groups of routers, and what their links
 * carried. */
#ifndef REPORT_SECTIONS_SEC_MACHINE_PRIV_H
#define REPORT_SECTIONS_SEC_MACHINE_PRIV_H

#include "report/doc.h"

enum { MACHINE_MOST = 128, MACHINE_SLICES = 40, MACHINE_NUMBERS = 60000 };

/* Per pair of groups, links taken together. */
struct machine_pair {
    double links, bytes, busy, saturated; /* busy, saturated: sums of fractions of the time */
};

struct machine {
    size_t n;                  /* groups; 0: the run has none that can be drawn */
    struct machine_pair *pair; /* [a * n + b] */
    struct report_spot *spot;
    size_t nslices; /* 1: the whole run */
    double dt_ns;
    double *slice[2]; /* busy, saturated: [(a * n + b) * nslices + k], fractions; NULL: not known */
};

/* Memory is the section's arena. */
bool machine_read(struct machine *ret, struct run_reader *r, struct report_section *s,
                  struct wr_err *err);
/* Their figures; `id` and `whose` (", of which run", or "") keep several apart. */
void machine_draw(const struct machine *m, struct report_section *s, const char *id,
                  const char *whose);
/* What applications sent from group to group: all together and, of few, each. */
bool machine_flows(const struct machine *m, struct run_reader *r, struct report_section *s,
                   const char *id, const char *whose, bool each, struct wr_err *err);
void machine_matrix(const struct machine *m, struct report_section *s, const char *id,
                    const char *whose);

#endif
