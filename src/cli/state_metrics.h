/* state_metrics.h -- numbers for Prometheus, on the loopback interface only. */
#ifndef CLI_STATE_METRICS_H
#define CLI_STATE_METRICS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct state_metrics;

/* Listens on 127.0.0.1:port (0: any; see state_metrics_port). `fill` writes the page; it is called
 * from another thread. */
bool state_metrics_open(struct state_metrics **ret, unsigned port,
                        void (*fill)(void *arg, struct wr_str *out), void *arg, struct wr_err *err);
unsigned state_metrics_port(const struct state_metrics *m);
void state_metrics_close(struct state_metrics *m); /* NULL is fine */

#endif
