/* Ping-pong, rings and trees take the times of the LogGP model's closed forms (A. Alexandrov,
 * M. Ionescu, K. Schauser, C. Scheiman, LogGP, SPAA 1995): L latency, o overhead at either end,
 * G time per byte. */
#include "rank_lab.h"

static const uint64_t o_send = 300 * NS, o_recv = 200 * NS;

static struct lab *loggp(uint32_t n)
{
    struct lab *lab = lab_open(n);

    lab->mpi.send_overhead_ps = (double)o_send;
    lab->mpi.recv_overhead_ps = (double)o_recv;
    lab->mpi.eager_done = RANK_COPIED;
    return lab;
}

/* One message, from the call of send to the return of receive. */
static uint64_t hop(const struct lab *lab, uint64_t bytes)
{
    return o_send + bytes * lab->G_ps + lab->L_ps + o_recv;
}

static uint32_t log_up(uint32_t n)
{
    uint32_t k = 0;

    while (1u << k < n)
        k++;
    return k;
}

static uint64_t slowest(const struct lab *lab)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < lab->n; i++)
        most = lab_elapsed(lab, i) > most ? lab_elapsed(lab, i) : most;
    return most;
}

static void ping_pong(void **state)
{
    const uint64_t sizes[] = {0, 1, 8, 4096, 1 << 20};

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct lab *lab = loggp(2);

        for (int i = 0; i < 10; i++) {
            lab_message(lab, 0, LOAD_SEND, 1, sizes[k], 0, 0);
            lab_message(lab, 1, LOAD_RECV, 0, sizes[k], 0, 0);
            lab_message(lab, 1, LOAD_SEND, 0, sizes[k], 0, 0);
            lab_message(lab, 0, LOAD_RECV, 1, sizes[k], 0, 0);
        }
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        assert_int_equal(lab_elapsed(lab, 0), 20 * hop(lab, sizes[k]));
        lab_close(lab);
    }
}

static void a_token_around_a_ring(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= LAB_RANKS; n += 7) {
        struct lab *lab = loggp(n);

        lab_message(lab, 0, LOAD_SEND, 1, 512, 0, 0);
        for (uint32_t i = 1; i < n; i++) {
            lab_message(lab, i, LOAD_RECV, i - 1, 512, 0, 0);
            lab_message(lab, i, LOAD_SEND, (i + 1) % n, 512, 0, 0);
        }
        lab_message(lab, 0, LOAD_RECV, n - 1, 512, 0, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        assert_int_equal(lab_elapsed(lab, 0), n * hop(lab, 512));
        lab_close(lab);
    }
}

/* Rounds in which everyone sends and receives take a hop each. */
static void check_rounds(enum load_coll coll, uint32_t algo, uint64_t bytes,
                         uint64_t (*want)(const struct lab *lab, uint32_t n, uint64_t bytes))
{
    for (uint32_t n = 1; n <= LAB_RANKS; n = n < 9 ? n + 1 : 2 * n) {
        struct lab *lab = loggp(n > LAB_RANKS ? LAB_RANKS : n);

        lab->choice.algo[coll] = algo;
        lab_coll(lab, coll, bytes, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        assert_int_equal(slowest(lab), lab->n > 1 ? want(lab, lab->n, bytes) : 0);
        lab_close(lab);
    }
}

static uint64_t log_hops(const struct lab *lab, uint32_t n, uint64_t bytes)
{
    return log_up(n) * hop(lab, bytes);
}

static void barrier_by_dissemination(void **state)
{
    (void)state;
    check_rounds(LOAD_BARRIER, 0, 0, log_hops);
}

/* Down the tree each hop is the first thing that a node sends. When the group is no power of
 * two, the last of a full level hears at the same time. */
static void bcast_by_binomial_tree(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= LAB_RANKS; n *= 2) {
        struct lab *lab = loggp(n);

        lab->choice.algo[LOAD_BCAST] = 1;
        lab_coll(lab, LOAD_BCAST, 1000, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        assert_int_equal(slowest(lab), log_hops(lab, n, 1000));
        lab_close(lab);
    }
}

static void reduce_by_binomial_tree(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= LAB_RANKS; n *= 2) {
        struct lab *lab = loggp(n);

        lab->choice.algo[LOAD_REDUCE] = 1;
        lab_coll(lab, LOAD_REDUCE, 1000, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        /* The root takes its children in as they come: the deepest comes last. */
        assert_int_equal(lab_elapsed(lab, 0), log_hops(lab, n, 1000));
        lab_close(lab);
    }
}

static uint64_t ring_hops(const struct lab *lab, uint32_t n, uint64_t bytes)
{
    return (n - 1) * hop(lab, bytes);
}

static void allgather_around_a_ring(void **state)
{
    (void)state;
    check_rounds(LOAD_ALLGATHER, 3, 4096, ring_hops);
}

static void alltoall_pairwise(void **state)
{
    (void)state;
    check_rounds(LOAD_ALLTOALL, 3, 4096, ring_hops);
}

static uint64_t two_rings(const struct lab *lab, uint32_t n, uint64_t bytes)
{
    return 2 * (n - 1) * hop(lab, bytes / n);
}

static void allreduce_around_a_ring(void **state)
{
    (void)state;
    check_rounds(LOAD_ALLREDUCE, 3, 64 * 63 * 5 * 4, two_rings); /* cut evenly for all n tried */
}

static void allreduce_by_recursive_doubling(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= LAB_RANKS; n++) {
        struct lab *lab = loggp(n);
        bool fold = n & (n - 1);

        lab->choice.algo[LOAD_ALLREDUCE] = 1;
        lab_coll(lab, LOAD_ALLREDUCE, 8, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        /* Folding takes a hop before and one after. Who does not fold is early, and what is
         * there already is received before the own message is sent. */
        uint64_t rounds = fold ? log_up(n) - 1 + 2 : log_up(n);

        if (!fold)
            assert_int_equal(slowest(lab), rounds * hop(lab, 8));
        assert_in_range(slowest(lab), 2 * hop(lab, 8) * fold, rounds * (hop(lab, 8) + o_recv));
        lab_close(lab);
    }
}

static void allreduce_by_halving_and_doubling(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= LAB_RANKS; n *= 2) {
        struct lab *lab = loggp(n);
        uint64_t want = 0;

        lab->choice.algo[LOAD_ALLREDUCE] = 2;
        lab_coll(lab, LOAD_ALLREDUCE, 1 << 16, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        for (uint64_t part = 1 << 15; part >= (1u << 16) / n; part /= 2)
            want += 2 * hop(lab, part);
        assert_int_equal(slowest(lab), want);
        lab_close(lab);
    }
}

/* The published study sends, waits until that has left the NIC, and only then receives. */
static void a_serial_sendrecv_takes_one_after_the_other(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab->mpi.sendrecv = RANK_SERIAL;
    lab->mpi.send_delay_ps = 3510 * NS;
    lab->mpi.send_delay_byte_ps = 550;
    lab_coll(lab, LOAD_ALLREDUCE, 8, 0);
    lab_coll(lab, LOAD_ALLREDUCE, 8, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(slowest(lab), 2 * (3510 * NS + 8 * 550 + 8 * 100 + 1000 * NS));
    lab_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(a_token_around_a_ring),
        cmocka_unit_test(barrier_by_dissemination),
        cmocka_unit_test(bcast_by_binomial_tree),
        cmocka_unit_test(reduce_by_binomial_tree),
        cmocka_unit_test(allgather_around_a_ring),
        cmocka_unit_test(alltoall_pairwise),
        cmocka_unit_test(allreduce_around_a_ring),
        cmocka_unit_test(allreduce_by_recursive_doubling),
        cmocka_unit_test(allreduce_by_halving_and_doubling),
        cmocka_unit_test(a_serial_sendrecv_takes_one_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
