/* lock.c -- locks of byte ranges, as a server grants them to clients.
 *
 * A data file has a list of locks. Readers share; a writer has its bytes alone. A client requests a
 * lock (enqueue); the clients with conflicting locks are called back (call_back) and give theirs up
 * (cancel); the client gets its lock (grant), extended as far as no other client has or waits for a
 * conflicting lock. So a single client requests one lock for a whole file.
 *
 * Invariant: no two granted locks of different clients conflict.
 */
#include <assert.h>

#include "stack_engine_priv.h"

static struct lock *lock_at(const struct stack_engine *e, uint32_t h)
{
    return wr_pool_at(&e->hold.lock, h);
}

/* The bytes of the operation in data file d. */
static struct lock lock_wanted(const struct stack_engine *e, const struct activity *a, uint32_t d)
{
    uint64_t from, to;

    stack_world_extent(e, a, d, &from, &to);
    return (struct lock){.client = (uint32_t)a->var[STACK_VAR_WHO],
                         .writes = a->var[STACK_VAR_WRITES] != 0,
                         .from = from,
                         .to = to > from ? to : UINT64_MAX};
}

static bool lock_conflicts_with(const struct lock *x, const struct lock *want)
{
    return x->client != want->client && (x->writes || want->writes) && x->from < want->to &&
           want->from < x->to;
}

static struct entry *lock_all_of(struct stack_engine *e, const struct activity *a, uint32_t d,
                                 bool make)
{
    return stack_hold_find(&e->hold, HELD_LOCKS, 0, a->file, d, make);
}

static struct entry *lock_own_of(struct stack_engine *e, const struct activity *a, uint32_t d,
                                 bool make)
{
    return stack_hold_find(&e->hold, HELD_MINE, (uint32_t)a->var[STACK_VAR_WHO], a->file, d, make);
}

/* Whether the client holds a granted lock that covers the bytes. A lock that was called back may be
 * used by running accesses, but not by new ones. */
static bool lock_is_held(struct stack_engine *e, const struct activity *a, uint32_t d)
{
    const struct entry *own = lock_own_of(e, a, d, false);
    struct lock want = lock_wanted(e, a, d);

    for (uint32_t h = own ? own->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        if (x->granted && !x->called && (x->writes || !want.writes) && x->from <= want.from &&
            x->to >= want.to)
            return true;
        h = x->mine;
    }
    return false;
}

/* The number of granted locks that conflict with the request. */
static int64_t lock_count_conflicts(struct stack_engine *e, const struct activity *a, uint32_t d,
                                    bool uncalled)
{
    const struct entry *all = lock_all_of(e, a, d, false);
    struct lock want = lock_wanted(e, a, d);
    int64_t n = 0;

    for (uint32_t h = all ? all->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        n += x->granted && lock_conflicts_with(x, &want) && !(uncalled && x->called);
        h = x->next;
    }
    return n;
}

/* Marks the conflicting locks as called back. Each callback has a number, which lock_holder uses to
 * list its locks. */
static void lock_call_back(struct stack_engine *e, const struct activity *a, uint32_t d)
{
    struct entry *all = lock_all_of(e, a, d, true);
    struct lock want = lock_wanted(e, a, d);

    all->n++;
    for (uint32_t h = all->first; h != WR_NIL;) {
        struct lock *x = lock_at(e, h);

        if (!x->called && x->granted && lock_conflicts_with(x, &want))
            x->called = all->n;
        h = x->next;
    }
}

static int64_t lock_holder(struct stack_engine *e, const struct activity *a, uint32_t d,
                           int64_t nth)
{
    const struct entry *all = lock_all_of(e, a, d, false);

    for (uint32_t h = all ? all->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        if (x->called == all->n && !nth--)
            return x->client;
        h = x->next;
    }
    return 0;
}

static int64_t lock_writer(struct stack_engine *e, const struct activity *a, uint32_t d)
{
    const struct entry *all = lock_all_of(e, a, d, false);
    const struct lock *last = NULL;

    for (uint32_t h = all ? all->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        if (x->granted && x->writes && x->client != a->var[STACK_VAR_WHO] &&
            (!last || x->to > last->to))
            last = x;
        h = x->next;
    }
    return last ? (int64_t)last->client : -1;
}

static void lock_enqueue(struct stack_engine *e, const struct activity *a, uint32_t d)
{
    struct entry *all = lock_all_of(e, a, d, true), *own = lock_own_of(e, a, d, true);
    uint32_t h = wr_pool_take(&e->hold.lock);
    struct lock *x = lock_at(e, h);

    *x = lock_wanted(e, a, d);
    x->next = all->first;
    x->mine = own->first;
    all->first = own->first = h;
}

/* From the last lock of another before the bytes to the first one after them. */
static void lock_widen(struct stack_engine *e, const struct entry *all, struct lock *want)
{
    uint64_t from = 0, to = UINT64_MAX;

    assert(!want->granted);
    for (uint32_t h = all->first; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        if (x->client != want->client && (x->writes || want->writes)) {
            if (x->to <= want->from && x->to > from)
                from = x->to;
            if (x->from >= want->to && x->from < to)
                to = x->from;
        }
        h = x->next;
    }
    want->from = from;
    want->to = to;
}

static void lock_unlink(struct stack_engine *e, struct entry *all, uint32_t lock)
{
    uint32_t *at = &all->first;

    while (*at != lock)
        at = &lock_at(e, *at)->next;
    *at = lock_at(e, lock)->next;
}

/* Removes the client's granted locks; with `under` only those that it covers and that allow no
 * more. */
static void lock_drop(struct stack_engine *e, struct entry *all, struct entry *own,
                      const struct lock *under)
{
    for (uint32_t *at = &own->first; *at != WR_NIL;) {
        uint32_t h = *at;
        struct lock *x = lock_at(e, h);

        if (!x->granted || (under && (x == under || x->from < under->from || x->to > under->to ||
                                      x->writes > under->writes))) {
            at = &x->mine;
            continue;
        }
        *at = x->mine;
        lock_unlink(e, all, h);
        wr_pool_give(&e->hold.lock, h);
    }
}

static void lock_grant(struct stack_engine *e, const struct activity *a, uint32_t d)
{
    struct entry *all = lock_all_of(e, a, d, false), *own = lock_own_of(e, a, d, false);
    struct lock want = lock_wanted(e, a, d);

    assert(d < e->dfiles);
    for (uint32_t h = own ? own->first : WR_NIL; h != WR_NIL;) {
        struct lock *x = lock_at(e, h);

        if (!x->granted && x->from == want.from && x->to == want.to && x->writes == want.writes) {
            lock_widen(e, all, x);
            x->granted = true;
            lock_drop(e, all, own, x);
            return;
        }
        h = x->mine;
    }
}

static void lock_cancel(struct stack_engine *e, const struct activity *a, uint32_t d)
{
    struct entry *own = lock_own_of(e, a, d, false);

    if (own)
        lock_drop(e, lock_all_of(e, a, d, true), own, NULL);
}

int64_t stack_lock_ask(struct stack_engine *e, const struct activity *a, uint32_t builtin,
                       const int64_t *v)
{
    uint32_t d = (uint32_t)v[0];

    if (v[0] < 0 || v[0] >= e->dfiles)
        return 0;
    switch (builtin) {
    case STACK_BUILTIN_LOCKED:
        return lock_is_held(e, a, d);
    case STACK_BUILTIN_CONFLICTS:
        return lock_count_conflicts(e, a, d, false);
    case STACK_BUILTIN_UNCALLED:
        return lock_count_conflicts(e, a, d, true);
    case STACK_BUILTIN_HOLDER:
        return lock_holder(e, a, d, v[1]);
    case STACK_BUILTIN_WRITER:
        return lock_writer(e, a, d);
    case STACK_BUILTIN_ENQUEUE:
        lock_enqueue(e, a, d);
        break;
    case STACK_BUILTIN_CALL_BACK:
        lock_call_back(e, a, d);
        break;
    case STACK_BUILTIN_GRANT:
        lock_grant(e, a, d);
        break;
    default:
        lock_cancel(e, a, d);
        break;
    }
    return 0;
}
