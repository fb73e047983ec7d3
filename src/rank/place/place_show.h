/* place_show.h -- the map of a machine's nodes and jobs, as text and as a picture. */
#ifndef RANK_PLACE_PLACE_SHOW_H
#define RANK_PLACE_PLACE_SHOW_H

#include "base/str.h"
#include "rank/place/place.h"

struct place_view {
    const struct place *p;
    const char *title;
    const char *const *names; /* [p->njobs] */
};

/* How a job lies on the machine. */
struct place_shape {
    uint32_t nodes, routers, groups; /* that it has nodes of */
    uint32_t least, most;            /* nodes in those groups */
};

struct place_shape place_shape(const struct place *p, uint32_t job);

/* The letter that stands for a job in the text; they repeat after 61. */
char place_letter(uint32_t job);

/* A line per group: a letter for each node of a job, `.` free, `x` excluded, `!` down,
 * a blank between routers. At most `most` groups; returns how many more there are. */
uint32_t place_text(const struct place_view *v, uint32_t most, struct wr_str *out);

/* A square for each node, a row (or several) for each group. */
void place_svg(const struct place_view *v, struct wr_str *out);

#endif
