/* mpi_data.c -- the data of messages and collectives, handed over beside their simulation.
 *
 * Two hash tables with chaining, under one lock. A message is kept from its send to its receive; a
 * collective from the first member that enters it to the last that leaves it. */
#include "mpi_data_priv.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BUCKETS = 1 << 12 };

struct data_message {
    struct data_message *next;
    struct mpi_message_key key;
    size_t n;
    char bytes[];
};

struct data_coll {
    struct data_coll *next;
    struct mpi_coll_key key;
    uint32_t members, left; /* left: have left */
    char *part[];
};

struct mpi_data {
    pthread_mutex_t lock;
    struct data_message *messages[BUCKETS];
    struct data_coll *colls[BUCKETS];
};

static size_t data_bucket(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = (a * 0x9e3779b97f4a7c15 + b) * 0xbf58476d1ce4e5b9 + c;

    x = (x ^ x >> 31) * 0x94d049bb133111eb;
    return (x ^ x >> 29) % BUCKETS;
}

struct mpi_data *mpi_data_new(void)
{
    struct mpi_data *d = wr_zalloc(1, sizeof *d);

    pthread_mutex_init(&d->lock, NULL);
    return d;
}

static void data_free_coll(struct data_coll *c)
{
    for (uint32_t i = 0; i < c->members; i++)
        free(c->part[i]);
    free(c);
}

void mpi_data_free(struct mpi_data *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct data_message *m = d->messages[i], *next; m; m = next) {
            next = m->next;
            free(m);
        }
        for (struct data_coll *c = d->colls[i], *next; c; c = next) {
            next = c->next;
            data_free_coll(c);
        }
    }
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- messages ---- */

static struct data_message **data_message(struct mpi_data *d, struct mpi_message_key k)
{
    struct data_message **at =
        &d->messages[data_bucket((uint64_t)k.from << 32 | k.to, (uint64_t)k.tag, k.number)];

    while (*at && ((*at)->key.from != k.from || (*at)->key.to != k.to || (*at)->key.tag != k.tag ||
                   (*at)->key.number != k.number))
        at = &(*at)->next;
    return at;
}

void mpi_data_post(struct mpi_data *d, struct mpi_message_key key, const void *data, size_t n)
{
    struct data_message *m = wr_alloc(sizeof *m + n);

    *m = (struct data_message){.key = key, .n = n};
    if (n)
        memcpy(m->bytes, data, n);
    pthread_mutex_lock(&d->lock);
    *data_message(d, key) = m; /* the end of its chain */
    pthread_mutex_unlock(&d->lock);
}

size_t mpi_data_take(struct mpi_data *d, struct mpi_message_key key, void *data, size_t n)
{
    pthread_mutex_lock(&d->lock);
    struct data_message **at = data_message(d, key), *m = *at;

    if (m)
        *at = m->next;
    pthread_mutex_unlock(&d->lock);
    size_t is = m ? m->n : SIZE_MAX;

    if (m && is && n)
        memcpy(data, m->bytes, is < n ? is : n);
    free(m);
    return is;
}

/* ---- collectives ---- */

static struct data_coll **data_coll(struct mpi_data *d, struct mpi_coll_key k)
{
    struct data_coll **at = &d->colls[data_bucket(k.comm, k.number, 0)];

    while (*at && ((*at)->key.comm != k.comm || (*at)->key.number != k.number))
        at = &(*at)->next;
    return at;
}

void mpi_data_put(struct mpi_data *d, struct mpi_coll_key key, uint32_t place, uint32_t members,
                  const void *data, size_t n)
{
    char *part = wr_alloc(n ? n : 1);

    assert(place < members);
    if (n)
        memcpy(part, data, n);
    pthread_mutex_lock(&d->lock);
    struct data_coll **at = data_coll(d, key);

    if (!*at) {
        *at = wr_zalloc(1, sizeof **at + members * sizeof(char *));
        (*at)->key = key;
        (*at)->members = members;
    }
    (*at)->part[place] = part;
    pthread_mutex_unlock(&d->lock);
}

const void *mpi_data_part(struct mpi_data *d, struct mpi_coll_key key, uint32_t place)
{
    pthread_mutex_lock(&d->lock);
    struct data_coll *c = *data_coll(d, key);
    const void *part = c && place < c->members ? c->part[place] : NULL;

    pthread_mutex_unlock(&d->lock);
    return part;
}

void mpi_data_leave(struct mpi_data *d, struct mpi_coll_key key)
{
    pthread_mutex_lock(&d->lock);
    struct data_coll **at = data_coll(d, key), *c = *at;
    bool last = c && ++c->left == c->members;

    if (last)
        *at = c->next;
    pthread_mutex_unlock(&d->lock);
    if (last)
        data_free_coll(c);
}
