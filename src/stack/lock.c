/* lock.c -- locks of byte ranges, as a server gives them to clients.
 *
 * A data file has a list of locks. Readers may share; a writer is alone with its bytes. A client
 * asks (enqueue), the clients whose locks stand against it are asked back (call_back), give theirs
 * up (cancel), and it gets its own (grant): not the bytes it asked for, but as much around them as
 * stands against nobody who has a lock or waits for one, so that one client alone asks once.
 */
#include "engine_priv.h"

static struct lock *lock_at(const struct stack_engine *e, uint32_t h)
{
    return wr_pool_at(&e->hold.lock, h);
}

/* The bytes of the operation in data file d. */
static struct lock wanted(const struct stack_engine *e, const struct act *a, uint32_t d)
{
    uint64_t from, to;

    stack_world_extent(e, a, d, &from, &to);
    return (struct lock){.client = (uint32_t)a->var[STACK_VAR_WHO],
                         .writes = a->var[STACK_VAR_WRITES] != 0,
                         .from = from,
                         .to = to > from ? to : UINT64_MAX};
}

static bool against(const struct lock *x, const struct lock *want)
{
    return x->client != want->client && (x->writes || want->writes) && x->from < want->to &&
           want->from < x->to;
}

static struct entry *all_of(struct stack_engine *e, const struct act *a, uint32_t d, bool make)
{
    return stack_hold_find(&e->hold, HELD_LOCKS, 0, a->file, d, make);
}

static struct entry *own_of(struct stack_engine *e, const struct act *a, uint32_t d, bool make)
{
    return stack_hold_find(&e->hold, HELD_MINE, (uint32_t)a->var[STACK_VAR_WHO], a->file, d, make);
}

/* What is being asked back may be used to its end by who uses it, and by nobody after that. */
static bool locked(struct stack_engine *e, const struct act *a, uint32_t d)
{
    const struct entry *own = own_of(e, a, d, false);
    struct lock want = wanted(e, a, d);

    for (uint32_t h = own ? own->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        if (x->granted && !x->called && (x->writes || !want.writes) && x->from <= want.from &&
            x->to >= want.to)
            return true;
        h = x->mine;
    }
    return false;
}

/* How many granted locks stand against the request. */
static int64_t conflicts(struct stack_engine *e, const struct act *a, uint32_t d, bool uncalled)
{
    const struct entry *all = all_of(e, a, d, false);
    struct lock want = wanted(e, a, d);
    int64_t n = 0;

    for (uint32_t h = all ? all->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        n += x->granted && against(x, &want) && !(uncalled && x->called);
        h = x->next;
    }
    return n;
}

/* Each asking back has a number, so that who is asked now can be told from who was before. */
static void call_back(struct stack_engine *e, const struct act *a, uint32_t d)
{
    struct entry *all = all_of(e, a, d, true);
    struct lock want = wanted(e, a, d);

    all->n++;
    for (uint32_t h = all->first; h != WR_NIL;) {
        struct lock *x = lock_at(e, h);

        if (!x->called && x->granted && against(x, &want))
            x->called = all->n;
        h = x->next;
    }
}

static int64_t holder(struct stack_engine *e, const struct act *a, uint32_t d, int64_t nth)
{
    const struct entry *all = all_of(e, a, d, false);

    for (uint32_t h = all ? all->first : WR_NIL; h != WR_NIL;) {
        const struct lock *x = lock_at(e, h);

        if (x->called == all->n && !nth--)
            return x->client;
        h = x->next;
    }
    return 0;
}

static int64_t writer(struct stack_engine *e, const struct act *a, uint32_t d)
{
    const struct entry *all = all_of(e, a, d, false);
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

static void enqueue(struct stack_engine *e, const struct act *a, uint32_t d)
{
    struct entry *all = all_of(e, a, d, true), *own = own_of(e, a, d, true);
    uint32_t h = wr_pool_take(&e->hold.lock);
    struct lock *x = lock_at(e, h);

    *x = wanted(e, a, d);
    x->next = all->first;
    x->mine = own->first;
    all->first = own->first = h;
}

/* From the last lock of another before the bytes to the first one after them. */
static void widen(struct stack_engine *e, const struct entry *all, struct lock *want)
{
    uint64_t from = 0, to = UINT64_MAX;

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

static void unlink_lock(struct stack_engine *e, struct entry *all, uint32_t lock)
{
    uint32_t *at = &all->first;

    while (*at != lock)
        at = &lock_at(e, *at)->next;
    *at = lock_at(e, lock)->next;
}

/* Its granted locks go; with `under` only those that lie in this one and allow no more. */
static void drop(struct stack_engine *e, struct entry *all, struct entry *own,
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
        unlink_lock(e, all, h);
        wr_pool_give(&e->hold.lock, h);
    }
}

static void grant(struct stack_engine *e, const struct act *a, uint32_t d)
{
    struct entry *all = all_of(e, a, d, false), *own = own_of(e, a, d, false);
    struct lock want = wanted(e, a, d);

    for (uint32_t h = own ? own->first : WR_NIL; h != WR_NIL;) {
        struct lock *x = lock_at(e, h);

        if (!x->granted && x->from == want.from && x->to == want.to && x->writes == want.writes) {
            widen(e, all, x);
            x->granted = true;
            drop(e, all, own, x);
            return;
        }
        h = x->mine;
    }
}

static void cancel(struct stack_engine *e, const struct act *a, uint32_t d)
{
    struct entry *own = own_of(e, a, d, false);

    if (own)
        drop(e, all_of(e, a, d, true), own, NULL);
}

int64_t stack_lock_ask(struct stack_engine *e, const struct act *a, uint32_t fact, const int64_t *v)
{
    uint32_t d = (uint32_t)v[0];

    if (v[0] < 0 || v[0] >= e->dfiles)
        return 0;
    switch (fact) {
    case STACK_FACT_LOCKED:
        return locked(e, a, d);
    case STACK_FACT_CONFLICTS:
        return conflicts(e, a, d, false);
    case STACK_FACT_UNCALLED:
        return conflicts(e, a, d, true);
    case STACK_FACT_HOLDER:
        return holder(e, a, d, v[1]);
    case STACK_FACT_WRITER:
        return writer(e, a, d);
    case STACK_FACT_ENQUEUE:
        enqueue(e, a, d);
        break;
    case STACK_FACT_CALL_BACK:
        call_back(e, a, d);
        break;
    case STACK_FACT_GRANT:
        grant(e, a, d);
        break;
    default:
        cancel(e, a, d);
        break;
    }
    return 0;
}
