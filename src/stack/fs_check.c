/* fs_check.c -- what can be wrong with machines although every word in them is known.
 *
 * Reachability is checked in each machine (which states follow from its first) and in the whole
 * (which machines an operation or a request leads to). stack_fs_open() refuses the first fault,
 * `weir stack check` reports all.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs_priv.h"

struct checker {
    const struct stack_fs *fs;
    stack_report_fn *report;
    void *ctx;
    size_t found;
    bool *state_used;   /* [states] reached from the machine's first */
    bool *machine_used; /* [machines] */
    bool *root;         /* [machines] begins an activity: it terminates; others return */
    bool *nested;       /* [machines] a state jumps to it */
    uint8_t *mark;      /* [machines] for cycles: 1 under way, 2 done */
    uint32_t *height;   /* [machines] one inside another, from here down */
};

static void fs_check_complain(struct checker *c, const void *field, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void fs_check_complain(struct checker *c, const void *field, const char *fmt, ...)
{
    char what[600];
    struct wr_err err = {0};
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    conf_fail(c->fs->conf, field, &err, "%s", what);
    c->report(c->ctx, err.text);
    c->found++;
}

static const struct stack_next *fs_check_nexts(const struct stack_fs *fs,
                                               const struct stack_state *s)
{
    return fs->next.v + s->next;
}

static void fs_check_reach(struct checker *c, uint16_t from)
{
    const struct stack_fs *fs = c->fs;
    uint16_t *todo = wr_zalloc(fs->state.n + 1, sizeof *todo);
    size_t n = 0;

    assert(from < fs->state.n);
    todo[n++] = from;
    c->state_used[from] = true;
    while (n) {
        const struct stack_state *s = &fs->state.v[todo[--n]];

        for (uint32_t i = 0; i < s->nnext; i++) {
            uint16_t to = fs_check_nexts(fs, s)[i].to;

            if (to >= STACK_TERMINATE || c->state_used[to])
                continue;
            c->state_used[to] = true;
            todo[n++] = to;
        }
    }
    free(todo);
}

/* Which states of a machine can come to its end: backwards, until nothing changes. */
static void fs_check_dead_ends(struct checker *c, const struct stack_machine *m)
{
    const struct stack_fs *fs = c->fs;
    bool *ends = wr_zalloc(m->nstates, sizeof *ends);
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint16_t i = 0; i < m->nstates; i++) {
            const struct stack_state *s = &fs->state.v[m->first + i];
            bool can = s->does == STACK_DISPATCH;

            for (uint32_t k = 0; k < s->nnext && !can; k++) {
                uint16_t to = fs_check_nexts(fs, s)[k].to;

                can = to >= STACK_TERMINATE || ends[to - m->first];
            }
            changed |= can && !ends[i];
            ends[i] |= can;
        }
    }
    for (uint16_t i = 0; i < m->nstates; i++)
        if (!ends[i] && c->state_used[m->first + i])
            fs_check_complain(
                c, stack_text_of(fs, (uint16_t)(m->first + i)),
                "%s is a dead end: no way leads from it to return or terminate; give it a "
                "next state",
                stack_state_text(fs, (uint16_t)(m->first + i)).s);
    free(ends);
}

static void fs_check_state(struct checker *c, uint16_t at)
{
    const struct stack_fs *fs = c->fs;
    const struct stack_state *s = &fs->state.v[at];
    const struct stack_state_text *t = stack_text_of(fs, at);
    struct stack_text name = stack_state_text(fs, at);
    uint32_t any = 0;

    if (!c->state_used[at])
        fs_check_complain(c, t, "%s is unreachable: no state leads to it; remove it, or let one",
                          name.s);
    for (uint32_t i = 0; i < s->nnext; i++) {
        any += fs_check_nexts(fs, s)[i].any;
        for (uint32_t k = 0; k < i; k++)
            if (fs_check_nexts(fs, s)[k].any == fs_check_nexts(fs, s)[i].any &&
                fs_check_nexts(fs, s)[k].code == fs_check_nexts(fs, s)[i].code)
                fs_check_complain(c, (const char **)t->next.items + i,
                                  "%s says twice where this code leads; leave one out", name.s);
    }
    if (s->nnext && !any)
        fs_check_complain(c, t, "%s does not say where other codes lead; add \"default -> state\"",
                          name.s);
    if (fs->machine.v[s->machine].kind == STACK_LAYER && s->does != STACK_RUN &&
        s->does != STACK_WAIT)
        fs_check_complain(c, t,
                          "%s is in a layer, where states run or wait; let the machine above do it",
                          name.s);
    if (s->does == STACK_FORK && !s->nfork)
        fs_check_complain(c, t, "%s forks no machine; give it fork: [machine]", name.s);
    if (s->does == STACK_FLOW && fs->machine.v[s->machine].side != STACK_SERVER)
        fs_check_complain(c, t,
                          "%s moves data, which only machines of servers do; give the machine "
                          "side: server",
                          name.s);
}

/* Marks every machine that `m` leads to, finds how deep they are nested, and reports cycles. Each
 * machine is visited once. */
static void fs_check_follow(struct checker *c, uint16_t m)
{
    assert(m < c->fs->machine.n);
    const struct stack_fs *fs = c->fs;
    const struct stack_machine *k = &fs->machine.v[m];

    c->machine_used[m] = true;
    if (c->mark[m])
        return;
    c->mark[m] = 1;
    c->height[m] = 1;
    for (uint16_t i = 0; i < k->nstates; i++) {
        uint16_t at = (uint16_t)(k->first + i);
        const struct stack_state *s = &fs->state.v[at];

        for (uint32_t f = 0; f < s->nfork; f++) {
            c->root[fs->fork.v[s->fork + f].machine] = true;
            fs_check_follow(c, fs->fork.v[s->fork + f].machine);
        }
        if (s->below != STACK_NONE) {
            bool around = c->mark[s->below] == 1;

            c->root[s->below] = true;
            fs_check_follow(c, s->below);
            if (around)
                fs_check_complain(c, &stack_text_of(fs, at)->below,
                                  "%s is below itself; name a layer further down",
                                  stack_state_text(fs, at).s);
        }
        if (s->does != STACK_JUMP_TO)
            continue;
        bool circle = c->mark[s->target] == 1;

        c->nested[s->target] = true;
        fs_check_follow(c, s->target);
        if (c->height[m] < c->height[s->target] + 1)
            c->height[m] = c->height[s->target] + 1;
        if (circle || c->height[m] > STACK_DEEPEST)
            fs_check_complain(
                c, &stack_text_of(fs, at)->machine,
                "%s jumps in a circle, or deeper than %d machines; let a machine return first",
                stack_state_text(fs, at).s, STACK_DEEPEST);
    }
    c->mark[m] = 2;
}

/* Which machines do this, themselves or in one they jump to. */
static bool *fs_check_doers(const struct stack_fs *fs, uint8_t does)
{
    bool *yes = wr_zalloc(fs->machine.n, 1), changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < fs->state.n; i++) {
            const struct stack_state *s = &fs->state.v[i];
            bool now = s->does == does || (s->does == STACK_JUMP_TO && yes[s->target]);

            changed |= now && !yes[s->machine];
            yes[s->machine] |= now;
        }
    }
    return yes;
}

/* A machine that is jumped to gives its code back; one that begins an activity ends it. */
static void fs_check_ends(struct checker *c, uint16_t m)
{
    const struct stack_fs *fs = c->fs;
    const struct stack_machine *k = &fs->machine.v[m];

    for (uint16_t i = 0; i < k->nstates; i++) {
        const struct stack_state *s = &fs->state.v[k->first + i];

        for (uint32_t n = 0; n < s->nnext; n++) {
            uint16_t to = fs_check_nexts(fs, s)[n].to;
            const void *field =
                (const char **)stack_text_of(fs, (uint16_t)(k->first + i))->next.items + n;

            if (to == STACK_RETURN && c->root[m])
                fs_check_complain(c, field,
                                  "%s begins an activity and has no caller to return to; terminate",
                                  k->name);
            if (to == STACK_TERMINATE && c->nested[m])
                fs_check_complain(c, field,
                                  "%s is nested in another machine and cannot terminate; return",
                                  k->name);
        }
    }
}

static void fs_check_messages(struct checker *c)
{
    const struct stack_fs *fs = c->fs;
    const struct stack_message_text *t = fs->file->messages.items;
    bool *replies = fs_check_doers(fs, STACK_REPLY), *receives = fs_check_doers(fs, STACK_RECEIVE);

    for (size_t i = 0; i < fs->message.n; i++) {
        const struct stack_message *m = &fs->message.v[i];
        bool sent = false;

        for (size_t s = 0; s < fs->state.n; s++)
            sent |= (fs->state.v[s].message == i || fs->state.v[s].instead == i) &&
                    c->machine_used[fs->state.v[s].machine];
        if (!sent)
            fs_check_complain(c, &t[i], "no state sends %s; remove it, or prepare it in a state",
                              m->name);
        if (!replies[m->serves])
            fs_check_complain(
                c, &t[i].serves,
                "%s serves %s and never replies: the sender would wait for ever; add a state "
                "that does reply",
                fs->machine.v[m->serves].name, m->name);
    }
    for (size_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *k = &fs->machine.v[m];

        for (uint16_t i = 0; i < k->nstates; i++) {
            uint16_t at = (uint16_t)(k->first + i);

            if (fs->state.v[at].does == STACK_SEND && !receives[m])
                fs_check_complain(
                    c, stack_text_of(fs, at),
                    "%s sends and its machine never receives the answers; add a state that "
                    "does receive",
                    stack_state_text(fs, at).s);
        }
    }
    free(replies);
    free(receives);
}

static void fs_check_operations(struct checker *c)
{
    static const uint8_t needed[] = {STACK_OP_OPEN, STACK_OP_CREATE, STACK_OP_WRITE,
                                     STACK_OP_READ, STACK_OP_CLOSE,  STACK_OP_DELETE};

    for (int api = 0; api < STACK_APIS; api++)
        for (size_t i = 0; i < sizeof needed; i++)
            if ((api == STACK_MPIIO || c->fs->file->operations[api].n) &&
                c->fs->operation[api][needed[i]] == STACK_NONE)
                fs_check_complain(c, &c->fs->file->operations[api],
                                  "the operation %s is missing; say its machine",
                                  stack_operation_names[needed[i]]);
    bool *dispatches = fs_check_doers(c->fs, STACK_DISPATCH);

    if (!dispatches[c->fs->serves])
        fs_check_complain(c, &c->fs->file->requests,
                          "%s takes requests and dispatches none; add a state "
                          "that does dispatch",
                          c->fs->machine.v[c->fs->serves].name);
    free(dispatches);
}

static void fs_check_all(struct checker *c)
{
    const struct stack_fs *fs = c->fs;
    const struct stack_machine_text *t = fs->file->machines.items;

    for (size_t i = 0; i < (size_t)STACK_APIS * STACK_OPS; i++) {
        uint16_t m = fs->operation[i / STACK_OPS][i % STACK_OPS];

        if (m != STACK_NONE) {
            c->root[m] = true;
            fs_check_follow(c, m);
        }
    }
    c->root[fs->serves] = true;
    fs_check_follow(c, fs->serves);
    if (fs->starts != STACK_NONE) {
        c->root[fs->starts] = true;
        fs_check_follow(c, fs->starts);
    }
    for (size_t i = 0; i < fs->message.n; i++) {
        c->root[fs->message.v[i].serves] = true;
        fs_check_follow(c, fs->message.v[i].serves);
    }
    for (size_t m = 0; m < fs->machine.n; m++) {
        fs_check_reach(c, fs->machine.v[m].first);
        fs_check_dead_ends(c, &fs->machine.v[m]);
        fs_check_ends(c, (uint16_t)m);
        if (!c->machine_used[m])
            fs_check_complain(c, &t[m], "nothing uses the machine %s; remove it, or jump to it",
                              fs->machine.v[m].name);
        for (uint16_t i = 0; i < fs->machine.v[m].nstates; i++)
            fs_check_state(c, (uint16_t)(fs->machine.v[m].first + i));
    }
    fs_check_messages(c);
    fs_check_operations(c);
}

size_t stack_fs_check(const struct stack_fs *fs, stack_report_fn *report, void *ctx)
{
    size_t nm = fs->machine.n, ns = fs->state.n;
    struct checker c = {
        .fs = fs,
        .report = report,
        .ctx = ctx,
        .state_used = wr_zalloc(ns, 1),
        .machine_used = wr_zalloc(nm, 1),
        .root = wr_zalloc(nm, 1),
        .nested = wr_zalloc(nm, 1),
        .mark = wr_zalloc(nm, 1),
        .height = wr_zalloc(nm, sizeof *c.height),
    };

    assert(fs->conf && report);
    fs_check_all(&c);
    free(c.state_used);
    free(c.machine_used);
    free(c.root);
    free(c.nested);
    free(c.mark);
    free(c.height);
    return c.found;
}
