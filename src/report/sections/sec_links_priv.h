/* sec_links_priv.h -- the links of a run, by class: for how much of the time each was busy. */
#ifndef REPORT_SECTIONS_SEC_LINKS_PRIV_H
#define REPORT_SECTIONS_SEC_LINKS_PRIV_H

#include "report/doc.h"

struct links_class {
    const char *name;
    WR_VEC(double) busy, saturated; /* per cent, a number per link */
};

struct links_read {
    WR_VEC(struct links_class) cls;
};

/* `where` is more of a condition, as " AND class = 'local'". */
bool links_read(struct links_read *ret, struct run_reader *r, const char *where,
                struct wr_arena *arena, struct wr_err *err);
void links_fini(struct links_read *l);

/* A curve per class, called by its name, or of one class by `of`, of at most `most` points. Puts
 * the values in order. */
void links_draw(struct report_section *s, struct links_read *l, const char *of, size_t most,
                struct report_curves *busy, struct report_curves *saturated);
/* Both pictures of them; `what` the curves are of, as "class ", is said before the name of one. */
void links_figures(struct report_section *s, struct report_curves *busy,
                   struct report_curves *saturated, const char *what);

#endif
