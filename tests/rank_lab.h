/* rank_lab.h -- ranks that follow scripts, over a wire of which everything is known.
 *
 * The wire is LogGP's: a message of k bytes is sent after k * G and has arrived L later, and
 * messages never wait for each other (so a short one may overtake a long one).
 */
#ifndef TESTS_RANK_LAB_H
#define TESTS_RANK_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rank_accounts.h"

enum { LAB_RANKS = 64, LAB_OPS = 64, LAB_SENT = 0, LAB_ARRIVED = 1, LAB_KINDS = 2 };
enum { NS = 1000 };

struct lab_op {
    enum load_kind kind;
    struct load_op op;
};

struct lab_report {
    uint32_t rank;
    uint64_t id, t_ps;
    enum load_event ev;
};

struct lab {
    struct sim sim;
    struct load load;
    struct ranks *ranks;
    struct rank_mpi mpi;
    struct coll_choice choice;
    uint64_t L_ps, G_ps, io_ps;
    uint64_t late_ps; /* messages arrive so much later than they should */
    uint32_t seq, messages, n;
    struct lab_op op[LAB_RANKS][LAB_OPS];
    uint64_t t_ps[LAB_RANKS][LAB_OPS + 1]; /* when each operation was asked for */
    uint32_t nops[LAB_RANKS];
    uint32_t node[LAB_RANKS];
    struct lab_report reports[256];
    struct {
        uint64_t t_ps, bytes;
    } * sent; /* by message */
    uint32_t nreports;
    struct rank_files files;
    uint32_t file_kind; /* of the files' events, with their handler; 0: none */
    sim_handler *on_file;
    bool stop[LAB_RANKS]; /* graphs: nothing more until released */
};

struct lab_rank {
    uint32_t me, at;
};

static inline void lab_init(const struct load *l, void *rank, uint32_t i)
{
    (void)l;
    *(struct lab_rank *)rank = (struct lab_rank){i, 0};
}

static inline enum load_kind lab_next(const struct load *l, void *rank, uint64_t now_ps,
                                      struct load_op *ret)
{
    struct lab *lab = l->priv;
    struct lab_rank *r = rank;

    lab->t_ps[r->me][r->at] = now_ps;
    if (r->at >= lab->nops[r->me])
        return LOAD_END;
    *ret = lab->op[r->me][r->at].op;
    return lab->op[r->me][r->at++].kind;
}

static inline void lab_done(const struct load *l, void *rank, uint64_t id, enum load_event ev,
                            uint64_t now_ps)
{
    struct lab *lab = l->priv;

    lab->reports[lab->nreports++] =
        (struct lab_report){((struct lab_rank *)rank)->me, id, now_ps, ev};
}

static const struct load_ops lab_ops = {
    .kind = {.name = "lab"},
    .rank_init = lab_init,
    .next = lab_next,
    .done = lab_done,
};

static inline void lab_send(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                            uint8_t cls, uint64_t user)
{
    struct lab *lab = ctx;
    uint64_t sent = lab->sim.now + bytes * lab->G_ps;

    (void)app;
    (void)cls;
    lab->sent = realloc(lab->sent, (lab->messages + 1) * sizeof *lab->sent);
    lab->sent[lab->messages].t_ps = lab->sim.now;
    lab->sent[lab->messages].bytes = bytes;
    sim_at(&lab->sim, sent, src, sim_subkey(LAB_SENT, 0), lab->seq++, (uint32_t)user,
           lab->messages);
    sim_at(&lab->sim, sent + lab->L_ps + lab->late_ps, dst, sim_subkey(LAB_ARRIVED, 0), lab->seq++,
           (uint32_t)user, lab->messages);
    lab->messages++;
}

static inline void lab_trip(void *ctx, uint32_t it, bool arrived, struct cause_trip *ret)
{
    struct lab *lab = ctx;
    uint64_t t = lab->sent[it].t_ps;

    *ret =
        (struct cause_trip){.post_ps = t,
                            .first_ps = t,
                            .idle_ps = lab->sent[it].bytes * lab->G_ps + (arrived ? lab->L_ps : 0)};
}

static inline uint32_t lab_lp(void *ctx, uint32_t node)
{
    (void)ctx;
    return node;
}

static inline void lab_on_sent(void *ctx, const struct sim_event *e)
{
    ranks_sent(((struct lab *)ctx)->ranks, e->arg, e->arg2);
}

static inline void lab_on_arrived(void *ctx, const struct sim_event *e)
{
    ranks_arrived(((struct lab *)ctx)->ranks, e->arg, e->arg2);
}

/* An ideal MPI over L = 1 us, G = 0.1 ns/B, one rank a node; change it before lab_run. */
static inline struct lab *lab_open(uint32_t n)
{
    struct lab *lab = calloc(1, sizeof *lab);

    lab->n = n;
    lab->L_ps = 1000 * NS;
    lab->G_ps = 100;
    lab->io_ps = 5000 * NS;
    lab->mpi = (struct rank_mpi){.eager_b = UINT64_MAX, .control_b = 64, .eager_done = RANK_SENT};
    for (uint32_t i = 0; i < n; i++)
        lab->node[i] = i;
    return lab;
}

static inline enum ranks_state lab_run(struct lab *lab)
{
    lab->load = (struct load){.ops = &lab_ops,
                              .priv = lab,
                              .ranks = lab->n,
                              .cpus = lab->load.cpus,
                              .rank_size = sizeof(struct lab_rank)};
    struct rank_setup setup = {.sim = &lab->sim,
                               .first_kind = LAB_KINDS,
                               .wire = {lab, lab_send, lab_lp, lab_trip},
                               .files = lab->files,
                               .mpi = &lab->mpi,
                               .coll = &lab->choice,
                               .io_ps = lab->io_ps};
    struct rank_job job = {.load = &lab->load, .node = lab->node};

    sim_init(&lab->sim);
    if (lab->file_kind)
        sim_handle(&lab->sim, lab->file_kind, lab->on_file, lab);
    sim_handle(&lab->sim, LAB_SENT, lab_on_sent, lab);
    sim_handle(&lab->sim, LAB_ARRIVED, lab_on_arrived, lab);
    ranks_open(&lab->ranks, &setup, &job, 1);
    while (sim_run(&lab->sim, UINT64_MAX, 1000))
        ;
    return ranks_state(lab->ranks);
}

static inline void lab_close(struct lab *lab)
{
    if (lab->ranks)
        rank_check_accounts(lab->ranks);
    ranks_close(lab->ranks);
    sim_fini(&lab->sim);
    free(lab->sent);
    free(lab);
}

static inline uint64_t lab_elapsed(const struct lab *lab, uint32_t rank)
{
    struct rank_stat s;

    ranks_stat(lab->ranks, rank, &s);
    return s.elapsed_ps;
}

/* ---- scripts ---- */

static inline struct load_op *lab_add(struct lab *lab, uint32_t rank, enum load_kind kind)
{
    struct lab_op *o = &lab->op[rank][lab->nops[rank]++];

    o->kind = kind;
    return &o->op;
}

static inline void lab_message(struct lab *lab, uint32_t rank, enum load_kind kind, uint32_t peer,
                               uint64_t bytes, int64_t tag, uint16_t flags)
{
    struct load_op *op = lab_add(lab, rank, kind);

    op->peer = peer;
    op->bytes = bytes;
    op->tag = tag;
    op->flags = flags;
}

static inline void lab_compute(struct lab *lab, uint32_t rank, uint64_t ps)
{
    lab_add(lab, rank, LOAD_COMPUTE)->ps = ps;
}

static inline void lab_wait(struct lab *lab, uint32_t rank, uint8_t of, uint16_t flags)
{
    struct load_op *op = lab_add(lab, rank, LOAD_WAIT);

    op->of = of;
    op->flags = flags;
}

static inline void lab_coll(struct lab *lab, enum load_coll coll, uint64_t bytes, uint32_t root)
{
    for (uint32_t i = 0; i < lab->n; i++) {
        struct load_op *op = lab_add(lab, i, LOAD_COLL);

        op->coll = (uint8_t)coll;
        op->bytes = bytes;
        op->root = root;
        op->group = load_group_all(lab->n);
    }
}

#endif
