/* below.c -- the layers under a state: Job, Flow, BMI, Trove.
 *
 *   state of the file system's machine    waits 500 us for the storage
 *     Job     post 2 us ......................... complete 1 us
 *       Trove        service: what is left of the 500 us
 *
 * The engine calls it when it knows how long the state took. The states of the layer take the times
 * of their timing models, and the one that waits takes the rest. The state above keeps its time;
 * timing models that exceed it are scaled down in proportion.
 */
#include <assert.h>

#include "stack_engine_priv.h"

enum { MOST_BELOW = 32 };

struct walk {
    uint16_t state[MOST_BELOW];
    uint64_t exec[MOST_BELOW];
    uint32_t n;
    uint32_t waits; /* the one that takes the rest, or MOST_BELOW */
    uint64_t sum;
};

/* The states in their order, those of a layer further down between. */
static void below_gather(struct stack_engine *e, struct activity *a, uint16_t machine, uint64_t t,
                         struct walk *w)
{
    assert(machine < e->fs->machine.n);
    uint16_t at = e->fs->machine.v[machine].first;

    while (at < STACK_TERMINATE && w->n < MOST_BELOW) {
        const struct stack_state *s = &e->fs->state.v[at];
        uint32_t me = w->n++;

        w->state[me] = at;
        w->exec[me] = stack_exec_of(e, a, at);
        w->sum += w->exec[me];
        if (s->does == STACK_WAIT && w->waits == MOST_BELOW)
            w->waits = me;
        if (s->below != STACK_NONE)
            below_gather(e, a, s->below, t, w);
        at = stack_next_of(e->fs, s, s->has_code ? activity_eval(e, a, s->code, t) : 0);
    }
}

double stack_below_per_byte(struct stack_engine *e, struct activity *a, uint16_t machine,
                            uint64_t t)
{
    struct walk w = {.waits = MOST_BELOW};
    double ns = 0;

    below_gather(e, a, machine, t, &w);
    for (uint32_t i = 0; i < w.n; i++)
        if (e->fs->state.v[w.state[i]].cls == STACK_DATA)
            ns += e->timings->exec[a->var[STACK_VAR_WRITES] != 0][w.state[i]].per_byte_ns;
    return ns;
}

uint64_t stack_below(struct stack_engine *e, struct activity *a, uint16_t machine, uint64_t t,
                     uint64_t budget)
{
    struct walk w;

    assert(e->fs->machine.v[machine].kind == STACK_LAYER);
    w.n = 0;
    w.waits = MOST_BELOW;
    w.sum = 0;
    below_gather(e, a, machine, t, &w);
    double scale = w.sum > budget ? (double)budget / (double)w.sum : 1;
    uint64_t left = budget;

    for (uint32_t i = 0; i < w.n; i++) {
        if (w.sum > budget)
            w.exec[i] = (uint64_t)((double)w.exec[i] * scale);
        left -= w.exec[i] < left ? w.exec[i] : left;
    }
    for (uint32_t i = 0; i < w.n; i++) {
        uint64_t wait = i == w.waits ? left : 0;

        stack_visited(e, a, w.state[i], t, w.exec[i], wait, 0,
                      wait ? STACK_DEFERRED : STACK_COMPLETE);
        t += w.exec[i] + wait;
    }
    return w.waits == MOST_BELOW ? left : 0;
}
