/* sec_boxes_priv.h -- what the ranks and messages of a job took, as box plots. */
#ifndef REPORT_SECTIONS_SEC_BOXES_PRIV_H
#define REPORT_SECTIONS_SEC_BOXES_PRIV_H

#include "report/doc.h"

enum boxes_of { BOXES_MESSAGE, BOXES_COMM, BOXES_IO, BOXES_OF };

struct boxes_kind {
    const char *id, *title, *label;
};
extern const struct boxes_kind boxes_kinds[BOXES_OF];

/* In nanoseconds; n is 0 where the job has none of it. */
bool boxes_read(struct report_box ret[BOXES_OF], struct run_reader *r, int64_t app,
                struct wr_err *err);

/* A figure of boxes (in ns), in a unit that suits them. Takes `n` boxes over to the arena. */
void boxes_figure(struct report_section *s, const char *id, const char *title, const char *label,
                  const struct report_box *boxes, size_t n);

/* A figure of bars (in ns), in a unit that suits them; parts are divided by it where they are. Bars
 * without parts are left out, and no figure is made of none. */
void boxes_bars(struct report_section *s, const char *id, const char *title,
                const struct report_bar *bars, size_t n);

/* The mean rank's time of a job by cause, in words; NaN-free, without zeros. */
struct boxes_causes {
    WR_VEC(struct report_part) part; /* ns; names live in the arena */
};
bool boxes_causes(struct boxes_causes *ret, struct run_reader *r, int64_t app,
                  struct wr_arena *arena, struct wr_err *err);

#endif
