/* Lustre and BeeGFS: what holds for every file system of share/stack, and what each does its own
 * way: locks, memory and work in the background. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <stdio.h>

#include "net/net.h"
#include "stack/stack_job.h"
#include "stack_help.h"
#include "world/world_wire.h"

static const char *const others[] = {"lustre", "beegfs"};

static uint64_t sent(const struct stack_lab *l, const char *name)
{
    const struct stack_traffic *m = stack_lab_message(l, name);

    if (!m)
        fail_msg("%s has no message %s", l->fs->name, name);
    return m->requests;
}

/* Every request is answered, whatever begins ends, what leaves arrives. */
static void assert_kept(const struct stack_lab *l, uint64_t written, uint64_t read)
{
    const struct stack_counts *c = l->counts;

    assert_int_equal(c->begun, c->ended);
    for (size_t i = 0; i < l->fs->message.n; i++)
        assert_int_equal(c->message[i].requests, c->message[i].answers);
    assert_int_equal(c->client_out_b, c->server_in_b);
    assert_int_equal(c->client_in_b, c->server_out_b);
    assert_int_equal(c->client_out_b, written);
    assert_int_equal(c->client_in_b, read);
}

static void bytes_are_kept_from_one_to_a_pebibyte(void **state)
{
    static const char *const sizes[] = {"8", "4104", "1m", "1000000", "1g", "1t", "1024t"};

    (void)state;
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct stack_lab l;
            char command[100];
            const struct stack_phase *p;

            snprintf(command, sizeof command, "ior -a MPIIO -b %s -t %s -F -k -C -e", sizes[i],
                     sizes[i]);
            stack_lab_run(&l, others[f], "default", 3, 2, command);
            assert_kept(&l, 2 * (uint64_t)l.test.block, 2 * (uint64_t)l.test.block);
            assert_int_equal(stack_drive_phases(l.drive, &p), 2);
            for (int j = 0; j < 2; j++) {
                assert_true(p[j].open_first <= p[j].open_last);
                assert_true(p[j].io_first < p[j].io_last);
                assert_true(p[j].io_last <= p[j].close_last);
                assert_true(p[j].close_last < STACK_FOREVER);
            }
            stack_lab_end(&l);
        }
}

/* Strided and shared, without a sync: what is left in memory is written after the close. */
static void what_clients_kept_in_memory_is_written_in_the_end(void **state)
{
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct stack_lab l;

        stack_lab_run(&l, others[f], "default", 3, 4, "ior -a MPIIO -b 12000 -t 4000 -s 40 -k -w");
        assert_kept(&l, 4 * 40 * 12000, 0);
        stack_lab_end(&l);
    }
}

static void a_server_is_for_metadata_or_for_data(void **state)
{
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct stack_lab l;

        stack_lab_run(&l, others[f], "default", 3, 2, "ior -a MPIIO -b 4m -t 1m -F");
        for (size_t i = 0; i < l.trace.sent.n; i++) {
            const struct stack_sent *s = &l.trace.sent.v[i];
            uint32_t meta = l.setup.clients;

            if (s->data)
                assert_true(s->from != meta && s->to != meta);
        }
        stack_lab_end(&l);
    }
}

/* 8 MiB over four servers: each has the same. */
static void a_file_is_striped_over_its_servers(void **state)
{
    (void)state;
    struct stack_lab l;
    uint64_t at[6] = {0};

    stack_lab_run(&l, "beegfs", "default", 5, 1, "ior -a MPIIO -b 8m -t 8m -w -k");
    for (size_t i = 0; i < l.trace.sent.n; i++)
        if (l.trace.sent.v[i].data)
            at[l.trace.sent.v[i].to - 1] += l.trace.sent.v[i].bytes;
    uint32_t used = 0;

    for (int i = 0; i < 6; i++) {
        assert_true(!at[i] || at[i] == 2 << 20);
        used += at[i] > 0;
    }
    assert_int_equal(used, 4);
    stack_lab_end(&l);
}

static void a_lock_is_asked_for_once_and_used_again(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "lustre", "default", 2, 1, "ior -a MPIIO -b 16m -t 64k -k");
    assert_int_equal(sent(&l, "LDLM_ENQUEUE"), 1);
    assert_int_equal(sent(&l, "OST_WRITE"), 4);
    assert_int_equal(sent(&l, "OST_READ"), 0); /* it is in memory still */
    assert_int_equal(sent(&l, "LDLM_BL_CALLBACK"), 0);
    stack_lab_end(&l);
}

/* Every lock that was asked back is cancelled, and every client that waited was notified. */
static void clients_of_one_object_ask_each_other_back(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "lustre", "default", 1, 6, "ior -a MPIIO -b 64k -t 64k -s 20 -C -k");
    uint64_t blocked = 0;

    for (size_t i = 0; i < l.trace.visit.n; i++) {
        const struct stack_visit *v = &l.trace.visit.v[i];

        blocked += v->state == stack_find_state(l.fs, "osc_lock:wait", 13);
    }
    assert_true(blocked > 20);
    assert_int_equal(sent(&l, "LDLM_CP_CALLBACK"), blocked);
    assert_int_equal(sent(&l, "LDLM_CANCEL"), sent(&l, "LDLM_BL_CALLBACK"));
    assert_true(sent(&l, "LDLM_BL_CALLBACK") > 20);
    stack_lab_end(&l);
}

/* No client has more requests for data outstanding at one server than allowed. */
static void not_more_than_eight_requests_are_under_way(void **state)
{
    struct stack_lab l;
    int under_way = 0, most = 0;

    (void)state;
    stack_lab_run(&l, "lustre", "default", 1, 1, "ior -a MPIIO -b 256m -t 256m -w -k -e");
    for (size_t i = 0; i < l.trace.sent.n; i++) {
        const struct stack_sent *s = &l.trace.sent.v[i];

        if (strcmp(l.fs->message.v[s->message].name, "OST_WRITE") || s->data)
            continue;
        under_way += s->answer ? -1 : 1;
        most = under_way > most ? under_way : most;
    }
    assert_int_equal(most, 8);
    assert_int_equal(under_way, 0);
    stack_lab_end(&l);
}

/* A write returns when its bytes are in memory; a sync when they are with the server. */
static void a_write_is_faster_than_its_way_to_the_disk(void **state)
{
    struct stack_lab l;
    const struct stack_phase *p;

    (void)state;
    stack_lab_run(&l, "lustre", "default", 1, 1, "ior -a MPIIO -b 16m -t 16m -w -k");
    stack_drive_phases(l.drive, &p);
    uint64_t alone = p->close_last - p->open_first;

    stack_lab_end(&l);
    stack_lab_run(&l, "lustre", "default", 1, 1, "ior -a MPIIO -b 16m -t 16m -w -k -e");
    stack_drive_phases(l.drive, &p);
    assert_true(p->close_last - p->open_first > alone + alone / 4);
    assert_int_equal(sent(&l, "OST_SYNC"), 1);
    assert_int_equal(sent(&l, "MDS_SYNC"), 1);
    stack_lab_end(&l);
}

/* While a client has the file open for writing, the storage servers have its size. */
static void small_writes_ride_in_the_buffer(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "beegfs", "default", 4, 1, "ior -a MPIIO -b 4m -t 4k -k");
    assert_int_equal(sent(&l, "WriteLocalFile"), 8); /* 512 KiB each */
    assert_int_equal(sent(&l, "ReadLocalFileV2"), 8);
    assert_kept(&l, 4 << 20, 4 << 20);
    stack_lab_end(&l);
}

static void a_close_asks_the_targets_that_were_used(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "beegfs", "default", 4, 1, "ior -a MPIIO -b 1m -t 1m -w -k");
    assert_int_equal(sent(&l, "CloseChunkFile"), 2);
    assert_int_equal(sent(&l, "GetChunkFileAttribs"), 0);
    stack_lab_end(&l);
}

static void the_same_seed_gives_the_same_run_and_another_other_targets(void **state)
{
    uint64_t end[3], first[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct stack_lab l;

        stack_lab_run(&l, "beegfs", "default", 9, 3,
                      i == 2 ? "ior -a MPIIO -b 4m -t 1m -s 2" : "ior -a MPIIO -b 4m -t 1m");
        end[i] = stack_engine_now(stack_drive_engine(l.drive));
        first[i] = l.trace.sent.n;
        stack_lab_end(&l);
    }
    assert_int_equal(end[0], end[1]);
    assert_int_equal(first[0], first[1]);
    assert_true(end[2] > end[0]);
}

/* Four tasks write a megabyte each to one file, twice; nothing is left under way. */
static void a_program_moves_the_bytes_it_says(void **state)
{
    static const char *const all[] = {"pvfs2", "lustre", "beegfs"};

    (void)state;
    for (size_t f = 0; f < 3; f++) {
        struct stack_config c = {.fs = all[f],
                                 .servers = 3,
                                 .tasks = 4,
                                 .seed = 1,
                                 .test = WEIR_SOURCE_DIR "/examples/apps/checkpoint.ncptl",
                                 .args = "--bytes 4E6 --iterations 2 --shared 1"};
        struct wr_err err = {0};
        struct stack_sim s;
        const struct stack_phase *p;
        bool stopped;

        if (!stack_sim_open(&s, &c, NULL, &err))
            fail_msg("%s", err.text);
        stack_drive_begin(s.drive);
        if (!stack_drive_run(s.drive, &stopped, &err))
            fail_msg("%s", err.text);
        const struct stack_counts *k = stack_engine_counts(stack_drive_engine(s.drive));

        assert_int_equal(k->begun, k->ended);
        assert_int_equal(k->server_in_b, 8000000);
        assert_int_equal(stack_drive_phases(s.drive, &p), 1);
        assert_int_equal(p->transfers, 8);
        assert_int_equal(p->bytes, 8000000);
        assert_int_equal(stack_drive_task(s.drive, 3).written_b, 2000000);
        /* twice a tenth of a second is computed */
        assert_true(stack_drive_end(s.drive) > 200000000);
        stack_sim_close(&s);
    }
}

/* --- over a fabric --------------------------------------------------------------------- */

#define MACHINE WEIR_SOURCE_DIR "/examples/machines/reference-1056.yaml"

struct travels {
    uint64_t n, end_ns;
};

/* Every request of one client to idle servers is taken in when the network says that it is there:
 * `net` NULL: the plain link. */
static struct travels travel(bool fabric, const char *test, uint32_t tasks, bool alone)
{
    struct stack_config c = {.fs = "beegfs", .servers = 1, .tasks = tasks, .seed = 7, .test = test};
    struct stack_trace trace = {0};
    struct stack_hooks hooks = stack_trace_hooks(&trace);
    struct travels all = {0};
    struct wr_err err = {0};
    struct stack_sim s;
    bool stopped;

    if ((fabric && !world_wire_open(&c.wire, MACHINE, 7, &err)) ||
        !stack_sim_open(&s, &c, &hooks, &err))
        fail_msg("%s", err.text);
    uint16_t taken = stack_find_state(s.fs, "stream_listener:receive", 23);

    stack_drive_begin(s.drive);
    if (!stack_drive_run(s.drive, &stopped, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; alone && i < trace.sent.n; i++) {
        const struct stack_sent *m = &trace.sent.v[i];
        uint64_t bytes = m->bytes + s.fs->header_b, there = UINT64_MAX;
        uint64_t takes =
            fabric ? (net_idle_ps(world_wire_net(c.wire), m->from, m->to, bytes) + 999) / 1000
                   : stack_ns(s.timings->latency_ns + (double)bytes * s.timings->ns_per_b);

        if (m->answer || m->data)
            continue;
        for (size_t v = 0; v < trace.visit.n; v++)
            if (trace.visit.v[v].state == taken && trace.visit.v[v].node == m->to &&
                trace.visit.v[v].t_ns >= m->t_ns && trace.visit.v[v].t_ns < there)
                there = trace.visit.v[v].t_ns;
        assert_int_equal(there - m->t_ns, takes);
        all.n++;
    }
    all.end_ns = stack_drive_end(s.drive);
    assert_int_equal(stack_engine_counts(stack_drive_engine(s.drive))->begun,
                     stack_engine_counts(stack_drive_engine(s.drive))->ended);
    stack_trace_fini(&trace);
    stack_sim_close(&s);
    return all;
}

static void a_lone_message_takes_what_an_idle_network_takes(void **state)
{
    (void)state;
    struct travels link = travel(false, "ior -a MPIIO -b 1m -t 1m", 1, true);
    struct travels fabric = travel(true, "ior -a MPIIO -b 1m -t 1m", 1, true);

    assert_true(link.n > 10);
    assert_int_equal(link.n, fabric.n);
}

static void the_same_seed_gives_the_same_bits_over_a_fabric(void **state)
{
    (void)state;
    struct travels a = travel(true, "ior -a MPIIO -b 1m -t 256k -s 2", 12, false);
    struct travels b = travel(true, "ior -a MPIIO -b 1m -t 256k -s 2", 12, false);

    assert_int_equal(a.end_ns, b.end_ns);
}

/* A storage that is slower than the fabric decides how long a write takes; one that is faster adds
 * only its last buffer. */
static void over_a_fabric_the_storage_takes_its_time(void **state)
{
    static const double slower[] = {0, 0.01, 1000};
    double took[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct stack_config c = {
            .fs = "pvfs2", .servers = 1, .tasks = 1, .test = "ior -a MPIIO -b 16m -t 16m -w"};
        struct wr_err err = {0};
        const struct stack_phase *p;
        struct stack_sim s;
        bool stopped;

        assert_true(world_wire_open(&c.wire, MACHINE, 1, &err));
        if (!stack_sim_open(&s, &c, NULL, &err))
            fail_msg("%s", err.text);
        uint16_t at = stack_find_state(s.fs, "trove_stream:buffers", 20);

        assert_true(s.timings->exec[1][at].per_byte_ns > 0.1);
        s.timings->exec[1][at].per_byte_ns *= slower[i];
        double storage = s.timings->exec[1][at].per_byte_ns * (16 << 20) * 1e-9;

        stack_drive_begin(s.drive);
        assert_true(stack_drive_run(s.drive, &stopped, &err));
        stack_drive_phases(s.drive, &p);
        took[i] = stack_s(p[0].io_ns);
        assert_true(took[i] > storage);
        stack_sim_close(&s);
    }
    assert_true(took[1] > took[0] && took[1] < took[0] + 0.001);
    assert_true(took[2] > 5 && took[2] < 6);
}

static void a_machine_that_is_too_small_is_refused(void **state)
{
    struct stack_config c = {
        .fs = "beegfs", .servers = 1, .tasks = 1055, .test = "ior -a MPIIO", .seed = 1};
    struct wr_err err = {0};
    struct stack_sim s;

    (void)state;
    assert_true(world_wire_open(&c.wire, MACHINE, 1, &err));
    assert_false(stack_sim_open(&s, &c, NULL, &err));
    assert_string_equal(err.text,
                        "the machine has 1056 nodes, too few for all clients and servers; "
                        "take a larger one");
}

/* --- the language itself --------------------------------------------------------------- */

static const struct {
    const char *from, *to, *reported;
} faults[] = {
    {"resource: rpcs,", "resource: rpc,", "there is no resource \"rpc\"; did you mean rpcs?"},
    {"rpcs: {limit: rpcs_in_flight}", "rpcs: {limit: many}", "nothing has this name"},
    {"value: 4 MiB", "value: four", "\"four\" is no whole number; write 8 or 4 MiB"},
    {"cells: [pending, timer, last]", "cells: [pending, disk_queue]",
     "there is a disk_queue already"},
    {"place: {meta: \"file % min(dir_stripes, metas)\", ", "place: {",
     "place needs both meta and data"},
};

static void faults_in_what_is_shared_are_found(void **state)
{
    const char *text = NULL;

    (void)state;
    for (const struct stack_shipped *s = stack_shipped_fs(); s->name; s++)
        if (!strcmp(s->name, "lustre"))
            text = s->text;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *at = strstr(text, faults[i].from);
        char *bad = malloc(strlen(text) + 100);
        struct wr_err err = {0};
        struct stack_fs *fs;

        assert_non_null(at);
        sprintf(bad, "%.*s%s%s", (int)(at - text), text, faults[i].to, at + strlen(faults[i].from));
        assert_false(stack_fs_open_text(&fs, "bad.yaml", bad, strlen(bad), &err));
        if (!strstr(err.text, faults[i].reported))
            fail_msg("%s", err.text);
        free(bad);
    }
}

/* --- system calls, and calls by hand ------------------------------------------------- */

static uint64_t visits(const struct stack_fs *fs, const struct stack_counts *c, const char *name)
{
    uint16_t s = stack_find_state(fs, name, strlen(name));

    assert_int_not_equal(s, STACK_NONE);
    return c->state[0][s].n + c->state[1][s].n;
}

static uint64_t visits_of_layer(const struct stack_lab *l, const char *layer)
{
    uint64_t n = 0;

    for (size_t i = 0; i < l->fs->state.n; i++)
        if (!strcmp(l->fs->machine.v[l->fs->state.v[i].machine].layer, layer))
            n += l->counts->state[0][i].n;
    return n;
}

static void system_calls_pass_the_kernel_and_not_mpi_io(void **state)
{
    static const char *const commands[] = {
        "ior -a POSIX -b 3m -t 1000000 -F -e -O blockSize=4000000",
        "ior -b 8m -t 4m -e -C"}; /* POSIX by itself */

    (void)state;
    for (const struct stack_shipped *f = stack_shipped_fs(); f->name; f++)
        for (int i = 0; i < 2; i++) {
            struct stack_lab l;

            stack_lab_run(&l, f->name, "default", 3, 2, commands[i]);
            uint64_t all = 2 * (uint64_t)l.test.block;

            assert_int_equal(l.setup.api, STACK_POSIX);
            assert_int_equal(l.counts->begun, l.counts->ended);
            assert_int_equal(l.counts->client_out_b, all);
            assert_true(l.counts->client_in_b <= all); /* the rest was in memory */
            assert_true(visits_of_layer(&l, "VFS") > 0);
            assert_int_equal(visits_of_layer(&l, "MPI-IO"), 0);
            stack_lab_end(&l);
            /* the same system calls lie under ADIO, where it has no driver of its own */
            stack_lab_run(&l, f->name, "default", 3, 2, "ior -a MPIIO -b 1m -t 1m -F");
            assert_int_equal(visits_of_layer(&l, "VFS") > 0, strcmp(f->name, "pvfs2") != 0);
            stack_lab_end(&l);
        }
}

static void the_kernel_of_pvfs2_hands_on_four_mebibytes_at_a_time(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 1, "ior -a POSIX -b 10m -t 10m -F -w -k");
    assert_int_equal(visits(l.fs, l.counts, "pvfs2_file_write:copy"), 3);
    assert_int_equal(visits(l.fs, l.counts, "client_io_sm:init"), 3);
    assert_int_equal(sent(&l, "IO"), 15);
    assert_int_equal(sent(&l, "GETCONFIG"), 0); /* it is mounted */
    assert_int_equal(sent(&l, "SETATTR"), 2);   /* of the create, and the time of the writes */
    assert_int_equal(l.counts->client_out_b, 10 << 20);
    stack_lab_end(&l);
}

static void of_a_shared_file_mpi_io_lets_one_task_flush(void **state)
{
    static const struct {
        const char *fs, *command, *message;
        uint64_t sent;
    } cases[] = {
        {"pvfs2", "ior -a MPIIO -b 1m -t 512k -e -w", "FLUSH", 6},
        {"pvfs2", "ior -a MPIIO -b 1m -t 512k -Y -w", "FLUSH", 2 * 6},
        {"pvfs2", "ior -a MPIIO -b 1m -t 512k -e -w -F", "FLUSH", 3 * 6},
        {"pvfs2", "ior -a POSIX -b 1m -t 512k -e -w", "FLUSH", 3 * 6},
        {"lustre", "ior -a MPIIO -b 1m -t 512k -e -w", "MDS_SYNC", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stack_lab l;

        stack_lab_run(&l, cases[i].fs, "default", 5, 3, cases[i].command);
        if (sent(&l, cases[i].message) != cases[i].sent)
            fail_msg("%s: %d", cases[i].command, (int)sent(&l, cases[i].message));
        stack_lab_end(&l);
    }
}

/* 60 to 70 KiB lie on two servers, each with few enough for its request, and 10 KiB on one do not:
 * a client reserves space for the longest request it might send. Answers need less. */
static void an_access_is_small_when_each_servers_part_is(void **state)
{
    static const struct {
        const char *command;
        uint64_t small, small_b, flows;
    } cases[] = {
        {"ior -a MPIIO -b 70k -t 10k -F -w", 2, 2 * 396 + 10240, 6},
        {"ior -a MPIIO -b 6768 -t 6768 -F", 2, 2 * 364 + 6768, 0},
        {"ior -a MPIIO -b 6776 -t 6776 -F", 1, 364, 1},
        {"ior -a MPIIO -b 16344 -t 16344 -F", 1, 364, 1},
        {"ior -a MPIIO -b 16352 -t 16352 -F", 0, 0, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stack_lab l;

        stack_lab_run(&l, "pvfs2", "default", 5, 1, cases[i].command);
        assert_int_equal(sent(&l, "SMALL_IO"), cases[i].small);
        assert_int_equal(stack_lab_message(&l, "SMALL_IO")->request_b, cases[i].small_b);
        assert_int_equal(sent(&l, "IO"), cases[i].flows);
        assert_int_equal(sent(&l, "UNSTUFF"), i == 0);
        stack_lab_end(&l);
    }
}

struct hand {
    struct stack_fs *fs;
    struct stack_timings *timings;
    struct stack_engine *e;
    const struct stack_counts *counts;
    uint64_t t;
    uint32_t ended;
    int64_t status;
};

static void hand_done(void *ctx, uint32_t client, int64_t status, uint64_t t)
{
    struct hand *h = ctx;

    (void)client;
    h->t = t;
    h->status = status;
    h->ended++;
}

static void hand_open(struct hand *h, const char *fs, enum stack_api api)
{
    struct wr_err err = {0};

    *h = (struct hand){0};
    if (!stack_fs_open(&h->fs, fs, &err) ||
        !stack_timings_open(&h->timings, h->fs, "default", &err))
        fail_msg("%s", err.text);
    struct stack_setup setup = {.fs = h->fs,
                                .timings = h->timings,
                                .api = api,
                                .clients = 1,
                                .files = 1,
                                .servers = 5,
                                .start = UINT32_MAX,
                                .done = hand_done,
                                .done_ctx = h};

    if (!stack_engine_open(&h->e, &setup, &err))
        fail_msg("%s", err.text);
    h->counts = stack_engine_counts(h->e);
}

static void hand_call(struct hand *h, enum stack_operation op, uint64_t offset, uint64_t bytes)
{
    uint32_t before = h->ended;

    stack_engine_call(
        h->e, 0,
        &(struct stack_call){
            .op = op, .offset = offset, .bytes = bytes, .creating = op == STACK_OP_CREATE},
        h->t);
    stack_engine_run(h->e, STACK_FOREVER, UINT64_MAX);
    assert_int_equal(h->ended, before + 1);
}

static void hand_close(struct hand *h)
{
    assert_int_equal(h->counts->begun, h->counts->ended);
    stack_engine_close(h->e);
    stack_timings_close(h->timings);
    stack_fs_close(h->fs);
}

static void a_byte_goes_through_all_layers(void **state)
{
    static const enum stack_operation calls[] = {STACK_OP_CREATE, STACK_OP_WRITE, STACK_OP_SYNC,
                                                 STACK_OP_CLOSE};

    (void)state;
    for (const struct stack_shipped *f = stack_shipped_fs(); f->name; f++)
        for (int api = 0; api < STACK_APIS; api++) {
            struct hand h;

            hand_open(&h, f->name, (enum stack_api)api);
            for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
                hand_call(&h, calls[i], 0, calls[i] == STACK_OP_WRITE);
                assert_int_equal(h.status, 0);
            }
            assert_int_equal(h.counts->client_out_b, 1);
            assert_int_equal(h.counts->server_in_b, 1);
            hand_close(&h);
        }
}

static void a_read_past_the_end_gets_what_is_there(void **state)
{
    static const struct {
        uint64_t offset, bytes, gets, asks;
    } cases[] = {
        {96 << 10, 32 << 10, 4 << 10, 1},  /* one data file of five: the others' sizes are asked */
        {96 << 10, 8 << 10, 4 << 10, 1},   /* in the answer itself */
        {0, 400 << 10, 100 << 10, 0},      /* all five have reported their sizes */
        {1 << 30, 64 << 10, 0, 1},         /* beyond everything */
        {64 << 10, 36 << 10, 36 << 10, 0}, /* to the end and no further */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand h;

        hand_open(&h, "pvfs2", STACK_MPIIO);
        stack_engine_put_file(h.e, 0, 100 << 10);
        hand_call(&h, STACK_OP_READ, cases[i].offset, cases[i].bytes);
        assert_int_equal(h.status, 0);
        assert_int_equal(h.counts->client_in_b, cases[i].gets);
        assert_int_equal(h.counts->server_out_b, cases[i].gets);
        assert_int_equal(visits(h.fs, h.counts, "client_io_sm:io_analyze_size_results"),
                         cases[i].asks);
        hand_close(&h);
    }
}

static void what_ior_was_not_built_with_is_refused(void **state)
{
    static const struct {
        const char *command, *timings, *says;
    } cases[] = {
        {"ior -a HDF5", "default", "unrecognized I/O API HDF5"},
        {"ior -a MMAP", "default", "unrecognized I/O API MMAP"},
        {"ior -a DUMMY", "default", "does no I/O"},
        {"ior -a POSIX", "published", "whole calls of MPI-IO"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wr_err err = {0};
        struct stack_sim s;

        assert_false(stack_sim_open(&s,
                                    &(struct stack_config){.fs = "pvfs2",
                                                           .timings = cases[i].timings,
                                                           .test = cases[i].command,
                                                           .servers = 1,
                                                           .tasks = 1,
                                                           .cb_buffer_b = 1 << 20},
                                    NULL, &err));
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].command, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_kept_from_one_to_a_pebibyte),
        cmocka_unit_test(what_clients_kept_in_memory_is_written_in_the_end),
        cmocka_unit_test(a_server_is_for_metadata_or_for_data),
        cmocka_unit_test(a_file_is_striped_over_its_servers),
        cmocka_unit_test(a_lock_is_asked_for_once_and_used_again),
        cmocka_unit_test(clients_of_one_object_ask_each_other_back),
        cmocka_unit_test(not_more_than_eight_requests_are_under_way),
        cmocka_unit_test(a_write_is_faster_than_its_way_to_the_disk),
        cmocka_unit_test(small_writes_ride_in_the_buffer),
        cmocka_unit_test(a_close_asks_the_targets_that_were_used),
        cmocka_unit_test(the_same_seed_gives_the_same_run_and_another_other_targets),
        cmocka_unit_test(a_program_moves_the_bytes_it_says),
        cmocka_unit_test(a_lone_message_takes_what_an_idle_network_takes),
        cmocka_unit_test(the_same_seed_gives_the_same_bits_over_a_fabric),
        cmocka_unit_test(over_a_fabric_the_storage_takes_its_time),
        cmocka_unit_test(a_machine_that_is_too_small_is_refused),
        cmocka_unit_test(faults_in_what_is_shared_are_found),
        cmocka_unit_test(system_calls_pass_the_kernel_and_not_mpi_io),
        cmocka_unit_test(the_kernel_of_pvfs2_hands_on_four_mebibytes_at_a_time),
        cmocka_unit_test(of_a_shared_file_mpi_io_lets_one_task_flush),
        cmocka_unit_test(an_access_is_small_when_each_servers_part_is),
        cmocka_unit_test(a_byte_goes_through_all_layers),
        cmocka_unit_test(a_read_past_the_end_gets_what_is_there),
        cmocka_unit_test(what_ior_was_not_built_with_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
