/* fit_read.h -- measurements of a storage device, from a table or from fio.
 *
 *   op,pattern,record,depth,iops            fio --output-format=json ...
 *   read,random,4 KiB,1,8474.58             one point of each job and direction
 *
 * A row of the table is one point: its IOPS if it has any, else its MB/s (10^6 bytes), else
 * its mean latency.
 */
#ifndef STORE_FIT_FIT_READ_H
#define STORE_FIT_FIT_READ_H

#include "base/mem.h"
#include "store/fit/dev_fit.h"

typedef WR_VEC(struct fit_point) fit_points;

/* By what the text looks like: JSON or CSV. `name` stands for the file in messages. On failure
 * `ret` is untouched. */
bool fit_parse(fit_points *ret, const char *name, const char *text, size_t len, struct wr_err *err);
bool fit_read(fit_points *ret, const char *path, struct wr_err *err);

/* The two kinds. */
bool fit_parse_csv(fit_points *ret, const char *name, const char *text, size_t len,
                   struct wr_err *err);
bool fit_parse_fio(fit_points *ret, const char *name, const char *text, size_t len,
                   struct wr_err *err);

#endif
