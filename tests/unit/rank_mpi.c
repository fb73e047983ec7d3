/* MPI's rules, one by one, over a wire of which everything is known. */
#include "rank_lab.h"

static void a_message_is_received_when_it_has_arrived(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab_elapsed(lab, 0), 1000 * lab->G_ps); /* the last byte has left */
    assert_int_equal(lab_elapsed(lab, 1), 1000 * lab->G_ps + lab->L_ps);
    lab_close(lab);
}

static void an_eager_send_may_be_done_once_it_is_copied(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab->mpi.eager_done = RANK_COPIED;
    lab->mpi.send_overhead_ps = 200 * NS;
    lab->mpi.copy_ps = 50;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab_elapsed(lab, 0), 250 * NS);
    /* and the receiver copies it out */
    assert_int_equal(lab_elapsed(lab, 1), 250 * NS + 100 * NS + lab->L_ps + 50 * NS);
    lab_close(lab);
}

static void delays_before_the_nic_overlap(void **state)
{
    struct lab *lab = lab_open(4);

    (void)state;
    lab->mpi.send_delay_ps = 3510 * NS;
    lab->mpi.send_delay_byte_ps = 550;
    for (uint32_t i = 1; i < 4; i++) {
        lab_message(lab, 0, LOAD_SEND, i, 2000, 0, LOAD_F_ASYNC);
        lab_message(lab, i, LOAD_RECV, 0, 2000, 0, 0);
    }
    lab_wait(lab, 0, LOAD_ALL, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(lab_elapsed(lab, i), 3510 * NS + 1100 * NS + 200 * NS + lab->L_ps);
    lab_close(lab);
}

static void a_message_longer_than_the_limit_asks_first(void **state)
{
    for (uint64_t bytes = 999; bytes <= 1001; bytes++) {
        struct lab *lab = lab_open(2);
        uint64_t data = bytes * lab->G_ps + lab->L_ps, control = 64 * lab->G_ps + lab->L_ps;

        (void)state;
        lab->mpi.eager_b = 1000;
        lab_message(lab, 0, LOAD_SEND, 1, bytes, 0, 0);
        lab_message(lab, 1, LOAD_RECV, 0, bytes, 0, 0);
        assert_int_equal(lab_run(lab), RANKS_ENDED);
        assert_int_equal(lab->messages, bytes > 1000 ? 3 : 1);
        assert_int_equal(lab_elapsed(lab, 1), bytes > 1000 ? 2 * control + data : data);
        assert_int_equal(lab_elapsed(lab, 0), lab_elapsed(lab, 1) - lab->L_ps);
        lab_close(lab);
    }
}

/* The receiver computes for long after it has posted its receive. */
static uint64_t rendezvous_while_computing(uint32_t progress)
{
    struct lab *lab = lab_open(2);
    uint64_t end;

    lab->mpi.eager_b = 0;
    lab->mpi.progress = progress;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, LOAD_F_ASYNC);
    lab_compute(lab, 1, 100000 * NS);
    lab_wait(lab, 1, LOAD_ALL, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    end = lab_elapsed(lab, 1);
    lab_close(lab);
    return end;
}

static void without_a_call_of_mpi_handshakes_may_have_to_wait(void **state)
{
    uint64_t rest = 64 * 100 + 1000 * NS + 1000 * 100 + 1000 * NS;

    (void)state;
    assert_int_equal(rendezvous_while_computing(RANK_PROGRESS_ALWAYS), 100000 * NS);
    assert_int_equal(rendezvous_while_computing(RANK_PROGRESS_CALLS), 100000 * NS + rest);
}

static void an_unexpected_message_is_kept(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab_message(lab, 0, LOAD_SEND, 1, 8, 3, 0);
    lab_compute(lab, 1, 50000 * NS);
    lab_message(lab, 1, LOAD_RECV, 0, 8, 3, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab_elapsed(lab, 1), 50000 * NS);
    lab_close(lab);
}

static void messages_of_a_pair_do_not_overtake(void **state)
{
    struct lab *lab = lab_open(2);

    /* The short one arrives first but was sent second: the first receive gets the long one. */
    (void)state;
    lab_message(lab, 0, LOAD_SEND, 1, 100000, 0, LOAD_F_ASYNC);
    lab_message(lab, 0, LOAD_SEND, 1, 8, 0, LOAD_F_ASYNC);
    lab_wait(lab, 0, LOAD_ALL, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 100000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 8, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->t_ps[1][1], 100000 * lab->G_ps + lab->L_ps);
    assert_int_equal(lab->t_ps[1][2], lab->t_ps[1][1]);
    lab_close(lab);
}

static void a_tag_picks_among_the_messages_of_a_sender(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab_message(lab, 0, LOAD_SEND, 1, 10, 1, 0);
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 2, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 2, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 10, 1, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->t_ps[1][1], 1010 * lab->G_ps + lab->L_ps);
    lab_close(lab);
}

static void wildcards_take_what_comes_first(void **state)
{
    struct lab *lab = lab_open(3);

    (void)state;
    lab_compute(lab, 0, 7000 * NS);
    lab_message(lab, 0, LOAD_SEND, 2, 8, 5, 0);
    lab_message(lab, 1, LOAD_SEND, 2, 8, 6, 0);
    lab_message(lab, 2, LOAD_RECV, LOAD_ANY, 8, LOAD_ANY_TAG, 0);
    lab_message(lab, 2, LOAD_RECV, 0, 8, LOAD_ANY_TAG, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->t_ps[2][1], 8 * lab->G_ps + lab->L_ps);
    assert_int_equal(lab->t_ps[2][2], 7000 * NS + 8 * lab->G_ps + lab->L_ps);
    lab_close(lab);
}

static void receives_are_served_in_the_order_they_were_posted_in(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    for (uint64_t id = 1; id <= 3; id++) {
        lab_message(lab, 1, LOAD_RECV, id == 2 ? LOAD_ANY : 0, 8, 0, LOAD_F_ASYNC | LOAD_F_REPORT);
        lab->op[1][id - 1].op.id = id;
    }
    lab_wait(lab, 1, LOAD_ALL, 0);
    for (int i = 0; i < 3; i++) {
        lab_message(lab, 0, LOAD_SEND, 1, 8, 0, 0);
        lab_compute(lab, 0, 1000 * NS);
    }
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->nreports, 3);
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(lab->reports[id - 1].id, id);
    lab_close(lab);
}

static void waiting_may_be_for_one_or_for_some_kinds(void **state)
{
    struct lab *lab = lab_open(3);

    (void)state;
    lab_message(lab, 0, LOAD_SEND, 2, 8, 0, 0);
    lab_compute(lab, 1, 9000 * NS);
    lab_message(lab, 1, LOAD_SEND, 2, 8, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 2, 100000, 0, 0);
    lab_message(lab, 2, LOAD_RECV, 0, 8, 0, LOAD_F_ASYNC);
    lab_message(lab, 2, LOAD_RECV, 1, 8, 0, LOAD_F_ASYNC);
    lab_message(lab, 2, LOAD_SEND, 1, 100000, 0, LOAD_F_ASYNC);
    lab_wait(lab, 2, LOAD_ALL, LOAD_F_SOME);
    lab_wait(lab, 2, LOAD_SENDS, 0);
    lab_wait(lab, 2, LOAD_RECVS, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->t_ps[2][4], 800 + 1000 * NS);             /* the first receive */
    assert_int_equal(lab->t_ps[2][5], 100000 * 100);                /* the send */
    assert_int_equal(lab->t_ps[2][6], 9000 * NS + 800 + 1000 * NS); /* and the rest */
    lab_close(lab);
}

static void what_stays_in_a_node_goes_through_memory(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab->node[1] = 0;
    lab->mpi.memory_ps = 200 * NS;
    lab->mpi.memory_byte_ps = 10;
    lab->mpi.eager_b = 0;
    lab_message(lab, 0, LOAD_SEND, 1, 1000, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 0, 1000, 0, 0);
    lab_message(lab, 1, LOAD_SEND, 1, 1000, 0, LOAD_F_ASYNC); /* to itself */
    lab_message(lab, 1, LOAD_RECV, 1, 1000, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->messages, 0);
    assert_int_equal(lab->t_ps[1][1], 210 * NS);
    assert_int_equal(lab_elapsed(lab, 1), 420 * NS);
    assert_int_equal(ranks_latency(lab->ranks, 0, RANK_MEMORY)->n, 2);
    lab_close(lab);
}

static void receiving_costs_when_the_rank_looks(void **state)
{
    struct lab *lab = lab_open(2);

    (void)state;
    lab->mpi.recv_overhead_ps = 300 * NS;
    for (int i = 0; i < 4; i++) {
        lab_message(lab, 0, LOAD_SEND, 1, 0, 0, LOAD_F_ASYNC);
        lab_message(lab, 1, LOAD_RECV, 0, 0, 0, LOAD_F_ASYNC);
    }
    lab_wait(lab, 0, LOAD_ALL, 0);
    lab_compute(lab, 1, 8000 * NS);
    lab_wait(lab, 1, LOAD_ALL, 0);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab_elapsed(lab, 1), 8000 * NS + 4 * 300 * NS);
    lab_close(lab);
}

static void files_take_their_time_and_count_as_io(void **state)
{
    struct lab *lab = lab_open(1);
    struct rank_stat s;

    (void)state;
    lab_add(lab, 0, LOAD_OPEN)->mode = LOAD_MODE_WRITE;
    lab_add(lab, 0, LOAD_WRITE)->bytes = 1 << 20;
    struct load_op *read = lab_add(lab, 0, LOAD_READ);
    read->bytes = 77;
    read->flags = LOAD_F_ASYNC;
    lab_compute(lab, 0, 2000 * NS);
    lab_wait(lab, 0, LOAD_ALL, 0);
    lab_add(lab, 0, LOAD_SLEEP)->ps = 123 * NS;
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    ranks_stat(lab->ranks, 0, &s);
    assert_int_equal(s.account_ps[RANK_IO], 13000 * NS);
    assert_int_equal(s.account_ps[RANK_COMPUTE], 2000 * NS);
    assert_int_equal(s.account_ps[RANK_IDLE], 123 * NS);
    assert_int_equal(s.bytes_written, 1 << 20);
    assert_int_equal(s.bytes_read, 77);
    lab_close(lab);
}

static void graphs_compute_on_several_cpus(void **state)
{
    struct lab *lab = lab_open(1);

    (void)state;
    lab->load.cpus = 2;
    for (uint64_t id = 0; id < 3; id++) {
        struct load_op *op = lab_add(lab, 0, LOAD_COMPUTE);

        op->id = id;
        op->ps = 1000;
        op->cpu = id == 2;
        op->flags = LOAD_F_ASYNC | LOAD_F_REPORT | (id == 1 ? LOAD_F_START : 0);
    }
    for (int i = 0; i < 4; i++)
        lab_add(lab, 0, LOAD_LATER);
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(lab->nreports, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct lab_report *t = &lab->reports[i];
        bool second = t->id == 1 && t->ev == LOAD_COMPLETE;

        assert_int_equal(t->t_ps, second ? 2000 : 1000);
    }
    lab_close(lab);
}

static void a_deadlock_is_reported_with_the_rank_that_each_waits_for(void **state)
{
    struct lab *lab = lab_open(4);
    struct wr_err err;

    (void)state;
    lab_message(lab, 0, LOAD_RECV, 1, 8, 0, 0);
    lab_message(lab, 1, LOAD_RECV, 2, 8, 0, 0);
    lab_message(lab, 2, LOAD_RECV, 0, 8, 0, 0);
    assert_int_equal(lab_run(lab), RANKS_STUCK);
    assert_false(ranks_report_deadlock(lab->ranks, &err));
    assert_non_null(strstr(err.text, "3 of 4 ranks"));
    assert_non_null(strstr(err.text, "rank 0 waits for a message of 8 B (tag 0) from rank 1"));
    assert_non_null(strstr(err.text, "rank 1 waits for a message of 8 B (tag 0) from rank 2"));
    assert_non_null(strstr(err.text, "rank 2 waits for a message of 8 B (tag 0) from rank 0"));
    lab_close(lab);
}

static void two_that_send_first_are_stuck_when_messages_are_long(void **state)
{
    for (uint64_t limit = 0; limit <= 1000; limit += 1000) {
        struct lab *lab = lab_open(2);
        struct wr_err err;

        (void)state;
        lab->mpi.eager_b = limit;
        for (uint32_t i = 0; i < 2; i++) {
            lab_message(lab, i, LOAD_SEND, 1 - i, 1000, 0, 0);
            lab_message(lab, i, LOAD_RECV, 1 - i, 1000, 0, 0);
        }
        assert_int_equal(lab_run(lab), limit ? RANKS_ENDED : RANKS_STUCK);
        if (!limit) {
            ranks_report_deadlock(lab->ranks, &err);
            assert_non_null(strstr(err.text, "rank 0 cannot send before it is received by rank 1"));
        }
        lab_close(lab);
    }
}

static void a_receive_from_one_that_has_ended_is_reported(void **state)
{
    struct lab *lab = lab_open(2);
    struct wr_err err;

    (void)state;
    lab_message(lab, 0, LOAD_RECV, 1, 8, 4, 0);
    assert_int_equal(lab_run(lab), RANKS_STUCK);
    ranks_report_deadlock(lab->ranks, &err);
    assert_non_null(strstr(err.text, "(tag 4) from rank 1, which has ended"));
    lab_close(lab);
}

static void marks_keep_their_times(void **state)
{
    struct lab *lab = lab_open(1);

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        lab_compute(lab, 0, 100);
        lab_add(lab, 0, LOAD_MARK)->mark = 9;
    }
    assert_int_equal(lab_run(lab), RANKS_ENDED);
    assert_int_equal(ranks_marks(lab->ranks), 3);
    assert_int_equal(ranks_mark(lab->ranks, 2)->t_ps, 300);
    assert_int_equal(ranks_mark(lab->ranks, 2)->mark, 9);
    assert_int_equal(ranks_iterations(lab->ranks, 0)->n, 2);
    lab_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_received_when_it_has_arrived),
        cmocka_unit_test(an_eager_send_may_be_done_once_it_is_copied),
        cmocka_unit_test(delays_before_the_nic_overlap),
        cmocka_unit_test(a_message_longer_than_the_limit_asks_first),
        cmocka_unit_test(without_a_call_of_mpi_handshakes_may_have_to_wait),
        cmocka_unit_test(an_unexpected_message_is_kept),
        cmocka_unit_test(messages_of_a_pair_do_not_overtake),
        cmocka_unit_test(a_tag_picks_among_the_messages_of_a_sender),
        cmocka_unit_test(wildcards_take_what_comes_first),
        cmocka_unit_test(receives_are_served_in_the_order_they_were_posted_in),
        cmocka_unit_test(waiting_may_be_for_one_or_for_some_kinds),
        cmocka_unit_test(what_stays_in_a_node_goes_through_memory),
        cmocka_unit_test(receiving_costs_when_the_rank_looks),
        cmocka_unit_test(files_take_their_time_and_count_as_io),
        cmocka_unit_test(graphs_compute_on_several_cpus),
        cmocka_unit_test(a_deadlock_is_reported_with_the_rank_that_each_waits_for),
        cmocka_unit_test(two_that_send_first_are_stuck_when_messages_are_long),
        cmocka_unit_test(a_receive_from_one_that_has_ended_is_reported),
        cmocka_unit_test(marks_keep_their_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
