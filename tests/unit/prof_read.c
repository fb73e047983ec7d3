/* Profiles as they may be found: whole, torn, cut, damaged, of other versions, of clocks that
 * disagree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "prof/read/elf.h"
#include "prof/read/profile_job.h"
#include "prof_make.h"

static bool parse(struct prof_file *f, const struct make *m, struct wr_err *err)
{
    return prof_file_parse(f, "a.wprof", m->bytes, m->len, err);
}

/* A job of these profiles; the bytes are freed. */
static bool job_of(struct prof_job *ret, struct make *m, size_t n, struct wr_err *err)
{
    struct prof_file *f = calloc(n, sizeof *f);
    bool ok = true;

    *ret = (struct prof_job){0};
    for (size_t i = 0; i < n; i++) {
        ok = ok && parse(&f[i], &m[i], err);
        free(m[i].bytes);
    }
    ok = ok && prof_job_make(ret, f, n, err);
    if (!ok) {
        for (size_t i = 0; i < n; i++)
            prof_file_fini(&f[i]);
        free(f);
        wr_str_fini(&ret->warnings);
    }
    return ok;
}

static double at(const struct prof_job *j, const char *entity, uint32_t slice, unsigned metric)
{
    for (size_t i = 0; i < j->cells.n; i++)
        if (j->cells.v[i].slice == slice &&
            !strcmp(j->entities.v[j->cells.v[i].entity].name, entity))
            return j->cells.v[i].value[metric];
    return 0;
}

static void a_record_is_spread_over_the_slices_it_spans(void **state)
{
    struct make m = make_profile(7);
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m, 100000, 101000, 10);   /* the first slice alone */
    make_record(&m, 101500, 104000, 1000); /* half a slice, and two */
    assert_true(job_of(&j, &m, 1, &err));
    assert_int_equal(j.origin_ns, 100000000000);
    assert_true(at(&j, "app:0", 0, PROF_W_write_bytes) == 10);
    assert_true(at(&j, "app:0", 1, PROF_W_write_bytes) == 200);
    assert_true(at(&j, "app:0", 2, PROF_W_write_bytes) == 400);
    assert_true(at(&j, "app:0", 3, PROF_W_write_bytes) == 400);
    assert_true(at(&j, "mount:/data", 3, PROF_W_write_bytes) == 400);
    assert_true(at(&j, "rank:0.0", 1, PROF_W_write_bytes) == 200);
    /* A call counts where it ended. */
    assert_true(at(&j, "app:0", 1, PROF_W_write_calls) == 0);
    assert_true(at(&j, "app:0", 3, PROF_W_write_calls) == 1);
    prof_job_fini(&j);
}

static void what_is_in_no_record_is_in_the_slice_being_filled(void **state)
{
    struct make m = make_profile(7);
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m, 100000, 101000, 10);
    make_slot(&m, 0)->from_ns = 102000000000;
    make_slot(&m, 0)->edge_ns = 103000000000;
    prof_rows(make_slot(&m, 0), MAKE_NAMES)[MAKE_MOUNT].word[PROF_BYTES + PROF_WRITE] += 5;
    assert_true(job_of(&j, &m, 1, &err));
    assert_true(at(&j, "app:0", 2, PROF_W_write_bytes) == 5);
    prof_job_fini(&j);
}

static void torn_records_are_left_out_and_their_counts_are_not(void **state)
{
    struct make m = make_profile(7);
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m, 100000, 101000, 10);
    make_record(&m, 101000, 102000, 20);
    m.log[1].ready = 0;
    assert_true(job_of(&j, &m, 1, &err));
    assert_int_equal(j.torn, 1);
    assert_true(j.entities.v[j.apps.v[0].entity].total[PROF_W_write_bytes] == 30);
    prof_job_fini(&j);
}

static void a_profile_cut_anywhere_is_read_or_refused(void **state)
{
    struct make m = make_profile(7);
    int read = 0;

    (void)state;
    make_record(&m, 100000, 101000, 10);
    for (size_t len = 0; len < m.len; len += 61) {
        struct wr_err err = {0};
        struct prof_file f;
        char *exact = malloc(len + 1); /* so that the sanitizer sees what is read behind the end */

        memcpy(exact, m.bytes, len);
        if (prof_file_parse(&f, "cut", exact, len, &err)) {
            read++;
            assert_true(f.cut || f.nrec == 1);
            prof_file_fini(&f);
        } else {
            assert_true(len < PROF_HEAD_B && strstr(err.text, "too short"));
        }
        free(exact);
    }
    assert_in_range(read, 50, 1000);
    free(m.bytes);
}

static void refused(void (*damage)(struct make *), const char *words)
{
    struct make m = make_profile(7);
    struct wr_err err = {0};
    struct prof_file f;

    damage(&m);
    assert_false(parse(&f, &m, &err));
    assert_int_equal(err.code, WR_INPUT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    free(m.bytes);
}

static void other_magic(struct make *m)
{
    m->head->magic[0] = 'x';
}

static void other_version(struct make *m)
{
    m->head->version = 9;
}

static void other_order(struct make *m)
{
    m->head->order = 0x04030201;
}

static void many_names(struct make *m)
{
    m->head->names_max = 1u << 30;
}

static void far_log(struct make *m)
{
    m->head->log_at = UINT64_MAX - 100;
}

static void no_slice(struct make *m)
{
    m->head->slice_ns = 0;
}

static void other_profiles_are_refused_with_a_reason(void **state)
{
    (void)state;
    refused(other_magic, "not a profile");
    refused(other_version, "version 9");
    refused(other_order, "byte order");
    refused(many_names, "damaged");
    refused(far_log, "damaged");
    refused(no_slice, "damaged");
}

static void times_that_are_years_apart_are_refused(void **state)
{
    struct make m = make_profile(7);
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m, 100000, INT64_C(40000000000), 10);
    assert_false(job_of(&j, &m, 1, &err));
    assert_non_null(strstr(err.text, "years"));
}

static void slices_of_different_length_are_refused(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    m[1].head->slice_ns = 2000000000;
    assert_false(job_of(&j, m, 2, &err));
    assert_non_null(strstr(err.text, "directory of its own"));
}

static void a_clock_that_was_set_is_reported(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    /* Two seconds later by the clock that is never set, five by the other. */
    m[1].head->mono_ns += 2000000000;
    m[1].head->real_ns += 5000000000;
    m[1].head->start_ns += 5000000000;
    m[1].head->end_ns += 5000000000;
    make_record(&m[0], 102500, 103000, 10);
    make_record(&m[1], 107500, 108000, 20);
    assert_true(job_of(&j, m, 2, &err));
    assert_non_null(strstr(wr_str_get(&j.warnings), "was set by 3.000 s"));
    assert_true(at(&j, "app:0", 2, PROF_W_write_bytes) == 10);
    assert_true(at(&j, "app:0", 4, PROF_W_write_bytes) == 20);
    assert_true(j.procs.v[1].start_ns == 102500000000);
    prof_job_fini(&j);
}

/* Profiles of another day in the same directory are not. */
static void a_clock_that_is_a_day_away_is_reported(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    m[1].head->real_ns += INT64_C(86400000000000);
    m[1].head->start_ns += INT64_C(86400000000000);
    m[1].head->end_ns += INT64_C(86400000000000);
    assert_true(job_of(&j, m, 2, &err));
    assert_non_null(strstr(wr_str_get(&j.warnings), "their slices are not aligned"));
    assert_true(j.procs.v[1].start_ns == INT64_C(86500500000000));
    prof_job_fini(&j);
}

static void clocks_of_two_machines_that_disagree_are_reported(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    for (int i = 0; i < 2; i++) {
        m[i].head->mpi = 1;
        m[i].head->rank = i;
        m[i].head->mpi_init_ns = 101000000000 + i * INT64_C(7000000000);
    }
    memcpy(m[1].head->host, "there", 6);
    assert_true(job_of(&j, m, 2, &err));
    assert_non_null(strstr(wr_str_get(&j.warnings), "disagree by about 7.0 s"));
    prof_job_fini(&j);
}

static void ranks_of_mpi_come_first_under_their_numbers(void **state)
{
    struct make m[] = {make_profile(5), make_profile(6), make_profile(7)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    /* 5 is the launcher; 6 is rank 1, 7 is rank 0. */
    for (int i = 1; i < 3; i++) {
        m[i].head->mpi = 1;
        m[i].head->rank = 2 - i;
        m[i].head->nranks = 2;
    }
    assert_true(job_of(&j, m, 3, &err));
    assert_int_equal(j.procs.n, 3);
    assert_int_equal(j.procs.v[0].head->pid, 7);
    assert_int_equal(j.procs.v[1].head->pid, 6);
    assert_int_equal(j.procs.v[2].head->pid, 5);
    prof_job_fini(&j);
}

static void images_of_one_process_are_one_process(void **state)
{
    struct make m[] = {make_profile(7), make_profile(7), make_profile(7)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    for (int i = 0; i < 3; i++)
        make_record(&m[i], 100000, 101000, 10);
    m[1].head->start_ns++;
    m[2].head->start_ns += 2;
    m[2].head->pid_start = 99; /* the number was used again */
    assert_true(job_of(&j, m, 3, &err));
    assert_int_equal(j.procs.n, 2);
    assert_int_equal(j.procs.v[0].images + j.procs.v[1].images, 3);
    assert_true(j.entities.v[j.apps.v[0].entity].total[PROF_W_write_bytes] == 30);
    prof_job_fini(&j);
}

/* Process 7 waited for 8, which left a profile, and for 9, which did not. */
static void ends_of_children_are_counted_once(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m[0], 100500, 101000, 10);
    make_record(&m[1], 100500, 101000, 100);
    make_child(&m[0], 8, 103000, 100);
    make_child(&m[0], 9, 104000, 1000);
    make_child(&m[0], 9, 104000, 1000); /* seen twice */
    m[0].head->io_known = PROF_IO_END;
    m[0].head->io_end.wchar = 10 + 100 + 1000 + 10000; /* of its own: ten, and what was not seen */
    assert_true(job_of(&j, m, 2, &err));
    assert_int_equal(j.procs.n, 3);
    assert_true(j.entities.v[j.apps.v[0].entity].total[PROF_W_write_bytes] == 1110);
    assert_true(j.entities.v[j.apps.v[0].entity].total[PROF_M_KERNEL_WRITE] == 1000);
    assert_true(j.entities.v[j.apps.v[0].entity].total[PROF_M_UNEXPLAINED_WRITE] == 10000);
    for (size_t i = 0; i < 3; i++) {
        const struct prof_proc *p = &j.procs.v[i];

        assert_int_equal(p->kernel, p->head->pid == 9);
        assert_true(p->balance.unexplained[1] == (p->head->pid == 7 ? 10000 : 0));
        assert_true(p->balance.kernel[1] == (p->head->pid == 7   ? 10010
                                             : p->head->pid == 8 ? 100
                                                                 : 1000));
    }
    prof_job_fini(&j);
}

/* The profile of an unprofiled process, by the kernel's counters, from a file that is damaged: it
 * has no slot to complete. */
static void a_kernel_profile_without_slots_is_not_completed(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m[0], 100500, 101000, 10);
    make_child(&m[0], 8, 103000, 100);
    m[1].head->clock = PROF_KERNEL;
    m[1].head->slots_n = 0;
    assert_true(job_of(&j, m, 2, &err));
    assert_true(j.entities.v[j.apps.v[0].entity].total[PROF_W_write_bytes] == 10);
    prof_job_fini(&j);
}

static void slices_that_grow_lie_within_each_other(void **state)
{
    uint64_t last = PROF_SLICE_FIRST_NS;

    (void)state;
    for (int64_t age = 0; age < 2000; age++) {
        uint64_t slice = prof_slice_at(age * 1000000000);

        assert_true(slice == last || slice % last == 0);
        assert_int_equal(4000000000 % slice, 0);
        last = slice;
    }
    assert_int_equal(last, 4000000000);
    assert_int_equal(prof_slice_at(-1), PROF_SLICE_FIRST_NS);
}

/* Two threads, and what the process executed later, which goes on with the first. */
static void threads_are_distinguished_where_there_are_several(void **state)
{
    struct make m[] = {make_profile(7), make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    make_record(&m[0], 100000, 101000, 10);
    m[0].head->slots_n = 2;
    make_slot(&m[0], 1)->tid = 9;
    make_record(&m[0], 100000, 101000, 0);
    m[0].log[1].slot = 1;
    prof_rows(make_slot(&m[0], 1), MAKE_NAMES)[MAKE_MOUNT].word[PROF_BYTES + PROF_WRITE] = 10;
    m[1].head->start_ns++;
    make_record(&m[1], 102000, 103000, 5);
    make_record(&m[2], 102000, 103000, 7);
    assert_true(job_of(&j, m, 3, &err));
    assert_int_equal(j.procs.n, 2);
    assert_true(at(&j, "rank:0.0", 0, PROF_W_write_bytes) == 20);
    assert_true(at(&j, "thread:0.0.0", 0, PROF_W_write_bytes) == 10);
    assert_true(at(&j, "thread:0.0.1", 0, PROF_W_write_bytes) == 10);
    assert_true(at(&j, "thread:0.0.0", 2, PROF_W_write_bytes) == 5);
    /* A process with one thread has no series for it. */
    assert_true(at(&j, "rank:0.1", 2, PROF_W_write_bytes) == 7);
    assert_true(at(&j, "thread:0.1.0", 2, PROF_W_write_bytes) == 0);
    prof_job_fini(&j);
}

/* This program knows its own functions, and no part of it leads astray. */
static void functions_are_found_in_a_program_and_not_in_a_part_of_it(void **state)
{
    struct wr_err err = {0};
    struct prof_elf e;
    char *bytes;
    size_t len, named = 0;

    (void)state;
    if (access("/proc/self/exe", R_OK)) {
        print_message("skipped: this program is read there, and /proc is not mounted\n");
        skip();
    }
    assert_true(wr_file_read(&bytes, &len, "/proc/self/exe", 1 << 30, &err));
    assert_true(prof_elf_parse(&e, bytes, len));
    for (uint64_t at = 0; at < len && !named; at += 16) {
        const char *name = prof_elf_name(&e, at);

        named += name && !strcmp(name, "main");
    }
    assert_int_equal(named, 1);
    assert_null(prof_elf_name(&e, len));
    for (size_t part = 0; part < 4096; part += 7) {
        char *cut = malloc(part + 1);

        memcpy(cut, bytes, part);
        assert_false(prof_elf_parse(&e, cut, part));
        free(cut);
    }
    free(bytes);
}

static void jobs_of_different_names_are_different_apps(void **state)
{
    struct make m[] = {make_profile(7), make_profile(8)};
    struct wr_err err = {0};
    struct prof_job j;

    (void)state;
    memcpy(m[1].head->job, "other", 6);
    make_record(&m[0], 100000, 101000, 10);
    make_record(&m[1], 100000, 101000, 20);
    assert_true(job_of(&j, m, 2, &err));
    assert_int_equal(j.apps.n, 2);
    assert_true(at(&j, "app:0", 0, PROF_W_write_bytes) == 10);
    assert_true(at(&j, "app:1", 0, PROF_W_write_bytes) == 20);
    assert_true(at(&j, "mount:/data", 0, PROF_W_write_bytes) == 30);
    prof_job_fini(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_spread_over_the_slices_it_spans),
        cmocka_unit_test(what_is_in_no_record_is_in_the_slice_being_filled),
        cmocka_unit_test(torn_records_are_left_out_and_their_counts_are_not),
        cmocka_unit_test(a_profile_cut_anywhere_is_read_or_refused),
        cmocka_unit_test(other_profiles_are_refused_with_a_reason),
        cmocka_unit_test(times_that_are_years_apart_are_refused),
        cmocka_unit_test(slices_of_different_length_are_refused),
        cmocka_unit_test(a_clock_that_was_set_is_reported),
        cmocka_unit_test(a_clock_that_is_a_day_away_is_reported),
        cmocka_unit_test(clocks_of_two_machines_that_disagree_are_reported),
        cmocka_unit_test(ranks_of_mpi_come_first_under_their_numbers),
        cmocka_unit_test(images_of_one_process_are_one_process),
        cmocka_unit_test(ends_of_children_are_counted_once),
        cmocka_unit_test(a_kernel_profile_without_slots_is_not_completed),
        cmocka_unit_test(slices_that_grow_lie_within_each_other),
        cmocka_unit_test(threads_are_distinguished_where_there_are_several),
        cmocka_unit_test(functions_are_found_in_a_program_and_not_in_a_part_of_it),
        cmocka_unit_test(jobs_of_different_names_are_different_apps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
