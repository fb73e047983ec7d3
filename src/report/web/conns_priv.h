/* conns_priv.h -- connections: how many there may be, and which go when there are more.
 *
 *   open ──> waits for a request ──> answers ──> waits ...
 *
 * A connection on which no whole request came for WEB_WAIT_NS, or whose answer is not taken for
 * WEB_ANSWER_NS, is shut down: time-outs that begin anew with each byte would let a client that
 * sends one now and then stay for ever. When an address, or all together, have too many, a new one
 * takes the place of the oldest that waits. A client that asks at once is never kept out.
 */
#ifndef REPORT_WEB_CONNS_PRIV_H
#define REPORT_WEB_CONNS_PRIV_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { WEB_MOST_CONNS = 192, WEB_MOST_OF_ONE = 64 };
#define WEB_WAIT_NS (10ull * 1000 * 1000 * 1000)
#define WEB_ANSWER_NS (120ull * 1000 * 1000 * 1000)

struct web_conn {
    struct web_conn *next, **link; /* oldest first */
    int fd;
    unsigned char from[16]; /* address; all zero for a socket file */
    uint64_t since_ns;      /* it waits or answers */
    bool answers, shut;
};

struct web_conns {
    pthread_mutex_t lock;
    struct web_conn *head, **tail;
};

void web_conns_init(struct web_conns *s);
void web_conns_fini(struct web_conns *s);
struct web_conn *web_conn_open(struct web_conns *s, int fd, const struct sockaddr *from);
void web_conn_close(struct web_conns *s, struct web_conn *c); /* before the descriptor is */
void web_conn_answers(struct web_conns *s, struct web_conn *c);
void web_conn_waits(struct web_conns *s, struct web_conn *c);
void web_conns_tick(struct web_conns *s);

#endif
