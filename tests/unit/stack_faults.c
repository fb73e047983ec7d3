/* PVFS2 beyond the good days: answers that are lost, requests that fail, requests that wait for
 * each other, servers that start, and servers that keep metadata or data alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <string.h>

#include "stack/stack_drive.h"

struct lab {
    struct stack_fs *fs;
    struct stack_timings *timings;
    struct ior_test test;
    struct stack_drive *drive;
    const struct stack_counts *counts;
    uint64_t first; /* visits before the one that fails */
    bool ok;
    struct wr_err err;
};

static void again(struct lab *l, uint32_t servers, uint32_t tasks, const char *state, int64_t code,
                  uint64_t times)
{
    struct wr_err err = {0};
    bool stopped;

    *l = (struct lab){.first = l->first};
    if (!stack_fs_open(&l->fs, "pvfs2", &err) ||
        !stack_timings_open(&l->timings, l->fs, "default", &err) ||
        !ior_parse(&l->test, "ior -a MPIIO -b 8m -t 8m -F", tasks, &err))
        fail_msg("%s", err.text);
    struct stack_setup setup = {
        .fs = l->fs, .timings = l->timings, .servers = servers, .start = UINT32_MAX};

    if (state) {
        setup.fault = (struct stack_fault){stack_find_state(l->fs, state, strlen(state)), code,
                                           l->first, times};
        assert_int_not_equal(setup.fault.state, STACK_NONE);
    }
    if (!stack_drive_open(&l->drive, &setup, &l->test, tasks, 1, &err))
        fail_msg("%s", err.text);
    stack_drive_begin(l->drive);
    l->ok = stack_drive_run(l->drive, &stopped, &l->err);
    l->counts = stack_engine_counts(stack_drive_engine(l->drive));
    assert_int_equal(l->counts->begun, l->counts->ended);
}

static void begin(struct lab *l, uint32_t servers, uint32_t tasks, const char *state, int64_t code,
                  uint64_t times)
{
    l->first = 0;
    again(l, servers, tasks, state, code, times);
}

static void end(struct lab *l)
{
    stack_drive_close(l->drive);
    ior_fini(&l->test);
    stack_timings_close(l->timings);
    stack_fs_close(l->fs);
}

static struct stack_sum sum(const struct lab *l, int side, const char *state)
{
    return l->counts->state[side][stack_find_state(l->fs, state, strlen(state))];
}

static uint64_t message(const struct lab *l, const char *name)
{
    for (size_t i = 0; i < l->fs->message.n; i++)
        if (!strcmp(l->fs->message.v[i].name, name))
            return l->counts->message[i].requests;
    return 0;
}

static void an_answer_that_is_lost_is_asked_for_again_two_seconds_later(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 3, 2, "client_create_sm:create_setup_msgpair", 0, 0);
    uint64_t good = stack_engine_now(stack_drive_engine(l.drive));

    assert_true(l.ok);
    assert_int_equal(sum(&l, 0, "msgpairarray_sm:post_retry").n, 0);
    end(&l);
    begin(&l, 3, 2, "msgpairarray_sm:complete", -110, 1);
    assert_true(l.ok);
    assert_int_equal(sum(&l, 0, "msgpairarray_sm:post_retry").n, 1);
    assert_true(stack_engine_now(stack_drive_engine(l.drive)) > 2000000000u && good < 2000000000u);
    end(&l);
}

static void after_five_times_it_is_given_up(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 3, 1, "create_sm:create_metafile", -110, 100);
    assert_false(l.ok);
    assert_non_null(strstr(l.err.text, "failed in the simulated file system"));
    assert_int_equal(sum(&l, 0, "msgpairarray_sm:post_retry").n, 5);
    assert_int_equal(sum(&l, 1, "create_sm:create_metafile").n, 6);
    end(&l);
}

static void a_server_that_fails_says_so_and_goes_on(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 3, 2, "create_sm:write_keyvals", -28, 1);
    assert_false(l.ok);
    assert_int_equal(sum(&l, 0, "msgpairarray_sm:post_retry").n, 0);
    /* the other task's file is there: it writes and reads its 8 MiB */
    assert_true(l.counts->client_out_b >= 8 << 20);
    end(&l);
}

static void what_was_made_for_a_file_is_removed_when_it_gets_no_name(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 3, 1, "create_sm:setobj_attribs", -28, 1);
    assert_false(l.ok);
    assert_int_equal(sum(&l, 1, "create_sm:remove_keyvals").n, 1);
    assert_int_equal(sum(&l, 1, "create_sm:replace_remote_datafile_handles").n, 1);
    assert_int_equal(sum(&l, 1, "create_sm:remove_local_datafile_handles").n, 1);
    assert_int_equal(sum(&l, 1, "create_sm:remove_metafile_object").n, 1);
    assert_int_equal(sum(&l, 0, "client_create_sm:crdirent_setup_msgpair").n, 0);
    end(&l);
    begin(&l, 3, 1, "crdirent_work_sm:write_directory_entry", -28, 1);
    assert_false(l.ok);
    assert_int_equal(sum(&l, 0, "client_create_sm:crdirent_failure").n, 1);
    assert_int_equal(sum(&l, 0, "client_create_sm:delete_handles_setup_msgpair_array").n, 1);
    end(&l);
    /* a name comes back when what it names cannot be removed */
    begin(&l, 3, 1, "remove_work_sm:verify_object_metadata", -5, 1);
    assert_int_equal(sum(&l, 0, "client_remove_sm:getattr_setup").n, 1);
    assert_int_equal(sum(&l, 0, "client_remove_sm:crdirent_setup_msgpair").n, 1);
    end(&l);
}

static void a_refused_transfer_is_tried_again(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 3, 1, "io_sm:send_negative_ack", -1, 0);
    assert_true(l.ok);
    uint64_t bytes = l.counts->client_out_b;

    end(&l);
    begin(&l, 3, 1, "client_io_sm:io_datafile_complete_operations", -110, 1);
    assert_true(l.ok);
    assert_int_equal(sum(&l, 0, "client_io_sm:io_datafile_post_msgpairs_retry").n, 1);
    assert_int_equal(sum(&l, 0, "client_io_sm:io_datafile_no_mirror_retry").n, 1);
    /* all servers are asked again, with what is known of the file */
    assert_int_equal(sum(&l, 0, "client_io_sm:io_datafile_post_msgpairs").n, 3);
    assert_int_equal(sum(&l, 0, "client_io_sm:init").n, 2);
    assert_int_equal(l.counts->client_out_b, 2 * bytes);
    assert_true(stack_engine_now(stack_drive_engine(l.drive)) > 2000000000u);
    end(&l);
    /* what is refused from some request on, the first of a transfer, is given up after five times
     * more: a server's own errors, too */
    for (l.first = 0;; l.first++) {
        again(&l, 3, 1, "prelude_work_sm:validate", -5, 1000);
        if (sum(&l, 0, "client_io_sm:io_datafile_post_msgpairs").n)
            break;
        end(&l);
    }
    assert_false(l.ok);
    assert_int_equal(sum(&l, 0, "client_io_sm:io_datafile_post_msgpairs").n, 6);
    assert_int_equal(sum(&l, 0, "client_io_sm:io_datafile_post_msgpairs_retry").n, 6);
    assert_int_equal(sum(&l, 1, "io_sm:send_negative_ack").n, 6 * 3);
    assert_int_equal(l.counts->client_out_b, 0);
    end(&l);
    /* a capability that is too old is asked for anew, at once */
    begin(&l, 3, 1, "client_io_sm:io_datafile_complete_operations", -1073741831, 1);
    assert_true(l.ok);
    assert_int_equal(sum(&l, 0, "client_io_sm:io_renew_capability").n, 1);
    assert_int_equal(sum(&l, 0, "client_io_sm:io_datafile_setup_msgpairs").n, 3);
    assert_true(stack_engine_now(stack_drive_engine(l.drive)) < 2000000000u);
    end(&l);
}

/* Of several requests sent together, those that were answered are not sent again. */
static void only_what_was_lost_is_asked_for_again(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 3, 1, NULL, 0, 0);
    uint64_t asked = message(&l, "GETCONFIG");

    assert_int_equal(asked, 4); /* one, then all three to compare them */
    end(&l);
    begin(&l, 3, 1, "get_config_sm:init", -110, 1);
    assert_int_equal(message(&l, "GETCONFIG"), asked + 1);
    end(&l);
    l.first = 2;
    again(&l, 3, 1, "get_config_sm:init", -110, 1);
    assert_int_equal(sum(&l, 0, "msgpairarray_sm:post_retry").n, 1);
    assert_int_equal(message(&l, "GETCONFIG"), asked + 1);
    end(&l);
}

/* However many servers there are: messages with numbers 1 and 65, 6 and 70 are not one. */
static void with_hundreds_of_servers_one_lost_answer_is_one_request_more(void **state)
{
    static const uint32_t servers[] = {64, 65, 200};

    (void)state;
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct lab l = {0};

        l.first = 7;
        again(&l, servers[i], 1, "get_config_sm:init", -110, 1);
        assert_int_equal(message(&l, "GETCONFIG"), servers[i] + 2);
        end(&l);
    }
}

static void requests_on_one_handle_wait_for_each_other(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 1, 1, NULL, 0, 0);
    assert_int_equal(sum(&l, 1, "prelude_work_sm:req_sched").wait_ns, 0);
    end(&l);
    /* eight make names in one directory at the same time */
    begin(&l, 1, 8, NULL, 0, 0);
    assert_true(l.ok);
    assert_true(sum(&l, 1, "prelude_work_sm:req_sched").wait_ns > 0);
    end(&l);
}

static void every_server_starts_before_it_serves(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, 5, 2, NULL, 0, 0);
    assert_int_equal(sum(&l, 1, "server_start:read_configuration").n, 5);
    assert_int_equal(sum(&l, 1, "server_start:post_unexpected").n, 5);
    assert_int_equal(sum(&l, 0, "ADIOI_PVFS2_Init:start").n, 2);
    end(&l);
}

/* --- roles -------------------------------------------------------------------------- */

struct seen {
    uint32_t clients;
    uint64_t meta[8], data[8]; /* requests about metadata, and data, by server */
    const struct stack_fs *fs;
};

static void on_message(void *ctx, const struct stack_sent *sent)
{
    struct seen *s = ctx;
    const char *name = s->fs->message.v[sent->message].name;

    if (sent->answer || sent->data || sent->to < s->clients || !strcmp(name, "GETCONFIG"))
        return;
    bool data = !strcmp(name, "IO") || !strcmp(name, "TRUNCATE") || !strncmp(name, "TREE", 4);

    (data ? s->data : s->meta)[sent->to - s->clients]++;
}

static void every_server_does_what_its_roles_say(void **state)
{
    struct wr_err err = {0};
    struct stack_fs *fs = NULL;
    struct stack_timings *timings = NULL;
    struct ior_test test;

    (void)state;
    if (!stack_fs_open(&fs, "pvfs2", &err) || !stack_timings_open(&timings, fs, "default", &err) ||
        !ior_parse(&test, "ior -a MPIIO -b 8m -t 8m -F", 6, &err))
        fail_msg("%s", err.text);
    for (uint32_t metas = 1; metas <= 5; metas++)
        for (uint32_t datas = 1; datas <= 5; datas++) {
            struct seen seen = {.clients = 6, .fs = fs};
            struct stack_setup setup = {.fs = fs,
                                        .timings = timings,
                                        .servers = 5,
                                        .metas = metas,
                                        .datas = datas,
                                        .start = UINT32_MAX,
                                        .hooks = {.ctx = &seen, .message = on_message}};
            struct stack_drive *d = NULL;
            bool stopped, ok = stack_drive_open(&d, &setup, &test, 6, 1, &err);

            assert_int_equal(ok, metas + datas >= 5);
            if (!ok)
                continue;
            stack_drive_begin(d);
            if (!stack_drive_run(d, &stopped, &err))
                fail_msg("%u and %u: %s", metas, datas, err.text);
            const struct stack_counts *k = stack_engine_counts(stack_drive_engine(d));

            assert_int_equal(k->client_out_b, 6 * 8 << 20);
            assert_int_equal(k->begun, k->ended);
            for (uint32_t i = 0; i < 5; i++) {
                assert_int_equal(seen.meta[i] > 0, i < metas);
                assert_int_equal(seen.data[i] > 0, i >= 5 - datas);
            }
            stack_drive_close(d);
        }
    ior_fini(&test);
    stack_timings_close(timings);
    stack_fs_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_is_lost_is_asked_for_again_two_seconds_later),
        cmocka_unit_test(after_five_times_it_is_given_up),
        cmocka_unit_test(a_server_that_fails_says_so_and_goes_on),
        cmocka_unit_test(what_was_made_for_a_file_is_removed_when_it_gets_no_name),
        cmocka_unit_test(a_refused_transfer_is_tried_again),
        cmocka_unit_test(only_what_was_lost_is_asked_for_again),
        cmocka_unit_test(with_hundreds_of_servers_one_lost_answer_is_one_request_more),
        cmocka_unit_test(requests_on_one_handle_wait_for_each_other),
        cmocka_unit_test(every_server_starts_before_it_serves),
        cmocka_unit_test(every_server_does_what_its_roles_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
