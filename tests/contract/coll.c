/* Every algorithm of every collective: the data is followed from member to member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rank/coll/coll.h"

enum { MOST = 64, BYTES = 64 * 60, SLOTS = 8 };

/* What a block holds: the members whose contributions are in it. An alltoall's block holds one
 * item, (from, to), as a number. */
struct member {
    struct coll_call call;
    uint32_t step;
    bool posted, done;
    uint64_t block[MOST];
    uint64_t result[MOST]; /* alltoall: what came; scan: of those up to here */
    struct coll_step now;
};

struct message {
    uint64_t block[MOST];
    uint64_t bytes;
    struct coll_piece piece;
    bool full;
};

struct stage {
    const struct coll_ops *ops;
    uint32_t n, nblocks;
    struct member m[MOST];
    struct message *box; /* [from][to], SLOTS in a row */
    uint16_t put[MOST][MOST], taken[MOST][MOST];
    uint64_t messages, bytes;
};

static struct message *slot(struct stage *s, uint32_t from, uint32_t to, uint32_t k)
{
    return &s->box[((size_t)from * s->n + to) * SLOTS + k % SLOTS];
}

static uint64_t item(uint32_t from, uint32_t to)
{
    return ((uint64_t)from << 32 | to) + 1;
}

static bool carries(const struct coll_piece *p, uint32_t i)
{
    return p->bit == COLL_NO_BIT || (i >> p->bit & 1);
}

static void begin(struct stage *s, uint32_t i)
{
    struct member *m = &s->m[i];
    enum load_coll coll = s->ops->coll;
    uint32_t rel = (i + s->n - m->call.root) % s->n;

    for (uint32_t b = 0; b < s->nblocks; b++) {
        switch (coll) {
        case LOAD_BCAST:
        case LOAD_SCATTER:
            m->block[b] = rel ? 0 : 1;
            break;
        case LOAD_GATHER:
            m->block[b] = b == rel ? 1 : 0;
            break;
        case LOAD_ALLGATHER:
            m->block[b] = b == i ? 1 : 0;
            break;
        case LOAD_ALLTOALL:
            m->block[b] = strcmp(s->ops->name, "bruck") ? item(i, b) : item(i, (i + b) % s->n);
            break;
        default:
            m->block[b] = UINT64_C(1) << i;
        }
    }
    m->result[0] = UINT64_C(1) << i;
}

static void post(struct stage *s, uint32_t i)
{
    struct member *m = &s->m[i];
    const struct coll_step *st = &m->now;

    m->posted = true;
    if (!(st->what & COLL_SENDS))
        return;
    assert_true(st->to < s->n && st->to != i);
    struct message *x = slot(s, i, st->to, s->put[i][st->to]++);

    if (x->full)
        fail_msg("%s %s of %u: too many messages on the way from %u to %u",
                 load_coll_names[s->ops->coll], s->ops->name, s->n, i, st->to);
    x->full = true;
    x->bytes = st->send_b;
    x->piece = st->sent;
    for (uint32_t k = 0; k < st->sent.n; k++)
        x->block[k] = m->block[(st->sent.first + k) % s->nblocks];
    s->messages++;
    s->bytes += st->send_b;
}

static void take_block(struct stage *s, struct member *m, uint32_t b, uint64_t what, uint32_t from)
{
    if (s->ops->coll == LOAD_ALLTOALL && strcmp(s->ops->name, "bruck")) {
        m->result[b] = what;
    } else if (s->ops->coll == LOAD_BARRIER) {
        m->block[b] |= what;
    } else if (m->now.combine) {
        assert_int_equal(m->block[b] & what, 0); /* nothing is counted twice */
        m->block[b] |= what;
        if (s->ops->coll == LOAD_SCAN && from < m->call.rank)
            m->result[b] |= what;
    } else {
        m->block[b] = what;
    }
}

/* false: what it waits for has not come */
static bool receive(struct stage *s, uint32_t i)
{
    struct member *m = &s->m[i];
    const struct coll_step *st = &m->now;

    if (!(st->what & COLL_RECVS))
        return true;
    assert_true(st->from < s->n && st->from != i);
    struct message *x = slot(s, st->from, i, s->taken[st->from][i]);

    if (!x->full)
        return false;
    x->full = false;
    s->taken[st->from][i]++;
    assert_int_equal(x->bytes, st->recv_b);
    assert_int_equal(x->piece.n, st->got.n);
    assert_int_equal(x->piece.bit, st->got.bit);
    if (s->ops->coll != LOAD_ALLTOALL)
        assert_int_equal(x->piece.first, st->got.first);
    for (uint32_t k = 0; k < st->got.n; k++)
        if (carries(&st->got, k))
            take_block(s, m, (st->got.first + k) % s->nblocks, x->block[k], st->from);
    return true;
}

/* One step of one member; false: it must wait. */
static bool move(struct stage *s, uint32_t i)
{
    struct member *m = &s->m[i];

    if (!m->posted && !coll_step(s->ops, &m->call, m->step, &m->now)) {
        m->done = true;
        return true;
    }
    if (!m->posted)
        post(s, i);
    if (!receive(s, i))
        return false;
    m->posted = false;
    m->step++;
    return true;
}

static void play(struct stage *s)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < s->n; i++)
            if (!s->m[i].done && move(s, i))
                moved = true;
    }
    for (uint32_t i = 0; i < s->n; i++)
        assert_true(s->m[i].done); /* no rank waits forever */
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->n; k++)
            assert_int_equal(s->put[i][k], s->taken[i][k]); /* every message was received */
}

static void check_member(const struct stage *s, uint32_t i)
{
    const struct member *m = &s->m[i];
    uint64_t everyone = s->n == 64 ? UINT64_MAX : (UINT64_C(1) << s->n) - 1;
    uint32_t n = s->n, rel = (i + n - m->call.root) % n;

    for (uint32_t b = 0; b < s->nblocks; b++) {
        switch (s->ops->coll) {
        case LOAD_BCAST:
        case LOAD_ALLGATHER:
            assert_int_equal(m->block[b], 1);
            break;
        case LOAD_GATHER:
            assert_true(rel || m->block[b] == 1);
            break;
        case LOAD_SCATTER:
            assert_true(b != rel || m->block[b] == 1);
            break;
        case LOAD_REDUCE:
            assert_true(i != m->call.root || m->block[b] == everyone);
            break;
        case LOAD_REDUCE_SCATTER:
            assert_true(b != i || m->block[b] == everyone);
            break;
        case LOAD_ALLTOALL:
            if (strcmp(s->ops->name, "bruck"))
                assert_true(b == i || m->result[b] == item(b, i));
            else
                assert_int_equal(m->block[b], item((i + n - b) % n, i));
            break;
        case LOAD_SCAN:
            assert_int_equal(m->result[0], everyone >> (n - 1 - i));
            break;
        default:
            assert_int_equal(m->block[b], everyone);
        }
    }
}

/* ---- closed forms ---- */

static uint64_t log_up(uint64_t n)
{
    uint64_t k = 0;

    while (UINT64_C(1) << k < n)
        k++;
    return k;
}

/* Bits set in all numbers below n: the links that blocks of a binomial tree cross. */
static uint64_t ones_below(uint64_t n)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += (uint64_t)__builtin_popcountll(i);
    return sum;
}

struct form {
    uint64_t messages, bytes;
};

/* A scatter of a vector of B bytes in n blocks that need not be equal. */
static uint64_t scattered_bytes(uint64_t n, uint64_t B)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += (uint64_t)__builtin_popcountll(i) * (B * (i + 1) / n - B * i / n);
    return sum;
}

static struct form closed_form(const struct coll_ops *o, const struct coll_call *c)
{
    uint64_t n = c->size, B = c->bytes, lg = log_up(n), p = 1, k, rem;

    while (2 * p <= n)
        p *= 2;
    k = log_up(p);
    rem = n - p;
    uint64_t aside = c->root < 2 * rem && c->root % 2 == 0, all = n * (n - 1);
    const struct {
        enum load_coll coll;
        const char *name;
        struct form f;
    } forms[] = {
        {LOAD_BARRIER, "dissemination", {n * lg, 0}},
        {LOAD_BCAST, "binomial", {n - 1, (n - 1) * B}},
        {LOAD_BCAST, "scatter-doubling", {n - 1 + n * lg, scattered_bytes(n, B) + (n - 1) * B}},
        {LOAD_BCAST, "scatter-ring", {n - 1 + all, scattered_bytes(n, B) + (n - 1) * B}},
        {LOAD_REDUCE, "binomial", {n - 1, (n - 1) * B}},
        {LOAD_REDUCE,
         "rabenseifner",
         {p * k + p - 1 + rem + aside, (p - 1) * B + B * k / 2 + (rem + aside) * B}},
        {LOAD_ALLREDUCE, "doubling", {p * k + 2 * rem, (p * k + 2 * rem) * B}},
        {LOAD_ALLREDUCE, "rabenseifner", {2 * p * k + 2 * rem, 2 * (p - 1) * B + 2 * rem * B}},
        {LOAD_ALLREDUCE, "ring", {2 * all, 2 * (n - 1) * B}},
        {LOAD_ALLGATHER, "doubling", {n * lg, all * B}},
        {LOAD_ALLGATHER, "bruck", {n * lg, all * B}},
        {LOAD_ALLGATHER, "ring", {all, all * B}},
        {LOAD_ALLTOALL, "bruck", {n * lg, n * ones_below(n) * B}},
        {LOAD_ALLTOALL, "scattered", {all, all * B}},
        {LOAD_ALLTOALL, "pairwise", {all, all * B}},
        {LOAD_GATHER, "binomial", {n - 1, ones_below(n) * B}},
        {LOAD_SCATTER, "binomial", {n - 1, ones_below(n) * B}},
        {LOAD_REDUCE_SCATTER, "halving", {p * k + 2 * rem, (n * (p - 1) + rem * n + rem) * B}},
        {LOAD_REDUCE_SCATTER, "pairwise", {all, all * B}},
        {LOAD_SCAN, "doubling", {2 * ones_below(n), 2 * ones_below(n) * B}},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].coll == o->coll && !strcmp(forms[i].name, o->name))
            return forms[i].f;
    fail_msg("no closed form for %s %s; write it here", load_coll_names[o->coll], o->name);
    return (struct form){0};
}

/* ---- the tests ---- */

static void run_one(const struct coll_ops *o, uint32_t n, uint32_t root, uint64_t bytes)
{
    struct stage *s = calloc(1, sizeof *s);

    s->ops = o;
    s->n = n;
    s->box = calloc((size_t)n * n * SLOTS, sizeof *s->box);
    for (uint32_t i = 0; i < n; i++) {
        s->m[i].call = (struct coll_call){.rank = i, .size = n, .root = root, .bytes = bytes};
        s->nblocks = o->nblocks(&s->m[i].call);
        begin(s, i);
    }
    play(s);
    for (uint32_t i = 0; i < n; i++)
        check_member(s, i);
    struct form f = closed_form(o, &s->m[0].call);

    assert_int_equal(s->messages, f.messages);
    assert_int_equal(s->bytes, f.bytes);
    free(s->box);
    free(s);
}

static bool suits(const struct coll_ops *o, uint32_t n)
{
    return !o->pof2 || !(n & (n - 1));
}

static void every_member_ends_with_what_it_must_have(void **state)
{
    (void)state;
    for (const struct coll_ops *const *o = coll_table; *o; o++)
        for (uint32_t n = 1; n <= MOST; n++) {
            if (!suits(*o, n))
                continue;
            run_one(*o, n, 0, BYTES);
            run_one(*o, n, n / 2, BYTES);
            run_one(*o, n, n - 1, BYTES);
        }
}

static void any_member_may_be_the_root(void **state)
{
    (void)state;
    for (const struct coll_ops *const *o = coll_table; *o; o++)
        for (uint32_t root = 0; root < 11; root++)
            if (suits(*o, 11))
                run_one(*o, 11, root, BYTES);
}

static void a_vector_of_odd_length_is_cut_without_loss(void **state)
{
    (void)state;
    for (const struct coll_ops *const *o = coll_table; *o; o++)
        if ((*o)->coll == LOAD_BCAST || (*o)->coll == LOAD_ALLREDUCE)
            for (uint32_t n = 1; n <= 32; n++)
                for (uint64_t bytes = 0; bytes < 100; bytes += 33)
                    if (suits(*o, n))
                        run_one(*o, n, 0, bytes);
}

static const struct conf_row *row_of(enum load_coll coll)
{
    for (const struct conf_row *r = coll_rows; r->key; r++)
        if (!strcmp(r->key, load_coll_names[coll]))
            return r;
    fail_msg("no row for %s", load_coll_names[coll]);
    return NULL;
}

static void every_algorithm_can_be_chosen_by_its_name(void **state)
{
    uint32_t seen[LOAD_COLLS] = {0};

    (void)state;
    for (const struct coll_ops *const *o = coll_table; *o; o++) {
        struct coll_choice choice = {0};
        uint32_t at = ++seen[(*o)->coll];

        choice.algo[(*o)->coll] = at;
        assert_string_equal(row_of((*o)->coll)->names[at], (*o)->name);
        assert_ptr_equal(coll_pick(&choice, (*o)->coll, 8, 1000), *o);
    }
    for (int c = 0; c < LOAD_COLLS; c++)
        assert_null(row_of((enum load_coll)c)->names[seen[c] + 1]);
}

static void algorithms_are_picked_by_size_as_in_mpich(void **state)
{
    const struct coll_choice automatic = {0};
    const struct {
        enum load_coll coll;
        uint32_t size;
        uint64_t bytes;
        const char *name;
    } cases[] = {
        {LOAD_ALLREDUCE, 300, 2048, "doubling"},     {LOAD_ALLREDUCE, 300, 2049, "rabenseifner"},
        {LOAD_ALLREDUCE, 1 << 20, 4096, "doubling"}, {LOAD_BCAST, 64, 12287, "binomial"},
        {LOAD_BCAST, 64, 12288, "scatter-doubling"}, {LOAD_BCAST, 63, 12288, "scatter-ring"},
        {LOAD_BCAST, 7, 1 << 20, "binomial"},        {LOAD_BCAST, 64, 524288, "scatter-ring"},
        {LOAD_REDUCE, 64, 2048, "binomial"},         {LOAD_REDUCE, 64, 2049, "rabenseifner"},
        {LOAD_ALLGATHER, 64, 8191, "doubling"},      {LOAD_ALLGATHER, 64, 8192, "ring"},
        {LOAD_ALLGATHER, 10, 8191, "bruck"},         {LOAD_ALLTOALL, 8, 256, "bruck"},
        {LOAD_ALLTOALL, 7, 256, "scattered"},        {LOAD_ALLTOALL, 64, 32769, "pairwise"},
        {LOAD_REDUCE_SCATTER, 64, 8191, "halving"},  {LOAD_REDUCE_SCATTER, 64, 8192, "pairwise"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(
            coll_pick(&automatic, cases[i].coll, cases[i].size, cases[i].bytes)->name,
            cases[i].name);
}

static void what_needs_a_power_of_two_gives_way(void **state)
{
    struct coll_choice choice = {.algo = {[LOAD_ALLGATHER] = 1}};

    (void)state;
    assert_string_equal(coll_pick(&choice, LOAD_ALLGATHER, 8, 1)->name, "doubling");
    assert_string_equal(coll_pick(&choice, LOAD_ALLGATHER, 9, 1)->name, "bruck");
}

static void the_reference_study_counts_come_out(void **state)
{
    struct coll_call c = {.size = 300, .bytes = 29516800};
    struct coll_step s;
    uint64_t messages = 0, bytes = 0;

    (void)state;
    for (c.rank = 0; c.rank < c.size; c.rank++)
        for (uint32_t i = 0; coll_step(
                 coll_pick(&(struct coll_choice){0}, LOAD_ALLREDUCE, 300, c.bytes), &c, i, &s);
             i++) {
            messages += s.what & COLL_SENDS ? 1 : 0;
            bytes += s.send_b;
        }
    assert_int_equal(5 * messages, 20920);
    assert_int_equal(5 * bytes, UINT64_C(88255232000));
    /* The first halves go to the neighbour, as rank 88 (number 44) does with rank 89. */
    c.rank = 88;
    assert_true(
        coll_step(coll_pick(&(struct coll_choice){0}, LOAD_ALLREDUCE, 300, c.bytes), &c, 1, &s));
    assert_int_equal(s.to, 89);
    assert_int_equal(s.send_b, c.bytes / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_ends_with_what_it_must_have),
        cmocka_unit_test(any_member_may_be_the_root),
        cmocka_unit_test(a_vector_of_odd_length_is_cut_without_loss),
        cmocka_unit_test(every_algorithm_can_be_chosen_by_its_name),
        cmocka_unit_test(algorithms_are_picked_by_size_as_in_mpich),
        cmocka_unit_test(what_needs_a_power_of_two_gives_way),
        cmocka_unit_test(the_reference_study_counts_come_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
