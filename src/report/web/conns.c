/* conns.c -- the list of open connections: limits per address, limits in all, time-outs.
 *
 * http.c calls it from the daemon's threads; every function takes s->lock. The list is kept in the
 * order in which connections began to wait or to answer, oldest first. A connection that is shut
 * down stays in the list until its thread closes it.
 */
#include "conns_priv.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

void web_conns_init(struct web_conns *s)
{
    pthread_mutex_init(&s->lock, NULL);
    s->head = NULL;
    s->tail = &s->head;
}

void web_conns_fini(struct web_conns *s)
{
    while (s->head)
        web_conn_close(s, s->head);
    pthread_mutex_destroy(&s->lock);
}

static void conn_address(unsigned char into[16], const struct sockaddr *from)
{
    memset(into, 0, 16);
    if (from && from->sa_family == AF_INET)
        memcpy(into, &((const struct sockaddr_in *)from)->sin_addr, 4);
    if (from && from->sa_family == AF_INET6)
        memcpy(into, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
}

static void conn_append(struct web_conns *s, struct web_conn *c)
{
    c->next = NULL;
    c->link = s->tail;
    *s->tail = c;
    s->tail = &c->next;
}

static void conn_unlink(struct web_conns *s, struct web_conn *c)
{
    assert(c->link && *c->link == c);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    else
        s->tail = c->link;
}

/* Its thread finds the end of the stream and closes it. */
static void conn_shut(struct web_conn *c)
{
    c->shut = true;
    shutdown(c->fd, SHUT_RDWR);
}

/* The list is ordered by since when they wait or answer. */
static void conn_shut_oldest(struct web_conns *s, const unsigned char from[16])
{
    struct web_conn *oldest = NULL, *oldest_of = NULL;
    size_t n = 0, of = 0;

    for (struct web_conn *c = s->head; c; c = c->next) {
        bool same = !memcmp(c->from, from, 16);

        if (c->shut)
            continue;
        n++;
        of += same;
        if (!c->answers && !oldest)
            oldest = c;
        if (!c->answers && same && !oldest_of)
            oldest_of = c;
    }
    if (of >= WEB_MOST_OF_ONE && oldest_of)
        conn_shut(oldest_of);
    else if (n >= WEB_MOST_CONNS && oldest)
        conn_shut(oldest);
}

struct web_conn *web_conn_open(struct web_conns *s, int fd, const struct sockaddr *from)
{
    struct web_conn *c = wr_zalloc(1, sizeof *c);

    c->fd = fd;
    c->since_ns = wr_clock_ns();
    conn_address(c->from, from);
    pthread_mutex_lock(&s->lock);
    conn_shut_oldest(s, c->from);
    conn_append(s, c);
    pthread_mutex_unlock(&s->lock);
    return c;
}

void web_conn_close(struct web_conns *s, struct web_conn *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&s->lock);
    conn_unlink(s, c);
    pthread_mutex_unlock(&s->lock);
    free(c);
}

static void conn_turn(struct web_conns *s, struct web_conn *c, bool answers)
{
    if (!c)
        return;
    pthread_mutex_lock(&s->lock);
    conn_unlink(s, c);
    c->answers = answers;
    c->since_ns = wr_clock_ns();
    conn_append(s, c);
    pthread_mutex_unlock(&s->lock);
}

void web_conn_answers(struct web_conns *s, struct web_conn *c)
{
    conn_turn(s, c, true);
}

void web_conn_waits(struct web_conns *s, struct web_conn *c)
{
    conn_turn(s, c, false);
}

void web_conns_tick(struct web_conns *s)
{
    uint64_t now = wr_clock_ns();

    pthread_mutex_lock(&s->lock);
    for (struct web_conn *c = s->head; c; c = c->next)
        if (!c->shut && now > c->since_ns + (c->answers ? WEB_ANSWER_NS : WEB_WAIT_NS))
            conn_shut(c);
    pthread_mutex_unlock(&s->lock);
}
