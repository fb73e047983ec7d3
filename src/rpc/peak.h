/* peak.h -- which windows were disturbed, and the peaks that windows make.
 *
 *   calls   _____   __________     sub-windows of a window, all clients together
 *          |     |_|          |    lost: what is missing to the median, as a part of all
 *
 * Others only take away: they make a window slower and never faster. So a disturbed window is
 * measured again, and of windows that were measured for the same thing the fastest is the peak. A
 * peak that only a disturbed window shows may be too low, and is marked.
 *
 * Owns no state: functions of windows.
 */
#ifndef RPC_PEAK_H
#define RPC_PEAK_H

#include "rpc/spec.h"

enum { RPC_METRICS = 4 };
extern const char *const rpc_metric_names[]; /* rpc, bw, iops, sbw; ends with NULL */

/* One window of one case. */
struct rpc_window {
    uint32_t of;     /* case */
    uint32_t sample; /* from 0 */
    uint32_t clients, servers;
    uint32_t repeats;              /* how often it was measured again, because it was disturbed */
    int64_t client, server;        /* the pair that worked alone; -1: `clients` together */
    double rate, bps;              /* calls and bytes per second */
    double client_cpu, server_cpu; /* processors used */
    double foreign;                /* processors used by others, or stolen from the machine */
    double lost;                   /* part of the calls that sub-windows lack, rpc_lost */
    uint64_t switches, failed, bad_data, unanswered;
};

/* What others may take of a window: a tenth, of a processor or of the calls. */
#define RPC_DISTURBED 0.1
bool rpc_window_disturbed(const struct rpc_window *w);
/* Of two tries, is `w` the better one? Undisturbed before disturbed, then the faster one. */
bool rpc_window_better(const struct rpc_window *w, const struct rpc_window *than);
/* In the unit of the case's metric: calls or bytes per second. */
double rpc_window_value(const struct rpc_window *w, const struct rpc_case *k);

/* Into how many equal parts a window is divided. */
enum { RPC_SUBWINDOWS = 20 };
/* Of the calls that were answered in each of n sub-windows, which part is missing to the median in
 * those that lie below it by more than chance allows (three standard deviations of a count). Sees
 * what stops a client or a server on whatever node; `foreign` sees this node only. */
double rpc_lost(const uint64_t *calls, size_t n);

/* A parameter of the model. */
struct rpc_span {
    double lo, hi;
    uint32_t n;         /* windows it was made from; 0: none */
    uint32_t disturbed; /* peaks that only a disturbed window shows */
    uint32_t of;        /* the case that shows `hi` */
    bool from_point;    /* which measures a point: C or S as it was measured is lower */
};

/* C and S of every metric.
 *
 * C: of each pair the fastest window; from the slowest pair to the fastest.
 * S: from the slowest undisturbed window to the fastest of all, for one server.
 * A window that measures a point of the same operation shows that a server, or a client of no more
 * calls under way, reached so much: where it is above, it is the peak. */
void rpc_peaks(struct rpc_span client[RPC_METRICS], struct rpc_span server[RPC_METRICS],
               const struct rpc_window *w, size_t n, const struct rpc_spec *s);

#endif
