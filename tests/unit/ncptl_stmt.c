/* Statements: who does what, with which attributes. */
#include "ncptl_try.h"

static void messages_keep_all_their_attributes(void **state)
{
    (void)state;
    expect("TASK 0 SENDS 2 UNIQUE 16 BYTE 64 BYTE ALIGNED MESSAGES WITH DATA TOUCHING USING TAG 7 "
           "FROM 4 WORDS INTO BUFFER 3 TO TASK 1 WHO RECEIVES THEM ASYNCHRONOUSLY AS NONUNIQUE "
           "HALFWORD MISALIGNED MESSAGES WITHOUT DATA TOUCHING USING TAG \"x\\\"y\" INTO BUFFER -1 "
           "THEN TASK 1 AWAITS COMPLETION.",
           2,
           "0 SEND 1 16 tag=7 unique align=64 touch ofs=16 buf=3\n"
           "0 SEND 1 16 tag=7 unique align=64 touch ofs=16 buf=3\n"
           "1 RECV 0 16 async tag=\"x\\\"y\" misalign=2\n"
           "1 RECV 0 16 async tag=\"x\\\"y\" misalign=2\n1 WAIT\n");
    expect(
        "TASK 0 SENDS AN 8 BYTE PAGE ALIGNED MESSAGE WITH VERIFICATION USING TAG 3 TO TASK 1 WHO "
        "RECEIVES IT INTO THE DEFAULT BUFFER.",
        2, "0 SEND 1 8 tag=3 align=4096 verify\n1 RECV 0 8 tag=3 align=4096 verify\n");
}

static void sizes_have_units(void **state)
{
    static const struct {
        const char *text;
        int bytes;
    } sizes[] = {
        {"", 0},
        {"3 BYTE", 3},
        {"9 BIT", 2},
        {"8 BIT", 1},
        {"3 HALFWORD", 6},
        {"3 WORD", 12},
        {"3 INTEGER", 12},
        {"3 DOUBLEWORD", 24},
        {"3 QUADWORD", 48},
        {"3 PAGE", 12288},
        {"3 KILOBYTE", 3072},
        {"3 MEGABYTE", 3145728},
        {"1 GIGABYTE", 1073741824},
        {"QUADWORD SIZED", 16},
        {"2*3+1 WORD", 28},
    };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[128], expected[128];

        snprintf(text, sizeof text, "TASK 0 SENDS A %s MESSAGE TO TASK 1.", sizes[i].text);
        snprintf(expected, sizeof expected, "0 SEND 1 %d\n1 RECV 0 %d\n", sizes[i].bytes,
                 sizes[i].bytes);
        expect(text, 2, expected);
    }
    expect_error("TASK 0 SENDS A -3 BYTE MESSAGE TO TASK 1.", 2, "runtime error", "-3 bytes");
    expect_error("TASK 0 SENDS 5 BYTE MESSAGES TO TASK 1.", 2, "syntax error", "how many");
}

static void task_variables_reach_the_message(void **state)
{
    (void)state;
    expect("TASKS s SUCH THAT s<2 SEND d+1 s*10 BYTE MESSAGES TO TASKS d SUCH THAT d>1.", 3,
           "0 SEND 2 0\n0 SEND 2 0\n0 SEND 2 0\n"
           "1 SEND 2 10\n1 SEND 2 10\n1 SEND 2 10\n"
           "2 RECV 0 0\n2 RECV 0 0\n2 RECV 0 0\n2 RECV 1 10\n2 RECV 1 10\n2 RECV 1 10\n");
    /* The surrounding variable comes first, as in the reference. */
    expect("LET s BE 5 WHILE TASK 0 OUTPUTS s THEN LET t BE 7 WHILE "
           "TASKS t SUCH THAT t=0 SEND A t BYTE MESSAGE TO TASK 1.",
           2, "0 OUTPUT \"5\"\n0 SEND 1 7\n1 RECV 0 7\n");
}

static void receives_come_before_sends_and_peers_ascend(void **state)
{
    (void)state;
    expect("TASKS {2, 0, 2} ASYNCHRONOUSLY SEND A MESSAGE TO TASKS {3, 1, 0} THEN ALL TASKS AWAIT "
           "COMPLETION.",
           4,
           "0 RECV 0 0 async\n0 RECV 2 0 async\n0 SEND 0 0 async\n0 SEND 1 0 async\n"
           "0 SEND 3 0 async\n0 WAIT\n"
           "1 RECV 0 0 async\n1 RECV 2 0 async\n1 WAIT\n"
           "2 SEND 0 0 async\n2 SEND 1 0 async\n2 SEND 3 0 async\n2 WAIT\n"
           "3 RECV 0 0 async\n3 RECV 2 0 async\n3 WAIT\n");
}

static void variables_of_receives_flow_either_way(void **state)
{
    (void)state;
    expect("ALL TASKS d ASYNCHRONOUSLY RECEIVE A d BYTE MESSAGE FROM TASK d+1 THEN "
           "ALL TASKS s SEND AN s-1 BYTE MESSAGE TO UNSUSPECTING TASK s-1 THEN "
           "ALL TASKS AWAIT COMPLETION.",
           3,
           "0 RECV 1 0 async\n0 WAIT\n1 RECV 2 1 async\n1 SEND 0 0 unsusp\n1 WAIT\n"
           "2 SEND 1 1 unsusp\n2 WAIT\n");
    expect("TASKS x SUCH THAT x>0 RECEIVE 2 MESSAGES INTO BUFFER 1 FROM TASKS y SUCH THAT y=x-1.",
           3, "1 RECV 0 0 buf=1\n1 RECV 0 0 buf=1\n2 RECV 1 0 buf=1\n2 RECV 1 0 buf=1\n");
    expect("TASKS x SUCH THAT x=y+1 RECEIVE A MESSAGE FROM TASKS y SUCH THAT y<1.", 3,
           "1 RECV 0 0\n");
    expect("ALL OTHER TASKS RECEIVE A 3 BYTE MESSAGE FROM TASK 0.", 3, "1 RECV 0 3\n2 RECV 0 3\n");
    expect_error(
        "LET bbb BE 5 WHILE TASKS aaa SUCH THAT aaa < bbb RECEIVE A MESSAGE FROM TASKS bbb "
        "SUCH THAT bbb > 3.",
        2, "semantic error", "ambiguous");
}

static void groups_are_descriptions_with_a_name(void **state)
{
    (void)state;
    expect("LET g BE TASKS t SUCH THAT t IS ODD AND h BE TASK GROUP g WHILE {"
           " TASK GROUP h SENDS A h BYTE MESSAGE TO TASK h-1 THEN"
           " TASK GROUP g MULTICASTS A 9 BYTE MESSAGE TO TASK GROUP h THEN"
           " TASK GROUP g REDUCES AN INTEGER }",
           4,
           "0 RECV 1 1\n"
           "1 SEND 0 1\n1 MCAST 1 9 {3}\n1 MCAST 3 9 {1}\n1 REDUCE {1,3} {1,3} 4\n"
           "2 RECV 3 3\n"
           "3 SEND 2 3\n3 MCAST 1 9 {3}\n3 MCAST 3 9 {1}\n3 REDUCE {1,3} {1,3} 4\n");
    expect("LET g BE TASK 1 WHILE TASK GROUP g OUTPUTS g.", 2, "1 OUTPUT \"1\"\n");
    expect_error("TASK GROUP g SYNCHRONIZES.", 2, "semantic error", "no task group g");
}

static void multicasts_reach_each_pair_once(void **state)
{
    (void)state;
    expect("TASKS s SUCH THAT s<2 MULTICAST 2 s+3 BYTE MESSAGES USING TAG 4 TO TASKS d SUCH THAT "
           "d>s.",
           3,
           "0 MCAST 0 3 {1-2} tag=4\n0 MCAST 0 3 {1-2} tag=4\n"
           "1 MCAST 0 3 {1-2} tag=4\n1 MCAST 0 3 {1-2} tag=4\n"
           "1 MCAST 1 4 {2} tag=4\n1 MCAST 1 4 {2} tag=4\n"
           "2 MCAST 0 3 {1-2} tag=4\n2 MCAST 0 3 {1-2} tag=4\n"
           "2 MCAST 1 4 {2} tag=4\n2 MCAST 1 4 {2} tag=4\n");
}

static void reductions_join_sources_and_targets(void **state)
{
    (void)state;
    expect("TASKS s SUCH THAT s<2 REDUCE 3 UNIQUE 16 BYTE ALIGNED DOUBLEWORDS TO TASKS s+2 WHO "
           "RECEIVE THE RESULT AS 3 DOUBLEWORDS INTO BUFFER 2.",
           4,
           "0 REDUCE {0-1} {2-3} 24\n1 REDUCE {0-1} {2-3} 24\n"
           "2 REDUCE {0-1} {2-3} 24\n3 REDUCE {0-1} {2-3} 24\n");
    expect("FOR 1 REPETITION PLUS 1 WARMUP REPETITION ALL TASKS REDUCE A PAGE ALIGNED INTEGER WITH "
           "DATA TOUCHING FROM 8 BYTES INTO BUFFER 3 TO TASK 0.",
           2,
           "0 REDUCE {0-1} {0} 4 warmup\n0 REDUCE {0-1} {0} 4\n"
           "1 REDUCE {0-1} {0} 4 warmup\n1 REDUCE {0-1} {0} 4\n");
    expect("ALL TASKS REDUCE 2 INTEGERS TO 2 INTEGERS.", 2,
           "0 REDUCE {0-1} {0-1} 8\n1 REDUCE {0-1} {0-1} 8\n");
    expect("TASKS t SUCH THAT t>9 REDUCE AN INTEGER TO TASK 0.", 2, "");
    expect_error("ALL TASKS REDUCE 2 INTEGERS TO 3 INTEGERS.", 2, "semantic error", "same number");
    expect_error("ALL TASKS REDUCE 2 INTEGERS TO 2 DOUBLEWORDS.", 2, "semantic error", "one type");
    expect_error("ALL TASKS REDUCE AN INTEGER WITH VERIFICATION.", 2, "semantic error", "verify");
}

static void touching_is_counted_in_bytes(void **state)
{
    (void)state;
    expect("TASK 0 TOUCHES A 1 KILOBYTE MEMORY REGION 2 TIMES WITH STRIDE 4 WORDS THEN "
           "TASK 0 TOUCHES 50 WORDS OF AN 800 BYTE MEMORY REGION THEN "
           "TASK 0 TOUCHES A 4 KILOBYTE MEMORY REGION WITH RANDOM STRIDE THEN "
           "TASK 0 TOUCHES ALL MESSAGE BUFFERS.",
           1,
           "0 TOUCH region=1024 word=4 count=128 stride=16\n"
           "0 TOUCH region=800 word=4 count=50 stride=4\n"
           "0 TOUCH region=4096 word=4 count=1024 stride=random\n"
           "# 0 TOUCH buffer=all\n");
}

static void tasks_can_change_places(void **state)
{
    (void)state;
    /* The manual's example: 8 tasks, n < 4 assigned to processor 2n. */
    expect("TASK n SUCH THAT n<(num_tasks+1)/2 IS ASSIGNED TO PROCESSOR n*2 THEN TASK 7 OUTPUTS "
           "PROCESSOR_OF(0) AND PROCESSOR_OF(1) AND PROCESSOR_OF(2) AND PROCESSOR_OF(3) AND "
           "PROCESSOR_OF(4) AND PROCESSOR_OF(5) AND PROCESSOR_OF(6) AND PROCESSOR_OF(7).",
           8, "7 OUTPUT \"02461537\"\n");
    expect("ALL TASKS t ARE ASSIGNED TO PROCESSOR (t+1) MOD num_tasks THEN "
           "TASK 0 SENDS A 5 BYTE MESSAGE TO TASK 1 THEN TASKS t SUCH THAT t<2 SYNCHRONIZE THEN "
           "TASK 2 MULTICASTS A MESSAGE TO ALL OTHER TASKS THEN "
           "ALL TASKS t ARE ASSIGNED TO PROCESSOR t THEN TASK 0 OUTPUTS TASK_OF(0).",
           3,
           "0 MCAST 0 0 {1-2}\n0 OUTPUT \"0\"\n1 SEND 2 5\n1 BARRIER {1-2}\n1 MCAST 0 0 {1-2}\n"
           "2 RECV 1 5\n2 BARRIER {1-2}\n2 MCAST 0 0 {1-2}\n");
    expect_error("TASK 0 IS ASSIGNED TO PROCESSOR 5.", 2, "runtime error", "no processor 5");
}

static void random_tasks_come_from_the_reference_generator(void **state)
{
    static const char *const seed[] = {"-S", "42", NULL};

    (void)state;
    /* Mersenne twister of 64 bits, seed 42, computed independently. */
    expect_args(
        "LET r BE A RANDOM TASK AND s BE A RANDOM TASK OTHER THAN r AND q BE A RANDOM TASK "
        "LESS THAN 3 BUT NOT 1 AND z BE A RANDOM TASK IN [2, 5] BUT NOT 3 AND y BE A RANDOM "
        "TASK GREATER THAN 100 WHILE TASK 0 OUTPUTS r AND s AND q AND z AND y.",
        8, seed, "0 OUTPUT \"3104-1\"\n");
}

static void all_tasks_draw_the_same_random_tasks(void **state)
{
    char *events = NULL, *copy, *half;

    (void)state;
    /* More draws than one block of the generator holds. */
    try_run("FOR 1000 REPETITIONS LET r BE A RANDOM TASK WHILE ALL TASKS OUTPUT r.", 2, NULL,
            &events, NULL);
    half = strstr(events, "\n1 ");
    assert_non_null(half);
    copy = strdup(half + 1);
    half[1] = '\0';
    for (char *s = copy; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (*s == '1')
            *s = '0';
    try_same("random tasks", events, copy);
    assert_non_null(strstr(events, "\"0\""));
    assert_non_null(strstr(events, "\"1\""));
    free(copy);
    free(events);
}

static void files_are_opened_written_read_flushed_and_closed(void **state)
{
    (void)state;
    expect(
        "ALL TASKS OPEN FILE 7 FOR WRITING THEN ALL TASKS WRITE 2 1 KILOBYTE BLOCKS TO FILE 7 THEN "
        "TASK 0 FLUSHES FILE 7 THEN ALL TASKS CLOSE FILE 7.",
        1, "0 OPEN 7 write\n0 WRITE 7 1024 0\n0 WRITE 7 1024 1024\n0 FLUSH 7\n0 CLOSE 7\n");
    expect(
        "ALL TASKS t ASYNCHRONOUSLY COLLECTIVELY WRITE A t+1 BYTE BLOCK TO FILE t*10 AT OFFSET t "
        "KILOBYTE THEN ALL TASKS AWAIT COMPLETION THEN ALL TASKS t COLLECTIVELY READ 2 WORD SIZED "
        "BLOCKS FROM FILE t*10.",
        2,
        "0 WRITE 0 1 0 async coll\n0 WAIT\n0 READ 0 4 1 coll\n0 READ 0 4 5 coll\n"
        "1 WRITE 10 2 1024 async coll\n1 WAIT\n1 READ 10 4 1026 coll\n1 READ 10 4 1030 coll\n");
    expect("TASK 0 OPENS FILE 1 THEN TASK 0 OPENS FILE 2 FOR READING "
           "FOR 1 REPETITION TASK 0 CLOSES FILE 1.",
           1, "0 OPEN 1 readwrite\n0 OPEN 2 read\n0 CLOSE 1\n");
    expect(
        "TASK 0 WRITES 0 8 BYTE BLOCKS TO FILE 1 THEN TASK 0 WRITES AN 8 BYTE BLOCK TO FILE 1 THEN "
        "TASK 0 LOGS bytes_written AS \"w\" AND bytes_read AS \"r\" AND ios_completed AS \"n\".",
        1, "0 WRITE 1 8 0\n0 LOG \"w\" 8\n0 LOG \"r\" 0\n0 LOG \"n\" 1\n");
    expect_error("TASK 0 WRITES 3 BLOCKS TO FILE 1.", 1, "syntax error", "size of a block");
    expect_error("TASK 0 ASYNCHRONOUSLY OPENS FILE 1.", 1, "syntax error", "READ or WRITE");
}

static void asynchronous_accesses_count_when_awaited(void **state)
{
    (void)state;
    expect(
        "TASK 0 ASYNCHRONOUSLY READS 3 5 BYTE BLOCKS FROM FILE 1 THEN "
        "TASK 0 OUTPUTS bytes_read AND \",\" AND ios_completed THEN TASK 0 AWAITS COMPLETION THEN "
        "TASK 0 OUTPUTS bytes_read AND \",\" AND ios_completed.",
        1,
        "0 READ 1 5 0 async\n0 READ 1 5 5 async\n0 READ 1 5 10 async\n0 OUTPUT \"0,0\"\n"
        "0 WAIT\n0 OUTPUT \"15,3\"\n");
}

static void counters_are_stored_and_restored_like_a_stack(void **state)
{
    (void)state;
    expect("TASK 0 SENDS A 1 BYTE MESSAGE TO TASK 1 THEN TASK 0 STORES ITS COUNTERS THEN "
           "TASK 0 SENDS A 10 BYTE MESSAGE TO TASK 1 THEN TASK 0 STORES ITS COUNTERS THEN "
           "TASK 0 RESETS ITS COUNTERS THEN TASK 0 OUTPUTS bytes_sent THEN "
           "TASK 0 RESTORES ITS COUNTERS THEN TASK 0 OUTPUTS bytes_sent THEN "
           "TASK 0 RESTORES ITS COUNTERS THEN TASK 0 OUTPUTS bytes_sent.",
           2,
           "0 SEND 1 1\n0 STORE\n0 SEND 1 10\n0 STORE\n0 RESET\n0 OUTPUT \"0\"\n0 RESTORE\n"
           "0 OUTPUT \"11\"\n0 RESTORE\n0 OUTPUT \"1\"\n1 RECV 0 1\n1 RECV 0 10\n");
    expect_error("TASK 0 RESTORES ITS COUNTERS.", 1, "runtime error", "more often");
}

static void warmups_leave_no_trace_in_counters(void **state)
{
    (void)state;
    expect("TASK 0 SENDS A 1 BYTE MESSAGE TO TASK 1 THEN "
           "FOR 1 REPETITION PLUS 2 WARMUP REPETITIONS AND A SYNCHRONIZATION {"
           " FOR 1 REPETITION PLUS 1 WARMUP REPETITION TASK 0 SENDS A 5 BYTE MESSAGE TO TASK 1 THEN"
           " TASK 0 OUTPUTS bytes_sent }",
           2,
           "0 SEND 1 1\n0 SEND 1 5 warmup\n0 SEND 1 5 warmup\n0 SEND 1 5 warmup\n"
           "0 SEND 1 5 warmup\n0 BARRIER {0-1}\n0 SEND 1 5 warmup\n0 SEND 1 5\n0 OUTPUT \"6\"\n"
           "1 RECV 0 1\n1 RECV 0 5 warmup\n1 RECV 0 5 warmup\n1 RECV 0 5 warmup\n"
           "1 RECV 0 5 warmup\n1 BARRIER {0-1}\n1 RECV 0 5 warmup\n1 RECV 0 5\n");
}

static void my_task_lets_tasks_go_different_ways(void **state)
{
    (void)state;
    expect("IF MY TASK IS EVEN THEN ALL TASKS OUTPUT \"even\" OTHERWISE ALL TASKS OUTPUT \"odd\".",
           3, "0 OUTPUT \"even\"\n1 OUTPUT \"odd\"\n2 OUTPUT \"even\"\n");
    expect_error("ALL TASKS OUTPUT MY TASK.", 1, "semantic error", "condition of IF");
    expect_error("IF MY TASK=0 THEN LET r BE A RANDOM TASK WHILE TASK r OUTPUTS r.", 1,
                 "semantic error", "together");
    expect_error("IF MY TASK=0 THEN TASK 0 IS ASSIGNED TO PROCESSOR 0.", 1, "semantic error",
                 "which task runs where");
    expect_error("IF MY TASK=0 THEN FOR 1 SECOND ALL TASKS SYNCHRONIZE.", 1, "semantic error",
                 "together");
}

static void periods_are_optional_even_before_if(void **state)
{
    (void)state;
    expect("LET x BE 3 WHILE TASK 0 OUTPUTS x IF 1=1 THEN TASK 0 OUTPUTS \"yes\" OTHERWISE {} "
           "TASK 0 OUTPUTS 5 IF 1=2 OTHERWISE 6 TASK 0 SYNCHRONIZES",
           1, "0 OUTPUT \"3\"\n0 OUTPUT \"yes\"\n0 OUTPUT \"6\"\n0 BARRIER {0}\n");
}

static void parameters_come_from_the_command_line(void **state)
{
    static const char text[] =
        "n IS \"count\" AND COMES FROM \"--num-ber\" OR \"-n\" WITH DEFAULT 2*3."
        "m IS \"other\" AND COMES FROM \"--m_1\" OR \"-9\" WITH DEFAULT -1."
        "TASK 0 OUTPUTS n AND \",\" AND m.";
    static const char *const good[][5] = {
        {"--num-ber=4K", NULL},
        {"--num-ber", "4K", "-9", "-7", NULL},
        {"-n4k", "-9-7", NULL},
        {"-n", "1E3", "--m_1=+2", NULL},
    };
    static const char *const bad[][3] = {
        {"--nothing=1", NULL}, {"-n", NULL},    {"-n", "x"},
        {"-n", "3x"},          {"plain", NULL}, {"-z3", NULL},
    };

    (void)state;
    expect(text, 1, "0 OUTPUT \"6,-1\"\n");
    expect_args(text, 1, good[0], "0 OUTPUT \"4096,-1\"\n");
    expect_args(text, 1, good[1], "0 OUTPUT \"4096,-7\"\n");
    expect_args(text, 1, good[2], "0 OUTPUT \"4096,-7\"\n");
    expect_args(text, 1, good[3], "0 OUTPUT \"1000,2\"\n");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_error_args(text, 1, bad[i], "", "");
    expect_error(
        "n IS \"x\" AND COMES FROM \"--n\" OR \"-n\" WITH DEFAULT num_tasks. TASK 0 OUTPUTS n.", 1,
        "semantic error", "constant");
    expect_error("n IS \"x\" AND COMES FROM \"-n\" OR \"-n\" WITH DEFAULT 1. TASK 0 OUTPUTS n.", 1,
                 "semantic error", "long option");
}

static void the_checker_knows_where_things_may_stand(void **state)
{
    static const char *const wrong[][2] = {
        {"ALL OTHER TASKS SEND A MESSAGE TO TASK 0.", "cannot act"},
        {"TASK 0 SENDS A bytes_sent BYTE MESSAGE TO TASK 1.", "message specification"},
        {"FOR elapsed_usecs REPETITIONS TASK 0 SYNCHRONIZES.", "bounds of a loop"},
        {"IF total_msgs=0 THEN TASK 0 SYNCHRONIZES.", "condition of IF"},
        {"IF RANDOM_UNIFORM(0,2)=0 THEN TASK 0 SYNCHRONIZES.", "RANDOM TASK"},
        {"TASK 0 SENDS A RANDOM_POISSON(3) BYTE MESSAGE TO TASK 1.", "RANDOM TASK"},
        {"TASK 0 OUTPUTS nothing.", "not declared"},
        {"LET value1 BE 3 WHILE TASK 0 OUTPUTS valeu1.", "did you mean value1"},
        {"TASK 0 OUTPUTS MESH_NEIGHBOR((3,3), 1, (1)).", "one step per dimension"},
        {"TASK 0 OUTPUTS SQRT(1,2).", "arguments"},
        {"TASK 0 SENDS A MESSAGE TO TASK 1 WHO RECEIVES IT WITH VERIFICATION.", "VERIFICATION"},
        {"LET elapsed_usecs BE 3 WHILE TASK 0 OUTPUTS 1.", "predeclared"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_error(wrong[i][0], 2, "semantic error", wrong[i][1]);
    expect_error("TASK 0 SENDS A MESSAGE TO TASK 1 WHO RECEIVES IT.", 2, "syntax error",
                 "how they");
    expect_error("TASK 0 SENDS A MESSAGE TO UNSUSPECTING TASK 1 WHO RECEIVES IT SYNCHRONOUSLY.", 2,
                 "syntax error", "UNSUSPECTING");
    expect_error("TASK 0 RESETS ALL COUNTERS.", 2, "syntax error", "");
}

static void unusual_programs_get_warnings(void **state)
{
    static const char *const texts[][2] = {
        {"REQUIRE LANGUAGE VERSION \"1.4\". TASK 0 SYNCHRONIZES.", "asks for language version 1.4"},
        {"LET unused BE 3 WHILE TASK 0 SYNCHRONIZES.", "unused is defined but never used"},
        {"IF 3 IS IN [1, 4] THEN TASK 0 SYNCHRONIZES.", "deprecated"},
        {"TASK 0 SENDS A UNIQUE 3 BYTE MESSAGE FROM BUFFER 1 TO TASK 1.", "contradict"},
        {"LET t BE 7 WHILE TASKS t SUCH THAT t=0 SEND A t BYTE MESSAGE TO TASK 1.", "surrounding"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct try t;

        try_open(&t, texts[i][0], 2, NULL);
        if (!strstr(ncptl_warnings(t.u), texts[i][1]))
            fail_msg("%s\nno warning \"%s\" in\n%s", texts[i][0], texts[i][1], ncptl_warnings(t.u));
        try_close(&t);
    }
}

static void delays_may_be_nanoseconds(void **state)
{
    (void)state;
    expect("ALL TASKS COMPUTE FOR 25 NANOSECONDS THEN TASK 0 SLEEPS FOR 1 NANOSECOND THEN "
           "TASK 0 COMPUTES FOR 3000 NANOSECONDS THEN TASK 0 SLEEPS FOR 3/2 SECONDS",
           1, "0 COMPUTE 0.025\n0 SLEEP 0.001\n0 COMPUTE 3\n0 SLEEP 1000000\n");
    /* No keyword: the word is free for variables. */
    expect("LET nanoseconds BE 7 WHILE TASK 0 COMPUTES FOR nanoseconds NANOSECONDS", 1,
           "0 COMPUTE 0.007\n");
    expect("FOR 1500 NANOSECONDS TASK 0 COMPUTES FOR 1 MICROSECOND", 1,
           "0 TIMED_BEGIN 1.500\n0 COMPUTE 1\n0 TIMED_END\n");
}

static void some_of_what_is_pending_can_be_awaited(void **state)
{
    (void)state;
    expect("TASK 0 ASYNCHRONOUSLY SENDS A 1 BYTE MESSAGE TO TASK 1 THEN "
           "TASK 1 ASYNCHRONOUSLY WRITES A 5 BYTE BLOCK TO FILE 3 THEN "
           "TASK 1 AWAITS COMPLETION OF ITS RECEIVES THEN "
           "TASK 1 OUTPUTS msgs_received AND \" \" AND ios_completed THEN "
           "TASK 1 AWAITS COMPLETION OF ALL WRITES THEN "
           "TASK 1 OUTPUTS msgs_received AND \" \" AND ios_completed THEN "
           "TASK 0 AWAITS COMPLETION OF SENDS",
           2,
           "0 SEND 1 1 async\n0 WAIT of=sends\n"
           "1 RECV 0 1 async\n1 WRITE 3 5 0 async\n1 WAIT of=receives\n1 OUTPUT \"1 0\"\n"
           "1 WAIT of=files\n1 OUTPUT \"1 1\"\n");
    expect_error("TASK 0 AWAITS COMPLETION OF TASK 1", 2, "syntax",
                 "SENDS, RECEIVES, READS or WRITES");
    expect_error("TASK 0 ASYNCHRONOUSLY SENDS A 1 BYTE MESSAGE TO TASK 1 THEN "
                 "ALL TASKS AWAIT COMPLETION OF RECEIVES",
                 2, "communication", "task 0 never awaits completion of 1 asynchronous send(s)");
    expect_error("TASK 1 ASYNCHRONOUSLY RECEIVES A 1 BYTE MESSAGE FROM TASK 0 THEN "
                 "TASK 1 AWAITS COMPLETION OF SENDS THEN "
                 "TASK 0 SENDS A 1 BYTE MESSAGE TO UNSUSPECTING TASK 1",
                 2, "communication", "task 1 never awaits completion of 1 asynchronous receive(s)");
}

static void an_empty_program_does_nothing(void **state)
{
    (void)state;
    expect("", 3, "");
    expect("# only a remark", 3, "");
    expect("{{} THEN {}}", 3, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_keep_all_their_attributes),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(task_variables_reach_the_message),
        cmocka_unit_test(receives_come_before_sends_and_peers_ascend),
        cmocka_unit_test(variables_of_receives_flow_either_way),
        cmocka_unit_test(groups_are_descriptions_with_a_name),
        cmocka_unit_test(multicasts_reach_each_pair_once),
        cmocka_unit_test(reductions_join_sources_and_targets),
        cmocka_unit_test(touching_is_counted_in_bytes),
        cmocka_unit_test(tasks_can_change_places),
        cmocka_unit_test(random_tasks_come_from_the_reference_generator),
        cmocka_unit_test(all_tasks_draw_the_same_random_tasks),
        cmocka_unit_test(files_are_opened_written_read_flushed_and_closed),
        cmocka_unit_test(asynchronous_accesses_count_when_awaited),
        cmocka_unit_test(counters_are_stored_and_restored_like_a_stack),
        cmocka_unit_test(warmups_leave_no_trace_in_counters),
        cmocka_unit_test(my_task_lets_tasks_go_different_ways),
        cmocka_unit_test(periods_are_optional_even_before_if),
        cmocka_unit_test(parameters_come_from_the_command_line),
        cmocka_unit_test(the_checker_knows_where_things_may_stand),
        cmocka_unit_test(unusual_programs_get_warnings),
        cmocka_unit_test(delays_may_be_nanoseconds),
        cmocka_unit_test(some_of_what_is_pending_can_be_awaited),
        cmocka_unit_test(an_empty_program_does_nothing),
    };

    return cmocka_run_group_tests_name("ncptl: statements", tests, NULL, NULL);
}
