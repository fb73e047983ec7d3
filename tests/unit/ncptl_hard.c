/* Programs outside the corpus, made to be hard, each with all that it does; the outputs were read
 * against the rules of the language and then kept. */
#include "ncptl_try.h"

static void loops_and_bindings_nest_and_shadow(void **state)
{
    (void)state;
    expect("FOR EACH i IN {1,2} FOR EACH j IN {i, ..., 3} LET i BE i*10+j WHILE TASK 0 OUTPUTS i",
           4,
           "0 OUTPUT \"11\"\n"
           "0 OUTPUT \"12\"\n"
           "0 OUTPUT \"13\"\n"
           "0 OUTPUT \"22\"\n"
           "0 OUTPUT \"23\"\n");
    expect("LET x BE 3 AND x BE x*x AND y BE x+1 WHILE TASK 0 OUTPUTS x AND \",\" AND y", 4,
           "0 OUTPUT \"9,10\"\n");
    expect("IF 1=1 THEN IF 1=2 THEN TASK 0 OUTPUTS \"a\" OTHERWISE TASK 0 OUTPUTS \"b\"", 4,
           "0 OUTPUT \"b\"\n");
    expect("FOR EACH i IN {0,...,3} TASK 0 OUTPUTS (1 IF i=0 OTHERWISE 2 IF i=1 OTHERWISE 3 IF i=2 "
           "OTHERWISE 4)",
           4,
           "0 OUTPUT \"1\"\n"
           "0 OUTPUT \"2\"\n"
           "0 OUTPUT \"3\"\n"
           "0 OUTPUT \"4\"\n");
    expect("FOR 0 REPETITIONS TASK 0 OUTPUTS 1/0 THEN FOR -3 REPETITIONS TASK 0 OUTPUTS 1/0 THEN "
           "FOR EACH i IN {3,...,1}, {5,4,...,6} TASK 0 OUTPUTS i",
           4,
           "0 OUTPUT \"3\"\n"
           "0 OUTPUT \"2\"\n"
           "0 OUTPUT \"1\"\n");
    expect("FOR EACH i IN {10, 7, ..., 0} TASK 0 OUTPUTS i", 4,
           "0 OUTPUT \"10\"\n"
           "0 OUTPUT \"7\"\n"
           "0 OUTPUT \"4\"\n"
           "0 OUTPUT \"1\"\n");
    expect("FOR EACH i IN {1, 3, 9, ..., 100} TASK 0 OUTPUTS i", 4,
           "0 OUTPUT \"1\"\n"
           "0 OUTPUT \"3\"\n"
           "0 OUTPUT \"9\"\n"
           "0 OUTPUT \"27\"\n"
           "0 OUTPUT \"81\"\n");
    expect("FOR EACH i IN {64, 32, 16, ..., 1} TASK 0 OUTPUTS i", 4,
           "0 OUTPUT \"64\"\n"
           "0 OUTPUT \"32\"\n"
           "0 OUTPUT \"16\"\n"
           "0 OUTPUT \"8\"\n"
           "0 OUTPUT \"4\"\n"
           "0 OUTPUT \"2\"\n"
           "0 OUTPUT \"1\"\n");
    expect("FOR EACH i IN {x*10+y FOR EACH x IN {1,2} FOR EACH y IN {x,...,3} WHERE x+y <> 4} TASK "
           "0 OUTPUTS i",
           4,
           "0 OUTPUT \"11\"\n"
           "0 OUTPUT \"12\"\n"
           "0 OUTPUT \"23\"\n");
}

static void groups_are_rebound_and_filtered(void **state)
{
    (void)state;
    expect("LET g BE TASKS t SUCH THAT t IS ODD WHILE {TASK GROUP g SENDS A g BYTE MESSAGE TO TASK "
           "g-1 THEN TASK GROUP g SYNCHRONIZES}",
           4,
           "0 RECV 1 1\n"
           "1 SEND 0 1\n"
           "1 BARRIER {1,3}\n"
           "2 RECV 3 3\n"
           "3 SEND 2 3\n"
           "3 BARRIER {1,3}\n");
    expect("FOR EACH i IN {0,1,2} LET g BE TASK i WHILE TASK GROUP g SENDS A 4 BYTE MESSAGE TO "
           "TASK (g+1) MOD num_tasks",
           4,
           "0 SEND 1 4\n"
           "1 RECV 0 4\n"
           "1 SEND 2 4\n"
           "2 RECV 1 4\n"
           "2 SEND 3 4\n"
           "3 RECV 2 4\n");
    expect("TASKS t SUCH THAT t > 100 SYNCHRONIZE THEN TASK 0 OUTPUTS \"x\"", 4,
           "0 OUTPUT \"x\"\n");
    expect("TASK 99 SENDS A 1 BYTE MESSAGE TO TASK 0 THEN TASK 0 SENDS A 1 BYTE MESSAGE TO TASK -1 "
           "THEN TASK 0 SENDS 2 1 BYTE MESSAGES TO TASKS {1,1,99,2}",
           4,
           "0 SEND 1 1\n"
           "0 SEND 1 1\n"
           "0 SEND 2 1\n"
           "0 SEND 2 1\n"
           "1 RECV 0 1\n"
           "1 RECV 0 1\n"
           "2 RECV 0 1\n"
           "2 RECV 0 1\n");
    expect("TASKS {2,1} SEND A 8 BYTE MESSAGE TO TASKS {0,3}", 4,
           "0 RECV 1 8\n"
           "0 RECV 2 8\n"
           "1 SEND 0 8\n"
           "1 SEND 3 8\n"
           "2 SEND 0 8\n"
           "2 SEND 3 8\n"
           "3 RECV 1 8\n"
           "3 RECV 2 8\n");
}

static void collectives_are_those_of_subsets(void **state)
{
    (void)state;
    expect("TASKS t SUCH THAT t < 2 MULTICAST A 8 BYTE MESSAGE TO TASKS u SUCH THAT u >= 1", 4,
           "0 MCAST 0 8 {1-3}\n"
           "1 MCAST 0 8 {1-3}\n"
           "1 MCAST 1 8 {2-3}\n"
           "2 MCAST 0 8 {1-3}\n"
           "2 MCAST 1 8 {2-3}\n"
           "3 MCAST 0 8 {1-3}\n"
           "3 MCAST 1 8 {2-3}\n");
    expect("TASKS t SUCH THAT t > 0 REDUCE 3 INTEGERS TO TASKS u SUCH THAT u < 2", 4,
           "0 REDUCE {1-3} {0-1} 12\n"
           "1 REDUCE {1-3} {0-1} 12\n"
           "2 REDUCE {1-3} {0-1} 12\n"
           "3 REDUCE {1-3} {0-1} 12\n");
    expect("TASK 2 REDUCES A DOUBLEWORD TO TASK 0", 4,
           "0 REDUCE {2} {0} 8\n"
           "2 REDUCE {2} {0} 8\n");
    expect("TASK 0 ASYNCHRONOUSLY MULTICASTS A 4 BYTE MESSAGE TO ALL OTHER TASKS THEN ALL TASKS "
           "AWAIT COMPLETION",
           4,
           "0 MCAST 0 4 {1-3} async\n"
           "0 WAIT\n"
           "1 MCAST 0 4 {1-3} async\n"
           "1 WAIT\n"
           "2 MCAST 0 4 {1-3} async\n"
           "2 WAIT\n"
           "3 MCAST 0 4 {1-3} async\n"
           "3 WAIT\n");
    expect("ALL TASKS REDUCE 4 DOUBLEWORDS TO 4 DOUBLEWORDS THEN ALL TASKS REDUCE 2 INTEGERS TO "
           "TASK 1 WHO RECEIVES THE RESULT USING TAG 3",
           4,
           "0 REDUCE {0-3} {0-3} 32\n"
           "0 REDUCE {0-3} {1} 8\n"
           "1 REDUCE {0-3} {0-3} 32\n"
           "1 REDUCE {0-3} {1} 8\n"
           "2 REDUCE {0-3} {0-3} 32\n"
           "2 REDUCE {0-3} {1} 8\n"
           "3 REDUCE {0-3} {0-3} 32\n"
           "3 REDUCE {0-3} {1} 8\n");
}

static void timed_loops_are_shown_once(void **state)
{
    (void)state;
    expect("FOR 2 MICROSECONDS {FOR 2 REPETITIONS TASK 0 SENDS A 1 BYTE MESSAGE TO TASK 1}", 4,
           "0 TIMED_BEGIN 2\n"
           "0 SEND 1 1\n"
           "0 SEND 1 1\n"
           "0 TIMED_END\n"
           "1 TIMED_BEGIN 2\n"
           "1 RECV 0 1\n"
           "1 RECV 0 1\n"
           "1 TIMED_END\n"
           "2 TIMED_BEGIN 2\n"
           "2 TIMED_END\n"
           "3 TIMED_BEGIN 2\n"
           "3 TIMED_END\n");
    expect("FOR 5 MICROSECONDS PLUS 1 WARMUP MILLISECOND AND A SYNCHRONIZATION TASK 0 COMPUTES FOR "
           "1 MICROSECOND",
           4,
           "0 TIMED_BEGIN 1000 warmup\n"
           "0 COMPUTE 1 warmup\n"
           "0 TIMED_END warmup\n"
           "0 BARRIER {0-3}\n"
           "0 TIMED_BEGIN 5\n"
           "0 COMPUTE 1\n"
           "0 TIMED_END\n"
           "1 TIMED_BEGIN 1000 warmup\n"
           "1 TIMED_END warmup\n"
           "1 BARRIER {0-3}\n"
           "1 TIMED_BEGIN 5\n"
           "1 TIMED_END\n"
           "2 TIMED_BEGIN 1000 warmup\n"
           "2 TIMED_END warmup\n"
           "2 BARRIER {0-3}\n"
           "2 TIMED_BEGIN 5\n"
           "2 TIMED_END\n"
           "3 TIMED_BEGIN 1000 warmup\n"
           "3 TIMED_END warmup\n"
           "3 BARRIER {0-3}\n"
           "3 TIMED_BEGIN 5\n"
           "3 TIMED_END\n");
    expect("FOR 3 SECONDS FOR 2 SECONDS TASK 0 COMPUTES FOR 1 SECOND", 4,
           "0 TIMED_BEGIN 3000000\n"
           "0 TIMED_BEGIN 2000000\n"
           "0 COMPUTE 1000000\n"
           "0 TIMED_END\n"
           "0 TIMED_END\n"
           "1 TIMED_BEGIN 3000000\n"
           "1 TIMED_BEGIN 2000000\n"
           "1 TIMED_END\n"
           "1 TIMED_END\n"
           "2 TIMED_BEGIN 3000000\n"
           "2 TIMED_BEGIN 2000000\n"
           "2 TIMED_END\n"
           "2 TIMED_END\n"
           "3 TIMED_BEGIN 3000000\n"
           "3 TIMED_BEGIN 2000000\n"
           "3 TIMED_END\n"
           "3 TIMED_END\n");
}

static void random_tasks_are_everybodys(void **state)
{
    (void)state;
    expect("FOR 3 REPETITIONS LET r BE A RANDOM TASK OTHER THAN 0 WHILE TASK 0 SENDS A 1 BYTE "
           "MESSAGE TO TASK r",
           4,
           "0 SEND 2 1\n"
           "0 SEND 1 1\n"
           "0 SEND 1 1\n"
           "1 RECV 0 1\n"
           "1 RECV 0 1\n"
           "2 RECV 0 1\n");
}

static void messages_meet_by_tag_and_order(void **state)
{
    (void)state;
    expect("TASKS r SUCH THAT r > 0 RECEIVE A 8 BYTE MESSAGE FROM TASK r-1 THEN TASKS s SUCH THAT "
           "s < num_tasks-1 SEND A 8 BYTE MESSAGE TO UNSUSPECTING TASK s+1",
           4,
           "0 SEND 1 8 unsusp\n"
           "1 RECV 0 8\n"
           "1 SEND 2 8 unsusp\n"
           "2 RECV 1 8\n"
           "2 SEND 3 8 unsusp\n"
           "3 RECV 2 8\n");
    expect("TASK 0 ASYNCHRONOUSLY SENDS A 64 BYTE MESSAGE USING TAG 5 TO TASK 1 WHO RECEIVES IT "
           "SYNCHRONOUSLY USING TAG 5 THEN TASK 0 AWAITS COMPLETION",
           4,
           "0 SEND 1 64 async tag=5\n"
           "0 WAIT\n"
           "1 RECV 0 64 tag=5\n");
    expect("TASK 0 SENDS A 1 BYTE MESSAGE USING TAG \"abc\" TO TASK 1", 4,
           "0 SEND 1 1 tag=\"abc\"\n"
           "1 RECV 0 1 tag=\"abc\"\n");
    expect("ALL TASKS t ASYNCHRONOUSLY SEND A t BYTE MESSAGE TO TASK t THEN ALL TASKS AWAIT "
           "COMPLETION",
           4,
           "0 RECV 0 0 async\n"
           "0 SEND 0 0 async\n"
           "0 WAIT\n"
           "1 RECV 1 1 async\n"
           "1 SEND 1 1 async\n"
           "1 WAIT\n"
           "2 RECV 2 2 async\n"
           "2 SEND 2 2 async\n"
           "2 WAIT\n"
           "3 RECV 3 3 async\n"
           "3 SEND 3 3 async\n"
           "3 WAIT\n");
    expect("TASK 0 IS ASSIGNED TO PROCESSOR 2 THEN TASK 0 SENDS A 1 BYTE MESSAGE TO TASK 2 THEN "
           "ALL TASKS t OUTPUT PROCESSOR_OF(t) AND TASK_OF(0)",
           4,
           "0 RECV 2 1\n"
           "0 OUTPUT \"02\"\n"
           "1 OUTPUT \"12\"\n"
           "2 SEND 0 1\n"
           "2 OUTPUT \"22\"\n"
           "3 OUTPUT \"32\"\n");
}

static void counters_survive_warmups_and_stores(void **state)
{
    (void)state;
    expect("FOR 2 REPETITIONS PLUS 1 WARMUP REPETITION AND A SYNCHRONIZATION {TASK 0 SENDS A 4 "
           "BYTE MESSAGE TO TASK 1 THEN TASK 0 OUTPUTS msgs_sent}",
           4,
           "0 SEND 1 4 warmup\n"
           "0 BARRIER {0-3}\n"
           "0 SEND 1 4\n"
           "0 OUTPUT \"1\"\n"
           "0 SEND 1 4\n"
           "0 OUTPUT \"2\"\n"
           "1 RECV 0 4 warmup\n"
           "1 BARRIER {0-3}\n"
           "1 RECV 0 4\n"
           "1 RECV 0 4\n"
           "2 BARRIER {0-3}\n"
           "3 BARRIER {0-3}\n");
    expect("TASK 0 SENDS A 4 BYTE MESSAGE TO TASK 1 THEN TASK 0 STORES ITS COUNTERS THEN TASK 0 "
           "SENDS A 4 BYTE MESSAGE TO TASK 1 THEN TASK 0 RESTORES ITS COUNTERS THEN TASK 0 OUTPUTS "
           "bytes_sent",
           4,
           "0 SEND 1 4\n"
           "0 STORE\n"
           "0 SEND 1 4\n"
           "0 RESTORE\n"
           "0 OUTPUT \"4\"\n"
           "1 RECV 0 4\n"
           "1 RECV 0 4\n");
}

static void arithmetic_has_its_own_mind(void **state)
{
    (void)state;
    expect("TASK 0 OUTPUTS (0-7) MOD 3 AND \" \" AND 7 MOD (0-3) AND \" \" AND 2**3**2 AND \" \" "
           "AND (0-2)**3 AND \" \" AND 1+2<<3 AND \" \" AND 8|1&3",
           4, "0 OUTPUT \"2 1 512 -8 17 9\"\n");
    expect("ALL TASKS t OUTPUT KNOMIAL_PARENT(t,3) AND \" \" AND KNOMIAL_CHILDREN(t,3) AND \" \" "
           "AND TREE_PARENT(t) AND \" \" AND TREE_CHILD(t,1)",
           4,
           "0 OUTPUT \"-1 3 -1 2\"\n"
           "1 OUTPUT \"0 0 0 4\"\n"
           "2 OUTPUT \"0 0 0 6\"\n"
           "3 OUTPUT \"0 0 1 8\"\n");
    expect("IF MY TASK = 0 THEN TASK 0 OUTPUTS \"zero\" OTHERWISE TASK 1 OUTPUTS \"one\"", 4,
           "0 OUTPUT \"zero\"\n"
           "1 OUTPUT \"one\"\n");
    expect("TASK 0 OUTPUTS (0-7)/2 THEN LET x BE (0-7)/2 WHILE TASK 0 OUTPUTS x", 4,
           "0 OUTPUT \"-3.5\"\n"
           "0 OUTPUT \"-3\"\n");
    expect("LET x BE REAL(7/2) AND y BE REAL((0-7)/2) WHILE TASK 0 OUTPUTS x AND \" \" AND y AND "
           "\" \" AND 7/2 AND \" \" AND REAL(1/3)",
           4, "0 OUTPUT \"4 -3 3.5 0.3333333333\"\n");
}

static void files_take_variables_and_words_stay_free(void **state)
{
    (void)state;
    expect("ALL TASKS t ASYNCHRONOUSLY WRITE t 2 KILOBYTE BLOCKS TO FILE t+1 AT OFFSET t PAGES "
           "THEN ALL TASKS AWAIT COMPLETION THEN ALL TASKS t READ A 100 BYTE BLOCK FROM FILE t+1 "
           "THEN ALL TASKS t READ A 1 BYTE BLOCK FROM FILE t+1",
           4,
           "0 WAIT\n"
           "0 READ 1 100 0\n"
           "0 READ 1 1 100\n"
           "1 WRITE 2 2048 4096 async\n"
           "1 WAIT\n"
           "1 READ 2 100 6144\n"
           "1 READ 2 1 6244\n"
           "2 WRITE 3 2048 8192 async\n"
           "2 WRITE 3 2048 10240 async\n"
           "2 WAIT\n"
           "2 READ 3 100 12288\n"
           "2 READ 3 1 12388\n"
           "3 WRITE 4 2048 12288 async\n"
           "3 WRITE 4 2048 14336 async\n"
           "3 WRITE 4 2048 16384 async\n"
           "3 WAIT\n"
           "3 READ 4 100 18432\n"
           "3 READ 4 1 18532\n");
    expect("ALL TASKS t COLLECTIVELY WRITE A 4 MEGABYTE BLOCK TO FILE 1 AT OFFSET t*4 MEGABYTES", 2,
           "0 WRITE 1 4194304 0 coll\n"
           "1 WRITE 1 4194304 4194304 coll\n");
    expect("LET megabytes BE 2 WHILE TASK 0 WRITES A megabytes KILOBYTES BLOCK TO FILE 1", 1,
           "0 WRITE 1 2048 0\n");
    expect("LET file BE 3 AND block BE 2 AND open BE 7 AND at BE 1 WHILE {TASK 0 OPENS FILE file "
           "THEN TASK 0 WRITES block at KILOBYTE BLOCKS TO FILE open AT OFFSET at BYTES}",
           4,
           "0 OPEN 3 readwrite\n"
           "0 WRITE 7 1024 1\n"
           "0 WRITE 7 1024 1025\n");
    expect("TASKS t SUCH THAT t IS EVEN COLLECTIVELY WRITE 1 4K BYTE BLOCK TO FILE 9 AT OFFSET "
           "t*4K BYTES",
           4,
           "0 WRITE 9 4096 0 coll\n"
           "2 WRITE 9 4096 8192 coll\n");
    expect("TASK 0 OPENS FILE 1. FOR 2 REPETITIONS TASK 0 READS A 1 BYTE BLOCK FROM FILE 1", 4,
           "0 OPEN 1 readwrite\n"
           "0 READ 1 1 0\n"
           "0 READ 1 1 1\n");
}

static void aggregates_summarise_columns(void **state)
{
    (void)state;
    expect_logs(
        "FOR EACH i IN {1, ..., 5} TASK 0 LOGS THE MEAN OF i AS \"m\" AND "
        "THE HARMONIC MEAN OF i AS \"h\" AND THE GEOMETRIC MEAN OF i AS \"g\" AND "
        "THE MEDIAN OF i AS \"md\" AND THE STANDARD DEVIATION OF i AS \"sd\" AND "
        "THE VARIANCE OF i AS \"va\" AND THE SUM OF i AS \"s\" AND "
        "THE MINIMUM AND THE MAXIMUM OF i AS \"x\" AND THE FINAL i AS \"f\" AND "
        "THE 25TH PERCENTILE OF i AS \"p\" AND "
        "THE MEDIAN ABSOLUTE DEVIATION OF i AS \"mad\" AND A HISTOGRAM OF i/3 AS \"hi\"",
        1,
        "## rank 0\n"
        "\"m\",\"h\",\"g\",\"md\",\"sd\",\"va\",\"s\",\"x\",\"x\",\"f\",\"p\",\"mad\",\"hi\","
        "\"hi\"\n"
        "\"(mean)\",\"(harm. mean)\",\"(geom. mean)\",\"(median)\",\"(std. dev.)\","
        "\"(variance)\",\"(sum)\",\"(minimum)\",\"(maximum)\",\"(final)\","
        "\"(25th percentile)\",\"(med. abs. dev.)\",\"(hist. values)\",\"(hist. tallies)\"\n"
        "3,2.189781022,2.605171085,3,1.58113883,2.5,15,1,5,5,2,1,0.3333333333,1\n"
        ",,,,,,,,,,,,0.6666666667,1\n,,,,,,,,,,,,1,1\n,,,,,,,,,,,,1.333333333,1\n"
        ",,,,,,,,,,,,1.666666667,1\n");
    expect_logs(
        "FOR EACH i IN {1, 2, 3} {TASK 0 SENDS i 1K BYTE MESSAGES TO TASK 1 THEN "
        "TASK 0 LOGS THE i AS \"i\" AND bytes_sent AS \"b\" THEN "
        "TASK 0 COMPUTES AGGREGATES}",
        2, "## rank 0\n\"i\",\"b\"\n\"(only value)\",\"(all data)\"\n1,1024\n2,3072\n3,6144\n");
    expect_logs("TASK 0 LOGS 1 AS \"a\". TASK 0 LOGS 2 AS \"a\".", 1,
                "## rank 0\n\"a\"\n\"(all data)\"\n1\n\n\"a\"\n\"(all data)\"\n2\n");
}

static void what_cannot_be_done_is_refused(void **state)
{
    static const char *const cases[][3] = {
        {"TASK 0 LOGS THE VALUE OF \"x\" AS \"v\"", "syntax", "value is a keyword"},
        {"TASK 0 SENDS A bytes_sent BYTE MESSAGE TO TASK 1", "semantic", "bytes_sent"},
        {"TASK 0 SENDS A 0-5 BYTE MESSAGE TO TASK 1", "runtime", "less than nothing"},
        {"TASK 0 WRITES A 0-5 BYTE BLOCK TO FILE 1", "runtime", "less than nothing"},
        {"TASK 0 WRITES A 5 BYTE BLOCK TO FILE 1 AT OFFSET 0-8 BYTES", "runtime",
         "an offset of -8 bytes lies before the file"},
        {"TASK 0 RESTORES ITS COUNTERS", "runtime", "restored more often"},
        {"LET x BE elapsed_usecs WHILE TASK 0 OUTPUTS x", "semantic", "elapsed_usecs"},
        {"IF RANDOM_UNIFORM(0, 1) = 0 THEN TASK 0 OUTPUTS 1", "semantic", "RANDOM_UNIFORM"},
        {"ALL OTHER TASKS SYNCHRONIZE", "semantic", "other than which"},
        {"TASK 0 SENDS A 1 BYTE MESSAGE TO UNSUSPECTING TASK 1 WHO RECEIVES IT ASYNCHRONOUSLY", "",
         "UNSUSPECTING"},
        {"ALL TASKS REDUCE 3 BYTES", "semantic", "INTEGERS and DOUBLEWORDS"},
        {"ALL TASKS OUTPUT TASK_OF(1", "syntax", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_error(cases[i][0], 4, cases[i][1], cases[i][2]);
}

static void the_report_names_the_ranks_that_wait_for_each_other(void **state)
{
    (void)state;
    expect_error("TASK 0 RECEIVES A 1 BYTE MESSAGE FROM TASK 1 THEN ALL TASKS SYNCHRONIZE THEN "
                 "TASK 1 SENDS A 1 BYTE MESSAGE TO UNSUSPECTING TASK 0",
                 4, "communication", "waits for 1 (synchronizes at 1:51) waits for 0");
    expect_error("TASK 0 RECEIVES A 1 BYTE MESSAGE FROM TASK 1 THEN "
                 "ALL TASKS COLLECTIVELY WRITE A 1 BYTE BLOCK TO FILE 1 THEN "
                 "TASK 1 SENDS A 1 BYTE MESSAGE TO UNSUSPECTING TASK 0",
                 4, "communication", "waits for 1 (writes with others at 1:51) waits for 0");
    expect_error("ALL TASKS t COLLECTIVELY WRITE t+1 1K BYTE BLOCKS TO FILE 1", 4, "communication",
                 "1 (writes with others at 1:1) waits for 0, which has ended");
    expect_error("FOR 3 SECONDS TASK 0 ASYNCHRONOUSLY SENDS A 1 BYTE MESSAGE TO TASK 1", 2,
                 "communication", "task 0 never awaits completion of 1 asynchronous send(s)");
    expect_error("TASK 0 SENDS A 4 BYTE MESSAGE USING TAG 1 TO UNSUSPECTING TASK 1 THEN "
                 "TASK 1 RECEIVES A 4 BYTE MESSAGE USING TAG 2 FROM TASK 0",
                 2, "communication", "receives 4 bytes");
}

/* Who sends to me? A congruence is solved, not searched for: every pair is found. */
static void congruences_find_every_sender(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 40; n++)
        for (int factor = -8; factor <= 15; factor++) {
            char text[256], line[64];
            char *events = NULL;
            uint32_t found = 0;

            snprintf(text, sizeof text,
                     "ALL TASKS t ASYNCHRONOUSLY SEND A 1 BYTE MESSAGE TO TASK (t*(0+%d)+3) MOD "
                     "num_tasks THEN ALL TASKS AWAIT COMPLETION",
                     factor);
            if (factor < 0)
                snprintf(text, sizeof text,
                         "ALL TASKS t ASYNCHRONOUSLY SEND A 1 BYTE MESSAGE TO TASK (t*(0-%d)+3) "
                         "MOD num_tasks THEN ALL TASKS AWAIT COMPLETION",
                         -factor);
            try_run(text, n, NULL, &events, NULL);
            for (uint32_t t = 0; t < n; t++) {
                int64_t to = ((int64_t)t * factor + 3) % (int64_t)n;

                snprintf(line, sizeof line, "%u RECV %u 1 async\n",
                         (uint32_t)(to < 0 ? to + n : to), t);
                const char *at = strstr(events, line);

                if (!at || (at != events && at[-1] != '\n'))
                    at = at ? strstr(at + 1, line) : NULL;
                found += at != NULL;
            }
            if (found != n)
                fail_msg("%u tasks, factor %d: %u receives", n, factor, found);
            free(events);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_and_bindings_nest_and_shadow),
        cmocka_unit_test(groups_are_rebound_and_filtered),
        cmocka_unit_test(collectives_are_those_of_subsets),
        cmocka_unit_test(timed_loops_are_shown_once),
        cmocka_unit_test(random_tasks_are_everybodys),
        cmocka_unit_test(messages_meet_by_tag_and_order),
        cmocka_unit_test(counters_survive_warmups_and_stores),
        cmocka_unit_test(arithmetic_has_its_own_mind),
        cmocka_unit_test(files_take_variables_and_words_stay_free),
        cmocka_unit_test(aggregates_summarise_columns),
        cmocka_unit_test(what_cannot_be_done_is_refused),
        cmocka_unit_test(the_report_names_the_ranks_that_wait_for_each_other),
        cmocka_unit_test(congruences_find_every_sender),
    };

    return cmocka_run_group_tests_name("ncptl: hard programs", tests, NULL, NULL);
}
