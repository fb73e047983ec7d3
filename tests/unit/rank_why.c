/* Why a rank waited: constructed cases of which the answer is known. */
#include "rank_lab.h"

static uint64_t why(const struct lab *lab, uint32_t rank, enum cause cause)
{
    struct rank_stat s;

    ranks_stat(lab->ranks, rank, &s);
    return s.comm_why_ps[cause];
}

static void a_receiver_that_is_early_waits_for_its_partner_then_for_the_message(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab_compute(lab, 0, 7000 * NS);
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(why(lab, 1, CAUSE_PARTNER), 7000 * NS);
    assert_int_equal(why(lab, 1, CAUSE_TRANSFER), 1000 * lab->G_ps + lab->L_ps);
    assert_int_equal(why(lab, 1, CAUSE_NETWORK), 0);
    assert_int_equal(why(lab, 0, CAUSE_TRANSFER), 1000 * lab->G_ps); /* until it was sent */
    lab_close(lab);
}

static void a_receiver_that_is_late_does_not_wait(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_compute(lab, 1, 7000 * NS);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    for (int c = 0; c < CAUSES; c++)
        assert_int_equal(why(lab, 1, (enum cause)c), 0);
    lab_close(lab);
}

static void what_the_network_adds_is_the_networks(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab->late_ps = 333 * NS;
    lab->mpi.send_delay_ps = 50 * NS;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(why(lab, 1, CAUSE_NETWORK), 333 * NS);
    assert_int_equal(why(lab, 1, CAUSE_SOFTWARE), 50 * NS);
    assert_int_equal(why(lab, 1, CAUSE_PARTNER), 0);
    lab_close(lab);
}

/* Of two messages awaited, the second counts from when the first had come. */
static void who_waits_for_two_waits_for_the_one_that_comes_next(void **state)
{
    struct lab *lab = lab_open(3);
    uint64_t trip;

    (void)state;
    trip = 1000 * lab->G_ps + lab->L_ps;
    lab_message(lab, 0, LOAD_SEND, 2, 1000, 0, 0);
    lab_compute(lab, 1, 7000 * NS);
    lab_message(lab, 1, LOAD_SEND, 2, 1000, 0, 0);
    lab_message(lab, 2, LOAD_RECV, 0, 1000, 0, LOAD_F_ASYNC);
    lab_message(lab, 2, LOAD_RECV, 1, 1000, 0, LOAD_F_ASYNC);
    lab_wait(lab, 2, LOAD_ALL, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(why(lab, 2, CAUSE_TRANSFER), 2 * trip);
    assert_int_equal(why(lab, 2, CAUSE_PARTNER), 7000 * NS - trip);
    lab_close(lab);
}

static void a_rendezvous_waits_for_its_receiver(void **state)
{
    struct lab *lab = lab_open(2);
    uint64_t control, data;

    (void)state;
    lab->mpi.eager_b = 100;
    control = 64 * lab->G_ps + lab->L_ps;
    data = 1000 * lab->G_ps;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_compute(lab, 1, 9000 * NS);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(why(lab, 0, CAUSE_PARTNER), 9000 * NS - control);
    assert_int_equal(why(lab, 0, CAUSE_TRANSFER), 2 * control + data);
    /* its receiver waits for the answer and the data only */
    assert_int_equal(why(lab, 1, CAUSE_PARTNER), 0);
    assert_int_equal(why(lab, 1, CAUSE_TRANSFER), control + data + lab->L_ps);
    lab_close(lab);
}

static void a_rendezvous_waits_for_its_sender(void **state)
{
    struct lab *lab = lab_open(2);
    uint64_t control;

    (void)state;
    lab->mpi.eager_b = 100;
    control = 64 * lab->G_ps + lab->L_ps;
    lab_compute(lab, 0, 9000 * NS);
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(why(lab, 0, CAUSE_PARTNER), 0);
    assert_int_equal(why(lab, 1, CAUSE_PARTNER), 9000 * NS);
    assert_int_equal(why(lab, 1, CAUSE_TRANSFER), 2 * control + 1000 * lab->G_ps + lab->L_ps);
    lab_close(lab);
}

static void a_barrier_waits_for_the_last(void **state)
{
    struct lab *lab = lab_open(4);

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        lab_compute(lab, i, i == 3 ? 50000 * NS : 0);
    lab_coll(lab, LOAD_BARRIER, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(why(lab, i, CAUSE_PARTNER) > 40000 * NS);
    assert_int_equal(why(lab, 3, CAUSE_PARTNER), 0);
    lab_close(lab);
}

/* Accesses of a given duration, for given causes. */
enum { LAB_FILE = LAB_KINDS + RANK_EV_KINDS };

static void begin(void *ctx, const struct rank_access *a, uint64_t user)
{
    struct lab *lab = ctx;

    assert_int_equal(a->kind, LOAD_WRITE);
    assert_int_equal(a->offset, 4096);
    assert_int_equal(a->file, 3);
    sim_at(&lab->sim, lab->sim.now + a->bytes * NS, a->node, sim_subkey(LAB_FILE, 0), lab->seq++,
           (uint32_t)user, 0);
}

static void on_file(void *ctx, const struct sim_event *e)
{
    struct lab *lab = ctx;
    uint64_t part[CAUSES] = {[CAUSE_DEVICE] = 600 * NS, [CAUSE_DEVICE_OTHERS] = 400 * NS};

    ranks_accessed(lab->ranks, e->arg, part);
}

static void an_access_says_itself_why(void **state)
{
    struct lab *lab = lab_open(2);
    struct rank_stat s;

    (void)state;
    lab->files = (struct rank_files){lab, begin};
    for (uint32_t i = 0; i < 2; i++) {
        struct load_op *op = lab_add(lab, i, LOAD_WRITE);

        op->file = 3;
        op->offset = 4096;
        op->bytes = 1000;
        op->flags = i ? LOAD_F_ASYNC : 0;
    }
    lab_compute(lab, 1, 500 * NS); /* of which it waits for a half */
    lab_wait(lab, 1, LOAD_IOS, 0);
    lab->file_kind = LAB_FILE;
    lab->on_file = on_file;
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    for (uint32_t i = 0; i < 2; i++) {
        ranks_stat(lab->ranks, i, &s);
        assert_int_equal(s.io_why_ps[CAUSE_DEVICE], 600 * NS >> i);
        assert_int_equal(s.io_why_ps[CAUSE_DEVICE_OTHERS], 400 * NS >> i);
    }
    lab_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receiver_that_is_early_waits_for_its_partner_then_for_the_message),
        cmocka_unit_test(a_receiver_that_is_late_does_not_wait),
        cmocka_unit_test(what_the_network_adds_is_the_networks),
        cmocka_unit_test(who_waits_for_two_waits_for_the_one_that_comes_next),
        cmocka_unit_test(a_rendezvous_waits_for_its_receiver),
        cmocka_unit_test(a_rendezvous_waits_for_its_sender),
        cmocka_unit_test(a_barrier_waits_for_the_last),
        cmocka_unit_test(an_access_says_itself_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
