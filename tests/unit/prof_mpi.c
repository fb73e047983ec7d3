/* One library for MPICH and Open MPI: a job of four ranks, found exactly under both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "prof_fixture.h"

enum { MIB = 1 << 20, RANKS = 4 };

static const struct mpi {
    const char *program, *run;
    char *options[4];
} mpis[] = {
    {"tests/prof-mpi-mpich", "/usr/bin/mpirun.mpich", {NULL}},
    {"tests/prof-mpi-openmpi", "/usr/bin/mpirun.openmpi", {(char *)"--oversubscribe", NULL}},
    {"tests/prof-mpif-mpich", "/usr/bin/mpirun.mpich", {NULL}},
    {"tests/prof-mpif-openmpi", "/usr/bin/mpirun.openmpi", {(char *)"--oversubscribe", NULL}},
};

static int run_job(struct fixture *l, struct prof_job *j, const struct mpi *m, const char *clock)
{
    char program[PATH_MAX], file[128];
    char *argv[12];
    int n = 0;

    assert_non_null(realpath(m->program, program));
    snprintf(file, sizeof file, "%s/data", l->data);
    argv[n++] = (char *)m->run;
    for (int i = 0; m->options[i]; i++)
        argv[n++] = m->options[i];
    argv[n++] = (char *)"-n";
    argv[n++] = (char *)"4";
    argv[n++] = program;
    argv[n++] = file;
    argv[n] = NULL;
    return fixture_run(l, j, argv, clock, 50000000, 0);
}

static void check_job(const struct prof_job *j, bool timed)
{
    uint32_t ranks = 0;

    for (size_t i = 0; i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        const double *t = j->entities.v[p->entity].total;

        if (!p->head->mpi)
            continue;
        /* MPI's ranks come first, under their own numbers. */
        assert_int_equal(p->rank, ranks);
        assert_int_equal(p->head->rank, ranks);
        assert_int_equal(p->head->nranks, RANKS);
        assert_true(t[PROF_M_MPIIO_WRITE] == 2 * MIB);
        assert_true(t[PROF_M_MPIIO_READ] == MIB);
        /* A half of what is written is written together. */
        assert_true(t[PROF_M_MPIIO_COLL_WRITE] == MIB);
        assert_true(t[PROF_M_MPIIO_COLL_READ] == 0);
        assert_true(t[PROF_M_MPIIO_COLL_TIME] <= t[PROF_M_MPIIO_TIME]);
        assert_true(t[PROF_M_MPI_CALLS] >= 9);
        /* All but rank 0 wait at the barrier for a fifth of a second. */
        if (timed && p->rank)
            assert_true(t[PROF_M_MPI_TIME] > 100e6);
        ranks++;
    }
    assert_int_equal(ranks, RANKS);
    /* Whichever process aggregates, the bytes reach the file once; and are read at least once. */
    assert_true(fixture_total(j, PROF_W_write_bytes) >= 2.0 * MIB * RANKS);
    assert_true(fixture_total(j, PROF_W_read_bytes) >= 1.0 * MIB * RANKS);
}

static void a_job_is_found_exactly(const struct mpi *m, int nclocks)
{
    static const char *const clocks[] = {"sampled", "precise"};
    struct prof_job j;
    struct fixture l;

    if (access(m->program, X_OK) || access(m->run, X_OK)) {
        print_message("%s or %s is not there: left out\n", m->program, m->run);
        skip();
    }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    fixture_open(&l);
    for (int c = 0; c < nclocks; c++) {
        assert_int_equal(run_job(&l, &j, m, clocks[c]), 0);
        check_job(&j, true);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

static void a_job_of_mpich_is_found_exactly(void **state)
{
    (void)state;
    a_job_is_found_exactly(&mpis[0], 2);
}

static void a_job_of_open_mpi_is_found_exactly(void **state)
{
    (void)state;
    a_job_is_found_exactly(&mpis[1], 2);
}

static void jobs_in_fortran_are_found_exactly(void **state)
{
    (void)state;
    for (int i = 2; i < 4; i++)
        a_job_is_found_exactly(&mpis[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_mpich_is_found_exactly),
        cmocka_unit_test(a_job_of_open_mpi_is_found_exactly),
        cmocka_unit_test(jobs_in_fortran_are_found_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
