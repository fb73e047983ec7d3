/* outlier.h -- which of a few repeated measurements to leave out. */
#ifndef STAT_OUTLIER_H
#define STAT_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>

enum stat_outlier {
    STAT_OUTLIER_NONE,
    STAT_OUTLIER_DEVIATION, /* further from the mean than `limit` standard deviations */
    STAT_OUTLIER_MAD,       /* further from the median than `limit` times 1.4826 MAD, which is a
                               standard deviation for normal errors and does not follow outliers */
};

/* Sets drop[i]; returns how many stay. With fewer than three values all stay, and so they do when
 * they do not differ. */
size_t stat_outliers(bool *drop, const double *x, size_t n, enum stat_outlier how, double limit);

#endif
