/* Programs that cannot end are found without simulating, with the ranks that wait for each other.
 */
#include "ncptl_try.h"

static void expect_fine(const char *text, uint32_t n)
{
    struct wr_err err;
    struct try t;
    bool complete;

    try_open(&t, text, n, NULL);
    if (!ncptl_verify(t.p, 0, &complete, &err))
        fail_msg("%s\n%s", text, err.text);
    assert_true(complete);
    try_close(&t);
}

static void sound_programs_pass(void **state)
{
    (void)state;
    expect_fine("TASK 0 SENDS A MESSAGE TO TASK 1 THEN TASK 1 SENDS A MESSAGE TO TASK 0.", 2);
    expect_fine(
        "ALL TASKS t ASYNCHRONOUSLY SEND 3 9 BYTE MESSAGES TO ALL OTHER TASKS THEN ALL TASKS "
        "AWAIT COMPLETION THEN ALL TASKS SYNCHRONIZE THEN ALL TASKS REDUCE AN INTEGER TO TASK 0 "
        "THEN TASKS t SUCH THAT t<2 MULTICAST A 5 BYTE MESSAGE TO TASKS d SUCH THAT d>0.",
        5);
    /* Tags let messages overtake each other; sends are buffered. */
    expect_fine(
        "TASK 0 SENDS A MESSAGE USING TAG 123 TO UNSUSPECTING TASK 1 THEN TASK 0 SENDS A MESSAGE "
        "USING TAG \"stuff\" TO UNSUSPECTING TASK 1 THEN TASK 1 RECEIVES A MESSAGE USING TAG "
        "\"stuff\" FROM TASK 0 THEN TASK 1 RECEIVES A MESSAGE USING TAG 123 FROM TASK 0.",
        2);
    expect_fine(
        "TASKS t SUCH THAT t<2 REDUCE A DOUBLEWORD TO TASKS t+1 THEN TASKS {0, 2} SYNCHRONIZE.", 3);
    expect_fine(
        "ALL TASKS t ASYNCHRONOUSLY SEND A MESSAGE TO TASK t THEN ALL TASKS AWAIT COMPLETION.", 2);
}

static void deadlocks_are_reported_as_a_cycle(void **state)
{
    (void)state;
    expect_error(
        "ALL TASKS t SEND A 10 BYTE MESSAGE TO TASK (t+1) MOD num_tasks.", 3, "communication error",
        "deadlock: 0 (receives 10 bytes at 1:1) waits for 2 (receives 10 bytes at 1:1) waits "
        "for 1 (receives 10 bytes at 1:1) waits for 0");
    expect_error("TASK 0 SENDS A MESSAGE TO TASK 0.", 1, "communication error",
                 "deadlock: 0 (receives 0 bytes at 1:1) waits for 0");
    expect_error(
        "IF MY TASK = 0 THEN ALL TASKS SYNCHRONIZE OTHERWISE TASK 1 RECEIVES A MESSAGE FROM TASK "
        "0.",
        2, "communication error",
        "0 (synchronizes at 1:21) waits for 1 (receives 0 bytes at 1:53) waits for 0");
}

static void waiting_for_the_dead_is_reported(void **state)
{
    (void)state;
    expect_error("TASK 1 RECEIVES A 5 BYTE MESSAGE FROM TASK 0.", 2, "communication error",
                 "1 (receives 5 bytes at 1:1) waits for 0, which has ended");
    expect_error(
        "TASK 1 ASYNCHRONOUSLY RECEIVES A MESSAGE FROM TASK 0 THEN TASK 1 AWAITS COMPLETION.", 2,
        "communication error", "1 (awaits 0 bytes at 1:59) waits for 0, which has ended");
    expect_error("IF MY TASK > 0 THEN ALL TASKS REDUCE AN INTEGER.", 3, "communication error",
                 "1 (reduces at 1:21) waits for 0, which has ended");
}

static void what_is_left_over_is_reported(void **state)
{
    (void)state;
    expect_error("TASK 0 SENDS 2 40 BYTE MESSAGES TO UNSUSPECTING TASK 1.", 2,
                 "communication error",
                 "task 0 sends 2 message(s) of 40 bytes to task 1 (at 1:1) that no task receives");
    expect_error(
        "ALL TASKS t ASYNCHRONOUSLY SEND A MESSAGE TO TASK t.", 1, "communication error",
        "task 0 never awaits completion of 1 asynchronous send(s) and 1 asynchronous receive(s)");
    expect_error("TASK 0 ASYNCHRONOUSLY WRITES 3 9 BYTE BLOCKS TO FILE 1.", 1,
                 "communication error", "3 asynchronous access(es) to files");
    expect_error(
        "TASK 0 SENDS A 10 BYTE MESSAGE TO UNSUSPECTING TASK 1 THEN TASK 1 RECEIVES A 20 BYTE "
        "MESSAGE FROM TASK 0.",
        2, "communication error", "no task receives");
    expect_error("ALL TASKS t ASYNCHRONOUSLY SEND A MESSAGE TO TASK t.", 100, "communication error",
                 "... and 96 more tasks");
}

static void a_limit_on_operations_is_kept(void **state)
{
    struct wr_err err;
    struct try t;
    bool complete = true;

    (void)state;
    try_open(&t, "FOR 1E15 REPETITIONS TASK 0 SENDS A MESSAGE TO TASK 1.", 2, NULL);
    assert_true(ncptl_verify(t.p, 1000, &complete, &err));
    assert_false(complete);
    try_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_programs_pass),
        cmocka_unit_test(deadlocks_are_reported_as_a_cycle),
        cmocka_unit_test(waiting_for_the_dead_is_reported),
        cmocka_unit_test(what_is_left_over_is_reported),
        cmocka_unit_test(a_limit_on_operations_is_kept),
    };

    return cmocka_run_group_tests_name("ncptl: verification", tests, NULL, NULL);
}
